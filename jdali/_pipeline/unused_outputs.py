"""Warning of work for nothing: outputs of the user's sources that nobody takes."""

from __future__ import annotations

import warnings

from jdali._sources import SourceFeed
from jdali.graph import ExecutionPlan


def warn_of_unused_outputs(plan: ExecutionPlan) -> None:
    """Warns of external sources that make data for some outputs which nothing in the pipeline needs."""
    for node in plan.sources:
        source = node.runtime
        unused = plan.unused_outputs(node)
        if not unused or not isinstance(source, SourceFeed) or source.is_fed:
            continue
        which = ", ".join(map(str, unused))
        these = (
            f"output at the index {which} is" if len(unused) == 1 else f"outputs at the indices {which} are"
        )
        warnings.warn(
            f"The external source node '{node.name} ({_described(source.source)})' produces {len(node.outputs)} "
            f"outputs, but the {these} not used.\n  defined at {node.where}",
            stacklevel=2,
        )


def _described(source: object) -> str:
    """ "function load", "generator batches", "Loader"."""
    return f"{type(source).__name__} {getattr(source, '__name__', '')}".rstrip()
