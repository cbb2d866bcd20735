"""Reads images from FITS files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._numerics.rounding import np_saturate_cast
from jdali._operators.record import Static, also_takes, reader
from jdali.codecs import fits as codec
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.named_files import ArrayFileReader, array_file_options
from jdali.types import to_dtype

_NAME = "experimental.readers.fits"
_FIRST_EXTENSION = (2,)


class FitsReader(ArrayFileReader):
    """Reads FITS files by path."""

    def __init__(
        self,
        indices: Sequence[int],
        dtypes: Sequence[np.dtype | None],
        file_filter: str,
        options: Mapping[str, Any],
    ):
        codec.require()
        super().__init__(_NAME, file_filter, options)
        self._indices, self._dtypes = indices, dtypes
        self.num_outputs = len(indices)

    def decoded(self, data: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(
            image if dtype is None else np_saturate_cast(image, dtype)
            for image, dtype in zip(codec.decode(data, self._indices), self._dtypes, strict=True)
        )


def _several(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _num_outputs(arguments: Mapping[str, object]) -> int:
    return len(_several(arguments.get("hdu_indices", _FIRST_EXTENSION)))


@reader(name=_NAME, outputs=_num_outputs, source="operators/reader/fits_reader_op.h")
@also_takes(array_file_options, shuffle_options, reader_options)
def fits(
    *,
    dtypes: Static[tuple[np.dtype, ...] | None] = None,
    file_filter: Static[str] = "*.fits",
    hdu_indices: Static[tuple[int, ...]] = _FIRST_EXTENSION,
    **options: object,
) -> FitsReader:
    """Reads images from FITS files: an output for each of `hdu_indices`.

    Images compressed with RICE, GZIP, HCOMPRESS or PLIO are decoded. Values are scaled by BSCALE and BZERO;
    integers that are unsigned by convention (BZERO of half the range) become unsigned.

    Args:
        dtypes: type of each output; values are rounded and saturated. None: as stored.
        file_filter: glob pattern of the files in `file_root`, case-sensitive.
        hdu_indices: indices of the HDUs, from 1 on: 1 is the primary HDU, 2 the first extension.

    Returns: the image of each HDU, its fastest-varying axis last.

    Example: table = fn.experimental.readers.fits(files=["a.fits", "b.fits"], hdu_indices=[1])
    """
    indices = _several(hdu_indices)
    if not indices or min(indices) < 1:
        raise ValueError(f"{_NAME}: hdu_indices is {indices}; it must hold numbers from 1 on")
    types: Sequence[np.dtype | None] = [None] * len(indices)
    if dtypes is not None:
        types = [to_dtype(dtype) for dtype in _several(dtypes)]
        if len(types) != len(indices):
            raise ValueError(f"{_NAME}: {len(types)} dtypes for {len(indices)} outputs")
    return FitsReader(indices, types, file_filter, options)
