"""Questions about the syntax of one function, and locations for new nodes in it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeVar

from jdali.graph.liveness import SCOPES, reads_frame

HOOK = "ag__"  # the name under which converted code knows its runtime; others are made from it
NodeT = TypeVar("NodeT", bound=ast.AST)


def walk(node: ast.AST, inside: bool = False) -> Iterable[ast.AST]:
    """Yields the node and all below it that belong to the same function."""
    yield node
    if isinstance(node, SCOPES) and not inside:
        return
    for child in ast.iter_child_nodes(node):
        yield from walk(child)


def has(nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(n, kinds) for node in nodes for n in walk(node))


def stays(nodes: Iterable[ast.AST]) -> bool:
    """True if the nodes lose their meaning in a function of their own."""
    nodes = list(nodes)
    if has(nodes, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
        return True
    return any(reads_frame(n) for node in nodes for n in walk(node))


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables of the function that the nodes set or delete."""
    names: set[str] = set()
    for node in nodes:
        for n in walk(node):
            match n:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    names.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    names.add(name)
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    names.add(name)
                case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                    names.add(name)
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    names |= {a.asname or a.name.split(".")[0] for a in aliases}
    return names - _comprehension_names(nodes)


def _comprehension_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that only comprehensions set, which are not variables of the function."""
    inner: set[int] = set()
    for node in nodes:
        for n in walk(node):
            if isinstance(n, ast.comprehension):
                inner |= {id(t) for t in ast.walk(n.target)}
    stored = [
        n for node in nodes for n in walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))
    ]  # fmt: skip
    return {n.id for n in stored if id(n) in inner} - {n.id for n in stored if id(n) not in inner}


def at(new: NodeT, old: ast.AST) -> NodeT:
    return ast.fix_missing_locations(ast.copy_location(new, old))
