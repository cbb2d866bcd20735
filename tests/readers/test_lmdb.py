"""readers.caffe and readers.caffe2: databases written by LMDB itself; against DALI and by hand."""

import hashlib
import json
import struct

import numpy as np
import pytest
from support import oracle, records
from support.data import SHARED
from support.readers import (
    assert_same,
    dali_everything,
    everything,
    failures,
    loaded_together,
    opened,
    survives,
)
from support.records import field

from jdali.readers.formats.lmdb import locate_values

lmdb = pytest.importorskip("lmdb")
PIXELS = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


def write(folder, values, *, keys=None, **options):
    """A database of `values`, keys counting up; its folder."""
    options = {"map_size": 1 << 26, "lock": False} | options
    with lmdb.open(str(folder), **options) as database, database.begin(write=True) as change:
        for i, value in enumerate(values):
            change.put(keys[i] if keys else b"%08d" % i, value)
    return str(folder)


def datum(image, label=None, *, encoded=True, shape=()):
    sizes = b"".join(field(n, s) for n, s in zip((2, 3, 1), shape, strict=False))
    return sizes + field(4, image) + (b"" if label is None else field(5, label)) + field(7, int(encoded))


# --- finding the values ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "sizes", [[0], [1, 0, 7], [100] * 3000, [5000, 10, 100_000] * 50, [4096] * 700], ids=len
)
def test_values_of_any_size(tmp_path, sizes):
    rng = np.random.default_rng(0)
    values = [rng.bytes(size) for size in sizes]
    keys = [b"%d" % i for i in range(len(sizes))]  # "10" before "9": not in the order of writing
    path = write(tmp_path / "db", values, keys=keys) + "/data.mdb"
    found = locate_values("readers.x", path)
    with open(path, "rb") as file:
        content = file.read()
    columns = [found[name].tolist() for name in ("offsets", "heads", "sizes")]
    got = [content[o + h : o + s] for o, h, s in zip(*columns, strict=True)]
    assert got == [values[int(key)] for key in sorted(keys)]


def test_values_after_changes(tmp_path):
    write(tmp_path / "db", [b"a" * 3000] * 500)
    with lmdb.open(str(tmp_path / "db"), map_size=1 << 26, lock=False) as database:
        for i in range(0, 500, 2):
            with database.begin(write=True) as change:
                change.delete(b"%08d" % i)
        with database.begin(write=True) as change:
            change.put(b"00000001", b"new")
    found = locate_values("readers.x", str(tmp_path / "db" / "data.mdb"))
    sizes = found["sizes"] - found["heads"]
    assert sizes.tolist() == [3] + [3000] * 249
    content = (tmp_path / "db" / "data.mdb").read_bytes()
    first = found["offsets"][0] + found["heads"][0]
    assert content[first : first + 3] == b"new"


def test_databases_that_hold_no_plain_records(tmp_path):
    with lmdb.open(str(tmp_path / "named"), max_dbs=2, lock=False) as database:
        database.open_db(b"inner")
    with pytest.raises(
        ValueError, match=r"readers.caffe: .*named.data.mdb: .*named databases instead of records"
    ):
        opened("caffe", path=str(tmp_path / "named"))
    write(tmp_path / "none", [])
    with pytest.raises(ValueError, match="readers.caffe: there are no records in .*none"):
        opened("caffe", path=str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="readers.caffe: cannot read /no/such: No such file"):
        opened("caffe", path="/no/such")


# --- caffe ----------------------------------------------------------------------------------------
def test_caffe(tmp_path):
    path = write(
        tmp_path / "db",
        [
            datum(b"encoded", 3), datum(b"", -1), datum(b"x"), datum(PIXELS.tobytes(), 2**31 - 1, encoded=False, shape=(2, 3, 4)),
        ],
    )  # fmt: skip
    images = [
        np.frombuffer(b"encoded", np.uint8),
        np.empty(0, np.uint8),
        np.frombuffer(b"x", np.uint8),
        PIXELS,
    ]
    labels = [np.array(v, np.int32) for v in ([3], [-1], [], [2**31 - 1])]
    assert_same(everything("caffe", path=path), list(zip(images, labels, strict=True)))
    assert_same(everything("caffe", path=path, image_available=False), [(label,) for label in labels])
    assert_same(everything("caffe", path=[path, path], label_available=False), [(i,) for i in images * 2])
    assert_same(everything("caffe", path=path + "/data.mdb"), everything("caffe", path=path))
    with pytest.raises(ValueError, match="there is nothing to read"):
        opened("caffe", path=path, image_available=False, label_available=False)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"\xff" * 20, "a number that does not end"),
        (field(5, 3), "not a Datum with an image: it has no data"),
        (
            datum(b"12345", 1, encoded=False, shape=(10, 10, 3)),
            "it has 5 bytes of pixels, but height 10, width 10, 3",
        ),
        (datum(b"12345", 1)[:-5], "reaches past its end"),
        (field(4, 77), "a field 4 of kind 0 where bytes should be"),
    ],
)
def test_caffe_bad_record(tmp_path, value, message):
    path = write(tmp_path / "db", [datum(b"ok", 1), value])
    bad = failures(opened("caffe", path=path))
    assert list(bad) == [1]
    assert bad[1].startswith(f"readers.caffe: {path}/data.mdb#record 1, at byte ")
    assert message in bad[1]


# --- caffe2 ---------------------------------------------------------------------------------------
def tensor(kind, values, dims=()):
    """A TensorProto: kind is the name of its type."""
    number, field_number, pack = {
        "float": (1, 3, lambda v: struct.pack("<f", v)), "int32": (2, 4, records.varint),
        "byte": (3, 5, None), "string": (4, 6, None), "bool": (5, 4, records.varint), "int16": (9, 4, records.varint),
        "int64": (10, 10, records.varint), "double": (13, 9, lambda v: struct.pack("<d", v)),
    }[kind]  # fmt: skip
    content = values if pack is None else b"".join(pack(v) for v in values)
    return b"".join(field(1, d) for d in dims) + field(2, number) + field(field_number, content)


def protos(*tensors):
    return b"".join(field(1, t) for t in tensors)


IMAGE = tensor("string", b"jpeg")
BYTES = np.frombuffer(b"jpeg", np.uint8)


def arrays(*values):
    return tuple(np.array(v, dtype) for v, dtype in values)


@pytest.mark.parametrize(
    ("record", "args", "expected"),
    [
        ((IMAGE, tensor("int32", [7])), {}, arrays(([7], np.int32))),
        ((IMAGE, tensor("float", [0.5])), {}, arrays(([0.5], np.float32))),
        ((IMAGE,), {"label_type": 4}, ()),
        ((IMAGE, tensor("float", [0.5, -1.0])), {"label_type": 2}, arrays(([0.5, -1], np.float32))),
        (
            (IMAGE, tensor("int32", [1, 3])), {"label_type": 1, "num_labels": 4},
            arrays(([0, 1, 0, 1], np.int32), ([], np.int32)),
        ),
        (
            (IMAGE, tensor("int32", [1, 3]), tensor("float", [0.75, 0.25])), {"label_type": 3, "num_labels": 4},
            arrays(([0, 0.75, 0, 0.25], np.float32), ([], np.int32)),
        ),
        (
            (
                IMAGE, tensor("int32", [2]), tensor("int64", [2**40]), tensor("double", [0.1]), tensor("bool", [1]),
                tensor("int16", [-5]), tensor("byte", b"raw"), tensor("int32", [1, 2, 3, 4]),
            ),
            {"additional_inputs": 5, "bbox": True},
            arrays(
                ([2], np.int32), ([2**40], np.int64), ([0.1], np.float64), ([True], np.bool_), ([-5], np.int16),
                (list(b"raw"), np.uint8), ([1, 2, 3, 4], np.int32),
            ),
        ),
    ],
)  # fmt: skip
def test_caffe2(tmp_path, record, args, expected):
    path = write(tmp_path / "db", [protos(*record)] * 2)
    assert_same(everything("caffe2", path=path, **args), [(BYTES, *expected)] * 2)
    if args.get("label_type") != 4:
        path = write(tmp_path / "no image", [protos(*record[1:])])
        assert_same(everything("caffe2", path=path, image_available=False, **args), [expected])


UNPACKED = field(2, 2) + field(4, 7)
TWICE = tensor("int32", [7]) + field(2, 2)
USUAL = [tensor("int32", [300 * i]) for i in range(4)]


@pytest.mark.parametrize(
    ("args", "labels", "expected", "alone"),
    [
        ({}, USUAL, [[0], [300], [600], [900]], 0),
        ({}, [*USUAL, tensor("int32", [(1 << 64) - 5])], [[0], [300], [600], [900], [-5]], 0),
        ({}, [*USUAL[:3], UNPACKED, TWICE], [[0], [300], [600], [7], [7]], 2),
        ({}, [tensor("bool", [1]), tensor("bool", [0])], [[True], [False]], 0),
        ({}, [tensor("int64", [1 << 40])] * 2, [[1 << 40]] * 2, 0),
        ({"label_type": 2}, [tensor("float", [0.5, -1.0]), tensor("float", [2.0])], [[0.5, -1.0], [2.0]], 0),
        ({"label_type": 2}, [tensor("int32", [1, 2, 3]), tensor("int32", [4]), tensor("int32", [])],
         [[1, 2, 3], [4], []], 1),
        ({"label_type": 1, "num_labels": 3}, [tensor("int32", [1])] * 2, [[0, 1, 0]] * 2, 2),
        ({"label_type": 2}, [tensor("double", [0.1])] * 2, [[0.1]] * 2, 2),
    ],
)  # fmt: skip
def test_caffe2_usual_and_odd_records_together(tmp_path, monkeypatch, args, labels, expected, alone):
    images = [tensor("string", bytes([i]) * (i + 1)) for i in range(len(labels))]
    path = write(tmp_path / "db", [protos(*pair) for pair in zip(images, labels, strict=True)])
    reader = opened("caffe2", path=path, **args)
    parsed = []
    parse = reader.parse
    monkeypatch.setattr(reader, "parse", lambda record: parsed.append(record) or parse(record))
    samples, failed = loaded_together(reader, np.arange(len(labels)))
    assert not failed
    for i, (sample, label) in enumerate(zip(samples, expected, strict=True)):
        assert sample[0].tobytes() == bytes([i]) * (i + 1)
        assert sample[1].tolist() == label
        assert [output.dtype for output in sample] == [output.dtype for output in reader.load(i)]
    assert len(parsed) == alone + len(labels)  # each once more just above
    reader.close()


def test_caffe2_boxes_and_further_tensors_together(tmp_path, monkeypatch):
    values = [
        protos(
            IMAGE,
            tensor("int32", [i]),
            tensor("byte", b"x" * i),
            tensor("float", [0.5] * i),
            tensor("int32", [i] * 4),
        )
        for i in range(1, 5)
    ]
    values[2] = protos(
        IMAGE, tensor("int32", [3]), tensor("byte", b"xxx"), tensor("float", [0.5]), tensor("int32", [3] * 3)
    )
    reader = opened("caffe2", path=write(tmp_path / "db", values), additional_inputs=2, bbox=True)
    samples, failed = loaded_together(reader, np.arange(4))
    assert list(failed) == [2]
    assert "its box must be 4 INT32" in failed[2]
    for sample, i in zip(samples, (1, 2, 4), strict=True):
        assert sample[1].tolist() == [i]
        assert sample[2].tobytes() == b"x" * i
        assert sample[3].tolist() == [0.5] * i
        assert sample[4].tolist() == [i] * 4
    reader.close()


def test_caffe2_pixels(tmp_path):
    path = write(
        tmp_path / "db",
        [
            protos(tensor("byte", PIXELS.tobytes(), (2, 3, 4))),
            protos(tensor("byte", PIXELS.tobytes(), (2, 12))),
        ],
    )
    got = everything("caffe2", path=path, label_type=4)
    assert_same(got, [(PIXELS,), (PIXELS.reshape(2, 12, 1),)])


@pytest.mark.parametrize(
    ("record", "args", "message"),
    [
        ((), {}, "it has 0 tensors, an image should be number 0"),
        ((IMAGE,), {}, "it has 1 tensors, a label should be number 1"),
        ((tensor("float", [1.0]), IMAGE), {}, "its image is a tensor of the type 1"),
        ((IMAGE, tensor("int32", [1, 2])), {}, "its label has 2 elements, a label of type 0 has one"),
        (
            (IMAGE, tensor("int32", [4])),
            {"label_type": 1, "num_labels": 4},
            "classes below num_labels = 4, but is",
        ),
        (
            (IMAGE, tensor("int32", [-1])),
            {"label_type": 1, "num_labels": 4},
            "classes below num_labels = 4, but is",
        ),
        ((IMAGE, tensor("int32", [0])), {"label_type": 3}, "the weights of the label should be number 2"),
        ((IMAGE, tensor("int32", [0]), tensor("float", [])), {"label_type": 3}, "1 classes, but 0 weights"),
        ((IMAGE, tensor("int32", [0]), tensor("float", [1.0])), {"bbox": True}, "its box must be 4 INT32"),
        (
            (tensor("byte", b"12", (3, 1)),),
            {"label_type": 4},
            r"2 bytes of pixels, but the sizes \[3, 1, 1\]",
        ),
        ((field(2, 99),), {"label_type": 4}, "its image is a tensor of the type 99"),
        ((IMAGE, field(2, 99)), {}, "a tensor of the type 99, which is not known"),
    ],
)
def test_caffe2_bad_record(tmp_path, record, args, message):
    path = write(tmp_path / "db", [protos(*record) if record else field(9, 1)])
    with pytest.raises(ValueError, match=f"^readers.caffe2: {path}/data.mdb#record 0, at byte .*{message}"):
        opened("caffe2", path=path, **args).load(0)


def test_caffe2_wrong_arguments():
    for args, message in (
        ({"label_type": 5}, "label_type must be from 0 to 4, not 5"),
        ({"num_labels": 0}, "num_labels must be at least 1"),
        ({"label_type": 4, "image_available": False}, "there is nothing to read"),
    ):
        with pytest.raises(ValueError, match=f"^readers.caffe2: .*{message}"):
            opened("caffe2", path="x", **args)


# --- damaged files --------------------------------------------------------------------------------
def test_mutations_never_do_more_than_raise(tmp_path):
    rng = np.random.default_rng(1)
    path = write(tmp_path / "db", [datum(rng.bytes(n), 1) for n in [20, 5000, 1000] * 20])
    data = (tmp_path / "db" / "data.mdb").read_bytes()
    heads = [0, 4096, *range(8192, len(data), 4096)]

    class Heads(np.random.Generator):
        """Draws offsets where pages begin: most of a file is the contents of images."""

        def integers(self, low, high=None, **more):  # type: ignore[override]
            if low == len(data):
                return int(heads[int(super().integers(len(heads)))] + super().integers(120)) % len(data)
            return super().integers(low, high, **more)

    generator = Heads(np.random.PCG64(1))
    assert (
        survives(data, generator, lambda: opened("caffe", path=path), tmp_path / "db" / "data.mdb", cases=400)
        > 100
    )


def test_cut_short_at_any_page(tmp_path):
    path = write(tmp_path / "db", [datum(b"x" * 9000, 1)] * 30)
    file = tmp_path / "db" / "data.mdb"
    data = file.read_bytes()
    for size in (0, 1, 100, 4096, 4200, 8192, 8193, len(data) // 2, len(data) - 4096 * 4):
        file.write_bytes(data[:size])
        with pytest.raises(ValueError, match=f"readers.caffe: {path}/data.mdb: "):
            opened("caffe", path=path)


# --- the data pack --------------------------------------------------------------------------------
def test_pack_caffe(shared_data):
    samples = json.loads((SHARED / "records" / "samples.json").read_text())
    for name, reader in (("caffe_lmdb", "caffe"), ("caffe2_lmdb", "caffe2")):
        got = everything(reader, path=str(SHARED / "records" / name))
        assert len(got) == 24
        for (image, label), sample in zip(got, samples, strict=True):
            assert hashlib.sha256(image.tobytes()).hexdigest() == sample["jpeg_sha256"]
            np.testing.assert_array_equal(label, np.array([sample["label"]], np.int32), strict=True)
        pixels = np.load(SHARED / "records" / "caffe_lmdb_raw.npy")
        got = everything(reader, path=str(SHARED / "records" / f"{name}_raw"))
        np.testing.assert_array_equal([image for image, _ in got], pixels)


@pytest.mark.oracle
def test_pack_as_dali(shared_data):
    oracle.dali()
    cases = [
        ("caffe", "caffe_lmdb", {}), ("caffe", "caffe_lmdb_raw", {}), ("caffe", "caffe_lmdb_no_label", {}),
        ("caffe", "caffe_lmdb_no_label", {"label_available": False}), ("caffe", "caffe_lmdb", {"image_available": False}),
        ("caffe2", "caffe2_lmdb_raw", {}), ("caffe2", "caffe2_lmdb_no_label", {"label_type": 4}),
        ("caffe2", "caffe2_lmdb_extra_bbox", {"additional_inputs": 2, "bbox": True}),
        ("caffe2", "caffe2_lmdb_extra_bbox", {"additional_inputs": 3}),
        ("caffe2", "caffe2_lmdb_multi_dense", {"label_type": 2}),
        ("caffe2", "caffe2_lmdb_multi_weighted_bbox", {"label_type": 1, "num_labels": 17}),
        ("caffe2", "caffe2_lmdb_multi_weighted_bbox", {"label_type": 3, "num_labels": 17, "additional_inputs": 1}),
    ]  # fmt: skip
    for reader, name, args in cases:
        args = {"path": str(SHARED / "records" / name)} | args
        assert_same(everything(reader, **args), dali_everything(reader, **args))


def test_pack_of_bad_files(shared_data):
    for folder in sorted((SHARED / "bad" / "lmdb").iterdir()):
        if folder.name in ("bad_protobuf", "datum_wrong_size"):
            reader = opened("caffe", path=str(folder))
            assert len(failures(reader)) == reader.size
        else:
            with pytest.raises(ValueError, match=f"readers.caffe: .*{folder}/data.mdb"):
                opened("caffe", path=str(folder))
