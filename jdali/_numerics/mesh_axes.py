"""Programs over meshes, for what does not know of any.

Arrays over Explicit axes have their sharding in their type, and JAX wants to be told how each gather, scatter and loop
lies over the mesh, in `vmap` as well. Within an operator the compiler decides, as for axes that are Auto.

Within `shard_map` the type says whether an array may differ from device to device, and a loop may not make one that
may of one that may not. Within an operator all arrays may that depend on its operands, if one of these does.
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
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    reshard,
    use_abstract_mesh,
)

from jdali._numerics.rounding import varying_like


def over_any_mesh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapts `function` to operands whose types say how they lie over a mesh.

    Over Explicit axes, an axis of a result is sharded as that axis of the first operand that is sharded, if its size can
    be shared out.

    Args:
        function: of pytrees of arrays; it closes over no traced values.
    """

    @functools.wraps(function)
    def run(*operands: Any) -> Any:
        leaves, tree = jax.tree.flatten(operands)
        leaves = [varying_like(v, *leaves) if isinstance(v, Array) else v for v in leaves]
        explicit = [one for one in map(_sharding, leaves) if one is not None]
        if not explicit:
            return function(*jax.tree.unflatten(tree, leaves))
        first = next((one for one in explicit if any(one.spec)), explicit[0])
        with use_abstract_mesh(_auto(first.mesh)):
            leaves = [v if _sharding(v) is None else reshard(v, PartitionSpec()) for v in leaves]
            results = _needing(leaves, function(*jax.tree.unflatten(tree, leaves)))
        return jax.tree.map(lambda array: reshard(array, _like(first, array.shape)), results)

    return run


def _sharding(value: Any) -> NamedSharding | None:
    """Returns the sharding in the type of an array over Explicit axes."""
    if not isinstance(value, Array):
        return None
    sharding: NamedSharding = jax.typeof(value).sharding
    return sharding if sharding.mesh.explicit_axes else None


def _needing(operands: Sequence[Any], results: Any) -> Any:
    """Makes results depend on the operands: JAX shards no result of a program that reads no sharded array."""
    for operand in operands:
        if operand.size and not jnp.issubdtype(operand.dtype, jax.dtypes.prng_key):
            is_zero = operand[(0,) * operand.ndim] == 0
            results = jax.tree.map(lambda array: jnp.where(is_zero, array, array), results)  # noqa: B023
    return results


def _auto(mesh: Mesh | AbstractMesh) -> AbstractMesh:
    return mesh.abstract_mesh.update_axis_types(dict.fromkeys(mesh.explicit_axes, AxisType.Auto))


def _like(sharding: NamedSharding, shape: tuple[int, ...]) -> NamedSharding:
    """Returns the sharding for an array of another shape: of axes that divide it."""
    mesh, axes = sharding.mesh, []
    for names, size in zip(sharding.spec, shape, strict=False):
        parts = () if names is None else names if isinstance(names, tuple) else (names,)
        axes.append(None if size % math.prod(mesh.shape[name] for name in parts) else names)
    return NamedSharding(mesh, PartitionSpec(*axes))
