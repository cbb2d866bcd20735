"""Builds the program of a function from the program of a stage, for `jit`, `vmap`, `grad` and `shard_map`."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._numerics.mesh_axes import over_any_mesh
from jdali._numerics.rounding import varying_like, x64_context
from jdali._operators.call import Call
from jdali._system.devices import accelerator
from jdali._system.jax_modes import unchecked, usual_modes
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.steps.outline import StageOutline
from jdali.engine.steps.program import ProgramForm, compiler_options, random_nodes, stage_compute
from jdali.graph import Stage


@dataclasses.dataclass(frozen=True)
class FunctionForm:
    """Identifies a function's program, apart from the number of samples.

    Attributes:
        outputs: positions of the outputs among the values of the stage.
        sizes: for each output, the size of its samples; None if the samples differ in size.
        ragged: True if the program does not depend on the sizes of samples, even if all sizes are equal.
    """

    program: ProgramForm
    values: tuple[np.dtype[Any], ...]
    inputs: int
    outputs: tuple[int, ...]
    sizes: tuple[tuple[int, ...] | None, ...]
    layouts: tuple[str, ...]
    ragged: bool = False

    def key(self) -> str:
        """Returns a digest of the program without its padded shapes, equal in every process."""
        program = self.program
        calls = [_described(call) for call in program.calls]
        text = repr((calls, program.traced, program.small, self.values, self.outputs))
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def _described(call: Call) -> tuple[Any, ...]:
    constants = [
        (name, None if c is None else (c.value.dtype.str, c.value.shape, c.value.tobytes()))
        for name, c in call.constants
    ]
    return (
        call.op.name, call.adapters, call.out_layouts, call.static, constants, call.argument_shapes, call.frames,
    )  # fmt: skip


def exact_platform(platform: str) -> str:
    """Converts a platform of `jax.export`, such as "cuda", to the platform name of JAX's devices, such as "gpu"."""
    return "gpu" if platform in ("cuda", "rocm") else platform


def options_of(stage: Stage, platform: str) -> dict[str, Any] | None:
    """Returns XLA options with which a program computes the same bits as the pipeline; None for JAX's defaults."""
    return compiler_options(platform, [node.op for node in stage.nodes])


def computation(stage: Stage, form: FunctionForm, platform: str) -> Callable[..., Any]:
    """Builds the pure function `run(arrays, packed, apart, identity, seeds, minus_zero)` -> (outputs, their sizes).

    Each product is rounded before it is added, as in the pipeline's programs; see `exact`. The function is
    differentiable in `arrays`. In derivatives, the compiler may fuse products and sums.
    """
    compute = stage_compute(StageOutline.of(stage), form.program)
    shapes, packing = form.program.shapes[: len(stage.inputs)], form.program.packing()

    def plain(arrays: Any, small: Any, identity: Any, seeds: Any) -> list[Array]:
        fitted = [_fitted(a, (a.shape[0], *shape)) for a, shape in zip(arrays, shapes, strict=True)]
        try:
            with failing_as(stage.nodes):
                return compute(fitted, small, identity, seeds)
        except NodeFailure as failure:
            raise failure.user_error(failure.sample) from failure.first

    @jax.custom_jvp
    @usual_modes()
    def rounded(arrays: Any, small: Any, identity: Any, seeds: Any, minus_zero: Any) -> list[Array]:
        return exact(plain, minus_zero, platform)(arrays, small, identity, seeds)

    @rounded.defjvp
    @usual_modes()
    def derivative(primals: Any, tangents: Any) -> Any:
        arrays, small, identity, seeds, _ = primals

        def of_arrays(arrays: Any) -> list[Array]:
            return plain(arrays, small, identity, seeds)

        _, moved = jax.jvp(of_arrays, (arrays,), (tangents[0],))
        return rounded(*primals), moved

    def run(arrays: Any, packed: Any, apart: Any, identity: Any, seeds: Any, minus_zero: Any) -> Any:
        small = packing.unpack(packed, apart)
        operands = (arrays, small, identity, seeds)
        results = rounded(*varying_like(operands, *jax.tree.leaves(operands)), minus_zero)
        return results, [jnp.asarray(small[number], jnp.int32) for number in form.outputs]

    return run


def operand_specs(stage: Stage, form: FunctionForm, batch: Any) -> tuple[Any, ...]:
    """Returns the shapes of the operands of `computation` for `batch` samples."""
    packing, shapes = form.program.packing(), form.program.shapes
    spec: Any = jax.ShapeDtypeStruct
    arrays = [
        spec((batch, *shape), dtype)
        for shape, dtype in zip(shapes[: form.inputs], form.values[: form.inputs], strict=True)
    ]
    small = [form.program.small[i] for i in packing.apart]
    return (
        arrays, spec((batch, packing.columns), np.int32), [spec((batch, *shape), dtype) for dtype, shape in small],
        spec((3, batch), np.uint32), spec((len(random_nodes(stage)), 3), np.uint32), spec((), np.float32),
    )  # fmt: skip


def compiled(stage: Stage, form: FunctionForm, platform: str) -> Callable[..., Any]:
    """Compiles the function that `computation` returns, with the pipeline's compiler options."""
    run = over_any_mesh(computation(stage, form, platform))
    program = jax.jit(run, compiler_options=options_of(stage, platform))

    def call(*operands: object) -> Any:
        with unchecked(), x64_context(True) if form.program.x64 else contextlib.nullcontext():
            return program(*operands, MINUS_ZERO)

    return call


def traced(stage: Stage, form: FunctionForm) -> Callable[..., Any]:
    """Wraps `computation` for use inside the caller's programs."""
    run = jax.jit(computation(stage, form, accelerator().platform))

    def call(arrays: Sequence[object], packed: object, apart: object, identity: object, seeds: object) -> Any:
        with x64_context(True) if form.program.x64 else contextlib.nullcontext():
            return run(list(arrays), packed, apart, identity, seeds, minus_zero([*arrays, identity]))

    return call


def minus_zero(values: Sequence[object]) -> Any:
    """Computes float32 -0 from the operands, in a way that no compiler folds to a constant.

    It compares a square with 3 modulo 7, which no square is.
    """
    for value in values:
        if isinstance(value, jax.core.Tracer) and value.size:
            first: Any = lax.stop_gradient(value)[(0,) * value.ndim]
            if jnp.issubdtype(first.dtype, jnp.inexact):
                first = lax.bitcast_convert_type(first.real.astype(jnp.float32), jnp.uint32)
            number = first.astype(jnp.uint32) & np.uint32(0xFFFF)
            return jnp.where(number * number % np.uint32(7) == 3, np.float32(1), MINUS_ZERO)
    return MINUS_ZERO


def _fitted(array: Array, shape: tuple[int, ...]) -> Array:
    """Cuts and pads an array to a shape, which must be large enough for the samples."""
    if array.shape == shape:
        return array
    array = array[tuple(slice(0, n) for n in shape)]
    return jnp.pad(array, [(0, wanted - size) for wanted, size in zip(shape, array.shape, strict=True)])
