"""Pixels of a decoded frame: from the planes of a codec to RGB or YCbCr.

Matrix and range are those that the video names; one that names no matrix has that of BT.601. Chroma is
interpolated between its samples, in both directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali.codecs.video_index import library
from jdali.types import RGB, DALIImageType

# Where FFmpeg's planes go. Planar RGB is in the order green, blue, red.
_RGB_CHANNELS, _YUV_CHANNELS = (1, 2, 0), (0, 1, 2)
_ONE = 1 << 16  # in the matrices of FFmpeg
# How a picture is turned, as EXIF numbers it, by the matrix from stored to shown positions: x of x, y of x, x of y, y of y.
_TURNS = {
    (1, 0, 0, 1): 1, (-1, 0, 0, 1): 2, (-1, 0, 0, -1): 3, (1, 0, 0, -1): 4,
    (0, 1, 1, 0): 5, (0, 1, -1, 0): 6, (0, -1, -1, 0): 7, (0, -1, 1, 0): 8,
}  # fmt: skip


def orientation(frame: Any) -> int:
    """Reads the orientation of a frame from the metadata of its video, 1 to 8 as in EXIF data; 1: as stored.

    Raises:
        SampleError: turned by an angle that is no multiple of 90°.
    """
    data = frame.side_data.get("DISPLAYMATRIX")
    if data is None:
        return 1
    matrix = np.frombuffer(data, np.int32)[[0, 1, 3, 4]] / _ONE
    turn = _TURNS.get(tuple(np.round(matrix, 3).tolist()))
    if turn is None:
        raise SampleError(f"the video is to be turned by {frame.rotation}°, which is no multiple of 90°")
    return turn


class Converter:
    """Converts frames; keeps what FFmpeg prepares for a format, so use one for each video."""

    def __init__(self) -> None:
        av = library()
        flags = av.video.reformatter.Interpolation
        self._smooth = flags.BILINEAR | flags.ACCURATE_RND | flags.FULL_CHR_H_INT
        self._colors = av.video.reformatter
        self._reformatter = av.video.reformatter.VideoReformatter()

    def __call__(self, frame: Any, out: np.ndarray, image_type: DALIImageType = RGB) -> None:
        """Writes a frame's pixels to `out`, uint8 [height, width, 3].

        Args:
            frame: of PyAV.
            out: as large as the frame.
            image_type: RGB, or YCbCr in studio range by BT.601, as image decoders give it.
        """
        # One thread: samples are worked on side by side.
        common = {"interpolation": self._smooth, "threads": 1}
        if image_type != RGB:
            planes = self._reformatter.reformat(
                frame, format="yuv444p", dst_colorspace=self._colors.Colorspace.ITU601,
                dst_color_range=self._colors.ColorRange.MPEG, **common,
            )  # fmt: skip
            _interleave(planes, _YUV_CHANNELS, out)
        elif frame.width % 2:
            # Planar output differs by 1 in the last column then.
            packed = self._reformatter.reformat(frame, format="rgb24", **common)
            out[...] = _rows(packed.planes[0])[: frame.height, : frame.width * 3].reshape(out.shape)
        else:
            # Planar, then interleaved: FFmpeg's code for packed pixels takes six times as long.
            planes = self._reformatter.reformat(frame, format="gbrp", **common)
            _interleave(planes, _RGB_CHANNELS, out)


def _interleave(frame: Any, channels: tuple[int, ...], out: np.ndarray) -> None:
    for plane, channel in zip(frame.planes, channels, strict=True):
        out[..., channel] = _rows(plane)[: frame.height, : frame.width]


def _rows(plane: Any) -> np.ndarray:
    """Returns the rows of a plane with their padding, uint8 [rows, bytes]."""
    return np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
