"""DALI's `sysconfig`: the paths and flags by which operators in C++ are compiled.

jdali has the paths and no such operators: in place of DALI's headers lies one that says so when it is compiled, and
`plugin_manager.load_library` refuses compiled libraries. Operators of third parties are Python modules
(docs/custom_operators.md).
"""

from __future__ import annotations

import os

from jdali.backend import GetCxx11AbiFlag

__all__ = ["get_compile_flags", "get_include_dir", "get_include_flags", "get_lib_dir", "get_link_flags"]

_FOLDER = os.path.dirname(os.path.realpath(__file__))


def get_include_dir() -> str:
    """Returns the folder of the header that tells a compiler, in words, that jdali has no operators in C++."""
    return os.path.join(_FOLDER, "include")


def get_lib_dir() -> str:
    """Returns the folder of the package, which has no compiled library."""
    return _FOLDER


def get_include_flags() -> list[str]:
    """Returns the flags by which a compiler finds `get_include_dir`."""
    return [f"-I{get_include_dir()}"]


def get_compile_flags() -> list[str]:
    """Returns the flags to compile an operator with."""
    return [*get_include_flags(), f"-D_GLIBCXX_USE_CXX11_ABI={GetCxx11AbiFlag()}"]


def get_link_flags() -> list[str]:
    """Returns the flags to link an operator with."""
    return [f"-L{get_lib_dir()}", "-ldali"]
