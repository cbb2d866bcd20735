"""Turns functions that call operators of `jdali.fn` into pure functions of one sample.

A function is traced as a graph, which is evaluated with arrays in place of batches. A conditional becomes
`lax.switch`, and a random operator draws from the caller's key.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numerics.exact import exact
from jdali._numerics.mesh_axes import over_any_mesh
from jdali._operators.pure import graph_call
from jdali._operators.random_key import no_key_of
from jdali._operators.record import CompiledOp, IndexOp
from jdali._system.devices import accelerator
from jdali._system.jax_internals import computed_now
from jdali._system.jax_modes import usual_modes
from jdali.engine.eager.traced import CallKey, ObjectCache, TracedFunction
from jdali.engine.function.running import minus_zero
from jdali.engine.steps.program import compiler_options
from jdali.graph import ConditionalPart, DataNode, Node, conditional_part, moves_only, upstream

IMAGE_AXES = 3
KEPT_FUNCTIONS = 256  # maximum number; the least recently used is dropped first
_CHOOSING = (ConditionalPart.JOIN, ConditionalPart.MERGE)


class Sample(NamedTuple):
    """Holds the array of one sample, and its layout ("" if it has none)."""

    array: Any
    layout: str


class SampleFunctionKey(NamedTuple):
    """Identifies a traced function by everything except the arrays."""

    call: CallKey
    axes: tuple[int, ...]
    name: str


@usual_modes()
def call_on_sample(
    function: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object], key: Array | None,
    name: str,
) -> Any:  # fmt: skip
    """Calls `function(*args, **kwargs)` for one sample; the function calls operators of `jdali.fn`.

    Args:
        function: takes and returns nodes, in any structure of containers.
        args: arrays in place of nodes; other arguments are constants.
        key: typed key that all random operators draw from; if None, random operators are refused.

    Raises:
        TypeError: an operator draws and there is no key.
        ValueError: an array has more axes than a picture, or an operator works on the host or on whole batches.
    """
    call, given = CallKey.of(function, args, kwargs, (Array, np.ndarray))
    arrays = [jnp.asarray(array) for array in given]
    for array in arrays:
        if array.ndim > IMAGE_AXES:
            raise ValueError(
                f"{name}: got an array of shape {list(array.shape)}; with a key it takes one image, [H, W, C]. Map it over "
                "a batch with jax.vmap and a key for each sample, over the frames of a video with one key for all"
            )
    return _kept(SampleFunctionKey(call, tuple(a.ndim for a in arrays), name))(arrays, key)


class SampleFunction:
    """A function traced as a graph, to be evaluated for one sample."""

    def __init__(self, definition: SampleFunctionKey):
        self._name = definition.name
        self._function = TracedFunction(definition.call, ["cpu"] * len(definition.axes))
        self._layouts = ["HWC" if axes == IMAGE_AXES else "" for axes in definition.axes]
        platform = accelerator().platform
        self._run = over_any_mesh(_rounded(self._evaluate, platform))
        options = compiler_options(
            platform, [n.op for n in self._function.graph.nodes if isinstance(n.op, CompiledOp)]
        )
        self._compiled = jax.jit(self._run, compiler_options=options)

    def __call__(self, arrays: Sequence[Array], key: Array | None) -> Any:
        operands = [*arrays, *([] if key is None else [key])]
        traced = any(isinstance(v, jax.core.Tracer) for v in operands)
        with contextlib.nullcontext() if traced else computed_now():
            results = (self._run if traced else self._compiled)(list(arrays), key)
        return self._function.result(results)

    def _evaluate(self, arrays: Sequence[Array], key: Array | None) -> list[Array]:
        samples = [Sample(array, layout) for array, layout in zip(arrays, self._layouts, strict=True)]
        values = dict(zip(self._function.inputs, samples, strict=True))
        evaluation = SampleEvaluation(self._name, key, values)
        return [evaluation.value(value).array for value in self._function.outputs]


_kept = ObjectCache(SampleFunction, KEPT_FUNCTIONS)


def _rounded(function: Callable[..., list[Array]], platform: str) -> Callable[..., list[Array]]:
    """Returns `function` with products rounded as in a pipeline's programs, also under `vmap`; see `exact`.

    `vmap` is applied before the rounding, because the rounded program no longer has the kernels' batching rules.
    """

    @jax.custom_batching.custom_vmap
    def run(arrays: Any, key: Any) -> Any:
        return exact(function, minus_zero(arrays), platform)(arrays, key)

    @run.def_vmap
    @usual_modes()
    def run_batch(size: int, batched: Any, arrays: Any, key: Any) -> Any:
        axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, tuple(batched))
        results = _rounded(jax.vmap(function, in_axes=axes, axis_size=size), platform)(arrays, key)
        return results, [True] * len(results)

    return run


class SampleEvaluation:
    """Computes values of a graph for one sample on demand."""

    def __init__(self, name: str, key: Array | None, known: Mapping[DataNode, Sample]):
        self._name, self._key, self._known = name, key, dict(known)

    def value(self, value: DataNode) -> Sample:
        # Nodes are computed in the order of their calls, without deep recursion; nodes inside branches are left out.
        for node in sorted(upstream([value], self._known, self._needed), key=lambda node: node.id):
            self._known |= zip(node.outputs, self._node(node), strict=True)
        return self._known[value]

    def _needed(self, node: Node) -> list[DataNode]:
        part = conditional_part(node)
        if part in _CHOOSING:
            selector, parts = _choice(node)
            return [selector, *(v for part in parts for v in _from_outside(part))]
        if part is ConditionalPart.SPLIT:
            return node.data_inputs[:1]
        return node.operands

    def _node(self, node: Node) -> list[Sample]:
        part = conditional_part(node)
        if part in _CHOOSING:
            return [self._chosen(node)]
        if part in (ConditionalPart.SPLIT, ConditionalPart.OPERAND) or moves_only(node):
            return [self._known[node.data_inputs[0]]]
        if part is ConditionalPart.NOT:
            return [Sample(self._known[node.data_inputs[0]].array == 0, "")]
        if not isinstance(node.op, CompiledOp):
            what = (
                "chooses among the samples of a batch" if isinstance(node.op, IndexOp) else "runs on the host"
            )
            raise ValueError(
                f"{self._name}: {node.op.shown_name} ({node.where}) {what}; a pure function of one sample holds compiled "
                "operators only"
            )
        if node.op.random and self._key is None:
            raise no_key_of(self._name)
        inputs = [self._known[i] if isinstance(i, DataNode) else Sample(i, "") for i in node.inputs]
        args = {k: self._known[v].array if isinstance(v, DataNode) else v for k, v in node.args.items()}
        key = jax.random.fold_in(self._key, node.id) if node.op.random and self._key is not None else None
        return [Sample(*result) for result in graph_call(node.op, inputs, args, key)]

    def _chosen(self, node: Node) -> Sample:
        """Computes the result of the branch that the sample takes."""
        selector, parts = _choice(node)
        index = self._known[selector].array
        if conditional_part(node) is ConditionalPart.MERGE:
            index = (index == 0).astype(jnp.int32)
        layouts: list[str] = []
        forms: list[str] = []

        def branch(part: DataNode) -> Array:
            sample = SampleEvaluation(self._name, self._key, self._known).value(part)
            layouts.append(sample.layout)
            forms.append(f"{sample.array.dtype} {list(sample.array.shape)}")
            return sample.array

        branches = [functools.partial(branch, part) for part in parts]
        try:
            return Sample(lax.switch(index, branches), layouts[0])
        except TypeError as error:
            for number, form in enumerate(forms):
                if form != forms[0]:
                    raise ValueError(
                        f"{self._name}: choice {number} ({node.where}) gives {form}, choice 0 {forms[0]}; a program for one "
                        "sample has one shape and type for all"
                    ) from error
            raise


def _choice(node: Node) -> tuple[DataNode, list[DataNode]]:
    """Returns the selector of a join or merge, and the values of the branches."""
    if conditional_part(node) is ConditionalPart.JOIN:
        return node.arg_inputs["index"], node.data_inputs
    *values, selector = node.data_inputs
    return selector, values


def _from_outside(value: DataNode) -> list[DataNode]:
    """Finds the values outside of the branch of `value` that `value` depends on."""
    branch = value.source.domain
    found: list[DataNode] = []
    seen: set[Node] = set()
    pending = [value]
    while pending:
        node = pending.pop().source
        if node in seen:
            continue
        seen.add(node)
        for needed in node.operands:
            if branch in needed.source.domain.chain():
                pending.append(needed)
            elif conditional_part(node) is not ConditionalPart.SPLIT or needed is node.inputs[0]:
                found.append(needed)
    return found
