"""readers.tfrecord: features of all kinds, indexes, damaged files; against DALI and by hand."""

import gzip
import hashlib
import json
import re
import sys

import numpy as np
import pytest
from support import oracle, records
from support.data import SHARED
from support.readers import assert_same, dali_everything, everything, failures, opened
from support.settled import settle_at_once

from jdali import tfrecord
from jdali.readers import tfrecord as module
from jdali.readers.formats.protobuf import packed_integers
from jdali.readers.formats.records import BadRecord
from jdali.tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string

EXAMPLES = [
    {
        "one": [5], "many": list(range(-3, i * 9)), "row": [0.5, 1.5, -2.0 * i, 3.0], "text": [b"\x00\xff" * i],
        "big": [-(2**63), 2**63 - 1, 2**40], "names": [b"a", b"bcd"], "other" * 40: [1.0], "none": [],
    }
    for i in range(5)
]  # fmt: skip
FEATURES = {
    "text": FixedLenFeature((), string, ""),
    "one": FixedLenFeature((), int64, -1),
    "many": VarLenFeature(int64, -1),
    "row": FixedLenFeature([2, 2], float32, 0.0),
    "big": VarLenFeature([3], int64, 0),
    "names": FixedLenFeature([1], string, "x"),
}


@pytest.fixture(params=[True, False], ids=["packed", "not packed"])
def made(request, tmp_path):
    """(path, index) of a file of EXAMPLES."""
    path = tmp_path / "data"
    spans = records.tfrecord(path, [records.example(e, packed=request.param) for e in EXAMPLES])
    return str(path), records.index(tmp_path / "index", spans)


def by_hand(example):
    return (
        np.frombuffer(example["text"][0], np.uint8),
        np.array(5, np.int64),
        np.array(example["many"], np.int64),
        np.array(example["row"], np.float32).reshape(2, 2),
        np.array([example["big"]], np.int64),
        np.frombuffer(b"a", np.uint8),
    )


def test_features(made):
    path, index = made
    expected = [by_hand(e) for e in EXAMPLES]
    assert_same(everything("tfrecord", path=path, index_path=index, features=FEATURES), expected)
    assert_same(everything("tfrecord", path=path, features=FEATURES), expected)
    two = everything("tfrecord", path=[path, path], index_path=[index, index], features=FEATURES)
    assert_same(two, expected * 2)


@pytest.mark.oracle
def test_features_as_dali(made):
    oracle.dali()
    import nvidia.dali.tfrecord as theirs

    path, index = made
    same = {
        "text": theirs.FixedLenFeature((), theirs.string, ""),
        "one": theirs.FixedLenFeature((), theirs.int64, -1),
        "many": theirs.VarLenFeature(theirs.int64, -1),
        "row": theirs.FixedLenFeature([2, 2], theirs.float32, 0.0),
        "big": theirs.VarLenFeature([3], theirs.int64, 0),
        "names": theirs.FixedLenFeature([1], theirs.string, "x"),
    }
    assert (theirs.int64, theirs.string, theirs.float32) == (int64, string, float32)
    got = everything("tfrecord", path=path, index_path=index, features=FEATURES)
    assert_same(got, dali_everything("tfrecord", path=path, index_path=index, features=same))


def test_missing_elements_are_the_default(made):
    path, _ = made
    features = {
        "absent": FixedLenFeature([2, 2], float32, 1.5),
        "none": FixedLenFeature((), int64, -7),
        "one": FixedLenFeature([3], int64, 9),
        "no text": FixedLenFeature((), string, "né"),
        "no numbers": VarLenFeature(float32, 0.0),
        "no rows": VarLenFeature([2, 3], int64, 0),
    }
    sample = everything("tfrecord", path=path, features=features)[0]
    expected = (
        np.full((2, 2), 1.5, np.float32), np.array(-7, np.int64), np.array([5, 9, 9], np.int64),
        np.frombuffer("né".encode(), np.uint8), np.empty(0, np.float32), np.empty((0, 2, 3), np.int64),
    )  # fmt: skip
    assert_same([sample], [expected])


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ({"row": VarLenFeature(int64, 0)}, "feature 'row' holds float32, not int64 as declared"),
        ({"one": FixedLenFeature((), float32, 0.0)}, "feature 'one' holds int64, not float32"),
        ({"one": FixedLenFeature((), string, "")}, "feature 'one' holds int64, not string"),
        ({"row": FixedLenFeature([3], float32, 0.0)}, r"'row' has 4 elements, too many for the shape \(3,\)"),
        ({"row": VarLenFeature([3], float32, 0.0)}, r"'row' has 4 elements, which do not fill whole rows"),
    ],
)
def test_features_that_are_not_as_declared(made, feature, message):
    path, _ = made
    bad = failures(opened("tfrecord", path=path, features=feature))
    assert len(bad) == len(EXAMPLES)
    assert bad[0].startswith(f"readers.tfrecord: {path}#record 0, at byte 0: ")
    assert re.search(message, bad[0])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FixedLenFeature([0], int64, 0), ValueError, "sizes must be at least 1"),
        (
            lambda: FixedLenFeature([2], string, ""),
            ValueError,
            r"a string must have the shape \(\) or \(1,\)",
        ),
        (lambda: FixedLenFeature((), 7, 0), ValueError, "dtype must be tfrecord.int64, float32 or string"),
        (
            lambda: FixedLenFeature((), int64, 1.5),
            TypeError,
            "Invalid type for default value, expected int64. The default value cannot be 1.5",
        ),
        (
            lambda: FixedLenFeature((), string, 3),
            TypeError,
            "Invalid type for default value, expected string. The default value cannot be 3",
        ),
        (lambda: VarLenFeature(string, ""), ValueError, "strings must be FixedLenFeature"),
        (lambda: VarLenFeature(int64), TypeError, "got 1 arguments"),
    ],
)
def test_wrong_features(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ({"features": {}}, TypeError, "features must be a dict with at least one feature"),
        (
            {"features": {"a": 3}},
            TypeError,
            r"Expected `jdali.tfrecord.Feature` for the .a., but got <class 'int'>",
        ),
        ({"path": []}, ValueError, "path is empty"),
        ({"path": "/no/such"}, FileNotFoundError, "cannot read /no/such: No such file"),
        ({"path": "/"}, FileNotFoundError, "cannot read /: Is a directory"),
        ({"index_path": ["a", "b"]}, ValueError, "2 index files for 1 files"),
        ({"index_path": "/no/such"}, FileNotFoundError, "Could not open file /no/such, the index"),
    ],
    ids=str,
)
def test_wrong_arguments(tmp_path, args, error, message):
    records.tfrecord(tmp_path / "data", [records.example({"a": [1]})])
    args = {"path": str(tmp_path / "data"), "features": {"a": FixedLenFeature((), int64, 0)}} | args
    with pytest.raises(error, match=f"^readers.tfrecord: {message}"):
        opened("tfrecord", **args)


def test_without_the_package_for_crcs(monkeypatch):
    monkeypatch.setattr(module, "crc32c", None)
    with pytest.raises(ImportError, match=r'crc32c.*pip install "\.\[records\]"'):
        opened("tfrecord", path="x", features={"a": VarLenFeature(int64, 0)})


def test_crc_of_the_standard():
    assert records.crc32c(b"123456789") == 0xE3069283  # RFC 3720's check value
    data = bytes(range(256))
    assert module.masked_crc(data) == int.from_bytes(records.masked(data), "little")


def test_varints_of_all_lengths():
    values = [0, 1, 127, 128, -1, -(2**63), 2**63 - 1, *(1 << i for i in range(63))]
    data = b"".join(map(records.varint, values))
    assert packed_integers(data, 0, len(data)).tolist() == values
    for count in range(1, 6):  # few of them go another way
        data = b"".join(map(records.varint, values[:count]))
        assert packed_integers(b"x" + data + b"x", 1, len(data) + 1).tolist() == values[:count]
    for bad in (b"\x80", b"\x01" * 30 + b"\x80", b"\x80" * 11 + b"\x01" * 30, b"\x80" * 12):
        with pytest.raises(BadRecord, match="number"):
            packed_integers(bad, 0, len(bad))


def test_index_is_built_once_and_anew_for_another_file(tmp_path, monkeypatch):
    path = tmp_path / "data"
    records.tfrecord(path, [records.example({"a": [i]}) for i in range(3)])
    settle_at_once(monkeypatch)
    args = {"path": str(path), "features": {"a": FixedLenFeature((), int64, 0)}}
    built = []
    build = module.build_index
    monkeypatch.setattr(module, "build_index", lambda p, *more: built.append(p) or build(p, *more))
    assert len(everything("tfrecord", **args)) == len(everything("tfrecord", **args)) == 3
    assert len(built) == 1
    (cached,) = (tmp_path / "cache" / "index").iterdir()
    cached.write_bytes(b"no index")
    assert len(everything("tfrecord", **args)) == 3
    monkeypatch.undo()
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "build_index", lambda p, *more: built.append(p) or build(p, *more))
    records.tfrecord(path, [records.example({"a": [i]}) for i in range(2)])  # just changed: not kept
    assert len(everything("tfrecord", **args)) == len(everything("tfrecord", **args)) == 2
    assert len(built) == 4
    monkeypatch.setenv("JDALI_CACHE_DIR", str(path))  # no folder
    assert len(everything("tfrecord", **args)) == 2


BAD_INDEXES = {
    "": "Content of index files should not be empty",
    "\n\n": "Content of index files should not be empty",
    "hello world\n": "line 1 of the index .* must be 2 numbers from 0 on, but is 'hello world'",
    "0 33\n\n33\n": "line 3 of the index .* but is '33'",
    "0 33\n-5 2\n": "line 2 of",
    "0 99999999999999999999999\n": "line 1 of",
    "0 33\n99999 33\n": "the index .* does not fit .*: its record 1 begins at byte 99999, but the file has",
    "0 17\n": "the index .* does not fit .*: it gives the record at byte 0 17 bytes, but it has",
}


@pytest.mark.parametrize("text", BAD_INDEXES)
def test_bad_index(tmp_path, text):
    records.tfrecord(tmp_path / "data", [records.example({"a": [1]})])
    (tmp_path / "index").write_text(text)
    with pytest.raises(ValueError, match=f"^readers.tfrecord: {BAD_INDEXES[text]}"):
        opened(
            "tfrecord", path=str(tmp_path / "data"), index_path=str(tmp_path / "index"),
            features={"a": FixedLenFeature((), int64, 0)},
        )  # fmt: skip


def test_damaged_record_is_named_and_the_others_are_read(tmp_path):
    path = tmp_path / "data"
    spans = records.tfrecord(path, [records.example({"a": [i]}) for i in range(4)])
    index = records.index(tmp_path / "index", spans)
    good = path.read_bytes()
    offset, size = spans[2]
    features = {"a": FixedLenFeature((), int64, 0)}
    cases = [
        (offset + 14, "the CRC of its data is wrong"), (offset + size - 1, "the CRC of its data is wrong"),
        (offset + 9, "the CRC of its length is wrong"), (offset, "the CRC of its length is wrong"),
    ]  # fmt: skip
    for at, message in cases:
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        bad = failures(opened("tfrecord", path=str(path), index_path=index, features=features))
        assert list(bad) == [2]
        assert bad[2].startswith(f"readers.tfrecord: {path}#record 2, at byte {offset}: {message}")
    # Without an index, what follows a wrong length cannot be found.
    with pytest.raises(ValueError, match=f"has no record 2 at byte {offset}"):
        opened("tfrecord", path=str(path), features=features)
    path.write_bytes(good[: offset + 20])
    bad = failures(
        opened(
            "tfrecord",
            path=str(path),
            index_path=records.index(tmp_path / "i", spans[:3]),
            features=features,
        )
    )
    assert "reach past the end at byte" in bad[2]
    with pytest.raises(ValueError, match=f"ends at byte {offset + 20}, within record 2 at byte {offset}"):
        opened("tfrecord", path=str(path), features=features)
    path.write_bytes(gzip.compress(good))
    with pytest.raises(ValueError, match=r"is compressed \(gzip\); only plain TFRecord files"):
        opened("tfrecord", path=str(path), features=features)


def test_a_length_with_the_first_bytes_of_gzip(tmp_path):
    path = tmp_path / "data"
    record = records.example({"text": [bytes(0x8B1F - 26)]})
    assert len(record) == 0x8B1F
    records.tfrecord(path, [record])
    assert path.read_bytes().startswith(b"\x1f\x8b")
    features = {"text": FixedLenFeature((), string, "")}
    assert len(everything("tfrecord", path=str(path), features=features)) == 1


def test_protobuf_that_is_none(tmp_path):
    good = records.example({"a": [1, 2, 3], "b": [b"text"]})
    features = {"a": VarLenFeature(int64, 0), "b": FixedLenFeature((), string, "")}
    bad = [
        b"\xff" * 40,
        good[:-1],
        good[:9],
        b"\x0a",
        b"\x0b\x01",
        b"\x0a\x05\x0a\x7f\x0a\x01a",
        b"\x0a\x02\x0a\x00" * 3,
    ]
    spans = records.tfrecord(tmp_path / "data", bad)
    reader = opened(
        "tfrecord",
        path=str(tmp_path / "data"),
        index_path=records.index(tmp_path / "i", spans),
        features=features,
    )
    found = failures(reader)
    assert list(found) == [0, 1, 2, 3, 4, 5]  # the last one is valid: entries without a name
    assert all("protocol buffer" in text for text in found.values())
    assert [a.size for a in reader.load(6)] == [0, 0]


def test_module_of_features():
    assert set(dir(tfrecord)) >= {"FixedLenFeature", "VarLenFeature", "int64", "float32", "string", "Feature"}
    assert "nvidia" not in sys.modules["jdali.tfrecord"].__file__


# --- the data pack ------------------------------------------------------------------------------
PACK = SHARED / "records"


def test_pack_against_its_list(shared_data):
    paths = [str(PACK / "tfrecord" / f"train-0000{i}-of-00002") for i in range(2)]
    features = {
        "image/encoded": FixedLenFeature((), string, ""),
        "image/class/label": FixedLenFeature((), int64, -1),
        "image/height": FixedLenFeature([1], int64, -1),
        "image/object/bbox/xmin": VarLenFeature(float32, 0.0),
    }
    samples = json.loads((PACK / "samples.json").read_text())
    got = everything("tfrecord", path=paths, features=features)
    assert len(got) == len(samples) == 24
    for (image, label, height, xmin), sample in zip(got, samples, strict=True):
        assert hashlib.sha256(image.tobytes()).hexdigest() == sample["jpeg_sha256"]
        assert (label.shape, int(label), height.tolist()) == ((), sample["label"], [sample["h"]])
        boxes = [] if sample["i"] == 5 else [box[0] for box in sample["boxes"]]
        np.testing.assert_array_equal(xmin, np.array(boxes, np.float32))
    given = everything("tfrecord", path=paths, index_path=[p + ".idx" for p in paths], features=features)
    assert_same(given, got)


def test_pack_feature_types(shared_data):
    features = {
        "i64_scalar": FixedLenFeature((), int64, -1),
        "i64_var": VarLenFeature(int64, -1),
        "i64_fixed_2x3": VarLenFeature([3], int64, -1),
        "f32_fixed_2x2": FixedLenFeature([2, 2], float32, 0.0),
        "f32_var": VarLenFeature(float32, 0.0),
        "bytes": FixedLenFeature((), string, ""),
        "bytes_multi": FixedLenFeature((), string, ""),
        "sometimes_missing": FixedLenFeature([1], int64, -9),
    }
    got = everything("tfrecord", path=str(PACK / "tfrecord" / "feature_types.tfrecord"), features=features)
    expected = [
        (
            np.array(i if i % 2 == 0 else -i * 2**40, np.int64), np.arange(i, dtype=np.int64),
            10 * i + np.arange(6, dtype=np.int64).reshape(2, 3),
            np.array([[i + 0.25, i + 0.5], [-i, i / 3]], np.float32),
            np.arange(8 - i, dtype=np.float32) / 2, np.arange(i + 1, dtype=np.uint8),
            np.frombuffer(b"a", np.uint8), np.array([-9 if i == 3 else i], np.int64),
        )
        for i in range(8)
    ]  # fmt: skip
    assert_same(got, expected)


def test_pack_of_bad_files(shared_data):
    folder = SHARED / "bad" / "tfrecord"
    features = {"image/class/label": FixedLenFeature((), int64, -1)}
    for path in sorted(folder.glob("*.tfrecord")):
        bad = failures(
            opened("tfrecord", path=str(path), index_path=str(path.with_suffix(".idx")), features=features)
        )
        assert list(bad) == [11 if path.stem == "truncated" else 2]
        assert str(path) in next(iter(bad.values()))
        if path.stem in ("truncated", "length_flipped", "length_crc_flipped"):
            with pytest.raises(ValueError, match=f"readers.tfrecord: {path}"):
                opened("tfrecord", path=str(path), features=features)
    for index in sorted(folder.glob("index_*.idx")):
        with pytest.raises(ValueError, match=f"readers.tfrecord: .*{index}"):
            opened(
                "tfrecord", path=str(PACK / "tfrecord" / "train-00000-of-00002"), index_path=str(index),
                features=features,
            )  # fmt: skip
