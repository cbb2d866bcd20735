"""A loader that times its batches, or gives some of them again and again without any work."""

from __future__ import annotations

import collections
import json
import time
from collections.abc import Iterator
from typing import Any


class LoaderEvaluator:
    """Stands in for a PyTorch `DataLoader` in a training loop, to see what the data cost.

    A loop over it in mode "log", then one in mode "replay": by how much the second is faster is what a perfect loader
    would gain. Both keep how long each batch took to come.

    Args:
        dataloader: what is gone through; also an iterator of DALI's that has a length.
        mode: "log": gives the loader's batches. "replay": keeps some batches of the loader, read when it is made, and
            gives these instead, in turn, as many as the loader has. Any other: as "log".
        num_cached_batches: how many batches "replay" keeps in memory: the first ones.
        metrics_file: where `save_metrics` writes to if it is not told.

    Attributes:
        cached_batches: those that are kept.
        cache_ready: whether there are any.
        batch_times: seconds that each batch of the last loop took to come.
        start_time, end_time: of the last loop, seconds since 1970; None before there was one. A loop that was left early
            has no end.
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
        """Returns the number of batches in a loop over the loader."""
        return len(self.dataloader)

    def __iter__(self) -> Iterator[Any]:
        """Gives the batches of a loop.

        Raises:
            RuntimeError: no batch has been kept.
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
        """Returns the measurements of the last loop, seconds; empty if no batch came.

        Returns: "mode", "total_batches", "total_time" (0 for a loop that was left early), "avg_batch_time",
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
            filename: of the file; None: `metrics_file`. If there is neither, nothing is written, which is printed.
        """
        path = self.metrics_file if filename is None else filename
        if path is None:
            print("No filename provided for saving metrics")
            return
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.get_metrics(), file, indent=2)
        print(f"Metrics saved to: {path}")

    def print_summary(self) -> None:
        """Prints what the loader is and what was measured."""
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
