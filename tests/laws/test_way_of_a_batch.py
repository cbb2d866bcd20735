"""ARCHITECTURE.md follows one picture from its file to the array; a profile of a loop holds it against what runs."""

import collections
import gc
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import jdali
from jdali import fn
from jdali.iterator import DataIterator

PACKAGE = Path(jdali.__file__).parent
TEXT = (PACKAGE.parent / "ARCHITECTURE.md").read_text()
WAY = TEXT[TEXT.index("### One JPEG") : TEXT.index("### Beside the way")]
BESIDE = {
    module
    for line in TEXT[TEXT.index("### Beside the way") : TEXT.index("### The rooms")].splitlines()
    for module in re.findall(r"`([\w/]+\.py)`", line)
    if line.startswith("|")
}
# Rows of the table: the thread, the module, and its functions.
ROWS = [
    (thread, module, re.findall(r"`([\w.]+)`", functions))
    for thread, module, functions in re.findall(r"^\| \d+ \| (\w+) \| `(.*?)` \| (.*?) \|", WAY, re.MULTILINE)
]
THREADS = {"MainThread": "user", "jdali-executor": "executor", "jdali-worker": "worker"}


class Profile:
    """Collects the functions of jdali that run, with the threads that run them, while it is entered."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
        self._counts = False

    def note(self, frame, event, argument) -> None:
        """For `setprofile`."""
        file = frame.f_code.co_filename
        if self._counts and event == "call" and file.startswith(str(PACKAGE)):
            thread = threading.current_thread().name.rstrip("_-0123456789")
            self.calls[Path(file).relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname].add(thread)

    def __enter__(self) -> "Profile":
        self._counts = True
        sys.setprofile(self.note)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)
        self._counts = False

    def modules(self) -> set[str]:
        return {module for module, _ in self.calls}


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    """Of a first epoch, in which all is planned and compiled, and of a later one."""
    folder = tmp_path_factory.mktemp("pictures") / "class"
    folder.mkdir()
    pixels = np.random.default_rng(0).integers(0, 255, (256, 320, 3), np.uint8)
    for i in range(12):
        Image.fromarray(pixels[: 200 + 4 * i, : 250 + 5 * i]).save(folder / f"{i:02}.jpg")
    first, later = Profile(), Profile()

    def note(*call) -> None:
        first.note(*call)
        later.note(*call)

    pipe = jdali.Pipeline(batch_size=4, num_threads=2, device_id=None)
    with pipe:
        encoded, label = fn.readers.file(file_root=str(folder.parent), name="files")
        pipe.set_outputs(fn.resize(fn.decoders.image(encoded), size=(16, 16)), label)
    threading.setprofile(note)
    try:
        with first:
            it = DataIterator(pipe, ["image", "label"], reader_name="files")
            assert sum(1 for _ in it) == 3
        gc.collect()
        gc.disable()  # what other tests have left is no part of the way
        with later:
            assert sum(1 for _ in it) == 3
        it.close()
    finally:
        threading.setprofile(None)
        gc.enable()
    return first, later


def test_the_functions_of_the_table_run_in_its_threads(profiles):
    first, _ = profiles
    assert {thread for thread, *_ in ROWS} == set(THREADS.values())
    for thread, module, functions in ROWS:
        for function in functions:
            threads = {THREADS[name] for name in first.calls[module, function]}
            # `ThreadPolicy` decides what the executor does itself and what its workers do, by the time that it takes.
            allowed = {"user"} if thread == "user" else {"executor", "worker"}
            assert threads & allowed, f"{module} {function}"


def test_a_batch_enters_what_the_page_lists(profiles):
    _, later = profiles
    listed = {module for _, module, _ in ROWS} | BESIDE
    assert later.modules() <= listed
    assert all((PACKAGE / module).exists() for module in listed)


def test_the_way_is_short():
    """From `Pipeline.run` to the array; an iterator adds its own modules."""
    assert len({module for _, module, _ in ROWS if not module.startswith("iterator/")}) <= 30


def test_three_kinds_of_threads_work_for_a_batch(profiles):
    """So a batch is handed over twice: to the workers and back, and to the user."""
    assert set().union(*profiles[1].calls.values()) <= THREADS.keys()
