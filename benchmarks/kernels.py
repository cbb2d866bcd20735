"""Measures the processor time of the image operators: jdali's compiled programs against DALI's CPU kernels.

Each row is an operator, at 1000x1200 and at 224x224. Both libraries get the same pixels. DALI has one thread, and an
external source without copies, whose cost is subtracted. jdali gets padded arrays, chunks and programs as in its
engine. If DALI has no CPU kernel, the rival is OpenCV with one thread. The rivals take turns. Results are medians of
the processor time of the whole process for one image; ratios compare consecutive turns.

    python benchmarks/kernels.py [NAME ...] [--rounds 15] [--size 1000 1200]

NAME selects rows by a part of their title.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jdali.ops  # noqa: F401  registers the operators
from jdali import types
from jdali._batches import BatchSpec
from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._numerics.grid import round_up
from jdali._numerics.random import SampleKeys, sample_key, seed_words
from jdali._operators.call import CallRequest, PerBatch, plan_call, run_call
from jdali._operators.record import REGISTRY
from jdali.engine.steps.program import CHUNK_BYTES, compiler_options

SIZES = ((1000, 1200), (224, 224))
NEAREST, CUBIC, LANCZOS3 = types.INTERP_NN, types.INTERP_CUBIC, types.INTERP_LANCZOS3

Run = Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Row:
    """An operator to measure.

    Attributes:
        op: name of the operator.
        args: arguments of the operator, or a function that returns them for the image's (height, width).
        label: distinguishes rows of the same operator.
        inputs: returns the inputs after the image, for the image's (height, width).
        layouts: layouts of these inputs.
        rival: takes the inputs and arguments; returns a function that processes one image. Used if DALI has no CPU
            kernel. None: DALI.
        channels: number of channels of the image.
    """

    op: str
    args: Mapping[str, Any] | Callable[[int, int], Mapping[str, Any]] = dataclasses.field(
        default_factory=dict
    )
    label: str = ""
    inputs: Callable[[int, int], Sequence[np.ndarray]] = lambda height, width: ()
    layouts: Sequence[str] = ()
    rival: Callable[[Sequence[np.ndarray], Mapping[str, Any]], Run] | None = None
    channels: int = 3

    @property
    def title(self) -> str:
        return f"{self.op}, {self.label}" if self.label else self.op

    def arguments(self, height: int, width: int) -> dict[str, Any]:
        return dict(self.args(height, width) if callable(self.args) else self.args)


def rotation(height: int, width: int) -> list[float]:
    """Returns a 2x3 matrix, from output to input: a rotation by 20 degrees about the centre of the image."""
    cos, sin = np.cos(np.deg2rad(20)), np.sin(np.deg2rad(20))
    x, y = width / 2, height / 2
    return [cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y]


def homography(height: int, width: int) -> list[float]:
    """Returns a 3x3 matrix: the matrix of `rotation` with a slight tilt."""
    return [*rotation(height, width), 1e-5, 2e-5, 1.0]


def points(height: int, width: int) -> list[np.ndarray]:
    """Returns maps of x and y coordinates, which bend the image in waves."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return [x + 5 * np.sin(y / 20), y + 5 * np.cos(x / 20)]


def smoothing(size: int) -> Callable[[int, int], list[np.ndarray]]:
    """Returns a function that returns a filter kernel which is not separable."""
    return lambda height, width: [
        np.random.default_rng(size).uniform(0, 2 / size**2, (size, size)).astype(np.float32)
    ]


def product(size: int) -> Callable[[int, int], list[np.ndarray]]:
    """Returns a function that returns a separable filter kernel, the product of two vectors."""
    window = np.random.default_rng(size).uniform(0, 2 / size, size).astype(np.float32)
    return lambda height, width: [np.outer(window, window)]


def quarters(height: int, width: int) -> dict[str, PerBatch]:
    """Returns the arguments of a mosaic: a quarter of each of four images."""
    size = np.array([height // 2, width // 2])
    corners = np.asarray([[(y, x) for y in (0, 1) for x in (0, 1)] * size], np.int32)
    shapes = np.tile(np.int32(size), (1, 4, 1))
    return {
        "in_anchors": PerBatch(corners[:, ::-1].copy()),
        "shapes": PerBatch(shapes),
        "out_anchors": PerBatch(corners),
    }


def opencv_jitter(inputs: Sequence[np.ndarray], args: Mapping[str, Any]) -> Run:
    """Returns a function that moves the pixels; the random positions are computed beforehand."""
    import cv2

    cv2.setNumThreads(1)
    height, width = inputs[0].shape[:2]
    rng = np.random.default_rng(0)
    y, x = (v + rng.integers(-1, 2, v.shape) for v in np.mgrid[0:height, 0:width])
    maps = x.astype(np.float32), y.astype(np.float32)
    return lambda: cv2.remap(inputs[0], *maps, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)


def opencv_median(inputs: Sequence[np.ndarray], args: Mapping[str, Any]) -> Run:
    import cv2

    cv2.setNumThreads(1)
    return lambda: cv2.medianBlur(inputs[0], args["window_size"][0])


def opencv_remap(inputs: Sequence[np.ndarray], args: Mapping[str, Any]) -> Run:
    import cv2

    cv2.setNumThreads(1)
    flag = cv2.INTER_NEAREST if args.get("interp") == NEAREST else cv2.INTER_LINEAR
    return lambda: cv2.remap(*inputs, flag)


ROWS = [
    Row("brightness_contrast", {"brightness": 1.2, "contrast": 0.8}),
    Row("clahe", {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}),
    Row("clahe", {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0, "luma_only": False}, "each channel"),
    Row("color_space_conversion", {"image_type": types.RGB, "output_type": types.YCbCr}),
    Row("color_twist", {"hue": 20.0, "saturation": 1.3, "brightness": 1.1, "contrast": 0.9}),
    Row("crop", lambda h, w: {"crop": (h * 7 // 8, w * 7 // 8)}),
    Row("crop_mirror_normalize", lambda h, w: {"crop": (h * 7 // 8, w * 7 // 8), "mirror": 1, "mean": [120.0] * 3,
                                               "std": [60.0] * 3}),
    *(Row("debayer", {"blue_position": (0, 1), "algorithm": name}, name, channels=1)
      for name in ("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv")),
    Row("erase", lambda h, w: {"anchor": (h * 0.2, w * 0.3), "shape": (h * 0.3, w * 0.4)}),
    Row("experimental.median_blur", {"window_size": (3, 3)}, "3x3", rival=opencv_median),
    Row("experimental.median_blur", {"window_size": (5, 5)}, "5x5", rival=opencv_median),
    Row("experimental.remap", {"pixel_origin": "center"}, "", points, ("HW", "HW"), opencv_remap),
    Row("experimental.remap", {"pixel_origin": "center", "interp": NEAREST}, "nearest", points, ("HW", "HW"), opencv_remap),
    Row("experimental.warp_perspective", lambda h, w: {"matrix": homography(h, w)}),
    Row("experimental.warp_perspective", lambda h, w: {"matrix": homography(h, w), "interp_type": NEAREST}, "nearest"),
    Row("equalize"),
    *(Row("filter", {}, f"{n}x{n}", smoothing(n), ("",)) for n in (3, 5, 7, 15)),
    *(Row("filter", {}, f"{n}x{n}, of vectors", product(n), ("",)) for n in (5, 7, 9, 15)),
    Row("flip", {"horizontal": 1}),
    Row("gaussian_blur", {"sigma": 1.0}, "sigma 1"),
    Row("gaussian_blur", {"sigma": 3.0}, "sigma 3"),
    Row("grid_mask", {"angle": 0.3}),
    Row("jitter", {}, "", rival=opencv_jitter),
    Row("jpeg_compression_distortion", {"quality": 30}),
    *(Row("laplacian", {"window_size": n}, f"{n}x{n}") for n in (3, 5, 7, 9, 23)),
    Row("multi_paste", lambda h, w: quarters(h, w), "4 quarters", lambda h, w: [picture(h, w)] * 3, ("HWC",) * 3),
    Row("noise.gaussian", {"stddev": 10.0}),
    Row("noise.salt_and_pepper"),
    Row("noise.shot", {"factor": 10.0}),
    Row("pad", lambda h, w: {"axis_names": "HW", "shape": (h + 40, w + 40)}),
    Row("paste", {"fill_value": (1, 2, 3), "ratio": 1.3}),
    Row("random_resized_crop", {"size": (224, 224)}),
    Row("resize", {"size": (224.0, 224.0)}, "linear to 224x224"),
    Row("resize", lambda h, w: {"size": (h * 1.3, w * 1.3)}, "linear, 1.3 times"),
    Row("resize", {"size": (224.0, 224.0), "interp_type": CUBIC}, "cubic to 224x224"),
    Row("resize", {"size": (200.0, 200.0), "interp_type": NEAREST}, "nearest to 200x200"),
    Row("resize", lambda h, w: {"size": (h * 0.7, w * 0.7), "interp_type": NEAREST}, "nearest, 0.7 times"),
    Row("resize", lambda h, w: {"size": (h * 1.3, w * 1.3), "interp_type": NEAREST}, "nearest, 1.3 times"),
    Row("resize_crop_mirror", {"resize_shorter": 256.0, "crop": (224.0, 224.0), "mirror": 1}),
    Row("rotate", {"angle": 30.0}),
    Row("rotate", {"angle": 30.0, "interp_type": NEAREST}, "nearest"),
    Row("slice", {"rel_start": (0.1, 0.1), "rel_shape": (0.8, 0.8), "axis_names": "HW"}),
    Row("sphere"),
    Row("warp_affine", lambda h, w: {"matrix": rotation(h, w)}),
    Row("warp_affine", lambda h, w: {"matrix": rotation(h, w), "interp_type": NEAREST}, "nearest"),
    Row("water"),
    Row("water", {"interp_type": types.INTERP_LINEAR}, "linear"),
]  # fmt: skip


def picture(height: int, width: int) -> np.ndarray:
    """Generates a picture, uint8 [height, width, 3], smooth with some noise, like a photograph."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    planes = [np.sin(x / (40 + 9 * c)) * np.cos(y / (55 - 7 * c)) * 90 + 128 for c in range(3)]
    return np.clip(np.stack(planes, -1) + rng.normal(0, 8, (height, width, 3)), 0, 255).astype(np.uint8)


def padded_shape(spec: BatchSpec) -> tuple[int, ...]:
    """Returns the shape to which the engine pads; the number of channels stays."""
    names = spec.layout or "?" * spec.ndim
    sizes = zip(spec.extents[0].tolist(), names, strict=True)
    return tuple(n if name == "C" or n == 1 else int(round_up(n)) for n, name in sizes)


def jdali_run(
    row: Row, inputs: Sequence[np.ndarray], layouts: Sequence[str], args: dict[str, Any]
) -> tuple[Run, int]:
    """Returns a function that calls the compiled program, and the number of images in a call."""
    op = REGISTRY[row.op]
    chunk = 1
    while True:
        specs = [BatchSpec.of([value] * chunk, layout) for value, layout in zip(inputs, layouts, strict=True)]
        indices = np.arange(chunk)
        keys = SampleKeys(seed_words(1), 1, np.zeros(chunk, np.uint32), indices) if op.random else None
        given = {
            name: PerBatch(np.repeat(value.values, chunk, axis=0)) if isinstance(value, PerBatch) else value
            for name, value in args.items()
        }
        planned = plan_call(CallRequest(op, specs, given, batch_size=chunk, keys=keys))
        shapes = [padded_shape(spec) for spec in planned.outputs]
        used = sum(int(np.prod(padded_shape(s))) * s.dtype.itemsize for s in [*specs, *planned.outputs])
        fitting = min(16, max(1, CHUNK_BYTES["cpu"] // used))
        if chunk == fitting:
            break
        chunk = fitting

    def stage(arrays: Any, extents: Any, traced: Any, out_extents: Any, drawn: Any) -> Any:
        return run_call(planned.call, arrays, extents, traced, out_extents, shapes, drawn)

    platform = jax.default_backend()
    compiled = jax.jit(
        lambda minus_zero, *operands: exact(stage, minus_zero, platform)(*operands),
        compiler_options=compiler_options(platform, [op], one_thread=True),
    )
    arrays = []
    for value, spec in zip(inputs, specs, strict=True):
        array = np.zeros((chunk, *padded_shape(spec)), value.dtype)
        array[(slice(None), *map(slice, value.shape))] = value
        arrays.append(jnp.asarray(array))
    drawn = None
    if op.random:
        words = seed_words(1)
        drawn = jax.vmap(lambda i: sample_key(words, np.uint32(1), np.uint32(0), i))(
            jnp.arange(chunk, dtype=jnp.uint32)
        )
    operands = (
        MINUS_ZERO, arrays, [jnp.asarray(s.extents, jnp.int32) for s in specs],
        {name: jnp.asarray(v) for name, v in planned.traced.items()},
        [jnp.asarray(s.extents, jnp.int32) for s in planned.outputs], drawn,
    )  # fmt: skip
    return lambda: jax.block_until_ready(compiled(*operands)), chunk


def dali_run(
    name: str, inputs: Sequence[np.ndarray], layouts: Sequence[str], args: Mapping[str, Any], count: int
) -> Run:
    """Returns a function that runs DALI's pipeline with `count` samples and one thread; "" only feeds the inputs."""
    import nvidia.dali as dali
    import nvidia.dali.fn as fn
    import nvidia.dali.types as dali_types

    def translated(value: Any) -> Any:
        if isinstance(value, (types.DALIInterpType, types.DALIImageType)):
            return getattr(getattr(dali_types, type(value).__name__), value.name)
        return getattr(dali_types, value.name) if isinstance(value, types.DALIDataType) else value

    call: Any = fn
    for part in filter(None, name.split(".")):
        call = getattr(call, part)
    pipe = dali.Pipeline(count, 1, None, seed=1, prefetch_queue_depth=1, exec_dynamic=False)
    with pipe:
        nodes = [
            fn.external_source([[value] * count], cycle=True, batch=True, layout=layout or None, no_copy=True)
            for value, layout in zip(inputs, layouts, strict=True)
        ]
        given = {
            key: fn.external_source([[value.values[0]] * count], cycle=True, batch=True)
            if isinstance(value, PerBatch) else translated(value)
            for key, value in args.items()
        }  # fmt: skip
        # Returns shapes, because DALI would copy an input that is also an output, at the cost of a cheap operator.
        pipe.set_outputs(*([call(*nodes, **given)] if name else [node.shape() for node in nodes]))
    pipe.build()
    return lambda: pipe.run()


def measure(runs: Sequence[tuple[Run, int]], images: int, rounds: int) -> list[list[float]]:
    """Calls functions in turns; returns, for each function, the processor milliseconds of an image in each turn.

    Args:
        runs: functions, each with the number of images in a call.
        images: minimum number of images in a turn.
        rounds: number of turns of each function.
    """
    times: list[list[float]] = [[] for _ in runs]
    for turn in range(rounds + 2):
        for (run, count), spent in zip(runs, times, strict=True):
            start, done = time.process_time(), 0
            while done < images:
                run()
                done += count
            if turn >= 2:  # programs are compiled, and DALI's queue is full
                spent.append((time.process_time() - start) / done * 1e3)
    return times


def images_a_turn(run: Run, count: int) -> int:
    """Returns the number of images, 2 to 16, that take 0.1 seconds, so that DALI's overhead for a pipeline is small."""
    run()  # compiles
    start = time.process_time()
    run()
    return int(np.clip(0.1 * count / max(time.process_time() - start, 1e-6), 2, 16))


def report(row: Row, height: int, width: int, rounds: int) -> str:
    first = np.ascontiguousarray(picture(height, width)[:, :, : row.channels])
    inputs = [first, *row.inputs(height, width)]
    layouts, args = ["HWC", *row.layouts], row.arguments(height, width)
    ours = jdali_run(row, inputs, layouts, args)
    images = images_a_turn(*ours)
    if row.rival is not None:
        found = measure([ours, (row.rival(inputs, args), 1)], images, rounds)
        taken = found[1]
    else:
        rivals = [
            (dali_run(name, inputs, layouts, given, images), images)
            for name, given in ((row.op, args), ("", {}))
        ]
        found = measure([ours, *rivals], images, rounds)
        taken = [whole - fed for whole, fed in zip(found[1], found[2], strict=True)]
    ratio = statistics.median(theirs / own for theirs, own in zip(taken, found[0], strict=True))
    own, theirs = statistics.median(found[0]), statistics.median(taken)
    who = "DALI" if row.rival is None else "OpenCV"
    return f"{row.title:<36} {height}x{width:<6} {who:>6} {theirs:8.3f} {own:8.3f} {ratio:7.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--size", type=int, nargs=2, metavar=("HEIGHT", "WIDTH"))
    options = parser.parse_args()
    sizes = [tuple(options.size)] if options.size else SIZES
    print(
        f"jax {jax.__version__} on {jax.devices()[0].platform}; uint8 images of 3 channels, ms of core time an image"
    )
    print(f"{'operator':<36} {'size':<11} {'rival':>6} {'rival ms':>8} {'jdali ms':>8} {'ratio':>7}")
    for row in ROWS:
        if not options.names or any(name in row.title for name in options.names):
            for height, width in sizes:
                print(report(row, height, width, options.rounds), flush=True)


if __name__ == "__main__":
    main()
