"""Ways to read an image's pixels in a warp: plain, or with the bytes of a pixel packed into one number.

On a CPU, the time of a gather depends on the number of indices, not on the number of bytes, and XLA repeats the surrounding
operations for each element. A packed pixel is read with one index, by vector instructions. With the border "replicate",
packing is not faster, because XLA then has few operations to repeat.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._kernels.by_platform import loop, rows_of_block
from jdali._numerics.rounding import varying_like

K = TypeVar("K")

_BITS, _BYTES = 8, 4
_BLOCK = 1 << 16  # elements packed in one step


class Plain:
    """A plain image [*space, C]: pixels are read as [..., C]."""

    def __init__(self, image: Array):
        self._image = image
        self.channels: int = image.shape[-1]
        self.dtype = image.dtype

    def form(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of the points for an output [*shape, C]; here, there is one point per pixel."""
        return tuple(shape)

    def read(self, indices: Sequence[Array]) -> Array:
        """Reads the pixels at the given indices, one array for each axis. All indices must be inside the image."""
        # One gather reads whole pixels, because XLA keeps it inside the loop that blends them.
        return self._image.at[tuple(indices)].get(mode="promise_in_bounds", wrap_negative_indices=False)

    def corners(self, neighbours: Sequence[tuple[Array, Array]]) -> dict[tuple[int, ...], Array]:
        """Reads the pixels around each point, two along each axis, into a dict. A key has 0 or 1 for each axis."""
        return corners_by(self.read, neighbours)

    def aligned(self, values: Array) -> Array:
        """Reshapes values, one per point, to broadcast against the arrays that `made` passes to `function`."""
        return jnp.expand_dims(values, -1)

    def filled(self, inside: Array, pixels: Array, fill: Array) -> Array:
        """Replaces pixels by `fill` where `inside` is False. `fill` has one value, or one per channel."""
        return jnp.where(self.aligned(inside), pixels, fill)

    def made(self, function: Callable[[Mapping[K, Array]], Array], pixels: Mapping[K, Array]) -> Array:
        return function(pixels)


class Elements(Plain):
    """A plain image that is read element by element, [..., C].

    With this class, a GPU computes a warp in one kernel, and does not write intermediate values to memory.
    """

    def form(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape, self.channels)

    def read(self, indices: Sequence[Array]) -> Array:
        channel = lax.broadcasted_iota(jnp.int32, indices[0].shape, indices[0].ndim - 1)
        return super().read([*indices, channel])

    def aligned(self, values: Array) -> Array:
        return values


class Squares(Plain):
    """A plain image [H, W, C] whose pixels are read in squares of four, because a TPU's time depends on the number of reads."""

    def __init__(self, image: Array):
        super().__init__(image)
        padded = lax.pad(image, np.zeros((), image.dtype), [(0, 1, 0), (0, 1, 0), (0, 0, 0)])
        right, below = padded[:-1, 1:], padded[1:]
        self._squares = jnp.concatenate([image, right, below[:, :-1], below[:, 1:]], axis=-1)

    def corners(self, neighbours: Sequence[tuple[Array, Array]]) -> dict[tuple[int, ...], Array]:
        """Reads pixels like `Plain.corners`. The two neighbours along an axis must be adjacent or equal."""
        (top, _), (left, _) = neighbours
        square = self._squares.at[top, left].get(mode="promise_in_bounds", wrap_negative_indices=False)
        found: dict[tuple[int, ...], Array] = dict(
            zip(itertools.product((0, 1), repeat=2), jnp.split(square, 4, axis=-1), strict=True)
        )
        same_row, same_column = (self.aligned(one == other) for one, other in neighbours)
        found[0, 1] = jnp.where(same_column, found[0, 0], found[0, 1])
        found[1, 1] = jnp.where(same_column, found[1, 0], found[1, 1])
        return found | {(1, x): jnp.where(same_row, found[0, x], found[1, x]) for x in (0, 1)}


class Packed:
    """A uint8 image [H, W, C] of up to four channels, read as uint32 pixels with the first channel in the lowest bits."""

    def __init__(self, image: Array, rows: Array | None = None):
        """Packs at least the first `rows` rows in a loop; callers must not read later rows. None: packs all at once."""
        words = _packed_at_once(image) if rows is None else _packed_rows(image, rows)
        self._words = words.reshape(-1)
        self._width = image.shape[1]
        self.channels: int = image.shape[-1]
        self.dtype = image.dtype

    def form(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape)

    def read(self, indices: Sequence[Array]) -> Array:
        row, column = indices
        index = row * self._width + column
        return self._words.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)

    def corners(self, neighbours: Sequence[tuple[Array, Array]]) -> dict[tuple[int, ...], Array]:
        return corners_by(self.read, neighbours)

    def aligned(self, values: Array) -> Array:
        return values

    def filled(self, inside: Array, pixels: Array, fill: Array) -> Array:
        return jnp.where(inside, pixels, packed(channels_of(jnp.broadcast_to(fill, (self.channels,)))))

    def made(self, function: Callable[[Mapping[K, Array]], Array], pixels: Mapping[K, Array]) -> Array:
        """Applies `function`, which returns uint8, to each channel."""
        return packed(
            [
                function({key: (words >> (_BITS * channel)) & 0xFF for key, words in pixels.items()})
                for channel in range(self.channels)
            ]
        )


Pixels = Plain | Packed


def corners_by(
    read: Callable[[Sequence[Array]], Array], neighbours: Sequence[tuple[Array, Array]]
) -> dict[tuple[int, ...], Array]:
    """Reads each corner with one gather; see `Plain.corners`."""
    return {
        sides: read([pair[side] for pair, side in zip(neighbours, sides, strict=True)])
        for sides in itertools.product((0, 1), repeat=len(neighbours))
    }


def _packed_at_once(image: Array) -> Array:
    """Packs an image, uint32 [H, W]. The barrier makes a GPU write the words; otherwise it would gather single bytes."""
    return lax.optimization_barrier(packed(channels_of(image)))


def _packed_rows(image: Array, rows: Array) -> Array:
    """Packs rows in a loop: uint32 [H, W]. A single expression would take 3 times as long, because XLA flattens its shape."""
    height = image.shape[0]
    block = rows_of_block(image.shape, _BLOCK)

    def pack(i: Array, words: Array) -> Array:
        first = jnp.minimum(i * block, height - block)
        part = packed(channels_of(lax.dynamic_slice_in_dim(image, first, block)))
        return lax.dynamic_update_slice_in_dim(words, part, first, 0)

    start = varying_like(jnp.zeros(image.shape[:2], jnp.uint32), image, rows)
    return loop((rows + block - 1) // block, pack, start)


def packs(image: Array) -> bool:
    """Returns True if a pixel's channels fit into 32 bits."""
    return image.dtype == jnp.uint8 and 0 < image.shape[-1] <= _BYTES


def packed(channels: Sequence[Array]) -> Array:
    """Packs up to four uint8 channels [...] into uint32 [...]."""
    words = [values.astype(jnp.uint32) << (_BITS * channel) for channel, values in enumerate(channels)]
    return functools.reduce(jnp.bitwise_or, words)


def channels_of(image: Array) -> list[Array]:
    return [image[..., channel] for channel in range(image.shape[-1])]


def unpacked_channels(words: Array, count: int) -> list[Array]:
    """Unpacks the first `count` channels, int32 [...], 0 to 255."""
    return [((words >> (_BITS * channel)) & 0xFF).astype(jnp.int32) for channel in range(count)]


def unpacked(words: Array, channels: int) -> Array:
    """Unpacks words into pixels, uint8 [..., C], in the way that is fastest on a CPU."""
    return jnp.stack([(words >> (_BITS * channel)).astype(jnp.uint8) for channel in range(channels)], axis=-1)


def unpacked_at_once(words: Array, channels: int) -> Array:
    """Unpacks words into pixels, uint8 [..., C], fast on a GPU: it computes each word once, and writes whole words."""
    words = lax.optimization_barrier(words)
    return (words[..., None] >> (_BITS * jnp.arange(channels, dtype=jnp.uint32))).astype(jnp.uint8)
