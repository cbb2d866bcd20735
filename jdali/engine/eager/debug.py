"""Debug mode: the user's function runs in each iteration, and an operator when the function calls it.

The operators, their random keys and what runs them are those of the compiled pipeline, one step an operator.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Drawn, Provenance, external
from jdali._errors import contained
from jdali._operators.record import ArgKind, Operator
from jdali._sources import InWorkers, SourceFeed
from jdali.engine.eager.debug_inputs import GivenBatch, batch_of_list, is_batch
from jdali.engine.eager.debug_node import DataNodeDebug
from jdali.engine.eager.debug_step import DebugStep, unexpected
from jdali.engine.eager.debug_task import ComputedTask
from jdali.engine.failure import NodeFailure
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.iteration import Result
from jdali.engine.options import EngineOptions
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.branch_samples import position_in_batch
from jdali.engine.steps.run_step import run_step
from jdali.engine.steps.runner import StepContext, StepRunner
from jdali.engine.steps.values import Values, bytes_of
from jdali.engine.tasks.batch_task import BatchTask, SourceData
from jdali.engine.tasks.feed import Feed
from jdali.engine.tasks.opening import open_source
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.graph import WHOLE_BATCH, DataNode, Domain, ExecutionPlan, Graph, Node, dependencies, step_of
from jdali.readers.order.epochs import SampleRefs
from jdali.tensors import TensorList

_NO_PLAN = ExecutionPlan((), (), (), ())


class DebugEngine(Engine):
    """Makes the batches of a pipeline in debug mode, one at a time, in the thread that asks.

    Args:
        define: calls the user's function, whose operators go to the graph that it is given; returns the outputs.
        conditionals: the function is converted: `if` works sample by sample.
        options: of the pipeline.

    Attributes:
        first_is_over: one iteration has come to its end, so all operators are known.
    """

    def __init__(
        self,
        define: Callable[[DebugGraph], tuple[DataNode, ...]],
        options: EngineOptions,
        *,
        conditionals: bool,
    ):
        super().__init__(_NO_PLAN, dataclasses.replace(options, on_error="raise"))
        self._define = define
        self.conditionals = conditionals
        self._steps: list[DebugStep] = []
        self._held: dict[str, list[tuple[Any, str | None]]] = {}
        self.first_is_over = False

    # --- operators --------------------------------------------------------------------------
    def step_of(self, node: Node, number: int) -> DebugStep:
        """Makes the step of the operator that the function calls as its `number`th, from 0.

        Raises:
            RuntimeError: in the first iteration, it called another one here, or with other arguments.
        """
        if number < len(self._steps):
            step = self._steps[number]
            step.check(node)
            return step
        if self.first_is_over:
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
            compiler=self.compiler, exact_shapes=self.options.exact_shapes, source=self.sources.get(node),
        )  # fmt: skip

    def _add_source(self, node: Node) -> None:
        source = self.sources[node] = open_source(node, dataclasses.replace(self.options, seed=self.seed))
        self.feed.add(node, source)
        if not isinstance(source, SourceFeed):
            self.readers[node] = source
            return
        held = self._held.pop(node.name, [])
        if held:
            source.check_is_fed(node.name)
        for data, layout in held:
            convert = functools.partial(source.as_fed, data, layout, self.batch_size, copy=True)
            source.feed(self.feed.ask(node, convert))

    @property
    def knows_sources(self) -> bool:
        return self.first_is_over

    @property
    def first_reader(self) -> Node | None:
        """The one whose samples give the random values their keys, as far as it is known."""
        return next(iter(self.readers), None)

    @property
    def has_external_sources(self) -> bool:
        """True if an external source may still choose the size of the batch."""
        return len(self.sources) > len(self.readers)

    def hold(self, name: str, data: object, layout: str | None) -> bool:
        """Keeps what is fed before the first iteration; False: the source is there, feed it."""
        if self.first_is_over or any(node.name == name for node in self.sources):
            return False
        self._held.setdefault(name, []).append((data, layout))
        return True

    # --- iterations -------------------------------------------------------------------------
    def draw(self, feed: Feed | None = None) -> BatchTask:
        """Draws the task of the next batch; everything is computed meanwhile.

        Raises:
            OperatorError: an operator failed.
            StopIteration: an external source is at its end.
        """
        graph = DebugGraph(self)
        try:
            with self.pool.serving:
                outputs = self._define(graph)
                graph.run_waiting()
        except StopIteration:
            self.feed.note_end()
            raise
        except BaseException as error:
            graph.count()
            raise contained(error)  # noqa: B904  it has its cause
        graph.count()
        self.first_is_over = True
        if self._held:
            name = self._held.popitem()[0]
            raise KeyError(f'feed_input: Could not find an input operator with name "{name}"')
        self.plan = ExecutionPlan((), outputs, (), ())
        return dataclasses.replace(graph.task(outputs), state=self.feed.get_state())

    def make(self, task: BatchTask, **_: object) -> Result:
        """Returns the batch of a task that `draw` gave."""
        assert isinstance(task, ComputedTask)
        return Result(
            task.outputs,
            task.ids,
            task.mask,
            task.padded,
            self._state(task.state),
            (),
            bytes_of(task.outputs),
            0,
        )


class DebugGraph(Graph):
    """The operators of one iteration; one that is added runs at once.

    But for random operators of the first iteration whose samples are not known yet, since no reader was reached:
    they, and what depends on them, wait for it, or until a value of theirs is asked for.
    """

    def __init__(self, engine: DebugEngine):
        super().__init__()
        self._engine = engine
        self._env = Values()
        self._size: int | None = None  # of the batch
        self._parts: dict[Domain, SampleIds] = {}
        self._keys_known = False  # the samples are those of the first reader, or there is none
        self._refs: dict[Node, SampleRefs] = {}  # drawn so far, by the nodes of the first iteration
        self._waiting: list[tuple[Node, DebugStep]] = []
        self._called = 0  # operators, without those that stand for given batches

    # --- as a graph -------------------------------------------------------------------------
    def new_value(self, name: str, device: str, node: Node, index: int) -> DataNodeDebug:
        return DataNodeDebug(name, device, node, index, self)

    def own(self, value: DataNode) -> DataNode:
        if isinstance(value, DataNodeDebug) and value.graph is not self:
            return self._given(value.get(), "a batch of another iteration", "external_source")
        return super().own(value)

    def taken(
        self, op: Operator, inputs: Sequence[Any], args: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Batches that are no nodes become some: those of `get()`, and lists of arrays."""
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
        return self._given(batch_of_list(value), what, op.shown_name) if is_batch(value) else value

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
        return self.add_batch(GivenBatch(batch), batch.device)

    def add(self, op: Operator, inputs: Sequence[Any], args: Mapping[str, Any], **options: Any) -> Node:
        """Adds an operator and runs it; see `Graph.add`.

        Raises:
            OperatorError: it failed.
            RuntimeError: it is not what the first iteration called here.
        """
        runtime = options.get("runtime")
        if isinstance(runtime, InWorkers):  # where a debugger is of no use
            options["runtime"] = here = runtime.in_process()
            args = {name: here if value is runtime else value for name, value in args.items()}
        node = super().add(op, inputs, args, **options)
        if isinstance(runtime, GivenBatch):
            self._env[node.outputs[0]] = runtime.batch
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

    # --- values -----------------------------------------------------------------------------
    def value(self, node: DataNode) -> TensorList:
        """The batch of a node.

        Raises:
            RuntimeError: its operator failed.
        """
        if node not in self._env:
            self.run_waiting()
        if node not in self._env:
            raise RuntimeError(f"{node.name}: there is no value, its operator failed")
        return self._env[node]

    def run_waiting(self) -> None:
        """Runs the operators that wait for the keys of their samples; now they have to be known."""
        if self._waiting and not self._keys_known:
            self._fix_keys()
        waiting, self._waiting = self._waiting, []
        for node, step in waiting:
            self._run(node, step)

    def _must_wait(self, node: Node) -> bool:
        engine = self._engine
        size_is_known = self._size is not None or not engine.has_external_sources
        if not self._keys_known and engine.first_is_over and size_is_known:
            self._fix_keys()
        if self._keys_known:
            return False
        return node.op.random or any(value not in self._env for value in dependencies(node))

    def _fix_keys(self) -> None:
        """Decides which samples the batch has: the next of the first reader, if one is known."""
        reader = self._engine.first_reader
        if reader is not None:
            self._draw_from(reader)
        else:
            self._know(self._engine.feed.counted(self._engine.feed.position, self._batch_size))

    def _know(self, ids: SampleIds) -> None:
        self._parts, self._keys_known = {WHOLE_BATCH: ids}, True

    @property
    def _batch_size(self) -> int:
        if self._size is None:
            self._size = self._engine.batch_size
        return self._size

    @property
    def _samples(self) -> dict[Domain, SampleIds]:
        """The samples of the branches so far; their keys may not be known yet."""
        if not self._parts:
            feed = self._engine.feed
            self._parts = {WHOLE_BATCH: feed.counted(feed.position, self._batch_size)}
        return self._parts

    # --- running ----------------------------------------------------------------------------
    def _run(
        self,
        node: Node,
        step: DebugStep,
        draw: BatchTask | None = None,
        drawn: Provenance | None = None,
    ) -> None:
        run = functools.partial(step.run, node, drawn)
        try:
            context = StepContext(self._engine.pool, draw)
            run_step([node], run, self._env, self._samples, context)
        except NodeFailure as failure:
            position = position_in_batch(failure, node.domain, self._samples)
            raise failure.user_error(position, self._env.made_of) from failure.first

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
        """Fetches the data of an external source; they have the size of the batch."""
        feed = self._engine.feed
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
        """The samples of a reader for this batch."""
        if reader not in self._refs:
            self._refs[reader] = refs = self._engine.readers[reader].next_batch(self._batch_size)
            if reader is self._engine.first_reader:
                self._know(SampleIds(refs.epochs, refs.indices, np.arange(self._batch_size)))
        return self._refs[reader]

    def _task(self, refs: Mapping[str, SampleRefs], data: Mapping[str, SourceData]) -> BatchTask:
        """Returns the task of one source."""
        ids = self._samples[WHOLE_BATCH]
        return BatchTask(ids, np.ones(len(ids), bool), refs, data)

    # --- the end ----------------------------------------------------------------------------
    def count(self) -> None:
        """Counts the batch."""
        self._engine.feed.note_drawn(self._batch_size)

    def task(self, outputs: tuple[DataNode, ...]) -> ComputedTask:
        """Returns what was done as a task, with the values of these nodes."""
        ids = self._samples[WHOLE_BATCH]
        refs = {node.name: own for node, own in self._refs.items()}
        values = tuple(self._env[v] for v in outputs)
        return ComputedTask(ids, np.ones(len(ids), bool), refs, outputs=values)
