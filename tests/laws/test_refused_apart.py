"""The real DALI never refuses a call in a process of tests: `support.refusals` asks it in a process of its own."""

from __future__ import annotations

import ast
import os
import re
import signal
from pathlib import Path

import pytest
from support import refusals

TESTS = Path(__file__).parents[1]


def die(status: int) -> None:
    os._exit(status)


def hang() -> None:
    signal.pause()


def refuse(text: str) -> None:
    raise LookupError(text)


@pytest.mark.oracle
def test_a_call_that_ends_dali_is_an_error_and_the_next_one_is_answered():
    with pytest.raises(refusals.OracleDiedError, match="ended its process with 7"):
        refusals.answer(die, 7)
    assert refusals.of(refuse, "next") == refusals.Refusal(LookupError, "next")
    assert refusals.answer(str).refusal is None


@pytest.mark.oracle
def test_a_call_that_never_returns_is_an_error(monkeypatch):
    monkeypatch.setattr(refusals, "LIMIT", 0.1)
    with pytest.raises(refusals.OracleDiedError, match=r"has not returned for 0.1 s"):
        refusals.answer(hang)


@pytest.mark.oracle
def test_a_type_of_dali_s_is_known_by_the_builtin_type_that_it_is_derived_from():
    def call():
        class Own(KeyError):
            pass

        raise Own("own")

    assert refusals.of(call).kind is KeyError


def test_no_test_expects_an_error_of_dali_in_its_own_process():
    for path in TESTS.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text if "raises(" in text and re.search(r"oracle\.|nvidia", text) else "")
        for node in ast.walk(tree):
            if isinstance(node, ast.With) and any("raises(" in ast.unparse(item) for item in node.items):
                body = "\n".join(ast.unparse(part) for part in [*node.items, *node.body])
                assert "oracle." not in body, f"{path}:{node.lineno}"
                assert "nvidia" not in body, f"{path}:{node.lineno}"
