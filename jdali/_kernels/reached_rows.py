"""Reads the rows from which a kernel computes a block of its result, with a margin past the image's borders."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jax import Array, lax

from jdali._kernels.border import INDICES, rows_with_margin


@dataclasses.dataclass(frozen=True)
class ReachedRows:
    """Reads the rows from which a kernel computes a block of its result, as float32, with a margin at the borders.

    A block stays in the cache. Extending the whole image would write it to memory and read it back once for each axis.

    Attributes:
        border: see `with_margin`; None: the kernel stays within the image.
        kernel: padded size of the kernel, for each of D, H, W.
        shape: number of planes, rows per plane and elements per row that a block needs.
        flat: [N, D, H, W · C], the images, with a margin along D.
        fill: scalar, for the border "constant".
        starts: int32 [3], index along D, H, W of the first element that the kernel needs for the first output element.
            The index counts from the start of the margin, which has `kernel` - 1 elements if there is a `border`.
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
        """Number of pixels in the margin on each side of a row."""
        return 0 if self.border is None else self.kernel[2] - 1

    def buffer(self) -> Array:
        planes, rows, length = self.shape
        return jnp.zeros((planes * rows, length + self._side * self.channels), jnp.float32)

    def read(self, buffer: Array, n: Array, d: Array, first: Array) -> Array:
        """Reads rows for a block that begins at row `first` of plane `d` of image `n`."""
        _, depth, height, width = self.flat.shape
        planes, count, _ = self.shape
        row, inside = first + self.starts[1] + jnp.arange(count, dtype=jnp.int32), None
        if self.border is not None:
            row, true = row - (self.kernel[1] - 1), self.sizes[0, 2]
            if self.border == "constant":
                inside = jnp.tile((row >= 0) & (row < true), planes)
            else:
                row = INDICES[self.border](row, true)
        plane = n * depth + d + self.starts[0] + jnp.arange(planes, dtype=jnp.int32)
        rows = (plane[:, None] * height + jnp.clip(row, 0, height - 1)).reshape(-1)
        return rows_with_margin(
            buffer, self.flat.reshape(-1, width), rows, self.sizes[0, 3], self._side, self.border or "constant",
            fill=self.fill, inside=inside, unit=self.channels,
        )  # fmt: skip

    def reached(self, buffer: Array) -> Array:
        """Cuts the elements that the kernel needs out of a buffer filled by `read`: float32 of `shape`."""
        planes, rows, length = self.shape
        start = self.starts[2] * self.channels
        return lax.dynamic_slice_in_dim(buffer, start, length, axis=1).reshape(planes, rows, length)
