"""Damaged files of records, and damaged indexes of good files."""

import itertools

import pytest
from support import records
from support.fuzz import refusals
from support.readers import reads
from support.some import some, times

from jdali import storage, tfrecord

EXAMPLES = [
    {"image": [bytes(range(i))], "label": [i], "boxes": [0.5, 1.5, float(i)], "words": [7, -1][: i % 3]}
    for i in range(6)
]
FEATURES = {
    "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
    "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    "boxes": tfrecord.VarLenFeature([], tfrecord.float32, 0.0),
    "words": tfrecord.VarLenFeature(tfrecord.int64, 0),
}


@pytest.fixture
def tfrecords(tmp_path):
    path = tmp_path / "data.tfrecord"
    spans = records.tfrecord(path, [records.example(e) for e in EXAMPLES])
    return path, records.index(tmp_path / "data.idx", spans)


def read_tfrecords(path, index, changed):
    return reads("readers.tfrecord", changed, path=(str(path),), index_path=index, features=FEATURES)


@pytest.mark.cases(1)
@pytest.mark.parametrize("indexed", [True, False])
def test_tfrecord(tfrecords, indexed):
    path, index = tfrecords
    read = read_tfrecords(path, (index,) if indexed else None, path)
    assert refusals(read, path.read_bytes(), count=400, says="readers.tfrecord: .*data.tfrecord") > 150


def test_protocol_buffers_in_tfrecords(tfrecords):
    """Damaged examples with CRCs that are right."""
    path, _ = tfrecords
    read_all = read_tfrecords(path, None, None)

    def read(data):
        records.tfrecord(path, [records.example(EXAMPLES[1]), data])
        read_all(b"")

    for packed in (True, False):
        good = records.example(EXAMPLES[5], packed=packed)
        assert (
            refusals(read, good, count=times(250, 500), says="readers.tfrecord: .*data.tfrecord#record 1, ")
            > 25
        )


def test_tfrecord_index(tfrecords):
    path, index = tfrecords
    read = read_tfrecords(path, (index,), tfrecords[0].with_name("data.idx"))
    good = path.with_name("data.idx").read_bytes()
    assert refusals(read, good, count=500, says=r"readers.tfrecord: .*data.(tfrecord|idx)") > 200


@pytest.fixture
def recordio(tmp_path):
    images = [bytes(range(40 * i)) for i in range(1, 5)] + [b"\x0a\x23\xd7\xce" * 3]
    labels = [[1.0], [2.0, 3.0], [4.0], [], [7.0, 8.0]]
    path = tmp_path / "data.rec"
    data = [records.image_record(i, lab or [0.0, 0.0]) for i, lab in zip(images, labels, strict=True)]
    offsets = records.recordio(path, data)
    return path, records.index(tmp_path / "data.idx", enumerate(offsets))


@pytest.mark.cases(1)
@pytest.mark.parametrize("changed", ["data.rec", "data.idx"])
def test_recordio(recordio, changed):
    path, index = recordio
    read = reads("readers.mxnet", path.with_name(changed), path=(str(path),), index_path=(index,))
    good = path.with_name(changed).read_bytes()
    assert refusals(read, good, count=1000, says=r"readers.mxnet: .*data.(rec|idx)") > 150


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "data.tar"
    members = [(f"d/{i:03}.{e}", bytes([i]) * n) for i in range(3) for e, n in (("jpg", 600), ("cls", 2))]
    members.append(("x" * 120 + ".cls", b"long"))
    offsets = records.tar(path, members, format=1)  # GNU: a long name
    lines = [
        ["jpg", offsets[2 * i], 600, f"d/{i:03}.jpg", "cls", offsets[2 * i + 1], 2, f"d/{i:03}.cls"]
        for i in range(3)
    ]
    index = records.index(tmp_path / "data.idx", [["v1.2", 3], *lines])
    return path, index


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("changed", "indexed"), [("data.tar", False), ("data.tar", True), ("data.idx", True)]
)
def test_webdataset(archive, changed, indexed):
    path, index = archive
    good = path.with_name(changed).read_bytes()
    for ext in (("jpg", "cls"), ("cls",)):
        read = reads(
            "readers.webdataset", path.with_name(changed), paths=(str(path),), ext=ext,
            index_paths=(index,) if indexed else None,
        )  # fmt: skip
        law = {"says": r"readers.webdataset: .*data.(tar|idx)|no samples"}
        assert refusals(read, good, seed=len(ext), count=300, **law) > 30


CAFFE = [records.field(1, 3) + records.field(2, 4) + records.field(4, bytes(range(24))) + records.field(5, i)
         + records.field(7, 1) for i in range(8)]  # fmt: skip
CAFFE2 = [
    records.field(1, records.field(2, 4) + records.field(6, bytes(range(50 + i))))
    + records.field(1, records.field(2, 2) + records.field(4, bytes([i])))
    for i in range(8)
]


@pytest.mark.cases(1)
@some("name, large", itertools.product(["caffe", "caffe2"], [0, 5000]))
def test_lmdb(tmp_path, name, large):
    values = {"caffe": CAFFE, "caffe2": CAFFE2}[name]
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    folder = tmp_path / "base"
    with (
        lmdb.open(str(folder), lock=False, map_size=1 << 20) as database,
        database.begin(write=True) as change,
    ):
        for i, value in enumerate(values):
            # An unknown field makes a value large: it is kept in pages of its own.
            change.put(
                b"%03d" % i, value + (records.field(99, bytes(large)) if large and i % 3 == 0 else b"")
            )
    path = folder / "data.mdb"
    read = reads(f"readers.{name}", path, path=(str(folder),))
    good = path.read_bytes()
    assert refusals(read, good, count=300, says=f"readers.{name}: .*data.mdb") > 40


@pytest.mark.cases(1)
@pytest.mark.parametrize(("name", "values"), [("caffe", CAFFE), ("caffe2", CAFFE2)])
def test_protocol_buffers_in_lmdb(tmp_path, name, values):
    """Damaged values in a good database."""
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    folder = tmp_path / "base"
    read_all = reads(f"readers.{name}", None, path=(str(folder),))

    def read(data):
        with (
            lmdb.open(str(folder), lock=False, map_size=1 << 20) as database,
            database.begin(write=True) as change,
        ):
            change.put(b"0", data)
        read_all(b"")

    assert refusals(read, values[1], count=400, says=f"readers.{name}: .*data.mdb#record 0") > 100


@pytest.fixture
def _little_memory():
    before = storage.configure(max_sample_bytes=1 << 24)
    yield
    storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.cases(1)
@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False, "compression": "zstd", "data_page_version": "2.0"}]
)
def test_parquet(tmp_path, options):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    table = pa.table({
        "image": [{"bytes": bytes(range(20 * i)), "path": "x"} for i in range(6)],
        "label": [1, 2, None, 4, 5, 6], "boxes": [[[0.5] * 4] * i for i in range(6)],
    })  # fmt: skip
    pq.write_table(table, path, row_group_size=3, **options)
    good = path.read_bytes()
    for columns in (("image", "boxes"), ("boxes",)):
        read = reads("readers.parquet", path, paths=(str(path),), columns=columns)
        law = {"says": r"readers.parquet: .*data.parquet|no samples|number of input samples"}
        assert refusals(read, good, seed=len(columns), count=times(200, 400), **law) > 50
