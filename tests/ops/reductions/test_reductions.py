"""Reductions against the real DALI, and against NumPy where DALI overflows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

import jdali.ops.reductions  # noqa: F401
from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY

DTYPES = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64, np.float32]
AXES = [
    {},
    {"axes": [0]},
    {"axes": [-1, 0], "keep_dims": True},
    {"axis_names": "WC"},
    {"axes": []},
    {"axes": 1},
]
PLAIN = ["sum", "mean", "mean_square", "rms", "min", "max"]


def op(name):
    return REGISTRY[f"reductions.{name}"]


def samples(dtype, seed=0):
    rng = np.random.default_rng(seed)
    low = 0 if np.dtype(dtype).kind == "u" else -100
    shapes = [(5, 7, 3), (1, 1, 3), (4, 9, 3)]
    return [rng.uniform(low, 100, s).astype(dtype) for s in shapes]


def tolerance(name, dtype):
    # Sums of floats (and of what is turned into floats) are taken in another order; 300 terms of up
    # to 1e4 differ by a few ulps of the sum.
    if name in ("min", "max") or (name == "sum" and np.dtype(dtype).kind != "f"):
        return 0
    return {"sum": 2e-3, "mean": 2e-5, "mean_square": 2e-3, "rms": 2e-5}[name]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "args"),
    [("sum", a) for a in AXES] + [("max", {"axes": 1})] + [(n, {"axes": [0, 2]}) for n in PLAIN[1:]],
    ids=str,
)
def test_axes_as_dali(name, args):
    dtype = np.int16 if name != "sum" else np.float32
    contract.check(op(name), [samples(dtype)], args, layout="HWC", atol=tolerance(name, dtype))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(n, d) for n in ("sum", "min") for d in DTYPES]
    + [(n, d) for n in ("mean", "mean_square", "rms", "max") for d in (np.uint8, np.int64, np.float32)],
)
def test_dtypes_as_dali(name, dtype):
    contract.check(
        op(name), [samples(dtype)], {"axes": [0, 1]}, layout="HWC", atol=tolerance(name, dtype), x64=True
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "dtype", "out"),
    [
        ("sum", np.uint8, np.uint8), ("sum", np.uint8, np.float32), ("sum", np.int32, np.int32),
        ("mean", np.int32, np.int32), ("mean", np.int16, np.float32), ("rms", np.int64, np.int64),
        ("mean_square", np.int64, np.int64),
    ],
)  # fmt: skip
def test_dtype_argument_as_dali(name, dtype, out):
    # An integer root is cut off, so that one ulp of its float may cost a whole step: here it does not.
    data = [np.array([[3, 4, 5], [5, 6, 90]], dtype), np.array([[250 if dtype is np.uint8 else 7]], dtype)]
    contract.check(op(name), [data], {"dtype": out}, x64=True)


@pytest.mark.oracle
@pytest.mark.parametrize("name", PLAIN)
def test_empty_and_scalar_as_dali(name):
    contract.check(op(name), [[np.zeros((0, 3), np.float32), np.ones((2, 3), np.float32)]], {"axes": [0]})
    contract.check(op(name), [[np.float32(-5), np.float32(7)]], {}, compiled_atol=0, atol=1e-6)


@pytest.mark.oracle
def test_nan_and_infinity_in_min_and_max():
    data = [np.array([1, np.nan, 4], np.float32), np.array([np.nan], np.float32), np.array([-np.inf, np.inf])]
    data[2] = data[2].astype(np.float32)
    contract.check(op("min"), [data])
    contract.check(op("max"), [data])


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["variance", "std_dev"])
@pytest.mark.parametrize(
    "args",
    [{"axes": [0, 1]}, {"axes": [0, 1], "keep_dims": True, "ddof": 1}, {}, {"axes": []}, {"axis_names": "C"}],
    ids=str,
)
def test_variance_as_dali(name, args):
    data = samples(np.int16)
    axes = {"axes": (0, 1), "axis_names": (2,)}
    over = next((axes[k] for k in args if k in axes), (0, 1, 2))
    over = () if args.get("axes") == [] else over
    means = [d.mean(axis=over, dtype=np.float32) for d in data]
    # Squared distances of up to 4e4, added in another order; where one element is left and ddof is 1,
    # DALI gives NaN or infinity by the same formula.
    data, means = (data, means) if not args.get("ddof") else (data[::2], means[::2])
    contract.check(
        op(name), [data, means], args, layout=["HWC", ""], atol=5e-3 if name == "variance" else 2e-5
    )


@pytest.mark.oracle
@pytest.mark.parametrize("ddof", [1, 3, 4])
def test_ddof_at_and_past_the_count(ddof):
    data = [np.array([1, 2, 4], np.float32)]
    contract.check(op("variance"), [data, [np.float32(2)]], {"ddof": ddof}, atol=1e-6)


def test_values_by_hand():
    data = np.array([[200, 200], [65535, 1]], np.uint16)
    mean = contract.pure(op("mean"), [data[0].astype(np.uint8)], {"dtype": np.uint8})
    assert (int(mean), mean.dtype) == (200, np.uint8)  # DALI overflows here and says 72
    square = contract.pure(op("mean_square"), [data[1]], {})
    np.testing.assert_allclose(square, (65535.0**2 + 1) / 2, rtol=1e-7)
    assert int(pure_call(op("mean"), [np.array([1, 2, 2])], {"dtype": np.int32})) == 1  # cut off, not rounded
    with jax.enable_x64(True):
        total = contract.pure(op("sum"), [np.array([2**40, 1], np.int64)], {})
        assert (int(total), total.dtype) == (2**40 + 1, np.int64)
    deviation = contract.pure(
        op("std_dev"), [np.arange(6.0).reshape(2, 3), np.array([1.0, 4.0])], {"axes": [1]}
    )
    np.testing.assert_allclose(deviation, np.arange(6.0).reshape(2, 3).std(axis=1), rtol=1e-6)


def test_a_long_sum_of_floats_is_as_good_as_pairwise():
    data = np.random.default_rng(0).uniform(0, 255, 1 << 20).astype(np.float32)
    total = jax.jit(lambda d: pure_call(op("sum"), [d], {}))(data)
    # Pairwise summation in DALI is good to about log2(n) = 20 half ulps; 1e-6 is 17 of them.
    np.testing.assert_allclose(total, data.sum(dtype=np.float64), rtol=1e-6)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    data = jnp.asarray(samples(np.float32)[0])
    call = jax.jit(lambda d: pure_call(op("rms"), [d], {"axes": [0, 1]}))
    want = np.sqrt(np.square(np.asarray(data, np.float64)).mean(axis=(0, 1)))
    np.testing.assert_allclose(call(data), want, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.vmap(call))(jnp.stack([data, 2 * data]))[1], 2 * want, rtol=1e-5)
    grad = jax.jit(jax.grad(lambda d: pure_call(op("mean"), [d], {})))(data)
    np.testing.assert_allclose(grad, np.full(data.shape, 1 / data.size), rtol=1e-6)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"axes": [3]}, r"reductions.sum: Axis index out of range: 3 not in range \[-3,2\]"),
        ({"axes": [0, -3]}, r"reductions.sum: Duplicate axis index 0 in axes \(0, 0\)"),
        ({"axis_names": "X"}, "reductions.sum: Axis 'X' is not present in the input layout, which is 'HWC'"),
        (
            {"axes": [0], "axis_names": "H"},
            "reductions.sum: Arguments `axes` and `axis_names` are mutually exclusive",
        ),
    ],
)
def test_wrong_axes(args, message):
    with pytest.raises(ValueError, match=message):
        pure_call(op("sum"), [np.ones((2, 3, 4), np.float32)], args, layout="HWC")


def test_a_mean_of_the_wrong_shape():
    with pytest.raises(SampleError, match=r"reductions.variance: the mean has extent \(2,\)"):
        pure_call(op("variance"), [np.ones((2, 3)), np.ones(2)], {"axes": [0]})
