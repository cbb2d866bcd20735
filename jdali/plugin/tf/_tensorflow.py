"""Imports TensorFlow, or raises ImportError with the command that installs it."""

from typing import Any

from jdali._system.extras import install

try:
    import tensorflow as tf
except ImportError as error:
    raise ImportError(f"jdali.plugin.tf needs TensorFlow, which is not installed: {install('tf')}") from error

__all__ = ["on_host", "tf"]


def on_host() -> Any:
    """Places operators on the CPU, because operators that call Python have no kernel for other devices."""
    return tf.device("/cpu:0")
