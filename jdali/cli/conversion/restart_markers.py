"""Adds restart markers to JPEG files without decoding them to pixels, with TurboJPEG or the program jpegtran."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jdali._errors import SampleError
from jdali._system.extras import install
from jdali.codecs import image as codec
from jdali.types import ANY_DATA

# A marker after each MCU makes a file 10% larger, a marker after every 8 MCUs only 1%. Longer intervals would make the
# decoder of a window decode much more than the window.
_WANTED_INTERVAL = 8
# From turbojpeg.h: the kind of instance that transforms, and two parameters.
_TRANSFORM, _OPTIMIZE, _RESTART_BLOCKS = 2, 11, 18
# Python packages with a library that exports TurboJPEG's functions.
_PACKAGES = ("pylibjxl",)
_MISSING = (
    "--windows needs TurboJPEG 3 (libturbojpeg of the system, or the package pylibjxl: "
    f"{install('convert')}) or the program jpegtran "
    "(libjpeg-turbo-progs of Debian and Ubuntu, libjpeg-turbo-utils of Fedora, jpeg-turbo of Homebrew); neither is here"
)
Transform = Callable[[bytes, int], bytes]


class _Operation(ctypes.Structure):
    """The struct `tjtransform` of turbojpeg.h; all zeros select the whole picture, unchanged."""

    _fields_ = (
        ("region", ctypes.c_int * 4), ("op", ctypes.c_int), ("options", ctypes.c_int), ("data", ctypes.c_void_p),
        ("filter", ctypes.c_void_p),
    )  # fmt: skip


@functools.cache
def transform() -> Transform:
    """Returns a function that rewrites a JPEG file with a restart marker after every `interval` MCUs.

    Raises:
        ImportError: neither the library nor the program is installed.
    """
    paths = [ctypes.util.find_library("turbojpeg")]
    for name in _PACKAGES:
        found = importlib.util.find_spec(name)
        for folder in (found.submodule_search_locations or ()) if found is not None else ():
            paths += map(str, sorted(Path(folder).glob("*.so")))
    for path in filter(None, paths):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        if hasattr(library, "tj3Transform"):
            return functools.partial(_by_library, library)
    program = shutil.which("jpegtran")
    if program is None:
        raise ImportError(_MISSING)
    return functools.partial(_by_program, program)


def _by_library(library: ctypes.CDLL, data: bytes, interval: int) -> bytes:
    library.tj3Init.restype = ctypes.c_void_p
    library.tj3GetErrorStr.restype = ctypes.c_char_p
    handle = ctypes.c_void_p(library.tj3Init(_TRANSFORM))
    out, size = ctypes.c_void_p(), ctypes.c_size_t()
    try:
        for parameter, value in ((_OPTIMIZE, 1), (_RESTART_BLOCKS, interval)):
            library.tj3Set(handle, parameter, value)
        if library.tj3Transform(
            handle,
            data,
            ctypes.c_size_t(len(data)),
            1,
            ctypes.byref(out),
            ctypes.byref(size),
            ctypes.byref(_Operation()),
        ):
            raise SampleError(
                f"TurboJPEG cannot put markers in: {library.tj3GetErrorStr(handle).decode(errors='replace')}"
            )
        return ctypes.string_at(out, size.value)
    finally:
        library.tj3Free(out)
        library.tj3Destroy(handle)


def _by_program(program: str, data: bytes, interval: int) -> bytes:
    command = [program, "-copy", "all", "-optimize", "-restart", f"{interval}B"]
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode:
        raise SampleError(f"jpegtran cannot put markers in: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def interval_of(across: int) -> int:
    """Returns the divisor of `across` (MCUs per row) that is nearest to `_WANTED_INTERVAL`.

    With a divisor as the interval, no segment crosses the end of a row.
    """
    divisors = [n for n in range(1, across + 1) if across % n == 0]
    return min(divisors, key=lambda n: (max(n, _WANTED_INTERVAL) / min(n, _WANTED_INTERVAL), n))


def units_across(data: bytes) -> int | None:
    """Returns the number of MCUs in a row of a JPEG file with one scan; None for other files."""
    info = codec.probe(data)
    coded = info.detail.coded if info.format == "jpeg" else None
    return None if coded is None else -(-info.width // coded.unit[1])


def with_markers(data: bytes) -> bytes:
    """Adds restart markers to a JPEG file without changing pixels.

    A file is returned unchanged if its restart interval already divides the number of MCUs in a row, or if markers
    would not make it decodable in parts. Progressive files become sequential, since only sequential files can be decoded
    in parts.

    Raises:
        SampleError: the file cannot be rewritten, or its pixels would change.
    """
    info = codec.probe(data)
    if info.format != "jpeg" or info.max_denominator == 1:
        return data
    across, coded = units_across(data), info.detail.coded
    if across is not None and coded.interval and across % coded.interval == 0:
        return data
    rewrite = transform()
    across = across or units_across(rewrite(data, 0))
    if across is None:
        return data
    marked = rewrite(data, interval_of(across))
    before, after = (
        codec.decode(one, output_type=ANY_DATA, adjust_orientation=False) for one in (data, marked)
    )
    if not np.array_equal(before, after):
        raise SampleError("the pixels of a picture changed while restart markers were put in")
    return marked
