"""A choice among several branches by an index: each sample takes one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import jdali
from jdali import fn
from jdali.graph.conditional import choose
from jdali.graph.fingerprints import describe

NUMBERS = np.arange(6, dtype=np.int32)
INDEX = np.array([2, 0, 1, 2, 2, 0], np.int32)


def pipeline(function: Any, **options: Any) -> jdali.Pipeline:
    """A pipeline over the numbers and the index."""

    @jdali.pipeline_def(batch_size=6, num_threads=1, enable_conditionals=True, **options)
    def define() -> Any:
        return function(*(fn.external_source(source=[v], cycle=True) for v in (NUMBERS, INDEX)))

    return define()


def values(function: Any, **options: Any) -> list[Any]:
    return pipeline(function, **options).run()[0].as_array().tolist()


def test_each_sample_takes_the_branch_of_its_index() -> None:
    found = values(lambda x, i: choose(i, [lambda: x, lambda: x + 100, lambda: x * x], "x"))
    assert found == [0, 1, 102, 9, 16, 5]


def test_a_branch_may_give_a_constant_and_choose_again() -> None:
    def function(x: Any, i: Any) -> Any:
        def again() -> Any:
            return choose(x % 2, [lambda: x, lambda: x - 10], "x")

        return choose(i, [lambda: 7, lambda: x, again], "x")

    assert values(function) == [0, 7, 2, -7, 4, 7]


def test_branches_may_give_structures() -> None:
    def function(x: Any, i: Any) -> Any:
        cases = [
            lambda: {"a": x, "b": (x, None)},
            lambda: {"a": 7, "b": (-x, None)},
            lambda: {"a": x, "b": (1, None)},
        ]
        chosen = choose(i, cases, "x")
        assert chosen["b"][1] is None
        return chosen["a"], chosen["b"][0]

    a, b = (output.as_array().tolist() for output in pipeline(function).run())
    assert (a, b) == ([0, 1, 7, 3, 4, 5], [1, 1, -2, 1, 1, 5])


def test_one_index_for_all_samples() -> None:
    for index in (1, np.int64(1)):
        assert values(lambda x, i, index=index: choose(index, [lambda: x, lambda: x + 1], "x")) == [
            1,
            2,
            3,
            4,
            5,
            6,
        ]


def test_in_a_branch_of_a_conditional() -> None:
    def function(x: Any, i: Any) -> Any:
        if x > 1:
            x = choose(i, [lambda: x, lambda: x + 100, lambda: x * x], "x")
        return x

    assert values(function) == [0, 1, 102, 9, 16, 5]


def test_an_index_is_no_truth_value() -> None:
    """Branch 1 of a choice and the `if` branch of a conditional on the same value are not the same samples."""

    def function(x: Any, i: Any) -> Any:
        chosen = choose(i, [lambda: x, lambda: x + 100, lambda: x], "x")
        if i:
            chosen = chosen + 1000
        return chosen

    assert values(function) == [1000, 1, 1102, 1003, 1004, 5]


def test_random_values_of_a_sample_do_not_depend_on_who_else_took_its_branch() -> None:
    def function(x: Any, i: Any) -> Any:
        return choose(i, [lambda k=k: fn.random.uniform(range=(k, k + 1)) for k in range(3)], "x")

    whole = values(lambda x, i: function(x, i * 1 + 0), seed=5)
    alone = values(lambda x, i: function(x, i * 0 + 2), seed=5)
    assert [int(v) for v in whole] == INDEX.tolist()
    assert [v for v, i in zip(alone, INDEX, strict=True) if i == 2] == [v for v in whole if v >= 2]


def test_values_must_not_leave_their_branch() -> None:
    def function(x: Any, i: Any) -> Any:
        kept = []
        choose(i, [lambda: kept.append(x + 1) or x, lambda: x], "x")
        return kept[0] + 1

    with pytest.raises(RuntimeError, match="made in one branch"):
        pipeline(function)


def test_results_must_be_on_one_device_and_be_batches() -> None:
    with pytest.raises(RuntimeError, match=r"call .gpu\(\) in both"):
        pipeline(lambda x, i: choose(i, [lambda: x, lambda: x.gpu()], "x"))
    with pytest.raises(ValueError, match="the same structure.* from case 0 and None from case 1"):
        pipeline(lambda x, i: choose(i, [lambda: x, lambda: None], "x"))


def test_the_index_must_be_a_number_and_there_must_be_a_pipeline() -> None:
    with pytest.raises(RuntimeError, match="choice: the index must be a scalar"):
        values(lambda x, i: choose(fn.stack(i, i), [lambda: x, lambda: x], "x"))
    node = fn.external_source(source=[NUMBERS], cycle=True)
    with pytest.raises(RuntimeError, match="x: called outside of a pipeline definition"):
        choose(node, [lambda: node], "x")


def test_branches_that_are_alike_share_their_programs() -> None:
    def function(x: Any, i: Any) -> Any:
        image = fn.reshape(fn.cast(x, dtype=jdali.types.UINT8), shape=[1, 1, 1], layout="HWC")
        for _ in range(2):
            cases = [lambda z: fn.brightness(z, brightness=2.0), lambda z: ~z, lambda z: z]
            image = choose(i, [functools.partial(case, image) for case in cases], "image")
        return image

    pipe = pipeline(function)
    (found,) = pipe.run()
    assert [int(np.asarray(found.at(k))[0, 0, 0]) for k in range(6)] == [0, 4, 2, 3, 4, 20]
    # One for the cast and reshape, one each for the two operators, which stand in two branches.
    assert pipe.executor_statistics()["programs"] == 3


def test_a_fingerprint_tells_branches_apart() -> None:
    def entries(first: int, second: int) -> Any:
        def function(x: Any, i: Any) -> Any:
            return choose(i, [lambda: x + first, lambda: x + second, lambda: x], "x")

        return describe(pipeline(function).graph.nodes, {})

    assert entries(1, 2) == entries(1, 2)
    assert entries(1, 2) != entries(2, 1)
    branches = {entry[1] for entry in entries(1, 1) if entry[0] == "_conditional.split"}
    assert len(branches) == 3


def test_branches_that_differ_in_a_constant_share_nothing() -> None:
    def function(x: Any, i: Any) -> Any:
        first = choose(i, [lambda: x + 1, lambda: x + 2, lambda: x], "x")
        return choose(i, [lambda: first * 3, lambda: first * 3, lambda: first], "x")

    pipe = pipeline(function)
    assert pipe.run()[0].as_array().tolist() == [0, 6, 12, 3, 4, 18]
    # + 1, + 2, and * 3, which stands twice.
    assert pipe.executor_statistics()["programs"] == 3
