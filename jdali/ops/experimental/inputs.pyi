"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from numpy.typing import NDArray
from jax.typing import ArrayLike
from jdali.fn._classes import OperatorClass

class Video(OperatorClass):
    """Decodes videos into sequences of frames. `Pipeline.feed_input` supplies the videos, one after the other.

    Each run returns the next batch of sequences of a video. The last batch of a video may be smaller; the following run
    begins the next video. The frames of a video need not fit into memory together.

    Args:
        affine: without effect.
        apply_rotation: rotate frames by the angle in the video's metadata (written by phones). DALI has no such
            argument.
        blocking: if no video is left, True: a run waits until another thread feeds one; False: the run raises an error.
        last_sequence_policy: "partial": the last sequence of a video has only the remaining frames; "pad": it
            is padded with frames of zeros.
        no_copy: without effect.
        sequence_length: number of frames in a sequence.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [F, H, W, C], RGB.

    Example: frames = fn.experimental.inputs.video(name="films", sequence_length=4)
    """
    def __init__(
        self,
        *,
        affine: bool = True,
        apply_rotation: bool = False,
        blocking: bool = False,
        last_sequence_policy: Literal['partial', 'pad'] = 'partial',
        no_copy: bool = False,
        sequence_length: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...
