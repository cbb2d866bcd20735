"""Measures the processor time of a rotation or blur of an image: jdali's compiled program against DALI.

Both libraries get the same pixels. DALI has one thread, and an external source without copies. jdali gets one image a
call, in the padded shape that its engine would choose. The libraries take turns. Results are medians of the processor
time of the whole process, including background threads.

    python benchmarks/rotate_kernel.py [--rounds 15] [--height 1000] [--width 1200]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches import BatchSpec
from jdali._numerics.grid import round_up
from jdali._operators.call import CallRequest, PerBatch, plan_call, run_call
from jdali._operators.record import Operator
from jdali.ops.image._gaussian_blur import gaussian_blur
from jdali.ops.image._rotate import rotate

ANGLES = np.linspace(-170, 170, 8).astype(np.float32)
CASES: list[tuple[str, Operator, dict[str, Any], bool]] = [
    ("rotate", rotate, {}, True),
    ("rotate, fill_value=0", rotate, {"fill_value": 0.0}, True),
    ("rotate, keep_size", rotate, {"keep_size": True}, True),
    ("rotate, nearest", rotate, {"interp_type": types.INTERP_NN}, True),
    ("gaussian_blur, sigma=1", gaussian_blur, {"sigma": 1.0}, False),
    ("gaussian_blur, sigma=3", gaussian_blur, {"sigma": 3.0}, False),
    ("gaussian_blur, sigma=10", gaussian_blur, {"sigma": 10.0}, False),
]


def picture(height: int, width: int) -> np.ndarray:
    """Generates a picture, uint8 [height, width, 3], smooth with some noise, like a photograph."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    planes = [np.sin(x / (40 + 9 * c)) * np.cos(y / (55 - 7 * c)) * 90 + 128 for c in range(3)]
    return np.clip(np.stack(planes, -1) + rng.normal(0, 8, (height, width, 3)), 0, 255).astype(np.uint8)


def jdali_turns(op: Operator, image: np.ndarray, args: Mapping[str, Any], angled: bool) -> Callable[[], None]:
    """Returns a function that runs `op` once for each angle, on the image padded as in the engine."""
    calls = []
    shape = (*map(round_up, image.shape[:2]), image.shape[2])
    padded = np.zeros((1, *shape), np.uint8)
    padded[0, : image.shape[0], : image.shape[1]] = image
    for angle in ANGLES:
        own = {"angle": PerBatch(angle[None])} if angled else {}
        spec = BatchSpec(np.array([image.shape]), image.dtype, "HWC")
        planned = plan_call(CallRequest(op, [spec], {**args, **own}, batch_size=1))
        out = planned.outputs[0].extents
        out_shape = (*(int(round_up(int(n))) for n in out[0, :2]), int(out[0, 2]))
        traced = {k: jnp.asarray(v) for k, v in planned.traced.items()}
        operands = (
            jnp.asarray(padded),
            jnp.asarray(spec.extents, jnp.int32),
            traced,
            jnp.asarray(out, jnp.int32),
        )
        calls.append((compiled(planned.call, out_shape), operands))

    def run() -> None:
        for function, operands in calls:
            jax.block_until_ready(function(*operands))

    return run


PROGRAMS: dict[Any, Callable[..., Any]] = {}


def compiled(call: Any, out_shape: tuple[int, ...]) -> Callable[..., Any]:
    key = (call, out_shape)
    if key not in PROGRAMS:
        PROGRAMS[key] = jax.jit(lambda a, e, t, o: run_call(call, [a], [e], t, [o], [out_shape]))
    return PROGRAMS[key]


def dali_turns(name: str, image: np.ndarray, args: Mapping[str, Any], angled: bool) -> Callable[[], None]:
    """Returns a function that does the same with DALI and one thread; `name` "" only feeds the images."""
    import nvidia.dali as dali
    import nvidia.dali.fn as fn
    import nvidia.dali.types as dali_types

    count = len(ANGLES)
    args = {k: dali_types.INTERP_NN if k == "interp_type" else v for k, v in args.items()}
    pipe = dali.Pipeline(count, 1, None, prefetch_queue_depth=1, exec_dynamic=False)
    with pipe:
        images = fn.external_source(source=lambda: [image] * count, layout="HWC", no_copy=True)
        if angled:
            args["angle"] = fn.external_source(source=lambda: list(ANGLES))
        pipe.set_outputs(getattr(fn, name)(images, **args) if name else images)
    pipe.build()

    def run() -> None:
        pipe.run()

    return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--height", type=int, default=1000)
    parser.add_argument("--width", type=int, default=1200)
    options = parser.parse_args()
    image = picture(options.height, options.width)
    feeding = dali_turns("", image, {}, False)
    print(
        f"{options.height} x {options.width} x 3 uint8, ms of core time an image, median of {options.rounds}"
    )
    print(f"{'':28}{'DALI':>8}{'jdali':>8}{'ratio':>8}")
    for title, op, args, angled in CASES:
        rivals = [
            dali_turns(op.name, image, args, angled),
            jdali_turns(op, image, args, angled),
            feeding,
        ]
        times: list[list[float]] = [[] for _ in rivals]
        for turn in range(options.rounds + 2):
            for rival, seen in zip(rivals, times, strict=True):
                start = time.process_time()
                rival()
                if turn >= 2:  # programs are compiled, and DALI's queue is full
                    seen.append((time.process_time() - start) / len(ANGLES) * 1e3)
        theirs, ours, fed = (statistics.median(seen) for seen in times)
        ratio = statistics.median((d - fed) / j for d, j in zip(times[0], times[1], strict=True))
        print(f"{title:28}{theirs - fed:8.1f}{ours:8.1f}{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
