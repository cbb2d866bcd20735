"""Runs a stage on several devices: one program under `shard_map`, in which each device works on its samples.

All samples of a batch are padded to one shape. The host gathers the samples of each device into a separate buffer, and
results stay on their devices. So no device has the whole batch. Keys of random operators depend on the sample alone, so the
values are the same as on one device.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jdali._batches import BatchSplit, PaddedBlock, gather
from jdali._numerics.exact import MINUS_ZERO
from jdali._numerics.platform import platform_of
from jdali._numerics.rounding import x64_context
from jdali._threads import NATIVE, inner
from jdali.engine.failure import failing_as
from jdali.engine.steps.program import PlannedStage, Program, ProgramForm, compiler_options, split_shapes
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import StepRunner
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool
from jdali.graph import WHOLE_BATCH, DataNode, ExecutionPlan, Stage
from jdali.tensors import TensorList

# Axes of the mesh of a stage: the parts of the batch, and the devices that hold the same part.
PART, COPY = "part", "copy"
# A part of fewer bytes is copied in the calling thread, because passing it to another thread would take longer.
_WORTH_A_THREAD = 1 << 17


@dataclasses.dataclass(frozen=True)
class Spread:
    """Describes the devices over which a stage is spread."""

    mesh: Mesh  # [parts of the batch, copies of each part]
    rows: int  # one for each sample of a full batch; in a smaller batch, the last sample is repeated

    @classmethod
    def over(cls, split: BatchSplit, rows: int) -> Spread | None:
        """Spreads rows over the devices of a split; returns None if they cannot be divided evenly."""
        devices = [held for _, held in split.parts]
        if not devices or rows % len(devices) or len({len(held) for held in devices}) > 1:
            return None
        return cls(Mesh(np.array(devices), (PART, COPY)), rows)

    def __str__(self) -> str:
        parts, copies = self.mesh.devices.shape
        again = f", each computed on {copies} devices" if copies > 1 else ""
        return f"{self.mesh.size} devices, {parts} parts of {self.rows // parts} samples{again}"

    @property
    def per_part(self) -> int:
        return int(self.rows // self.mesh.devices.shape[0])

    @functools.cached_property
    def by_sample(self) -> NamedSharding:
        return self._over(PART)

    def _over(self, *axes: str | None) -> NamedSharding:
        return NamedSharding(self.mesh, P(*axes))

    def run(
        self, runner: StageRunner, planned: PlannedStage, env: Mapping[DataNode, TensorList], ids: SampleIds,
        pool: Pool,
    ) -> Sequence[jax.Array]:  # fmt: skip
        """Runs the stage; returns its outputs, which are arrays [rows, ...] split over the devices."""
        (group,) = planned.groups
        shapes = split_shapes(group.shape, planned)
        program = self._program(runner, planned, shapes)
        # Unused rows repeat the last sample, whose values are valid.
        rows = np.minimum(np.arange(self.rows), len(ids) - 1)
        packed, apart = planned.packing.pack(planned.arrays, len(ids))
        identity = ids.words()[:, rows]
        with inner("staging"):
            arrays = [
                self._input(env[value], rows, shape, pool, planned.x64)
                for value, shape in zip(runner.stage.inputs, shapes, strict=False)
            ]
        with x64_context(planned.x64):
            # One call for all small arrays, because each call costs time for every device.
            packed, who, seeds, *apart = jax.device_put(
                (packed[rows], identity, runner.calls.seed_array, *(a[rows] for a in apart)),
                (self.by_sample, self._over(None, PART), self._over(), *[self.by_sample] * len(apart)),
            )
            program.calls += 1
            program.count(len(group.samples), group.seconds, group.needed)
            operands = (arrays, packed, apart, who, seeds, MINUS_ZERO)
            with NATIVE, failing_as(runner.stage.nodes):
                if not program.seconds:
                    return program.first_call(self.mesh, *operands)
                with inner("computing"):
                    return program.function(*operands)

    def _input(
        self, value: TensorList, rows: np.ndarray, shape: tuple[int, ...], pool: Pool, x64: bool
    ) -> jax.Array:
        """Puts the rows of each part on its devices; returns an array [rows, *shape]."""
        whole = _whole(value)
        fits = whole is not None and whole.shape == (self.rows, *shape)
        if whole is not None and fits and whole.sharding.is_equivalent_to(self.by_sample, whole.ndim):
            return whole
        parts, store = range(len(self.mesh.devices)), value.store

        def stage(part: int) -> list[jax.Array]:
            mine = rows[part * self.per_part : (part + 1) * self.per_part]
            devices = self.mesh.devices[part].tolist()
            # Data on a device is gathered on the first device, and copied from there to the others.
            staged = gather(store, mine, shape, None if store.local else devices[0])
            with x64_context(x64):  # the mode is set per thread
                copies: list[jax.Array] = jax.device_put([staged] * len(devices), devices)
            return copies

        small = self.per_part * math.prod(shape) * value.spec.dtype.itemsize < _WORTH_A_THREAD
        staged = map(stage, parts) if small else pool.run_all(stage, parts)
        pieces = [piece for copies in staged for piece in copies]
        with x64_context(x64):
            return jax.make_array_from_single_device_arrays((self.rows, *shape), self.by_sample, pieces)

    def _program(
        self, runner: StageRunner, planned: PlannedStage, shapes: tuple[tuple[int, ...], ...]
    ) -> Program:
        form, dtypes = ProgramForm.of(planned, shapes), tuple(s.dtype for s in planned.inputs)
        key = form, dtypes, self
        program = runner.programs.get(key)
        if program is None:
            platform = platform_of(self.mesh.devices.flat[0])
            options = compiler_options(platform, (node.op for node in runner.stage.nodes))

            def make(function: Callable[..., Any]) -> Any:
                mapped = jax.shard_map(
                    function,
                    mesh=self.mesh,
                    in_specs=(P(PART), P(PART), P(PART), P(None, PART), P(), P()),
                    out_specs=P(PART),
                    check_vma=False,
                )
                return jax.jit(mapped, compiler_options=options)

            function = runner.function(form, (dtypes, self.rows, self.mesh), platform, make)
            program = runner.programs[key] = Program(function, self.rows, shapes)
        return program


def _whole(value: TensorList) -> jax.Array | None:
    """Returns the `jax.Array` whose first rows are the samples in order; None if the value has no such array."""
    store = value.store
    block = store.blocks[0]
    if len(store.blocks) != 1 or not isinstance(block, PaddedBlock) or not isinstance(block.array, jax.Array):
        return None
    return block.array if np.array_equal(store.row, np.arange(len(store))) else None


def spread_stages(
    plan: ExecutionPlan, runners: Sequence[StepRunner], batch_size: int, splits: Sequence[BatchSplit | None]
) -> None:
    """Lets stages run on all devices over which their results are split.

    A stage qualifies if it works on whole batches on the accelerator, and if one of its outputs is split, or is data
    for a stage that qualifies. All else stays on one device or the host: branches of a conditional, random values for
    arguments, operators that need the whole batch in one array, batches that cannot be divided evenly.
    """
    chosen: dict[DataNode, BatchSplit] = {}
    for value, split in zip(plan.outputs, splits, strict=True):
        if split is not None and (value not in chosen or chosen[value].count < split.count):
            chosen[value] = split
    for number in reversed(range(len(plan.steps))):
        step, runner = plan.steps[number], runners[number]
        if not (isinstance(step, Stage) and isinstance(runner, StageRunner)):
            continue
        runner.spread_over(None)
        split = max((chosen[v] for v in step.outputs if v in chosen), key=lambda s: s.count, default=None)
        if split is None or step.domain is not WHOLE_BATCH or step.is_arguments or runner.mixes_samples:
            continue
        spread = Spread.over(split, batch_size)
        if spread is None or {platform_of(d) for d in spread.mesh.devices.flat} != {
            platform_of(runner.device)
        }:
            continue
        runner.spread_over(spread)
        for value in _data_from_stages(step, plan):
            chosen.setdefault(value, split)


def _data_from_stages(stage: Stage, plan: ExecutionPlan) -> list[DataNode]:
    """Lists the data (not arguments) that the stage takes from other stages."""
    made = {value for other in plan.stages for value in other.outputs}
    data = {value for node in stage.nodes for value in node.data_inputs}
    return [value for value in stage.inputs if value in made and value in data]
