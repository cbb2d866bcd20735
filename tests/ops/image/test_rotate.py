"""rotate against the real DALI, NumPy and the definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, oracle
from support.data import image

import jdali.dynamic as jd
from jdali import types
from jdali._errors import SampleError, TracedArgumentError
from jdali._operators.pure import pure_call
from jdali.ops.image._rotate import canvas_size, rotate

# A point is off by a few float32 steps of a coordinate below 20, 2e-6 each, times the largest step
# between neighbours: 1 for floats in [0, 1], 2**16 for int16; integers may then round the other way.
ATOL = {np.uint8: 1, np.int16: 2, np.int32: 16, np.float32: 1e-5}
BORDERS = [{}, {"fill_value": 0.4}]


@pytest.mark.oracle
def test_canvas_of_images_equals_dali_exactly():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 60, (400, 2))
    angles = rng.uniform(-400, 400, 400).astype(np.float32)
    angles[:100] = np.arange(-50, 50) * 22.5  # where sides are swapped or exactly fit
    expected = oracle.run(
        "rotate", [[np.zeros((*s, 1), np.uint8) for s in sizes]], {}, {"angle": list(angles)}, layout="HWC"
    )[0]
    np.testing.assert_array_equal(canvas_size(sizes, angles), [e.shape[:2] for e in expected])


@pytest.mark.oracle
def test_canvas_of_volumes_equals_dali_exactly():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 16, (200, 3))
    angles = rng.uniform(-400, 400, 200).astype(np.float32)
    axes = rng.normal(size=(200, 3)).astype(np.float32)
    angles[:80], axes[:40], axes[40:60] = np.arange(80) * 45, np.eye(3)[np.arange(40) % 3], 1
    expected = oracle.run(
        "rotate", [[np.zeros((*s, 1), np.uint8) for s in sizes]], {},
        {"angle": list(angles), "axis": list(axes)}, layout="DHWC",
    )[0]  # fmt: skip
    np.testing.assert_array_equal(canvas_size(sizes, angles, axes), [e.shape[:3] for e in expected])


def test_canvas_by_hand():
    # 20·cos 30° + 10·sin 30° = 22.3 and 10·cos 30° + 20·sin 30° = 18.7, made even like 20 and 10.
    np.testing.assert_array_equal(canvas_size(np.array([[10, 20]]), np.float32([30])), [[20, 24]])
    # From 45 degrees on the parities are swapped: 11 and 20 give an even height and an odd width.
    np.testing.assert_array_equal(canvas_size(np.array([[11, 20]]), np.float32([45])), [[22, 23]])


@pytest.mark.oracle
@pytest.mark.parametrize("border", BORDERS, ids=str)
@pytest.mark.parametrize("interp", [types.INTERP_NN, types.INTERP_LINEAR], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32], ids=lambda d: d.__name__)
def test_equals_dali(dtype, interp, border):
    samples = [image(11, 14, 3, dtype), image(8, 5, 3, dtype, 1), image(1, 1, 3, dtype, 2)]
    atol = 0 if interp == types.INTERP_NN else ATOL[dtype]
    args = {"interp_type": interp, **border}
    angles = {"angle": [33.0, -141.5, 10.0]}
    contract.check(rotate, [samples], args, angles, layout="HWC", atol=atol)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.int16, np.int32], ids=lambda d: d.__name__)
def test_other_types_equal_dali(dtype):
    samples = [image(7, 9, 1, dtype), image(6, 4, 1, dtype, 1)]
    contract.check(rotate, [samples], {}, {"angle": [33.0, 80.0]}, layout="HWC", atol=ATOL[dtype])


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.float32], ids=lambda d: d.__name__)
def test_output_type_and_its_border_equal_dali(dtype):
    # The border is held in the output's type (300.4 → 255 or 300.4), and read in the input's.
    out = np.uint8 if dtype == np.float32 else np.float32
    samples = [image(7, 9, 4, dtype)]
    atol = 1e-2 if out == np.float32 else 1  # steps of 255
    for interp in (types.INTERP_NN, types.INTERP_LINEAR):
        args = {"dtype": out, "fill_value": 300.4, "angle": 33.0, "interp_type": interp}
        contract.check(rotate, [samples], args, layout="HWC", atol=atol)


@pytest.mark.oracle
def test_sizes_equal_dali():
    samples = [image(7, 9, 3), image(6, 4, 3, seed=1)]
    angles = {"angle": [33.0, 80.0]}
    contract.check(rotate, [samples], {"keep_size": True}, angles, layout="HWC", atol=1)
    contract.check(rotate, [samples], {"size": [4.5, 11.4], "keep_size": True}, angles, layout="HWC", atol=1)
    sizes = angles | {"size": [np.float32([5, 8]), np.float32([9, 3])]}
    contract.check(rotate, [samples], {}, sizes, layout="HWC", atol=1)


@pytest.mark.oracle
def test_sequences_and_volumes_equal_dali():
    video = [image(5 * 4, 6, 2).reshape(4, 5, 6, 2), image(2 * 7, 3, 2, seed=1).reshape(2, 7, 3, 2)]
    angles = {"angle": [33.0, -100.0]}
    contract.check(rotate, [video], {}, angles, layout="FHWC", atol=1)
    turned = angles | {"axis": [np.float32([1, 2, 3]), np.float32([0, -1, 0.5])]}
    contract.check(rotate, [video], {}, turned, layout="DHWC", atol=1)
    args = {"fill_value": 7.0, "angle": 20.0, "axis": (0.3, 0.2, 1.0)}
    contract.check(rotate, [[v[None] for v in video[:1]]], args, layout="FDHWC", atol=1)


@pytest.mark.oracle
@pytest.mark.parametrize("border", BORDERS, ids=str)
def test_images_made_in_tiles_equal_dali(border):
    samples = [image(70, 100, 3), image(61, 40, 3, seed=1)]
    angles = {"angle": [33.0, -100.0]}
    contract.check(rotate, [samples], border, angles, layout="HWC", atol=1, pad=40)


def test_right_angles_equal_numpy():
    picture = image(6, 9, 3)
    for turns in range(-4, 5):
        turned = np.asarray(contract.pure(rotate, [picture], {"angle": 90.0 * turns}))
        # float32 sines of right angles are off by 1e-7; it takes more to round another way.
        np.testing.assert_array_equal(turned, np.rot90(picture, turns))


def test_channel_first_and_gray_images_are_rotated_alike():
    picture = image(6, 9, 3)
    expected = np.rot90(picture)
    args = {"angle": 90.0}
    chw = [np.ascontiguousarray(picture.transpose(2, 0, 1))]
    contract.check(rotate, [chw], args, layout="CHW", expected=[[expected.transpose(2, 0, 1)]])
    contract.check(rotate, [[picture[..., 0]]], args, layout="HW", expected=[[expected[..., 0]]])


def test_clear_padding_of_floats_never_shows():
    padded = np.full((8, 12, 1), np.nan, np.float32)
    padded[:3, :4] = 1
    call = {"interp_type": types.INTERP_LINEAR, "fill_value": None, "dtype": None}
    out = rotate.run(
        jnp.asarray(padded), angle=20.0, **call,
        extent=jnp.array([3, 4, 1]), out_extent=jnp.array([5, 6, 1]), out_shape=(9, 9, 1),
    )  # fmt: skip
    np.testing.assert_allclose(out, 1, atol=1e-6)  # weights sum to 1 except for rounding


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
@pytest.mark.parametrize("shape", [(9, 8), (60, 70)], ids=["whole", "tiled"])
def test_gradients(shape):
    picture = jnp.asarray(image(*shape, 2, np.float32))
    weights = jnp.asarray(image(*shape, 2, np.float32, 5))

    def loss(picture, angle):
        turned = pure_call(rotate, [picture], {"angle": angle, "keep_size": True, "fill_value": 0.0})
        return (turned * weights).sum()

    by_picture, by_angle = jax.jit(jax.grad(loss, argnums=(0, 1)))(picture, 13.0)
    # Linear in the picture: the gradient times the picture is the value.
    np.testing.assert_allclose((by_picture * picture).sum(), loss(picture, 13.0), rtol=1e-4)
    step = 0.02
    slope = (loss(picture, 13.0 + step) - loss(picture, 13.0 - step)) / (2 * step)
    # Bilinear interpolation has kinks at pixel centres, which a finite step crosses.
    np.testing.assert_allclose(by_angle, slope, rtol=0.05, atol=0.02)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_vmap_over_images_and_angles():
    pictures = np.stack([image(40, 70, 3), image(40, 70, 3, seed=1)])
    angles = np.float32([10, -70])

    def one(picture, angle):
        return pure_call(rotate, [picture], {"angle": angle, "keep_size": True})

    both = jax.jit(jax.vmap(one))(pictures, angles)
    for picture, angle, got in zip(pictures, angles, both, strict=True):
        # Fused and separate multiply-adds may round a value to either side of a half.
        contract.compare(got, one(picture, angle), 1, "vmap against single calls")


def test_the_angle_is_needed_only_for_the_canvas():
    assert rotate.needed_by_setup({"angle": 0}) == {"angle"}
    assert rotate.needed_by_setup({"angle": 0, "axis": 0}) == {"angle", "axis"}
    assert rotate.needed_by_setup({"angle": 0, "keep_size": True}) == frozenset()
    assert rotate.needed_by_setup({"angle": 0, "size": (3, 4)}) == {"size"}
    with pytest.raises(TracedArgumentError, match="rotate: argument 'angle' decides the size"):
        jax.jit(lambda a: pure_call(rotate, [image(3, 4)], {"angle": a}))(3.0)


@pytest.mark.parametrize(
    ("picture", "args", "layout", "message"),
    [
        (image(3, 4), {"interp_type": types.INTERP_CUBIC}, "HWC", "rotate: Only nearest and linear interpolation is supported"),
        (image(3, 4), {"size": (3, 4, 3)}, "HWC", "rotate: .*output_size must specify same number of dimensions as the"),
        (image(3, 4), {"size": (3, -1)}, "HWC", r"rotate: Output size must be positive, .* got \[3.0, -1.0\]"),
        (image(3, 4), {"size": (3, np.nan)}, "HWC", r"rotate: Output size must be positive, .* got \[3.0, nan\]"),
        (image(3, 4), {"size": (3, np.inf)}, "HWC", r"rotate: Output size must be .* below 2\*\*31, got \[3.0, inf\]"),
        (image(3, 4), {"angle": np.nan}, "HWC", "rotate: angle is nan, it must be finite"),
        (image(3, 4), {"angle": np.inf}, "HWC", "rotate: angle is inf, it must be finite"),
        (image(3, 4)[None], {"angle": np.nan, "axis": (1, 0, 0)}, "DHWC", "rotate: angle is nan, it must be finite"),
        (image(3, 4)[None], {"axis": (1, np.nan, 0)}, "DHWC", r"rotate: axis is \[1.0, nan, 0.0\], it must be finite"),
        (image(0, 4), {}, "HWC", "rotate: the image has no pixels"),
        (image(3, 4)[None], {}, "DHWC", "rotate: Argument `axis` is required: volumes"),
        (image(3, 4)[None], {"axis": (0, 0, 0)}, "DHWC", "rotate: axis has no length"),
        (image(3, 4)[None], {"axis": (1, 0)}, "DHWC", r'rotate: Argument `axis` must be a 3D vector \(x, y, z\), got 2 values'),
    ],
)  # fmt: skip
def test_errors(picture, args, layout, message):
    with pytest.raises(ValueError, match=message):
        pure_call(rotate, [picture], {"angle": 10.0, **args}, layout=layout)


def test_an_angle_that_is_no_number_names_its_sample():
    """DALI raises a RuntimeError too."""
    pictures, angles = jd.as_batch([image(3, 4)] * 2, layout="HWC"), jd.as_batch(np.float32([1, np.nan]))
    with pytest.raises(RuntimeError, match=r"rotate: angle is nan, it must be finite\n  sample 1"):
        jd.rotate(pictures, angle=angles)
    sequences = jd.as_batch([np.stack([image(3, 4)] * 2)] * 2, layout="FHWC")
    by_frame = jd.as_batch(np.float32([[1, 2], [np.inf, 1]]), layout="F")
    with pytest.raises(RuntimeError, match=r"rotate: angle is inf, it must be finite(.|\n)*  sample 1"):
        jd.rotate(sequences, angle=by_frame)


def test_an_error_names_its_sample():
    with pytest.raises(SampleError) as caught:
        contract.check(
            rotate, [[image(3, 4), image(3, 4)]], {}, {"angle": [0, 1], "size": [(2, 2), (0, 2)]},
            layout="HWC", expected=[[np.zeros((2, 2, 3), np.uint8)] * 2],
        )  # fmt: skip
    assert caught.value.argument == "size"
