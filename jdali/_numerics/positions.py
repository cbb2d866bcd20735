"""Computes positions that become indices, with the same bits in every program, also in users' programs.

A position becomes an index and weights, and a compiler may compute it twice. If it rounds `a * b + c` once in one
place (a fused multiply-add) and twice in the other, the weights belong to another pixel. With constants c and d it
also turns (x + c) + d into x + (c + d), (x * c) * d into x * (c * d), and x / c into x * (1 / c); the results then
differ from those of the same call outside `jit`. The engine's programs have no such constants and fuse no products
(see `exact`), but a user's `jit` does both.

On a CPU nothing in JAX prevents that: XLA drops `optimization_barrier` before it fuses operations, removes
`reduce_precision` to the same precision, and treats a 0 computed from a size as a constant. But it does not fuse or
regroup across a comparison, which costs one instruction.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

# Larger than any position or product of two positions. The compiler might treat a comparison with infinity or the largest
# float as a test for finite numbers.
_FARTHEST = np.float32(2.0**127)


def rounded(value: Any) -> Any:
    """Rounds a value: the compiler cannot fuse its computation with later operations.

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
        dividend: float32, below 2¹²⁷, a JAX or NumPy array; a scalar if it may also be a constant.
        divisor: float32, a JAX or NumPy array; broadcast to the shape of `dividend`.
    """
    known = all(isinstance(value, np.ndarray | np.generic) for value in (dividend, divisor))
    return dividend / (divisor if known else jnp.where(dividend <= _FARTHEST, divisor, np.float32(1)))
