"""segmentation.select_masks against the real DALI."""

import numpy as np
import pytest
from support import oracle

import jdali
import jdali.dynamic as jd
from jdali import fn

POLYGONS = np.int32([[0, 0, 3], [1, 3, 7], [2, 7, 10], [-5, 4, 4]])
VERTICES = np.arange(20, dtype=np.float32).reshape(10, 2)


def through_a_pipeline(samples, **args):
    pipe = jdali.Pipeline(batch_size=len(samples), num_threads=2)
    with pipe:
        inputs = [fn.external_source(lambda k=k: [sample[k] for sample in samples]) for k in range(3)]
        pipe.set_outputs(*fn.segmentation.select_masks(*inputs, **args))
    outs = pipe.run()
    pipe.close()
    assert [out.layout() for out in outs] == ["", ""]
    return [out.to_samples() for out in outs]


def check(samples, **args):
    inputs = [[sample[k] for sample in samples] for k in range(3)]
    expected = oracle.run("segmentation.select_masks", inputs, args, outputs=2)
    for got, want in zip(through_a_pipeline(samples, **args), expected, strict=True):
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


@pytest.mark.oracle
@pytest.mark.parametrize("reindex_masks", [False, True])
def test_ragged_batch(reindex_masks):
    """Of one and several masks, none, in any order; polygons without a vertex, and that share some."""
    ids = [[1], [2, 0], [], [0, 1, 2, -5], [-5]]
    samples = [(np.int32(one), POLYGONS, VERTICES) for one in ids]
    samples.append((np.int32([4, 3]), np.int32([[4, 0, 2], [3, 1, 3]]), VERTICES[:3]))
    samples.append((np.int32([]), POLYGONS[:0], VERTICES[:0]))
    check(samples, reindex_masks=reindex_masks)


def test_all_polygons_of_a_mask():
    """DALI takes the last one only, though its reader of COCO gives a mask as many as the annotation has."""
    polygons = np.int32([[4, 0, 2], [3, 2, 4], [4, 5, 8]])
    ((taken,), (vertices,)) = through_a_pipeline([(np.int32([4]), polygons, VERTICES)])
    np.testing.assert_array_equal(taken, [[4, 0, 2], [4, 2, 5]])
    np.testing.assert_array_equal(vertices, VERTICES[[0, 1, 5, 6, 7]])


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float64, np.bool_])
@pytest.mark.parametrize("coordinates", [1, 3])
def test_vertices_of_any_kind(dtype, coordinates):
    vertices = np.arange(10 * coordinates).reshape(10, coordinates).astype(dtype)
    check([(np.int32([2, 1]), POLYGONS, vertices)])


@pytest.mark.parametrize(
    ("ids", "polygons", "vertices", "text"),
    [
        (np.int32([5]), POLYGONS, VERTICES, "Selected mask_id 5 is not present in the input"),
        (np.int32([1, 1]), POLYGONS, VERTICES, r"mask_ids should not have duplicated values. Got 1 repeated in \[1, 1\]"),
        (np.int32([1]), np.int32([[1, 3, 11]]), VERTICES, r"mask id 1 \[3, 11\) is out of bounds. .* vertices \[0, 10\)"),
        (np.int32([1]), np.int32([[1, -1, 2]]), VERTICES, r"mask id 1 \[-1, 2\) is out of bounds. .* vertices \[0, 10\)"),
        (np.int32([1]), np.int32([[1, 5, 3]]), VERTICES, r"Vertex start index can't be after end index. Got \[5, 3\)"),
        (np.int32([1]), POLYGONS[:, :2].copy(), VERTICES, "``polygons`` is expected to contain 2D tensors with 3"),
        (np.int64([1]), POLYGONS, VERTICES, "``mask_ids`` input is expected to be int32, got int64"),
        (np.int32([1]), POLYGONS.astype(np.float32), VERTICES, "``polygons`` input is expected to be int32, got float32"),
        (np.int32([[1]]), POLYGONS, VERTICES, r"``mask_ids`` input is expected to be 1D. Got 2D"),
        (np.int32([1]), POLYGONS, VERTICES[:, 0].copy(), r"``vertices`` input is expected to be 2D. Got 1D"),
    ],
)  # fmt: skip
def test_what_is_refused(ids, polygons, vertices, text):
    with pytest.raises(
        (ValueError, TypeError, jdali.OperatorError), match=f"segmentation.select_masks: .*{text}"
    ):
        jd.segmentation.select_masks(ids, polygons, vertices)


def test_a_bad_sample_is_named():
    samples = [(np.int32([1]), POLYGONS, VERTICES), (np.int32([9]), POLYGONS, VERTICES)]
    with pytest.raises(jdali.OperatorError, match="Selected mask_id 9 is not present in the input"):
        through_a_pipeline(samples)
