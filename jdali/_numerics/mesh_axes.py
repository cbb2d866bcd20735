"""Lets operators, which are written without a mesh, run on arrays over Explicit axes and inside `shard_map`.

Over Explicit axes the sharding is part of an array's type, and JAX requires a sharding for each gather, scatter and loop,
also under `vmap`. Inside an operator the axes are therefore Auto: the compiler chooses shardings.

Inside `shard_map` an array's type names the mesh axes over which its values differ ("vary"), and the state of a loop
must not change its type. So if one operand of an operator varies, all operands are marked as varying.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import (
    AxisType,
    NamedSharding,
    PartitionSpec,
    reshard,
    use_abstract_mesh,
)

from jdali._numerics.rounding import varying_like


def over_any_mesh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapts `function` to operands whose types include a sharding or varying axes.

    Over Explicit axes, each axis of a result is sharded like the same axis of the first sharded operand, if the mesh divides
    the axis evenly.

    Args:
        function: takes and returns pytrees of arrays; closes over no traced values.
    """

    @functools.wraps(function)
    def run(*operands: Any) -> Any:
        leaves, tree = jax.tree.flatten(operands)
        leaves = [varying_like(v, *leaves) if isinstance(v, Array) else v for v in leaves]
        explicit = [one for one in map(_sharding, leaves) if one is not None]
        if not explicit:
            return function(*jax.tree.unflatten(tree, leaves))
        first = next((one for one in explicit if any(one.spec)), explicit[0])
        mesh = first.mesh.abstract_mesh
        with use_abstract_mesh(mesh.update_axis_types(dict.fromkeys(mesh.explicit_axes, AxisType.Auto))):
            leaves = [v if _sharding(v) is None else reshard(v, PartitionSpec()) for v in leaves]
            results = _needing(leaves, function(*jax.tree.unflatten(tree, leaves)))
        return jax.tree.map(lambda array: reshard(array, _like(first, array.shape)), results)

    return run


def _sharding(value: Any) -> NamedSharding | None:
    """Returns the sharding that an array's type has if its mesh axes are Explicit; otherwise None."""
    if not isinstance(value, Array):
        return None
    sharding: NamedSharding = jax.typeof(value).sharding
    return sharding if sharding.mesh.explicit_axes else None


def _needing(operands: Sequence[Any], results: Any) -> Any:
    """Makes results depend on the operands, because JAX does not shard results of a program that reads no sharded array."""
    for operand in operands:
        if operand.size and not jnp.issubdtype(operand.dtype, jax.dtypes.prng_key):
            is_zero = operand[(0,) * operand.ndim] == 0
            results = jax.tree.map(lambda array: jnp.where(is_zero, array, array), results)  # noqa: B023
    return results


def _like(sharding: NamedSharding, shape: tuple[int, ...]) -> NamedSharding:
    """Fits `sharding` to an array of shape `shape`: an axis that the mesh does not divide evenly is not sharded."""
    mesh, axes = sharding.mesh, []
    for names, size in zip(sharding.spec, shape, strict=False):
        parts = () if names is None else names if isinstance(names, tuple) else (names,)
        axes.append(None if size % math.prod(mesh.shape[name] for name in parts) else names)
    return NamedSharding(mesh, PartitionSpec(*axes))
