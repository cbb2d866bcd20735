"""Captioned pictures that need no download: one coloured shape each, in Parquet files, with a tokenizer for their words."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _made_once import made_once
from PIL import Image, ImageDraw
from tokenizers import Tokenizer, models, pre_tokenizers

COLOURS = ("red", "green", "blue", "yellow")
SHAPES = ("square", "disc", "triangle")
SIZES = ("small", "large")
SENTENCES = tuple(
    f"a {size} {colour} {shape}" for size, colour, shape in itertools.product(SIZES, COLOURS, SHAPES)
)
SIDE = 48  # of a picture


def captions_folder(train: int = 1536, val: int = 192) -> Path:
    """Folder with `train.parquet`, `val.parquet`, `tokenizer.json`; made on the first call, then reused."""

    def write(making: Path, _: Path) -> None:
        rng = np.random.default_rng(0)
        write_captions(making, "train", train, rng)
        write_captions(making, "val", val, rng)

    return made_once(f"captions-{train}-{val}", write)


def write_captions(folder: Path, split: str, count: int, rng: np.random.Generator) -> None:
    """Writes `<split>.parquet`, with pictures as the Hugging Face Hub has them, and `tokenizer.json`."""
    texts = [SENTENCES[i] for i in rng.integers(len(SENTENCES), size=count)]
    pictures = [{"bytes": _jpeg(draw(text, rng)), "path": None} for text in texts]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table({"image": pa.array(pictures, kind), "caption": texts})
    pq.write_table(table, folder / f"{split}.parquet", row_group_size=128)
    words = {"[PAD]": 0, "[UNK]": 1}
    for word in itertools.chain(["a"], SIZES, COLOURS, SHAPES):
        words[word] = len(words)
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))


def draw(text: str, rng: np.random.Generator) -> Image.Image:
    """Draws what a sentence says, somewhere on noise."""
    _, size, colour, shape = text.split()
    picture = Image.fromarray(rng.integers(90, 160, (SIDE, SIDE, 3), np.uint8))
    side = int(rng.integers(8, 13) if size == "small" else rng.integers(22, 33))
    x, y = rng.integers(SIDE - side, size=2).tolist()
    pen, box = ImageDraw.Draw(picture), (x, y, x + side, y + side)
    if shape == "square":
        pen.rectangle(box, fill=colour)
    elif shape == "disc":
        pen.ellipse(box, fill=colour)
    else:
        pen.polygon([(x, y + side), (x + side, y + side), (x + side // 2, y)], fill=colour)
    return picture


def _jpeg(picture: Image.Image) -> bytes:
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=90)
    return content.getvalue()
