"""Computes JAX's random bits (Threefry-2x32, Salmon et al., 2011) in a form that compiles and runs faster.

On a CPU, JAX compiles each use of its primitive to a loop over the rounds. Compiling takes 0.1 s, and each round reads
and writes whole arrays. On a GPU, JAX calls a kernel that reads and writes 24 bytes per number. This module unrolls the
rounds: they compile in a third of the time, stay in registers, and are fused with the operations that use the bits.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

# Largest draw, in elements, that is computed together with other draws. Larger draws stay single: joined draws are
# copied, while a single draw is fused with the operations that use its bits.
MOST_TOGETHER = 1 << 14

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)

Words = tuple[Array, Array]


def threefry(key_0: ArrayLike, key_1: ArrayLike, counter_0: ArrayLike, counter_1: ArrayLike) -> Words:
    """Computes 64 random bits for each element of the broadcast uint32 operands."""
    operands = jnp.broadcast_arrays(key_0, key_1, counter_0, counter_1)
    # Makes each operand depend on all operands, so that `vmap` maps all of them or none. Their shapes then give the
    # size of the draw, which `together` needs.
    nothing = functools.reduce(operator.or_, operands) & np.uint32(0)
    words: Words = _draw(*(o | nothing for o in operands))
    return words


def fold_in(key: Words, word: ArrayLike) -> Words:
    """Computes the words of `jax.random.fold_in(key, word)`."""
    return threefry(*key, np.uint32(0), word)


def threefry_rounds(key_0: Array, key_1: Array, counter_0: Array, counter_1: Array) -> Words:
    """Computes the 20 rounds, unrolled."""
    keys = (key_0, key_1, key_0 ^ key_1 ^ _PARITY)
    x, y = counter_0 + keys[0], counter_1 + keys[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x = x + y
            y = x ^ (y << np.uint32(distance) | y >> np.uint32(32 - distance))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


# `flat_program` searches jaxprs for draws by the name of this jitted function.
_draw = jax.jit(threefry_rounds)
DRAW = threefry_rounds.__name__


def together(uses: Sequence[Sequence[Array]]) -> list[Words]:
    """Computes independent draws; joins the small draws into one.

    Args:
        uses: the four operands of each draw.
    """
    shapes = [jnp.broadcast_shapes(*(o.shape for o in operands)) for operands in uses]
    sizes = [math.prod(shape) for shape in shapes]
    # In a program exported for any number of samples, sizes are symbols, not ints; such draws are not joined.
    small = [i for i, size in enumerate(sizes) if isinstance(size, int) and size <= MOST_TOGETHER]
    results = {i: threefry_rounds(*operands) for i, operands in enumerate(uses) if i not in small}
    if small:
        columns = [[jnp.broadcast_to(uses[i][o], shapes[i]).reshape(-1) for i in small] for o in range(4)]
        # Without the barrier, XLA would fuse all rounds into each operation that uses some of the bits. Without
        # `stack`, JAX 0.12 would compute the two words of a draw in two kernels, in two threads.
        words = lax.optimization_barrier(jnp.stack(threefry_rounds(*map(jnp.concatenate, columns))))
        ends = np.cumsum([sizes[i] for i in small])[:-1].tolist()
        for i, *parts in zip(small, *(jnp.split(word, ends) for word in words), strict=True):
            results[i] = tuple(part.reshape(shapes[i]) for part in parts)
    return [results[i] for i in range(len(uses))]
