"""Paths and flags as DALI's, and what becomes of an operator in C++ that is compiled by them."""

import shutil
import subprocess

import pytest
from support import oracle

from jdali import plugin_manager, sysconfig


@pytest.mark.oracle
def test_functions_and_flags_are_dalis():
    theirs = oracle.dali().sysconfig
    for name in (name for name in dir(theirs) if name.startswith("get_")):
        ours, their = getattr(sysconfig, name)(), getattr(theirs, name)()
        if isinstance(their, str):
            assert isinstance(ours, str)
        else:
            assert [flag[:2] for flag in ours] == [flag[:2] for flag in their]


def test_an_operator_in_cpp_is_refused_in_words(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    source = tmp_path / "plugin.cc"
    source.write_text('#include <vector>\n#include "dali/pipeline/operator/operator.h"\nint main() {}\n')
    done = subprocess.run(
        [compiler, *sysconfig.get_compile_flags(), "-fsyntax-only", str(source)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "jdali has no operators in C++: write them in Python with jdali.plugin.operators" in done.stderr
    with pytest.raises(RuntimeError, match="cannot run in jdali, whose operators are Python modules"):
        plugin_manager.load_library(f"{sysconfig.get_lib_dir()}/libplugin.so")
