"""The node of a cluster that a worker is on."""

from __future__ import annotations

import os

NODE = "JDALI_WORKER_NODE"
"""Environment variable of workers that has the node's name."""


def on_node() -> str:
    """Names the node of this worker, for messages; "": none was told."""
    node = os.environ.get(NODE, "")
    return node and f" on node {node}"
