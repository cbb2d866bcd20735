"""Operators that work out positions, in a user's own programs: each pixel comes from where the plain call takes it.

Pictures are random, so that a neighbour's pixel is another value; sizes grow, shrink and stay, odd and even. Programs are
compiled as a user's are, with all of XLA's optimizations: these regroup what decides an index (see
`jdali/_numerics/positions.py`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import oracle
from support.some import drawn

import jdali.ops
from jdali import types
from jdali._operators.record import REGISTRY
from jdali._system.jax_internals import OLDER_LOOPS, known_options

NN, LINEAR, CUBIC = types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC
FILTERS = {
    "nearest": NN, "linear": LINEAR, "cubic": CUBIC, "lanczos": types.INTERP_LANCZOS3,
    "triangular": types.INTERP_TRIANGULAR, "gaussian": types.INTERP_GAUSSIAN,
}  # fmt: skip
PICTURES = 2
# Weights are the same bits; the sum of some dozens of products up to 255 may be fused in one program and not in another.
SUMS = 2e-3


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """A call of an operator, on pictures that are given and with arguments that are in the program or traced.

    Attributes:
        op: name of the operator.
        shape: of the first input.
        args: arguments that are constants of the program.
        traced: arguments that are operands of the program.
        inputs: further inputs, operands as well.
        atol: largest difference to the plain call; 0: the same bits, for what is copied.
        signal: the input is float32 between -1 and 1, not a picture of uint8.
        oracle: DALI has it on a CPU, and agrees pixel by pixel (to `atol`, and 1 where integers are rounded).
    """

    op: str
    shape: tuple[int, ...]
    args: Mapping[str, Any]
    traced: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    inputs: tuple[np.ndarray, ...] = ()
    atol: float = 0.0
    signal: bool = False
    oracle: bool = False

    @property
    def layout(self) -> str:
        return {1: "", 2: "", 3: "HWC", 4: "DHWC"}[len(self.shape)]

    def data(self) -> np.ndarray:
        rng = np.random.default_rng(sum(self.shape))
        if self.signal:
            return rng.uniform(-1, 1, (PICTURES, *self.shape)).astype(np.float32)
        return rng.integers(0, 256, (PICTURES, *self.shape), np.uint8)

    def __call__(self, picture: Any, operands: tuple[Any, Any, Any]) -> Any:
        key, inputs, traced = operands
        function = functools.reduce(getattr, self.op.split("."), jdali.ops)
        keys = [key] if REGISTRY[self.op].random else []
        layout = {} if self.op == "spectrogram" else {"layout": [self.layout, *[""] * len(inputs)]}
        return function(*keys, picture, *inputs, **self.args, **traced, **layout)

    @property
    def operands(self) -> tuple[Any, Any, Any]:
        return (
            jax.random.key(7),
            self.inputs,
            {name: np.asarray(value) for name, value in self.traced.items()},
        )


def resampled(op: str, kind: types.DALIInterpType, shape: tuple[int, ...], **args: Any) -> Call:
    """A call that resamples; floats show differences that rounding to integers would hide."""
    copies = kind == NN
    more = {} if copies else {"dtype": types.FLOAT}
    atol = 0 if copies else SUMS
    known = not op.startswith("random")  # DALI draws other numbers
    return Call(op, shape, {"interp_type": kind, **more, **args}, atol=atol, oracle=known)


def sizes_of(kind: types.DALIInterpType) -> list[Call]:
    """Up, down, equal; even and odd; arrays that are worked on in tiles, and small ones."""
    return [
        resampled("resize", kind, (12, 15, 3), size=(30, 21)),
        resampled("resize", kind, (40, 32, 3), size=(97, 101)),
        resampled("resize", kind, (64, 51, 1), size=(64, 37)),
        resampled("resize_crop_mirror", kind, (41, 30, 3), size=(75, 44), crop=(60, 17), mirror=1),
        resampled("tensor_resize", kind, (23, 40, 2), sizes=(61, 33), axes=(0, 1)),
    ]


def more_sizes_of(kind: types.DALIInterpType) -> list[Call]:
    return [
        resampled("resize", kind, (64, 64, 3), size=(96, 96)),
        resampled("resize", kind, (100, 75, 3), size=(112, 112)),
        resampled("resize", kind, (33, 48, 3), size=(17, 48), roi_start=(2.5, 1.25), roi_end=(30.1, 44.7)),
        resampled("resize", kind, (33, 48, 3), size=(-40, 91)),
        resampled("resize", kind, (5, 9, 11, 2), size=(7, 9, 20)),
        resampled("resize", CUBIC, (31, 57, 3), size=(53, 30), min_filter=kind, mag_filter=LINEAR),
        resampled("resize", CUBIC, (31, 57, 3), size=(53, 30), antialias=False, min_filter=LINEAR, mag_filter=kind),
        resampled("tensor_resize", kind, (20, 31), scales=(1.7, 0.6), axes=(0, 1)),
    ]  # fmt: skip


def warps_of(kind: types.DALIInterpType) -> list[Call]:
    picture = (70, 45, 3)  # more than a tile
    rows, columns = np.indices((50, 40), np.float32)
    maps = (columns * np.float32(1.1) + np.float32(0.3), rows * np.float32(0.9) + np.float32(0.2))
    # Found by search: with these many points lie close to a border of two pixels.
    matrix, other = (1.1, 0.2, 0.3, -0.1, 0.9, 2.1), (0.9, 0.3, 0.7, -0.2, 1.3, 1.9)
    perspective = (*matrix, 0.001, 0.002, 1.0)
    atol = 0 if kind == NN else 1  # where a sum is fused it may round to the next integer
    both = [
        ("warp_affine", "matrix", matrix, {}),
        ("warp_affine", "matrix", matrix, {"fill_value": 0.0}),
        ("warp_affine", "matrix", other, {"fill_value": 0.0, "inverse_map": False}),
        ("experimental.warp_perspective", "matrix", perspective, {"inverse_map": False}),
        ("rotate", "angle", 33.3, {"keep_size": True}),
        ("rotate", "angle", 90.0, {"keep_size": True, "fill_value": 7.0}),
    ]
    calls = [
        Call(op, picture, {"interp_type": kind, name: value, **more}, atol=atol)
        for op, name, value, more in both
    ]
    calls += [
        Call(op, picture, {"interp_type": kind, **more}, {name: np.float32(value)}, atol=atol)
        for op, name, value, more in both
    ]
    return [
        *calls,
        Call("rotate", (4, 9, 11, 2), {"interp_type": kind, "angle": 20.0, "axis": (1.0, 2.0, 0.5)}, atol=atol),
        Call("water", picture, {"interp_type": kind, "ampl_x": 3.7, "phase_y": 0.3}, atol=atol, oracle=True),
        Call("sphere", picture, {"interp_type": kind}, atol=atol, oracle=True),
        Call("experimental.remap", picture, {"interp": kind}, inputs=maps, atol=atol),
    ]  # fmt: skip


WINDOWS = [
    Call("jitter", (33, 20, 3), {"nDegree": 5}),
    Call("random_resized_crop", (50, 61, 3), {"size": (33, 40), "interp_type": NN}),
    Call("crop", (33, 20, 3), {"crop": (10, 7), "crop_pos_x": 0.3, "crop_pos_y": 0.7}, oracle=True),
    Call("crop_mirror_normalize", (33, 20, 3), {"crop": (9, 7), "mean": (3.0,), "std": (2.0,)}, atol=1e-4),
    Call("slice", (33, 20, 3), {"shape": (10, 14), "axis_names": "HW"}, {"rel_start": np.float32((0.32, 0.21))}),
    Call("paste", (33, 20, 3), {"ratio": 1.7, "fill_value": 3}, {"paste_x": np.float32(0.3)}),
    Call(
        "erase", (33, 20, 3),
        {"anchor": (0.1, 0.2, 0.5, 0.55), "shape": (0.2, 0.3, 0.3, 0.3), "normalized": True, "centered_anchor": True},
    ),
    Call("multi_paste", (33, 20, 3), {"in_anchors_rel": ((0.1, 0.3),), "shapes_rel": ((0.3, 0.31),)}),
    Call("grid_mask", (61, 53, 3), {"angle": 0.3, "tile": 9, "ratio": 0.4, "shift_x": 2.2, "shift_y": 1.1}, oracle=True),
    Call("clahe", (61, 53, 1), {"tiles_x": 5, "tiles_y": 3, "clip_limit": 2.0}, oracle=True),
    Call("audio_resample", (211,), {"scale": 1.37}, atol=1e-5, signal=True),
    # A transform of 20 values between -1 and 1.
    Call("spectrogram", (211,), {"nfft": 20, "window_length": 20, "window_step": 7}, atol=1e-3, signal=True),
]  # fmt: skip

# The same operators again: other filters, other arguments in the program or traced.
MORE_WINDOWS = [
    resampled("random_resized_crop", CUBIC, (50, 61, 3), size=(33, 80)),
    resampled("random_resized_crop", types.INTERP_GAUSSIAN, (50, 61, 3), size=80, antialias=False),
    Call("crop", (33, 20, 3), {"crop": (10, 7)}, {"crop_pos_x": np.float32(0.3)}),
    Call("paste", (33, 20, 3), {"ratio": 1.7, "fill_value": 3, "paste_x": 0.3, "paste_y": 0.7}, oracle=True),
    Call(
        "erase", (33, 20, 3), {"shape": (0.2, 0.3, 0.3, 0.3), "normalized": True, "centered_anchor": True},
        {"anchor": np.float32((0.1, 0.2, 0.5, 0.55))},
    ),
    Call("grid_mask", (61, 53, 3), {"tile": 10, "ratio": 0.5, "shift_x": 3.0}, oracle=True),
    Call("grid_mask", (61, 53, 3), {"tile": 9}, {"angle": np.float32(0.3), "shift_x": np.float32(2.2)}),
    Call("audio_resample", (211,), {"in_rate": 16000.0, "out_rate": 11025.0}, atol=1e-5, signal=True),
]  # fmt: skip

GROUPS: dict[str, list[Call]] = {
    **{f"resize-{name}": sizes_of(kind) for name, kind in FILTERS.items()},
    **{f"warps-{name}": warps_of(FILTERS[name]) for name in ("nearest", "linear")},
    "windows": WINDOWS,
}
LONG = {f"more-{name}": more_sizes_of(kind) for name, kind in FILTERS.items()} | {
    "more-windows": MORE_WINDOWS,
    "warps-cubic": [
        call for call in warps_of(CUBIC) if call.op in ("experimental.warp_perspective", "experimental.remap")
    ],
}


def fewer_warps(calls: list[Call]) -> list[Call]:
    """A call of each operator with traced arguments, and one without; all for `make exhaustive`."""
    alike: dict[tuple[str, bool], list[Call]] = {}
    for call in calls:
        alike.setdefault((call.op, bool(call.traced)), []).append(call)
    return [call for some in alike.values() for call in drawn(some, 1)]


def each_group(*names: str) -> pytest.MarkDecorator:
    """Parametrized over the groups; but those of these names are `exhaustive`."""
    groups = [
        pytest.param(name, marks=() if name in names else pytest.mark.exhaustive) for name in (*GROUPS, *LONG)
    ]
    return pytest.mark.parametrize("name", groups)


# As users compile: tests/support/xla.py chooses older loops, which compile faster.
jit = functools.partial(jax.jit, compiler_options=dict.fromkeys(known_options(OLDER_LOOPS), True))


def calls_of(name: str) -> list[Call]:
    calls = (GROUPS | LONG)[name]
    calls = fewer_warps(calls) if name.startswith("warps") else calls
    return drawn(
        calls, -(-len(calls) // 3), lambda call: f"{name} {call.op} {call.shape} {bool(call.traced)}"
    )


@functools.cache
def plain(call: Call) -> list[np.ndarray]:
    """The call outside of any program, for each picture."""
    return [np.asarray(call(picture, call.operands)) for picture in call.data()]


def compare(call: Call, got: Any, want: np.ndarray) -> None:
    got = np.asarray(got)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), call
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=0, atol=call.atol, err_msg=str(call)
    )


def check(name: str, transform: Callable[[Call], Callable[[Any, Any], Any]]) -> None:
    """All calls of a group, transformed, in one program: pictures and operands of each → results of all pictures."""
    calls = calls_of(name)
    functions = [transform(call) for call in calls]

    def program(data: list[Any], operands: list[Any]) -> list[Any]:
        return [f(*both) for f, *both in zip(functions, data, operands, strict=True)]

    results = jit(program)([call.data() for call in calls], [call.operands for call in calls])
    for call, result in zip(calls, results, strict=True):
        for got, want in zip(result, plain(call), strict=True):
            compare(call, got, want)


# A group compiles for some ten seconds. So each is in one of two transformations at most; filters differ in tables only.
@each_group("windows", "warps-nearest")
def test_jit(name: str):
    check(name, lambda call: lambda data, operands: [call(picture, operands) for picture in data])


@each_group("resize-nearest")
def test_vmap(name: str):
    check(name, lambda call: jax.vmap(call, in_axes=(0, None)))


@each_group()
def test_scan(name: str):
    def looped(call: Call) -> Callable[[Any, Any], Any]:
        return lambda data, operands: jax.lax.scan(lambda _, one: (None, call(one, operands)), None, data)[1]

    check(name, looped)


def total(call: Call, picture: Any, operands: Any) -> Any:
    """A sum with factors that no derivatives cancel by."""
    out = call(picture, operands)
    return jnp.sum(out * (1 + jnp.arange(out.size).reshape(out.shape) / out.size))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FILTERS)
def test_grad(name: str):
    for call in sizes_of(FILTERS[name])[:3]:
        if FILTERS[name] == NN:
            call = dataclasses.replace(call, args=call.args | {"dtype": types.FLOAT})
        derivative = jax.grad(functools.partial(total, call))
        picture = call.data()[0].astype(np.float32)
        want = np.asarray(derivative(picture, call.operands))
        np.testing.assert_allclose(
            jit(derivative)(picture, call.operands), want, rtol=0, atol=1e-5, err_msg=str(call)
        )


@pytest.mark.oracle
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", [name for name, calls in (GROUPS | LONG).items() if any(call.oracle for call in calls)]
)
def test_jit_gives_what_dali_gives(name: str):
    calls = [call for call in calls_of(name) if call.oracle]
    results = jit(lambda data: [call(one, call.operands) for call, one in zip(calls, data, strict=True)])(
        [call.data()[0] for call in calls]
    )
    for call, got in zip(calls, results, strict=True):
        ((want,),) = oracle.run(call.op, [[call.data()[0]]], call.args, layout=call.layout)
        compare(call, got, want)
