from __future__ import annotations

from typing import Any

from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator


def _indices(element_map: Any) -> tuple[int, ...]:
    return (element_map,) if isinstance(element_map, int) else tuple(element_map)


def setup(sequence: BatchSpec, *, element_map: object) -> tuple[BatchSpec, ...]:
    wanted = _indices(element_map)
    if not wanted or min(wanted) < 0:
        raise ValueError(
            f"element_extract: Negative indices in `element_map` are not allowed, found: {min(wanted)}."
            if wanted
            else "element_extract: element_map is empty; name the elements to extract"
        )
    if sequence.layout and not sequence.layout.startswith("F"):
        raise ValueError(
            "element_extract: Input layout must describe a sequence - it must start with 'F', got "
            f"'{sequence.layout}' instead."
        )
    if sequence.ndim < 2:
        raise ValueError(
            "element_extract: Input must have at least two dimensions - outermost for sequence and at least one for "
            f"data elements. Got {sequence.ndim}"
        )
    short = sequence.extents[:, 0] <= max(wanted)
    check_samples(
        short,
        lambda i: (
            f"element_extract: Index `{next(w for w in wanted if w >= sequence.extents[i, 0])}` from `element_map` "
            f"is out of bounds for sample with sequence length equal `{int(sequence.extents[i, 0])}`."
        ),
    )
    element = BatchSpec(sequence.extents[:, 1:], sequence.dtype, sequence.layout[1:])
    return (element,) * len(wanted)


@operator(
    setup=setup, outputs=lambda arguments: len(_indices(arguments["element_map"])),
    source="operators/sequence/element_extract.h",
)  # fmt: skip
def element_extract(
    sequence: Array,
    /,
    *,
    element_map: Static[tuple[int, ...]],
    out_shape: tuple[tuple[int, ...], ...],
) -> tuple[Array, ...]:
    """Extracts elements along the outermost axis.

    Args:
        sequence: at least two axes, any type; a layout must begin with F.
        element_map: indices of the elements, 0 or more.

    Returns: an output for each index, without the outermost axis.

    Example: element = fn.element_extract(numbers, element_map=[1])
    """
    chosen = zip(_indices(element_map), out_shape, strict=True)
    return tuple(fit(sequence[i], shape) for i, shape in chosen)
