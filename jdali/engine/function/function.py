"""Runs the compiled part of a pipeline as a pure function: `PipelineFunction`."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import TracedArgumentError
from jdali._numerics.mesh_axes import over_any_mesh
from jdali._system.devices import accelerator, to_host
from jdali._system.jax_internals import computed_now
from jdali._system.jax_modes import usual_modes
from jdali.engine.function.draw import Draw
from jdali.engine.function.host import HostPart
from jdali.engine.function.part import FunctionDefinition, make_part
from jdali.engine.function.planning import FunctionInputs, FunctionPlan, Planner
from jdali.engine.function.running import options_of, traced
from jdali.engine.steps.program import random_nodes
from jdali.tensors import TensorList


class Padded(NamedTuple):
    """Holds samples that may differ in size, padded to one array.

    Attributes:
        array: [N, *padded]; elements past the size of a sample are unspecified.
        extents: int32 [N, ndim], the size of each sample.
    """

    array: Any
    extents: Any


class PipelineFunction:
    """The operators of a pipeline between a start and its outputs, as a pure function.

    `Pipeline.function` returns it. For the same samples, seed, epochs and indices, results equal the pipeline's bit for
    bit, for any number of samples. On a CPU, a compiled program that calls the function needs `compiler_options`.

    Attributes:
        start: names of the values that it takes.
        outputs: names of the values that it returns: those of the pipeline's `output_names`, or of the operators.
        random: names of the operators that draw random values, except operators with a key of their own.
        seed: the pipeline's seed.
        layouts: layouts of the values of the start, "" if unknown.
        host: the operators before the start. `host` takes outputs of readers, such as encoded files, and returns the inputs
            of this function: `f(*f.host(encoded))` runs the whole pipeline after its readers.
        part, definition, planner: internals of jdali.
    """

    def __init__(self, definition: FunctionDefinition, *, threads: int, batch_size: int):
        """Plans nothing yet."""
        self.definition, self.part = definition, make_part(definition)
        self.host = HostPart(definition, threads=threads, batch_size=batch_size)
        self.seed, self.layouts = definition.seed, definition.layouts
        self.start = tuple(v.name for v in self.part.start)
        self.outputs = definition.names
        self.random = tuple(node.name for node in self.part.random if node.id not in definition.held)
        self.planner = Planner(self.part)
        self._traced = functools.lru_cache(maxsize=64)(functools.partial(traced, self.planner.stage))

    def __repr__(self) -> str:
        shown = ", ".join(node.op.shown_name for node in self.part.nodes)
        drawn = f", draws in {', '.join(self.random)}" if self.random else ""
        return f"<jdali function ({', '.join(self.start)}) -> ({', '.join(self.outputs)}): {shown}{drawn}>"

    @property
    def compiler_options(self) -> dict[str, Any]:
        """Options for `jax.jit(..., compiler_options=f.compiler_options)` around calls of this function.

        On a CPU, XLA computes exp, log and similar functions in one of two ways, depending on the number of elements. With
        these options, it chooses the same way as in the pipeline. On other platforms, there are no options.
        """
        return options_of(self.planner.stage, accelerator().platform) or {}

    @usual_modes()
    def __call__(
        self,
        *inputs: Any,
        extents: Any = None,
        key: Any = None,
        epoch: Any = 0,
        index: Any = None,
        plan: FunctionPlan | None = None,
    ) -> Any:
        """Runs the operators on a batch.

        Args:
            inputs: an array [N, ...] of JAX or NumPy, or a `TensorList`, for each value in `start` of `Pipeline.function`.
            extents: true sizes of padded samples: int [N, ndim], or [ndim] for all samples. For several inputs, a
                sequence with an array for each padded input, and None for each input without padding. With extents, or with
                a `TensorList`, outputs are `Padded`.
            key: one JAX key for the batch, from which random operators draw. None: they draw from the pipeline's seed.
            epoch: epochs of the samples, int or int [N], as in the pipeline.
            index: indices of the samples in the data set, int [N], as in the pipeline; None: 0, 1, ... The random
                values of a sample depend only on key or seed, epoch, index and operator.
            plan: result of `plan`; it replaces `extents`. Needed if sizes, or values that decide sizes, are traced.

        Returns: an array [N, ...] for each output, or `Padded`; a tuple if there are several.

        Raises:
            TracedArgumentError: a value that decides sizes is traced; the error names the operator.
            TypeError: random values are drawn, and neither key nor index is given.
            ValueError: an output is ragged, and extents are missing; or the plan is for arrays of other sizes.
            OperatorError: an operator refuses its inputs.
        """
        if plan is None and any(_is_symbolic(one) for one in inputs):
            return self._by_sample(inputs, extents, key, epoch, index)
        if plan is None:
            batch, ragged = self._batch(inputs, extents)
            draw = self._draw(batch.count, key, epoch, index)
            plan = self.planner.plan(batch, draw, ragged=ragged)
        else:  # the plan has the sizes of the samples
            arrays = [v.padded()[0] if isinstance(v, TensorList) else v for v in inputs]
            if len(arrays) != len(self.start):
                raise self._wrong_count(arrays)
            self._check_planned(plan, arrays)
            batch, ragged = FunctionInputs(arrays, []), plan.form.ragged
            draw = self._draw(arrays[0].shape[0], key, epoch, index)
        leaves = [*batch.arrays, *jax.tree.leaves(plan), draw.words, draw.epoch, draw.index]
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            results, sizes = self._run_traced(plan, batch, draw)
        else:
            with computed_now():
                results, sizes = self.planner.run(plan, batch, draw, accelerator().platform)
        return self._returned(results, sizes, plan, ragged=ragged)

    def _by_sample(self, inputs: Sequence[Any], extents: Any, key: Any, epoch: Any, index: Any) -> Any:
        """Runs a symbolic number of samples, as in `jax.export` and `jax2tf`: plans one sample, and uses `vmap`."""
        for node in self.planner.stage.nodes:
            if node.whole_batch:
                raise ValueError(
                    f"{node.op.shown_name} {node.name!r} ({node.where}) depends on the other samples of the batch: their number "
                    "must be known"
                )
        if extents is not None:
            raise ValueError(
                "of a symbolic number of samples no extents can be given: plan the call, f(..., plan=plan)"
            )
        self._check_drawn(key, index)
        count = inputs[0].shape[0]
        numbers = [
            jnp.broadcast_to(jnp.asarray(value), (count,))
            for value in (epoch, jnp.arange(count) if index is None else index)
        ]

        def one(arrays: Any, epoch: Any, index: Any) -> Any:
            return self.sample(*arrays, key=key, epoch=epoch, index=index)

        return jax.vmap(one)(tuple(inputs), *numbers)

    @usual_modes()
    def sample(
        self,
        *inputs: Any,
        extents: Any = None,
        key: Any = None,
        epoch: Any = 0,
        index: Any = None,
        plan: FunctionPlan | None = None,
    ) -> Any:
        """Runs the operators on one sample; for `jax.vmap` and `jax.grad`.

        Args:
            inputs: for each value of the start an array without the axis of samples.
            extents: true size of a padded sample, int [ndim]; for several inputs a sequence of sizes.
            key, epoch, index: as in a call, for this sample; the index defaults to 0.
            plan: result of `plan`, which `jax.vmap` maps over.

        Returns: an array for each output, or `Padded`; a tuple if there are several.
        """
        if extents is not None:
            each = [extents] if len(self.start) == 1 else extents
            each = [None if e is None else jnp.asarray(e)[None] if _is_traced(e) else [e] for e in each]
            extents = each[0] if len(self.start) == 1 else each
        if plan is not None:
            plan = jax.tree.map(lambda leaf: leaf[None], plan)
        batch = [jnp.asarray(i)[None] if _is_traced(i) else np.asarray(to_host(i))[None] for i in inputs]
        one = None if index is None else jnp.reshape(index, 1) if _is_traced(index) else [index]
        results = self(*batch, extents=extents, key=key, epoch=epoch, index=one, plan=plan)
        return jax.tree.map(lambda leaf: leaf[0], results)

    @usual_modes()
    def plan(
        self,
        *inputs: object,
        extents: object = None,
        key: object = None,
        epoch: object = 0,
        index: object = None,
    ) -> FunctionPlan:
        """Plans a call on the host, outside of the compiled program in which the call is made.

        The plan contains everything that depends on the sizes of samples, and the random values that decide sizes. Pass it
        to the compiled function, `f(images, extents=sizes, plan=plan)`, or to `sample` under `jax.vmap`.

        Args:
            inputs, extents, key, epoch, index: as in the call. Arrays whose elements decide no sizes may be
                `jax.ShapeDtypeStruct`s.
        """
        batch, ragged = self._batch(inputs, extents)
        plan = self.planner.plan(batch, self._draw(batch.count, key, epoch, index), ragged=ragged)
        return dataclasses.replace(plan, shapes=tuple(array.shape[1:] for array in batch.arrays))

    def draw(self, count: int, key: object = None, epoch: object = 0, index: object = None) -> Draw:
        """Returns the identities of samples, from which operators draw (internal)."""
        return Draw.of(count, self.seed, key, epoch, index, self.definition.held)

    def plan_sizes(
        self, sizes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype[Any]], draw: Draw
    ) -> FunctionPlan:
        """Plans one sample, without padding; `draw` is its identity (internal)."""
        specs = [
            BatchSpec(np.array([size], np.int64), dtype, layout)
            for size, dtype, layout in zip(sizes, dtypes, self.layouts, strict=True)
        ]
        nothing = [jax.ShapeDtypeStruct((1, *size), dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
        return self.planner.plan(FunctionInputs(nothing, specs), draw, ragged=True, pads=False)

    def _batch(self, inputs: Sequence[Any], extents: Any) -> tuple[FunctionInputs, bool]:
        """Returns the inputs with their sizes, and whether sizes may differ by sample."""
        names = ", ".join(self.start)
        if len(inputs) != len(self.start):
            raise self._wrong_count(inputs)
        ragged = extents is not None
        each = [None] * len(inputs) if extents is None else [extents] if len(inputs) == 1 else list(extents)
        if len(each) != len(inputs):
            raise ValueError(f"extents must be one for each of ({names}), got {len(each)}")
        arrays, specs = [], []
        for name, value, sizes, layout in zip(self.start, inputs, each, self.layouts, strict=True):
            if isinstance(value, TensorList):
                layout = layout or value.layout()
                padded, own = value.padded()
                sizes = own if sizes is None else sizes
                ragged = True
                value = padded
            array = value if isinstance(value, (Array, jax.ShapeDtypeStruct)) else np.asarray(value)
            if not array.ndim:
                raise ValueError(f"{name!r} must have an axis of samples, [N, ...], got a scalar")
            specs.append(_spec(name, array, sizes, layout))
            arrays.append(array)
        counts = sorted({len(spec.extents) for spec in specs})
        if len(counts) > 1 or not counts[0]:
            raise ValueError(f"({names}) must have as many samples each, at least 1, got {counts}")
        return FunctionInputs(arrays, specs), ragged

    def _draw(self, count: int, key: object, epoch: object, index: object) -> Draw:
        self._check_drawn(key, index)
        return self.draw(count, key, epoch, index)

    def _check_drawn(self, key: object, index: object) -> None:
        if self.random and key is None and index is None:
            raise TypeError(
                f"the function draws random values in {', '.join(self.random)}: pass key=..., for example "
                "jax.random.key(0), or index=... (and epoch=...) for the values of the pipeline"
            )

    def _wrong_count(self, inputs: Sequence[object]) -> TypeError:
        names = ", ".join(self.start)
        return TypeError(f"the function takes ({names}), {len(self.start)} arrays, got {len(inputs)}")

    def _check_planned(self, plan: FunctionPlan, arrays: Sequence[Any]) -> None:
        """Raises ValueError if arrays differ in size from the plan: they would be cut, or read past their end."""
        dtypes, ragged = plan.form.values, plan.form.ragged
        for name, array, shape, dtype in zip(self.start, arrays, plan.shapes, dtypes, strict=False):
            wanted, found = (*np.shape(plan.packed)[:1], *shape), np.shape(array)
            # The plan's shape is the largest true size of ragged samples. Their array may have more padding.
            fits = ragged and len(found) == len(wanted) and found[0] == wanted[0]
            if array.dtype != dtype or (
                not all(map(operator.ge, found, wanted)) if fits else found != wanted
            ):
                raise ValueError(
                    f"the plan is for {name!r} of {dtype} {list(wanted)}, got {array.dtype} {list(found)}: plan this call, "
                    "plan = f.plan(...)"
                )

    def _run_traced(self, plan: FunctionPlan, batch: FunctionInputs, draw: Draw) -> Any:
        def run(arrays: Any, plan: FunctionPlan, who: tuple[Any, Any, Any]) -> Any:
            packed, apart = jnp.asarray(plan.packed), [jnp.asarray(a) for a in plan.apart]
            own = dataclasses.replace(draw, words=who[0], epoch=who[1], index=who[2])
            seeds = own.seeds(random_nodes(self.planner.stage))
            return self._traced(plan.form)([*arrays, *plan.given], packed, apart, own.identity(), seeds)

        return over_any_mesh(run)(batch.arrays, plan, (draw.words, draw.epoch, draw.index))

    def _returned(self, results: Any, sizes: Any, plan: FunctionPlan, *, ragged: bool) -> Any:
        if ragged:
            outputs: list[Any] = [Padded(*pair) for pair in zip(results, sizes, strict=True)]
        else:
            outputs = []
            for name, array, size in zip(self.outputs, results, plan.form.sizes, strict=True):
                if size is None:
                    raise ValueError(
                        f"the samples of {name!r} differ in size: give extents=..., the sizes of the inputs, and outputs "
                        "come with their sizes"
                    )
                outputs.append(array[(slice(None), *map(slice, size))] if array.shape[1:] != size else array)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _is_traced(value: Any) -> bool:
    return isinstance(value, jax.core.Tracer)


def _is_symbolic(value: Any) -> bool:
    """Returns True if the number of samples is symbolic: a dimension of `jax.export.symbolic_shape`."""
    shape: Any = () if isinstance(value, TensorList) else getattr(value, "shape", ())
    return bool(shape) and not isinstance(shape[0], int)


def _spec(name: str, array: Any, sizes: Any, layout: str) -> BatchSpec:
    """Returns true sizes, type and layout of an input [N, ...]."""
    count, shape = array.shape[0], array.shape[1:]
    if layout and len(layout) != len(shape):
        raise ValueError(f"{name!r} must have the axes N{layout}, got an array {list(array.shape)}")
    if _is_traced(sizes):
        raise TracedArgumentError(
            f"the sizes of {name!r} are traced, and operators plan by them on the host: close over them as NumPy "
            "arrays, or plan the call outside of jit, vmap or grad, plan = f.plan(...), and give f(..., plan=plan)"
        )
    if sizes is None:
        return BatchSpec(np.tile(np.array(shape, np.int64), (count, 1)), array.dtype, layout)
    true = to_host(sizes)
    if true.dtype.kind not in "iu" or true.shape not in ((len(shape),), (count, len(shape))):
        raise ValueError(
            f"extents of {name!r} must be integers [{len(shape)}] or [{count}, {len(shape)}], got {true.dtype} "
            f"{list(true.shape)}"
        )
    true = np.broadcast_to(true, (count, len(shape)))
    if (true < 0).any() or (true > np.array(shape)).any():
        sample = int(np.argwhere((true < 0) | (true > np.array(shape)))[0][0])
        raise ValueError(
            f"extents of {name!r}: sample {sample} is {tuple(true[sample].tolist())}, of an array of shape {shape}"
        )
    return BatchSpec(true, array.dtype, layout)
