"""Indexing against NumPy and the real DALI."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, expression
from support.some import drawn

from jdali._batches import BatchSpec
from jdali._errors import SampleError, TracedArgumentError
from jdali._operators.call import CallRequest, PerBatch, plan_call
from jdali._operators.pure import pure_call
from jdali.ops.tensor._subscript import NewAxis, newaxis, parse_index, tensor_subscript

ALL = slice(None)
SHAPES = [(5, 4, 3), (3, 7, 3), (2, 2, 3)]


def samples(shapes=SHAPES, dtype=np.int32):
    return [np.arange(np.prod(s)).reshape(s).astype(dtype) for s in shapes]


def index(array, key, layout=""):
    return pure_call(tensor_subscript, [array], parse_index(key), layout=layout)


def spec(shape, layout, **args):
    batch = BatchSpec(np.array([shape]), np.uint8, layout)
    return plan_call(CallRequest(tensor_subscript, [batch], args, batch_size=1)).outputs[0]


# Each is what is compiled in another way: fixed, counted from the end, reversed, with a step, ...
KEYS = {
    "first": 0,
    "last": -1,
    "element": (1, 0, 2),
    "column": (ALL, -2),
    "channel": (ALL, ALL, 1),
    "head": slice(None, 2),
    "tail": slice(1, None),
    "from the end": (slice(-2, None), slice(None, -1)),
    "past the end": slice(2, 100),
    "before the start": slice(-100, 2),
    "empty": (ALL, slice(3, 1)),
    "every other": (slice(None, None, 2), slice(1, None, 2)),
    "every other from the end": (ALL, slice(-2, None, 2)),
    "reversed channels": (ALL, ALL, slice(None, None, -1)),
    "reversed rows": slice(None, None, -1),
    "reversed in part": (ALL, slice(-1, 0, -1)),
    "backwards by two": (slice(None, None, -2), slice(1, None, -2)),
    "all": (ALL, ALL, ALL),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_padded_batch_equals_numpy(key):
    data = samples()
    contract.check(
        tensor_subscript, [data], parse_index(key), layout="HWC", expected=[[s[key] for s in data]]
    )


PER_SAMPLE = {
    "at": ({"at_0": [1, -1, -2]}, lambda s, at_0: s[at_0]),
    "range": ({"lo_1": [1, -3, 0], "hi_1": [3, 100, -1]}, lambda s, lo_1, hi_1: s[:, lo_1:hi_1]),
    "both": ({"at_1": [0, 6, 1], "lo_0": [0, 1, 1]}, lambda s, at_1, lo_0: s[lo_0:, at_1]),
    "step": ({"step_0": [1, -1, 2]}, lambda s, step_0: s[::step_0]),
    "step and start": ({"lo_1": [3, 1, 0], "step_1": [-2, 3, 1]}, lambda s, lo_1, step_1: s[:, lo_1::step_1]),
}


@pytest.mark.parametrize(("per_sample", "numpy"), PER_SAMPLE.values(), ids=PER_SAMPLE)
def test_arguments_may_differ_by_sample(per_sample, numpy):
    data = samples(dtype=np.float32)
    expected = [numpy(s, **{k: v[i] for k, v in per_sample.items()}) for i, s in enumerate(data)]
    contract.check(tensor_subscript, [data], {}, per_sample, layout="HWC", expected=[expected])


@pytest.mark.oracle
def test_every_key_is_as_in_dali():
    import nvidia.dali as dali

    keys = [
        *KEYS.values(), None, slice(4, 2), slice(10, 20), slice(20, 10, -1), slice(None, 2, -1), True,
        slice(3, None, -1), slice(-1, -20, -1), newaxis, (newaxis, 0), (0, newaxis), (ALL, newaxis),
        (newaxis, newaxis), newaxis("N"), (newaxis("N"), 0), (0, newaxis("X"), 0, newaxis("Y")),
        (0, newaxis("X"), ALL), (ALL, ALL, ALL, newaxis("Q")), (0, 0, newaxis, 0),
    ]  # fmt: skip

    def translate(item):
        return dali.newaxis(item.name) if isinstance(item, NewAxis) else item

    def dalis(node):
        return [node[tuple(map(translate, k)) if isinstance(k, tuple) else translate(k)] for k in keys]

    data = samples()
    for layout in ("HWC", ""):
        usable = [k for k in keys if layout or not parse_index(k).get("new_axis_names")]
        usable = drawn(usable, -(-len(usable) // 3), lambda key: str(parse_index(key)))
        keys = usable
        arrays, layouts = expression.run(dalis, [data], layout)
        for key, wanted, name in zip(keys, arrays, layouts, strict=True):
            assert spec(SHAPES[0], layout, **parse_index(key)).layout == name, key
            for sample, want in zip(data, wanted, strict=True):
                got = np.asarray(index(sample, key, layout))
                assert got.shape == want.shape, key
                np.testing.assert_array_equal(got, want, err_msg=str(key))


@pytest.mark.oracle
def test_layout_of_what_is_left_is_as_in_dali():
    keys = [0, (0, 0), (ALL, 0), (0, 0, 0), (ALL, slice(1, 2)), (ALL, ALL, 0)]
    _, layouts = expression.run(lambda node: [node[k] for k in keys], [samples()], "HWC")
    assert [spec(SHAPES[0], "HWC", **parse_index(k)).layout for k in keys] == layouts


def test_new_axes_of_a_padded_batch():
    data = samples()
    key = (newaxis("N"), -1, slice(None, 2), newaxis("X"))
    expected = [[s[-1, :2][None, :, None] for s in data]]
    contract.check(tensor_subscript, [data], parse_index(key), layout="HWC", expected=expected)
    assert spec((5, 4, 3), "HWC", **parse_index(key)).layout == "NWXC"


def test_an_empty_axis_and_scalars():
    np.testing.assert_array_equal(index(np.zeros((3, 0)), (0, slice(2, 3))), np.zeros(0))
    np.testing.assert_array_equal(index(np.zeros((3, 0)), (ALL, slice(None, None, -2))), np.zeros((3, 0)))
    np.testing.assert_array_equal(index(np.float32(3), newaxis), [3])


def test_every_type_keeps_its_bits():
    for dtype in (np.bool_, np.uint8, np.int16, np.float16, np.float32):
        data = samples([(4, 2)], dtype)
        contract.check(tensor_subscript, [data], parse_index(slice(1, 3)), expected=[[data[0][1:3]]])
    wide = [np.array([2**40, 1, 2**60])]
    contract.check(tensor_subscript, [wide], parse_index(0), expected=[[wide[0][0]]], x64=True)


@pytest.mark.parametrize(("value", "size"), [(6, 6), (-7, 6), (0, 0)])
def test_an_index_out_of_range_names_the_sample(value, size):
    batch = BatchSpec(np.array([[9], [size]]), np.uint8)
    with pytest.raises(
        SampleError, match=f"Index {value} is out of range for axis 0 of length {size}"
    ) as error:
        plan_call(
            CallRequest(tensor_subscript, [batch], {"at_0": PerBatch(np.array([0, value]))}, batch_size=2)
        )
    assert (error.value.sample, error.value.argument) == (1, "at_0")


def test_wrong_subscripts():
    with pytest.raises(ValueError, match=r"Too many indices \(3\) for a 2D tensor"):
        index(np.zeros((2, 2)), (ALL, ALL, ALL))
    with pytest.raises(SampleError, match="Step cannot be zero. Detected step == 0 at axis 1"):
        index(np.zeros((2, 2)), (ALL, slice(None, None, 0)))
    with pytest.raises(
        ValueError, match="Specifying ``new_axis_names`` requires an input with a proper layout"
    ):
        index(np.zeros((2, 2)), newaxis("N"))
    with pytest.raises(ValueError, match="axis 0 has both an index"):
        pure_call(tensor_subscript, [np.zeros(3)], {"at_0": 1, "lo_0": 1})
    with pytest.raises(ValueError, match="new axis 5 is past the end"):
        pure_call(tensor_subscript, [np.zeros(3)], {"new_axes": (5,)})


def test_parse_index():
    node = object()
    assert parse_index(3) == {"at_0": 3, "num_subscripts": 1}
    assert parse_index((ALL, node)) == {"at_1": node, "num_subscripts": 2}
    assert parse_index(slice(1, node, -1)) == {"lo_0": 1, "hi_0": node, "step_0": -1, "num_subscripts": 1}
    assert parse_index(np.int64(-2)) == {"at_0": -2, "num_subscripts": 1}
    assert parse_index((newaxis("N"), 0, newaxis("C"))) == {
        "at_0": 0, "num_subscripts": 1, "new_axes": (0, 1), "new_axis_names": "NC",
    }  # fmt: skip
    assert parse_index((..., 0), ndim=3) == {"at_2": 0, "num_subscripts": 3}
    assert parse_index((0, ..., newaxis), ndim=2) == {"at_0": 0, "num_subscripts": 2, "new_axes": (1,)}


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (1.5, TypeError, "Invalid type for an index: <class 'float'>. It must be an"),
        (np.float32(1), TypeError, "Invalid type for an index: <class 'numpy.float32'>. It must"),
        (slice(np.array(1.0)), TypeError, "Invalid type for an index: <class 'numpy.ndarray'>. It must"),
        ("a", TypeError, "Invalid type for an index: <class 'str'>. It must be an"),
        ([0, 1], TypeError, "Invalid type for an index: <class 'list'>. It must be an"),
        (..., NotImplementedError, "Ellipsis in indexing is not implemented"),
        ((newaxis("N"), newaxis), ValueError, "either all new axes must have a name, or none"),
        ((0,) * 33, ValueError, "at most 32"),
    ],
)
def test_refused_keys(key, error, text):
    with pytest.raises(error, match=text):
        parse_index(key)
    with pytest.raises(IndexError, match="only one Ellipsis"):
        parse_index((..., ...), ndim=3)


@pytest.mark.parametrize("name", ["NC", ""])
def test_names_of_new_axes_are_one_letter(name):
    with pytest.raises(ValueError, match="Axis name must be a single-character string, got"):
        newaxis(name)
    with pytest.raises(TypeError, match="Axis name must be a single-character string, got"):
        newaxis(1)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    data = jnp.arange(12.0).reshape(4, 3)

    def row(data, at):
        return pure_call(tensor_subscript, [data], {"at_0": at})

    np.testing.assert_array_equal(jax.jit(row)(data, -1), data[-1])
    np.testing.assert_array_equal(jax.vmap(row, (None, 0))(data, jnp.array([2, 0])), data[jnp.array([2, 0])])
    grad = jax.grad(lambda d: row(d, 1).sum())(data)
    np.testing.assert_array_equal(grad, np.eye(4)[1][:, None] * np.ones(3))
    with pytest.raises(TracedArgumentError, match="'lo_0' decides the size"):
        jax.jit(lambda d, lo: pure_call(tensor_subscript, [d], {"lo_0": lo}))(data, 1)


def test_fixed_ranges_compile_without_a_gather():
    for key in ((0, slice(1, 3)), (ALL, ALL, slice(None, None, -1)), (slice(1, 4, 2), ALL, -1)):
        text = str(jax.make_jaxpr(jax.vmap(lambda x: index(x, key, "HWC")))(jnp.zeros((2, 5, 4, 3))))  # noqa: B023
        assert "gather" not in text
        assert "dynamic_slice" not in text
