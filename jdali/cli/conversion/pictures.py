"""Checks, resizes and encodes pictures."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np
from PIL import Image

from jdali._errors import SampleError
from jdali.cli.conversion import restart_markers
from jdali.codecs import image as codec
from jdali.readers.file import FILE_FILTERS
from jdali.types import ANY_DATA

_QUALITY = 90
# PNM is left out, because a text may begin with the same bytes.
_MATCHES = [coding.matches for coding in codec.FORMATS if coding.name != "pnm"]
_PNM = ("pbm", "pgm", "ppm")
_SOUNDS = ("flac", "ogg", "wav", "opus", "mp3", "m4a")
VIDEOS = ("mp4", "m4v", "mov", "avi", "mkv", "webm")
HOLDS = {
    **{pattern.removeprefix("*."): "image" for pattern in FILE_FILTERS},
    **dict.fromkeys(_SOUNDS, "audio"),
    **dict.fromkeys(VIDEOS, "video"),
}
"""What a file holds, by its extension; this is also the name of its field."""


class FileContent(bytes):
    """The bytes of a file whose name says that it is a picture, a sound or a video.

    Attributes:
        extension: extension of the name, a key of `HOLDS`.
    """

    extension: str

    def __new__(cls, data: bytes | np.ndarray, extension: str) -> FileContent:
        made = super().__new__(cls, data)
        made.extension = extension
        return made


def file_content(data: bytes | np.ndarray, name: str) -> bytes:
    """Returns the bytes of the file `name`, as `FileContent` if `HOLDS` has the extension."""
    extension = extension_of(name)
    return FileContent(data, extension) if extension in HOLDS else bytes(data)


def extension_of(name: str) -> str:
    """Returns what follows the last dot, in lower case; the whole name if there is none, as in an archive's "jpg"."""
    return name.rpartition(".")[2].lower()


@dataclasses.dataclass(frozen=True)
class PictureChange:
    """Changes to pictures.

    Attributes:
        max_size: maximum pixels of the longest side; larger pictures are resized and encoded as JPEG. None: no limit.
        quality: JPEG quality with which all pictures are encoded; None encodes only resized pictures.
        windows: add restart markers to JPEG files.
    """

    max_size: int | None = None
    quality: int | None = None
    windows: bool = False

    def apply(self, value: Any) -> Any:
        """Checks a picture by decoding it, and applies the changes; returns other values unchanged.

        Raises `SampleError` if the picture is damaged.
        """
        # The Hugging Face Hub stores pictures as {"bytes", "path"}.
        if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):
            return {**value, "bytes": self.apply(file_content(value["bytes"], str(value.get("path"))))}
        if not is_picture(value):
            return value
        info = codec.probe(value)
        picture = codec.decode(value, output_type=ANY_DATA, dtype=info.dtype, info=info)
        height, width, channels = picture.shape
        shrinks = self.max_size is not None and max(height, width) > self.max_size
        if shrinks or self.quality is not None:
            if info.dtype != np.uint8 or channels not in (1, 3):
                raise SampleError(
                    f"a picture of {channels} channels of {info.dtype} cannot become a JPEG file of the same kind"
                )
            return self._encoded(picture)
        return restart_markers.with_markers(value) if self.windows else value

    def _encoded(self, picture: np.ndarray) -> bytes:
        made = Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture)
        if self.max_size is not None and max(made.size) > self.max_size:
            width, height = (max(round(n * self.max_size / max(made.size)), 1) for n in made.size)
            made = made.resize((width, height), Image.Resampling.LANCZOS)
        out = io.BytesIO()
        options: dict[str, Any] = {"quality": self.quality or _QUALITY, "optimize": True}
        if self.windows:
            unit = 8 if made.mode == "L" else 16  # with 4:2:0, an MCU has 16 x 16 pixels
            options |= {
                "restart_marker_blocks": restart_markers.interval_of(-(-made.size[0] // unit)),
                "subsampling": "4:2:0",
            }
        made.save(out, "jpeg", **options)
        return out.getvalue()


def is_picture(value: Any) -> bool:
    """Returns True for a file with the extension of a picture, and for other bytes that begin as a picture does."""
    if isinstance(value, FileContent) and HOLDS[value.extension] == "image":
        return True
    return isinstance(value, bytes) and any(matches(memoryview(value)) for matches in _MATCHES)


def extension(value: Any) -> str | None:
    """Returns the usual extension of a picture, sound or video; None for other values."""
    if not isinstance(value, bytes):
        return None
    own = value.extension if isinstance(value, FileContent) else None
    if not is_picture(value):
        return _recorded(value) or own
    name = codec.probe(value).format
    if name == "pnm" and own in _PNM:
        return own
    return {"jpeg": "jpg", "jpeg2000": "jp2", "tiff": "tif"}.get(name, name)


def _recorded(data: bytes) -> str | None:
    if data[:4] == b"RIFF":
        return {b"WAVE": "wav", b"AVI ": "avi"}.get(data[8:12])
    if data[4:8] == b"ftyp":
        return "m4a" if data[8:11] == b"M4A" else "mp4"
    return {b"fLaC": "flac", b"OggS": "ogg", b"ID3": "mp3", b"\x1aE\xdf\xa3": "webm"}.get(
        data[:3] if data[:3] == b"ID3" else data[:4]
    )
