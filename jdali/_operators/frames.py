"""Handles calls on sequences where an argument, or an input after the first, differs by frame.

Such a call is planned and run as a call on a batch of frames: `setup` gets a row for each frame of each sample, and the
compiled program merges samples and frames into one axis. A frame thus has the same result as a single picture, and
operators need no code for sequences. `frames_of` returns None for calls that need no frames.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import SampleError, check_samples
from jdali._operators import argument_rules
from jdali._operators.base import Operator
from jdali._operators.compiled import DeviceOp
from jdali._operators.layout import make_adapter

FRAMES = "F"


def sample_of(row: int, counts: np.ndarray | None) -> int:
    """Returns the number of the sample to which a row of the arrays of `setup` belongs.

    Args:
        counts: number of frames of each sample, if rows are frames; None: rows are samples.
    """
    return row if counts is None else int(np.searchsorted(np.cumsum(counts), row, side="right"))


@dataclasses.dataclass(frozen=True)
class FrameAxes:
    """Describes where sequences have their frames, so that a program for single frames can run on them.

    It is part of the program's key.

    Attributes:
        inputs: axis of frames of each input; None if all frames of a sample share the input.
        outputs: axis of frames of each output.
        held: arguments that differ by frame, and whose values the caller passes to `run_call`, perhaps padded.
        planned: names of the values that `setup` got or computed, [N, frames, ...].
    """

    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...] = ()
    held: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()


def length_name(argument: str) -> str:
    """Returns the name of the traced value that holds an argument's number of frames in each sample."""
    return f"_{argument}_frames"


@dataclasses.dataclass(frozen=True, eq=False)
class Frames:
    """Describes the frames of a batch.

    Attributes:
        counts: int64 [N], frames of each sample, at least 1.
        lengths: for each argument that differs by frame, int64 [N], its number of values in each sample. This is the
            number of frames, or 1 if all frames share a value.
        sample, number: int64 [frames of all samples], the sample of each frame, and the frame's number in the sample.
    """

    axes: tuple[int | None, ...]
    counts: np.ndarray
    lengths: Mapping[str, np.ndarray]
    sample: np.ndarray
    number: np.ndarray

    def spec(self, spec: BatchSpec, axis: int | None) -> BatchSpec:
        extents, layout = spec.extents[self.sample], spec.layout
        if axis is not None:
            extents, layout = np.delete(extents, axis, axis=1), layout[:axis] + layout[axis + 1 :]
        return BatchSpec(extents, spec.dtype, layout)

    def values(self, name: str, values: np.ndarray) -> np.ndarray:
        """Returns an argument's value for each frame; `values` [N, ...] has the values of each sample."""
        if name not in self.lengths:
            return values[self.sample]
        number = np.minimum(self.number, self.lengths[name][self.sample] - 1)
        if values.dtype != object:
            return values[self.sample, number]
        rows = [np.asarray(values[i][k]) for i, k in zip(self.sample.tolist(), number.tolist(), strict=True)]
        return np.stack(rows) if len({row.shape for row in rows}) == 1 else argument_rules.as_objects(rows)

    def extents(self, name: str, extents: np.ndarray) -> np.ndarray:
        """Returns the shape of an argument's value for each frame; `extents` [N, ndim] has the shape of each sample's values."""
        return extents[self.sample, 1:] if name in self.lengths else extents[self.sample]

    def gathered(self, spec: BatchSpec, axis: int) -> BatchSpec:
        """Makes the spec of sequences from the spec of their frames. A sequence has the size of its largest frame."""
        first = np.cumsum(self.counts) - self.counts
        extents = np.maximum.reduceat(spec.extents, first, axis=0) if len(first) else spec.extents
        layout = spec.layout and spec.layout[:axis] + FRAMES + spec.layout[axis:]
        return BatchSpec(np.insert(extents, axis, self.counts, axis=1), spec.dtype, layout)

    def padded(self, values: np.ndarray) -> np.ndarray:
        """Pads values of all frames to [N, frames, ...]; the last value of a sample is repeated.

        `frames` is a power of two, because each number of frames needs a compiled program.
        """
        most = 1 << (int(self.counts.max(initial=1)) - 1).bit_length()
        first = np.cumsum(self.counts) - self.counts
        rows: np.ndarray = values[first[:, None] + np.minimum(np.arange(most), self.counts[:, None] - 1)]
        return rows

    def axes_of(
        self,
        specs: Sequence[BatchSpec],
        outputs: Sequence[BatchSpec],
        held: Iterable[str],
        planned: Iterable[str],
    ) -> FrameAxes:
        """Returns the axis of frames of each input and output of a program.

        An output with as many axes as the first input has its frames on the same axis as this input. Any other output
        has them on axis 0.
        """
        axis = self.axes[0] if self.axes else None
        own = [axis if axis is not None and o.ndim == specs[0].ndim else 0 for o in outputs]
        return FrameAxes(self.axes, tuple(own), tuple(held), tuple(sorted(planned)))

    def blamed(self, error: SampleError, frame: int) -> SampleError:
        """Converts an error about a frame to an error about the frame's sample; the text contains the number of the frame."""
        sample, number = int(self.sample[frame]), int(self.number[frame])
        return SampleError(
            f"{str(error).rstrip('.')}, in frame {number}", sample=sample, argument=error.argument
        )


def frames_of(op: Operator, specs: Sequence[BatchSpec], by_frame: Mapping[str, np.ndarray]) -> Frames | None:
    """Finds the frames of a call; returns None if the call works on whole samples.

    Args:
        by_frame: shapes of the arguments that differ by frame, int [N, ndim], in the order of the signature.
    """
    lengths = {name: shapes[:, 0].astype(np.int64) for name, shapes in by_frame.items()}
    takes = op.takes_frames if isinstance(op, DeviceOp) else "first"
    axes = tuple(_frame_axis(op, i, spec) for i, spec in enumerate(specs))
    known = [i for i, axis in enumerate(axes) if axis is not None]
    # If only the first input has frames, its `Adapter` maps over them, unless the operator's arguments may have frames.
    enough = {"first": False, "inputs": any(i > 0 for i in known), "arguments": bool(known)}
    if not lengths and not enough[takes]:
        return None
    if known:
        counts = specs[known[0]].extents[:, axes[known[0]]]
        _check_inputs(op, known[0], counts, {i: specs[i].extents[:, axes[i]] for i in known[1:]})
        whose = f"input {known[0]}"
    elif takes == "arguments":
        argument, counts = next(iter(lengths.items()))
        whose = f"argument `{argument}`"
    else:
        raise ValueError(
            f"{op.name}: Tensor input for argument {next(iter(lengths))} is specified per frame (got F layout). In that "
            f"case, samples in the input 0 must contain frames too. Got layout `{specs[0].layout if specs else ''}` that "
            "does not contain frames."
        )
    _check_counts(op, counts, lengths, whose)
    for name, shapes in by_frame.items():  # checked here, where an error can name the sample
        argument_rules.sample_shape(op.name, op.args[name], shapes[:, 1:])
    sample = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(sample)) - (np.cumsum(counts) - counts)[sample]
    return Frames(axes, counts, dict(lengths), sample, number)


def _frame_axis(op: Operator, index: int, spec: BatchSpec) -> int | None:
    if index == 0 and isinstance(op, DeviceOp) and op.layouts:
        adapter = make_adapter(op.name, op.layouts, op.sequence, spec.layout, spec.ndim)
        return adapter.frames[0] if adapter.frames else None
    axis = spec.layout.find(FRAMES)
    return axis if axis == 0 or (axis > 0 and index == 0) else None


def _check_inputs(op: Operator, first: int, counts: np.ndarray, others: Mapping[int, np.ndarray]) -> None:
    for other, found in others.items():
        check_samples(
            counts != found,
            lambda i, other=other, found=found: (
                f"{op.name}: The input {first} and the input {other} have different number of frames for sample {i}, "
                f"respectively: {counts[i]} and {found[i]}"
            ),
        )


def _check_counts(op: Operator, counts: np.ndarray, lengths: Mapping[str, np.ndarray], whose: str) -> None:
    check_samples(
        counts == 0, lambda i: f"{op.name}: Samples with no frames are not allowed. The sample {i} has none."
    )

    def text(name: str, own: np.ndarray, i: int) -> str:
        return (
            f"{op.name}: The sample {i} of tensor argument `{name}` contains {own[i]} per-frame parameters, but there are "
            f"{counts[i]} frames in the corresponding sample of {whose}. The numbers should match."
        )

    for name, own in lengths.items():
        check_samples((own != 1) & (own != counts), functools.partial(text, name, own), argument=name)


def run_frames(
    run: Callable[..., tuple[Array, ...]],
    axes: FrameAxes,
    arrays: Sequence[Array],
    extents: Sequence[Array],
    traced: Mapping[str, Array],
    out_extents: Sequence[Array],
    out_shapes: Sequence[tuple[int, ...]],
) -> tuple[Array, ...]:
    """Runs a call on sequences: calls `run` with all frames as the rows of one larger batch."""
    samples, frames = out_extents[0].shape[0], out_shapes[0][axes.outputs[0]]
    results = run(
        [_rows(v, axis, frames) for v, axis in zip(arrays, axes.inputs, strict=True)],
        [_rows(_without(e, axis), None, frames) for e, axis in zip(extents, axes.inputs, strict=True)],
        _rows_of_values(axes, traced, frames),
        [_rows(_without(e, axis), None, frames) for e, axis in zip(out_extents, axes.outputs, strict=True)],
        [(*s[:axis], *s[axis + 1 :]) for s, axis in zip(out_shapes, axes.outputs, strict=True)],
    )
    return tuple(
        jnp.moveaxis(_fit_frames(r.reshape(samples, frames, *r.shape[1:]), shape[axis]), 1, axis + 1)
        for r, axis, shape in zip(results, axes.outputs, out_shapes, strict=True)
    )


def _rows(value: Array, axis: int | None, frames: int) -> Array:
    """Flattens [N, ...] to [N · frames, ...].

    `axis` is the axis of frames. None: a sample has one value for all frames, which is repeated.
    """
    if axis is None:
        value = jnp.broadcast_to(value[:, None], (value.shape[0], frames, *value.shape[1:]))
    else:
        value = _fit_frames(jnp.moveaxis(value, axis + 1, 1), frames)
    return value.reshape(value.shape[0] * frames, *value.shape[2:])


def _without(extents: Array, axis: int | None) -> Array:
    return extents if axis is None else jnp.delete(extents, axis, axis=1)


def _rows_of_values(axes: FrameAxes, traced: Mapping[str, Array], frames: int) -> dict[str, Array]:
    """Flattens the values in `traced` to [N · frames, ...]; leaves out the lengths of arguments."""
    result = {}
    lengths = {length_name(name) for name in axes.held}
    extents = {argument_rules.extent_name(name) for name in axes.held}
    for name, value in traced.items():
        if name in axes.held:
            result[name] = _rows(_spread(value, traced[length_name(name)], frames), 0, frames)
        elif name in extents:
            result[name] = _rows(_without(value, 0), None, frames)
        elif name not in lengths:
            result[name] = _rows(value, 0 if name in axes.planned else None, frames)
    return result


def _spread(value: Array, length: Array, frames: int) -> Array:
    """Extends an argument [N, padded, ...] to [N, frames, ...]. Sample i has `length[i]` values; the last repeats."""
    number = jnp.arange(frames, dtype=jnp.int32)
    number = jnp.clip(jnp.minimum(number, length[:, None] - 1), 0, value.shape[1] - 1)
    return jnp.take_along_axis(value, number.reshape(*number.shape, *[1] * (value.ndim - 2)), axis=1)


def _fit_frames(value: Array, frames: int) -> Array:
    missing = frames - value.shape[1]
    if missing > 0:
        return jnp.pad(value, [(0, missing if axis == 1 else 0) for axis in range(value.ndim)])
    return value[:, :frames] if missing else value
