"""Defines DALI's names of operators: class names, schema names, aliases, and deprecated names with their warnings."""

from __future__ import annotations

from jdali._system.tracebacks import warn_user

# Words with several capital letters in class names.
_CAPITALS = {
    "bbox": "BBox", "coco": "COCO", "dl": "DL", "mfcc": "MFCC", "mxnet": "MXNet", "rms": "RMS", "roi": "ROI",
    "ssd": "SSD", "tfrecord": "TFRecord",
}  # fmt: skip


def class_name(name: str) -> str:
    """Returns DALI's name of an operator's class: "readers.nemo_asr" → "readers.NemoAsr", "bbox_paste" → "BBoxPaste"."""
    family, dot, short = name.rpartition(".")
    return family + dot + "".join(_CAPITALS.get(word) or word.capitalize() for word in short.split("_"))


def schema_name(name: str) -> str:
    """Returns DALI's name of an operator's schema: "readers.nemo_asr" → "readers__NemoAsr"."""
    return class_name(name).replace(".", "__")


ALIASES = (
    {
        "audio_decoder": "decoders.audio",
        "coin_flip": "random.coin_flip",
        "experimental.audio_resample": "audio_resample",
        "experimental.debayer": "debayer",
        "experimental.decoders.video": "decoders.video",
        "experimental.equalize": "equalize",
        "experimental.filter": "filter",
        "experimental.inflate": "decoders.inflate",
        "experimental.peek_image_shape": "peek_image_shape",
        "experimental.resize": "resize",
        "experimental.tensor_resize": "tensor_resize",
        "normal_distribution": "random.normal",
        "transform_translation": "transforms.translation",
        "uniform": "random.uniform",
        "video_reader_resize": "readers.video_resize",
    }
    | {
        old + name: f"decoders.image{name}"
        for old in ("image_decoder", "experimental.decoders.image")
        for name in ("", "_crop", "_random_crop", "_slice")
    }
    | {
        f"{name}_reader": f"readers.{name}"
        for name in (
            "caffe", "caffe2", "coco", "file", "mxnet", "nemo_asr", "numpy", "sequence", "tfrecord", "video",
        )
    }
)  # fmt: skip

# Deprecated names, each with the function of `fn` that replaces it; "" if none does.
IN_FAVOUR_OF = {old: new for old, new in ALIASES.items() if old != "experimental.resize"} | {
    "fast_resize_crop_mirror": "resize_crop_mirror",
    "readers.sequence": "",
    "shapes": "",
    "ssd_random_crop": "random_bbox_crop",
}

_EXPLAINED = {
    "readers.sequence": "`fn.external_source` reads in any order, `fn.readers.video` reads videos.",
    "shapes": "Use `DataNode.shape` instead.",
}


def is_deprecated(name: str) -> bool:
    return name in IN_FAVOUR_OF


def warn_of_name(name: str, surface: str) -> None:
    """Warns about a call by a deprecated name; the warning points to the user's line."""
    shown = class_name(name) if surface == "ops" else name
    text = f"WARNING: `jdali.{surface}.{shown}` is now deprecated."
    if new := IN_FAVOUR_OF[name]:
        text += f" Use `jdali.fn.{new}` instead."
    if why := _EXPLAINED.get(name):
        text += f"\n{why}"
    warn_deprecated(text)


def warn_deprecated(text: str) -> None:
    """Issues a DeprecationWarning that points to the user's line."""
    warn_user(text, DeprecationWarning)
