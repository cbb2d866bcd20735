"""A function traced as a graph and run on batches: its structure, branches, and errors."""

import numpy as np
import pytest
from support.nodes import batch, rows

from jdali import OperatorError, fn
from jdali._batches import Provenance
from jdali._system.devices import host_device
from jdali.engine.eager.call import RandomDraw
from jdali.engine.eager.graph import EagerGraph, GraphKey, InputKind
from jdali.engine.workers.pool import Pool
from jdali.tensors import TensorList


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


def graph_of(define, *kinds):
    return EagerGraph(GraphKey(define, kinds, 2, host_device()))


def test_the_result_has_the_structure_of_the_function(pool):
    graph = graph_of(
        lambda a, b: {"copy": fn.copy(a), "both": (b, "a word")},
        InputKind("cpu", "", 1),
        InputKind("cpu", "HW", 2),
    )
    first, second = batch([1, 2], [3]), batch([[4]], [[5, 6]], layout="HW")
    result = graph.run([first, second], 2, RandomDraw(1, 0), pool)
    assert rows(result["copy"]) == [[1, 2], [3]]
    value, word = result["both"]
    assert (value, word) == (second, "a word")


def test_samples_of_a_call_follow_each_other_anew(pool):
    graph = graph_of(lambda a: fn.permute_batch(a, indices=[1, 0]), InputKind("cpu", "", 0))
    for numbers in ((1, 2), (3, 4)):
        result = graph.run([batch(*numbers)], 2, RandomDraw(1, 0), pool)
        assert rows(result) == list(reversed(numbers))


def test_an_error_names_operator_and_sample(pool):
    graph = graph_of(lambda a: fn.crop(a, crop=(5, 5)), InputKind("cpu", "HWC", 3))
    images = [np.zeros((9, 9, 1), np.uint8), np.zeros((2, 9, 1), np.uint8)]
    with pytest.raises(OperatorError, match="crop: ") as caught:
        graph.run([batch(*images, layout="HWC")], 2, RandomDraw(1, 0), pool)
    assert (caught.value.sample, caught.value.source) == (1, "")


def test_an_error_names_the_file(pool):
    graph = graph_of(lambda a: fn.crop(a, crop=(5, 5)), InputKind("cpu", "HWC", 3))
    images = batch(np.zeros((9, 9, 1), np.uint8), np.zeros((2, 9, 1), np.uint8), layout="HWC")
    images = TensorList.from_store(images.store, "cpu", Provenance.named(["a.jpg", "b.jpg"]))
    with pytest.raises(OperatorError, match=r"file b\.jpg") as caught:
        graph.run([images], 2, RandomDraw(1, 0), pool)
    assert caught.value.source == "b.jpg"
