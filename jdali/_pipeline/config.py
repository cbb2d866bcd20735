"""Options of a pipeline: checked, with what follows from them."""

from __future__ import annotations

import enum
import secrets
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, overload

import numpy as np

from jdali._pipeline.expected_outputs import Expected
from jdali._system.cpus import cpu_count

T = TypeVar("T")


class StreamPolicy(enum.Enum):
    """DALI's CUDA stream policies; XLA schedules its own streams, so all are without effect."""

    UNSPECIFIED = -1
    SINGLE = 0
    PER_BACKEND = 1
    PER_OPERATOR = 2


class OperatorConcurrency(enum.Enum):
    """DALI's operator concurrency; without effect, the plan of the stages decides."""

    UNSPECIFIED = -1
    NONE = 0
    BACKEND = 1
    FULL = 2


# Arguments of DALI's Pipeline that steer CUDA memory or streams. They are taken so
# that DALI code runs unchanged, kept as attributes, and have no effect under XLA.
WITHOUT_EFFECT: dict[str, Any] = {
    "bytes_per_sample": 0,
    "set_affinity": False,
    "max_streams": None,
    "default_cuda_stream_priority": None,
    "enable_memory_stats": False,
    "exec_dynamic": None,
    "experimental_exec_dynamic": None,
    "stream_policy": None,
    "concurrency": None,
}


class PipelineConfig:
    """The arguments of a `Pipeline`, see there.

    Args:
        given: all of them, by name.

    Attributes:
        seed_given: the seed was given, and not made up.
        depth: batches made ahead.
        expected: what the outputs must be.
        without_effect: the arguments of `WITHOUT_EFFECT`, as they were given.
        conditionals: `if` on a DataNode works sample by sample; `pipeline_def` says so.
    """

    def __init__(self, given: Mapping[str, Any]):
        self.batch_size_given: int | None = given["batch_size"]
        if self.batch_size_given is not None and self.batch_size_given < 1:
            raise ValueError(
                f"Pipeline: Invalid batch size: {self.batch_size_given}. Please set a positive integer."
            )
        self.num_threads: int = cpu_count() if given["num_threads"] is None else given["num_threads"]
        self.device_id: int | None = given["device_id"]
        seed = given["seed"]
        self.seed_given = seed is not None and seed >= 0
        self.seed = int(seed) if self.seed_given else secrets.randbits(31)
        self.exec_pipelined: bool = given["exec_pipelined"]
        self.exec_async: bool = given["exec_async"]
        self.prefetch_queue_depth: int | Mapping[str, int] = given["prefetch_queue_depth"]
        self.depth = _depth(self.prefetch_queue_depth)
        if self.exec_separated and not self.exec_async:
            raise ValueError(
                "Pipeline: `exec_async` must not evaluate to `False` when using separated queues: prefetch_queue_depth is "
                f"{self.prefetch_queue_depth}"
            )
        self.enable_checkpointing: bool = given["enable_checkpointing"]
        self.checkpoint: str | bytes | None = given["checkpoint"]
        self.py_num_workers: int = 1 if given["py_num_workers"] is None else given["py_num_workers"]
        self.py_start_method: str | None = given["py_start_method"]
        self.py_callback_pickler: Any = given["py_callback_pickler"]
        if self.py_callback_pickler is not None and self.py_start_method == "fork":
            raise ValueError(
                "Pipeline: ``py_callback_pickler`` should not be set when 'fork' start method is used: nothing is pickled "
                "then"
            )
        self.py_timeout: float | None = given["py_timeout"]
        if self.py_timeout is not None and not self.py_timeout > 0:
            raise ValueError(f"Pipeline: py_timeout must be more than 0 seconds, not {self.py_timeout}")
        self.expected = Expected(given["output_dtype"], given["output_ndim"], given["output_layout"])
        self.debug: bool = given["debug"]
        self.conditionals = False
        self.on_error: str = given["on_error"]
        if self.on_error not in ("raise", "skip", "mask"):
            raise ValueError(f'Pipeline: on_error must be "raise", "skip" or "mask", not {self.on_error!r}')
        self.max_compiles: int | None = given["max_compiles"]
        self.max_prefetch_bytes: int | None = given["max_prefetch_bytes"]
        if self.max_prefetch_bytes is not None and self.max_prefetch_bytes < 1:
            raise ValueError(
                f"Pipeline: max_prefetch_bytes must be at least 1, not {self.max_prefetch_bytes}"
            )
        self.max_idle_bytes: int = given["max_idle_bytes"]
        if self.max_idle_bytes < 0:
            raise ValueError(f"Pipeline: max_idle_bytes must not be negative, got {self.max_idle_bytes}")
        self.scaled_decoding: bool = given["scaled_decoding"]
        self.exact_shapes: bool = given["exact_shapes"]
        self.compilation_cache: bool = given["compilation_cache"]
        self.without_effect = {name: given[name] for name in WITHOUT_EFFECT}

    @property
    def batch_size(self) -> int:
        """Samples in a batch.

        Raises:
            ValueError: it was not given.
        """
        if self.batch_size_given is None:
            raise ValueError("Pipeline: The batch size must be set.")
        return self.batch_size_given

    max_batch_size = batch_size

    @property
    def exec_dynamic(self) -> bool:
        """As given, True if not: memory is given back after its last use, as DALI's dynamic executor does."""
        given = self.without_effect["exec_dynamic"]
        return True if given is None else bool(given)

    @property
    def exec_separated(self) -> bool:
        """True if the depths of two queues were set."""
        return isinstance(self.prefetch_queue_depth, Mapping)

    @property
    def cpu_queue_size(self) -> int:
        """Batches that DALI would make ahead on the CPU; the largest of the depths given counts here."""
        return self._queue_size("cpu_size")

    @property
    def gpu_queue_size(self) -> int:
        """Batches that DALI would make ahead on the GPU; the largest of the depths given counts here."""
        return self._queue_size("gpu_size")

    def _queue_size(self, name: str) -> int:
        depth = self.prefetch_queue_depth
        return depth.get(name, self.depth) if isinstance(depth, Mapping) else depth


def _depth(given: int | Mapping[str, int]) -> int:
    depths = list(given.values()) if isinstance(given, Mapping) else [given]
    if not depths or not all(isinstance(depth, (int, np.integer)) for depth in depths):
        raise TypeError(
            f"Pipeline: Expected prefetch_queue_depth to be either int or Dict[int, int], got {given!r}"
        )
    if min(depths) < 1:
        raise ValueError(f"Pipeline: The prefetch queue depth must be greater than 0. It is {given}")
    return int(max(depths))


class Option(Generic[T]):
    """An option as an attribute of its pipeline."""

    def __set_name__(self, kind: type, name: str) -> None:
        self._name = name
        self.__doc__ = getattr(PipelineConfig, name, self).__doc__

    @overload
    def __get__(self, pipeline: None, kind: type) -> Option[T]: ...
    @overload
    def __get__(self, pipeline: Any, kind: type) -> T: ...
    def __get__(self, pipeline: Any, kind: type) -> Option[T] | T:
        if pipeline is None:
            return self
        options: PipelineConfig = pipeline._options
        value: Any = getattr(options, self._name, options.without_effect.get(self._name))
        return value

    def __set__(self, pipeline: Any, value: T) -> None:
        setattr(pipeline._options, self._name, value)
