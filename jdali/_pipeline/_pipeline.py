"""`Pipeline`: DALI's graph mode."""

from __future__ import annotations

import functools
import secrets
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jdali import types
from jdali._batches.placement import BatchSplit
from jdali._batches.slabs import MOST_IDLE
from jdali._pipeline._checkpoint import Checkpointing
from jdali._pipeline._defining import Defining, as_outputs
from jdali._pipeline._facts import Facts, per_output
from jdali._pipeline._options import WITHOUT_EFFECT, OperatorConcurrency, StreamPolicy
from jdali._pipeline._serialize import Serializing
from jdali._pipeline._unused import warn_of_unused_outputs
from jdali._system.cpus import cpu_count
from jdali._system.devices import accelerator, host_device
from jdali._system.regular_file import memory_limit
from jdali._workers._pool import WorkerPool
from jdali.engine import _report
from jdali.engine._cache import enable_compilation_cache
from jdali.engine._debug import DebugEngine
from jdali.engine._executor import Engine, Result
from jdali.engine._exit import until_exit
from jdali.engine._feed import End
from jdali.engine._in_workers import start_workers
from jdali.engine._made import Room
from jdali.engine._runtime import Runtime, When
from jdali.engine._sharded import spread_stages
from jdali.engine._sources import ExternalSource
from jdali.graph._node import DataNode, Graph, Node
from jdali.graph._plan import ExecutionPlan, make_plan
from jdali.readers._ahead import reading_ahead
from jdali.tensors import TensorList


class Pipeline(Defining, Checkpointing, Serializing, Facts):
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
        max_idle_bytes: host memory that batches lay in and that is kept for later ones, bytes; `plan` shows it.
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
        max_compiles: int | None = None,
        max_prefetch_bytes: int | None = None,
        max_idle_bytes: int = MOST_IDLE,
        scaled_decoding: bool = False,
        exact_shapes: bool = False,
        compilation_cache: bool = True,
    ):
        if on_error not in ("raise", "skip", "mask"):
            raise ValueError(f'Pipeline: on_error must be "raise", "skip" or "mask", not {on_error!r}')
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"Pipeline: batch_size must be at least 1, not {batch_size}")
        self._batch_size = batch_size
        self.num_threads = num_threads or cpu_count()
        self.device_id = device_id
        self._seed_given = seed is not None and seed >= 0
        self.seed = int(seed) if seed is not None and seed >= 0 else secrets.randbits(31)
        self.exec_pipelined, self.exec_async = exec_pipelined, exec_async
        depth = (
            max(prefetch_queue_depth.values())
            if isinstance(prefetch_queue_depth, Mapping)
            else prefetch_queue_depth
        )
        if depth < 1:
            raise ValueError(f"Pipeline: prefetch_queue_depth must be at least 1, not {depth}")
        self.prefetch_queue_depth = prefetch_queue_depth
        self._depth = depth
        given = locals()
        self._without_effect = {name: given[name] for name in WITHOUT_EFFECT}
        self.enable_checkpointing = enable_checkpointing
        self._checkpoint = checkpoint
        self.py_num_workers = 1 if py_num_workers is None else py_num_workers
        self.py_start_method = py_start_method
        self._py_callback_pickler = py_callback_pickler
        self._py_pool: WorkerPool | None = None
        self._expected = (output_dtype, output_ndim, output_layout)
        self.on_error, self.max_compiles = on_error, max_compiles
        if max_idle_bytes < 0:
            raise ValueError(f"Pipeline: max_idle_bytes must not be negative, got {max_idle_bytes}")
        self.max_idle_bytes = max_idle_bytes
        self.scaled_decoding, self._compilation_cache = scaled_decoding, compilation_cache
        self.exact_shapes = exact_shapes
        if max_prefetch_bytes is not None and max_prefetch_bytes < 1:
            raise ValueError(f"Pipeline: max_prefetch_bytes must be at least 1, not {max_prefetch_bytes}")
        self.max_prefetch_bytes = max_prefetch_bytes
        self.debug, self._enable_conditionals = debug, False
        self.graph = Graph()
        self._outputs: tuple[DataNode, ...] | None = None
        self._define: Callable[[], Any] | None = None
        self._plan: ExecutionPlan | None = None
        self._engine: Engine | None = None
        self._executor: Runtime | None = None
        self._scheduled = self._errors = 0
        self._state: dict[str, Any] = {}
        self._contexts: list[Any] = []
        self._building = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        ignored = self.__dict__.get("_without_effect", {})
        if name in ignored:
            return ignored[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        state = "built" if self._engine is not None else "not built"
        return (
            f"<jdali.Pipeline of {len(self.graph.nodes)} operators, batch_size={self._batch_size}, "
            f"num_threads={self.num_threads}, seed={self.seed}, {state}>"
        )

    @property
    def batch_size(self) -> int:
        if self._batch_size is None:
            raise RuntimeError("Pipeline: batch_size was not given")
        return self._batch_size

    max_batch_size = batch_size

    # --- building ---------------------------------------------------------------------------
    def build(self) -> Pipeline:
        """Plans the graph and opens the readers. `run` does it if it was not done; harmless twice."""
        if self._plan is None:
            with self._building:  # of threads that ask for a first batch at the same time, one builds
                if self._plan is None:
                    self._build()
        return self

    def start_py_workers(self) -> None:
        """Starts the processes of parallel external sources; `build` does it if it was not done.

        With `py_start_method="fork"` they must be started before JAX makes its first array. In debug mode there are
        none: all runs in this process.
        """
        if self.debug:
            return
        with self._building:
            self._defined()
            if self._py_pool is None:
                self._py_pool = start_workers(
                    self.graph.nodes, workers=self.py_num_workers, start_method=self.py_start_method,
                    pickler=self._py_callback_pickler,
                )  # fmt: skip
            if self._py_pool is not None:
                self.py_start_method = self._py_pool.start_method
                weakref.finalize(self, self._py_pool.abandon).atexit = False

    def _build_debug(self) -> None:
        """Builds what runs the function itself; its operators are not known before it has run once."""
        if self._compilation_cache:
            enable_compilation_cache()
        this = weakref.ref(self)  # weak: what runs a pipeline must not keep it

        def pipeline() -> Pipeline:
            pipeline = this()
            assert pipeline is not None
            return pipeline

        engine = DebugEngine(
            lambda graph: pipeline()._iteration(graph), lambda node: pipeline()._open_source(node),
            conditionals=self._enable_conditionals,
            batch_size=self.batch_size, threads=self.num_threads, most_idle=self.max_idle_bytes, seed=self.seed,
            max_compiles=self.max_compiles, devices={"cpu": host_device(), "gpu": accelerator()},
            exact_shapes=self.exact_shapes,
        )  # fmt: skip
        self._start(engine, Room(1, memory_limit(), is_strict=False), When.INLINE)

    def _start(self, engine: Engine, room: Room, when: When) -> None:
        executor = Runtime(engine, room, when)
        self._engine, self._executor = engine, executor
        self._state = engine.get_state()
        self._plan = engine.plan  # what says that it is built
        weakref.finalize(self, executor.abandon).atexit = False
        self._restore()

    def _defined(self) -> tuple[DataNode, ...]:
        """The outputs; a subclass is asked for its graph."""
        if self._outputs is None:
            with self:
                outputs = self.define_graph()
            self.set_outputs(*as_outputs(outputs))
        assert self._outputs is not None
        for expected in self._expected:  # of the wrong length is an error at once
            per_output(expected, len(self._outputs))
        return self._outputs

    def _build(self) -> None:
        if self.debug:
            self._build_debug()
            return
        self._defined()
        assert self._outputs is not None
        if not self._outputs and not any(node.preserve for node in self.graph.nodes):
            raise RuntimeError(
                "Pipeline: it has no outputs; return them from the pipeline function or set_outputs"
            )
        self.start_py_workers()
        if self._compilation_cache:
            enable_compilation_cache()
        devices = {"cpu": host_device(), "gpu": accelerator()}
        plan = make_plan(self.graph.nodes, self._outputs, one_device=devices["cpu"] == devices["gpu"])
        warn_of_unused_outputs(plan)
        sources = {node: self._open_source(node) for node in plan.sources}
        engine = Engine(
            plan, batch_size=self.batch_size, threads=self.num_threads, most_idle=self.max_idle_bytes,
            seed=self.seed, on_error=self.on_error, max_compiles=self.max_compiles,
            devices=devices, sources=sources, scaled_decoding=self.scaled_decoding,
            exact_shapes=self.exact_shapes, workers=self._py_pool,
        )  # fmt: skip
        threads = self.exec_pipelined and self.exec_async
        when = When.INLINE if not threads else When.BACKGROUND if engine.feed.is_fed else When.AHEAD
        given = self.max_prefetch_bytes
        most = memory_limit() // 4 if given is None else given
        self._start(engine, Room(self._depth, most, is_strict=given is not None), when)

    def _open_source(self, node: Node) -> Any:
        if node.runtime is not None:
            return node.runtime
        return _report.opening(node, lambda: reading_ahead(node.op.run(**self._source_arguments(node))))

    def _source_arguments(self, node: Node) -> dict[str, Any]:
        bound = node.op.bind(node.args)
        # Values that differ by sample are given to the reader with each batch.
        arguments = {
            k: arg.convert(bound[k])
            for k, arg in node.op.public_args.items()
            if not isinstance(bound[k], DataNode)
        }
        if "seed" in arguments and (arguments["seed"] is None or arguments["seed"] < 0):
            arguments["seed"] = self.seed
        if "_batch_size" in node.op.args:
            arguments["_batch_size"] = self.batch_size
        if "_goes_on" in node.op.args:
            arguments["_goes_on"] = self.on_error != "raise"
        return arguments

    def _built(self) -> tuple[Engine, Runtime]:
        self.build()
        assert self._engine is not None
        assert self._executor is not None
        return self._engine, self._executor

    # --- running ----------------------------------------------------------------------------
    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> tuple[TensorList, ...]:
        """One batch: a `TensorList` for each output.

        Args:
            cuda_stream: without effect.
            pipeline_inputs: data for external sources without a source, by their names.

        Raises:
            OperatorError: an operator failed. With `on_error` "skip" or "mask": no sample can be read, or not one
                of the batch that was fed.
            StopIteration: an external source is at its end; `reset` starts it again.
        """
        if pipeline_inputs:
            self.feed_inputs(pipeline_inputs)
        with until_exit():
            return self._filled(self.run_result()).outputs

    def run_result(self) -> Result:
        """As `run`, with the identity of the samples, the masks and the state after the batch.

        A batch that `run` leaves out, for it is left without samples, is a result without outputs.
        """
        if self._scheduled:
            raise RuntimeError(
                "Pipeline.run: there are scheduled batches; take them with share_outputs first"
            )
        self._built()
        self.iter_setup()
        return self._take()

    def _take(self) -> Result:
        """The next batch; threads that ask at the same time get one each."""
        _, executor = self._built()
        while True:
            executor.wait()
            with executor.turn:
                try:
                    result = executor.take()
                except StopIteration:
                    self._state = {**self._state, "end": End.REACHED}
                    raise
                if result is not None:  # else another thread took it, or a state was set
                    self._state, self._errors = self._checked(result).state, result.errors
                    return result

    def _filled(self, result: Result) -> Result:
        """The result, or the next one that has samples; of a pipeline that is fed there is only the one."""
        while result.nothing is not None:
            if self._built()[0].feed.is_fed:
                raise result.nothing
            result = self._take()
        return result

    def _checked(self, result: Result) -> Result:
        if result.nothing is not None:
            return result
        dtypes, ndims, layouts = (per_output(e, len(result.outputs)) for e in self._expected)
        for i, output in enumerate(result.outputs):
            spec = output.spec
            for what, expected, got in (
                ("Data type", None if dtypes[i] is None else types.to_dali_type(types.to_dtype(dtypes[i])).name,
                 types.to_dali_type(spec.dtype).name),
                ("Number of dimensions", ndims[i], spec.ndim),
                ("Layout", layouts[i], spec.layout),
            ):  # fmt: skip
                if expected is not None and expected != got:
                    raise RuntimeError(
                        f"Pipeline: {what} in the output_idx={i} does not match. Expected: {expected}. Received: {got}."
                    )
        return result

    def schedule_run(self) -> None:
        """Starts a batch without waiting for it; take it with `share_outputs` or `outputs`.

        It is made in the background; with `exec_async=False` or `exec_pipelined=False`, before this returns.
        """
        _, executor = self._built()
        self.iter_setup()
        with executor.turn:
            executor.schedule()
            self._scheduled += 1

    def share_outputs(self, cuda_stream: Any = None) -> tuple[TensorList, ...]:
        """The oldest scheduled batch; it stays valid for ever, `release_outputs` need not be called."""
        _, executor = self._built()
        with executor.turn:
            if not self._scheduled:
                raise RuntimeError("Pipeline.share_outputs: nothing was scheduled; call schedule_run first")
            self._scheduled -= 1
        with until_exit():
            return self._filled(self._take()).outputs

    def release_outputs(self) -> None:
        """Says that the last shared batch is not needed any more. Nothing is reused here before."""

    def outputs(self, cuda_stream: Any = None) -> tuple[TensorList, ...]:
        """`release_outputs`, then `share_outputs`; schedules a batch if none was."""
        if not self._scheduled:
            self.schedule_run()
        return self.share_outputs()

    def __iter__(self) -> Iterator[tuple[TensorList, ...]]:
        while True:
            try:
                yield self.run()
            except StopIteration:
                return

    def iter_setup(self) -> None:
        """For subclasses: called before each iteration, to give external sources their data with `feed_input`.

        It may raise StopIteration when there are no more.
        """

    def feed_input(
        self, data_node: DataNode | str, data: Any, layout: str | None = None, cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:  # fmt: skip
        """Gives the data of the next batch to an external source that has no source of its own.

        Args:
            data_node: the output of `fn.external_source`, or its name. Of several outputs, each is fed on its own by
                its node, all that are used, or all together by name.
            data: samples as a list or an array [N, ...], NumPy, JAX, DLPack or a TensorList; a tuple of
                them if the source has several outputs and is fed by name. Copied before this returns, unless the external
                source has `no_copy=True`.
            layout: of the samples of this batch, in place of the one given to `fn.external_source`; where
                there is neither, a TensorList has its own.

        Raises:
            OperatorError: the data are no batch that the source may give.
        """
        self._feed([(data_node, data)], layout)

    def feed_inputs(self, inputs: Mapping[str, Any], *, copy: bool = True) -> None:
        """As `feed_input`, for several external sources: all get their data, or, if it raises, none does.

        Args:
            inputs: the data of the next batch, by the names of the external sources.
            copy: False: the data are the pipeline's own, nobody will write to them.
        """
        self._feed(list(inputs.items()), copy=copy)

    def _feed(self, inputs: Sequence[tuple[Any, Any]], layout: str | None = None, copy: bool = True) -> None:
        engine, _ = self._built()
        adding = []
        for wanted, data in inputs:
            if isinstance(engine, DebugEngine):
                wanted = wanted.source.name if isinstance(wanted, DataNode) else wanted
                if engine.hold(wanted, data, layout):
                    continue
            adding.append(self._ready_to_feed(engine, wanted, data, layout, copy))
        for add in adding:
            add()

    def _ready_to_feed(
        self, engine: Engine, wanted: DataNode | str, data: Any, layout: str | None, copy: bool
    ) -> Callable[[], None]:
        """What adds the data to its source; they are checked before."""
        node, source = self._fed_source(engine, wanted)
        if isinstance(wanted, DataNode) and len(node.outputs) > 1:  # DALI feeds such outputs one by one
            feed = functools.partial(source.feed_output, wanted.index, engine.plan.unused_outputs(node))
            return functools.partial(
                engine.feed.ask, node, functools.partial(feed, data, layout, self.batch_size)
            )
        convert = functools.partial(source.as_fed, data, layout, self.batch_size, copy=copy)
        return functools.partial(source.feed, engine.feed.ask(node, convert))

    def _fed_source(self, engine: Engine, wanted: DataNode | str) -> tuple[Node, ExternalSource]:
        node: Node | None
        if isinstance(wanted, DataNode):
            node = self.graph.copy_of(wanted.source)
        else:
            node = next((node for node in engine.sources if node.name == wanted), None)
        source = None if node is None else engine.sources.get(node)
        if node is None or not isinstance(source, ExternalSource):
            known = [n.name for n, s in engine.sources.items() if isinstance(s, ExternalSource) and s.is_fed]
            raise RuntimeError(f"feed_input: no external source named {wanted!r}; there are {known}")
        if not source.is_fed:
            raise RuntimeError(
                f"Cannot use `feed_input` on the external source {node.name!r} with a `source` argument specified."
            )
        return node, source

    def input_feed_count(self, input_name: str) -> int:
        """How many batches to feed before the first run: 1, since fed pipelines run on demand."""
        return 1

    def reset(self) -> None:
        """Starts external sources again after their end. Readers go on with the next epoch."""
        _, executor = self._built()
        with executor.turn:
            if executor.reset():
                self._state = {**self._state, "end": End.LEFT}

    def split_outputs(self, splits: Sequence[BatchSplit | None]) -> None:
        """Says on which devices the outputs are wanted; `iterator.DataIterator` does it for its `sharding`.

        Stages that give such outputs run on all those devices, each on its own samples, where that is
        possible; the values are the same. `plan` says which do. Without effect after the first run.

        Args:
            splits: of the batch axis of each output; None: one device.
        """
        engine, executor = self._built()
        if not executor.started and not self.exact_shapes and not self.debug:
            spread_stages(engine, splits)

    @property
    def runs_ahead(self) -> bool:
        """Whether batches are made before they are asked for; a pipeline that is fed waits for its data."""
        return self._built()[1].ahead

    def empty(self) -> bool:
        """Whether no batch is scheduled."""
        return self._scheduled == 0

    def close(self) -> None:
        """Stops all threads and closes the readers. Also done when the pipeline is dropped."""
        if self._executor is not None:
            self._executor.close()
        elif self._py_pool is not None:
            self._py_pool.close()
