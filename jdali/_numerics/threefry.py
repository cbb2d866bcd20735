"""Random bits of programs: how Threefry-2x32 (Salmon et al., 2011) is compiled. The bits are always JAX's.

JAX compiles every use of its primitive on a CPU as a loop over the rounds, which takes XLA 0.1 s each, and runs the
loop over whole arrays; on a GPU it calls a kernel that reads and writes 24 bytes for each number. Written out, the
rounds are compiled in a third of that time, stay in registers, and are fused with what takes the bits.
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

# Uses of no more elements than this are computed together. What is larger would have to be copied together and
# apart, while alone it is fused with what needs the bits.
MOST_TOGETHER = 1 << 14

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)

Words = tuple[Array, Array]


def threefry(key_0: ArrayLike, key_1: ArrayLike, counter_0: ArrayLike, counter_1: ArrayLike) -> Words:
    """Computes 64 random bits for each element of the operands, uint32, which are broadcast."""
    operands = jnp.broadcast_arrays(key_0, key_1, counter_0, counter_1)
    # Under `vmap` all operands are mapped then, or none: `together` computes a draw from their shapes.
    nothing = functools.reduce(operator.or_, operands) & np.uint32(0)
    words: Words = _draw(*(o | nothing for o in operands))
    return words


def fold_in(key: Words, word: ArrayLike) -> Words:
    """Computes the words of `jax.random.fold_in(key, word)`."""
    return threefry(*key, np.uint32(0), word)


def threefry_rounds(key_0: Array, key_1: Array, counter_0: Array, counter_1: Array) -> Words:
    """Computes the 20 rounds without a loop."""
    keys = (key_0, key_1, key_0 ^ key_1 ^ _PARITY)
    x, y = counter_0 + keys[0], counter_1 + keys[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x = x + y
            y = x ^ (y << np.uint32(distance) | y >> np.uint32(32 - distance))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


# A program of its own, so that `flat_program` finds the draws by its name.
_draw = jax.jit(threefry_rounds)
DRAW = threefry_rounds.__name__


def together(uses: Sequence[Sequence[Array]]) -> list[Words]:
    """Computes several draws that do not depend on each other: the small ones in one go.

    Args:
        uses: the four operands of each.
    """
    shapes = [jnp.broadcast_shapes(*(o.shape for o in operands)) for operands in uses]
    sizes = [math.prod(shape) for shape in shapes]
    # A size for any number of samples is no number, and no operands are put together by it.
    small = [i for i, size in enumerate(sizes) if isinstance(size, int) and size <= MOST_TOGETHER]
    results = {i: threefry_rounds(*operands) for i, operands in enumerate(uses) if i not in small}
    if small:
        columns = [[jnp.broadcast_to(uses[i][o], shapes[i]).reshape(-1) for i in small] for o in range(4)]
        # The barrier: otherwise XLA fuses all rounds into everything that takes some of the words, again and again.
        # Stacked, both words are one kernel: apart, XLA of JAX 0.12 makes two, and runs them in two threads.
        words = lax.optimization_barrier(jnp.stack(threefry_rounds(*map(jnp.concatenate, columns))))
        ends = np.cumsum([sizes[i] for i in small])[:-1].tolist()
        for i, *parts in zip(small, *(jnp.split(word, ends) for word in words), strict=True):
            results[i] = tuple(part.reshape(shapes[i]) for part in parts)
    return [results[i] for i in range(len(uses))]
