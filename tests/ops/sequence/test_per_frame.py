"""per_frame against the real DALI."""

import numpy as np
import pytest
from support import contract, oracle

import jdali
from jdali import fn
from jdali._operators.pure import pure_call
from jdali.ops.sequence._per_frame import per_frame

DATA = [np.arange(n * 3, dtype=np.float32).reshape(n, 3) for n in (4, 1, 2)]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.bool_])
def test_values_stay(dtype):
    data = [d.astype(dtype) for d in DATA]
    contract.check(per_frame, [data], x64=np.dtype(dtype).itemsize == 8)


CASES = [("", False), ("", True), ("FX", False), ("AB", True), ("FF", True), ("F*", False)]


@pytest.mark.oracle
@pytest.mark.parametrize(("layout", "replace"), CASES)
def test_layouts(layout, replace):
    def named(samples):
        pipe = jdali.Pipeline(batch_size=3, num_threads=1)
        with pipe:
            given = fn.external_source(lambda: samples, layout=layout or None)
            pipe.set_outputs(fn.per_frame(given, replace=replace))
        (out,) = pipe.run()
        pipe.close()
        return out.layout()

    _, (expected,) = oracle.run_call(
        oracle.function("per_frame"), [DATA], {"replace": replace}, layout=layout
    )
    assert named(DATA) == expected
    assert expected[0] == "F"


def test_one_axis_is_that_of_the_frames():
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.per_frame(fn.external_source(lambda: [np.float32([1, 2])])))
    assert pipe.run()[0].layout() == "F"
    pipe.close()


def test_what_is_refused():
    with pytest.raises(
        ValueError,
        match="^per_frame: Per-frame argument input must be a sequence. The input layout",
    ):
        pure_call(per_frame, [DATA[0]], {}, layout="AB")
    with pytest.raises(ValueError, match="^per_frame: Cannot mark zero-dimensional input as a sequence"):
        pure_call(per_frame, [np.float32(1)], {})
