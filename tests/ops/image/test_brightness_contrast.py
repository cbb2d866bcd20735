"""brightness_contrast against the real DALI."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jdali._call import pure_call
from jdali.ops.image._brightness_contrast import brightness_contrast
from support import contract
from support.data import image

ARGS = [
    {"brightness": 1.3},
    {"contrast": 0.5, "brightness_shift": 0.1},
    {"contrast": -1.2, "contrast_center": 60.0, "brightness": 0.7},
]
DTYPES = [np.uint8, np.int16, np.uint16, np.int32, np.float32]


@pytest.mark.oracle
@pytest.mark.parametrize("args", ARGS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_equals_dali(dtype, args):
    samples = [image(5, 8, 3, dtype), image(1, 1, 3, dtype, 1), image(9, 4, 3, dtype, 2)]
    # A float32 multiply-add that is fused in one library and not in the other differs by one
    # ulp of the largest product, and integers of it by one step.
    atol = {"f": 1e-6, "u": 1, "i": 1}[np.dtype(dtype).kind] if np.dtype(dtype).itemsize < 4 else 1e-6
    atol = 1.0 if dtype is np.int32 else atol
    contract.check(brightness_contrast, [samples], args, layout="HWC", atol=atol)


def test_contrast_has_a_gradient():
    picture = jnp.asarray(image(3, 4, 3, np.float32))
    grad = jax.grad(lambda c: pure_call(brightness_contrast, [picture], {"contrast": c}).sum())(1.5)
    np.testing.assert_allclose(grad, (picture - 0.5).sum(), rtol=1e-5)
