from __future__ import annotations

import contextlib

import numpy as np
import numpy.typing as npt

from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.record import PerSample, Static, host_operator
from jdali.codecs.video import VideoDecoder, VideoIndex, build_index, check_frames, in_memory
from jdali.codecs.video_frames import fill_values, pad, padding_mode

_NAME = "decoders.video"


def setup(encoded: BatchSpec, *, fill_value: int | tuple[int, ...]) -> BatchSpec:
    """Returns the type and layout. Sizes in the spec are 0, because they are not known before a video is opened."""
    fill_values(_NAME, fill_value)  # an error of the call, not of a sample
    return BatchSpec(np.zeros((encoded.batch_size, 4), np.int64), np.dtype(np.uint8), "FHWC")


@host_operator(
    name=_NAME,
    setup=setup,
    devices=("cpu", "mixed"),
    work="decoding",
    source="operators/video/decoder/video_decoder_base.h",
)
def video(
    encoded: npt.NDArray[np.uint8],
    /,
    *,
    affine: Static[bool] = True,
    apply_rotation: Static[bool] = False,
    build_index: Static[bool] = True,
    end_frame: PerSample[int | None] = None,
    fill_value: Static[int | tuple[int, ...]] = (0,),
    frames: PerSample[list[int] | None] = None,
    pad_mode: PerSample[list[str] | str] = "constant",
    sequence_length: PerSample[int | None] = None,
    start_frame: PerSample[int | None] = None,
    stride: PerSample[int | None] = None,
) -> npt.NDArray[np.uint8]:
    """Decodes H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and more, in most containers.

    By default, all frames are decoded. `frames` selects frames by number; `start_frame`, `stride`, and `end_frame` or
    `sequence_length` select a range.

    Args:
        encoded: uint8 [bytes], content of a file.
        affine: without effect.
        apply_rotation: rotate frames by the angle in the video's metadata (written by phones). DALI has no such
            argument.
        build_index: without effect: packets are always indexed first, so that every frame is found.
        end_frame: frame after the last one. Not allowed with `frames` or `sequence_length`.
        fill_value: value of padding frames, 0 to 255: one for all channels, or one per channel.
        frames: numbers of frames, in any order; they may repeat. Not allowed with arguments that select a range.
        pad_mode: replacement of frames past the end of the video: "constant": `fill_value`; "edge" or "repeat":
            the last frame; "reflect_1001" or "symmetric": the mirrored video, its last frame repeated; "reflect_101" or
            "reflect": the mirrored video, its last frame not repeated; "none": no frames, the sequence is shorter.
        sequence_length: number of frames. Not allowed with `end_frame` or `frames`.
        start_frame: first frame; None: 0.
        stride: distance between frames; None: 1.

    Returns: [F, H, W, 3], RGB.

    Parity: on a CPU, DALI converts to RGB by BT.601, whatever matrix the video names.

    Example: frames = fn.decoders.video(mp4, sequence_length=4)
    """
    if encoded.dtype != np.uint8:
        raise SampleError(f"{_NAME}: Type of the input buffer must be uint8, got {encoded.dtype}")
    if encoded.ndim != 1:
        raise SampleError(f"{_NAME}: Input buffer must be 1-dimensional, got {encoded.ndim} axes")
    if not encoded.size:
        raise SampleError(f"{_NAME}: Video decoder does not support empty input samples.")
    fill = fill_values(_NAME, fill_value)
    mode = padding_mode(_NAME, _text(pad_mode))
    wanted = {"start_frame": start_frame, "end_frame": end_frame, "sequence_length": sequence_length,
              "stride": stride}  # fmt: skip
    limits = {name: int(value) for name, value in wanted.items() if value is not None}
    if frames is not None and limits:
        raise ValueError(
            f"{_NAME}: Cannot specify both `frames` and any of `start_frame`, `sequence_length`, `stride`, `end_frame` "
            f"arguments; there are {', '.join(limits)}"
        )
    if "sequence_length" in limits and "end_frame" in limits:
        raise ValueError(f"{_NAME}: Cannot specify both `sequence_length` and `end_frame` arguments")
    try:
        return _decode(
            encoded, None if frames is None else np.atleast_1d(frames), limits, mode, fill, apply_rotation
        )
    except SampleError as error:
        raise SampleError(f"{_NAME}: {error}") from error


def _text(value: object) -> str:
    """Converts a string argument to text. Arguments that differ by sample are UTF-8 bytes."""
    array = np.asarray(value)
    return array.tobytes().decode() if array.dtype == np.uint8 else str(array)


def _decode(
    encoded: np.ndarray,
    frames: np.ndarray | None,
    limits: dict[str, int],
    mode: str,
    fill: tuple[int, ...],
    upright: bool,
) -> np.ndarray:
    with in_memory(encoded) as source:
        index = build_index(source)
        numbers = _numbers(index, limits, mode) if frames is None else frames.astype(np.int64)
        with contextlib.closing(VideoDecoder(source, index)) as decoder:
            return decoder.read(pad(numbers, len(index), mode), fill=fill, upright=upright)


def _numbers(index: VideoIndex, limits: dict[str, int], mode: str) -> np.ndarray:
    """Returns the numbers of the frames that the arguments select."""
    count = len(index)
    start, stride = limits.get("start_frame", 0), limits.get("stride", 1)
    if stride < 1:
        raise SampleError(f"stride is {stride}, it must be 1 or more", argument="stride")
    if start >= count:
        raise SampleError(f"start_frame {start} is not one of the {count} frames", argument="start_frame")
    if "sequence_length" in limits:
        if limits["sequence_length"] < 0:
            raise SampleError(
                f"sequence_length is {limits['sequence_length']}, it must be 0 or more",
                argument="sequence_length",
            )
        wanted = limits["sequence_length"]
    else:
        end = limits.get("end_frame", count)
        if end <= start:
            raise SampleError(f"end_frame {end} is not after start_frame {start}", argument="end_frame")
        wanted = -(-(end - start) // stride)
    if mode == "none":
        wanted = min(wanted, -(-(count - start) // stride))
    check_frames(wanted, index.height, index.width)
    return start + np.arange(wanted) * stride
