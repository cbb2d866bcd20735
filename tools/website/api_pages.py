"""Writes the pages of the API reference, one for each module; mkdocstrings adds the module's docstrings."""

from __future__ import annotations

# Modules of the reference, and titles of their pages.
MODULES = {
    "jdali": "Data sets, batches and exported pipelines",
    "jdali.pipeline": "Pipelines",
    "jdali.iterator": "Iterators for training loops",
    "jdali.tensors": "Batches and samples",
    "jdali.dynamic": "Dynamic mode",
    "jdali.math": "Mathematical functions",
    "jdali.types": "Types and constants",
    "jdali.storage": "Storage and limits",
    "jdali.profiler": "Reports",
    "jdali.serving": "Serving",
    "jdali.auto_aug.auto_augment": "AutoAugment",
    "jdali.auto_aug.rand_augment": "RandAugment",
    "jdali.auto_aug.trivial_augment": "TrivialAugment",
    "jdali.auto_aug.augmentations": "Augmentations",
    "jdali.plugin.jax": "JAX",
    "jdali.plugin.jax.fn": "Functions of JAX in pipelines",
    "jdali.plugin.pytorch": "PyTorch",
    "jdali.plugin.tf": "TensorFlow",
    "jdali.plugin.operators": "Operators of one's own",
    "jdali.plugin_manager": "Loading plugins",
    "jdali.tfrecord": "TFRecord features",
    "jdali.backend": "Backend",
    "jdali.sysconfig": "Paths and flags",
}

# Members that a page shows. A module that is missing here shows its `__all__`.
_MEMBERS = {
    "jdali": [
        "statistics",
        "show",
        "load",
        "OperatorError",
        "SampleError",
        "CompileLimitError",
        "FolderError",
    ],
}


def page(module: str, title: str) -> str:
    """Writes the page of a module."""
    text = f"# {title}\n\n`{module}`\n\n::: {module}\n    options:\n      heading_level: 2\n      show_root_heading: false\n"
    return text + (f"      members: {_MEMBERS[module]}\n" if module in _MEMBERS else "")


def index() -> str:
    """Writes the list of modules."""
    rows = "\n".join(f"| [`{m}`]({m}.md) | {title} |" for m, title in MODULES.items())
    return (
        "# API reference\n\nFrom the docstrings. Functions of `jdali.fn`, `jdali.ops` and `jdali.dynamic` that are "
        f"operators have [pages of their own](../operators/index.md).\n\n| | |\n|---|---|\n{rows}\n"
    )
