"""Nodes of a pipeline's graph, and the `DataNode`s that stand for their outputs."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jdali import types
from jdali._operators import argument_rules
from jdali._operators.record import REGISTRY, ArgKind, Operator
from jdali._system.devices import to_host
from jdali.ops.tensor._subscript import parse_index

_PACKAGE = str(Path(__file__).resolve().parents[1])


@dataclasses.dataclass(eq=False)
class Node:
    """One operator in a graph.

    Attributes:
        id: place in the order of creation; part of the operator's random keys.
        op: its record.
        name: unique within the graph.
        device: "cpu", "gpu" or "mixed".
        inputs: positional inputs; a NumPy array is a constant, the same for all samples.
        args: arguments as given; a DataNode among them is a value a sample.
        seed: the operator's own seed, or None to take the pipeline's.
        domain: which samples of the batch it works on (the branch of a conditional).
        where: the user's line, "file:line".
        runtime: what an external source or a reader needs besides its arguments.
        preserve: it runs also if nobody uses its outputs.
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

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.name!r} on {self.device}, {self.where}>"

    @property
    def data_inputs(self) -> list[DataNode]:
        return [i for i in self.inputs if isinstance(i, DataNode)]

    @property
    def arg_inputs(self) -> dict[str, DataNode]:
        return {k: v for k, v in self.args.items() if isinstance(v, DataNode)}

    @property
    def whole_batch(self) -> bool:
        """Whether what it makes of a sample depends on the others of the batch, if only in size."""
        return self.op.whole_batch is not None and self.op.whole_batch(self.args)

    @property
    def mixes_samples(self) -> bool:
        """Whether `run` needs the whole batch in one array."""
        return self.op.batched and (self.op.kind != "device" or self.whole_batch)

    def needs_values(self) -> list[DataNode]:
        """Those inputs whose values must be on the host before `setup` can run."""
        needed = self.op.needed_by_setup(self.args)
        values = [v for k, v in self.arg_inputs.items() if k in needed]
        values += [
            v for i, v in enumerate(self.inputs)
            if isinstance(v, DataNode) and self.op.input(i).argument and self.op.input(i).name in needed
        ]  # fmt: skip
        return values


@dataclasses.dataclass(frozen=True, eq=False)
class Domain:
    """The samples a node works on: the whole batch, or those for which a predicate holds."""

    parent: Domain | None = None
    predicate: DataNode | None = None
    branch: bool = True


WHOLE_BATCH = Domain()


class Graph:
    """A graph under construction: the nodes in the order in which they were made."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.domain = WHOLE_BATCH
        self._names: set[str] = set()
        self.owner: Callable[[], Any] | None = None  # weak reference to the pipeline
        # Set by the conditionals: how a value from outside enters a branch.
        self.enter_domain: Callable[[DataNode, Domain], DataNode] | None = None

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
        across_domains: bool = False,
        preserve: bool = False,
    ) -> Node:
        """Adds an operator; values of another branch are brought into the current one.

        `across_domains` leaves them as they are: for the nodes that split and merge branches. A source
        gives samples to the whole batch wherever it is called, as in DALI: a branch takes its own of them.
        """
        domain = WHOLE_BATCH if op.kind == "reader" else self.domain
        enter = self.enter_domain
        if enter is not None and not across_domains:
            inputs = [enter(i, domain) if isinstance(i, DataNode) else i for i in inputs]
            args = {k: enter(v, domain) if isinstance(v, DataNode) else v for k, v in args.items()}
        if name is None:
            name = f"__{op.name.replace('.', '_')}_{len(self.nodes)}"
        if name in self._names:
            raise ValueError(f"{op.name}: there is a node named {name!r} in this pipeline already")
        self._names.add(name)
        node = Node(
            len(self.nodes), op, name, device, tuple(inputs), dict(args), seed, domain,
            where or user_line(), runtime, preserve=preserve or op.effects,
        )  # fmt: skip
        count = op.num_outputs(node.args, len(node.inputs)) if num_outputs is None else num_outputs
        out_device = "cpu" if device == "cpu" else "gpu"
        node.outputs = tuple(
            DataNode(name if count == 1 else f"{name}[{i}]", out_device, node, i) for i in range(count)
        )
        self.nodes.append(node)
        return node


_current = threading.local()


def current_graph() -> Graph | None:
    stack: list[Graph] = getattr(_current, "stack", [])
    return stack[-1] if stack else None


@contextlib.contextmanager
def building(graph: Graph) -> Iterator[Graph]:
    """Makes `graph` the one that operators called in this thread are added to."""
    stack: list[Graph] = _current.__dict__.setdefault("stack", [])
    stack.append(graph)
    try:
        yield graph
    finally:
        stack.pop()


def user_line() -> str:
    """ "file:line" of the innermost frame outside of jdali."""
    frame = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename.startswith(_PACKAGE) or frame.f_code.co_filename.startswith("<frozen")
    ):
        frame = frame.f_back  # type: ignore[assignment]
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "unknown"


class DataNode:
    """What an operator called while a pipeline is defined returns: a batch that is yet to come.

    Supports DALI's arithmetic, comparison and bitwise operators, `node[...]` indexing,
    `.gpu()`, `.cpu()`, `.shape()` and `.property()`.
    """

    __slots__ = ("device", "index", "name", "source")
    ndim = dtype = layout = None  # not known before the pipeline runs
    __hash__ = object.__hash__
    __array_priority__ = 1000  # so that `numpy_array + node` asks the node

    def __init__(self, name: str, device: str, source: Node, index: int = 0):
        self.name, self.device, self.source, self.index = name, device, source, index

    def __repr__(self) -> str:
        return f'DataNode(name="{self.name}", device="{self.device}")'

    # --- moving between devices -------------------------------------------------------------
    def gpu(self) -> DataNode:
        """The same batch on the pipeline's accelerator."""
        return self if self.device == "gpu" else apply("_transfer", (self,), {}, device="gpu")

    def cpu(self) -> DataNode:
        """The same batch in host memory."""
        return self if self.device == "cpu" else apply("_transfer", (self,), {}, device="cpu")

    # --- facts about the batch --------------------------------------------------------------
    def shape(self, *, dtype: Any = None, device: str = "cpu") -> DataNode:
        """Shape of each sample, a 1-D tensor, INT64 unless `dtype` says otherwise."""
        args = {} if dtype is None else {"dtype": dtype}
        return apply("shapes", (self,), args, device=device)

    def property(self, key: str, *, device: str = "cpu") -> DataNode:
        """Property of each sample as a tensor of bytes: "source_info" or "layout"."""
        return apply("get_property", (self,), {"key": key}, device=device)

    def source_info(self) -> DataNode:
        """Where each sample came from (a file name), as bytes."""
        return self.property("source_info")

    # --- indexing ---------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> DataNode:
        args = parse_index(key)
        return self if not args else apply("_tensor_subscript", (self,), args, device=self.device)

    def __iter__(self) -> Iterator[DataNode]:
        raise TypeError(
            "a DataNode is a batch that is yet to come and cannot be iterated over; to take one "
            "sample's elements apart, index it: node[0]"
        )

    def __bool__(self) -> bool:
        raise TypeError(
            'a DataNode has no truth value while the pipeline is being defined; use "if" on it only in a '
            "pipeline with enable_conditionals=True"
        )


def apply(
    name: str, inputs: Sequence[Any], args: Mapping[str, Any], *, device: str | None = None
) -> DataNode:
    """Adds an operator with one output to the current graph."""
    graph = current_graph()
    if graph is None:
        raise RuntimeError(f"{name}: operators on a DataNode need a pipeline being defined around them")
    if device is None:
        on_gpu = any(isinstance(i, DataNode) and i.device == "gpu" for i in inputs)
        device = "gpu" if on_gpu else "cpu"
    return graph.add(REGISTRY[name], inputs, args, device=device).outputs[0]


def _operand(value: Any) -> Any:
    return value if isinstance(value, DataNode) else types.constant_array(value)


def expression(name: str, *operands: Any) -> DataNode:
    """An arithmetic expression `math.<name>` of DataNodes and constants."""
    return apply(f"math.{name}", [_operand(o) for o in operands], {})


def _binary(name: str) -> tuple[Callable[..., DataNode], Callable[..., DataNode]]:
    def forward(self: DataNode, other: Any) -> DataNode:
        return expression(name, self, other)

    def reflected(self: DataNode, other: Any) -> DataNode:
        return expression(name, other, self)

    return forward, reflected


def _unary(name: str) -> Callable[[DataNode], DataNode]:
    def function(self: DataNode) -> DataNode:
        return expression(name, self)

    return function


BINARY_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod",
    "pow": "pow", "and": "bitand", "or": "bitor", "xor": "bitxor", "lshift": "lshift",
    "rshift": "rshift",
}  # fmt: skip
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY_OPERATORS = {"neg": "neg", "pos": "pos", "abs": "abs", "invert": "bitnot"}


def add_operators(
    cls: type,
    binary: Callable[[str], tuple[Callable[..., Any], Callable[..., Any]]],
    unary: Callable[[str], Callable[..., Any]],
) -> None:
    """Gives a class Python's arithmetic, comparison and bitwise operators."""
    for python_name, name in BINARY_OPERATORS.items():
        forward, reflected = binary(name)
        setattr(cls, f"__{python_name}__", forward)
        setattr(cls, f"__r{python_name}__", reflected)
    for name in COMPARISONS:
        setattr(cls, f"__{name}__", binary(name)[0])
    for python_name, name in UNARY_OPERATORS.items():
        setattr(cls, f"__{python_name}__", unary(name))


add_operators(DataNode, _binary, _unary)


def call_operator(
    op: Operator,
    inputs: Sequence[Any],
    args: Mapping[str, Any],
    *,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
    runtime: Any = None,
    num_outputs: int | None = None,
    preserve: bool = False,
) -> DataNode | tuple[DataNode, ...]:
    """What a function of `jdali.fn` does: checks the call and adds a node to the current graph.

    Raises:
        TypeError: wrong number of inputs, unknown or missing arguments, a DataNode where only a
            constant can stand; at the line of the call.
    """
    graph = current_graph()
    if graph is None:
        raise RuntimeError(
            f"fn.{op.name}: called outside of a pipeline definition; call it in a function decorated "
            f'with "@pipeline_def", in a "with pipeline:" block, or use jdali.dynamic or jdali.ops'
        )
    inputs = list(inputs)
    while inputs and inputs[-1] is None and len(inputs) > op.min_inputs:
        inputs.pop()
    most = op.max_inputs
    if len(inputs) < op.min_inputs or (most is not None and len(inputs) > most):
        span = f"{op.min_inputs}" if most == op.min_inputs else f"{op.min_inputs} to {most or 'any number'}"
        raise TypeError(f"{op.name}: takes {span} inputs, got {len(inputs)}")
    given = {k: v for k, v in args.items() if v is not None}
    op.bind(given)
    for key, value in given.items():
        arg = op.args[key]
        if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
            value = given[key] = expression_stack(value, arg.element_type)
        if isinstance(value, DataNode) and arg.kind is ArgKind.STATIC:
            raise TypeError(f"{op.name}: argument {key!r} must be a constant, it cannot differ by sample")
        if not isinstance(value, DataNode):
            _check_constant(op, key, value)
    inputs = [i if isinstance(i, DataNode) else types.constant_array(i) for i in inputs]
    if device is None:
        on_gpu = any(isinstance(i, DataNode) and i.device == "gpu" for i in inputs)
        device = "gpu" if on_gpu else "cpu" if "cpu" in op.devices else op.devices[0]
    # Where DALI has an operator on one device only, the other name is taken as well: both are
    # backends of JAX here.
    if device not in ("cpu", "gpu", "mixed"):
        raise ValueError(f'{op.name}: device must be "cpu", "gpu" or "mixed", not {device!r}')
    node = graph.add(
        op,
        inputs,
        given,
        device=device,
        name=name,
        seed=seed,
        runtime=runtime,
        num_outputs=num_outputs,
        preserve=preserve,
    )
    return node.outputs[0] if len(node.outputs) == 1 else node.outputs


def expression_stack(values: Sequence[Any], dtype: Any) -> DataNode:
    """A vector argument some of whose elements are DataNodes; numbers among them get the element type."""
    elements = [
        v if isinstance(v, DataNode) or dtype is None else np.asarray(to_host(v), dtype) for v in values
    ]
    return apply("stack", [_operand(v) for v in elements], {})


def _check_constant(op: Operator, key: str, value: Any) -> None:
    arg = op.args[key]
    try:
        arg.convert(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{op.name}: argument {key!r} got {value!r}: {error}") from None
    if arg.kind is ArgKind.PER_SAMPLE:
        argument_rules.constant(op.name, arg, value)


def constant_node(value: Any) -> DataNode:
    """A node whose output is a constant: for outputs of a pipeline."""
    layout, device = "", "cpu"
    if isinstance(value, types.ArrayConstant):
        layout, device = value.layout, value.device
    arguments = {"value": types.constant_array(value), "layout_name": layout}
    return apply("_constant", (), arguments, device=device)
