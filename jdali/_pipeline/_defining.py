"""Defining a pipeline: which graph operators are added to, and what its outputs are."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from jdali import types
from jdali.graph._arithmetic import constant_node
from jdali.graph._node import DataNode, Graph, building, current_graph
from jdali.graph._plan import ExecutionPlan

_NUMBERS = (bool, int, float)
_CONSTANTS = (*_NUMBERS, types.ScalarConstant, types.ArrayConstant)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, _NUMBERS) for v in value)


Self = TypeVar("Self", bound="Defining")


class Defining:
    """The part of `Pipeline` that takes a definition."""

    debug: bool
    graph: Graph
    _outputs: tuple[DataNode, ...] | None
    _define: Callable[[], Any] | None
    _plan: ExecutionPlan | None
    _contexts: list[Any]

    @staticmethod
    def current() -> Any:
        """The pipeline that is being defined, None outside of a definition."""
        graph = current_graph()
        return None if graph is None or graph.owner is None else graph.owner()

    @staticmethod
    def push_current(pipeline: Defining) -> None:
        """Starts adding operators to `pipeline`; as `with pipeline:`."""
        pipeline.__enter__()

    @staticmethod
    def pop_current() -> None:
        """Ends the last `push_current`."""
        pipeline = Defining.current()
        if pipeline is None:
            raise RuntimeError("Pipeline.pop_current: no pipeline is being defined")
        pipeline.__exit__(None, None, None)

    def __enter__(self: Self) -> Self:
        if self.debug:
            raise RuntimeError(
                "Currently pipeline in debug mode works only with `pipeline_def` decorator. Using `with` statement is "
                "not supported."
            )
        self._not_built("defined further")
        self.graph.owner = weakref.ref(self)  # weak: a dropped pipeline must be collected
        context = building(self.graph)
        context.__enter__()
        self._contexts.append(context)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._contexts.pop().__exit__(None, None, None)

    def _not_built(self, what: str) -> None:
        if self._plan is not None:
            raise RuntimeError(f"Pipeline: cannot be {what} after it was built")

    def _iteration(self, graph: Graph) -> tuple[DataNode, ...]:
        """Debug mode: runs the function once, in a graph of its own; returns the outputs."""
        self.graph = graph
        graph.owner = weakref.ref(self)
        with building(graph):
            returned = as_outputs(self.define_graph())
        self._outputs = tuple(self._output(i, value) for i, value in enumerate(returned))
        return self._outputs

    def set_outputs(self, *output_data_nodes: Any) -> None:
        """Sets what `run` returns: DataNodes, also those made outside of any pipeline, or constants.

        Constants are numbers, lists of them, and arrays; each sample is all of one.

        Raises:
            TypeError: an output is neither.
        """
        self._not_built("given outputs")
        self.graph.bring_in(*(value for value in output_data_nodes if isinstance(value, DataNode)))
        self._outputs = tuple(self._output(i, value) for i, value in enumerate(output_data_nodes))

    def _output(self, number: int, value: Any) -> DataNode:
        if isinstance(value, DataNode):
            return self.graph.own(value)
        if isinstance(value, _CONSTANTS) or hasattr(value, "__array__") or _are_numbers(value):
            with building(self.graph):
                return constant_node(value)
        if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
            raise TypeError(
                f"Illegal pipeline output type. The output {number} contains a nested `DataNode`. Missing "
                "list/tuple expansion (*) is the likely cause."
            )
        raise TypeError(
            f"Illegal pipeline output type. The output {number} must be a DataNode or a constant, got "
            f"{type(value).__name__}: {value!r:.60}"
        )

    def add_sink(self, edge: DataNode) -> None:
        """Runs what `edge` depends on though it is no output."""
        self._not_built("given a sink")
        self.graph.own(edge).source.preserve = True

    def define_graph(self) -> Any:
        """For subclasses: defines the graph and returns the outputs (an older way of DALI's)."""
        return self._define() if self._define is not None else ()


def as_outputs(returned: Any) -> tuple[Any, ...]:
    """The outputs that a function which defines a pipeline returned."""
    if returned is None:
        return ()
    return tuple(returned) if isinstance(returned, (list, tuple)) else (returned,)
