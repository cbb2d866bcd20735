"""Times of the parts of a pipeline, from its sources to the device."""

from __future__ import annotations

from collections.abc import Sequence

from jdali._threads import PhaseTimer
from jdali.graph import ExecutionPlan, HostStep, Node, Stage


class Timing:
    """The parts of a pipeline: what the sources give, each step of its plan, and the wait for the device.

    Args:
        plan: the steps of this process.
        externals: external sources.
        workers: counts the time of worker processes; None: there are none.
    """

    def __init__(self, plan: ExecutionPlan, externals: Sequence[Node], workers: PhaseTimer | None = None):
        given = " + ".join(node.op.name if node.name.startswith("__") else node.name for node in externals)
        self.draw = PhaseTimer("source", given or "order of the samples")
        self.steps = [_part(step, plan.sources, externals) for step in plan.steps]
        self._workers = [] if workers is None else [workers]
        names = [p.name for p in self.steps if p.kind == "stage"]
        self.device = PhaseTimer("device", f"waiting for {names[-1] if names else 'nothing'}")

    @property
    def parts(self) -> list[PhaseTimer]:
        """All, in the order in which a batch goes through them."""
        return [self.draw, *self._workers, *self.steps, self.device]


def _part(step: HostStep | Stage, sources: Sequence[Node], externals: Sequence[Node]) -> PhaseTimer:
    name = " + ".join(node.op.name for node in step.nodes)
    if isinstance(step, Stage):
        return PhaseTimer("arguments" if step.is_arguments else "stage", name)
    kinds = [(externals, "samples"), (sources, "reading")]
    kind = next((kind for nodes, kind in kinds if step.node in nodes), "host")
    return PhaseTimer(kind, name, step.node.op.shown_work)
