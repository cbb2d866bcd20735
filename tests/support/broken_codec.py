"""A codec in native code that believes what a file says: damaged files crash the process that decodes them."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import jdali

Decode: TypeAlias = "Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]"

_HEADER = "<4sq"  # what it is, and where its number is, bytes from the start of the file
_AT = struct.calcsize(_HEADER)
_FAR = 1 << 46  # bytes, from any address: no process has memory there
_KINDS = {"SEGV": b"NUMB", "KILL": b"KILL", "EXIT": b"EXIT"}


def write_files(folder: Path, count: int, damaged: Mapping[int, str]) -> str:
    """Writes files of one number each, in a folder for `readers.file`.

    Args:
        folder: to be made.
        count: of the files.
        damaged: by number, how the codec ends the process: SEGV, KILL (as for lack of memory) or EXIT.
    """
    (folder / "0").mkdir(parents=True)
    for number in range(count):
        kind = damaged.get(number)
        at = _AT if kind is None else _FAR
        header = struct.pack(_HEADER, _KINDS[kind or "SEGV"], at)
        (folder / "0" / f"{number:02}.number").write_bytes(header + struct.pack("<i", number))
    return str(folder)


def broken_codec() -> Decode:
    """The codec, as a function that is sent by value: workers on a cluster have no modules of tests."""

    def decode(encoded: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        kind, at = struct.unpack_from(_HEADER, encoded)
        if kind == _KINDS["KILL"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == _KINDS["EXIT"]:
            os._exit(3)
        number = np.zeros((), np.int32)
        # From where the header says it is, without a look at the size of the file.
        ctypes.memmove(number.ctypes.data, encoded.ctypes.data + at, number.nbytes)
        return number

    return decode


def careful_codec() -> Decode:
    """The same of good files; a damaged one is an error."""

    def decode(encoded: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        _, at = struct.unpack_from(_HEADER, encoded)
        if at + 4 > len(encoded):
            raise jdali.SampleError("the number is outside of the file")
        return np.array(struct.unpack_from("<i", encoded, at)[0], np.int32)

    return decode
