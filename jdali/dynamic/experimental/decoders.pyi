"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from numpy.typing import NDArray
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor

def video(
    encoded: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    affine: builtins.bool = True,
    apply_rotation: builtins.bool = False,
    build_index: builtins.bool = True,
    end_frame: int | Tensor | Batch | None = None,
    fill_value: int | typing.Sequence[int] | NDArray[Any] = (0,),
    frames: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    pad_mode: str | typing.Sequence[str] | Tensor | Batch = 'constant',
    sequence_length: int | Tensor | Batch | None = None,
    start_frame: int | Tensor | Batch | None = None,
    stride: int | Tensor | Batch | None = None,
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [F, H, W, 3], RGB.

    Parity: on a CPU, DALI converts to RGB by BT.601, whatever matrix the video names.

    Example: frames = fn.decoders.video(mp4, sequence_length=4)
    """
