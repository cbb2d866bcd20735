"""Names that DALI has deprecated, and the warning of a call by one of them."""

from __future__ import annotations

from jdali._operators.names import class_name
from jdali._system.tracebacks import warn_user

# DALI's further names of operators, and the operators that they are.
ALIASES = (
    {
        "audio_decoder": "decoders.audio",
        "coin_flip": "random.coin_flip",
        "experimental.audio_resample": "audio_resample",
        "experimental.debayer": "debayer",
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

# The function of `fn` to call in place of each deprecated name; "": none of the same kind.
IN_FAVOUR_OF = {old: new for old, new in ALIASES.items() if old != "experimental.resize"} | {
    "experimental.decoders.video": "decoders.video",
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
    """True if DALI has deprecated a name.

    Args:
        name: of a function, dotted, below `fn`.
    """
    return name in IN_FAVOUR_OF


def warn_of_name(name: str, surface: str) -> None:
    """Warns of a call by a deprecated name, at the user's line.

    Args:
        name: of the function, dotted, below `fn`.
        surface: "fn", or "ops" of the class.
    """
    shown = class_name(name) if surface == "ops" else name
    text = f"WARNING: `jdali.{surface}.{shown}` is now deprecated."
    if new := IN_FAVOUR_OF[name]:
        text += f" Use `jdali.fn.{new}` instead."
    if why := _EXPLAINED.get(name):
        text += f"\n{why}"
    warn_deprecated(text)


def warn_deprecated(text: str) -> None:
    """A DeprecationWarning at the user's line."""
    warn_user(text, DeprecationWarning)
