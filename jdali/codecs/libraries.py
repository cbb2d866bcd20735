"""Lists the libraries that read each format, the fastest first, and their installed versions."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import NamedTuple


class Library(NamedTuple):
    """A library that reads all or some files of a format.

    Attributes:
        package: name to install it by.
        module: name to import it by.
        does: the kinds of files that it reads. jdali uses the first installed library of the list that can read a file.
        extra: jdali's extra that installs it; "" if it is always installed.
    """

    package: str
    module: str
    does: str
    extra: str = ""


class Row(NamedTuple):
    """A row of `report`: a library for a format. `version` is None if the library is not installed."""

    format: str
    by: Library
    version: str | None


def _pillow(does: str) -> Library:
    return Library("pillow", "PIL", does)


def _imagecodecs(does: str) -> Library:
    return Library("imagecodecs", "imagecodecs", does, "codecs")


def _numpy(does: str) -> Library:
    return Library("numpy", "numpy", does)


def _soundfile(does: str) -> Library:
    return Library("soundfile", "soundfile", does)


LIBRARIES: dict[str, tuple[Library, ...]] = {
    "jpeg": (
        Library("simplejpeg", "simplejpeg", "8 bits: baseline, progressive, arithmetic, CMYK"),
        _pillow("8 bits, lossless; sampling that libjpeg-turbo's own interface does not know"),
        _imagecodecs("12 and 16 bits, lossless"),
    ),
    "png": (_imagecodecs("all but interlaced pictures of 8 bits"), _pillow("8 bits; 16 bits of gray")),
    "webp": (_imagecodecs("pictures"), _pillow("the first picture of an animation; all others")),
    "bmp": (_numpy("all"),),
    "tiff": (
        _imagecodecs("all"),
        _pillow(
            "8 bits of 1, 3 or 4 channels; 1 bit, 16 bits and floats of one channel; printing what is wrong "
            "with damaged files"
        ),
    ),
    "jpeg2000": (_imagecodecs("1 to 16 bits"), _pillow("8 bits of up to 4 channels")),
    "pnm": (_numpy("all"),),
    "gif": (_pillow("the first picture"),),
    "avif": (_pillow("8 bits, from 11.3 on"), _imagecodecs("10 and 12 bits; 8 bits with an older Pillow")),
    "heic": (Library("pillow-heif", "pillow_heif", "pictures, as 8 bits", "heif"),),
    "jpegxl": (_imagecodecs("pictures"),),
    "wav": (_numpy("integers and floats"), _soundfile("A-law, µ-law, ADPCM, unknown length")),
    "flac": (Library("miniaudio", "miniaudio", "all", "audio"), _soundfile("all")),
    "ogg": (_soundfile("Vorbis, Opus"),),
    "mp3": (
        Library("av", "av", "all", "audio"),
        _soundfile("all, printing what is wrong with damaged files"),
    ),
    "m4a": (Library("av", "av", "AAC, ALAC and others in MP4", "audio"),),
    "webm": (Library("av", "av", "Opus, Vorbis and others in Matroska", "audio"),),
}


def report() -> list[Row]:
    return [
        Row(name, library, installed_version(library.package, library.module))
        for name, choices in LIBRARIES.items()
        for library in choices
    ]


def installed_version(package: str, module: str) -> str | None:
    """Returns the version of a package; "unknown" if the package does not state it, None if it is not installed."""
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except ImportError:  # the parent package is missing
        return None
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
