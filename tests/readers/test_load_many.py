"""Records that are read and parsed together: usual and odd ones, failures, order, memory, names."""

import os

import numpy as np
import pytest
from support import records
from support.readers import loaded_together, opened

from jdali._batches import BatchSpec, Drawn, Provenance, RaggedBlock, Store
from jdali._storage import BadRecord, RecordFiles, read_pieces
from jdali._storage import files as _storage
from jdali.tensors import TensorList
from jdali.tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string

FEATURES = {
    "image": FixedLenFeature((), string, "none"),
    "label": FixedLenFeature((), int64, -1),
    "box": VarLenFeature([2], float32, 0.0),
    "many": VarLenFeature(int64, 0),
}


def content(i):
    """What the example of record i holds; some have other forms than most."""
    features = {
        "image": [bytes([i]) * (i % 5 + 1)],
        "box": [0.5 * k for k in range(2 * (i % 3))],
        "label": [3 * i - 20 if i % 7 == 0 else 300 * i],
        "many": [(-1) ** k * 7**k for k in range(i % 4 + 1)],
        "unwanted" + "d" * (i % 2): [b"x"],
    }
    if i % 5 == 4:
        del features["label"]
    names = list(features)
    return {name: features[name] for name in names[i % 3 :] + names[: i % 3]}


def expected(i):
    features = content(i)
    return (
        np.frombuffer(features["image"][0], np.uint8),
        np.array(features.get("label", [-1])[0], np.int64),
        np.array(features["box"], np.float32).reshape(-1, 2),
        np.array(features["many"], np.int64),
    )


@pytest.fixture
def examples(tmp_path):
    """(path, spans) of a file of 30 examples, some with lists that are not packed."""
    path = tmp_path / "data"
    return path, records.tfrecord(path, [records.example(content(i), packed=i % 6 != 5) for i in range(30)])


@pytest.mark.parametrize("order", [range(30), range(29, -1, -1), [7, 7, 3, 28, 3], [0]])
def test_usual_and_odd_examples_together(examples, order):
    reader = opened("tfrecord", path=str(examples[0]), features=FEATURES)
    samples, failed = loaded_together(reader, np.array(order))
    assert not failed
    for i, sample in zip(order, samples, strict=True):
        for got, want in zip(sample, expected(i), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_array_equal(got, want)
    reader.close()


def test_bad_records_do_not_harm_the_others(examples):
    path, spans = examples
    data = bytearray(path.read_bytes())
    for record in (3, 11):
        data[spans[record][0] + 20] ^= 1
    path.write_bytes(data)
    index = records.index(path.with_name("index"), spans)
    reader = opened("tfrecord", path=str(path), index_path=index, features=FEATURES)
    samples, failed = loaded_together(reader, np.arange(2, 14))
    assert sorted(failed) == [1, 9]
    assert f"{path}#record 11, at byte {spans[11][0]}: the CRC of its data is wrong" in failed[9]
    good = [i for i in range(2, 14) if i not in (3, 11)]
    assert [sample[0].tobytes() for sample in samples] == [content(i)["image"][0] for i in good]
    reader.close()


def test_pieces_of_several_files_in_any_order(tmp_path):
    contents = [np.random.default_rng(i).bytes(50_000) for i in range(2)]
    for i, one in enumerate(contents):
        (tmp_path / str(i)).write_bytes(one)
    files = RecordFiles("reader", [str(tmp_path / "0"), str(tmp_path / "1")])
    wanted = [
        (1, 40_000, 7),
        (0, 0, 50_000),
        (0, 10, 20),
        (1, 0, 0),
        (0, 49_999, 1),
        (0, 49_999, 2),
        (1, -1, 3),
    ]
    file, offset, size = (np.array(column) for column in zip(*wanted, strict=True))
    pieces = read_pieces(files, file, offset, size)
    assert pieces.known.tolist() == [True] * 5 + [False] * 2
    for i, (number, start, length) in enumerate(wanted[:5]):
        assert pieces.piece(i) == contents[number][start : start + length]
    # Overlapping pieces are read once.
    assert len(pieces.raw) < 60_000
    assert not pieces.raw.flags.writeable
    files.close()


def test_a_file_that_got_shorter(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(100_000))
    files = RecordFiles("reader", [str(path)])
    os.truncate(path, 60_000)
    pieces = read_pieces(files, np.zeros(3, np.int64), np.array([0, 50_000, 90_000]), np.full(3, 10))
    assert pieces.known.tolist() == [True, True, False]
    with pytest.raises(BadRecord, match="it was longer when it was opened"):
        files.read(0, 59_000, 2000)
    files.close()


def test_a_batch_of_pieces_of_one_array():
    values = np.arange(20, dtype=np.int16)
    extents = np.array([[2, 3], [0, 3], [1, 4]])
    block = RaggedBlock(values, np.array([4, 0, 12]), extents)
    batch = TensorList.from_store(Store.of_block(block, BatchSpec(extents, values.dtype)))
    wanted = [values[4:10].reshape(2, 3), np.zeros((0, 3), np.int16), values[12:16].reshape(1, 4)]
    for got, want in zip(batch.to_samples(), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    chosen = batch.select([2, 0])
    np.testing.assert_array_equal(np.asarray(chosen.at(0)), wanted[2])
    array, sizes = chosen.padded()
    assert array.shape == (2, 2, 4)
    np.testing.assert_array_equal(np.asarray(array)[1, :2, :3], wanted[0])
    np.testing.assert_array_equal(np.asarray(sizes), [[1, 4], [2, 3]])
    np.testing.assert_array_equal(batch.store.view(np.dtype(np.uint16)).host_sample(2), wanted[2])


def test_mixed_types_in_a_batch_are_named(tmp_path):
    pictures = [records.field(1, 1) + records.field(2, 2) + records.field(3, 3) + records.field(4, b"abcdef")]
    pictures.append(records.field(4, b"encoded") + records.field(7, 1))
    lmdb = pytest.importorskip("lmdb")
    with (
        lmdb.open(str(tmp_path), map_size=1 << 20, lock=False) as database,
        database.begin(write=True) as change,
    ):
        for i, one in enumerate(pictures):
            change.put(bytes([i]), one)
    reader = opened("caffe", path=str(tmp_path), label_available=False)
    with pytest.raises(ValueError, match="output 0 as uint8 with 3 axes in one sample and uint8 with 1"):
        reader.load_many(np.arange(2))
    reader.close()


def test_names_are_made_when_asked_for():
    made = []

    def name(index):
        made.append(index)
        return f"sample {index}"

    names = Provenance.of(Drawn(name, np.array([5, 6, 7])))
    batch = TensorList.from_samples([np.zeros(1)] * 3, source_info=names)
    part = batch.select([2])
    assert not made
    assert part.source_info() == ["sample 7"]
    assert list(names[1:]) == ["sample 6", "sample 7"]
    assert made == [7, 6, 7]


def test_files_without_a_size_are_read_to_their_end(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert _storage.read(str(tmp_path / "empty")) == b""
    with pytest.raises(IsADirectoryError):
        _storage.read(str(tmp_path))
    if os.path.exists("/proc/self/status"):
        assert b"Pid:" in _storage.read("/proc/self/status")
