"""Shared fixtures, the cases of a normal run (`DRAWN`), eight virtual CPU devices, a cache of compiled programs."""

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
from support.some import DRAW, left_out
from support.worker_kinds import on_cluster, ray_cluster, ray_workers, workers  # noqa: F401

from jdali import storage
from jdali._system import limits

# Gives memory that was freed back to the system (glibc): without it a run grows to some seven gigabytes.
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


# Files that take most time, a dozen seconds and more. They come first: the last one of them would run alone.
LONG = (
    "plugin/test_ray.py", "pipeline/test_workers_of_each_kind.py", "laws/test_resume.py",
    "engine/function/test_export.py", "laws/test_every_operator.py", "readers/test_remote.py",
    "readers/test_every_reader.py", "ops/test_pure_functions.py", "faults/test_processes.py",
    "pipeline/test_workers.py", "serving/test_server.py", "faults/test_worker_processes.py",
    "engine/shapes/test_stage_shapes.py", "ops/image/test_resize.py", "ops/image/test_mixup.py",
    "ops/random/test_random.py", "examples/test_classification.py", "laws/test_accelerators.py",
    "laws/test_non_finite.py", "ops/test_positions.py", "ops/noise/test_noise.py", "engine/function/test_function.py",
    "system/test_devices.py", "workers/test_callbacks.py", "laws/test_exactness.py", "workers/test_pool.py",
    "engine/test_scaled_decoding.py", "ops/sequence/test_optical_flow.py", "viewer/test_browser.py",
    "docs/test_snippets.py", "docs/test_dali_programs.py", "plugin/triton/test_repository.py",
)  # fmt: skip

# Folders whose tests compile a program a case: a normal run has one case of each test for each operator.
DRAWN = tuple(
    f"ops/{name}"
    for name in (
        "audio", "bbox", "image", "math", "noise", "random", "reductions", "segmentation", "sequence", "tensor",
        "transforms",
    )
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Lets pytest-xdist take files in the order of the collection. Its own is by their number of tests."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what a normal run leaves out (`left_out`); puts the files of `LONG` first, in this order."""
    here = Path(__file__).parent
    for item in left_out(items, {here / name for name in DRAWN}):
        item.add_marker("exhaustive")
    places = {here / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """Leaves what is there to stay, 15,000 tests among it, out of all later searches for garbage."""
    gc.collect()
    gc.freeze()


# Rooms that compile most of the programs of a run, and run each once or twice: without XLA's optimizations, which cost a
# quarter of their time. `make exhaustive` has them everywhere. What the optimizations do to values is the subject of most
# laws, of `numerics`, and of the exceptions.
UNOPTIMIZED = (
    "auto_aug", "cli", "display", "docs", "dynamic", "engine", "examples", "experimental", "faults", "fuzz",
    "graph", "iterator", "laws/test_accelerators.py", "laws/test_strict_modes.py", "operators", "ops", "pipeline",
    "plugin", "readers", "serving", "sources", "storage", "system", "tools", "viewer", "workers",
)  # fmt: skip
OPTIMIZED = (
    "docs/test_differences.py", "engine/eager/test_stepwise.py", "engine/test_history.py", "ops/test_positions.py",
)  # fmt: skip
_LEVEL = "jax_disable_most_optimizations"


@pytest.fixture(scope="module", autouse=True)
def _programs_of_one_module_only(request: pytest.FixtureRequest):
    """Lets go of compiled programs after each module: a whole run would hold gigabytes of them."""
    name = request.path.relative_to(Path(__file__).parent).as_posix()
    whole = DRAW == "all" or os.environ["JAX_PLATFORMS"] != "cpu"
    with pytest.MonkeyPatch.context() as patch:
        if name.startswith(UNOPTIMIZED) and name not in OPTIMIZED and not whole:
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
