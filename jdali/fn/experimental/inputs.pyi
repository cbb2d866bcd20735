"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jdali.data_node import DataNode

def video(
    *,
    affine: bool = True,
    blocking: bool = False,
    last_sequence_policy: str = 'partial',
    no_copy: bool = False,
    sequence_length: int,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
