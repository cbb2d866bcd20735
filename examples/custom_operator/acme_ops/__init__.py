"""Operators of a third party: after `import acme_ops` they are in `jdali.fn.acme`, `jdali.ops.acme`, `jdali.dynamic.acme`."""

from jdali import plugin_manager

plugin_manager.load_library("acme_ops.checksum")
plugin_manager.load_library("acme_ops.vignette")
