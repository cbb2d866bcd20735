"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor

def read(
    filepaths: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dont_use_mmap: builtins.bool = False,
    use_o_direct: builtins.bool = False,
) -> Tensor | Batch:
    """Reads whole files; each input sample is the path of a file.

    Args:
        filepaths: uint8 or int8 [bytes], a path in UTF-8, up to the first zero byte. URLs must be allowed:
            `jdali.storage.configure(allow_protocols=["s3"])`.
        dont_use_mmap: without effect.
        use_o_direct: without effect.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: uint8 [bytes].

    Parity: DALI cannot read an empty file.

    Example: contents = fn.io.file.read(path)
    """
