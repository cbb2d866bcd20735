"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
from typing import Any
from jdali.dynamic._device import Device

def read(
    filepaths: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dont_use_mmap: builtins.bool = False,
    use_o_direct: builtins.bool = False,
) -> Any: ...
