"""Runs the part of a pipeline before a function: it turns outputs of readers, mostly encoded files, into arrays."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from jdali._errors import OperatorError
from jdali._operators.record import HostBatchOp
from jdali._sources import SourceFeed
from jdali._system.devices import AnyArray, accelerator, host_device, to_host
from jdali.engine.failure import NodeFailure
from jdali.engine.function.draw import Draw
from jdali.engine.function.part import FunctionDefinition
from jdali.engine.make import PreparedPlan, user_error
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool
from jdali.graph import WHOLE_BATCH, DataNode, Domain, dependencies, make_plan, upstream
from jdali.tensors import TensorList

Samples: TypeAlias = "TensorList | AnyArray | Sequence[bytes | AnyArray]"


class HostPart:
    """Runs the operators of a pipeline between its readers and the start of a function.

    Attributes:
        inputs: names of the values that it takes: outputs of readers and external sources.
        outputs: names of the values that it returns: inputs of the function.
        nodes: the operators.
    """

    def __init__(self, definition: FunctionDefinition, *, threads: int, batch_size: int):
        """Starts no threads yet. `batch_size` is the pipeline's; a call may have any number of samples."""
        self._start, self.seed = definition.start, definition.seed
        live = upstream(self._start)
        nodes = [n for n in definition.graph.nodes if n in live]
        self.nodes = tuple(n for n in nodes if not n.is_source)
        read = [*self._start, *(v for node in self.nodes for v in dependencies(node))]
        sources = {v for v in read if v.source.is_source}
        self._inputs = tuple(sorted(sources, key=lambda v: (v.source.id, v.index)))
        self.inputs = tuple(v.name for v in self._inputs)
        self.outputs = tuple(v.name for v in self._start)
        self.random = tuple(node.name for node in self.nodes if node.op.random)
        devices = {"cpu": host_device(), "gpu": accelerator()}
        plan = make_plan(nodes, self._start, one_device=devices["cpu"] == devices["gpu"])
        self._plan = PreparedPlan(plan, devices, max_batch=batch_size, budget=ProgramBudget(), seed=self.seed)
        self._threads = threads
        self._pool: Pool | None = None

    def __repr__(self) -> str:
        shown = ", ".join(node.op.shown_name for node in self.nodes)
        return f"<jdali host part ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}): {shown}>"

    def __call__(self, *inputs: Samples, epoch: object = 0, index: object = None) -> tuple[TensorList, ...]:
        """Runs the operators on a batch.

        Args:
            inputs: for each value of `inputs` a list with the bytes or the array of each sample, an array [N, ...], or a
                `TensorList`.
            epoch: epochs of the samples, int or int [N]; operators that draw random values use it.
            index: indices of the samples in the data set, int [N]; None: 0, 1, ...

        Returns: a batch for each value of `outputs`.

        Raises:
            OperatorError: an operator failed, for instance on a damaged file; the error names the sample.
        """
        batches = self._batches(inputs)
        return self._run(batches, Draw.of(len(batches[0]), self.seed, None, epoch, index).ids(), {})

    def attempt(
        self, *inputs: Samples, epoch: object = 0, index: object = None
    ) -> tuple[tuple[TensorList, ...], list[int], dict[int, OperatorError]]:
        """Runs the operators on a batch; a sample that fails does not affect the other samples.

        Returns: the batches of the good samples, their positions, and the errors by position.
        """
        batches = self._batches(inputs)
        ids = Draw.of(len(batches[0]), self.seed, None, epoch, index).ids()
        errors: dict[int, OperatorError] = {}
        good = np.arange(len(ids))
        while len(good):
            found: dict[int, OperatorError] = {}
            try:
                outputs = self._run([batch.select(good) for batch in batches], ids.select(good), found)
                return outputs, good.tolist(), errors
            except OperatorError:
                if not found:
                    raise
                errors |= found
                good = good[~np.isin(good, list(found))]
        return (), [], errors

    def _batches(self, inputs: Sequence[Samples]) -> list[TensorList]:
        if len(inputs) != len(self._inputs):
            raise TypeError(
                f"the host part takes ({', '.join(self.inputs)}), {len(self._inputs)} batches, got {len(inputs)}"
            )
        batches = [_batch(name, value) for name, value in zip(self.inputs, inputs, strict=True)]
        counts = sorted({len(batch) for batch in batches})
        if len(counts) != 1:
            raise ValueError(f"({', '.join(self.inputs)}) must have as many samples each, got {counts}")
        return batches

    def _run(
        self, batches: Sequence[TensorList], ids: SampleIds, failed: dict[int, OperatorError]
    ) -> tuple[TensorList, ...]:
        """Runs a batch. If samples fail, adds their errors to `failed`, by position, and raises the first error."""
        env = Values(zip(self._inputs, batches, strict=True))
        parts: dict[Domain, SampleIds] = {WHOLE_BATCH: ids}
        try:
            self._plan.make(env, parts, self._workers())
        except NodeFailure as failure:
            for sample, error in failure.failures.items() if failure.is_of_samples else ():
                alone = user_error(NodeFailure(failure.node, {sample: error}), env, parts)
                assert alone.sample is not None
                failed[alone.sample] = alone
            raise user_error(failure, env, parts) from failure.first
        return tuple(env[value] for value in self._start)

    def _workers(self) -> Pool:
        if self._pool is None:
            self._pool = Pool(self._threads)
            weakref.finalize(self, self._pool.interrupt)
        return self._pool


def _batch(name: str, value: object) -> TensorList:
    if isinstance(value, TensorList):
        return value
    if isinstance(value, (np.ndarray, jax.Array)) and value.ndim:
        return TensorList.from_dense(to_host(value))
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
        raise TypeError(f"{name!r} must be a list of the samples' bytes or arrays, got {value!r:.40}")
    samples = [
        np.frombuffer(one, np.uint8) if isinstance(one, (bytes, bytearray, memoryview)) else to_host(one)
        for one in value
    ]
    return TensorList.from_samples(samples)


def contents_of(value: DataNode) -> tuple[str, np.dtype[Any] | None]:
    """Returns the layout and the element type of a host value; "" and None if they are known only from data."""
    node = value.source
    if isinstance(node.runtime, SourceFeed):
        return node.runtime.layouts[value.index] or "", node.runtime.dtypes[value.index]
    probe = node.op.probing(node.args) if isinstance(node.op, HostBatchOp) else None
    if probe is None:
        return "", None
    probed = probe([])  # without samples it says what all files have in common
    return probed.layout, probed.dtype
