"""transforms.* against the real DALI and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._kernels.affine_matrix import inverse
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY

PLANE = [np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[0.5, -1, 2], [3, 0.1, 0]])]
SPACE = [np.arange(12, dtype=np.float32).reshape(3, 4), np.float32(np.eye(3, 4))]

# (operator, arguments for all samples, arguments of two samples)
MAKERS = [
    ("translation", {}, {"offset": [[3.0, 4.0], [-1.0, 0.5]]}),
    ("translation", {}, {"offset": [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]}),
    ("translation", {}, {"offset": [3.0, 4.0]}),
    ("scale", {}, {"scale": [[2.0, 3.0], [0.5, -1.0]]}),
    ("scale", {"ndim": 3}, {"scale": [2.0, 3.0]}),
    ("scale", {"ndim": 3}, {"scale": [[2.0, 3.0], [0.5, -1.0]]}),
    ("scale", {"center": 1.5}, {"scale": [[2.0, 3.0], [0.5, -1.0]]}),
    ("scale", {"scale": [2.0, 3.0]}, {"center": [[1.0, 2.0], [0.0, 5.0]]}),
    ("rotation", {}, {"angle": [30.0, -100.0]}),
    ("rotation", {"center": 2.0}, {"angle": [30.0, -100.0]}),
    ("rotation", {}, {"angle": [30.0, -100.0], "center": [[1.0, 2.0], [0.0, 5.0]]}),
    ("rotation", {"axis": [0.0, 0.0, 2.0]}, {"angle": [30.0, -100.0]}),
    ("rotation", {"center": [1.0, 2.0, 3.0], "angle": 30.0}, {"axis": [[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]}),
    ("shear", {}, {"shear": [[1.0, 2.0], [0.5, -0.3]]}),
    ("shear", {"center": [5.0, 6.0]}, {"angles": [[30.0, 45.0], [-60.0, 0.0]]}),
    ("shear", {}, {"shear": [[[1.0, 2], [3, 4], [5, 6]], [[0.1, 0], [0, 0.2], [0.3, 0.4]]]}),
    ("crop", {"to_start": [1.0, 2.0], "to_end": [5.0, 6.0]}, {"from_end": [[10.0, 20.0], [5.0, 4.0]]}),
    ("crop", {"from_start": 1.0}, {"from_end": [[2.0, 4.0, 5.0], [3.0, 3.0, 3.0]]}),
    ("crop", {"absolute": True, "to_start": [2.0, 0.0]}, {"from_start": [[5.0, 0.0], [0.0, 9.0]]}),
    ("crop", {}, {"from_start": [[5.0, 0.0], [0.0, 9.0]]}),
]  # fmt: skip
# (operator, arguments, inputs)
APPLIED = [
    ("translation", {"offset": [1.0, 2.0]}, PLANE),
    ("scale", {"scale": 2.0}, PLANE),
    ("scale", {"scale": [2.0, 3.0], "center": [1.0, 1.0]}, PLANE),
    ("scale", {"scale": 2.0, "ndim": 2}, SPACE),
    ("rotation", {"angle": 90.0}, PLANE),
    ("rotation", {"angle": 30.0, "axis": [1.0, 2.0, 3.0]}, SPACE),
    ("shear", {"shear": [1.0, 2.0]}, PLANE),
    ("crop", {"from_end": [2.0, 4.0]}, PLANE),
]
# Sums of three products of numbers below 12, worked out in float32 in another order.
ATOL = 2e-5


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "args", "per_sample"), MAKERS, ids=str)
def test_makers_equal_dali(name, args, per_sample):
    values = {k: [np.float32(x) for x in v] for k, v in per_sample.items()}
    contract.check(REGISTRY[f"transforms.{name}"], [], args, values, atol=ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize("reverse_order", [False, True])
@pytest.mark.parametrize(("name", "args", "inputs"), APPLIED, ids=lambda v: str(v)[:30])
def test_applied_to_a_transform_equal_dali(name, args, inputs, reverse_order):
    args = {**args, "reverse_order": reverse_order}
    contract.check(REGISTRY[f"transforms.{name}"], [inputs], args, atol=ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize("reverse_order", [False, True])
def test_combine_equals_dali(reverse_order):
    combine = REGISTRY["transforms.combine"]
    args = {"reverse_order": reverse_order}
    contract.check(combine, [PLANE, PLANE[::-1]], args, atol=ATOL)
    contract.check(combine, [SPACE, SPACE[::-1], SPACE, SPACE], args, atol=1e-3)  # values up to 1e4


@pytest.mark.oracle
def test_a_box_without_length_gives_what_dali_gives():
    expected = [[np.float32([[np.inf, -np.inf]]), np.float32([[np.inf, np.nan]])]]
    values = {"from_start": [np.float32(1), np.float32(0)], "from_end": [np.float32(1), np.float32(0)]}
    for kwargs in ({"expected": expected}, {}):
        contract.check(REGISTRY["transforms.crop"], [], {}, values, compiled_atol=0, **kwargs)


def test_by_hand():
    def make(name, *inputs, **args):
        return np.asarray(pure_call(REGISTRY[f"transforms.{name}"], inputs, args))

    np.testing.assert_array_equal(make("translation", offset=[3, 4]), [[1, 0, 3], [0, 1, 4]])
    np.testing.assert_array_equal(make("scale", scale=[2, 3], center=[1, 1]), [[2, 0, -1], [0, 3, -2]])
    # float32 cosine of 90 degrees is 4e-8
    np.testing.assert_allclose(make("rotation", angle=90), [[0, -1, 0], [1, 0, 0]], atol=1e-7)
    np.testing.assert_allclose(make("shear", angles=[45, 0]), [[1, 1, 0], [0, 1, 0]], atol=1e-7)
    box = make("crop", from_start=[0, 0], from_end=[10, 20], to_start=[1, 2], to_end=[5, 6])
    np.testing.assert_allclose(box, [[0.4, 0, 1], [0, 0.2, 2]], rtol=1e-6)
    shift, double = make("translation", offset=[1, 0]), make("scale", scale=[2, 2])
    np.testing.assert_array_equal(make("combine", shift, double), [[2, 0, 2], [0, 2, 0]])
    np.testing.assert_array_equal(make("combine", double, shift), [[2, 0, 1], [0, 2, 0]])
    np.testing.assert_array_equal(make("translation", double, offset=[1, 0]), [[2, 0, 1], [0, 2, 0]])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_inverse_equals_numpy(n):
    matrix = np.random.default_rng(n).normal(size=(n, n)).astype(np.float32)
    np.testing.assert_allclose(inverse(jnp.asarray(matrix)), np.linalg.inv(matrix), rtol=1e-4, atol=1e-5)


def test_jit_vmap_and_grad():
    rotation = REGISTRY["transforms.rotation"]

    def corner(angle):
        return pure_call(rotation, [], {"angle": angle})[0, 1]

    angles = jnp.array([0.0, 30.0])
    # d(-sin a)/da, a in degrees
    slopes = jax.jit(jax.vmap(jax.grad(corner)))(angles)
    np.testing.assert_allclose(slopes, -np.cos(np.deg2rad([0, 30])) * np.pi / 180, rtol=1e-5)
    made = jax.jit(lambda o: pure_call(REGISTRY["transforms.translation"], [], {"offset": o}))(
        jnp.array([1.0, 2.0, 3.0])
    )
    np.testing.assert_array_equal(made, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3]])


@pytest.mark.parametrize(
    ("name", "inputs", "args", "message"),
    [
        ("translation", PLANE[:1], {"offset": [1, 2, 3]}, "The input describes a 2D transform but other arguments"),
        ("translation", [np.eye(3, dtype=np.float32)], {"offset": [1, 2]}, "is expected to be a 2D tensor with"),
        ("scale", [], {"scale": [1, 2], "center": [1, 2, 3]}, "Argument .center. expected shape 2 but got 3 values"),
        ("rotation", [], {"angle": 1, "axis": [1, 0]}, r'Argument "axis" expected shape 3 but got 2 values'),
        ("rotation", PLANE[:1], {"angle": 1, "axis": [0, 0, 1]}, "The input describes a 2D transform but other arguments"),
        ("shear", [], {}, "One and only one of the following arguments is expected:"),
        ("shear", [], {"shear": [1, 2], "angles": [1, 2]}, "One and only one of the following arguments is expected:"),
        ("shear", [], {"shear": [1, 2, 3]}, r"Shear matrix must have D\*\(D-1\) elements where D is the number"),
        ("shear", [], {"angles": [91, 0]}, r"Angle is expected to be in the range \[-90, 90\]. Got: 91 degrees"),
        ("crop", [], {"from_end": [1, 2, 3], "to_end": [1, 2]}, "Argument .to_end. expected shape 3 but got 2 values"),
        ("combine", PLANE[:1], {}, "Operator transforms.combine expects from 2 to 99 inputs, but"),
        ("combine", [PLANE[0], SPACE[0]], {}, "All input transforms are expected to have the same shape. Got: 2 x 3 and 3 x 4"),
    ],
)  # fmt: skip
def test_errors(name, inputs, args, message):
    with pytest.raises(ValueError, match=f"^transforms.{name}: .*{message}"):
        pure_call(REGISTRY[f"transforms.{name}"], inputs, args)


def test_an_error_names_its_sample():
    with pytest.raises(SampleError) as caught:
        contract.check(
            REGISTRY["transforms.shear"], [], {}, {"angles": [np.float32([0, 0]), np.float32([0, 95])]},
            expected=[[np.eye(2, 3, dtype=np.float32)] * 2],
        )  # fmt: skip
    assert caught.value.argument == "angles"


@pytest.mark.parametrize("maker", ["combine", "crop", "rotation", "scale", "shear", "translation"])
def test_the_layout_is_dalis(maker):
    """Two axes without names, "**"; what takes matrices takes these."""
    arguments = {"rotation": {"angle": 30.0}, "scale": {"scale": [1.0, 2.0]}, "shear": {"shear": [1.0, 2.0]},
                 "translation": {"offset": [1.0, 2.0]}}  # fmt: skip
    specs = [BatchSpec.of(PLANE)] * 2 if maker == "combine" else []
    planned = plan_call(
        CallRequest(REGISTRY[f"transforms.{maker}"], specs, arguments.get(maker, {}), batch_size=2)
    )
    assert planned.outputs[0].layout == "**"


def test_a_transform_says_how_to_warp():
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    matrix = np.asarray(
        contract.pure(REGISTRY["transforms.rotation"], [], {"angle": 90.0, "center": [1.0, 1.0]})
    )
    args = {"inverse_map": False}
    turned = contract.pure(REGISTRY["warp_affine"], [image, matrix], args, layout=["HWC", "**"])
    np.testing.assert_array_equal(turned, np.rot90(image, -1))
