"""Defines the nodes of a pipeline's graph, and the `DataNode`s of their outputs.

A node made outside a pipeline definition belongs to no graph. If a graph uses such a node, or a node of another graph, it
copies the node and everything that the node depends on (`Graph.own`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from jdali import types
from jdali._errors import OperatorError
from jdali._operators.record import REGISTRY, Operator, ReaderOp
from jdali._system.tracebacks import user_line
from jdali.graph import autograph
from jdali.graph.expression_types import Expression
from jdali.ops.tensor._subscript import parse_index


@dataclasses.dataclass(eq=False)
class Node:
    """Represents one operator in a graph.

    Attributes:
        id: index of the node in its graph; part of the operator's random keys.
        inputs: positional inputs; a NumPy array is a constant, the same for all samples.
        seed: the operator's own seed; None for the pipeline's seed.
        domain: the samples of the batch that the node works on (the branch of a conditional).
        runtime: object that an external source or a reader needs besides its arguments.
        preserve: True if the node runs even if its outputs are not used.
        serial: position in the order of creation of all nodes.
        original: the node that this node is a copy of. The original is in another graph, or in none.
    """

    id: int
    op: Operator
    name: str
    device: str
    inputs: tuple[DataNode | np.ndarray, ...]
    args: dict[str, Any]
    seed: int | None
    domain: Domain
    where: str
    runtime: Any = None
    outputs: tuple[DataNode, ...] = ()
    preserve: bool = False
    named: bool = False
    serial: int = dataclasses.field(default_factory=itertools.count().__next__)
    original: Node | None = None

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.name!r} on {self.device}, {self.where}>"

    @property
    def is_source(self) -> bool:
        """True if the node is a reader or an external source, from which samples come."""
        return isinstance(self.op, ReaderOp)

    @functools.cached_property
    def data_inputs(self) -> list[DataNode]:
        return [i for i in self.inputs if isinstance(i, DataNode)]

    @functools.cached_property
    def arg_inputs(self) -> dict[str, DataNode]:
        return {k: v for k, v in self.args.items() if isinstance(v, DataNode)}

    @functools.cached_property
    def operands(self) -> list[DataNode]:
        """The inputs and arguments that are values of the graph."""
        return [*self.data_inputs, *self.arg_inputs.values()]

    @property
    def whole_batch(self) -> bool:
        """True if a sample's result, or only the size of the result, depends on other samples of the batch."""
        return self.op.depends_on_batch(self.args)

    @property
    def mixes_samples(self) -> bool:
        """True if `run` works on the whole batch at once."""
        return self.op.mixes_samples(self.args)

    def needs_values(self) -> list[DataNode]:
        """Returns the inputs whose values must be on the host before `setup` can run."""
        needed = self.op.needed_by_setup(self.args)
        values = [v for k, v in self.arg_inputs.items() if k in needed]
        values += [
            v for i, v in enumerate(self.inputs)
            if isinstance(v, DataNode) and self.op.input(i).argument and self.op.input(i).name in needed
        ]  # fmt: skip
        return values


@dataclasses.dataclass(frozen=True, eq=False)
class Domain:
    """Describes the samples a node works on: the whole batch, or the samples for which a predicate has one value.

    Attributes:
        parent: the domain of which this is a part; None for the whole batch.
        predicate: a scalar for each sample of the parent.
        branch: value of the predicate for the samples of the domain. A bool is compared with the truth of the
            predicate (a number is true unless it is 0).
        share: expected share of the parent's samples, 0 to 1.
    """

    parent: Domain | None = None
    predicate: DataNode | None = None
    branch: bool | int = True
    share: float = 1.0
    where: str = ""

    def chain(self) -> list[Domain]:
        """Lists this domain and those that it is a part of; the last is the whole batch."""
        return [self] if self.parent is None else [self, *self.parent.chain()]

    @property
    def share_of_batch(self) -> float:
        """Expected share of the batch, 0 to 1."""
        return self.share * (1.0 if self.parent is None else self.parent.share_of_batch)


WHOLE_BATCH = Domain()


class Graph:
    """Holds a graph under construction: its nodes, in the order in which they were made."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.domain = WHOLE_BATCH
        self._names: set[str] = set()
        self._copies: dict[Node, Node] = {}  # copies by their originals
        self.owner: Callable[[], Any] | None = None  # weak reference to the pipeline
        self.branches: Any = None  # the `Branches` of the graph, once there are any

    def __repr__(self) -> str:
        return f"<graph of {len(self.nodes)} operators: {', '.join(node.name for node in self.nodes)}>"

    def add(
        self,
        op: Operator,
        inputs: Sequence[Any],
        args: Mapping[str, Any],
        *,
        device: str,
        name: str | None = None,
        seed: int | None = None,
        runtime: Any = None,
        num_outputs: int | None = None,
        where: str | None = None,
        domain: Domain | None = None,
        preserve: bool = False,
    ) -> Node:
        """Adds an operator.

        Args:
            num_outputs: number of outputs; if None, the operator decides.
            domain: the samples that the operator works on; the inputs must have the same samples. None: the samples of
                the current branch, which are selected from the inputs. A source always has samples for the whole batch,
                as in DALI.
        """
        inputs = [self.own(i) if isinstance(i, DataNode) else i for i in inputs]
        args = {k: self.own(v) if isinstance(v, DataNode) else v for k, v in args.items()}
        branches = self.branches if domain is None else None
        if isinstance(op, ReaderOp):
            domain = WHOLE_BATCH
        elif domain is None:
            domain = self.domain
        if branches is not None:
            domain = branches.domain_of([*inputs, *args.values()], domain)
            inputs = [branches.enter(i, domain) if isinstance(i, DataNode) else i for i in inputs]
            args = {k: branches.enter(v, domain) if isinstance(v, DataNode) else v for k, v in args.items()}
        named = name is not None
        if name is None:
            name = f"__{op.name.replace('.', '_')}_{len(self.nodes)}"
        if name in self._names:
            text = "The pipeline is invalid because it contains operators with non-unique names"
            raise OperatorError.of(
                ValueError(f"{op.name}: {text}: there is a node {name!r} already"), op.name
            )
        self._names.add(name)
        node = Node(
            len(self.nodes), op, name, device, tuple(inputs), args, seed, domain,
            where or user_line(), runtime, preserve=preserve or op.effects, named=named,
        )  # fmt: skip
        node.outputs = _outputs(node, num_outputs, self.new_value)
        self.nodes.append(node)
        return node

    def add_batch(self, runtime: object, device: str) -> DataNode:
        """Adds an external source whose only output is the batch `runtime`."""
        op = REGISTRY["external_source"]
        return self.add(op, (), {}, device=device, runtime=runtime, num_outputs=1).outputs[0]

    def new_value(self, name: str, device: str, node: Node, index: int) -> DataNode:
        return DataNode(name, device, node, index)

    def taken(
        self, op: Operator, inputs: Sequence[object], args: Mapping[str, object]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Returns the inputs and arguments that the user passed to a call, as values of this graph."""
        return list(inputs), dict(args)

    def own(self, value: DataNode) -> DataNode:
        """Returns `value` if it is in this graph, otherwise its copy in this graph."""
        self.bring_in(value)
        node = self.copy_of(value.source)
        assert node is not None
        return node.outputs[value.index]

    def copy_of(self, node: Node) -> Node | None:
        """Returns the node if it is in this graph, otherwise its copy; None if there is no copy yet."""
        if node.id < len(self.nodes) and self.nodes[node.id] is node:
            return node
        return self._copies.get(node.original or node)

    def bring_in(self, *values: DataNode) -> None:
        """Copies all nodes that the values depend on and that are not in this graph, in the order of their creation."""
        pending = [value.source for value in values]
        foreign: dict[Node, Node] = {}  # nodes to copy, by their originals
        while pending:
            node = pending.pop()
            if (node.original or node) in foreign or self.copy_of(node) is not None:
                continue
            if node.domain is not WHOLE_BATCH:
                raise ValueError(f"{node.op.name}: {node.where} is in a branch of another pipeline")
            foreign[node.original or node] = node
            pending += [v.source for v in node.operands]
        for node in sorted(foreign.values(), key=lambda n: n.serial):
            self._copy(node)

    def _copy(self, node: Node) -> None:
        runtime = None if node.runtime is None else node.runtime.anew()
        args = {name: runtime if value is node.runtime else value for name, value in node.args.items()}
        copy = self.add(
            node.op, node.inputs, args, device=node.device, name=node.name if node.named else None,
            seed=node.seed, runtime=runtime, num_outputs=len(node.outputs), where=node.where,
            domain=WHOLE_BATCH, preserve=node.preserve,
        )  # fmt: skip
        copy.original = node.original or node
        self._copies[copy.original] = copy


def detached(
    op: Operator,
    inputs: Sequence[Any],
    args: Mapping[str, Any],
    *,
    device: str,
    name: str | None = None,
    seed: int | None = None,
    runtime: Any = None,
    num_outputs: int | None = None,
    preserve: bool = False,
) -> Node:
    """Makes a node that is in no graph; `Graph.own` puts a copy of it into one."""
    if preserve or op.effects:
        raise RuntimeError(
            f"fn.{op.name}: called outside of a pipeline definition. It runs for what it does and not for its "
            'outputs, so it must know its pipeline: call it in a function decorated with "@pipeline_def", or '
            'in a "with pipeline:" block'
        )
    node = Node(
        0, op, name or "", device, tuple(inputs), dict(args), seed, WHOLE_BATCH, user_line(), runtime,
        named=name is not None,
    )  # fmt: skip
    node.name = name or f"__{op.name.replace('.', '_')}_detached_{node.serial}"
    node.outputs = _outputs(node, num_outputs, DataNode)
    return node


def _outputs(
    node: Node, count: int | None, make: Callable[[str, str, Node, int], DataNode]
) -> tuple[DataNode, ...]:
    if count is None:
        count = node.op.num_outputs(node.args, len(node.inputs))
    device = "cpu" if node.device == "cpu" else "gpu"
    return tuple(
        make(node.name if count == 1 else f"{node.name}[{i}]", device, node, i) for i in range(count)
    )


_current = threading.local()


def current_graph() -> Graph | None:
    stack: list[Graph] = getattr(_current, "stack", [])
    return stack[-1] if stack else None


@contextlib.contextmanager
def building(graph: Graph) -> Iterator[Graph]:
    """Makes `graph` the current graph of this thread, to which called operators are added."""
    stack: list[Graph] = _current.__dict__.setdefault("stack", [])
    stack.append(graph)
    try:
        yield graph
    finally:
        stack.pop()


Operand: TypeAlias = "DataNode | ArrayLike | types.ScalarConstant | types.ArrayConstant"


class DataNode(Expression["Operand", "DataNode"]):
    """A placeholder for a batch: the result of an operator called while a pipeline is defined.

    It supports DALI's arithmetic, comparison and bitwise operators, `node[...]` indexing, `.gpu()`, `.cpu()`, `.shape()`
    and `.property()`.
    """

    __slots__ = ("device", "dtype", "index", "layout", "name", "ndim", "source")
    # Sets and dicts compare nodes by identity; `in` a list would call ==, which makes a node.
    __hash__ = object.__hash__
    source: Node

    def __init__(
        self, name: str, device: str = "cpu", source: Node | None = None, index: int = 0, ndim: int | None = None,
        dtype: Any = None, layout: str | None = None,
    ):  # fmt: skip
        self.name, self.device, self.index = name, device, index
        if source is not None:
            self.source = source
        # For the output of an operator, these are unknown before the pipeline runs.
        self.ndim, self.dtype, self.layout = ndim, dtype, layout

    def __repr__(self) -> str:
        return f'DataNode(name="{self.name}", device="{self.device}")'

    def gpu(self) -> DataNode:
        """Returns the same batch on the pipeline's accelerator."""
        return self if self.device == "gpu" else apply("_transfer", (self,), {}, device="gpu")

    def cpu(self) -> DataNode:
        """Returns the same batch in host memory."""
        return self if self.device == "cpu" else apply("_transfer", (self,), {}, device="cpu")

    def shape(self, *, dtype: object = None, device: str = "cpu") -> DataNode:
        """Returns the shape of each sample, a 1-D tensor of the type `dtype`, INT64 by default."""
        args = {} if dtype is None else {"dtype": dtype}
        return apply("shapes", (self,), args, device=device)

    def property(self, key: str, *, device: str = "cpu") -> DataNode:
        """Returns a property of each sample as a tensor of bytes: "source_info" or "layout"."""
        return apply("get_property", (self,), {"key": key}, device=device)

    def source_info(self, *, device: str = "cpu") -> DataNode:
        """Returns the origin of each sample (a file name), as bytes."""
        return self.property("source_info", device=device)

    def __getitem__(self, key: object) -> DataNode:
        args = parse_index(key)
        return self if not args else apply("_tensor_subscript", (self,), args, device=self.device)

    if not TYPE_CHECKING:  # if type checkers saw this, they would accept a list of nodes as an array

        def __array__(self, *_, **__):
            raise TypeError(
                f"{self!r} has no values, it is a batch that is yet to come: they are there once its pipeline runs. "
                "jdali.dynamic and jdali.ops have operators that work at once, without a pipeline"
            )

    __iter__ = None  # a node can be indexed, but is not an `Iterable`

    def __bool__(self) -> bool:
        # Programs search error texts for these sentences of DALI.
        error = TypeError(
            '"DataNode" was used in conditional context - it might have been used in truth evaluation for `if` '
            "statement, logical expression or cast to a boolean. To use conditional execution via `if` statements you "
            "need to specify `enable_conditionals=True` in `@jdali.pipeline_def` decorator. You can read more "
            "about conditional execution in specific section of the Pipeline documentation. Bool conversion can be "
            "achieved with the `cast` operator."
        )
        error.add_note(
            "A node is a batch that is yet to come and has no value here: "
            + (
                "conditionals are enabled, but not in this code: a constructor, a property, a function that a library or "
                "a built-in such as `map` calls, or one without source."
                if autograph.is_tracing()
                else "write @pipeline_def(enable_conditionals=True) above the function, and `if` works sample by sample."
            )
        )
        raise error


def apply(
    operator: str,
    inputs: Sequence[object],
    args: Mapping[str, object],
    *,
    device: str | None = None,
    **options: object,
) -> DataNode:
    """Adds an operator with one output to the current graph, if there is one; takes the options of `Graph.add`."""
    if device is None:
        device = device_of(inputs)
    return new_node(REGISTRY[operator], inputs, args, device=device, **options).outputs[0]


def device_of(inputs: Sequence[object]) -> str:
    """Chooses the device of an operator if the user gives none: the accelerator if any input is there, else the CPU."""
    return "gpu" if any(isinstance(i, DataNode) and i.device == "gpu" for i in inputs) else "cpu"


def new_node(op: Operator, inputs: Sequence[Any], args: Mapping[str, Any], **options: Any) -> Node:
    """Makes a node in the current graph, or a detached node if there is none; see `Graph.add` and `detached`."""
    graph = current_graph()
    return (detached if graph is None else graph.add)(op, inputs, args, **options)
