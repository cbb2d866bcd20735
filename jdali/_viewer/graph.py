"""Renders the page of the graph: steps with their times, and operators with the sizes of their outputs."""

from __future__ import annotations

from collections.abc import Callable

from jdali._display import escape
from jdali._pipeline import ValueSize, plan_svg
from jdali._threads import Spent
from jdali._viewer.timing import LiveTimes
from jdali.engine.eager import PipelineInspector
from jdali.graph import DataNode, Node
from jdali.pipeline import Pipeline

_NOTE = (
    "<p>A box is a step; operators in one box are one compiled program. Behind an operator: what it makes of a sample. In the "
    "head of a box: the time of a batch, and the bytes of a sample that leave the box. A click on an operator shows its values."
    "</p>"
)

_MOST_TRIED = 8  # maximum number of samples to try, until one succeeds


class GraphPage:
    """Renders the graph of a pipeline, with live times.

    Args:
        times: times of a loop over a new, equal pipeline; shown until the pipeline itself produces a batch.
        pipe: returns the pipeline, whose plan the page shows; None after the pipeline was freed.
        root: path of the viewer.
    """

    def __init__(
        self, inspector: PipelineInspector, times: LiveTimes, pipe: Callable[[], Pipeline | None], root: str
    ):
        self._inspector, self._times, self._pipe, self._root = inspector, times, pipe, root
        self._sizes: dict[DataNode, ValueSize] | None = None
        self._position = 0

    def page(self) -> str:
        """Renders the page; the browser refreshes the middle part with the result of `now`."""
        form = self._times.form(self._root, "graph")
        return f'{_NOTE}{form}<div id="live" data-live="{self._root}graph/now">{self.now()}</div>'

    def now(self) -> str:
        engine = self._inspector.engine
        steps, workers = self._inspector.step_times(), self._inspector.worker_time()
        whose = ""
        if not any(spent.count for spent in steps):
            steps, workers = self._times.measured or (steps, workers)
            whose = "<p>The times are of the measured loop.</p>" if self._times.measured else ""
        spent: dict[Node, Spent] = {
            step.nodes[0]: spent for step, spent in zip(engine.here.steps, steps, strict=True)
        }
        sizes = self._known_sizes()
        svg = plan_svg(
            engine.plan, here=engine.here if engine.elsewhere is not None else None, times=spent, sizes=sizes,
            workers=workers, links=f"{self._root}sample/0/{self._position}#n",
        )  # fmt: skip
        pipe = self._pipe()
        plan = f"<h2>Plan</h2><pre>{escape(pipe.plan())}</pre>" if pipe is not None else ""
        return f'{self._times.progress()}{whose}<div class="jd-scroll">{svg}</div>{plan}'

    def _known_sizes(self) -> dict[DataNode, ValueSize]:
        """Returns the size of each value in the first sample that does not fail; measures only at the first call."""
        if self._sizes is not None:
            return self._sizes
        for position in range(min(len(self._inspector.task(0)), _MOST_TRIED)):
            trace, row, _ = self._inspector.trace(0, position)
            if trace.failure is None:
                break
        found = {}
        for value in trace.values:
            array = trace.value(value, row)
            if array is not None:
                shape = "×".join(map(str, array.shape)) or "scalar"
                found[value] = ValueSize(f"{array.dtype} {shape}", array.nbytes)
        self._position, self._sizes = position, found
        return found
