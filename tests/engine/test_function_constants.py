"""Calls whose inputs are all known, inside of programs that are being traced: constants of these."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.data import image
from support.some import some

import jdali
from jdali import fn, types
from jdali.auto_aug.augmentations import brightness, invert, rotate
from jdali.auto_aug.trivial_augment import apply_trivial_augment

PICTURES = np.stack([image(8, 9, 3, np.uint8, seed) for seed in range(2)])
IDS = np.arange(2)

PROGRAMS: Mapping[str, Callable[[Callable[[], Any]], Any]] = {
    "jit": lambda call: jax.jit(lambda factor: call() * factor)(1),
    "scan": lambda call: jax.lax.scan(lambda state, _: (state, call()), 0, length=2)[1][1],
    "map": lambda call: jax.lax.map(lambda factor: call() * factor, np.ones(2, np.int32))[0],
    "while_loop": lambda call: jax.lax.while_loop(
        lambda state: state[0] < 1, lambda state: (state[0] + 1, call()), (0, jnp.zeros_like(call()))
    )[1],
    "cond": lambda call: jax.jit(
        lambda flag: jax.lax.cond(flag, call, lambda: jnp.zeros_like(call()))
    )(True),
    "checkpoint": lambda call: jax.checkpoint(lambda factor: call() * factor)(1),
    "vmap": lambda call: jax.vmap(lambda factor: call() * factor)(np.ones(2, np.int32))[0],
    "grad": lambda call: jax.grad(lambda values: (values * call()).sum())(jnp.zeros(call().shape)),
}  # fmt: skip


@functools.cache
def function() -> Any:
    with jdali.Pipeline(batch_size=2, num_threads=1, seed=3) as pipe:
        pictures = fn.external_source([PICTURES], name="pictures", layout="HWC", cycle=True)
        turned = fn.rotate(pictures, angle=fn.random.uniform(range=[-30, 30]))
        pipe.set_outputs(fn.resize(turned, size=[4, 6], interp_type=types.INTERP_NN))  # compiles quickly
    return pipe.function("pictures")


AUGMENTATIONS = [
    brightness.augmentation((0.1, 1.9)), rotate.augmentation((0.0, 30.0)), invert,
]  # fmt: skip
CALLS: Mapping[str, Callable[[], Any]] = {
    "a function": lambda: function()(PICTURES, index=IDS),
    "a function of arrays of JAX": lambda: function()(jnp.asarray(PICTURES), index=IDS),
    "a sample": lambda: function().sample(PICTURES[0], index=0),
    "auto_aug": lambda: apply_trivial_augment(AUGMENTATIONS, PICTURES[0], key=jax.random.key(1)),
    "dynamic": lambda: jnp.asarray(
        np.asarray(jdali.dynamic.rotate(jdali.dynamic.tensor(PICTURES[0], layout="HWC"), angle=30.0))
    ),
}


@pytest.mark.cases(2)
@some("program, call", itertools.product(PROGRAMS, CALLS))
def test_values_are_those_outside(program: str, call: str):
    np.testing.assert_array_equal(np.asarray(PROGRAMS[program](CALLS[call])), np.asarray(CALLS[call]()))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 10, 9, 3), np.uint8), np.zeros((2, 8, 5, 3), np.uint8), np.zeros((3, 8, 9, 3), np.uint8),
        np.zeros((2, 8, 9, 3), np.float32), np.zeros((2, 8, 9), np.uint8),
    ],
    ids=["larger", "smaller", "more", "floats", "fewer axes"],
)  # fmt: skip
def test_a_plan_for_other_arrays_is_refused(array: np.ndarray):
    plan = function().plan(PICTURES, index=IDS)
    with pytest.raises(ValueError, match=r"^the plan is for 'pictures' of uint8 \[2, 8, 9, 3\], got"):
        function()(array, plan=plan, index=np.arange(len(array)))
    with pytest.raises(ValueError, match="^the plan is for 'pictures'"):
        jax.jit(lambda array, plan: function()(array, plan=plan, index=np.arange(len(array))))(array, plan)


def test_a_plan_for_ragged_samples_is_also_of_larger_arrays():
    sizes = np.int32([[8, 9, 3], [5, 7, 3]])
    plan = function().plan(PICTURES, extents=sizes, index=IDS)
    wide = np.pad(PICTURES, [(0, 0), (0, 2), (0, 1), (0, 0)])
    want = function()(PICTURES, extents=sizes, index=IDS)
    got = function()(wide, plan=plan, index=IDS)
    np.testing.assert_array_equal(got.array, want.array)
    with pytest.raises(ValueError, match="^the plan is for 'pictures'"):
        function()(PICTURES[:, :6], plan=plan, index=IDS)
