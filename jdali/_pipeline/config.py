"""Checks the options of a pipeline, and derives further options from them."""

from __future__ import annotations

import enum
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from jdali._operators.random_key import is_key
from jdali._pipeline.expected_outputs import Expected
from jdali._system.cpus import cpu_count
from jdali._system.devices import host_device
from jdali._workers import WorkerSet
from jdali.engine import EngineOptions


class StreamPolicy(enum.Enum):
    """DALI's CUDA stream policies. They have no effect: XLA schedules its own streams."""

    UNSPECIFIED = -1
    SINGLE = 0
    PER_BACKEND = 1
    PER_OPERATOR = 2


class OperatorConcurrency(enum.Enum):
    """DALI's operator concurrency. It has no effect: the plan decides what runs at the same time."""

    UNSPECIFIED = -1
    NONE = 0
    BACKEND = 1
    FULL = 2


# Arguments of DALI's Pipeline for CUDA memory and streams. They are kept as attributes, so that DALI code runs unchanged, but
# have no effect under XLA.
WITHOUT_EFFECT = (
    "bytes_per_sample", "set_affinity", "max_streams", "default_cuda_stream_priority", "enable_memory_stats",
    "exec_dynamic", "experimental_exec_dynamic", "stream_policy", "concurrency",
)  # fmt: skip
# Arguments of jdali, not of DALI, which converts its own.
_INTEGERS = ("max_idle_bytes", "min_workers")
_INTEGERS_OR_NONE = ("max_compiles", "max_prefetch_bytes", "max_workers")
_FLAGS = ("scaled_decoding", "exact_shapes", "compilation_cache")


@dataclass(frozen=True, kw_only=True)
class PipelineConfig:
    """Checked options of a `Pipeline`; `of` makes them from the pipeline's arguments.

    Attributes:
        seed_given: True if the user gave the seed.
        expected: types, numbers of axes and layouts that outputs must have.

    Raises:
        TypeError, ValueError: an argument has a wrong value.
    """

    batch_size: int | None
    num_threads: int
    device_id: int | None
    seed: int
    seed_given: bool
    exec_pipelined: bool
    exec_async: bool
    prefetch_queue_depth: int | Mapping[str, int]
    enable_checkpointing: bool
    checkpoint: str | bytes | None
    py_num_workers: int
    py_start_method: str | None
    py_callback_pickler: Any
    py_timeout: float | None
    expected: Expected
    debug: bool
    on_error: str
    max_compiles: int | None
    max_prefetch_bytes: int | None
    max_idle_bytes: int
    scaled_decoding: bool
    exact_shapes: bool
    workers: int | WorkerSet
    min_workers: int
    max_workers: int | None
    compilation_cache: bool
    # the arguments in WITHOUT_EFFECT
    bytes_per_sample: int
    set_affinity: bool
    max_streams: int | None
    default_cuda_stream_priority: int | None
    enable_memory_stats: bool
    exec_dynamic: bool | None
    experimental_exec_dynamic: bool | None
    stream_policy: StreamPolicy | None
    concurrency: OperatorConcurrency | None

    @classmethod
    def of(
        cls,
        *,
        batch_size: int | None,
        seed: int | None,
        num_threads: int | None,
        py_num_workers: int | None,
        workers: int | WorkerSet | None,
        min_workers: int | None,
        max_workers: int | None,
        output_dtype: Any,
        output_ndim: Any,
        output_layout: Any,
        **others: Any,
    ) -> PipelineConfig:
        """Makes the options from a pipeline's arguments, and fills in defaults."""
        if is_key(seed):
            raise TypeError(
                "Pipeline: seed is a JAX key, and must be an integer. The functions of Pipeline.function take keys, and "
                "those of jdali.ops, jdali.dynamic and jdali.auto_aug"
            )
        for name, value in {"batch_size": batch_size, "num_threads": num_threads, "seed": seed}.items():
            if value is not None and not isinstance(value, (int, np.integer)):
                raise TypeError(f"Pipeline: {name} must be an integer, not {value!r}")
        seed_given = seed is not None and seed >= 0
        least = 1 if min_workers is None else min_workers
        if workers is None:
            workers = _workers_of_environment() if max_workers is None else least
        return cls(
            batch_size=None if batch_size is None else int(batch_size),
            seed=int(seed) if seed is not None and seed_given else secrets.randbits(31),
            seed_given=seed_given,
            workers=workers,
            min_workers=least,
            max_workers=max_workers,
            num_threads=_threads(workers, max_workers) if num_threads is None else num_threads,
            py_num_workers=1 if py_num_workers is None else py_num_workers,
            expected=Expected(output_dtype, output_ndim, output_layout),
            **others,
        )

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(
                f"Pipeline: Invalid batch size: {self.batch_size}. Please set a positive integer."
            )
        for name in (*_INTEGERS, *_INTEGERS_OR_NONE):
            value = getattr(self, name)
            is_none = value is None and name in _INTEGERS_OR_NONE
            if not (is_none or isinstance(value, (int, np.integer))):
                raise TypeError(f"Pipeline: {name} must be an integer, not {value!r}")
        for name in _FLAGS:
            if not isinstance(value := getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"Pipeline: {name} must be True or False, not {value!r}")
        _check_depth(self.prefetch_queue_depth)
        if self.exec_separated and not self.exec_async:
            raise ValueError(
                "Pipeline: `exec_async` must not evaluate to `False` when using separated queues: prefetch_queue_depth is "
                f"{self.prefetch_queue_depth}"
            )
        if self.py_callback_pickler is not None and self.py_start_method == "fork":
            raise ValueError(
                "Pipeline: ``py_callback_pickler`` should not be set when 'fork' start method is used: nothing is pickled "
                "then"
            )
        if self.py_timeout is not None and not self.py_timeout > 0:
            raise ValueError(f"Pipeline: py_timeout must be more than 0 seconds, not {self.py_timeout}")
        if self.on_error not in ("raise", "skip", "mask"):
            raise ValueError(f'Pipeline: on_error must be "raise", "skip" or "mask", not {self.on_error!r}')
        if self.max_prefetch_bytes is not None and self.max_prefetch_bytes < 1:
            raise ValueError(
                f"Pipeline: max_prefetch_bytes must be at least 1, not {self.max_prefetch_bytes}"
            )
        workers = self.workers
        is_number = isinstance(workers, int) and not isinstance(workers, bool) and workers >= 0
        if not (is_number or isinstance(workers, WorkerSet)):
            raise ValueError(
                "Pipeline: workers must be a number of processes, at least 0, or workers of a cluster such as "
                f"jdali.plugin.ray.Workers, not {workers!r}"
            )
        if self.max_workers is not None and not (
            isinstance(workers, int) and 1 <= self.min_workers <= workers <= self.max_workers
        ):
            raise ValueError(
                f"Pipeline: min_workers, workers and max_workers must be 1 or more, in this order: {self.min_workers}, "
                f"{workers}, {self.max_workers}"
            )
        if self.max_workers is None and self.min_workers != 1:
            raise ValueError(
                f"Pipeline: min_workers is {self.min_workers}, and there is no max_workers: their number changes with both"
            )
        for name in ("max_idle_bytes", "max_compiles"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"Pipeline: {name} must not be negative, got {value}")

    @property
    def max_batch_size(self) -> int:
        """Maximum number of samples in a batch; raises ValueError if it was not given."""
        if self.batch_size is None:
            raise ValueError("Pipeline: The batch size must be set.")
        return self.batch_size

    def engine_options(self, accelerator: jax.Device) -> EngineOptions:
        """Returns the options of the engine; operators on "gpu" and "mixed" use `accelerator`."""
        return EngineOptions(
            batch_size=self.max_batch_size, threads=self.num_threads, most_idle=self.max_idle_bytes, seed=self.seed,
            devices={"cpu": host_device(), "gpu": accelerator}, on_error=self.on_error, max_compiles=self.max_compiles,
            scaled_decoding=self.scaled_decoding, exact_shapes=self.exact_shapes,
            compilation_cache=self.compilation_cache,
        )  # fmt: skip

    @property
    def depth(self) -> int:
        """Number of batches made ahead."""
        return int(max(_depths(self.prefetch_queue_depth)))

    @property
    def exec_separated(self) -> bool:
        return isinstance(self.prefetch_queue_depth, Mapping)

    def queue_size(self, name: str) -> int:
        """Returns the depth of one of DALI's two queues, "cpu_size" or "gpu_size"."""
        depth = self.prefetch_queue_depth
        return depth[name] if isinstance(depth, Mapping) else depth

    def without_effect(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in WITHOUT_EFFECT}


def _threads(workers: int | WorkerSet, max_workers: int | None) -> int:
    """Returns the default number of threads: the `WorkerSet`'s number, or an equal share of the processors."""
    if isinstance(workers, WorkerSet):
        return workers.threads
    # Values of other types are refused later.
    return max(cpu_count() // max([n for n in (workers, max_workers, 1) if isinstance(n, int)]), 1)


def _workers_of_environment() -> int:
    """Returns the default number of workers: JDALI_WORKERS, or 0."""
    text = os.environ.get("JDALI_WORKERS", "") or "0"
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"Pipeline: JDALI_WORKERS must be a number of processes, not {text!r}") from None


def _depths(given: int | Mapping[str, int]) -> list[int]:
    return list(given.values()) if isinstance(given, Mapping) else [given]


def _check_depth(given: int | Mapping[str, int]) -> None:
    if isinstance(given, Mapping) and not given.keys() >= {"cpu_size", "gpu_size"}:
        raise KeyError(
            f'Pipeline: a dict of prefetch_queue_depth must have "cpu_size" and "gpu_size", got {dict(given)}'
        )
    depths = _depths(given)
    if not all(isinstance(depth, (int, np.integer)) for depth in depths):
        raise TypeError(
            f"Pipeline: Expected prefetch_queue_depth to be either int or Dict[int, int], got {given!r}"
        )
    if min(depths) < 1:
        raise ValueError(f"Pipeline: The prefetch queue depth must be greater than 0. It is {given}")
