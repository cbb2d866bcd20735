"""Makes any batch or sample of a pipeline for the viewer, operator by operator. The pipeline keeps its position."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from jdali._errors import OperatorError, SkippedSample
from jdali._threads import Spent
from jdali.engine.cursor import TaskCursor
from jdali.engine.engine import Engine
from jdali.engine.failure import NodeFailure
from jdali.engine.make import Iteration, Result, make
from jdali.engine.steps.values import Values
from jdali.engine.task import BatchTask, SampleIds
from jdali.engine.window import Window
from jdali.graph import DataNode, Domain, ExecutionPlan, Node, Stage, last_uses, step_of
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Trace:
    """Holds the values of one batch after each operator, up to the first failure."""

    values: Values
    parts: dict[Domain, SampleIds]
    failure: Exception | None = None
    failed: Node | None = None

    def value(self, value: DataNode, position: int) -> np.ndarray | None:
        """Returns the sample at a position of the batch; None if it was not computed, or is in another branch."""
        batch: TensorList | None = self.values.get(value)
        part = self.parts.get(value.source.domain)
        if batch is None or part is None:
            return None
        rows = np.flatnonzero(part.position == position)
        return batch.store.host_sample(int(rows[0])) if len(rows) and len(batch) > rows[0] else None


class StepwiseEngine(Engine):
    """Makes batches of another engine's tasks, operator by operator.

    It shares the readers of the other engine, but leaves that engine's position, times and programs unchanged.
    """

    def __init__(self, engine: Engine, *, most: int):
        options = dataclasses.replace(
            engine.options, batch_size=most, most_idle=0, seed=engine.seed, on_error="mask", max_compiles=None
        )
        super().__init__(_stepwise(engine.plan), options, sources=engine.sources)
        # Both engines run the same host operators, which may call functions of the user, so these steps share locks.
        # Readers may run in both engines at once.
        theirs = {step.nodes[0]: step.alone for step in engine._prepared}
        self._prepared = [
            prepared
            if isinstance(step, Stage) or step.node.is_source
            else dataclasses.replace(prepared, alone=theirs.get(step.node, prepared.alone))
            for step, prepared in zip(self.plan.steps, self._prepared, strict=True)
        ]

    def trace(self, task: BatchTask) -> Trace:
        """Makes the batch of a task; keeps the value after each operator."""
        iteration = Iteration.of(task, self.sources)
        steps = [dataclasses.replace(step, last_uses=()) for step in self._prepared]
        try:
            make(steps, iteration.env, iteration.parts, self.pool)
        except NodeFailure as failure:
            return Trace(iteration.env, iteration.parts, iteration.user_error(failure), failure.step[0])
        return Trace(iteration.env, iteration.parts)

    def interrupt(self) -> None:
        """Interrupts the threads of this engine, but not the sources, because these belong to the pipeline."""
        self.closed = True
        self.pool.interrupt()

    def close(self) -> None:
        self.interrupt()
        self.pool.close()


def _nodes(plan: ExecutionPlan) -> list[Node]:
    return sorted((node for step in plan.steps for node in step.nodes), key=lambda node: node.id)


def _stepwise(plan: ExecutionPlan) -> ExecutionPlan:
    """Returns the plan with a step for each operator."""
    steps = map(step_of, _nodes(plan))
    numbered = [
        dataclasses.replace(step, index=number) if isinstance(step, Stage) else step
        for number, step in enumerate(steps)
    ]
    return ExecutionPlan(tuple(numbered), plan.outputs, plan.sources, last_uses(numbered, plan.outputs))


MOST_EPOCHS = 20
_MOST_FOUND, _FIND_SECONDS = 50, 2.0


@dataclasses.dataclass(frozen=True)
class SeenBatch:
    """Holds a batch and its number.

    Attributes:
        result: outputs and identities of the samples; None if all samples failed.
        errors: failed samples; other samples (stand-ins) took their positions.
    """

    number: int
    result: Result | None
    errors: tuple[SkippedSample, ...]


class PipelineInspector:
    """Makes batches of a pipeline with a separate cursor and engine; used by one thread at a time.

    The values equal those of the pipeline bit for bit.

    Args:
        first_state: state of the sources before the first batch.

    Attributes:
        nodes: all operators, in the order of the graph.
        size: number of samples in the first reader's data set; None without a reader.
        knows_samples: True if an index identifies a sample: there is one reader, no external source and no operator on
            whole batches.

    Raises:
        RuntimeError: an external source cannot be replayed.
    """

    def __init__(
        self, window: Window, first_state: Mapping[str, Any], outputs: tuple[DataNode, ...], names: tuple[str, ...]
    ):  # fmt: skip
        self._window, self.engine = window, window.engine
        self._first_state, self.outputs = first_state, outputs
        self.output_names = names or tuple(map(_named_by_operator, range(len(outputs)), outputs))
        self.nodes = _nodes(self.engine.plan)
        self.batch_size, readers = self.engine.batch_size, self.engine.readers
        self._reader = next(iter(readers.values()), None)
        self.size = None if self._reader is None else int(self._reader.size)
        self._mixes = any(node.mixes_samples for node in self.nodes)
        self.knows_samples = len(readers) == len(self.engine.sources) == 1 and not self._mixes
        self._feed()  # raises if a source cannot be replayed
        self._lock = threading.RLock()
        self._stepwise: StepwiseEngine | None = None
        self._closed = False

    def step_times(self) -> list[Spent]:
        """Returns the time of each step of this process, in the order of the plan."""
        return [timer.spent() for timer in self.engine.timing.steps]

    def worker_time(self) -> Spent | None:
        """Returns the time of the worker processes; None if there are none."""
        elsewhere = self.engine.elsewhere
        return None if elsewhere is None else elsewhere.timer.spent()

    def waiting(self) -> tuple[int, int]:
        """Returns the number of ready batches and its maximum; both are 0 if no batches are made ahead."""
        window = self._window
        return window.ready, 0 if window.room is None else window.room.depth

    @contextlib.contextmanager
    def _exclusively(self) -> Iterator[None]:
        try:
            with self._lock:
                if self._closed:
                    raise RuntimeError("the viewer is closed")
                yield
        finally:
            if self._closed:
                self._end()

    def _feed(self) -> TaskCursor:
        """Returns a new cursor over the sources, positioned before the first batch."""
        feed = self.engine.cursor.twin()
        feed.set_state(self._first_state)
        return feed

    @contextlib.contextmanager
    def _at(self, number: int) -> Iterator[TaskCursor]:
        """Yields a cursor positioned before a batch."""
        with self._exclusively():
            feed = self._feed()
            try:
                try:
                    feed.skip(number, self.batch_size)
                except ValueError as error:  # a list ends before the batch
                    raise IndexError(str(error)) from None
                yield feed
            except StopIteration:
                raise IndexError(f"batch {number} is after the end of the external source") from None
            except OverflowError as error:
                if isinstance(error, OperatorError):  # raised by the user's code
                    raise
                raise IndexError(f"batch {number} is too far: its epoch has more than 32 bits") from None

    def batch(self, number: int) -> SeenBatch:
        """Makes a batch. Samples that fail are replaced by others; the result lists the failures.

        Args:
            number: number of the batch, counted from 0 at the start of training.

        Raises:
            IndexError: an external source ends before the batch.
            OperatorError: no sample can be made.
        """
        with self._at(number) as feed:
            return _seen(number, self._engine().make(feed.draw(self.batch_size)))

    def task(self, number: int) -> BatchTask:
        """Draws the task of a batch; raises IndexError if an external source ends before the batch."""
        with self._at(number) as feed:
            return feed.draw(self.batch_size)

    def first_of_epoch(self, epoch: int) -> int:
        """Returns the number of the first batch with a sample of an epoch; raises ValueError without a reader."""
        if self.size is None:
            raise ValueError("batches of a pipeline without a reader are counted from the beginning only")
        low, high = 0, (epoch + 1) * (self.size // self.batch_size + 2)
        while low < high:
            middle = (low + high) // 2
            try:
                reached = int(self.task(middle).ids.epoch.max()) >= epoch
            except IndexError:  # an external source ends before the batch
                reached = True
            low, high = (low, middle) if reached else (middle + 1, high)
        return low

    def trace(self, number: int, position: int) -> tuple[Trace, int, BatchTask]:
        """Runs the pipeline on one sample, one operator at a time.

        Returns: the trace, the position of the sample in it, and a task with this sample alone.
        """
        task = self.task(number)
        if not 0 <= position < len(task):
            raise IndexError(f"batch {number} has {len(task)} samples, there is no position {position}")
        alone = task.keeping(np.array([position]))
        with self._exclusively():
            if self._mixes:
                return self._engine().trace(task), position, alone
            return self._engine().trace(alone), 0, alone

    def sample_traces(self, index: int, epochs: range) -> list[tuple[Trace, int]]:
        """Runs the pipeline on one sample, one operator at a time, in several epochs.

        If the sample fails in one epoch, the traces of the other epochs are still complete.

        Returns: for each epoch a trace, and the position of the sample in it.
        """
        if not self.knows_samples:
            raise ValueError(
                "a sample by its index: for pipelines with one reader, no external source, and no operator on whole batches"
            )
        if self.size is None or not 0 <= index < self.size:
            raise IndexError(f"there is no sample {index} among {self.size}")
        together = self._trace_of(index, epochs)
        if together.failure is None:
            return [(together, position) for position in range(len(epochs))]
        return [(self._trace_of(index, range(epoch, epoch + 1)), 0) for epoch in epochs]

    def _trace_of(self, index: int, epochs: range) -> Trace:
        """Traces one batch that contains the sample once for each epoch."""
        with self._exclusively():
            return self._engine().trace(self.engine.task_of_sample(index, epochs))

    def _engine(self) -> StepwiseEngine:
        if self._stepwise is None:
            self._stepwise = StepwiseEngine(self.engine, most=max(MOST_EPOCHS, self.batch_size))
        return self._stepwise

    def name_of(self, index: int) -> str:
        """Returns the file name of a sample; "" without a reader."""
        return "" if self._reader is None else str(self._reader.source(index))

    def find(self, text: str, seconds: float = _FIND_SECONDS) -> tuple[list[tuple[int, str]], int]:
        """Finds samples by a part of their file name. Returns index and name of up to 50, and how many samples were searched."""
        found: list[tuple[int, str]] = []
        wanted, end, size = text.lower(), time.monotonic() + seconds, self.size or 0
        for index in range(size):
            name = self.name_of(index)
            if wanted in name.lower():
                found.append((index, name))
            if len(found) == _MOST_FOUND or time.monotonic() > end:
                return found, index + 1
        return found, size

    def check(self, count: int, advance: Callable[[SeenBatch], bool]) -> None:
        """Makes the first `count` batches and passes each to `advance`, which returns False to stop."""
        feed = self._feed()
        for number in range(count):
            with self._exclusively():
                try:
                    result = self._engine().make(feed.draw(self.batch_size))
                except StopIteration:
                    return
                except OperatorError as error:
                    raise ValueError(str(error)) from error
            if not advance(_seen(number, result)):
                return

    def close(self) -> None:
        """Ends the inspector's engine without waiting; its work in progress fails soon. The pipeline continues."""
        self._closed = True
        stepwise = self._stepwise
        if stepwise is not None:
            stepwise.interrupt()
        self._end()

    def _end(self) -> None:
        """Closes the engine, or leaves this to a thread that is still using the engine."""
        if self._lock.acquire(blocking=False):
            try:
                if self._stepwise is not None:
                    self._stepwise.close()
                    self._stepwise = None
            finally:
                self._lock.release()


def _seen(number: int, result: Result) -> SeenBatch:
    return SeenBatch(number, None if result.nothing is not None else result, result.skipped)


def _named_by_operator(number: int, value: DataNode) -> str:
    """Names an output by its number and the name of its node or operator."""
    node = value.source
    name = node.name if node.named else node.op.name
    return f"{number}: {name}" + (f"[{value.index}]" if len(node.outputs) > 1 else "")
