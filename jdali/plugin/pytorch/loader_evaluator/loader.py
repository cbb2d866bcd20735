"""Defines a loader that times its batches, or replays cached ones without any work."""

from __future__ import annotations

import collections
import json
import time
from collections.abc import Iterator
from typing import Any


class LoaderEvaluator:
    """Wraps a PyTorch `DataLoader` in a training loop, to measure the cost of loading data.

    Run a loop in mode "log" and one in mode "replay". The difference of their times is the time that an infinitely fast
    loader would save. Both loops record the time of each batch.

    Args:
        dataloader: the loader, or one of DALI's iterators that has a length.
        mode: "log" returns the loader's batches. "replay" reads some batches when the object is created. Its loop repeats
            these batches up to the loader's number of batches. Any other value means "log".
        num_cached_batches: number of batches that "replay" keeps in memory, from the first one on.
        metrics_file: default path for `save_metrics`.

    Attributes:
        cached_batches: the batches that "replay" repeats.
        cache_ready: True if batches are cached.
        batch_times: waiting time for each batch of the last loop, seconds.
        start_time, end_time: times of the last loop, seconds since 1970; None before the first loop. `end_time` is None
            after a loop that ended early.
    """

    def __init__(
        self,
        dataloader: Any,
        mode: str = "log",
        num_cached_batches: int = 20,
        metrics_file: str | None = None,
    ):
        self.dataloader, self.mode = dataloader, mode
        self.num_cached_batches, self.metrics_file = num_cached_batches, metrics_file
        self.cached_batches: collections.deque[Any] = collections.deque(maxlen=num_cached_batches)
        self.cache_ready = False
        self.batch_times: list[float] = []
        self.start_time: float | None = None
        self.end_time: float | None = None
        if mode == "replay":
            self._keep_batches()

    def _keep_batches(self) -> None:
        if self.num_cached_batches > 0:
            for batch in self.dataloader:
                self.cached_batches.append(batch)
                if len(self.cached_batches) == self.num_cached_batches:
                    break
        self.cache_ready = bool(self.cached_batches)

    def __len__(self) -> int:
        """Returns the number of batches of one loop."""
        return len(self.dataloader)

    def __iter__(self) -> Iterator[Any]:
        """Yields the batches of a loop.

        Raises:
            RuntimeError: in mode "replay", no batch is cached.
        """
        replays = self.mode == "replay"
        if replays and not self.cache_ready:
            raise RuntimeError("LoaderEvaluator: No cached batches available: the loader gave none")
        return self._timed(self._replayed() if replays else iter(self.dataloader))

    def _replayed(self) -> Iterator[object]:
        for number in range(len(self)):
            yield self.cached_batches[number % len(self.cached_batches)]

    def _timed(self, batches: Iterator[Any]) -> Iterator[object]:
        self.batch_times = times = []
        self.start_time, self.end_time = time.time(), None
        began = time.perf_counter()
        while True:
            asked = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                break
            times.append(time.perf_counter() - asked)
            yield batch
        self.end_time = self.start_time + time.perf_counter() - began

    def get_metrics(self) -> dict[str, Any]:
        """Returns the measurements of the last loop by name, times in seconds; empty if the loop had no batch.

        Returns: "mode", "total_batches", "total_time" (0 for a loop that ended early), "avg_batch_time",
            "min_batch_time", "max_batch_time", "batch_times", "cached_batches" (their number) and "cache_ready".
        """
        times = self.batch_times
        if not times:
            return {}
        ended = self.start_time is not None and self.end_time is not None
        return {
            "mode": self.mode,
            "total_batches": len(times),
            "total_time": self.end_time - self.start_time if ended else 0,  # type: ignore[operator]
            "avg_batch_time": sum(times) / len(times),
            "min_batch_time": min(times),
            "max_batch_time": max(times),
            "batch_times": list(times),
            "cached_batches": len(self.cached_batches),
            "cache_ready": self.cache_ready,
        }

    def save_metrics(self, filename: str | None = None) -> None:
        """Writes `get_metrics` to a JSON file.

        Args:
            filename: path of the file; None: `metrics_file`. If both are None, it prints a message and writes nothing.
        """
        path = self.metrics_file if filename is None else filename
        if path is None:
            print("No filename provided for saving metrics")
            return
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.get_metrics(), file, indent=2)
        print(f"Metrics saved to: {path}")

    def print_summary(self) -> None:
        """Prints a description of the loader and its measurements."""
        print("Loader Evaluator Summary:")
        print(f"  Mode: {self.mode}")
        data: Any = getattr(self.dataloader, "dataset", None)
        if hasattr(data, "__len__"):
            print(f"  Dataset size: {len(data)}")
        print(f"  Number of batches: {len(self)}")
        print(f"  Cache size: {len(self.cached_batches)}/{self.num_cached_batches}")
        print(f"  Cache ready: {self.cache_ready}")
        metrics = self.get_metrics()
        if metrics:
            print(f"  Total batches processed: {metrics['total_batches']}")
            print(f"  Total time: {metrics['total_time']:.2f}s")
            for name, key in (("Average", "avg"), ("Min", "min"), ("Max", "max")):
                print(f"  {name} batch time: {metrics[f'{key}_batch_time']:.4f}s")
