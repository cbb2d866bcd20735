"""Estimates the cost of operators and pipelines on an H100 from the programs that XLA compiles; no GPU is needed.

    pip install jdali[gpu-compile]
    python benchmarks/gpu_cost.py [NAME ...] [--pipelines] [--largest 4] [--tpu]

The columns of a row:
* the number of kernels of a program;
* the bytes that the kernels read and write, and the temporary memory, as multiples of the inputs and outputs;
* the operations of matrix products;
* the shortest possible time of a sample by bandwidth (3.35 TB/s) or arithmetic (60 TFLOP/s of float32), and the time
  for its inputs and outputs alone;
* the processor seconds of compiling.

Programs are compiled as in the engine, with rounded products (`jdali._numerics.exact`). A loop counts as often as it
runs if XLA knows the number, else once. The cheapest branch of a condition counts. Nothing is run, so times are lower
bounds.

With `--tpu`, the device is a TPU v5e, and batches have one sample. Bytes, operations and times are the compiler's
estimates, in which gathers dominate.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # only a default, because gpu.py imports this module with a GPU
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# The first CPU device is the host; the second stands for the GPU when pipelines are planned.
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count=2 {os.environ.get('XLA_FLAGS', '')}"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import jax
import jax.numpy as jnp
import numpy as np
from support import h100, v5e

from jdali import Pipeline, fn, types
from jdali._batches import BatchSpec
from jdali._numerics.exact import exact
from jdali._numerics.platform import declared
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import CallRequest, PerBatch, plan_call, run_call
from jdali._operators.record import REGISTRY
from jdali._system.devices import accelerator
from jdali.engine.steps.program import stage_function
from jdali.engine.steps.stage import StageRunner

BANDWIDTH, FLOPS = 3.35e12, 60e12
TPU_BANDWIDTH, MOST_TPU_SECONDS = 819e9, 1e-3
# A program above these multiples of its inputs and outputs should be improved.
MOST_MOVED, MOST_TEMPORARY = 4, 3
MINUS_ZERO = jax.ShapeDtypeStruct((), jnp.float32)
WIDTHS = {
    "pred": 1, "u8": 1, "s8": 1, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "u32": 4, "s32": 4, "f32": 4,
    "u64": 8, "s64": 8, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip
ARRAY = re.compile(rf"\b({'|'.join(WIDTHS)})\[([\d,]*)\]")
NO_KERNEL = {"parameter", "get-tuple-element", "tuple", "bitcast", "constant", "after-all"}
# Operations that read a part of their first operand; operations that write into it, with the index of the written
# operand.
TAKES, UPDATES = ("slice", "dynamic-slice", "gather"), {"dynamic-update-slice": 1, "scatter": 2}
# A line `%name = type op(operands), attributes`.
LINE = re.compile(r"\s*(ROOT )?%([\w.-]+) = (.*?) ([\w-]+)\((.*?)\)(, .*)?$")


def dimensions(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n]


def nbytes(text: str) -> int:
    """Returns the bytes of all arrays in the text of a type."""
    return sum(
        WIDTHS[name] * int(np.prod(dimensions(dims), dtype=np.int64)) for name, dims in ARRAY.findall(text)
    )


@dataclasses.dataclass(frozen=True)
class Instruction:
    name: str
    type: str
    op: str
    operands: list[str]
    number: int  # number of a parameter; -1 for other operations
    rest: str
    is_root: bool


@dataclasses.dataclass(frozen=True)
class Cost:
    """Counts kernels, the bytes that they read and write, and the operations of matrix products."""

    kernels: int = 0
    moved: int = 0
    flops: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.kernels + other.kernels, self.moved + other.moved, self.flops + other.flops)

    def __mul__(self, times: int) -> Cost:
        return Cost(self.kernels * times, self.moved * times, self.flops * times)


class Program:
    """Holds the computations of an optimized HLO module, by name; `entry` is the name of the main computation."""

    def __init__(self, text: str):
        self.computations: dict[str, list[Instruction]] = {}
        self.entry = ""
        for block in re.split(r"\n\}\n", text):
            lines = block.splitlines()
            start = next((i for i, line in enumerate(lines) if line.endswith("{") and "%" in line), None)
            if start is None:
                continue
            found = re.match(r"(ENTRY )?%([\w.-]+)", lines[start])
            assert found is not None
            name = found[2]
            self.entry = name if found[1] else self.entry
            matches = [LINE.match(re.sub(r"/\*.*?\*/", "", line)) for line in lines[start + 1 :]]
            self.computations[name] = [
                Instruction(
                    m[2],
                    m[3],
                    m[4],
                    re.findall(r"%([\w.-]+)", m[5]),
                    int(m[5]) if m[4] == "parameter" else -1,
                    m[6] or "",
                    bool(m[1]),
                )
                for m in matches
                if m is not None
            ]
        self.rows: list[tuple[int, str]] = []

    def cost(self, name: str | None = None) -> Cost:
        """Returns the cost of a computation; None: of the whole program. Adds the bytes of each kernel to `rows`."""
        block = self.computations[name or self.entry]
        types = {i.name: i.type for i in block}
        return sum((self._of(i, types) for i in block if i.op not in NO_KERNEL), Cost())

    def _of(self, one: Instruction, types: Mapping[str, str]) -> Cost:
        if one.op == "while":
            body = re.search(r"body=%([\w.-]+)", one.rest)
            assert body is not None
            count = re.search(r'known_trip_count":\{"n":"(\d+)"', one.rest)
            return self.cost(body[1]) * int(count[1] if count else 1)
        if one.op == "conditional":
            branches = re.search(r"branch_computations=\{([^}]*)\}", one.rest)
            names = re.findall(r"%([\w.-]+)", branches[1]) if branches else []
            names += re.findall(r"(?:true|false)_computation=%([\w.-]+)", one.rest)
            return min((self.cost(name) for name in names), key=lambda cost: cost.moved)
        if one.op in ("call", "async-start"):
            called = re.search(r"(?:to_apply|calls)=%([\w.-]+)", one.rest)
            return self.cost(called[1]) if called else Cost()
        flops, calls = 0, re.search(r"calls=%([\w.-]+)", one.rest)
        inside = self.computations.get(calls[1], []) if calls else [one]
        known = {i.name: i.type for i in inside} if calls else types
        for i in inside:
            if i.op == "dot":
                contracted = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", i.rest)
                left = dimensions(ARRAY.findall(known[i.operands[0]])[0][1])
                depth = np.prod([left[a] for a in dimensions(contracted[1])] if contracted else [1])
                flops += 2 * nbytes(i.type) // WIDTHS[ARRAY.findall(i.type)[0][0]] * int(depth)
        if calls and one.op == "fusion":
            moved = self._of_fusion(inside, [nbytes(types.get(o, "")) for o in one.operands])
        else:
            moved = nbytes(one.type) + sum(nbytes(types.get(o, "")) for o in one.operands)
        self.rows.append((moved, f"{one.op} {one.type[:70]}"))
        return Cost(1, moved, flops)

    def _of_fusion(self, inside: list[Instruction], sizes: list[int]) -> int:
        """Returns the bytes that a fused kernel moves.

        If the kernel reads only parts of an operand, or updates an operand in place, only these parts count.
        """
        moved, by_name = 0, {i.name: i for i in inside}
        parameters = sorted((i for i in inside if i.op == "parameter"), key=lambda i: i.number)
        root = next(i for i in inside if i.is_root)
        results = [by_name[o] for o in root.operands] if root.op == "tuple" else [root]
        updated = set()
        for result in results:
            while result.op in ("bitcast", "copy"):
                result = by_name[result.operands[0]]
            if result.op in UPDATES:
                moved += nbytes(by_name[result.operands[UPDATES[result.op]]].type)
                updated.add(result.operands[0])
            else:
                moved += nbytes(result.type)
        for i, size in zip(parameters, sizes, strict=True):
            users = [
                u for u in inside if i.name in u.operands and not (u.op in UPDATES and i.name in updated)
            ]
            if users and all(u.op in TAKES and u.operands[0] == i.name for u in users):
                size = min(size, sum(nbytes(u.type) for u in users))
            moved += size
        return moved


def cpu_seconds() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def print_tpu_row(name: str, samples: int, function: Callable[..., Any], operands: Any, largest: int) -> bool:
    """Prints the estimate of the TPU compiler; returns True if a sample takes at most `MOST_TPU_SECONDS`."""
    del largest
    start = cpu_seconds()
    compiled = v5e.compiled(function, *operands)
    seconds, cost = cpu_seconds() - start, compiled.cost_analysis()
    memory, program = compiled.memory_analysis(), Program(compiled.as_text())
    through = memory.argument_size_in_bytes + memory.output_size_in_bytes
    kernels = sum(one.op not in NO_KERNEL for one in program.computations[program.entry])
    best = cost["optimal_seconds"] / samples
    print(
        f"| {name} | {kernels} | {cost['bytes accessed'] / through:.1f} | {memory.temp_size_in_bytes / through:.1f} "
        f"| {cost['flops'] / samples / 1e6:.0f} "
        f"| {best * 1e6:.1f} ({through / TPU_BANDWIDTH / samples * 1e6:.2f}) | {seconds:.1f} |",
        flush=True,
    )
    return 0 <= best <= MOST_TPU_SECONDS


def print_row(name: str, samples: int, function: Callable[..., Any], operands: Any, largest: int) -> bool:
    """Prints the cost of a program; returns True if it is within `MOST_MOVED` and `MOST_TEMPORARY`."""
    start = cpu_seconds()
    compiled = h100.compiled(function, *operands)
    seconds = cpu_seconds() - start
    program, memory = Program(compiled.as_text()), compiled.memory_analysis()
    cost, through = program.cost(), memory.argument_size_in_bytes + memory.output_size_in_bytes
    best, least = max(cost.moved / BANDWIDTH, cost.flops / FLOPS), through / BANDWIDTH
    good = best <= MOST_MOVED * least and memory.temp_size_in_bytes <= MOST_TEMPORARY * through
    print(
        f"| {name} | {cost.kernels} | {cost.moved / through:.1f} | {memory.temp_size_in_bytes / through:.1f} "
        f"| {cost.flops / samples / 1e6:.0f} | {best / samples * 1e6:.2f} ({least / samples * 1e6:.2f}) | {seconds:.1f} |",
        flush=True,
    )
    for moved, what in sorted(program.rows, reverse=True)[:largest]:
        print(f"    {moved / 1e6:.0f} MB {what}")
    return good


@dataclasses.dataclass(frozen=True)
class Row:
    """An operator and its batch.

    Attributes:
        op: name of the operator.
        inputs: shape of a sample, type and layout of each input.
        args: arguments with one value for the batch.
        per_sample: per-sample arguments; all samples get the same value.
        samples: number of samples in the batch.
    """

    op: str
    inputs: tuple[tuple[tuple[int, ...], Any, str], ...]
    args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    per_sample: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    samples: int = 64


def rows() -> dict[str, Row]:
    picture, floats = (((480, 640, 3), dtype, "HWC") for dtype in (np.uint8, np.float32))
    u8 = (picture,)
    down, up, normal = [224, 224], [720, 960], {"mean": [120.0] * 3, "std": [57.0] * 3}
    filters = {
        "linear": types.INTERP_LINEAR, "cubic": types.INTERP_CUBIC, "lanczos": types.INTERP_LANCZOS3,
        "nearest": types.INTERP_NN,
    }  # fmt: skip
    mirror = {"mirror": np.int32(1)}
    half = np.float32(0.5)
    found = {
        f"resize {name} {size[0]}": Row("resize", u8, {"size": size, "interp_type": kind})
        for size in (down, up)
        for name, kind in filters.items()
    }
    matrix = np.array([[1.1, 0.3, -4.2], [-0.2, 0.9, 3.3]], np.float32)
    twist = dict.fromkeys(("brightness", "contrast", "saturation", "hue"), half)
    return found | {
        "random_resized_crop 224": Row("random_resized_crop", u8, {"size": down}),
        "resize_crop_mirror 224": Row("resize_crop_mirror", u8, {"resize_shorter": 256.0, "crop": (224, 224)}, mirror),
        "tensor_resize 224": Row("tensor_resize", u8, {"sizes": [224, 224, 3]}),
        "crop_mirror_normalize": Row("crop_mirror_normalize", u8, {"crop": (224, 224), **normal}, mirror),
        "rotate": Row("rotate", u8, {"keep_size": True, "fill_value": 0.0}, {"angle": np.float32(30)}),
        "warp_affine": Row("warp_affine", u8, {"fill_value": 0.0}, {"matrix": matrix}),
        "gaussian_blur sigma 2": Row("gaussian_blur", u8, {"window_size": 11}, {"sigma": np.float32(2)}),
        "color_twist": Row("color_twist", u8, {}, twist),
        "hsv": Row("hsv", u8, {}, {"hue": half}),
        "brightness_contrast": Row("brightness_contrast", u8, {}, {"brightness": half}),
        "color_space YCbCr": Row("color_space_conversion", u8, {"image_type": types.RGB, "output_type": types.YCbCr}),
        "equalize": Row("equalize", u8),
        "clahe 8x8": Row("clahe", u8, {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}),
        "median 5x5": Row("experimental.median_blur", u8, {"window_size": [5, 5]}),
        "filter 5x5": Row("filter", (picture, ((5, 5), np.float32, "HW"))),
        "laplacian 5": Row("laplacian", u8, {"window_size": 5}),
        "dilate 5": Row("experimental.dilate", u8, {"mask_size": [5, 5]}),
        "jpeg distortion": Row("jpeg_compression_distortion", u8, {}, {"quality": np.int32(50)}),
        "water": Row("water", u8, {"ampl_x": 3.0, "ampl_y": 2.0}),
        "sphere": Row("sphere", u8),
        "erase": Row("erase", u8, {"anchor": [10.0, 10.0], "shape": [50.0, 60.0], "axes": (0, 1)}),
        "grid_mask": Row("grid_mask", u8, {"tile": 50}, {"ratio": np.float32(0.4), "angle": np.float32(0.3)}),
        "normalize": Row("normalize", (floats,)),
        "noise.gaussian": Row("noise.gaussian", u8, {"stddev": 10.0}),
        "noise.shot": Row("noise.shot", u8, {}, {"factor": np.float32(10)}),
        "noise.salt_and_pepper": Row("noise.salt_and_pepper", u8),
        "flip": Row("flip", u8, {}, {"horizontal": np.int32(1)}),
        "debayer": Row(
            "debayer", (((480, 640), np.uint8, "HW"),), {"blue_position": [0, 0], "algorithm": "bilinear_ocv"}
        ),
        "optical_flow, 4 frames": Row("optical_flow", (((4, 480, 640, 3), np.uint8, "FHWC"),), samples=2),
        "spectrogram 10 s": Row(
            "spectrogram", (((160000,), np.float32, ""),), {"nfft": 512, "window_length": 400, "window_step": 160}
        ),
        "mel 80": Row("mel_filter_bank", (((257, 1000), np.float32, "ft"),), {"nfilter": 80, "sample_rate": 16000.0}),
        "audio_resample 10 s": Row(
            "audio_resample", (((441000,), np.float32, ""),), {"in_rate": 44100.0, "out_rate": 16000.0}
        ),
        "mfcc": Row("mfcc", (((80, 1000), np.float32, "ft"),), {"n_mfcc": 20}),
    }  # fmt: skip


def program_of(row: Row) -> tuple[Callable[..., Any], list[Any]]:
    """Returns the function that the engine compiles for a row, and its operands; without padding, inputs as shapes."""
    op = REGISTRY[row.op]
    specs = [
        BatchSpec(np.tile(np.array(shape, np.int64), (row.samples, 1)), np.dtype(dtype), layout)
        for shape, dtype, layout in row.inputs
    ]
    batched = {name: PerBatch(np.stack([value] * row.samples)) for name, value in row.per_sample.items()}
    count = np.arange(row.samples)
    keys = SampleKeys(seed_words(0), 1, np.zeros_like(count), count) if op.random else None
    values = {
        op.input(i).name: np.zeros((row.samples, *shape), dtype)
        for i, (shape, dtype, _) in enumerate(row.inputs)
        if op.input(i).argument
    }
    planned = plan_call(
        CallRequest(
            op, specs, {**row.args, **batched}, batch_size=row.samples, keys=keys, input_values=values
        )
    )
    shapes = [tuple(int(n) for n in spec.extents[0]) for spec in planned.outputs]

    def stage(arrays: Any, extents: Any, traced: Any, out_extents: Any, words: Any) -> Any:
        keys = jax.random.wrap_key_data(words) if op.random else None
        return run_call(planned.call, arrays, extents, traced, out_extents, shapes, keys)

    def sizes(specs: Sequence[BatchSpec]) -> list[Any]:
        return [spec.extents.astype(np.int32) for spec in specs]

    arrays = [jax.ShapeDtypeStruct((row.samples, *shape), dtype) for shape, dtype, _ in row.inputs]
    words = np.arange(2 * row.samples, dtype=np.uint32).reshape(-1, 2)
    traced = jax.tree.map(np.asarray, planned.traced)
    operands = [arrays, sizes(specs), traced, sizes(planned.outputs), words]
    return stage, operands


def print_operators(wanted: list[str], largest: int, platform: str) -> None:
    good = ran = 0
    for name, row in rows().items():
        if wanted and not any(w in name for w in wanted):
            continue
        ran += 1
        row = dataclasses.replace(row, samples=1) if platform == "tpu" else row
        stage, operands = program_of(row)
        show = print_tpu_row if platform == "tpu" else print_row
        good += show(name, row.samples, rounded(stage, platform), [MINUS_ZERO, *operands], largest)
    limit = (
        "take at most 1 ms"
        if platform == "tpu"
        else f"move at most {MOST_MOVED} times their inputs and outputs"
    )
    print(f"\n{good} of {ran} {limit}")


def pipelines() -> dict[str, Callable[[], Any]]:
    """Returns pipeline definitions that start after decoding; most have 128 pictures, with sides of 300 to 640."""
    rng = np.random.default_rng(0)
    sides = rng.integers(300, 641, (128, 2))
    pictures = [np.zeros((*side, 3), np.uint8) for side in sides]
    normal: dict[str, Any] = {"mean": [120.0] * 3, "std": [57.0] * 3}

    # Angles determine output sizes, so they are constants: no program is run that could draw them.
    angles = [np.float32(rng.uniform(-10, 10, 128))]

    def images() -> Any:
        return fn.external_source([pictures], cycle=True, layout="HWC").gpu()

    def ssd() -> Any:
        cut = fn.slice(images(), rel_start=[0.2, 0.1], rel_shape=[0.6, 0.7], axes=[0, 1])
        twisted = fn.color_twist(fn.resize(cut, size=[300, 300]), hue=fn.random.uniform(range=[-18.0, 18.0]))
        return fn.crop_mirror_normalize(twisted, mirror=fn.random.coin_flip(), **normal)

    def speech() -> Any:
        sounds = [np.zeros(n, np.float32) for n in rng.integers(80000, 160001, 64)]
        signal = fn.external_source([sounds], cycle=True).gpu()
        power = fn.spectrogram(signal, nfft=512, window_length=400, window_step=160)
        decibels = fn.to_decibels(fn.mel_filter_bank(power, nfilter=80, sample_rate=16000.0))
        return fn.normalize(decibels, axes=[1])

    def video() -> Any:
        clips = [np.zeros((16, 360, 640, 3), np.uint8)] * 8
        frames = fn.resize(fn.external_source([clips], cycle=True, layout="FHWC").gpu(), size=[224, 224])
        return fn.crop_mirror_normalize(frames, output_layout="CFHW", **normal)

    return {
        "ResNet-50 training": lambda: fn.crop_mirror_normalize(
            fn.random_resized_crop(images(), size=[224, 224]), mirror=fn.random.coin_flip(), **normal
        ),
        "ResNet-50 validation": lambda: fn.crop_mirror_normalize(
            fn.resize(images(), resize_shorter=256), crop=(224, 224), **normal
        ),
        "colour": lambda: fn.normalize(
            fn.gaussian_blur(fn.color_twist(images(), hue=20.0, saturation=1.2), sigma=1.0), axes=[0, 1]
        ),
        "SSD": ssd,
        "rotate": lambda: fn.rotate(images(), angle=fn.external_source(angles, cycle=True), fill_value=0),
        "speech": speech,
        "video": video,
    }


def programs_of(
    definition: Callable[[], Any], samples: int, platform: str
) -> list[tuple[int, Callable[..., Any], list[Any]]]:
    """Lists the programs of a pipeline on an accelerator, without running them: batch size, function, operands."""
    found: dict[Any, tuple[int, Callable[..., Any], list[Any]]] = {}

    def function(self: Any, form: Any, rest: Any, _: str, make: Any) -> Any:
        return stage_function(self._outline, form, platform)

    def call(self: Any, job: Any, x64: bool, env: Any, ids: Any, packed: Any, apart: Any) -> Any:
        arrays = [
            jax.ShapeDtypeStruct((job.program.batch, *shape), types.to_numpy_type(env[value].dtype))
            for value, shape in zip(self.stage.inputs, job.shapes, strict=False)
        ]
        rest = (job.take(packed), [job.take(a) for a in apart], self._identity(job, ids), self.seed_array)
        shapes = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), rest)
        operands = [arrays, *shapes, MINUS_ZERO]
        found[id(job.program)] = job.program.batch, job.program.function, operands
        return [jnp.zeros(v.shape, v.dtype) for v in jax.eval_shape(job.program.function, *operands)]

    with (
        declared(accelerator(), "gpu" if platform == "cuda" else platform),
        mock.patch.object(StageRunner, "function", function),
        mock.patch.object(StageRunner, "_call", call),
    ):
        pipe = Pipeline(batch_size=samples, num_threads=1, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(definition())
        pipe.run()
        pipe.close()
    return list(found.values())


def print_pipelines(wanted: list[str], largest: int, platform: str) -> None:
    jax.config.update("jax_default_device", jax.devices("cpu")[1])
    for name, definition in pipelines().items():
        if wanted and not any(w in name for w in wanted):
            continue
        samples = {"speech": 64, "video": 8}.get(name, 128)
        for batch, function, operands in programs_of(definition, samples, platform):
            if not operands[0]:  # a program without inputs, which only draws random numbers
                continue
            shapes = ", ".join("x".join(map(str, array.shape)) for array in operands[0])
            show = print_tpu_row if platform == "tpu" else print_row
            show(f"{name}: {shapes}", batch, function, operands, largest)


def rounded(stage: Callable[..., Any], platform: str = "cuda") -> Callable[..., Any]:
    """Wraps `stage` in `exact`, which rounds products; its extra operand, minus zero, comes first."""
    return lambda zero, *operands: exact(stage, zero, platform)(*operands)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="rows whose name has one of these in it; none: all")
    parser.add_argument("--pipelines", action="store_true", help="whole pipelines in place of operators")
    parser.add_argument("--largest", type=int, default=0, help="so many kernels of each program, the largest")
    parser.add_argument("--tpu", action="store_true", help="on a TPU v5e in place of an H100")
    options = parser.parse_args()
    compiler = v5e if options.tpu else h100
    if not compiler.is_installed():
        parser.error(compiler.MISSING)
    titles = (
        "program", "kernels", "moved, x", "temporary, x", "MFLOP of products a sample",
        "us a sample at best (in and out alone)", "s to compile",
    )  # fmt: skip
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    show = print_pipelines if options.pipelines else print_operators
    show(options.names, options.largest, "tpu" if options.tpu else "cuda")


if __name__ == "__main__":
    main()
