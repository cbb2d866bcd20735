"""Makes the batches of a pipeline: draws tasks, carries them out step by step, settles them."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jdali._batches import BatchSplit, LentMemory
from jdali._sources import SourceFeed
from jdali._workers import answer_memory
from jdali._workers.callbacks import CallbackWorkers
from jdali.engine.failure import NodeFailure
from jdali.engine.flow.iteration import BatchInFlight, Iteration, Result
from jdali.engine.flow.made_elsewhere import Begun, MadeElsewhere, SentTask, StartWorkers
from jdali.engine.flow.phases import Timing
from jdali.engine.options import EngineOptions
from jdali.engine.recovery.batch_result import AttemptFailure, BatchResult
from jdali.engine.recovery.crash import make_each
from jdali.engine.recovery.memo import Memo
from jdali.engine.recovery.recovery import Recovery
from jdali.engine.recovery.sent_result import SentResult, send_result
from jdali.engine.shapes.levels import BatchLevels, Levels
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.compilation_cache import enable_compilation_cache
from jdali.engine.steps.program import Compiler
from jdali.engine.steps.run_step import run_step
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.sharded import spread_stages
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import bytes_of
from jdali.engine.tasks.batch_task import BatchTask
from jdali.engine.tasks.feed import Feed
from jdali.engine.tasks.opening import open_sources
from jdali.engine.workers.pool import Pool
from jdali.graph import (
    ExecutionPlan,
    Node,
    agreements,
    beginnings,
    steps_before_programs,
)
from jdali.readers.shared_tables import Tables


def _at_once(step: int) -> contextlib.AbstractContextManager[None]:
    """Lets a batch into a step without waiting."""
    return contextlib.nullcontext()


class Engine:
    """Makes the batches of one pipeline: `draw` a task, `make` its batch, `settle` it.

    Batches are made in any order, several at the same time, in threads of the caller's. Drawing and settling are
    the work of one thread at a time each, in the same order.

    Args:
        plan: of the pipeline.
        options: of the pipeline.
        callback_workers: processes of its parallel sources and functions, which end with the engine.
        start_workers: starts the workers that make the first steps of batches; it gets the open readers. None: this
            process runs all steps.
        tables: of the same readers in another process, to be used here, see `readers/shared_tables.py`.
        sources: readers and external sources, by their nodes; None: they are opened.

    Attributes:
        elsewhere: has workers make the first steps of batches; None: the engine runs all of them.
        here: the steps that the engine runs itself.
    """

    elsewhere: MadeElsewhere | None = None

    def __init__(
        self,
        plan: ExecutionPlan,
        options: EngineOptions,
        *,
        callback_workers: CallbackWorkers | None = None,
        start_workers: StartWorkers | None = None,
        sources: dict[Node, Any] | None = None,
        tables: Tables | None = None,
    ):
        if options.compilation_cache:
            enable_compilation_cache()
        self.plan, self.options = plan, options
        self.batch_size, self.on_error = options.batch_size, options.on_error
        self.seed = options.seed
        self.compiler = Compiler(options.max_compiles)
        self.levels = Levels()
        self._callback_workers = callback_workers
        noted: Tables = {}
        if sources is None:
            sources, noted = open_sources(plan.sources, options, tables or {})
        self.sources = sources
        self.readers = {n: s for n, s in sources.items() if not isinstance(s, SourceFeed)}
        if start_workers is not None:
            self.elsewhere = MadeElsewhere.start(
                plan, options, sources, functools.partial(start_workers, self.readers, noted)
            )
        self.here = (
            plan if self.elsewhere is None else self.elsewhere.border.here
        )  # what this engine runs itself
        self.pool = Pool(options.threads, options.most_idle)
        self.feed = Feed(self.readers, {n: s for n, s in sources.items() if isinstance(s, SourceFeed)})
        self.recovery = Recovery(self.feed, options.on_error)
        self.timing = Timing(self.here, [n for n, s in sources.items() if isinstance(s, SourceFeed)])
        agreed = agreements(plan) if options.scaled_decoding else {}
        enough = beginnings(self.here)
        self.runners = [
            runner_of(
                step, seed=self.seed, device=options.devices[step.device], max_batch=self.batch_size,
                compiler=self.compiler, exact_shapes=options.exact_shapes, source=sources.get(step.nodes[0]),
                agreements=agreed.get(step.nodes[0], ()), enough=enough.get(step.nodes[0], ()),
            )
            for step in self.here.steps
        ]  # fmt: skip
        self.at_once = [runner.at_once for runner in self.runners]
        # Also against a batch that is replayed, or made again for a sample that failed, which come in no order.
        self._alone = [threading.Lock() if n == 1 else contextlib.nullcontext() for n in self.at_once]
        self._closed = False

    @property
    def closed(self) -> bool:
        """True once it makes no more batches."""
        return self._closed

    @property
    def knows_sources(self) -> bool:
        """True if all readers and external sources are known."""
        return True

    def use_seed(self, seed: int) -> None:
        """Gives the pipeline's seed to all random operators that have none of their own."""
        if seed != self.seed:
            self.seed = seed
            for runner in self.runners:
                runner.set_pipeline_seed(seed)

    def hold(self, name: str, data: object, layout: str | None) -> bool:
        """Keeps what is fed to a source that is not known yet; False: it is known, so the source takes it."""
        return False

    @property
    def stage_runners(self) -> list[StageRunner]:
        return [r for r in self.runners if isinstance(r, StageRunner)]

    def spread(self, splits: Sequence[BatchSplit | None]) -> None:
        """Lets stages run on all devices where an output is wanted; before the first batch. See `spread_stages`."""
        spread_stages(self.here, self.runners, self.batch_size, splits)

    # --- state ------------------------------------------------------------------------------
    def get_state(self, feed: Feed | None = None, levels: Levels | None = None) -> dict[str, Any]:
        """Returns where a stream of batches is, if every batch that was drawn is settled.

        Args:
            feed: of a twin of the pipeline.
            levels: of that twin.
        """
        return self._state((feed or self.feed).get_state(), levels or self.levels)

    def _state(self, of_sources: Mapping[str, object], levels: Levels | BatchLevels) -> dict[str, Any]:
        numbers = levels.get_state()
        return {"seed": self.seed, **of_sources, **({"levels": numbers} if numbers else {})}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.feed.set_state(state)
        self.levels.set_state(state.get("levels", {}))
        self.use_seed(int(state["seed"]))

    def leave_epoch(self, state: Mapping[str, Any], batches: int | None) -> None:
        """See `Feed.leave_epoch`."""
        self.feed.leave_epoch(state, batches, self.batch_size)
        self.levels.set_state(state.get("levels", {}), same_stream=True)

    def reset(self) -> None:
        """Starts the external sources again; readers go on with their next epoch."""
        self.feed.reset()

    # --- one batch --------------------------------------------------------------------------
    def run(self, recovery: Recovery | None = None, levels: Levels | None = None) -> Result:
        """Makes the next batch, in this thread.

        Args:
            recovery: a twin of the pipeline's own, whose feed to draw from instead; from any thread.
            levels: of that twin.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
            StopIteration: an external source is at its end.
        """
        batch = self.draw(None if recovery is None else recovery.feed, levels)
        return self.settle(batch, self.make(batch.task, levels=batch.levels), recovery)

    def draw(self, feed: Feed | None = None, levels: Levels | None = None) -> BatchInFlight:
        """Draws the task of the next batch from the sources.

        Args:
            feed: of a twin of the pipeline.
            levels: of that twin.

        Raises:
            OperatorError: a source failed.
            StopIteration: an external source is at its end.
        """
        with self.pool.serving, self.timing.draw.lap():
            drawn = (feed or self.feed).draw(self.batch_size)
        return BatchInFlight(drawn, (levels or self.levels).batch())

    @property
    def only_receives(self) -> bool:
        """True if workers run all steps, so that nothing but `begin` is to be done until they have made a batch."""
        return self.elsewhere is not None and not self.here.steps

    def begin(self, task: BatchTask, order: int) -> Begun:
        """Has workers begin with a batch; there are some. Its caller then calls `make`, which waits for them."""
        assert self.elsewhere is not None
        self._refuse_if_closed()
        return self.elsewhere.begin(task, self.seed, order)

    def make(
        self,
        task: BatchTask,
        memo: Memo | None = None,
        levels: BatchLevels | None = None,
        turn: Callable[[int], object] = _at_once,
        order: int = 0,
        begun: Begun | None = None,
    ) -> BatchResult:
        """Makes a batch: a function of the pipeline, the task and the levels, also in another process.

        Args:
            task: of the batch.
            memo: of an earlier attempt at the batch, where it is still right.
            levels: of padded shapes, which decide on programs and not on values; None: the finest.
            turn: by the number of the step, what to be in meanwhile.
            order: of the work in the pool: lower numbers go first.
            begun: what `begin` returned for the task; None: it was not called.

        Returns: the outputs, or the failure of an operator.
        """
        if memo is None and self.on_error != "raise" and self.here.steps:
            memo = Memo()
        iteration = Iteration.of(task, self.sources, levels or Levels().batch(), memo)
        failure = self._receive(iteration, order, begun) or self._advance(iteration, turn, order)
        try:
            outputs = () if failure is not None else tuple(iteration.env[v] for v in self.plan.outputs)
            return BatchResult(task, outputs, iteration.most_bytes, failure, memo)
        finally:
            del failure  # its traceback holds this frame

    def make_sent(self, sent: SentTask) -> SentResult:
        """Makes a task that another process has drawn, in a worker; the result lies in memory of that process."""
        self.use_seed(sent.seed)
        if sent.is_search:
            make_each(sent.task, (self._make_first_steps, self.make))
            return SentResult((), None)
        # Each worker counts by itself: levels decide on its programs, not on values.
        levels = self.levels.batch()
        result = self.make(sent.task, levels=levels)
        levels.settle()
        with LentMemory(answer_memory()):  # batches are put together where they are sent from
            return send_result(result)

    def _make_first_steps(self, task: BatchTask) -> None:
        """Carries out the steps of a batch for which nothing has to be compiled."""
        iteration = Iteration.of(task, self.sources, Levels().batch())
        self._advance(iteration, _at_once, 0, steps_before_programs(self.here))

    def settle(self, batch: BatchInFlight, made: BatchResult, recovery: Recovery | None = None) -> Result:
        """Finishes a batch once all before it are settled, and replaces samples that failed, see `Recovery`.

        Args:
            batch: that was drawn.
            made: what came of its task.
            recovery: that it belongs to, if it is not the pipeline's own.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
        """
        recovery = recovery or self.recovery
        batch.levels.settle()
        levels = batch.levels.again()
        settled = recovery.settle(batch.drawn, made, lambda task, memo: self.make(task, memo, levels))
        task, outputs = settled.result.task, settled.result.outputs
        return Result(
            outputs, task.ids, task.mask, task.padded, self._state(settled.state, batch.levels),
            len(recovery.errors), bytes_of(outputs), settled.result.most_bytes, settled.lost,
        )  # fmt: skip

    def _receive(self, iteration: Iteration, order: int, begun: Begun | None) -> AttemptFailure | None:
        """Has workers make what they can of a batch, if there are any."""
        if self.elsewhere is None:
            return None
        self._refuse_if_closed()
        made = self.elsewhere.make(iteration.task, self.seed, order, begun)
        iteration.env.update(made.values)
        iteration.most_bytes = iteration.env.nbytes  # what a worker needs besides is not in this process
        return made.failure

    def _advance(
        self, iteration: Iteration, turn: Callable[[int], Any], order: int, steps: Iterable[int] | None = None
    ) -> AttemptFailure | None:
        """Takes a batch through the steps of these numbers, None for all, up to one that fails."""
        pool = self.pool.at(order)
        for number in range(len(self.here.steps)) if steps is None else steps:
            with turn(number), self._alone[number], pool.serving:
                self._refuse_if_closed()
                try:
                    self._step(number, iteration, pool)
                except NodeFailure as failure:
                    return iteration.failed(failure)
                iteration.most_bytes = max(iteration.most_bytes, iteration.env.nbytes)
                iteration.env.drop(self.here.last_uses[number])
        return None

    def _step(self, number: int, iteration: Iteration, pool: Pool) -> None:
        context = StepContext(pool, iteration.memo, iteration.task, iteration.levels)
        nodes, runner = self.here.steps[number].nodes, self.runners[number]
        run_step(
            nodes, runner.run, iteration.env, iteration.parts, context,
            timer=self.timing.steps[number], policy=runner.policy,
        )  # fmt: skip

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RuntimeError("the pipeline is closed")

    def interrupt(self) -> None:
        """Makes what is under way fail soon: before `close`, which waits for it."""
        self._closed = True
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
        self.feed.close()
