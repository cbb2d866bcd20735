"""Imports PaddlePaddle, or raises ImportError with the command that installs it."""

from jdali._system.extras import install

try:
    import paddle
except ImportError as error:
    raise ImportError(
        f"jdali.plugin.paddle needs PaddlePaddle, which is not installed: {install('paddle')}"
    ) from error

__all__ = ["paddle"]
