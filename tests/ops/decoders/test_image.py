"""decoders.image and peek_image_shape: the codecs' tests say what is decoded, these how it is called."""

import numpy as np
import pytest
from support import host_run, oracle
from support.data import image
from support.pictures import exif, jpeg_with_exif, noise, pillow, png

from jdali import SampleError, types
from jdali._operators.record import REGISTRY, HostBatchOp, Scaled
from jdali.codecs import image as codec
from jdali.ops.decoders._image import image as decode_image
from jdali.ops.decoders._peek_image_shape import peek_image_shape

SAMPLES = [
    np.frombuffer(data, np.uint8)
    for data in (
        jpeg_with_exif(pillow(image(21, 34), "jpeg"), exif(6)),
        png(noise(9, 13, 4)),
        png(noise(5, 4, 1, np.uint16)),
        pillow(image(17, 8, None), "jpeg"),
    )
]


def test_results_and_their_spec():
    results = host_run.run(decode_image, SAMPLES)  # checks shapes against the plan
    assert [r.shape for r in results] == [(34, 21, 3), (9, 13, 3), (5, 4, 3), (17, 8, 3)]
    for result, sample in zip(results, SAMPLES, strict=True):
        np.testing.assert_array_equal(result, codec.decode(sample))
    planned = host_run.plan(decode_image, SAMPLES, {"output_type": types.GRAY, "dtype": types.FLOAT})
    assert planned.outputs[0].layout == "HWC"
    assert planned.outputs[0].dtype == np.float32
    assert planned.outputs[0].extents[:, 2].tolist() == [1, 1, 1, 1]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"output_type": types.GRAY},
        {"output_type": types.BGR, "dtype": types.FLOAT},
        {"output_type": types.YCbCr},
        {"dtype": types.UINT16},
        {"adjust_orientation": False},
        {"use_fast_idct": True, "hw_decoder_load": 0.1, "affine": False, "jpeg_fancy_upsampling": True},
    ],
    ids=str,
)
def test_equals_dali(args):
    [expected] = oracle.run("decoders.image", [SAMPLES], args)
    for got, want in zip(host_run.run(decode_image, SAMPLES, args), expected, strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


def test_at_a_smaller_scale():
    """Of a format that can: sizes are rounded up, and the offer says by how much each can be divided."""
    options = {"output_type": types.RGB, "dtype": np.dtype(np.uint8), "adjust_orientation": True}
    headers = decode_image.probe(SAMPLES, **options).headers
    assert decode_image.scales.limits(headers).tolist() == [8, 1, 1, 8]
    scaled = Scaled(np.array([[2], [1], [1], [4]]), np.zeros((4, 2), int), np.zeros((4, 2)))
    made = decode_image.run(
        SAMPLES, workers=host_run.Workers(), headers=headers, scaled=scaled, use_fast_idct=False, **options
    )
    assert made.columns[0].spec.extents.tolist() == [[17, 11, 3], [9, 13, 3], [5, 4, 3], [5, 2, 3]]


@pytest.mark.parametrize("kind", ["FLOAT16", "INT64", "BOOL"])
def test_wrong_type(kind):
    with pytest.raises(ValueError, match=r"decoders.image: dtype .* is not supported; use uint8"):
        host_run.plan(decode_image, SAMPLES, {"dtype": getattr(types, kind)})


def test_broken_sample():
    with pytest.raises(SampleError, match="not an image of a known format"):
        host_run.plan(decode_image, [SAMPLES[0], np.zeros(9, np.uint8)])


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"adjust_orientation": False},
        {"image_type": types.GRAY},
        {"dtype": types.INT32},
        {"dtype": types.FLOAT},
    ],
    ids=str,
)
def test_peek_equals_dali(args):
    [expected] = oracle.run("peek_image_shape", [SAMPLES], args)
    for got, want in zip(host_run.run(peek_image_shape, SAMPLES, args), expected, strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


def test_peek():
    results = host_run.run(peek_image_shape, SAMPLES, {"image_type": types.ANY_DATA})
    assert [r.tolist() for r in results] == [[34, 21, 3], [9, 13, 4], [5, 4, 1], [17, 8, 1]]
    assert results[0].dtype == np.int64
    with pytest.raises(
        ValueError, match="PeekImageShape can return the output as one of the following: .* requested: bool"
    ):
        host_run.run(peek_image_shape, SAMPLES, {"dtype": types.BOOL})


@pytest.mark.parametrize("name", ["image", "image_crop", "image_slice", "image_random_crop"])
def test_shared_arguments_are_those_of_every_decoder(name):
    record = REGISTRY[f"decoders.{name}"]
    assert record.devices == ("cpu", "mixed")
    assert isinstance(record, HostBatchOp)
    assert record.args["host_memory_padding"].default == 8388608
    for argument in record.public_args:
        assert f"\n    {argument}: " in record.doc, argument
