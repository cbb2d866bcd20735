"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jdali.data_node import DataNode

def gaussian(
    data: DataNode,
    /,
    *,
    mean: float | DataNode = 0.0,
    stddev: float | DataNode = 1.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def salt_and_pepper(
    data: DataNode,
    /,
    *,
    pepper_val: float | DataNode | None = None,
    per_channel: bool = False,
    prob: float | DataNode = 0.05,
    salt_val: float | DataNode | None = None,
    salt_vs_pepper: float | DataNode = 0.5,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def shot(
    data: DataNode,
    /,
    *,
    factor: float | DataNode = 12.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...
