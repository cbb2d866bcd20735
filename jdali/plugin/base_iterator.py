"""DALI's `plugin.base_iterator`."""

from jdali.iterator import LastBatchPolicy

__all__ = ["LastBatchPolicy"]
