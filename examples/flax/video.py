"""Trains a small network to tell videos apart by what happens in them, one subfolder for each class.

    python video.py                      # a ball that moves left, right, up or down, made on the spot
    python video.py --data FOLDER        # FOLDER/{train,val}/<class>/*.mp4

jdali reads sequences of frames from the videos, crops and normalizes them; Flax NNX and Optax train.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _balls import balls_folder
from _training import add_arguments, check_folder, train_epoch, training_data, validation_data
from flax import nnx

from jdali import fn, pipeline_def
from jdali.data_node import DataNode
from jdali.iterator import DataIterator, LastBatchPolicy

MEAN = [0.45 * 255] * 3
STD = [0.225 * 255] * 3


@pipeline_def
def clips(folder: str, frames: int, stride: int, size: int, training: bool) -> tuple[DataNode, ...]:
    """Normalized sequences [frames, size, size, 3], a random part of the picture or the middle, and the class."""
    videos, labels = fn.readers.video(
        device="gpu", file_root=folder, sequence_length=frames, stride=stride,
        random_shuffle=training, pad_last_batch=not training, name="Reader",
    )  # fmt: skip
    videos = fn.resize(videos, resize_shorter=size + size // 8)
    # One position for all frames of a sequence. Not mirrored: left would become right.
    position = [fn.random.uniform(range=[0.0, 1.0]) for _ in range(2)] if training else [0.5, 0.5]
    videos = fn.crop_mirror_normalize(
        videos,
        crop=(size, size),
        crop_pos_x=position[0],
        crop_pos_y=position[1],
        mean=MEAN,
        std=STD,
        output_layout="FHWC",
    )
    return videos, labels


class Network(nnx.Module):
    """Convolutions in space and then in time that halve the picture; an average, a linear layer."""

    def __init__(self, classes: int, widths: Sequence[int], *, rngs: nnx.Rngs):
        self.blocks = nnx.List([Block(a, b, rngs=rngs) for a, b in itertools.pairwise([3, *widths])])
        self.head = nnx.Linear(widths[-1], classes, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Scores [N, classes] of sequences [N, F, H, W, 3]."""
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(axis=(1, 2, 3)))


class Block(nnx.Module):
    """A convolution of each frame, one of each pixel over time, each with normalization and ReLU."""

    def __init__(self, before: int, after: int, *, rngs: nnx.Rngs):
        self.space = nnx.Conv(before, after, (3, 3), strides=2, use_bias=False, rngs=rngs)
        self.time = nnx.Linear(3 * after, after, use_bias=False, rngs=rngs)
        self.norms = nnx.List([nnx.BatchNorm(after, momentum=0.9, rngs=rngs) for _ in range(2)])

    def __call__(self, x: jax.Array) -> jax.Array:
        x = nnx.relu(self.norms[0](self.space(x)))
        # A frame with its neighbours: on a CPU much faster than a convolution in three dimensions.
        padded = jnp.pad(x, ((0, 0), (1, 1), (0, 0), (0, 0), (0, 0)))
        three = jnp.concatenate([padded[:, :-2], x, padded[:, 2:]], axis=-1)
        return nnx.relu(self.norms[1](self.time(three)))


@nnx.jit
def train_step(model: Network, optimizer: nnx.Optimizer, videos: jax.Array, labels: jax.Array) -> jax.Array:
    """One step; returns the mean loss."""

    def loss_of(model: Network) -> jax.Array:
        return optax.softmax_cross_entropy_with_integer_labels(model(videos), labels[:, 0]).mean()

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


@nnx.jit
def right_answers(model: Network, videos: jax.Array, labels: jax.Array, mask: jax.Array) -> jax.Array:
    """How many of the sequences that `mask` says are real get the right class."""
    return ((model(videos).argmax(-1) == labels[:, 0]) & mask).sum()


def validate(model: Network, data: DataIterator) -> float:
    """Accuracy over the validation sequences, each counted once."""
    model.eval()
    right = [right_answers(model, b["video"], b["label"], jnp.asarray(b["mask"])) for b in data]
    return sum(int(n) for n in right) / data.size


def run(args: argparse.Namespace) -> dict[str, list[float]]:
    """Trains and validates; returns the training losses and the accuracy after each epoch."""
    folder = args.data or balls_folder()
    for part in ("train", "val"):
        check_folder(folder / part)
    classes = sorted(entry.name for entry in os.scandir(folder / "train") if entry.is_dir())
    options = {"num_threads": args.threads, "seed": args.seed}
    train_data, val_data = (
        DataIterator(
            open_data(
                lambda size, part=part: clips(  # type: ignore[misc]
                    str(folder / part), args.frames, args.stride, args.size, part == "train",
                    batch_size=size, **options,
                ),
                args.batch_size,
            ),
            ["video", "label"], reader_name="Reader", prepare_first_batch=part == "train",
            last_batch_policy=LastBatchPolicy.DROP if part == "train" else LastBatchPolicy.PAD,
        )
        for part, open_data in (("train", training_data), ("val", validation_data))
    )  # fmt: skip
    print(f"{train_data.size} sequences to train, {val_data.size} to validate, classes {', '.join(classes)}")
    model = Network(len(classes), args.widths, rngs=nnx.Rngs(args.seed))
    optimizer = nnx.Optimizer(model, optax.adamw(args.lr), wrt=nnx.Param)
    history: dict[str, list[float]] = {"loss": [], "accuracy": []}
    with train_data, val_data:
        for epoch in range(args.epochs):
            title = f"epoch {epoch + 1}/{args.epochs}"
            model.train()
            losses = train_epoch(
                train_data, lambda batch: train_step(model, optimizer, batch["video"], batch["label"]), title,
                args.steps - len(history["loss"]),
            )  # fmt: skip
            waiting = train_data.wait_share
            history["loss"] += losses
            history["accuracy"].append(validate(model, val_data))
            print(
                f"{title}: loss {np.mean(losses):.3f}, accuracy {history['accuracy'][-1]:.1%}, "
                f"{waiting:.1%} of the time waiting for data",
                flush=True,
            )
            if len(history["loss"]) >= args.steps:
                break
    return history


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with train and val; default: moving balls")
    parser.add_argument("--frames", type=int, default=8, help="of a sequence")
    parser.add_argument("--stride", type=int, default=1, help="from one frame of a sequence to the next")
    parser.add_argument("--size", type=int, default=48, help="height and width of the network's input")
    parser.add_argument("--widths", type=int, nargs="+", default=[16, 32, 64], help="channels of the layers")
    add_arguments(parser, epochs=4, batch_size=16, lr=3e-3)
    return parser.parse_args(argv)


if __name__ == "__main__":
    began = time.perf_counter()
    result = run(parse())
    print(f"accuracy {result['accuracy'][-1]:.1%} after {time.perf_counter() - began:.0f} s")
