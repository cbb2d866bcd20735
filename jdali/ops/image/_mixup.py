from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._kernels.sample_mixing import by_row, draw_mixture, mix, mix_labels, plan_mixture
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, batch_operator


def setup(
    images: BatchSpec,
    labels: BatchSpec | None = None,
    *,
    alpha: Any,
    probability: Any,
    num_classes: int | None,
) -> Plan:
    return plan_mixture("mixup", images, labels, alpha, probability, num_classes)


@batch_operator(
    setup=setup, setup_needs=lambda arguments: (), whole_batch=lambda arguments: True,
    outputs=lambda arguments: 1,  # a function, so that `out_shape` is a tuple of shapes
    output_per_optional=True,
)  # fmt: skip
def mixup(
    key: Array,
    images: Array,
    labels: Array | None = None,
    /,
    *,
    alpha: PerSample[float] = 1.0,
    num_classes: Static[int | None] = None,
    probability: PerSample[float] = 1.0,
    _count: PerSample[int | None] = None,
    out_shape: tuple[tuple[int, ...], ...],
) -> Array | tuple[Array, Array]:
    """Mixes each sample of a batch with another: λ · sample + (1 - λ) · partner, with λ from Beta(alpha, alpha).

    See Zhang et al., "mixup: Beyond Empirical Risk Minimization" (2018). λ is drawn for each sample. The samples of a batch
    are sorted by random numbers, and a sample's partner is the next sample in this order. So each sample is the partner of
    one other sample.

    Args:
        images: [N, ...], any type and layout, of one size; computed in float32.
        labels: with `num_classes`, class numbers, one integer per sample. Without it, labels of one shape, such as
            one-hot vectors, which are mixed as they are.
        alpha: parameter of the beta distribution, above 0. A small value makes most λ nearly 0 or 1; 1: λ is uniform.
        num_classes: length of the one-hot vectors of class numbers; a number outside of 0 to num_classes - 1 gives
            zeros. None: labels are not class numbers.
        probability: probability that a sample is mixed, 0 to 1. A sample that is not mixed may still be another's partner.

    Returns: shape and type of `images`, integers rounded half away from zero; with `labels`, also the mixed labels,
    float32. A batch of one is unchanged.

    Random numbers: λ and the decision to mix a sample depend only on the sample's key, as in all operators. The partner
    depends on the keys of all samples of the batch. The same batch therefore has the same bits, also in a resumed run, but
    a sample's partner changes with the batch size and with the other samples.

    Parity: DALI has no such operator.

    Example: pictures, labels = fn.mixup(pictures, labels, num_classes=10, alpha=0.2)
    """
    mixture = draw_mixture(key, alpha, probability, jnp.asarray(_count)[0])
    kept = by_row(mixture.mixed, images)
    mixed = jnp.where(kept, saturate_cast(mix(images, mixture), images.dtype), images)
    result = fit(mixed, (len(mixed), *out_shape[0]))
    return result if labels is None else (result, mix_labels(labels, num_classes, mixture, out_shape[1]))
