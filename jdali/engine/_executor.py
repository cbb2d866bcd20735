"""Running the iterations of a pipeline, one after another, and dealing with samples that fail."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jdali._errors import OperatorError, SampleError
from jdali._names import LazyNames
from jdali.engine._host import HostRunner, Memo, Pool
from jdali.engine._ids import SampleIds
from jdali.engine._reading import read
from jdali.engine._sources import ExternalSource
from jdali.engine._stage import Compiler, NodeFailure, StageRunner, dense_values
from jdali.graph._node import WHOLE_BATCH, DataNode, Domain, Node
from jdali.graph._plan import ExecutionPlan, HostStep, Stage, shrinking_consumers
from jdali.ops.flow._regroup import predicate_values
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class SkippedSample:
    """A sample that was left out because an operator could not work on it."""

    path: str
    epoch: int
    index: int
    operator: str
    reason: str


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
class _Draw:
    """What the sources gave for one batch."""

    refs: dict[Node, tuple[np.ndarray, np.ndarray, np.ndarray]]
    data: dict[Node, list[list[np.ndarray]]]
    epoch: np.ndarray
    index: np.ndarray
    mask: np.ndarray

    def __len__(self) -> int:
        return len(self.index)


class Engine:
    """Runs the iterations of one pipeline, one after another; no threads but the pool's."""

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
    ):
        self.plan = plan
        self.batch_size, self.on_error = batch_size, on_error
        self.errors: list[SkippedSample] = []
        self.compiler = Compiler(max_compiles)
        self.pool = Pool(threads)
        self.sources = sources
        self.readers = {n: s for n, s in sources.items() if not isinstance(s, ExternalSource)}
        self.runners: dict[int, HostRunner | StageRunner] = {}
        shrinking = shrinking_consumers(plan) if scaled_decoding else {}
        decoded_from: collections.ChainMap[DataNode, np.ndarray] = collections.ChainMap()
        for number, step in enumerate(plan.steps):
            if isinstance(step, Stage):
                device = devices[step.device]
                runner = StageRunner(
                    step, seed=seed, max_batch=batch_size, device=device, compiler=self.compiler
                )
                runner.decoded_from = decoded_from
                self.runners[number] = runner
            elif step.node not in sources:
                host = HostRunner(step.node, seed=seed, shrink_for=shrinking.get(step.node, ()))
                decoded_from.maps.append(host.decoded_from)
                self.runners[number] = host
        self.epoch = 0
        self.iteration = 0
        self.position = 0
        self._parts: dict[Domain, SampleIds] = {}

    @property
    def stage_runners(self) -> list[StageRunner]:
        return [r for r in self.runners.values() if isinstance(r, StageRunner)]

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        readers = {n.name: r.get_state() for n, r in self.readers.items()}
        return {
            "epoch": self.epoch,
            "iteration": self.iteration,
            "position": self.position,
            "readers": readers,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.epoch, self.iteration, self.position = state["epoch"], state["iteration"], state["position"]
        for node, reader in self.readers.items():
            reader.set_state(state["readers"][node.name])

    def reset(self) -> None:
        """Starts the external sources again; readers go on with their next epoch."""
        self.epoch += 1
        self.iteration = 0
        self.position = 0
        for source in self.sources.values():
            if isinstance(source, ExternalSource):
                source.reset()

    # --- one iteration ----------------------------------------------------------------------
    def run(self) -> Result:
        """Runs one iteration.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
            StopIteration: an external source is at its end.
        """
        draw = self._draw(self.batch_size)
        memo: Memo | None = None if self.on_error == "raise" else {}
        skipped = 0
        while True:
            ids = self._ids(draw)
            try:
                env = self._evaluate(draw, ids, memo)
                break
            except NodeFailure as failure:
                if not self._may_go_on(failure):
                    raise self._user_error(failure, ids) from failure.first
                skipped += self._replace(draw, ids, failure)
                if skipped > self._most_skips():
                    raise self._user_error(failure, ids) from failure.first
        first = next(iter(draw.refs.values()), None)
        padded = first[2] if first is not None else np.zeros(len(draw), bool)
        outputs = tuple(env[v] for v in self.plan.outputs)
        return Result(outputs, ids, draw.mask, padded, self.get_state())

    def _draw(self, count: int) -> _Draw:
        data: dict[Node, list[list[np.ndarray]]] = {}
        for node, source in self.sources.items():
            if isinstance(source, ExternalSource):
                try:
                    data[node] = source.next(count, self.iteration, self.epoch)
                except StopIteration:
                    raise
                except Exception as error:
                    raise OperatorError(
                        f"external_source: {error}" if "external_source" not in str(error) else str(error),
                        operator="external_source", where=node.where,
                    ) from error  # fmt: skip
        sizes = {len(samples) for outputs in data.values() for samples in outputs}
        if len(sizes) > 1:
            raise OperatorError(f"external_source: sources gave batches of different sizes {sorted(sizes)}")
        size = sizes.pop() if sizes else count
        refs = {n: tuple(r.next_batch(size)) for n, r in self.readers.items()}
        if refs:
            epoch, index, _ = next(iter(refs.values()))
            epoch, index = epoch.copy(), index.copy()
        else:
            epoch = np.full(size, self.epoch, np.uint32)
            index = np.arange(self.position, self.position + size, dtype=np.uint32)
        self.iteration += 1
        self.position += size
        return _Draw(refs, data, epoch, index, np.ones(size, bool))

    def _ids(self, draw: _Draw) -> SampleIds:
        sources: Sequence[str] = [""] * len(draw)
        if draw.refs:
            node = next(iter(draw.refs))
            reader = self.readers[node]
            sources = LazyNames(reader.source, draw.index.copy())
        positions = np.arange(len(draw))
        return SampleIds(draw.epoch.astype(np.uint32), draw.index.astype(np.uint32), positions, sources)

    def _evaluate(self, draw: _Draw, ids: SampleIds, memo: Memo | None) -> dict[DataNode, TensorList]:
        env: dict[DataNode, TensorList] = {}
        parts = self._parts = {WHOLE_BATCH: ids}
        for number, step in enumerate(self.plan.steps):
            domain = step.domain if isinstance(step, Stage) else step.node.domain
            part = _part(domain, parts, env)
            if not len(part):  # no sample took this branch
                for node in (step.node,) if isinstance(step, HostStep) else step.nodes:
                    for value in node.outputs:
                        env[value] = TensorList.from_samples([], "", value.device)
                continue
            if isinstance(step, HostStep) and step.node in self.sources:
                self._read(step.node, draw, env, part, memo)
                continue
            runner = self.runners[number]
            if isinstance(runner, StageRunner):
                runner.run(env, part, self.pool.executor)
            else:
                runner.run(env, part, self.pool, memo)
        return env

    def _read(
        self, node: Node, draw: _Draw, env: dict[DataNode, TensorList], ids: SampleIds, memo: Memo | None
    ) -> None:
        if node in draw.data:
            source = self.sources[node]
            for value, samples, layout in zip(node.outputs, draw.data[node], source.layouts, strict=True):
                env[value] = TensorList.from_samples(samples, layout or "", value.device)
            return
        reader = self.readers[node]
        epochs, indices, _ = draw.refs[node]
        arguments = {
            name: node.op.args[name].convert(dense_values(env[value], node, name))
            for name, value in node.arg_inputs.items()
        }
        columns = read(node, reader, epochs, indices, self.pool, memo, arguments)
        for value, column in zip(node.outputs, columns, strict=True):
            env[value] = TensorList.from_store(column, value.device, ids.names())

    # --- samples that fail ------------------------------------------------------------------
    def _may_go_on(self, failure: NodeFailure) -> bool:
        if self.on_error == "raise" or None in failure.failures:
            return False
        return all(isinstance(e, SampleError) for e in failure.failures.values())

    def _most_skips(self) -> int:
        sizes = [r.size for r in self.readers.values()]
        return max(sizes, default=0) + self.batch_size

    def _replace(self, draw: _Draw, ids: SampleIds, failure: NodeFailure) -> int:
        """Puts other samples in the places of those that failed; how many there were."""
        part = self._parts.get(failure.node.domain, ids)
        bad = np.array([int(part.position[i]) for i in failure.failures if i is not None])
        for position, error in zip(bad, failure.failures.values(), strict=True):
            self.errors.append(
                SkippedSample(
                    ids.sources[position], int(draw.epoch[position]), int(draw.index[position]),
                    failure.node.op.name, str(error),
                )
            )  # fmt: skip
        good = np.setdiff1d(np.flatnonzero(draw.mask), bad)
        if draw.refs and (self.on_error == "skip" or not len(good)):
            fresh = self._fresh(len(bad))
            for node, refs in draw.refs.items():
                for mine, new in zip(refs, fresh[node], strict=True):
                    mine[bad] = new
            first = next(iter(draw.refs.values()))
            draw.epoch[bad], draw.index[bad] = first[0][bad], first[1][bad]
        elif self.on_error == "mask" and len(good):
            for refs in draw.refs.values():
                for mine in refs:
                    mine[bad] = mine[good[0]]
            for outputs in draw.data.values():
                for samples in outputs:
                    for position in bad:
                        samples[position] = samples[good[0]]
            draw.epoch[bad], draw.index[bad] = draw.epoch[good[0]], draw.index[good[0]]
        else:  # an external source has nothing to refill from: the batch gets smaller
            self._drop(draw, bad)
        if self.on_error == "mask":
            draw.mask[bad] = False
        return len(bad)

    def _fresh(self, count: int) -> dict[Node, Any]:
        self.position += count
        return {n: r.next_batch(count) for n, r in self.readers.items()}

    def _drop(self, draw: _Draw, bad: np.ndarray) -> None:
        keep = np.setdiff1d(np.arange(len(draw)), bad)
        if not len(keep):
            raise OperatorError("every sample of the batch failed, and there is nothing to refill it from")
        draw.epoch, draw.index, draw.mask = draw.epoch[keep], draw.index[keep], draw.mask[keep]
        for outputs in draw.data.values():
            outputs[:] = [[samples[i] for i in keep] for samples in outputs]

    def _user_error(self, failure: NodeFailure, ids: SampleIds) -> Exception:
        node = failure.node
        sample = next(iter(failure.failures))
        position, source = None, ""
        if sample is not None:
            part = self._parts.get(node.domain, ids)
            position, source = int(part.position[sample]), part.source(sample)
        return OperatorError(
            failure.text, operator=node.op.name, sample=position, source=source, where=node.where
        )

    def close(self) -> None:
        self.pool.close()
        for source in self.sources.values():
            with contextlib.suppress(AttributeError):
                source.close()


def _part(domain: Domain, parts: dict[Domain, SampleIds], env: dict[DataNode, TensorList]) -> SampleIds:
    """The samples of a branch: those of its parent for which the predicate is as it says."""
    if domain not in parts:
        assert domain.parent is not None
        assert domain.predicate is not None
        parent = _part(domain.parent, parts, env)
        holds = predicate_values(env[domain.predicate])
        parts[domain] = parent.select(np.flatnonzero(holds == domain.branch))
    return parts[domain]
