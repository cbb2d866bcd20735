"""A small speech-like data set that needs no download: telephone numbers, dialled by tones, as WAV files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import soundfile
from _made_once import made_once

RATE = 8000  # samples a second
# Frequencies, Hz, of the two tones of a key: its row's and its column's.
ROWS = (697, 770, 852, 941)
COLUMNS = (1209, 1336, 1477)
KEYS = ("123", "456", "789", "*0#")


def tones_folder(train: int = 512, val: int = 64) -> Path:
    """Folder with `train.json` and `val.json`, NeMo manifests; made on the first call, then reused."""

    def write(making: Path, folder: Path) -> None:
        rng = np.random.default_rng(0)
        write_tones(making, "train", train, rng, final=folder)
        write_tones(making, "val", val, rng, final=folder)

    return made_once(f"tones-{train}-{val}", write)


def write_tones(
    folder: Path,
    split: str,
    count: int,
    rng: np.random.Generator,
    final: Path | None = None,
    longest: int = 6,
) -> Path:
    """Writes `count` recordings of 2 to `longest` keys and their manifest `<split>.json`; `final`: of its paths."""
    (folder / split).mkdir(parents=True)
    lines = []
    for number in range(count):
        text = "".join(rng.choice(list("0123456789"), rng.integers(2, longest + 1)))
        samples = dial(text, rng)
        name = f"{split}/{number:04d}.wav"
        soundfile.write(folder / name, samples, RATE, subtype="PCM_16")
        lines.append({
            "audio_filepath": str((final or folder) / name),
            "duration": len(samples) / RATE,
            "text": text,
        })  # fmt: skip
    manifest = folder / f"{split}.json"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return manifest


def dial(text: str, rng: np.random.Generator) -> np.ndarray:
    """float64 [samples], -1 to 1: the tones of the keys, each of another length, with pauses and noise."""
    parts = [np.zeros(rng.integers(200, 800))]
    for key in text:
        row = next(i for i, keys in enumerate(KEYS) if key in keys)
        time = np.arange(rng.integers(500, 1200)) / RATE
        pair = (ROWS[row], COLUMNS[KEYS[row].index(key)])
        tone = np.sum([np.sin(2 * np.pi * (f * time + rng.random())) for f in pair], axis=0)
        parts += [rng.uniform(0.15, 0.4) * tone, np.zeros(rng.integers(200, 800))]
    samples = np.concatenate(parts)
    return np.clip(samples + rng.normal(0, 0.02, len(samples)), -1, 1)
