"""Files that are read together: contents, failures, memory; and how samples are divided among threads."""

import io
import json
import os

import numpy as np
import pytest
from support.readers import loaded_together, opened

from jdali import Pipeline, fn
from jdali._storage import files as _storage
from jdali._storage import read_file
from jdali._storage.whole_files import read_files
from jdali.readers.formats.records import record_tasks


@pytest.fixture
def files(tmp_path):
    """Paths and contents of files of many sizes."""
    contents = [np.random.default_rng(i).bytes(size) for i, size in enumerate((1, 0, 64, 65, 200_000, 4096))]
    for i, content in enumerate(contents):
        (tmp_path / str(i)).write_bytes(content)
    return [str(tmp_path / str(i)) for i in range(len(contents))], contents


def test_contents(files):
    paths, contents = files
    read = read_files(paths)
    assert read.positions.tolist() == list(range(len(paths)))
    assert not read.failures
    assert [read.content(i).tobytes() for i in range(len(paths))] == contents
    assert [sample.tobytes() for sample in read.column().host_samples()] == contents
    assert (read.starts % 64 == 0).all()
    assert not read.raw.flags.writeable
    assert [read_file(path).tobytes() for path in paths] == contents


def test_small_files_are_read_without_asking_for_their_size(tmp_path, monkeypatch):
    contents = [
        np.random.default_rng(i).bytes(size) for i, size in enumerate((700, 1, 64, 16383, 16384, 100))
    ]
    for i, content in enumerate(contents):
        (tmp_path / str(i)).write_bytes(content)
    paths = [str(tmp_path / str(i)) for i in range(len(contents))]
    asked = []
    fstat = os.fstat
    monkeypatch.setattr(os, "fstat", lambda descriptor: asked.append(descriptor) or fstat(descriptor))
    read = read_files(paths[:4])
    assert not asked
    assert (read.starts % 64 == 0).all()
    assert not read.raw.flags.writeable
    assert [read.content(i).tobytes() for i in range(4)] == contents[:4]
    read = read_files(paths)
    assert len(asked) == 2  # the fifth, and the one behind it
    assert [read.content(i).tobytes() for i in range(6)] == contents


def test_nothing():
    read = read_files([])
    assert len(read.column()) == 0
    assert not read.failures


def test_what_cannot_be_read_does_not_harm_the_others(files, tmp_path):
    paths, contents = files
    mixed = [paths[0], str(tmp_path), paths[3], str(tmp_path / "none"), "a\0b", paths[2]]
    read = read_files(mixed)
    assert read.positions.tolist() == [0, 2, 5]
    assert [read.content(i).tobytes() for i in range(3)] == [contents[0], contents[3], contents[2]]
    messages = {position: str(error) for position, error in read.failures.items()}
    assert messages[1].startswith(f"cannot read {tmp_path}: Is a directory")
    assert messages[3].startswith(f"cannot read {tmp_path / 'none'}: No such file or directory")
    assert messages[4].startswith("cannot read 'a\\x00b': ")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc here")
def test_files_without_a_size_and_descriptors(files):
    before = len(os.listdir("/proc/self/fd"))
    read = read_files(["/proc/self/status", files[0][0]])
    assert b"Pid:" in read.content(0).tobytes()
    assert read.content(1).tobytes() == files[1][0]
    read_files([files[0][0], "none"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_gets_shorter_while_it_is_read(files, monkeypatch):
    paths, contents = files
    real = os.readv

    def cut(descriptor, buffers):
        os.truncate(paths[4], 100_000)
        return real(descriptor, buffers)

    monkeypatch.setattr(os, "readv", cut)
    read = read_files(paths[3:])
    assert read.positions.tolist() == [0, 2]
    text = f"cannot read {paths[4]}: it ends at byte 100000; it was longer when it was opened"
    assert str(read.failures[1]).startswith(text)
    assert read.content(1).tobytes() == contents[5]


def test_more_than_a_call_gives(files, monkeypatch):
    paths, contents = files
    real = os.readv
    monkeypatch.setattr(os, "readv", lambda descriptor, buffers: real(descriptor, [buffers[0][:1000]]))
    assert read_files(paths).content(4).tobytes() == contents[4]


def test_urls_among_them(files):
    import fsspec

    with fsspec.open("memory://whole_files/one", "wb") as file:
        file.write(b"remote")
    read = read_files(["memory://whole_files/one", files[0][3], "memory://whole_files/none"])
    assert read.content(0).tobytes() == b"remote"
    assert read.content(1).tobytes() == files[1][3]
    assert list(read.failures) == [2]


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("", ["a", "b/c.npy", "/absolute", "s3://other/x", "with:colon"]),
        ("data", ["data/a", "data/b/c.npy", "/absolute", "s3://other/x", "data/with:colon"]),
        ("/data/", ["/data/a", "/data/b/c.npy", "/absolute", "s3://other/x", "/data/with:colon"]),
    ],
)
def test_many_names_in_a_folder(folder, expected):
    names = ["a", "b/c.npy", "/absolute", "s3://other/x", "with:colon"]
    assert _storage.join_all(folder, names) == expected


def test_many_names_in_a_remote_folder():
    assert _storage.join_all("s3://bucket/a", ["b", "c/d"]) == ["s3://bucket/a/b", "s3://bucket/a/c/d"]
    assert _storage.join_all("zip://a::https://host/b.zip", ["c"]) == ["zip://a/c::https://host/b.zip"]


# --- readers --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "arrays",
    [
        [np.arange(6, dtype=np.int16).reshape(2, 3) + i for i in range(5)],
        [np.full((2, i), i, np.float64) for i in range(4)],  # other headers
        [np.array(i, np.float32) for i in range(3)],
        [np.array([i % 2 == 0, True]) for i in range(3)],
        [np.asfortranarray(np.arange(6.0).reshape(2, 3) * i) for i in range(3)],
        [np.arange(4, dtype=">i4") + i for i in range(3)],
        [np.zeros((0, 3), np.uint8)] * 3,
    ],
    ids=["alike", "shapes", "scalars", "booleans", "fortran", "big-endian", "empty"],
)
def test_arrays_of_all_kinds_together(tmp_path, arrays):
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
    reader = opened("numpy", file_root=str(tmp_path))
    samples, failed = loaded_together(reader, np.arange(len(arrays)))
    assert not failed
    for (got,), want in zip(samples, arrays, strict=True):
        assert got.dtype == want.dtype.newbyteorder("=")
        assert got.shape == want.shape
        assert got.flags.c_contiguous
        np.testing.assert_array_equal(got, want)


def test_an_array_of_the_same_size_with_another_header(tmp_path):
    arrays = [np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(6, dtype=np.int32).reshape(3, 2)]
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
    samples, _ = loaded_together(opened("numpy", file_root=str(tmp_path)), np.arange(2))
    assert [sample[0].shape for sample in samples] == [(2, 3), (3, 2)]


def test_damaged_arrays_are_named(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.arange(4))
    good = buffer.getvalue()
    for i, content in enumerate((good, good[:-1], b"", good)):
        (tmp_path / f"{i}.npy").write_bytes(content)
    (tmp_path / "2.npy").unlink()
    names = tuple(f"{i}.npy" for i in range(4))
    reader = opened("numpy", file_root=str(tmp_path), files=names)
    samples, failed = loaded_together(reader, np.array([1, 0, 2, 3]))
    assert [sample[0].tolist() for sample in samples] == [[0, 1, 2, 3]] * 2
    assert failed[0].startswith(f"readers.numpy: {tmp_path / '1.npy'}: Expected data numpy size")
    assert "the header promises 32 bytes" in failed[0]
    assert str(failed[2]).startswith(f"cannot read {tmp_path / '2.npy'}: No such file or directory")


def test_what_belongs_to_files_stays_with_them_where_one_is_missing(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.jpg").write_bytes(bytes([i]))
    (tmp_path / "1.jpg").unlink()
    images = [{"id": i, "file_name": f"{i}.jpg", "width": 9, "height": 9} for i in range(4)]
    objects = [
        {
            "id": 10 * i + k,
            "image_id": i,
            "category_id": i + 1,
            "bbox": [i, k, 3, 4],
            "area": 12,
            "iscrowd": 0,
        }
        for i in range(4)
        for k in range(i)
    ]
    categories = [{"id": i + 1, "name": str(i)} for i in range(4)]
    (tmp_path / "coco.json").write_text(
        json.dumps({"images": images, "annotations": objects, "categories": categories})
    )
    coco = opened(
        "coco", file_root=str(tmp_path), annotations_file=str(tmp_path / "coco.json"), image_ids=True
    )
    files = opened(
        "file", file_root=str(tmp_path), files=tuple(f"{i}.jpg" for i in range(4)), labels=(9, 8, 7, 6)
    )
    order = np.array([3, 1, 0, 2])
    samples, failed = loaded_together(coco, order)
    assert list(failed) == [1]
    for (content, boxes, labels, image), i in zip(samples, (3, 0, 2), strict=True):
        assert content.tobytes() == bytes([i])
        assert boxes.tolist() == [[i, k, 3, 4] for k in range(i)]
        assert labels.tolist() == [i + 1] * i
        assert image.tolist() == [i]
    samples, failed = loaded_together(files, order)
    assert list(failed) == [1]
    assert [(content.tobytes()[0], label.tolist()) for content, label in samples] == [
        (3, [6]),
        (0, [9]),
        (2, [7]),
    ]


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 34, 70])
def test_a_batch_of_files_in_several_parts(tmp_path, count):
    (tmp_path / "class").mkdir()
    for i in range(count):
        (tmp_path / "class" / f"{i:03}.jpg").write_bytes(bytes([i]) * (i + 1))
    pipe = Pipeline(batch_size=count, num_threads=2, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.readers.file(file_root=str(tmp_path)))
    for _ in range(3):
        contents, labels = pipe.run()
        assert [sample.tobytes() for sample in contents.to_samples()] == [
            bytes([i]) * (i + 1) for i in range(count)
        ]
        assert labels.as_numpy().ravel().tolist() == [0] * count
    pipe.close()


# --- tasks ----------------------------------------------------------------------------------
MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    ("sizes", "threads", "expected"),
    [
        ([1000] * 256, 4, [(0, 256)]),
        ([MEGABYTE] * 16, 2, [(0, 8), (8, 16)]),
        ([MEGABYTE] * 16, 16, [(0, 4), (4, 8), (8, 12), (12, 16)]),
        ([30 * MEGABYTE, 1, 1, 1], 2, [(0, 4)]),
        ([1, 1, 1, 30 * MEGABYTE], 2, [(0, 3), (3, 4)]),
        ([0, 0], 2, [(0, 2)]),
        ([9 * MEGABYTE], 2, [(0, 1)]),
    ],
)
def test_records_are_divided_by_their_bytes(sizes, threads, expected):
    tasks = record_tasks(np.array(sizes, np.int64), threads)
    assert [(task.start, task.stop) for task in tasks] == expected
