"""Conditionals on DataNodes: splitting a batch by a predicate and merging the branches' results.

Inside of a branch every operator works on those samples only for which the predicate is as the
branch says. A value from outside is split at its first use in the branch; what a branch assigns is
merged after it. A branch that no sample takes is not run at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jdali._operators.record import REGISTRY
from jdali.graph import _autograph
from jdali.graph._arithmetic import constant_node, expression
from jdali.graph._node import DataNode, Domain, Graph, current_graph

do_not_convert = _autograph.do_not_convert


class Branches:
    """The graph side of a converted pipeline function: what `if`, `and`, `or`, `not` do to nodes."""

    def __init__(self, graph: Graph):
        self._graph = graph
        self._domains: dict[tuple[int, type, int], Domain] = {}
        self._entered: dict[tuple[DataNode, Domain], DataNode] = {}
        self._stack: list[Domain] = []
        self._checked: dict[DataNode, DataNode] = {}
        graph.branches, graph.enter_domain = self, self._in_domain

    @classmethod
    def of(cls, graph: Graph) -> Branches:
        """Those of a graph."""
        return graph.branches or cls(graph)

    def is_graph_value(self, value: Any) -> bool:
        return isinstance(value, DataNode)

    # --- branches ---------------------------------------------------------------------------
    def begin_branch(self, condition: DataNode, which: bool | int, share: float = 1.0) -> None:
        """Operators called from here on work on the samples for which `condition` is `which`; see `Domain`."""
        condition = self._enter(condition)
        key = (id(condition), type(which), which)
        if key not in self._domains:
            self._domains[key] = Domain(self._graph.domain, condition, which, share)
        self._stack.append(self._graph.domain)
        self._graph.domain = self._domains[key]

    def end_branch(self) -> None:
        self._graph.domain = self._stack.pop()

    def _enter(self, value: DataNode) -> DataNode:
        """`value` as the current branch sees it."""
        return self._in_domain(self._graph.own(value), self._graph.domain)

    def _in_domain(self, value: DataNode, domain: Domain) -> DataNode:
        own = value.source.domain
        if own is domain:
            return value
        key = (value, domain)
        if key not in self._entered:
            if domain.parent is None or domain.predicate is None:
                raise RuntimeError(
                    f"{value.name}: made in one branch of a conditional and used outside of it; assign it to a "
                    "variable in both branches"
                )
            outer = self._in_domain(value, domain.parent)
            here, self._graph.domain = self._graph.domain, domain
            try:
                node = self._graph.add(
                    REGISTRY["_conditional.split"], (outer, domain.predicate), {"branch": domain.branch},
                    device=value.device, across_domains=True,
                )  # fmt: skip
            finally:
                self._graph.domain = here
            self._entered[key] = node.outputs[0]
        return self._entered[key]

    def merge(
        self,
        condition: DataNode,
        names: Sequence[str],
        true_values: Sequence[Any],
        false_values: Sequence[Any],
    ) -> list[Any]:
        """Values after a conditional, from those after either branch (no containers: leaves of them)."""
        condition = self._enter(condition)
        triples = zip(names, true_values, false_values, strict=True)
        return [self._merge_leaf(condition, name, a, b) for name, a, b in triples]

    def _merge_leaf(self, condition: DataNode, name: str, if_true: Any, if_false: Any) -> Any:
        if if_true is if_false:
            return if_true
        if (
            not isinstance(if_true, DataNode)
            and not isinstance(if_false, DataNode)
            and _same(if_true, if_false)
        ):
            return if_true
        sides = []
        for value, which in ((if_true, True), (if_false, False)):
            self.begin_branch(condition, which)
            try:
                sides.append(self._as_node(value, name))
            finally:
                self.end_branch()
        node = self._graph.add(
            REGISTRY["_conditional.merge"], (*sides, condition), {}, device=_one_device(sides, name),
            across_domains=True,
        )  # fmt: skip
        return node.outputs[0]

    def choose(self, index: DataNode, cases: Sequence[Callable[[], Any]], name: str) -> DataNode:
        """What the case with a sample's index gives for it: each case is traced, and run, once.

        Args:
            index: an integer for each sample.
            cases: functions that call operators and return a batch.
            name: of the result, for messages.
        """
        index = self._enter(index)
        parts = []
        for which, case in enumerate(cases):
            self.begin_branch(index, which, 1 / len(cases))
            try:
                parts.append(self._as_node(case(), name))
            finally:
                self.end_branch()
        node = self._graph.add(
            REGISTRY["_conditional.join"], parts, {"index": index}, device=_one_device(parts, name),
            across_domains=True,
        )  # fmt: skip
        return node.outputs[0]

    def _as_node(self, value: Any, name: str) -> DataNode:
        if isinstance(value, DataNode):
            return self._enter(value)
        if value is None:
            raise RuntimeError(
                f"{name}: is None after one branch of a conditional and a batch after the other"
            )
        try:
            return constant_node(value)
        except (TypeError, ValueError):
            raise RuntimeError(
                f"{name}: after a branch of a conditional it is a {type(value).__name__}, which cannot become a batch"
            ) from None

    # --- logic ------------------------------------------------------------------------------
    def not_(self, value: DataNode) -> DataNode:
        """`not value`, sample by sample."""
        return expression("eq", self._boolean(value, "not"), 0)

    def logical(self, first: DataNode, second: Callable[[], Any], kind: str) -> DataNode:
        """`first and second()` or `first or second()`: the second only for samples that need it."""
        first = self._boolean(self._enter(first), kind)
        needed = kind == "and"
        self.begin_branch(first, needed)
        try:
            other = self._boolean(self._as_node(second(), f"operand of `{kind}`"), kind)
        finally:
            self.end_branch()
        values = (other, first) if needed else (first, other)
        result: DataNode = self._merge_leaf(first, f"`{kind}`", *values)
        return result

    def _boolean(self, value: DataNode, kind: str) -> DataNode:
        return self._add("_conditional.validate_logical", (value,), {"expression_name": kind})

    def _add(
        self, name: str, inputs: tuple[DataNode, ...], args: Mapping[str, Any] | None = None
    ) -> DataNode:
        return self._graph.add(REGISTRY[name], inputs, args or {}, device="cpu").outputs[0]


def _one_device(values: Sequence[DataNode], name: str) -> str:
    """The device of what all branches give."""
    devices = {value.device for value in values}
    if len(devices) > 1:
        raise RuntimeError(
            f"Divergent data found in different branches of a conditional: {name} is on the CPU after one "
            "branch and on the GPU after the other; call .gpu() in both"
        )
    return devices.pop()


def _same(a: Any, b: Any) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except (TypeError, ValueError):
        return False


def trace(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], graph: Graph) -> Any:
    """Calls a pipeline function whose conditionals on DataNodes work sample by sample."""
    with _autograph.tracing(Branches.of(graph)):
        return _autograph.convert(function)(*args, **kwargs)


def choose(index: DataNode, cases: Sequence[Callable[[], Any]], name: str) -> DataNode:
    """`cases[index]()` for each sample, in any pipeline that is being defined; see `Branches.choose`."""
    graph = current_graph()
    if graph is None:
        raise RuntimeError(f"{name}: called outside of a pipeline definition")
    return Branches.of(graph).choose(index, cases, name)
