"""transpose, squeeze, expand_dims, stack, cat and element_extract against the real DALI and NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.ops.tensor import _axes_of_size_one, _element_extract, _join, _transpose

transpose, element_extract = _transpose.transpose, _element_extract.element_extract
squeeze, expand_dims = _axes_of_size_one.squeeze, _axes_of_size_one.expand_dims
stack, cat = _join.stack, _join.cat


def samples(shapes, dtype=np.int16, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 100, s).astype(dtype) for s in shapes]


HWC = [(5, 7, 3), (1, 1, 3), (4, 9, 3)]


@pytest.mark.oracle
@pytest.mark.parametrize("args", [{}, {"perm": [2, 0, 1]}], ids=str)
def test_transpose_as_dali(args):
    contract.check(transpose, [samples(HWC)], args, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.bool_, np.float16])
def test_transpose_of_more_axes_and_types_as_dali(dtype):
    contract.check(transpose, [samples([(2, 3, 1, 4), (3, 1, 2, 6)], dtype)], {"perm": [3, 1, 0, 2]})
    contract.check(transpose, [[np.asarray(3, dtype)]], {})


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args", [{"axes": [0]}, {"axes": [2, 0]}, {"axis_names": "C"}, {"axes": []}], ids=str
)
def test_squeeze_as_dali(args):
    contract.check(squeeze, [samples([(1, 3, 1, 4), (1, 5, 1, 2)])], args, layout="ABCD")


@pytest.mark.oracle
def test_squeeze_of_nothing_as_dali():
    contract.check(squeeze, [[np.zeros((1, 0, 1, 4), np.int16)]], {"axes": [3]})
    contract.check(squeeze, [samples([(1, 1)])], {"axes": [0, 1]})


@pytest.mark.oracle
@pytest.mark.parametrize("args", [{"axes": [4, 0]}, {"axes": 1}, {"axes": []}], ids=str)
def test_expand_dims_as_dali(args):
    contract.check(expand_dims, [samples(HWC)], args, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("axis", [0, -1])
def test_stack_as_dali(axis):
    contract.check(stack, [samples(HWC, seed=s) for s in range(3)], {"axis": axis})


@pytest.mark.oracle
def test_stack_of_scalars_as_dali():
    contract.check(stack, [[np.float32(1), np.float32(3)], [np.float32(2), np.float32(4)]], {})


@pytest.mark.oracle
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cat_as_dali(axis):
    shapes = [np.array(HWC) for _ in range(3)]
    shapes[1][:, axis] = [2, 4, 5]
    shapes[2][:, axis] = [1, 6, 0]
    parts = [samples(s, seed=i) for i, s in enumerate(shapes)]
    contract.check(cat, parts, {"axis": axis})


@pytest.mark.oracle
def test_cat_of_ragged_lengths_as_dali():
    first, second = samples([(3,), (0,), (5,)]), samples([(1,), (4,), (0,)], seed=1)
    contract.check(cat, [first, second, first], {})
    contract.check(cat, [samples(HWC), samples(HWC, seed=1)], {"axis_name": "W"}, layout="HWC")


@pytest.mark.oracle
def test_element_extract_as_dali():
    data = samples([(4, 3, 5), (6, 2, 2)])
    contract.check(element_extract, [data], {"element_map": [3, 0, 3]}, layout="FHW")
    contract.check(element_extract, [data], {"element_map": 1})


def layout_of(op, specs, **args):
    made = [BatchSpec(np.array([shape]), np.int32, layout) for shape, layout in specs]
    return plan_call(CallRequest(op, made, args, batch_size=1)).outputs[0].layout


def test_layouts():  # read off DALI
    hwc = [((2, 3, 4), "HWC")]
    assert layout_of(transpose, hwc, perm=[2, 0, 1]) == "CHW"
    assert layout_of(transpose, hwc, perm=[2, 0, 1], transpose_layout=False) == "HWC"
    assert layout_of(transpose, hwc, perm=[2, 0, 1], output_layout="ABC") == "ABC"
    assert layout_of(squeeze, [((1, 3, 1), "HWC")], axes=[2]) == "HW"
    assert layout_of(expand_dims, hwc, axes=[0]) == ""
    assert layout_of(expand_dims, hwc, axes=[]) == "HWC"
    assert layout_of(expand_dims, hwc, axes=[2, 0], new_axis_names="XY") == "YHXWC"
    assert layout_of(expand_dims, [((), "")], axes=[0], new_axis_names="X") == "X"
    assert layout_of(stack, hwc * 2) == ""
    assert layout_of(stack, hwc * 2, axis=-1, axis_name="N") == "HWCN"
    assert layout_of(cat, [*hwc, ((2, 3, 4), "")], axis=1) == "HWC"
    assert layout_of(cat, [((2, 3, 4), ""), *hwc], axis=1) == ""
    assert layout_of(element_extract, [((2, 3, 4), "FHW")], element_map=[0]) == "HW"


def test_values_by_numpy():
    a, b = samples([(2, 3, 4), (5, 3, 4)])
    np.testing.assert_array_equal(contract.pure(transpose, [a], {"perm": [1, 2, 0]}), a.transpose(1, 2, 0))
    np.testing.assert_array_equal(contract.pure(cat, [a, b, a], {}), np.concatenate([a, b, a]))
    np.testing.assert_array_equal(contract.pure(stack, [a, a + 1], {"axis": 2}), np.stack([a, a + 1], axis=2))
    np.testing.assert_array_equal(contract.pure(squeeze, [a[:, :1]], {"axes": [1]}), a[:, 0])
    np.testing.assert_array_equal(contract.pure(expand_dims, [a], {"axes": [0, 2]}), a[None, :, None])
    for got, want in zip(pure_call(element_extract, [a], {"element_map": [1, 0]}), a[::-1], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    a = jnp.arange(6.0).reshape(2, 3)
    call = lambda x: pure_call(cat, [x, 2 * x], {"axis": 1})  # noqa: E731
    np.testing.assert_array_equal(jax.jit(call)(a), np.concatenate([a, 2 * a], axis=1))
    np.testing.assert_array_equal(jax.vmap(call)(a[None])[0], np.concatenate([a, 2 * a], axis=1))
    np.testing.assert_array_equal(jax.grad(lambda x: call(x).sum())(a), np.full((2, 3), 3.0))


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        (
            "transpose",
            {"perm": [0, 1]},
            r"transpose: Input has different dimensionality \(3\) than the length of the",
        ),
        ("transpose", {"output_layout": "AB"}, "output_layout 'AB' does not fit 3 axes"),
        ("squeeze", {}, "squeeze: Missing argument ``axes`` or ``axis_names``"),
        ("squeeze", {"axes": [0]}, "squeeze: The volume of the new shape should match the one of the"),
        ("squeeze", {"axes": [-1]}, "axis -1 is out of range for 3 axes"),
        ("squeeze", {"axis_names": "X"}, "Axis 'X' is not present in the input layout, which is 'HWC'"),
        ("squeeze", {"axes": [1, 1]}, "Specified at least twice same dimension to remove. Got axes"),
        (
            "expand_dims",
            {"axes": [4]},
            "Data has not enough dimensions to add new axes at specified indices. Axis 4 is",
        ),
        ("expand_dims", {"axes": [0, 0]}, r"Duplicate axis index found. Got axes \(0, 0\)"),
        (
            "expand_dims",
            {"axes": [0], "new_axis_names": "AB"},
            "Specified 1 new dimensions, but layout contains only 2",
        ),
        ("stack", {"axis": 4}, "stack: Invalid axis argument, 4 for 3-D tensors. Accepted range is"),
        ("stack", {"axis_name": "AB"}, "``axis_name`` must be a single character; got AB"),
        ("cat", {"axis": 3}, "cat: Invalid axis argument, 3 for 3-D tensors. Accepted range is"),
        ("cat", {"axis_name": "X"}, "``axis_name`` specifies an undefined axis 'X' for layout .HWC."),
        (
            "cat",
            {"axis_name": "C", "axis": 1},
            "Arguments ``axis`` and ``axis_name`` cannot be used together",
        ),
        (
            "element_extract",
            {"element_map": [0]},
            "Input layout must describe a sequence - it must start with",
        ),
        (
            "element_extract",
            {"element_map": [-1]},
            "Negative indices in `element_map` are not allowed, found: -1",
        ),
    ],
)
def test_wrong_arguments(name, args, message):
    with pytest.raises((ValueError, SampleError), match=message):
        pure_call(REGISTRY[name], [np.zeros((2, 1, 4), np.int32)], args, layout="HWC")


def test_inputs_that_do_not_fit():
    a = np.zeros((2, 3), np.int32)
    with pytest.raises(
        SampleError, match="stack: Tensor stacking requires that all tensors being stacked are"
    ):
        pure_call(stack, [a, a[:1]], {})
    with pytest.raises(ValueError, match="cat: All inputs must have the same type and number of dimensions"):
        pure_call(cat, [a, a.astype(np.float32)], {})
    with pytest.raises(SampleError, match="Index `2` from `element_map` is out of bounds for sample with"):
        pure_call(element_extract, [a], {"element_map": [2]})
