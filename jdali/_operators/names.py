"""DALI's names of an operator: of its class, and of its schema."""

from __future__ import annotations

# Words that class names spell with more capital letters than the first.
_CAPITALS = {
    "bbox": "BBox", "coco": "COCO", "dl": "DL", "mfcc": "MFCC", "mxnet": "MXNet", "rms": "RMS", "roi": "ROI",
    "ssd": "SSD", "tfrecord": "TFRecord",
}  # fmt: skip


def class_name(name: str) -> str:
    """DALI's name of an operator's class: "readers.nemo_asr" → "readers.NemoAsr", "bbox_paste" → "BBoxPaste"."""
    family, dot, short = name.rpartition(".")
    return family + dot + "".join(_CAPITALS.get(word) or word.capitalize() for word in short.split("_"))


def schema_name(name: str) -> str:
    """DALI's name of an operator's schema: "readers.nemo_asr" → "readers__NemoAsr"."""
    return class_name(name).replace(".", "__")
