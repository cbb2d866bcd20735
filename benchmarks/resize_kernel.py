"""Measures the processor time of a resize of an image: jdali's compiled program against DALI, with one thread each.

Both libraries get the same decoded pixels. DALI gets them from an external source, whose cost is subtracted. jdali gets
chunks of padded samples, as in its engine. The libraries take turns. Results are medians of the processor time of the
whole process, including background threads.

    python benchmarks/resize_kernel.py [--rounds 15] [--chunk 4]
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches import BatchSpec
from jdali._operators.call import CallRequest, plan_call, run_call
from jdali.ops.image._resize import resize

LINEAR, CUBIC, LANCZOS3 = types.INTERP_LINEAR, types.INTERP_CUBIC, types.INTERP_LANCZOS3
# (height, width) of the image, padded size, arguments
CASES: list[tuple[tuple[int, int], tuple[int, int], dict[str, Any]]] = [
    ((700, 700), (1024, 1024), {"size": [224, 224]}),
    ((700, 700), (768, 768), {"size": [224, 224]}),
    ((500, 375), (512, 512), {"size": [224, 224]}),
    ((1024, 1024), (1024, 1024), {"resize_shorter": 256}),
    ((1200, 900), (1280, 1024), {"resize_shorter": 256}),
    ((2000, 2000), (2048, 2048), {"size": [224, 224]}),
    ((256, 256), (256, 256), {"size": [224, 224]}),
    ((150, 150), (160, 160), {"size": [224, 224]}),
    ((32, 32), (32, 32), {"size": [224, 224]}),
    ((32, 32), (32, 32), {"size": [28, 28]}),
    ((700, 700), (768, 768), {"size": [224, 224], "interp_type": CUBIC}),
    ((700, 700), (768, 768), {"size": [224, 224], "interp_type": LANCZOS3}),
    ((700, 700), (768, 768), {"size": [224, 224], "interp_type": types.INTERP_NN}),
]


def picture(height: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (height // 8 + 2, width // 8 + 2, 3), np.uint8)
    return np.ascontiguousarray(np.kron(coarse, np.ones((8, 8, 1), np.uint8))[:height, :width])


def jdali_run(
    image: np.ndarray, padded: tuple[int, int], args: dict[str, Any], chunk: int
) -> Callable[[], Any]:
    spec = BatchSpec.of([image] * chunk, "HWC")
    planned = plan_call(CallRequest(resize, [spec], args, batch_size=chunk))
    out = planned.outputs[0].extents
    shapes = [tuple(int(n) for n in out[0])]

    @jax.jit
    def stage(array: Any, extents: Any, traced: Any, out_extents: Any) -> Any:
        return run_call(planned.call, [array], [extents], traced, [out_extents], shapes)

    array = np.zeros((chunk, *padded, 3), np.uint8)
    array[:, : image.shape[0], : image.shape[1]] = image
    device = [
        jnp.asarray(array),
        jnp.asarray(spec.extents, jnp.int32),
        planned.traced,
        jnp.asarray(out, jnp.int32),
    ]
    return lambda: jax.block_until_ready(stage(*device))


def dali_run(image: np.ndarray, args: dict[str, Any] | None, chunk: int) -> Callable[[], Any]:
    import nvidia.dali as dali
    import nvidia.dali.fn as fn
    import nvidia.dali.types as dali_types

    pipe = dali.Pipeline(chunk, 1, None, exec_pipelined=False, exec_async=False)
    with pipe:
        images = fn.external_source(lambda: [image] * chunk, layout="HWC", no_copy=True)
        if args is not None:
            args = {
                k: getattr(dali_types.DALIInterpType, v.name) if isinstance(v, types.DALIInterpType) else v
                for k, v in args.items()
            }
            images = fn.resize(images, **args)
        pipe.set_outputs(images)
    pipe.build()
    return pipe.run


def measure(runs: list[Callable[[], Any]], rounds: int, chunk: int) -> list[float]:
    """Runs functions in turns; returns the median processor milliseconds of an image for each function."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(rounds):
        for run, spent in zip(runs, times, strict=True):
            start = time.process_time()
            for _ in range(2):
                run()
            spent.append((time.process_time() - start) / 2 / chunk * 1e3)
    return [float(np.median(t)) for t in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--chunk", type=int, default=4)
    options = parser.parse_args()
    where = f"jax {jax.__version__} on {jax.devices()[0].platform}"
    print(f"{where}; ms of core time an image, chunk {options.chunk}")
    print(f"{'image':>10} {'padded':>10}  {'arguments':<42} {'jdali':>6} {'DALI':>6} {'ratio':>6}")
    for (height, width), padded, args in CASES:
        image = picture(height, width)
        runs = [jdali_run(image, padded, args, options.chunk)]
        with contextlib.suppress(ImportError):
            runs += [dali_run(image, args, options.chunk), dali_run(image, None, options.chunk)]
        ours, *theirs = measure(runs, options.rounds, options.chunk)
        said = ", ".join(f"{k}={getattr(v, 'name', v)}" for k, v in args.items())
        line = (
            f"{height}x{width}".rjust(10)
            + " "
            + f"{padded[0]}x{padded[1]}".rjust(10)
            + f"  {said:<42} {ours:6.2f}"
        )
        if theirs:
            dali = theirs[0] - theirs[1]
            line += f" {dali:6.2f} {dali / ours:6.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
