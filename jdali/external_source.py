"""Provides `external_source` for programs that import it from this module, as in DALI."""

from jdali.fn import external_source
from jdali.ops import ExternalSource

__all__ = ["ExternalSource", "external_source"]
