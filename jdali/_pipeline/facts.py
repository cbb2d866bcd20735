"""Facts about a pipeline: its readers, plan, times, statistics and graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jdali._batches import SlabPool
from jdali._display.markup import escape, fitting, styled
from jdali._errors import SkippedSample
from jdali._pipeline.base import PipelineBase
from jdali._pipeline.internals import Internals
from jdali._pipeline.plan_picture import plan_svg
from jdali._system.devices import accelerator, host_device
from jdali._system.extras import install
from jdali._system.lazy import entry
from jdali._threads import Times
from jdali.engine import eager, report
from jdali.graph import DataNode, Graph, make_plan


class PlanText(str):
    """The plan of a pipeline as text; a notebook shows the graph above it.

    Args:
        text: the plan.
        picture: the graph as HTML.
    """

    _picture: str

    def __new__(cls, text: str, picture: str) -> PlanText:
        plan = super().__new__(cls, text)
        plan._picture = picture
        return plan

    def _repr_html_(self) -> str:
        return fitting(self._picture, f"<pre>{escape(self)}</pre>")


class PipelineFacts(PipelineBase):
    """Tells of a pipeline what there is; most of it once it was built, which these methods do."""

    @property
    def graph(self) -> Graph:
        """The operators; in debug mode those of the last iteration."""
        return self._definition.graph

    def inspector(self) -> eager.PipelineInspector:
        """Looks at batches and samples through sources of its own; for the viewer.

        Raises:
            RuntimeError: an external source cannot be asked again, or the pipeline is in debug mode.
        """
        if self._config.debug:
            raise RuntimeError(
                "Pipeline.view: not in debug mode, where operators are known only while they run"
            )
        run = self._building.run()
        return eager.PipelineInspector(run.window, run.first_state, self.outputs_of_graph, self.output_names)

    @property
    def num_outputs(self) -> int:
        """Number of outputs of a batch."""
        return len(self.outputs_of_graph)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs: keys of the dict that the function returned, or fields of its return annotation."""
        return self._definition.output_names

    def output_dtype(self) -> list[Any]:
        """The dtypes given at construction, one for each output."""
        return self._config.expected.of("output_dtype", self.num_outputs)

    def output_ndim(self) -> list[Any]:
        """The numbers of axes given at construction, one for each output."""
        return self._config.expected.of("output_ndim", self.num_outputs)

    @property
    def errors(self) -> list[SkippedSample]:
        """Samples that were skipped or masked in the batches taken so far."""
        return [] if self._building.built is None else self._building.built.errors

    @property
    def outputs_of_graph(self) -> tuple[DataNode, ...]:
        """The nodes that give the outputs."""
        self._building.run()
        return tuple(self._definition.outputs or ())

    @property
    def slabs(self) -> SlabPool:
        """The host memory that its batches lease; what is made of them may lie there, too."""
        return self._building.run().engine.pool.slabs

    def internals(self) -> Internals:
        """Returns the objects that run the pipeline, for debugging and tests; it is built if it was not."""
        run = self._building.run()
        return Internals(self._config, run.engine, run.window, self._building.workers)

    def output_stream(self) -> None:
        """XLA has no stream to show."""

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """The shared memory in which batches come from worker processes, now.

        Returns: "capacities", the size of each piece in bytes, and "per_sample_capacities", that size divided by the
            most samples that were in it. Empty without workers, and before the first batch.
        """
        workers = self._building.workers
        sizes = [] if workers is None else [size for size in workers.slab_sizes() if size[1]]
        return {
            "capacities": [size for size, _ in sizes],
            "per_sample_capacities": [size // samples for size, samples in sizes],
        }

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """DALI's facts about a reader: epoch_size, epoch_size_padded, number_of_shards, shard_id, ...

        Args:
            name: of the reader; None: a dict of all readers by name.
        """
        metas = {node.name: reader.meta() for node, reader in self._building.run().engine.readers.items()}
        if name is None:
            return metas
        if name not in metas:
            raise RuntimeError(
                f"reader_meta: no reader named {name!r}; there are {sorted(metas)}. Operator {name} not found or does not "
                "expose valid metadata."
            )
        return dict(metas[name])

    def epoch_size(self, name: str | None = None) -> int | dict[str, int]:
        """Number of samples of a reader's data set; None: a dict of all readers by name."""
        meta = self.reader_meta(name)
        return meta["epoch_size"] if name is not None else {k: m["epoch_size"] for k, m in meta.items()}

    def executor_statistics(self) -> dict[str, Any]:
        """Programs compiled by each stage, with times; see `plan` for a readable form."""
        run = self._building.run()
        return {**report.statistics(run.engine), "skipped_samples": len(run.errors)}

    def times(self) -> Times:
        """Returns the time that each phase has taken so far; `iterator.report` interprets it."""
        run = self._building.run()
        return report.times(run.engine, ahead=run.window.ahead)

    def plan(self) -> PlanText:
        """The stages, what fused, padded shapes, compiled programs and host memory, for a person to read."""
        run = self._building.run()
        return PlanText(report.describe(run.engine, run.window.room), self._repr_html_())

    def _repr_html_(self) -> str:
        """The graph by steps, for a notebook; the pipeline is not built for it."""
        if self._config.debug:
            return styled(f"<pre>{escape(repr(self))}</pre>")
        built, here = self._building.built, None
        if built is None:
            nodes, one_device = self._definition.graph.nodes, host_device() == accelerator()
            plan = make_plan(nodes, self._building.outputs(), one_device=one_device)
        else:
            plan = built.engine.plan
            if built.engine.elsewhere is not None:
                here = {node for step in built.engine.here.steps for node in step.nodes}
        return styled(fitting(f"<p>{escape(repr(self))}</p>", plan_svg(plan, here=here)))

    def view(self, *, port: int = 0, host: str = "127.0.0.1") -> Any:
        """Opens a local page that shows batches, samples, the graph, the data and the time; it changes nothing.

        Args:
            port: 0: a free one.
            host: address to listen on. Another one than 127.0.0.1 lets everybody who reaches it and knows the
                address see the data, over a connection that is not encrypted.

        Returns: the viewer: `url` is to be opened in a browser, `close()` ends it.

        Raises:
            ImportError: the extra `view` is not installed.
            RuntimeError: an external source cannot be asked again, or the pipeline is in debug mode.
        """
        try:
            view = entry("view")
        except ImportError as error:
            raise ImportError(f"Pipeline.view: {error.name} is missing; {install('view')}") from error
        return view(self, port=port, host=host)

    def warmup(self, progress: bool = True) -> int:
        """Compiles the programs of the next batches ahead; the batches are not lost.

        Runs batches until an epoch has passed or no new program was compiled for a while, and once more if a stage has
        risen to coarser padded shapes meanwhile. An external source must be one that can be asked again: a list, or a
        callback that takes an index.

        Args:
            progress: show a bar (by tqdm, if it is installed) where stderr is a terminal.

        Returns: number of programs compiled.
        """
        window = self._building.run().window
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
            filename: where to.
            show_tensors: edges carry the names of the tensors.
            show_ids: node labels carry the nodes' numbers.
            use_colors: nodes of the accelerator are green, those of the host blue.
        """
        plan = self._building.run().engine.plan
        text = report.dot(plan, show_tensors=show_tensors, show_ids=bool(show_ids), colors=use_colors)
        try:
            Path(filename).write_text(text, encoding="utf-8")
        except OSError as error:
            raise RuntimeError(f'Cannot open "{filename}" for writing: {error.strerror}') from error
