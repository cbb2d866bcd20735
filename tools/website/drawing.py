"""Draws the outputs of operators: pictures, waveforms of sounds, spectrograms, boxes."""

from __future__ import annotations

import dataclasses
import wave
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from website.examples import Result
from website.sources import RATE, photograph

_INK = "#7d8590"  # colour of axes, readable on white and on black
_STRIP = 480  # maximum width of a picture, pixels


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Files that show a result, with a caption.

    Attributes:
        picture: name of a PNG file.
        caption: description of the picture, as plain text.
        sound: name of a WAV file, or "".
    """

    picture: str
    caption: str
    sound: str = ""


def draw(result: Result, folder: Path, stem: str) -> Drawing | None:
    """Draws the first sample of a result; returns None if the sample is better shown as numbers."""
    sample = result.samples[0]
    file = f"{stem}-{result.name}.png"
    if result.name.startswith("boxes") and sample.ndim == 2 and sample.shape[1] == 4:
        _boxes(sample).save(folder / file)
        return Drawing(file, "the boxes, over the photograph")
    if sample.ndim == 1 and sample.size > 700 and sample.dtype.kind == "f":
        return _sound(sample, folder, file)
    if sample.ndim == 1 and result.name == "power":
        _plot(folder / file, sample)
        return Drawing(file, "the power in decibels, by bin")
    if result.layout == "ft" or result.name in ("spectrogram", "mel", "coefficients"):
        _spectrogram(folder / file, sample, result.name)
        return Drawing(file, result.name)
    picture = as_picture(sample, result.layout)
    if picture is None:
        return None
    picture.save(folder / file)
    return Drawing(file, f"{result.name}, the first")


def as_picture(sample: np.ndarray, layout: str) -> Image.Image | None:
    """Converts an image, or frames side by side, to a picture of 1 or 3 channels; returns None for other samples."""
    if layout == "CHW" or (
        layout != "HWC" and sample.ndim == 3 and sample.shape[0] == 3 and sample.shape[2] > 4
    ):
        sample = np.moveaxis(sample, 0, -1)
    if sample.ndim == 4 and min(sample.shape[1:3]) >= 8:
        if sample.shape[-1] == 2:
            sample = _flow_colours(sample)
        sample = np.concatenate(list(sample), axis=1)
    if sample.ndim != 3 or min(sample.shape[:2]) < 6 or sample.shape[-1] not in (1, 3):
        return None
    if sample.dtype != np.uint8:
        low, high = float(sample.min()), float(sample.max())
        sample = ((sample - low) * (255 / max(high - low, 1e-6))).astype(np.uint8)
    picture = Image.fromarray(sample[..., 0] if sample.shape[-1] == 1 else sample)
    if max(picture.size) < 100:
        factor = 160 // max(picture.size)
        picture = picture.resize((picture.width * factor, picture.height * factor), Image.Resampling.NEAREST)
    if picture.width > _STRIP:
        picture = picture.resize((_STRIP, round(picture.height * _STRIP / picture.width)))
    return picture


def _flow_colours(flow: np.ndarray) -> np.ndarray:
    """Colours flow vectors [F, H, W, 2]: the hue shows their direction, the brightness their length."""
    length = np.hypot(flow[..., 0], flow[..., 1])
    hue = (np.arctan2(flow[..., 1], flow[..., 0]) / (2 * np.pi) % 1 * 255).astype(np.uint8)
    value = (255 * length / max(float(length.max()), 1e-6)).astype(np.uint8)
    frames = np.stack([hue, np.full_like(hue, 200), value], axis=-1)
    return np.stack([np.asarray(Image.fromarray(frame, "HSV").convert("RGB")) for frame in frames])


def _boxes(boxes: np.ndarray) -> Image.Image:
    picture = Image.fromarray(photograph()).copy()
    pen = ImageDraw.Draw(picture)
    for box, colour in zip(boxes, ("#ffd500", "#00e5ff", "#ff5ad1"), strict=False):
        x = np.clip(box[[0, 2]], 0, 1) * (picture.width - 1)
        y = np.clip(box[[1, 3]], 0, 1) * (picture.height - 1)
        pen.rectangle([x.min(), y.min(), x.max(), y.max()], outline=colour, width=3)
    return picture


def _sound(samples: np.ndarray, folder: Path, file: str) -> Drawing:
    rate = RATE if samples.size > 12000 else RATE // 2  # an example resamples to half the rate
    name = file.removesuffix(".png") + ".wav"
    with wave.open(str(folder / name), "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(rate)
        target.writeframes((np.clip(samples, -1, 1) * 32767).astype(np.int16).tobytes())
    figure, axes = _figure()
    axes.plot(np.arange(samples.size) / rate, samples, linewidth=0.6, color="#2a7fd4")
    axes.set(xlabel="time in seconds", xlim=(0, samples.size / rate))
    _save(figure, folder / file)
    return Drawing(file, f"the waveform, {rate} samples a second", name)


def _plot(file: Path, values: np.ndarray) -> None:
    figure, axes = _figure()
    axes.plot(10 * np.log10(np.maximum(values, 1e-12)), linewidth=0.8, color="#2a7fd4")
    axes.set(xlabel="bin", ylabel="decibels", xlim=(0, values.size - 1))
    _save(figure, file)


def _spectrogram(file: Path, values: np.ndarray, name: str) -> None:
    """Draws frequency over time; the windows of the examples are 10 ms apart."""
    if name != "coefficients" and values.min() >= 0:
        values = 10 * np.log10(np.maximum(values, values.max() * 1e-8))
    bands = {"mel": "band", "coefficients": "coefficient"}.get(name, "frequency in hertz")
    height = RATE / 2 if name == "spectrogram" else values.shape[0]
    figure, axes = _figure()
    axes.imshow(
        values, origin="lower", aspect="auto", cmap="magma", extent=(0, values.shape[1] / 100, 0, height)
    )
    axes.set(xlabel="time in seconds", ylabel=bands)
    _save(figure, file)


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 2.4), dpi=100, layout="constrained")
    axes = figure.subplots()
    axes.tick_params(colors=_INK, labelsize=8)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_color(_INK)
    return figure, axes


def _save(figure: Any, file: Path) -> None:
    figure.savefig(file, transparent=True)
