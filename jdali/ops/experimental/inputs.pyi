"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jdali.fn._classes import OperatorClass

class Video(OperatorClass):
    def __init__(
        self,
        *,
        affine: bool = True,
        blocking: bool = False,
        last_sequence_policy: str = 'partial',
        no_copy: bool = False,
        sequence_length: int | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...
