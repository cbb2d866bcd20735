"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jdali.data_node import DataNode

def read(
    filepaths: DataNode,
    /,
    *,
    dont_use_mmap: bool = False,
    use_o_direct: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
