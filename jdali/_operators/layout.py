"""Adapting layouts: from what the user's data has to what an operator's `run` understands.

An operator declares the layouts its `run` works on ("HWC"). Data in another order of the same
axes ("CHW") is transposed on the way in and out, a missing channel axis ("HW") is added and taken
away again, and leading sequence axes ("FHWC") are mapped over.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches.extent import BatchSpec

_SEQUENCE_AXES = "F"


@dataclasses.dataclass(frozen=True)
class Adapter:
    """How one input's layout maps to one core layout; hashable, so part of a compile key.

    Attributes:
        layout: the input's own layout ("" if it has none and the core's is assumed).
        core: the layout `run` sees.
        lead: number of leading axes mapped over.
        order: axis i of the core is axis order[i] of the input without its lead;
            None: the input has no channel axis and one is added at the end of the core.
    """

    layout: str
    core: str
    lead: int = 0
    order: tuple[int | None, ...] = ()

    @property
    def is_identity(self) -> bool:
        # Not by the length of `core`: it is empty where neither the data nor the operator names axes.
        return self.lead == 0 and self.order == tuple(range(len(self.order)))

    def spec_to_core(self, spec: BatchSpec) -> BatchSpec:
        if self.is_identity:  # also that of a scalar, which has no columns to stack
            return spec.replace(layout=self.core)
        extents = spec.extents[:, self.lead :]
        ones = np.ones(len(extents), np.int64)
        columns = [ones if a is None else extents[:, a] for a in self.order]
        return BatchSpec(np.stack(columns, axis=1), spec.dtype, self.core)

    def spec_from_core(self, out: BatchSpec, original: BatchSpec) -> BatchSpec:
        """Spec of an output in the user's terms; `original` is the adapted input's spec."""
        extents, layout = out.extents, out.layout
        if layout == self.core:
            extents = extents[:, self._back]
            layout = "".join(layout[a] for a in self._back)
        lead = original.extents[:, : self.lead]
        prefix = self.layout[: self.lead] if self.layout else _SEQUENCE_AXES * self.lead
        named = prefix + layout if layout else ""
        return BatchSpec(np.concatenate([lead, extents], axis=1), out.dtype, named)

    @property
    def _back(self) -> list[int]:
        """Axes of a core-shaped output in the input's order; an added channel is dropped."""
        kept = [(a, core_axis) for core_axis, a in enumerate(self.order) if a is not None]
        return [core_axis for _, core_axis in sorted(kept)]

    def array_to_core(self, value: Array) -> Array:
        present = [a for a in self.order if a is not None]
        if present != sorted(present):
            value = jnp.transpose(value, [*range(self.lead), *(self.lead + a for a in present)])
        for axis, a in enumerate(self.order):
            if a is None:
                value = jnp.expand_dims(value, self.lead + axis)
        return value

    def array_from_core(self, value: Array, out_layout: str) -> Array:
        """`value` has the lead axes in front already; a core layout is turned back."""
        if out_layout != self.core:
            return value
        back = self._back
        for axis, a in enumerate(self.order):
            if a is None:
                value = jax.lax.index_in_dim(value, 0, self.lead + axis, keepdims=True)
        dropped = [axis for axis, a in enumerate(self.order) if a is None]
        order = [*range(self.lead), *(self.lead + a for a in back), *(self.lead + a for a in dropped)]
        if order != list(range(value.ndim)):
            value = jnp.transpose(value, order)
        return jnp.squeeze(value, axis=tuple(range(value.ndim - len(dropped), value.ndim)))

    def shape_to_core(self, shape: tuple[int, ...], out_layout: str) -> tuple[int, ...]:
        """Padded shape of an output, from the user's terms to what `run` must return."""
        inner = shape[self.lead :]
        if out_layout != self.core:
            return inner
        core = [1] * len(self.core)
        for position, axis in enumerate(self._back):
            core[axis] = inner[position]
        return tuple(core)


@functools.lru_cache(maxsize=1024)
def make_adapter(name: str, layouts: tuple[str, ...], sequence: bool, layout: str, ndim: int) -> Adapter:
    """Adapter of one input; raises ValueError if the operator `name` cannot take the layout."""
    if not layouts:
        return Adapter(layout, layout, 0, tuple(range(ndim)))
    if not layout.strip("*"):  # DALI's layout of affine transforms is "**", which names no axis
        return _assume(name, layouts, sequence, ndim)
    lead = len(layout) - len(layout.lstrip(_SEQUENCE_AXES)) if sequence else 0
    rest = layout[lead:]
    for core in layouts:
        if len(set(rest)) == len(rest) and set(rest) == set(core):
            return Adapter(layout, core, lead, tuple(rest.index(c) for c in core))
    for core in layouts:  # without a channel axis
        if set(rest) == set(core) - {"C"} and "C" in core:
            order = tuple(None if c == "C" else rest.index(c) for c in core)
            return Adapter(layout, core, lead, order)
    raise ValueError(
        f"{name}: cannot take layout {layout!r}; it takes {', '.join(layouts)}"
        + (", the same with the axes in another order, without C, or with a leading F" if sequence else "")
    )


def _assume(name: str, layouts: tuple[str, ...], sequence: bool, ndim: int) -> Adapter:
    """Data without a layout is taken to be in the operator's own, by the number of axes."""
    exact = [core for core in layouts if len(core) == ndim]
    for core in exact:
        if "D" not in core:
            return Adapter("", core, 0, tuple(range(ndim)))
    for core in layouts:  # DALI takes four axes to be FHWC rather than DHWC
        if sequence and len(core) + 1 == ndim:
            return Adapter("", core, 1, tuple(range(ndim - 1)))
    for core in exact:
        return Adapter("", core, 0, tuple(range(ndim)))
    for core in layouts:
        if core.endswith("C") and len(core) - 1 == ndim:
            return Adapter("", core, 0, (*range(ndim), None))
    raise ValueError(f"{name}: data without a layout has {ndim} axes; it takes {', '.join(layouts)}")


def map_leading(function: Any, lead: int) -> Any:
    """`function` mapped over `lead` leading axes of each of its array arguments."""
    for _ in range(lead):
        function = jax.vmap(function)
    return function
