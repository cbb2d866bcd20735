"""JAX's compilation cache: on in the folder of jdali, unless somebody decided otherwise."""

import types

import pytest

from jdali.engine.steps import program_table


@pytest.fixture
def config(monkeypatch, tmp_path):
    """A configuration in place of JAX's, and a cache folder that is not there yet."""
    options = {"jax_compilation_cache_dir": None}

    class Config:
        def __getattr__(self, name):
            return options[name]

        def update(self, name, value):
            options[name] = value

    monkeypatch.setattr(program_table, "jax", types.SimpleNamespace(config=Config()))
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JDALI_COMPILATION_CACHE", raising=False)
    return options


def test_it_is_on_by_default(config, tmp_path):
    program_table.enable_compilation_cache()
    folder = tmp_path / "cache" / "xla"
    assert folder.is_dir()
    assert config == {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": program_table.MIN_COMPILE_SECONDS,
    }


def test_the_users_own_is_left_alone(config):
    config["jax_compilation_cache_dir"] = "/mine"
    program_table.enable_compilation_cache()
    assert config == {"jax_compilation_cache_dir": "/mine"}


def test_it_can_be_switched_off(config, monkeypatch):
    monkeypatch.setenv("JDALI_COMPILATION_CACHE", "0")
    program_table.enable_compilation_cache()
    assert config == {"jax_compilation_cache_dir": None}


def test_a_folder_that_cannot_be_made_is_no_error(config, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder would be")
    program_table.enable_compilation_cache()
    assert config == {"jax_compilation_cache_dir": None}
