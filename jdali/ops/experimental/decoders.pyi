"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from numpy.typing import NDArray
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass
from jdali.ops.decoders import Image as Image
from jdali.ops.decoders import ImageCrop as ImageCrop
from jdali.ops.decoders import ImageRandomCrop as ImageRandomCrop
from jdali.ops.decoders import ImageSlice as ImageSlice

class Video(OperatorClass):
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [F, H, W, 3], RGB.

    Parity: on a CPU, DALI converts to RGB by BT.601, whatever matrix the video names.

    Example: frames = fn.decoders.video(mp4, sequence_length=4)
    """
    def __init__(
        self,
        *,
        affine: bool = True,
        apply_rotation: bool = False,
        build_index: bool = True,
        end_frame: int | DataNode | None = None,
        fill_value: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = (0,),
        frames: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        pad_mode: str | typing.Sequence[str] | DataNode = 'constant',
        sequence_length: int | DataNode | None = None,
        start_frame: int | DataNode | None = None,
        stride: int | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...
