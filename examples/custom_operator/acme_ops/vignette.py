"""A compiled operator: it darkens images towards their corners."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali.plugin.operators import BatchSpec, PerSample, SampleError, fit_axis, operator, saturate_cast


def setup(images: BatchSpec, *, strength: np.ndarray) -> BatchSpec:
    """On the host, once a batch: the sizes of the outputs, here those of the inputs, and checks of arguments."""
    wrong = (strength < 0) | (strength > 1)
    if wrong.any():
        sample = int(wrong.argmax())
        raise SampleError(
            f"acme.vignette: strength is {strength[sample]}, it must be from 0 to 1",
            sample=sample,
            argument="strength",
        )
    return images


@operator(name="acme.vignette", setup=setup, layouts=("HWC",))
def vignette(
    image: Array,
    /,
    *,
    strength: PerSample[float] = 0.5,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Darkens an image by `strength` times the squared distance from its centre, which is 1 in the corners.

    Args:
        image: HWC, CHW or HW, or sequences of these; any type.
        strength: share of the light that the corners lose, 0 to 1.

    Returns: shape, type and layout of the input; rounded, halves away from zero.
    """
    height, width = extent[0].astype(jnp.float32), extent[1].astype(jnp.float32)
    y = (
        2 * jnp.arange(out_shape[0], dtype=jnp.float32) + 1
    ) / height - 1  # -1 to 1, at the centres of pixels
    x = (2 * jnp.arange(out_shape[1], dtype=jnp.float32) + 1) / width - 1
    distance = (y[:, None] ** 2 + x[None, :] ** 2) / 2
    for axis, size in enumerate(out_shape):
        image = fit_axis(image, axis, size)
    light = 1 - strength * distance
    return saturate_cast(image.astype(jnp.float32) * light[..., None], image.dtype)
