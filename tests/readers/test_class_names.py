"""Names of classes: of every reader that knows them, in `reader_meta`, the viewer's labels and `statistics`."""

import json
import types

import numpy as np
import pytest
from support.every_reader import picture
from support.readers import opened
from support.videos import av, encode, pictures

import jdali
from jdali import fn
from jdali._statistics.labels import class_names
from jdali._viewer.hints import hint_of, overlay_of

CATEGORIES = [{"id": 7, "name": "cat"}, {"id": 3, "name": "dog"}, {"id": 90, "name": None}, {"id": 91}]


@pytest.fixture
def coco(tmp_path):
    (tmp_path / "a.png").write_bytes(picture(3))
    (tmp_path / "b.png").write_bytes(picture(4))
    data = {
        "images": [{"id": n, "file_name": f"{name}.png", "width": 5, "height": 4} for n, name in enumerate("ab")],
        "annotations": [
            {"image_id": image, "category_id": category, "bbox": [0, 0, 2, 2], "segmentation": [[0, 0, 0, 1, 1, 1]]}
            for image, category in ((0, 3), (1, 7), (1, 3), (1, 90))
        ],
        "categories": CATEGORIES,
    }  # fmt: skip
    (tmp_path / "objects.json").write_text(json.dumps(data))
    return {"file_root": str(tmp_path), "annotations_file": str(tmp_path / "objects.json")}


def test_categories_of_coco(coco, tmp_path):
    """classes[label] is the name, whether labels are positions or ids."""
    reader = opened("coco", **coco)
    assert reader.meta()["classes"] == {1: "cat", 2: "dog"}
    assert reader.load(0)[2].tolist() == [2]
    assert opened("coco", **coco, avoid_class_remapping=True).meta()["classes"] == {7: "cat", 3: "dog"}
    saved = tmp_path / "saved"
    saved.mkdir()
    options = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": str(saved)}
    opened("coco", **coco, **options)
    again = opened("coco", file_root=coco["file_root"], preprocessed_annotations=str(saved))
    assert again.meta()["classes"] == {1: "cat", 2: "dog"}
    (saved / "classes.json").write_text("[")
    with pytest.raises(ValueError, match=r"classes.json holds no names of classes"):
        opened("coco", file_root=coco["file_root"], preprocessed_annotations=str(saved))
    (saved / "classes.json").unlink()  # as DALI saves
    again = opened("coco", file_root=coco["file_root"], preprocessed_annotations=str(saved))
    assert "classes" not in again.meta()


def test_folders_of_videos(tmp_path):
    av()
    for folder in ("run", "walk", ".cache"):
        (tmp_path / folder).mkdir()
        clip = encode(pictures(4), "libvpx-vp9", "webm", options={"g": "5"})
        (tmp_path / folder / "clip.webm").write_bytes(clip)
    with pytest.warns(UserWarning, match=r"'.cache' \(hidden\)"):
        reader = opened("video", file_root=str(tmp_path), sequence_length=2)
    assert reader.meta()["classes"] == ["run", "walk"]
    assert {reader.load(i)[1].item() for i in range(reader.size)} == {0, 1}


class Pairs:
    classes = ("cat", "dog")  # as the data sets of torchvision have them

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return np.zeros(2, np.uint8), index % 2


def test_data_sets_of_others():
    assert opened("dataset", dataset=Pairs(), num_outputs=2).meta()["classes"] == ["cat", "dog"]
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    features = datasets.Features(
        {"label": datasets.ClassLabel(names=["x", "y"]), "n": datasets.Value("int64")}
    )
    made = datasets.Dataset.from_dict({"label": [0, 1, 0], "n": [5, 6, 7]}, features=features)
    reader = opened("dataset", dataset=made, columns=["n", "label"])
    assert reader.class_names == {1: ["x", "y"]}
    assert reader.meta()["classes"] == ["x", "y"]
    assert "classes" not in opened("dataset", dataset=made, columns=["n"]).meta()


class Labels:
    def __init__(self):  # as `datasets` has them
        self.features = {name: types.SimpleNamespace(names=[name, "z"]) for name in "xy"}

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return {"x": index % 2, "n": 5, "y": 0}


def test_names_of_several_columns_and_of_readers_over_readers():
    columns = {"x": ["x", "z"], "y": ["y", "z"]}
    for dataset, args, classes in (
        (Pairs(), {"num_outputs": 2}, ["cat", "dog"]),
        (Labels(), {"columns": ["x", "n", "y"]}, columns),
    ):
        source = ("readers.dataset", {"dataset": dataset, **args})
        mixture = ("readers.mix", {"sources": [source, source]})
        assert opened(source[0], **source[1]).meta()["classes"] == classes
        assert opened(mixture[0], **mixture[1]).meta()["classes"] == classes
        for samples, count in ((source, 3), (mixture, 6)):
            reader = opened("bucket", samples=samples, by=range(count), size=2)
            assert reader.meta()["classes"] == classes


def test_names_in_the_viewer_and_in_statistics(coco):
    def objects():
        with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
            data, boxes, labels = fn.readers.coco(**coco, ltrb=True, ratio=True)
            _, _, boxes, labels = fn.random_bbox_crop(boxes, labels, bbox_layout="xyXY", thresholds=[0.0])
            pipe.set_outputs(fn.decoders.image(data), boxes, fn.cast(labels, dtype=jdali.types.INT64))
        return pipe

    pipe = objects()
    arrays = [output.to_samples()[1] for output in pipe.run()]
    graph, readers = pipe.outputs_of_graph, pipe.internals().engine.readers

    def names_of(value):
        return class_names(value, readers)

    assert [names_of(value) for value in graph] == [(), (), {1: "cat", 2: "dog"}]
    assert hint_of(graph[2], lambda _: None, names_of).names == {1: "cat", 2: "dog"}
    assert overlay_of(graph, arrays, names_of).labels == ["cat (1)", "dog (2)", "3"]
    found = jdali.statistics(objects(), progress=False)
    assert found.classes == {1: "cat", 2: "dog"}
    assert found.outputs[2].labels == {1: 1, 2: 2, 3: 1}
    assert "3 labels: cat (1) 1 times, dog (2) 2 times, 3 1 times" in str(found)
    found = jdali.statistics(fn.readers.coco(**coco), progress=False)
    assert "dog (2) 2 times" in str(found)


def test_readers_without_names_say_nothing(tmp_path):
    (tmp_path / "a.png").write_bytes(picture(3))
    reader = opened("file", files=[str(tmp_path / "a.png")])
    assert "classes" not in reader.meta()
    assert not reader.class_names
