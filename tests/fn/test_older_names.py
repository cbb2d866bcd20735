"""DALI's older names of arguments: they work, and say what to write."""

import numpy as np
import pytest

import jdali
from jdali import fn, ops, types

IMAGE = np.full((1, 4, 4, 3), 7, np.uint8)


@pytest.mark.parametrize(
    "call", [fn.crop_mirror_normalize, lambda x, **args: ops.CropMirrorNormalize(**args)(x)]
)
def test_a_renamed_argument(call):
    pipe = jdali.Pipeline(batch_size=1)
    with pytest.warns(DeprecationWarning, match="`output_dtype` is a deprecated alias for `dtype`") as caught:
        pipe.set_outputs(
            call(fn.external_source([IMAGE], layout="HWC"), output_dtype=types.FLOAT16, output_layout="HWC")
        )
    assert caught[0].filename == __file__
    assert pipe.run()[0].dtype == types.FLOAT16


def test_both_names():
    with pytest.raises(
        TypeError, match="unexpected 'output_dtype' deprecated argument when 'dtype' was already"
    ):
        fn.crop(fn.external_source([IMAGE]), crop=(2, 2), output_dtype=types.FLOAT, dtype=types.FLOAT)


def test_an_argument_without_effect():
    with pytest.warns(DeprecationWarning, match="`image_type` is no longer used"):
        fn.crop(fn.external_source([IMAGE]), crop=(2, 2), image_type=types.RGB)


@pytest.mark.parametrize("call", [fn.flip, lambda x, **args: ops.Flip(**args)(x)])
def test_a_seed_of_an_operator_that_draws_nothing(call):
    images = fn.external_source([IMAGE], seed=3)  # sources and readers take one without a word
    with pytest.warns(
        DeprecationWarning, match="should not be used with operators that don't use random"
    ) as caught:
        call(images, seed=3)
    assert caught[0].filename == __file__


def test_an_argument_that_never_was():
    with pytest.raises(TypeError, match='Argument "output_dtype" is not defined'):
        fn.flip(fn.external_source([IMAGE]), output_dtype=types.FLOAT)
