"""Provides the inputs of the examples: files on disk, and the statements that load them."""

from __future__ import annotations

import dataclasses
import importlib
import shutil
import sys
import wave
from pathlib import Path

import numpy as np
from PIL import Image

from website.operators import ROOT

WIDTH = 240  # width of photographs, pixels
RATE = 16000  # sampling rate of sounds, hertz


@dataclasses.dataclass(frozen=True)
class Source:
    """Statements that load an input.

    Attributes:
        pipeline: statements in a pipeline, which assign the batch to the name of the source.
        pure: statements in a program with pure functions, which assign the name `singular`.
        singular: name of one sample.
    """

    pipeline: str
    pure: str = ""
    singular: str = ""


def literal(name: str, values: str) -> Source:
    """Makes a source of an array whose values are written in the program."""
    call = f"{name} = fn.external_source(lambda sample: {values}, batch=False)"
    if len(call) > 78:
        call = f"{name} = fn.external_source(\n    lambda sample: {values},\n    batch=False,\n)"
    return Source(call, f"{name} = {values}", name)


_READ = 'jpegs, labels = fn.readers.file(file_root="photos")\n'
_WAVS = 'wavs, labels = fn.readers.file(files=["rising.wav", "second.wav"])'
_SOUND = f"{_WAVS}\nsound, rate = fn.decoders.audio(wavs, dtype=types.FLOAT, downmix=True)"
_PURE_SOUND = 'sound, rate = soundfile.read("rising.wav", dtype="float32")'
_STFT = "spectrogram = {}.spectrogram(\n    sound, nfft=512, window_length=400, window_step=160\n)"
_MEL = "mel = {}.mel_filter_bank(\n    spectrogram, sample_rate=16000.0, nfilter=40\n)"

SOURCES = {
    "jpegs": Source(_READ.strip()),
    "images": Source(
        f"{_READ}images = fn.decoders.image(jpegs)",
        'image = np.asarray(Image.open("photos/building/china.jpg"))',
        "image",
    ),
    "pictures": Source(  # a whole batch in pure programs, too, for operators that mix samples
        f"{_READ}pictures = fn.decoders.image(jpegs)",
        'files = ["photos/building/china.jpg", "photos/flower/flower.jpg"]\n'
        "pictures = np.stack([np.asarray(Image.open(file)) for file in files])",
        "pictures",
    ),
    "labels": Source(_READ.strip(), "labels = np.int32([0, 1])", "labels"),
    "wavs": Source(_WAVS),
    "sound": Source(_SOUND, _PURE_SOUND, "sound"),
    "spectrogram": Source(
        f"{_SOUND}\n{_STFT.format('fn')}", f"{_PURE_SOUND}\n{_STFT.format('ops')}", "spectrogram"
    ),
    "mel": Source(
        f"{_SOUND}\n{_STFT.format('fn')}\n{_MEL.format('fn')}",
        f"{_PURE_SOUND}\n{_STFT.format('ops')}\n{_MEL.format('ops')}",
        "mel",
    ),
    "frames": Source(
        'frames = fn.readers.video(filenames=["clip.mp4"], sequence_length=4, name="Reader")',
        'frames = np.stack([np.asarray(Image.open(f"frames/walk/{i}.png")) for i in range(4)])',
        "frames",
    ),
    "numbers": literal("numbers", "np.float32([[1, 2, 3], [4, 5, 6]])"),
    "others": literal("others", "np.float32([[7, 8, 9], [0, 1, 2]])"),
    "halves": literal("halves", "np.float16([0.5, 1.5])"),
    "classes": literal("classes", "np.int32([0, 2, 1])"),
    "row": literal("row", "np.float32([[[1, 2, 3]]])"),
    "boxes": literal("boxes", "np.float32([[0.1, 0.2, 0.5, 0.7], [0.55, 0.3, 0.9, 0.9]])"),
    "box_labels": literal("box_labels", "np.int32([1, 2])"),
    "points": literal("points", "np.float32([[0.0, 0.0], [1.0, 0.5]])"),
    "seven": literal("seven", "np.float32(7)"),
    "mask": literal("mask", "np.uint8([[0, 0, 1], [0, 2, 2], [0, 2, 2]])"),
    "plane": literal("plane", "(np.arange(48, dtype=np.uint8) * 5).reshape(6, 8)"),
    "kernel": literal("kernel", "np.float32([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])"),
    "matrix": literal("matrix", "np.float32([[1, 0.3, -20], [0.1, 0.9, 10]])"),
    "anchor": literal("anchor", "np.float32([0.2, 0.1])"),
    "window": literal("window", "np.float32([0.5, 0.6])"),
    "map_x": literal("map_x", "np.tile(np.arange(240, dtype=np.float32)[::-1], (153, 1))"),
    "map_y": literal("map_y", "np.float32(np.arange(153)[:, None] + 8 * np.sin(np.arange(240) / 12))"),
    "polygons": literal("polygons", "np.int32([[7, 0, 3], [5, 3, 6]])"),
    "vertices": literal("vertices", "np.float32([[0, 0], [1, 0], [1, 1], [4, 4], [5, 4], [5, 5]])"),
    "mask_ids": literal("mask_ids", "np.int32([5])"),
    "path": literal("path", 'np.frombuffer(b"hello.txt", np.uint8)'),
    "packed": literal("packed", 'np.fromfile("numbers.lz4", np.uint8)'),
    "captions": literal("captions", 'np.frombuffer(b"a picture of 7", np.uint8)'),
    "npy": Source('npy, _ = fn.readers.file(files=["arrays/0.npy", "arrays/1.npy"])'),
    "mp4": Source('mp4, _ = fn.readers.file(files=["clip.mp4"])'),
    "shape": literal("shape", "np.int64([480, 640])"),
}


def photograph(name: str = "china.jpg") -> np.ndarray:
    """Loads one of scikit-learn's photographs, reduced to a width of 240 pixels: uint8 [H, 240, 3]."""
    from sklearn.datasets import load_sample_image

    whole = Image.fromarray(load_sample_image(name))
    size = (WIDTH, round(whole.height * WIDTH / whole.width))
    return np.asarray(whole.resize(size, Image.Resampling.LANCZOS))


def rising_notes(first: float) -> np.ndarray:
    """Synthesizes 0.1 seconds of silence and four notes, float32 [samples]; the first has `first` hertz."""
    time = np.arange(RATE // 4) / RATE
    fade = np.sin(np.pi * np.arange(time.size) / time.size) ** 0.5
    notes = [first * 2 ** (step / 12) for step in (0, 4, 7, 12)]
    tones = [0.3 * fade * sum(np.sin(2 * np.pi * f * k * time) / k**2 for k in (1, 2, 3)) for f in notes]
    return np.concatenate([np.zeros(RATE // 10), *tones]).astype(np.float32)


def write_files(root: Path) -> None:
    """Writes the files that the examples read: photographs, sounds, and a data set of every format.

    Raises:
        ImportError: an optional package of the formats is missing.
    """
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    importlib.import_module("support.every_format").write(root)
    shutil.rmtree(root / "photos")
    for folder, name in (("building", "china.jpg"), ("flower", "flower.jpg")):
        (root / "photos" / folder).mkdir(parents=True)
        Image.fromarray(photograph(name)).save(root / "photos" / folder / name, quality=95)
    (root / "train.csv").write_text("name,label\nbuilding/china.jpg,0\nflower/flower.jpg,1\n")
    shutil.copytree(root / "pairs" / "images", root / "drawings" / "pencil")
    for name, first in (("rising", 262.0), ("second", 330.0)):
        with wave.open(str(root / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes((rising_notes(first) * 32767).astype(np.int16).tobytes())
    (root / "hello.txt").write_bytes(b"hello")
    packed = importlib.import_module("lz4.block").compress(
        np.arange(6, dtype=np.float32).tobytes(), store_size=False
    )
    (root / "numbers.lz4").write_bytes(packed)
