"""What `test_every_operator` runs: a row or more for every registered operator, or why there is none.

Rows of compiled operators are made of `pure_cases`: the same arguments, the inputs grown to sizes that differ.
Those of other operators are here.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import io
import operator
import wave
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ops import pure_cases
from ops.pure_cases import Case, numbers
from support import oracle
from support.data import image
from support.pictures import pillow
from support.sweep import COUNT, Row
from support.videos import encode, pictures

from jdali import types
from jdali._operators.record import REGISTRY, DeviceOp, Operator, ReaderOp
from jdali.plugin.jax.fn import jax_function

# By how much an axis of each letter is longer in a sample than in the case: three sizes of sample. Most axes get
# 5 to 8 or 9 to 12 elements, so that the samples of a large batch share one padded shape, and those in batches of one
# have their own.
GROWTH = {"a": (3, 4, 2), "b": (3, 3, 4), "c": (4, 5, 5)}
KINDS = 3


def ragged_axes(case: Case) -> list[str]:
    """Axes of each input that may differ in size; see `Case.ragged`.

    All that are longer than 1 except for channels, depth, and the last of three or more; a letter counts from the
    last axis, as axes are matched in expressions.
    """
    if case.ragged is not None:
        return list(case.ragged)
    found = []
    for values, layout in zip(case.inputs, layouts_of(case), strict=True):
        shape = values.shape[1:]
        fixed = [
            size == 1 or layout[axis : axis + 1] in ("C", "D") or (len(shape) > 2 and axis == len(shape) - 1)
            for axis, size in enumerate(shape)
        ]
        found.append("".join("." if f else "abc"[len(shape) - 1 - axis] for axis, f in enumerate(fixed)))
    return found


def layouts_of(case: Case) -> list[str]:
    """Layout of each input; a name for another number of axes is that of another input."""
    names = [case.layout] * len(case.inputs) if isinstance(case.layout, str) else case.layout
    return [
        name if len(name) == values.ndim - 1 else "" for name, values in zip(names, case.inputs, strict=True)
    ]


def grown(values: np.ndarray, axes: str, sample: int) -> np.ndarray:
    """The sample of a case, repeated to its size."""
    kind = sample % KINDS
    if not axes:
        return values[kind]
    return np.pad(values[kind], [(0, 0 if a == "." else GROWTH[a][kind]) for a in axes], mode="wrap")


def turn(sample: int) -> int:
    """Which of a case's per-sample values a sample has: not always the same one for one size."""
    return (sample + sample // KINDS) % KINDS


def row_of(case: Case) -> Row:
    """A case with its per-sample arguments as tensors."""
    inputs = [
        [grown(values, axes, i) for i in range(COUNT)]
        for values, axes in zip(case.inputs, ragged_axes(case), strict=True)
    ]
    fed = {
        name: tensors(case.op, name, [v[turn(i)] for i in range(COUNT)]) for name, v in case.traced.items()
    }
    return Row(case.op, inputs, layouts_of(case), dict(case.args), fed, case.label)


# Shapes of arguments as tensors, which may be flat or numbers as constants.
SHAPES = {("warp_affine", "matrix"): (2, 3), ("normalize", "mean"): (1, 1), ("normalize", "stddev"): (1, 1)}


def tensors(op: str, name: str, values: Sequence[Any]) -> list[np.ndarray]:
    arrays = [np.asarray(REGISTRY[op].args[name].convert(value)) for value in values]
    return [a.reshape(SHAPES[op, name]) for a in arrays] if (op, name) in SHAPES else arrays


# An argument that the others' values depend on, or that means something else if it is a little smaller.
UNVARIED = {"window_size", "axes", "src_dims", "interp_type", "min_filter", "mag_filter"}
# Those that are given together, or not at all.
SIDES = {"crop_d": ("crop_h", "crop_w"), "crop_h": ("crop_w",), "crop_w": ("crop_h",)}


def row_of_argument(case: Case, name: str) -> Row:
    """A case with an argument that decides sizes as a tensor, different by sample."""
    op, base = REGISTRY[case.op], row_of(case)
    args = {a.name: case.args[a.name] for a in op.args.values() if a.required and a.name in case.args}
    args |= dict(case.refused[name])
    value = args.pop(name)
    args |= dict.fromkeys(SIDES.get(name, ()), 3.0)

    def varied(sample: int) -> Any:
        if name in UNVARIED:
            return value
        if case.op in ("reshape", "reinterpret") and name == "shape":
            return (base.inputs[0][sample].size // 3, 3)
        if case.op == "full":  # each row is the input
            return (2 + sample % 2, 3)
        parts = value if isinstance(value, tuple) else (value,)
        if name == "output_size":  # not too small for the images
            return tuple(16 + sample % 2 for _ in parts)
        # One less in every other sample where that leaves at least 2.
        smaller = tuple(p - sample % 2 if p >= 3 else p for p in parts)
        return smaller if isinstance(value, tuple) else smaller[0]

    fed = {name: tensors(case.op, name, [varied(i) for i in range(COUNT)])}
    label = "-".join(filter(None, [case.label, name]))
    return dataclasses.replace(base, args=args, fed=fed, label=label)


# Cases of operators that another row of theirs stands for in a quick run.
SLOW = ("volume", "uint8", "large")
# Operators whose programs take many seconds to compile: what they draw is drawn in loops, or many times over.
COSTLY = {
    "decoders.image_random_crop", "noise.shot", "random.beta", "random_resized_crop", "resize_crop_mirror",
    "fast_resize_crop_mirror",
}  # fmt: skip

COMPILED = [
    [row_of(case) for case in group if case.op not in COSTLY and (case.label not in SLOW or not case.layout)]
    for group in pure_cases.GROUPS
]
SLOWER = [
    row_of(case)
    for group in pure_cases.GROUPS
    for case in group
    if case.op in COSTLY or (case.label in SLOW and case.layout)
]
ARGUMENTS = [
    [row_of_argument(case, name) for case in group for name in case.refused] for group in pure_cases.GROUPS
]

SIZES = [(9, 12), (14, 10), (11, 11), (14, 10), (9, 12), (11, 11), (9, 12), (14, 10)]
PICTURES = [image(*size, 3, np.uint8, i) for i, size in enumerate(SIZES)]
BYTES = [np.frombuffer(pillow(p, "png"), np.uint8) for p in PICTURES]
NUMBERS = [np.arange(3 * (2 + i % 3), dtype=np.float32).reshape(-1, 3) + i for i in range(COUNT)]
BOXES = [np.sort(numbers(0.1, 0.9, 2 + i % 3, 2, 2, seed=i)[0], axis=1).reshape(-1, 4) for i in range(COUNT)]
LABELS = [np.arange(len(boxes), dtype=np.int32) for boxes in BOXES]
HALVES = [np.float32([0.2 + 0.1 * (i % 3), 0.5]) for i in range(COUNT)]


MAPS = [np.random.default_rng(i).integers(0, 4, (6 + i % 3, 7), np.int32) for i in range(COUNT)]
POLYGONS = [
    [np.int32([7, 5][: 1 + i % 2]) for i in range(COUNT)],
    [np.int32([[5, 0, 2], [7, 2, 5 + i % 3], [6, 0, 1]]) for i in range(COUNT)],
    [n.reshape(-1, 1) for n in NUMBERS],
]


def _npy(array: np.ndarray) -> np.ndarray:
    target = io.BytesIO()
    np.save(target, array)
    return np.frombuffer(target.getvalue(), np.uint8)


def _wav(length: int) -> np.ndarray:
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.random.default_rng(length).integers(-9000, 9000, 2 * length, np.int16).tobytes())
    return np.frombuffer(target.getvalue(), np.uint8)


def _double(values: np.ndarray) -> np.ndarray:
    return values * 2


def _double_all(samples: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [values * 2 for values in samples]


def _capsules(batch_processing: bool, fn: Any, values: Any) -> Any:
    return fn.dl_tensor_python_function(values, function=_itself, batch_processing=batch_processing)


def _itself(capsules: Any) -> Any:
    return capsules


def _jax_function(_: Any, values: Any) -> Any:
    return jax_function(_double)(values)


def host(op: str, *inputs: Sequence[np.ndarray], fed: Mapping[str, Any] | None = None, **args: Any) -> Row:
    """A row of inputs without layouts."""
    given = {name: tensors(op, name, values) for name, values in (fed or {}).items()}
    return Row(op, inputs, [""] * len(inputs), args, given)


OTHERS = [
    host("decoders.image", BYTES),
    host("decoders.image_crop", BYTES, crop=(5.0, 6.0), fed={"crop_pos_x": [0.0, 0.3, 0.9, 0.5] * 2}),
    host("decoders.image_slice", BYTES, HALVES, HALVES),
    host("decoders.image_random_crop", BYTES, random_area=(0.3, 1.0)),
    host("peek_image_shape", BYTES),
    host("decoders.numpy", [_npy(n) for n in NUMBERS]),
    host("decoders.audio", [_wav(100 + 17 * (i % 3)) for i in range(COUNT)], dtype=types.INT16),
    host("bbox_rotate", BOXES, LABELS, input_shape=(40, 80), remove_threshold=0.0,
         fed={"angle": [0.0, 30.0, -60.0, 90.0, 10.0, 20.0, 30.0, 40.0]}),
    host("random_bbox_crop", BOXES, thresholds=(0.0,), total_num_attempts=100),
    host("segmentation.random_object_bbox", MAPS, output_class=True, k_largest=2,
         fed={"classes": [np.int32([1, 2, 3][: 1 + i % 3]) for i in range(COUNT)],
              "class_weights": [np.float32([1, 2, 3][: 1 + i % 3]) for i in range(COUNT)],
              "threshold": [np.int32([1, 1 + i % 2]) for i in range(COUNT)], "foreground_prob": [0.9] * COUNT,
              "background": [0, 9] * 4}),
    host("segmentation.random_object_bbox", MAPS, ignore_class=True, format="box", cache_objects=True),
    host("segmentation.select_masks", *POLYGONS, reindex_masks=True),
    host("ssd_random_crop", [image(9, 8 + i) for i in range(COUNT)], BOXES, LABELS, num_attempts=20),
    Row("copy", [NUMBERS], ["AB"]),
    Row("get_property", [NUMBERS], ["AB"], {"key": "layout"}),
    Row("_transfer", [NUMBERS], ["AB"], call=lambda fn, x: x.gpu()),
    Row("_shape", [NUMBERS], ["AB"]),
    Row("_tensor_subscript", [NUMBERS], ["AB"], call=lambda fn, x: x[1:, 2]),
    Row("_constant", [NUMBERS], [""], call=lambda fn, x: (x, types.Constant(np.int32([1, 2])))),
    Row("python_function", [NUMBERS], [""], call=lambda fn, x: fn.python_function(x, function=_double)),
    Row("_python_function", [NUMBERS], [""],
        call=lambda fn, x: fn.python_function(x, function=_double_all, batch_processing=True)),
    Row("dl_tensor_python_function", [NUMBERS], [""], call=functools.partial(_capsules, False)),
    Row("_dl_tensor_python_function", [NUMBERS], [""], call=functools.partial(_capsules, True)),
    Row("_jax_function", [[n[:2] for n in NUMBERS]], [""], call=_jax_function),
]  # fmt: skip


NOT_IN_BRANCHES = {
    "_transfer": "its result is on another device than that of the other branch",
    "optical_flow": "its result is on the accelerator, that of the other branch is not",
}
NEED_FILES = ("io.file.read", "decoders.inflate", "decoders.video", "tokenize")


def rows_of_files(folder: Path) -> list[Row]:
    """Rows of operators that need files or optional packages; those of missing packages are left out."""
    paths = [folder / f"{i}.bin" for i in range(COUNT)]
    for i, path in enumerate(paths):
        path.write_bytes(bytes(range(3 + i % 3)))
    rows = [host("io.file.read", [np.frombuffer(str(path).encode(), np.uint8) for path in paths])]
    if importlib.util.find_spec("lz4") is not None:
        packed = [
            importlib.import_module("lz4.block").compress(n.tobytes(), store_size=False) for n in NUMBERS
        ]
        rows.append(
            host(
                "decoders.inflate", [np.frombuffer(p, np.uint8) for p in packed], dtype=types.FLOAT,
                fed={"shape": [n.shape for n in NUMBERS]},
            )
        )  # fmt: skip
    if importlib.util.find_spec("tokenizers") is not None:
        package = importlib.import_module("tokenizers")
        words = {"[PAD]": 0, "[UNK]": 1} | {f"w{i}": i + 2 for i in range(COUNT)}
        tokenizer = package.Tokenizer(package.models.WordLevel(words, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = package.pre_tokenizers.Whitespace()
        tokenizer.save(str(folder / "tokenizer.json"))
        texts = [np.frombuffer(f"w{i} w{i // 2}".encode() * (1 + i % 3), np.uint8) for i in range(COUNT)]
        path = str(folder / "tokenizer.json")
        rows.append(host("tokenize", texts, tokenizer=path, length=5, with_mask=True, with_length=True))
    if importlib.util.find_spec("av") is not None:
        film = np.frombuffer(encode(pictures(6), "libvpx-vp9", "webm", options={"g": "3"}), np.uint8)
        first = {"start_frame": [0, 2, 1, 3, 2, 0, 1, 4], "sequence_length": [2, 1, 2, 2, 1, 2, 1, 2]}
        rows.append(host("decoders.video", [film] * COUNT, fed=first))
    return rows


NO_ROW = {
    "external_source": "it feeds every row",
    "_parallel_python_function": "its worker processes take seconds to start; tests/sources/test_parallel_function.py",
    "experimental.inputs.video": "is fed by hand: tests/sources/test_video_input.py",
    "_conditional.split": "every row is run in branches",
    "_conditional.merge": "every row is run in branches",
    "_conditional.join": "puts branches together: tests/graph/test_choice.py",
    "_conditional.not_": "a part of expressions: tests/graph/test_conditional.py",
    "_conditional.validate_logical": "a check of conditions: tests/graph/test_conditional.py",
    "_conditional.choose": "takes the place of merge and join in a function: tests/engine/test_function_conditionals.py",
    "_conditional.logical": "takes the place of not_ in a function: tests/engine/test_function_conditionals.py",
    "permute_batch": "what it gives is a matter of the whole batch: see test_permute_batch",
    "batch_permutation": "what it gives is a matter of the whole batch: tests/ops/flow/test_batch_permutation.py",
    **dict.fromkeys(
        ("mixup", "cutmix"), "what they give is a matter of the whole batch: tests/ops/image/test_mixup.py"
    ),
    "dump_image": "writes to the working directory: tests/ops/flow/test_dump_image.py",
} | {
    name: "reads a data set of its own: tests/readers/test_every_reader.py"
    for name, op in REGISTRY.items()
    if isinstance(op, ReaderOp) and ".readers." in f".{name}"
}

# --- the same in DALI ---------------------------------------------------------------------------
_PYTHON = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "eq": operator.eq, "ne": operator.ne,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "neg": operator.neg,
    "pos": operator.pos, "bitand": operator.and_, "bitor": operator.or_, "bitxor": operator.xor,
    "bitnot": operator.invert, "lshift": operator.lshift, "rshift": operator.rshift,
}  # fmt: skip


def run_dali(row: Row) -> tuple[list[list[np.ndarray]], list[str]] | None:
    """What the real DALI makes of a row: for each output the samples, and the layouts.

    None: it has no such operator, or one that is random; `out_length` it takes as int64 only, which is not fed here.
    """
    import nvidia.dali.fn as dali_fn
    import nvidia.dali.math as dali_math

    name = row.op.removeprefix("math.")
    if row.op in NOT_IN_DALI or REGISTRY[row.op].random or "out_length" in row.fed:
        return None
    if row.op in TYPES_IN_DALI and row.inputs[0][0].dtype.type not in TYPES_IN_DALI[row.op]:
        return None
    if row.call is not None:
        return oracle.run_call(functools.partial(row.call, dali_fn), row.inputs, layout=row.layouts)
    if row.op.startswith("math."):
        function = _PYTHON.get(name) or getattr(dali_math, name)
        return oracle.run_call(function, row.inputs, layout=row.layouts)
    args = {**row.args, **{name: values[0].tolist() for name, values in row.fed.items() if name in NOT_FED}}
    fed = {name: values for name, values in row.fed.items() if name not in NOT_FED}
    return oracle.run_call(
        oracle.function(row.op), row.inputs, args, fed, layout=row.layouts, batch_size=COUNT
    )


# Arguments that DALI does not see if they are given as tensors, or wants as enums.
NOT_FED = {"src_dims", "interp_type", "min_filter", "mag_filter"}


# Types of images that operators do not take, as DALI's on some device; and those that its CPU backend takes alone.
WITHOUT = {
    np.dtype(np.int16): {"experimental.dilate", "experimental.erode", "experimental.median_blur"},
}
TYPES_IN_DALI = {
    "paste": {np.uint8}, "sphere": {np.uint8, np.float32}, "water": {np.uint8, np.float32},
}  # fmt: skip

# Operators that DALI has not on its CPU backend, or that draw at random there.
NOT_IN_DALI = {
    "_constant", "_transfer", "_jax_function", "decoders.inflate", "decoders.image_random_crop", "tokenize",
    "experimental.dilate", "experimental.erode", "experimental.median_blur", "experimental.remap", "optical_flow",
}  # fmt: skip


# --- the same row in other words ----------------------------------------------------------------
# Operators whose result follows from the names of the axes: without names, or with others, it is another one.
NAMES_COUNT = {
    "erase": "fills along all axes but C",
    "filter": "its kernels have all axes but F and C",
    "gaussian_blur": "blurs all axes but C",
    "get_property": "gives the layout",
    "laplacian": "derives along all axes but C",
    "slice": "cuts the axes W and H by default",
}
OWN_LAYOUT = {"crop_mirror_normalize"}  # operators whose output is CHW whatever the input is


def said_otherwise(row: Row) -> Row:
    """Without the layout if the row gives one, else with one; numbers given as tensors of one element."""
    op = REGISTRY[row.op]
    layouts = list(row.layouts)
    if row.op not in NAMES_COUNT and not any("D" in name for name in layouts):
        layouts = [_other_layout(op, i, row) for i in range(len(layouts))]
    fed = {
        name: [v.reshape(1) for v in values] if name in op.args and values[0].ndim == 0 else values
        for name, values in row.fed.items()
    }
    return dataclasses.replace(row, layouts=layouts, fed=fed)


# Of data whose axes an operator wants certain names of.
_NAMES = {
    "element_extract": "FP", "mel_filter_bank": "ft", "color_space_conversion": "HWC",
    "noise.salt_and_pepper": "HWC", "per_frame": "FP", "sequence_rearrange": "FP",
}  # fmt: skip


def _other_layout(op: Operator, index: int, row: Row) -> str:
    axes = row.inputs[index][0].ndim
    if row.layouts[index] or (op.inputs and op.input(index).argument):
        return ""
    if isinstance(op, DeviceOp) and op.layouts:
        return next((name for name in op.layouts if len(name) == axes), "")
    # Counted from the last axis: the names of the smaller of two operands end those of the larger.
    return _NAMES.get(op.name, "PQRS"[4 - axes :])


def is_of_images(row: Row) -> bool:
    """Whether its first input is an HWC image, and its result says nothing of other axes."""
    op = REGISTRY[row.op]
    layouts = op.layouts if isinstance(op, DeviceOp) else ()
    known = "HWC" in layouts if not row.layouts or not row.layouts[0] else row.layouts[0] == "HWC"
    return known and row.inputs[0][0].ndim == 3 and "axes" not in row.args


def _of_images(row: Row, change: Callable[[np.ndarray], np.ndarray], layout: str) -> Row:
    """The first input changed, or all of an operator that takes any number of images."""
    count = len(row.inputs) if REGISTRY[row.op].max_inputs is None else 1
    changed = [[change(sample) for sample in samples] for samples in row.inputs[:count]]
    return dataclasses.replace(
        row, inputs=[*changed, *row.inputs[count:]], layouts=[layout] * count + list(row.layouts[count:])
    )


def channels_first(row: Row) -> Row:
    """An HWC row of CHW images."""
    return _of_images(row, lambda s: np.ascontiguousarray(np.moveaxis(s, -1, 0)), "CHW")


def as_frames(row: Row) -> Row:
    """An HWC row of sequences of two frames, the second upside down."""
    change = _of_images(row, lambda s: np.stack([s, s[::-1]]), "FHWC")
    return dataclasses.replace(change, args={**row.args, **_OF_FRAMES.get(row.op, {})})


# Arguments for sequences of what is one image by default.
_OF_FRAMES = {"crop_mirror_normalize": {"output_layout": "FCHW"}, "erase": {"axis_names": "HW"}}
NO_CHANNELS_FIRST = ("multi_paste",)


# --- tolerances -----------------------------------------------------------------------------------
# Bounds of docs/resuming.md, relative to the largest value: in another padded shape or batch the same sample may
# come out with other last bits. Everything else is the same to the bit.
_BOUNDS = {
    "gaussian_blur": 2**-23 * (3 + 5),  # the window sizes of its row
    "power_spectrum": 2**-19,
}


def allowed_difference(row: Row) -> float:
    """Relative difference allowed between two runs of the same samples."""
    return 0.0 if "nfft" in row.args else _BOUNDS.get(row.op, 0.0)


# Largest relative difference of floats from DALI, as the operators' own tests have it; 1e-5 for the others: sums
# in another order, fused multiply-adds and other elementary functions.
FLOATS: dict[str, float] = {}
# Integers rounded from reals computed in another order may be 1 off.
ROUNDED = {
    "brightness", "brightness_contrast", "color_space_conversion", "color_twist", "contrast", "gaussian_blur", "hsv",
    "experimental.remap", "experimental.warp_perspective", "fast_resize_crop_mirror", "hue", "resize",
    "resize_crop_mirror", "rotate", "saturation", "sphere", "tensor_resize", "warp_affine", "water", "filter", "laplacian",
}  # fmt: skip
# Points that differ by up to 0.01 pixel (docs/differences.md), in pictures whose neighbours differ by up to 200.
WORST = {"experimental.warp_perspective": 3.0}


def atol(row: Row, expected: Sequence[np.ndarray]) -> float:
    """Largest difference from DALI."""
    if row.op in WORST and row.inputs[0][0].dtype.kind != "f":
        return WORST[row.op]
    if any(value.dtype.kind == "f" for value in expected):
        return FLOATS.get(row.op, 1e-5)
    return 1.0 if row.op in ROUNDED else 0.0


_FILL = {"filter": 2}  # an input that must be of the images' type


def takes(row: Row, dtype: Any) -> bool:
    """Whether an image row's operator takes images of a type."""
    return row.op not in WITHOUT.get(np.dtype(dtype), ())


def of_type(row: Row, dtype: Any) -> Row:
    """An image row of integers, the floats' range of 0 to 1 stretched over 0 to 200."""

    def stretched(sample: np.ndarray) -> np.ndarray:
        return sample if sample.dtype.kind in "iu" else (200 * sample).astype(dtype)

    changed = _of_images(row, stretched, row.layouts[0])
    fill = _FILL.get(row.op)
    if fill is not None:
        inputs = list(changed.inputs)
        inputs[fill] = [stretched(values) for values in inputs[fill]]
        changed = dataclasses.replace(changed, inputs=inputs)
    return dataclasses.replace(changed, label=f"{row.label}{np.dtype(dtype)}")
