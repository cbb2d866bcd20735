"""Trains a small single-shot detector: which things are in a picture, and where.

    python detection.py                                       # squares, discs and triangles, made on the spot
    python detection.py --data FOLDER --annotations FILE      # pictures and boxes in COCO's format

jdali reads, decodes, crops so that enough of the boxes stays, resizes, changes colours, mirrors pictures
and boxes, and pads the boxes of a batch with their numbers; Flax NNX and Optax train.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _boxes import Measure, anchors, best_boxes, match, moved
from _shapes import shapes_folder
from _training import add_arguments, check_file, check_folder, train_epoch, training_data, validation_data
from flax import nnx

from jdali import fn, pipeline_def, types
from jdali.data_node import DataNode
from jdali.iterator import DataIterator, LastBatchPolicy

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
STRIDES = (8, 16)  # pixels from one cell of the detector's grids to the next
SIZES = ((0.15, 0.25), (0.4, 0.6))  # of the anchors in each grid, share of the picture
RATIOS = (1.0, 0.5, 2.0)
INITIAL = nnx.initializers.he_uniform()  # of the convolutions; uniform: compiled sooner than normal
FOCAL_WEIGHT = 4.0  # of the loss of the scores, to that of the offsets


# --- data ------------------------------------------------------------------------------------------
@pipeline_def
def training_pipeline(folder: str, annotations: str, size: int) -> tuple[DataNode, ...]:
    """A random part of each picture that holds some of the boxes, in other colours, mirrored or not."""
    jpegs, boxes, labels = fn.readers.coco(
        file_root=folder,
        annotations_file=annotations,
        ratio=True,
        ltrb=True,
        random_shuffle=True,
        name="Reader",
    )
    images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB)
    anchor, shape, boxes, labels = fn.random_bbox_crop(
        boxes, labels, aspect_ratio=[0.5, 2.0], scaling=[0.4, 1.0], thresholds=[0.3, 0.6, 0.9], threshold_type="overlap",
        all_boxes_above_threshold=False, bbox_prune_threshold=0.3, num_attempts=20,
    )  # fmt: skip
    images = fn.slice(images, anchor, shape)
    images = fn.resize(images, size=(size, size))
    images = fn.color_twist(
        images,
        brightness=fn.random.uniform(range=[0.8, 1.2]), contrast=fn.random.uniform(range=[0.8, 1.2]),
        saturation=fn.random.uniform(range=[0.7, 1.3]), hue=fn.random.uniform(range=[-15.0, 15.0]),
    )  # fmt: skip
    mirror = fn.random.coin_flip()
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=mirror)
    images = fn.crop_mirror_normalize(images, mean=MEAN, std=STD, mirror=mirror, output_layout="HWC")
    return images, boxes, labels


@pipeline_def
def validation_pipeline(folder: str, annotations: str, size: int) -> tuple[DataNode, ...]:
    """Whole pictures. The last batch is padded, and the iterator's mask says so."""
    jpegs, boxes, labels = fn.readers.coco(
        file_root=folder,
        annotations_file=annotations,
        ratio=True,
        ltrb=True,
        pad_last_batch=True,
        name="Reader",
    )
    images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB)
    images = fn.resize(images, size=(size, size))
    return fn.crop_mirror_normalize(images, mean=MEAN, std=STD, output_layout="HWC"), boxes, labels


# --- model -----------------------------------------------------------------------------------------
class Detector(nnx.Module):
    """Convolutions that halve the picture; on the two smallest, scores and offsets of each anchor."""

    def __init__(self, classes: int, width: int, depth: int, *, rngs: nnx.Rngs):
        widths = [3, width, 2 * width, 4 * width, 4 * width]
        self.blocks = nnx.List([Block(a, b, depth, rngs=rngs) for a, b in itertools.pairwise(widths)])
        self.classes = classes
        each = len(SIZES[0]) * len(RATIOS) * (classes + 4)
        self.heads = nnx.List(
            [nnx.Conv(4 * width, each, (3, 3), kernel_init=INITIAL, rngs=rngs) for _ in STRIDES]
        )
        # At first nothing is anywhere: most anchors are right from the start.
        for head in self.heads:
            assert head.bias is not None
            head.bias[...] = jnp.tile(jnp.array([-4.0] * classes + [0.0] * 4), each // (classes + 4))

    def __call__(self, images: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Scores [N, A, classes], before the sigmoid, and offsets [N, A, 4] of the anchors.

        Args:
            images: [N, size, size, 3].
        """
        x = images
        found: list[jax.Array] = []
        for block in self.blocks:
            x = block(x)
            if images.shape[1] // x.shape[1] in STRIDES:
                head = self.heads[len(found)]
                found.append(head(x).reshape(len(x), -1, self.classes + 4))
        everything = jnp.concatenate(found, axis=1)
        return everything[..., : self.classes], everything[..., self.classes :]


class Block(nnx.Module):
    """Convolutions, each with normalization and ReLU; the first halves the size."""

    def __init__(self, before: int, after: int, depth: int, *, rngs: nnx.Rngs):
        self.convolutions = nnx.List([
            nnx.Conv(
                before if i == 0 else after, after, (3, 3), strides=2 if i == 0 else 1, use_bias=False,
                kernel_init=INITIAL, rngs=rngs,
            )
            for i in range(depth)
        ])  # fmt: skip
        self.norms = nnx.List([nnx.BatchNorm(after, momentum=0.9, rngs=rngs) for _ in range(depth)])

    def __call__(self, x: jax.Array) -> jax.Array:
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = nnx.relu(norm(convolution(x)))
        return x


def grid_anchors(size: int) -> np.ndarray:
    """The detector's anchors [A, 4] for pictures of this size, in the order of its answers."""
    return anchors([size // stride for stride in STRIDES], SIZES, RATIOS)


def loss_of(
    model: Detector, images: jax.Array, boxes: jax.Array, labels: jax.Array, counts: jax.Array
) -> jax.Array:
    """Focal loss of the scores and Huber loss of the offsets, for each box.

    Args:
        images: [N, size, size, 3].
        boxes: [N, B, 4], padded.
        labels: int32 [N, B], from 1 on.
        counts: int32 [N], how many boxes are real.
    """
    scores, offsets = model(images)
    anchor = jnp.asarray(grid_anchors(images.shape[1]))
    found, wanted = jax.vmap(match, in_axes=(0, 0, 0, None))(boxes, labels, counts, anchor)
    there = found > 0
    target = jax.nn.one_hot(found - 1, model.classes)  # no class at all for 0
    focal = FOCAL_WEIGHT * optax.sigmoid_focal_loss(scores, target, alpha=0.5, gamma=2.0).sum(-1)
    huber = optax.huber_loss(offsets, wanted).sum(-1)
    total = jnp.where(found >= 0, focal, 0).sum() + jnp.where(there, huber, 0).sum()
    return total / jnp.maximum(there.sum(), 1)


@nnx.jit
def train_step(
    model: Detector,
    optimizer: nnx.Optimizer,
    images: jax.Array,
    boxes: jax.Array,
    labels: jax.Array,
    counts: jax.Array,
) -> jax.Array:
    """One step; returns the loss."""
    loss, gradients = nnx.value_and_grad(loss_of)(model, images, boxes, labels, counts)
    optimizer.update(model, gradients)
    return loss


@nnx.jit
def find(model: Detector, images: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Scores [N, K], labels [N, K] and boxes [N, K, 4] of what is in the pictures; see `best_boxes`."""
    scores, offsets = model(images)
    boxes = moved(jnp.asarray(grid_anchors(images.shape[1])), offsets)
    return jax.vmap(best_boxes)(jax.nn.sigmoid(scores), boxes)


# --- training --------------------------------------------------------------------------------------
def operands(batch: dict[str, jax.Array]) -> tuple[jax.Array, ...]:
    """Pictures, padded boxes, their labels and their numbers."""
    boxes, counts = batch["boxes"], batch["boxes_extent"][:, 0]
    labels = batch["labels"].reshape(boxes.shape[:2])
    # A multiple of 8, so that few programs serve all batches.
    room = -boxes.shape[1] % 8
    return (
        batch["image"],
        jnp.pad(boxes, ((0, 0), (0, room), (0, 0))),
        jnp.pad(labels, ((0, 0), (0, room))),
        counts,
    )


def validate(model: Detector, data: DataIterator) -> Measure:
    """What the model finds in the validation pictures, each counted once."""
    model.eval()
    measure = Measure(model.classes)
    for batch in data:
        found = [np.asarray(values) for values in find(model, batch["image"])]
        _, boxes, labels, counts = map(np.asarray, operands(batch))
        for i in np.flatnonzero(np.asarray(batch["mask"])):
            score, label, box = (values[i] for values in found)
            measure.add(score, label, box, labels[i, : counts[i]], boxes[i, : counts[i]])
    return measure


def data_set(args: argparse.Namespace) -> tuple[str, str, str, str]:
    """Folder and annotations to train with, and to validate with."""
    if (args.data is None) != (args.annotations is None):
        raise SystemExit("give both --data and --annotations, or none of them")
    if args.data is None:
        made = shapes_folder()
        return str(made / "train"), str(made / "train.json"), str(made / "val"), str(made / "val.json")
    check_folder(args.data)
    for file in (args.annotations, args.val or args.annotations):
        check_file(file)
    if args.val is None:
        print("no --val: measuring on the pictures to train with")
    return str(args.data), str(args.annotations), str(args.data), str(args.val or args.annotations)


def run(args: argparse.Namespace) -> dict[str, list[float]]:
    """Trains and validates; returns the training losses and the mean average precision after each epoch."""
    folder, annotations, val_folder, val_annotations = data_set(args)
    classes = len(json.loads(Path(annotations).read_text(encoding="utf-8"))["categories"])
    options = {"num_threads": args.threads, "seed": args.seed}
    outputs = ["image", "boxes", "labels"]
    training = training_data(
        lambda size: training_pipeline(folder, annotations, args.size, batch_size=size, **options),
        args.batch_size,
    )
    validation = validation_data(
        lambda size: validation_pipeline(val_folder, val_annotations, args.size, batch_size=size, **options),
        args.batch_size,
    )
    train_data = DataIterator(
        training, outputs, reader_name="Reader",
        last_batch_policy=LastBatchPolicy.DROP, ragged="pad",
    )  # fmt: skip
    val_data = DataIterator(
        validation, outputs, reader_name="Reader",
        last_batch_policy=LastBatchPolicy.PAD, ragged="pad", prepare_first_batch=False,
    )  # fmt: skip
    print(f"{train_data.size} pictures to train, {val_data.size} to validate, {classes} classes")
    model = Detector(classes, args.width, args.depth, rngs=nnx.Rngs(args.seed))
    steps = min(args.epochs * len(train_data), args.steps)
    schedule = optax.warmup_cosine_decay_schedule(0.0, args.lr, min(20, steps // 4), steps)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule), wrt=nnx.Param)
    history: dict[str, list[float]] = {"loss": [], "precision": []}
    with train_data, val_data:
        for epoch in range(args.epochs):
            title = f"epoch {epoch + 1}/{args.epochs}"
            model.train()
            losses = train_epoch(
                train_data, lambda batch: train_step(model, optimizer, *operands(batch)), title,
                args.steps - len(history["loss"]),
            )  # fmt: skip
            waiting = train_data.wait_share
            history["loss"] += losses
            measure = validate(model, val_data)
            history["precision"].append(measure.mean_average_precision())
            print(
                f"{title}: loss {np.mean(losses):.3f}, mean average precision {history['precision'][-1]:.1%}, "
                f"recall {measure.recall():.1%}, {waiting:.1%} of the time waiting for data",
                flush=True,
            )
            if len(history["loss"]) >= args.steps:
                break
    return history


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of pictures; default: shapes")
    parser.add_argument("--annotations", type=Path, help="their boxes and labels, in COCO's format")
    parser.add_argument("--val", type=Path, help="annotations of pictures in the folder to validate with")
    parser.add_argument("--size", type=int, default=64, help="height and width of the network's input")
    parser.add_argument("--width", type=int, default=16, help="channels of the first layer")
    parser.add_argument("--depth", type=int, default=2, help="convolutions for each halving of the size")
    add_arguments(parser, epochs=24, batch_size=16, lr=4e-3)
    return parser.parse_args(argv)


if __name__ == "__main__":
    began = time.perf_counter()
    result = run(parse())
    print(f"mean average precision {result['precision'][-1]:.1%} after {time.perf_counter() - began:.0f} s")
