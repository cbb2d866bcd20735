"""Tables in memory and CSV files: columns, files by their names, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest
from support.columns import KINDS, pa, same
from support.readers import everything, failures, opened

from jdali import fn, pipeline_def

NAMES = [f"{i}.bin" for i in range(6)]


@pytest.fixture
def folder(tmp_path):
    for i, name in enumerate(NAMES):
        (tmp_path / name).write_bytes(bytes([i] * (i + 1)))
    return tmp_path


def frames(columns):
    """The same columns as every kind of frame."""
    yield columns
    yield pa.table(columns)
    yield pa.RecordBatch.from_pydict(columns)
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    yield pandas.DataFrame(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column(kind):
    column, expected = KINDS[kind]
    same(everything("table", frame=pa.table({"x": column}), columns="x"), expected)


def test_every_kind_of_frame(folder):
    columns = {"name": NAMES, "label": list(range(6)), "text": list("abcdef")}
    for frame in frames(columns):
        found = everything(
            "table", frame=frame, columns=["label", "name", "text"], files="name", file_root=str(folder)
        )
        assert [(int(n), bytes(f), bytes(t)) for n, f, t in found] == [
            (i, bytes([i] * (i + 1)), b"abcdef"[i : i + 1]) for i in range(6)
        ]


def test_arrays_and_categories():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    arrays = np.arange(24.0).reshape(4, 3, 2)
    for kind in (
        arrays,
        arrays.astype(">f8"),
        jnp.arange(24, dtype="float32").reshape(4, 3, 2),
        jnp.arange(4),
    ):
        expected = np.asarray(kind).astype(kind.dtype.newbyteorder("="))
        same(everything("table", frame={"x": kind}, columns=["x"]), expected)
    frame = pandas.DataFrame({"c": pandas.Categorical(["b", "a", "b"])}, index=[7, 8, 9])
    assert [bytes(c) for (c,) in everything("table", frame=frame, columns=["c"])] == [b"b", b"a", b"b"]


def test_whole_paths_below_the_root(folder):
    frame = {"name": [str(folder / name) for name in NAMES]}
    reader = opened("table", frame=frame, columns=["name"], files=["name"], file_root=str(folder))
    assert bytes(reader.load(2)[0]) == b"\2\2\2"
    assert reader.source(2) == str(folder / "2.bin")
    with pytest.raises(
        ValueError, match="the table#row 0: .* is an absolute path: names found in data must lie below"
    ):
        opened("table", frame=frame, columns=["name"], files=["name"], file_root=str(folder / "deeper"))


def test_bad_rows_and_files_that_are_missing(folder):
    (folder / "3.bin").unlink()
    frame = {"name": NAMES, "n": [0, None, 2, 3, 4, 5]}
    reader = opened("table", frame=frame, columns=["n", "name"], files=["name"], file_root=str(folder))
    found = failures(reader)
    assert set(found) == {1, 3}
    assert "column 'n': it has no value" in found[1]
    assert "3.bin" in found[3]


def test_csv(folder):
    (folder / "x.csv").write_text('name;label;text;"a,b"\n0.bin;7;"x;y";1.5\n1.bin;8;ä;\n')
    reader = opened(
        "csv", path=folder / "x.csv", delimiter=";", columns=["text", "label", "name", "a,b"], files=["name"]
    )
    text, label, content, number = reader.load(0)
    assert (bytes(text), int(label), bytes(content), float(number)) == (b"x;y", 7, b"\0", 1.5)
    assert reader.source(1) == str(folder / "1.bin")
    with pytest.raises(ValueError, match="column 'a,b': it has no value"):
        reader.load(1)


@pytest.mark.parametrize(
    "text", ["x" * (1 << 20) + ",1", "\n".join(["words,7"] * 200_000)], ids=["row", "rows"]
)
def test_a_csv_file_of_more_than_a_megabyte(tmp_path, text):
    (tmp_path / "x.csv").write_text(f'a,b\n{text}\n"y\nz",2\n')
    reader = opened("csv", path=str(tmp_path / "x.csv"), columns=["a", "b"])
    last, number = reader.load(reader.size - 1)
    assert (bytes(last), int(number)) == (b"y\nz", 2)


def test_dates_and_times_are_strings(tmp_path):
    rows = ["2024-01-05,12:30,2024-01-05 12:30:00,1", "2025-02-06,23:59,2025-02-06 00:00:00,2"]
    (tmp_path / "x.csv").write_text("\n".join(["date,time,both,n", *rows]))
    found = everything("csv", path=str(tmp_path / "x.csv"), columns=["date", "time", "both", "n"])
    assert [",".join([*(bytes(a).decode() for a in texts), str(n)]) for *texts, n in found] == rows


@pytest.mark.exhaustive  # pipeline/test_workers_of_each_kind.py has every reader in workers
def test_in_processes(folder):
    frame = {"name": NAMES * 5, "n": np.arange(30)}

    def batches(**options):
        @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=3, **options)
        def pipe():
            return tuple(
                fn.readers.table(
                    frame=frame,
                    columns=["n", "name"],
                    files=["name"],
                    file_root=str(folder),
                    random_shuffle=True,
                )
            )

        with pipe() as built:
            return [[np.asarray(o.at(i)).tobytes() for o in built.run() for i in range(4)] for _ in range(8)]

    assert batches(workers=2) == batches()


def test_what_is_refused(folder):
    frame = {"name": NAMES, "n": range(6), "words": [["a"]] * 6}
    for args, words in (
        ({"columns": ["x"]}, "the table has no column 'x'"),
        ({"columns": ["n"], "files": ["name"]}, "files names 'name', which is none of columns"),
        ({"columns": ["n"], "files": ["n"]}, "column 'n' holds no names of files, but int64"),
        ({"columns": ["words"]}, "lists of strings"),
        ({"columns": []}, "columns is empty"),
    ):
        with pytest.raises(ValueError, match=words):
            opened("table", frame=frame, **args)
    with pytest.raises(TypeError, match="frame must be a table of pandas, polars or pyarrow, .*; of int"):
        opened("table", frame=3, columns=["n"])
    with pytest.raises(ValueError, match="has no name in column 'n'"):
        opened("table", frame={"n": ["a", None]}, columns=["n"], files=["n"])
    with pytest.raises(ValueError, match="has no rows"):
        opened("table", frame={"n": []}, columns=["n"])
    with pytest.raises(FileNotFoundError, match=r"readers.csv: Cannot open nowhere.csv"):
        opened("csv", path="nowhere.csv", columns=["n"])
    (folder / "x.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match="x.csv .*Expected 2 columns, got 3"):
        opened("csv", path=str(folder / "x.csv"), columns=["a"])
    (folder / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="x.csv has no column 'c'; it has 'a', 'b'"):
        opened("csv", path=str(folder / "x.csv"), columns=["c"])
