"""Operators that only move samples."""

from __future__ import annotations

import dataclasses

from jdali._operators.base import Operator, decorator
from jdali._operators.options import Arguments, OperatorOptions


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndexOptions(OperatorOptions):
    """Options of `index_operator`.

    Attributes:
        same_samples: the output has the samples of the input, in their order.
    """

    same_samples: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndexOp(Operator, IndexOptions):
    """A function of `TensorList`s that returns one with other indices over the same blocks, or what is known of them.

    Per-sample arguments are `TensorList`s as well, or one value. No sample is touched, wherever it is.
    """

    def by_sample(self, arguments: Arguments) -> bool:
        return False


index_operator = decorator(
    "index_operator",
    IndexOp,
    IndexOptions,
    "Makes an `IndexOp` of a function of batches, and registers it.",
)
