"""Arguments of the user's sources that an operator checks, though it needs no value to know its sizes."""

import numpy as np
import pytest

from jdali import OperatorError, Pipeline, fn, types

IMAGE = np.zeros((6, 8, 3), np.uint8)
CASES = {
    "crop_pos_x": lambda x, value: fn.crop(x, crop=(3, 4), crop_pos_x=value),
    "crop_pos_y": lambda x, value: fn.crop_mirror_normalize(
        x, crop=(3, 4), crop_pos_y=value, dtype=types.FLOAT
    ),
    "paste_x": lambda x, value: fn.paste(x, ratio=2.0, paste_x=value, fill_value=0),
}


@pytest.mark.parametrize("argument", CASES)
@pytest.mark.parametrize("wrong", [-0.25, 1.25, np.nan])
def test_the_sample_whose_value_is_out_of_range(argument, wrong):
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        images = fn.external_source(lambda i: [IMAGE] * 2, layout="HWC")
        values = fn.external_source(lambda i: np.float32([0.5, wrong]))
        pipe.set_outputs(CASES[argument](images, values))
    with pytest.raises(
        OperatorError, match=rf"{argument} must be in range|is out of range \[0.0, 1.0\]; it is {argument}"
    ) as caught:
        pipe.run()
    assert "sample 1 of the batch" in str(caught.value)
    pipe.close()


def test_values_are_checked_in_each_batch():
    pipe = Pipeline(batch_size=1, num_threads=1, exec_async=False)
    with pipe:
        images = fn.external_source(lambda i: [IMAGE], layout="HWC")
        positions = fn.external_source(lambda i: np.float32([0.5 * i]))
        pipe.set_outputs(fn.crop(images, crop=(3, 4), crop_pos_x=positions))
    for _ in range(3):
        pipe.run()
    with pytest.raises(
        OperatorError, match=r"Anchor for dimension 1 \(1.500000\) is out of range \[0.0, 1.0\];"
    ):
        pipe.run()
    pipe.close()
