"""Imports PyTorch, or raises ImportError with the command that installs it."""

from jdali._system.extras import install

try:
    import torch as torch
except ImportError as error:
    raise ImportError(
        f"jdali.plugin.pytorch needs PyTorch, which is not installed: {install('torch')}"
    ) from error
