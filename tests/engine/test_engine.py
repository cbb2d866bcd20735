"""Batches of an engine without threads: drawing and making, with samples that fail."""

import contextlib
import functools
import threading

import jax
import numpy as np
import pytest
from support.faults import PATIENCE, in_thread
from support.nodes import engine_of, node_of, rows, source_node
from support.numbers import NumberReader

import jdali
from jdali import OperatorError, fn
from jdali._operators.record import REGISTRY
from jdali._workers import answering_in
from jdali.engine import Engine, EngineOptions
from jdali.engine.executors.elsewhere import SentTask
from jdali.graph import Graph, make_plan


def numbers(result):
    (output,) = result.outputs
    return [number for (number,) in rows(output)]


def test_batches_follow_each_other_and_states_bring_them_back():
    engine = engine_of(NumberReader(7))
    first, second = engine.make(engine.draw()), engine.make(engine.draw())
    assert (numbers(first), numbers(second)) == ([0, 1, 2], [3, 4, 5])
    assert (first.nbytes, first.most_bytes) == (24, 24)  # three int64
    assert second.ids.index.tolist() == [3, 4, 5]
    engine.set_state({**first.state, "seed": 8})
    assert numbers(engine.make(engine.draw())) == [3, 4, 5]
    assert engine.get_state()["seed"] == 8
    engine.close()


def test_an_error_names_sample_file_and_line():
    engine = engine_of(NumberReader(7, bad=(4,)))
    engine.make(engine.draw())
    with pytest.raises(OperatorError, match=r"external_source: .*number 4 is bad") as caught:
        engine.make(engine.draw())
    assert (caught.value.sample, caught.value.source, caught.value.where) == (1, "number 4", "file.py:1")
    engine.close()


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_others_stand_in_for_samples_that_fail(on_error):
    engine = engine_of(NumberReader(7, bad=(1, 2)), on_error=on_error)
    second, first = (engine.make(task) for task in reversed([engine.draw(), engine.draw()]))
    assert numbers(first)[0] == 0
    assert set(numbers(first)) <= {0, 3, 4, 5, 6}
    assert first.mask.tolist() == [True, False, False]
    assert (numbers(second), second.mask.tolist()) == ([3, 4, 5], [True] * 3)
    assert [(s.path, s.index) for s in first.skipped] == [("number 1", 1), ("number 2", 2)]
    assert second.skipped == ()
    assert not first.padded.any()
    engine.close()


def test_a_batch_is_made_of_its_task_in_any_order_and_as_often_as_wanted():
    engine = engine_of(NumberReader(9, shuffle=True))
    tasks = [engine.draw() for _ in range(3)]
    expected = [task.refs["source"].indices.tolist() for task in tasks]
    for order in ([2, 0, 1], [1, 1, 2]):
        assert [numbers(engine.make(tasks[i])) for i in order] == [expected[i] for i in order]
    assert engine.get_state()["iteration"] == 3
    engine.close()


def test_a_batch_is_made_while_another_one_is():
    second_is_read = threading.Event()

    def read(index):
        if index == 3:
            second_is_read.set()

    def function(value):
        assert second_is_read.wait(PATIENCE)
        return value

    def after(graph, value):
        return node_of(graph, "python_function", value, function=function).outputs[0]

    engine = engine_of(NumberReader(9, delay=read), after=after)
    tasks = [engine.draw() for _ in range(2)]
    first, second = (in_thread(functools.partial(engine.make, task)) for task in tasks)
    assert [numbers(result()) for result in (second, first)] == [[3, 4, 5], [0, 1, 2]]
    engine.close()


def test_a_step_is_entered_in_the_turn_of_the_flow():
    engine, entered = engine_of(NumberReader(9)), []

    @contextlib.contextmanager
    def turn(step):
        entered.append(step)
        yield

    engine.make(engine.draw(), turn=turn)
    assert entered == list(range(len(engine.plan.steps)))
    engine.close()


def test_errors_of_the_code_are_raised_whatever_on_error_says():
    class Broken(NumberReader):
        def load(self, index):
            raise KeyError("a bug")

    engine = engine_of(Broken(7), on_error="skip")
    with pytest.raises(OperatorError, match="a bug"):
        engine.make(engine.draw())
    engine.close()


def test_nothing_runs_once_it_is_closed():
    engine = engine_of(NumberReader(7))
    drawn = engine.draw()
    engine.interrupt()
    with pytest.raises(RuntimeError, match="the pipeline is closed"):
        engine.make(drawn)
    engine.close()


def test_a_search_makes_each_sample_alone_what_needs_no_program_first():
    seen = []

    def noting(word):
        def note(value):
            seen.append((word, int(value)))
            return value

        return note

    @jdali.pipeline_def(batch_size=3, num_threads=1, seed=1)
    def define():
        numbers = fn.external_source(source=lambda: np.arange(3, dtype=np.int32), batch=True)
        before = fn.python_function(numbers, function=noting("before"))
        return fn.python_function(before + 10, function=noting("behind"))

    with contextlib.closing(define()) as pipe:
        pipe.build()
        engine = pipe.internals().engine
        task = engine.draw()
        seen.clear()
        with answering_in(None, lambda position: seen.append(("reached", position))):
            result = engine.make_sent(SentTask(task, 1, is_search=True))
    assert result.result == ()
    first = [[("reached", i), ("before", i)] for i in range(3)]
    second = [[("reached", i), ("before", i), ("behind", i + 10)] for i in range(3)]
    assert seen == [step for steps in first + second for step in steps]


def test_no_worker_is_started_for_a_plan_that_cannot_run():
    graph, started = Graph(), []
    source = source_node(graph)
    bad = {"dtype": "no"}
    node = graph.add(REGISTRY["resize"], source.outputs, bad, device="gpu", where="file.py:2")
    options = EngineOptions(2, 1, 0, 1, dict(zip(["cpu", "gpu"], jax.devices("cpu"), strict=False)))
    plan = make_plan(graph.nodes, node.outputs, one_device=False)
    with pytest.raises(TypeError, match="dtype"):
        Engine(
            plan,
            options,
            sources={source: NumberReader(3)},
            start_workers=lambda *known: started.append(known),
        )
    assert not started
