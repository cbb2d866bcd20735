"""Pipelines for the viewer, with values that are known."""

from __future__ import annotations

import io

import numpy as np
import soundfile

from jdali import fn, pipeline_def, types
from support.pictures import pillow

EVIL = "<img src=x onerror=alert(1)>.png"
RATE = 8000


def stripes(height, width):
    """uint8 [H, W, 3]: red on the left, blue on the right, a white bar on top."""
    array = np.zeros((height, width, 3), np.uint8)
    array[:, : width // 2] = (220, 30, 40)
    array[:, width // 2 :] = (30, 60, 210)
    array[: height // 6] = 255
    return array


def folder(root, *, broken=True):
    """Eight pictures in two classes, one with a name that is HTML, and one that is cut off."""
    for i in range(8):
        place = root / ("cats" if i % 2 else "dogs")
        place.mkdir(exist_ok=True)
        (place / f"picture_{i}.png").write_bytes(pillow(stripes(90 + 6 * i, 120), "PNG"))
    (root / "dogs" / EVIL).write_bytes(pillow(stripes(90, 120), "PNG"))
    if broken:
        (root / "cats" / "broken.png").write_bytes(pillow(stripes(90, 120), "PNG")[:60])
    return root


@pipeline_def(batch_size=5, num_threads=2, seed=3, on_error="mask")
def pictures(root):
    """Augmented pictures as training takes them, normalized, CHW; the picture before; the label."""
    data, label = fn.readers.file(file_root=str(root), name="reader")
    image = fn.resize(fn.decoders.image(data), size=(96, 128))
    angle = fn.random.uniform(range=(-25.0, 25.0))
    turned = fn.rotate(image, angle=angle, keep_size=True, fill_value=0)
    normal = fn.crop_mirror_normalize(
        turned, dtype=types.FLOAT, output_layout="CHW", mean=[120.0] * 3, std=[60.0] * 3,
        mirror=fn.random.coin_flip(),
    )  # fmt: skip
    return normal, image, label


FIRST_HEIGHT = 96  # of the first picture of the folder


@pipeline_def(batch_size=2, num_threads=1, seed=5, on_error="mask")
def fickle(root):
    """Windows that in some epochs are higher than the first picture, which then fails."""
    data, _ = fn.readers.file(file_root=str(root), name="reader")
    image = fn.decoders.image(data)
    return fn.crop(image, crop_h=fn.random.uniform(range=(80.0, 104.0)), crop_w=60.0)


def chirp():
    """float32 [RATE], one second from 200 to 2,000 Hz, half as loud as full scale."""
    time = np.arange(RATE, dtype=np.float32) / RATE
    return (0.5 * np.sin(2 * np.pi * (200 + 900 * time) * time)).astype(np.float32)


def wav_file():
    """The chirp as a file."""
    out = io.BytesIO()
    soundfile.write(out, chirp(), RATE, format="WAV", subtype="PCM_16")
    return np.frombuffer(out.getvalue(), np.uint8)


def mask():
    mask = np.zeros((96, 128), np.int32)
    mask[60:90, 10:50] = 1
    return mask


def video():
    """Six frames of stripes that move to the right."""
    return np.stack([np.roll(stripes(96, 128), 8 * i, axis=1) for i in range(6)])


KINDS = {
    "picture": (lambda: stripes(96, 128), "HWC"),
    "boxes": (lambda: np.array([[0.25, 0.25, 0.75, 0.75]], np.float32), ""),
    "labels": (lambda: np.array([7], np.int32), ""),
    "keypoints": (lambda: np.array([[64.0, 48.0]], np.float32), ""),
    "mask": (mask, "HW"),
    "video": (video, "FHWC"),
    "text": (lambda: np.frombuffer(b"<b>a text</b>", np.uint8), ""),
    "values": (lambda: np.linspace(-1, 1, 50, dtype=np.float32), ""),
    "file": (wav_file, ""),
}


@pipeline_def(batch_size=2, num_threads=2, seed=3)
def kinds():
    """One output of each kind that the viewer knows."""
    made = {}
    for name, (make, layout) in KINDS.items():
        value = make()
        made[name] = fn.external_source(
            source=lambda info, value=value: value, batch=False, layout=layout or None, name=name
        )
    sound, rate = fn.decoders.audio(made.pop("file"))
    spectrum = fn.spectrogram(sound, nfft=256, window_length=256, window_step=64)
    return (*made.values(), sound, rate, fn.to_decibels(spectrum, cutoff_db=-80.0))
