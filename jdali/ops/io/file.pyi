"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jdali.fn._classes import OperatorClass

class Read(OperatorClass):
    def __init__(
        self,
        *,
        dont_use_mmap: bool = False,
        use_o_direct: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...
