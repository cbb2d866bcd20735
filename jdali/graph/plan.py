"""Cuts a graph into steps: host steps, and stages that are compiled to one program for each padded shape.

Every node gets a *level*. A value that some `setup` or host operator reads on the host (such as a rotation angle that sets
the size of the canvas) must be computed one level before its consumer. All other nodes come as late as possible, so that
they fuse with their consumers. An operator that works on the whole batch is a separate stage, because it needs all
samples in one padded shape. Within a level, host steps come first, then stages on the CPU, then on the accelerator.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from jdali._operators.record import CompiledOp, HostBatchOp
from jdali.graph.node import DataNode, Domain, Node


@dataclasses.dataclass(frozen=True, eq=False)
class HostStep:
    """Represents one operator that runs outside compiled code.

    Attributes:
        may_be_late: True if the samples may be made late, that is, when a stage reads them; see `with_late_steps`.
    """

    node: Node
    level: int
    may_be_late: bool = False

    @property
    def device(self) -> str:
        """ "cpu" or "gpu": where its outputs are."""
        return "cpu" if self.node.device == "cpu" else "gpu"

    @property
    def domain(self) -> Domain:
        return self.node.domain

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (self.node,)

    @property
    def outputs(self) -> tuple[DataNode, ...]:
        return self.node.outputs


@dataclasses.dataclass(frozen=True, eq=False)
class Stage:
    """Joins operators that are compiled into one program per padded shape.

    Attributes:
        inputs: values from outside the stage whose arrays the program reads.
        outputs: values that are used outside the stage.
    """

    index: int
    level: int
    device: str
    domain: Domain
    nodes: tuple[Node, ...]
    inputs: tuple[DataNode, ...]
    outputs: tuple[DataNode, ...]

    @property
    def is_arguments(self) -> bool:
        """True if the stage has only random values and arithmetic on them, and reads no data."""
        return not self.inputs

    @property
    def title(self) -> str:
        """ "arguments", or "stage" and its number."""
        return "arguments" if self.is_arguments else f"stage {self.index}"


@dataclasses.dataclass(frozen=True)
class ExecutionPlan:
    """Holds the plan of a graph: its steps, outputs and last uses.

    Attributes:
        last_uses: for each step, the values that no later step needs.
    """

    steps: tuple[HostStep | Stage, ...]
    outputs: tuple[DataNode, ...]
    sources: tuple[Node, ...]
    last_uses: tuple[tuple[DataNode, ...], ...]

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(s for s in self.steps if isinstance(s, Stage))

    def unused_outputs(self, node: Node) -> list[int]:
        """Returns the numbers of a node's outputs that nothing needs."""
        needed = {
            *self.outputs,
            *(v for step in self.steps for user in step.nodes for v in dependencies(user)),
        }
        return [i for i, value in enumerate(node.outputs) if value not in needed]


def make_plan(
    nodes: Sequence[Node], outputs: Sequence[DataNode], *, one_device: bool = False
) -> ExecutionPlan:
    """Plans the nodes that `outputs` depend on, and preserved nodes. With `one_device`, "cpu" and "gpu" nodes may fuse."""
    used = upstream([*outputs, *(v for n in nodes if n.preserve for v in dependencies(n))])
    used |= {n for n in nodes if n.preserve}
    live = [n for n in nodes if n in used]
    where = {n: "cpu" if one_device or n.device == "cpu" else "gpu" for n in live}
    levels = _levels(live, where)
    stages = _stages(live, levels, outputs, where)
    steps: list[HostStep | Stage] = [HostStep(n, levels[n]) for n in live if not is_compiled(n)]
    steps += stages
    order = {n: i for i, n in enumerate(live)}

    def key(step: HostStep | Stage) -> tuple[int, int, int]:
        kind = 0 if isinstance(step, HostStep) else 1 if step.device == "cpu" else 2
        return step.level, kind, order[step.nodes[0]]

    steps = _topological(sorted(steps, key=key))
    sources = tuple(n for n in live if n.is_source)
    return ExecutionPlan(tuple(steps), tuple(outputs), sources, last_uses(steps, outputs))


def step_of(node: Node) -> HostStep | Stage:
    if not is_compiled(node):
        return HostStep(node, 0)
    where = {node: "cpu" if node.device == "cpu" else "gpu"}
    return _stages([node], {node: 0}, node.outputs, where)[0]


def last_uses(
    steps: Sequence[HostStep | Stage], outputs: Sequence[DataNode], inputs: Sequence[DataNode] = ()
) -> tuple[tuple[DataNode, ...], ...]:
    """Finds, for each step, the values that no later step needs. `inputs` exist before the first step."""
    kept = set(outputs)
    last: dict[DataNode, int] = {}
    for number, step in enumerate(steps):
        for value in [*step.outputs, *(v for node in step.nodes for v in dependencies(node))]:
            last[value] = number
    # Values inside a stage are never values of a batch.
    visible = {*inputs, *(v for step in steps for v in step.outputs)}
    found: list[list[DataNode]] = [[] for _ in steps]
    for value, number in last.items():
        if value in visible and value not in kept:
            found[number].append(value)
    return tuple(map(tuple, found))


def scaled_consumers(plan: ExecutionPlan) -> dict[Node, tuple[Node, ...]]:
    """Finds decoders that may decode at a fraction of the size, with the operators that read their pictures.

    A decoder qualifies if its pictures are no output of the pipeline, and all operators that read them accept scaled
    pictures and have no per-sample arguments.
    """
    users: dict[DataNode, list[Node]] = {}
    for node in (node for step in plan.steps for node in step.nodes):
        for value in node.operands:
            users.setdefault(value, []).append(node)
    outputs = set(plan.outputs)
    return {
        value.source: tuple(consumers)
        for value, consumers in users.items()
        if isinstance(value.source.op, HostBatchOp) and value.source.op.scales is not None
        and value.index == 0 and value not in outputs
        and all(
            is_compiled(node) and compiled(node).takes_scaled and node.inputs and node.inputs[0] is value
            and not node.arg_inputs
            for node in consumers
        )
    }  # fmt: skip


def is_compiled(node: Node) -> bool:
    return isinstance(node.op, CompiledOp)


def compiled(node: Node) -> CompiledOp:
    """Returns the operator of a node of a stage."""
    assert isinstance(node.op, CompiledOp)
    return node.op


def dependencies(node: Node) -> list[DataNode]:
    """Lists all values that a node depends on: its inputs, its arguments, the predicates of its branches."""
    predicates = [domain.predicate for domain in node.domain.chain() if domain.predicate is not None]
    return [*node.operands, *predicates]


def upstream(
    values: Iterable[DataNode],
    cut: Iterable[DataNode] = (),
    needs: Callable[[Node], Iterable[DataNode]] = dependencies,
) -> set[Node]:
    """Returns the nodes that make the values, except nodes that only the values of `cut` need."""
    given = set(cut)
    seen: set[Node] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in given and value.source not in seen:
            seen.add(value.source)
            pending += needs(value.source)
    return seen


def _steps_between(producer: Node, consumer: Node, value: DataNode, where: Mapping[Node, str]) -> int:
    """Returns the number of levels by which `consumer` must follow `producer`."""
    if not is_compiled(producer):
        return 0
    if not is_compiled(consumer) or value in set(consumer.needs_values()):
        return 1
    if producer.whole_batch or consumer.whole_batch:
        return 1
    if any(domain.predicate is value for domain in consumer.domain.chain()):
        return 1
    down = where[producer] == "gpu" and where[consumer] == "cpu"
    return 1 if down or producer.domain is not consumer.domain else 0


def _levels(nodes: Sequence[Node], where: Mapping[Node, str]) -> dict[Node, int]:
    levels: dict[Node, int] = {}
    for node in nodes:
        levels[node] = max(
            (levels[v.source] + _steps_between(v.source, node, v, where) for v in dependencies(node)),
            default=0,
        )
    latest = dict.fromkeys(nodes, max(levels.values(), default=0))
    for node in reversed(nodes):
        if not is_compiled(node):
            latest[node] = levels[node]
        for value in dependencies(node):
            bound = latest[node] - _steps_between(value.source, node, value, where)
            latest[value.source] = min(latest[value.source], bound)
    return {n: latest[n] if is_compiled(n) else levels[n] for n in nodes}


def _stages(
    nodes: Sequence[Node], levels: dict[Node, int], outputs: Sequence[DataNode], where: Mapping[Node, str]
) -> list[Stage]:
    groups = _components([n for n in nodes if is_compiled(n)], levels, where)
    wanted = set(outputs)
    consumers: dict[DataNode, list[Node]] = {}
    for node in nodes:
        for value in dependencies(node):
            consumers.setdefault(value, []).append(node)
    stages = []
    for index, group in enumerate(groups):
        members = set(group)
        inputs: dict[DataNode, None] = {}
        for node in group:
            # An argument that `setup` reads is no input of the program, because it is passed with the results of `setup`.
            handed_over = {*node.needs_values(), *_checked_values(node)} & {*node.arg_inputs.values()}
            for value in node.operands:
                if value.source not in members and value not in handed_over:
                    inputs[value] = None
        outside = tuple(
            value for node in group for value in node.outputs
            if value in wanted
            or any(c not in members or value in set(c.needs_values()) for c in consumers.get(value, ()))
        )  # fmt: skip
        first = group[0]
        stages.append(
            Stage(index, levels[first], where[first], first.domain, tuple(group), tuple(inputs), outside)
        )
    return stages


def _checked_values(node: Node) -> list[DataNode]:
    """Lists the arguments that `setup` can check because they are on the host anyway."""
    return [
        value for name, value in node.arg_inputs.items()
        if value.device == "cpu" and not is_compiled(value.source) and node.op.setup_sees(name)
    ]  # fmt: skip


def _components(
    nodes: Sequence[Node], levels: dict[Node, int], where: Mapping[Node, str]
) -> list[list[Node]]:
    """Groups nodes by program: the nodes of a group are connected, and have the same level, device and samples."""
    parent: dict[Node, Node] = {n: n for n in nodes}

    def find(node: Node) -> Node:
        while parent[node] is not node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def together(a: Node, b: Node) -> bool:
        alone = a.whole_batch or b.whole_batch
        return not alone and levels[a] == levels[b] and where[a] == where[b] and a.domain is b.domain

    readers_of: dict[DataNode, list[Node]] = {}
    for node in nodes:
        for value in node.operands:
            if value.source in parent and together(value.source, node):
                parent[find(node)] = find(value.source)
            readers_of.setdefault(value, []).append(node)
    for users in readers_of.values():
        for a, b in itertools.pairwise(users):
            if together(a, b):
                parent[find(b)] = find(a)
    groups: dict[Node, list[Node]] = {}
    for node in nodes:
        groups.setdefault(find(node), []).append(node)
    merged: dict[object, list[Node]] = {}
    for group in groups.values():
        members, first = set(group), group[0]
        reads_nothing = all(v.source in members for n in group for v in n.operands)
        # Groups that read nothing (random values and arithmetic on them) share a program if these three are equal.
        key = (levels[first], where[first], first.domain) if reads_nothing else first
        merged.setdefault(key, []).extend(group)
    order = {n: i for i, n in enumerate(nodes)}
    return [sorted(group, key=order.__getitem__) for group in merged.values()]


def _topological(steps: Sequence[HostStep | Stage]) -> list[HostStep | Stage]:
    """Moves steps after the steps that they depend on, and keeps the order otherwise."""
    made_by = {node: step for step in steps for node in step.nodes}
    done: set[HostStep | Stage] = set()
    result: list[HostStep | Stage] = []

    def visit(step: HostStep | Stage) -> None:
        if step in done:
            return
        done.add(step)
        for node in step.nodes:
            for value in dependencies(node):
                visit(made_by[value.source])
        result.append(step)

    for step in steps:
        visit(step)
    return result
