"""How an image is read at arbitrary places: as it is, or with the bytes of a pixel packed into one number.

On a CPU a gather takes its time by the number of indices, not of bytes: the three bytes of a pixel that come together
are read in a third of it, and numbers of 32 bits with vector instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import jax.numpy as jnp
from jax import Array, lax

_BITS = 8
_BYTES = 4


class Pixels(Protocol):
    """An image [*space, C] to be read pixel by pixel."""

    def take(self, place: Sequence[Array]) -> Array:
        """The pixels at a place, whose indices, one array an axis of space, lie in the image."""

    def where(self, mask: Array, pixels: Array, fill: Array) -> Array:
        """`pixels`, or where a mask of their shape is False the values `fill`, one or one a channel."""

    def beside(self, values: Array) -> Array:
        """One value a pixel, ready to be multiplied by `parts`."""

    def parts(self, pixels: Array) -> list[Array]:
        """What was taken, in parts that one computes with, one after the other."""

    def joined(self, parts: Sequence[Array]) -> Array:
        """[..., C] of one result for each of `parts`."""


class Plain:
    """As it is: pixels are [..., C]."""

    def __init__(self, image: Array):
        self._image = image

    def take(self, place: Sequence[Array]) -> Array:
        # One gather of whole pixels, which XLA keeps inside the loop that blends them. As indices have been
        # clipped, nothing need be done about those outside or below 0.
        return self._image.at[tuple(place)].get(mode="promise_in_bounds", wrap_negative_indices=False)

    def where(self, mask: Array, pixels: Array, fill: Array) -> Array:
        return jnp.where(self.beside(mask), pixels, fill)

    def beside(self, values: Array) -> Array:
        return jnp.expand_dims(values, -1)

    def each(self, function, pixels):
        return function(pixels)


class Packed:
    """uint8 of up to 4 channels: pixels are uint32, the first channel in the lowest bits."""

    def __init__(self, words: Array, channels: int):
        self._words, self._channels, self._width = words.reshape(-1), channels, words.shape[-1]

    @staticmethod
    def takes(image: Array) -> bool:
        return image.dtype == jnp.uint8 and 0 < image.shape[-1] <= _BYTES

    @staticmethod
    def words(image: Array) -> Array:
        """uint32 [*space] of uint8 [*space, C]."""
        wide = image.astype(jnp.uint32)
        result = wide[..., 0]
        for channel in range(1, image.shape[-1]):
            result = result | (wide[..., channel] << (_BITS * channel))
        return result

    @staticmethod
    def bytes(words, count):
        return jnp.stack([(words >> (_BITS * c)).astype(jnp.uint8) for c in range(count)], axis=-1)

    def take(self, place: Sequence[Array]) -> Array:
        y, x = place
        return self._words.at[y * self._width + x].get(mode="promise_in_bounds", wrap_negative_indices=False)

    def where(self, mask: Array, pixels: Array, fill: Array) -> Array:
        return jnp.where(mask, pixels, self.words(jnp.broadcast_to(fill, (self._channels,))))

    def beside(self, values: Array) -> Array:
        return values

    def each(self, function, pixels):
        parts = [function({k: (v >> (_BITS * c)) & 0xFF for k, v in pixels.items()}) for c in range(self._channels)]
        return self.words(jnp.stack(parts, axis=-1)) if False else __import__("functools").reduce(jnp.bitwise_or, [p.astype(jnp.uint32) << (_BITS*c) for c, p in enumerate(parts)])
