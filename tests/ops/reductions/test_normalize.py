"""normalize against the real DALI and against NumPy."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, oracle

import jdali
from jdali import fn
from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.argument_rules import as_objects
from jdali._operators.call import CallRequest, PerBatch, plan_call, run_call
from jdali._operators.pure import pure_call
from jdali.ops.reductions._normalize import normalize


def samples(dtype=np.float32):
    rng = np.random.default_rng(0)
    return [rng.uniform(0, 200, s).astype(dtype) for s in [(5, 4, 3), (1, 1, 3), (6, 7, 3)]]


# Normalized values are of order 1; sums in another order and DALI's refined approximate rsqrt move them
# by some ulps.
ATOL = 5e-6

PER_SAMPLE = [
    {},
    {"axes": [0, 1]},
    {"axis_names": "HW", "ddof": 1, "shift": 2.0, "scale": 3.0},
    {"axes": [2], "epsilon": 10.0},
    {"mean": 3.0, "stddev": 20.0},
    {"mean": 100.0, "axes": [0]},
    {"stddev": 50.0, "axes": [0, 1], "epsilon": 1.0},
    {"axes": [0, 1], "ddof": 5, "epsilon": 2.0},
]


@pytest.mark.oracle
@pytest.mark.parametrize("args", PER_SAMPLE, ids=str)
def test_per_sample_as_dali(args):
    # Sample 1 has one pixel: no spread, which gives the shift. A mean of 100 that is not the data's
    # makes larger numbers.
    contract.check(normalize, [samples()], args, layout="HWC", atol=ATOL * 20 if "ddof" in args else ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32])
def test_dtypes_as_dali(dtype):
    data = [s // 2 for s in samples(dtype)]
    contract.check(normalize, [data], {"axes": [0, 1]}, layout="HWC", atol=ATOL)
    # A rounding step where the two floats lie on both sides of a half.
    args = {"dtype": dtype, "scale": 40.0, "shift": 60.5, "axes": [0, 1]}
    contract.check(normalize, [data], args, layout="HWC", atol=1)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 1, 1), (4, 5, 3)])
def test_tensors_of_mean_and_deviation_as_dali(shape):
    data = [s[:4, :5, :] for s in (np.arange(60.0, dtype=np.float32).reshape(4, 5, 3),) * 2]
    mean = [np.linspace(1, 3, np.prod(shape)).reshape(shape).astype(np.float32) * i for i in (1, 2)]
    if 1 in shape:  # with no axis to reduce DALI measures all deviations from the mean's first element
        contract.check(normalize, [data], {}, {"mean": mean}, layout="HWC", atol=ATOL)
    contract.check(normalize, [data], {}, {"mean": mean, "stddev": mean}, layout="HWC", atol=1e-5)
    zero = [m - m[:1, :1, :1] for m in mean]
    contract.check(normalize, [data], {"mean": 3.0}, {"stddev": zero}, layout="HWC", atol=1e-3)


def batch_result(data, args, layout="HWC", pad=3):
    """jdali's results for a padded batch that is normalized together."""
    spec = BatchSpec.of(data, layout)
    planned = plan_call(CallRequest(normalize, [spec], args, batch_size=len(data)))
    shape = [int(n) + pad for n in spec.extents.max(axis=0)]
    array = np.full((len(data), *shape), 1e6, data[0].dtype)
    for i, sample in enumerate(data):
        array[i][tuple(map(slice, sample.shape))] = sample
    extent = jnp.asarray(spec.extents, jnp.int32)

    @jax.jit
    def run(array, extent, traced):
        return run_call(planned.call, [array], [extent], traced, [extent], [tuple(shape)])[0]

    out = np.asarray(run(array, extent, planned.traced))
    return [out[i][tuple(map(slice, s.shape))] for i, s in enumerate(data)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args", [{}, {"axes": [0, 1], "ddof": 2, "epsilon": 1.0}, {"mean": 7.0, "axes": [0, 1]}], ids=str
)
def test_batch_as_dali(args):
    args = args | {"batch": True}
    want = oracle.run("normalize", [samples()], args, layout="HWC")[0]
    for g, w in zip(batch_result(samples(), args), want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", [True, False], ids=["layout", "no layout"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_any_number_of_axes_as_dali(ndim, count, layout):
    """Each sample by its own extent, also where there are as many samples as axes."""
    rng = np.random.default_rng(1)
    data = [rng.uniform(0, 9, [3 + 2 * i, 4, 5][:ndim]).astype(np.float32) for i in range(count)]
    name = "HWC"[:ndim] if layout else ""
    contract.check(normalize, [data], {"axes": [0]}, layout=name, atol=ATOL)
    want = oracle.run("normalize", [data], {"batch": True}, layout=name)[0]
    for g, w in zip(batch_result(data, {"batch": True}, name), want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=ATOL)


@pytest.mark.oracle
def test_a_vector_for_all_and_vectors_of_other_lengths_as_dali():
    """As many samples as elements: one vector for all is no number for each of them."""
    data = [np.arange(3, dtype=np.float32) + i for i in range(3)]
    means = [np.float32([1, 5, 2])] * 3
    want = oracle.run("normalize", [data], {"stddev": 2.0}, {"mean": means})[0]
    for g, w in zip(batch_result(data, {"mean": means[0], "stddev": 2.0}, ""), want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=ATOL)
    data = [np.arange(n, dtype=np.float32) for n in (3, 5, 4)]
    means = [d[::-1].copy() for d in data]
    want = oracle.run("normalize", [data], {"stddev": 2.0}, {"mean": means})[0]
    given = {"mean": PerBatch(as_objects(means)), "stddev": 2.0}
    for g, w in zip(batch_result(data, given, ""), want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=ATOL)
    with pytest.raises(
        SampleError, match="normalize: At sample 1: parameter shape: 4 does not match the reduced"
    ):
        batch_result(data, {"mean": PerBatch(as_objects([means[0], means[2], means[1]]))}, "")


def test_batch_by_numpy():
    data = samples()
    pixels = np.concatenate([d.reshape(-1, 3) for d in data]).astype(np.float64)
    got = batch_result(data, {"batch": True, "axes": [0, 1], "ddof": 1})
    want = (data[2] - pixels.mean(axis=0)) / pixels.std(axis=0, ddof=1)
    np.testing.assert_allclose(got[2], want, rtol=0, atol=ATOL)


def test_values_by_hand():
    got = contract.pure(normalize, [np.array([1.0, 3.0], np.float32)], {"dtype": np.uint8, "scale": 300.0})
    np.testing.assert_array_equal(got, np.array([0, 255], np.uint8))
    constant = contract.pure(normalize, [np.full((2, 2), 7, np.uint8)], {"shift": 4.0})
    np.testing.assert_array_equal(constant, np.full((2, 2), 4, np.float32))
    given = contract.pure(normalize, [np.arange(4.0)], {"mean": 1.0, "stddev": 2.0})
    np.testing.assert_allclose(given, (np.arange(4.0) - 1) / 2, rtol=1e-6)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    data = jnp.asarray(samples()[0])
    call = jax.jit(lambda d: pure_call(normalize, [d], {"axes": [0, 1]}))
    want = (samples()[0] - samples()[0].mean(axis=(0, 1))) / samples()[0].std(axis=(0, 1))
    np.testing.assert_allclose(call(data), want, atol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.vmap(call))(data[None])[0], want, atol=1e-5)
    grad = jax.jit(jax.grad(lambda s: pure_call(normalize, [data], {"mean": 1.0, "stddev": s}).sum()))(2.0)
    np.testing.assert_allclose(grad, -(np.asarray(data) - 1).sum() / 4, rtol=1e-5)
    assert np.isfinite(jax.jit(jax.grad(lambda d: call(d).sum()))(jnp.ones((2, 2, 3)))).all()


def test_wrong_arguments():
    data = np.ones((2, 3, 3), np.float32)
    cases = [
        ({"axes": []}, "normalize: Normalize `axes` argument must specify at least one reduction axis"),
        (
            {"axes": [0], "mean": 1.0, "stddev": 2.0},
            "normalize: Axes must not be specified when both mean and standard",
        ),
        (
            {"batch": True, "mean": np.ones((1, 1, 3))},
            "normalize: Batch normalization cannot be used with parameters specified as TensorList inputs",
        ),
        (
            {"mean": np.ones((3, 3))},
            "normalize: .*Normalization parameters' shape must have extent of 1 or one",
        ),
    ]
    for args, message in cases:
        with pytest.raises(ValueError, match=message):
            pure_call(normalize, [data], args, layout="HWC")
    spec = BatchSpec(np.array([[2, 3], [1, 3]]), np.float32)
    with pytest.raises(SampleError, match=r"Got sample #1 with shape 1 x 3, sample #0 was of shape 2 x 3"):
        plan_call(CallRequest(normalize, [spec], {"batch": True, "axes": [1]}, batch_size=2))
    one = plan_call(CallRequest(normalize, [spec], {"mean": PerBatch(np.array([1.0, 2.0]))}, batch_size=2))
    assert one.outputs[0].dtype == np.float32


def batches_of(data, sizes):
    """Samples in turn, this many a batch."""
    samples = itertools.cycle(data)
    return [[next(samples) for _ in range(size)] for size in sizes]


def in_pipeline(batches, **args):
    """Results of each batch, and how many programs were compiled."""
    given = iter(batches)
    pipe = jdali.Pipeline(batch_size=max(map(len, batches)), num_threads=1, prefetch_queue_depth=1)
    with pipe:
        pictures = fn.external_source(lambda: next(given), layout="HWC")
        pipe.set_outputs(fn.normalize(pictures, **args))
    results = [[np.asarray(s) for s in pipe.run()[0]] for _ in batches]
    programs = pipe.executor_statistics()["programs"]
    pipe.close()
    return results, programs


BATCHES = [1, 2, 3, 4, 5, 6, 7, 8]


def equal_sizes():
    rng = np.random.default_rng(3)
    return [rng.uniform(0, 200, (6, 7, 3)).astype(np.float32) for _ in range(8)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args", [{}, {"axes": [0, 1], "ddof": 1}, {"axis_names": "HW", "epsilon": 2.0}], ids=str
)
def test_a_batch_of_any_size_is_one_program(args):
    batches, args = batches_of(equal_sizes(), BATCHES), args | {"batch": True}
    results, programs = in_pipeline(batches, **args)
    assert programs == 1
    for got, given in zip(results, batches, strict=True):
        for g, w in zip(got, oracle.run("normalize", [given], args, layout="HWC")[0], strict=True):
            np.testing.assert_allclose(g, w, atol=ATOL, rtol=0)


def test_samples_by_themselves_are_in_programs_by_size_whatever_the_batch():
    rng = np.random.default_rng(4)
    data = [rng.uniform(0, 200, s).astype(np.float32) for s in [(6, 7, 3), (60, 70, 3)] * 4]
    batches = batches_of(data, BATCHES)
    results, programs = in_pipeline(batches, axes=[0, 1])
    assert programs == 2  # not one for the largest sample of all
    for got, given in zip(results, batches, strict=True):
        for g, sample in zip(got, given, strict=True):
            want = (sample - sample.mean(axis=(0, 1))) / sample.std(axis=(0, 1))
            np.testing.assert_allclose(g, want, atol=ATOL, rtol=0)


def test_an_operator_over_the_batch_leaves_others_their_shapes():
    rng = np.random.default_rng(5)
    data = [rng.uniform(0, 200, s).astype(np.float32) for s in [(6, 7, 3), (300, 400, 3)] * 4]
    pipe = jdali.Pipeline(batch_size=8, num_threads=1, prefetch_queue_depth=1)
    with pipe:
        pictures = fn.external_source(lambda: data, layout="HWC")
        flipped = fn.flip(pictures)
        pipe.set_outputs(fn.normalize(flipped, batch=True), fn.flip(fn.pad(flipped)))
    normalized, padded = pipe.run()
    plan = pipe.plan()
    pipe.close()
    everything = np.concatenate([d.ravel() for d in data])
    for i, sample in enumerate(data):
        np.testing.assert_allclose(
            normalized.at(i), (sample[:, ::-1] - everything.mean()) / everything.std(), atol=ATOL, rtol=0
        )
        want = np.zeros((300, 400, 3), np.float32)
        want[: sample.shape[0], : sample.shape[1]] = sample[:, ::-1]
        np.testing.assert_array_equal(padded.at(i), want[:, ::-1])
    # Those before `normalize` and `pad` have a program for each size.
    first = plan[plan.index("stage 0") :].split("[level")[0]
    assert ": flip" in first
    assert first.count("program:") == 2
