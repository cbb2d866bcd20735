"""Parquet: every kind of column, row groups, filters, damage, and what forged sizes may cost."""

import numpy as np
import pytest
from support.columns import BYTES, COUNT, KINDS, same
from support.readers import everything, failures, opened

from jdali import SampleError, fn, pipeline_def, storage

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")


def written(path, columns, **options):
    pq.write_table(pa.table(columns), path, **{"row_group_size": 8, **options})
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column(tmp_path, kind):
    column, expected = KINDS[kind]
    path = written(tmp_path / "x.parquet", {"x": column})
    same(everything("parquet", paths=path, columns="x"), expected)


@pytest.mark.parametrize("options", [
    {"compression": "none"}, {"compression": "zstd"}, {"compression": "gzip"}, {"compression": "brotli"},
    {"compression": "lz4"}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"row_group_size": 1},
    {"row_group_size": COUNT}, {"write_page_checksum": True}, {"data_page_size": 16},
    {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY", "n": "DELTA_BINARY_PACKED"}},
])  # fmt: skip
def test_however_it_was_written(tmp_path, options):
    path = written(tmp_path / "x.parquet", {"x": BYTES, "n": range(COUNT)}, **options)
    found = everything("parquet", paths=[path], columns=["n", "x"])
    assert [(int(n), bytes(x)) for n, x in found] == list(enumerate(BYTES))


def test_nested_columns_and_those_with_dots(tmp_path):
    rows = [{"at": {"x": i, "y": -i}, "text": "a"} for i in range(COUNT)]
    path = written(tmp_path / "x.parquet", {"s": rows, "a.b": range(COUNT)})
    found = everything("parquet", paths=path, columns=["s.at.y", "a.b"])
    assert [(int(y), int(n)) for y, n in found] == [(-i, i) for i in range(COUNT)]


def test_what_makes_no_array_is_a_bad_sample(tmp_path):
    path = written(
        tmp_path / "x.parquet",
        {
            "n": [0, None, 2, 3, 4],
            "l": [[1], [2], [3, None], None, [5]],
            "m": [[[1], [2]], [[1]], [[1]], [[1]], [[1], [2, 3]]],
            "image": [{"bytes": b"a"}, None, {"bytes": b"a"}, {"bytes": None}, {"bytes": b"b"}],
        },
    )
    for columns, bad in (("n", {1}), ("l", {2, 3}), ("m", {4}), ("image", {1, 3}), (["n", "l"], {1, 2, 3})):
        found = failures(opened("parquet", paths=path, columns=columns))
        assert set(found) == bad
        assert all("#row" in text and "column" in text for text in found.values())
    assert (
        "#row 4: column 'm': its lists differ in length"
        in failures(opened("parquet", paths=path, columns="m"))[4]
    )


def test_a_group_of_one_null_is_a_bad_sample(tmp_path):
    """A column of the type null has no values at all."""
    path = written(tmp_path / "x.parquet", {"n": pa.nulls(9), "x": range(9)})
    found = failures(opened("parquet", paths=path, columns=["x", "n"]))
    assert list(found) == list(range(9))
    assert "#row 8: column 'n': it has no value (null)" in found[8]


def test_bad_rows_are_left_out_if_asked(tmp_path):
    path = written(tmp_path / "x.parquet", {"n": [0, None, 2, 3]})

    @pipeline_def(batch_size=4, num_threads=1, device_id=None, on_error="mask")
    def pipe():
        return fn.readers.parquet(paths=path, columns=["n"])

    built = pipe()
    (numbers,) = built.run()
    assert numbers.as_array()[[0, 2, 3]].tolist() == [0, 2, 3]
    assert "column 'n': it has no value" in built.errors[0].reason


# --- row groups -----------------------------------------------------------------------------
def groups_read(reader, monkeypatch):
    numbers, real = [], reader.read_group

    def read(number):
        numbers.append(number)
        return real(number)

    monkeypatch.setattr(reader, "read_group", read)
    return numbers


@pytest.mark.parametrize("shuffle", [{}, {"random_shuffle": True, "initial_fill": 10}])
def test_row_groups_are_read_once_a_pass(tmp_path, monkeypatch, shuffle):
    path = written(tmp_path / "x.parquet", {"n": range(1000)}, row_group_size=20)
    before = storage.configure(bytes_ahead=1)
    reader = opened("parquet", paths=path, columns=["n"], **shuffle)
    storage.configure(bytes_ahead=before.bytes_ahead)
    numbers = groups_read(reader, monkeypatch)
    found = []
    for _ in range(250):
        columns, failed = reader.load_many(reader.take(4).indices)
        assert not failed
        found += np.concatenate([c.reshape(1) for c in columns[0].host_samples()]).tolist()
        assert len(reader._kept) <= 5
    assert sorted(found) == list(range(1000))
    assert (found == sorted(found)) is not bool(shuffle)
    assert sorted(numbers) == list(range(50))


def test_only_the_columns_asked_for_are_read(tmp_path, monkeypatch):
    noise = np.random.default_rng(0)
    path = written(
        tmp_path / "x.parquet", {"big": [noise.bytes(5000) for _ in range(COUNT)], "n": range(COUNT)}
    )
    reader = opened("parquet", paths=path, columns=["n"])
    taken, real = [], reader._files.read

    def read(file, offset, size):
        taken.append(size)
        return real(file, offset, size)

    monkeypatch.setattr(reader._files, "read", read)
    assert not reader.load_many(np.arange(COUNT)).failures
    assert 0 < sum(taken) < 5000


# --- filters --------------------------------------------------------------------------------
def test_filters(tmp_path):
    import pyarrow.compute as pc

    a = written(tmp_path / "a.parquet", {"n": range(30), "kind": [f"k{i % 3}" for i in range(30)]})
    b = written(tmp_path / "b.parquet", {"n": range(30, 60), "kind": ["k1"] * 30})
    empty = str(tmp_path / "empty.parquet")  # has a row group without rows
    pq.write_table(pq.read_table(a).slice(0, 0), empty)
    for condition, expected in (
        ([("n", "<", 10), ("kind", "==", "k2")], [2, 5, 8]),
        ([[("n", "in", [3, 50])], [("n", "==", 7)]], [3, 7, 50]),
        (pc.field("n").isin([1, 21, 41]), [1, 21, 41]),
        ((pc.field("n") > 25) & (pc.field("kind") == "k1") & (pc.field("n") < 33), [28, 30, 31, 32]),
    ):
        for paths in ([a, b], [a, empty, b]):
            found = everything("parquet", paths=paths, columns=["n"], filter=condition)
            assert [int(n) for (n,) in found] == expected
    reader = opened("parquet", paths=[a, b], columns=["n"], filter=[("n", ">=", 31)])
    assert reader.source(0) == f"{b}#row 1"
    with pytest.raises(ValueError, match="filter .*does not fit .*its columns: 'n'"):
        opened("parquet", paths=a, columns=["n"], filter=[("m", ">", 3)])
    with pytest.raises(ValueError, match="filter must be an expression"):
        opened("parquet", paths=a, columns=["n"], filter="n > 3")


@pytest.mark.exhaustive  # pipeline/test_workers_of_each_kind.py has every reader in workers
def test_in_processes(tmp_path):
    path = written(tmp_path / "x.parquet", {"n": range(COUNT), "x": BYTES})

    def batches(**options):
        @pipeline_def(batch_size=5, num_threads=1, device_id=None, seed=3, **options)
        def pipe():
            return tuple(
                fn.readers.parquet(
                    paths=path, columns=["n", "x"], filter=[("n", "<", 30)], random_shuffle=True
                )
            )

        with pipe() as built:
            return [[np.asarray(o.at(i)).tobytes() for o in built.run() for i in range(5)] for _ in range(6)]

    assert batches(workers=2) == batches()


# --- what is refused ------------------------------------------------------------------------
def test_columns_that_cannot_be_read(tmp_path):
    path = written(
        tmp_path / "x.parquet",
        {"n": range(3), "words": [["a"], [], ["b"]], "d": pa.array([1, 2, 3], pa.decimal128(5)), "s": [{"x": 1}] * 3},
    )  # fmt: skip
    for columns, words in (
        ("missing", "x.parquet has no column 'missing'; it has 'n', 'words', 'd', 's'"),
        ("n.x", "has no column 'n.x'"),
        ("words", "column 'words' of .* cannot be read: .*lists of strings"),
        ("d", "decimal128"),
        ("s", "struct<x: int64>"),
        ([], "columns is empty"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            opened("parquet", paths=path, columns=columns)
    other = written(tmp_path / "y.parquet", {"n": [1.5]})
    with pytest.raises(ValueError, match="column 'n' differs: int64 with 0 axes in .*x.parquet, float64"):
        opened("parquet", paths=[path, other], columns=["n"])
    with pytest.raises(ValueError, match="paths is empty"):
        opened("parquet", paths=[], columns=["n"])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        opened("parquet", paths="nowhere.parquet", columns=["n"])


def test_a_file_that_is_none(tmp_path):
    good = written(tmp_path / "x.parquet", {"n": range(3)})
    bad = tmp_path / "y.parquet"
    bad.write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match="y.parquet is not a Parquet file, or damaged"):
        opened("parquet", paths=[good, str(bad)], columns=["n"])

    @pipeline_def(batch_size=2, num_threads=1, device_id=None, on_error="skip")
    def pipe():
        return fn.readers.parquet(paths=[str(bad), good], columns=["n"], name="r")

    with pipe() as built:
        assert built.reader_meta("r")["epoch_size"] == 4  # the damaged file counts as one
        for _ in range(2):
            built.run()
        assert "y.parquet" in built.errors[0].path


def test_a_damaged_row_group_is_some_bad_samples(tmp_path):
    path = tmp_path / "x.parquet"
    written(path, {"x": BYTES}, use_dictionary=False, write_page_checksum=True)
    data = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(2).column(0).data_page_offset
    data[start + 40] ^= 0xFF
    path.write_bytes(data)
    found = failures(opened("parquet", paths=str(path), columns=["x"]))
    assert set(found) == set(range(16, 24))
    assert "#row 16: row group 2 is damaged" in found[16]


# --- limits ---------------------------------------------------------------------------------
@pytest.fixture
def _little_memory():
    before = storage.configure(max_sample_bytes=1 << 22)
    yield
    storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("columns", [
    {"x": [bytes(60_000)] * 1000},  # a dictionary of one entry
    {"x": pa.array([None] * 3_000_000, pa.int64())},  # a run of nulls
    {"x": [[0] * 2_000_000]},  # one long list
], ids=["dictionary", "nulls", "list"])  # fmt: skip
def test_few_bytes_that_become_many(tmp_path, columns):
    path = written(tmp_path / "x.parquet", columns, row_group_size=10_000_000, compression="zstd")
    with pytest.raises(SampleError, match="max_sample_bytes of jdali.storage.configure"):
        opened("parquet", paths=path, columns=["x"]).load(0)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_a_page_that_claims_more_than_it_may_hold(tmp_path, compression):
    """The size in its header is replaced by the largest of as many digits."""
    path = tmp_path / "x.parquet"
    written(
        path,
        {"x": [np.random.default_rng(0).bytes(1_100_000)]},
        use_dictionary=False,
        compression=compression,
    )
    data = bytearray(path.read_bytes())
    at = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    assert data[at : at + 3] == b"\x15\x00\x15"  # its type, and the begin of its size
    assert data[at + 5] >= 0x80 > data[at + 6]
    data[at + 3 : at + 7] = b"\xfe\xff\xff\x7f"
    path.write_bytes(data)
    with pytest.raises(SampleError, match="of 13421[0-9]* bytes is larger than the limit"):
        opened("parquet", paths=str(path), columns=["x"]).load(0)


def test_pictures_as_the_hub_has_them(tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    pixels = [np.full((5, 4, 3), i, np.uint8) for i in range(6)]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["a", "b"])})
    kept = datasets.Dataset.from_dict(
        {"image": [image.fromarray(p) for p in pixels], "label": [i % 2 for i in range(6)]}, features=features
    )
    kept.to_parquet(str(tmp_path / "x.parquet"))

    @pipeline_def(batch_size=6, num_threads=1, device_id=None)
    def pipe():
        encoded, label = fn.readers.parquet(paths=str(tmp_path / "x.parquet"), columns=["image", "label"])
        return fn.decoders.image(encoded, device="cpu"), label

    with pipe() as built:
        pictures, labels = built.run()
        np.testing.assert_array_equal(pictures.as_array(), pixels)
        assert labels.as_array().tolist() == [0, 1, 0, 1, 0, 1]


def test_paths_that_are_no_files(tmp_path):
    written(tmp_path / "x.parquet", {"s": [{"a": 1}] * COUNT})
    with pytest.raises(FileNotFoundError, match="patterns are not expanded"):
        opened("parquet", paths=[str(tmp_path / "*.parquet")], columns=["s"])
    with pytest.raises(FileNotFoundError, match="name the files in it"):
        opened("parquet", paths=[str(tmp_path)], columns=["s"])
    with pytest.raises(ValueError, match="name a field of it, as in 'column.a'"):
        opened("parquet", paths=[str(tmp_path / "x.parquet")], columns=["s"])
