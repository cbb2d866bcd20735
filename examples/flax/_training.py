"""What the examples' training loops share: their arguments, and an epoch of steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import jax
from tqdm import tqdm

from jdali.iterator import DataIterator


def add_arguments(parser: argparse.ArgumentParser, *, epochs: int, batch_size: int, lr: float) -> None:
    """Adds those that every example has; the numbers are their defaults."""
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size, help="of all devices together")
    parser.add_argument(
        "--threads", type=int, help="that read and decode; one for each processor if not given"
    )
    parser.add_argument("--lr", type=float, default=lr, help="largest learning rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=sys.maxsize, help="stop after so many steps")


def train_epoch(
    data: DataIterator, step: Callable[[dict[str, jax.Array]], jax.Array], title: str, most: int
) -> list[float]:
    """Losses of an epoch, or of `most` steps.

    Args:
        data: gives the batches.
        step: one step on a batch; returns its loss.
        title: of the progress bar, which shows where somebody sees it move.
        most: steps.
    """
    losses: list[jax.Array] = []
    for batch in tqdm(data, desc=title, unit="step", leave=False, disable=None):
        losses.append(step(batch))
        if len(losses) > 1:
            losses[-2].block_until_ready()  # one step ahead, so that the device never idles
        if len(losses) == most:
            break
    return [float(loss) for loss in losses]
