"""Opens files and decodes sound with FFmpeg, through the optional package PyAV."""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from jdali._errors import SampleError

# From this version on, PyAV accepts metadata in any encoding, and no longer has the argument `metadata_errors`.
_ANY_ENCODING = 19


@functools.cache
def pyav() -> Any | None:
    try:
        return importlib.import_module("av")
    except ImportError:
        return None


def open_file(source: object, **arguments: Any) -> Any:
    """Opens a file for reading, with metadata in any encoding; takes the arguments of `av.open`, returns the container."""
    package = importlib.import_module("av")
    if int(package.__version__.split(".")[0]) < _ANY_ENCODING:
        arguments["metadata_errors"] = "ignore"
    return package.open(source, **arguments)


def sound(
    content: memoryview,
    form: str,
    frames: Callable[[Any, Any], Iterable[Any]],
    most_values: int,
    damaged: Callable[[str], SampleError],
) -> tuple[npt.NDArray[Any], int]:
    """Decodes a whole sound file.

    Args:
        form: FFmpeg's name of the file's format.
        frames: takes a container and its sound stream, and yields the decoded frames.
        most_values: largest number of values to decode; more are an error.
        damaged: builds the error for a damaged file from a reason.

    Returns: the sound, [T, C] in the decoder's type, and its rate.
    """
    parts: list[npt.NDArray[Any]] = []
    rate = got = 0
    try:
        with open_file(io.BytesIO(content), format=form) as container:
            stream = container.streams.audio[0]
            stream.thread_type = "NONE"
            for frame in frames(container, stream):
                values = frame.to_ndarray()
                if not frame.format.is_planar:
                    values = values.reshape(-1, frame.layout.nb_channels).T
                same = (frame.sample_rate, len(values), values.dtype)
                if parts and same != (rate, len(parts[0]), parts[0].dtype):
                    raise damaged("its rate or number of channels changes")
                rate = frame.sample_rate
                parts.append(values)
                got += frame.samples
                if got * len(values) > most_values:
                    raise damaged(f"{len(content)} bytes have more than {most_values} values")
    except (importlib.import_module("av").error.FFmpegError, IndexError) as error:
        reason = getattr(error, "strerror", None) or "there is no sound in it"
        raise damaged(f"{reason}, after {got} decoded samples") from error
    if not parts:
        raise damaged("there is no frame in it")
    return np.ascontiguousarray(np.concatenate(parts, axis=1).T), rate


def damaged(name: str, reason: str) -> SampleError:
    return SampleError(f"decoders.audio: damaged or cut off {name} file: {reason}")


def float_decoder(context: Any) -> Any:
    """Returns FFmpeg's float decoder if the codec has an integer and a float decoder; otherwise returns `context`."""
    name = context.name.removesuffix("float") + "float"
    package = importlib.import_module("av")
    if context.name == name or name not in package.codecs_available:
        return context
    return package.CodecContext.create(name, "r")


def floats(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Converts samples of any of FFmpeg's formats to float32; scales integers to -1 to 1."""
    if values.dtype.kind == "f":
        return values.astype(np.float32, copy=False)
    half = 2.0 ** (8 * values.dtype.itemsize - 1)
    middle = half if values.dtype.kind == "u" else 0.0
    return ((values - middle) / half).astype(np.float32)
