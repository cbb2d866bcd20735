"""Programs without the places in source files that each operation came from.

JAX writes into a program the files and lines of all callers. With these, a program would be another one in another folder, and
would tell where its author keeps files.
"""

from __future__ import annotations

import dataclasses

import jax
from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo


def without_places(exported: jax.export.Exported) -> jax.export.Exported:
    """Strips all locations of a program; its operations stay as they are."""
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = stablehlo.deserialize_portable_artifact(context, exported.mlir_module_serialized)
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        # The version that JAX itself writes, which readers of the last four weeks take.
        compatible = stablehlo.StablehloCompatibilityRequirement.WEEK_4
        version = stablehlo.get_version_from_compatibility_requirement(compatible)
        data = stablehlo.serialize_portable_artifact(module, version)
    return dataclasses.replace(exported, mlir_module_serialized=data)
