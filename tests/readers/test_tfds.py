"""Folders of TensorFlow Datasets: features, what of them makes no array, splits, and damage."""

import json
import re
import zlib

import numpy as np
import pytest
from support import records
from support.every_reader import TFDS_FEATURES, picture, tfds_folder
from support.fuzz import refusals
from support.readers import everything, failures, opened, reads

from jdali import SampleError, pipeline_def, storage
from jdali import fn as jfn

FORMS = ("tfrecord", "array_record", "parquet")
CONTENT = [picture(i) for i in range(8)]


@pytest.fixture(params=FORMS)
def folder(tmp_path, request):
    tfds_folder(tmp_path, request.param, CONTENT)
    return tmp_path


def changed(folder, file, change):
    found = json.loads((folder / file).read_text())
    change(found)
    (folder / file).write_text(json.dumps(found))


def tree(folder, features, example):
    """Makes a data set of one example with features as features.json has them."""
    tfds_folder(folder, "tfrecord", CONTENT)
    (folder / "features.json").write_text(json.dumps({"featuresDict": {"features": features}}))
    split = {"name": "train", "shardLengths": ["1"]}
    (folder / "dataset_info.json").write_text(json.dumps({"name": "one", "splits": [split]}))
    records.tfrecord(folder / "one-train.tfrecord-00000-of-00001", [records.example(example)])
    return str(folder)


def test_every_feature(folder):
    found = everything("tfds", directory=str(folder), features=TFDS_FEATURES)
    assert len(found) == 8
    for i, (image, label, text, small, packed, boxes, labels) in enumerate(found):
        assert image.tobytes() == CONTENT[i]
        assert (label.dtype, label.shape, int(label)) == (np.int64, (), i % 2)
        assert text.tobytes() == f"picture {i}".encode()
        np.testing.assert_array_equal(small, np.uint8([i, 255]), strict=True)
        np.testing.assert_array_equal(packed, np.full((i, 2), -i, np.int16), strict=True)
        expected = np.float32([[0, 0.25, 0.5, i]] * (i % 3)).reshape(-1, 4)
        np.testing.assert_array_equal(boxes, expected, strict=True)
        np.testing.assert_array_equal(labels, np.ones(i % 3, np.int64), strict=True)


def test_names_of_classes(folder):
    both = opened("tfds", directory=str(folder), features=["objects/label", "label"]).meta()["classes"]
    assert both == {"objects/label": ["ear", "nose"], "label": ["cat", "dog"]}
    one = opened("tfds", directory=str(folder), features=["image", "label"]).meta()["classes"]
    assert one == ["cat", "dog"]
    assert "classes" not in opened("tfds", directory=str(folder), features=["image"]).meta()


def test_in_a_pipeline(folder):
    @pipeline_def(batch_size=3, num_threads=2, device_id=None)
    def read():
        encoded, label = jfn.readers.tfds(
            directory=str(folder), features=["image", "label"], random_shuffle=True, seed=3
        )
        return jfn.decoders.image(encoded, device="cpu"), label

    with read() as pipe:
        pictures, _ = pipe.run()
        assert pictures.shape() == [(4, 5, 3)] * 3


@pytest.mark.parametrize(("dtype", "values"), [
    ("bool", [1, 0]), ("uint8", [0, 255]), ("int16", [-300, 300]), ("uint64", [2**63, 5]), ("float64", [0.5, -1.5]),
    ("float16", [0.5, 2.0]),
])  # fmt: skip
def test_types_of_tensors(tmp_path, dtype, values):
    facts = {"dtype": dtype, "shape": {"dimensions": ["2"]}, "encoding": "none"}
    directory = tree(tmp_path, {"x": {"tensor": facts}}, {"x": values})
    ((found,),) = everything("tfds", directory=directory, features="x")
    np.testing.assert_array_equal(found, np.array(values, dtype), strict=True)


def test_nested_names_and_lengths(tmp_path):
    number = {"tensor": {"dtype": "int32", "shape": {}}}
    features = {
        "a": {"featuresDict": {"features": {"b": {"featuresDict": {"features": {"c": number}}}}}},
        "s": {"sequence": {"feature": {"tensor": {"dtype": "float32", "shape": {"dimensions": ["2"]}}}, "length": "3"}},
        "t": {"tensor": {"dtype": "int32", "shape": {"dimensions": ["2", "-1"]}}},
        "l": {"translation": {"languages": ["de", "en"]}},
        "sound": {"audio": {"dtype": "int64", "shape": {"dimensions": ["-1"]}, "encoding": "none"}},
        "file": {"audio": {"dtype": "int64", "shape": {"dimensions": ["-1"]}, "lazyDecode": True}},
        "raw": {"tensor": {"dtype": "uint8", "shape": {"dimensions": ["2", "2"]}, "encoding": "bytes"}},
    }  # fmt: skip
    example = {
        "a/b/c": [7], "s": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "t": [1, 2, 3, 4, 5, 6], "l/de": [b"ja"], "l/en": [b"yes"],
        "sound": [1, -2, 3], "file": [b"RIFF"], "raw": [b"abcd"],
    }  # fmt: skip
    names = ["a/b/c", "s", "t", "l/de", "sound", "file", "raw"]
    (found,) = everything("tfds", directory=tree(tmp_path, features, example), features=names)
    expected = [
        np.int32(7), np.arange(6, dtype=np.float32).reshape(3, 2), np.int32([[1, 2, 3], [4, 5, 6]]),
        np.frombuffer(b"ja", np.uint8), np.int64([1, -2, 3]), np.frombuffer(b"RIFF", np.uint8),
        np.uint8([[97, 98], [99, 100]]),
    ]  # fmt: skip
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(mine, theirs)


STRINGS = {"tensor": {"dtype": "string", "shape": {"dimensions": ["-1"]}}}


@pytest.mark.parametrize(("feature", "words"), [
    (STRINGS, "is of type string and shape"),
    ({"sequence": {"feature": {"text": {}}}}, "is a sequence of strings, pictures"),
    ({"sequence": {"feature": {"sequence": {"feature": {"classLabel": {}}}}}}, "is a sequence of sequences"),
    ({"video": {"shape": {}}}, "is of a kind that is not read: video"),
    ({"type": "tensorflow_datasets.core.features.Text"}, "is of a kind that is not read: type"),
    ({"tensor": {"dtype": "complex64", "shape": {}}}, "is of type complex64"),
    ({"tensor": {"dtype": "int8", "shape": {"dimensions": ["-1", "-1"]}}}, "at most one size may be unknown"),
    ({"tensor": {"dtype": "int8", "shape": {"dimensions": ["9000000000", "9000000000"]}}}, "is of shape"),
    ({"tensor": {"dtype": "int8", "shape": {}, "encoding": "rot13"}}, "is encoded in an unknown way, rot13"),
    ({"tensor": {"dtype": "int8", "shape": {"dimensions": [[]]}}}, "is damaged"),
])  # fmt: skip
def test_features_that_make_no_array(tmp_path, feature, words):
    directory = tree(tmp_path, {"x": feature}, {"x": [1]})
    with pytest.raises(ValueError, match=rf"readers.tfds: .*features.json .*{words}"):
        opened("tfds", directory=directory, features=["x"])


def test_what_is_asked_for_in_vain(folder):
    with pytest.raises(ValueError, match=r"has no feature 'y'; it has 'image', 'label', .*'objects/bbox'"):
        opened("tfds", directory=str(folder), features=["y"])
    with pytest.raises(ValueError, match="has no split 'test'; it has 'train'"):
        opened("tfds", directory=str(folder), features=["label"], split="test")
    with pytest.raises(ValueError, match="must name at least one feature, and each once"):
        opened("tfds", directory=str(folder), features=["label", "label"])
    with pytest.raises(FileNotFoundError, match=r"cannot read .*dataset_info.json"):
        opened("tfds", directory=str(folder.parent), features=["label"])
    changed(folder, "dataset_info.json", lambda info: info.update(fileFormat="riegeli"))
    with pytest.raises(
        ValueError, match="has files of form 'riegeli'; tfrecord, array_record, parquet are read"
    ):
        opened("tfds", directory=str(folder), features=["label"])


def test_files_that_hold_fewer_examples(folder):
    changed(folder, "dataset_info.json", lambda info: info["splits"][0].update(shardLengths=["3", "9"]))
    with pytest.raises(ValueError, match="hold 8 examples, 12 by its dataset_info.json"):
        opened("tfds", directory=str(folder), features=["label"])


@pytest.mark.parametrize(("example", "words"), [
    ({"y": [1]}, "it has no feature 'x'"),
    ({"x": [1, 2, 3]}, r"its feature 'x' makes no array of shape \(2,\)"),
    ({"x": [0.5, 0.5]}, "its feature 'x' holds float32, not int64"),
])  # fmt: skip
def test_examples_of_another_kind(tmp_path, example, words):
    facts = {"dtype": "int32", "shape": {"dimensions": ["2"]}}
    directory = tree(tmp_path, {"x": {"tensor": facts}}, example)
    reader = opened("tfds", directory=directory, features=["x"])
    (message,) = failures(reader).values()
    assert re.search(rf"one-train.tfrecord.*#record 0.*{words}", message)


@pytest.mark.parametrize("size", ["4", "-1"])
def test_few_bytes_that_become_many(tmp_path, size):
    facts = {"dtype": "int8", "shape": {"dimensions": [size]}, "encoding": "zlib"}
    directory = tree(tmp_path, {"x": {"tensor": facts}}, {"x": [zlib.compress(bytes(4 << 20))]})
    before = storage.configure(max_sample_bytes=1 << 20)
    try:
        with pytest.raises(SampleError, match="its feature 'x' makes no array .*: it holds more than"):
            opened("tfds", directory=directory, features=["x"]).load(0)
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.cases(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("file", ["dataset_info.json", "features.json", "label.labels.txt", "set-train"])
def test_fuzz(tmp_path, form, file):
    tfds_folder(tmp_path, form, CONTENT[:5])
    path = tmp_path / (f"set-train.{form}-00000-of-00002" if file == "set-train" else file)
    read = reads("readers.tfds", path, directory=str(tmp_path), features=tuple(TFDS_FEATURES))
    law = {"says": rf"readers\.\w+: .*{tmp_path}", "memory": 1 << 30}
    count = refusals(read, path.read_bytes(), count=120, **law)
    assert count > (1 if file == "label.labels.txt" else 20)
