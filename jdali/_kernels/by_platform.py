"""One function, two ways to write it: a loop that suits a CPU, one expression that suits the rest."""

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
"""Takes and returns arrays of which each element is needed several times: `kept`, or nothing is done."""


def by_platform(
    loop: Callable[..., Array],
    whole: Callable[..., Array],
    derivative: Callable[[Any, Any], tuple[Array, Any]] | None = None,
    tpu: Callable[..., Array] | None = None,
) -> Callable[..., Array]:
    """Makes a function that is `loop` on the CPU, one sample after the other, and `whole` elsewhere.

    A loop may end at the true size of a sample, so its work follows the true size, not the padding. Under `vmap` it stays a
    loop of each sample's own length. It has no derivative: where one is asked for, `whole` runs.

    Args:
        loop, whole: the same function of the same arguments, pytrees of arrays; neither may close
            over traced values.
        derivative, tpu: see `differentiable`.
    """

    @jax.jit  # traced once: `custom_vmap` traces for one sample, and its rule for the batch again
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

        if size == 1:  # without the copy into the batch
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
    """Makes a function that is `cpu` on the CPU and `default` elsewhere, with one derivative for both.

    Args:
        cpu, default: the same function of the same arguments, which closes over no traced values.
        derivative: of primals and tangents, the value and its tangent, as `custom_jvp` takes it; None: that of `default`.
        tpu: the same function on a TPU; None: `default`.
    """

    @jax.custom_jvp
    def run(*arguments: object) -> Array:
        with usual_modes():
            result: Array = platform_dependent(*arguments, cpu=cpu, default=default, tpu=tpu)
        return result

    run.defjvp(usual_modes()(functools.partial(jax.jvp, default) if derivative is None else derivative))
    return run


def loop(count: int | Array, body: Callable[[Array, T], T], start: T) -> T:
    """Calls `body(i, result)` for i from 0 to `count`, which may be traced; i is int32 in any case.

    Within `shard_map`, `start` varies over the devices if the count does.
    """
    end = jnp.int32(count)
    result: T = lax.fori_loop(jnp.int32(0), end, body, varying_like(start, end))
    return result


def kept(values: T, once: Array) -> T:
    """Computes arrays here, once: a compiler for CPUs would rather compute them anew for each use of an element.

    Args:
        values: pytree of arrays.
        once: int32 1, which the compiler does not know to be one.
    """

    def other(value: Array) -> Array:
        return -value if jnp.issubdtype(value.dtype, jnp.inexact) else ~value

    # The operands of a loop are made before it. This one makes no turn, so it copies nothing; the compiler, which does not
    # know that, keeps it because a turn would change the values.
    return loop(once - 1, lambda _, state: jax.tree.map(other, state), values)


# Elements of a block of rows, which stay in the cache; and of an array for which no loop is worth its compilation.
_BLOCK, _SMALL = 1 << 16, 1 << 13


def by_rows(
    make: Callable[..., Array], image: Array, size: Array, *others: Array, shape: tuple[int, ...], dtype: Any
) -> Array:
    """Applies `make` to the rows of an image: to all at once, on a CPU to blocks of them.

    Args:
        make: of an array of some rows, the number of the first one, what arrays go through of which each element is
            needed several times (`Keep`), and `others`: the same rows of the result; it may not close over traced values.
        image: [H, W, ...].
        size: int32 [n], its true size.
        others: any arrays.
        shape: of the result, [H, ...].
        dtype: of the result.
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
    """Chooses the rows of blocks of about `elements` elements, which divide an array with little left over."""
    height, *rest = shape
    most = max(elements // max(math.prod(rest), 1), 1)
    return -(-height // -(-height // most))
