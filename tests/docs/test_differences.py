"""docs/differences.md: each row has a reason, and what it says of numbers at the ends of their types is so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from support import contract, oracle
from support.data import image

import jdali
from jdali import types
from jdali._operators.record import REGISTRY

ROWS = [
    line
    for line in (Path(__file__).parents[2] / "docs" / "differences.md").read_text().splitlines()
    if line.startswith("|")
][2:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_each_row_says_where_what_and_why(row: str):
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert len(cells) == 3
    assert all(cells)


SUBNORMAL = np.float32([1e-40, -1e-40])
LEAST = {np.int32: -(2**31), np.int64: -(2**63), np.uint64: 2**63, np.bool_: True, np.int16: 0, np.uint8: 0}


@dataclasses.dataclass(frozen=True)
class Said:
    """What a row says of an operator, as a function of `fn`, `math` and a node."""

    call: Callable[[Any, Any, Any], Any]
    value: np.ndarray
    here: Sequence[Any]
    in_dali: Sequence[Any]


FILLED = {"fill_values": 300, "out_of_bounds_policy": "pad"}
SAID = {
    "subnormals, compared": Said(lambda fn, math, x: x > 0.0, SUBNORMAL, [False, False], [True, False]),
    "subnormals, multiplied": Said(lambda fn, math, x: x * 1.0, SUBNORMAL, [0, 0], SUBNORMAL.tolist()),
    "subnormals, largest": Said(lambda fn, math, x: math.max(x, -1.0), SUBNORMAL, [0, 0], SUBNORMAL.tolist()),
    "subnormals, moved": Said(lambda fn, math, x: fn.pad(x), SUBNORMAL, SUBNORMAL.tolist(), SUBNORMAL.tolist()),
    "pad": Said(lambda fn, math, x: fn.pad(x, shape=(2,), fill_value=300), np.uint8([1]), [1, 255], [1, 44]),
    "slice": Said(lambda fn, math, x: fn.slice(x, [0], [2], axes=[0], **FILLED), np.uint8([1]), [1, 255], [1, 44]),
    "rsqrt": Said(lambda fn, math, x: math.rsqrt(x), np.float32([0, np.inf]), [np.inf, 0], [np.nan, np.nan]),
    "decibels": Said(lambda fn, math, x: fn.to_decibels(x), np.float32([np.inf, 1]), [np.inf, 0], [-200, -200]),
    **{
        f"NaN as {np.dtype(dtype)}": Said(
            lambda fn, math, x, dtype=dtype: fn.cast(x, dtype=types.to_dali_type(np.dtype(dtype))),
            np.float32([np.nan]), [0], [least],
        )
        for dtype, least in LEAST.items()
    },
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", SAID)
def test_what_rows_say_of_the_ends_of_types(name: str):
    oracle.dali()
    import nvidia.dali

    said = SAID[name]
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(said.call(jdali.fn, jdali.math, jdali.fn.external_source(lambda: [said.value])))
    here = np.asarray(pipe.run()[0].at(0))
    pipe.close()
    outputs, _ = oracle.run_call(lambda x: said.call(nvidia.dali.fn, nvidia.dali.math, x), [[said.value]])
    # Roundings of the logarithm.
    np.testing.assert_allclose(here, said.here, rtol=1e-6)
    np.testing.assert_allclose(outputs[0][0], said.in_dali, rtol=1e-6)


@pytest.mark.oracle
def test_blurred_float16_is_rounded_once():
    picture = image(20, 30, 3, np.float16)
    weights = np.exp(-(np.arange(-3, 4) ** 2) / 2)
    exact = picture.astype(np.float64)
    for axis in (0, 1):
        exact = scipy.ndimage.correlate1d(exact, weights / weights.sum(), axis, mode="mirror")
    here = np.asarray(contract.pure(REGISTRY["gaussian_blur"], [picture], {"sigma": 1.0}, layout="HWC"))
    in_dali = oracle.run("gaussian_blur", [[picture]], {"sigma": 1.0}, layout="HWC")[0][0]
    errors = [np.max(np.abs(values.astype(np.float64) - exact) / exact) for values in (here, in_dali)]
    # Half a step of float16, and a few of float32; DALI's is more than that.
    assert errors[0] < 2**-11 + 2**-20
    assert 2**-11 + 2**-20 < errors[1] < 1e-3
