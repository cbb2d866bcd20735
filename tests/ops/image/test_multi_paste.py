import numpy as np
import pytest
from support import contract, oracle
from support.data import image

import jdali
from jdali import fn, types
from jdali._operators.pure import pure_call
from jdali.ops.image._multi_paste import multi_paste


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32])
def test_several_inputs(dtype):
    """Regions that overlap, of images of different sizes; the last is on top."""
    rng = np.random.default_rng(0)
    inputs = [[image(h, w, 2, dtype, rng.integers(99)) for h, w in sizes]
              for sizes in (((9, 7), (6, 8)), ((5, 6), (11, 4)))]  # fmt: skip
    per_sample = {
        "in_anchors": np.int32([[[1, 2], [0, 1]], [[0, 3], [4, 0]]]),
        "shapes": np.int32([[[5, 4], [5, 5]], [[6, 5], [3, 4]]]),
        "out_anchors": np.int32([[[3, 0], [4, 2]], [[0, 0], [5, 1]]]),
        "output_size": np.int32([[10, 9], [8, 12]]),
    }
    contract.check(multi_paste, inputs, {}, per_sample, layout="HWC")


@pytest.mark.oracle
def test_shares():
    """Anchors are rounded towards zero, shapes up: random positions and positions on whole numbers."""
    rng = np.random.default_rng(0)
    anchors = rng.uniform(0.01, 0.48, (3, 6, 1, 2)).astype(np.float32)
    anchors[:, :2] = np.round(anchors[:, :2] * 10) / 10
    names = ("in_anchors_rel", "shapes_rel", "out_anchors_rel")
    inputs = [[image(20, 10)] * 6]
    contract.check(
        multi_paste, inputs, {"output_size": (23, 31)}, dict(zip(names, anchors, strict=True)), layout="HWC"
    )


@pytest.mark.oracle
def test_the_shape_of_a_picture_is_an_output_size():
    contract.check(multi_paste, [[image(4, 5), image(6, 3)]], {"output_size": (6, 7, 3)}, {}, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("size", [(70, 300), (32, 128), (33, 45), (5, 131), (4, 9), (90, 3), (0, 7)], ids=str)
def test_regions_of_any_size(size):
    """They are copied in tiles, the last of which overlap: nothing beside the region may change."""
    pictures = [[image(100, 310, 3, seed=seed)] for seed in (0, 1)]
    regions = {"in_anchors": [[2, 0], [7, 5]], "shapes": [[98, 310], size], "out_anchors": [[0, 0], [3, 9]]}
    per_sample = {name: np.int32([values]) for name, values in regions.items()}
    contract.check(multi_paste, pictures, {"output_size": (101, 319)}, per_sample, layout="HWC")


@pytest.mark.oracle
def test_types():
    inputs = [[np.float32([[[-3.5], [300.0], [0.5]]])]]
    contract.check(multi_paste, inputs, {"dtype": types.UINT8}, layout="HWC")


def mosaic(ids, pictures, anchors, size):
    """What DALI gives, and a pipeline of jdali, of samples chosen from the batch."""
    per_sample = {"in_ids": ids, "out_anchors": anchors}
    (expected,) = oracle.run("multi_paste", [pictures], {"output_size": size}, per_sample, layout="HWC")
    with jdali.Pipeline(batch_size=len(pictures), num_threads=1, device_id=None) as pipe:
        white = fn.external_source([pictures], cycle=True, layout="HWC")
        fed = {name: fn.external_source([list(v)], cycle=True) for name, v in per_sample.items()}
        pipe.set_outputs(fn.multi_paste(white, output_size=size, **fed))
    (out,) = pipe.run()
    found = [np.asarray(out.at(i)) for i in range(len(pictures))]
    pipe.close()
    return found, expected


@pytest.mark.oracle
def test_samples_of_the_batch():
    """Numbers of regions that differ by sample, samples that are taken twice or never, and of different sizes."""
    pictures = [image(h, w) for h, w in ((4, 5), (6, 3), (2, 2))]
    ids = [np.int32([0, 2, 0]), np.int32([]), np.int32([1])]
    anchors = [np.int32([[0, 0], [1, 4], [3, 2]]), np.zeros((0, 2), np.int32), np.int32([[2, 5]])]
    found, expected = mosaic(ids, pictures, anchors, [8, 9])
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_one_sample_and_frames():
    frames = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4, 1)
    out = contract.pure(multi_paste, [frames], {"in_ids": [0, 0], "output_size": (4, 8), "out_anchors": [[0, 0], [1, 4]]},
                    layout="FHWC")  # fmt: skip
    expected = np.zeros((2, 4, 8, 1), np.uint8)
    expected[:, :3, :4], expected[:, 1:, 4:] = frames, frames
    np.testing.assert_array_equal(out, expected)


def test_what_is_refused():
    one, other = np.ones((3, 4, 1), np.uint8), np.ones((5, 4, 1), np.uint8)
    size = {"output_size": (6, 6)}
    for inputs, args, message in (
        (
            [one, other],
            {},
            "multi_paste: If the `output_size` is not specified, all the input samples must have the same",
        ),
        (
            [one, one],
            {"in_ids": [0]},
            "multi_paste: If the `in_ids` is specified, the operator accepts exactly one positional input batch. Got: 2",
        ),
        (
            [one],
            {"in_ids": [1]},
            r"multi_paste: The `in_idx` must be in range .* Got in_idx: 1. Input batch size is: 1.",
        ),
        (
            [one],
            size | {"out_anchors": [[4, 0]]},
            "The pasted region must be within output bounds. Got output",
        ),
        (
            [one],
            size | {"shapes": [[4, 1]]},
            "The pasted region must be within input sample. Got input",
        ),
        (
            [one],
            size | {"in_anchors": [[-1, 0]]},
            "The pasted region must be within input sample. Got input",
        ),
        (
            [one],
            size | {"shapes": [[1, 1], [1, 1]]},
            "Unexpected shape for argument `shapes` for output sample at",
        ),
        (
            [one],
            size | {"shapes": [[1, 1]], "shapes_rel": [[1, 1]]},
            "The `shapes` and `shapes_rel` cannot be specified together",
        ),
        (
            [one, np.ones((3, 4, 2), np.uint8)],
            size,
            r"All regions pasted into given output sample must have the same number of channels. Got \[1, 2\]",
        ),
        ([one, one.astype(np.int16)], size, "All input batches must have the same data type"),
    ):
        with pytest.raises(ValueError, match=message):
            pure_call(multi_paste, inputs, args, layout="HWC")


def test_in_a_pipeline():
    with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        white = fn.external_source(lambda: [np.ones((6, 6, 1), np.uint8)] * 2, layout="HWC")
        anchor = fn.external_source(lambda: [np.int32([[0, 0]]), np.int32([[0, 1]])])
        pipe.set_outputs(fn.multi_paste(white, out_anchors=anchor))
    with pytest.raises(
        jdali.OperatorError, match="The pasted region must be within output bounds. Got output"
    ):
        pipe.run()
    pipe.close()
