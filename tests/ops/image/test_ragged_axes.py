"""Operators whose `axes` are more in one sample than in another, against the real DALI."""

import io
import itertools

import numpy as np
import pytest
from PIL import Image
from support import oracle

import jdali
from jdali import OperatorError, fn

PICTURES = [np.arange(h * w * 3, dtype=np.uint8).reshape(h, w, 3) for h, w in ((8, 10), (9, 7), (5, 6))]
AXES = [np.int32([0]), np.int32([1, -3]), np.int32([])]
# Of three axes where none are named.
START = {"start": [np.int32([1]), np.int32([2, 1]), np.int32([0, 1, 2])]}
SHAPE = {"shape": [np.int32([3]), np.int32([4, 5]), np.int32([2, 2, 1])]}
REL_START = {"rel_start": [np.float32([0.1]), np.float32([0.3, 0.2]), np.float32([0, 0.5, 0.4])]}
REL_END = {"rel_end": [np.float32([0.5]), np.float32([0.7, 0.6]), np.float32([1, 0.9, 0.8])]}
SIZES = {"shape": [np.int32([12]), np.int32([13, -1]), np.int32([2, 9, 4])]}
ALIGN = {"align": [np.int32([16]), np.int32([5, 4]), np.int32([2, 7, 1])]}
CASES = [
    ("slice", START | SHAPE, {}),
    ("slice", REL_START | REL_END, {}),
    ("slice", REL_START, {"shape": 2, "out_of_bounds_policy": "pad"}),
    ("pad", SIZES | ALIGN, {"fill_value": 7}),
    ("pad", {}, {}),
]


def outputs(module, name, inputs, named, args):
    """What an operator gives, with `axes` that differ by sample."""

    @module.pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def define():
        def source(samples, layout=None):
            return module.fn.external_source(itertools.repeat(samples), layout=layout)

        data = source(PICTURES, "HWC")
        tensors = {argument: source(values) for argument, values in ({"axes": AXES} | named).items()}
        return getattr(module.fn, name)(data, *map(source, inputs), **tensors, **args)

    pipe = define()
    pipe.build()
    (found,) = pipe.run()
    return [np.array(found.at(i)) for i in range(3)]


def check(name, inputs, named, args):
    dali = oracle.dali()
    import nvidia.dali.fn  # noqa: F401  # `dali.fn`

    for ours, expected in zip(
        outputs(jdali, name, inputs, named, args), outputs(dali, name, inputs, named, args), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "named", "args"), CASES)
def test_arguments(name, named, args):
    check(name, [], named, args)


@pytest.mark.oracle
def test_windows_by_inputs():
    anchors, shapes = ([np.float32(one) for one in values] for values in (START["start"], SHAPE["shape"]))
    check("slice", [anchors, shapes], {}, {"normalized_anchor": False, "normalized_shape": False})


def test_decoded_windows():
    def encoded(picture):
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "png")
        return np.frombuffer(file.getvalue(), np.uint8)

    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        files = fn.external_source(lambda: [encoded(picture) for picture in PICTURES[:2]])
        axes, start, shape = (
            fn.external_source(lambda v=v: v[:2]) for v in (AXES, START["start"], SHAPE["shape"])
        )
        pipe.set_outputs(fn.decoders.image_slice(files, axes=axes, start=start, shape=shape))
    (found,) = pipe.run()
    np.testing.assert_array_equal(np.array(found.at(0)), PICTURES[0][1:4])
    np.testing.assert_array_equal(np.array(found.at(1)), PICTURES[1][1:6, 2:6])
    pipe.close()


def refused(name, axes, **named):
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        data = fn.external_source(lambda: PICTURES[:2], layout="HWC")
        tensors = {n: fn.external_source(lambda v=v: v) for n, v in ({"axes": axes} | named).items()}
        pipe.set_outputs(getattr(fn, name)(data, **tensors))
    with pytest.raises(OperatorError) as caught:
        pipe.run()
    pipe.close()
    return caught.value


def test_errors_name_the_sample():
    error = refused("slice", [np.int32([0, 1]), np.int32([5])], start=[np.int32([1, 1]), np.int32([1])])
    assert error.sample == 1
    assert "Axis 5 out of range" in str(error)
    error = refused("pad", AXES[:2], align=[np.int32([2]), np.int32([3, 0])])
    assert error.sample == 1
    assert "Values of `align` argument must be positive. Got [3, 0]" in str(error)


def test_samples_with_as_many_axes_want_as_many_values():
    error = refused("slice", [np.int32([0]), np.int32([1])], start=[np.int32([1]), np.int32([1, 2])])
    assert error.sample == 1
    assert str(error).startswith(
        "slice: argument 'start' of sample 1 has shape (2,), expected (1,) as that of sample 0, which has as many axes"
    )
