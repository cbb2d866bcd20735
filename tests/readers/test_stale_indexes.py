"""Caches that lie: an index of another file never gives bytes of that other file, of headers or of neighbours."""

import contextlib
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from support import records
from support.readers import everything, failures, opened
from support.servers import Server
from support.settled import settle_at_once
from support.videos import av, encode, numbers_of, pictures

import jdali
from jdali import fn, tfrecord
from jdali._operators.record import REGISTRY
from jdali._storage import cached_index
from jdali._storage import files as _storage

# Sizes of the records of three data sets. In the first two the first, the middle and the last record lie at the same place,
# so that a look at those finds nothing.
BEFORE, AFTER = (5, 900, 5, 5, 5, 900, 5), (5, 5, 900, 5, 900, 5, 5)
MOVED = (900, 5, 5, 5, 5, 5, 900)
FEWER = (5, 905, 5, 900, 5)


def contents(sizes, letter):
    return [bytes([letter + i]) * size for i, size in enumerate(sizes)]


def _tfrecord(path, samples):
    records.tfrecord(path, [records.example({"x": [one]}) for one in samples])


def _mxnet(path, samples):
    records.recordio(path, [records.image_record(one, [1]) for one in samples])


def _webdataset(path, samples):
    records.tar(path, [(f"{i}.x", one) for i, one in enumerate(samples)])


def _database(path, values):
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with (
        lmdb.open(str(path), subdir=False, lock=False, map_size=1 << 22) as database,
        database.begin(write=True) as change,
    ):
        for i, value in enumerate(values):
            change.put(b"%03d" % i, value)


def _caffe(path, samples):
    _database(path, [records.field(4, one) + records.field(7, 1) for one in samples])


def _caffe_large(path, samples):
    _caffe(path, [one * 9 for one in samples])  # on pages of their own


def _caffe2(path, samples):
    field = records.field
    _database(path, [field(1, field(2, 4) + field(6, one)) for one in samples])


FEATURES = {"x": tfrecord.FixedLenFeature((), tfrecord.string, "")}
# Case → (reader, writes a file, its arguments, by how much it makes samples larger)
CASES = {
    "tfrecord": ("tfrecord", _tfrecord, lambda at: {"path": [at], "features": FEATURES}, 1),
    "mxnet": ("mxnet", _mxnet, lambda at: {"path": [at]}, 1),
    "webdataset": ("webdataset", _webdataset, lambda at: {"paths": [at], "ext": ["x"]}, 1),
    "caffe": ("caffe", _caffe, lambda at: {"path": [at], "label_available": False}, 1),
    "caffe, large": ("caffe", _caffe_large, lambda at: {"path": [at], "label_available": False}, 9),
    "caffe2": ("caffe2", _caffe2, lambda at: {"path": [at], "label_type": 4}, 1),
}
WITHOUT_INDEX = {  # readers that keep none
    "readers.file", "readers.coco", "readers.numpy", "readers.sequence", "readers.nemo_asr", "experimental.readers.fits",
    "readers.arrow", "readers.csv", "readers.dataset", "readers.hugging_face", "readers.mix", "readers.paired", "readers.parquet",
    "readers.table", "readers.pack", "readers.array_record", "readers.tfds", "readers.zarr",
    "readers.hdf5", "readers.nifti", "readers.bucket",
}  # fmt: skip
VIDEO = {"readers.video", "readers.video_resize", "experimental.readers.video"}
BY_VIDEOS = {"readers.lerobot"}  # whose files are read as those of the video readers


def test_every_reader_is_here():
    readers = {name for name in REGISTRY if "readers." in name}
    assert {f"readers.{case[0]}" for case in CASES.values()} | VIDEO | BY_VIDEOS | WITHOUT_INDEX == readers


@pytest.fixture(autouse=True)
def _kept_at_once(monkeypatch):
    settle_at_once(monkeypatch)


@pytest.fixture
def lying(monkeypatch):
    """All files are the same to the cache."""
    monkeypatch.setattr(_storage, "version", lambda path: path)


@pytest.fixture
def memory():
    system = pytest.importorskip("fsspec").filesystem("memory")
    yield system
    with contextlib.suppress(FileNotFoundError):
        system.rm("/stale", recursive=True)


def given(case, at):
    reader, _, args, times = CASES[case]
    return [sample[0].tobytes() for sample in everything(reader, **args(str(at)))], times


def expected(sizes, letter, times):
    return [one * times for one in contents(sizes, letter)]


def check(case, at, sizes, letter):
    got, times = given(case, at)
    assert got == expected(sizes, letter, times)


# --- what tells files apart -----------------------------------------------------------------------
@pytest.mark.parametrize("how", ["in place", "renamed"])
@pytest.mark.parametrize("case", CASES)
def test_same_size_and_time(case, how, tmp_path):
    """As `rsync -t` and reproducible builds leave them."""
    write, path = CASES[case][1], tmp_path / "data"
    write(path, contents(BEFORE, ord("a")))
    os.utime(path, ns=(10**18, 10**18))
    check(case, path, BEFORE, ord("a"))
    write(tmp_path / "new", contents(AFTER, ord("A")))
    assert (tmp_path / "new").stat().st_size == path.stat().st_size
    if how == "in place":
        path.write_bytes((tmp_path / "new").read_bytes())
    else:
        (tmp_path / "new").replace(path)
    os.utime(path, ns=(10**18, 10**18))
    check(case, path, AFTER, ord("A"))


def test_a_file_that_changes_while_its_index_is_built(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"one")

    def build():
        path.write_bytes(b"two")
        return {"offsets": np.arange(1)}

    cached_index("test", str(path), build)
    assert not (tmp_path / "cache" / "index").exists()


# --- nothing tells them apart ---------------------------------------------------------------------
@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("sizes", [AFTER, MOVED, FEWER], ids=["a few moved", "all moved", "fewer"])
@pytest.mark.parametrize("case", CASES)
def test_a_local_file(case, sizes, tmp_path):
    """A look at some places finds most; the rest is found when it is read."""
    write, path = CASES[case][1], tmp_path / "data"
    write(path, contents(BEFORE, ord("a")))
    check(case, path, BEFORE, ord("a"))
    path.unlink()
    write(path, contents(sizes, ord("A")))
    check(case, path, sizes, ord("A"))
    check(case, path, sizes, ord("A"))


@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("case", CASES)
def test_records_that_were_appended(case, tmp_path):
    """An archive may have the same size with more members, in place of its padding."""
    write, path = CASES[case][1], tmp_path / "data"
    write(path, contents(BEFORE, ord("a")))
    check(case, path, BEFORE, ord("a"))
    path.unlink()
    write(path, contents([*BEFORE, 5], ord("a")))
    check(case, path, [*BEFORE, 5], ord("a"))


@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("sizes", [AFTER, MOVED], ids=["a few moved", "all moved"])
@pytest.mark.parametrize("case", CASES)
def test_a_remote_file(case, sizes, tmp_path, memory):
    """It is only looked at when it is read."""
    write, path = CASES[case][1], tmp_path / "data"
    for one, letter in ((BEFORE, ord("a")), (sizes, ord("A"))):
        write(path, contents(one, letter))
        memory.pipe("/stale/data", path.read_bytes())
        path.unlink()
        check(case, "memory://stale/data", one, letter)


@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("case", CASES)
def test_another_number_of_records(case, tmp_path, memory):
    """It cannot be changed while a reader is open: an error says why, and the next reader is right."""
    reader, write, args, _ = CASES[case]
    write(tmp_path / "data", contents(BEFORE, ord("a")))
    memory.pipe("/stale/data", (tmp_path / "data").read_bytes())
    check(case, "memory://stale/data", BEFORE, ord("a"))
    (tmp_path / "data").unlink()
    write(tmp_path / "data", contents(FEWER, ord("A")))
    memory.pipe("/stale/data", (tmp_path / "data").read_bytes())
    bad = failures(opened(reader, **args("memory://stale/data")))
    assert bad
    assert all(
        "it has 5 records now, and had 7 when the reader was opened; open it again" in one
        for one in bad.values()
    )
    check(case, "memory://stale/data", FEWER, ord("A"))


@pytest.mark.parametrize("case", CASES)
def test_a_file_that_changes_under_an_open_reader(case, tmp_path):
    reader, write, args, times = CASES[case]
    path = tmp_path / "data"
    write(path, contents(BEFORE, ord("a")))
    reading = opened(reader, **args(str(path)))
    assert reading.load(0)[0].tobytes() == b"aaaaa" * times
    write(tmp_path / "new", contents(AFTER, ord("A")))
    (tmp_path / "new").replace(path)
    reading._files.reopen(0)
    columns, failed = reading.load_many(np.arange(7))
    assert not failed
    assert [one.tobytes() for one in columns[0].host_samples()] == expected(AFTER, ord("A"), times)
    reading.close()


def test_a_record_that_is_really_damaged(tmp_path, monkeypatch):
    """The archive is looked through once more, and the error is about the archive."""
    path = tmp_path / "data"
    _webdataset(path, contents(BEFORE, ord("a")))
    check("webdataset", path, BEFORE, ord("a"))
    whole = path.read_bytes()
    path.write_bytes(whole[:512] + b"x" * 512 + whole[1024:])  # content: nobody can know
    check_damaged = [sample[0].tobytes() for sample in everything("webdataset", paths=[str(path)], ext=["x"])]
    assert check_damaged == [b"xxxxx", *contents(BEFORE, ord("a"))[1:]]
    reading = opened("webdataset", paths=[str(path)], ext=["x"])
    path.write_bytes(b"x" * 1024 + whole[1024:])
    bad = failures(reading)
    assert list(bad) == [0]
    assert bad[0].endswith("#sample 0: there is no file of 5 bytes at byte 512")


# --- indexes that the user gives ------------------------------------------------------------------
def _tfrecord_index(path, samples):
    return records.index(
        path.with_suffix(".idx"), records.tfrecord(path, [records.example({"x": [one]}) for one in samples])
    )


def _mxnet_index(path, samples):
    offsets = records.recordio(path, [records.image_record(one, [1]) for one in samples])
    return records.index(path.with_suffix(".idx"), list(enumerate(offsets)))


def _webdataset_index(path, samples, names="{}.x", version="v1.2"):
    members = [(names.format(i), one) for i, one in enumerate(samples)]
    offsets = records.tar(path, members, format=tarfile.GNU_FORMAT)
    rows = [("x", o, len(one), names.format(i))[: 4 if version == "v1.2" else 3]
            for i, (o, one) in enumerate(zip(offsets, samples, strict=True))]  # fmt: skip
    return records.index(path.with_suffix(".idx"), [[version, len(rows)], *rows])


@pytest.mark.parametrize(
    ("case", "write", "argument"),
    [
        ("tfrecord", _tfrecord_index, "index_path"), ("mxnet", _mxnet_index, "index_path"),
        ("webdataset", _webdataset_index, "index_paths"),
    ],
)  # fmt: skip
def test_an_index_of_another_file_is_named_as_the_cause(case, write, argument, tmp_path):
    reader, _, args, _ = CASES[case]
    path = tmp_path / "data"
    index = write(path, contents(BEFORE, ord("a")))
    CASES[case][1](path, contents(AFTER, ord("A")))
    bad = failures(opened(reader, **args(str(path)), **{argument: [index]}))
    # What is read nevertheless are records of the file: an index of RecordIO may leave some out.
    assert bad
    reading = opened(reader, **args(str(path)), **{argument: [index]})
    for i in set(range(7)) - set(bad):
        assert reading.load(i)[0].tobytes() in contents(AFTER, ord("A"))
    assert all(
        f"The index {index} does not fit, or the file is damaged: make the index anew" in one
        for one in bad.values()
    )


@pytest.mark.parametrize("version", ["v1.1", "v1.2"])
def test_members_that_change_places(version, tmp_path):
    """Of the same size, so that headers fit the index except for their names, which only one version has."""
    path = tmp_path / "data"
    index = _webdataset_index(path, [b"1", b"2", b"3"], version=version)
    records.tar(path, [("0.x", b"1"), ("1.y", b"2"), ("2.x", b"3")])
    bad = failures(opened("webdataset", paths=[str(path)], ext=["x"], index_paths=[index]))
    assert list(bad) == ([1] if version == "v1.2" else [])


def test_names_of_an_index_that_are_none(tmp_path):
    """DALI does not look at them."""
    path = tmp_path / "data"
    index = Path(_webdataset_index(path, contents(BEFORE, ord("a"))))
    index.write_text("".join(line.rpartition(" ")[0] + " -\n" if i else line + "\n"
                             for i, line in enumerate(index.read_text().splitlines())))  # fmt: skip
    got = everything("webdataset", paths=[str(path)], ext=["x"], index_paths=[str(index)])
    assert [sample[0].tobytes() for sample in got] == contents(BEFORE, ord("a"))


@pytest.mark.parametrize("names", ["./{}.x", "a/b/{}.x", "x" * 120 + "{}.x", "a" * 90 + "/{}.x", "é{}.x"])
def test_names_of_all_kinds_fit_their_index(names, tmp_path):
    path = tmp_path / "data"
    index = _webdataset_index(path, contents(BEFORE, ord("a")), names)
    got = everything("webdataset", paths=[str(path)], ext=["x"], index_paths=[index])
    assert [sample[0].tobytes() for sample in got] == contents(BEFORE, ord("a"))
    # As other programs may have written it: without folders.
    text = Path(index).read_text()
    Path(index).write_text(text.replace(names.rpartition("/")[0] + "/", "") if "/" in names else text)
    got = everything("webdataset", paths=[str(path)], ext=["x"], index_paths=[index])
    assert [sample[0].tobytes() for sample in got] == contents(BEFORE, ord("a"))


# --- videos, headers of arrays --------------------------------------------------------------------
def _video(count, **args):
    av()
    return encode(pictures(count), "libvpx-vp9", "webm", options={"g": "5"}, **args)


def shown(reader):
    return [numbers_of(reader.load(i)[0])[0] for i in range(reader.size)]


@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("name", sorted(VIDEO))
def test_videos(name, tmp_path):
    path, args = tmp_path / "x.webm", {"filenames": str(tmp_path / "x.webm"), "sequence_length": 1}
    path.write_bytes(_video(10))
    assert shown(opened(name, **args)) == list(range(10))
    path.write_bytes(_video(10, rate=7))  # frames at other times
    assert shown(opened(name, **args)) == list(range(10))
    path.write_bytes(_video(6, rate=25))
    bad = failures(opened(name, **args))
    assert len(bad) >= 4
    assert all(
        "it has 6 frames now, and had 10 when the reader was opened; open it again" in one
        for one in bad.values()
    )
    assert shown(opened(name, **args)) == list(range(6))


def test_headers_of_arrays_are_not_kept_for_another_file(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(12, dtype=np.int32).reshape(3, 4))
    reader = opened(
        "numpy", files=[str(path)], roi_start=[0, 1], roi_shape=[2, 2], cache_header_information=True
    )
    assert reader.load(0)[0].tolist() == [[1, 2], [5, 6]]
    np.save(tmp_path / "y.npy", np.arange(12, dtype=np.int32).reshape(4, 3))
    os.replace(tmp_path / "y.npy", path)
    os.utime(path, ns=(10**18, 10**18))
    assert reader.load(0)[0].tolist() == [[1, 2], [4, 5]]
    with Server({"/x.npy": (changed := path.read_bytes())}) as server:
        remote = opened(
            "numpy", files=[f"{server.url}/x.npy"], roi_start=[0, 1], roi_shape=[2, 2], cache_header_information=True
        )  # fmt: skip
        assert remote.load(0)[0].tolist() == [[1, 2], [4, 5]]
        server.files["/x.npy"] = changed.replace(b"(4, 3)", b"(3, 4)")
        assert remote.load(0)[0].tolist() == [[1, 2], [5, 6]]


# --- in pipelines ---------------------------------------------------------------------------------
@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
@pytest.mark.parametrize("case", CASES)
def test_a_pipeline_reads_what_is_there(case, on_error, tmp_path):
    reader, write, args, times = CASES[case]
    path = tmp_path / "data"
    write(path, contents(BEFORE, ord("a")))
    check(case, path, BEFORE, ord("a"))
    path.unlink()
    write(path, contents(AFTER, ord("A")))
    pipe = jdali.Pipeline(batch_size=7, num_threads=2, device_id=None, on_error=on_error)
    with pipe:
        output = getattr(fn.readers, reader)(**args(str(path)))
        pipe.set_outputs(
            output["x"]
            if isinstance(output, dict)
            else output[0]
            if isinstance(output, (list, tuple))
            else output
        )
    batch = pipe.run()[0]
    assert [bytes(np.asarray(batch.at(i))) for i in range(7)] == expected(AFTER, ord("A"), times)
    assert not pipe.errors
    pipe.close()
