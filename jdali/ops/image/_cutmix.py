from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._kernels.sample_mixing import FIRST_FREE, by_row, draw_mixture, mix_labels, plan_mixture
from jdali._numerics.positions import rounded
from jdali._numerics.random import element_index
from jdali._operators.record import PerSample, Static, batch_operator, refused_layout

_LAYOUTS = {2: "HW", 3: "HWC", 4: "FHWC"}  # default layouts by the number of axes


def setup(
    images: BatchSpec,
    labels: BatchSpec | None = None,
    *,
    alpha: Any,
    probability: Any,
    num_classes: int | None,
) -> Plan:
    layout = images.layout or _LAYOUTS.get(images.ndim, "")
    if not {"H", "W"} <= set(layout):
        raise refused_layout(
            "cutmix", images.layout, images.ndim, "pictures have axes H and W: HWC, CHW, FHWC, ..."
        )
    plan = plan_mixture("cutmix", images, labels, alpha, probability, num_classes)
    return Plan(plan.outputs, plan.params, plan.static | {"_axes": (layout.index("H"), layout.index("W"))})


@batch_operator(
    setup=setup, setup_needs=lambda arguments: (), whole_batch=lambda arguments: True,
    outputs=lambda arguments: 1,  # a function, so that `out_shape` is a tuple of shapes
    output_per_optional=True,
)  # fmt: skip
def cutmix(
    key: Array,
    images: Array,
    labels: Array | None = None,
    /,
    *,
    alpha: PerSample[float] = 1.0,
    num_classes: Static[int | None] = None,
    probability: PerSample[float] = 1.0,
    _axes: Static[tuple[int, ...] | None] = None,
    _count: PerSample[int | None] = None,
    extent: tuple[Array, ...],
    out_shape: tuple[tuple[int, ...], ...],
) -> Array | tuple[Array, Array]:
    """Pastes a box of another image of the batch into each image, and mixes labels by the box's area.

    See Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features" (2019). A box is
    drawn for each sample: λ from Beta(alpha, alpha), and the centre of the box uniformly from all pixels. The box's height
    and width are 2 · floor(√(1 - λ) / 2 · size), cut at the borders. The label of the sample itself gets the weight
    1 - area / (height · width), and the label of the other image gets the rest.

    Args:
        images: [N, ...] with axes H and W, any type, of one size; without a layout HW, HWC or FHWC. All frames and
            channels of a sample get the same box.
        labels: see `mixup`.
        alpha: parameter of the beta distribution, above 0; 1: λ is uniform.
        num_classes: see `mixup`.
        probability: probability that a sample is mixed, 0 to 1. A sample that is not mixed may still be pasted into
            another sample.

    Returns: shape and type of `images`; with `labels`, also the mixed labels, float32. A batch of one is unchanged.

    Random numbers: see `mixup`. The box depends only on the sample's key.

    Parity: DALI has no such operator.

    Example: pictures, labels = fn.cutmix(pictures, labels, num_classes=10)
    """
    assert _axes is not None
    mixture = draw_mixture(key, alpha, probability, jnp.asarray(_count)[0])
    sizes = extent[0][:, jnp.array(_axes)]  # [N, 2]
    half = jnp.floor(
        rounded(rounded(jnp.sqrt(1 - mixture.shares))[:, None] * 0.5 * sizes.astype(jnp.float32))
    )
    first, last = _boxes(key, sizes, half.astype(jnp.int32))
    inside = jnp.ones((1,) * images.ndim, bool)
    for number, axis in enumerate(_axes):
        place = jnp.arange(images.shape[axis + 1], dtype=jnp.int32)
        within = (place >= first[:, number, None]) & (place < last[:, number, None])
        inside &= jnp.expand_dims(within, [a for a in range(1, images.ndim) if a != axis + 1])
    result = fit(
        jnp.where(inside & by_row(mixture.mixed, images), images[mixture.partners], images),
        (len(images), *out_shape[0]),
    )
    if labels is None:
        return result
    areas, wholes = (jnp.prod(side.astype(jnp.float32), axis=1) for side in (last - first, sizes))
    shares = jnp.where(mixture.mixed, 1 - areas / jnp.maximum(wholes, 1), 1)
    return result, mix_labels(labels, num_classes, mixture._replace(shares=shares), out_shape[1])


def _boxes(keys: Array, sizes: Array, half: Array) -> tuple[Array, Array]:
    """Draws a box in each image; returns (first row, first column) and (end row, end column), int32 [N, 2] each."""

    def centre(key: Array, size: Array) -> Array:
        scalar = jnp.zeros(0, jnp.int32)
        return jnp.stack([element_index(key, scalar, (), size[a], FIRST_FREE + a) for a in range(2)])

    centres = jax.vmap(centre)(keys, sizes).astype(jnp.int32)
    return jnp.maximum(centres - half, 0), jnp.minimum(centres + half, sizes)
