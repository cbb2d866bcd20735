from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator


def setup(
    data: BatchSpec, *, output_layout: str | None, perm: tuple[int, ...] | None, transpose_layout: bool
) -> Plan:
    order = tuple(range(data.ndim - 1, -1, -1)) if perm is None else perm
    if sorted(order) != list(range(data.ndim)):
        raise ValueError(
            f"transpose: Input has different dimensionality ({data.ndim}) than the length of the permutation "
            f"({len(order)}): perm is {order}"
            if len(order) != data.ndim
            else f"transpose: Invalid permutation: sorted `perm` is not equal to [0, ..., n-1]. Got {order}"
        )
    layout = data.layout
    if output_layout is not None:
        if len(output_layout) != data.ndim:
            if not output_layout:
                raise ValueError("transpose: Providing an empty output layout is not supported")
            raise ValueError(f"transpose: output_layout {output_layout!r} does not fit {data.ndim} axes")
        layout = output_layout
    elif transpose_layout and layout:
        layout = "".join(layout[a] for a in order)
    return Plan((BatchSpec(data.extents[:, order], data.dtype, layout),), static={"perm": order})


@operator(setup=setup, source="operators/generic/transpose/transpose.h")
def transpose(
    data: Array,
    /,
    *,
    output_layout: Static[str | None] = None,
    perm: Static[tuple[int, ...] | None] = None,
    transpose_layout: Static[bool] = True,
    out_shape: tuple[int, ...],
) -> Array:
    """Reorders axes: axis i of the result is axis perm[i] of the input.

    Args:
        data: any shape and type.
        output_layout: layout of the result; overrides `transpose_layout`.
        perm: order of the axes; None: reversed.
        transpose_layout: True: permute the layout, too; False: keep the input's layout.

    Returns: the same elements and type.

    Example: images = fn.transpose(images, perm=[2, 0, 1])
    """
    return fit(jnp.transpose(data, perm), out_shape)
