"""Reads the headers of many encoded images at once, and decodes small images together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import simplejpeg

from jdali._batches import aligned_empty
from jdali._errors import SampleError
from jdali._operators.record import Share
from jdali._system import limits
from jdali._system.devices import HostArray
from jdali.codecs import image
from jdali.codecs.base import UINT8, ImageInfo
from jdali.codecs.jpeg_scan import scan
from jdali.codecs.jpeg_segments import count_scans
from jdali.types import ANY_DATA, GRAY, RGB, DALIImageType


class Headers:
    """The headers of several images; `headers[i]` equals the result of `image.probe` for image i.

    Attributes:
        failures: errors of damaged headers, by index of the image.
    """

    def __init__(self, encoded: Sequence[HostArray]):
        self._scanned = found = scan(encoded)
        sizes = found.extents.prod(axis=1)
        self._usual = found.usual & (sizes <= limits.most("max_sample_bytes"))
        self._usual &= found.extents[:, :2].prod(axis=1) <= limits.most("max_pixels")
        for i in np.flatnonzero(self._usual & found.progressive).tolist():
            self._usual[i] = _has_few_scans(encoded[i].data)
        self._others: dict[int, ImageInfo] = {}
        self.failures: dict[int, Exception] = {}
        for i in np.flatnonzero(~self._usual).tolist():
            try:
                self._others[i] = image.probe(encoded[i])
            except Exception as error:
                self.failures[i] = error

    def select(self, rows: HostArray) -> Headers:
        """Returns the headers of some images; none of these headers may be damaged."""
        chosen = Headers.__new__(Headers)
        chosen._scanned, chosen._usual = self._scanned.select(rows), self._usual[rows]
        chosen._others = {i: self._others[row] for i, row in enumerate(rows.tolist()) if row in self._others}
        chosen.failures = {}
        return chosen

    def __getitem__(self, i: int) -> ImageInfo:
        return self._scanned.info(i) if self._usual[i] else self._others[i]

    def shapes(self, output_type: DALIImageType, adjust_orientation: bool) -> HostArray:
        """Returns height, width and channels of each decoded picture, int64 [n, 3]; 0 for damaged headers."""
        shapes = np.where(self._usual[:, None], self._scanned.extents, 0)
        if output_type != ANY_DATA:
            shapes[self._usual, 2] = 1 if output_type == GRAY else 3
        for i, info in self._others.items():
            shapes[i] = image.output_shape(info, output_type, adjust_orientation)
        return shapes

    def max_denominators(self) -> HostArray:
        """Returns the `max_denominator` of each image, int64 [n]; no header may be damaged."""
        return np.array([self[i].max_denominator for i in range(len(self._usual))], np.int64)

    def plain(self, output_type: DALIImageType, dtype: np.dtype) -> HostArray:
        """Returns bool [n], True for pictures that need no conversion after JPEG decoding."""
        plain = self._usual.copy()
        if dtype != UINT8 or output_type not in (RGB, GRAY, ANY_DATA):
            plain[:] = False
        return plain


def _has_few_scans(data: memoryview) -> bool:
    try:
        return count_scans(data) <= limits.most("max_jpeg_scans")
    except SampleError:  # `image.probe` will raise the error
        return False


def decode_small(
    encoded: Sequence[HostArray],
    headers: Headers,
    shapes: HostArray,
    share: Share,
    *,
    output_type: DALIImageType,
    dtype: np.dtype,
    adjust_orientation: bool,
    fast_idct: bool,
) -> tuple[list[tuple[HostArray, HostArray]], dict[int, Exception]]:
    """Decodes many small pictures; puts pictures of the same size into one array.

    Args:
        encoded, headers: contents of the files, and their headers, without damaged ones.
        shapes: result of `Headers.shapes`.
        share: `share(function, count)` calls the function with slices of the pictures, in several threads.
        output_type, dtype, adjust_orientation, fast_idct: see `image.decode`.

    Returns:
        For each size, its pictures [k, H, W, C] and their indices, int64 [k]; and the errors of failed pictures, by index.
        Rows of failed pictures have unspecified values.
    """
    sizes, group = _distinct(shapes)
    blocks = []
    rows: list[Any] = [None] * len(encoded)
    for number, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(group == number)
        block = aligned_empty((len(members), *size), dtype)
        blocks.append((block, members))
        for i, row in zip(members.tolist(), block, strict=True):
            rows[i] = row
    plain = headers.plain(output_type, dtype).tolist()
    wanted = list(map(tuple, shapes.tolist()))
    spaces = ["GRAY" if channels == 1 else "RGB" for channels in shapes[:, 2].tolist()]
    failures: dict[int, Exception] = {}

    def work(part: slice) -> None:
        turbo = simplejpeg.decode_jpeg
        for i, content, row, shape, space, quick in zip(
            range(part.start, part.stop), encoded[part], rows[part], wanted[part], spaces[part], plain[part],
            strict=True,
        ):  # fmt: skip
            try:
                if quick and turbo(content, space, fast_idct, False, 0, 0, 1.0, row).shape == shape:
                    continue
            except Exception:
                pass  # `image.decode` distinguishes harmless warnings from errors
            try:
                image.decode(
                    content, output_type=output_type, dtype=dtype, adjust_orientation=adjust_orientation,
                    fast_idct=fast_idct, out=row, info=headers[i],
                )  # fmt: skip
            except Exception as error:
                failures[i] = error

    share(work, len(encoded))
    return blocks, failures


def _distinct(shapes: HostArray) -> tuple[HostArray, HostArray]:
    """Returns the distinct rows of `shapes`, and each row's index among them."""
    if (shapes == shapes[0]).all():
        return shapes[:1], np.zeros(len(shapes), np.int64)
    sizes, group = np.unique(shapes, axis=0, return_inverse=True)
    return sizes, group.reshape(-1)
