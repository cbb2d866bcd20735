"""Trains a small network on batches that a cluster of Ray makes, and removes a machine from it while it trains.

    python cluster.py                     # a cluster of two nodes on this machine, started from here
    python cluster.py --address HOST:6379 # a cluster that is there, from which nothing is removed

The pipeline is the one of `classification.py`: only `workers=` is new. Workers read the files where they are, so each
node must see them under the same names. What a removed node was working on is made again by the others: the batches are
those of one process, bit by bit.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import optax
import ray
from _digits import digits_folder
from _training import add_arguments, fitting_batch_size
from classification import Files, Network, find_files, train_step, training_pipeline
from flax import nnx
from ray.cluster_utils import Cluster

from jdali import Pipeline
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.plugin.ray import Workers

STORE_BYTES = 100 << 20  # of each node of the small cluster


@contextlib.contextmanager
def cluster_of_two(processors: int) -> Iterator[Callable[[], None]]:
    """Starts a cluster of two nodes on this machine and connects to it; gives a function that removes the second one.

    Args:
        processors: of each node, so that one has room for all workers.
    """
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": processors,
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
        },
    )
    try:
        second = cluster.add_node(num_cpus=processors, object_store_memory=STORE_BYTES)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        yield lambda: cluster.remove_node(second)
    finally:
        ray.shutdown()
        cluster.shutdown()


@contextlib.contextmanager
def cluster_at(address: str) -> Iterator[None]:
    """Connects to a cluster."""
    ray.init(address=address, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def workers_of(pipe: Pipeline) -> str:
    """The line of a pipeline's plan that says how its workers are."""
    return next(line.strip() for line in pipe.plan().splitlines() if "Ray workers" in line)


def train(
    args: argparse.Namespace, files: Files, classes: int, remove: Callable[[], None] | None
) -> list[float]:
    """Trains; removes a node in the middle, if it may; returns the losses."""
    pipe = training_pipeline(
        files, args.size, 0.6, 0.0, batch_size=fitting_batch_size(args.batch_size, len(files)), seed=args.seed,
        workers=Workers(args.workers, num_cpus=1),
    )  # fmt: skip
    model = Network(classes, args.widths, rngs=nnx.Rngs(args.seed))
    optimizer = nnx.Optimizer(model, optax.adamw(args.lr), wrt=nnx.Param)
    losses: list[float] = []
    with DataIterator(
        pipe, ["image", "label"], reader_name="Reader", last_batch_policy=LastBatchPolicy.DROP
    ) as data:
        half = min(args.epochs * len(data), args.steps) // 2
        for epoch in range(args.epochs):
            model.train()
            seen = right = 0
            for batch in data:
                loss, good = train_step(model, optimizer, batch["image"], batch["label"])
                losses.append(float(loss))
                right, seen = right + int(good), seen + len(batch["label"])
                if len(losses) == half and remove is not None:
                    print(f"step {half}: {workers_of(pipe)}; a node is removed", flush=True)
                    remove()
                if len(losses) == args.steps:
                    break
            print(f"epoch {epoch + 1}: {seen} pictures, accuracy {right / seen:.2%}", flush=True)
            if len(losses) == args.steps:
                break
        print(f"step {len(losses)}: {workers_of(pipe)}")
    return losses


def run(args: argparse.Namespace) -> list[float]:
    """Trains on a cluster; returns the losses."""
    files, _, classes = find_files(args.data or digits_folder())
    with cluster_of_two(args.workers) if args.address is None else cluster_at(args.address) as remove:
        return train(args, files, len(classes), remove)


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of pictures; default: handwritten digits")
    parser.add_argument("--address", help="of a cluster of Ray; default: one of two nodes, on this machine")
    parser.add_argument("--workers", type=int, default=2, help="of the cluster, each with one processor")
    add_arguments(parser, epochs=4, batch_size=64, lr=3e-3)
    parser.add_argument("--size", type=int, default=32, help="height and width of the network's input")
    parser.add_argument("--widths", type=int, nargs="+", default=[32, 64], help="channels of the layers")
    return parser.parse_args(argv)


if __name__ == "__main__":
    began = time.perf_counter()
    found = run(parse())
    print(
        f"loss {found[0]:.4f} at first, {found[-1]:.4f} at last; {time.perf_counter() - began:.0f} s",
        flush=True,
    )
