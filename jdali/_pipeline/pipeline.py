"""`Pipeline`: DALI's graph mode."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from jdali._batches.placement import BatchSplit
from jdali._batches.slabs import MOST_IDLE, SlabPool
from jdali._pipeline.building import Building
from jdali._pipeline.checkpoint import Checkpoints
from jdali._pipeline.config import OperatorConcurrency, Option, PipelineConfig, StreamPolicy
from jdali._pipeline.definition import Definition, current_owner
from jdali._pipeline.epoch import epoch
from jdali._pipeline.facts import Facts
from jdali._pipeline.feeding import Feeding
from jdali._pipeline.part import part_of
from jdali._pipeline.run import Run
from jdali._pipeline.serialize import Serialization, given_content, given_options
from jdali.engine.flow.executor import Result
from jdali.engine.tasks.feed import SkippedSample
from jdali.engine.workers.interpreter_exit import until_exit
from jdali.graph.node import DataNode, Graph
from jdali.tensors import TensorList

Self = TypeVar("Self", bound="Pipeline")


class Pipeline:
    """A graph of operators that gives one batch a run.

    Args:
        batch_size: samples in a batch (also available as `max_batch_size`).
        num_threads: threads that read and decode; None: one for each processor that the process may use.
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
        on_error: what to do with a sample that an operator cannot work on: "raise"; "skip": put the
            reader's next sample in its place; "mask": put a good sample of the batch in its place (or of
            the data set, if the batch has none), which is False in `iterator`'s mask and also comes where it
            belongs. Either way a good sample counts once an epoch. What was bad is in `Pipeline.errors`.
            An external source has no other samples: "skip" makes the batch smaller, and one without any good
            sample is left out, with "mask" too; after 1024 bad samples in a row there is an error.
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
        compilation_cache: bool = True,
    ):
        given = {name: value for name, value in locals().items() if name != "self"}
        self._options = PipelineConfig(given)
        self._definition = Definition(self, debug=debug)
        self._building = Building(self._options, self._definition, _own_setup(self))
        self._checkpoints = Checkpoints(self._options, self._building)
        self._serialization = Serialization(self._options, self._definition, self._building)
        self._feeding = Feeding(self._options, self._definition, self._building)
        self._facts = Facts(self._options, self._definition, self._building)

    def __repr__(self) -> str:
        return (
            f"<jdali.Pipeline of {len(self.graph.nodes)} operators, batch_size={self._options.batch_size_given}, "
            f"num_threads={self.num_threads}, seed={self.seed}, {'not ' * (self._building.built is None)}built>"
        )

    # --- options ----------------------------------------------------------------------------
    batch_size = Option[int]()
    max_batch_size = Option[int]()
    num_threads = Option[int]()
    device_id = Option[int | None]()
    seed = Option[int]()
    exec_pipelined = Option[bool]()
    exec_async = Option[bool]()
    prefetch_queue_depth = Option[int | Mapping[str, int]]()
    exec_separated = Option[bool]()
    cpu_queue_size = Option[int]()
    gpu_queue_size = Option[int]()
    enable_checkpointing = Option[bool]()
    py_num_workers = Option[int]()
    py_start_method = Option[str | None]()
    py_timeout = Option[float | None]()
    on_error = Option[str]()
    max_compiles = Option[int | None]()
    max_prefetch_bytes = Option[int | None]()
    max_idle_bytes = Option[int]()
    scaled_decoding = Option[bool]()
    exact_shapes = Option[bool]()
    debug = Option[bool]()
    # Of DALI, without effect here.
    bytes_per_sample = Option[int]()
    set_affinity = Option[bool]()
    max_streams = Option[int | None]()
    default_cuda_stream_priority = Option[int | None]()
    enable_memory_stats = Option[bool]()
    exec_dynamic = Option[bool]()
    experimental_exec_dynamic = Option[bool | None]()
    stream_policy = Option[StreamPolicy | None]()
    concurrency = Option[OperatorConcurrency | None]()

    # --- defining ---------------------------------------------------------------------------
    @property
    def graph(self) -> Graph:
        """The operators; in debug mode those of the last iteration."""
        return self._definition.graph

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

    def __exit__(self, *exception: Any) -> None:
        self._definition.leave(*exception)

    def define_graph(self) -> Any:
        """For subclasses: defines the graph and returns the outputs (an older way of DALI's)."""
        return self._definition.function() if self._definition.function is not None else ()

    set_outputs = part_of("_definition", Definition.set_outputs)
    add_sink = part_of("_definition", Definition.add_sink)

    # --- building and running ---------------------------------------------------------------
    def build(self) -> None:
        """Plans the graph and opens the readers. `run` does it if it was not done; harmless twice."""
        self._building.run()

    start_py_workers = part_of("_building", Building.start_py_workers)
    # Programs written for DALI ask for these.
    _py_pool = property(attrgetter("_building.workers"))
    _num_threads = property(attrgetter("num_threads"))

    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> tuple[TensorList, ...]:
        """One batch: a `TensorList` for each output.

        Args:
            cuda_stream: without effect.
            pipeline_inputs: data for external sources without a source, by their names.

        Raises:
            OperatorError: an operator failed. With `on_error` "skip" or "mask": no sample can be read, or not one
                of the batch that was fed.
            StopIteration: an external source is at its end; `reset` goes on.
        """
        if pipeline_inputs:
            self.feed_inputs(pipeline_inputs)
        with until_exit():
            return self._building.run().with_samples(self.run_result()).outputs

    def run_result(self) -> Result:
        """As `run`, with the identity of the samples, the masks and the state after the batch.

        A batch that `run` leaves out, for it is left without samples, is a result without outputs.
        """
        if not self.empty():
            raise RuntimeError(
                "Pipeline.run: there are scheduled batches; take them with share_outputs first"
            )
        run = self._building.run()
        self._set_up(run)
        return run.take()

    def _set_up(self, run: Run) -> None:
        """Calls `iter_setup`, where that is not done for batches ahead."""
        run.executor.refuse_own_thread()
        if not run.executor.calls_user:
            with run.engine.pool.serving:
                self.iter_setup()

    def begin(self) -> None:
        """Has the next batches made in the background, as `run` does for the batches after its own.

        Functions of external sources are called for them here. Nothing happens where data is fed, or with
        `exec_async=False` or `exec_pipelined=False`. Iterators do it.
        """
        self._building.run().executor.begin()

    def schedule_run(self) -> None:
        """Starts a batch without waiting for it; take it with `share_outputs` or `outputs`.

        It is made in the background; with `exec_async=False` or `exec_pipelined=False`, before this returns.
        """
        run = self._building.run()
        self._set_up(run)
        run.schedule()

    def share_outputs(self, cuda_stream: Any = None) -> tuple[TensorList, ...]:
        """The oldest scheduled batch; it stays valid for ever, `release_outputs` need not be called."""
        run = self._building.run()
        with until_exit():
            return run.with_samples(run.take_scheduled()).outputs

    def release_outputs(self) -> None:
        """Says that the last shared batch is not needed any more. Nothing is reused here before."""

    def enable_api_check(self, enable: bool) -> None:
        """Without effect: `run` and `schedule_run` may be mixed, while no batch is scheduled.

        Args:
            enable: as in DALI, whether mixing them is an error.
        """

    def outputs(self, cuda_stream: Any = None) -> tuple[TensorList, ...]:
        """`release_outputs`, then `share_outputs`; schedules a batch if none was."""
        if self.empty():
            self.schedule_run()
        return self.share_outputs()

    def empty(self) -> bool:
        """True if no batch is scheduled."""
        return self._building.built is None or self._building.built.scheduled == 0

    def __iter__(self) -> Iterator[tuple[TensorList, ...]]:
        """The batches up to the end of the epoch: of the reader, or where an external source ends.

        As with `run`, the last one may hold samples of the next epoch. A loop that was left is continued by the next;
        after the end of a source, `reset` comes first.

        Raises:
            TypeError: nothing in the pipeline says where an epoch ends.
        """
        feeds_itself = type(self).iter_setup is not Pipeline.iter_setup
        return epoch(self._building.run(), self.run, feeds_itself=feeds_itself)

    def iter_setup(self) -> None:
        """For subclasses: called before each iteration, to give external sources their data with `feed_input`.

        As DALI does, `run` calls it for batches ahead: it has been called `prefetch_queue_depth` times when the first
        batch comes (once with `exec_async=False`). It may raise StopIteration when there are no more; `reset` goes on
        after that.
        """

    feed_input = part_of("_feeding", Feeding.feed_input)
    feed_inputs = part_of("_feeding", Feeding.feed_inputs)

    def input_feed_count(self, input_name: str) -> int:
        """Returns the number of batches to feed before the first run: 1, since fed pipelines run on demand.

        Raises:
            KeyError: the pipeline has no such input.
        """
        if input_name not in self.fed_inputs:
            raise KeyError(f'Pipeline: The pipeline doesn\'t have an input named "{input_name}".')
        return 1

    def reset(self) -> None:
        """Goes on after the end of an external source: callbacks count from 0 again, readers go on.

        Iterables have begun again by their `cycle`; those without stay at their end.
        """
        self._building.run().reset()

    def split_outputs(self, splits: Sequence[BatchSplit | None]) -> None:
        """Says on which devices the outputs are wanted; `iterator.DataIterator` does it for its `sharding`.

        Stages that give such outputs run on all those devices, each on its own samples, where that is
        possible; the values are the same. `plan` says which do. Without effect after the first run.

        Args:
            splits: of the batch axis of each output; None: one device.
        """
        run = self._building.run()
        if not run.executor.started and not self.exact_shapes and not self.debug:
            run.engine.spread(splits)

    @property
    def runs_ahead(self) -> bool:
        """True if all of a batch is made before it is asked for.

        A pipeline that is fed waits for its data; what takes them from functions of the user's calls these, for a
        later batch, when one is asked for.
        """
        executor = self._building.run().executor
        return executor.ahead and not executor.calls_user

    def refuse_own_thread(self) -> None:
        """Raises RuntimeError in a thread that makes the batches of this pipeline: it would wait for itself."""
        if self._building.built is not None:
            self._building.built.executor.refuse_own_thread()

    def close(self) -> None:
        """Stops all threads and closes the readers. Also done when the pipeline is dropped."""
        self._building.close()

    # --- where it is ------------------------------------------------------------------------
    get_state = part_of("_checkpoints", Checkpoints.get_state)
    set_state = part_of("_checkpoints", Checkpoints.set_state)
    leave_epoch = part_of("_checkpoints", Checkpoints.leave_epoch)
    twin = part_of("_checkpoints", Checkpoints.twin)
    checkpoint = part_of("_checkpoints", Checkpoints.checkpoint)

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """True once the pipeline was built and went to the `checkpoint` passed at construction."""
        return self._building.is_restored

    @property
    def iterator_state(self) -> dict[str, Any] | None:
        """State of the iterator in the checkpoint that was restored, if it was an iterator's."""
        return self._building.iterator_state

    # --- as bytes ---------------------------------------------------------------------------
    serialize = part_of("_serialization", Serialization.serialize)
    deserialize_and_build = part_of("_serialization", Serialization.deserialize_and_build)

    @classmethod
    def deserialize(
        cls: type[Self], serialized_pipeline: str | bytes | None = None, filename: str | None = None,
        **kwargs: Any,
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

    # --- what there is ----------------------------------------------------------------------
    output_dtype = part_of("_facts", Facts.output_dtype)
    output_ndim = part_of("_facts", Facts.output_ndim)
    reader_meta = part_of("_facts", Facts.reader_meta)
    epoch_size = part_of("_facts", Facts.epoch_size)
    external_source_shm_statistics = part_of("_facts", Facts.external_source_shm_statistics)
    executor_statistics = part_of("_facts", Facts.executor_statistics)
    times = part_of("_facts", Facts.times)
    plan = part_of("_facts", Facts.plan)
    warmup = part_of("_facts", Facts.warmup)
    save_graph_to_dot_file = part_of("_facts", Facts.save_graph_to_dot_file)

    @property
    def errors(self) -> list[SkippedSample]:
        """Samples that were skipped or masked in the batches taken so far."""
        return [] if self._building.built is None else self._building.built.errors

    @property
    def fed_inputs(self) -> list[str]:
        """The names of the external sources that `feed_input` gives the data of."""
        return self._facts.fed_inputs()

    @property
    def num_outputs(self) -> int:
        return self._facts.num_outputs()

    @property
    def outputs_of_graph(self) -> tuple[DataNode, ...]:
        """The nodes that give the outputs."""
        self.build()
        return tuple(self._definition.outputs or ())

    @property
    def slabs(self) -> SlabPool:
        """The host memory that its batches lease; what is made of them may lie there, too."""
        return self._building.run().engine.pool.slabs

    def output_stream(self) -> None:
        """XLA has no stream to show."""


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
