"""Running a host operator on a batch without an engine: probe, setup, run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import PerBatch, PlannedCall, plan_call
from jdali._operators.record import ArgKind, Operator


def plan(
    op: Operator,
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
    if op.probe is not None:
        bound = op.bind(args)
        static = {k: a.convert(bound[k]) for k, a in op.args.items() if a.kind is ArgKind.STATIC}
        found = op.probe(samples, **static)
        for failure in found.failures.values():
            raise failure
        specs = [BatchSpec(found.extents, found.dtype)]
    values = {
        op.input(i + 1).name: np.stack([np.asarray(v) for v in given]) for i, given in enumerate(inputs)
    }
    specs += [BatchSpec.of([np.asarray(v) for v in given]) for given in inputs]
    for name, given in (per_sample or {}).items():
        args[name] = PerBatch(np.stack([np.asarray(v) for v in given]))
    count = len(samples)
    numbers = np.arange(count) if index is None else np.asarray(index)
    keys = SampleKeys(seed_words(seed), 0, np.zeros(count, np.uint32), numbers.astype(np.uint32))
    return plan_call(op, specs, args, batch_size=count, keys=keys if op.random else None, input_values=values)


def run(op: Operator, samples: Sequence[np.ndarray], *args: Any, **options: Any) -> list[np.ndarray]:
    """Results for each sample, checked against the spec that `setup` announced; see `plan`."""
    planned = plan(op, samples, *args, **options)
    fixed = dict(planned.call.static)
    fixed |= {k: None if c is None else c.value for k, c in planned.call.constants}
    head = (None,) if op.random else ()
    results = []
    for i, sample in enumerate(samples):
        varying = {k: v[i] for k, v in planned.traced.items()}
        result = np.asarray(op.run(*head, sample, **(fixed | varying)))
        spec = planned.outputs[0]
        assert result.shape == tuple(spec.extents[i]), "setup and run disagree on the shape"
        assert result.dtype == spec.dtype, "setup and run disagree on the dtype"
        results.append(result)
    return results
