"""Arguments of `setup` whose values are tracers of the caller's program."""

from __future__ import annotations

import numpy as np

from jdali._errors import TracedArgumentError


class Traced:
    """Stands in `setup` for an argument that is a tracer; using its value is the user's error.

    Attributes:
        extents: int64 [N, ndim], the shape that each sample's value has, or None.
    """

    def __init__(self, operator: str, argument: str, extents: np.ndarray | None = None):
        self._operator, self._argument = operator, argument
        self.extents = extents

    @property
    def known_shape(self) -> tuple[int, ...] | None:
        """Shape that the values of the batch have, [N, ...], or None."""
        extents = self.extents
        if extents is None or not len(extents) or (extents != extents[0]).any():
            return None
        return (len(extents), *extents[0].tolist())

    def _fail(self, *_: object, **__: object) -> object:
        raise TracedArgumentError(
            f"{self._operator}: argument {self._argument!r} decides the size of the output, so inside "
            "jit, vmap or grad it must be a concrete value (mark it static, or give arguments that fix "
            "the size another way)"
        )

    __array__ = __getattr__ = __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = _fail
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __lt__ = __gt__ = __le__ = __ge__ = _fail
    __neg__ = __abs__ = __bool__ = __len__ = __iter__ = __float__ = __int__ = _fail


def is_traced(value: object) -> bool:
    """True if an argument of `setup` has no value yet (checks of its value must be left out)."""
    return isinstance(value, Traced)
