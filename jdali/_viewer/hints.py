"""Recognises sounds, spectrograms, boxes, labels and masks in a graph, from operators and names of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from jdali._display import Hint, Overlay, named
from jdali._display.spectra import SpectrumAxes
from jdali._statistics.labels import Origin, origin
from jdali.graph import DataNode, Node
from jdali.readers.base import ClassNames

Array = NDArray[np.generic]
ValueOf = Callable[[DataNode], Array | None]

_NAMES = (
    ("box", "boxes"), ("keypoint", "points"), ("landmark", "points"), ("mask", "mask"), ("segm", "mask"), ("label", "labels"),
    ("sound", "sound"), ("audio", "sound"),
)  # fmt: skip
_COCO = {1: "boxes", 2: "labels"}
_NEAR_ONE = 1.5  # maximum relative coordinate; boxes may extend a little beyond the picture


def argument(node: Node, name: str) -> object:
    """Returns an argument's constant value or default; None for a per-sample argument."""
    given = node.args.get(name)
    if given is None:
        found = node.op.public_args.get(name)
        given = None if found is None else found.default
    return None if isinstance(given, DataNode) else given


def _number(value: object) -> float | None:
    return (
        float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        else None
    )


NamesOf = Callable[[DataNode], ClassNames]
"""Declares a function that returns the class names of the labels in a value; empty if they have no names."""


def nameless(value: DataNode) -> ClassNames:
    return ()


def hint_of(value: DataNode, value_of: ValueOf, names_of: NamesOf = nameless) -> Hint:
    """Determines the meaning of a value of the graph.

    Args:
        value_of: returns another value of the same sample, such as the rate of a sound.
    """
    found = origin(value)
    name = found.node.op.name
    if names := names_of(value):
        return Hint("labels", names=names)
    if found.output == 0 and (
        name == "decoders.audio" or any(n.op.name == "spectrogram" for n in found.chain)
    ):
        return _of_sound(found, value_of)
    if name == "readers.coco":
        kinds = dict(_COCO)
        if found.node.args.get("pixelwise_masks"):
            kinds[3] = "mask"
        elif found.node.args.get("polygon_masks"):
            kinds |= {3: "polygons", 4: "vertices"}
        return Hint(kinds.get(found.output, ""))
    # The name of an operator with several outputs, of a reader for instance, says nothing about one of them.
    names = [node.name.lower() for node in found.chain if node.named and len(node.outputs) == 1]
    for part, kind in _NAMES:
        if any(part in name for name in names):
            return Hint(kind)
    return Hint()


def _of_sound(found: Origin, value_of: ValueOf) -> Hint:
    decoder = found.node
    rate = _number(argument(decoder, "sample_rate"))
    if rate is None and decoder.op.name == "decoders.audio":
        known = value_of(decoder.outputs[1])
        rate = None if known is None or not known.size else float(known.reshape(-1)[0].item())
    axes, spectrum = SpectrumAxes(), False
    for node in reversed(found.chain):
        if node.op.name == "audio_resample":
            rate = _number(argument(node, "out_rate"))
        elif node.op.name == "spectrogram":
            spectrum = True
            step = _number(argument(node, "window_step"))
            seconds = step / rate if step and rate else None
            axes = SpectrumAxes(seconds, 0.0 if rate else None, rate / 2 if rate else None)
        elif node.op.name == "mel_filter_bank":
            given = _number(argument(node, "sample_rate")) or 44100.0
            high = _number(argument(node, "freq_high")) or given / 2
            axes = axes._replace(low=_number(argument(node, "freq_low")) or 0.0, high=high, mel=True)
        elif node.op.name == "mfcc":
            axes = axes._replace(low=None, high=None, mel=False)
    return Hint("spectrogram" if spectrum else "sound", rate=rate, axes=axes)


def overlay_of(
    outputs: Sequence[DataNode], arrays: Sequence[Array | None], names_of: NamesOf = nameless
) -> Overlay:
    """Collects the boxes, labels, points, masks and polygons of a sample, to draw over its pictures.

    `outputs` are the pipeline's outputs. `arrays` has the sample's value of each output, or None if it is unknown.
    """
    boxes = labels = points = mask = vertices = polygons = None
    relative: set[str] = set()
    for value, array in zip(outputs, arrays, strict=True):
        if array is None or not array.size:
            continue
        kind = hint_of(value, lambda _: None).kind
        if kind == "boxes" and array.ndim == 2 and array.shape[1] == 4:
            boxes = array.astype(np.float64)
            found = origin(value).node
            if found.op.name == "readers.coco" and not found.args.get("ltrb"):
                boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
            relative |= _if_relative("boxes", boxes)
        elif kind == "labels" and array.ndim <= 2:
            names = names_of(value)
            labels = [_label(label, names) for label in array.reshape(-1).tolist()]
        elif kind == "points" and array.ndim == 2 and array.shape[1] in (2, 3):
            points = array.astype(np.float64)
            relative |= _if_relative("points", points[:, :2])
        elif kind == "mask" and array.ndim in (2, 3):
            mask = array[..., 0] if array.ndim == 3 else array
        elif kind == "vertices" and array.ndim == 2:
            vertices = array.astype(np.float64)
            relative |= _if_relative("polygons", vertices)
        elif kind == "polygons" and array.ndim == 2 and array.shape[1] == 3:
            polygons = array.astype(np.int64)
    rings = []
    if polygons is not None and vertices is not None:
        rings = [vertices[start:end] for _, start, end in polygons.tolist()]
    own = labels if boxes is not None and labels else ()
    return Overlay(boxes, own, rings, points, mask, frozenset(relative))


def _if_relative(kind: str, coordinates: NDArray[np.floating]) -> set[str]:
    """Returns {kind} for coordinates relative to the picture's size, otherwise an empty set."""
    return {kind} if float(np.abs(coordinates).max()) <= _NEAR_ONE else set()


def _label(label: object, names: ClassNames) -> str:
    return named(label, names) if isinstance(label, int) else str(label)


def over(overlay: Overlay, height: int, width: int) -> Overlay:
    """Returns the overlay for a picture of this size; removes the mask if its size differs."""
    if overlay.mask is None or overlay.mask.shape == (height, width):
        return overlay
    return Overlay(overlay.boxes, overlay.labels, overlay.polygons, overlay.points, None, overlay.relative)
