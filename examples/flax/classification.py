"""Trains a small convolutional network on a folder of JPEG files, one subfolder for each class.

    python classification.py                     # handwritten digits, made on the spot
    python classification.py --data FOLDER       # FOLDER/<class>/*.jpg, or FOLDER/{train,val}/<class>/*.jpg
    python classification.py --augment trivial   # with TrivialAugment, or rand, or auto

jdali reads, decodes, crops, resizes and normalizes; Flax NNX and Optax train. With several devices the
batch is split over them.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _digits import digits_folder
from _training import add_arguments, check_folder, fitting_batch_size
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from tqdm import tqdm

from jdali import OperatorError, fn, pipeline_def, types
from jdali.auto_aug import auto_augment, rand_augment, trivial_augment
from jdali.data_node import DataNode
from jdali.iterator import DataIterator, LastBatchPolicy

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")


# --- data ------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Files:
    """Picture files and the number of the class of each."""

    paths: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.paths)

    def where(self, chosen: Sequence[bool]) -> Files:
        """Those that are chosen."""
        return Files(
            list(itertools.compress(self.paths, chosen)), list(itertools.compress(self.labels, chosen))
        )


def find_files(folder: Path) -> tuple[Files, Files, list[str]]:
    """Training files, validation files and the names of the classes.

    Args:
        folder: has `train` and `val`, each with a subfolder a class, or the subfolders themselves: then
            every fifth file of a class is for validation; of classes so small that none is, every fifth of all
            files, and if there are no three of them, those to train with. Hidden files and folders do not count.

    Ends the program with one line if there are no pictures, and says if all are of one class.
    """
    folder = folder.expanduser()
    check_folder(folder)
    if (folder / "train").is_dir() and (folder / "val").is_dir():
        classes = _classes(folder / "train")
        train, val = (_list(folder / part, classes, slice(None)) for part in ("train", "val"))
    else:
        classes = _classes(folder)
        everything = _list(folder, classes, slice(None))
        held_out = set(_list(folder, classes, slice(2, None, 5)).paths)  # none of a class of one or two files
        held_out = held_out or set(everything.paths[2::5])
        train = everything.where([path not in held_out for path in everything.paths])
        val = everything.where([path in held_out for path in everything.paths])
    if not len(train):
        raise SystemExit(f"{folder}: no pictures found; expected {folder}/<class>/*.jpg")
    if not len(val):
        print("too few pictures to hold some out: measuring on those to train with")
    if len(set(train.labels)) == 1:
        print(
            f"all pictures to train are of one class, {classes[train.labels[0]]}: there is nothing to tell apart"
        )
    return train, val if len(val) else train, classes


def _classes(folder: Path) -> list[str]:
    return sorted(
        entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(".")
    )


def _list(folder: Path, classes: Sequence[str], chosen: slice) -> Files:
    paths: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        if not (folder / name).is_dir():
            continue  # a class that is only trained
        found = (p for p in (folder / name).iterdir() if not p.name.startswith("."))
        files = sorted(p for p in found if p.suffix.lower() in PICTURES)[chosen]
        paths += map(str, files)
        labels += [label] * len(files)
    return Files(paths, labels)


@pipeline_def(enable_conditionals=True)
def training_pipeline(
    files: Files, size: int, min_area: float, mirror: float, augment: str = "none"
) -> tuple[DataNode, ...]:
    """A random part of each picture, at a random aspect ratio, augmented if asked, mirrored or not."""
    jpegs, labels = fn.readers.file(
        files=files.paths, labels=files.labels, random_shuffle=True, name="Reader"
    )
    images = fn.decoders.image_random_crop(
        jpegs, device="mixed", output_type=types.RGB, random_area=[min_area, 1.0]
    )
    images = fn.resize(images, size=(size, size))
    if augment == "trivial":
        images = trivial_augment.trivial_augment_wide(images, shape=[size, size])
    elif augment == "rand":
        images = rand_augment.rand_augment(images, n=2, m=9, shape=[size, size])
    elif augment == "auto":
        images = auto_augment.auto_augment(images, shape=[size, size])
    images = fn.crop_mirror_normalize(
        images, mean=MEAN, std=STD, mirror=fn.random.coin_flip(probability=mirror), output_layout="HWC"
    )
    return images, labels


@pipeline_def
def validation_pipeline(files: Files, size: int) -> tuple[DataNode, ...]:
    """The middle of each picture. The last batch is padded, and the iterator's mask says so."""
    jpegs, labels = fn.readers.file(
        files=files.paths, labels=files.labels, pad_last_batch=True, name="Reader"
    )
    images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB)
    images = fn.resize(images, size=(size, size), mode="not_smaller")
    images = fn.crop_mirror_normalize(images, crop=(size, size), mean=MEAN, std=STD, output_layout="HWC")
    return images, labels


# --- model -----------------------------------------------------------------------------------------
class Network(nnx.Module):
    """Convolutions that halve the picture and double the channels, an average, a linear layer."""

    def __init__(self, classes: int, widths: Sequence[int], *, rngs: nnx.Rngs):
        pairs = zip([3, *widths], widths, strict=False)
        self.blocks = nnx.List([Block(before, after, rngs=rngs) for before, after in pairs])
        self.head = nnx.Linear(widths[-1], classes, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(axis=(1, 2)))


class Block(nnx.Module):
    """Convolution, normalization, ReLU; half the size."""

    def __init__(self, before: int, after: int, *, rngs: nnx.Rngs):
        self.convolution = nnx.Conv(before, after, (3, 3), strides=2, use_bias=False, rngs=rngs)
        self.normalization = nnx.BatchNorm(after, momentum=0.9, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return nnx.relu(self.normalization(self.convolution(x)))


@nnx.jit
def train_step(
    model: Network, optimizer: nnx.Optimizer, images: jax.Array, labels: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """One step; returns the mean loss and the number of right answers."""

    def loss_of(model: Network) -> tuple[jax.Array, jax.Array]:
        scores = model(images)
        return optax.softmax_cross_entropy_with_integer_labels(scores, labels[:, 0]).mean(), scores

    (loss, scores), gradients = nnx.value_and_grad(loss_of, has_aux=True)(model)
    optimizer.update(model, gradients)
    return loss, (scores.argmax(-1) == labels[:, 0]).sum()


@nnx.jit
def validation_step(
    model: Network, images: jax.Array, labels: jax.Array, mask: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The summed loss and the number of right answers among the samples that `mask` says are real."""
    scores = model(images)
    losses = optax.softmax_cross_entropy_with_integer_labels(scores, labels[:, 0])
    right = scores.argmax(-1) == labels[:, 0]
    return jnp.where(mask, losses, 0).sum(), (right & mask).sum()


# --- training --------------------------------------------------------------------------------------
class Progress:
    """Losses and answers of an epoch so far, the images a second, the share of time spent waiting for data.

    The results of a step are fetched after the next one was handed to the device, which so never idles.
    """

    def __init__(self, data: DataIterator, bar: tqdm):
        self.data, self.bar = data, bar
        self.losses: list[float] = []
        self.right = self.seen = 0
        self._pending: tuple[jax.Array, jax.Array] | None = None
        self._start = time.perf_counter()

    def add(self, step: tuple[jax.Array, jax.Array], images: int) -> None:
        """Takes note of a step that was just begun."""
        self.finish()
        self._pending = step
        self.seen += images

    def finish(self) -> None:
        """Waits for the last step."""
        if self._pending is not None:
            self.losses.append(float(self._pending[0]))
            self.right += int(self._pending[1])
            self._pending = None
            self.bar.set_postfix_str(self.speed(), refresh=False)
            self.bar.update()

    def speed(self) -> str:
        rate = self.seen / (time.perf_counter() - self._start)
        return f"{rate:.0f} images/s, {self.data.wait_share:.1%} of the time waiting for data"

    def __str__(self) -> str:
        mean, accuracy = np.mean(self.losses), self.right / self.seen
        return f"train loss {mean:.4f}, accuracy {accuracy:.2%}; {self.speed()}"


def train_epoch(
    model: Network, optimizer: nnx.Optimizer, data: DataIterator, bar: tqdm, most: int
) -> Progress:
    """Trains for an epoch, or `most` steps."""
    model.train()
    progress = Progress(data, bar)
    for number, batch in enumerate(data, 1):
        step = train_step(model, optimizer, batch["image"], batch["label"])
        progress.add(step, len(batch["label"]))
        if number == most:
            break
    progress.finish()
    return progress


def validate(model: Network, data: DataIterator) -> tuple[float, float]:
    """Mean loss and accuracy over the pictures that can be decoded, each counted once."""
    model.eval()
    results = [(*validation_step(model, b["image"], b["label"], b["mask"]), b["mask"].sum()) for b in data]
    loss, right, count = (sum(map(float, column)) for column in zip(*results, strict=True))
    return loss / count, right / count


def print_errors(*data: DataIterator) -> None:
    """Prints how many files could not be decoded, and the first three of them with the reason."""
    reasons = {error.path: error.reason for one in data for pipe in one.pipelines for error in pipe.errors}
    if reasons:
        print(f"left out, for they cannot be decoded: {len(reasons)} files, among them")
        for path, reason in itertools.islice(reasons.items(), 3):
            print(f"  {path}: {reason}")


def run(args: argparse.Namespace) -> dict[str, list[float]]:
    """Trains and validates; returns the training losses and the accuracy after each epoch."""
    train, val, classes = find_files(args.data or digits_folder())
    own = args.data is not None
    min_area = args.min_area if args.min_area is not None else (0.08 if own else 0.6)
    mirror = args.mirror if args.mirror is not None else (0.5 if own else 0.0)  # digits are not symmetric
    devices = jax.devices()
    print(f"{len(train)} files to train, {len(val)} to validate, {len(classes)} classes, {devices}")

    mesh = Mesh(np.array(devices), ("data",))
    batch_size = fitting_batch_size(args.batch_size, len(train), len(devices))
    options = {"batch_size": batch_size, "num_threads": args.threads, "seed": args.seed}
    outputs = ["image", "label"]
    sharding = NamedSharding(mesh, P("data"))
    train_data = DataIterator(
        training_pipeline(train, args.size, min_area, mirror, args.augment, on_error="skip", **options), outputs,
        reader_name="Reader", last_batch_policy=LastBatchPolicy.DROP, sharding=sharding,
    )  # fmt: skip
    val_data = DataIterator(
        validation_pipeline(val, args.size, on_error="mask", **options), outputs, reader_name="Reader",
        last_batch_policy=LastBatchPolicy.PAD, sharding=sharding, prepare_first_batch=False,
    )  # fmt: skip

    steps = min(args.epochs * len(train_data), args.steps)
    model = Network(len(classes), args.widths, rngs=nnx.Rngs(args.seed))
    schedule = optax.warmup_cosine_decay_schedule(0.0, args.lr, min(20, steps // 4), steps)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule), wrt=nnx.Param)
    # Every device holds the whole model from the start.
    everywhere = jax.device_put(nnx.state((model, optimizer)), NamedSharding(mesh, P()))
    nnx.update((model, optimizer), everywhere)

    history: dict[str, list[float]] = {"loss": [], "accuracy": []}
    with train_data, val_data:
        for epoch in range(args.epochs):
            left = args.steps - len(history["loss"])
            total = min(len(train_data), left)
            title = f"epoch {epoch + 1}/{args.epochs}"
            # No bar where nobody sees it move (disable=None): a log gets one line an epoch.
            with tqdm(total=total, desc=title, unit="step", leave=False, disable=None) as bar:
                progress = train_epoch(model, optimizer, train_data, bar, left)
            history["loss"] += progress.losses
            print(f"{title}: {progress}", flush=True)
            loss, accuracy = validate(model, val_data)
            history["accuracy"].append(accuracy)
            print(f"{title}: validation loss {loss:.4f}, accuracy {accuracy:.2%}", flush=True)
            if len(history["loss"]) >= args.steps:
                break
        print_errors(train_data, val_data)
    return history


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of pictures; default: handwritten digits")
    add_arguments(parser, epochs=8, batch_size=64, lr=3e-3)
    parser.add_argument("--size", type=int, default=32, help="height and width of the network's input")
    parser.add_argument("--min-area", type=float, help="smallest part of a picture to train on, 0 to 1")
    parser.add_argument("--mirror", type=float, help="probability of mirroring a picture")
    parser.add_argument(
        "--augment",
        choices=["none", "trivial", "rand", "auto"],
        default="none",
        help="automatic augmentation",
    )
    parser.add_argument("--widths", type=int, nargs="+", default=[32, 64, 128], help="channels of the layers")
    return parser.parse_args(argv)


if __name__ == "__main__":
    began = time.perf_counter()
    try:
        result = run(parse())
    except OperatorError as error:  # of so many pictures that nothing is left to train on
        raise SystemExit(str(error)) from error
    print(f"accuracy {result['accuracy'][-1]:.2%} after {time.perf_counter() - began:.0f} s")
