"""What is no regular file, and what is too large for memory, is one bad sample wherever files are opened."""

import io
import os
import shutil
import socket
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import records
from support.every_reader import MAKERS, made, picture
from support.readers import loaded_together, opened

import jdali
import jdali.dynamic as jd
from jdali import SampleError, fn, storage, tfrecord
from jdali._storage import files as _storage
from jdali._storage import record_files as _record_files
from jdali._storage import whole_files as _whole_files
from jdali._system import limits
from jdali._system import regular_file as _regular_file
from jdali._system.regular_file import open_regular
from jdali.cli import main
from jdali.codecs.video import build_index

# A file that waits for a writer would end no test otherwise.
pytestmark = pytest.mark.timeout(60)
TIB = 1 << 40


@pytest.fixture
def pictures(tmp_path):
    """Four pictures, and a FIFO among them."""
    (tmp_path / "a").mkdir()
    for i in range(4):
        (tmp_path / "a" / f"{i}.png").write_bytes(picture(i))
    os.mkfifo(tmp_path / "a" / "1b.png")
    return tmp_path


@pytest.fixture
def limited():
    """Sets the largest file; taken back after the test."""
    before = storage.configure()
    yield lambda most: storage.configure(max_file_bytes=most)
    storage.configure(max_file_bytes=before.max_file_bytes)


@pytest.fixture
def sparse(tmp_path):
    """Makes a file of 1 TiB that takes no room on the disk."""

    def make(name, head=b""):
        path = tmp_path / name
        path.write_bytes(head)
        try:
            os.truncate(path, TIB)
        except OSError:
            pytest.skip("there are no such large files here")
        return str(path)

    return make


def bad_files(pipe):
    """Names of the files that were skipped; the pipeline may have come to them in several epochs."""
    return {os.path.basename(error.path) for error in pipe.errors}


# --- opening --------------------------------------------------------------------------------
def test_regular_files_and_links_to_them(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        descriptor, size = open_regular(str(tmp_path / name))
        assert (os.read(descriptor, 9), size) == (b"12345", 5)
        os.close(descriptor)


def test_what_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    os.mkfifo("fifo")
    Path("link").symlink_to("fifo")
    Path("zero").symlink_to("/dev/zero")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for name, kind in [
            ("fifo", "FIFO"),
            ("link", "FIFO"),
            ("zero", "character device"),
            ("socket", "socket"),
        ]:
            with pytest.raises(OSError, match=f"it is a {kind}, not a regular file") as caught:
                open_regular(name)
            assert caught.value.filename == name
    with pytest.raises(IsADirectoryError):
        open_regular(".")
    with pytest.raises(FileNotFoundError):
        open_regular("none")
    assert before is None or len(os.listdir("/proc/self/fd")) == before


def test_a_name_that_changes_while_it_is_opened(tmp_path, monkeypatch):
    """Not the name is looked at, but what was opened."""
    path = str(tmp_path / "file")
    Path(path).write_bytes(b"1")
    real = os.open

    def swapped(name, flags):
        Path(path).unlink()
        os.mkfifo(path)
        return real(name, flags)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(OSError, match="it is a FIFO"):
        open_regular(path)


# --- in every role --------------------------------------------------------------------------
@pytest.mark.cases(12)
@pytest.mark.parametrize("case", MAKERS)
def test_a_fifo_in_place_of_each_file_of_a_reader(case, tmp_path):
    reader, args = made(case, tmp_path / "data")
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    refused = set()
    for file in files:
        content = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        try:
            source = opened(reader, **args(str(tmp_path / "data")))
            errors = list(loaded_together(source, np.arange(source.size))[1].values())
            source.close()
        except (ValueError, OSError) as error:
            errors = [str(error)]
        for error in errors:
            assert "it is a FIFO, not a regular file" in error, error
            assert file.name in error, error
        if errors:
            refused.add(file.name)
        file.unlink()
        file.write_bytes(content)
    # The pictures that records were made of are not read.
    unused = (
        {"lock.mdb", *(f"{i}.png" for i in range(8))} if len(refused) < 8 else {"objects.json", "lock.mdb"}
    )
    if case == "coco preprocessed":  # without masks these need not be
        unused |= {file.name for file in files if file.stem in ("heights", "widths") or "mask" in file.stem}
    if case == "lerobot":  # for the column "task" only
        unused.add("tasks.parquet")
    assert {file.name for file in files} - refused <= unused


@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
def test_a_pipeline_goes_on(pictures, on_error):
    with jdali.Pipeline(batch_size=3, num_threads=2, device_id=None, on_error=on_error) as pipe:
        encoded, _ = fn.readers.file(file_root=str(pictures), name="r")
        pipe.set_outputs(fn.decoders.image(encoded))
    if on_error == "raise":
        with pytest.raises(jdali.OperatorError, match="1b.png: it is a FIFO"):
            pipe.run()
    result = pipe.run_result()
    shades = [int(sample[0, 0, 0]) for sample in result.outputs[0].to_samples()]
    assert shades == {"raise": [40, 60, 0], "skip": [0, 20, 40], "mask": [0, 20, 40]}[on_error]
    if on_error != "raise":
        assert bad_files(pipe) == {"1b.png"}
    pipe.close()


def test_reading_files_by_name(pictures):
    fifo = str(pictures / "a" / "1b.png")
    with pytest.raises(jdali.OperatorError, match="1b.png: it is a FIFO"):
        jd.imread(fifo).evaluate()
    with pytest.raises(jdali.OperatorError, match="1b.png: it is a FIFO"):
        jd.io.file.read(np.frombuffer(fifo.encode(), np.uint8)).evaluate()
    for url in (f"file://{fifo}", f"local://{fifo}", f"zip://name::file://{fifo}", f"zip://name::{fifo}"):
        with pytest.raises(OSError, match=r"^\[Errno 22\] it is a FIFO, not a regular file: '"):
            _storage.read(url)
    with pytest.raises(jdali.SampleError, match="cannot be opened as a video: it is a FIFO"):
        build_index(fifo)


def test_the_command_line(pictures, capsys):
    assert main(["index", str(pictures / "a" / "1b.png"), "--type", "webdataset"]) == 1
    assert "it is a FIFO, not a regular file" in capsys.readouterr().err


# --- too large ------------------------------------------------------------------------------
@pytest.fixture
def allocated(monkeypatch):
    """How many bytes were allocated at once for files, each time."""
    sizes = []

    def empty(shape, dtype):
        sizes.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        return np.empty(shape, dtype)

    monkeypatch.setattr(_whole_files, "empty", empty)
    return sizes


@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
def test_a_file_larger_than_memory(pictures, sparse, allocated, on_error):
    os.unlink(pictures / "a" / "1b.png")
    shutil.move(sparse("1b.png", b"\x89PNG"), pictures / "a" / "1b.png")
    with jdali.Pipeline(batch_size=4, num_threads=2, device_id=None, on_error=on_error) as pipe:
        pipe.set_outputs(fn.decoders.image(fn.readers.file(file_root=str(pictures))[0]))
    if on_error == "raise":
        with pytest.raises(jdali.OperatorError, match=f"1b.png: its {TIB} bytes are more than the memory of"):
            pipe.run()
    else:
        assert len(pipe.run()[0]) == 4
        assert bad_files(pipe) == {"1b.png"}
    pipe.close()
    assert max(allocated) < 1 << 20


def test_every_way_to_read_a_whole_file(sparse):
    path = sparse("large")
    for url in (path, f"file://{path}"):
        with pytest.raises(OSError, match=f"its {TIB} bytes are more than the memory of"):
            _storage.read(url)
    with pytest.raises(jdali.OperatorError, match=f"large: its {TIB} bytes are more"):
        jd.io.file.read(np.frombuffer(path.encode(), np.uint8)).evaluate()


def test_an_array_larger_than_memory(tmp_path, sparse):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 20, TIB // (1 << 20) - 128)}
    )
    sparse("large.npy", header.getvalue())
    whole = opened("numpy", file_root=str(tmp_path))
    assert "bytes are more than the memory" in loaded_together(whole, np.array([0]))[1][0]
    most = opened("numpy", file_root=str(tmp_path), roi_start=[1, 0])
    assert "large.npy: its" in loaded_together(most, np.array([0]))[1][0]
    little = opened("numpy", file_root=str(tmp_path), roi_start=[1, 2], roi_shape=[3, 4])
    (samples,), failed = loaded_together(little, np.array([0]))
    assert samples[0].shape == (3, 4)
    assert not failed


def test_a_record_larger_than_memory(sparse, tmp_path):
    pytest.importorskip("crc32c")
    records.tfrecord(tmp_path / "data", [records.example({"label": [i]}) for i in range(2)])
    head = (tmp_path / "data").read_bytes()
    path = sparse("data", head)
    size = len(head) // 2
    records.index(tmp_path / "idx", [(0, size), (size, size), (2 * size, TIB - 2 * size)])
    reader = opened(
        "tfrecord",
        path=[path],
        index_path=[str(tmp_path / "idx")],
        features={"label": tfrecord.FixedLenFeature((), tfrecord.int64, -1)},
    )
    samples, failed = loaded_together(reader, np.array([2, 0, 1]))
    assert [int(label) for (label,) in samples] == [0, 1]
    assert "data#record 2" in failed[0]
    assert "bytes are more than the memory" in failed[0]
    reader.close()


def test_the_configured_limit(tmp_path, limited):
    import fsspec

    paths = []
    for size in (10, 11):
        (tmp_path / str(size)).write_bytes(bytes(size))
        paths.append(str(tmp_path / str(size)))
        with fsspec.open(f"memory://limits/{size}", "wb") as file:
            file.write(bytes(size))
        paths.append(f"memory://limits/{size}")
    limited(10)
    read = _whole_files.read_files(paths)
    assert read.positions.tolist() == [0, 1]
    assert [str(error) for error in read.failures.values()] == [
        f"cannot read {path}: its 11 bytes are more than the limit of 10 bytes (max_file_bytes of "
        "jdali.storage.configure)"
        for path in paths[2:]
    ]
    with pytest.raises(ValueError, match="max_file_bytes is 0"):
        limited(0)


def test_a_file_without_a_size_that_grows_beyond_the_limit(limited):
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("there is no /proc here")
    limited(100)
    with pytest.raises(OSError, match="more than the limit of 100 bytes"):
        _storage.read("/proc/self/maps")


def test_the_memory_of_a_container(tmp_path, monkeypatch):
    machine = limits.memory_limit()
    for text, limit in (("12345\n", 12345), ("max\n", machine), (f"{1 << 63}\n", machine)):
        (tmp_path / "memory").write_text(text)
        monkeypatch.setattr(limits, "_GROUP_LIMITS", (str(tmp_path / "memory"), str(tmp_path / "none")))
        limits.memory_limit.cache_clear()
        assert _regular_file.most_bytes() == min(limit, machine)
    monkeypatch.undo()
    limits.memory_limit.cache_clear()


# --- no memory ------------------------------------------------------------------------------
def test_no_memory_for_a_batch_of_files(tmp_path, monkeypatch):
    """No file is to blame. None is so small that it is read before there is room for it."""
    for i, size in enumerate((20_000, 500_000, 30_000, 300_000)):
        (tmp_path / str(i)).write_bytes(bytes([i]) * size)

    def empty(shape, dtype):
        if shape[0] > 100_000:
            raise MemoryError
        return np.empty(shape, dtype)

    monkeypatch.setattr(_whole_files, "empty", empty)
    paths = [str(tmp_path / str(i)) for i in range(4)]
    with pytest.raises(OSError, match="there is no memory for its 500000 bytes"):
        _whole_files.read_files(paths)


def test_no_memory_for_one_file(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"12345")

    def full(*_):
        raise MemoryError

    monkeypatch.setattr(os, "read", full)
    with pytest.raises(OSError, match="there is no memory for its 5 bytes"):
        _storage.read(str(tmp_path / "file"))


def test_no_memory_for_records_together_or_for_one(tmp_path, monkeypatch):
    contents = [bytes([i]) * size for i, size in enumerate((10, 2000, 30))]
    offsets = records.tar(tmp_path / "data.tar", [(f"{i}.bin", one) for i, one in enumerate(contents)])
    assert len(offsets) == 3
    reader = opened("webdataset", paths=[str(tmp_path / "data.tar")], ext=["bin"])

    def full(shape, dtype):
        raise MemoryError

    monkeypatch.setattr(_record_files, "empty", full)
    samples, failed = loaded_together(reader, np.arange(3))
    assert [one.tobytes() for (one,) in samples] == contents
    assert not failed
    real = os.pread

    def pread(descriptor, size, offset):
        if size >= 2000:
            raise MemoryError
        return real(descriptor, size, offset)

    monkeypatch.setattr(_record_files.os, "pread", pread)
    columns, failed = reader.load_many(np.arange(3))
    assert [one.tobytes() for one in columns[0].host_samples()] == [contents[0], contents[2]]
    assert not isinstance(failed[1], SampleError)
    assert "there is no memory for its 2512 bytes" in str(failed[1])  # with its header
    assert "data.tar" in str(failed[1])
    reader.close()


def claims(kind):
    """A picture whose header claims 65,500 x 65,500 pixels."""
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((13, 11, 3), np.uint8)).save(buffer, kind)
    data = buffer.getvalue()
    true, claimed = {
        "JPEG": (struct.pack(">HH", 13, 11), struct.pack(">HH", 65500, 65500)),
        "PNG": (struct.pack(">II", 11, 13), struct.pack(">II", 65500, 65500)),
        "BMP": (struct.pack("<ii", 11, 13), struct.pack("<ii", 65500, 65500)),
        "PPM": (b"11 13", b"65500 65500"),
    }[kind]
    assert data.count(true) == 1
    return data.replace(true, claimed)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "PPM"])
def test_pictures_that_claim_too_much(pictures, kind):
    os.unlink(pictures / "a" / "1b.png")
    (pictures / "a" / "1b.png").write_bytes(claims(kind))
    with jdali.Pipeline(batch_size=4, num_threads=2, device_id=None, on_error="skip") as pipe:
        pipe.set_outputs(fn.decoders.image(fn.readers.file(file_root=str(pictures))[0]))
    assert len(pipe.run()[0]) == 4
    assert bad_files(pipe) == {"1b.png"}
    assert "65500x65500" in pipe.errors[0].reason
    pipe.close()


def test_a_call_that_reads_less_than_asked_is_not_the_end(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(20)))
    whole = os.pread  # one call returns at most 2 GiB
    monkeypatch.setattr(os, "pread", lambda file, size, offset: whole(file, min(size, 3), offset))
    _, read = _storage.parts_of(str(path))
    assert read(2, 11) == bytes(range(2, 13))
    with pytest.raises(OSError, match="it ends before the 11 bytes from byte 10 on do"):
        read(10, 11)
    files = _record_files.RecordFiles("test", [str(path)])
    assert files.read(0, 2, 11) == bytes(range(2, 13))
    files.close()
