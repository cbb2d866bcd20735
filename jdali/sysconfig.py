"""Provides DALI's `sysconfig`: paths and flags to compile C++ operators.

jdali has no C++ operators. Its only header stops compilation with an error, and `plugin_manager.load_library` rejects
compiled libraries. Custom operators are Python modules (docs/custom_operators.md).
"""

from __future__ import annotations

import os

from jdali.backend import GetCxx11AbiFlag

__all__ = ["get_compile_flags", "get_include_dir", "get_include_flags", "get_lib_dir", "get_link_flags"]

_FOLDER = os.path.dirname(os.path.realpath(__file__))


def get_include_dir() -> str:
    """Returns the folder of a header that stops compilation with an error, because jdali has no C++ operators."""
    return os.path.join(_FOLDER, "include")


def get_lib_dir() -> str:
    """Returns the folder of the package; it contains no compiled library."""
    return _FOLDER


def get_include_flags() -> list[str]:
    """Returns the compiler flag that adds `get_include_dir()` to the include path."""
    return [f"-I{get_include_dir()}"]


def get_compile_flags() -> list[str]:
    """Returns the compiler flags of a C++ operator."""
    return [*get_include_flags(), f"-D_GLIBCXX_USE_CXX11_ABI={GetCxx11AbiFlag()}"]


def get_link_flags() -> list[str]:
    """Returns the linker flags of a C++ operator."""
    return [f"-L{get_lib_dir()}", "-ldali"]
