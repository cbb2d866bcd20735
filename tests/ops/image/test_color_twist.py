"""hsv, hue, saturation and color_twist against the real DALI, and against their definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, oracle
from support.data import image

from jdali import types
from jdali._operators.pure import pure_call
from jdali.ops.image._color_twist import color_twist, hsv, hue, saturation

SIZES = [(5, 8), (1, 1)]


def pictures(dtype):
    return [image(h, w, 3, dtype, i) for i, (h, w) in enumerate(SIZES)]


def tolerance(dtype, largest=1.0):
    # Sums of three float32 products in another order, with a matrix that is itself rounded: some ulp
    # of the largest term; an integer rounded from it may differ by one step.
    return 2e-6 * largest if np.dtype(dtype).kind == "f" else 1.0


def test_gray_and_saturation_by_definition():
    picture = image(4, 5, 3, np.float32)
    luma = (picture @ np.float32([0.299, 0.587, 0.114]))[..., None]
    # The YIQ matrix has three digits, and its rows do not quite cancel on gray: a few thousandths.
    expected = np.repeat(luma, 3, axis=-1)
    contract.check(
        saturation, [[picture]], {"saturation": 0.0}, layout="HWC", atol=3e-3, expected=[[expected]]
    )
    gray = np.repeat(image(4, 5, 1, np.float32), 3, axis=-1)
    contract.check(hue, [[gray]], {"hue": 77.0}, layout="HWC", atol=3e-3, expected=[[gray]])


def test_nothing_to_do_and_full_turn():
    pictures = [image(4, 5)]
    for args in ({}, {"hue": 360.0}):
        contract.check(color_twist, [pictures], args, layout="HWC", expected=[pictures])


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float16, np.float32])
def test_color_twist(dtype):
    per_sample = {
        "hue": [40.0, -100.0],
        "saturation": [0.5, 1.5],
        "contrast": [0.6, 1.4],
        "brightness": [0.7, 1.2],
    }
    largest = 4e6 if dtype == np.int32 else 4e4 if dtype == np.int16 else 300
    # int32: four ulp of a product of some 1e6. float16: one ulp of a result of up to 2.
    atol = {"i": max(1, 2e-6 * largest), "u": 1, "f": 2e-6}[np.dtype(dtype).kind]
    atol = 2e-3 if dtype == np.float16 else atol
    contract.check(
        color_twist, [pictures(dtype)], {}, per_sample, layout="HWC", atol=atol, compiled_atol=atol
    )


@pytest.mark.oracle
@pytest.mark.parametrize("op", [hue, saturation, hsv], ids=lambda o: o.name)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_single_changes(op, dtype):
    args = {"hue": {"hue": 200.0}, "saturation": {"saturation": 1.7}}
    args = args.get(op.name, {"hue": 31.0, "saturation": 0.3, "value": 1.1})
    out = np.uint8 if op is hsv else dtype
    if op is hsv:  # whose pure function keeps floats unless told otherwise
        args["dtype"] = types.UINT8
    contract.check(op, [pictures(dtype)], args, layout="HWC", atol=tolerance(out))


@pytest.mark.oracle
@pytest.mark.parametrize("out", [types.UINT8, types.INT16, types.INT32, types.FLOAT16, types.FLOAT])
def test_output_types(out):
    args = {"hue": 31.0, "saturation": 2.3, "value": 1.1, "dtype": out}
    atol = {types.FLOAT16: 0.5, types.FLOAT: 6e-4}.get(out, 1.0)  # one ulp of 500, and 2e-6 of 300
    contract.check(hsv, [pictures(np.uint8)], args, layout="HWC", atol=atol, compiled_atol=atol)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["FHWC", "DHWC"])
def test_layouts(layout):
    samples = [np.stack(pictures(np.uint8)[:1] * 2) if layout else pictures(np.uint8)[0]]
    contract.check(color_twist, [samples], {"hue": 40.0, "contrast": 0.7}, layout=layout, atol=1)


@pytest.mark.oracle
@pytest.mark.parametrize("op", [hsv, hue, saturation, color_twist], ids=lambda o: o.name)
@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_channels_behind_the_colours_stay_as_they_are(op, layout):
    """DALI reads such images as pixels of three channels, and leaves the end of its output as it was."""
    args = {"saturation": 1.7} if op is saturation else {"hue": 40.0}
    samples = [image(5, 8, 4), image(3, 2, 3, seed=1), image(4, 6, 5, seed=2)]
    colours = [np.ascontiguousarray(sample[..., :3]) for sample in samples]
    (made,) = oracle.run(op.name, [colours], args, layout="HWC")
    expected = [np.concatenate([m, s[..., 3:]], -1) for m, s in zip(made, samples, strict=True)]
    if layout == "CHW":
        samples, expected = ([v.transpose(2, 0, 1) for v in values] for values in (samples, expected))
    contract.check(op, [samples], args, layout=layout, atol=1, expected=[expected])


def test_channels_first():
    picture = image(4, 5)
    expected = contract.pure(hue, [picture], {"hue": 90.0}, layout="HWC")
    planes = contract.pure(hue, [picture.transpose(2, 0, 1)], {"hue": 90.0}, layout="CHW")
    np.testing.assert_array_equal(planes, np.transpose(expected, (2, 0, 1)))


def test_gradient_and_vmap():
    picture = jnp.asarray(image(3, 4, 3, np.float32))

    def total(value):
        return pure_call(hsv, [picture], {"value": value, "saturation": 1.0, "dtype": types.FLOAT}).sum()

    gradient = jax.jit(jax.vmap(jax.grad(total)))(jnp.float32([1, 3]))
    np.testing.assert_allclose(gradient, [picture.sum()] * 2, rtol=1e-5)


@pytest.mark.parametrize("op", [hsv, hue, saturation, color_twist], ids=lambda o: o.name)
def test_errors(op):
    # DALI reads and writes past the end of such images.
    with pytest.raises(ValueError, match=f"{op.name}: needs images of 3 channels or more; sample 0 has 1"):
        pure_call(op, [image(2, 3, 1)], {})
    with pytest.raises(TypeError, match=f"{op.name}: Unsupported input type: bool. It has no intensities"):
        pure_call(op, [np.zeros((2, 2, 3), bool)], {})
