"""Data sets of Hugging Face, as `datasets` writes them: splits, features, names of classes, and what is refused."""

import json
import sys

import numpy as np
import pytest
from support.hub import hub
from support.readers import everything, opened

from jdali import fn, pipeline_def

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")
datasets = pytest.importorskip("datasets", reason="datasets is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
COLUMNS = ["image", "label", "text"]


def made(count, first=0):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["cat", "dog"]),
            "other": datasets.ClassLabel(names=["x", "y", "z"]),
            "text": datasets.Value("string"),
        }
    )
    numbers = range(first, first + count)
    pictures = [image.fromarray(np.full((3, 4, 3), i, np.uint8)) for i in numbers]
    columns = {"image": pictures, "label": [i % 2 for i in numbers], "other": [i % 3 for i in numbers]}
    return datasets.Dataset.from_dict({**columns, "text": [f"text {i}" for i in numbers]}, features=features)


def texts(**args):
    return [bytes(text).decode() for _, _, text in everything("hugging_face", columns=COLUMNS, **args)]


def expected(first, last):
    return [f"text {i}" for i in range(first, last)]


def test_what_save_to_disk_writes(tmp_path):
    made(7).save_to_disk(str(tmp_path / "one"), num_shards=3)
    assert texts(path=str(tmp_path / "one")) == expected(0, 7)
    datasets.DatasetDict(train=made(5), test=made(3, 5)).save_to_disk(str(tmp_path / "two"))
    assert texts(path=str(tmp_path / "two")) == expected(0, 5)
    assert texts(path=str(tmp_path / "two"), split="test") == expected(5, 8)
    with pytest.raises(ValueError, match=r"two has no split 'dev'; it has 'train', 'test'"):
        texts(path=str(tmp_path / "two"), split="dev")
    chosen = made(9).select([8, 1, 4])
    chosen.save_to_disk(str(tmp_path / "chosen"))
    assert texts(path=str(tmp_path / "chosen")) == ["text 8", "text 1", "text 4"]


@pytest.mark.parametrize(
    "files",
    [
        {"data/train-00000-of-00002.parquet": "train", "data/train-00001-of-00002.parquet": "train",
         "data/validation-00000-of-00001.parquet": "validation"},
        {"train/0000.parquet": "train", "train/0001.parquet": "train", "valid/0000.parquet": "validation"},
        {"my_train_1.parquet": "train", "my_train_2.parquet": "train", "my_dev.parquet": "validation"},
        {"a.parquet": "train", "b.parquet": "train", "dev1.parquet": "validation"},
    ],
)  # fmt: skip
def test_clones_of_repositories(tmp_path, files):
    for number, file in enumerate(files):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        made(2, 2 * number).to_parquet(str(tmp_path / file))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "train-00009-of-00010.parquet").write_bytes(b"no such file")
    (tmp_path / "README.md").write_text("nothing")
    assert texts(path=str(tmp_path)) == expected(0, 4)
    assert texts(path=str(tmp_path), split="validation") == expected(4, 6)
    with pytest.raises(ValueError, match="has no split 'test'; it has 'train', 'validation'"):
        texts(path=str(tmp_path), split="test")


def test_names_of_classes_and_pictures(tmp_path):
    made(4).save_to_disk(str(tmp_path / "kept"))
    made(4).to_parquet(str(tmp_path / "data.parquet"))

    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def pipe():
        encoded, label = fn.readers.hugging_face(
            path=str(tmp_path / "kept"), columns=["image", "label"], name="r"
        )
        return fn.decoders.image(encoded, device="cpu"), label

    with pipe() as built:
        assert built.reader_meta("r")["classes"] == ["cat", "dog"]
        pictures, labels = built.run()
        assert pictures.as_array()[:, 0, 0, 0].tolist() == [0, 1, 2, 3]
        assert labels.as_array().tolist() == [0, 1, 0, 1]
    reader = opened("parquet", paths=str(tmp_path / "data.parquet"), columns=["label", "other"])
    assert reader.meta()["classes"] == {"label": ["cat", "dog"], "other": ["x", "y", "z"]}
    assert "classes" not in opened("parquet", paths=str(tmp_path / "data.parquet"), columns=["text"]).meta()


def test_what_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="readers.hugging_face: Failed to open"):
        opened("hugging_face", path=str(tmp_path / "nowhere"), columns=["x"])
    with pytest.raises(ValueError, match="no state.json, no dataset_dict.json and no Parquet files"):
        opened("hugging_face", path=str(tmp_path), columns=["x"])
    state = tmp_path / "state.json"
    for content, words in (
        (b"{", "is not JSON, or damaged"),
        (b"[]", "holds no object"),
        (b"{}", "state.json of .* names no files"),
        (b"[" * 100_000, "is not JSON, or damaged"),
        (
            json.dumps({"_data_files": [{"filename": "../x.arrow"}]}).encode(),
            "names found in data must lie below",
        ),
        (json.dumps({"_data_files": [{"filename": "http://host/x.arrow"}]}).encode(), "names found in data"),
    ):
        state.write_bytes(content)
        with pytest.raises(ValueError, match=words):
            opened("hugging_face", path=str(tmp_path), columns=["x"])


# --- the Hub ------------------------------------------------------------------------------------
@pytest.fixture
def hub_files(tmp_path, monkeypatch):
    """Makes `hf://` go to a server on this machine."""
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    files = {}
    for split in ("train", "test"):
        pq.write_table(
            pa.table({"text": [f"{split} {i}" for i in range(5)], "n": range(5)}), tmp_path / "x.parquet"
        )
        files[f"data/{split}-00000-of-00001.parquet"] = (tmp_path / "x.parquet").read_bytes()
    with hub(files) as address:
        monkeypatch.setitem(fsspec.config.conf, "hf", {"endpoint": address})
        yield


def test_a_repository_of_the_hub(hub_files):
    found = everything("hugging_face", path="hf://datasets/me/data", columns=["text", "n"], split="test")
    assert [(bytes(text).decode(), int(n)) for text, n in found] == [(f"test {i}", i) for i in range(5)]
    paths = ["hf://datasets/me/data/data/train-00000-of-00001.parquet"]
    assert [int(n) for (n,) in everything("parquet", paths=paths, columns=["n"])] == list(range(5))


def test_what_the_hub_lacks_is_said_at_once(hub_files):
    with pytest.raises(
        FileNotFoundError, match="hf://datasets/me/other.* (there is no such file|not found)"
    ) as caught:
        opened("hugging_face", path="hf://datasets/me/other", columns=["text"])
    assert "attempts" not in str(caught.value)
    with pytest.raises(ValueError, match="has no split 'dev'; it has 'test', 'train'"):
        opened("hugging_face", path="hf://datasets/me/data", columns=["text"], split="dev")


def test_without_the_package_of_the_hub(monkeypatch):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "hf", raising=False)
    with pytest.raises(ImportError, match=r'hf://datasets/me/data: .*pip install "\.\[remote\]"'):
        opened("hugging_face", path="hf://datasets/me/data", columns=["text"])
