"""Functions with two implementations: a loop for CPUs, one expression for accelerators."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from jdali._numerics.platform import platform_dependent
from jdali._numerics.rounding import varying_like
from jdali._system.jax_modes import usual_modes

T = TypeVar("T")
Keep: TypeAlias = Callable[[Any], Any]
"""Makes XLA compute arrays once, even if their elements are used several times. It is `kept` on a CPU, else the identity."""


def by_platform(
    loop: Callable[..., Array],
    whole: Callable[..., Array],
    derivative: Callable[[Any, Any], tuple[Array, Any]] | None = None,
    tpu: Callable[..., Array] | None = None,
) -> Callable[..., Array]:
    """Makes a function that runs `loop` on a CPU, one sample after the other, and `whole` on accelerators.

    Even under `vmap`, the loop may end at each sample's true size, so that padding costs no work. The loop cannot be
    differentiated; derivatives are computed from `whole`.

    Args:
        loop, whole: two implementations with the same arguments, pytrees of arrays; neither may close
            over traced values.
        derivative, tpu: see `differentiable`.
    """

    @jax.jit  # traces `loop` once, although `custom_vmap` traces both its function and its rule
    @usual_modes()
    def one_sample(*arguments: object) -> Array:
        return loop(*arguments)

    @jax.custom_batching.custom_vmap
    def one_by_one(*arguments: object) -> Array:
        result: Array = one_sample(*arguments)
        return result

    @one_by_one.def_vmap
    @usual_modes()
    def rule(size: int, batched: Any, *arguments: Any) -> tuple[Array, bool]:
        leaves, tree = jax.tree.flatten(arguments)
        mapped = [i for i, is_batched in enumerate(jax.tree.leaves(tuple(batched))) if is_batched]

        def one(values: list[Array]) -> Array:
            own = list(leaves)
            for i, value in zip(mapped, values, strict=True):
                own[i] = value
            result: Array = one_by_one(*jax.tree.unflatten(tree, own))
            return result

        if size == 1:  # a single sample need not be copied into a batch
            return jnp.expand_dims(one([leaves[i][0] for i in mapped]), 0), True
        stacked: Array = lax.map(one, [leaves[i] for i in mapped])
        return stacked, True

    return differentiable(one_by_one, whole, derivative, tpu)


def differentiable(
    cpu: Callable[..., Array],
    default: Callable[..., Array],
    derivative: Callable[[Any, Any], tuple[Array, Any]] | None = None,
    tpu: Callable[..., Array] | None = None,
) -> Callable[..., Array]:
    """Makes a function that runs `cpu` on a CPU and `default` on accelerators. Both have the same derivative.

    Args:
        cpu, default: two implementations with the same arguments; neither may close over traced values.
        derivative: JVP rule for `custom_jvp`: (primals, tangents) to (value, tangent); None: the derivative of `default`.
        tpu: implementation for a TPU; None: `default`.
    """

    @jax.custom_jvp
    def run(*arguments: object) -> Array:
        with usual_modes():
            result: Array = platform_dependent(*arguments, cpu=cpu, default=default, tpu=tpu)
        return result

    run.defjvp(usual_modes()(functools.partial(jax.jvp, default) if derivative is None else derivative))
    return run


def loop(count: int | Array, body: Callable[[Array, T], T], start: T) -> T:
    """Calls `body(i, result)` for i in range(count). `count` may be traced; i is always int32.

    In `shard_map`, `start` is marked as varying over the mesh axes over which the count varies.
    """
    end = jnp.int32(count)
    result: T = lax.fori_loop(jnp.int32(0), end, body, varying_like(start, end))
    return result


def kept(values: T, once: Array) -> T:
    """Returns the values in a form that makes XLA's CPU compiler compute them once, not again for each use.

    Args:
        once: int32 1, traced so that the compiler does not know its value.
    """

    def other(value: Array) -> Array:
        return -value if jnp.issubdtype(value.dtype, jnp.inexact) else ~value

    # XLA computes the operands of a loop before the loop. This loop has no iterations and copies nothing, but the compiler
    # cannot remove it: it does not know the number of iterations, and an iteration would change the values.
    return loop(once - 1, lambda _, state: jax.tree.map(other, state), values)


# Number of elements in a block of rows; the block then stays in the cache.
_BLOCK = 1 << 16
# Arrays with at most this number of elements are computed without a loop, which would not be worth compiling.
_SMALL = 1 << 13


def by_rows(
    make: Callable[..., Array], image: Array, size: Array, *others: Array, shape: tuple[int, ...], dtype: Any
) -> Array:
    """Applies `make` to the rows of an image: on a CPU block by block, on accelerators to all rows at once.

    Args:
        make: `make(rows, first, keep, *others)` returns the result for some rows of the image, the first of which has
            index `first`; `keep` is a `Keep`. `make` must not close over traced values.
        image: [H, W, ...].
        size: int32 [n], true size of the image.
        shape: shape of the result, [H, ...].
    """
    height = image.shape[0]
    rows = rows_of_block(image.shape, _BLOCK)

    def whole(image: Array, _: Array, *others: Array) -> Array:
        return make(image, jnp.int32(0), lambda values: values, *others)

    def blocks(image: Array, size: Array, *others: Array) -> Array:
        once = jnp.minimum(size[0], 1)

        def block(i: Array, result: Array) -> Array:
            first = jnp.minimum(i * rows, height - rows)
            part = lax.dynamic_slice_in_dim(image, first, rows)
            made = make(part, first, lambda values: kept(values, once), *others)
            return lax.dynamic_update_slice_in_dim(result, made, first, 0)

        start = varying_like(jnp.zeros(shape, dtype), image, size, *others)
        return loop((size[0] + rows - 1) // rows, block, start)

    run = whole if image.size <= _SMALL else by_platform(blocks, whole)
    return run(image, size, *others)


def rows_of_block(shape: Sequence[int], elements: int) -> int:
    """Returns the number of rows per block of at most `elements` elements, chosen so that blocks have nearly equal sizes."""
    height, *rest = shape
    most = max(elements // max(math.prod(rest), 1), 1)
    return -(-height // -(-height // most))
