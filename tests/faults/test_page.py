"""docs/reliability.md: each promise names tests, and these exist; the limits are those that there are."""

import ast
import dataclasses
import re
from pathlib import Path

import pytest

from jdali._system import limits

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
TABLES = [part.splitlines() for part in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)]
ROWS = [line for head, _, *rows in TABLES if head.startswith("| promise") for line in rows]
LIMITS = [line for head, _, *rows in TABLES if head.startswith("| limit ") for line in rows]

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


def test_the_limits_are_those_of_the_table():
    told = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", "\n".join(LIMITS), re.MULTILINE))
    words = {1: "the memory", 2: "half of the memory", 256: "one for each 256 bytes of the memory"}
    assert told == {
        field.name: words[limits._SHARES[field.name]] if field.default is None else f"{field.default:,}"
        for field in dataclasses.fields(limits.Limits)
    }


def test_the_check_notices():
    assert len(TABLES) == PAGE.count("\n|---|")
    assert "test_the_check_notices" in set(names_in("tests/faults/test_page.py"))
    assert "test_of_nothing" not in set(names_in("tests/faults/test_page.py"))
