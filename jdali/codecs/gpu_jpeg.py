"""Decodes JPEG files on an NVIDIA GPU with nvImageCodec, which uses the GPU's JPEG engines if it has them."""

from __future__ import annotations

import contextlib
import functools
import queue
import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import simplejpeg

from jdali._numerics.platform import platform_of
from jdali._system.devices import HostArray
from jdali.codecs.base import ImageInfo
from jdali.codecs.jpeg_tiles import Coded

# Size of the smallest picture to decode on a GPU, in decoded bytes. For smaller pictures, the calls to nvImageCodec
# alone take as long as decoding on the host.
_LEAST_BYTES = 1 << 16
_MOST_UNIT = 16  # pixels; the JPEG engines do not decode larger MCUs, which some files have
_OPTIONS = ":fancy_upsampling=1"  # interpolates chroma, as the host does
# Number of decoders per device. Two keep the JPEG engines busy; more would only take memory.
_DECODERS = 2
_END_OF_IMAGE = b"\xff\xd9"


@functools.cache
def has_decoder(device: jax.Device) -> bool:
    """Returns True if nvImageCodec is installed and can decode on `device`; warns if it is installed but cannot."""
    if platform_of(device) != "gpu":
        return False
    try:
        _decoders(device)
    except ImportError:
        return False
    except Exception as error:
        warnings.warn(f"nvImageCodec cannot decode on {device}, so the host does: {error}", stacklevel=2)
        return False
    return True


def can_decode(data: HostArray, info: ImageInfo, adjust_orientation: bool) -> bool:
    """Returns True if a GPU decodes a file to the same RGB values as the host, up to rounding.

    Such a file is complete, sequential, gray or YCbCr, not tiny, and needs no rotation.
    """
    coded: Coded | None = info.detail.coded if info.format == "jpeg" else None
    if coded is None or info.detail.adobe or max(coded.unit) > _MOST_UNIT:
        return False
    if info.height * info.width * 3 < _LEAST_BYTES or (adjust_orientation and info.orientation != 1):
        return False
    first_component = data[coded.height_at + 5]
    return first_component != ord("R") and data[-2:].tobytes() == _END_OF_IMAGE


def decode_padded(
    encoded: Sequence[HostArray],
    starts: Sequence[tuple[int, int]],
    shape: tuple[int, ...],
    count: int,
    device: jax.Device,
) -> jax.Array:
    """Decodes windows of RGB pictures into the first rows of an array [count, *shape] on `device`.

    All other elements are unspecified. Values may differ from the host's by 1, or by 3 if the GPU has no JPEG engines.

    Args:
        starts: y and x of each window in its picture.
        shape: height, width and 3; a window may be smaller.

    Raises:
        ValueError: a picture cannot be decoded. Damaged data are not always noticed.
    """
    from nvidia import nvimgcodec as nv

    height, width, _ = shape
    # nvImageCodec fills the part of a region outside its picture with zeros.
    streams = [
        nv.CodeStream(data).get_sub_code_stream(region=nv.Region(y, x, y + height, x + width))
        for data, (y, x) in zip(encoded, starts, strict=True)
    ]
    parameters = nv.DecodeParams(apply_exif_orientation=False, color_spec=nv.ColorSpec.SRGB)
    decoders = _decoders(device)
    decoder = decoders.get()
    try:
        decoded = decoder.decode(streams, params=parameters)
    finally:
        decoders.put(decoder)
    if any(picture is None for picture in decoded):
        raise ValueError("nvImageCodec could not decode a picture")
    pictures = [jax.dlpack.from_dlpack(picture) for picture in decoded]
    joined: jax.Array = _joined([*pictures, *pictures[:1] * (count - len(pictures))])
    # Waits for the result, because nvImageCodec may reuse a picture's memory once its array is gone, even if XLA still
    # reads it.
    return jax.block_until_ready(jax.device_put(joined, device))


_joined = jax.jit(jnp.stack)


@functools.cache
def _decoders(device: jax.Device) -> queue.LifoQueue[Any]:
    """Returns the decoders of a device. Only one thread may use a decoder at a time."""
    from nvidia import nvimgcodec as nv

    sample = np.frombuffer(simplejpeg.encode_jpeg(np.zeros((16, 16, 3), np.uint8)), np.uint8)
    # Each decoder has one backend, because a decoder with several would use any free one, and their results differ.
    for kind in (nv.BackendKind.HW_GPU_ONLY, nv.BackendKind.HYBRID_CPU_GPU):
        with contextlib.suppress(RuntimeError):  # there is no such backend
            found: queue.LifoQueue[Any] = queue.LifoQueue()
            for _ in range(_DECODERS):
                decoder = nv.Decoder(
                    device_id=device.local_hardware_id, backends=[nv.Backend(kind)], options=_OPTIONS
                )
                found.put(decoder)
            if decoder.decode([nv.CodeStream(sample)])[0] is not None:
                return found
    raise RuntimeError("it has no backend that decodes JPEG")
