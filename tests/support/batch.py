"""One compiled program over a large batch, for tests that compare many small samples at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jdali._batches import BatchSpec
from jdali._operators.call import CallRequest, PerBatch, plan_call, run_call
from jdali._operators.record import Operator


def run(
    op: Operator,
    inputs: Sequence[Sequence[np.ndarray]],
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    layout: str | Sequence[str] = "",
    pad: int = 3,
    fill: int = 77,
) -> list[np.ndarray]:
    """First output of `op`, one array a sample; `fill` lies in the padding of the inputs."""
    layouts = [layout] * len(inputs) if isinstance(layout, str) else list(layout)
    specs = [BatchSpec.of(s, name) for s, name in zip(inputs, layouts, strict=True)]
    fed = {k: PerBatch(np.stack([np.asarray(x) for x in v])) for k, v in (per_sample or {}).items()}
    values = {op.input(i).name: np.stack(s) for i, s in enumerate(inputs) if op.input(i).argument}
    planned = plan_call(
        CallRequest(op, specs, dict(args or {}) | fed, batch_size=len(inputs[0]), input_values=values)
    )
    arrays = []
    for i, (samples, spec) in enumerate(zip(inputs, specs, strict=True)):
        extra = 0 if op.input(i).argument else pad
        shape = _padded(spec, extra)
        batch = np.full((len(samples), *shape), fill, spec.dtype)
        for row, sample in zip(batch, samples, strict=True):
            row[tuple(map(slice, sample.shape))] = sample
        arrays.append(jnp.asarray(batch))
    out = planned.outputs[0]
    shape = _padded(out, pad)
    extents = [s.extents.astype(np.int32) for s in specs]
    out_extents = [o.extents.astype(np.int32) for o in planned.outputs]
    compiled = jax.jit(lambda a, e, t, o: run_call(planned.call, a, e, t, o, [shape])[0])
    result = np.asarray(compiled(arrays, extents, planned.traced, out_extents))
    return [row[tuple(map(slice, extent))] for row, extent in zip(result, out.extents, strict=True)]


def _padded(spec: BatchSpec, pad: int) -> tuple[int, ...]:
    """The largest extents and `pad` more, except for channels, which the engine never pads."""
    names = spec.layout or "." * spec.ndim
    return tuple(
        int(n) + (0 if name == "C" else pad) for n, name in zip(spec.extents.max(axis=0), names, strict=True)
    )
