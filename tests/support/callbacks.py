"""What worker processes run in tests: it must be importable there."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np


class Echo:
    """Methods for a pool of workers."""

    callback = None

    def __init__(self, alone: bool = False):
        self.alone, self.count = alone, 0

    def twice(self, arrays: list[Any]) -> tuple[Any, Any]:
        return [np.asarray(a) * 2 for a in arrays], len(arrays)

    def same(self, content: Any) -> tuple[Any, Any]:
        return content, None

    def drawn(self) -> tuple[Any, Any]:
        return [], (random.random(), float(np.random.random()))  # noqa: NPY002

    def pid(self) -> tuple[Any, Any]:
        return [], os.getpid()

    def counted(self) -> tuple[Any, Any]:
        self.count += 1
        return [], self.count

    def fail(self, error: Exception) -> tuple[Any, Any]:
        raise error

    def fail_with_a_lambda(self) -> tuple[Any, Any]:
        raise Unportable(lambda: 1)

    def lambda_beside(self) -> tuple[Any, Any]:
        return [], lambda: 1

    def die(self) -> tuple[Any, Any]:
        os._exit(7)

    def sleep(self, path: str) -> tuple[Any, Any]:
        Path(path).write_text("begun")
        time.sleep(600)
        return [], None

    def wait_for(self, path: str) -> tuple[Any, Any]:
        while not Path(path).exists():
            time.sleep(0.01)
        return [], os.getpid()


class Seeds:
    """A callback of a module that seeds NumPy where it is imported."""

    def __reduce__(self) -> Any:
        return _seeded, ()


def _seeded() -> None:
    np.random.seed(0)  # noqa: NPY002


class Unportable(Exception):
    """It cannot be pickled."""


class Samples:
    """Samples of two outputs that differ in size, for a callback of single samples."""

    def __init__(self, size: int):
        self.size = size

    def __call__(self, info: Any) -> tuple[Any, Any]:
        if info.idx_in_epoch >= self.size:
            raise StopIteration
        value = info.idx_in_epoch + 100 * info.epoch_idx
        return np.full((2, info.idx_in_epoch % 3), value, np.float32), np.int64(value)


class Growing:
    """A callback whose samples double in size with each batch."""

    def __call__(self, info: Any) -> Any:
        return np.zeros(1000 << info.iteration, np.uint8)


class Bad:
    """A callback that fails at one sample."""

    def __call__(self, info: Any) -> Any:
        if info.idx_in_epoch == 2:
            raise KeyError("sample two")
        return np.int32([info.idx_in_epoch])


class Dies:
    """A callback that ends its process from the second batch on."""

    def __call__(self, number: int) -> Any:
        if number >= 1:
            os._exit(7)
        return np.int32([[number]])


class Hangs:
    """A callback that does not return."""

    def __init__(self, path: str):
        self.path = path

    def __call__(self, number: int) -> Any:
        Path(self.path).write_text("begun")
        time.sleep(600)


def batches() -> Any:
    for i in range(3):
        yield [np.full(i + 1, i, np.uint8)] * 2


class Numbered:
    """An iterable of single samples."""

    def __iter__(self) -> Any:
        return iter([np.int32([i]) for i in range(5)])


def whole_batch(number: int) -> Any:
    if number == 3:
        raise StopIteration
    return np.arange(number * 6, number * 6 + 6, dtype=np.int16).reshape(2, 3)


def batch_with_info(info: Any) -> Any:
    if info.iteration == 2:
        raise StopIteration
    return [np.int32([info.iteration, info.epoch_idx])] * 2


def doubled(sample: Any) -> Any:
    return sample * 2


def two_outputs(a: Any, b: Any) -> tuple[Any, Any]:
    return a + b, np.full(int(b) % 3, b, np.float64)


def fails_on_three(sample: Any) -> Any:
    if int(sample[0]) == 3:
        raise KeyError("three")
    return sample


def never(value: Any) -> Any:
    time.sleep(600)
    return value


def dies(sample: Any) -> Any:
    os._exit(7)


def twos():
    """Two batches of two samples."""
    for value in range(2):
        yield [np.full(1, value, np.int32)] * 2


class Twos:
    """The same batches, as an iterable.

    Attributes:
        begun: how often it was gone through.
    """

    def __init__(self):
        self.begun = 0

    def __iter__(self):
        self.begun += 1
        return twos()
