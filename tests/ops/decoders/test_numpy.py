"""decoders.numpy: content of .npy files to arrays; types as DALI."""

import io

import numpy as np
import pytest
from support import oracle
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
    got = OP.run(encoded(array), dtype=np.dtype(dtype))
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
            got = OP.run(one, dtype=None if name is None else types.to_dtype(getattr(types, name)))
            np.testing.assert_array_equal(got, expected, strict=True)


def test_errors_name_the_operator():
    with pytest.raises(SampleError, match="decoders.numpy: it is no .npy file"):
        OP.run(np.frombuffer(b"something else", np.uint8))


@pytest.mark.parametrize("path", sorted((SHARED / "bad" / "numpy").glob("*.npy")), ids=lambda p: p.name)
def test_bad_files_are_refused(path):
    data = np.fromfile(path, np.uint8)
    if path.name == "extra_trailing.npy":
        np.testing.assert_array_equal(OP.run(data), np.load(path))
        return
    with pytest.raises(SampleError, match="decoders.numpy: "):
        OP.run(data)


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
