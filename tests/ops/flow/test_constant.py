"""constant against the real DALI."""

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn, types
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY

CASES = [
    {"fdata": (1.5, 2.0)}, {"fdata": 1.5}, {"idata": (1, 2)}, {"idata": 3, "shape": (2, 2)}, {"idata": 3, "shape": 4},
    {"idata": (1, 2, 3, 4), "shape": (2, 2), "layout": "HW"}, {"idata": (300, -1), "dtype": types.UINT8},
    {"fdata": (2.5, -2.5, 1e30), "dtype": types.INT32}, {"fdata": (2.5, 1e9), "dtype": types.FLOAT16},
    {"idata": (2, 0), "dtype": types.BOOL}, {"idata": 2**40, "dtype": types.INT64}, {"idata": 2**40},
    {"idata": (2,), "dtype": types.FLOAT}, {"idata": (), "shape": (0,)}, {"fdata": 1.5, "shape": ()},
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("args", CASES, ids=str)
def test_equals_dali(args):
    def call(**args):
        return oracle.function("constant")(
            **{k: list(v) if isinstance(v, tuple) else v for k, v in args.items()}
        )

    (expected,), (layout,) = oracle.run_call(call, [], args, batch_size=3)
    pipe = jdali.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.constant(**args))
    (out,) = pipe.run()
    pipe.close()
    assert out.layout() == layout
    for got, want in zip(out.to_samples(), expected, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({}, "either `fdata` or `idata` must be present"),
        ({"fdata": 1.0, "idata": 1}, "`fdata` and `idata` arguments are mutually exclusive"),
        (
            {"idata": (1, 1, 1, 1), "shape": (3,)},
            "The number of values does not match the shape specified: 4",
        ),
        ({"idata": (1, 2), "shape": ()}, "The number of values does not match the shape specified: 2"),
        ({"idata": 1, "shape": (-1,)}, "The number of values does not match the shape specified: 1"),
        ({"idata": (1, 2), "layout": "HW"}, 'The requested layout "HW" has dimensionality which is'),
    ],
)
def test_what_is_refused(args, text):
    with pytest.raises(ValueError, match=f"^constant: {text}"):
        pure_call(REGISTRY["constant"], [], args)
