"""Draws partners and shares for `mixup` and `cutmix`, and mixes samples and labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._kernels.beta_draws import draw_beta
from jdali._kernels.fit import fit
from jdali._numerics.platform import one_program
from jdali._numerics.random import element_uniform
from jdali._numerics.threefry import threefry
from jdali._operators.record import is_traced

# Values of `draw` that differ from those of `draw_beta`, which uses values from 0 on and from 2^31 on.
_PARTNER, _DECISION, FIRST_FREE = (np.uint32((1 << 30) + i) for i in range(3))


class Mixture(NamedTuple):
    """Partners and shares of the samples of a batch.

    Attributes:
        partners: int32 [N], position of each sample's partner.
        mixed: bool [N], False for samples that are not changed.
        shares: float32 [N], 0 to 1, share of the sample itself.
    """

    partners: Array
    mixed: Array
    shares: Array


def plan_mixture(
    name: str,
    images: BatchSpec,
    labels: BatchSpec | None,
    alpha: Any,
    probability: Any,
    num_classes: int | None,
) -> Plan:
    """Checks the inputs and arguments of `mixup` or `cutmix`, and plans the outputs."""
    if not images.is_uniform:
        wrong = int((images.extents != images.extents[0]).any(axis=1).argmax())
        raise ValueError(
            f"{name}: a batch is mixed element by element, so its samples need one size: sample 0 is "
            f"{size_text(images.extents[0])}, sample {wrong} is {size_text(images.extents[wrong])}; resize, crop or pad "
            "them before"
        )
    _check("alpha", alpha, lambda a: (a > 0) & np.isfinite(a), f"{name}: alpha must be above 0")
    _check(
        "probability", probability, lambda p: (p >= 0) & (p <= 1), f"{name}: probability must be from 0 to 1"
    )
    count = {"_count": np.full(images.batch_size, images.batch_size, np.int32)}
    if labels is None:
        if num_classes is not None:
            raise ValueError(f"{name}: num_classes is given, and no labels")
        return Plan((images,), count)
    are_numbers = _are_class_numbers(name, labels, num_classes)
    extents = np.full((labels.batch_size, 1), num_classes) if are_numbers else labels.extents
    layout = "" if are_numbers else labels.layout
    mixed = BatchSpec(extents, np.dtype(np.float32), layout)
    return Plan((images, mixed), count, {"num_classes": num_classes if are_numbers else None})


def _check(argument: str, value: Any, is_right: Any, text: str) -> None:
    if not is_traced(value):
        check_samples(
            ~is_right(value), lambda i: f"{text}, got {value[i]:g} for sample {i}", argument=argument
        )


def _are_class_numbers(name: str, labels: BatchSpec, num_classes: int | None) -> bool:
    """Returns True if labels are class numbers, which become one-hot vectors; False if labels are mixed as they are."""
    single = bool((labels.extents == 1).all())
    whole = labels.dtype.kind in "iub"
    if not labels.is_uniform:
        raise ValueError(f"{name}: the labels of a batch need one shape")
    if num_classes is None:
        if single and whole:
            raise ValueError(
                f"{name}: the labels are one {labels.dtype} a sample: give num_classes= for class numbers, or cast to float "
                "what is to be mixed as it is"
            )
        return False
    if num_classes < 1:
        raise ValueError(f"{name}: num_classes is {num_classes}, it must be at least 1")
    if single and whole:
        return True
    if (labels.extents[:, -1:] == num_classes).all() and labels.ndim == 1:
        return False
    shape = size_text(labels.extents[0])
    raise ValueError(
        f"{name}: with num_classes={num_classes}, labels are class numbers (one integer a sample) or vectors of "
        f"{num_classes} elements; got {labels.dtype} of shape {shape}"
    )


@one_program()
def draw_mixture(keys: Array, alpha: Any, probability: Any, count: Array) -> Mixture:
    """Draws, for each sample, a partner and the sample's share in the mixture.

    Samples are sorted by random keys of 64 bits. A sample's partner is the next sample in this order, and the last sample's
    partner is the first one, so every sample is the partner of one other sample. The share of a sample and the decision to
    mix it depend only on the sample's JAX key.

    Args:
        keys: typed keys [rows].
        alpha: parameter of the beta distribution of shares, a number or [rows].
        probability: probability that a sample is mixed, a number or [rows].
        count: int32, number of rows that hold samples; these rows come first.
    """
    rows = jnp.arange(len(keys), dtype=jnp.int32)
    words = jax.random.key_data(keys)
    high, low = threefry(words[:, 0], words[:, 1], _PARTNER, np.uint32(0))
    unused = (rows >= count).astype(jnp.int32)
    order = lax.sort((unused, high, low, rows), num_keys=4)[3]
    following = jnp.where(rows + 1 < count, jnp.roll(order, -1), order[0])
    partners = jnp.zeros_like(order).at[order].set(following)

    def draw(key: Array, alpha: Array, probability: Array) -> tuple[Array, Array]:
        scalar = jnp.zeros(0, jnp.int32)
        decided = element_uniform(key, scalar, (), _DECISION) < probability
        return decided, draw_beta(key, scalar, (), alpha, alpha)

    each = [jnp.broadcast_to(jnp.asarray(v, jnp.float32), rows.shape) for v in (alpha, probability)]
    mixed, shares = jax.vmap(draw)(keys, *each)
    mixed &= partners != rows
    return Mixture(partners, mixed, jnp.where(mixed, shares, jnp.float32(1)))


def mix(values: Array, mixture: Mixture) -> Array:
    """Computes share · sample + (1 - share) · partner, float32 [N, ...]."""
    values = values.astype(jnp.float32)
    shares = by_row(mixture.shares, values)
    # A sample whose share is 0 is not added, because 0 times infinity is NaN.
    own = jnp.where(shares > 0, shares * values, 0)
    return own + jnp.where(shares < 1, (1 - shares) * values[mixture.partners], 0)


def mix_labels(labels: Array, num_classes: int | None, mixture: Mixture, shape: tuple[int, ...]) -> Array:
    """Mixes labels to float32 [N, *shape]. With `num_classes`, class numbers are first converted to one-hot vectors."""
    if num_classes is not None:
        numbers = labels.reshape(len(labels), -1)[:, :1].astype(jnp.int32)
        labels = numbers == jnp.arange(num_classes, dtype=jnp.int32)
    return fit(mix(labels, mixture), (len(labels), *shape))


def by_row(numbers: Array, values: Array) -> Array:
    return numbers.reshape(-1, *[1] * (values.ndim - 1))
