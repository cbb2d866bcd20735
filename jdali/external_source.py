"""DALI's older location of `external_source`."""

from jdali.fn import external_source
from jdali.ops import ExternalSource

__all__ = ["ExternalSource", "external_source"]
