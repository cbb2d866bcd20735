"""Trains pictures and captions into one space, as CLIP does, from a Parquet file.

    python captions.py                                     # coloured shapes, made on the spot
    python captions.py --train A.parquet --val B.parquet --tokenizer tokenizer.json

The files have a column of pictures, bytes or the Hub's {"bytes", "path"}, and one of texts. jdali reads both columns,
decodes and augments the pictures and makes token ids of the texts; Flax NNX and Optax train a network for each,
so that a picture is nearer to its own caption than to those of the rest of the batch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _captions import captions_folder
from _training import add_arguments, check_file, train_epoch, training_data, validation_data
from classification import Network
from flax import nnx
from tokenizers import Tokenizer

from jdali import Pipeline, fn, pipeline_def
from jdali.data_node import DataNode
from jdali.iterator import DataIterator, LastBatchPolicy


class Batch(TypedDict):
    images: jax.Array  # [N, size, size, 3] float32, -1 to 1
    ids: jax.Array  # [N, length] int32
    words: jax.Array  # [N, length] bool: False for padding


@pipeline_def
def captioned(path: str, tokenizer: str, length: int, size: int, training: bool) -> dict[str, DataNode]:
    """Pictures of one size, and the token ids of their captions."""
    encoded, captions = fn.readers.parquet(
        paths=[path],
        columns=["image", "caption"],
        random_shuffle=training,
        pad_last_batch=not training,
        name="Reader",
    )
    images = fn.decoders.image(encoded)
    if training:
        images = fn.random_resized_crop(images, size=[size, size], random_area=[0.8, 1.0])
        images = fn.flip(images, horizontal=fn.random.coin_flip())
    else:
        images = fn.resize(images, size=[size, size])
    ids, words = fn.tokenize(captions, tokenizer=tokenizer, length=length, with_mask=True)
    return {"images": images / 127.5 - 1.0, "ids": ids, "words": words}


class TwoTowers(nnx.Module):
    """A network for pictures and one for texts, whose results are unit vectors of one space."""

    def __init__(self, tokens: int, width: int, *, rngs: nnx.Rngs):
        self.pictures = Network(width, [32, 64, 64], rngs=rngs)
        self.embedding = nnx.Embed(tokens, width, rngs=rngs)
        self.texts = nnx.Linear(width, width, rngs=rngs)
        self.scale = nnx.Param(jnp.log(jnp.float32(10)))

    def __call__(self, batch: Batch) -> jax.Array:
        """Returns the similarity [N, N] of each picture with each text."""
        words = batch["words"][..., None]
        mean = (self.embedding(batch["ids"]) * words).sum(axis=1) / jnp.maximum(words.sum(axis=1), 1)
        pictures, texts = self.pictures(batch["images"]), self.texts(mean)
        pictures /= jnp.linalg.norm(pictures, axis=1, keepdims=True)
        texts /= jnp.linalg.norm(texts, axis=1, keepdims=True)
        return jnp.exp(self.scale[...]) * pictures @ texts.T


@nnx.jit
def train_step(model: TwoTowers, optimizer: nnx.Optimizer, batch: Batch) -> jax.Array:
    """One step; returns the mean loss of finding the text of a picture, and the picture of a text."""
    # Equal captions of a batch are all right: each gets its part.
    same = (batch["ids"][:, None] == batch["ids"]).all(axis=2)
    wanted = same / same.sum(axis=1, keepdims=True)

    def loss_of(model: TwoTowers) -> jax.Array:
        scores = model(batch)
        of_pictures, of_texts = (optax.softmax_cross_entropy(s, wanted).mean() for s in (scores, scores.T))
        return (of_pictures + of_texts) / 2

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


@nnx.jit
def found(model: TwoTowers, batch: Batch) -> jax.Array:
    """Tells of each picture whether the nearest text of the batch says what its own does, bool [N]."""
    nearest = batch["ids"][model(batch).argmax(axis=1)]
    return (nearest == batch["ids"]).all(axis=1)


def validate(model: TwoTowers, data: DataIterator) -> float:
    """Share of pictures that find their caption among those of a batch."""
    model.eval()
    right = total = 0
    for batch in data:
        right += int((found(model, batch) & batch["mask"]).sum())
        total += int(batch["mask"].sum())
    model.train()
    return right / total


def run(args: argparse.Namespace) -> dict[str, list[float]]:
    """Trains and validates; returns the training losses and the share of captions found after each epoch."""
    own = (args.train, args.val, args.tokenizer)
    if any(own) != all(own):
        raise SystemExit("give all of --train, --val and --tokenizer, or none of them")
    folder = None if all(own) else captions_folder()
    names = ("train.parquet", "val.parquet", "tokenizer.json")
    train, val, tokenizer = (folder / name for name in names) if folder else own
    for path in (train, val, tokenizer):
        check_file(path)

    def data(path: Path, training: bool) -> DataIterator:
        def make(size: int) -> Pipeline:
            return captioned(
                str(path), str(tokenizer), args.length, args.size, training,
                batch_size=size, num_threads=args.threads, seed=args.seed,
            )  # fmt: skip

        opened = (training_data if training else validation_data)(make, args.batch_size)
        policy = LastBatchPolicy.DROP if training else LastBatchPolicy.PAD
        return DataIterator(
            opened, reader_name="Reader", last_batch_policy=policy, prepare_first_batch=training
        )

    train_data, val_data = data(train, True), data(val, False)
    print(f"{train_data.size} captions to train, {val_data.size} to validate")
    tokens = Tokenizer.from_file(str(tokenizer)).get_vocab_size()
    model = TwoTowers(tokens, args.width, rngs=nnx.Rngs(args.seed))
    optimizer = nnx.Optimizer(model, optax.adamw(args.lr), wrt=nnx.Param)
    history: dict[str, list[float]] = {"loss": [], "found": []}
    with train_data, val_data:
        for epoch in range(args.epochs):
            title = f"epoch {epoch + 1}/{args.epochs}"
            model.train()
            steps_left = args.steps - len(history["loss"])
            losses = train_epoch(
                train_data, lambda batch: train_step(model, optimizer, batch), title, steps_left
            )
            history["loss"] += losses
            history["found"].append(validate(model, val_data))
            print(
                f"{title}: loss {np.mean(losses):.3f}, {history['found'][-1]:.1%} of the captions found, "
                f"{train_data.wait_share:.1%} of the time waiting for data",
                flush=True,
            )
            if len(history["loss"]) >= args.steps:
                break
    return history


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", type=Path, help="Parquet file; default: coloured shapes")
    parser.add_argument("--val", type=Path, help="Parquet file")
    parser.add_argument("--tokenizer", type=Path, help="tokenizer.json")
    parser.add_argument("--length", type=int, default=8, help="tokens of a caption")
    parser.add_argument("--size", type=int, default=32, help="height and width of the network's input")
    parser.add_argument("--width", type=int, default=64, help="of the common space")
    add_arguments(parser, epochs=8, batch_size=64, lr=3e-3)
    return parser.parse_args(argv)


if __name__ == "__main__":
    began = time.perf_counter()
    result = run(parse())
    print(f"{result['found'][-1]:.1%} of the captions found after {time.perf_counter() - began:.0f} s")
