"""The definition of `experimental.inputs.video`. The engine runs it, because only the engine determines the order of batches."""

from __future__ import annotations

from jdali._operators.record import Static, reader


@reader(name="experimental.inputs.video", devices=("cpu", "mixed"))
def video(
    *,
    affine: Static[bool] = True,
    apply_rotation: Static[bool] = False,
    blocking: Static[bool] = False,
    last_sequence_policy: Static[str] = "partial",
    no_copy: Static[bool] = False,
    sequence_length: Static[int],
) -> None:
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

    Returns: uint8 [F, H, W, C], RGB.

    Example: frames = fn.experimental.inputs.video(name="films", sequence_length=4)
    """
