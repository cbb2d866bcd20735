"""The parts of a pipeline, and its options as read-only properties."""

from __future__ import annotations

from collections.abc import Mapping

from jdali._pipeline.building import Building
from jdali._pipeline.config import OperatorConcurrency, PipelineConfig, StreamPolicy
from jdali._pipeline.definition import Definition
from jdali._workers import WorkerSet


class PipelineBase:
    """Has a pipeline's options, as DALI's `Pipeline` does: set at construction, never changed.

    `Pipeline` is made of this class and those derived from it, a file each.
    """

    _config: PipelineConfig
    _definition: Definition
    _building: Building

    @property
    def batch_size(self) -> int:
        """Samples in a batch.

        Raises:
            ValueError: it was not given.
        """
        return self._config.max_batch_size

    @property
    def max_batch_size(self) -> int:
        """As `batch_size`: no batch has more."""
        return self._config.max_batch_size

    @property
    def num_threads(self) -> int:
        """Threads that read and decode."""
        return self._config.num_threads

    @property
    def device_id(self) -> int | None:
        """Kept for DALI's sake; "gpu" is JAX's default device."""
        return self._config.device_id

    @property
    def seed(self) -> int:
        """The seed of all random operators; of a state that was set, if the pipeline was given none."""
        return self._building.seed

    @property
    def exec_pipelined(self) -> bool:
        """False: an iteration runs only when it is asked for."""
        return self._config.exec_pipelined

    @property
    def exec_async(self) -> bool:
        """False: an iteration runs only when it is asked for."""
        return self._config.exec_async

    @property
    def prefetch_queue_depth(self) -> int | Mapping[str, int]:
        """Batches made ahead, as supplied; of a dict the largest value counts."""
        return self._config.prefetch_queue_depth

    @property
    def exec_separated(self) -> bool:
        """True if the depths of two queues were set."""
        return self._config.exec_separated

    @property
    def cpu_queue_size(self) -> int:
        """Batches that DALI would make ahead on the CPU; the largest of the depths given counts here."""
        return self._config.cpu_queue_size

    @property
    def gpu_queue_size(self) -> int:
        """Batches that DALI would make ahead on the GPU; the largest of the depths given counts here."""
        return self._config.gpu_queue_size

    @property
    def enable_checkpointing(self) -> bool:
        """True: `checkpoint`, the method and the argument, may be used."""
        return self._config.enable_checkpointing

    @property
    def py_num_workers(self) -> int:
        """Processes that run callbacks and Python functions with `parallel=True`."""
        return self._config.py_num_workers

    @property
    def py_start_method(self) -> str | None:
        """Starts the worker processes; once they were started, the method that did."""
        return self._building.start_method

    @property
    def py_timeout(self) -> float | None:
        """Seconds that one call of a callback in a worker process may take; None: as long as it takes."""
        return self._config.py_timeout

    @property
    def on_error(self) -> str:
        """ "raise", "skip" or "mask": what to do with a sample that an operator cannot work on."""
        return self._config.on_error

    @property
    def max_compiles(self) -> int | None:
        """Most programs the pipeline may compile; None: any number."""
        return self._config.max_compiles

    @property
    def max_prefetch_bytes(self) -> int | None:
        """Bytes that batches made ahead may take; None: a quarter of the memory."""
        return self._config.max_prefetch_bytes

    @property
    def max_idle_bytes(self) -> int:
        """Bytes of host memory that are kept for later batches, at most."""
        return self._config.max_idle_bytes

    @property
    def scaled_decoding(self) -> bool:
        """True: JPEG is decoded at 1/2, 1/4 or 1/8 where a resize shrinks it by at least as much."""
        return self._config.scaled_decoding

    @property
    def exact_shapes(self) -> bool:
        """True: each sample is a call by itself."""
        return self._config.exact_shapes

    @property
    def workers(self) -> int | WorkerSet:
        """Processes that make batches, or workers of a cluster; 0: this process makes them."""
        return self._config.workers

    @property
    def min_workers(self) -> int:
        """Fewest processes, where their number follows the waiting time."""
        return self._config.min_workers

    @property
    def max_workers(self) -> int | None:
        """Most processes, where their number follows the waiting time; None: it does not."""
        return self._config.max_workers

    @property
    def debug(self) -> bool:
        """True: the function runs in each iteration, and each operator when it is called."""
        return self._config.debug

    # Of DALI, without effect here.

    @property
    def bytes_per_sample(self) -> int:
        """As supplied; without effect."""
        return self._config.bytes_per_sample

    @property
    def set_affinity(self) -> bool:
        """As supplied; without effect."""
        return self._config.set_affinity

    @property
    def max_streams(self) -> int | None:
        """As supplied; without effect."""
        return self._config.max_streams

    @property
    def default_cuda_stream_priority(self) -> int | None:
        """As supplied; without effect."""
        return self._config.default_cuda_stream_priority

    @property
    def enable_memory_stats(self) -> bool:
        """As supplied; without effect."""
        return self._config.enable_memory_stats

    @property
    def exec_dynamic(self) -> bool:
        """As given, True if not: memory is given back after its last use, as DALI's dynamic executor does."""
        return True if self._config.exec_dynamic is None else bool(self._config.exec_dynamic)

    @property
    def experimental_exec_dynamic(self) -> bool | None:
        """As supplied; without effect."""
        return self._config.experimental_exec_dynamic

    @property
    def stream_policy(self) -> StreamPolicy | None:
        """As supplied; without effect."""
        return self._config.stream_policy

    @property
    def concurrency(self) -> OperatorConcurrency | None:
        """As supplied; without effect."""
        return self._config.concurrency
