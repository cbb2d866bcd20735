"""Matching what producers offer with what their consumers may use."""

from __future__ import annotations

import dataclasses

from jdali._operators.record import CompiledOp, HostBatchOp, HostOp, IsEnough, Offer, ReaderOp
from jdali.graph.node import DataNode, Node
from jdali.graph.plan import ExecutionPlan


@dataclasses.dataclass(frozen=True)
class Agreement:
    """An offer that all consumers of a value use.

    Attributes:
        offer: of the value's producer.
        consumers: operators whose first input the value is.
    """

    offer: Offer
    consumers: tuple[Node, ...]


def agreements(plan: ExecutionPlan) -> dict[Node, tuple[Agreement, ...]]:
    """The offers that hold, by the node that makes them.

    Those do whose value is no output of the pipeline, and is the first input of operators that may all use them and
    have no arguments that differ by sample.
    """
    users = _users(plan)
    taken = {id(o) for o in plan.outputs}  # not `in`: DataNode overloads ==
    found = {}
    for node in (node for step in plan.steps for node in step.nodes):
        if not isinstance(node.op, HostBatchOp) or not node.op.offers:
            continue
        value = node.outputs[0]
        consumers = tuple(users.get(value, ()))
        if not consumers or id(value) in taken:
            continue
        agreed = tuple(
            Agreement(offer, consumers)
            for offer in node.op.offers
            if all(_may_use(consumer, type(offer), value) for consumer in consumers)
        )
        if agreed:
            found[node] = agreed
    return found


def beginnings(plan: ExecutionPlan) -> dict[Node, tuple[IsEnough, ...]]:
    """The readers that may leave the rest of samples unread, and which beginnings their consumers can do with."""
    users = _users(plan)
    taken = {id(o) for o in plan.outputs}
    found = {}
    for node in (node for step in plan.steps for node in step.nodes):
        if not isinstance(node.op, ReaderOp) or not node.op.beginnings:
            continue
        value = node.outputs[0]
        consumers = users.get(value, ())
        enough = tuple(
            consumer.op.is_enough
            for consumer in consumers
            if isinstance(consumer.op, HostOp) and consumer.op.is_enough and consumer.inputs[0] is value
        )
        if enough and len(enough) == len(consumers) and id(value) not in taken:
            found[node] = enough
    return found


def _users(plan: ExecutionPlan) -> dict[DataNode, list[Node]]:
    """The nodes that use each value, as often as they do."""
    users: dict[DataNode, list[Node]] = {}
    for node in (node for step in plan.steps for node in step.nodes):
        for value in [*node.data_inputs, *node.arg_inputs.values()]:
            users.setdefault(value, []).append(node)
    return users


def _may_use(consumer: Node, offer: type[Offer], value: DataNode) -> bool:
    op = consumer.op
    usable = isinstance(op, CompiledOp) and offer in op.uses
    return usable and consumer.inputs[0] is value and not consumer.arg_inputs
