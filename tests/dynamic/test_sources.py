"""Readers, external sources, pictures and checkpoints of dynamic mode."""

import io
import json

import numpy as np
import pytest
from PIL import Image
from support import records

import jdali.dynamic as jd
from jdali import OperatorError
from jdali.tfrecord import FixedLenFeature, int64

PICTURE = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)


def png() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(PICTURE).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def files(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.bin").write_bytes(bytes([i] * (i + 1)))
    return [str(tmp_path / f"{i}.bin") for i in range(5)]


def labels(reader, batch_size=None):
    outputs = [label for _, label in reader.next_epoch(batch_size)]
    if batch_size is None:
        return [label.item() for label in outputs]
    return [np.asarray(batch).reshape(-1).tolist() for batch in outputs]


def test_decoding(tmp_path):
    data = np.frombuffer(png(), np.uint8)
    one = jd.decoders.image(data)
    assert isinstance(one, jd.Tensor)
    assert one.layout == "HWC"
    np.testing.assert_array_equal(np.asarray(one), PICTURE)
    np.testing.assert_array_equal(np.asarray(jd.decoders.image(png())), PICTURE)
    two = jd.decoders.image(jd.as_batch([data, data]), device="gpu")
    assert two.device == "gpu"
    np.testing.assert_array_equal(np.asarray(two), [PICTURE, PICTURE])
    (tmp_path / "a.png").write_bytes(png())
    np.testing.assert_array_equal(np.asarray(jd.imread(tmp_path / "a.png")), PICTURE)
    assert jd.imread([str(tmp_path / "a.png")]).shape == [(5, 7, 3)]
    assert jd.imread(str(tmp_path / "a.png"), output_type=jd.types.GRAY).shape == (5, 7, 1)
    with pytest.raises(OperatorError, match=r"nope\.png"):
        jd.imread(str(tmp_path / "nope.png"))
    with pytest.raises(OperatorError, match=r"decoders\.image"):
        jd.decoders.image(data[:20])


def test_an_epoch_is_the_shard_and_runs_on_into_the_next(files):
    reader = jd.readers.File(files=files)
    assert labels(reader, 2) == [[0, 1], [2, 3], [4, 0]]
    assert labels(reader, 2) == [[1, 2], [3, 4], [0, 1]]
    assert labels(jd.readers.File(files=files)) == [0, 1, 2, 3, 4]
    padded = jd.readers.File(files=files, pad_last_batch=True)
    assert labels(padded, 2) == labels(padded, 2) == [[0, 1], [2, 3], [4, 4]]
    data, label = reader()
    assert data.shape == (label.item() + 1,)
    assert reader.get_metadata()["epoch_size"] == 5


def test_max_batch_size_is_the_size_of_an_epoch_s_batches(files):
    for reader in (jd.readers.File(max_batch_size=2, files=files), jd.readers.File(2, files=files)):
        assert {label.batch_size for _, label in reader.next_epoch()} == {2}
        assert {label.batch_size for _, label in reader.next_epoch(batch_size=1)} == {1}
        assert isinstance(reader()[1], jd.Tensor)


def test_a_reader_s_state(files):
    first = jd.readers.File(files=files, random_shuffle=True)
    labels(first)
    state = json.loads(json.dumps(first.get_state()))
    second = jd.readers.File(files=files, random_shuffle=True)
    second.set_state(state)
    assert [labels(first, 2) for _ in range(3)] == [labels(second, 2) for _ in range(3)]


def test_a_state_within_an_epoch_leaves_the_rest_of_it(files):
    first = jd.readers.File(files=files)
    epoch = first.next_epoch(2)
    next(epoch)
    second = jd.readers.File(files=files)
    second.set_state(first.get_state())
    assert [np.asarray(b).reshape(-1).tolist() for _, b in epoch] == [[2, 3], [4, 0]]
    assert labels(second, 2) == [[2, 3], [4, 0]]
    assert labels(second, 2) == labels(first, 2) == [[1, 2], [3, 4], [0, 1]]


def test_named_outputs(tmp_path):
    path = tmp_path / "data"
    rows = records.tfrecord(path, [records.example({"a": [7]}), records.example({"a": [8]})])
    index = records.index(tmp_path / "index", rows)
    reader = jd.readers.TFRecord(
        path=str(path), index_path=index, features={"a": FixedLenFeature([1], int64, 0)}
    )
    assert [sample["a"].item() for sample in reader.next_epoch()] == [7, 8]


def test_a_reader_s_errors(files):
    with pytest.raises(TypeError, match='Argument "nope" is not defined'):
        jd.readers.File(files=files, nope=1)
    with pytest.raises(OperatorError, match=r"readers\.file"):
        jd.readers.File()()
    with pytest.raises(OperatorError, match="/nope"):
        jd.readers.File(files=["/nope"])()
    with pytest.raises(ValueError, match="max_batch_size 2"):
        jd.readers.File(2, files=files)(batch_size=3)


def test_external_sources():
    source = jd.ExternalSource([np.full(2, 1), np.full(3, 2)], dtype=jd.float32, layout="X")
    assert source().layout == "X"
    repeated = source(batch_size=2)
    assert repeated.shape == [(3,), (3,)]
    assert repeated.dtype == jd.float32
    with pytest.raises(StopIteration):
        source()
    quiet = jd.ExternalSource([1, 2], cycle=True)
    assert [quiet().item() for _ in range(5)] == [1, 2, 1, 2, 1]
    loud = jd.ExternalSource([1], cycle="raise")
    assert loud().item() == 1
    with pytest.raises(StopIteration):
        loud()
    assert loud().item() == 1
    first, second = jd.ExternalSource(lambda: (1, jd.as_batch([1, 2])), 2)()
    assert isinstance(first, jd.Tensor)
    assert isinstance(second, jd.Batch)
    assert [v.item() for v in jd.ExternalSource([1, 2]).captured()] == [1, 2]

    def numbers():
        yield from (1, 2)

    again = jd.ExternalSource(numbers, cycle="quiet")
    assert [again().item() for _ in range(3)] == [1, 2, 1]


def test_checkpoints(tmp_path, files):
    def objects():
        return jd.readers.File(files=files, random_shuffle=True), jd.random.RNG()

    reader, rng = objects()
    labels(reader), rng()
    saved = jd.checkpoint.Checkpoint()
    saved.register(reader, "reader")
    saved.register(rng)
    names = [saved.save(tmp_path / "state_{seq:03d}.json") for _ in range(2)]
    assert names[1].endswith("state_001.json")
    assert saved.names == ["RNG_0", "reader"]
    assert saved.is_complete
    again = objects()
    loaded = jd.checkpoint.Checkpoint()
    assert loaded.load(tmp_path / "state_{seq}.json") == names[1]
    loaded.register(again[0], "reader")
    loaded.register(again[1])
    assert labels(again[0]) == labels(reader)
    assert again[1]() == rng()
    loaded.restore()
    assert again[1].state == loaded.get_state("RNG_0")
    loaded.set_state("RNG_0", 1, "File")
    with pytest.raises(TypeError, match="state of a File"):
        loaded.restore()
    assert jd.checkpoint.current() is jd.EvalContext.current().checkpoint
    assert jd.capture.invariant(reader) is reader
