"""Opens the sources of a pipeline."""

from __future__ import annotations

from typing import Any

from jdali._pipeline.config import PipelineConfig
from jdali.engine.tasks.opening import open_reader
from jdali.graph.node import Node


def open_source(node: Node, config: PipelineConfig, seed: int) -> Any:
    """Opens the reader of a node, or its external source; a reader without a seed of its own takes this one."""
    if node.runtime is not None:
        return node.runtime
    return open_reader(node, seed, tolerates_errors=config.on_error != "raise")
