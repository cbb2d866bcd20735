"""What the examples' training loops share: their arguments, and an epoch of steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import jax
from tqdm import tqdm

from jdali import OperatorError, Pipeline
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
    parser.add_argument("--steps", type=int, default=sys.maxsize, help="stop after this many steps")


def check_folder(path: Path) -> None:
    """Ends the program with one line if there is no such folder."""
    if not path.is_dir():
        raise SystemExit(f"{path}: {'this is no folder' if path.exists() else 'there is no such folder'}")


def check_file(path: Path) -> None:
    """Ends the program with one line if there is no such file."""
    if not path.is_file():
        raise SystemExit(f"{path}: {'this is no file' if path.exists() else 'there is no such file'}")


def fitting_batch_size(wanted: int, samples: int, parts: int = 1) -> int:
    """The batch size of a data set that may be smaller than a batch; else `wanted`.

    Args:
        wanted: samples of a batch.
        samples: of the data set. Batches that are not full are dropped, so there must be a full one.
        parts: devices or processes that share a batch.
    """
    if samples >= wanted:
        return wanted
    size = samples // parts * parts
    if not size:
        raise SystemExit(
            f"{samples} samples to train are fewer than the {parts} devices or processes that share a batch"
        )
    print(f"batches of {size}, for there are only {samples} samples to train")
    return size


def training_data(make: Callable[[int], Pipeline], batch_size: int) -> Pipeline:
    """A pipeline over data to train with, of batches that these fill; ends the program with one line if there are none.

    Args:
        make: makes the pipeline, whose reader is "Reader", with a batch size.
        batch_size: to use, if there are as many samples.
    """
    pipe = validation_data(make, batch_size)
    size = fitting_batch_size(batch_size, pipe.reader_meta("Reader")["epoch_size"])
    if size == batch_size:
        return pipe
    pipe.close()
    return make(size)


def validation_data(make: Callable[[int], Pipeline], batch_size: int) -> Pipeline:
    """A pipeline that has opened its data; ends the program with one line if it cannot."""
    pipe = make(batch_size)
    try:
        pipe.build()
    except (OperatorError, ValueError, OSError) as error:
        raise SystemExit(str(error).splitlines()[0]) from error
    return pipe


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
