"""Static values of a stage that rise with what its batches need, so that its first programs are small."""

from __future__ import annotations

from jdali._operators.call import PlannedCall
from jdali.graph import Node


class RisenValues:
    """The largest of each `Rising` value that a batch of a stage needed so far.

    Those of later batches are no smaller, so a stage has as many programs of a shape as there are values, at most; and it
    is no part of a state, since results are the same for all that are large enough.
    """

    def __init__(self) -> None:
        self._largest: dict[Node, dict[str, int]] = {}

    def raised(self, node: Node, planned: PlannedCall) -> PlannedCall:
        """Returns a call of an operator with its values raised to those of batches before, and notes them."""
        rising = planned.rising
        if not rising:
            return planned
        planned = planned.raised(self._largest.get(node, {}))
        self._largest[node] = {name: value.value for name, value in planned.rising.items()}
        return planned
