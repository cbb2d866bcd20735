"""Arithmetic for what decides an index: the same bits in every program, also in a user's.

A position goes into an index and into weights, and a compiler works it out once for each of them. If it rounds
`a * b + c` once in one place (a fused multiply-add) and twice in the other, the weights are those of another pixel.
It also makes x + (c + d) of (x + c) + d where c and d are constants, x * (c * d) of products, and x * (1 / c) of x / c:
then points are not those of the same call outside of `jit`. The engine's programs have no such constants and fuse no
products (see `exact`); a user's `jit` does.

Nothing that JAX has for this keeps XLA from it on a CPU: `optimization_barrier` is gone before operations are fused,
`reduce_precision` to the same precision is left out, and a 0 that is worked out from a size is a constant there.
But nothing is fused or regrouped across a comparison, and that costs one instruction.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

# No position, and no product of two that matter. Not the largest number nor infinity: a comparison with these
# might be taken for a test of the kind of number that it is.
_FARTHEST = np.float32(2.0**127)


def rounded(value: Any) -> Any:
    """Rounds the value here: nothing before it is fused with anything behind it.

    Args:
        value: float32 array, of an operation; numbers above 2¹²⁷ become infinite. NumPy rounds in any case, and its
            arrays come back as they are.
    """
    if isinstance(value, np.ndarray | np.generic):
        return value
    return jnp.where(value > _FARTHEST, jnp.float32(jnp.inf), value)


def quotient(dividend: Any, divisor: Any) -> Any:
    """Divides exactly, also where the divisor is a constant of the program.

    Args:
        dividend: float32, an array of JAX or NumPy, below 2¹²⁷; where it may be a constant as well, a scalar.
        divisor: as it, of a shape that can be broadcast to that of `dividend`.
    """
    known = all(isinstance(value, np.ndarray | np.generic) for value in (dividend, divisor))
    return dividend / (divisor if known else jnp.where(dividend <= _FARTHEST, divisor, np.float32(1)))
