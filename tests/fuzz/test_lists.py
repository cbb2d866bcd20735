"""Damaged lists of files and descriptions in JSON."""

import json
import wave

import numpy as np
import pytest
from support.fuzz import refusals
from support.readers import reads


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["file", "numpy"])
def test_file_lists(tmp_path, name):
    for i in range(4):
        np.save(tmp_path / f"{i}.npy", np.arange(i))
    label = " 7" if name == "file" else ""
    good = "".join(f"{i}.npy{label}\n" for i in range(4)).encode()
    read = reads(f"readers.{name}", tmp_path / "list.txt", file_list=str(tmp_path / "list.txt"))
    assert refusals(read, good, count=1500, says=f"readers.{name}: |cannot read ") > 500


def compressed(counts):
    """COCO's text of run lengths: from the fourth on less the one two before, 5 bits a letter."""
    text = ""
    for i, count in enumerate(counts):
        value = count - (counts[i - 2] if i > 2 else 0)
        while True:
            letter, value = value & 31, value >> 5
            more = value != (-1 if letter & 16 else 0)
            text += chr(48 + letter + 32 * more)
            if not more:
                break
    return text


POLYGON = [1.0, 1.0, 7.5, 1.0, 7.0, 6.0, 2.0, 6.5]
COCO = {
    "images": [
        {"id": 5, "file_name": "a.jpg", "height": 12, "width": 16},
        {"id": 9, "file_name": "b.jpg", "height": 10, "width": 10},
    ],
    "categories": [{"id": 1, "name": "cat"}, {"id": 4, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": 5, "category_id": 4, "bbox": [1.0, 1.0, 6.5, 5.5], "area": 30.0, "iscrowd": 0,
         "segmentation": [POLYGON]},
        {"id": 2, "image_id": 5, "category_id": 1, "bbox": [0, 0, 3, 3], "iscrowd": 1,
         "segmentation": {"counts": [5, 3, 9, 3, 172], "size": [12, 16]}},
        {"id": 3, "image_id": 9, "category_id": 1, "bbox": [2, 2, 4, 4], "iscrowd": 1,
         "segmentation": {"counts": compressed([22, 4, 6, 4, 6, 4, 54]), "size": [10, 10]}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("masks", [{}, {"polygon_masks": True}, {"pixelwise_masks": True}], ids=str)
def test_coco(tmp_path, masks):
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(b"picture")
    path = tmp_path / "coco.json"
    read = reads("readers.coco", path, file_root=str(tmp_path), annotations_file=str(path), **masks)
    good = COCO
    if "polygon_masks" in masks:
        good = COCO | {"annotations": COCO["annotations"][:1]}
    says = "readers.coco: .*(coco.json|jpg)|cannot read "
    assert refusals(read, json.dumps(good).encode(), count=700, says=says) > 250


def test_nemo(tmp_path):
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(np.arange(800, dtype=np.int16).tobytes())
    lines = [
        {"audio_filepath": "a.wav", "duration": 0.1, "text": "one"},
        {"audio_filepath": "a.wav", "duration": 0.05, "offset": 0.02, "text": "two Ä"},
        {"audio_filepath": "a.wav", "duration": 0.1, "other": [1, {"a": None}]},
    ]
    good = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path = tmp_path / "manifest.json"
    read = reads("readers.nemo_asr", path, manifest_filepaths=(str(path),))
    assert refusals(read, good, count=700, says=r"readers.nemo_asr: .*(manifest.json|wav)") > 250
