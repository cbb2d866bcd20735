"""What a pipeline tells of itself: its outputs, readers, errors, plan, statistics and graph."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jdali._batches.slabs import SlabPool
from jdali._pipeline._options import OperatorConcurrency, StreamPolicy
from jdali.engine import _report
from jdali.engine._executor import Engine
from jdali.engine._feed import SkippedSample
from jdali.engine._report import Times
from jdali.engine._runtime import Runtime
from jdali.engine._sources import ExternalSource
from jdali.graph._node import DataNode, Graph
from jdali.graph._plan import ExecutionPlan


class Facts(abc.ABC):
    """The part of `Pipeline` that says what there is."""

    prefetch_queue_depth: int | Mapping[str, int]
    scaled_decoding: bool
    _depth: int
    _errors: int
    _expected: tuple[Any, Any, Any]
    _outputs: Sequence[DataNode] | None
    _plan: ExecutionPlan | None
    _engine: Engine | None
    _without_effect: dict[str, Any]
    graph: Graph

    @abc.abstractmethod
    def _defined(self) -> tuple[DataNode, ...]:
        """The outputs; a subclass is asked for its graph."""

    @abc.abstractmethod
    def build(self) -> Any:
        """Plans the graph and opens the readers."""

    @abc.abstractmethod
    def _built(self) -> tuple[Engine, Runtime]:
        """Builds, and gives what runs the pipeline."""

    @property
    def errors(self) -> list[SkippedSample]:
        """Samples that were skipped or masked in the batches taken so far."""
        return [] if self._engine is None else self._engine.feed.errors[: self._errors]

    @property
    def num_outputs(self) -> int:
        self.build()
        return len(self._outputs or ())

    @property
    def outputs_of_graph(self) -> tuple[DataNode, ...]:
        """The nodes that give the outputs."""
        self.build()
        return tuple(self._outputs or ())

    @property
    def fed_inputs(self) -> list[str]:
        """The names of the external sources that `feed_input` gives the data of."""
        self._defined()
        return [n.name for n in self.graph.nodes if type(n.runtime) is ExternalSource and n.runtime.is_fed]

    def output_dtype(self) -> list[Any]:
        """The dtypes given at construction, one for each output."""
        return per_output(self._expected[0], self.num_outputs)

    def output_ndim(self) -> list[Any]:
        """The numbers of axes given at construction, one for each output."""
        return per_output(self._expected[1], self.num_outputs)

    def output_stream(self) -> None:
        """XLA has no stream to show."""
        return

    @property
    def exec_separated(self) -> bool:
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
        return depth.get(name, self._depth) if isinstance(depth, Mapping) else depth

    # Of DALI, without effect here: kept as they were given.
    @property
    def max_streams(self) -> int | None:
        """As given; XLA has streams of its own."""
        return cast(int | None, self._without_effect["max_streams"])

    @property
    def default_cuda_stream_priority(self) -> int | None:
        """As given; XLA has streams of its own."""
        return cast(int | None, self._without_effect["default_cuda_stream_priority"])

    @property
    def set_affinity(self) -> bool:
        """As given; the threads run where the system puts them."""
        return bool(self._without_effect["set_affinity"])

    @property
    def enable_memory_stats(self) -> bool:
        """As given; `executor_statistics` counts memory in any case."""
        return bool(self._without_effect["enable_memory_stats"])

    @property
    def exec_dynamic(self) -> bool:
        """As given, True if not: memory is given back after its last use, as DALI's dynamic executor does."""
        given = self._without_effect["exec_dynamic"]
        return True if given is None else bool(given)

    @property
    def stream_policy(self) -> StreamPolicy | None:
        """As given; XLA has streams of its own."""
        return cast(StreamPolicy | None, self._without_effect["stream_policy"])

    @property
    def concurrency(self) -> OperatorConcurrency | None:
        """As given; what runs at the same time is `plan`'s to say."""
        return cast(OperatorConcurrency | None, self._without_effect["concurrency"])

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """DALI's facts about a reader: epoch_size, epoch_size_padded, number_of_shards, shard_id, ...

        Args:
            name: of the reader; None: a dict of all readers by name.
        """
        engine, _ = self._built()
        metas = {node.name: reader.meta() for node, reader in engine.readers.items()}
        if name is None:
            return metas
        if name not in metas:
            raise RuntimeError(f"reader_meta: no reader named {name!r}; there are {sorted(metas)}")
        return dict(metas[name])

    def epoch_size(self, name: str | None = None) -> int | dict[str, int]:
        """Number of samples of a reader's data set; None: a dict of all readers by name."""
        meta = self.reader_meta(name)
        return meta["epoch_size"] if name is not None else {k: m["epoch_size"] for k, m in meta.items()}

    def executor_statistics(self) -> dict[str, Any]:
        """Programs compiled by each stage, with times; see `plan` for a readable form."""
        return _report.statistics(self._built()[0])

    def times(self) -> Times:
        """What each part has taken so far; `iterator.report` says what it means."""
        engine, executor = self._built()
        return _report.times(engine, scaled_decoding=self.scaled_decoding, ahead=executor.ahead)

    @property
    def slabs(self) -> SlabPool:
        """The host memory that its batches lease; what is made of them may lie there, too."""
        return self._built()[0].pool.slabs

    def plan(self) -> str:
        """The stages, what fused, padded shapes, compiled programs and host memory, for a person to read."""
        engine, executor = self._built()
        return _report.describe(engine, executor.room)

    def warmup(self, progress: bool = True) -> int:
        """Compiles the programs of the next batches ahead; the batches are not lost.

        Runs batches until an epoch has passed or no new program was compiled for a while. An external
        source must be one that can be asked again: a list, or a callback that is told what to give.

        Args:
            progress: shows a progress bar.

        Returns: number of programs compiled.
        """
        engine, executor = self._built()
        if not executor.ahead or executor.started:
            raise RuntimeError("Pipeline.warmup: call it before the first run, on a pipeline that is not fed")
        return _report.warm_up(engine, progress=progress)

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
            filename: where to.
            show_tensors: edges carry the names of the tensors.
            show_ids: node labels carry the nodes' numbers.
            use_colors: nodes of the accelerator are green, those of the host blue.
        """
        self.build()
        assert self._plan is not None
        with open(filename, "w", encoding="utf-8") as file:
            file.write(
                _report.dot(self._plan, show_tensors=show_tensors, show_ids=bool(show_ids), colors=use_colors)
            )


def per_output(value: Any, count: int) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise RuntimeError(
                f"Pipeline: Lengths of what is expected of the outputs and of the outputs do not match: {len(value)} and "
                f"{count}"
            )
        return list(value)
    return [value] * count
