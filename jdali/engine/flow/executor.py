"""Running the iterations of a pipeline, one after another, and dealing with samples that fail."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches.placement import BatchSplit
from jdali._batches.provenance import Drawn, Provenance, external
from jdali._errors import OperatorError
from jdali._workers.pool import WorkerPool
from jdali.engine.failure import NodeFailure
from jdali.engine.recovery.blame import Blamed, blame, replace, to_be_listed, with_their_copies
from jdali.engine.recovery.memo import Memo
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.branch_samples import leave_empty, part_of
from jdali.engine.steps.brief import BriefWork
from jdali.engine.steps.program import Compiler
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.sharded import spread_stages
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import Values, bytes_of
from jdali.engine.tasks.external_source import SourceFeed
from jdali.engine.tasks.feed import DrawnBatch, Feed
from jdali.engine.tasks.refill import MOST_TRIED
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.workers.pool import Pool
from jdali.engine.workers.timing import Timing
from jdali.graph.node import WHOLE_BATCH, Domain, Node
from jdali.graph.offers import agreements
from jdali.graph.plan import ExecutionPlan
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one iteration.

    Attributes:
        outputs: a batch for each output of the pipeline.
        ids: identity of the samples.
        mask: bool [N], False where a sample could not be read and another one replaces it.
        padded: bool [N], True where the reader repeated a sample to fill up the epoch.
        state: of the sources, to go on after this batch.
        errors: how many samples were left out so far, of the feed that it was drawn from.
        nbytes: of the outputs.
        most_bytes: of all values that were there at the same time while it was made.
        nothing: what to raise where a batch is wanted, of one whose samples all failed and cannot be replaced: it
            has no outputs then.
    """

    outputs: tuple[TensorList, ...]
    ids: SampleIds
    mask: np.ndarray
    padded: np.ndarray
    state: dict[str, Any]
    errors: int
    nbytes: int
    most_bytes: int
    nothing: OperatorError | None = None


@dataclasses.dataclass
class Iteration:
    """An iteration that is being made.

    Attributes:
        draw: what the sources gave.
        ids: identity of its samples.
        parts: of those, the samples of each branch.
        env: what is computed so far.
        memo: what was read and made, reused if some of the samples are replaced.
        failure: of an operator; the steps after it were left out.
        most_bytes: of all values that were there at the same time so far.
    """

    draw: DrawnBatch
    ids: SampleIds
    parts: dict[Domain, SampleIds]
    env: Values
    memo: Memo | None = None
    failure: NodeFailure | None = None
    most_bytes: int = 0

    @classmethod
    def of(cls, draw: DrawnBatch, sources: Mapping[Node, Any], memo: Memo | None = None) -> Iteration:
        """One in which nothing is computed yet.

        Args:
            draw: what the sources gave.
            sources: of the pipeline.
            memo: of an earlier attempt at the same batch.
        """
        ids = SampleIds(draw.epoch.copy(), draw.index.copy(), np.arange(len(draw)))
        env = Values()
        for node in draw.data:
            env.drawn[node] = external(len(draw), node)
        for node, (_, indices, _) in draw.refs.items():
            env.drawn[node] = Provenance.of(Drawn(sources[node].source, indices.copy(), node))
        return cls(draw, ids, {WHOLE_BATCH: ids}, env, memo)

    def user_error(self, failure: NodeFailure) -> OperatorError:
        """Makes the user's error: it names the sample and the line of the pipeline."""
        node = failure.node
        sample = next(iter(failure.failures))
        position, source = None, ""
        if sample is not None:
            position = next(iter(self.blamed(failure)))
            made_of = self.env.made_of(node)
            source = "" if made_of is None else ", ".join(made_of.files(sample))
        return failure.user_error(position, source)

    def blamed(self, failure: NodeFailure) -> dict[int, Blamed]:
        """The samples that made an operator fail, by their position in what was drawn."""
        node = failure.node
        return blame(failure, self.parts.get(node.domain, self.ids), self.env.made_of(node))


class Engine:
    """Makes the batches of one pipeline: draws them, takes them through the steps of the plan, settles them.

    Several batches may be on their way at the same time, in threads of the caller's; who calls sees to it that
    they are drawn, come to each step, and are settled in the same order.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        *,
        batch_size: int,
        threads: int,
        most_idle: int,
        seed: int,
        on_error: str,
        max_compiles: int | None,
        devices: dict[str, jax.Device],
        sources: dict[Node, Any],
        scaled_decoding: bool = False,
        exact_shapes: bool = False,
        workers: WorkerPool | None = None,
    ):
        self.plan = plan
        self.batch_size, self.on_error = batch_size, on_error
        self.seed = seed
        self.compiler = Compiler(max_compiles)
        self.pool = Pool(threads, most_idle)
        self._workers = workers
        self.sources = sources
        self.readers = {n: s for n, s in sources.items() if not isinstance(s, SourceFeed)}
        self.feed = Feed(self.readers, {n: s for n, s in sources.items() if isinstance(s, SourceFeed)})
        self.timing = Timing(plan, [n for n, s in sources.items() if isinstance(s, SourceFeed)])
        agreed = agreements(plan) if scaled_decoding else {}
        self.runners = [
            runner_of(
                step, seed=seed, device=devices[step.device], max_batch=batch_size, compiler=self.compiler,
                exact_shapes=exact_shapes, source=sources.get(step.nodes[0]),
                agreements=agreed.get(step.nodes[0], ()),
            )
            for step in plan.steps
        ]  # fmt: skip
        self.at_once = [runner.at_once for runner in self.runners]
        # Also against a batch that is replayed, or made again for a sample that failed, which come in no order.
        self._alone = [threading.Lock() if n == 1 else contextlib.nullcontext() for n in self.at_once]
        self._brief = {n: BriefWork() for n, runner in enumerate(self.runners) if runner.may_be_brief}
        self._turns = threading.Lock()  # of brief work
        self._closed = False

    @property
    def knows_sources(self) -> bool:
        """True if all readers and external sources are known."""
        return True

    @property
    def stage_runners(self) -> list[StageRunner]:
        return [r for r in self.runners if isinstance(r, StageRunner)]

    def spread(self, splits: Sequence[BatchSplit | None]) -> None:
        """Lets stages run on all devices where an output is wanted; before the first batch. See `spread_stages`."""
        spread_stages(self.plan, self.runners, self.batch_size, splits)

    # --- state ------------------------------------------------------------------------------
    def get_state(self, feed: Feed | None = None) -> dict[str, Any]:
        return {"seed": self.seed, **(feed or self.feed).get_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.feed.set_state(state)
        if state["seed"] != self.seed:
            self.seed = int(state["seed"])
            for runner in self.runners:
                runner.set_pipeline_seed(self.seed)

    def leave_epoch(self, state: Mapping[str, Any], batches: int | None) -> None:
        """See `Feed.leave_epoch`."""
        self.feed.leave_epoch(state, batches, self.batch_size)

    def reset(self) -> None:
        """Starts the external sources again; readers go on with their next epoch."""
        self.feed.reset()

    # --- one batch --------------------------------------------------------------------------
    def run(self, feed: Feed | None = None) -> Result:
        """Makes the next batch, in this thread.

        Args:
            feed: a twin of the pipeline's own, to draw from instead; from any thread.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
            StopIteration: an external source is at its end.
        """
        iteration = self.draw(feed)
        self.advance(iteration)
        return self.settle(iteration, feed)

    def draw(self, feed: Feed | None = None) -> Iteration:
        """The next batch of the sources, of which nothing is computed yet.

        Raises:
            OperatorError: a source failed.
            StopIteration: an external source is at its end.
        """
        with self.pool.serving, self.timing.draw.lap():
            draw = (feed or self.feed).draw(self.batch_size)
        return Iteration.of(draw, self.sources, None if self.on_error == "raise" else Memo())

    def advance(
        self,
        iteration: Iteration,
        turn: Callable[[int], Any] = lambda _: contextlib.nullcontext(),
        order: int = 0,
    ) -> None:
        """Takes a batch through the steps; those after one that fails are left out.

        Args:
            iteration: the batch.
            turn: by the number of the step, what to be in meanwhile.
            order: of the tasks in the pool: lower ones go first.
        """
        pool = self.pool.at(order)
        for number in range(len(self.plan.steps)):
            with turn(number), self._alone[number], pool.slabs, pool.serving:
                self._refuse_if_closed()
                try:
                    self._step(number, iteration, pool)
                except NodeFailure as failure:
                    iteration.failure = failure
                    return
                iteration.most_bytes = max(iteration.most_bytes, iteration.env.nbytes)
                iteration.env.drop(self.plan.last_uses[number])

    def settle(self, iteration: Iteration, feed: Feed | None = None, on_error: str | None = None) -> Result:
        """Finishes a batch once all before it are settled, and replaces samples that failed.

        Args:
            iteration: the batch.
            feed: that it was drawn from.
            on_error: in place of the pipeline's.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
        """
        feed, on_error = feed or self.feed, on_error or self.on_error
        # A batch before this one may have taken samples that this one was expected to have.
        changed = feed.settle(iteration.draw)
        while True:  # each time with samples that were not tried before, of which there is an end
            if changed:
                iteration = self._made_again(iteration, changed)
            failure, iteration.failure = iteration.failure, None  # it holds frames that hold the iteration
            if failure is None:
                break
            if on_error == "raise" or not failure.is_of_samples:
                raise iteration.user_error(failure) from failure.first
            changed = self._replaced(iteration, failure, feed, on_error)
            if not len(iteration.draw):
                return self._nothing(iteration, failure, feed)
        if on_error != "raise":
            feed.note_good(iteration.draw)
        return self._result(iteration, feed)

    def _made_again(self, iteration: Iteration, changed: set[int]) -> Iteration:
        """The batch with other samples in these positions."""
        if iteration.memo is not None:
            iteration.memo.forget(changed)
        again = Iteration.of(iteration.draw, self.sources, iteration.memo)
        self.advance(again)
        return again

    def _replaced(self, iteration: Iteration, failure: NodeFailure, feed: Feed, on_error: str) -> set[int]:
        """Puts other samples in the positions of those that failed; which positions have others now."""
        draw = iteration.draw
        blamed = with_their_copies(draw, iteration.blamed(failure))
        feed.errors += to_be_listed(draw, failure, blamed)
        try:
            return replace(draw, blamed, feed.refills, on_error)
        except LookupError:
            raise iteration.user_error(failure) from failure.first

    def _nothing(self, iteration: Iteration, failure: NodeFailure, feed: Feed) -> Result:
        """The result of a batch whose samples all failed, where there is nothing to refill it from."""
        feed.lost += len(iteration.ids)
        if feed.lost >= MOST_TRIED:
            feed.lost = 0
            raise iteration.user_error(failure) from failure.first
        none = np.zeros(0, bool)
        ids = SampleIds(iteration.draw.epoch, iteration.draw.index, np.arange(0))
        state = {"seed": self.seed, **feed.state_after(iteration.draw)}
        return Result(
            (),
            ids,
            none,
            none,
            state,
            len(feed.errors),
            0,
            iteration.most_bytes,
            iteration.user_error(failure),
        )

    def _result(self, iteration: Iteration, feed: Feed) -> Result:
        draw, env = iteration.draw, iteration.env
        first = next(iter(draw.refs.values()), None)
        padded = first[2] if first is not None else np.zeros(len(draw), bool)
        outputs = tuple(env[v] for v in self.plan.outputs)
        state = {"seed": self.seed, **feed.state_after(draw)}
        return Result(
            outputs, iteration.ids, draw.mask, padded, state, len(feed.errors), bytes_of(outputs),
            iteration.most_bytes,
        )  # fmt: skip

    def _step(self, number: int, iteration: Iteration, pool: Pool) -> None:
        step, env = self.plan.steps[number], iteration.env
        part = part_of(step.domain, iteration.parts, env)
        if not len(part):
            leave_empty(step.nodes, env)
            return
        brief = self._brief.get(number)
        in_turn = brief is not None and brief.is_brief
        with self._turns if in_turn else contextlib.nullcontext():
            self._refuse_if_closed()
            with self.timing.steps[number].lap() as lap:
                context = StepContext(pool.here() if in_turn else pool, iteration.memo, iteration.draw)
                self.runners[number].run(env, part, context)
        if brief is not None:
            brief.note(len(part), lap.cpu, lap.busy)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RuntimeError("the pipeline is closed")

    def interrupt(self) -> None:
        """Makes what is under way fail soon: before `close`, which waits for it."""
        self._closed = True
        self.pool.interrupt()
        if self._workers is not None:
            self._workers.close()
        for source in self.sources.values():
            source.interrupt()

    def close(self) -> None:
        self.interrupt()
        self.pool.close()
        self.feed.close()
