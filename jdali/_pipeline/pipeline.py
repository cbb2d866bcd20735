"""`Pipeline`: DALI's graph mode."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from jdali._batches import MOST_IDLE
from jdali._pipeline.building import Building
from jdali._pipeline.checkpoint import PipelineState
from jdali._pipeline.config import OperatorConcurrency, PipelineConfig, StreamPolicy
from jdali._pipeline.definition import Definition, current_owner
from jdali._pipeline.facts import PipelineFacts
from jdali._pipeline.feeding import Feeding
from jdali._pipeline.functions import PipelineFunctions
from jdali._pipeline.runs import PipelineRuns
from jdali._pipeline.serialize import Serialization, given_content, given_options
from jdali._system.tracebacks import folding
from jdali._workers import WorkerSet
from jdali._workers.callbacks import CallbackWorkers
from jdali.graph import DataNode

Self = TypeVar("Self", bound="Pipeline")


class Pipeline(PipelineRuns, PipelineState, PipelineFacts, PipelineFunctions):
    """A graph of operators that gives one batch a run.

    Args:
        batch_size: samples in a batch (also available as `max_batch_size`).
        num_threads: threads that read and decode, of each process that does; None: together one for each processor that
            the process may use.
        device_id: kept for DALI's sake; "gpu" is JAX's default device, whatever that is.
        seed: of all random operators; -1 or None: a fresh one, see `Pipeline.seed`.
        exec_pipelined, exec_async: False for either runs an iteration only when it is asked for.
        prefetch_queue_depth: batches made ahead; a dict of DALI's is taken, its largest value counts.
        enable_checkpointing: `checkpoint`, the method and the argument, may be used.
        checkpoint: what `checkpoint()` of the same pipeline gave, or `checkpoints()` of an iterator: the
            pipeline, and an iterator made of it, go on from there.
        py_num_workers: processes that run the callbacks of external sources, and Python functions, with
            `parallel=True`; sources that are gone through in order have one each besides.
        py_start_method: how these are started: "fork", "spawn" or "forkserver"; None: "fork" if JAX has not started
            yet (see `start_py_workers`), else "spawn", which needs `if __name__ == "__main__":` in the script.
        py_callback_pickler: what "spawn" sends the callbacks with: a module or an object with `dumps` and `loads`, or
            a tuple of it and the keyword arguments of both; None: `jdali.pickling`, which also takes lambdas and local
            functions, and cloudpickle, where it is installed, for what only it can pickle.
        py_timeout: seconds that one call of a callback in a worker process may take; more is an error, and ends the
            workers. None: as long as it takes. On Linux a worker that is stopped (SIGSTOP) for a minute is one, too.
        output_dtype, output_ndim, output_layout: what the outputs must be, one for each or one for
            all; a batch that is not raises.
        debug: the function runs in each iteration, and each operator when it is called: see docs/debug.md. For
            pipelines made with `pipeline_def`, or of a subclass with `define_graph`. `prefetch_queue_depth`,
            `on_error` and `scaled_decoding` have no effect then; a bad sample raises.
        on_error: what to do with a sample that an operator cannot work on: "raise"; "skip": put another sample of the
            data set in its place, which follows from the epoch and the index of the bad one; "mask": the same, and
            iterators give a mask, which is False there. The stand-in comes where it belongs, too: every good sample comes
            at least once an epoch, exactly once where the mask is True. What was bad is in `Pipeline.errors`.
            An external source has no other samples: beside one a good sample of the batch stands in, and a batch without
            any is left out; after 1024 bad samples in a row there is an error.
        max_compiles: most programs the pipeline may compile; one more raises `CompileLimitError`.
        max_prefetch_bytes: no other batch is begun ahead if with it, by what the largest one took so far, those
            that wait and those under way would take more bytes than this; before the first one is made, none.
            None: a quarter of the memory of the machine or container, and nothing is held back before
            the first one is made.
        max_idle_bytes: host memory that batches lay in and that is kept for later ones, bytes, at most; `plan` shows it.
            Together with what batches lie in it is never more than batches once lay in at the same time.
            0: all of it is freed as soon as nothing refers to it.
        scaled_decoding: decode JPEG at 1/2, 1/4 or 1/8 where the resize that follows shrinks the picture
            by at least as much anyway. Faster; the picture differs a little from the exact one.
        exact_shapes: each sample is a call by itself, so that its bits depend on nothing else even where an
            operator's do (docs/resuming.md names them). Costs a call a sample (0.3 ms on a CPU), and each
            stage runs on one device.
        workers: processes that make batches, each with `num_threads` threads; 0: this process makes them, with the same
            bits. None: the environment variable JDALI_WORKERS, or 0. They get the pipeline by value (extra "workers"),
            and need no `if __name__ == "__main__":` in the script. What the user feeds or an external source gives is
            asked for in this process; Python functions run in workers. `jdali.plugin.ray.Workers` has the workers of a
            Ray cluster make them. See docs/scaling.md.
        min_workers, max_workers: the number of workers follows the time that the loop waits for batches, between these
            bounds; it begins with `workers`, or else `min_workers` (1 if not given). None: it changes by
            `resize_workers` alone.
        compilation_cache: keep compiled programs in the user's cache folder for the next start; False:
            leave JAX's configuration alone.
        kwargs: arguments of DALI that have no effect here: see `WITHOUT_EFFECT`.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        num_threads: int | None = None,
        device_id: int | None = None,
        seed: int | None = None,
        exec_pipelined: bool = True,
        prefetch_queue_depth: int | Mapping[str, int] = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: str | bytes | None = None,
        py_num_workers: int | None = 1,
        py_start_method: str | None = None,
        py_callback_pickler: Any = None,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: StreamPolicy | None = None,
        concurrency: OperatorConcurrency | None = None,
        debug: bool = False,
        on_error: str = "raise",
        py_timeout: float | None = None,
        max_compiles: int | None = None,
        max_prefetch_bytes: int | None = None,
        max_idle_bytes: int = MOST_IDLE,
        scaled_decoding: bool = False,
        exact_shapes: bool = False,
        workers: int | WorkerSet | None = None,
        min_workers: int | None = None,
        max_workers: int | None = None,
        compilation_cache: bool = True,
    ):
        given = {name: value for name, value in locals().items() if name != "self"}
        self._config = PipelineConfig.of(**given)
        self._definition = Definition(self, debug=debug)
        self._building = Building(self._config, self._definition, _own_setup(self))
        self._serialization = Serialization(self._config, self._definition, self._building)
        self._feeding = Feeding(self._config, self._definition, self._building)

    def __repr__(self) -> str:
        return (
            f"<jdali.Pipeline of {len(self.graph.nodes)} operators, batch_size={self._config.batch_size}, "
            f"num_threads={self.num_threads}, seed={self.seed}, {'not ' * (self._building.built is None)}built>"
        )

    # --- defining ---------------------------------------------------------------------------
    @staticmethod
    def current() -> Any:
        """The pipeline that is being defined, None outside of a definition."""
        return current_owner()

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Starts adding operators to `pipeline`; as `with pipeline:`."""
        pipeline.__enter__()

    @staticmethod
    def pop_current() -> None:
        """Ends the last `push_current`."""
        pipeline = current_owner()
        if pipeline is None:
            raise RuntimeError("Pipeline.pop_current: no pipeline is being defined")
        pipeline.__exit__(None, None, None)

    def __enter__(self: Self) -> Self:
        self._definition.enter()
        return self

    def __exit__(self, *exception: object) -> None:
        self._definition.leave(*exception)

    def define_graph(self) -> Any:
        """For subclasses: defines the graph and returns the outputs (an older way of DALI's)."""
        return self._definition.function() if self._definition.function is not None else ()

    def set_outputs(self, *output_data_nodes: object) -> None:
        """Sets what `run` returns: DataNodes, also those made outside of any pipeline, or constants.

        Constants are numbers, lists of them, and arrays; each sample is all of one. Where an output is neither,
        `build` raises TypeError, as in DALI.
        """
        self._definition.set_outputs(*output_data_nodes)

    def add_sink(self, edge: DataNode) -> None:
        """Runs what `edge` depends on though it is no output."""
        self._definition.add_sink(edge)

    # --- building ---------------------------------------------------------------------------
    @folding
    def build(self) -> None:
        """Plans the graph and opens the readers. `run` does it if it was not done; harmless twice."""
        self._building.run()

    def start_py_workers(self) -> None:
        """Starts the processes of parallel external sources; `build` does it if it was not done.

        With `py_start_method="fork"` they must be started before JAX makes its first array. In debug mode there are
        none: all runs in this process.
        """
        self._building.start_py_workers()

    @property
    def _py_pool(self) -> CallbackWorkers | None:
        """The worker processes, under DALI's private name: programs ask for it."""
        return self._building.workers

    @property
    def _num_threads(self) -> int:
        """The number of threads, under DALI's private name: programs ask for it."""
        return self.num_threads

    def resize_workers(self, count: int) -> None:
        """Has another number of workers make the batches from now on, at any time; the batches stay what they were.

        Workers that are too many end after the tasks that they have.

        Args:
            count: at least 1.

        Raises:
            ValueError: `count` is no such number.
            RuntimeError: the pipeline was made without workers, or is closed.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"Pipeline.resize_workers: count must be at least 1, not {count!r}")
        run = self._building.run()
        if run.engine.elsewhere is None:
            raise RuntimeError(
                "Pipeline.resize_workers: this process makes the batches: make the pipeline with workers=1 or more"
            )
        run.window.resize_workers(count)

    def close(self) -> None:
        """Stops all threads and closes the readers. Also done when the pipeline is dropped."""
        self._building.close()

    # --- as bytes ---------------------------------------------------------------------------
    def serialize(self, define_graph: object = None, filename: str | None = None) -> bytes:
        """The definition: operators, arguments, options; not where the pipeline is, see `checkpoint`.

        What feeds an external source is left out: a pipeline made of the bytes wants `feed_input`.

        Args:
            define_graph: a function that returns the outputs, as the method of this name does; for a pipeline
                that has none yet.
            filename: also written there.

        Raises:
            RuntimeError: an argument, a function for instance, cannot be written.
            TypeError: `define_graph` is no function.
        """
        return self._serialization.serialize(define_graph, filename)

    def deserialize_and_build(self, serialized_pipeline: str | bytes) -> None:
        """Gives this pipeline, which has no operators yet, those of what `serialize` gave."""
        self._serialization.deserialize_and_build(serialized_pipeline)

    @classmethod
    def deserialize(
        cls: type[Self], serialized_pipeline: str | bytes | None = None, filename: str | None = None,
        **kwargs: object,
    ) -> Self:  # fmt: skip
        """A built pipeline of what `serialize` gave.

        Args:
            serialized_pipeline, filename: the bytes, or the file that they are in.
            kwargs: arguments of `Pipeline`, in place of those that were written.
        """
        content = given_content(serialized_pipeline, filename)
        pipeline = cls(**{**given_options(content["options"]), **kwargs})
        pipeline._serialization.define(content)
        return pipeline

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle` and `copy`: a built pipeline of the same definition and options, at the same position.

        Raises:
            TypeError: an argument, a function or a source for instance, cannot be written.
        """
        return _remade, (type(self), *self._serialization.pickled())


def _own_setup(pipeline: Pipeline) -> Callable[[], Callable[[], Any] | None] | None:
    """Gives `iter_setup` as long as the pipeline lives; None: it is not that of a subclass."""
    if type(pipeline).iter_setup is Pipeline.iter_setup:
        return None
    kept = weakref.ref(pipeline)  # what runs a pipeline must not keep it
    return lambda: None if (living := kept()) is None else living.iter_setup


def _remade(kind: type[Self], data: bytes, options: Mapping[str, Any], state: Mapping[str, Any]) -> Self:
    pipeline = kind.deserialize(data, **options)
    pipeline.set_state(state)
    return pipeline
