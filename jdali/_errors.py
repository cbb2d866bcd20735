"""The exceptions jdali raises, and what each of them carries."""

from __future__ import annotations

__all__ = ["OperatorError", "SampleError", "TracedArgumentError", "CompileLimitError"]


class SampleError(ValueError):
    """Something is wrong with one sample: its data, or an argument's value for it.

    Raised by `setup` functions and codecs, which know the sample only by its place in
    the batch. The engine adds the operator, the file and the user's line, and decides by
    `on_error` whether to raise an `OperatorError`, skip the sample or mask it.
    """

    def __init__(self, message: str, *, sample: int | None = None, argument: str | None = None):
        super().__init__(message)
        self.sample = sample
        self.argument = argument


class OperatorError(RuntimeError):
    """An operator failed; says which, on which sample and file, and where it was written.

    A `RuntimeError`, because that is what DALI raises for anything that fails in `run`.
    """

    def __init__(
        self,
        message: str,
        *,
        operator: str = "",
        sample: int | None = None,
        source: str = "",
        where: str = "",
    ):
        parts = [message]
        if sample is not None:
            parts.append(f"sample {sample} of the batch")
        if source:
            parts.append(f"file {source}")
        if where:
            parts.append(f"defined at {where}")
        super().__init__("\n  ".join(parts))
        self.operator = operator
        self.sample = sample
        self.source = source
        self.where = where


class TracedArgumentError(TypeError):
    """An argument that decides an output's size was a tracer (inside `jit` or `vmap`)."""


class CompileLimitError(RuntimeError):
    """A pipeline wanted to compile more programs than `max_compiles` allows."""
