"""Arrow's files and streams: every kind of column, both ways to read, damage, and what forged sizes may cost."""

import struct

import numpy as np
import pytest
from support.columns import BYTES, COUNT, KINDS, pa, same
from support.fuzz import refusals
from support.readers import everything, failures, opened, reads

from jdali import SampleError, storage

FORMS = ("file", "stream")


def written(path, columns, form="stream", rows=8, **options):
    table = pa.table(columns)
    new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with new(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table, max_chunksize=rows)
    return str(path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "categories"])
def test_every_kind_of_column(tmp_path, kind):
    column, expected = KINDS[kind]
    path = written(tmp_path / "x.arrow", {"x": column})
    same(everything("arrow", paths=path, columns="x"), expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("options", [{}, {"compression": "zstd"}, {"compression": "lz4"}])
def test_however_it_was_written(tmp_path, form, mapped, options):
    path = written(tmp_path / "x.arrow", {"x": BYTES, "n": range(COUNT)}, form, **options)
    found = everything("arrow", paths=[path, path], columns=["n", "x"], dont_use_mmap=not mapped)
    assert [(int(n), bytes(x)) for n, x in found] == 2 * list(enumerate(BYTES))


def test_feather(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(pa.table({"x": BYTES}), str(tmp_path / "x.feather"), chunksize=10)
    same(everything("arrow", paths=str(tmp_path / "x.feather"), columns=["x"]), BYTES)


def test_what_save_to_disk_writes(tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    data = datasets.Dataset.from_dict({"x": BYTES, "m": [[[i, 1.5]] for i in range(COUNT)]})
    data = data.cast_column("m", datasets.Array2D((1, 2), "float32"))
    data.save_to_disk(str(tmp_path / "kept"), num_shards=2)
    paths = sorted(map(str, (tmp_path / "kept").glob("*.arrow")))
    found = everything("arrow", paths=paths, columns=["x", "m"])
    same([row[:1] for row in found], BYTES)
    same([row[1:] for row in found], [np.float32([[i, 1.5]]) for i in range(COUNT)])


@pytest.mark.parametrize("form", FORMS)
def test_categories_beside_what_is_read(tmp_path, form):
    columns = {"c": pa.array(["a", "b"] * 5).dictionary_encode(), "n": range(10)}
    path = written(tmp_path / "x.arrow", columns, form)
    assert [int(n) for (n,) in everything("arrow", paths=path, columns=["n"])] == list(range(10))
    with pytest.raises(ValueError, match="x.arrow has categories .* in column 'c': write them as string"):
        opened("arrow", paths=path, columns=["c"])


def test_filters(tmp_path):
    path = written(tmp_path / "x.arrow", {"x": BYTES, "n": range(COUNT)})
    reader = opened("arrow", paths=path, columns=["x"], filter=[("n", ">", 40), ("n", "<", 45)])
    assert [bytes(reader.load(i)[0]) for i in range(reader.size)] == BYTES[41:45]
    assert reader.source(0) == f"{path}#row 41"


def test_a_file_that_is_none(tmp_path):
    path = tmp_path / "x.arrow"
    for content, words in (
        (b"", "it is empty"),
        (b"no such file at all", "is not a file or stream of Arrow"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"x.arrow .*{words}"):
            opened("arrow", paths=str(path), columns=["x"])
    written(path, {"n": range(100)})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="x.arrow ends within the message at byte"):
        opened("arrow", paths=str(path), columns=["n"])


def test_a_file_that_became_another(tmp_path):
    path = written(tmp_path / "x.arrow", {"n": range(100)})
    reader = opened("arrow", paths=path, columns=["n"])
    assert reader.load(3)[0] == 3
    written(tmp_path / "z.arrow", {"n": range(50)})
    content = (tmp_path / "z.arrow").read_bytes()
    (tmp_path / "x.arrow").write_bytes(content)
    with pytest.raises(SampleError, match=rf"the file has {len(content)} bytes, it had"):
        reader.load(99)


@pytest.fixture
def _little_memory():
    before = storage.configure(max_sample_bytes=1 << 20)
    yield
    storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("columns", [
    {"x": [bytes(60_000)] * 100}, {"x": pa.nulls(1 << 20)}, {"x": [[0] * 500_000]},
], ids=["bytes", "nulls", "list"])  # fmt: skip
def test_few_bytes_that_become_many(tmp_path, columns):
    path = written(tmp_path / "x.arrow", columns, rows=1 << 30, compression="zstd")
    with pytest.raises(SampleError, match="max_sample_bytes of jdali.storage.configure"):
        opened("arrow", paths=path, columns=["x"]).load(0)


def test_damaged_offsets(tmp_path):
    """Offsets of strings that go back, or reach past the values: of these nothing is followed."""
    path = tmp_path / "x.arrow"
    for offset in (1 << 30, -5):
        written(path, {"x": [b"abc", b"de", b"fgh"]}, rows=3)
        data = bytearray(path.read_bytes())
        at = data.index(struct.pack("<4i", 0, 3, 5, 8))
        data[at + 8 : at + 12] = struct.pack("<i", offset)
        path.write_bytes(data)
        for mapped in (True, False):
            found = failures(opened("arrow", paths=str(path), columns=["x"], dont_use_mmap=not mapped))
            assert set(found) == {0, 1, 2}
            assert "offsets are damaged" in found[0]


@pytest.mark.parametrize("form", FORMS)
def test_fuzz(tmp_path, form):
    before = storage.configure(max_sample_bytes=1 << 24)
    try:
        path = tmp_path / "x.arrow"
        columns = {
            "image": [{"bytes": bytes(range(20 * i)), "path": "x"} for i in range(6)],
            "boxes": [[[0.5] * 4] * i for i in range(6)],
        }
        written(path, columns, form, rows=3, compression="lz4" if form == "file" else None)
        good = path.read_bytes()
        read = reads("readers.arrow", path, paths=(str(path),), columns=("image", "boxes"))
        law = {"says": r"readers.arrow: .*x.arrow|number of input samples"}
        assert refusals(read, good, count=400, **law) > 100
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes)
