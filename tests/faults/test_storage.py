"""Files that disappear, caches that cannot be written, sources that are slow."""

import errno
import os
import sys
import textwrap
import time

import numpy as np
import pytest
from support.data import image
from support.faults import child, overlapping
from support.numbers import NumberReader, numbers
from support.settled import settle_at_once

import jdali
from jdali import fn
from jdali._storage import cached_index
from jdali.iterator import DataIterator

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]


FILES = 28


@pytest.fixture
def pictures(tmp_path):
    import simplejpeg

    for i in range(FILES):
        (tmp_path / f"{i}.jpg").write_bytes(
            simplejpeg.encode_jpeg(np.ascontiguousarray(image(24, 32, seed=i)))
        )
    return tmp_path


def reading(folder, **options):
    @jdali.pipeline_def(batch_size=2, num_threads=2, seed=1, prefetch_queue_depth=1, **options)
    def pipeline():
        files = [str(folder / f"{i}.jpg") for i in range(FILES)]
        encoded, labels = fn.readers.file(files=files, labels=list(range(FILES)), name="Reader")
        return fn.crop(fn.decoders.image(encoded), crop=(20, 20)), labels

    return DataIterator(pipeline(), ["x", "label"], reader_name="Reader")


def labels_of_an_epoch(it):
    """Labels of an epoch, with the names of files that could not be read."""
    got = []
    while True:
        try:
            got += np.ravel(next(it)["label"]).tolist()
        except jdali.OperatorError as error:
            got.append(os.path.basename(error.source))
        except StopIteration:
            it.reset()
            return got


def test_a_file_that_disappears_in_mid_epoch(pictures):
    with reading(pictures) as it:
        next(it)
        (pictures / "26.jpg").unlink()  # far behind what is made ahead
        assert labels_of_an_epoch(it) == [*range(2, 26), "26.jpg"]
        assert labels_of_an_epoch(it) == [*range(26), "26.jpg"]
        (pictures / "26.jpg").write_bytes((pictures / "7.jpg").read_bytes())
        assert labels_of_an_epoch(it) == list(range(FILES))


def test_a_file_that_disappears_and_is_skipped(pictures):
    with reading(pictures, on_error="skip") as it:
        assert labels_of_an_epoch(it) == list(range(FILES))
        (pictures / "26.jpg").unlink()
        got = labels_of_an_epoch(it)
        assert sorted(set(got)) == [*range(26), 27]
        assert len(got) == FILES
        assert "26.jpg" in it.pipelines[0].errors[-1].path


# --- caches ----------------------------------------------------------------------------------------
def test_a_full_disk_under_the_index_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "data"
    file.write_bytes(b"data")
    settle_at_once(monkeypatch)
    built = []

    def build():
        built.append(1)
        return {"offsets": np.arange(1000)}

    def full(stream, **arrays):
        stream.write(b"half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as context:
        context.setattr(np, "savez", full)
        for _ in range(2):
            index = cached_index("test", str(file), build)
            np.testing.assert_array_equal(index["offsets"], np.arange(1000))
        assert not list((tmp_path / "cache" / "index").iterdir())  # nothing half written stays
    for _ in range(3):  # there is room again
        cached_index("test", str(file), build)
    assert len(built) == 3


def test_an_index_cache_that_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "cache").write_bytes(b"")
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "data"
    file.write_bytes(b"data")
    settle_at_once(monkeypatch)
    for _ in range(2):
        index = cached_index("test", str(file), lambda: {"offsets": np.arange(3)})
        assert index["offsets"].tolist() == [0, 1, 2]


def test_a_cached_index_is_read_without_a_parser_of_python(tmp_path, monkeypatch):
    """Indexes are read in threads, and `ast` of CPython 3.11 fails now and then if called in several."""
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "data"
    file.write_bytes(b"data")
    settle_at_once(monkeypatch)
    arrays: dict[str, np.ndarray] = {
        "offsets": np.arange(4),
        "table": np.arange(6).reshape(3, 2),
        "none": np.empty((0, 2), np.uint8),
    }
    cached_index("test", str(file), lambda: arrays)
    with (
        monkeypatch.context() as without
    ):  # ends before pytest reports a failure, for which it needs the parser
        without.delattr("ast.parse")
        index = cached_index("test", str(file), dict)
    assert list(index) == list(arrays)
    for name, array in arrays.items():
        assert (index[name].dtype, index[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(index[name], array)


def test_a_cached_index_that_was_damaged_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "data"
    file.write_bytes(b"data")
    settle_at_once(monkeypatch)
    offsets = np.arange(100)
    for damage in (lambda d: d[: len(d) // 2], lambda d: b"", lambda d: d[:40] + b"\xff" * 8 + d[48:]):
        cached_index("test", str(file), lambda: {"offsets": offsets})
        (cached,) = (tmp_path / "cache" / "index").iterdir()
        cached.write_bytes(damage(cached.read_bytes()))
        index = cached_index("test", str(file), lambda: {"offsets": offsets})
        np.testing.assert_array_equal(index["offsets"], offsets)


COMPILING = """
    import os, resource, sys
    import numpy as np
    import jdali
    from jdali import fn

    # No file can be longer than this: what is written fails as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))

    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=1)
    def pipeline():
        x = fn.external_source(source=lambda: np.full((2, 30, 30, 3), 7, np.uint8), layout="HWC")
        return fn.resize(fn.rotate(x, angle=90.0), size=(11, 11))

    for _ in range(2):
        pipe = pipeline()
        assert (pipe.run()[0].as_array() == 7).all()
        pipe.close()
    print("ready", flush=True)
"""


@pytest.mark.cases(1)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize("fault", ["full disk", "a file in its place"])
def test_a_compilation_cache_that_cannot_be_written(fault, tmp_path):
    folder = tmp_path / "cache"
    if fault == "a file in its place":
        folder.write_bytes(b"")
    limit = 1 << 20 if folder.exists() else 1
    script = 'import os; os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)\n' + textwrap.dedent(COMPILING)
    ended = child(script, limit, JDALI_CACHE_DIR=str(folder))
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert "Exception in thread" not in ended.err
    if fault == "full disk":
        assert (folder / "xla").is_dir()
        assert not [f for f in (folder / "xla").rglob("*") if f.is_file() and f.stat().st_size > limit]


# --- what is slow ------------------------------------------------------------------------------------
def test_a_slow_source_loses_nothing():
    """The source takes longer than any wait inside: all batches come, in order."""

    def source(number):
        if number == 5:
            raise StopIteration
        time.sleep(0.25)
        return np.full((2,), number, np.int32)

    with DataIterator(overlapping(source, lambda value: value), ["x"]) as it:
        assert [int(batch["x"][0]) for batch in it] == [1, 2, 3, 4, 5]
        assert it.wait_seconds > 0


def test_a_slow_sample_holds_up_its_batch_only():
    def delay(index):
        time.sleep(0.5 if index == 3 else 0)

    pipe = jdali.Pipeline(batch_size=2, num_threads=4, seed=1)
    with pipe:
        pipe.set_outputs(numbers(NumberReader(8, delay=delay)))
    with DataIterator(pipe, ["x"], reader_name="Reader") as it:
        assert [np.ravel(batch["x"]).tolist() for batch in it] == [[0, 1], [2, 3], [4, 5], [6, 7]]
