"""Building a pipeline: from its definition and options to what runs it."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jdali._pipeline.config import PipelineConfig
from jdali._pipeline.definition import Definition
from jdali._pipeline.run import Run
from jdali._pipeline.sent_pipeline import send_pipeline
from jdali._pipeline.unused_outputs import warn_of_unused_outputs
from jdali._sources import start_workers
from jdali._state import StateError, from_checkpoint
from jdali._system.devices import accelerator
from jdali._workers import BatchWorkers, ProcessWorkers, WorkerSet
from jdali._workers.callbacks import CallbackWorkers
from jdali.engine import Engine, Window, eager
from jdali.graph import DataNode, Graph, Node, make_plan, reduced_operator
from jdali.readers.shared_tables import Tables


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
        self.workers: CallbackWorkers | None = None
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
            self.built.window.close()
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
                    timeout=config.py_timeout, seed=config.seed,
                )  # fmt: skip
            if self.workers is not None:
                weakref.finalize(self, self.workers.interrupt).atexit = False

    def _build(self) -> None:
        if self._config.num_threads < 1:
            raise ValueError(
                "Pipeline created with `num_threads` < 1 can only be used for serialization. It is "
                f"{self._config.num_threads}"
            )
        engine = self._debug_engine() if self._config.debug else self._engine()
        self._start(engine)

    def _engine(self) -> Engine:
        nodes, outputs = self._definition.graph.nodes, self.outputs()
        if not outputs and not any(node.preserve for node in nodes):
            raise NotImplementedError(
                "Pipeline: it has no outputs; return them from the pipeline function or set_outputs"
            )
        self.start_py_workers()
        options = self._config.engine_options(accelerator())
        plan = make_plan(nodes, outputs, one_device=options.one_device)
        warn_of_unused_outputs(plan)
        start = functools.partial(self._start_workers, plan.outputs, options.one_device)
        return Engine(
            plan,
            options,
            callback_workers=self.workers,
            start_workers=start if self._config.workers else None,
        )

    def _start_workers(
        self, outputs: Sequence[DataNode], one_device: bool, readers: Mapping[Node, object], tables: Tables
    ) -> BatchWorkers:
        """Starts the workers that make batches."""
        config = self._config
        sent = send_pipeline(
            self._definition.graph.nodes,
            outputs,
            one_device=one_device,
            config=config,
            readers=readers,
            tables=tables,
        )
        described = config.workers
        workers = (
            described.connect()
            if isinstance(described, WorkerSet)
            else ProcessWorkers(described, config.max_idle_bytes, reduced_operator)
        )
        workers.start(sent.start)
        # A pipeline that is dropped before its first batch has no other thread to end them.
        weakref.finalize(self, workers.interrupt).atexit = False
        return workers

    def _debug_engine(self) -> Engine:
        """Makes the engine of debug mode, whose operators are known once the function has run."""
        definition = weakref.ref(self._definition)  # weak: what runs a pipeline must not keep it

        def iteration(graph: Graph) -> tuple[DataNode, ...]:
            defined = definition()
            assert defined is not None
            return defined.iteration(graph)

        return eager.DebugEngine(
            iteration, self._config.engine_options(accelerator()), conditionals=self._definition.conditionals
        )

    def _start(self, engine: Engine) -> None:
        config = self._config
        window = Window.of(
            engine, depth=config.depth, most_bytes=config.max_prefetch_bytes,
            makes_ahead=config.exec_pipelined and config.exec_async and not config.debug,
            before_draw=self._iter_setup,
        )  # fmt: skip
        self._definition.is_final = True
        if engine.elsewhere is not None and config.max_workers is not None:
            window.scale_workers(config.min_workers, config.max_workers)
        self.built = Run(window, config, self._definition)
        weakref.finalize(self, window.abandon).atexit = False
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
