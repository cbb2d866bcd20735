"""Keys and plans by which the programs of a folder are found: for those who write and those who read one."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import BatchSpec
from jdali._operators.call import Call
from jdali._system.extras import install
from jdali.engine.function.draw import Draw
from jdali.engine.function.planning import FunctionInputs, FunctionPlan, Planner
from jdali.engine.function.running import FunctionForm


def form_key(form: FunctionForm) -> str:
    """Returns a digest of all that a program depends on but for padded shapes, the same in every process."""
    program = form.program
    calls = [_described(call) for call in program.calls]
    text = repr((calls, program.traced, program.small, form.values, form.outputs))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _described(call: Call) -> tuple[Any, ...]:
    constants = [
        (name, None if c is None else (c.value.dtype.str, c.value.shape, c.value.tobytes()))
        for name, c in call.constants
    ]
    return (
        call.op.name, call.adapters, call.out_layouts, call.static, constants, call.argument_shapes, call.frames,
    )  # fmt: skip


def plan_sizes(
    planner: Planner,
    sizes: Sequence[tuple[int, ...]],
    dtypes: Sequence[np.dtype[Any]],
    layouts: Sequence[str],
    draw: Draw,
) -> FunctionPlan:
    """Plans one sample of these sizes, in its true shapes; `draw` is of that sample."""
    specs = [
        BatchSpec(np.array([size], np.int64), dtype, layout)
        for size, dtype, layout in zip(sizes, dtypes, layouts, strict=True)
    ]
    nothing = [jax.ShapeDtypeStruct((1, *size), dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
    return planner.plan_in_true_shapes(FunctionInputs(nothing, specs), draw)


def exact_platform(platform: str) -> str:
    """The name under which JAX's devices of a platform go: "gpu" for "cuda"."""
    return "gpu" if platform in ("cuda", "rocm") else platform


def require_flatbuffers() -> None:
    """Raises ImportError, in words, if the package is missing with which JAX writes and reads programs."""
    if importlib.util.find_spec("flatbuffers") is None:
        raise ImportError(f"exported programs need the package flatbuffers: {install('export')}")
