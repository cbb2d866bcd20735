"""Loops in compiled operators end, whatever the data are: each is known, and bounded."""

import jax
import pytest
from ops.pure_calls import call, one, samples
from ops.pure_cases import CASES, LARGE

# A `while` of the compiler's that runs until its data say so would hang on NaN, and on padding. Those that
# there are have a bound:
BOUNDED = {
    "noise.shot": "attempts are counted, and only elements within the extent are waited for",
    "random.beta": "attempts are counted, and only elements within the extent are waited for",
    "resize": "over blocks of rows, tiles of columns and taps of the filter, whose number `setup` works out",
    "resize_crop_mirror": "as `resize`",
    "random_resized_crop": "as `resize`",
    "rotate": "over the tiles of the result, of a size that `setup` works out",
    "warp_affine": "as `rotate`",
    "experimental.warp_perspective": "as `rotate`",
    "experimental.remap": "as `rotate`",
    "water": "as `rotate`",
    "sphere": "as `rotate`",
    "tensor_resize": "as `resize`",
    "gaussian_blur": "over blocks of the axes of large volumes, whose number follows from sizes",
    "laplacian": "over blocks of rows, whose number follows from sizes, and derivatives",
    "multi_paste": "over tiles of regions, which are cut off at the images",
    "experimental.median_blur": "over the bits of a value",
    "fast_resize_crop_mirror": "as `resize`",
    "mixup": "as `random.beta`",
    "cutmix": "as `random.beta`",
}


def primitives(jaxpr):
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for value in equation.params.values():
            for inner in value if isinstance(value, (list, tuple)) else [value]:
                if hasattr(inner, "jaxpr"):  # a closed one
                    inner = inner.jaxpr
                if hasattr(inner, "eqns"):
                    yield from primitives(inner)


@pytest.mark.cases(60)
@pytest.mark.parametrize("case", [*CASES, *LARGE], ids=str)
def test_no_loop_that_only_data_end(case):
    found = "while" in primitives(jax.make_jaxpr(lambda s: call(case, s))(one(samples(case, 1), 0)).jaxpr)
    assert not found or case.op in BOUNDED


def test_the_search_finds_loops():
    loop = jax.jit(lambda x: jax.lax.while_loop(lambda s: s < 3, lambda s: s + 1, x))
    assert "while" in primitives(jax.make_jaxpr(loop)(0).jaxpr)
