"""Conditionals in `Pipeline.function` and `Pipeline.export`: the bits of the pipeline, whose branches see their samples only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import COUNT, ENCODED, PICTURES, SEED, first_batch, padded
from support.some import some

import jdali
from jdali import fn, types
from jdali._errors import TracedArgumentError

IDS = np.arange(COUNT)
ARRAY, SIZES = padded(PICTURES)


def conditional(define: Callable[[], Any]) -> jdali.Pipeline:
    return jdali.pipeline_def(define, enable_conditionals=True)(
        batch_size=COUNT, num_threads=1, seed=SEED
    )  # fmt: skip


def pictures() -> Any:
    return fn.decoders.image(pipelines.encoded(), device="mixed", name="pictures")


def drawn() -> Any:
    """Both branches draw, one nests another; the sizes are those of the picture in each."""
    image = pictures()
    if fn.random.coin_flip(dtype=types.BOOL, name="coin"):
        out = fn.brightness(image, brightness=fn.random.uniform(range=(0.5, 1.5)))
    elif fn.random.uniform(range=(0.0, 1.0), name="other") > 0.5:
        out = fn.flip(image, horizontal=1)
    else:
        out = image
    return out


def by_size() -> Any:
    """The branch follows from the size of the picture, and decides that of the result."""
    image = pictures()
    high = image.shape()[0] > 50
    if high and not image.shape()[1] > 45:
        out = fn.resize(image, size=(10, 12), interp_type=types.INTERP_NN)  # compiles quickly
    else:
        out = fn.crop(image, crop=(20, 16))
    return out


def by_value() -> Any:
    """The branch follows from the elements of the picture; the results have one size."""
    image = fn.resize(pictures(), size=(12, 10), antialias=False)
    if fn.reductions.mean(image) > 127.0:
        out = fn.cast(image, dtype=types.FLOAT) * 2.0
    else:
        out = fn.cast(image, dtype=types.FLOAT)
    return out


PIPELINES = {"drawn": drawn, "by size": by_size, "by value": by_value}


def check(out: Any, want: list[np.ndarray]) -> None:
    for array, size, sample in zip(*map(np.asarray, out), want, strict=True):
        np.testing.assert_array_equal(array[tuple(map(slice, size))], sample, strict=True)


@pytest.mark.cases(1)
@some("name", PIPELINES, lambda name: [name == "by value"])
def test_the_bits_of_the_pipeline(name: str):
    pipe = conditional(PIPELINES[name])
    function, want = pipe.function("pictures"), first_batch(pipe)[0]
    check(function(ARRAY, extents=SIZES, index=IDS), want)
    plan = function.plan(ARRAY, extents=SIZES, index=IDS)
    program = jax.jit(lambda x, plan, index: function(x, plan=plan, index=index))
    check(program(ARRAY, plan, IDS), want)


@pytest.mark.cases(1)
@some("name", PIPELINES, lambda name: [name == "drawn"])
def test_the_same_bits_from_a_folder(name: str, tmp_path: Path):
    pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")
    pipe = conditional(PIPELINES[name])
    pipe.export(tmp_path / "folder", shapes=[(64, 64)], deterministic=False, platforms=["cpu"])
    out = jdali.load(tmp_path / "folder")(ENCODED, index=IDS)
    want = first_batch(pipe)[0]
    if isinstance(out, tuple):
        check(out, want)
    else:
        np.testing.assert_array_equal(out, np.stack(want), strict=True)


def test_a_value_in_place_of_the_condition_leaves_one_branch():
    pipe = conditional(drawn)
    function = pipe.function("pictures", deterministic={"coin": False, "other": 0.75})
    assert function.random == ()
    check(function(ARRAY, extents=SIZES), [picture[:, ::-1] for picture in PICTURES])


def test_a_condition_on_elements_that_decides_sizes_is_known_outside_of_programs_only():
    def define() -> Any:
        image = pictures()
        if fn.reductions.mean(image) > 127.0:
            out = fn.crop(image, crop=(8, 8))
        else:
            out = image
        return out

    pipe = conditional(define)
    function = pipe.function("pictures")
    check(function(ARRAY, extents=SIZES), first_batch(pipe)[0])
    with pytest.raises(TracedArgumentError, match=r"branches give samples of different sizes.*f\.plan"):
        jax.jit(lambda x: function(x, extents=SIZES))(ARRAY)
    with pytest.raises(ValueError, match=r"Pipeline\.export: sizes are decided by the elements"):
        pipe.export("never", shapes=[(64, 64)])


def alone() -> Any:
    image = pictures()
    if fn.random.coin_flip(dtype=types.BOOL):
        out = fn.pad(image)
    else:
        out = image
    return out


def other_types() -> Any:
    image = pictures()
    if fn.random.coin_flip(dtype=types.BOOL):
        out = fn.cast(image, dtype=types.FLOAT)
    else:
        out = image
    return out


def too_large() -> Any:
    image = pictures()
    if image.shape()[0] > 100:
        out = fn.crop(image, crop=(100, 50))
    else:
        out = image
    return out


def decodes() -> Any:
    image = pictures()
    if image.shape()[0] > 50:
        out = image
    else:
        out = fn.decoders.image(pipelines.encoded("others"), device="mixed", name="inner")
    return out


def test_what_no_function_does_is_named():
    with pytest.raises(ValueError, match=r"pad '.*depends on the other samples of its branch"):
        conditional(alone).function("pictures")
    with pytest.raises(ValueError, match=r"'inner' .* is computed in one branch of a conditional"):
        conditional(decodes).function(("pictures", "inner"))
    with pytest.raises(jdali.OperatorError, match=r"must give one type and number of axes"):
        conditional(other_types).function("pictures")(ARRAY, extents=SIZES, index=IDS)
    with pytest.raises(jdali.OperatorError, match=r"crop") as raised:
        conditional(too_large).function("pictures")(ARRAY, extents=SIZES)
    assert "computes every branch for all samples" in raised.value.__notes__[0]
