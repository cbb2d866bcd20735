"""Offers of producers and their use by consumers: two operators agree without knowing each other.

A producer (a decoder) lists its offers. A consumer (a resize) lists the types of offers that it may use. The planner
matches them (`graph/offers.py`): an offer holds if all consumers of a value may use it. For each batch, the engine
works out what exactly is agreed, and both get that under the name that the offer gives it: the `run` of the producer
and the `setup` of the consumer. Neither gets it where nothing is agreed.

A reader of files may offer their beginnings. An operator that looks at headers says by `is_enough` which beginning it can
do with; where all consumers do, the reader leaves the rest of such files unread.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from jdali._batches import BatchSpec

IsEnough: TypeAlias = "Callable[[memoryview], bool]"
"""True if an operator looks only at these first bytes of a sample, whatever follows."""

IntArray: TypeAlias = "npt.NDArray[np.int64]"


class Agreed(Protocol):
    """Agreement for the samples of a batch."""

    @property
    def key(self) -> Hashable:
        """All of it, to compare and to hash."""

    def select(self, rows: IntArray) -> Self:
        """The same for some of the samples."""


class Offer(abc.ABC):
    """Something that a producer can do for the consumers of its first output.

    Attributes:
        parameter: name under which both get what is agreed.
    """

    parameter: ClassVar[str]

    @abc.abstractmethod
    def agree(
        self, whole: BatchSpec, wanted: Sequence[BatchSpec], params: Mapping[str, object], headers: object
    ) -> Agreed:
        """Finds the agreement that serves all consumers.

        Args:
            whole: of the output, if there were no offer.
            wanted: of each consumer, the spec of its first output.
            params: of the producer's `Plan`, [N, ...] each.
            headers: of the producer's `probe`; None if it has none.
        """


@dataclasses.dataclass(frozen=True)
class ScaledDecoding(Offer):
    """Pictures [..., C] can be decoded at a fraction of the size that `setup` announces; agreed on is a `Scaled`.

    Attributes:
        denominators: that sizes can be divided by, beside 1; ascending.
        limits: `limits(headers)`, the most that the size of each picture can be divided by, int [N]; None: they can
            all be divided by any of `denominators`.
        offset: `offset(params, denominator)`, see `Scaled.offset`; `denominator` is that of `Scaled`. None: 0.
    """

    parameter: ClassVar[str] = "scaled"

    denominators: tuple[int, ...]
    limits: Callable[[Any], IntArray] | None = None
    offset: Callable[[Mapping[str, Any], IntArray], np.ndarray] | None = None

    def agree(
        self, whole: BatchSpec, wanted: Sequence[BatchSpec], params: Mapping[str, object], headers: object
    ) -> Scaled:
        """The smallest size of each picture that has at least as many elements as any consumer makes, axis by axis."""
        sizes = whole.extents[:, :-1]
        most = [(sizes // np.maximum(spec.extents[:, :-1], 1)).min(axis=1) for spec in wanted]
        if self.limits is not None:
            most.append(self.limits(headers))
        steps = np.array([1, *self.denominators])
        step = np.searchsorted(steps, functools.reduce(np.minimum, most), side="right") - 1
        denominator = steps[np.maximum(step, 0)][:, None]
        offset = np.zeros(sizes.shape) if self.offset is None else self.offset(params, denominator)
        return Scaled(denominator, sizes, offset)


@dataclasses.dataclass(frozen=True, eq=False)
class Scaled:
    """Fraction of its size at which each picture of a batch is decoded.

    Attributes:
        denominator: int64 [N, 1], the size is divided by, and rounded up.
        whole: int64 [N, d], the size that it would have had.
        offset: float64 [N, d], pixels (of the picture as decoded) before what would have been its first.
    """

    denominator: IntArray
    whole: IntArray
    offset: np.ndarray

    @functools.cached_property
    def key(self) -> Hashable:
        return self.denominator.tobytes(), self.whole.tobytes(), self.offset.tobytes()

    def select(self, rows: IntArray) -> Scaled:
        return Scaled(self.denominator[rows], self.whole[rows], self.offset[rows])
