"""Builds a pipeline: makes its engine and window from its definition and options."""

from __future__ import annotations

import dataclasses
import functools
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from jdali._pipeline.config import PipelineConfig
from jdali._pipeline.definition import Definition
from jdali._pipeline.sent_pipeline import send_pipeline
from jdali._sources import SourceFeed, start_workers
from jdali._system.devices import accelerator
from jdali._workers import BatchWorkers, ProcessWorkers, WorkerSet
from jdali._workers.callbacks import CallbackWorkers
from jdali.engine import Engine, Window, eager
from jdali.graph import DataNode, ExecutionPlan, Graph, Node, make_plan, reduced_operator
from jdali.readers.shared_tables import Tables


def start_callback_workers(config: PipelineConfig, definition: Definition) -> CallbackWorkers | None:
    """Starts the processes of parallel external sources and functions; returns None if there are none."""
    definition.complete()
    return start_workers(
        definition.graph.nodes, workers=config.py_num_workers, start_method=config.py_start_method,
        pickler=config.py_callback_pickler, timeout=config.py_timeout, seed=config.seed,
    )  # fmt: skip


def make_engine(config: PipelineConfig, definition: Definition, callbacks: CallbackWorkers | None) -> Engine:
    """Plans the graph and opens the sources. Closing the engine also ends `callbacks`."""
    outputs = definition.complete()
    nodes = definition.graph.nodes
    if not outputs and not any(node.preserve for node in nodes):
        raise NotImplementedError(
            "Pipeline: it has no outputs; return them from the pipeline function or set_outputs"
        )
    options = config.engine_options(accelerator())
    plan = make_plan(nodes, outputs, one_device=options.one_device)
    _warn_of_unused_outputs(plan)
    start = functools.partial(_start_batch_workers, config, definition, plan, options.one_device)
    engine = Engine(
        plan, options, callback_workers=callbacks, start_workers=start if config.workers else None
    )
    _warn_of_drift(engine)
    return engine


def make_debug_engine(config: PipelineConfig, definition: Definition) -> Engine:
    """Makes the engine of debug mode. The operators are known only after the function has run once."""
    kept = weakref.WeakMethod(definition.iteration)  # the engine must not keep a dropped pipeline alive

    def iteration(graph: Graph) -> tuple[DataNode, ...]:
        define = kept()
        assert define is not None
        return define(graph)

    options = config.engine_options(accelerator())
    return eager.DebugEngine(iteration, options, conditionals=definition.conditionals)


def make_window(
    config: PipelineConfig, engine: Engine, iter_setup: Callable[[], Callable[[], Any] | None] | None
) -> Window:
    """Returns a `Window` over an engine. No batch is made yet."""
    window = Window.of(
        engine, depth=config.depth, most_bytes=config.max_prefetch_bytes,
        makes_ahead=config.exec_pipelined and config.exec_async and not config.debug, before_draw=iter_setup,
    )  # fmt: skip
    if engine.elsewhere is not None and config.max_workers is not None:
        window.scale_workers(config.min_workers, config.max_workers)
    return window


def _start_batch_workers(
    config: PipelineConfig,
    definition: Definition,
    plan: ExecutionPlan,
    one_device: bool,
    readers: Mapping[Node, object],
    tables: Tables,
) -> BatchWorkers:
    sent = send_pipeline(
        definition.graph.nodes, plan.outputs, one_device=one_device, config=config, readers=readers, tables=tables
    )  # fmt: skip
    described = config.workers
    workers = (
        described.connect()
        if isinstance(described, WorkerSet)
        else ProcessWorkers(described, config.max_idle_bytes, reduced_operator)
    )
    workers.start(sent.start)
    # If a pipeline is dropped before its first batch, it has no threads that could end the workers.
    weakref.finalize(definition, workers.interrupt).atexit = False
    return workers


def _warn_of_drift(engine: Engine) -> None:
    """Warns when readers of different sizes shuffle, because each epoch then pairs their samples differently."""
    sizes = {
        node: reader.size
        for node, reader in engine.readers.items()
        if node.args.get("random_shuffle") or node.args.get("shuffle_after_epoch")
    }
    if len(set(sizes.values())) > 1:
        which = ", ".join(
            f"{node.op.name} with {size} samples, defined at {node.where}" for node, size in sizes.items()
        )
        warnings.warn(
            "Readers of different sizes shuffle, each by itself, so their samples do not go together (which is as it should be "
            "if they are independent). Files that belong together are read by one reader: "
            f"fn.readers.paired(images=..., masks=...). The readers: {which}",
            stacklevel=2,
        )


def _warn_of_unused_outputs(plan: ExecutionPlan) -> None:
    """Warns when an external source makes outputs that nothing in the pipeline uses."""
    for node in plan.sources:
        source = node.runtime
        unused = plan.unused_outputs(node)
        if not unused or not isinstance(source, SourceFeed) or source.is_fed:
            continue
        which = ", ".join(map(str, unused))
        these = (
            f"output at the index {which} is" if len(unused) == 1 else f"outputs at the indices {which} are"
        )
        # For example "function load", "generator batches" or "Loader".
        given = f"{type(source.source).__name__} {getattr(source.source, '__name__', '')}".rstrip()
        warnings.warn(
            f"The external source node '{node.name} ({given})' produces {len(node.outputs)} "
            f"outputs, but the {these} not used.\n  defined at {node.where}",
            stacklevel=2,
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Internals:
    """Holds the objects of a built pipeline, for inspection; they change from version to version.

    Attributes:
        config: options of the pipeline, as given.
        engine: makes the batches; its attributes are the plan, steps, programs and readers.
        window: keeps the batches that are made ahead, and returns them in order.
        callback_workers: processes of parallel sources and functions; None if there are none.
    """

    config: PipelineConfig
    engine: Engine
    window: Window
    callback_workers: CallbackWorkers | None

    @property
    def phase(self) -> str:
        """Is "built", "running", "ended" (a source is at its end) or "closed"."""
        return self.window.phase.name.lower()

    @property
    def programs(self) -> int:
        """Number of compiled programs, with those of workers, which count in each worker."""
        return self.engine.programs

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """Threads that make batches, except those of the pool."""
        return self.window.threads

    def __repr__(self) -> str:
        return (
            f"<jdali pipeline, {self.phase}: {len(self.engine.plan.steps)} steps, {self.programs} programs compiled, "
            f"{self.window.ready} batches ready, {len(self.threads)} threads>"
        )
