"""Packing: the small arrays of a program in one."""

import jax
import numpy as np

from jdali.engine.steps.outline import Packing


def test_packed_arrays_come_out_again():
    rng = np.random.default_rng(0)
    arrays = [
        rng.integers(-5, 5, (4, 3)).astype(np.int32),
        rng.normal(size=(4, 2, 2)).astype(np.float32),
        np.array([0, 1, 2**32 - 1, 7], np.uint32),
        np.array([True, False, True, True]),
        np.array([np.nan, np.inf, -0.0, 1e-40], np.float32),
        rng.integers(0, 255, (4, 0)).astype(np.uint8),
    ]
    packing = Packing(arrays)
    packed, apart = packing.pack(arrays, 4)
    assert apart == []
    for got, want in zip(jax.jit(packing.unpack)(packed, apart), arrays, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_values_of_64_bits_stay_apart():
    arrays = [np.arange(3, dtype=np.int64) << 40, np.arange(3, dtype=np.int32)]
    packing = Packing(arrays)
    packed, apart = packing.pack(arrays, 3)
    with jax.enable_x64(True):
        wide, narrow = jax.jit(packing.unpack)(packed, apart)
    np.testing.assert_array_equal(wide, arrays[0])
    np.testing.assert_array_equal(narrow, arrays[1])
