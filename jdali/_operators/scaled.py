"""Chooses a reduced size at which each picture is decoded, if the operators after the decoder shrink the picture anyway.

A decoder declares with a `ScaledDecoding` at which scales it can decode. An operator that can take pictures of reduced size,
such as `resize`, has a parameter `scaled` in its `setup`. If only such operators use the pictures of a decoder
(`graph.scaled_consumers`), the engine chooses a `Scaled` for each batch, and passes it to the decoder's `run` and to the
`setup` of these operators.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from jdali._batches import BatchSpec

IntArray: TypeAlias = "npt.NDArray[np.int64]"


@dataclasses.dataclass(frozen=True)
class ScaledDecoding:
    """Declares the scales at which a decoder can decode pictures [..., C].

    Attributes:
        denominators: numbers by which a size can be divided, besides 1; ascending.
        limits: `limits(headers)` returns, for each picture, the largest number by which its size can be divided, int [N].
        offset: `offset(params, denominator)` returns `Scaled.offset`.
    """

    denominators: tuple[int, ...]
    limits: Callable[[Any], IntArray]
    offset: Callable[[Mapping[str, Any], IntArray], np.ndarray]

    def choose(
        self, whole: BatchSpec, wanted: Sequence[BatchSpec], params: Mapping[str, object], headers: object
    ) -> Scaled:
        """Chooses, for each picture, the smallest size at which no axis is shorter than in the outputs `wanted`."""
        sizes = whole.extents[:, :-1]
        most = [(sizes // np.maximum(spec.extents[:, :-1], 1)).min(axis=1) for spec in wanted]
        most.append(self.limits(headers))
        steps = np.array([1, *self.denominators])
        step = np.searchsorted(steps, functools.reduce(np.minimum, most), side="right") - 1
        denominator = steps[np.maximum(step, 0)][:, None]
        return Scaled(denominator, sizes, self.offset(params, denominator))


@dataclasses.dataclass(frozen=True, eq=False)
class Scaled:
    """The scale at which each picture of a batch is decoded.

    Attributes:
        denominator: int64 [N, 1]; the decoded size is the whole size divided by it, rounded up.
        whole: int64 [N, d], the whole size.
        offset: float64 [N, d], distance from the start of the decoded picture to the start of the whole one, in decoded
            pixels.
    """

    denominator: IntArray
    whole: IntArray
    offset: np.ndarray

    @functools.cached_property
    def key(self) -> Hashable:
        return self.denominator.tobytes(), self.whole.tobytes(), self.offset.tobytes()

    def select(self, rows: IntArray) -> Scaled:
        return Scaled(self.denominator[rows], self.whole[rows], self.offset[rows])
