"""Adapts the layout of the user's data to a layout that an operator's `run` takes.

An operator declares the layouts that its `run` works on ("HWC"). Data in another order of the same axes ("CHW") is
transposed on the way in and out, a missing channel axis ("HW") is added and removed again, and axes of frames ("FHWC",
"CFHW") are mapped over.
"""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec

_FRAMES = "F"


@dataclasses.dataclass(frozen=True)
class Adapter:
    """Maps an input's layout to the core layout, which is the layout that `run` gets.

    Adapters are hashable, because compile keys contain them.

    Attributes:
        layout: layout of the input ("": it has none, and the core layout is assumed).
        core: the core layout.
        frames: axes of the input over which `run` is mapped, in ascending order.
        order: axis i of the core is axis order[i] of the input without its frames. order[i] is None for a channel axis that
            the input lacks and that is added at the end.
    """

    layout: str
    core: str
    frames: tuple[int, ...] = ()
    order: tuple[int | None, ...] = ()

    @property
    def is_identity(self) -> bool:
        # Not `len(core)`, because `core` is empty if neither the data nor the operator has a layout.
        return not self.frames and self.order == tuple(range(len(self.order)))

    @property
    def lead(self) -> int:
        return len(self.frames)

    def spec_to_core(self, spec: BatchSpec) -> BatchSpec:
        if self.is_identity:  # true for scalars, too, for which `np.stack` would fail
            return spec.replace(layout=self.core)
        ones = np.ones(len(spec.extents), np.int64)
        columns = [ones if a is None else spec.extents[:, a] for a in self._core_axes]
        return BatchSpec(np.stack(columns, axis=1), spec.dtype, self.core)

    def spec_from_core(self, out: BatchSpec, original: BatchSpec) -> BatchSpec:
        """Converts the spec of an output of `run` to the user's layout; `original` is the input's spec in this layout."""
        frames = [self.layout[a] if self.layout else _FRAMES for a in self.frames]
        extents = np.concatenate([original.extents[:, list(self.frames)], out.extents], axis=1)
        names = [*frames, *out.layout]
        order = self._from_core(out.layout, out.ndim)
        return BatchSpec(extents[:, order], out.dtype, "".join(names[a] for a in order) if out.layout else "")

    @property
    def _core_axes(self) -> list[int | None]:
        """For each axis of the core, the axis of the input; None for an added channel axis."""
        others = [a for a in range(self.lead + len(self.order)) if a not in self.frames]
        return [None if a is None else others[a] for a in self.order]

    def _from_core(self, out_layout: str, ndim: int) -> list[int]:
        """Returns `order`: axis i of an output is axis order[i] of the result of the mapped `run`.

        The axes of frames come first in this result. If `run` returned the core layout, the output has the input's axes
        in the input's order. For any other layout, the axes of frames come first in the output, too.
        """
        if out_layout != self.core:
            return list(range(self.lead + ndim))
        axes = dict(zip(self.frames, range(self.lead), strict=True))
        axes |= {a: self.lead + core for core, a in enumerate(self._core_axes) if a is not None}
        return [axes[a] for a in sorted(axes)]

    def array_to_core(self, value: Array) -> Array:
        """Transposes a value so that its frames come first, followed by the axes of the core."""
        order = [*self.frames, *(a for a in self._core_axes if a is not None)]
        if order != sorted(order):
            value = jnp.transpose(value, order)
        for axis, a in enumerate(self.order):
            if a is None:
                value = jnp.expand_dims(value, self.lead + axis)
        return value

    def array_from_core(self, value: Array, out_layout: str) -> Array:
        """Undoes `array_to_core` for a result of `run`: restores the order of axes, drops an added channel axis."""
        order = self._from_core(out_layout, value.ndim - self.lead)
        dropped = [axis for axis in range(value.ndim) if axis not in order]
        for axis in dropped:
            value = jax.lax.index_in_dim(value, 0, axis, keepdims=True)
        if [*order, *dropped] != list(range(value.ndim)):
            value = jnp.transpose(value, [*order, *dropped])
        return jnp.squeeze(value, axis=tuple(range(len(order), value.ndim)))

    def extent_to_core(self, extent: Array) -> Array:
        """Converts the true size of an input, or of an output with the same axes, to the core layout."""
        if self.is_identity:
            return extent
        one = jnp.ones((), extent.dtype)
        return jnp.stack([one if a is None else extent[a] for a in self._core_axes])

    def out_extent_to_core(self, extent: Array, out_layout: str) -> Array:
        """Converts the true size of an output to the layout in which `run` returns it."""
        return self.extent_to_core(extent) if out_layout == self.core else extent[self.lead :]

    def shape_to_core(self, shape: tuple[int, ...], out_layout: str) -> tuple[int, ...]:
        """Converts the padded shape of an output from the user's layout to the layout in which `run` returns it."""
        if out_layout != self.core:
            return shape[self.lead :]
        return tuple(1 if a is None else shape[a] for a in self._core_axes)


@functools.lru_cache(maxsize=1024)
def make_adapter(name: str, layouts: tuple[str, ...], sequence: bool, layout: str, ndim: int) -> Adapter:
    """Makes the adapter of one input; raises ValueError if the operator `name` cannot take the layout."""
    if not layouts:
        return Adapter(layout, layout, (), tuple(range(ndim)))
    if not layout.strip("*"):  # DALI's layout of affine transforms, "**", has no letters of axes
        return _assume(name, layouts, sequence, ndim)
    frames = tuple(a for a, letter in enumerate(layout) if letter == _FRAMES) if sequence else ()
    rest = "".join(letter for a, letter in enumerate(layout) if a not in frames)
    for core in layouts:
        if len(set(rest)) == len(rest) and set(rest) == set(core):
            return Adapter(layout, core, frames, tuple(rest.index(c) for c in core))
    for core in layouts:  # layouts that differ only by the channel axis
        if set(rest) == set(core) - {"C"} and "C" in core:
            order = tuple(None if c == "C" else rest.index(c) for c in core)
            return Adapter(layout, core, frames, order)
    more = ", the same with the axes in another order, without C, or with F for frames" if sequence else ""
    raise refused_layout(name, layout, ndim, ", ".join(layouts) + more)


def refused_layout(name: str, layout: str, ndim: int, allowed: str) -> ValueError:
    """Returns the error for a layout, or for `ndim` axes without a layout, that the operator `name` cannot take."""
    what = f'The layout "{layout}"' if layout else f"The number of dimensions {ndim}"
    kind = ValueError if layout else RankError
    return kind(f"{name}: {what} does not match any of the allowed layouts: {allowed}")


class RankError(ValueError):
    """Raised if data without a layout has a number of axes that an operator cannot take."""


def _assume(name: str, layouts: tuple[str, ...], sequence: bool, ndim: int) -> Adapter:
    """Chooses one of the operator's layouts for data without a layout, by the number of axes."""
    exact = [core for core in layouts if len(core) == ndim]
    for core in exact:
        if "D" not in core:
            return Adapter("", core, (), tuple(range(ndim)))
    for core in layouts:  # DALI takes four axes to be FHWC rather than DHWC
        if sequence and len(core) + 1 == ndim:
            return Adapter("", core, (0,), tuple(range(ndim - 1)))
    for core in exact:
        return Adapter("", core, (), tuple(range(ndim)))
    for core in layouts:
        if core.endswith("C") and len(core) - 1 == ndim:
            return Adapter("", core, (), (*range(ndim), None))
    raise refused_layout(name, "", ndim, ", ".join(layouts))
