"""Implements conditionals on DataNodes: splits a batch by a predicate, and merges the results of the branches.

Inside a branch, operators work only on the samples that take the branch. A value from outside is split at its first use in
the branch. Values that branches assign are merged after the conditional. A branch without samples does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax

from jdali._operators.record import REGISTRY
from jdali._system.tracebacks import user_line
from jdali.graph import autograph as _autograph
from jdali.graph.arithmetic import constant_node
from jdali.graph.branch_state import outline
from jdali.graph.node import DataNode, Domain, Graph, current_graph


class Branches:
    """Implements `if`, `and`, `or` and `not` of converted functions on the nodes of a graph."""

    def __init__(self, graph: Graph):
        self._graph = graph
        self._domains: dict[tuple[int, type, int], Domain] = {}
        self._entered: dict[tuple[DataNode, Domain], DataNode] = {}
        self._stack: list[Domain] = []
        self._by_hand: set[Domain] = set()  # domains made by `split`; their values may be used in any branch
        graph.branches = self

    @classmethod
    def of(cls, graph: Graph) -> Branches:
        return graph.branches or cls(graph)

    def is_graph_value(self, value: object) -> bool:
        """Returns True if a value is known only when the graph runs."""
        return isinstance(value, DataNode)

    def begin_branch(self, condition: DataNode, which: bool | int, share: float = 1.0) -> None:
        """Begins a branch: until `end_branch`, operators work on samples whose `condition` is `which`; see `Domain`."""
        domain = self._domain(self._graph.domain, self._in_current(condition), which, share)
        self._stack.append(self._graph.domain)
        self._graph.domain = domain

    def end_branch(self) -> None:
        """Ends the branch that was begun last, even if tracing it failed."""
        self._graph.domain = self._stack.pop()

    def _domain(self, parent: Domain, condition: DataNode, which: bool | int, share: float = 1.0) -> Domain:
        """Returns the samples of `parent` for which `condition` is `which`; equal calls return the same object."""
        key = (id(condition), type(which), which)
        if key not in self._domains:
            self._domains[key] = Domain(parent, condition, which, share, user_line())
        return self._domains[key]

    def _in_current(self, value: DataNode) -> DataNode:
        return self.enter(self._graph.own(value), self._graph.domain)

    def enter(self, value: DataNode, domain: Domain) -> DataNode:
        """Returns the part of a value for the samples of a branch; the node that selects this part is added once."""
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
            outer = self.enter(value, domain.parent)
            node = self._graph.add(
                REGISTRY["_conditional.split"], (outer, domain.predicate), {"branch": domain.branch},
                device=value.device, domain=domain,
            )  # fmt: skip
            self._entered[key] = node.outputs[0]
        return self._entered[key]

    def merge(
        self,
        condition: DataNode,
        names: Sequence[str],
        true_values: Sequence[Any],
        false_values: Sequence[Any],
    ) -> list[Any]:
        """Merges the values of both branches of a conditional; called outside the branches.

        The values are leaves of containers. Their names in messages include the path, such as "y[0]".
        """
        condition = self._in_current(condition)
        triples = zip(names, true_values, false_values, strict=True)
        return [self._merge_leaf(condition, name, a, b) for name, a, b in triples]

    def _merge_leaf(self, condition: DataNode, name: str, if_true: object, if_false: object) -> Any:
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
        return self._merged(sides, condition, name, self._graph.domain)

    def _merged(self, sides: Sequence[DataNode], condition: DataNode, name: str, domain: Domain) -> DataNode:
        node = self._graph.add(
            REGISTRY["_conditional.merge"], (*sides, condition), {}, device=_one_device(sides, name),
            domain=domain,
        )  # fmt: skip
        return node.outputs[0]

    def choose(self, index: object, cases: Sequence[Callable[[], Any]], name: str) -> Any:
        """Returns, for each sample, the result of the case that `index` selects. Each case is traced and run once.

        The cases return nodes or constants, in equal structures of tuples, lists and dicts.
        """
        index = self._as_node(index, name)
        results: list[list[DataNode]] = []
        structures: list[Any] = []
        for which, case in enumerate(cases):
            self.begin_branch(index, which, 1 / len(cases))
            try:
                leaves, structure = jax.tree_util.tree_flatten(case(), is_leaf=self.is_graph_value)
                results.append([self._as_node(leaf, name) for leaf in leaves])
            finally:
                self.end_branch()
            structures.append(structure)
            if structure != structures[0]:
                raise ValueError(
                    f"{name}: all cases must give the same structure of tuples, lists and dicts (or None), got "
                    f"{outline(structures[0])} from case 0 and {outline(structure)} from case {which}"
                )
        joined = [self._join(index, parts, name) for parts in zip(*results, strict=True)]
        return structures[0].unflatten(joined)

    def _join(self, index: DataNode, parts: Sequence[DataNode], name: str) -> DataNode:
        node = self._graph.add(
            REGISTRY["_conditional.join"], parts, {"index": index}, device=_one_device(parts, name),
            domain=self._graph.domain,
        )  # fmt: skip
        return node.outputs[0]

    def _as_node(self, value: object, name: str) -> DataNode:
        if isinstance(value, DataNode):
            return self._in_current(value)
        if value is None:
            raise RuntimeError(
                f"{name}: is None after one branch of a conditional and a batch after the other"
            )
        try:
            return constant_node(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"{name}: Unexpected type {type(value)} after a branch of a conditional: it cannot become a batch"
            ) from None

    def split(self, value: object, predicate: DataNode) -> tuple[DataNode, DataNode]:
        """Splits a value into the samples for which a predicate is true, and the samples for which it is false.

        An operator that takes one of the two parts works on the samples of this part, whatever branch it is called in.
        """
        value, predicate = self._own(value, "split"), self._graph.own(predicate)
        parent = self.domain_of([value, predicate], self._graph.domain)
        predicate = self.enter(predicate, parent)
        sides = []
        for which in (True, False):
            domain = self._domain(parent, predicate, which)
            self._by_hand.add(domain)
            sides.append(self.enter(value, domain))
        return sides[0], sides[1]

    def merge_by_hand(self, if_true: object, if_false: object, predicate: DataNode) -> DataNode:
        """Merges the two parts of a `split` in the order of the batch; a value of the whole batch is split first."""
        values = [self._own(value, "merge") for value in (if_true, if_false)]
        predicate = self._graph.own(predicate)
        outside = [predicate, *(self._before_split(value) for value in values)]
        parent = self.domain_of(outside, self._graph.domain)
        predicate = self.enter(predicate, parent)
        # Accept parts of a split by another predicate, because only the run shows whether their sizes fit.
        sides = [
            value
            if value.source.domain in self._by_hand and value.source.domain.parent is parent
            else self.enter(value, self._domain(parent, predicate, which))
            for value, which in zip(values, (True, False), strict=True)
        ]
        return self._merged(sides, predicate, "merge", parent)

    def domain_of(self, values: Iterable[object], current: Domain) -> Domain:
        """Returns the domain of an operator: `current`, or the domain of an input from `split` if that is deeper."""
        for value in values:
            domain = value.source.domain if isinstance(value, DataNode) else value
            if isinstance(domain, Domain) and domain in self._by_hand:
                current = max(current, domain, key=lambda one: len(one.chain()))
        return current

    def _own(self, value: object, name: str) -> DataNode:
        return self._graph.own(value) if isinstance(value, DataNode) else self._as_node(value, name)

    def _before_split(self, value: DataNode) -> Domain:
        domain = value.source.domain
        return domain.parent or domain if domain in self._by_hand else domain

    def not_(self, value: DataNode) -> DataNode:
        return self._graph.add(REGISTRY["_conditional.not_"], (value,), {}, device="cpu").outputs[0]

    def logical(self, first: DataNode, second: Callable[[], object], kind: str) -> DataNode:
        """Returns `first and second()` or `first or second()`. `second` runs only where `first` does not decide."""
        first = self.validated(self._in_current(first), kind, "left")
        needed = kind == "and"
        self.begin_branch(first, needed)
        try:
            other = self.validated(self._as_node(second(), f"operand of `{kind}`"), kind, "right")
        finally:
            self.end_branch()
        values = (other, first) if needed else (first, other)
        return self._merge_leaf(first, f"`{kind}`", *values)

    def validated(self, value: DataNode, kind: str, side: str = "") -> DataNode:
        """Adds a check, at run time, that a value may be an operand of `and`, `or` or `not`; `side` is "left" or "right"."""
        args = {"expression_name": kind, "expression_side": side}
        return self._graph.add(
            REGISTRY["_conditional.validate_logical"], (value,), args, device="cpu"
        ).outputs[0]


def _one_device(values: Sequence[DataNode], name: str) -> str:
    """Returns the common device of the values of all branches."""
    devices = {value.device for value in values}
    if len(devices) > 1:
        raise RuntimeError(
            f"Divergent data found in different branches of conditional operation. {name} is on the CPU after one "
            "branch and on the GPU after the other; call .gpu() in both"
        )
    return devices.pop()


def _same(a: object, b: object) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except (TypeError, ValueError):
        return False


def trace(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], graph: Graph) -> Any:
    """Calls a pipeline function so that its conditionals on DataNodes work sample by sample."""
    with _autograph.tracing(Branches.of(graph)):
        return _autograph.convert(function)(*args, **kwargs)


def choose(index: object, cases: Sequence[Callable[[], Any]], name: str) -> Any:
    """Selects `cases[index]()` for each sample, in the pipeline that is being defined; see `Branches.choose`."""
    return current_branches(name).choose(index, cases, name)


def current_branches(name: str) -> Branches:
    """Returns the `Branches` of the pipeline that is being defined; raises RuntimeError, which shows `name`, if there is none."""
    graph = current_graph()
    if graph is None:
        raise RuntimeError(f"{name}: called outside of a pipeline definition")
    return Branches.of(graph)
