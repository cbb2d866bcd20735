"""Building a pipeline: from its definition and options to what runs it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from jdali._pipeline.config import PipelineConfig
from jdali._pipeline.definition import Definition
from jdali._pipeline.run import Run
from jdali._pipeline.sent_pipeline import send_pipeline
from jdali._pipeline.sources import open_source
from jdali._pipeline.unused_outputs import warn_of_unused_outputs
from jdali._state import StateError, from_checkpoint
from jdali._system.devices import accelerator, host_device
from jdali._system.limits import memory_limit
from jdali._workers.pool import WorkerPool
from jdali.engine.eager.debug import DebugEngine
from jdali.engine.flow.drawing import When
from jdali.engine.flow.drawn_ahead import DrawErrors
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.made_elsewhere import MadeElsewhere
from jdali.engine.flow.ready_queue import Room
from jdali.engine.flow.runtime import Runtime
from jdali.engine.steps.compilation_cache import enable_compilation_cache
from jdali.engine.tasks.external_source import SourceFeed
from jdali.engine.tasks.in_workers import start_workers
from jdali.engine.workers.processes import ProcessWorkers
from jdali.graph.border import cut
from jdali.graph.node import DataNode, Graph, Node
from jdali.graph.plan import ExecutionPlan, make_plan
from jdali.readers.shared_tables import noting


class Building:
    """Builds a pipeline once, when it is asked to; what was started ends with it.

    Args:
        config: the options of the pipeline.
        definition: of the pipeline.
        iter_setup: gives the method of that name, where it does something.

    Attributes:
        built: None: it was not.
        workers: the processes of parallel sources and functions; None: there are none, or they were not started.
        is_restored: it has gone to the checkpoint among the options.
        iterator_state: the state of an iterator in that checkpoint, if it was an iterator's.
    """

    def __init__(
        self,
        config: PipelineConfig,
        definition: Definition,
        iter_setup: Callable[[], Callable[[], Any] | None] | None,
    ):
        self._config, self._definition, self._iter_setup = config, definition, iter_setup
        self.built: Run | None = None
        self.workers: WorkerPool | None = None
        self.is_restored = False
        self.iterator_state: dict[str, Any] | None = None
        self._lock = threading.RLock()

    def run(self) -> Run:
        """Returns the built pipeline; builds it first if needed."""
        if self.built is None:
            with self._lock:  # of threads that ask for a first batch at the same time, one builds
                if self.built is None:
                    self._build()
        assert self.built is not None
        return self.built

    @property
    def seed(self) -> int:
        """The seed of the options, or of a state that was set since."""
        return self._config.seed if self.built is None else self.built.engine.seed

    @property
    def start_method(self) -> str | None:
        """The start method of the worker processes; before they are started that of the options."""
        return self._config.py_start_method if self.workers is None else self.workers.start_method

    def close(self) -> None:
        if self.built is not None:
            self.built.executor.close()
        elif self.workers is not None:
            self.workers.close()

    def outputs(self) -> tuple[DataNode, ...]:
        """Returns the definition's outputs, as many as the options describe."""
        outputs = self._definition.complete()
        self._config.expected.check_count(len(outputs))
        return outputs

    def start_py_workers(self) -> None:
        """Starts the processes of parallel external sources, see `Pipeline.start_py_workers`."""
        config = self._config
        if config.debug:
            return
        with self._lock:
            self.outputs()
            if self.workers is None:
                self.workers = start_workers(
                    self._definition.graph.nodes, workers=config.py_num_workers,
                    start_method=config.py_start_method, pickler=config.py_callback_pickler,
                    timeout=config.py_timeout,
                )  # fmt: skip
            if self.workers is not None:
                weakref.finalize(self, self.workers.abandon).atexit = False

    def _build(self) -> None:
        if self._config.num_threads < 1:
            raise ValueError(
                "Pipeline created with `num_threads` < 1 can only be used for serialization. It is "
                f"{self._config.num_threads}"
            )
        if self._config.debug:
            engine: Engine = self._debug_engine()
            self._start(engine, Room(1, memory_limit(), is_strict=False), When.INLINE)
            return
        engine, config = self._engine(), self._config
        when = self._when(engine)
        given = config.max_prefetch_bytes
        most = memory_limit() // 4 if given is None else given
        self._start(engine, Room(config.depth, most, is_strict=given is not None), when)

    def _engine(self) -> Engine:
        config, nodes, outputs = self._config, self._definition.graph.nodes, self.outputs()
        if not outputs and not any(node.preserve for node in nodes):
            raise NotImplementedError(
                "Pipeline: it has no outputs; return them from the pipeline function or set_outputs"
            )
        self.start_py_workers()
        if config.compilation_cache:
            enable_compilation_cache()
        devices = {"cpu": host_device(), "gpu": accelerator()}
        plan = make_plan(nodes, outputs, one_device=devices["cpu"] == devices["gpu"])
        warn_of_unused_outputs(plan)
        sources, tables = {}, {}
        for node in plan.sources:
            with noting() as tables[node.name]:
                sources[node] = open_source(node, config, config.seed)
        return Engine(
            plan, batch_size=config.max_batch_size, threads=config.num_threads, most_idle=config.max_idle_bytes,
            seed=config.seed, on_error=config.on_error, max_compiles=config.max_compiles, devices=devices,
            sources=sources, scaled_decoding=config.scaled_decoding, exact_shapes=config.exact_shapes,
            workers=self.workers, elsewhere=self._elsewhere(plan, sources, tables),
        )  # fmt: skip

    def _elsewhere(
        self, plan: ExecutionPlan, sources: Mapping[Node, Any], tables: Mapping[str, Mapping[str, Any]]
    ) -> MadeElsewhere | None:
        """Starts the workers that make batches; None: there are to be none, or nothing is left for them."""
        config, one_device = self._config, host_device() == accelerator()
        border = cut(plan, one_device=one_device)
        if not config.workers or not border.elsewhere.steps:
            return None
        readers = {node: source for node, source in sources.items() if not isinstance(source, SourceFeed)}
        sent = send_pipeline(
            self._definition.graph.nodes, plan.outputs, one_device=one_device, config=config, readers=readers,
            tables=tables,
        )  # fmt: skip
        workers = ProcessWorkers(config.workers, config.max_idle_bytes)
        workers.start(sent.start)
        # A pipeline that is dropped before its first batch has no other thread to end them.
        weakref.finalize(self, workers.interrupt).atexit = False
        return MadeElsewhere(border, workers, sources)

    def _debug_engine(self) -> DebugEngine:
        """Makes the engine of debug mode, whose operators are known once the function has run."""
        config = self._config
        if config.compilation_cache:
            enable_compilation_cache()
        definition = weakref.ref(self._definition)  # weak: what runs a pipeline must not keep it

        def iteration(graph: Graph) -> tuple[DataNode, ...]:
            defined = definition()
            assert defined is not None
            return defined.iteration(graph)

        return DebugEngine(
            iteration, lambda node, seed: open_source(node, config, seed), conditionals=self._definition.conditionals,
            batch_size=config.max_batch_size, threads=config.num_threads, most_idle=config.max_idle_bytes,
            seed=config.seed, max_compiles=config.max_compiles,
            devices={"cpu": host_device(), "gpu": accelerator()}, exact_shapes=config.exact_shapes,
        )  # fmt: skip

    def _when(self, engine: Engine) -> When:
        """Says when the batches of an engine are made."""
        if not (self._config.exec_pipelined and self._config.exec_async):
            return When.INLINE
        if self._iter_setup is not None:
            return When.AHEAD_BY_CALLS
        if engine.feed.is_fed:
            return When.BACKGROUND
        return When.AHEAD_BY_CALLS if engine.feed.calls_user else When.AHEAD

    def _start(self, engine: Engine, room: Room, when: When) -> None:
        errors = DrawErrors()
        executor = Runtime(engine, room, when, errors, self._iter_setup or (lambda: None))
        self._definition.is_final = True
        if engine.elsewhere is not None and self._config.max_workers is not None:
            executor.scale_workers(self._config.min_workers, self._config.max_workers)
        self.built = Run(engine, executor, self._config, self._definition, errors)
        weakref.finalize(self, executor.abandon).atexit = False
        self._restore(self.built)

    def _restore(self, run: Run) -> None:
        """Goes to the checkpoint given at construction, if there is one."""
        config = self._config
        if config.checkpoint is None:
            return
        if not config.enable_checkpointing:
            raise RuntimeError(
                "Pipeline: Cannot restore checkpoint. The `enable_checkpointing` was not specified when creating the pipeline"
            )
        try:
            state, self.iterator_state = from_checkpoint(config.checkpoint)
            run.set_state(state)
        except StateError as error:
            raise RuntimeError(f"Pipeline: the checkpoint cannot be restored: {error}") from error
        self.is_restored = True
