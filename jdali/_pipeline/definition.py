"""Holds the definition of a pipeline, that is, its graph and outputs, and adds to it until the pipeline is built."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

from jdali import types
from jdali._pipeline.config import PipelineConfig
from jdali._system.tracebacks import user_line
from jdali.graph import DataNode, Entry, Graph, building, constant_node, current_graph, describe, fingerprint

_NUMBERS = (bool, int, float)
_CONSTANTS = (*_NUMBERS, types.ScalarConstant, types.ArrayConstant)


class Definition:
    """Holds the graph of a pipeline and its outputs.

    Args:
        owner: the pipeline, whose class may define the graph. The reference is weak, so that a dropped pipeline can be
            collected.

    Attributes:
        graph: the graph; in debug mode the graph of the last iteration.
        outputs: the outputs; None until they are known.
        function: defines the graph, if neither the class nor a `with` block does.
        output_names: names of the outputs for iterators; empty if the outputs have no names.
        is_final: True once the pipeline is built, so that nothing can be added.
    """

    def __init__(self, owner: Any, config: PipelineConfig):
        self._owner, self.config = weakref.ref(owner), config
        self.graph = Graph()
        self.outputs: tuple[DataNode, ...] | None = None
        self.function: Callable[[], Any] | None = None
        self.conditionals = False
        self.output_names: tuple[str, ...] = ()
        self.is_final = False
        self._contexts: list[Any] = []
        self._refused = ""  # error text for an invalid output; `complete` raises the error
        self._fingerprint: tuple[list[Entry], str] | None = None

    def enter(self) -> None:
        """Starts adding operators to the graph, until `leave`."""
        if self.config.debug:
            raise RuntimeError(
                "Currently pipeline in debug mode works only with `pipeline_def` decorator. Using `with` statement is "
                "not supported."
            )
        self._refuse_if_final("defined further")
        self.graph.owner = self._owner
        context = building(self.graph)
        context.__enter__()
        self._contexts.append(context)

    def leave(self, *exception: object) -> None:
        self._contexts.pop().__exit__(None, None, None)
        error = exception[1] if exception else None
        # Explain Python's error here. An `__iter__` that raises a better error would make `DataNode` an `Iterable`.
        if isinstance(error, TypeError) and str(error) == "'DataNode' object is not iterable":
            error.add_note(
                "A node is one output: external_source, python_function and jax_function give several with num_outputs"
            )

    def _refuse_if_final(self, what: str) -> None:
        if self.is_final:
            raise RuntimeError(f"Pipeline: cannot be {what} after it was built")

    def _define(self) -> tuple[Any, ...]:
        owner = self._owner()
        assert owner is not None
        returned = owner.define_graph()
        if isinstance(returned, Mapping):
            self.output_names = tuple(returned)
        return as_outputs(returned)

    def complete(self) -> tuple[DataNode, ...]:
        """Checks and returns the outputs. If there are none yet, the pipeline defines its graph first."""
        if self.outputs is None:
            self.enter()
            try:
                outputs = self._define()
            finally:
                self.leave()
            self.set_outputs(*outputs)
        if self._refused:
            raise TypeError(self._refused)
        assert self.outputs is not None
        self.config.expected.check_count(len(self.outputs))
        return self.outputs

    def iteration(self, graph: Graph) -> tuple[DataNode, ...]:
        """Defines the pipeline for an iteration of debug mode, in a new graph; returns the outputs.

        If the iteration fails, or a source is at its end, the graph of the last one stays.
        """
        before, self.graph = self.graph, graph
        graph.owner = self._owner
        try:
            with building(graph):
                returned = self._define()
            self.outputs = tuple(self._output(i, value) for i, value in enumerate(returned))
        except BaseException:
            self.graph = before
            raise
        self._fingerprint = None
        return self.outputs

    def set_outputs(self, *output_data_nodes: object) -> None:
        self._refuse_if_final("given outputs")
        self.graph.bring_in(*(value for value in output_data_nodes if isinstance(value, DataNode)))
        self.outputs, self._refused = (), ""
        try:
            self.outputs = tuple(self._output(i, value) for i, value in enumerate(output_data_nodes))
        except TypeError as error:
            self._refused = f"{error}\n  set at {user_line()}"

    def _output(self, number: int, value: object) -> DataNode:
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
            f"Illegal output type. The output {number} is a `{type(value)}`. Allowed types are ``DataNode`` and types "
            f"convertible to `types.Constant` (numerical constants, 1D lists/tuple of numbers and ND arrays): {value!r:.60}"
        )

    def add_sink(self, edge: DataNode) -> None:
        self._refuse_if_final("given a sink")
        if not isinstance(edge, DataNode):
            raise TypeError(f"Pipeline.add_sink: it takes a DataNode, got {type(edge).__name__}")
        self.graph.own(edge).source.preserve = True

    def entries(self) -> tuple[list[Entry], str]:
        """Returns the entries of the graph, and their fingerprint. Saved states are compared with them."""
        if self._fingerprint is None:
            entries = describe(self.graph.nodes, {"scaled_decoding": self.config.scaled_decoding})
            self._fingerprint = entries, fingerprint(entries)
        return self._fingerprint


def current_owner() -> Any:
    """Returns the pipeline that is being defined; None outside a definition."""
    graph = current_graph()
    return None if graph is None or graph.owner is None else graph.owner()


def _are_numbers(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, _NUMBERS) for v in value)


def as_outputs(returned: object) -> tuple[Any, ...]:
    """Returns the outputs in the result of a function that defines a pipeline."""
    if returned is None:
        return ()
    if isinstance(returned, Mapping):
        return tuple(returned.values())
    if isinstance(returned, list) and returned and _are_numbers(returned):
        return (returned,)  # a constant, as in DALI
    return tuple(returned) if isinstance(returned, (list, tuple)) else (returned,)
