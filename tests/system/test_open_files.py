"""Files that stay open: one budget for the process, which is given back where descriptors are lacking."""

import contextlib
import errno
import os
import resource

import numpy as np
import pytest
from support import records
from support.every_reader import pipeline
from support.readers import opened
from support.videos import av, encode, pictures

from jdali._storage import RecordFiles, read_named
from jdali._system import open_files


def descriptors(folder):
    """How many files below a folder are open."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/self/fd/{number}").startswith(str(folder))
    return count


@pytest.fixture
def at_most():
    """Lowers the limit so that this many descriptors are free."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []

    def lower(free):
        # The limit is that of the largest number: what lies free below it is taken.
        used = [int(number) for number in os.listdir("/proc/self/fd")]
        while len(held) < max(used) - len(used):
            held.append(os.open(os.devnull, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(used) + 1 + free, before[1]))

    yield lower
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    for descriptor in held:
        os.close(descriptor)


def archives(folder, count):
    """Paths of files of two records each, and of their index."""
    paths, offsets, start = [], [], 0
    for number in range(count):
        path = folder / f"{number}.rec"
        images = [records.image_record(b"%d" % i, [i]) for i in (2 * number, 2 * number + 1)]
        offsets += [start + offset for offset in records.recordio(path, images)]
        start += path.stat().st_size
        paths.append(str(path))
    return {"path": paths, "index_path": records.index(folder / "all.idx", enumerate(offsets))}


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="descriptors are counted on Linux")
def test_all_readers_of_a_process_share_one_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(open_files, "_MOST", 12)
    args = archives(tmp_path, 20)
    readers = [opened("mxnet", **args) for _ in range(3)]
    for reader in readers:
        assert [reader.load(i)[0].tobytes() for i in range(40)] == [b"%d" % i for i in range(40)]
    assert 0 < descriptors(tmp_path) <= 12
    for reader in readers:
        reader.close()
    assert descriptors(tmp_path) == 0


def test_the_budget_is_a_share_of_what_there_is(at_most):
    at_most(40)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert open_files.budget() == soft // 4


def test_a_reader_that_is_dropped_holds_nothing(tmp_path):
    files = RecordFiles("readers.mxnet", archives(tmp_path, 3)["path"])
    for file in range(3):
        files.read(file, 0, 4)
    del files
    assert descriptors(tmp_path) == 0


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="descriptors are counted on Linux")
def test_few_descriptors_lose_no_sample(tmp_path, at_most):
    """Five readers of more archives than the process may have files open, where bad samples are left out."""
    args = archives(tmp_path, 60)
    with contextlib.ExitStack() as stack:
        pipes = []
        for _ in range(5):
            pipes.append(stack.enter_context(pipeline("readers.mxnet", args, batch_size=40, on_error="skip")))
            pipes[-1].build()
        at_most(30)
        for batch in range(3):
            for pipe in pipes:
                got = [one.tobytes() for one in pipe.run()[0].to_samples()]
                assert got == [b"%d" % i for i in range(batch * 40, batch * 40 + 40)]
                assert not pipe.errors


def test_large_files_of_a_batch_that_cannot_all_be_open(tmp_path, at_most):
    contents = [bytes([i]) * 20_000 for i in range(60)]
    names = [str(i) for i in range(len(contents))]
    for name, content in zip(names, contents, strict=True):
        (tmp_path / name).write_bytes(content)
    for free in (30, 3):
        at_most(free)
        read = read_named(str(tmp_path), names, np.arange(len(names)))
        assert not read.failures
        assert [read.content(i).tobytes() for i in range(len(names))] == contents


def test_videos_are_closed_for_others(tmp_path, at_most):
    av()
    content = encode(pictures(6), "libvpx-vp9", "webm", options={"g": "3"})
    (tmp_path / "0").mkdir()
    for number in range(6):
        (tmp_path / "0" / f"{number}.webm").write_bytes(content)
    reader = opened("readers.video", file_root=str(tmp_path), sequence_length=2)
    expected = [reader.load(index)[0] for index in range(reader.size)]
    assert descriptors(tmp_path) == 6
    path = archives(tmp_path, 1)["path"]
    at_most(1)
    files = RecordFiles("readers.mxnet", path)
    assert len(files.read(0, 0, 4)) == 4
    files.close()
    again = [reader.load(index)[0] for index in range(reader.size)]
    for mine, before in zip(again, expected, strict=True):
        np.testing.assert_array_equal(mine, before)
    reader.close()


def test_only_what_lacks_descriptors_is_tried_again():
    for number, times in ((errno.EMFILE, 2), (errno.ENFILE, 2), (errno.ENOENT, 1), (errno.ENOMEM, 1)):
        tried = []

        def fail(number=number, tried=tried):
            tried.append(1)
            raise OSError(number, os.strerror(number))

        with pytest.raises(OSError, match=os.strerror(number)):
            open_files.opening(fail)
        assert len(tried) == times
