"""warp_affine against the real DALI and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, oracle
from support.data import image

import jdali
from jdali import types
from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.image._warp_affine import warp_affine

# No point of these lies on the border of two pixels, where the last bit would decide.
MATRIX = [1.0973, 0.2031, -1.0421, -0.3117, 0.8071, 2.0533]
VOLUME = [1.0973, 0.2031, 0.1007, -1.0421, -0.3117, 0.8071, 0.2003, 2.0533, 0.1009, 0.2011, 1.2007, -1.013]


@pytest.mark.oracle
@pytest.mark.parametrize("border", [{}, {"fill_value": 0.4}], ids=str)
@pytest.mark.parametrize("interp", [types.INTERP_NN, types.INTERP_LINEAR], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32], ids=lambda d: d.__name__)
def test_equals_dali(dtype, interp, border):
    samples = [image(11, 14, 3, dtype), image(5, 4, 3, dtype, 1)]
    # Linear: a point is off by a few float32 steps, 2e-6 each below 20, times the step to a neighbour.
    atol = 0 if interp == types.INTERP_NN else 1 if dtype == np.uint8 else 2e-5
    args = {"matrix": MATRIX, "interp_type": interp, **border}
    contract.check(warp_affine, [samples], args, layout="HWC", atol=atol)


# Each puts many points on the border of two pixels, or so near to it that float32 decides.
NEAR_BORDERS = [
    [0.9, 0.3, -4, -0.3, 0.9, 6], [1.2, 0.4, -10, -0.4, 1.2, 10], [0.8, 0.2, 3, -0.2, 0.8, 5],
    [0.5, 0, 0, 0, 0.5, 0], [1.5, 0, 0, 0, 1.5, 0], [1, 0, 0.5, 0, 1, 0.5], [-1, 0, 61.5, 0, -1, 33.5],
    [1, 0.25, 0.25, -0.25, 1, 0.25], [0.6, 0.8, -3, -0.8, 0.6, 20],
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("matrix", NEAR_BORDERS, ids=str)
def test_nearest_pixels_differ_from_dali_only_where_a_point_lies_on_their_border(matrix):
    height, width = 33, 61
    numbers = np.arange(1, height * width + 1, dtype=np.float32).reshape(height, width, 1)
    args = {"matrix": matrix, "interp_type": types.INTERP_NN, "fill_value": 0.0}
    (theirs,) = oracle.run("warp_affine", [[numbers]], args, layout="HWC")[0]
    mine = np.asarray(jdali.ops.warp_affine(numbers, **args | {"matrix": tuple(matrix)}))
    y, x = np.mgrid[:height, :width] + 0.5
    by_x, by_y, shift = np.float32(matrix).astype(np.float64).reshape(2, 3).T[:, :, None, None]
    points = by_x * x + by_y * y + shift
    # Quarters are exact in float32. Of others, below 64 a step is 4e-6, and DALI adds up 61 of them along a row.
    rounded = any(4 * n % 1 for n in matrix)
    on_border = rounded & (np.abs(points - np.rint(points)) < 61 * 4e-6).any(axis=0)
    columns, rows = np.floor(points).astype(int)
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    want = np.where(inside, rows * width + columns + 1, 0)
    for got in (mine, theirs):
        np.testing.assert_array_equal(got[..., 0][~on_border], want[~on_border])
    assert on_border.mean() < 0.5


@pytest.mark.oracle
def test_forward_maps_and_sizes_equal_dali():
    samples = [image(9, 7, 3, np.float32), image(5, 4, 3, np.float32, 1)]
    args = {"matrix": MATRIX, "inverse_map": False, "fill_value": 0.0, "size": [7.5, 9.0]}
    # As above; the inverse adds a few more steps of float32.
    contract.check(warp_affine, [samples], args, layout="HWC", atol=5e-5)


@pytest.mark.oracle
def test_matrices_of_samples_equal_dali():
    samples = [image(9, 7, 3), image(5, 4, 3, seed=1)]
    matrices = [np.float32(MATRIX).reshape(2, 3), np.float32([[0.5, 0.1, 0.3], [0, 2, 0.7]])]
    contract.check(warp_affine, [samples], {}, {"matrix": matrices}, layout="HWC", atol=1)
    contract.check(warp_affine, [samples, matrices], {}, layout=["HWC", ""], atol=1)
    # The second input wins over the argument.
    contract.check(warp_affine, [samples, matrices], {"matrix": [2.0] * 6}, layout=["HWC", ""], atol=1)


@pytest.mark.oracle
@pytest.mark.parametrize("forward", [True, False])
def test_volumes_and_sequences_equal_dali(forward):
    data = [image(4 * 5, 6, 2).reshape(4, 5, 6, 2)]
    args = {"matrix": VOLUME, "inverse_map": not forward}
    contract.check(warp_affine, [data], args, layout="DHWC", atol=1)
    args = {"matrix": MATRIX, "inverse_map": not forward}
    contract.check(warp_affine, [data], args, layout="FHWC", atol=1)


def test_whole_shifts_are_slices():
    picture = image(6, 8, 3)
    shifted = np.zeros_like(picture)
    shifted[:-1, :-2] = picture[1:, 2:]
    args = {"matrix": [1.0, 0, 2, 0, 1, 1], "fill_value": 0.0}  # output (x, y) shows input (x+2, y+1)
    contract.check(warp_affine, [[picture]], args, layout="HWC", expected=[[shifted]])
    args = {"matrix": [1.0, 0, -2, 0, 1, -1], "fill_value": 0.0, "inverse_map": False}
    contract.check(warp_affine, [[picture]], args, layout="HWC", expected=[[shifted]])


def test_enlarging_twice_repeats_pixels():
    picture = image(5, 4, 1)
    doubled = picture.repeat(2, axis=0).repeat(2, axis=1)
    args = {"matrix": [0.5, 0, 0, 0, 0.5, 0], "size": [10, 8], "interp_type": types.INTERP_NN}
    contract.check(warp_affine, [[picture]], args, layout="HWC", expected=[[doubled]])


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_gradient_by_the_matrix():
    # On a ramp the value is the point's x itself, so the derivative by the shift is 1 inside.
    ramp = jnp.broadcast_to(jnp.arange(6, dtype=jnp.float32)[None, :, None], (5, 6, 1))

    def value(shift):
        matrix = jnp.array([1.0, 0, 0, 0, 1, 0]).at[2].set(shift)
        return pure_call(warp_affine, [ramp], {"matrix": matrix})[2, 2, 0]

    np.testing.assert_allclose(jax.grad(value)(0.3), 1.0, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.grad(value))(0.3), 1.0, rtol=1e-5)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "warp_affine: `matrix` argument must be provided when transforms are not"),
        ({"matrix": [1.0] * 5}, "warp_affine: `matrix` parameter must have 6 elements for 2 axes of space"),
        ({"matrix": [1.0, 2, 0, 2, 4, 0], "inverse_map": False}, "warp_affine: matrix has no inverse"),
        (
            {"matrix": MATRIX, "size": [3.0]},
            "warp_affine: .*output_size must specify same number of dimensions as the",
        ),
        (
            {"matrix": MATRIX, "interp_type": types.INTERP_CUBIC},
            "warp_affine: Only nearest and linear interpolation is supported, got",
        ),
    ],
)
def test_errors(args, message):
    with pytest.raises(ValueError, match=message):
        pure_call(warp_affine, [image(3, 4)], args)


def test_the_error_of_a_matrix_names_its_sample():
    matrices = {"matrix": [np.eye(2, 3, dtype=np.float32), np.zeros((2, 3), np.float32)]}
    with pytest.raises(SampleError) as caught:
        contract.check(
            warp_affine, [[image(3, 4)] * 2], {"inverse_map": False}, matrices, layout="HWC",
            expected=[[image(3, 4)] * 2],
        )  # fmt: skip
    assert caught.value.argument == "matrix"
