"""Finds the variables that are read after an `if`: only these are outputs of a conditional.

A variable that only one branch sets, or whose values cannot be merged, is no error if it is not read later. The analysis
goes backwards over the statements of a function. If it is uncertain whether a variable is read, the variable counts as read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

Names: TypeAlias = frozenset[str]
NO_NAMES: Names = frozenset()
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def live_after_ifs(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[ast.If, Names]:
    """Finds the variables read after each `if` of the function; nested functions are left out."""
    captured: set[str] = set()
    for node in ast.walk(function):
        if node is not function and isinstance(node, SCOPES):
            captured |= reads([node])
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            captured |= set(node.names)
        if reads_frame(node):
            captured |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    analysis = _Analysis(frozenset(captured))
    analysis.block(function.body, analysis.always)
    return analysis.found


def reads_frame(node: ast.AST) -> bool:
    """Returns True if the node is a call that sees the local variables of the function around it."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    name = node.func.id
    return name in ("locals", "eval", "exec") or (name in ("vars", "dir") and not node.args)


def reads(nodes: Iterable[ast.AST | None]) -> Names:
    """Collects all names loaded anywhere in the nodes."""
    return frozenset(
        n.id
        for node in nodes
        if node is not None
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def _writes(targets: Iterable[ast.AST]) -> Names:
    return frozenset(t.id for t in targets if isinstance(t, ast.Name))


class _Analysis:
    def __init__(self, always: Names):
        self.always = always  # names that nested functions or exception handlers may read at any time
        self.found: dict[ast.If, Names] = {}
        self.loops: list[tuple[Names, Names]] = []  # names read after a `break`, and after a `continue`

    def block(self, statements: Sequence[ast.stmt], after: Names) -> Names:
        for statement in reversed(statements):
            after = self.statement(statement, after)
        return after

    def statement(self, node: ast.stmt, after: Names) -> Names:
        """Returns the variables that are live before a statement, given the variables that are live after it."""
        match node:
            case ast.If():
                self.found[node] = after | self.always
                return reads([node.test]) | self.block(node.body, after) | self.block(node.orelse, after)
            case ast.For() | ast.AsyncFor():
                return reads([node.iter]) | self._loop(node, after, _writes([node.target]), NO_NAMES)
            case ast.While():
                return self._loop(node, after, NO_NAMES, reads([node.test]))
            case ast.With() | ast.AsyncWith():
                return reads(node.items) | self.block(node.body, after)
            case ast.Try() | ast.TryStar():
                return self._try(node, after)
            case ast.Match():
                cases = [reads([c.pattern, c.guard]) | self.block(c.body, after) for c in node.cases]
                return reads([node.subject]) | after.union(*cases)
            case ast.Return() | ast.Raise():
                return reads([node]) | self.always
            case ast.Break() if self.loops:
                return self.loops[-1][0]
            case ast.Continue() if self.loops:
                return self.loops[-1][1]
            case ast.Assign():
                return after - _writes(node.targets) | reads([node])
            case ast.AugAssign():
                return after | _writes([node.target]) | reads([node])
            case _:
                return after | reads([node])

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, after: Names, set_: Names, test: Names
    ) -> Names:
        """Analyzes a loop repeatedly until no name is added, because the body may run again."""
        start = self.block(node.orelse, after) | test
        while True:
            self.loops.append((after, start))
            again = start | (self.block(node.body, start) - set_) | test
            self.loops.pop()
            if again == start:
                return start
            start = again

    def _try(self, node: ast.Try | ast.TryStar, after: Names) -> Names:
        """Assumes that a handler may run after any statement of the body, and `finally` after any statement."""
        outer = self.always
        final = self.block(node.finalbody, after)
        self.always = outer | (final if node.finalbody else NO_NAMES)
        handlers = NO_NAMES.union(*(reads([h.type]) | self.block(h.body, final) for h in node.handlers))
        otherwise = self.block(node.orelse, final)
        self.always |= handlers
        start = self.block(node.body, otherwise)
        self.always = outer
        return start | handlers | final


HOOK = "ag__"  # name of the hooks in converted code, and prefix of other names there
NodeT = TypeVar("NodeT", bound=ast.AST)


def walk(node: ast.AST, inside: bool = False) -> Iterable[ast.AST]:
    """Yields the node and all nodes below it that belong to the same function."""
    yield node
    if isinstance(node, SCOPES) and not inside:
        return
    for child in ast.iter_child_nodes(node):
        yield from walk(child)


def has(nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(n, kinds) for node in nodes for n in walk(node))


def stays(nodes: Iterable[ast.AST]) -> bool:
    """Returns True if the nodes must stay in their function, because they would mean something else in a separate function."""
    nodes = list(nodes)
    if has(nodes, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
        return True
    return any(reads_frame(n) for node in nodes for n in walk(node))


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Collects the variables of the function that the nodes set or delete."""
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
    """Collects names that only comprehensions set; such names are not variables of the function."""
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
