"""Shared fixtures: eight virtual CPU devices, and a compilation cache for the test session."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import tempfile
from pathlib import Path

from support.xla import flags

os.environ.setdefault("JDALI_TRACEBACK", "full")  # where a test fails, all frames count
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # `make gpu` says otherwise
os.environ["XLA_FLAGS"] = (
    f"{flags()} {os.environ.get('XLA_FLAGS', '')}"  # of two of a name the last one counts
)
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(tempfile.gettempdir()) / "jdali-test-jax-cache"))
# Some hundred programs that tests start import jdali: a third of that time is compiling its modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

import jax
import pytest
from support.accelerator import accelerator  # noqa: F401
from support.shared_programs import forget, rows_follow_the_batch  # noqa: F401
from support.some import repeated_types, thinned
from support.worker_kinds import on_cluster, ray_cluster, ray_workers, workers  # noqa: F401

from jdali import storage
from jdali._system import limits

# Gives memory that was freed back to the system (glibc): without it a run grows to some seven gigabytes.
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


# Files that take most processor time, half a minute each and more. They come first: the last one of them would run alone.
LONG = (
    "ops/test_pure_functions.py", "laws/test_every_operator.py", "readers/test_every_reader.py",
    "ops/test_padded_calls.py", "engine/function/test_export.py", "tools/test_make_docs.py", "ops/image/test_filter.py",
    "ops/image/test_laplacian.py", "pipeline/test_workers_of_each_kind.py", "engine/test_function_constants.py",
    "laws/test_resume.py", "ops/image/test_resample_not_finite.py", "docs/test_dali_programs.py",
    "engine/shapes/test_stage_shapes.py", "ops/audio/test_nonsilent_region.py", "ops/random/test_random.py",
    "ops/image/test_mixup.py", "ops/sequence/test_optical_flow.py", "laws/test_non_finite.py",
    "ops/image/test_resize.py", "ops/audio/test_signal_ops.py", "docs/test_snippets.py", "laws/test_strict_modes.py",
    "ops/noise/test_noise.py",
)  # fmt: skip


# Operators whose programs take long to compile: of a parametrized test two cases run.
COSTLY = (
    "audio/test_mel_and_decibels", "audio/test_nonsilent_region", "audio/test_signal_ops", "image/test_clahe",
    "image/test_debayer", "image/test_equalize", "image/test_filter", "image/test_jpeg_compression_distortion",
    "image/test_laplacian", "image/test_median_blur", "image/test_mixup", "image/test_morphology",
    "image/test_multi_paste", "image/test_random_crop_generator", "image/test_random_window",
    "image/test_resample_not_finite", "image/test_resize", "image/test_resize_crop_mirror", "image/test_resize_nearest",
    "image/test_resize_reach", "image/test_tensor_resize", "image/test_warp_perspective", "noise/test_noise",
    "reductions/test_normalize", "reductions/test_reductions", "sequence/test_optical_flow",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Lets pytest-xdist take files in the order of the collection. Its own is by their number of tests."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the files of `LONG` first, in this order; marks what `repeated_types` and `thinned` find in tests of operators."""
    here = Path(__file__).parent
    for item in repeated_types(item for item in items if here / "ops" in item.path.parents):
        item.add_marker("exhaustive")
    costly = {here / "ops" / f"{name}.py" for name in COSTLY}
    for item in thinned(item for item in items if item.path in costly):
        item.add_marker("exhaustive")
    places = {here / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """Leaves what is there to stay, 15,000 tests among it, out of all later searches for garbage."""
    gc.collect()
    gc.freeze()


# A run compiles thousands of programs and runs each once or twice. Only these are about what XLA's optimizations, which
# users have, do to values; of the others `make exhaustive` runs all with them.
OPTIMIZED = (
    "engine/steps", "laws/test_determinism.py", "laws/test_every", "laws/test_exactness.py", "laws/test_non_finite.py",
    "numerics", "ops/test_positions.py", "system",
)  # fmt: skip
_LEVEL = "jax_disable_most_optimizations"


@pytest.fixture(scope="module", autouse=True)
def _programs_of_one_module_only(request: pytest.FixtureRequest):
    """Lets go of compiled programs after each module: a whole run would hold gigabytes of them."""
    name = request.path.relative_to(Path(__file__).parent).as_posix()
    whole = os.environ.get("JDALI_TESTS_DRAW") == "all" or os.environ["JAX_PLATFORMS"] != "cpu"
    with pytest.MonkeyPatch.context() as patch:
        if not name.startswith(OPTIMIZED) and not whole:
            jax.config.update(_LEVEL, True)
            patch.setenv(_LEVEL.upper(), "1")  # of processes that the tests start
        yield
    jax.config.update(_LEVEL, False)
    if hasattr(
        os, "SCHED_OTHER"
    ):  # SVT-AV1 makes the process of root a real-time one, which starves all others
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    forget()
    jax.clear_caches()
    gc.collect()
    gc.freeze()  # what is left are modules that were imported, and what they keep
    if _trim is not None:
        _trim(0)


@pytest.fixture(autouse=True)
def _programs_of_code_as_it_is(request: pytest.FixtureRequest):
    """A test that patches code neither gets programs of the code as it was, nor leaves its own to others."""
    patches = "monkeypatch" in request.fixturenames
    if patches:
        forget()
    yield
    if patches:
        forget()


@pytest.fixture(autouse=True)
def _limits_of_one_test_only():
    """Puts back the limits that a test, or an example of the documents, sets with `jdali.storage.configure`."""
    before = storage.options()
    yield
    limits.use(before)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared data pack; tests that use it are skipped where it is not there."""
    from support.data import SHARED

    if not SHARED.is_dir():
        pytest.skip("the shared data pack is not here")
    return SHARED
