"""Opens the sources of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jdali._pipeline.config import PipelineConfig
from jdali.engine.tasks.opening import open_reader
from jdali.graph.node import Node
from jdali.readers.shared_tables import reusing


def open_source(
    node: Node, config: PipelineConfig, seed: int, tables: Mapping[str, Any] | None = None
) -> Any:
    """Opens the reader of a node, or its external source.

    Args:
        node: of the source.
        config: options of the pipeline.
        seed: of a reader without one of its own.
        tables: of the same reader in another process, to be used here, see `readers/shared_tables.py`.
    """
    if node.runtime is not None:
        return node.runtime
    with reusing(tables or {}):
        return open_reader(node, seed, tolerates_errors=config.on_error != "raise")
