"""The loop over steps: order, samples of branches, memory, time, turns of brief work, the end of values, failures."""

import contextlib
import threading

import pytest
from engine.identities import sample_ids
from support.faults import PATIENCE
from support.nodes import batch, node_of, rows, source_node

from jdali import SampleError
from jdali._batches import SlabPool, empty
from jdali._threads import PhaseTimer
from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedStep, make, user_error
from jdali.engine.steps.values import Values
from jdali.engine.workers import Pool, ThreadPolicy
from jdali.graph import WHOLE_BATCH, Domain, Graph

PREDICATE = [False, True, True]


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


class Chain:
    """Two operators after a source, each of which adds 1; the second reads what the first made."""

    def __init__(self):
        graph = Graph()
        self.data = source_node(graph, "data").outputs[0]
        self.first = node_of(graph, "copy", self.data)
        self.second = node_of(graph, "copy", self.first.outputs[0])
        self.env, self.parts = Values({self.data: batch(1, 2)}), {WHOLE_BATCH: sample_ids(2)}
        self.held, self.log = [], []

    def make(self, pool, *, fails=None):
        steps = []
        for number, node in enumerate([self.first, self.second]):

            def run(env, ids, pool, node=node):
                self.log.append((node, [*self.held]))
                if node is fails:
                    raise NodeFailure.of(node, ValueError("no"))
                env[node.outputs[0]] = batch(*(row + 1 for row in rows(env[node.inputs[0]])))

            steps.append(PreparedStep((node,), run, last_uses=node.inputs, number=number))
        make(steps, self.env, self.parts, pool, turn=self._hold)

    @contextlib.contextmanager
    def _hold(self, step):
        self.held.append(step)
        yield
        self.held.remove(step)


def test_steps_run_in_order_and_values_end_with_their_last_use(pool):
    chain = Chain()
    chain.make(pool)
    assert chain.log == [(chain.first, [0]), (chain.second, [1])]
    assert rows(chain.env[chain.second.outputs[0]]) == [3, 4]
    assert list(chain.env) == [chain.second.outputs[0]]


def test_a_failure_knows_its_step_and_ends_the_batch(pool):
    chain = Chain()
    with pytest.raises(NodeFailure) as caught:
        chain.make(pool, fails=chain.first)
    assert caught.value.step == (chain.first,)
    assert [node for node, _ in chain.log] == [chain.first]
    assert list(chain.env) == [chain.data]


class Branch:
    """A step in a branch of a batch of three samples, and the calls of its runner."""

    def __init__(self, predicate):
        graph = Graph()
        condition, data = source_node(graph, "condition").outputs[0], source_node(graph, "data").outputs[0]
        graph.domain = self.domain = Domain(WHOLE_BATCH, condition)
        self.node = node_of(graph, "copy", data)
        self.env = Values({condition: batch(*predicate)})
        self.parts = {WHOLE_BATCH: sample_ids(3)}
        self.calls = []

    def run(self, pool, **options):
        step = PreparedStep([self.node], self.work, **options)
        make([step], self.env, self.parts, pool)

    def work(self, env, ids, pool):
        self.calls.append((ids.position.tolist(), pool.is_here))
        env[self.node.outputs[0]] = batch(*ids.position)


def test_a_step_gets_the_samples_of_its_branch(pool):
    step = Branch(PREDICATE)
    step.run(pool)
    assert step.calls == [([1, 2], False)]
    assert rows(step.env[step.node.outputs[0]]) == [1, 2]
    assert step.parts[step.domain].position.tolist() == [1, 2]


def test_without_samples_nothing_runs_unless_it_has_to(pool):
    step, timer = Branch([False] * 3), PhaseTimer("host", "copy")
    step.run(pool, timer=timer)
    assert step.calls == []
    assert len(step.env[step.node.outputs[0]]) == 0
    assert timer.spent().count == 0
    step.run(pool, runs_empty=True)
    assert step.calls == [([], False)]


def test_memory_is_leased_from_the_pool(pool, monkeypatch):
    leased = []
    lease = SlabPool.lease
    monkeypatch.setattr(SlabPool, "lease", lambda *args: leased.append(args[0]) or lease(*args))
    step = Branch(PREDICATE)
    step.work = lambda env, ids, pool: empty((1 << 20,), "u1")
    step.run(pool)
    assert leased == [pool.slabs]
    empty((1 << 20,), "u1")
    assert leased == [pool.slabs]  # not after the step


def test_the_time_of_a_run_is_counted_and_decides_if_the_next_is_brief(pool):
    step, timer, policy = Branch(PREDICATE), PhaseTimer("host", "copy"), ThreadPolicy(may_be_brief=True)
    noted = []
    policy.note_batch = lambda *times: noted.append(times)
    step.run(pool, timer=timer, policy=policy)
    policy.is_brief = True
    step.run(pool, timer=timer, policy=policy)
    assert step.calls == [([1, 2], False), ([1, 2], True)]
    assert [samples for samples, _, _ in noted] == [2, 2]
    spent = timer.spent()
    assert spent.count == 2
    assert sum(busy for _, _, busy in noted) == pytest.approx(spent.busy)
    assert sum(cpu for _, cpu, _ in noted) == pytest.approx(spent.cpu)


def test_brief_work_waits_for_its_turn_and_ends_with_the_pool(pool):
    step, policy, failures = Branch(PREDICATE), ThreadPolicy(may_be_brief=True), []
    policy.is_brief = True

    def run():
        with pytest.raises(RuntimeError, match="closed") as caught:
            step.run(pool, timer=PhaseTimer("host", "copy"), policy=policy)
        failures.append(caught.value)

    thread = threading.Thread(target=run)
    with pool.turns:
        thread.start()
        pool.interrupt()  # it waits, or will
    thread.join(PATIENCE)
    assert len(failures) == 1
    assert step.calls == []


def test_a_bad_condition_is_a_failure(pool):
    step = Branch([[1, 2]] * 3)
    with pytest.raises(NodeFailure):
        step.run(pool)
    assert step.calls == []


@pytest.mark.parametrize(("error", "position"), [(SampleError("bad", sample=1), 2), (KeyError("x"), None)])
def test_an_error_counts_samples_in_the_whole_batch(pool, error, position):
    step = Branch(PREDICATE)

    def fail(env, ids, pool):
        raise NodeFailure.of(step.node, error)

    step.work = fail
    with pytest.raises(NodeFailure) as caught:
        step.run(pool)
    assert user_error(caught.value, step.env, step.parts).sample == position
