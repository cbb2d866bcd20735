"""External sources of random access: order, shards, states, what elements may be; and what else ends, and how."""

import json
import logging

import numpy as np
import pytest

import jdali
from jdali import fn, pipeline_def
from jdali.iterator import DataIterator, LastBatchPolicy


class Squares:
    """Neither callable nor iterable, as data sets of PyTorch are."""

    def __init__(self, count=10, bad=()):
        self.count, self.bad = count, bad

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index in self.bad:
            raise KeyError(f"no {index}")
        return np.float32([index, index**2]), index


class Forwards(Squares):
    """Of many elements at a time, as those of Hugging Face."""

    def __getitems__(self, indices):
        return [self[index] for index in indices]


def pipeline(source, batch_size=4, layout=None, pipe_options=None, **args):
    @pipeline_def(
        **{"batch_size": batch_size, "num_threads": 2, "device_id": None, "seed": 7, **(pipe_options or {})}
    )
    def define():
        outputs = fn.external_source(source, name="r", layout=layout, **args)
        return tuple(outputs) if isinstance(outputs, list) else outputs

    return define()


def taken(pipe, batches, output=-1):
    return [np.asarray(pipe.run()[output].as_array()).reshape(-1).tolist() for _ in range(batches)]


def test_it_is_told_from_dali_s_sources():
    """A list is a list of batches, as in DALI, unless asked for; what DALI refuses is taken for random access."""
    numbers = [np.float32([i]) for i in range(3)]
    with pipeline([[np.float32([1]), np.float32([2])]]) as pipe:
        assert taken(pipe, 1) == [[1, 2]]
    with pipeline(numbers, random_access=True) as pipe:
        assert taken(pipe, 2) == [[0, 1, 2, 0], [1, 2, 0, 1]]
    with pipeline(Squares(), num_outputs=2) as pipe:
        assert taken(pipe, 1) == [[0, 1, 2, 3]]
    with pytest.raises(ValueError, match="cycle does not go with random_access=True"):
        pipeline(numbers, random_access=True, cycle="raise").build()
    with pytest.raises(
        jdali.OperatorError, match="must have __len__ and __getitem__, which generator has not"
    ):
        pipeline((n for n in numbers), random_access=True).build()


@pytest.mark.parametrize("made", [Squares, Forwards])
@pytest.mark.parametrize("policy", [LastBatchPolicy.PARTIAL, LastBatchPolicy.FILL])
def test_nothing_is_lost(made, policy):
    args = {"num_outputs": 2, "random_shuffle": True, "pad_last_batch": True}
    loop = DataIterator(pipeline(made(), **args), ["x", "n"], reader_name="r", last_batch_policy=policy)
    for _ in range(2):
        found = [int(n) for batch in loop for n in batch["n"]]
        assert len(found) == (10 if policy is LastBatchPolicy.PARTIAL else 12)
        assert sorted(set(found)) == list(range(10))


def test_shards_and_what_the_pipeline_knows():
    found = []
    for shard in range(3):
        args = {"num_outputs": 2, "random_shuffle": True, "num_shards": 3, "shard_id": shard, "seed": 1}
        with pipeline(Squares(), batch_size=1, **args) as pipe:
            assert pipe.reader_meta("r")["epoch_size"] == 10
            found += np.concatenate(taken(pipe, 10 * (shard + 1) // 3 - 10 * shard // 3)).tolist()
    assert sorted(found) == list(range(10))


def test_states_and_any_batch():
    def loop():
        pipe = pipeline(Squares(), num_outputs=2, random_shuffle=True)
        return DataIterator(pipe, ["x", "n"], reader_name="r", auto_reset=True)

    whole = loop()
    batches = []
    for _ in range(2):
        for batch in whole:
            batches.append((batch["n"].tolist(), json.dumps(whole.get_state())))
    numbers = [numbers for numbers, _ in batches]
    for at, (_, state) in enumerate(batches[:-1]):
        fresh = loop()
        fresh.set_state(json.loads(state))
        following = next(iter(fresh), None)
        if following is not None:  # else the state is of the end of an epoch
            assert following["n"].tolist() == numbers[at + 1]
    assert loop().batch_at(1)["n"].tolist() == numbers[1]


def test_in_processes():
    def found(**options):
        with pipeline(Squares(30), num_outputs=2, random_shuffle=True, pipe_options=options) as pipe:
            return taken(pipe, 8)

    assert found(workers=2) == found()


def test_what_elements_may_be():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    rows = [
        {"picture": image.fromarray(np.full((2, 3), i, np.uint8)), "text": f"ä{i}", "raw": bytes([i]), "n": i,
         "hub": {"bytes": bytes([i, i]), "path": "x"}, "list": [[i, 1], [2, 3]]}
        for i in range(4)
    ]  # fmt: skip
    columns = ["picture", "text", "raw", "n", "hub", "list"]
    with pipeline(rows, random_access=True, columns=columns, num_outputs=6) as pipe:
        picture, text, raw, n, hub, lists = pipe.run()
    assert picture.as_array()[2].tolist() == [[2, 2, 2]] * 2
    assert bytes(text.at(1)).decode() == "ä1"
    assert raw.as_array().tolist() == [[0], [1], [2], [3]]
    assert (n.as_array().tolist(), hub.as_array()[3].tolist()) == ([0, 1, 2, 3], [3, 3])
    assert lists.as_array()[1].tolist() == [[1, 1], [2, 3]]
    with pipeline([np.zeros((2, 2, 3))] * 4, random_access=True, layout="HWC") as pipe:
        assert pipe.run()[0].layout() == "HWC"
    pairs = [(np.zeros((2, 2, 3)), 1)] * 4
    with pipeline(pairs, random_access=True, num_outputs=2, layout=["HWC", None]) as pipe:
        assert [output.layout() for output in pipe.run()] == ["HWC", ""]


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "datasets", "grain"])
def test_data_sets_of_others(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    columns = {"x": [float(i) for i in range(10)], "n": list(range(10))}
    rows = [{"x": float(i), "n": i} for i in range(10)]
    data = {
        "pandas": lambda: module.DataFrame(columns),
        "pyarrow": lambda: module.table(columns),
        "datasets": lambda: module.Dataset.from_dict(columns),
        "grain": lambda: module.MapDataset.source(rows),
    }[library]()
    with pipeline(data, random_access=True, columns=["x", "n"], num_outputs=2) as pipe:
        assert taken(pipe, 3) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]


@pytest.mark.parametrize("made", [Squares, Forwards])
def test_elements_that_cannot_be_had(made):
    with pipeline(made(bad=(2,)), num_outputs=2) as pipe, pytest.raises(KeyError, match=r"no 2") as raised:
        pipe.run()
    assert isinstance(raised.value, jdali.OperatorError)
    assert f"{made.__name__}[2]" in str(raised.value)
    with pipeline(made(bad=(2,)), num_outputs=2, pipe_options={"on_error": "skip"}) as pipe:
        assert set(np.concatenate(taken(pipe, 3))) == set(range(10)) - {2}
        assert [skipped.index for skipped in pipe.errors] == [2]


class Broken(Squares):
    """Has a `__getitems__` that never works."""

    def __getitems__(self, indices):
        raise NotImplementedError("many at a time")


def test_what_fails_for_many_alone_is_said_once(caplog):
    with caplog.at_level(logging.WARNING, "jdali"), pipeline(Broken(), num_outputs=2) as pipe:
        assert taken(pipe, 2) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    (said,) = [record.getMessage() for record in caplog.records]
    assert (
        "__getitems__ of Broken fails, so its elements are asked for one by one: NotImplementedError" in said
    )


@pytest.mark.parametrize(
    ("source", "args", "words"),
    [
        (
            [(1, 2)] * 4,
            {"num_outputs": 3},
            r"list\[0\] gave 2 outputs, num_outputs is 3|tuple\[0\] gave 2 outputs",
        ),
        ([{"a": 1}] * 4, {"columns": ["a", "b"], "num_outputs": 2}, r"has no \['b'\], it has \['a'\]"),
        ([{"a": 1}] * 4, {}, "name the entries to take in columns"),
        ([], {}, "has no elements"),
        ({"a": [1]}, {}, "a dict of columns is for fn.readers.table"),
    ],
)
def test_what_is_refused(source, args, words):
    with pytest.raises((jdali.OperatorError, ValueError, TypeError), match=words):
        pipeline(source, random_access=True, **args).run()


# --- sources that are gone through ----------------------------------------------------------
def generated():
    yield from (np.float32([i]) for i in range(10))


@pytest.mark.parametrize("source", [generated, generated(), list(generated()), iter(list(generated()))])
def test_samples_that_fill_no_batch_are_told_of_once(source, caplog):
    cycle = "raise" if callable(source) or isinstance(source, list) else None
    with caplog.at_level(logging.WARNING, "jdali"), pipeline(source, batch=False, cycle=cycle) as pipe:
        for _ in range(2 if cycle else 1):
            assert len(taken(pipe, 2)) == 2
            with pytest.raises(StopIteration):
                pipe.run()
            pipe.reset()
    told = [record.getMessage() for record in caplog.records if "fill no batch" in record.getMessage()]
    assert len(told) == 1
    assert "its last 2 of 10 samples" in told[0]
    assert "random_access=True" in told[0]


@pytest.mark.parametrize("batch", [True, False])
def test_a_second_epoch_of_what_is_at_its_end(batch):
    def items():
        for i in range(2 if batch else 8):
            yield [np.float32([i])] * 4 if batch else np.float32([i])

    with pipeline(items(), batch=batch) as pipe:
        assert len(taken(pipe, 2)) == 2
        for _ in range(2):
            with pytest.raises(StopIteration):
                pipe.run()
        pipe.reset()
        with pytest.raises(
            RuntimeError, match="the generator is at its end, and cannot begin again for epoch 1"
        ):
            pipe.run()


def test_an_index_error_ends_the_epoch():
    class Short:
        def __getitem__(self, index):
            if index >= 3:
                raise IndexError(index)
            return [np.float32([index])] * 2

    with pipeline(Short(), batch_size=2, cycle="raise") as pipe:
        for _ in range(2):
            assert taken(pipe, 3) == [[0, 0], [1, 1], [2, 2]]
            with pytest.raises(StopIteration):
                pipe.run()
            pipe.reset()
