"""Reads volumes from NIfTI files."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._operators.record import Static, also_takes, reader
from jdali._system import limits
from jdali._system.extras import install
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.named_files import ArrayFileReader, array_file_options

try:
    from nibabel.nifti1 import Nifti1Header
    from nibabel.nifti2 import Nifti2Header
    from nibabel.spatialimages import HeaderDataError
except ImportError:
    Nifti1Header = None

_NAME = "readers.nifti"
_GZIP = b"\x1f\x8b"
# Sizes of the headers of versions 1 and 2, bytes. A header begins with its own size, in either byte order.
_VERSION_1, _VERSION_2 = 348, 540
_MAGIC = (b"n+1", b"n+2")


class NiftiReader(ArrayFileReader):
    """Reads NIfTI files by path."""

    def __init__(
        self,
        scaled: bool,
        with_affine: bool,
        with_spacing: bool,
        file_filter: str,
        options: Mapping[str, Any],
    ):
        super().__init__(_NAME, file_filter, options)
        self._scaled, self._with_affine, self._with_spacing = scaled, with_affine, with_spacing
        self.num_outputs = 1 + with_affine + with_spacing

    @np.errstate(all="ignore")
    def decoded(self, data: np.ndarray) -> tuple[np.ndarray, ...]:
        with io.BytesIO(data.data) as raw:
            file = gzip.GzipFile(fileobj=raw) if data[:2].tobytes() == _GZIP else raw
            try:
                header = _header(file.read(_VERSION_2))
                volume = self._volume(file, header)
                outputs = [volume]
                if self._with_affine:
                    outputs.append(header.get_best_affine().astype(np.float32))
                if self._with_spacing:
                    outputs.append(np.asarray(header.get_zooms(), np.float32))
            except SampleError:
                raise
            except (
                HeaderDataError,
                ValueError,
                OverflowError,
                KeyError,
                EOFError,
                OSError,
                zlib.error,
            ) as error:
                raise SampleError(f"it is damaged: {error}") from error
        return tuple(outputs)

    def _volume(self, file: Any, header: Any) -> np.ndarray:
        shape, dtype = tuple(map(int, header.get_data_shape())), header.get_data_dtype()
        if dtype.kind not in "iuf" or dtype.itemsize > 8:
            raise SampleError(f"it is of type {dtype}; integers and floats of up to 64 bits are read")
        if not shape or any(size < 1 for size in shape):
            raise SampleError(f"it claims to be of shape {list(shape)}")
        count = math.prod(shape)
        slope, intercept = header.get_slope_inter()
        # Scaling computes in float64, which takes more memory.
        width = 8 if self._scaled and slope is not None else dtype.itemsize
        limits.check("max_sample_bytes", count * max(width, 4), f"its volume of shape {list(shape)}")
        start, size = int(header["vox_offset"]), count * dtype.itemsize
        if start < header.sizeof_hdr:
            raise SampleError(f"it claims to have its values at byte {start}, within the header")
        limits.check("max_sample_bytes", start, f"its header, up to byte {start},")
        file.seek(start)
        content = file.read(size)
        if len(content) < size:
            raise SampleError(
                f"it ends after {len(content)} bytes of values, its shape {list(shape)} has {size}"
            )
        file.read(1)  # reads up to the end, where gzip verifies its checksum
        stored = np.frombuffer(content, dtype).reshape(shape, order="F")
        if not self._scaled:
            return np.ascontiguousarray(stored, dtype.newbyteorder("="))
        if slope is None or (slope, intercept) == (1, 0):
            return np.ascontiguousarray(stored, np.float32)
        values = stored.astype(np.float64) * slope + intercept
        return np.ascontiguousarray(values, np.float32)


def _header(data: bytes) -> Any:
    """Parses the header of a file; raises `SampleError` for another format."""
    first = {int.from_bytes(data[:4], "little"), int.from_bytes(data[:4], "big")}
    kind = Nifti1Header if _VERSION_1 in first else Nifti2Header if _VERSION_2 in first else None
    if kind is None or len(data) < kind.sizeof_hdr:
        raise SampleError("it is not a NIfTI file")
    header = kind(data[: kind.sizeof_hdr], check=False)
    if header["magic"].item()[:3] not in _MAGIC:
        raise SampleError("it has no values: pairs of .hdr and .img files are not read")
    return header


def _num_outputs(arguments: Mapping[str, Any]) -> int:
    return 1 + bool(arguments.get("with_affine")) + bool(arguments.get("with_spacing"))


@reader(name=_NAME, outputs=_num_outputs, devices=("cpu",))
@also_takes(array_file_options, shuffle_options, reader_options)
def nifti(
    *,
    file_filter: Static[str] = "*.nii*",
    scaled: Static[bool] = True,
    with_affine: Static[bool] = False,
    with_spacing: Static[bool] = False,
    **options: Any,
) -> NiftiReader:
    """Reads volumes from NIfTI files (.nii, .nii.gz), versions 1 and 2, with three axes, or four with time.

    As in nibabel, the axes have the stored order, x first; the affine (`with_affine`) gives their orientation in space.

    Parity: DALI has no such reader.

    Args:
        file_filter: glob pattern of the files in `file_root`, case-sensitive.
        scaled: apply the slope and intercept of the header; False keeps the stored values, for example labels.
        with_affine: also return the affine from indices to millimetres: the sform, or else the qform, or else the spacing.
        with_spacing: also return the size of a voxel along each axis, as the last output.

    Returns: float32 [x, y, z(, t)], or the type of the file if not `scaled`; the affine, float32 [4, 4]; the spacing,
        float32 [axes].

    Example: volumes, spacing = fn.readers.nifti(file_root="scans", with_spacing=True)
    """
    if Nifti1Header is None:
        raise ImportError(
            f"{_NAME}: the package nibabel, which reads headers, is missing: {install('nifti')}"
        )
    return NiftiReader(scaled, with_affine, with_spacing, file_filter, options)
