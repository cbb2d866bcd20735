"""Makes the batches of a pipeline: draws tasks, carries them out step by step, and times the steps."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from jdali._batches import BatchSplit, LentMemory
from jdali._errors import OperatorError, SkippedSample
from jdali._numerics.platform import platform_of
from jdali._sources import SourceFeed
from jdali._threads import PhaseTimer
from jdali._workers import answer_memory
from jdali._workers.callbacks import CallbackWorkers
from jdali.engine.cursor import TaskCursor, open_sources
from jdali.engine.executors.elsewhere import (
    Begun,
    MadeElsewhere,
    SentAnswer,
    SentTask,
    StartWorkers,
    make_each,
    send_failure,
    send_values,
)
from jdali.engine.failure import NodeFailure
from jdali.engine.make import Iteration, PreparedStep, Result, make
from jdali.engine.options import EngineOptions
from jdali.engine.recovery import AttemptFailure, MainFailure, StandIns, to_be_listed
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.program import Program, ProgramBudget
from jdali.engine.steps.program_table import enable_compilation_cache
from jdali.engine.steps.sharded import spread_stages
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import bytes_of
from jdali.engine.task import BatchTask, SampleIds
from jdali.engine.workers import Pool
from jdali.graph import (
    ExecutionPlan,
    HostStep,
    Node,
    Stage,
    cut,
    scaled_consumers,
    steps_before_programs,
    with_late_steps,
)
from jdali.readers.order.epochs import SampleRefs
from jdali.readers.shared_tables import Tables
from jdali.tensors import TensorList

# After this many batches without a new program, none is expected for some time.
QUIET_BATCHES = 8


def give_back_free_memory() -> None:
    """Returns free pages of the heap to the system, if the C library can.

    glibc keeps the memory that compilation used, some 80 MB in ResNet-50 training, although later batches need little
    of it. Do not call this after every batch: the next batch would then cause page faults.
    """
    with contextlib.suppress(OSError, AttributeError):  # another system, or another C library
        ctypes.CDLL(None).malloc_trim(0)


class Timing:
    """Holds the timers of a pipeline: for its sources, for each step of its plan, and for the wait for the device."""

    def __init__(self, plan: ExecutionPlan, externals: Sequence[Node], workers: PhaseTimer | None = None):
        given = " + ".join(node.op.name if node.name.startswith("__") else node.name for node in externals)
        self.draw = PhaseTimer("source", given or "order of the samples")
        self.steps = [_part(step, plan.sources, externals) for step in plan.steps]
        names = [p.name for p in self.steps if p.kind == "stage"]
        self.device = PhaseTimer("device", f"waiting for {names[-1] if names else 'nothing'}")
        # All timers, in the order in which a batch passes them.
        self.parts = [self.draw, *([] if workers is None else [workers]), *self.steps, self.device]


def _part(step: HostStep | Stage, sources: Sequence[Node], externals: Sequence[Node]) -> PhaseTimer:
    name = " + ".join(node.op.name for node in step.nodes)
    if isinstance(step, Stage):
        return PhaseTimer("arguments" if step.is_arguments else "stage", name)
    kinds = [(externals, "samples"), (sources, "reading")]
    kind = next((kind for nodes, kind in kinds if step.node in nodes), "host")
    return PhaseTimer(kind, name, step.node.op.work)


class Engine:
    """Makes the batches of one pipeline: `draw` returns a task, and `make` makes the batch of a task.

    A batch depends on nothing but its task, so the caller's threads may make several batches at once, in any order.
    Only one thread at a time may draw.

    Args:
        callback_workers: processes that call parallel sources and functions; they end with the engine.
        start_workers: takes the open readers and their tables, and starts workers for the first steps of batches. None:
            this process runs all steps.
        tables: tables that the same readers computed in another process, see `readers/shared_tables.py`.
    """

    elsewhere: MadeElsewhere | None = None  # runs the first steps; None if the engine runs all steps itself

    def __init__(
        self, plan: ExecutionPlan, options: EngineOptions, *, callback_workers: CallbackWorkers | None = None,
        start_workers: StartWorkers | None = None, sources: dict[Node, Any] | None = None,
        tables: Tables | None = None,
    ):  # fmt: skip
        if options.compilation_cache:
            enable_compilation_cache()
        self.plan, self.options = plan, options
        self.batch_size, self.on_error = options.batch_size, options.on_error
        self.seed = options.seed
        self.budget = ProgramBudget(options.max_compiles)
        self._compiled = 0, 0.0  # number of programs, and seconds, when `_newly_compiled` was called last
        self._known_programs = self._quiet = 0  # `_quiet`: batches since the last new program
        self._callback_workers = callback_workers
        noted: Tables = {}
        if sources is None:
            sources, noted = open_sources(plan.sources, options, tables or {})
        self.sources = sources
        self.readers = {n: s for n, s in sources.items() if not isinstance(s, SourceFeed)}
        border = cut(plan, one_device=options.one_device) if start_workers is not None else None
        # The steps that the engine runs itself.
        self.here = plan if border is None or not border.elsewhere.steps else border.here
        if platform_of(options.devices["gpu"]) == "gpu":  # decoding waits until a stage reads the samples
            self.here = with_late_steps(self.here)
        self.pool = Pool(options.threads, options.most_idle)
        externals = {n: s for n, s in sources.items() if isinstance(s, SourceFeed)}
        self.cursor = TaskCursor(self.readers, externals)
        scaled = scaled_consumers(plan) if options.scaled_decoding else {}
        self.runners = [
            runner_of(
                step, seed=self.seed, device=options.devices[step.device], max_batch=self.batch_size,
                budget=self.budget, exact_shapes=options.exact_shapes, source=sources.get(step.nodes[0]),
                scaled_for=scaled.get(step.nodes[0], ()),
            )
            for step in self.here.steps
        ]  # fmt: skip
        if start_workers is not None and border is not None and border.elsewhere.steps:
            # Start the workers last: an error before this line leaves no process behind.
            self.elsewhere = MadeElsewhere(border, start_workers(self.readers, noted), sources)
        workers = None if self.elsewhere is None else self.elsewhere.timer
        self.timing = Timing(self.here, list(externals), workers)
        # A step with a state works on one batch at a time, so it gets a lock. The `turn` of `make` is not enough:
        # replayed batches and repeated attempts at a batch do not wait for a turn.
        alone: list[contextlib.AbstractContextManager[object]] = [
            threading.Lock() if runner.at_once == 1 else contextlib.nullcontext() for runner in self.runners
        ]
        parts = zip(self.here.steps, self.runners, self.here.last_uses, self.timing.steps, alone, strict=True)
        self._prepared = [
            PreparedStep(step.nodes, runner.run, last_uses, timer, runner.policy, number, alone=lock)
            for number, (step, runner, last_uses, timer, lock) in enumerate(parts)
        ]
        self.closed = False

    @property
    def programs(self) -> int:
        """Number of compiled programs, with those of workers, which count in each worker."""
        return self.budget.count + (0 if self.elsewhere is None else self.elsewhere.programs)

    @property
    def knows_sources(self) -> bool:
        """False in debug mode until the first iteration has opened all readers and external sources."""
        return True

    def use_seed(self, seed: int) -> None:
        """Sets the pipeline's seed in all random operators that have no seed of their own."""
        if seed != self.seed:
            self.seed = seed
            for runner in self.runners:
                runner.set_seed(seed)

    def hold(self, name: str, data: object, layout: str | None) -> bool:
        """Returns False: only debug mode keeps data that is fed before its source is open."""
        return False

    @property
    def ordered_steps(self) -> list[int]:
        """Numbers of the steps that call user functions with side effects; batches pass these steps in order."""
        steps = enumerate(self.here.steps)
        return [number for number, step in steps if any(node.op.effects for node in step.nodes)]

    @property
    def stage_runners(self) -> list[StageRunner]:
        return [r for r in self.runners if isinstance(r, StageRunner)]

    @property
    def stage_programs(self) -> list[Program]:
        return [program for runner in self.stage_runners for program in runner.programs.values()]

    def spread(self, splits: Sequence[BatchSplit | None]) -> None:
        """Lets stages run on all devices that their outputs are split over; call it before the first batch."""
        spread_stages(self.here, self.runners, self.batch_size, splits)

    def get_state(self, cursor: TaskCursor | None = None) -> dict[str, Any]:
        """Returns the state after the last task drawn from `cursor`, which defaults to `self.cursor`."""
        return self._state((cursor or self.cursor).get_state())

    def _state(self, of_sources: Mapping[str, object]) -> dict[str, Any]:
        return {"seed": self.seed, **of_sources}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.cursor.set_state(state)
        self.use_seed(int(state["seed"]))

    def draw(self, cursor: TaskCursor | None = None) -> BatchTask:
        """Draws a task from `cursor` (`self.cursor` if None); raises StopIteration if an external source has ended."""
        with self.pool.serving, self.timing.draw.lap():
            return (cursor or self.cursor).draw(self.batch_size)

    def task_of_sample(self, index: int, epochs: range) -> BatchTask:
        """Returns a task with one sample, repeated for each epoch. The pipeline must have one reader, or no sources."""
        count = len(epochs)
        ids = SampleIds(np.array(epochs, np.uint32), np.full(count, index, np.int64), np.arange(count))
        refs = SampleRefs(ids.epoch, ids.index, np.zeros(count, bool))
        return BatchTask(ids, np.ones(count, bool), {node.name: refs for node in self.readers})

    def begin(self, task: BatchTask, order: int) -> Begun:
        """Submits a batch to the workers, which must exist, and returns immediately. `make` waits for the result."""
        assert self.elsewhere is not None
        self.pool.refuse_if_interrupted()
        return self.elsewhere.begin(task, self.seed, order)

    def make(
        self, task: BatchTask, *,
        turn: Callable[[int], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
        order: int = 0, begun: Begun | None = None, tolerates: bool | None = None,
    ) -> Result:  # fmt: skip
        """Makes the batch of a task. Samples that fail are replaced by others, unless `on_error` is "raise".

        Args:
            turn: takes the number of a step, and returns the context manager in which the step runs.
            order: priority in the pool: lower numbers go first.
            begun: what `begin` returned for this task.
            tolerates: True replaces samples that fail, False raises their errors, None follows `on_error`.
        """
        if tolerates is None:
            tolerates = self.on_error != "raise"
        stand_ins: StandIns | None = None
        skipped: list[SkippedSample] = []
        nothing, iteration = None, Iteration.of(task, self.sources)
        failure: AttemptFailure | None = None
        first: dict[str, AttemptFailure] = {}  # the first failure of each node
        try:
            while failure := self._receive(iteration, order, begun) or self._advance(iteration, turn, order):
                if not (tolerates and failure.blamed):
                    _raise(failure)
                skipped += to_be_listed(iteration.task, failure.operator, failure.blamed)
                stand_ins = stand_ins or self._stand_ins(task)
                first.setdefault(failure.node, failure)
                try:
                    attempt, begun = stand_ins.replace(failure.blamed, failure.node), None
                except LookupError:
                    main = stand_ins.main_failure()
                    _raise(first[main.node], main)
                iteration = Iteration.of(attempt, self.sources)
                if not len(attempt):
                    nothing = first[stand_ins.main_failure().node].user_error()
                    break
            made, outputs = iteration.task, () if nothing is not None else self._outputs(iteration)
            return Result(
                outputs, made.ids, made.mask, made.padded, self._state(task.state), tuple(skipped),
                bytes_of(outputs), iteration.env.most_bytes, nothing, task.share,
            )  # fmt: skip
        finally:
            del iteration, failure, first  # no reference cycle: their tracebacks reference this frame

    def _stand_ins(self, task: BatchTask) -> StandIns:
        readers = {node.name: reader for node, reader in self.readers.items()}
        chosen = {name: r.selection.taken for name, r in readers.items() if r.selection is not None}
        return StandIns(task, {name: reader.count for name, reader in readers.items()}, chosen)

    def _outputs(self, iteration: Iteration) -> tuple[TensorList, ...]:
        return tuple(iteration.env[v] for v in self.plan.outputs)

    def make_sent(self, sent: SentTask) -> SentAnswer:
        """Makes the batch of a task that another process sent; the result is in memory that the other process can read."""
        self.use_seed(sent.seed)
        if sent.is_search:
            # These compile nothing.
            first = [self._prepared[number] for number in steps_before_programs(self.here)]
            makers = [functools.partial(self._make_steps, steps=some) for some in (first, self._prepared)]
            make_each(sent.task, makers)
            return SentAnswer(())
        iteration = Iteration.of(sent.task, self.sources)
        failure = self._advance(iteration)
        try:
            with LentMemory(answer_memory()):  # batches are assembled where the other process can read them
                result = send_values(self._outputs(iteration)) if failure is None else send_failure(failure)
            return SentAnswer(result, *self._newly_compiled())
        finally:
            del iteration, failure  # no reference cycle: the traceback of a failure references this frame

    def _newly_compiled(self) -> tuple[int, float]:
        """Returns the number of programs compiled since the last call, and the seconds that this took."""
        before, count = self._compiled, self.budget.count
        if count != before[0]:
            self._compiled = count, sum(program.seconds for program in self.stage_programs)
        return self._compiled[0] - before[0], self._compiled[1] - before[1]

    def _make_steps(self, task: BatchTask, steps: Sequence[PreparedStep]) -> None:
        """Runs some steps of a batch, to see if they kill this process."""
        self._advance(Iteration.of(task, self.sources), steps=steps)

    def _receive(self, iteration: Iteration, order: int, begun: Begun | None = None) -> AttemptFailure | None:
        """Waits for the workers' values, if there are workers. Adds the values to `iteration`, or returns the failure."""
        if self.elsewhere is None:
            return None
        self.pool.refuse_if_interrupted()
        made = self.elsewhere.make(iteration.task, self.seed, order, begun)
        if isinstance(made, AttemptFailure):
            return made
        iteration.env.update(made)
        iteration.env.note_bytes()  # counts the received values only; the worker's other values are not in this process
        return None

    def _advance(
        self,
        iteration: Iteration,
        turn: Callable[[int], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
        order: int = 0,
        steps: Sequence[PreparedStep] | None = None,
    ) -> AttemptFailure | None:
        """Runs `steps` of a batch, or all steps if None; returns the failure of the first step that fails."""

        steps = self._prepared if steps is None else steps
        try:
            with self.pool.serving:
                make(steps, iteration.env, iteration.parts, self.pool.at(order), turn=turn)
        except NodeFailure as failure:
            return iteration.failed(failure)
        self._settle()
        return None

    def _settle(self) -> None:
        """Returns free memory to the system when `QUIET_BATCHES` batches in a row have needed no new program."""
        if self.budget.count != self._known_programs:
            self._known_programs, self._quiet = self.budget.count, 0
        elif self._quiet < QUIET_BATCHES:
            self._quiet = quiet = self._quiet + 1
            if quiet == QUIET_BATCHES:
                self.pool.slabs.forget_peak()  # batches that waited for compilation kept all their pictures
                give_back_free_memory()

    def interrupt(self) -> None:
        """Makes work in progress fail soon, so that `close` need not wait long."""
        self.closed = True
        self.pool.interrupt()
        if self._callback_workers is not None:
            self._callback_workers.close()
        if self.elsewhere is not None:
            self.elsewhere.workers.interrupt()
        for source in self.sources.values():
            source.interrupt()

    def close(self) -> None:
        self.interrupt()
        if self.elsewhere is not None:
            self.elsewhere.workers.close()
        self.pool.close()
        self.cursor.close()


def _raise(failure: AttemptFailure, main: MainFailure | None = None) -> NoReturn:
    """Raises the error of a failure; `main` counts the samples that were tried, if other samples were."""
    # The error is in no variable of this frame, because its traceback references the frame.
    raise _user_error(failure, main) from failure.cause


def _user_error(failure: AttemptFailure, main: MainFailure | None) -> OperatorError:
    error = failure.user_error()
    if main is not None and main.tried > 1:
        failed = "all" if main.failed == main.tried else main.failed
        told = f"on_error: {main.tried} samples were tried for one position of the batch, and this operator failed on"
        error.args = (f"{error}\n  {told} {failed} of them",)
    return error
