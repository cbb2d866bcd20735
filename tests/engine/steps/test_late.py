"""Samples that are made when a stage asks for them: the same outputs and errors, and never all in memory."""

import gc
import weakref

import numpy as np
import pytest
from engine.identities import sample_ids
from support.nodes import batch, node_of, rows, source_node

from jdali._batches import BatchSpec, PaddedBlock, Store
from jdali._errors import SampleError
from jdali._operators.record import REGISTRY, HostOutputs, Probed, Workers, host_batch_operator
from jdali._system.devices import host_device
from jdali.engine.failure import NodeFailure
from jdali.engine.steps import late
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.stage import run_with_late
from jdali.engine.steps.values import Values
from jdali.engine.workers import Pool
from jdali.graph import Graph, HostStep, step_of
from jdali.tensors import TensorList

BAD, SHRUNK = 77, 78
SIZE = 64


def probe(encoded):
    """A sample's first byte is its value, the second one its height."""
    sizes = np.array([[sample[1], SIZE, 1] for sample in encoded], np.int64)
    return Probed(sizes, np.dtype(np.uint8), None, {})


def setup(pictures: BatchSpec) -> BatchSpec:
    return pictures.replace(layout="HWC")


class Decoder:
    """An operator whose pictures are of one value each; it notes how many are made together, and which are alive."""

    def __init__(self):
        self.calls, self.alive, self.most_alive = [], 0, 0
        noted = self

        def decode(encoded, /, *, workers: Workers) -> HostOutputs:
            noted.calls.append(len(encoded))

            def one(i):
                value, height = (int(n) for n in encoded[i][:2])
                if value == BAD:
                    raise SampleError("a bad one")
                made = np.full((height - (value == SHRUNK), SIZE, 1), value, np.uint8)
                return noted.watched(made)

            results, failures = workers.each(one, len(encoded))
            return HostOutputs.of_samples(results, failures, ("HWC",))

        self.op = host_batch_operator(name="test.late", setup=setup, probe=probe)(decode)

    def watched(self, array):
        self.alive += 1
        self.most_alive = max(self.most_alive, self.alive)
        weakref.finalize(array, self._gone)
        return array

    def _gone(self):
        self.alive -= 1


@pytest.fixture
def decoder(monkeypatch):
    monkeypatch.setattr("jdali.engine.steps.host_batch_op.LEAST_BYTES", 1 << 12)
    yield Decoder()
    del REGISTRY["test.late"]


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


def run(encoded, pool, *, may_be_late=True, operator="flip", **args):
    """Runs the decoder and a stage behind it; returns the samples of the stage."""
    graph = Graph()
    (data,) = source_node(graph).outputs
    decoding = node_of(graph, "test.late", data)
    node = node_of(graph, operator, decoding.outputs[0], **(args or {"horizontal": 1}))
    options = {"seed": 1, "device": host_device(), "max_batch": len(encoded), "budget": ProgramBudget()}
    first = runner_of(HostStep(decoding, 0, may_be_late=may_be_late), **options)
    stage = runner_of(step_of(node), exact_shapes=True, **options)  # a sample a call
    env = Values({data: batch(*encoded)})
    first.run(env, sample_ids(len(encoded)), pool)
    is_late = decoding.outputs[0] in env.late
    stage.run(env, sample_ids(len(encoded)), pool)
    env.drop([decoding.outputs[0]])
    assert not env.late
    return env[node.outputs[0]], is_late


def files(*values, height=SIZE):
    return [np.array([value, height, 0], np.uint8) for value in values]


def test_samples_are_those_that_are_made_at_once(decoder, pool):
    encoded = [np.array([i, 20 + 5 * i], np.uint8) for i in range(6)]
    expected, is_late = run(encoded, pool, may_be_late=False)
    assert not is_late
    assert decoder.calls == [6]
    found, is_late = run(encoded, pool)
    assert is_late
    assert sum(decoder.calls[1:]) == 6  # each is made once
    assert rows(found) == rows(expected)
    assert found.layout() == expected.layout()


def test_never_all_are_alive(decoder, pool):
    encoded = files(*range(12))
    run(encoded, pool, may_be_late=False)
    assert decoder.most_alive == 12
    gc.collect()
    decoder.most_alive = 0
    run(encoded, pool)
    assert decoder.most_alive <= 3


def test_small_batches_several_threads_and_single_samples_are_made_at_once(decoder, pool):
    assert not run(files(1, 2, height=1), pool)[1]
    assert not run(files(1), pool)[1]
    several = Pool(2)
    try:
        assert not run(files(1, 2, 3), several)[1]
    finally:
        several.close()
    assert run(files(1, 2, 3), pool)[1]


def test_all_samples_that_fail_are_told_and_by_their_own_step(decoder, pool):
    with pytest.raises(NodeFailure) as caught:
        run(files(1, BAD, 3, BAD), pool)
    assert caught.value.user_error(None).operator == "test.late"
    assert set(caught.value.failures) == {1, 3}
    assert caught.value.is_of_samples


def test_a_sample_that_is_not_of_the_size_that_its_header_says(decoder, pool):
    found, is_late = run(files(1, SHRUNK, 3), pool)
    assert is_late
    assert found.shape() == [(64, 64, 1), (63, 64, 1), (64, 64, 1)]


def test_a_failure_of_the_stage_itself_makes_nothing(decoder, pool):
    with pytest.raises(NodeFailure) as caught:
        run([*files(1, 2), *files(3, height=30)], pool, operator="crop", crop=(40, 40))
    assert caught.value.user_error(None).operator == "crop"
    assert set(caught.value.failures) == {2}
    assert not decoder.calls


def test_only_the_rows_that_are_asked_for_are_made():
    asked = []

    def some(wanted):
        asked.append(wanted.tolist())
        return batch(*[np.full((2, 2), row, np.uint8) for row in wanted.tolist()]).store

    spec = BatchSpec(np.full((4, 2), 2), np.dtype(np.uint8), "")
    store = late.LateSamples(spec, some, lambda: None).store
    assert store.select(np.array([3, 1])).host_samples()[0].tolist() == [[3, 3], [3, 3]]
    assert asked == [[3, 1]]
    assert store.blocks[0].nbytes == 0


def test_samples_of_padded_arrays_come_without_padding():
    def some(wanted):
        padded = np.full((len(wanted), 5, 6), 9, np.uint8)
        return Store.of_block(PaddedBlock(padded), spec.replace(extents=spec.extents[wanted]))

    spec = BatchSpec(np.array([[2, 3], [4, 1], [5, 6]]), np.dtype(np.uint8), "")
    samples = late.LateSamples(spec, some, lambda: None).store.blocks[0].host_samples(np.array([1, 0, 2]))
    assert [sample.shape for sample in samples] == [(4, 1), (2, 3), (5, 6)]


def test_a_stage_that_fails_by_itself_is_not_run_again():
    runs = []

    def fails():
        runs.append(1)
        raise NodeFailure.of(data.source, ValueError("of the stage"))

    (data,) = source_node(Graph()).outputs
    env = Values({data: batch(np.zeros(1))})
    spec = env[data].spec
    env.late[data] = late.LateSamples(spec, lambda rows: Store.empty(spec), lambda: None)
    with pytest.raises(NodeFailure, match="of the stage"):
        run_with_late([data], env, fails)
    assert len(runs) == 1


def test_a_sample_of_another_size_has_the_stage_run_again_whatever_it_raises():
    """Where samples are copied, what their maker raises is no failure of an operator yet."""
    runs = []

    def all_at_once():
        env[data] = batch(np.ones(2))

    def run():
        runs.append(env[data].to_samples()[0].tolist())

    (data,) = source_node(Graph()).outputs
    spec = BatchSpec(np.array([[2]]), np.dtype(np.float64))
    other = Store.of_block(PaddedBlock(np.zeros((1, 3))), spec.replace(extents=np.array([[3]])))
    samples = late.LateSamples(spec, lambda rows: other, all_at_once)
    env = Values({data: TensorList.from_store(samples.store, "cpu", None)})
    env.late[data] = samples
    run_with_late([data], env, run)
    assert runs == [[1.0, 1.0]]
