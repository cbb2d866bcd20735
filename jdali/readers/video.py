"""Reads sequences of frames from video files."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali import types
from jdali._numerics.rounding import np_saturate_cast
from jdali._operators.record import Static, also_takes, reader
from jdali.codecs.video_frames import fill_values, padding_mode
from jdali.ops.image._resize import resize
from jdali.readers.base import reader_options
from jdali.readers.formats.video_files import ROUNDING, find_clips
from jdali.readers.formats.video_sequences import Cut, VideoReader, frame_number_mode
from jdali.readers.formats.videos import build_index
from jdali.readers.shared_tables import shared
from jdali.types import DALIImageType

__all__ = ["build_index", "experimental_video", "video", "video_resize"]

_RESIZE_ARGUMENTS = tuple(name for name in resize.public_args if name not in ("dtype", "save_attrs"))
"""Arguments that `readers.video_resize` takes from `resize`."""


def file_options(
    *,
    apply_rotation: Static[bool] = False,
    enable_frame_num: Static[str | bool] = "none",
    enable_timestamps: Static[bool] = False,
    file_list: Static[str] = "",
    file_root: Static[str] = "",
    filenames: Static[str | tuple[str, ...]] = (),
    image_type: Static[DALIImageType] = types.RGB,
    labels: Static[float | tuple[int | float, ...] | None] = None,
    step: Static[int] = -1,
    stride: Static[int] = 1,
) -> None:
    """Declares the arguments of all video readers.

    Args:
        apply_rotation: rotate frames as the metadata of the video say; phones write such metadata. DALI has no such argument.
        enable_frame_num: "scalar" or True: also return the number of the first frame, int32 [1];
            "sequence": the numbers of all frames, int32 [F], -1 for padding; "none" or False: neither.
        enable_timestamps: also return the time of each frame, in seconds since the first frame of the
            file, float64 [F], -1 for padding.
        file_list: text file; each line has a video's name, a label and optionally the start and the end of the part to
            read. A relative name is looked up in the working folder, and then in the folder of the list.
        file_root: folder with a subfolder of videos for each label.
        filenames: paths or URLs of videos.
        image_type: RGB, or YCbCr (BT.601, studio range).
        labels: labels of `filenames`. An empty list numbers the files from 0 on; None returns no labels.
        step: distance between the starts of consecutive sequences, frames; 0 or less: `sequence_length` * `stride`.
        stride: distance between consecutive frames of a sequence, frames.
    """


def legacy_options(
    *,
    additional_decode_surfaces: Static[int] = 2,
    channels: Static[int] = 3,
    dtype: Static[np.dtype | types.DALIDataType] = types.UINT8,
    file_list_frame_num: Static[bool] = False,
    file_list_include_preceding_frame: Static[bool] = False,
    normalized: Static[bool] = False,
    pad_sequences: Static[bool] = False,
    skip_vfr_check: Static[bool] = False,
) -> None:
    """Declares the arguments of `readers.video` and `readers.video_resize`.

    Args:
        additional_decode_surfaces: without effect.
        channels: number of channels, which must be 3.
        dtype: UINT8 or FLOAT.
        file_list_frame_num: starts and ends in `file_list` are numbers of frames, not seconds since the first frame.
            Negative ones count from the end, and an end of 0 is the end of the video.
        file_list_include_preceding_frame: round the start of a part in `file_list` down to a frame, and its end up;
            False: round the start up, and the end down.
        normalized: values are from 0 to 1; otherwise from 0 to 255.
        pad_sequences: also return sequences that begin in the clip but lack frames at its end; frames of zeros fill them up.
        skip_vfr_check: without effect: variable frame rates are always read.
    """


def _has_labels(arguments: Mapping[str, object]) -> bool:
    return (
        bool(arguments.get("file_root") or arguments.get("file_list")) or arguments.get("labels") is not None
    )


def _count_outputs(name: str, arguments: Mapping[str, Any]) -> int:
    numbers = frame_number_mode(name, arguments.get("enable_frame_num") or "none")
    return 1 + _has_labels(arguments) + (numbers != "none") + bool(arguments.get("enable_timestamps"))


def _open(name: str, own: Mapping[str, Any], options: dict[str, Any]) -> VideoReader:
    """Opens a reader. `own` has the fields of `Cut` that the operator sets; `options` has those of `file_options`."""
    if options["image_type"] not in (types.RGB, types.YCbCr):
        number = int(options["image_type"])
        raise ValueError(f"{name}: Invalid image type: {number}. image_type must be RGB or YCbCr")
    clips, classes = shared(
        "clips",
        lambda: find_clips(
            name, filenames=options["filenames"], labels=options["labels"], file_root=options["file_root"],
            file_list=options["file_list"],
        ),
    )  # fmt: skip
    stride, step = options["stride"], options["step"]
    cut = Cut(
        stride=stride, step=step if step > 0 else own["length"] * stride,
        image_type=options["image_type"], upright=options["apply_rotation"], labels=_has_labels(options),
        timestamps=options["enable_timestamps"],
        frame_numbers=frame_number_mode(name, options["enable_frame_num"]), **own,
    )  # fmt: skip
    return VideoReader(name, clips, cut, options, classes)


def _as_dtype(frames: np.ndarray, *, dtype: np.dtype, normalized: bool) -> np.ndarray:
    if dtype == np.uint8 and not normalized:
        return frames
    values = frames.astype(np.float32)
    if normalized:
        values /= np.float32(255)
    return np_saturate_cast(values, dtype)


def _open_legacy(name: str, length: int, options: dict[str, Any]) -> VideoReader:
    dtype = types.to_dtype(options["dtype"])
    if dtype not in (np.uint8, np.float32):
        raise ValueError(f"{name}: dtype must be UINT8 or FLOAT, not {dtype}")
    if options["channels"] != 3:
        raise ValueError(f"{name}: channels is {options['channels']}, videos have 3")
    preceding = options["file_list_include_preceding_frame"] and not options["file_list_frame_num"]
    own = {
        "length": length,
        "room": 1 + (length - 1) * options["stride"],
        "pad_mode": "constant" if options["pad_sequences"] else "none",
        "pads_all": True,
        "fill": (0,),
        "uniform": False,
        "as_frames": options["file_list_frame_num"],
        "rounding": "start_down_end_up" if preceding else "start_up_end_down",
        "relative": True,
        "convert": functools.partial(_as_dtype, dtype=dtype, normalized=options["normalized"]),
    }
    return _open(name, own, options)


@reader(
    name="readers.video",
    outputs=functools.partial(_count_outputs, "readers.video"),
    devices=("gpu",),
    source="operators/video/legacy/reader/video_reader_op.cc",
)
@also_takes(file_options, legacy_options, reader_options)
def video(*, sequence_length: Static[int], **options: object) -> VideoReader:
    """Reads sequences of frames from videos: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and more.

    Args:
        sequence_length: number of frames of a sequence.

    Returns: `dtype` [F, H, W, C]; then, if requested, the label, int32 [1], the frame numbers and the times.

    Parity: DALI decodes on a GPU and converts YCbCr to RGB in another way, so UINT8 values differ by a few units.

    Example: frames = fn.readers.video(filenames=["clip.mp4"], sequence_length=4)
    """
    return _open_legacy("readers.video", sequence_length, options)


def _resize_options() -> Any:
    """Builds a function with the arguments of `resize`, for `also_takes`."""
    hints = typing.get_type_hints(resize.run, include_extras=True)

    def template() -> None: ...

    parameters = inspect.signature(resize.run).parameters
    template.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameters[name].replace(annotation=hints[name]) for name in _RESIZE_ARGUMENTS]
    )
    template.__annotations__ = {name: hints[name] for name in _RESIZE_ARGUMENTS}
    template.__doc__ = resize.doc
    return template


@reader(
    name="readers.video_resize",
    outputs=functools.partial(_count_outputs, "readers.video_resize"),
    devices=("gpu",),
    source="operators/video/legacy/reader/video_reader_resize_op.cc",
)
@also_takes(file_options, legacy_options, _resize_options(), reader_options)
def video_resize(*, sequence_length: Static[int], **options: object) -> VideoReader:
    """Reads sequences of frames as `readers.video` does and resizes them as `resize` does.

    The reader itself returns whole frames; `jdali.fn` and `jdali.dynamic` add a `resize` after it.

    Args:
        sequence_length: number of frames of a sequence.

    Returns: the outputs of `readers.video`.

    Example: frames = fn.readers.video_resize(filenames=["clip.mp4"], sequence_length=4, size=[24, 32])
    """
    return _open_legacy("readers.video_resize", sequence_length, options)


@reader(
    name="experimental.readers.video",
    outputs=functools.partial(_count_outputs, "experimental.readers.video"),
    devices=("cpu", "gpu"),
    source="operators/video/reader/video_reader_decoder_op.cc",
)
@also_takes(file_options, reader_options)
def experimental_video(
    *,
    file_list_format: Static[str] = "timestamps",
    file_list_include_end: Static[bool] = True,
    file_list_rounding: Static[str] = "start_down_end_up",
    sequence_length: Static[int],
    fill_value: Static[int | tuple[int, ...]] = (0,),
    pad_mode: Static[str] = "none",
    uniform_sample: Static[bool] = False,
    **options: Any,
) -> VideoReader:
    """Reads sequences of frames from videos: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and more.

    Args:
        file_list_format: unit of starts and ends in `file_list`: seconds ("timestamps") or numbers of frames
            ("frames"; negative ones count from the end). Seconds are times as the file has them: if its first frame is
            shown at 1.5 s, they count from there, although the times that `enable_timestamps` returns count from 0.
        file_list_include_end: without effect, as in DALI: a part excludes the frame at its end.
        file_list_rounding: rounding of starts and ends that lie between two frames:
            "start_down_end_up", "start_up_end_down", "all_up" or "all_down".
        sequence_length: number of frames of a sequence.
        fill_value: value of padding frames, 0 to 255: one number for all channels, or a list with a number for each channel.
        pad_mode: padding of sequences that lack frames at the end of a clip. With "none", a sequence needs
            `sequence_length` * `stride` frames up to the end of the clip. Each other mode also returns the next
            sequence, and pads it with `fill_value` ("constant"), the last frame ("edge" or "repeat"), or the
            preceding frames of the file in reverse, with the last frame repeated ("reflect_1001" or "symmetric") or not
            ("reflect_101" or "reflect").
        uniform_sample: return one sequence of evenly spaced frames for each clip; `stride`, `step` and `pad_mode`
            then have no effect.

    Returns: uint8 [F, H, W, C]; then, if requested, the label, int32 [1], the frame numbers and the times.

    Parity: on a CPU, DALI always converts to RGB by BT.601, even if the video names another matrix. It skips files
    that it cannot open, and lines of a list that have a start but no end.

    Example: frames = fn.experimental.readers.video(filenames=["clip.mp4"], sequence_length=4)
    """
    name = "experimental.readers.video"
    if file_list_format not in ("timestamps", "frames"):
        raise ValueError(
            f'{name}: file_list_format is {file_list_format!r}, it must be "timestamps" or "frames"'
        )
    if file_list_rounding not in ROUNDING:
        raise ValueError(
            f"{name}: file_list_rounding is {file_list_rounding!r}, it must be one of {', '.join(ROUNDING)}"
        )
    own = {
        "length": sequence_length,
        "room": sequence_length
        * options["stride"],  # as in DALI, although no sequence needs the last `stride` - 1 frames
        "pad_mode": padding_mode(name, pad_mode),
        "pads_all": False,
        "fill": fill_values(name, fill_value),
        "uniform": uniform_sample,
        "as_frames": file_list_format == "frames",
        "rounding": file_list_rounding,
        "relative": False,
        "convert": functools.partial(_as_dtype, dtype=np.dtype(np.uint8), normalized=False),
    }
    return _open(name, own, options)
