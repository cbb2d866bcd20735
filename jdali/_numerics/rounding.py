"""Rounds and saturates by one rule.

DALI's CPU backend rounds half away from zero and saturates (include/dali/core/convert.h:196);
its GPU backend rounds half to even. jdali follows the CPU backend everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike
from numpy.typing import DTypeLike

from jdali._numerics.platform import known_platform
from jdali._system.jax_internals import varying_axes

T = TypeVar("T")


def round_half_away(value: ArrayLike) -> Array:
    """Rounds to the nearest integer, half away from zero: 0.5→1, -2.5→-3. Keeps the dtype.

    `trunc(x + 0.5)` would round 0.49999997 to 1; comparing the exact fraction does not.
    """
    value = jnp.asarray(value)
    whole = jnp.trunc(value)
    away = jnp.abs(value - whole) >= 0.5
    return whole + jnp.where(away, jnp.sign(value), 0).astype(value.dtype)


def np_round_half_away(value: np.ndarray) -> np.ndarray:
    """Rounds NumPy arrays as `round_half_away` does, for `setup` functions."""
    value = np.asarray(value)
    whole = np.trunc(value)
    rounded: np.ndarray = whole + np.where(np.abs(value - whole) >= 0.5, np.sign(value), 0).astype(
        value.dtype
    )
    return rounded


def np_saturate_cast(value: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Converts a NumPy array on the host as `saturate_cast` does."""
    target = np.dtype(dtype)
    if value.dtype == target:
        return value
    if value.dtype.kind == "f" and target.kind != "f":
        value = value.astype(np.float32) if value.itemsize < 4 else value  # limits do not fit float16
        with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN
            value = np_round_half_away(np.where(np.isnan(value), np.zeros((), value.dtype), value))
    if target.kind == "b":
        return value != 0
    if target.kind == "f":
        with np.errstate(over="ignore"):
            return value.astype(target)
    limits = np.iinfo(target)
    if value.dtype.kind == "f":
        # A limit such as 2**63 - 1 is not exact as a float, so values past the limits are replaced, not clipped.
        low, high = float(limits.min), float(limits.max) + 1.0
        result = np.where((value > low) & (value < high), value, 0).astype(target)
        result[value >= high] = limits.max
        result[value <= low] = limits.min
        return result
    if value.dtype.kind == "b":
        return value.astype(target)
    source = np.iinfo(value.dtype)
    clipped: np.ndarray = np.clip(value, max(limits.min, source.min), min(limits.max, source.max)).astype(
        target
    )
    return clipped


def narrowed(dtype: DTypeLike) -> np.dtype:
    """Returns the element type that JAX uses for `dtype`: without `jax_enable_x64`, 32 bits in place of 64."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def saturate_cast(value: ArrayLike, dtype: DTypeLike) -> Array:
    """Converts to `dtype`. For integers, values are rounded half away from zero and saturated, and NaN becomes 0.

    float → bool rounds first (0.2 → False); float → float16 overflows to infinity. Without `jax_enable_x64`, the result has
    32 bits where `dtype` has 64.
    """
    value = jnp.asarray(value)
    target = narrowed(dtype)
    source = np.dtype(value.dtype)
    if source == target:
        return value
    if target == np.bool_:
        if jnp.issubdtype(source, jnp.floating):
            rounded = round_half_away(value)
            return (rounded != 0) & ~jnp.isnan(rounded)
        return value != 0
    if jnp.issubdtype(target, jnp.floating) or source == np.bool_:
        return value.astype(target)
    limits = np.iinfo(target)
    if jnp.issubdtype(source, jnp.floating):
        if source.itemsize < 4:  # the limits do not fit into these types
            value, source = value.astype(jnp.float32), np.dtype(np.float32)
        if target.itemsize < 4 and source == np.float32:
            return _small_integers(value, target)
        if target.itemsize < 4:
            value = jnp.where(jnp.isnan(value), jnp.zeros((), source), value)
            rounded = lax.round(value, lax.RoundingMethod.AWAY_FROM_ZERO)
            bounds = (np.array(b, rounded.dtype) for b in (limits.min, limits.max))
            return lax.clamp(next(bounds), rounded, next(bounds)).astype(target)
        # float32 cannot hold a limit such as 2**31 - 1, and clipping to the next float would overflow. Values at or past
        # that float are set to the exact limit.
        rounded = round_half_away(jnp.where(jnp.isnan(value), jnp.zeros((), source), value))
        low, high = float(limits.min), float(limits.max) + 1.0
        safe = jnp.where((rounded > low) & (rounded < high), rounded, 0)
        result = safe.astype(target)
        result = jnp.where(rounded >= high, jnp.array(limits.max, target), result)
        return jnp.where(rounded <= low, jnp.array(limits.min, target), result)
    source_limits = np.iinfo(source)
    low, high = max(limits.min, source_limits.min), min(limits.max, source_limits.max)
    return jnp.clip(value, np.array(low, source), np.array(high, source)).astype(target)


# Adding this constant to an integer of up to 22 bits puts the integer into the lowest bits of the sum.
_WHOLE = np.float32(1.5 * 2**23)
# The largest float32 below 0.5. The sum of 0.5 itself and the float below n + 0.5 would round up to n + 1.
_BELOW_HALF = np.nextafter(np.float32(0.5), np.float32(0))


def _small_integers(value: Array, target: np.dtype) -> Array:
    """Converts float32 to integers of at most 16 bits.

    On CPUs, each step here is one instruction. `clamp` would need more, because it also handles NaN and the sign of 0.
    A conversion to integers would clamp again, so a CPU reads the integer from the bits of a float32. Other platforms
    convert, because ptxas 12.8 and 13.0 have a bug: code to store the lowest byte of a computed float32 is compiled to
    code that converts the number to a byte.
    """
    limits = np.iinfo(target)
    low, high = np.float32(limits.min), np.float32(limits.max)
    if low:
        value = jnp.where(jnp.isnan(value), np.float32(0), value)
    value = jnp.where(value > low, value, low)  # for unsigned types, NaN becomes `low`, which is 0
    value = jnp.where(value < high, value, high)
    if low:
        whole = lax.round(value, lax.RoundingMethod.AWAY_FROM_ZERO)
    else:
        whole = lax.floor(value + _BELOW_HALF)
    if known_platform() != "cpu":
        return whole.astype(target)
    return lax.bitcast_convert_type(whole + _WHOLE, jnp.int32).astype(target)


def varying_like(state: T, *others: object) -> T:
    """Marks the arrays of `state` as varying over all mesh axes over which any of `others` varies.

    In `shard_map` an array's type names the mesh axes over which its values differ, and a step of a loop must not change the
    type of the state. This costs nothing at run time.
    """
    axes = frozenset[str]().union(*map(varying_axes, others))
    result: T = jax.tree.map(lambda value: varying_over(value, axes), state) if axes else state
    return result


def varying_over(value: Any, axes: Iterable[str]) -> Any:
    """Marks an array as varying over these mesh axes of `shard_map`."""
    missing = set(axes) - varying_axes(value)
    return lax.pcast(value, tuple(sorted(missing)), to="varying") if missing else value


def needs_x64(dtype: DTypeLike) -> bool:
    """Returns True if JAX keeps a dtype only with 64-bit types enabled."""
    return np.dtype(dtype).itemsize == 8 and np.dtype(dtype).kind in "iuf"


def x64_context(enabled: bool) -> Any:
    """Returns a context in which JAX's 64-bit types are enabled or disabled."""
    return jax.enable_x64(enabled)
