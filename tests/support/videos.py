"""Small videos made on the spot, in which every frame tells its number."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("SVT_LOG", "0")  # the AV1 encoder of the tests writes to stderr otherwise


def av() -> Any:
    return pytest.importorskip("av", reason="PyAV is not installed")


def pictures(count: int, height: int = 32, width: int = 48) -> np.ndarray:
    """uint8 [count, height, width, 3] that a lossy codec leaves recognisable; see `numbers_of`."""
    y, x = np.mgrid[0:height, 0:width]
    frames = np.zeros((count, height, width, 3))
    for number in range(count):
        # The grey level is the number; colours to the left and right of it add up to it.
        frames[number] = 16 + 7 * number
        frames[number, : height // 2, :, 0] += np.where(x < width // 2, 20, -20)[: height // 2]
        frames[number, height // 2 :, :, 2] += np.where(y % 16 < 8, 12, -12)[height // 2 :]
    return np.clip(frames, 0, 255).astype(np.uint8)


def moving(count: int, size: int = 64) -> np.ndarray:
    """uint8 [count, size, size, 3]: blurred noise that moves to the left, so that frames refer to others everywhere."""
    noise = np.random.default_rng(0).random((size, 2 * size, 3))
    for axis in (0, 1) * 3:
        noise = (noise + np.roll(noise, 1, axis) + np.roll(noise, 2, axis)) / 3
    noise = (noise - noise.min()) / np.ptp(noise) * 255
    return np.stack([np.roll(noise, -3 * i, axis=1)[:, :size] for i in range(count)]).astype(np.uint8)


def numbers_of(frames: np.ndarray) -> list[int]:
    """Numbers of the decoded frames of `pictures`, at most 30 of them."""
    levels = frames[..., 1].mean(axis=(1, 2))
    return np.round((levels - 16) / 7).astype(int).tolist()


def encode(
    frames: np.ndarray,
    codec: str = "libx264",
    container: str = "mp4",
    *,
    pix_fmt: str = "yuv420p",
    rate: int = 25,
    times_ms: Sequence[int] | None = None,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    metadata: dict[str, str] | None = None,
    turned: tuple[int, bool, bool] | None = None,
    **context: Any,
) -> bytes:
    """A file with a video of these RGB frames.

    Args:
        frames: uint8 [F, H, W, 3].
        codec: FFmpeg's name of the encoder.
        container: FFmpeg's name of the container.
        pix_fmt: what is encoded.
        rate: frames a second.
        times_ms: when each is shown; None: as the rate says.
        options: of the encoder.
        container_options: of the container.
        metadata: texts of the container and of its stream.
        turned: how the metadata say that it is to be shown: degrees counter-clockwise, then mirrored along the
            width, along the height.
        context: attributes of PyAV's codec context.
    """
    library = av()
    with tempfile.TemporaryDirectory() as folder:  # some options of containers need a file
        path = Path(folder) / "clip"
        _write(
            library,
            path,
            frames,
            codec,
            container,
            pix_fmt,
            rate,
            times_ms,
            options,
            container_options,
            metadata,
            turned,
            context,
        )
        return path.read_bytes()


def _write(
    library: Any, path: Path, frames: np.ndarray, codec: str, container: str, pix_fmt: str, rate: int,
    times_ms: Sequence[int] | None, options: dict[str, str] | None,
    container_options: dict[str, str] | None, metadata: dict[str, str] | None,
    turned: tuple[int, bool, bool] | None, context: dict[str, Any],
) -> None:  # fmt: skip
    with library.open(str(path), "w", format=container, options=container_options or {}) as file:
        stream = file.add_stream(codec, rate=rate, options=options or {})
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = pix_fmt
        stream.thread_count = 1
        if turned is not None:
            stream.set_display_rotation(turned[0], hflip=turned[1], vflip=turned[2])
        for owner in (file, stream):
            owner.metadata.update(metadata or {})
        for name, value in context.items():
            setattr(stream.codec_context, name, value)
        if times_ms is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        for number, picture in enumerate(frames):
            frame = library.VideoFrame.from_ndarray(picture, format="rgb24")
            if times_ms is not None:
                frame.time_base, frame.pts = Fraction(1, 1000), int(times_ms[number])
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
