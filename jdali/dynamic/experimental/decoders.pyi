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

    All frames, those of `frames`, or those from `start_frame` on: up to `end_frame`, or as many as
    `sequence_length`.

    Args:
        encoded: uint8 [bytes], content of a file.
        affine: without effect.
        apply_rotation: turn frames as the metadata of the video say; phones write them. DALI has no such argument.
        build_index: without effect: the packets are always looked through first, that is what makes every
            frame be found.
        end_frame: frame after the last one. Excludes `frames` and `sequence_length`.
        fill_value: of padding frames, one value or one a channel, 0 to 255.
        frames: numbers of frames, in any order, also repeated. Excludes all others.
        pad_mode: what stands in for frames that the video lacks: "constant": `fill_value`; "edge" or "repeat":
            the last frame; "reflect_1001" or "symmetric", "reflect_101" or "reflect": the frames before, the
            last one again or not; "none": nothing, the sequence is shorter.
        sequence_length: how many frames. Excludes `end_frame` and `frames`.
        start_frame: first frame; None: 0.
        stride: from one frame to the next; None: 1.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [F, H, W, 3], RGB.

    Parity: DALI converts to RGB by BT.601 whatever matrix the video names, on a CPU.

    Example: frames = fn.decoders.video(mp4, sequence_length=4)
    """
