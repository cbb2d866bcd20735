"""Trains a small network in several processes, each of which reads its own part of the pictures.

    python distributed.py --processes 4          # four processes on this machine, started from here
    python distributed.py --processes 4 --process 2 --coordinator host:1234     # one of them, by hand

Every process has a pipeline with its shard of the files. The rows that it makes are its part of global
arrays, the step is one program over all devices of all processes. All processes make the same number of
steps, because a reader with `pad_last_batch` says how many there are: where a process has nothing left, it
repeats a picture, and the mask leaves that out of the loss.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _digits import digits_folder
from classification import MEAN, STD, Files, Network, find_files, validation_pipeline, validation_step
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jdali import fn, pipeline_def, types
from jdali.data_node import DataNode
from jdali.iterator import DataIterator, LastBatchPolicy


@pipeline_def
def training_pipeline(files: Files, size: int) -> tuple[DataNode, ...]:
    """This process's part of the pictures, shuffled; another part in each epoch."""
    jpegs, labels = fn.readers.file(
        files=files.paths, labels=files.labels, shard_id=jax.process_index(), num_shards=jax.process_count(),
        random_shuffle=True, pad_last_batch=True, name="Reader",
    )  # fmt: skip
    images = fn.decoders.image_random_crop(
        jpegs, device="mixed", output_type=types.RGB, random_area=[0.6, 1.0]
    )
    images = fn.resize(images, size=(size, size))
    return fn.crop_mirror_normalize(images, mean=MEAN, std=STD, output_layout="HWC"), labels


@nnx.jit
def train_step(
    model: Network, optimizer: nnx.Optimizer, images: jax.Array, labels: jax.Array, mask: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """One step over the pictures of all processes; the mean loss and the number of real pictures."""

    def loss_of(model: Network) -> jax.Array:
        losses = optax.softmax_cross_entropy_with_integer_labels(model(images), labels[:, 0])
        return jnp.where(mask, losses, 0).sum() / jnp.maximum(mask.sum(), 1)

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss, mask.sum()


def train(args: argparse.Namespace) -> tuple[list[float], list[int], float]:
    """What each process runs: the losses, the number of pictures in each epoch, the accuracy at the end."""
    train_files, val_files, classes = find_files(args.data or digits_folder())
    mesh = Mesh(np.array(jax.devices()), ("data",))
    sharding = NamedSharding(mesh, P("data"))
    here = {"batch_size": args.batch_size // jax.process_count(), "num_threads": 1, "seed": args.seed}
    outputs = ["image", "label"]
    options: dict[str, Any] = {
        "reader_name": "Reader", "sharding": sharding, "last_batch_policy": LastBatchPolicy.PAD
    }  # fmt: skip
    data = DataIterator(training_pipeline(train_files, args.size, **here), outputs, **options)

    model = Network(len(classes), args.widths, rngs=nnx.Rngs(args.seed))
    optimizer = nnx.Optimizer(model, optax.adamw(args.lr), wrt=nnx.Param)
    # Every process makes the same model; together they are one, on all devices.
    state = jax.tree.map(np.asarray, nnx.state((model, optimizer)))
    nnx.update((model, optimizer), jax.device_put(state, NamedSharding(mesh, P())))

    losses: list[float] = []
    seen: list[int] = []
    with data:
        while len(losses) < args.steps and len(seen) < args.epochs:
            model.train()
            seen.append(0)
            for batch in data:
                loss, real = train_step(model, optimizer, batch["image"], batch["label"], batch["mask"])
                losses.append(float(loss))
                seen[-1] += int(real)
                if len(losses) == args.steps:
                    break
            if jax.process_index() == 0:
                print(f"epoch {len(seen)}: {seen[-1]} pictures, loss {losses[-1]:.4f}", flush=True)
    return losses, seen, validate(args, model, val_files)


def validate(args: argparse.Namespace, model: Network, files: Files) -> float:
    """The accuracy: here every process looks at all pictures, with its own copy of the model."""
    model.eval()
    local = jax.tree.map(lambda x: x.addressable_data(0), nnx.state(model))
    nnx.update(model, local)
    pipe = validation_pipeline(files, args.size, batch_size=args.batch_size, num_threads=1)
    with DataIterator(
        pipe, ["image", "label"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PAD
    ) as data:
        right = sum(int(validation_step(model, b["image"], b["label"], b["mask"])[1]) for b in data)
    return right / len(files)


def start(args: argparse.Namespace) -> int:
    """Starts all processes on this machine and waits for them; the worst of their exit codes."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        coordinator = f"localhost:{free.getsockname()[1]}"
    running = [
        subprocess.Popen([
            sys.executable, __file__, *sys.argv[1:], "--process", str(i), "--coordinator", coordinator
        ])
        for i in range(args.processes)
    ]  # fmt: skip
    try:
        codes: list[int] = []
        while len(codes) < len(running):
            codes = [code for process in running if (code := process.poll()) is not None]
            if any(codes):
                break  # the others would wait for it for ever
            time.sleep(0.2)
        return max(map(abs, codes))
    finally:
        for process in running:
            process.kill()


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--process", type=int, help="number of this process; default: start them all")
    parser.add_argument("--coordinator", help="address of process 0")
    parser.add_argument("--data", type=Path, help="folder of pictures; default: handwritten digits")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=sys.maxsize, help="stop after this many steps")
    parser.add_argument("--batch-size", type=int, default=64, help="of all processes together")
    parser.add_argument("--size", type=int, default=32, help="height and width of the network's input")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--widths", type=int, nargs="+", default=[32, 64], help="channels of the layers")
    args = parser.parse_args(argv)
    if args.batch_size % args.processes:
        parser.error(f"--batch-size {args.batch_size} cannot be shared by {args.processes} processes")
    return args


def main() -> int:
    args = parse()
    if args.process is None:
        if args.data is not None:
            find_files(args.data)  # said once, not by each process
        return start(args)
    jax.distributed.initialize(args.coordinator, args.processes, args.process)
    losses, _, accuracy = train(args)
    if args.process == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} at last, accuracy {accuracy:.2%}")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # processes of one machine cannot share a GPU
    sys.exit(main())
