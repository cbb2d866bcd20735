"""Deriving the public functions of a surface from the operators' records."""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Callable
from typing import Any

from jdali._operators.base import Operator
from jdali._operators.schema import ArgKind, alternatives

# Names that DALI keeps for those of the past, by what they are called now.
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


# Words that class names spell with more capital letters than the first.
_CAPITALS = {
    "bbox": "BBox", "coco": "COCO", "dl": "DL", "mfcc": "MFCC", "mxnet": "MXNet", "rms": "RMS", "roi": "ROI",
    "ssd": "SSD", "tfrecord": "TFRecord",
}  # fmt: skip


def class_name(name: str) -> str:
    """DALI's name of an operator's class: "readers.nemo_asr" → "readers.NemoAsr", "bbox_paste" → "BBoxPaste"."""
    family, dot, short = name.rpartition(".")
    return family + dot + "".join(_CAPITALS.get(word) or word.capitalize() for word in short.split("_"))


def public_signature(
    op: Operator, value_type: Any, per_sample_type: Any, *, key: Any = None
) -> inspect.Signature:
    """Signature of an operator on a surface: names, order and defaults are the record's.

    Args:
        op: the record.
        value_type: annotation of inputs.
        per_sample_type: what a per-sample argument may be besides its own type; None: nothing.
        key: annotation of a leading `key` parameter of random operators; None: there is none.
    """
    parameters = []
    if op.random and key is not None:
        parameters.append(inspect.Parameter("key", inspect.Parameter.POSITIONAL_ONLY, annotation=key))
    for i in op.inputs:
        kind = inspect.Parameter.VAR_POSITIONAL if i.variadic else inspect.Parameter.POSITIONAL_ONLY
        default = None if i.optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter(i.name, kind, default=default, annotation=value_type))
    for arg in op.public_args.values():
        annotation = arg.annotation
        if arg.kind is ArgKind.PER_SAMPLE and per_sample_type is not None:
            annotation = _union(annotation, per_sample_type)
        default = inspect.Parameter.empty if arg.required else arg.default
        parameters.append(
            inspect.Parameter(
                arg.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )
    return inspect.Signature(parameters)


def _union(annotation: Any, extra: Any) -> Any:
    if annotation is Any or extra in alternatives(annotation):
        return annotation
    try:
        return annotation | extra
    except TypeError:
        return Any


def document(op: Operator, extra: dict[str, str]) -> str:
    """The operator's docstring with further arguments added to its Args."""
    if not extra:
        return op.doc
    block = "\n".join(f"    {name}: {text}" for name, text in extra.items())
    head, found, tail = op.doc.partition("\nArgs:\n")
    if not found:
        return f"{op.doc}\n\nArgs:\n{block}\n"
    body, separator, rest = tail.partition("\n\n")
    return f"{head}\nArgs:\n{body.rstrip()}\n{block}{separator}{rest}"


def describe(
    function: Callable[..., Any], op: Operator, package: str, signature: inspect.Signature, doc: str
) -> None:
    """Gives a derived function the name, module, signature and docs that `help` and editors show."""
    *path, short = op.name.split(".")
    function.__name__ = function.__qualname__ = short
    function.__module__ = ".".join([package, *path])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__operator__ = op  # type: ignore[attr-defined]
    function.__doc__ = doc


def place(package: pytypes.ModuleType, name: str, function: Any, modules: dict[str, Any]) -> None:
    """Puts a function under its dotted name, making submodules (importable too) on the way.

    Args:
        package: the surface.
        name: dotted name below it.
        function: what to place.
        modules: `sys.modules`.
    """
    *path, short = name.split(".")
    module = package
    for part in path:
        full = f"{module.__name__}.{part}"
        child = getattr(module, part, None)
        if not isinstance(child, pytypes.ModuleType):
            child = modules.get(full) or pytypes.ModuleType(full, f"The operators `{full}.*`.")
            modules[full] = child
            setattr(module, part, child)
        module = child
    setattr(module, short, function)
