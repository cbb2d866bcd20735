"""Implements debug mode: runs the user's function in each iteration, and each operator when the function calls it.

Runners and random keys are the same as in a compiled pipeline, but each operator is a separate step.
"""

from __future__ import annotations

import dataclasses
import functools
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Drawn, Provenance, external
from jdali._errors import contained
from jdali._operators.record import ArgKind, Operator
from jdali._sources import InWorkers, SourceFeed, as_samples, batch_of, layout_of
from jdali.engine.cursor import TaskCursor, open_source
from jdali.engine.eager.debug_step import DebugStep, unexpected
from jdali.engine.engine import Engine
from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedStep, Result, make, user_error
from jdali.engine.options import EngineOptions
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.values import StepRunner, Values, bytes_of
from jdali.engine.task import BatchTask, SampleIds, SourceData
from jdali.graph import WHOLE_BATCH, DataNode, Domain, ExecutionPlan, Graph, Node, dependencies, step_of
from jdali.readers.order.epochs import SampleRefs
from jdali.tensors import Tensor, TensorList
from jdali.types import DALIDataType


class DataNodeDebug(DataNode):
    """A `DataNode` of a pipeline in debug mode, whose batch is already computed.

    It belongs to one iteration. If it is used in another iteration, it counts as data from the user.
    """

    __slots__ = ("graph",)
    __hash__ = object.__hash__

    def __init__(self, name: str, device: str, source: Node, index: int, graph: DebugGraph):
        self.name, self.device, self.source, self.index = name, device, source, index
        self.graph = graph

    def get(self) -> TensorList:
        """Returns the batch."""
        return self.graph.value(self)

    def shape(self) -> list[tuple[int, ...]]:  # type: ignore[override]
        """Returns the shape of each sample."""
        return self.get().shape()

    @property
    def ndim(self) -> int:  # type: ignore[override]
        """Number of axes of the samples."""
        return self.get().ndim()

    @property
    def dtype(self) -> DALIDataType:
        """Type of the elements."""
        return self.get().dtype

    @property
    def layout(self) -> str:  # type: ignore[override]
        """Layout of the samples."""
        return self.get().layout()

    def __str__(self) -> str:
        data = textwrap.indent(f"data={self.get()}", "    ")
        return f'DataNodeDebug(\n    name="{self.name}",\n{data})'

    __repr__ = __str__


_NO_PLAN = ExecutionPlan((), (), (), ())


@dataclasses.dataclass(frozen=True, eq=False)
class ComputedTask(BatchTask):
    """A task of debug mode, with its batch, which is computed before the task is returned."""

    outputs: tuple[TensorList, ...] = ()


class DebugEngine(Engine):
    """Makes the batches of a pipeline in debug mode, one at a time, in the caller's thread."""

    knows_sources = False  # True after the first iteration; from then on all operators are known

    def __init__(
        self, define: Callable[[DebugGraph], tuple[DataNode, ...]], options: EngineOptions, *, conditionals: bool
    ):  # fmt: skip
        super().__init__(_NO_PLAN, dataclasses.replace(options, on_error="raise"))
        self._define = define
        self.conditionals = conditionals
        self._steps: list[DebugStep] = []
        self._held: dict[str, list[tuple[Any, str | None]]] = {}

    def step_of(self, node: Node, number: int) -> DebugStep:
        """Returns the step of an operator call; `number` counts the calls of an iteration from 0.

        Raises RuntimeError if the first iteration called another operator at this number.
        """
        if number < len(self._steps):
            step = self._steps[number]
            step.check(node)
            return step
        if self.knows_sources:
            raise unexpected(node)
        if node.is_source:
            self._add_source(node)
        step = DebugStep(node, self._runner_of)
        self._steps.append(step)
        self.runners.append(step.runner)
        return step

    def _runner_of(self, node: Node) -> StepRunner:
        step = step_of(node)
        return runner_of(
            step, seed=self.seed, device=self.options.devices[step.device], max_batch=self.batch_size,
            budget=self.budget, exact_shapes=self.options.exact_shapes, source=self.sources.get(node),
        )  # fmt: skip

    def _add_source(self, node: Node) -> None:
        source = self.sources[node] = open_source(node, dataclasses.replace(self.options, seed=self.seed))
        self.cursor.add(node, source)
        if not isinstance(source, SourceFeed):
            self.readers[node] = source
            return
        held = self._held.pop(node.name, [])
        if held:
            source.check_is_fed(node.name)
        for data, layout in held:
            convert = functools.partial(source.as_fed, data, layout, self.batch_size, copy=True)
            source.feed(self.cursor.ask(node, convert))

    @property
    def first_reader(self) -> Node | None:
        """The reader whose samples determine the random keys; None until the function has called a reader."""
        return next(iter(self.readers), None)

    def hold(self, name: str, data: object, layout: str | None) -> bool:
        """Keeps data that was fed before the first iteration. Returns False, and keeps nothing, if the source exists already."""
        if self.knows_sources or any(node.name == name for node in self.sources):
            return False
        self._held.setdefault(name, []).append((data, layout))
        return True

    def draw(self, feed: TaskCursor | None = None) -> BatchTask:
        """Runs the user's function, which computes the batch. Raises StopIteration if an external source is at its end."""
        graph = DebugGraph(self)
        try:
            with self.pool.serving:
                outputs = self._define(graph)
                graph.run_waiting()
        except StopIteration:
            self.cursor.note_end()
            raise
        except BaseException as error:
            graph.count()
            raise contained(error)  # noqa: B904  it has its cause
        graph.count()
        self.knows_sources = True
        if self._held:
            name = self._held.popitem()[0]
            raise KeyError(f'feed_input: Could not find an input operator with name "{name}"')
        self.plan = ExecutionPlan((), outputs, (), ())
        return dataclasses.replace(graph.task(outputs), state=self.cursor.get_state())

    def make(self, task: BatchTask, **_: object) -> Result:
        """Returns the batch that `draw` has computed."""
        assert isinstance(task, ComputedTask)
        return Result(
            task.outputs, task.ids, task.mask, task.padded, self._state(task.state), (), bytes_of(task.outputs), 0
        )  # fmt: skip


class DebugGraph(Graph):
    """Holds the operators of one iteration, and runs each when it is added.

    Random keys depend on the samples of the first reader. Until these samples are known, random operators wait, and so
    do operators that use their outputs. The waiting operators run when the function calls a reader, reads one of their
    values, or returns.
    """

    def __init__(self, engine: DebugEngine):
        super().__init__()
        self._engine = engine
        self._env = Values()
        self._size: int | None = None  # size of the batch
        self._parts: dict[Domain, SampleIds] = {}
        self._keys_known = False  # True once the samples are known, see `_fix_keys`
        self._refs: dict[Node, SampleRefs] = {}  # samples drawn so far; keys: nodes of the first iteration
        self._waiting: list[tuple[Node, DebugStep]] = []
        self._called = 0  # number of operators that the function has called

    def new_value(self, name: str, device: str, node: Node, index: int) -> DataNodeDebug:
        return DataNodeDebug(name, device, node, index, self)

    def own(self, value: DataNode) -> DataNode:
        if isinstance(value, DataNodeDebug) and value.graph is not self:
            return self._given(value.get(), "a batch of another iteration", "external_source")
        return super().own(value)

    def taken(
        self, op: Operator, inputs: Sequence[Any], args: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Returns inputs and arguments; new nodes replace the user's batches (results of `get()`, lists of arrays)."""
        per_sample = {k for k, arg in op.public_args.items() if arg.kind is ArgKind.PER_SAMPLE}
        given = [self._taken(value, f"input {i}", op) for i, value in enumerate(inputs)]
        return given, {
            k: self._taken(value, f"argument '{k}'", op) if k in per_sample else value
            for k, value in args.items()
        }

    def _taken(self, value: object, what: str, op: Operator) -> Any:
        if isinstance(value, TensorList):
            return self._given(value, what, op.shown_name)
        if not isinstance(value, list):
            return value
        if any(isinstance(v, (DataNode, TensorList)) for v in value):  # several input sets
            return [self._taken(v, what, op) for v in value]
        if not (value and all(map(_is_sample, value))):  # not a list of samples
            return value
        taken = as_samples(value, copy=False)
        device = "gpu" if isinstance(taken, TensorList) else "cpu"
        batch = batch_of(taken, layout_of(value), device, Provenance.nowhere(len(value)))
        return self._given(batch, what, op.shown_name)

    def _given(self, batch: TensorList, what: str, operator: str) -> DataNode:
        if self._engine.conditionals:
            raise ValueError(
                "Debug mode with conditional execution (when `enable_conditionals=True`) doesn't allow for "
                "modification of operator outputs by libraries other than DALI or using the TensorLists extracted "
                "via `.get()` as inputs. Expected `DataNodeDebug` as an input, got "
                f"{type(batch).__name__} at {what} of operator '{operator}'."
            )
        if self._size is not None and len(batch) != self._size:
            raise RuntimeError(
                f"Batch size must be uniform across an iteration. {what.capitalize()} for operator '{operator}' has "
                f"batch size = {len(batch)}. Expected batch size = {self._size}."
            )
        self._size = len(batch)
        return self.add_batch(batch, batch.device)

    def add(self, op: Operator, inputs: Sequence[Any], args: Mapping[str, Any], **options: Any) -> Node:
        """Adds an operator and runs it; raises RuntimeError if the first iteration called another operator here."""
        runtime = options.get("runtime")
        if isinstance(runtime, InWorkers):  # run it here: a debugger does not stop in workers
            options["runtime"] = here = runtime.in_process()
            args = {name: here if value is runtime else value for name, value in args.items()}
        node = super().add(op, inputs, args, **options)
        if isinstance(runtime, TensorList):  # given by the user, see `_given`
            self._env[node.outputs[0]] = runtime
            return node
        step = self._engine.step_of(node, self._called)
        self._called += 1
        if node.is_source:
            self._reach_source(node, step)
        elif self._must_wait(node):
            self._waiting.append((node, step))
        else:
            self._run(node, step)
        return node

    def value(self, node: DataNode) -> TensorList:
        """Returns the batch of a node; raises RuntimeError if its operator failed."""
        if node not in self._env:
            self.run_waiting()
        if node not in self._env:
            raise RuntimeError(f"{node.name}: there is no value, its operator failed")
        return self._env[node]

    def run_waiting(self) -> None:
        """Runs the operators that wait for the first reader. If no reader was called, the samples are numbered instead."""
        if self._waiting and not self._keys_known:
            self._fix_keys()
        waiting, self._waiting = self._waiting, []
        for node, step in waiting:
            self._run(node, step)

    def _must_wait(self, node: Node) -> bool:
        engine = self._engine
        # An external source may still choose the size.
        size_is_known = self._size is not None or len(engine.sources) == len(engine.readers)
        if not self._keys_known and engine.knows_sources and size_is_known:
            self._fix_keys()
        if self._keys_known:
            return False
        return node.op.random or any(value not in self._env for value in dependencies(node))

    def _fix_keys(self) -> None:
        """Decides which samples the batch has: draws them from the first reader, or numbers them if no reader was called yet."""
        if self._engine.first_reader is not None:
            self._draw_from(self._engine.first_reader)
        self._keys_known = True

    @property
    def _batch_size(self) -> int:
        if self._size is None:
            self._size = self._engine.batch_size
        return self._size

    @property
    def _samples(self) -> dict[Domain, SampleIds]:
        """The sample identities of each branch, which `_draw_from` may still change."""
        if not self._parts:
            feed = self._engine.cursor
            self._parts = {WHOLE_BATCH: feed.counted(feed.position, self._batch_size)}
        return self._parts

    def _run(
        self, node: Node, step: DebugStep, draw: BatchTask | None = None, drawn: Provenance | None = None
    ) -> None:
        prepared = PreparedStep([node], functools.partial(step.run, node, drawn))
        self._env.task = draw
        try:
            make([prepared], self._env, self._samples, self._engine.pool)
        except NodeFailure as failure:
            raise user_error(failure, self._env, self._samples) from failure.first

    def _reach_source(self, node: Node, step: DebugStep) -> None:
        source = self._engine.sources[step.node]
        if isinstance(source, SourceFeed):
            data = self._fetched(node, source)
            task = self._task({}, {step.node.name: data})
            self._run(node, step, task, external(self._batch_size, step.node.name))
            return
        refs = self._draw_from(step.node)
        self.run_waiting()
        drawn = Provenance.of(Drawn(source.source, refs.indices, step.node.name))
        self._run(node, step, self._task({step.node.name: refs}, {}), drawn)

    def _fetched(self, node: Node, source: SourceFeed) -> SourceData:
        """Fetches the data of an external source and checks the number of samples."""
        feed = self._engine.cursor
        feed.ask(node, source.check_fed)
        request = (self._engine.batch_size, feed.iteration, feed.epoch, feed.position)
        data = feed.ask(node, functools.partial(source.next, *request))
        for i, samples in enumerate(data[1:], 1):
            if len(samples) != len(data[0]):
                raise RuntimeError(
                    "External source must return outputs with consistent batch size. "
                    f"Output {i} has batch size = {len(samples)}, previous batch size = {len(data[0])}"
                )
        if self._size is not None and len(data[0]) != self._size:
            raise RuntimeError(
                f"Batch size must be uniform across an iteration. External Source operator returned batch size: "
                f"{len(data[0])}, expected: {self._size}.\nFor batches of other sizes, call all external sources "
                "at the beginning of the function, before other operators."
            )
        self._size = len(data[0])
        return SourceData(tuple(data), tuple(source.drawn_layouts))

    def _draw_from(self, reader: Node) -> SampleRefs:
        """Draws the samples of a reader for this batch, once."""
        if reader not in self._refs:
            self._refs[reader] = refs = self._engine.readers[reader].take(self._batch_size)
            if reader is self._engine.first_reader:
                ids = SampleIds(refs.epochs, refs.identified, np.arange(self._batch_size))
                self._parts, self._keys_known = {WHOLE_BATCH: ids}, True
        return self._refs[reader]

    def _task(self, refs: Mapping[str, SampleRefs], data: Mapping[str, SourceData]) -> BatchTask:
        """Returns a task with the samples or data of one source."""
        ids = self._samples[WHOLE_BATCH]
        return BatchTask(ids, np.ones(len(ids), bool), refs, data)

    def count(self) -> None:
        self._engine.cursor.note_drawn(self._batch_size)

    def task(self, outputs: tuple[DataNode, ...]) -> ComputedTask:
        """Returns the task of this iteration, with the values of `outputs`."""
        ids = self._samples[WHOLE_BATCH]
        refs = {node.name: own for node, own in self._refs.items()}
        values = tuple(self._env[v] for v in outputs)
        return ComputedTask(ids, np.ones(len(ids), bool), refs, outputs=values)


def _is_sample(value: object) -> bool:
    if isinstance(value, (np.generic, str, bytes)):
        return False
    return isinstance(value, Tensor) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")
