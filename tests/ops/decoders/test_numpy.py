"""decoders.numpy: content of .npy files to arrays; types as DALI."""

import io

import numpy as np
import pytest
from support import host_run, oracle
from support.data import SHARED

from jdali import SampleError, fn, pipeline_def, types
from jdali._operators.record import REGISTRY

OP = REGISTRY["decoders.numpy"]
FLOATS = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 300, -300, 1e20, 0.2, 0.49999997], np.float32)
INTEGERS = np.array([-1, 0, 1, 200, 300, 70000, 2**40], np.int64)


def encoded(array):
    out = io.BytesIO()
    np.save(out, array)
    return np.frombuffer(out.getvalue(), np.uint8)


@pytest.mark.parametrize(
    ("array", "dtype", "expected"),
    [
        (FLOATS, "u1", [1, 2, 3, 0, 0, 255, 0, 255, 0, 0]),
        (FLOATS, "i1", [1, 2, 3, -1, -3, 127, -128, 127, 0, 0]),
        (FLOATS, "i8", [1, 2, 3, -1, -3, 300, -300, 2**63 - 1, 0, 0]),
        (FLOATS[:4].astype("f2"), "u2", [1, 2, 3, 0]),
        (FLOATS, "?", [True] * 8 + [False] * 2),
        (INTEGERS, "i2", [-1, 0, 1, 200, 300, 32767, 32767]),
        (INTEGERS, "u8", [0, 0, 1, 200, 300, 70000, 2**40]),
        (INTEGERS, "f4", [-1, 0, 1, 200, 300, 70000, 2**40]),
        (np.array([True, False]), "f4", [1, 0]),
        (np.array([np.nan, np.inf, -np.inf]), "i4", [0, 2**31 - 1, -(2**31)]),
    ],
)
def test_types(array, dtype, expected):
    got = host_run.one(OP, encoded(array), dtype=np.dtype(dtype))
    np.testing.assert_array_equal(got, np.array(expected, dtype), strict=True)


@pytest.mark.oracle
@pytest.mark.parametrize("array", [FLOATS, INTEGERS], ids=["floats", "integers"])
def test_types_as_dali(array):
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    names = [
        "UINT8",
        "INT8",
        "UINT16",
        "INT16",
        "UINT32",
        "INT32",
        "UINT64",
        "INT64",
        "FLOAT16",
        "FLOAT",
        "FLOAT64",
    ]
    data = [encoded(array), encoded(array[:3])]
    pipe = dali.Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1)
    with pipe:
        node = dali_fn.external_source(source=[data], cycle=True, batch=True)
        dtypes = [None, *(oracle.translate(getattr(types, name)) for name in names)]
        pipe.set_outputs(*[dali_fn.decoders.numpy(node, dtype=dtype) for dtype in dtypes])
    pipe.build()
    for name, batch in zip([None, *names], pipe.run(), strict=True):
        for i, one in enumerate(data):
            expected = np.array(batch.at(i))
            got = host_run.one(OP, one, dtype=None if name is None else types.to_dtype(getattr(types, name)))
            np.testing.assert_array_equal(got, expected, strict=True)


def test_errors_name_the_operator():
    with pytest.raises(SampleError, match="decoders.numpy: Got bad magic string .*: it is not a .npy file"):
        host_run.one(OP, np.frombuffer(b"something else", np.uint8))


@pytest.mark.parametrize("path", sorted((SHARED / "bad" / "numpy").glob("*.npy")), ids=lambda p: p.name)
def test_bad_files_are_refused(path):
    data = np.fromfile(path, np.uint8)
    with pytest.raises(SampleError, match="decoders.numpy: "):
        host_run.one(OP, data)


def test_in_a_pipeline():
    arrays = [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.arange(4, dtype=np.int16).reshape(4, 1, order="F"),
    ]

    @pipeline_def(batch_size=2, num_threads=2, device_id=None)
    def define():
        data = fn.external_source(source=[[encoded(a) for a in arrays]], cycle=True, batch=True)
        return fn.decoders.numpy(data), fn.decoders.numpy(data, dtype=types.FLOAT) * 2

    with define() as pipe:
        plain, doubled = pipe.run()
    for i, array in enumerate(arrays):
        np.testing.assert_array_equal(np.asarray(plain.at(i)), array, strict=True)
        np.testing.assert_array_equal(np.asarray(doubled.at(i)), np.float32(2) * array, strict=True)


def run(contents, dtype=None):
    """The arrays of a batch."""
    made = OP.run(contents, dtype=dtype, workers=host_run.Workers())
    for failure in made.failures.values():
        raise failure
    return made.columns[0].host_samples()


def words_of_dali(contents):
    """What the real DALI says of a batch."""
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    pipe = dali.Pipeline(batch_size=len(contents), num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(dali_fn.decoders.numpy(dali_fn.external_source(source=[contents], batch=True)))
    with pytest.raises(RuntimeError) as caught:
        pipe.run()
    return str(caught.value)


VALUES = np.arange(6, dtype=np.float32)
ONE = encoded(VALUES)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ([np.zeros(100, np.uint8)], "Got bad magic string for numpy header 0x000000000000, expected 0x934e554d5059"),
        ([ONE[:-1]], "Expected data numpy size 152 bytes does not match the actual size 151 bytes"),
        ([np.append(ONE, ONE)], "Expected data numpy size 152 bytes does not match the actual size 304 bytes"),
        ([ONE[:40]], "Header length exceeds input size"),
        ([encoded(VALUES.astype(np.complex64))], "Unknown Numpy type string: c8"),
        ([ONE, encoded(VALUES.reshape(2, 3))],
         "All samples in the dataset must have the same number of dimensions, but got differing sample dimensions: 1 and 2"),
        ([ONE, ONE, encoded(VALUES.astype(np.int32))],
         "All samples in the dataset must have the same data type, but got differing types"),
    ],
    ids=range(7),
)  # fmt: skip
def test_errors_have_the_words_of_dali(batch, words):
    assert words in words_of_dali(batch)
    with pytest.raises(SampleError, match=f"decoders.numpy: {words}: ") as caught:
        run(batch)
    if len(batch) > 1:
        assert caught.value.sample == len(batch) - 1


def test_a_type_to_convert_to_makes_types_alike():
    batch = [ONE, encoded(VALUES.astype(np.int16)), encoded(VALUES > 2)]
    for got, want in zip(run(batch, np.dtype("f4")), [VALUES, VALUES, VALUES > 2], strict=True):
        np.testing.assert_array_equal(got, want.astype(np.float32), strict=True)
