"""Running the iterations of a pipeline, one after another, and dealing with samples that fail."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jdali import _arguments
from jdali._errors import OperatorError, SampleError
from jdali._provenance import Drawn, Provenance, external
from jdali.engine._bad_samples import Blamed, blame, replace, to_be_listed, with_their_copies
from jdali.engine._failure import NodeFailure
from jdali.engine._feed import Draw, Feed, SkippedSample
from jdali.engine._host import HostRunner, Memo
from jdali.engine._ids import SampleIds
from jdali.engine._pool import Pool
from jdali.engine._program import Compiler
from jdali.engine._reading import cost_of, read
from jdali.engine._sources import ExternalSource
from jdali.engine._stage import StageRunner
from jdali.engine._timing import Part, Timing
from jdali.engine._values import Values, argument_values
from jdali.graph._node import WHOLE_BATCH, Domain, Node
from jdali.graph._plan import ExecutionPlan, HostStep, Stage, shrinking_consumers
from jdali.ops.flow._regroup import predicate_values
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Result:
    """What one iteration gave.

    Attributes:
        outputs: a batch for each output of the pipeline.
        ids: identity of the samples.
        mask: bool [N], False where a sample could not be read and another one stands in its place.
        padded: bool [N], True where the reader repeated a sample to fill up the epoch.
        state: of the sources, to go on after this batch.
    """

    outputs: tuple[TensorList, ...]
    ids: SampleIds
    mask: np.ndarray
    padded: np.ndarray
    state: dict[str, Any]


@dataclasses.dataclass
class Iteration:
    """An iteration that is being made.

    Attributes:
        draw: what the sources gave.
        ids: identity of its samples.
        parts: of those, the samples of each branch.
        env: what is computed so far.
        state: of the sources, to go on after it.
    """

    draw: Draw
    ids: SampleIds
    parts: dict[Domain, SampleIds]
    env: Values
    state: dict[str, Any]

    def user_error(self, failure: NodeFailure) -> OperatorError:
        """What went wrong, with the sample and the line of the pipeline."""
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
    """Runs the iterations of one pipeline, one after another; no threads but those of its pools.

    An iteration has two phases: up to the first stage after the decoding, and the rest. Where `overlaps`,
    the next iteration may `begin` in another thread while one is being brought to its `finish`.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        *,
        batch_size: int,
        threads: int,
        seed: int,
        on_error: str,
        max_compiles: int | None,
        devices: dict[str, jax.Device],
        sources: dict[Node, Any],
        scaled_decoding: bool = False,
        exact_shapes: bool = False,
    ):
        self.plan = plan
        self.batch_size, self.on_error = batch_size, on_error
        self.seed = seed
        self.compiler = Compiler(max_compiles)
        self.pool = Pool(threads)
        self.sources = sources
        self.readers = {n: s for n, s in sources.items() if not isinstance(s, ExternalSource)}
        self._reading_costs = {n: cost_of(r) for n, r in self.readers.items()}
        self.feed = Feed(self.readers, {n: s for n, s in sources.items() if isinstance(s, ExternalSource)})
        self.timing = Timing(plan, [n for n, s in sources.items() if isinstance(s, ExternalSource)])
        self.runners: dict[int, HostRunner | StageRunner] = {}
        shrinking = shrinking_consumers(plan) if scaled_decoding else {}
        for number, step in enumerate(plan.steps):
            if isinstance(step, Stage):
                device = devices[step.device]
                self.runners[number] = StageRunner(
                    step, seed=seed, max_batch=batch_size, device=device, compiler=self.compiler,
                    exact_shapes=exact_shapes,
                )  # fmt: skip
            elif step.node not in sources:
                self.runners[number] = HostRunner(
                    step.node, seed=seed, shrink_for=shrinking.get(step.node, ())
                )
        # Steps before this one are the first phase of an iteration, the others the second. Each phase is in
        # one iteration at a time, also when a batch is replayed while another thread runs the pipeline.
        self._second_phase = self._after_decoding()
        self._phases = (threading.Lock(), threading.Lock())
        # Chunks of a stage have threads of their own: what they wait for, the next batch's decoding fills.
        self._stage_pool = Pool(threads) if self.overlaps else self.pool
        self._closed = False

    def _after_decoding(self) -> int:
        """Number of the first stage after the first operator that works on the host; 0: there is none."""
        steps = self.plan.steps
        host = (n for n, s in enumerate(steps) if isinstance(s, HostStep) and s.node not in self.sources)
        first = next(host, len(steps))
        return next((n for n, s in enumerate(steps) if isinstance(s, Stage) and n > first), 0)

    @property
    def overlaps(self) -> bool:
        """Whether an iteration may begin, and work on the host, while the last one is in its stages.

        Not if samples that fail are replaced: those that come next are then only known in the end.
        """
        return self._second_phase > 0 and self.on_error == "raise"

    @property
    def lanes(self) -> list[list[Part]]:
        """The parts of an iteration, those together that run in one thread."""
        timing, first = self.timing, self._second_phase if self.overlaps else len(self.plan.steps)
        rest = [*timing.steps[first:], timing.device]
        before = [timing.draw, *timing.steps[:first]]
        return [before, rest] if self.overlaps else [before + rest]

    @property
    def stage_runners(self) -> list[StageRunner]:
        return [r for r in self.runners.values() if isinstance(r, StageRunner)]

    # --- state ------------------------------------------------------------------------------
    @property
    def errors(self) -> list[SkippedSample]:
        """Samples that were left out so far."""
        return self.feed.errors

    def get_state(self, feed: Feed | None = None) -> dict[str, Any]:
        return {"seed": self.seed, **(feed or self.feed).get_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.feed.set_state(state)
        if state["seed"] != self.seed:
            self.seed = int(state["seed"])
            for runner in self.runners.values():
                runner.set_pipeline_seed(self.seed)

    def reset(self) -> None:
        """Starts the external sources again; readers go on with their next epoch."""
        self.feed.reset()

    # --- one iteration ----------------------------------------------------------------------
    def run(self, feed: Feed | None = None) -> Result:
        """Runs one iteration.

        Args:
            feed: a twin of the pipeline's own, to draw from in its place; from any thread.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
            StopIteration: an external source is at its end.
        """
        feed = feed or self.feed
        return self.make(self._draw(feed), feed)

    def begin(self) -> Iteration:
        """Draws a batch and runs the first phase of its iteration; raises as `run` does."""
        draw = self._draw(self.feed)
        iteration = self._iteration(draw, self.get_state())
        try:
            self._first(iteration)
        except NodeFailure as failure:
            raise iteration.user_error(failure) from failure.first
        return iteration

    def finish(self, iteration: Iteration) -> Result:
        """Runs the second phase; raises as `run` does."""
        try:
            self._second(iteration)
        except NodeFailure as failure:
            raise iteration.user_error(failure) from failure.first
        return self._result(iteration, iteration.state)

    def make(self, draw: Draw, feed: Feed, on_error: str | None = None) -> Result:
        """The batch of what was drawn.

        Args:
            draw: from the feed.
            feed: gives what replaces samples that fail.
            on_error: in place of the engine's.
        """
        iteration = self._make(draw, feed, on_error or self.on_error)
        if self.on_error != "raise":
            feed.refills.note_good(draw.refs)
        return self._result(iteration, self.get_state(feed))

    def _draw(self, feed: Feed) -> Draw:
        with self.timing.draw.lap():
            return feed.draw(self.batch_size)

    def _result(self, iteration: Iteration, state: dict[str, Any]) -> Result:
        draw, env = iteration.draw, iteration.env
        first = next(iter(draw.refs.values()), None)
        padded = first[2] if first is not None else np.zeros(len(draw), bool)
        outputs = tuple(env[v] for v in self.plan.outputs)
        return Result(outputs, iteration.ids, draw.mask, padded, state)

    def _make(self, draw: Draw, feed: Feed, on_error: str) -> Iteration:
        memo = None if on_error == "raise" else Memo()
        while True:  # each time with samples that were not tried before, of which there is an end
            iteration = self._iteration(draw, {})
            try:
                self._first(iteration, memo)
                self._second(iteration, memo)
                return iteration
            except NodeFailure as failure:
                if on_error == "raise" or not self._may_go_on(failure):
                    raise iteration.user_error(failure) from failure.first
                blamed = with_their_copies(draw, iteration.blamed(failure))
                feed.errors += to_be_listed(draw, failure, blamed)
                try:
                    changed = replace(draw, blamed, feed.refills, on_error)
                except LookupError:
                    raise iteration.user_error(failure) from failure.first
                if memo is not None:
                    memo.forget(changed)

    def _iteration(self, draw: Draw, state: dict[str, Any]) -> Iteration:
        ids = SampleIds(draw.epoch.copy(), draw.index.copy(), np.arange(len(draw)))
        env = Values()
        for node in draw.data:
            env.drawn[node] = external(len(draw), node)
        for node, (_, indices, _) in draw.refs.items():
            env.drawn[node] = Provenance.of(Drawn(self.readers[node].source, indices.copy(), node))
        return Iteration(draw, ids, {WHOLE_BATCH: ids}, env, state)

    def _first(self, iteration: Iteration, memo: Memo | None = None) -> None:
        with self._phases[0]:
            self._steps(0, self._second_phase, iteration, memo)

    def _second(self, iteration: Iteration, memo: Memo | None = None) -> None:
        with self._phases[1]:
            self._steps(self._second_phase, len(self.plan.steps), iteration, memo)

    def _steps(self, start: int, end: int, iteration: Iteration, memo: Memo | None) -> None:
        env = iteration.env
        for number in range(start, end):
            if self._closed:
                raise RuntimeError("the pipeline is closed")
            step = self.plan.steps[number]
            part = _part(step.domain if isinstance(step, Stage) else step.node.domain, iteration.parts, env)
            if not len(part):  # no sample took this branch
                for node in (step.node,) if isinstance(step, HostStep) else step.nodes:
                    for value in node.outputs:
                        env[value] = TensorList.from_samples([], "", value.device)
                continue
            with self.timing.steps[number].lap():
                self._step(number, iteration, part, memo)

    def _step(self, number: int, iteration: Iteration, part: SampleIds, memo: Memo | None) -> None:
        step, env = self.plan.steps[number], iteration.env
        if isinstance(step, HostStep) and step.node in self.sources:
            self._read(step.node, iteration.draw, env, memo)
            return
        runner = self.runners[number]
        if isinstance(runner, StageRunner):
            runner.run(env, part, self._stage_pool.executor)
        else:
            runner.run(env, part, self.pool, memo)

    def _read(self, node: Node, draw: Draw, env: Values, memo: Memo | None) -> None:
        drawn = env.drawn[node]
        if node in draw.data:
            for value, samples, layout in zip(node.outputs, draw.data[node], draw.layouts[node], strict=True):
                env[value] = TensorList.from_samples(samples, layout, value.device, drawn)
            return
        reader = self.readers[node]
        epochs, indices, _ = draw.refs[node]
        try:
            arguments = {
                name: _arguments.batch(
                    node.op.name, node.op.args[name], argument_values(env[value], node.op, name), len(indices)
                )
                for name, value in node.arg_inputs.items()
            }
        except (ValueError, TypeError) as error:
            raise NodeFailure.of(node, error) from error
        cost = self._reading_costs[node]
        columns = read(node, reader, epochs, indices, self.pool, memo, arguments, cost)
        for value, column in zip(node.outputs, columns, strict=True):
            env[value] = TensorList.from_store(column, value.device, drawn)

    # --- samples that fail ------------------------------------------------------------------
    def _may_go_on(self, failure: NodeFailure) -> bool:
        if None in failure.failures:
            return False
        return all(isinstance(e, SampleError) for e in failure.failures.values())

    def interrupt(self) -> None:
        """Makes what is under way fail soon: before `close`, which waits for it."""
        self._closed = True
        for pool in (self._stage_pool, self.pool):
            pool.interrupt()
        for source in self.sources.values():
            source.interrupt()

    def close(self) -> None:
        self.interrupt()
        self._stage_pool.close()
        self.pool.close()
        self.feed.close()


def _part(domain: Domain, parts: dict[Domain, SampleIds], env: Values) -> SampleIds:
    """The samples of a branch: those of its parent for which the predicate is as it says."""
    if domain not in parts:
        assert domain.parent is not None
        assert domain.predicate is not None
        parent = _part(domain.parent, parts, env)
        if not len(parent):  # nor has the predicate been computed
            return parent
        holds = predicate_values(env[domain.predicate])
        parts[domain] = parent.select(np.flatnonzero(holds == domain.branch))
    return parts[domain]
