"""Defines `Pipeline`, DALI's graph mode."""

from __future__ import annotations

import contextlib
import copy
import os
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jdali._batches import MOST_IDLE, BatchSplit, SlabPool
from jdali._display.markup import escape, fitting, styled
from jdali._errors import SkippedSample
from jdali._pipeline.building import (
    Internals,
    make_debug_engine,
    make_engine,
    make_window,
    start_callback_workers,
)
from jdali._pipeline.checkpoint import at_end, check_state, position_of, restored, written_state
from jdali._pipeline.config import OperatorConcurrency, PipelineConfig, StreamPolicy
from jdali._pipeline.definition import Definition, current_owner
from jdali._pipeline.epoch import epoch
from jdali._pipeline.feeding import feed
from jdali._pipeline.plan_picture import PlanText, plan_svg
from jdali._pipeline.serialize import (
    define,
    given_content,
    given_options,
    parsed,
    pickled,
    serialized,
    use_function,
)
from jdali._sources import SourceFeed
from jdali._state import End, StateError, to_checkpoint
from jdali._system.devices import accelerator, host_device
from jdali._system.extras import install
from jdali._system.lazy import entry
from jdali._system.tracebacks import folding
from jdali._threads import Times, until_exit
from jdali._workers import WorkerSet
from jdali._workers.callbacks import CallbackWorkers
from jdali.engine import Follower, Result, Window, eager, report
from jdali.engine import function as _function
from jdali.engine.function import PipelineFunction, Start, make_function
from jdali.graph import DataNode, Graph, make_plan
from jdali.tensors import TensorList
from jdali.types import PipelineAPIType

Self = TypeVar("Self", bound="Pipeline")

# A pipeline with an external source raises an error after this many bad samples in a row.
MOST_LOST = 1024


class Pipeline:
    """A graph of operators that returns one batch for each run.

    Args:
        batch_size: samples in a batch (also available as `max_batch_size`).
        num_threads: threads that read and decode, in each process; None: the processors that this process may use,
            divided equally among the workers.
        device_id: kept for compatibility with DALI; "gpu" is JAX's default device.
        seed: seed of all random operators; -1 or None draws a random seed, see `Pipeline.seed`.
        exec_pipelined, exec_async: if either is False, a batch is made only when it is asked for.
        prefetch_queue_depth: number of batches made ahead; of a dict with "cpu_size" and "gpu_size", as in DALI, the largest
            value is used.
        enable_checkpointing: allows the method `checkpoint` and the argument `checkpoint`.
        checkpoint: bytes that `checkpoint()` of the same pipeline or `checkpoints()` of an iterator returned. The pipeline,
            and an iterator over it, continue at this position.
        py_num_workers: processes that run external sources and Python functions with `parallel=True`. Each source that
            must be read in order adds a separate process.
        py_start_method: how these processes are started: "fork", "spawn" or "forkserver"; None: "fork" if JAX has not started
            yet (see `start_py_workers`), else "spawn", which needs `if __name__ == "__main__":` in the script.
        py_callback_pickler: pickles the callbacks for "spawn": a module or an object with `dumps` and `loads`, or a
            tuple (module or object, keyword arguments of `dumps`, keyword arguments of `loads`). None:
            `jdali.pickling`, which also takes lambdas and local functions. Objects that `jdali.pickling` cannot pickle
            go to cloudpickle, if it is installed.
        py_timeout: seconds that one call of a callback in a worker process may take; a longer call raises and ends the
            workers. None for no limit. On Linux a worker that is stopped (SIGSTOP) for a minute raises, too.
        output_dtype, output_ndim, output_layout: expected values: a sequence with a value for each output, or one value for
            all outputs. A batch that differs raises an error.
        debug: runs the function in each iteration, and runs each operator when it is called: see docs/debug.md. Only
            for pipelines made with `pipeline_def`, or of a subclass with `define_graph`. `prefetch_queue_depth`,
            `on_error` and `scaled_decoding` then have no effect, and a bad sample raises an error.
        on_error: what to do if an operator fails on a sample: "raise"; "skip": replace it by another sample of the data
            set, chosen by the epoch and the index of the bad sample; "mask": as "skip", and iterators return a mask
            that is False for replacements. A sample that replaces others also comes at its own position. So every good
            sample comes at least once an epoch, and its mask is True exactly once. `Pipeline.errors` lists the bad
            samples. With an external source, a good sample of the same batch is the replacement. A batch without a good
            sample is left out; 1024 bad samples in a row raise an error.
        max_compiles: maximum number of programs that the pipeline may compile; one more raises `CompileLimitError`.
        max_prefetch_bytes: maximum bytes of all batches that wait or are being made. Each new batch is assumed to need as
            many bytes as the largest so far, so no second batch starts before the first is made. None: a quarter of the
            memory of the machine or container; several batches may then start before the first is made.
        max_idle_bytes: maximum bytes of unused host memory that are kept for later batches; `plan` shows the bytes
            kept. Used plus kept memory is at most the peak of used memory plus 16 MiB. With 0, memory is freed as soon
            as nothing refers to it.
        scaled_decoding: decodes JPEG at 1/2, 1/4 or 1/8 if the resize that follows shrinks the picture by at least as
            much. This is faster, but the picture differs a little from the exact picture.
        exact_shapes: runs each sample in a separate call, so that its bits do not depend on other samples. A few operators
            need this (docs/resuming.md names them). Each sample then costs a call (0.3 ms on a CPU), and each stage runs on
            one device only.
        workers: processes that make batches, each with `num_threads` threads; if 0, this process makes them, with the same
            bits. None: the environment variable JDALI_WORKERS, or 0. The workers get the pipeline by value (needs the
            extra "workers"), so the script needs no `if __name__ == "__main__":`. External sources and fed data stay in
            this process; Python functions run in workers. With `jdali.plugin.ray.Workers`, a Ray cluster makes the
            batches. See docs/scaling.md.
        min_workers, max_workers: bounds of the number of workers, which is adapted to the time that the training loop
            waits for batches. The number starts at `workers`, if given, otherwise at `min_workers` (default 1). Without
            `max_workers`, only `resize_workers` changes it.
        compilation_cache: if True, keeps compiled programs in the user's cache folder for the next start; if False, JAX's
            configuration is not changed.
        kwargs: arguments of DALI that have no effect here, see `WITHOUT_EFFECT`.
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
        self._definition = Definition(self, self._config)
        self._build_lock = threading.RLock()
        self._callback_workers: CallbackWorkers | None = None
        self._window: Window | None = None  # None until the pipeline is built
        self._first_source_position: dict[str, Any] = {}  # position of the sources before the first batch
        self._restored_iterator: dict[str, Any] | None = None
        self._is_restored = False
        # Guarded by the window's lock `turn` while batches are taken.
        self._source_position: dict[str, Any] = {}  # position of the sources after the last batch taken
        self._scheduled = 0  # batches that were scheduled and not taken
        self._skipped: list[SkippedSample] = []
        self._lost_in_a_row = 0  # failed samples since the last batch with good samples
        self._api_type: PipelineAPIType | None = None  # the API that the caller uses

    def __repr__(self) -> str:
        return (
            f"<jdali.Pipeline of {len(self.graph.nodes)} operators, batch_size={self._config.batch_size}, "
            f"num_threads={self.num_threads}, seed={self.seed}, {'not ' * (self._window is None)}built>"
        )

    # --- defining ---------------------------------------------------------------------------
    @staticmethod
    def current() -> Any:
        """Returns the pipeline that is being defined; None outside a definition."""
        return current_owner()

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Starts adding operators to `pipeline`, as `with pipeline:` does."""
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
        """Defines the graph and returns the outputs. Subclasses may override it, as in older DALI code."""
        return self._definition.function() if self._definition.function is not None else ()

    def set_outputs(self, *output_data_nodes: object) -> None:
        """Sets what `run` returns: DataNodes (which may be made outside of any pipeline) or constants.

        A constant is a number, a list of numbers or an array; it is the output for every sample. For any other object,
        `build` raises TypeError, as in DALI.
        """
        self._definition.set_outputs(*output_data_nodes)

    def add_sink(self, edge: DataNode) -> None:
        """Makes the pipeline compute `edge`, although it is not an output."""
        self._definition.add_sink(edge)

    # --- building ---------------------------------------------------------------------------
    @folding
    def build(self) -> None:
        """Plans the graph and opens the readers. `run` does so if needed; a second call does nothing."""
        self._ensure_built()

    def _ensure_built(self) -> Window:
        """Returns the window; builds the pipeline first if needed."""
        if self._window is None:
            with self._build_lock:  # several threads may ask for the first batch
                if self._window is None:
                    return self._build_window()
        return self._window

    def _build_window(self) -> Window:
        config = self._config
        if config.num_threads < 1:
            raise ValueError(
                "Pipeline created with `num_threads` < 1 can only be used for serialization. It is "
                f"{config.num_threads}"
            )
        if config.debug:
            engine = make_debug_engine(config, self._definition)
        else:
            self._start_callback_workers()
            engine = make_engine(config, self._definition, self._callback_workers)
        kept = weakref.ref(self)  # the window must not keep the pipeline alive
        # Look up `iter_setup` for each draw, as `_set_up` does, because it may be a static method, or set on the instance.
        setup = (lambda: getattr(kept(), "iter_setup", None)) if self._feeds_itself else None
        window = make_window(config, engine, setup)
        self._definition.is_final = True
        self._first_source_position = self._source_position = engine.get_state()
        self._window = window
        weakref.finalize(self, window.abandon).atexit = False
        if config.checkpoint is not None:
            try:
                state, self._restored_iterator = restored(config)
                self._restore(window, state)
            except StateError as error:
                raise RuntimeError(f"Pipeline: the checkpoint cannot be restored: {error}") from error
            self._is_restored = True
        return window

    @property
    def _feeds_itself(self) -> bool:
        return type(self).iter_setup is not Pipeline.iter_setup

    def start_py_workers(self) -> None:
        """Starts the processes of parallel external sources; `build` does so if needed.

        With `py_start_method="fork"` they must start before JAX makes its first array. Debug mode starts no processes:
        everything runs in this process.
        """
        if not self.debug:
            self._start_callback_workers()

    def _start_callback_workers(self) -> None:
        with self._build_lock:
            if self._callback_workers is None:
                self._callback_workers = start_callback_workers(self._config, self._definition)
                if self._callback_workers is not None:
                    # As in DALI, the processes are gone when the pipeline is; ending them takes some 20 ms.
                    weakref.finalize(self, self._callback_workers.close, 0.5).atexit = False

    @property
    def _py_pool(self) -> CallbackWorkers | None:
        """The worker processes, under DALI's private name, which programs use."""
        return self._callback_workers

    @property
    def _num_threads(self) -> int:
        """The number of threads, under DALI's private name, which programs use."""
        return self.num_threads

    def resize_workers(self, count: int) -> None:
        """Changes the number of workers, at any time; the batches stay the same.

        Surplus workers end after their present tasks.

        Args:
            count: number of workers, at least 1.

        Raises:
            ValueError: `count` is not such a number.
            RuntimeError: the pipeline was made without workers, or is closed.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"Pipeline.resize_workers: count must be at least 1, not {count!r}")
        window = self._ensure_built()
        if window.engine.elsewhere is None:
            raise RuntimeError(
                "Pipeline.resize_workers: this process makes the batches: make the pipeline with workers=1 or more"
            )
        window.resize_workers(count)

    def close(self) -> None:
        """Stops all threads and closes the readers. Dropping the last reference to the pipeline does the same."""
        if self._window is not None:
            self._window.close()
        elif self._callback_workers is not None:
            self._callback_workers.close()

    # --- running ------------------------------------------------------------------------------
    @folding
    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> tuple[TensorList, ...]:
        """Returns one batch: a `TensorList` for each output.

        Args:
            cuda_stream: without effect.
            pipeline_inputs: data for the external sources that have no `source`, by name.

        Raises:
            OperatorError: an operator failed. With `on_error` "skip" or "mask", all samples of the data set, or of the
                batch that was fed, failed; the error is that of the operator that failed most.
            StopIteration: an external source is at its end; `reset` starts the next epoch.
        """
        if pipeline_inputs:
            self.feed_inputs(pipeline_inputs)
        with until_exit():
            return self._with_samples(self.run_result()).outputs

    def _with_samples(self, result: Result) -> Result:
        """Returns the result if it has samples, otherwise the next result with samples; a fed pipeline raises instead."""
        while result.nothing is not None:
            if self._ensure_built().engine.cursor.is_fed:
                raise result.nothing
            result = self._take_batch()
        return result

    def run_result(self) -> Result:
        """Runs once. Returns the batch with the identities of its samples, its masks, and the state after it.

        For a batch without a good sample, which `run` skips, the result has no outputs.
        """
        self._prepare_unscheduled()
        return self._take_batch()

    def _take_batch(self) -> Result:
        """Returns the next batch. Threads that ask at the same time get different batches."""
        while True:
            self._ensure_built().wait()
            if (result := self._take_ready_batch()) is not None:
                return result

    def _take_ready_batch(self) -> Result | None:
        """Returns the next batch; None if it is not ready, another thread took it, or a state was set."""
        window = self._ensure_built()
        with window.turn:
            try:
                result = window.take()
            except StopIteration:
                self._source_position = at_end(window.engine, self._source_position, End.REACHED)
                raise
            if result is not None:
                if result.nothing is None:
                    self._config.expected.check(result.outputs)
                self._source_position = result.state
                self._skipped += result.skipped
                self._lost_in_a_row = (
                    0 if result.nothing is None else self._lost_in_a_row + len(result.skipped)
                )
                if result.nothing is not None and self._lost_in_a_row >= MOST_LOST:
                    self._lost_in_a_row = 0
                    raise result.nothing
            return result

    def wait_result(self) -> None:
        """Blocks until `take_result` may return a batch. So iterators can wait first, and then take the batch under a lock.

        Returns immediately if batches are made in the thread that takes them.
        """
        self._ensure_built().wait()

    def take_result(self) -> Result | None:
        """Returns the next batch as `run_result` does, but None if it is not ready."""
        self._prepare_unscheduled()
        return self._take_ready_batch()

    def follow(self, follower: Follower) -> None:
        """Registers an iterator's follower, which assigns each batch to an epoch and makes the iterator's outputs.

        This has no effect unless batches are made ahead, see `Window.follow`. What `run` returns does not change.
        """
        self._ensure_built().follow(follower)

    def _prepare_unscheduled(self) -> None:
        """Prepares to take a batch that was not scheduled."""
        if not self.empty():
            raise RuntimeError(
                "Pipeline.run: Mixing pipeline API type. There are scheduled batches; take them with share_outputs first"
            )
        self._set_up()

    def _set_up(self) -> None:
        """Calls `iter_setup`, unless the window calls it when it makes batches ahead."""
        window = self._ensure_built()
        window.refuse_own_thread()
        if not window.calls_user:
            with window.engine.pool.serving:
                self.iter_setup()

    def begin(self) -> None:
        """Starts making the next batches in the background, as `run` does; iterators call it.

        The functions of external sources are called for these batches. Does nothing if data is fed, or with
        `exec_async=False` or `exec_pipelined=False`.
        """
        self._ensure_built().begin()

    @folding
    def schedule_run(self) -> None:
        """Starts a batch without waiting for it; take it with `share_outputs` or `outputs`.

        The batch is made in the background. With `exec_async=False` or `exec_pipelined=False`, it is made before this
        returns.
        """
        if self._api_type is PipelineAPIType.ITERATOR:
            self.begin()
            return
        window = self._ensure_built()
        self._set_up()
        with window.turn:
            self._scheduled += window.schedule(self._scheduled)

    @folding
    def share_outputs(self, cuda_stream: object = None) -> tuple[TensorList, ...]:
        """Returns the oldest scheduled batch. The batch stays valid; `release_outputs` is not needed."""
        if self._api_type is PipelineAPIType.ITERATOR:
            return self.run()
        with until_exit():
            with self._ensure_built().turn:
                if not self._scheduled:
                    raise StopIteration(
                        "Pipeline.share_outputs: nothing was scheduled; call schedule_run first"
                    )
                self._scheduled -= 1
            return self._with_samples(self._take_batch()).outputs

    def release_outputs(self) -> None:
        """Does nothing, because the memory of a batch is reused once nothing refers to the batch."""

    def enable_api_check(self, enable: bool) -> None:
        """Does nothing: `run` may always follow `schedule_run` once all scheduled batches are taken.

        Args:
            enable: in DALI, True if mixing `run` and `schedule_run` is an error.
        """

    @folding
    def outputs(self, cuda_stream: object = None) -> tuple[TensorList, ...]:
        """Calls `release_outputs`, then `share_outputs`; schedules a batch first if none is scheduled."""
        if self.empty():
            self.schedule_run()
        return self.share_outputs()

    def empty(self) -> bool:
        """Returns True if no batch is scheduled."""
        return self._scheduled == 0

    def __iter__(self) -> Iterator[tuple[TensorList, ...]]:
        """Yields the batches up to the end of the epoch, which the reader or an external source decides.

        As with `run`, the last batch may have samples of the next epoch. A loop continues where an earlier loop was left;
        after the end of a source, call `reset` first.

        Raises:
            TypeError: the pipeline's epochs have no end.
        """
        return epoch(self._ensure_built().engine, self.run, self.get_state, feeds_itself=self._feeds_itself)

    def iter_setup(self) -> None:
        """Feeds external sources with `feed_input`. Subclasses may define it; it is called before each iteration.

        As in DALI, `run` calls it ahead: `prefetch_queue_depth` times before the first batch is returned, or once with
        `exec_async=False`. `iter_setup` must raise StopIteration after the last batch; `reset` starts the next epoch.
        """

    def reset(self) -> None:
        """Starts the next epoch after the end of an external source. Indices for callbacks start at 0 again; readers continue.

        Iterables with a `cycle` restart; iterables without one stay at their end.
        """
        window = self._ensure_built()
        with window.turn:
            if window.reset():
                self._source_position = at_end(window.engine, self._source_position, End.LEFT)

    def split_outputs(self, splits: Sequence[BatchSplit | None]) -> None:
        """Sets the devices of the outputs, for the `sharding` of `iterator.DataIterator`.

        Where possible, the stages that make these outputs run on all the devices, each device on its part of the samples;
        `plan` shows these stages. The values stay the same. This method has no effect after the first run.

        Args:
            splits: for each output, how its batch axis is split; None for an output on one device.
        """
        window = self._ensure_built()
        if not window.started and not self.exact_shapes and not self.debug:
            window.engine.spread(splits)

    @property
    def runs_ahead(self) -> bool:
        """True if whole batches are made before they are asked for.

        False if the pipeline is fed, because it must wait for the data. Also False if the pipeline calls user
        functions, because the thread that takes a batch must call them for a later batch.
        """
        window = self._ensure_built()
        return window.ahead and not window.calls_user

    def refuse_if_closed(self) -> None:
        """Raises RuntimeError if the pipeline is closed, or this is a forked process; takes no lock."""
        if self._window is not None:
            self._window.refuse_if_closed()

    # --- the user's data ----------------------------------------------------------------------
    @folding
    def feed_input(
        self, data_node: DataNode | str, data: object, layout: str | None = None, cuda_stream: object = None,
        use_copy_kernel: bool = False,
    ) -> None:  # fmt: skip
        """Feeds the data of the next batch to an external source without a `source`.

        Args:
            data_node: the output of `fn.external_source`, or its name. If the source has several outputs, pass
                the name to feed all outputs in one call, or make a call for each output that is used, with its node.
            data: samples as a list, a TensorList, or an array [N, ...] (NumPy, JAX or DLPack); a tuple of
                these if the source has several outputs and is fed by name. The data is copied before this returns, unless
                the external source has `no_copy=True`.
            layout: layout of the samples, if `fn.external_source` has none; None takes the layout of a TensorList.

        Raises:
            KeyError: the pipeline has no such external source.
            OperatorError: the data do not fit the source.
        """
        feed(self._ensure_built().engine, self._definition, [(data_node, data)], layout)

    def feed_inputs(self, inputs: Mapping[str, object], *, copy: bool = True) -> None:
        """Feeds several external sources, as `feed_input` does. If an error is raised, no source is fed.

        Args:
            inputs: the data of the next batch, by the names of the external sources.
            copy: copies the data; if False, the caller must not write to it.
        """
        feed(self._ensure_built().engine, self._definition, list(inputs.items()), copy=copy)

    def input_feed_count(self, input_name: str) -> int:
        """Returns the number of batches to feed before the first run, which is 1 because fed pipelines run on demand.

        Raises:
            KeyError: the pipeline has no such input.
        """
        if input_name not in self.fed_inputs:
            raise KeyError(f'Pipeline: The pipeline doesn\'t have an input named "{input_name}".')
        return 1

    @property
    def fed_inputs(self) -> list[str]:
        """Names of the external sources that `feed_input` feeds."""
        self._definition.complete()
        nodes = self._definition.graph.nodes
        return [n.name for n in nodes if isinstance(n.runtime, SourceFeed) and n.runtime.is_fed]

    # --- private names that programs for DALI use ---------------------------------------------
    def _prefetch(self) -> None:
        """Schedules as many batches as fit in the queue, or fewer if a source ends."""
        with contextlib.suppress(StopIteration):
            for _ in range(self._config.depth):
                self.schedule_run()

    @contextlib.contextmanager
    def _check_api_type_scope(self, type: PipelineAPIType) -> Iterator[None]:
        """Sets the API that the caller uses in this scope."""
        before, self._api_type = self._api_type, type
        try:
            yield
        finally:
            self._api_type = before

    def _run(self) -> None:
        _warn_of_name("_run", "schedule_run")
        self.schedule_run()

    def _share_outputs(self) -> tuple[TensorList, ...]:
        """Returns the result of `share_outputs`; in newer versions of DALI, this deprecated name returns None."""
        _warn_of_name("_share_outputs", "share_outputs")
        return self.share_outputs()

    def _release_outputs(self) -> None:
        _warn_of_name("_release_outputs", "release_outputs")
        self.release_outputs()

    def _outputs(self, cuda_stream: object = None) -> tuple[TensorList, ...]:
        return self.share_outputs()

    # --- state --------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """Returns the position of the sources after the last batch taken, as a few hundred bytes of data that JSON can represent.

        The entry "graph" is a fingerprint of the operators and arguments; without this entry, `set_state` does not
        compare them. For an external source, the state has the result of the source's `get_state`, if the source has
        `get_state` and `set_state`, otherwise the number of items taken. A callback that takes the number of the batch
        or a `SampleInfo` needs no state.
        """
        return copy.deepcopy(self.shared_state())

    def shared_state(self) -> dict[str, Any]:
        """Returns the result of `get_state` without copying it, so it must not be changed; iterators call it after each batch."""
        self._ensure_built()
        return written_state(self._definition, self._source_position)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continues after the batch at which `get_state` was called, in this or an equal pipeline.

        Batch size and number of shards may differ. A pipeline without a seed of its own takes the seed of the state.
        Iterables without `get_state` and `set_state` are read again up to that position.

        Raises:
            StateError: the state belongs to another pipeline, or a source cannot return to it.
        """
        self._restore(self._ensure_built(), state)

    def _restore(self, window: Window, state: Mapping[str, Any]) -> None:
        check_state(self._definition, state, known=window.engine.knows_sources)
        with self._moving(window):
            position = copy.deepcopy(position_of(state))
            window.set_state(position)
            self._source_position = position

    def leave_epoch(self, state: Mapping[str, Any], batches: int | None) -> None:
        """Ends an epoch early, after the batch at which `get_state` was called. Batches made since then are dropped.

        Iterators, which count epochs, call it for `take` and `reset(force=True)`.

        Args:
            state: state of this pipeline.
            batches: number of batches that are left in the epoch after the state; readers and sources skip them. If None, the
                number is unknown: then sources with a `cycle` restart, and readers continue.

        Raises:
            StateError: a source cannot return to the state.
        """
        window = self._ensure_built()
        with self._moving(window):
            window.leave_epoch(position_of(state), batches)
            self._source_position = window.engine.get_state()

    @contextlib.contextmanager
    def _moving(self, window: Window) -> Iterator[None]:
        """Locks the window while the sources go to another position, then forgets the scheduled batches."""
        with window.turn:
            try:
                yield
            except ValueError as error:
                raise StateError(f"pipeline: {error}") from error
            self._scheduled = 0

    def checkpoint(self, filename: str | None = None) -> bytes:
        """Writes the state as bytes, for the argument `checkpoint` of the same pipeline.

        Args:
            filename: file to which the bytes are also written.

        Raises:
            RuntimeError: the pipeline was made without `enable_checkpointing=True`.
        """
        self._ensure_built()
        if not self._config.enable_checkpointing:
            raise RuntimeError(
                "Pipeline.checkpoint: Cannot save the checkpoint. The `enable_checkpointing` was not specified when "
                "creating the pipeline (`get_state` does not need it)"
            )
        data = to_checkpoint(self.get_state())
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """True once the pipeline is built and has restored the `checkpoint` passed at construction."""
        return self._is_restored

    @property
    def iterator_state(self) -> dict[str, Any] | None:
        """State of the iterator in the checkpoint that was restored, if an iterator made the checkpoint."""
        return self._restored_iterator

    # --- as bytes ---------------------------------------------------------------------------
    def serialize(self, define_graph: object = None, filename: str | None = None) -> bytes:
        """Writes the definition: operators, arguments and options, without the position (see `checkpoint`).

        Functions and iterables of external sources are left out, so a deserialized pipeline needs `feed_input`.

        Args:
            define_graph: a function that returns the outputs, as the method `define_graph` does; needed if the pipeline
                has no outputs.
            filename: file to which the bytes are also written.

        Raises:
            RuntimeError: an argument cannot be written, a function for instance.
            TypeError: `define_graph` is not a function.
        """
        if define_graph is not None:
            use_function(self._definition, define_graph)
        self._ensure_built()
        data = serialized(self._definition)
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    def deserialize_and_build(self, serialized_pipeline: str | bytes) -> None:
        """Builds this pipeline from the bytes of `serialize`. The pipeline must have no operators before the call."""
        if self._definition.graph.nodes:
            raise RuntimeError("Pipeline.deserialize_and_build: the pipeline has operators already")
        define(self._definition, parsed(serialized_pipeline))
        self._ensure_built()

    @classmethod
    def deserialize(
        cls: type[Self], serialized_pipeline: str | bytes | None = None, filename: str | None = None,
        **kwargs: object,
    ) -> Self:  # fmt: skip
        """Builds a pipeline from the bytes of `serialize`.

        Args:
            serialized_pipeline, filename: the bytes, or the file that they are in.
            kwargs: arguments of `Pipeline`, which override the written arguments.
        """
        content = given_content(serialized_pipeline, filename)
        pipeline = cls(**{**given_options(content["options"]), **kwargs})
        define(pipeline._definition, content)
        pipeline._ensure_built()
        return pipeline

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets `pickle` and `copy` make an equal pipeline, which is built and at the same position.

        Raises:
            TypeError: an argument cannot be written, a function or a source for instance.
        """
        self._ensure_built()
        return _remade, (type(self), *pickled(self._definition), self.get_state())

    # --- facts --------------------------------------------------------------------------------
    @property
    def graph(self) -> Graph:
        """The operators; in debug mode the operators of the last iteration."""
        return self._definition.graph

    def inspector(self) -> eager.PipelineInspector:
        """Returns an inspector of batches and samples, for the viewer. The pipeline's position does not change.

        Raises:
            RuntimeError: an external source cannot be replayed, or the pipeline is in debug mode.
        """
        if self._config.debug:
            raise RuntimeError(
                "Pipeline.view: not in debug mode, where operators are known only while they run"
            )
        return eager.PipelineInspector(
            self._ensure_built(), self._first_source_position, self.outputs_of_graph, self.output_names
        )

    @property
    def num_outputs(self) -> int:
        """Number of outputs of a batch."""
        return len(self.outputs_of_graph)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs: keys of the dict that the function returned, or fields of its return annotation."""
        return self._definition.output_names

    def output_dtype(self) -> list[Any]:
        """Returns the dtypes given at construction, one for each output."""
        return self._config.expected.of("output_dtype", self.num_outputs)

    def output_ndim(self) -> list[Any]:
        """Returns the numbers of axes given at construction, one for each output."""
        return self._config.expected.of("output_ndim", self.num_outputs)

    @property
    def errors(self) -> list[SkippedSample]:
        """Samples that were skipped or masked in the batches taken so far."""
        return self._skipped

    @property
    def outputs_of_graph(self) -> tuple[DataNode, ...]:
        """The nodes of the outputs."""
        self._ensure_built()
        return tuple(self._definition.outputs or ())

    @property
    def slabs(self) -> SlabPool:
        """The pool of host memory for batches; iterators use it for their batches, too."""
        return self._ensure_built().engine.pool.slabs

    def internals(self) -> Internals:
        """Returns the objects that run the pipeline, for debugging and tests; builds it if needed."""
        window = self._ensure_built()
        return Internals(self._config, window.engine, window, self._callback_workers)

    def output_stream(self) -> None:
        """Returns None: XLA has no stream to show."""

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """Returns the sizes of the shared memory in which worker processes return batches.

        Returns: "capacities", the size of each piece in bytes, and "per_sample_capacities", this size divided by the largest
            number of samples that were in the piece. Both are empty without workers, and before the first batch.
        """
        workers = self._callback_workers
        sizes = [] if workers is None else [size for size in workers.slab_sizes() if size[1]]
        return {
            "capacities": [size for size, _ in sizes],
            "per_sample_capacities": [size // samples for size, samples in sizes],
        }

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """Returns DALI's facts about a reader: epoch_size, epoch_size_padded, number_of_shards, shard_id, ...

        Args:
            name: name of the reader; None returns a dict of all readers by name.
        """
        metas = {node.name: reader.meta() for node, reader in self._ensure_built().engine.readers.items()}
        if name is None:
            return metas
        if name not in metas:
            raise RuntimeError(
                f"reader_meta: no reader named {name!r}; there are {sorted(metas)}. Operator {name} not found or does not "
                "expose valid metadata."
            )
        return dict(metas[name])

    def epoch_size(self, name: str | None = None) -> int | dict[str, int]:
        """Returns a reader's `epoch_size_padded`; without a name, a dict of all readers by name.

        With `pad_last_batch`, this is the number of samples of the data set, `epoch_size` of `reader_meta`, rounded up so that
        all shards are equal.
        """
        meta = self.reader_meta(name)
        if name is not None:
            return meta["epoch_size_padded"]
        return {reader: one["epoch_size_padded"] for reader, one in meta.items()}

    def executor_statistics(self) -> dict[str, Any]:
        """Returns the programs compiled by each stage, with times; see `plan` for a readable form."""
        return {**report.statistics(self._ensure_built().engine), "skipped_samples": len(self._skipped)}

    def times(self) -> Times:
        """Returns the time that each phase has taken so far; see `iterator.report` for an interpretation."""
        window = self._ensure_built()
        return report.times(window.engine, ahead=window.ahead)

    def plan(self) -> PlanText:
        """Describes the plan: stages and their operators, padded shapes, programs and host memory."""
        window = self._ensure_built()
        return PlanText(report.describe(window.engine, window.room), self._repr_html_())

    def _repr_html_(self) -> str:
        """Draws the graph for a notebook, with a box for each step; does not build the pipeline."""
        if self._config.debug:
            return styled(f"<pre>{escape(repr(self))}</pre>")
        here = None
        if self._window is None:
            outputs = self._definition.complete()
            plan = make_plan(self.graph.nodes, outputs, one_device=host_device() == accelerator())
        else:
            engine = self._window.engine
            plan = engine.plan
            here = engine.here if engine.elsewhere is not None else None
        return styled(fitting(f"<p>{escape(repr(self))}</p>", plan_svg(plan, here=here)))

    def view(self, *, port: int = 0, host: str = "127.0.0.1") -> Any:
        """Opens a local page that shows batches, samples, graph, data and times; it changes nothing.

        Args:
            port: port to listen on; 0 takes a free port.
            host: address to listen on. With any address but 127.0.0.1, everybody who reaches the page and knows its URL
                sees the data, over a connection that is not encrypted.

        Returns: the viewer. Open its `url` in a browser; `close()` ends it.

        Raises:
            ImportError: the extra `view` is not installed.
            RuntimeError: an external source cannot be replayed, or the pipeline is in debug mode.
        """
        try:
            view = entry("view")
        except ImportError as error:
            raise ImportError(f"Pipeline.view: {error.name} is missing; {install('view')}") from error
        return view(self, port=port, host=host)

    def warmup(self, progress: bool = True) -> int:
        """Compiles the programs that the next batches need; the training loop still gets these batches.

        It runs the batches of an epoch, but stops early if no new program was compiled for a while. If a stage changed
        to coarser padded shapes meanwhile, the epoch is run again. With `workers`, each worker compiles its programs, so
        each batch goes to every worker that is ready, until such a run compiles nothing; a worker that starts later loads
        them from the compilation cache. External sources must be lists, or callbacks that take an index.

        Args:
            progress: shows a bar (of tqdm, if it is installed) if stderr is a terminal.

        Returns: number of programs compiled, in all workers together.
        """
        window = self._ensure_built()
        if not window.ahead or window.started:
            raise RuntimeError("Pipeline.warmup: call it before the first run, on a pipeline that is not fed")
        return report.warm_up(window.engine, progress=progress)

    def save_graph_to_dot_file(
        self,
        filename: str,
        *,
        show_tensors: bool = False,
        show_ids: bool | None = None,
        use_colors: bool = False,
    ) -> None:
        """Writes the graph in Graphviz's DOT format.

        Args:
            filename: file to write.
            show_tensors: adds the names of the tensors to the edges.
            show_ids: adds the numbers of the nodes to their labels.
            use_colors: draws nodes of the accelerator in green, and nodes of the host in blue.
        """
        plan = self._ensure_built().engine.plan
        text = report.dot(plan, show_tensors=show_tensors, show_ids=bool(show_ids), colors=use_colors)
        try:
            Path(filename).write_text(text, encoding="utf-8")
        except OSError as error:
            raise RuntimeError(f'Cannot open "{filename}" for writing: {error.strerror}') from error

    # --- functions ----------------------------------------------------------------------------
    def function(
        self,
        start: Start = None,
        outputs: Start = None,
        *,
        deterministic: bool | Mapping[str, Any] = False,
        layout: str | Sequence[str] | None = None,
    ) -> PipelineFunction:
        """Returns the compiled operators that follow `start` as a pure function.

        The attribute `host` of the function runs the host operators between the readers and `start`.

        The function takes a batch of any size, and its method `sample` takes one sample. Padded inputs come with their
        true sizes. Results equal the pipeline's bit for bit. The function can be called in `jit`, `vmap`, `grad` and
        `shard_map`. Making the function opens and reads no files.

        Args:
            start: inputs of the function: a node, the name of an operator (`name=` in the definition) for all of its
                outputs, or a sequence of nodes and names. None: the outputs of the last host operators, such as
                decoders, and of readers.
            outputs: results of the function: nodes, or their names; None: the outputs of the pipeline that depend on
                the start, under their names in `output_names`. The attribute `outputs` of the function lists them; labels,
                constants, random values and the start itself are not among them.
            deterministic: if False, random operators draw random values; if True, they raise an error. A dict maps names of
                random operators to values that replace them; other random operators raise an error. If a value is a typed
                key of JAX, such as `jax.random.key(0)`, the operator runs and draws the same values from this key for
                every sample.
            layout: layout of a sample of the start, such as "HWC": one for all values, or a sequence with one for each value.
                None: the layout of the decoder or external source, or "" if it has none.

        Raises:
            ValueError: an operator after the start runs on the host (such as a decoder or a Python function), chooses among
                the samples of a batch, or reads data that does not come from the start; or the pipeline does not have a
                named node. The error names the operator or node.
            RuntimeError: the pipeline is in debug mode, so it has no graph.
        """
        if self.debug:
            raise RuntimeError(
                "Pipeline.function: in debug mode a pipeline has no graph; make it without debug=True"
            )
        values = self._definition.complete()
        annotated = len(self.output_names) == len(values)
        names = self.output_names if annotated else [value.name for value in values]
        return make_function(
            self._definition.graph, values, names, start, outputs, deterministic=deterministic, layout=layout,
            seed=self.seed, threads=self.num_threads, batch_size=self._config.batch_size or 1,
        )  # fmt: skip

    def export(
        self,
        folder: str | os.PathLike[str],
        start: Start = None,
        outputs: Start = None,
        *,
        shapes: Sequence[object] | None = None,
        deterministic: bool | Mapping[str, object] = True,
        layout: str | Sequence[str] | None = None,
        dtypes: object = None,
        platforms: Sequence[str] = ("cpu", "cuda", "tpu"),
        max_aspect: float = 2.0,
    ) -> str:
        """Writes the preprocessing to a folder, which `jdali.load` reads without the code of the pipeline.

        The compiled part is StableHLO for all platforms, for any number of samples. The part before it, and the planning of
        sizes, is JSON. Nothing in the folder is code.

        Args:
            folder: folder to write; it is created.
            start, outputs, layout: as in `function`.
            shapes: padded shapes of one sample of the start, such as [(512, 512), (1024, 1024)] for pictures. A sample
                runs in the smallest shape in which it fits; a sample that fits in none raises an error. If the start has
                several values, each element is a tuple of shapes, one for each value. None: squares of 256 to 2048 pixels,
                if the start is pictures.
            deterministic: as in `function`. If False, random operators draw random numbers, so calls of the loaded function
                need a key or an index.
            dtypes: element types of the start: one for all values, or a sequence with one for each value. None: the type that
                a decoder of pictures or an external source declares; else uint8 for pictures and float32 for all else.
            platforms: any of "cpu", "cuda" and "tpu"; this machine need not have them.
            max_aspect: largest ratio of the longest side of a picture to the shortest.

        Returns: the fingerprint, which `jdali.load` can compare.

        Raises:
            ValueError: an operator cannot be exported, or gives another type than `dtypes`; the error names it.
        """
        function = self.function(start, outputs, deterministic=deterministic, layout=layout)
        return _function.export_function(function, folder, shapes, dtypes, tuple(platforms), max_aspect)

    # --- options, set at construction and never changed ---------------------------------------
    @property
    def batch_size(self) -> int:
        """Samples in a batch.

        Raises:
            ValueError: the batch size was not given.
        """
        return self._config.max_batch_size

    @property
    def max_batch_size(self) -> int:
        """Maximum number of samples in a batch, the same as `batch_size`."""
        return self._config.max_batch_size

    @property
    def num_threads(self) -> int:
        """Number of threads that read and decode."""
        return self._config.num_threads

    @property
    def device_id(self) -> int | None:
        """Kept for compatibility with DALI; "gpu" is JAX's default device."""
        return self._config.device_id

    @property
    def seed(self) -> int:
        """Seed of all random operators; a pipeline without a seed of its own takes the seed of a restored state."""
        return self._config.seed if self._window is None else self._window.engine.seed

    @property
    def exec_pipelined(self) -> bool:
        """False if a batch is made only when it is asked for."""
        return self._config.exec_pipelined

    @property
    def exec_async(self) -> bool:
        """False if a batch is made only when it is asked for."""
        return self._config.exec_async

    @property
    def prefetch_queue_depth(self) -> int | Mapping[str, int]:
        """Number of batches made ahead, as given; if it is a dict, the largest value is used."""
        return self._config.prefetch_queue_depth

    @property
    def exec_separated(self) -> bool:
        """True if the depths of two queues were set."""
        return self._config.exec_separated

    @property
    def cpu_queue_size(self) -> int:
        """Batches that DALI would make ahead on the CPU; jdali uses the larger of the two depths."""
        return self._config.queue_size("cpu_size")

    @property
    def gpu_queue_size(self) -> int:
        """Batches that DALI would make ahead on the GPU; jdali uses the larger of the two depths."""
        return self._config.queue_size("gpu_size")

    @property
    def enable_checkpointing(self) -> bool:
        """True if the method `checkpoint` and the argument `checkpoint` may be used."""
        return self._config.enable_checkpointing

    @property
    def py_num_workers(self) -> int:
        """Processes that run callbacks and Python functions with `parallel=True`."""
        return self._config.py_num_workers

    @property
    def py_start_method(self) -> str | None:
        """Method that starts worker processes; once they run, the method that was used."""
        workers = self._callback_workers
        return self._config.py_start_method if workers is None else workers.start_method

    @property
    def py_timeout(self) -> float | None:
        """Seconds that one call of a callback in a worker process may take; None for no limit."""
        return self._config.py_timeout

    @property
    def on_error(self) -> str:
        """ "raise", "skip" or "mask": what to do if an operator fails on a sample."""
        return self._config.on_error

    @property
    def max_compiles(self) -> int | None:
        """Maximum number of programs that the pipeline may compile; None for any number."""
        return self._config.max_compiles

    @property
    def max_prefetch_bytes(self) -> int | None:
        """Maximum bytes of batches made ahead; None for a quarter of the memory."""
        return self._config.max_prefetch_bytes

    @property
    def max_idle_bytes(self) -> int:
        """Maximum bytes of unused host memory kept for later batches."""
        return self._config.max_idle_bytes

    @property
    def scaled_decoding(self) -> bool:
        """True if JPEG is decoded at 1/2, 1/4 or 1/8 where a resize shrinks it by at least as much."""
        return self._config.scaled_decoding

    @property
    def exact_shapes(self) -> bool:
        """True if each sample runs in a separate call."""
        return self._config.exact_shapes

    @property
    def workers(self) -> int | WorkerSet:
        """Processes that make batches, or workers of a cluster; 0 if this process makes them."""
        return self._config.workers

    @property
    def min_workers(self) -> int:
        """Minimum number of workers, if the number is adapted to the waiting time."""
        return self._config.min_workers

    @property
    def max_workers(self) -> int | None:
        """Maximum number of workers, if the number is adapted to the waiting time; otherwise None."""
        return self._config.max_workers

    @property
    def debug(self) -> bool:
        """True if the function runs in each iteration, and each operator when it is called."""
        return self._config.debug

    # Arguments of DALI that have no effect here.

    @property
    def bytes_per_sample(self) -> int:
        """The value given at construction; it has no effect."""
        return self._config.bytes_per_sample

    @property
    def set_affinity(self) -> bool:
        """The value given at construction; it has no effect."""
        return self._config.set_affinity

    @property
    def max_streams(self) -> int | None:
        """The value given at construction; it has no effect."""
        return self._config.max_streams

    @property
    def default_cuda_stream_priority(self) -> int | None:
        """The value given at construction; it has no effect."""
        return self._config.default_cuda_stream_priority

    @property
    def enable_memory_stats(self) -> bool:
        """The value given at construction; it has no effect."""
        return self._config.enable_memory_stats

    @property
    def exec_dynamic(self) -> bool:
        """The value given at construction; it has no effect.

        The default is True, because jdali frees memory after its last use, as DALI's dynamic executor does.
        """
        return True if self._config.exec_dynamic is None else bool(self._config.exec_dynamic)

    @property
    def experimental_exec_dynamic(self) -> bool | None:
        """The value given at construction; it has no effect."""
        return self._config.experimental_exec_dynamic

    @property
    def stream_policy(self) -> StreamPolicy | None:
        """The value given at construction; it has no effect."""
        return self._config.stream_policy

    @property
    def concurrency(self) -> OperatorConcurrency | None:
        """The value given at construction; it has no effect."""
        return self._config.concurrency


def _remade(kind: type[Self], data: bytes, options: Mapping[str, Any], state: Mapping[str, Any]) -> Self:
    pipeline = kind.deserialize(data, **options)
    pipeline.set_state(state)
    return pipeline


def _warn_of_name(name: str, instead: str) -> None:
    warnings.warn(f"Pipeline.{name} is deprecated, use {instead}", DeprecationWarning, stacklevel=3)
