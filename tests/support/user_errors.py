"""Sources and functions that raise exceptions of every class, one at each batch of an odd number."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

BATCH = 2


class OwnBaseError(BaseException):
    """Neither an `Exception` nor one of Python's own."""


class NotPicklable(Exception):
    """Another process cannot have it."""

    def __init__(self) -> None:
        super().__init__("at its batch")
        self.held = lambda: 0


class OddConstructor(Exception):
    """Its constructor takes other arguments than it keeps."""

    def __init__(self, one: int, two: int):
        super().__init__(f"at its batch: {one}, {two}")


class FinalError(Exception):
    """Nothing can be made of it and another class."""

    def __init_subclass__(cls) -> None:
        raise TypeError("final")


ERRORS: tuple[Callable[[], BaseException], ...] = (
    lambda: ValueError("at its batch"),
    lambda: KeyError("at its batch"),
    lambda: OSError(24, "at its batch"),
    lambda: MemoryError(),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "at its batch"),
    lambda: StopAsyncIteration("at its batch"),
    lambda: GeneratorExit("at its batch"),
    lambda: asyncio.CancelledError("at its batch"),
    lambda: concurrent.futures.CancelledError("at its batch"),
    lambda: KeyboardInterrupt("at its batch"),
    lambda: SystemExit(3),
    OwnBaseError,
    NotPicklable,
    lambda: OddConstructor(1, 2),
    FinalError,
    lambda: ExceptionGroup("at its batch", [ValueError("one of them")]),
)
COUNT = 2 * len(ERRORS) + 1  # batches
NAMES = [type(make()).__name__ for make in ERRORS]


def raise_at(number: int) -> None:
    """Raises if it is the number of a batch that fails."""
    if number % 2:
        raise ERRORS[number // 2]()


def batch(number: int) -> Any:
    """Batch `number` of a source: its number in each sample."""
    return np.full((BATCH, 1), number, np.int32)


def good(number: int) -> Any:
    """A source whose batches are all good."""
    return batch(number)


# --- sources; each ends after COUNT batches ------------------------------------------------------
def of_batches(number: int) -> Any:
    if number >= COUNT:
        raise StopIteration
    raise_at(number)
    return batch(number)


def of_samples(info: Any) -> Any:
    if info.idx_in_epoch >= COUNT * BATCH:
        raise StopIteration
    if info.idx_in_batch == 0:  # with a good sample behind the bad one
        raise_at(info.iteration)
    return batch(info.iteration)[0]


class Items:
    """An iterable, whose iterator goes on after an error."""

    def __init__(self, per_batch: int = 1):
        self._per_batch = per_batch

    def __iter__(self) -> Iterator[Any]:
        self._taken = 0
        return self

    def __next__(self) -> Any:
        number, position = divmod(self._taken, self._per_batch)
        if number >= COUNT:
            raise StopIteration
        self._taken += 1
        if not position:
            raise_at(number)
        return batch(number) if self._per_batch == 1 else batch(number)[0]


class Called:
    """A callback without an argument, which begins again after its end."""

    def __init__(self, per_batch: int = 1):
        self._items = Items(per_batch)
        iter(self._items)

    def __call__(self) -> Any:
        try:
            return next(self._items)
        except StopIteration:
            iter(self._items)
            raise


SOURCES: dict[str, Callable[[], dict[str, Any]]] = {
    "batch": lambda: {"source": of_batches},
    "sample": lambda: {"source": of_samples, "batch": False},
    "batch without argument": lambda: {"source": Called()},
    "sample without argument": lambda: {"source": Called(BATCH), "batch": False},
    "iterable": lambda: {"source": Items(), "cycle": "raise"},
    "iterable of samples": lambda: {"source": Items(BATCH), "cycle": "raise", "batch": False},
}
IN_WORKERS = ("batch", "sample", "iterable", "iterable of samples")


# --- functions -------------------------------------------------------------------------------
def function(sample: Any) -> Any:
    raise_at(int(np.ravel(sample)[0]))
    return sample


def function_of_lists(samples: Any) -> Any:
    return [function(sample) for sample in samples]
