"""Running operators over the same samples in many ways, and reading off what became of each sample.

A `Row` is one operator with COUNT samples that differ in size. `run` puts rows into one pipeline, each on sources of
its own that give samples by number, and returns the outputs by epoch and position. The second epoch goes through the
samples backwards, so that they meet padded shapes with another history. All that is said of bits is said by comparing
such results.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

import jdali
import jdali.dynamic as jd
from jdali import fn, types
from jdali._numerics.narrow import narrowed as narrowed_type
from jdali._numerics.random import sample_key, seed_words
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.dynamic._invoke import invoke
from jdali.graph import DataNode, call_operator
from jdali.iterator import DataIterator

COUNT = 8
EPOCHS = 2
SEED = 11

Outputs = list[np.ndarray]


class Results(dict[tuple[int, int], Outputs]):
    """Outputs of one row by epoch and position in the epoch; `layouts` of the outputs."""

    layouts: Sequence[str] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """One operator and its samples.

    Attributes:
        op: name of the operator.
        inputs: for each input its COUNT samples.
        layouts: of each input.
        args: arguments with one value.
        fed: for each argument given as a tensor its value in each sample.
        label: tells rows of one operator apart.
        call: makes the outputs of the nodes of the inputs, with the `fn` of jdali or DALI; None: the operator.
    """

    op: str
    inputs: Sequence[Sequence[np.ndarray]] = ()
    layouts: Sequence[str] = ()
    args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    fed: Mapping[str, Sequence[np.ndarray]] = dataclasses.field(default_factory=dict)
    label: str = ""
    call: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return self.op + ("-" + self.label if self.label else "")


def order(epoch: int) -> list[int]:
    """The samples in the order of an epoch."""
    return list(range(COUNT)) if epoch % 2 == 0 else list(reversed(range(COUNT)))


@dataclasses.dataclass(frozen=True)
class Saved:
    """A batch to go on from: a state, and its position in the first epoch."""

    state: Mapping[str, Any]
    position: int


class Sources:
    """Makes the sources of a pipeline: each gives the same positions in the same batch."""

    def __init__(self, batch_size: int, begin: Saved | None = None):
        self._batch_size = batch_size
        # The state counts batches, perhaps of another size: position = iteration * batch size + shift.
        self._shift = begin.position - begin.state["iteration"] * batch_size if begin is not None else 0

    def node(self, samples: Sequence[np.ndarray], layout: str = "") -> DataNode:
        def batch(info: Any) -> list[np.ndarray]:
            first = info.iteration * self._batch_size + (self._shift if info.epoch_idx == 0 else 0)
            if first >= COUNT:
                raise StopIteration
            return [samples[i] for i in order(info.epoch_idx)[first : first + self._batch_size]]

        return fn.external_source(batch, batch_info=True, layout=layout or None)

    def operands(self, row: Row) -> tuple[list[DataNode], dict[str, DataNode]]:
        inputs = [self.node(s, name) for s, name in zip(row.inputs, row.layouts, strict=True)]
        return inputs, {name: self.node(values) for name, values in row.fed.items()}


def apply(row: Row, inputs: Sequence[DataNode], fed: Mapping[str, DataNode]) -> list[DataNode]:
    """The outputs of a row's operator on these nodes."""
    if row.call is not None:
        out = row.call(fn, *inputs, **row.args, **fed)
    else:
        op = REGISTRY[row.op]
        # A seed of its own makes the values independent of where in the graph the operator stands.
        out = call_operator(op, inputs, {**row.args, **fed}, seed=SEED if op.random else None)
    return list(out) if isinstance(out, (tuple, list)) else [out]


def run(
    rows: Sequence[Row],
    batch_size: int,
    *,
    save_at: int | None = None,
    begin: Saved | None = None,
    **options: Any,
) -> tuple[list[Results], Saved | None]:
    """EPOCHS epochs of one pipeline of all rows.

    Args:
        rows: the operators.
        batch_size: of the pipeline.
        save_at: position in the first epoch at which to take a state.
        begin: go on from there, in this fresh pipeline.
        options: of `Pipeline`.

    Returns: results of each row; and what was saved at `save_at`.
    """
    pipe, counts = _pipeline(rows, batch_size, begin, options)
    return _results(pipe, counts, save_at, begin)


def _pipeline(
    rows: Sequence[Row], batch_size: int, begin: Saved | None, options: Mapping[str, Any]
) -> tuple[jdali.Pipeline, list[int]]:
    """A pipeline of all rows, and how many outputs each has."""
    sources = Sources(batch_size, begin)
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=1, seed=SEED, **options)
    with pipe:
        made = [apply(row, *sources.operands(row)) for row in rows]
        pipe.set_outputs(*(node for nodes in made for node in nodes))
    return pipe, [len(nodes) for nodes in made]


def _results(
    pipe: Any, counts: Sequence[int], save_at: int | None, begin: Saved | None
) -> tuple[list[Results], Saved | None]:
    results = [Results() for _ in counts]
    saved, position = None, 0
    with pipe:
        if begin is not None:
            pipe.set_state(begin.state)
            position = begin.position
        for epoch in range(EPOCHS):
            for outputs in pipe:
                rest = iter(outputs)
                for result, count in zip(results, counts, strict=True):
                    mine = [next(rest) for _ in range(count)]
                    result.layouts = [out.layout() for out in mine]
                    for i, one in enumerate(zip(*(out.to_samples() for out in mine), strict=True)):
                        result[epoch, position + i] = [np.asarray(value) for value in one]
                position += len(outputs[0])
                if epoch == 0 and position == save_at:
                    saved = Saved(pipe.get_state(), position)
            pipe.reset()
            position = 0
    return results, saved


def through_iterator(
    rows: Sequence[Row], batch_size: int, *, begin: Saved | None = None, **options: Any
) -> tuple[list[Results], list[Saved]]:
    """As `run`, through a `DataIterator`, whose values have 32 bits at most.

    Args:
        rows: the operators.
        batch_size: of the pipeline.
        begin: go on from there.
        options: of `Pipeline`.

    Returns: results of each row; and the states of the iterator after each batch of the first epoch.
    """
    pipe, counts = _pipeline(rows, batch_size, None, options)
    names = [[f"{row}:{output}" for output in range(count)] for row, count in enumerate(counts)]
    results, states = [Results() for _ in rows], []
    with DataIterator(pipe, [*itertools.chain(*names)], ragged="pad", auto_reset=True) as batches:
        position = 0
        if begin is not None:
            batches.set_state(begin.state)
            position = begin.position
        for epoch in range(EPOCHS):
            for batch in batches.as_numpy_iterator():
                for result, mine in zip(results, names, strict=True):
                    outputs = zip(*(_cut(batch, name) for name in mine), strict=True)
                    result.update({(epoch, position + i): list(one) for i, one in enumerate(outputs)})
                assert np.all(batch.get("mask", True))
                position += len(batch[names[0][0]])
                if epoch == 0:
                    states.append(Saved(batches.get_state(), position))
            position = 0
    return results, states


def narrowed(results: Results) -> Results:
    """What an iterator makes of them: 32 bits at most."""
    return Results(
        {
            position: [value.astype(narrowed_type(value.dtype)) for value in outputs]
            for position, outputs in results.items()
        }
    )


def _cut(batch: Mapping[str, np.ndarray], name: str) -> list[np.ndarray]:
    """The samples of an output without their padding."""
    if f"{name}_extent" not in batch:
        return list(batch[name])
    extents = batch[f"{name}_extent"].tolist()
    return [v[(*map(slice, size),)] for v, size in zip(batch[name], extents, strict=True)]


def in_branches(
    rows: Sequence[Row], likes: Sequence[Results], holds: Sequence[bool], batch_size: int
) -> list[Results]:
    """As `run`, each row in the branch of an `if` that takes the samples for which `holds`.

    Args:
        rows: the operators; only their first outputs are returned.
        likes: results of each row; samples that do not take the branch are zeros of that type and layout.
        holds: for each sample.
        batch_size: of the pipeline.
    """
    sources = Sources(batch_size)

    @jdali.pipeline_def(batch_size=batch_size, num_threads=1, seed=SEED, enable_conditionals=True)
    def conditional() -> Any:
        condition = sources.node([np.bool_(value) for value in holds])
        outputs = []
        for row, like in zip(rows, likes, strict=True):
            inputs, fed = sources.operands(row)
            if condition:
                out = apply(row, inputs, fed)[0]
            else:
                zeros = np.zeros((1,) * like[0, 0][0].ndim, like[0, 0][0].dtype)
                out = types.Constant(zeros, types.to_dali_type(zeros.dtype), layout=like.layouts[0])
            outputs.append(out)
        return tuple(outputs)

    return _results(conditional(), [1] * len(rows), None, None)[0]


def in_dynamic_mode(row: Row, count: int) -> list[Outputs]:
    """Outputs of the first `count` samples, as one batch."""
    inputs = [
        jd.as_batch(list(s[:count]), layout=name or None)
        for s, name in zip(row.inputs, row.layouts, strict=True)
    ]
    fed = {name: jd.as_batch(list(values[:count])) for name, values in row.fed.items()}
    size = None if inputs or fed else count
    out = invoke(REGISTRY[row.op], inputs, {**row.args, **fed}, batch_size=size)
    outs = out if isinstance(out, tuple) else (out,)
    return [[np.asarray(o.tensors[i]) for o in outs] for i in range(count)]


def purely(row: Row, position: int) -> Outputs:
    """Outputs of the pure function for the sample at a position of the first epoch."""
    op, index = REGISTRY[row.op], order(0)[position]
    args = {**row.args, **{name: values[index] for name, values in row.fed.items()}}
    inputs = [s[index] for s in row.inputs]

    def function(epoch: Any, number: Any) -> Any:
        key = sample_key(seed_words(SEED), 0, epoch, number) if op.random else None
        return pure_call(op, inputs, args, key=key, layout=list(row.layouts))

    with jax.enable_x64(True):
        out = jax.jit(function)(np.uint32(0), np.uint32(position))
    return [np.asarray(o) for o in (out if isinstance(out, tuple) else (out,))]


def largest_difference(got: Outputs, want: Outputs, what: str) -> float:
    """Of the values of a sample, 0 if they have the same bits, relative to the largest of float outputs."""
    assert len(got) == len(want), what
    worst = 0.0
    for o, (g, w) in enumerate(zip(got, want, strict=True)):
        form, expected = (f"{value.dtype} {value.shape}" for value in (g, w))
        assert form == expected, f"{what}, output {o}: {form}, expected {expected}"
        if g.tobytes() == w.tobytes():
            continue
        g, w = g.astype(np.float64), w.astype(np.float64)
        np.testing.assert_array_equal(np.isnan(g), np.isnan(w), err_msg=what)
        scale = float(np.nanmax(np.abs(w), initial=1)) if got[o].dtype.kind == "f" else 1.0
        worst = max(worst, float(np.nanmax(np.abs(g - w), initial=0)) / scale)
    return worst
