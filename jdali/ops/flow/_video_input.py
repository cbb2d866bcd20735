"""The record of `experimental.inputs.video`; the engine runs it, since it owns the order of batches."""

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
    """Decodes sequences of frames of videos in memory, fed one after the other by `Pipeline.feed_input`.

    Each run gives the next batch of sequences of a video; its last batch may be smaller. Then comes the
    video that was fed next. A video may so be longer than memory would hold at once.

    Args:
        affine: without effect.
        apply_rotation: turn frames as the metadata of the video say; phones write them. DALI has no such argument.
        blocking: a run without a video waits until one is fed, by another thread; else it raises.
        last_sequence_policy: "partial": the last sequence of a video has the frames that are left; "pad": it
            is filled up with frames of zeros.
        no_copy: without effect.
        sequence_length: frames of a sequence.

    Returns: uint8 [F, H, W, C], RGB.

    Example: frames = fn.experimental.inputs.video(name="films", sequence_length=4)
    """
