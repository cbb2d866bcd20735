"""Running a host operator on a batch without an engine: probe, setup, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import CallRequest, PerBatch, PlannedCall, plan_call
from jdali._operators.record import HostBatchOp, HostOp, Probed


def probed(op: HostBatchOp, samples: Sequence[np.ndarray], args: Mapping[str, Any] | None = None) -> Probed:
    """What the operator's probe says of the samples."""
    probe = op.probing(args or {})
    assert probe is not None
    return probe(samples)


def plan(
    op: HostOp | HostBatchOp,
    samples: Sequence[np.ndarray],
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    inputs: Sequence[Sequence[Any]] = (),
    seed: int = 1,
    index: Sequence[int] | None = None,
) -> PlannedCall:
    """What `setup` makes of a batch, as the engine would call it.

    Args:
        op: a host operator.
        samples: its first input.
        args: arguments with one value for all samples.
        per_sample: arguments with a value a sample.
        inputs: further inputs, those whose values `setup` wants.
        seed, index: of the keys of a random operator; indices count from 0 if not given.
    """
    args = dict(args or {})
    specs = [BatchSpec.of(samples)]
    if isinstance(op, HostBatchOp) and op.probe is not None:
        found = probed(op, samples, args)
        for failure in found.failures.values():
            raise failure
        specs = [found.contents]
    values = {
        op.input(i + 1).name: np.stack([np.asarray(v) for v in given]) for i, given in enumerate(inputs)
    }
    specs += [BatchSpec.of([np.asarray(v) for v in given]) for given in inputs]
    for name, given in (per_sample or {}).items():
        args[name] = PerBatch(np.stack([np.asarray(v) for v in given]))
    count = len(samples)
    numbers = np.arange(count) if index is None else np.asarray(index)
    keys = SampleKeys(seed_words(seed), 0, np.zeros(count, np.uint32), numbers.astype(np.uint32))
    return plan_call(
        CallRequest(op, specs, args, batch_size=count, keys=keys if op.random else None, input_values=values)
    )


class Workers:
    """Workers of a `HostBatchOp`, in this thread.

    Attributes:
        one_by_one: whether samples were worked on alone.
    """

    def __init__(self) -> None:
        self.one_by_one = False

    def share(self, work: Callable[[slice], None], count: int) -> None:
        work(slice(0, count // 2))
        work(slice(count // 2, count))

    def each(self, work: Callable[[int], Any], count: int) -> tuple[list[Any], dict[int, Exception]]:
        self.one_by_one = True
        results, failures = [None] * count, {}
        for i in range(count):
            try:
                results[i] = work(i)
            except Exception as error:
                failures[i] = error
        return results, failures


def one(op: HostBatchOp, sample: np.ndarray, **args: Any) -> Any:
    """The outputs for one sample, with the arguments as `run` gets them; raises what made it fail."""
    made = op.run([sample], workers=Workers(), **args)
    for failure in made.failures.values():
        raise failure
    outputs = tuple(column.host_samples()[0] for column in made.columns)
    return outputs[0] if len(outputs) == 1 else outputs


def run(
    op: HostOp | HostBatchOp, samples: Sequence[np.ndarray], *args: Any, **options: Any
) -> list[np.ndarray]:
    """Results for each sample, checked against the spec that `setup` announced; see `plan`."""
    planned = plan(op, samples, *args, **options)
    fixed = dict(planned.call.static)
    fixed |= {k: None if c is None else c.value for k, c in planned.call.constants}
    head = (None,) if op.random else ()
    if isinstance(op, HostOp):
        results = [
            np.asarray(op.run(*head, sample, **(fixed | {k: v[i] for k, v in planned.traced.items()})))
            for i, sample in enumerate(samples)
        ]
    else:
        headers = probed(op, samples, *args[:1]).headers
        made = op.run(*head, samples, workers=Workers(), headers=headers, **fixed, **planned.traced)
        assert not made.failures
        results = made.columns[0].host_samples()
    for i, result in enumerate(results):
        spec = planned.outputs[0]
        assert result.shape == tuple(spec.extents[i]), "setup and run disagree on the shape"
        assert result.dtype == spec.dtype, "setup and run disagree on the dtype"
    return results
