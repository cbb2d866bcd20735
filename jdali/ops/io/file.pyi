"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from numpy.typing import NDArray
from jax.typing import ArrayLike
from jdali.fn._classes import OperatorClass

class Read(OperatorClass):
    """Reads whole files; each input sample is the path of a file.

    Args:
        filepaths: uint8 or int8 [bytes], a path in UTF-8, up to the first zero byte. URLs must be allowed:
            `jdali.storage.configure(allow_protocols=["s3"])`.
        dont_use_mmap: without effect.
        use_o_direct: without effect.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes].

    Parity: DALI cannot read an empty file.

    Example: contents = fn.io.file.read(path)
    """
    def __init__(
        self,
        *,
        dont_use_mmap: bool = False,
        use_o_direct: bool = False,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...
