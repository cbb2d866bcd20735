"""Reorders blocks so that both branches of an `if` end in a `return`, or neither does."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jdali.graph.liveness import HOOK, SCOPES, at, has


def move_rest(statements: Sequence[ast.stmt], in_loop: bool) -> list[ast.stmt]:
    """Moves the statements after an `if` into one branch, if the other branch ends in a `return` or `continue`.

    Then both branches end in a `return`, and their values can be merged. A `continue` at the end of a loop's body does
    nothing, and is removed.
    """
    block: list[ast.stmt] = []
    for i, node in enumerate(statements):
        rest, last = list(statements[i + 1 :]), i == len(statements) - 1
        if isinstance(node, ast.If):
            body, orelse = _leaves(node.body), _leaves(node.orelse)
            leaving = node.body if body else node.orelse
            if rest and body != orelse and has(leaving, (ast.Return, ast.Continue)):
                (node.orelse if body else node.body).extend(rest)
                last = True
        _move_rest_inside(node, in_loop and last)
        block.append(at(ast.Pass(), node) if in_loop and last and isinstance(node, ast.Continue) else node)
        if last:
            break
    return block


def _move_rest_inside(node: ast.stmt, at_end: bool) -> None:
    if isinstance(node, SCOPES):
        return
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        node.body = _with_flag(move_rest(node.body, True))
        node.orelse = move_rest(node.orelse, False)
        return
    for field in ("body", "orelse", "finalbody"):
        if getattr(node, field, None):
            setattr(node, field, move_rest(getattr(node, field), at_end and isinstance(node, ast.If)))
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        part.body = move_rest(part.body, False)


def _with_flag(body: list[ast.stmt]) -> list[ast.stmt]:
    """Replaces the remaining `continue`s, which are deep in branches of a loop, by a flag that later statements test."""
    if not any(_continues(node) for node in body):
        return body
    flag = f"{HOOK}continue_{body[0].lineno}"
    return [_set(flag, False, body[0]), *_test_flag(body, flag)]


def _continues(node: ast.stmt) -> bool:
    """Returns True if a statement is a `continue`, or an `if` that contains one."""
    if isinstance(node, ast.If):
        return any(_continues(n) for n in (*node.body, *node.orelse))
    return isinstance(node, ast.Continue)


def _test_flag(block: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    new: list[ast.stmt] = []
    for i, node in enumerate(block):
        if isinstance(node, ast.Continue):
            return [*new, _set(flag, True, node)]
        new.append(node)
        if isinstance(node, ast.If) and _continues(node):
            node.body, node.orelse = _test_flag(node.body, flag), _test_flag(node.orelse, flag)
            rest = _test_flag(block[i + 1 :], flag)
            if rest:
                test = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
                new.append(at(ast.If(test, rest, []), node))
            break
    return new


def _set(name: str, value: bool, where: ast.AST) -> ast.stmt:
    return at(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), where)


def _leaves(block: Sequence[ast.stmt]) -> bool:
    """Returns True if no path through the block reaches its end."""
    for node in block:
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return True
        if isinstance(node, ast.If) and _leaves(node.body) and _leaves(node.orelse):
            return True
    return False
