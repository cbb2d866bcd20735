from __future__ import annotations

from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator


def setup(data: BatchSpec, *, replace: bool) -> BatchSpec:
    if data.ndim == 0:
        raise ValueError("per_frame: Cannot mark zero-dimensional input as a sequence")
    if not data.layout:
        return data.replace(layout="F" + "*" * (data.ndim - 1))
    if data.layout[0] != "F" and not replace:
        raise ValueError(
            "per_frame: Per-frame argument input must be a sequence. The input layout should start with 'F', got: "
            f"{data.layout}; replace=True renames the first axis"
        )
    return data.replace(layout="F" + data.layout[1:])


@operator(setup=setup, source="operators/sequence/per_frame.h")
def per_frame(data: Array, /, *, replace: Static[bool] = False, out_shape: tuple[int, ...]) -> Array:
    """Names the first axis F, so that an operator on sequences takes a value for each frame. Values do not change.

    `rotate(videos, angle=per_frame(angles))` rotates each frame by its own angle. Give one value per frame, or one
    value for all frames. The docs of an operator list the arguments that may differ by frame. Inputs may also differ:
    `warp_affine(images, per_frame(matrices))`.

    Args:
        data: at least one axis, any type.
        replace: True: replace another name of the first axis; False: another name raises an error.

    Returns: `data`, with a layout that begins with F. If `data` had no layout, the layout is F followed by * for each further
    axis.

    Example:
        angles = fn.external_source(lambda sample: np.float32([0, 10, 20, 30]), batch=False)
        frames = fn.rotate(frames, angle=fn.per_frame(angles), keep_size=True)
    """
    return fit(data, out_shape)
