"""Groups samples by the length of their `axes` argument, so that the per-axis arguments of a group can be stacked."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._operators.record import extents_of, is_traced


@dataclasses.dataclass(frozen=True, eq=False)
class Alike:
    """Samples with the same number of axes.

    Attributes:
        rows: int64 [n], positions of the samples in the batch.
        axes: [n, K]; None: the user did not pass `axes`.
        values: arguments by name, [n, ...] each; None: the user did not pass the argument.
    """

    rows: np.ndarray
    axes: np.ndarray | None
    values: Mapping[str, Any]

    @contextlib.contextmanager
    def blaming(self) -> Iterator[None]:
        """Changes the sample number in a SampleError from the position in the group to the position in the batch."""
        try:
            yield
        except SampleError as error:
            if error.sample is None:
                raise
            where = int(self.rows[error.sample])
            raise SampleError(str(error), sample=where, argument=error.argument) from error


def by_number_of_axes(name: str, axes: Any, values: Mapping[str, Any], count: int) -> list[Alike]:
    """Groups the samples of a batch by their number of axes.

    Args:
        axes: [N, K], or [N] arrays (dtype object) of different lengths; None: the user did not pass `axes`.
        values: arguments by name, with one value per axis, in the same forms as `axes`.

    Raises:
        SampleError: samples with the same number of axes have different numbers of values.
    """
    if not any(_is_ragged(value) for value in (axes, *values.values())):
        return [Alike(np.arange(count), axes, values)]
    lengths = np.zeros(count, np.int64) if axes is None or is_traced(axes) else extents_of(axes).prod(axis=1)
    groups = []
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        chosen = {argument: _rows(name, argument, value, rows) for argument, value in values.items()}
        groups.append(Alike(rows, _rows(name, "axes", axes, rows), chosen))
    return groups


def _is_ragged(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def _rows(name: str, argument: str, value: Any, rows: np.ndarray) -> Any:
    """Stacks the values of an argument for the samples `rows`. These values must have one shape."""
    if value is None or is_traced(value):
        return value
    chosen = value[rows]
    if not _is_ragged(chosen):
        return chosen
    shapes = [one.shape for one in chosen]
    wrong = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
    if wrong is not None:
        raise SampleError(
            f"{name}: argument {argument!r} of sample {rows[wrong]} has shape {shapes[wrong]}, expected "
            f"{shapes[0]} as that of sample {rows[0]}, which has as many axes",
            sample=int(rows[wrong]),
            argument=argument,
        )
    return np.stack(chosen)
