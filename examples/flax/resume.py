"""Trains, and goes on exactly where it was after it was killed: model, optimizer and data in one checkpoint.

    python resume.py --checkpoints FOLDER        # kill it at any time, start it again: it goes on
    python resume.py --checkpoints FOLDER --data PICTURES

The state of the data iterator is a few numbers: which samples come next, with which augmentations. Orbax
writes it as JSON beside the arrays, in one checkpoint that is complete or not there at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import jax
import optax
import orbax.checkpoint as ocp
from _digits import digits_folder
from _training import fitting_batch_size
from classification import Network, find_files, train_step, training_pipeline
from flax import nnx
from jax.sharding import Sharding

from jdali.iterator import DataIterator, LastBatchPolicy


class Training:
    """A model, its optimizer and its data, which are saved and restored together.

    Args:
        args: the settings, as `parser` describes them.
        sharding: of the batches.
    """

    def __init__(self, args: argparse.Namespace, sharding: Sharding | None = None):
        files, _, classes = find_files(args.data or digits_folder())
        batch_size = fitting_batch_size(args.batch_size, len(files))
        pipeline = training_pipeline(
            files, args.size, 0.6, 0.0, batch_size=batch_size, num_threads=args.threads, seed=args.seed
        )
        self.data = DataIterator(
            pipeline, ["image", "label"], reader_name="Reader", auto_reset=True,
            last_batch_policy=LastBatchPolicy.DROP, prepare_first_batch=False, sharding=sharding,
        )  # fmt: skip
        self.model = Network(len(classes), args.widths, rngs=nnx.Rngs(args.seed))
        self.optimizer = nnx.Optimizer(self.model, optax.adamw(args.lr), wrt=nnx.Param)
        self.step = 0

    def steps(self, count: int) -> Iterator[tuple[int, float]]:
        """Trains up to step `count`; gives each step's number and loss."""
        self.model.train()
        while True:
            for batch in self.data:
                if self.step >= count:
                    return
                loss, _ = train_step(self.model, self.optimizer, batch["image"], batch["label"])
                self.step += 1
                yield self.step, float(loss)

    def _arrays(self) -> dict[str, nnx.State]:
        return {"model": nnx.state(self.model), "optimizer": nnx.state(self.optimizer)}

    def save(self, manager: ocp.CheckpointManager) -> None:
        """Writes a checkpoint; in the background, while training goes on."""
        manager.save(
            self.step,
            args=ocp.args.Composite(
                arrays=ocp.args.StandardSave(self._arrays()),
                data=ocp.args.JsonSave(self.data.get_state()),
            ),
        )

    def restore(self, manager: ocp.CheckpointManager) -> None:
        """Goes on from the last checkpoint, if there is one."""
        self.step = manager.latest_step() or 0
        if not self.step:
            return
        shapes = jax.tree.map(ocp.utils.to_shape_dtype_struct, self._arrays())
        restored = manager.restore(
            self.step,
            args=ocp.args.Composite(arrays=ocp.args.StandardRestore(shapes), data=ocp.args.JsonRestore()),
        )
        nnx.update(self.model, restored.arrays["model"])
        nnx.update(self.optimizer, restored.arrays["optimizer"])
        self.data.set_state(restored.data)
        print(f"goes on after step {self.step}", flush=True)


def run(
    args: argparse.Namespace, make: Callable[[argparse.Namespace], Training] = Training
) -> dict[int, float]:
    """Trains from the last checkpoint to the end; returns the loss of each step."""
    training = make(args)
    options = ocp.CheckpointManagerOptions(max_to_keep=2)
    losses = {}
    with training.data, ocp.CheckpointManager(args.checkpoints.resolve(), options=options) as manager:
        training.restore(manager)
        for step, loss in training.steps(args.steps):
            losses[step] = loss
            if step % args.save_every == 0:
                training.save(manager)
            print(f"step {step}: loss {loss:.6f}", flush=True)
    return losses


def parser(description: str) -> argparse.ArgumentParser:
    """Returns the parser of the settings of a `Training`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder for the checkpoints")
    parser.add_argument("--data", type=Path, help="folder of pictures; default: handwritten digits")
    parser.add_argument("--steps", type=int, default=200, help="train this many steps in all")
    parser.add_argument("--save-every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--size", type=int, default=32, help="height and width of the network's input")
    parser.add_argument(
        "--threads", type=int, help="that read and decode; one for each processor if not given"
    )
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--widths", type=int, nargs="+", default=[32, 64], help="channels of the layers")
    return parser


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    return parser(__doc__.splitlines()[0]).parse_args(argv)


if __name__ == "__main__":
    run(parse())
