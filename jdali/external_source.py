"""Provides `external_source` under DALI's older name of this module."""

from jdali.fn import external_source
from jdali.ops import ExternalSource

__all__ = ["ExternalSource", "external_source"]
