"""Computes positions that become indices, with the same bits in every program, also in users' programs.

An index and weights are computed from a position, and a compiler may compute the position twice. If it rounds `a * b + c`
once for the index (a fused multiply-add) and twice for the weights, the weights belong to another pixel. For constants c and
d, the compiler also turns (x + c) + d into x + (c + d), (x * c) * d into x * (c * d), and x / c into x * (1 / c); results
then differ from the same call outside of `jit`. The engine's programs have no such constants and fuse no products (see
`exact`), but programs under a user's `jit` may.

On a CPU no function of JAX prevents this: XLA drops `optimization_barrier` before it fuses operations, removes
`reduce_precision` to the same precision, and treats a 0 computed from a size as a constant. But XLA does not fuse or
regroup operations across a comparison, so the functions below insert one. It costs one instruction.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

# Larger than any position or product of two positions. The compiler might treat a comparison with infinity or the largest
# float as a test for finite numbers.
_FARTHEST = np.float32(2.0**127)


def rounded(value: Any) -> Any:
    """Returns the value through a comparison, so that the compiler cannot fuse its computation with later operations.

    Args:
        value: float32, the result of an operation; values above 2¹²⁷ become infinite. NumPy values, which are
            rounded already, are returned as they are.
    """
    if isinstance(value, np.ndarray | np.generic):
        return value
    return jnp.where(value > _FARTHEST, jnp.float32(jnp.inf), value)


def quotient(dividend: Any, divisor: Any) -> Any:
    """Divides with correct rounding, even if the divisor is a constant of the program.

    Args:
        dividend: float32, below 2¹²⁷, a JAX or NumPy array. It must be a scalar if both operands may be constants of
            the program.
        divisor: float32, a JAX or NumPy array; broadcast to the shape of `dividend`.
    """
    known = all(isinstance(value, np.ndarray | np.generic) for value in (dividend, divisor))
    return dividend / (divisor if known else jnp.where(dividend <= _FARTHEST, divisor, np.float32(1)))
