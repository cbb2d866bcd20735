"""TensorFlow, or an error that says how to get it."""

from jdali._system.extras import install

try:
    import tensorflow as tf
except ImportError as error:
    raise ImportError(f"jdali.plugin.tf needs TensorFlow, which is not installed: {install('tf')}") from error

__all__ = ["tf"]
