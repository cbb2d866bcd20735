"""random_resized_crop: it is `resize` of the window that `random_window` draws from the sample's key."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import oracle
from support.data import image

from jdali._batches import BatchSpec
from jdali._kernels.random_window import window_function
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import CallRequest, plan_call, run_call
from jdali._operators.pure import pure_call
from jdali.ops.image._random_resized_crop import random_resized_crop

AREA, ASPECT = (0.2, 0.8), (0.75, 1.25)
ARGS = {"size": [7, 5], "random_area": AREA, "random_aspect_ratio": ASPECT}


def keys_of(count):
    return SampleKeys(seed_words(5), 2, np.full(count, 3, np.uint32), np.arange(count, dtype=np.uint32))


def batch_run(samples, args, layout="HWC", pad=4):
    """Results of a compiled batch of padded samples, and the windows they were taken from."""
    keys, spec = keys_of(len(samples)), BatchSpec.of(samples, layout)
    planned = plan_call(CallRequest(random_resized_crop, [spec], args, batch_size=len(samples), keys=keys))
    largest = spec.extents.max(axis=0)
    shape = [int(n) + pad * (layout[a] in "HW") for a, n in enumerate(largest)]
    padded = np.zeros((len(samples), *shape), spec.dtype)
    for row, sample in zip(padded, samples, strict=True):
        row[tuple(map(slice, sample.shape))] = sample
    out = planned.outputs[0].extents
    results = run_call(
        planned.call, [jnp.asarray(padded)], [jnp.asarray(spec.extents, jnp.int32)],
        {k: jnp.asarray(v) for k, v in planned.traced.items()}, [jnp.asarray(out, jnp.int32)],
        [tuple(int(n) for n in out[0])], jax.random.split(jax.random.key(0), len(samples)),
    )[0]  # fmt: skip
    axes = [spec.axis("H"), spec.axis("W")]
    draw = window_function("test", args["random_area"], args["random_aspect_ratio"], 10)
    windows = keys.map(draw, spec.extents[:, axes].astype(np.int32))
    return np.asarray(results), windows


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "dtype", "atol"), [("HWC", np.float32, 1e-5), ("HWC", np.uint8, 1), ("FHWC", np.float32, 1e-5)]
)
def test_equals_dalis_resize_of_the_window(layout, dtype, atol):
    samples = [image(20 + s, 26 - s, 3, dtype, s) for s in range(4)]
    if layout == "FHWC":
        samples = [np.stack([s, s[::-1]]) for s in samples]
    got, (anchor, shape) = batch_run(samples, ARGS, layout)
    window = {
        "roi_start": list(anchor.astype(np.float32)),
        "roi_end": list((anchor + shape).astype(np.float32)),
    }
    want = oracle.run("resize", [samples], {"size": [7, 5]}, window, layout=layout)[0]
    # Sums in another order, and integers that were at .5 except for that.
    np.testing.assert_allclose(got.astype(float), np.stack(want).astype(float), atol=atol)


def test_a_window_of_the_size_asked_for_is_cut_out_unchanged():
    picture = image(20, 20, 3)
    args = {"size": 10, "random_area": (0.25, 0.25), "random_aspect_ratio": (1.0, 1.0)}
    got, (anchor, shape) = batch_run([picture], args)
    assert shape.tolist() == [[10, 10]]
    top, left = anchor[0]
    np.testing.assert_array_equal(got[0], picture[top : top + 10, left : left + 10])


def test_the_key_decides():
    picture = image(30, 40, 1, np.float32)

    run = jax.jit(lambda key: pure_call(random_resized_crop, [picture], ARGS, key=key, layout="HWC"))
    first, again, other = run(jax.random.key(1)), run(jax.random.key(1)), run(jax.random.key(2))
    assert first.shape == (7, 5, 1)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


@pytest.mark.oracle
def test_type_and_shape_equal_dali():
    for args in ({"size": 5}, {"size": [5, 7], "dtype": np.float32}, {"size": [0, 7]}):
        want = oracle.run("random_resized_crop", [[image(9, 8)]], args, layout="HWC")[0][0]
        got = jax.eval_shape(
            lambda key, args=args: pure_call(random_resized_crop, [image(9, 8)], args, key=key, layout="HWC"),
            jax.random.key(0),
        )
        assert (got.shape, got.dtype) == (want.shape, want.dtype)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            {"size": [1, 2, 3]},
            r"Argument .size. expects either a single value or a list of 2 elements. 3 given",
        ),
        ({"size": [3, -4]}, r"Input size less than zero not supported. Got size == \(3, -4\)"),
        ({"size": 3, "random_area": [0.5, 0.1]}, "Provided empty range: random_area must be"),
        ({"size": 3, "num_attempts": 0}, "num_attempts must be at least 1"),
    ],
    ids=str,
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=f"random_resized_crop: {message}"):
        pure_call(random_resized_crop, [image(9, 8)], args, key=jax.random.key(0), layout="HWC")
