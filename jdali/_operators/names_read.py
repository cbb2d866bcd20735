"""The parameters that a function reads, by its bytecode.

Most arguments of an operator decide sizes: `setup` reads them, and `run` has them since its signature is the schema. A program
that they are not compiled into serves calls with any values of them.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable

# All other instructions on a local name read it, or one of their two names (`STORE_FAST_LOAD_FAST` of Python 3.13).
_WRITES = {"STORE_FAST", "STORE_FAST_STORE_FAST", "DELETE_FAST"}


def names_read(function: Callable[..., object]) -> frozenset[str] | None:
    """Returns the local names that a function reads; None where its code does not tell."""
    code = getattr(function, "__code__", None)
    if (
        code is None
        or code.co_flags & inspect.CO_VARKEYWORDS
        or {"locals", "vars", "eval", "exec"} & set(code.co_names)
    ):
        return None
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.haslocal and instruction.opname not in _WRITES:
            names = instruction.argval  # of some instructions of Python 3.13 two
            read |= {names} if isinstance(names, str) else set(names)
    return frozenset(read)
