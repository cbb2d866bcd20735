"""Finds the syntax tree of a function's code, in the user's file, with the user's line numbers."""

from __future__ import annotations

import ast
import linecache
from types import CodeType
from typing import Any, TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_TREES: dict[str, tuple[list[str], ast.Module]] = {}  # lines and syntax tree of each file


def function_node(code: CodeType, module_globals: dict[str, object]) -> FunctionNode | None:
    """Finds the `def` or `lambda` that the code was compiled from; None if the source is not available."""
    tree = _parse(code.co_filename, module_globals)
    if tree is None:
        return None
    found = [node for node in ast.walk(tree) if _matches(node, code)]
    if len(found) > 1:  # several lambdas on one line
        found = sorted((node for node in found if _contains(node, code)), key=_size)
    return found[0] if found else None  # type: ignore[return-value]


def _parse(filename: str, module_globals: dict[str, object]) -> ast.Module | None:
    lines = linecache.getlines(filename, module_globals)
    known = _TREES.get(filename)
    if known is not None and known[0] is lines:
        return known[1]
    if not lines:
        return None
    try:
        tree = ast.parse("".join(lines), filename)
    except SyntaxError:
        return None
    _TREES[filename] = lines, tree
    return tree


def _matches(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        same = code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        same = code.co_name == node.name and first == code.co_firstlineno
    else:
        return False
    # A file that was edited after it was imported may have another function at this line.
    wanted = argument_names(node)
    names = code.co_varnames[: len(wanted)]
    # Python prefixes a method's private parameter `__x` with the name of the class.
    return same and len(names) == len(wanted) and all(map(str.endswith, names, wanted))


def argument_names(node: FunctionNode) -> list[str]:
    """Lists the names of all parameters, in the order of code objects."""
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [a.arg for a in (args.vararg, args.kwarg) if a is not None]


def _contains(node: Any, code: CodeType) -> bool:
    """Returns True if all instructions come from the text of the node."""
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    for line, end_line, column, end_column in code.co_positions():
        if line is None or column is None or end_line is None or end_column is None:
            continue
        if line == code.co_firstlineno and column == end_column == 0:
            continue  # RESUME, at the start of the line
        if (line, column) < start or (end_line, end_column) > end:
            return False
    return True


def _size(node: Any) -> tuple[int, int]:
    lines = node.end_lineno - node.lineno
    return lines, node.end_col_offset - (0 if lines else node.col_offset)
