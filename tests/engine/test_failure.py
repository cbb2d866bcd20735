"""Errors of compiled programs and of values checked before them name operator, sample and the user's line."""

from __future__ import annotations

import inspect
import signal

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from support import oracle, refusals
from support.nodes import node_of, source_node

import jdali
import jdali.dynamic as jd
from jdali import OperatorError, SampleError, fn
from jdali._batches import Provenance
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.steps.program import Program
from jdali.engine.steps.program_table import Compiled
from jdali.engine.steps.sharded import Spread
from jdali.engine.steps.stage import StageRunner
from jdali.graph import Graph
from jdali.iterator import DataIterator

IMAGE = np.full((4, 4, 3), 9, np.uint8)


def images(i=0):
    return [IMAGE, IMAGE]


def pipeline(define, **options):
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, **options)
    with pipe:
        pipe.set_outputs(define())
    return pipe


def line_of(text):
    """This file's line that holds a text."""
    lines, start = inspect.getsourcelines(inspect.getmodule(line_of))
    (number,) = [i for i, line in enumerate(lines, start or 1) if text in line and "line_of" not in line]
    return f"{__file__}:{number}"


def one_operator():
    return fn.random.uniform(range=(0.0, 3.0))  # the only one


def test_an_error_while_a_program_is_traced(monkeypatch):
    def refuse(*_):
        raise ValueError("it cannot be traced")

    monkeypatch.setattr("jdali.engine.steps.program.run_call", refuse)
    with pytest.raises(OperatorError, match=r"random\.uniform: ValueError: it cannot be traced") as caught:
        pipeline(one_operator).run()
    assert caught.value.operator == "random.uniform"
    assert caught.value.where == line_of("# the only one")
    assert isinstance(caught.value, ValueError)
    with pytest.raises(OperatorError, match=r"random\.uniform: ValueError: it cannot be traced"):
        jd.random.uniform(range=[0.0, 17.0])


def test_values_that_cannot_be_drawn_from_are_refused_before():
    with pytest.raises(OperatorError, match=r"random\.uniform: values is empty"):
        pipeline(lambda: fn.random.uniform(values=[])).run()
    with pytest.raises(OperatorError, match=r"random\.uniform: values is empty"):
        jd.random.uniform(values=[])


def two_operators():
    bright = fn.brightness(fn.external_source(images, layout="HWC"), brightness=2.0)  # first of two
    return fn.flip(bright, horizontal=1)  # second of two


def out_of_memory(*_):
    raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")


def check_names_both(caught):
    message = str(caught.value)
    assert message.startswith("brightness, flip: JaxRuntimeError: RESOURCE_EXHAUSTED: out of memory")
    assert line_of("# first of two") in message
    assert line_of("# second of two") in message
    assert isinstance(caught.value, jax.errors.JaxRuntimeError)


@pytest.mark.parametrize("ahead", [True, False])
def test_an_error_of_xla_names_the_operators_of_the_program(monkeypatch, ahead):
    monkeypatch.setattr(StageRunner, "_program", lambda *_: Program(Compiled(out_of_memory), 2, ()))
    pipe = pipeline(two_operators, exec_async=ahead)
    with pytest.raises(OperatorError) as caught:
        pipe.run()
    pipe.close()
    check_names_both(caught)


def test_an_error_of_xla_on_several_devices(monkeypatch):
    monkeypatch.setattr(Spread, "_program", lambda *_: Program(Compiled(out_of_memory), 2, ()))
    sharding = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("d",)), P("d"))
    with DataIterator(pipeline(two_operators), ["x"], sharding=sharding) as it:
        with pytest.raises(OperatorError) as caught:
            next(it)
        check_names_both(caught)


VALUES = {
    "probability": (lambda p: p.fn.noise.salt_and_pepper(data(p), prob=2.0), 0),
    "probability of a sample": (lambda p: p.fn.noise.salt_and_pepper(data(p), prob=fed(p, 0.5, 2.0)), 1),
    "negative": (lambda p: p.fn.noise.salt_and_pepper(data(p), prob=fed(p, 0.5, -1.0)), 1),
    "no number": (lambda p: p.fn.noise.salt_and_pepper(data(p), prob=fed(p, 0.5, np.nan)), 1),
    "salt": (lambda p: p.fn.noise.salt_and_pepper(data(p), salt_vs_pepper=fed(p, 0.5, 2.0)), 1),
    "empty range": (lambda p: p.fn.random.uniform(range=[1.0, 1.0]), 0),
    "reversed range": (lambda p: p.fn.random.uniform(range=fed(p, [0, 1], [2, 1])), 1),
    "alpha": (lambda p: p.fn.random.beta(alpha=fed(p, 1.0, -1.0)), 1),
    "chances": (lambda p: p.fn.random.choice(fed(p, [1, 2], [1, 2]), p=fed(p, [0.5, 0.5], [0.5, 0.9])), 1),
}


def data(package):
    return package.fn.external_source(images, layout="HWC")


def fed(package, *values):
    return package.fn.external_source(lambda i: [np.array(v, np.float32) for v in values])


@pytest.mark.oracle
@pytest.mark.parametrize(("define", "sample"), VALUES.values(), ids=VALUES)
def test_values_that_dali_refuses_name_their_sample(define, sample):
    def run(package):
        pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(define(package))
        (pipe.build(), pipe.run())

    refusals.check(RuntimeError, "", run, oracle.dali())
    with pytest.raises(RuntimeError) as caught:
        run(jdali)
    error = caught.value
    assert isinstance(error, OperatorError)
    assert error.sample == sample
    assert f"sample {sample} of the batch" in str(error)
    assert error.where.startswith(__file__)


class TestFailure:
    def test_samples_are_known_by_their_errors(self):
        node, error = source_node(), SampleError("bad", sample=3)
        of_sample, of_code = NodeFailure.of(node, error), NodeFailure.of(node, KeyError("x"))
        assert (of_sample.failures, of_sample.is_of_samples) == ({3: error}, True)
        assert (set(of_code.failures), of_code.is_of_samples) == ({None}, False)
        assert not NodeFailure(node, {0: error, 1: KeyError("x")}).is_of_samples

    def test_the_users_error_has_sample_file_and_line(self):
        failure = NodeFailure.of(source_node(), SampleError("bad", sample=3))
        made_of = Provenance.named(["a.jpg", "b.jpg", "c.jpg", "d.jpg"])
        error = failure.user_error(1, lambda node: made_of)
        assert (error.operator, error.sample, error.source, error.where) == (
            "external_source", 1, "d.jpg", "file.py:1",
        )  # fmt: skip
        assert (failure.user_error(1).source, failure.user_error(1, where="").where) == ("", "")

    def test_an_error_of_no_sample_names_no_file(self):
        failure = NodeFailure.of(source_node(), KeyError("x"))
        error = failure.user_error(None, lambda node: pytest.fail("inputs may not fit each other"))
        assert (failure.sample, error.sample, error.source) == (None, None, "")
        assert isinstance(error, KeyError)

    def test_exceptions_become_failures_of_one_node_or_of_a_program(self):
        graph = Graph()
        one = source_node(graph)
        other = node_of(graph, "flip", one.outputs[0])
        with pytest.raises(NodeFailure) as caught, failing_as([one]):
            raise SampleError("bad", sample=2)
        assert set(caught.value.failures) == {2}
        with pytest.raises(NodeFailure) as caught, failing_as([one, other]):
            raise SampleError("bad", sample=2)
        assert set(caught.value.failures) == {None}  # which operator it was is not known
        error = caught.value.user_error(None)
        assert error.operator == "external_source, flip"
        assert error.where == "file.py:1, file.py:2"

    def test_failures_and_the_end_of_a_source_pass(self):
        node = source_node()
        first = NodeFailure.of(node, KeyError("x"))
        with pytest.raises(NodeFailure) as caught, failing_as([source_node()]):
            raise first
        assert caught.value is first
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt), failing_as([node]):
                signal.raise_signal(signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, before)
