"""The part of a batch that a branch of a conditional works on."""

from __future__ import annotations

from collections.abc import Iterable

from jdali.engine.failure import NodeFailure
from jdali.engine.sample_ids import SampleIds
from jdali.engine.steps.values import Values
from jdali.graph import Domain, Node
from jdali.ops.flow._regroup import positions
from jdali.tensors import TensorList


class BadCondition(NodeFailure):
    """A value cannot be the condition of a branch."""

    def __init__(self, node: Node, where: str, error: Exception):
        super().__init__(node, {None: error})
        self._where = where

    @property
    def where(self) -> str:
        return self._where


def part_of(domain: Domain, parts: dict[Domain, SampleIds], env: Values) -> SampleIds:
    """The samples of a branch: those of its parent for which the predicate is as it says.

    Args:
        domain: of the branch.
        parts: samples of the branches known so far, which are added to; that of the whole batch is there.
        env: what is computed so far, with the predicates.

    Raises:
        NodeFailure: a predicate is no scalar.
    """
    if domain not in parts:
        assert domain.parent is not None
        assert domain.predicate is not None
        parent = part_of(domain.parent, parts, env)
        if not len(parent):  # nor has the predicate been computed
            return parent
        try:
            parts[domain] = parent.select(positions(env[domain.predicate], domain.branch))
        except Exception as error:
            raise BadCondition(domain.predicate.source, domain.where, error) from error
    return parts[domain]


def leave_empty(nodes: Iterable[Node], env: Values) -> None:
    """Gives operators that no sample came to, in their branch, outputs without samples."""
    for node in nodes:
        for value in node.outputs:
            env[value] = TensorList.from_samples([], "", value.device)
