"""Shards, epochs and state of readers of whole files: every sample once, and on from any place."""

import json

import numpy as np
import pytest
from PIL import Image
from support.readers import check_epochs_and_state

COUNT = 8


@pytest.fixture
def readers(tmp_path):
    """Arguments of each reader for a data set of 8 samples, by its name."""
    soundfile = pytest.importorskip("soundfile")
    (tmp_path / "a").mkdir()
    images, objects, lines = [], [], []
    for i in range(COUNT):
        Image.fromarray(np.full((4, 5, 3), 20 * i, np.uint8)).save(tmp_path / "a" / f"{i}.png")
        images.append({"id": 100 - i, "file_name": f"a/{i}.png", "width": 5, "height": 4})
        objects.append({"image_id": 100 - i, "category_id": 1, "bbox": [0, 0, 1, 1 + i]})
        soundfile.write(tmp_path / f"{i}.wav", np.full(10 + i, 0.01 * i), 8000)
        lines.append(json.dumps({"audio_filepath": str(tmp_path / f"{i}.wav"), "text": str(i)}))
    (tmp_path / "coco").write_text(
        json.dumps({"images": images, "annotations": objects, "categories": [{"id": 1}]})
    )
    (tmp_path / "manifest").write_text("\n".join(lines))
    return {
        "file": {"file_root": str(tmp_path)},
        "coco": {"file_root": str(tmp_path), "annotations_file": str(tmp_path / "coco"), "image_ids": True},
        "sequence": {"file_root": str(tmp_path), "sequence_length": 1},
        "nemo_asr": {"manifest_filepaths": str(tmp_path / "manifest")},
    }


@pytest.mark.parametrize("name", ["file", "coco", "sequence", "nemo_asr"])
def test_every_sample_once_and_on_from_any_state(readers, name):
    check_epochs_and_state(name, **readers[name])
