"""Skip and mask in every format of records: each sort of damage, before and under an open reader."""

import json

import numpy as np
import pytest
from support import records

import jdali
from jdali import fn, tfrecord

COUNT, SIZE = 10, 5000
FEATURES = {
    "x": tfrecord.FixedLenFeature((), tfrecord.string, ""),
    "n": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
}


def content(number):
    return bytes([65 + number]) * SIZE


def _tfrecord(path, numbers):
    spans = records.tfrecord(path, [records.example({"x": [content(i % COUNT)], "n": [i]}) for i in numbers])
    return [at for at, _ in spans]


def _mxnet(path, numbers):
    return records.recordio(path, [records.image_record(content(i % COUNT), [i]) for i in numbers])


def _webdataset(path, numbers):
    members = [(f"{i}.{e}", c) for i in numbers for e, c in (("x", content(i % COUNT)), ("n", bytes([i])))]
    return [at - 512 for at in records.tar(path, members)[::2]]


def _database(path, numbers, value):
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with (
        lmdb.open(str(path), subdir=False, lock=False, map_size=1 << 22) as database,
        database.begin(write=True) as change,
    ):
        for i in numbers:
            change.put(b"%03d" % i, value(i))
    data = path.read_bytes()
    return [data.index(content(i % COUNT)[:4000]) // 4096 * 4096 for i in numbers]


def _caffe(path, numbers):
    return _database(
        path,
        numbers,
        lambda i: records.field(4, content(i % COUNT)) + records.field(5, i) + records.field(7, 1),
    )


def _caffe2(path, numbers):
    field = records.field
    return _database(
        path,
        numbers,
        lambda i: (
            field(1, field(2, 4) + field(6, content(i % COUNT)))
            + field(1, field(2, 2) + field(4, bytes([i])))
        ),
    )


def _examples(**args):
    outputs = fn.readers.tfrecord(features=FEATURES, **args)
    return outputs["x"], outputs["n"]


# Format → (writes numbered samples into a file and tells where each begins, reads paths)
FORMATS = {
    "tfrecord": (_tfrecord, lambda paths: _examples(path=paths)),
    "mxnet": (_mxnet, lambda paths: fn.readers.mxnet(path=paths)),
    "webdataset": (_webdataset, lambda paths: fn.readers.webdataset(paths=paths, ext=["x", "n"])),
    "caffe": (_caffe, lambda paths: fn.readers.caffe(path=paths)),
    "caffe2": (_caffe2, lambda paths: fn.readers.caffe2(path=paths, label_type=0)),
}
AT = 4  # the sample that is damaged


def _replaced(data, start, count):
    return data[:start] + b"\xff" * count + data[start + count :]


# What happens to the first file of two while a reader is open, and which of its samples are lost.
UNDER = {
    "a head": (lambda data, starts: _replaced(data, starts[AT], 16), [AT]),
    "two heads": (lambda data, starts: _replaced(_replaced(data, starts[AT], 16), starts[8], 16), [AT, 8]),
    "a sample and the next head": (
        lambda data, starts: _replaced(data, starts[AT], starts[5] - starts[4] + 16),
        [4, 5],
    ),
    "cut": (lambda data, starts: data[: starts[AT] + 700], [4, 5, 6, 7, 8, 9]),
    "empty": (lambda data, starts: b"", list(range(COUNT))),
    "zeros": (lambda data, starts: bytes(len(data)), list(range(COUNT))),
    "other bytes": (lambda data, starts: np.random.default_rng(0).bytes(len(data)), list(range(COUNT))),
}


def pipeline(paths, name, on_error, **options):
    pipe = jdali.Pipeline(batch_size=4, num_threads=2, device_id=None, seed=5, on_error=on_error, **options)
    with pipe:
        pipe.set_outputs(*FORMATS[name][1]([str(path) for path in paths]))
    return pipe


@pytest.fixture
def paths(tmp_path):
    return [tmp_path / "first", tmp_path / "second"]


def epochs(pipe, size, count):
    """For each epoch the numbers of samples that are good, each with its content, and masks of what is not."""
    seen, given = [[] for _ in range(count)], 0
    while given < size * count:
        result = pipe.run_result()
        good = result.mask & ~result.padded
        for i in range(4):
            number = int(np.asarray(result.outputs[1].at(i)).ravel()[0])
            assert bytes(np.asarray(result.outputs[0].at(i))) == content(number % COUNT)
            if good[i] and given + i < size * count:
                seen[(given + i) // size].append(number)
        given += 4
    return seen


@pytest.mark.cases(12)
@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("damage", UNDER)
@pytest.mark.parametrize("name", FORMATS)
def test_under_an_open_reader(name, damage, on_error, paths):
    """Nothing but the contents of samples comes, each good one once an epoch, and what is lost is named."""
    change, lost = UNDER[damage]
    starts = FORMATS[name][0](paths[0], range(COUNT))
    FORMATS[name][0](paths[1], range(COUNT, 2 * COUNT))
    pipe = pipeline(paths, name, on_error)
    pipe.build()
    data = paths[0].read_bytes()
    changed = change(data, starts)
    paths[0].write_bytes(changed)
    good = sorted(set(range(2 * COUNT)) - set(lost))
    seen = epochs(pipe, 2 * COUNT, 2)
    assert [sorted(numbers) for numbers in seen] == [good, good]
    assert {error.path for error in pipe.errors} == {
        f"{paths[0]}#{'sample' if name == 'webdataset' else 'record'} {i}" for i in lost
    }
    assert all(error.operator == f"readers.{name}" and error.reason for error in pipe.errors)
    pipe.close()


# What the first file is before a reader is opened, and which of its samples are lost: the rest is one sample.
BEFORE = {
    "cut": lambda data, starts: data[: starts[AT] + 700],
    "empty": lambda data, starts: b"",
    "zeros": lambda data, starts: bytes(len(data)),
}

# Files without records, which are in order.
NO_RECORDS = [("tfrecord", "empty"), ("mxnet", "empty"), ("webdataset", "zeros")]


@pytest.mark.cases(12)
@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("damage", BEFORE)
@pytest.mark.parametrize("name", FORMATS)
def test_before_it_is_opened(name, damage, on_error, paths):
    starts = FORMATS[name][0](paths[0], range(COUNT))
    FORMATS[name][0](paths[1], range(COUNT, 2 * COUNT))
    paths[0].write_bytes(BEFORE[damage](paths[0].read_bytes(), starts))
    # Whether the sample before the damage has further parts in an archive is not known.
    kept = list(range(AT - (name == "webdataset"))) if damage == "cut" else []
    lost = (name, damage) not in NO_RECORDS
    with pipeline(paths, name, on_error) as pipe:
        reader = next(iter(pipe.reader_meta()))
        assert pipe.epoch_size(reader) == len(kept) + lost + COUNT
        seen = epochs(pipe, len(kept) + lost + COUNT, 2)
        assert [sorted(numbers) for numbers in seen] == [kept + list(range(COUNT, 2 * COUNT))] * 2
        assert len({error.path for error in pipe.errors}) == lost
    if lost:
        with pytest.raises(jdali.OperatorError, match=f"readers.{name}: {paths[0]}"):
            pipeline(paths, name, "raise").build()


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", FORMATS)
def test_a_state_goes_on_past_damage(name, paths):
    starts = FORMATS[name][0](paths[0], range(COUNT))
    FORMATS[name][0](paths[1], range(COUNT, 2 * COUNT))
    paths[0].write_bytes(BEFORE["cut"](paths[0].read_bytes(), starts))

    def row(result):
        return np.concatenate(
            [np.ravel(result.outputs[1].at(i)) for i in range(4)]
        ).tolist(), result.mask.tolist()

    for on_error in ("skip", "mask"):
        with pipeline(paths, name, on_error) as pipe:
            states, rows = [], []
            for _ in range(8):
                states.append(json.dumps(pipe.get_state()))
                rows.append(row(pipe.run_result()))
        for at in (1, 2, 5):
            with pipeline(paths, name, on_error) as again:
                again.set_state(json.loads(states[at]))
                assert [row(again.run_result()) for _ in rows[at:]] == rows[at:]
