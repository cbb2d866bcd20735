"""readers.coco: images, boxes, labels, polygons and ids; by hand and against DALI."""

import json
import re

import numpy as np
import pytest
from support.data import SHARED
from support.readers import assert_same, dali_everything, everything, failures, opened, survives

from jdali import SampleError, fn, pipeline_def
from jdali._operators.record import REGISTRY, ReaderOp

NAMES = ["a", "b", "c", "d e"]
CATEGORIES = [{"id": 7, "name": "x"}, {"id": 3, "name": "y"}, {"id": 5, "name": "z"}]
SQUARE = [0, 0, 2, 0, 2, 2, 0, 2]


def image(number, name, height=4, width=6):
    return {"id": number, "file_name": f"{name}.jpg", "height": height, "width": width}


def thing(image_id, category, box, segmentation=None, **more):
    found = {"image_id": image_id, "category_id": category, "bbox": box, **more}
    return found if segmentation is None else {**found, "segmentation": segmentation}


IMAGES = [image(9, "a"), image(2, "b"), image(5, "c"), image(11, "d e")]
OBJECTS = [
    thing(9, 3, [0, 0, 2, 2], [SQUARE], iscrowd=0),
    thing(2, 7, [1, 1, 3, 3.3], [[1, 1, 4, 1, 4, 4], [0, 0, 1, 0, 1, 1.1]], area=3, other={"a": [1]}),
    thing(9, 5, [0.5, 0.25, 0.05, 2]),
    thing(9, 7, [1, 1, 2, 3], {"size": [4, 6], "counts": [5, 3, 16]}, iscrowd=1),
    thing(11, 5, [3, 3, 0, 1], [SQUARE]),
    thing(2, 3, [0, 0, 0.1, 1], []),
    thing(11, 3, [3, 3, 1, 1], [[], SQUARE]),
]


@pytest.fixture
def write(tmp_path):
    """Writes an annotation file; returns the arguments to read it."""
    for name in NAMES:
        (tmp_path / f"{name}.jpg").write_bytes(f"<{name}>".encode())

    def written(images=IMAGES, objects=OBJECTS, categories=CATEGORIES, text=None):
        document = {"info": {"year": 1}, "images": images, "annotations": objects, "categories": categories}
        (tmp_path / "x.json").write_text(json.dumps(document) if text is None else text)
        return {"file_root": str(tmp_path), "annotations_file": str(tmp_path / "x.json")}

    return written


def values(samples):
    return [tuple(bytes(a) if a.dtype == np.uint8 else a.tolist() for a in sample) for sample in samples]


CASES = [
    {},
    {"skip_empty": True, "include_iscrowd": False},
    {"avoid_class_remapping": True, "ltrb": True, "ratio": True, "image_ids": True},
    {"size_threshold": 0.01, "polygon_masks": True},
    {"size_threshold": 2.5, "polygon_masks": True, "ratio": True, "skip_empty": True},
    {"images": ["c.jpg", "a.jpg", "a.jpg", "d e.jpg"], "image_ids": True, "polygon_masks": True},
    {"images": ["c.jpg", "b.jpg"], "skip_empty": True},
    {"pixelwise_masks": True, "image_ids": True},
    # The threshold leaves out the object without a mask, which empties DALI's picture.
    {"pixelwise_masks": True, "size_threshold": 0.5, "avoid_class_remapping": True},
]


@pytest.mark.oracle
@pytest.mark.parametrize("args", CASES, ids=str)
def test_as_dali(write, args):
    files = write()
    assert_same(everything("coco", **files, **args), dali_everything("coco", **files, **args))


@pytest.mark.oracle
@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
@pytest.mark.parametrize(
    "args",
    [
        {"image_ids": True},
        {"polygon_masks": True, "ltrb": True, "ratio": True},
        {"polygon_masks": True, "include_iscrowd": False, "skip_empty": True, "size_threshold": 200.0},
    ],
    ids=str,
)
def test_data_pack_as_dali(args):
    for folder, file in (
        ("coco", "instances"), ("coco", "instances_one_without_objects"), ("coco_pixelwise", "instances")
    ):  # fmt: skip
        files = {
            "file_root": str(SHARED / folder / "images"),
            "annotations_file": str(SHARED / folder / f"{file}.json"),
        }
        assert_same(everything("coco", **files, **args), dali_everything("coco", **files, **args))


def test_boxes_and_labels(write):
    assert values(everything("coco", **write(), image_ids=True)) == [
        (b"<b>", [[1, 1, 3, np.float32(3.3)], [0, 0, np.float32(0.1), 1]], [1, 2], [2]),
        (b"<c>", [], [], [5]),
        (b"<a>", [[0, 0, 2, 2], [1, 1, 2, 3]], [2, 1], [9]),
        (b"<d e>", [[3, 3, 1, 1]], [2], [11]),
    ]
    empty = everything("coco", **write())[1]
    assert [(a.dtype, a.shape) for a in empty[1:]] == [(np.float32, (0, 4)), (np.int32, (0,))]


def test_forms(write):
    got = everything("coco", **write(), ltrb=True, ratio=True, avoid_class_remapping=True, skip_empty=True)
    share = np.float32
    assert values(got)[1] == (
        b"<a>", [[0, 0, share(2) / share(6), 0.5], [share(1) / share(6), 0.25, 0.5, 1]], [3, 7]
    )  # fmt: skip
    assert [bytes(sample[0]) for sample in got] == [b"<b>", b"<a>", b"<d e>"]


def test_polygons(write):
    got = values(everything("coco", **write(), polygon_masks=True))
    assert got[0][3:] == (
        [[0, 0, 3], [0, 3, 6]],
        [[1, 1], [4, 1], [4, 4], [0, 0], [1, 0], [1, np.float32(1.1)]],
    )
    assert got[1][3:] == ([], [])
    assert got[2][3:] == ([[0, 0, 4]], [[0, 0], [2, 0], [2, 2], [0, 2]])  # the other object's is no polygon
    assert got[3][3:] == ([[0, 0, 0], [0, 0, 4]], [[0, 0], [2, 0], [2, 2], [0, 2]])


def test_labels_in_a_picture(write):
    got = everything("coco", **write(), pixelwise_masks=True)
    expected = np.zeros((4, 6), np.int32)
    expected[:2, :2] = 2  # the square
    expected[1:, 1] = [2, 1, 1]  # pixels 5 to 7, counted down the columns, where no larger label is
    assert got[2][3].dtype == np.int32
    np.testing.assert_array_equal(got[2][3], expected[..., None])
    np.testing.assert_array_equal(got[1][3], np.zeros((4, 6, 1)))
    # With ratio, the picture is the same: its polygons are in pixels.
    np.testing.assert_array_equal(
        everything("coco", **write(), pixelwise_masks=True, ratio=True)[2][3], got[2][3]
    )


def test_masks_of_one_label_are_all_there(write):
    rle = [{"size": [4, 6], "counts": counts} for counts in ([0, 2, 22], [20, 4])]
    files = write(objects=[thing(9, 7, [0, 0, 2, 2], mask) for mask in [*rle, [SQUARE]]])
    picture = everything("coco", **files, pixelwise_masks=True)[2][3][..., 0]
    expected = np.zeros((4, 6), np.int32)
    expected[:2, :2] = expected[:, 5] = 1
    np.testing.assert_array_equal(picture, expected)


@pytest.mark.parametrize("masks", [{}, {"polygon_masks": True}, {"pixelwise_masks": True}], ids=str)
@pytest.mark.parametrize("by", ["jdali", pytest.param("dali", marks=pytest.mark.oracle)])
def test_saved_annotations(write, tmp_path, masks, by):
    (tmp_path / "saved").mkdir()
    how = {**write(), **masks, "image_ids": True, "ltrb": True}
    saving = {
        "save_preprocessed_annotations": True,
        "save_preprocessed_annotations_dir": str(tmp_path / "saved"),
    }
    expected = (everything if by == "jdali" else dali_everything)("coco", **how, **saving)
    how = {"file_root": str(tmp_path), "preprocessed_annotations": str(tmp_path / "saved"), **masks}
    got = everything("coco", **how, image_ids=True)
    # Names may hold spaces; DALI reads only names without.
    assert_same(got, expected)


@pytest.mark.oracle
def test_dali_reads_what_jdali_saved(write, tmp_path):
    (tmp_path / "saved").mkdir()
    how = {**write(IMAGES[:3], OBJECTS[:4]), "pixelwise_masks": True}
    expected = everything(
        "coco",
        **how,
        save_preprocessed_annotations=True,
        save_preprocessed_annotations_dir=str(tmp_path / "saved"),
    )
    del how["annotations_file"]
    assert_same(dali_everything("coco", **how, preprocessed_annotations=str(tmp_path / "saved")), expected)


WRONG = [
    ({"text": '{"images": [{"id": 1, "file_na'}, r"x.json: Input data was truncated"),
    ({"text": "no JSON"}, r"x.json: JSON is malformed: .* \(byte \d\)"),
    ({"text": '{"annotations": []}'}, r"x.json: Object missing required field `images`"),
    ({"text": '{"images": []}'}, r"there are no images to read in .*x.json"),
    ({"text": '{"images": [{"id": "1", "file_name": "a"}]}'}, r"got `str` - at `\$.images\[0\].id`"),
    ({"images": [image(1, "a\0b")]}, r"images\[0\]: the file_name .* has a byte of 0"),
    ({"images": [image(1 << 63, "a")]}, r"at `\$.images\[0\].id`"),
    ({"images": [image(9.5, "a")]}, r"images\[0\]: the id 9.5 is not a whole number"),
    ({"images": [image(9, "a"), image(1e300, "b")]}, r"images\[1\]: the id 1e\+300 is not a whole number of 64 bits"),
    ({"images": [image(9, "a", width=6.5)], "objects": []}, r"images\[0\]: the width 6.5 is not a whole number"),
    ({"images": [image(float("nan"), "a")]}, r"got `null` - at `\$.images\[0\].id`"),
    ({"objects": [thing(9, 7, [0, 0, float("nan"), 1])]}, r"got `null` - at `\$.annotations\[0\].bbox\[2\]`"),
    ({"text": '{"info": NaN, "images": [{"id": 1, "file_na'}, r"x.json: Input data was truncated"),
    ({"text": "[" * 100_000}, "x.json: "),
    ({"objects": [OBJECTS[0], thing(8, 7, [0, 0, 1, 1])]}, r"annotations\[1\]: .* no image with the image_id 8"),
    ({"objects": [thing(9, 8, [0, 0, 1, 1])]}, r"annotations\[0\]: there is no category with the category_id 8"),
    ({"objects": [thing(9, 7, [0, 0, 1])]}, r"`array` of length 4.* - at `\$.annotations\[0\].bbox`"),
    ({"objects": [thing(9, 7, [0, 0, -1, 2])]}, r"annotations\[0\]: bbox \[0.0, 0.0, -1.0, 2.0\] is not a box"),
    ({"objects": [thing(9, 7, [0, 1e300, 1, 2])]}, r"annotations\[0\]: bbox .* is not a box"),
    ({"objects": [{"image_id": 9, "category_id": 7}]}, r"missing required field `bbox` - at `\$.annotations\[0\]`"),
]  # fmt: skip
WRONG_MASKS = [
    ([[0, 0, 1]], r"annotations\[0\]: a polygon has 3 coordinates, an odd number"),
    ([[0, 0, 1, "x"]], r"annotations\[0\].segmentation: Expected `float`, got `str` - at `\$\[0\]\[3\]`"),
    ([0, 0], r"annotations\[0\].segmentation: Expected `array`, got `int`"),
    ([[], [0, 1e300], [0, 0]], r"annotations\[0\]: a polygon has a coordinate beyond the range of float32"),
    ({"size": [4, 5], "counts": [20]}, r"annotations\[0\]: the mask is 4 x 5, but its image 4 x 6"),
    ({"size": [4, 6], "counts": [-1, 25]}, r"annotations\[0\].segmentation: .*>= 0"),
    ({"counts": [24]}, r"annotations\[0\].segmentation: Object missing required field `size`"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=[str(g)[:60] for g, _ in WRONG])
def test_wrong_annotations(write, given, message):
    with pytest.raises(ValueError, match=f"^readers.coco: .*{message}"):
        opened("coco", **write(**given))


@pytest.mark.parametrize(
    "args", [{}, {"ratio": True, "polygon_masks": True}, {"pixelwise_masks": True}], ids=str
)
def test_what_the_json_of_python_reads(write, args):
    """Numbers that are not finite in fields that nobody reads, whole numbers as floats, ids of 64 bits."""
    expected = values(everything("coco", **write(), **args))
    numbers = {9: 9.0, 2: 3_000_000_000, 5: (1 << 63) - 1, 11: 1e18, 7: 7.0, 3: -(1 << 40)}
    nan, text = float("nan"), 'a "NaN", \\, -Infinity'
    images = [
        {**one, "id": numbers[one["id"]], "width": 6.0, "depth": [nan, {"x": -float("inf")}], "note": text}
        for one in IMAGES
    ]
    objects = [
        {
            **one, "image_id": numbers[one["image_id"]], "area": nan, "NaN": [text, float("inf")], "iscrowd": None,
            "category_id": numbers.get(one["category_id"], one["category_id"]),
        }
        for one in OBJECTS
    ]  # fmt: skip
    # Images come in the order of their ids.
    images[1]["id"], objects[1]["image_id"], objects[5]["image_id"] = -(1 << 40), -(1 << 40), -(1 << 40)
    images[2]["id"] = -5.0
    categories = [{**one, "id": numbers.get(one["id"], one["id"]), "score": nan} for one in CATEGORIES]
    files = write(images, objects, categories)
    assert values(everything("coco", **files, **args)) == expected


def test_ids_that_do_not_fit_in_their_output(write):
    files = write([image(9, "a"), image(1 << 31, "b")], [])
    message = "does not fit in the output of image_ids, int32"
    with pytest.raises(ValueError, match=rf"x.json: images\[1\]: the id 2147483648 {message}"):
        opened("coco", **files, image_ids=True, images=["b.jpg"])
    assert opened("coco", **files, image_ids=True, images=["a.jpg"]).size == 1
    files = write(objects=[thing(9, 1 << 31, [0, 0, 2, 2])])
    with pytest.raises(
        ValueError, match=r"annotations\[0\]: the category_id 2147483648 does not fit in the labels"
    ):
        opened("coco", **files, avoid_class_remapping=True)


def test_a_mask_whose_size_is_in_floats(write):
    mask = {"size": [4, 6], "counts": [5, 3, 16]}
    expected, got = (
        values(everything("coco", **write(objects=[thing(9, 7, [0, 0, 1, 1], one)]), pixelwise_masks=True))
        for one in (mask, mask | {"size": [4.0, 6.0]})
    )
    assert got == expected


@pytest.mark.parametrize(("mask", "message"), WRONG_MASKS, ids=[str(m) for m, _ in WRONG_MASKS])
def test_wrong_segmentations_are_of_their_sample(write, tmp_path, mask, message):
    message = message.replace(r"\[0\]", r"\[2\]", 1)
    good = [thing(9, 7, [0, 0, 1, 1], [SQUARE]), thing(2, 7, [0, 0, 1, 1], [SQUARE])]
    files = write(objects=[*good, thing(9, 7, [0, 0, 1, 1], mask)])
    reader = opened("coco", **files, pixelwise_masks=True)
    for _ in range(2):  # what is kept of a good image is not kept of a bad one
        found = failures(reader)
        assert list(found) == [2]
        assert re.search(f"^readers.coco: the masks of .*a.jpg: .*x.json: {message}", found[2])
    (tmp_path / "saved").mkdir()
    saving = {"save_preprocessed_annotations_dir": str(tmp_path / "saved")}
    with pytest.raises(ValueError, match=f"^readers.coco: .*x.json: {message}"):
        opened("coco", **files, pixelwise_masks=True, save_preprocessed_annotations=True, **saving)


def test_segmentations_that_nobody_asked_for_are_not_looked_at(write):
    files = write(objects=[thing(9, 7, [0, 0, 1, 1], [[0, 0, 1, "x"]])])
    assert not failures(opened("coco", **files))
    masks = [thing(9, 7, [0, 0, 1, 1], {"size": [9, 9], "counts": [1]})]  # runs are no polygons
    assert not failures(opened("coco", **write(objects=masks), polygon_masks=True))


@pytest.mark.parametrize("counts", [[23], "0", "00P1\\1"], ids=str)
def test_a_damaged_mask_is_of_its_sample(write, counts):
    files = write(objects=[thing(2, 7, [0, 0, 1, 1], {"size": [4, 6], "counts": counts})])
    found = failures(opened("coco", **files, pixelwise_masks=True))
    assert list(found) == [0]
    assert "readers.coco: the masks of " in found[0]
    assert "b.jpg: " in found[0]


def test_sizes_of_images(write):
    files = write([image(9, "a", height=0)], [])
    assert opened("coco", **files).size == 1
    for args in ({"ratio": True}, {"pixelwise_masks": True}):
        with pytest.raises(ValueError, match=r"images\[0\]: the size 0 x 6 of 'a.jpg' must be positive"):
            opened("coco", **files, **args)
    files = write([image(9, "a", height=1 << 20, width=1 << 20)], [])
    with pytest.raises(SampleError, match="larger than the limit of 500000000 pixels"):
        opened("coco", **files, pixelwise_masks=True).load(0)


def test_a_missing_image(write, tmp_path):
    files = write()
    (tmp_path / "c.jpg").unlink()
    assert list(failures(opened("coco", **files))) == [1]
    assert "c.jpg: No such file" in failures(opened("coco", **files))[1]


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ({"file_root": None}, ValueError, "``file_root`` argument is required"),
        ({"annotations_file": ""}, ValueError, "Either ``annotations_file`` or ``preprocessed_annotations`` must"),
        ({"annotations_file": "/no/such"}, FileNotFoundError, "Could not open JSON annotations file: \"/no/such\": No such"),
        ({"polygon_masks": True, "pixelwise_masks": True}, ValueError, ".*are mutually exclusive"),
        ({"images": ["a.jpg", "y.jpg", "z.jpg"]}, ValueError, r".*no image 'y.jpg', .*\(2 such names\)"),
        ({"save_preprocessed_annotations": True}, ValueError, ".*should be provided together"),
        ({"preprocessed_annotations": "/no/such"}, ValueError, ".*preprocessed .*.annotations_file. is not supported"),
        ({"preprocessed_annotations": "/no/such", "annotations_file": ""}, FileNotFoundError, "cannot read filen"),
        ({"preprocessed_annotations": "/x", "annotations_file": "", "ltrb": True}, ValueError, ".*.ltrb. is not supported"),
        (
            {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": "/no/such"},
            FileNotFoundError, ".*/no/such",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_arguments(write, args, error, message):
    with pytest.raises(error, match=f"^readers.coco: {message}"):
        opened("coco", **{**write(), **args})


def test_damaged_saved_annotations(write, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    how = {**write(), "pixelwise_masks": True, "image_ids": True}
    opened("coco", **how, save_preprocessed_annotations=True, save_preprocessed_annotations_dir=str(saved))
    del how["annotations_file"]
    how["preprocessed_annotations"] = str(saved)
    rng = np.random.default_rng(0)
    for path in sorted(saved.iterdir()):
        good = path.read_bytes()
        survives(good, rng, lambda: opened("coco", **how), path, cases=20)
        if path.name != "filenames.dat":
            path.write_bytes(good[:-1])
            with pytest.raises(ValueError, match="^readers.coco: .*" + path.name):
                opened("coco", **how)
        path.write_bytes(good)
    for name, height in (("masks_rles.dat", 4), ("heights.dat", 12)):  # of image "a", the third
        good = (saved / name).read_bytes()
        (saved / name).write_bytes(good[:height] + b"\xff" + good[height + 1 :])
        with pytest.raises(ValueError, match=r"masks_rles.dat: mask 0 is \d+ x 6, but its image \d+ x 6"):
            opened("coco", **how)
        (saved / name).write_bytes(good)
    assert opened("coco", **how).size == 4


@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
def test_bad_annotations_of_the_data_pack():
    root = str(SHARED / "coco" / "images")
    for path in sorted((SHARED / "bad" / "coco").iterdir()):
        if path.stem == "missing_image":
            found = failures(opened("coco", file_root=root, annotations_file=str(path)))
            assert list(found) == [0]
            assert "does_not_exist.jpg: No such file" in found[0]
        else:
            with pytest.raises(ValueError, match=f"^readers.coco: {path}: .*"):
                opened("coco", file_root=root, annotations_file=str(path))


def test_in_a_pipeline(write, tmp_path):
    files = write()
    (tmp_path / "c.jpg").unlink()

    @pipeline_def(batch_size=3, num_threads=2, device_id=None, on_error="skip")
    def pipeline():
        return tuple(fn.readers.coco(**files, pixelwise_masks=True, image_ids=True, name="r"))

    pipe = pipeline()
    try:
        images, boxes, labels, masks, ids = pipe.run()
        assert [int(ids.at(i)[0]) for i in range(3)] == [2, 9, 9]
        assert masks.layout() == "HWC"
        assert images.layout() == ""
        assert [labels.at(i).tolist() for i in range(3)] == [[1, 2], [2, 1], [2, 1]]
        assert boxes.at(1).tolist() == boxes.at(2).tolist()
        assert pipe.reader_meta("r")["epoch_size"] == 4
        assert [skipped.path for skipped in pipe.errors][:1] == [str(tmp_path / "c.jpg")]
    finally:
        pipe.close()


def test_record():
    record = REGISTRY["readers.coco"]
    assert isinstance(record, ReaderOp)
    assert [
        record.num_outputs(a)
        for a in ({}, {"polygon_masks": True}, {"pixelwise_masks": True, "image_ids": True})
    ] == [3, 5, 5]
    for argument in record.public_args:
        assert f"\n    {argument}: " in record.doc, argument
