"""Rasterising of COCO's masks: by hand, by a plain loop over COCO's rule, and against DALI."""

import itertools
import json

import numpy as np
import pytest
from support.data import SHARED
from support.readers import dali_everything, everything

from jdali.readers.formats import coco_masks as masks


def written_out(counts):
    """COCO's compressed form: five bits a character, differences to the number two before."""
    text = ""
    for i, count in enumerate(counts):
        number = count - counts[i - 2] if i > 2 else count
        while True:
            digit, number = number & 31, number >> 5
            more = number != -1 if digit & 16 else number != 0
            text += chr(48 + (digit | 32 if more else digit))
            if not more:
                break
    return text


def test_decompressed():
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 4, 5, 100):
        counts = rng.integers(0, 1 << rng.integers(1, 32), size).tolist()
        np.testing.assert_array_equal(masks.decompressed(written_out(counts)), counts)
    # By hand: 6 is "6", 40 = 8 + 32 is "X1", 1 is "1", and 3 - 40 = -37 = 27 - 2·32 is "kN".
    np.testing.assert_array_equal(masks.decompressed("6X11kN"), [6, 40, 1, 3])
    assert len(masks.decompressed("")) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("é", "not ASCII"), ("1 1", "other than"), ("1p", "other than"), ("1P", "ends within a number"),
        ("P" * 13 + "0", "60 bits"),
    ],
)  # fmt: skip
def test_what_is_no_compressed_mask(text, message):
    with pytest.raises(ValueError, match=message):
        masks.decompressed(text)


def test_runs_of_counts():
    runs = masks.runs_of_counts(np.array([2, 3, 0, 1]), 2, 3)
    assert (runs.starts.tolist(), runs.ends.tolist()) == ([2, 5], [5, 6])
    with pytest.raises(ValueError, match="5 pixels together, but it is 2 x 3"):
        masks.runs_of_counts(np.array([2, 3]), 2, 3)
    with pytest.raises(ValueError, match="negative"):
        masks.runs_of_counts(np.array([7, -1]), 2, 3)


def plain(polygon, height, width):
    """COCO's rule, point by point (maskApi.c of the COCO API, in words of its own)."""
    points = np.trunc(5 * np.asarray(polygon, np.float64).reshape(-1, 2) + 0.5).astype(int)
    line = []
    for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
        steps = max(abs(x1 - x0), abs(y1 - y0))
        flat = abs(x1 - x0) >= abs(y1 - y0)
        turned = x0 > x1 if flat else y0 > y1
        a, b = ((x1, y1), (x0, y0)) if turned else ((x0, y0), (x1, y1))
        edge = []
        for t in range(steps + 1):
            if not steps:
                edge.append(a)
            elif flat:
                edge.append((a[0] + t, int(a[1] + (b[1] - a[1]) / (b[0] - a[0]) * t + 0.5)))
            else:
                edge.append((int(a[0] + (b[0] - a[0]) / (b[1] - a[1]) * t + 0.5), a[1] + t))
        line += edge[::-1] if turned else edge
    toggled = np.zeros(height * width + 1, int)
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        left = min(x0, x1)
        if x0 != x1 and left % 5 == 2 and 0 <= left // 5 < width:
            row = int(np.ceil(min(max((min(y0, y1) + 0.5) / 5 - 0.5, 0), height)))
            toggled[left // 5 * height + row] += 1
    return (np.cumsum(toggled)[:-1] % 2).reshape(width, height).T


def drawn(polygons, height, width):
    vertices = np.concatenate([np.reshape(p, (-1, 2)) for p in polygons]).astype(np.float32)
    sizes = np.array([len(p) // 2 for p in polygons])
    runs, _ = masks.runs_of_polygons(vertices, sizes, height, width)
    return masks.painted([(1, runs)], height, width)[..., 0]


def random_polygon(rng, height, width):
    points = rng.uniform(-0.1, 1.1, (rng.integers(1, 9), 2)) * [width, height]
    kind = rng.integers(4)
    points = np.round(points) if kind == 0 else np.round(points * 5) / 5 if kind == 1 else points
    return np.float32(points).ravel().tolist()


def test_polygons_follow_the_rule():
    rng = np.random.default_rng(1)
    for _ in range(300):
        height, width = rng.integers(1, 40, 2).tolist()
        polygon = random_polygon(rng, height, width)
        np.testing.assert_array_equal(drawn([polygon], height, width), plain(polygon, height, width))


def test_polygons_by_hand():
    # A square with its corners on pixel borders covers just the pixels inside.
    expected = np.zeros((6, 7), int)
    expected[1:4, 2:5] = 1
    np.testing.assert_array_equal(drawn([[2, 1, 5, 1, 5, 4, 2, 4]], 6, 7), expected)
    # Two polygons together, one of them empty, one beyond the borders.
    np.testing.assert_array_equal(drawn([[], [-9, -9, 99, -9, 99, 99, -9, 99]], 3, 2), np.ones((3, 2)))
    np.testing.assert_array_equal(drawn([[1, 1], [0, 0, 3, 3]], 3, 3), np.zeros((3, 3)))


def test_the_largest_label_wins():
    both = [(3, masks.Runs(np.array([0]), np.array([4]))), (500, masks.Runs(np.array([2]), np.array([6])))]
    for runs in (both, both[::-1]):
        got = masks.painted(runs, 2, 4)
        assert (got.dtype, got.shape) == (np.int32, (2, 4, 1))
        assert got[..., 0].T.ravel().tolist() == [3, 3, 500, 500, 500, 500, 0, 0]
    assert not masks.painted([], 2, 2).any()


def test_the_largest_of_many_runs():
    """Runs of every length that overlap in any way, with negative labels, against painting one after another."""
    rng = np.random.default_rng(1)
    for height, width in rng.integers(1, 20, (60, 2)).tolist():
        runs = []
        for label in rng.integers(-3, 300, rng.integers(0, 9)).tolist():
            borders = np.sort(rng.choice(height * width + 1, 2 * rng.integers(1, 5)).astype(np.int64))
            runs.append((label, masks.Runs(borders[::2], borders[1::2])))
        flat = np.zeros(height * width, np.int32)
        for label, (starts, ends) in sorted(runs, key=lambda run: run[0]):
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                flat[start:end] = label
        want = flat.reshape(width, height).T[..., None]
        np.testing.assert_array_equal(masks.painted(runs, height, width), want, strict=True)


def test_hostile_polygons_are_refused():
    zigzag = np.zeros((20_000, 2), np.float32)
    zigzag[::2] = 1e9
    with pytest.raises(ValueError, match="pixel columns, more than"):
        masks.runs_of_polygons(zigzag, np.array([20_000]), 10, 20_000)


def test_run_lengths_and_polygons_of_one_label(tmp_path):
    """Each object is drawn; DALI draws one mask of run lengths of a label, and none beside polygons."""
    square, block = np.zeros((6, 8), np.int32), np.zeros((6, 8), np.int32)
    square[1:4, 4:7] = block[2:6, 1:6] = 1
    corner = [[0, 0, 3, 0, 3, 3, 0, 3]]
    drawn = np.zeros((6, 8), np.int32)
    drawn[:3, :3] = 1

    def run_lengths(mask):
        changes = np.flatnonzero(np.diff(mask.T.ravel(), prepend=0)).tolist()
        return {"size": [6, 8], "counts": np.diff([0, *changes, mask.size]).tolist()}

    cases = [
        ([corner, run_lengths(square)], drawn | square),
        ([run_lengths(square), run_lengths(block)], square | block),
    ]
    (tmp_path / "a.jpg").write_bytes(b"x")
    for segmentations, want in cases:
        document = {
            "images": [{"id": 1, "file_name": "a.jpg", "height": 6, "width": 8}],
            "categories": [{"id": 1}],
            "annotations": [
                {"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "segmentation": one}
                for one in segmentations
            ],
        }
        (tmp_path / "x.json").write_text(json.dumps(document))
        files = {"file_root": str(tmp_path), "annotations_file": str(tmp_path / "x.json")}
        (found,) = everything("coco", pixelwise_masks=True, **files)
        np.testing.assert_array_equal(found[3][..., 0], want)


@pytest.mark.oracle
def test_random_polygons_as_dali(tmp_path):
    rng = np.random.default_rng(0)
    images, objects = [], []
    for i in range(60):
        height, width = rng.integers(1, 60, 2).tolist()
        images.append({"id": i, "file_name": f"{i}.jpg", "height": height, "width": width})
        (tmp_path / f"{i}.jpg").write_bytes(b"x")
        for label in range(1, rng.integers(2, 5)):
            polygons = [random_polygon(rng, height, width) for _ in range(rng.integers(1, 3))]
            objects.append(
                {"image_id": i, "category_id": label, "bbox": [0, 0, 5, 5], "segmentation": polygons}
            )
    document = {"images": images, "annotations": objects, "categories": [{"id": c} for c in range(1, 5)]}
    (tmp_path / "x.json").write_text(json.dumps(document))
    args = {
        "file_root": str(tmp_path), "annotations_file": str(tmp_path / "x.json"), "pixelwise_masks": True
    }  # fmt: skip
    different = 0
    for mine, theirs in zip(everything("coco", **args), dali_everything("coco", **args), strict=True):
        picture, expected = mine[3][..., 0].T.ravel(), theirs[3][..., 0].T.ravel()
        # DALI gives the run of pixels that ends the picture to the smallest label.
        end = np.flatnonzero(picture != expected)
        different += len(end) > 0
        assert not len(end) or (picture[end[0] :] == picture[-1]).all()
    assert different < 6


@pytest.mark.cases(1)
@pytest.mark.oracle
@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
@pytest.mark.parametrize("folder", ["coco", "coco_pixelwise"])
def test_pictures_of_the_data_pack_as_dali(folder):
    args = {
        "file_root": str(SHARED / folder / "images"),
        "annotations_file": str(SHARED / folder / "instances.json"), "pixelwise_masks": True,
    }  # fmt: skip
    for mine, theirs in zip(everything("coco", **args), dali_everything("coco", **args), strict=True):
        np.testing.assert_array_equal(mine[3], theirs[3])


@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
def test_pictures_of_the_data_pack():
    from PIL import Image

    folder = SHARED / "coco_pixelwise"
    args = {"file_root": str(folder / "images"), "annotations_file": str(folder / "instances.json")}
    names = sorted(path.stem for path in (folder / "images").iterdir())
    images = [f"{name}.jpg" for name in names]
    for name, sample in zip(
        names, everything("coco", **args, pixelwise_masks=True, images=images), strict=True
    ):
        # Each label has a colour of its own in the picture that came with the data.
        colour = np.asarray(Image.open(folder / "pixelwise_masks" / f"{name}.png").convert("RGB")).any(
            axis=-1
        )
        # The PNGs were drawn by another tool: along its borders some pixels differ.
        assert ((sample[3][..., 0] > 0) != colour).mean() < 0.002
