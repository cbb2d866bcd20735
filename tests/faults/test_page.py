"""docs/reliability.md: each promise names tests, and these exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
TABLES = re.findall(r"^\| promise .*\n\|---.*\n((?:\| .*\n)+)", PAGE, re.MULTILINE)
ROWS = [row for table in TABLES for row in table.splitlines()]

pytestmark = [pytest.mark.faults, pytest.mark.timeout(60)]


def names_in(file):
    """Names of the tests of a file, those of classes as Class::test."""
    for node in ast.parse((ROOT / file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{n.name}" for n in node.body if isinstance(n, ast.FunctionDef))


def test_each_promise_names_tests_that_exist():
    assert len(ROWS) > 20
    for row in ROWS:
        named = re.findall(r"`(tests/\S+?\.py)::(\S+?)`", row)
        assert named, f"no test: {row}"
        for file, test in named:
            assert test in set(names_in(file)), f"{file} has no {test}"


def test_the_check_notices():
    assert "test_the_check_notices" in set(names_in("tests/faults/test_page.py"))
    assert "test_of_nothing" not in set(names_in("tests/faults/test_page.py"))
