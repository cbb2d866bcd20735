"""The rows of an image that a kernel reaches from a block of rows, with what lies past the borders."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jax import Array, lax

from jdali.ops.image._border import INDICES


@dataclasses.dataclass(frozen=True)
class ReachedRows:
    """What the kernel reaches from some rows, in float32, with what lies past the borders of the image.

    It is made in the cache, block by block: made of the whole image it would be written to memory and read again twice.

    Attributes:
        border: see `with_margin`; None: the kernel stays within the image.
        kernel: padded size of the kernel, for each of D, H, W.
        shape: planes, rows and elements of a row that are reached.
        channels: of a pixel.
        flat: [N, D, H, W · C], the images, with a margin along D.
        fill: scalar, for the border "constant".
        starts: int32 [3], first element that is reached along D, H, W, of images with margins of the kernel's size - 1.
        sizes: int32 [2, 4], see `correlate`.
    """

    border: str | None
    kernel: tuple[int, int, int]
    shape: tuple[int, int, int]
    channels: int
    flat: Array
    fill: Array
    starts: Array
    sizes: Array

    @property
    def _side(self) -> int:
        """Elements in front of a row and behind it."""
        return 0 if self.border is None else (self.kernel[2] - 1) * self.channels

    def buffer(self) -> Array:
        """What `read` writes into."""
        planes, rows, length = self.shape
        return jnp.zeros((planes * rows, length + self._side), jnp.float32)

    def read(self, buffer: Array, n: Array, d: Array, first: Array) -> Array:
        """Rows for a block that begins at row `first` of plane `d` of image `n`."""
        _, depth, height, width = self.flat.shape
        border, zero = self.border, jnp.int32(0)
        row = first + jnp.arange(self.shape[1], dtype=jnp.int32) + self.starts[1]
        inside = jnp.ones(row.shape, bool)
        if border is not None:
            row, true = row - (self.kernel[1] - 1), self.sizes[0, 2]
            if border == "constant":
                inside = (row >= 0) & (row < true)
            else:
                row = INDICES[border](row, true)
        plane = n * depth + d + self.starts[0] + jnp.arange(self.shape[0], dtype=jnp.int32)
        rows = (plane[:, None] * height + jnp.clip(row, 0, height - 1)).reshape(-1)
        inside = jnp.tile(inside, self.shape[0])[:, None]
        fill = self.fill.astype(self.flat.dtype).astype(jnp.float32)

        def taken(lines: Array, columns: Array | None = None) -> Array:
            at = rows if columns is None else (rows[:, None], columns)
            values = (
                lines.at[at].get(mode="promise_in_bounds", wrap_negative_indices=False).astype(jnp.float32)
            )
            return jnp.where(inside, values, fill) if border == "constant" else values

        lines = self.flat.reshape(-1, width)
        within = taken(lines[:, : buffer.shape[1] - 2 * self._side])
        buffer = lax.dynamic_update_slice(buffer, within, (zero, jnp.int32(self._side)))
        if border is None or not self._side:
            return buffer
        side, true = self._side // self.channels, self.sizes[0, 3]
        for column, to in ((-side, 0), (true, self._side + true * self.channels)):
            if border == "constant":
                strip = jnp.broadcast_to(fill, (rows.size, self._side))
            else:
                pixels = INDICES[border](column + jnp.arange(side, dtype=jnp.int32), true)
                own = pixels[:, None] * self.channels + jnp.arange(self.channels, dtype=jnp.int32)
                strip = taken(lines, own.reshape(-1))
            buffer = lax.dynamic_update_slice(buffer, strip, (zero, jnp.int32(to)))
        return buffer

    def reached(self, buffer: Array) -> Array:
        """float32 of `shape`, of what `read` gave."""
        planes, rows, length = self.shape
        start = self.starts[2] * self.channels
        return lax.dynamic_slice_in_dim(buffer, start, length, axis=1).reshape(planes, rows, length)
