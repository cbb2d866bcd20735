"""Tells sounds, spectrograms, boxes, labels and masks among the values of a graph, by the operators they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jdali._display import Hint, Overlay, named
from jdali._display.spectra import SpectrumAxes
from jdali.graph import DataNode, Node, moves_only

Array = NDArray[np.generic]
ValueOf = Callable[[DataNode], Array | None]

_NAMES = (
    ("box", "boxes"), ("keypoint", "points"), ("landmark", "points"), ("mask", "mask"), ("segm", "mask"), ("label", "labels"),
    ("sound", "sound"), ("audio", "sound"),
)  # fmt: skip
_SAME_NUMBER = {
    "cast",
    "cast_like",
    "copy",
    "expand_dims",
    "reshape",
    "squeeze",
}  # operators that change no number
_COCO = {1: "boxes", 2: "labels"}
_NEAR_ONE = 1.5  # boxes relative to the picture may reach a little beyond it


class Origin(NamedTuple):
    """Origin of a value, by the first inputs of operators.

    Attributes:
        node: a reader, a decoder of sounds, or another operator without inputs.
        output: which of its outputs.
        chain: the operators on the way, the last one first.
    """

    node: Node
    output: int
    chain: tuple[Node, ...]


def origin(value: DataNode) -> Origin:
    """Follows the first inputs up to where a value comes from."""
    chain: list[Node] = []
    while True:
        node = value.source
        chain.append(node)
        inputs = node.data_inputs
        if not inputs or node.op.name == "decoders.audio":
            return Origin(node, value.index, tuple(chain))
        # random_bbox_crop gives anchor, shape, boxes, labels for boxes and labels.
        second = node.op.name == "random_bbox_crop" and value.index == 3
        value = inputs[1] if second and len(inputs) > 1 else inputs[0]


def argument(node: Node, name: str) -> object:
    """Returns the value of a constant argument, or its default; None if it differs by sample."""
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


class ClassNames(NamedTuple):
    """Names of the labels that a reader gives.

    Attributes:
        reader: its name.
        names: of the labels, from 0 on.
    """

    reader: str = ""
    names: Sequence[str] = ()


NO_CLASSES = ClassNames()


def hint_of(value: DataNode, value_of: ValueOf, classes: ClassNames = NO_CLASSES) -> Hint:
    """Says what a value of the graph is.

    Args:
        value: of the graph.
        value_of: gives what is known of the same sample, for the rate of a sound.
        classes: names of the labels.
    """
    found = origin(value)
    name = found.node.op.name
    if classes.names and _is_class(found, classes.reader):
        return Hint("labels", names=classes.names)
    if found.output == 0 and (
        name == "decoders.audio" or any(n.op.name == "spectrogram" for n in found.chain)
    ):
        return _of_sound(found, value_of)
    if name == "readers.coco":
        pixelwise, polygons = (
            bool(found.node.args.get("pixelwise_masks")),
            bool(found.node.args.get("polygon_masks")),
        )
        kinds = {
            **_COCO,
            **({3: "mask"} if pixelwise else {3: "polygons", 4: "vertices"} if polygons else {}),
        }
        return Hint(kinds.get(found.output, ""))
    for part, kind in _NAMES:
        if any(part in node.name.lower() for node in found.chain if node.named):
            return Hint(kind)
    return Hint()


def _is_class(found: Origin, reader: str) -> bool:
    """Returns True for the labels of a reader, whatever their type and place."""
    *way, node = found.chain
    same = all(moves_only(step) or step.op.name in _SAME_NUMBER for step in way)
    return same and found.output == 1 and node.is_source and node.name == reader


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
    outputs: Sequence[DataNode], arrays: Sequence[Array | None], classes: ClassNames = NO_CLASSES
) -> Overlay:
    """Finds what to draw over the pictures of a sample among its other outputs.

    Args:
        outputs: of the pipeline.
        arrays: of the sample; None: not known.
        classes: names of the labels.
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
            labels = [_label(label, classes.names) for label in array.reshape(-1).tolist()]
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
    names = labels if boxes is not None and labels else ()
    return Overlay(boxes, names, rings, points, mask, frozenset(relative))


def _if_relative(kind: str, coordinates: NDArray[np.floating]) -> set[str]:
    """Returns the kind if its coordinates are shares of the picture's sides."""
    return {kind} if float(np.abs(coordinates).max()) <= _NEAR_ONE else set()


def _label(label: object, names: Sequence[str]) -> str:
    return named(label, names) if isinstance(label, int) else str(label)


def over(overlay: Overlay, height: int, width: int) -> Overlay:
    """Fits an overlay to a picture of this size; drops a mask of another size."""
    if overlay.mask is None or overlay.mask.shape == (height, width):
        return overlay
    return Overlay(overlay.boxes, overlay.labels, overlay.polygons, overlay.points, None, overlay.relative)
