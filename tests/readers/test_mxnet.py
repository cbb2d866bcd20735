"""readers.mxnet: RecordIO with and without an index, split records, damaged files; against DALI and by "
"hand."""

import hashlib
import json
import struct

import numpy as np
import pytest
from support import records
from support.data import SHARED
from support.readers import assert_same, dali_everything, everything, failures, opened

MAGIC = struct.pack("<I", 0xCED7230A)
# Images of all lengths modulo 4, labels one and several, and magic numbers that split a record: at its
# start, twice in a row, at the end; one that is not at a multiple of 4 does not.
SAMPLES = [
    (b"abc", [1.5]), (b"", [2.0]), (b"abcd", [3.0, -4.5, 0.25]), (b"x" + MAGIC + b"y", [5.0]),
    (b"1234" + MAGIC + b"56", [6.0]), (MAGIC * 2 + b"tail", [7.0]), (b"head" + MAGIC, [8.0]), (b"z" * 1001, [9.0]),
]  # fmt: skip


@pytest.fixture
def made(tmp_path):
    """(path, index, offsets) of a file of SAMPLES."""
    path = tmp_path / "data.rec"
    offsets = records.recordio(path, [records.image_record(*s) for s in SAMPLES])
    return str(path), records.index(tmp_path / "data.idx", enumerate(offsets)), offsets


EXPECTED = [(np.frombuffer(image, np.uint8), np.array(labels, np.float32)) for image, labels in SAMPLES]


def test_records(made):
    path, index, _ = made
    assert_same(everything("mxnet", path=path, index_path=index), EXPECTED)
    assert_same(everything("mxnet", path=[path]), EXPECTED)
    assert opened("mxnet", path=path).source(3) == f"{path}#record 3"


def test_index_in_any_order_and_in_part(made, tmp_path):
    path, _, offsets = made
    index = records.index(tmp_path / "other", [(3, offsets[3]), (0, offsets[0]), (7, offsets[7])])
    assert_same(everything("mxnet", path=path, index_path=index), [EXPECTED[i] for i in (0, 3, 7)])


def test_several_files_are_counted_as_one(made, tmp_path):
    path, _, offsets = made
    second = tmp_path / "second.rec"
    more = records.recordio(second, [records.image_record(b"more", [1.0])])
    size = (tmp_path / "data.rec").stat().st_size
    index = records.index(tmp_path / "both", enumerate([*offsets, size + more[0]]))
    expected = [*EXPECTED, (np.frombuffer(b"more", np.uint8), np.array([1], np.float32))]
    paths = [path, str(second)]
    assert_same(everything("mxnet", path=paths, index_path=index), expected)
    assert_same(everything("mxnet", path=paths), expected)
    assert opened("mxnet", path=paths).source(len(SAMPLES)) == f"{second}#record 0"


@pytest.mark.oracle
def test_records_as_dali(made):
    path, index, _ = made
    got = everything("mxnet", path=path, index_path=index)
    assert_same(got, dali_everything("mxnet", path=[path], index_path=[index]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "RecordIO index file doesn't contain any indices"),
        ("0\t0\n1\t99999\n", "the index .* does not fit .*: one of its records begins at byte 99999"),
        ("0\n", "line 1 of the index .* must be 2 numbers"),
        ("0 -4\n", "line 1 of the index"),
    ],
)
def test_bad_index(made, tmp_path, text, message):
    (tmp_path / "bad").write_text(text)
    with pytest.raises(ValueError, match=f"^readers.mxnet: {message}"):
        opened("mxnet", path=made[0], index_path=str(tmp_path / "bad"))
    with pytest.raises(ValueError, match="RecordIOReader supports only a single index file"):
        opened("mxnet", path=made[0], index_path=["a", "b"])


def test_damaged_records_are_named_and_the_others_are_read(made, tmp_path):
    path, index, offsets = made
    good = (tmp_path / "data.rec").read_bytes()
    split = offsets[4]
    cases = [
        (
            offsets[2],
            b"\0\0\0\0",
            2,
            "0x00000000 stands at its byte 0 instead of the magic number 0xced7230a",
        ),
        (offsets[2] + 4, struct.pack("<I", 4), 2, r"its length leaves \d+ bytes before the next record"),
        (offsets[2] + 4, struct.pack("<I", 1000), 2, "a part of it has 1000 bytes, but there are"),
        (offsets[2] + 8, struct.pack("<I", 1000), 2, "too few for its 1000 labels"),
        (split + 7, b"\x40", 4, "part 0 of it is marked as 2"),
        (offsets[7] + 7, b"\x20", 7, "end within a part"),
    ]
    for at, new, sample, message in cases:
        (tmp_path / "data.rec").write_bytes(good[:at] + new + good[at + len(new) :])
        reader = opened("mxnet", path=path, index_path=index)
        with pytest.raises(
            ValueError, match=f"^readers.mxnet: {path}#record {sample}, at byte .*: .*{message}"
        ):
            reader.load(sample)
        assert list(failures(reader)) == [sample]
    (tmp_path / "data.rec").write_bytes(good[:-8])
    assert list(failures(opened("mxnet", path=path, index_path=index))) == [7]
    with pytest.raises(ValueError, match=f"ends at byte {len(good) - 8}, within record 7"):
        opened("mxnet", path=path)
    (tmp_path / "data.rec").write_bytes(b"no records at all")
    with pytest.raises(ValueError, match="is not a RecordIO file, or damaged"):
        opened("mxnet", path=path)


@pytest.mark.parametrize("name", ["train", "multi_label", "multi_part"])
def test_pack(shared_data, name):
    folder = SHARED / "records" / "recordio"
    samples = json.loads((SHARED / "records" / "samples.json").read_text())
    got = everything("mxnet", path=str(folder / f"{name}.rec"), index_path=str(folder / f"{name}.idx"))
    for (image, label), sample in zip(got, samples, strict=False):
        if name == "multi_part":
            assert image.tobytes() == (folder / "multi_part_images" / sample["name"]).read_bytes()
        else:
            assert hashlib.sha256(image.tobytes()).hexdigest() == sample["jpeg_sha256"]
        box = sample["boxes"][0] if name == "multi_label" else []
        np.testing.assert_array_equal(label, np.array([sample["label"], *box], np.float32))
    assert_same(everything("mxnet", path=str(folder / f"{name}.rec")), got)


@pytest.mark.oracle
def test_pack_as_dali(shared_data):
    folder = str(SHARED / "records" / "recordio") + "/"
    cases = [
        (["train.rec"], "train_unsorted.idx"), (["two_files_a.rec", "two_files_b.rec"], "two_files.idx"),
        (["multi_label.rec"], "multi_label.idx"), (["multi_part.rec"], "multi_part.idx"),
    ]  # fmt: skip
    for paths, index in cases:
        args = {"path": [folder + p for p in paths], "index_path": [folder + index]}
        assert_same(everything("mxnet", **args), dali_everything("mxnet", **args))


def test_pack_of_bad_files(shared_data):
    for path in sorted((SHARED / "bad" / "recordio").glob("*.rec")):
        index = str(path.with_suffix(".idx"))
        if path.stem.startswith("index_"):
            with pytest.raises(ValueError, match=f"readers.mxnet: .*{index}"):
                opened("mxnet", path=str(path), index_path=index)
        else:
            bad = failures(opened("mxnet", path=str(path), index_path=index))
            assert list(bad) == [5 if path.stem == "truncated" else 2]
            with pytest.raises(ValueError, match=f"readers.mxnet: {path}"):
                opened("mxnet", path=str(path))
