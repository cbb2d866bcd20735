"""Operators of third parties: loading modules, packages and folders, and what is refused."""

import sys
import textwrap

import numpy as np
import pytest

import jdali
from jdali import dynamic, fn, ops, pipeline_def, plugin_manager
from jdali._operators.record import REGISTRY

OPERATOR = """
    import numpy as np
    from jdali.plugin.operators import PerSample, host_operator, operator

    @operator(name="{name}")
    def add(value, /, *, amount: PerSample[int] = 1):
        '''Adds a number.

        Args:
            value: any shape.
            amount: what is added.
        '''
        return value + amount
"""


@pytest.fixture(autouse=True)
def clean():
    """Leaves neither operators nor modules behind."""
    before, modules = set(REGISTRY), set(sys.modules)
    yield
    for name in REGISTRY.keys() - before:
        del REGISTRY[name]
    for surface in (fn, ops, dynamic):
        for name in [name for name in vars(surface) if name.lower().startswith("plug")]:
            delattr(surface, name)
    for name in sys.modules.keys() - modules:
        if "plug_" in name or ".plug" in name:
            del sys.modules[name]


def write(path, name, more=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(OPERATOR.format(name=name)) + more)
    return path


def added(function_path, values):
    """What a pipeline gives that adds 2 to some numbers."""

    @pipeline_def(batch_size=len(values), num_threads=1)
    def pipeline():
        function = fn
        for part in function_path.split("."):
            function = getattr(function, part)
        return function(fn.external_source([np.int32(values)], cycle=True), amount=2)

    pipe = pipeline()
    (out,) = pipe.run()
    pipe.close()
    return out.as_array().tolist()


def test_a_file(tmp_path):
    plugin_manager.load_library(write(tmp_path / "plug_file.py", "plug_add"))
    assert added("plug_add", [1, 5]) == [3, 7]
    assert int(ops.plug_add(np.int32(4), amount=3)) == 7
    assert np.asarray(dynamic.plug_add(np.int32(4))).item() == 5
    assert ops.PlugAdd(amount=2).schema_name == "PlugAdd"
    assert "what is added" in fn.plug_add.__doc__


def test_a_package_with_a_family_of_its_own(tmp_path):
    folder = tmp_path / "plug_package"
    write(folder / "adding.py", "plug_family.add")
    (folder / "__init__.py").write_text("from plug_package import adding")
    plugin_manager.load_library(str(folder))
    assert added("plug_family.add", [1]) == [3]
    plugin_manager.load_library(str(folder))  # harmless twice


def test_a_module_by_its_name(tmp_path, monkeypatch):
    write(tmp_path / "plug_named.py", "plug_by_name")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin_manager.load_library("plug_named", global_symbols=True)
    assert added("plug_by_name", [1]) == [3]


def test_a_folder(tmp_path):
    write(tmp_path / "plug_one.py", "plug_one")
    write(tmp_path / "plug_two" / "__init__.py", "plug_two")
    write(tmp_path / "_plug_private.py", "plug_private")
    (tmp_path / "data").mkdir()
    (tmp_path / "notes.txt").write_text("no module")
    plugin_manager.load_directory(tmp_path)
    assert hasattr(fn, "plug_one")
    assert hasattr(fn, "plug_two")
    assert not hasattr(fn, "plug_private")


def test_a_serialized_pipeline_says_that_its_plugin_is_missing(tmp_path):
    plugin_manager.load_library(write(tmp_path / "plug_gone.py", "plug_gone"))
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.plug_gone(jdali.types.Constant(np.int32(1))))
    data = pipe.serialize()
    pipe.close()
    del REGISTRY["plug_gone"]
    with pytest.raises(RuntimeError, match="there is no operator 'plug_gone'; load its plugin first"):
        jdali.Pipeline.deserialize(data)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        (
            "libdali_custom.so",
            "",
            "C\\+\\+ for DALI cannot run in jdali.* write them with jdali.plugin.operators",
        ),
        ("plug_missing.py", None, "plug_missing.py' cannot be loaded: there is no such file"),
        ("plug_text.txt", "words", "neither a Python file nor a package"),
        ("plug_broken.py", "raise KeyError('inside')", "plug_broken.py' cannot be loaded: 'inside'"),
        ("plug_folder/readme.md", "words", "has no __init__.py"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, name, content, text):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if content is not None:
        path.write_text(content)
    with pytest.raises(RuntimeError, match=text):
        plugin_manager.load_library(str(path.parent if "/" in name else path))
    with pytest.raises(RuntimeError, match="is not a folder"):
        plugin_manager.load_directory(tmp_path / "nowhere")


def test_a_module_that_fails_registers_nothing_and_may_be_mended(tmp_path):
    path = write(tmp_path / "plug_mended.py", "plug_mended", "\nraise ValueError('not yet')")
    with pytest.raises(RuntimeError, match="not yet"):
        plugin_manager.load_library(path)
    assert "plug_mended" not in REGISTRY
    assert not hasattr(fn, "plug_mended")
    plugin_manager.load_library(write(tmp_path / "plug_mended_too.py", "plug_mended"))
    assert added("plug_mended", [0]) == [2]


def test_operators_and_modules_of_the_same_name_are_errors(tmp_path):
    with pytest.raises(RuntimeError, match="operator flip is registered twice"):
        plugin_manager.load_library(write(tmp_path / "plug_flip.py", "flip"))
    plugin_manager.load_library(write(tmp_path / "a" / "plug_same.py", "plug_same"))
    with pytest.raises(RuntimeError, match="another module named 'plug_same'"):
        plugin_manager.load_library(write(tmp_path / "b" / "plug_same.py", "plug_other"))
