"""Runs readers and external sources."""

from __future__ import annotations

import time
import types as pytypes
from collections.abc import Mapping, Sequence

import numpy as np

from jdali._batches import Store
from jdali._operators import argument_rules
from jdali._operators.record import ReaderOp
from jdali._sources import batch_of
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.steps.host_op import raise_if_any
from jdali.engine.steps.values import StepRunner, Values, argument_values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool, ThreadPolicy, groups_here
from jdali.graph import Node
from jdali.readers.base import Loaded, Reader, joined
from jdali.tensors import TensorList


class ReaderRunner(StepRunner):
    """Reads the samples that were drawn for a batch."""

    policy: ThreadPolicy
    shown = "reads in the thread pool"

    def __init__(self, node: Node, op: ReaderOp, reader: Reader):
        self.node, self._op, self._reader = node, op, reader
        self.policy = policy_of(reader)

    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        node, op, task = self.node, self._op, env.task
        assert task is not None
        indices = task.refs[node.name].wanted
        arguments = {}
        with failing_as([node]):
            for name, value in node.arg_inputs.items():
                values = argument_values(env[value], op, name)
                arguments[name] = argument_rules.batch(op.name, op.args[name], values, len(indices))
        columns = read(node, self._reader, indices, pool, self.policy, arguments)
        for value, column in zip(node.outputs, columns, strict=True):
            env[value] = TensorList.from_store(column, value.device, env.drawn[node])


class SourceRunner(StepRunner):
    """Adds the data that an external source returned when the batch was drawn."""

    shown = "hands over what the user gave"

    def __init__(self, node: Node):
        self.node = node

    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        node, task = self.node, env.task
        assert task is not None
        given = task.data[node.name]
        for value, samples, layout in zip(node.outputs, given.outputs, given.layouts, strict=True):
            env[value] = batch_of(samples, layout, value.device, env.drawn[node])


def policy_of(reader: Reader) -> ThreadPolicy:
    """Makes the policy of a reader. The calling thread may read alone only if samples are often cheap."""
    return ThreadPolicy(tries_here=reader.often_cheap, may_be_brief=reader.often_cheap)


def read(
    node: Node, reader: Reader, indices: np.ndarray, pool: Pool, policy: ThreadPolicy,
    arguments: Mapping[str, np.ndarray] = pytypes.MappingProxyType({}),
) -> Sequence[Store]:  # fmt: skip
    """Reads the samples of a batch; returns a column for each output.

    Args:
        indices: indices of the samples, [n]; [n, m] for a reader that packs m samples of the data set into one.
        arguments: values of the reader's per-sample arguments, [n, ...], by name.

    Raises:
        NodeFailure: some samples failed; it lists all of them.
    """
    columns, failures = _load(node, reader, indices, pool, policy, arguments)
    raise_if_any(node, failures)
    return columns


def _load(
    node: Node, reader: Reader, indices: np.ndarray, pool: Pool, policy: ThreadPolicy,
    arguments: Mapping[str, np.ndarray],
) -> Loaded:  # fmt: skip
    starts: list[int] = []
    parts: list[Loaded] = []

    def work(task: slice) -> Loaded:
        return reader.load_many(indices[task], **{name: values[task] for name, values in arguments.items()})

    def work_here(task: slice) -> None:
        parts.append(work(task))
        starts.append(task.start)

    try:
        done = 0
        if len(indices) and not pool.is_here:  # with `is_here`, this thread reads all samples below
            here = groups_here(len(indices))
            calls = policy.work_here(lambda i: work_here(here[i]), [t.stop - t.start for t in here])
            done = here[calls - 1].stop if calls else 0
        if done < len(indices) or not parts:
            divided = [slice(0, len(indices))] if pool.is_here else reader.tasks(indices[done:], pool.threads)
            tasks = [slice(t.start + done, t.stop + done) for t in divided]
            starts += [task.start for task in tasks]
            start = time.perf_counter()
            # A single task is not worth a change of threads.
            parts += [work(tasks[0])] if len(tasks) == 1 else pool.run_all(work, tasks)
            if not pool.is_here:
                policy.note_pool(time.perf_counter() - start, len(indices) - done)
        failures = {
            start + position: error
            for start, part in zip(starts, parts, strict=True)
            for position, error in part.failures.items()
        }
        return Loaded(joined([part.columns for part in parts]), failures)
    except (ValueError, OSError, MemoryError) as error:
        raise NodeFailure.of(node, error) from error
