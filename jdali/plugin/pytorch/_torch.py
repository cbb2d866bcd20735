"""PyTorch, or an error that says how to get it."""

try:
    import torch as torch
except ImportError as error:
    raise ImportError(
        'jdali.plugin.pytorch needs PyTorch, which is not installed: pip install "jdali[torch]"'
    ) from error
