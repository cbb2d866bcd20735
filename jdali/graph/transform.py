"""Rewrites a function's syntax so that `if`, `and`, `or`, `not` and calls call hooks.

    if x > 1:            def ag__if_1():
        y = f(x)             nonlocal y
    else:                    y = ag__.converted(f)(x)
        y = x      ->    def ag__else_3():
                             nonlocal y
                             y = x
                         ag__.if_(x > 1, ag__if_1, ag__else_3, ("y",), ...)

The branches are functions that share the variables of the function around them, so that a hook can run one branch or
both, and read the variables in between. A `return`, `break` or `continue` in a branch becomes a value that the branch
returns; the code after the call acts on it. Every new node has the line of the node that it replaces.
"""

from __future__ import annotations
import __future__

import ast
import copy
import itertools
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any, TypeAlias

from jdali.graph.ast_lookup import FunctionNode, argument_names
from jdali.graph.early_return import move_rest
from jdali.graph.liveness import HOOK, Names, assigned, at, has, live_after_ifs, reads_frame, stays, walk

_EXITS = {ast.Return: "Return", ast.Break: "BREAK", ast.Continue: "CONTINUE"}
Declared: TypeAlias = dict[str, type[ast.Global] | type[ast.Nonlocal]]


def transform(node: FunctionNode, code: CodeType) -> CodeType:
    """Rewrites a user's function. Returns its code, which has an additional free variable, `ag__`."""
    function = copy.deepcopy(node)
    _strip(function)
    _mangle(function, code.co_qualname)
    inner: ast.stmt
    if isinstance(function, ast.Lambda):
        function.body = _Expressions(_first(function)).visit(function.body)
        inner = ast.Expr(function)
    else:
        convert_function(function)
        inner = function
    # Define the variables of the function's closure, which would otherwise become globals.
    free: list[ast.expr] = [ast.Name(name, ast.Store()) for name in (*code.co_freevars, HOOK)]
    factory = ast.parse("def factory(): pass").body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body = [ast.Assign(free, ast.Constant(None)), inner]
    if not isinstance(function, ast.Lambda) and function.name not in code.co_freevars:
        # The function's own name is not in its closure, so in its code the name is a global.
        factory.body.insert(0, ast.Global([function.name]))
    module = ast.Module([factory], [])
    for new in (factory, *factory.body):
        ast.copy_location(new, node)
    ast.fix_missing_locations(module)
    future = code.co_flags & __future__.annotations.compiler_flag
    compiled = compile(module, code.co_filename, "exec", flags=future, dont_inherit=True)
    made = _code_in(_code_in(compiled, "factory"), code.co_name)
    return made.replace(co_qualname=code.co_qualname)


def _code_in(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _strip(function: FunctionNode) -> None:
    """Removes decorators, defaults and annotations, which Python has already evaluated."""
    function.args.defaults = []
    function.args.kw_defaults = [None] * len(function.args.kwonlyargs)
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if not isinstance(function, ast.Lambda):
        function.decorator_list, function.returns = [], None
        if hasattr(function, "type_params"):
            function.type_params = []


def _mangle(function: FunctionNode, qualname: str) -> None:
    """Prefixes private names such as `__x` in a method with the name of the class, as Python does."""
    parts = qualname.split(".")
    classes = [a for a, b in itertools.pairwise(parts) if "<locals>" not in (a, b)]
    owner = classes[-1].lstrip("_") if classes else ""
    if not owner:
        return
    for node in ast.walk(function):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, f"_{owner}{name}")


def _first(function: FunctionNode) -> str | None:
    args = [*function.args.posonlyargs, *function.args.args]
    return args[0].arg if args else None


def convert_function(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Rewrites the body of a function, in place."""
    function.body = move_rest(function.body, in_loop=False)
    branches = _Branches(_first(function), live_after_ifs(function), _declared(function))
    body = branches.block(function.body)
    for kind in (ast.Global, ast.Nonlocal):
        names = sorted(n for n, k in branches.declared.items() if k is kind)
        if names:
            body.insert(0, at(kind(names), function.body[0]))
    names = sorted(branches.state - set(argument_names(function)) - branches.declared.keys())
    if names:
        # This code never runs. It makes the names local variables of this function, which the branches share.
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        never = ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], [])
        body.insert(0, at(never, function.body[0]))
    function.body = body


def _declared(function: ast.AST) -> Declared:
    """Returns the names that the function declares as global or nonlocal, each with its kind."""
    found: Declared = {}
    for node in walk(function, inside=True):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found |= dict.fromkeys(node.names, type(node))
    return found


def _hook(name: str, *args: ast.expr) -> ast.expr:
    """Makes the expression `ag__.name`, or a call of it if there are arguments."""
    attribute = ast.Attribute(ast.Name(HOOK, ast.Load()), name, ast.Load())
    return ast.Call(attribute, list(args), []) if args else attribute


def _lambda(body: ast.expr) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return at(ast.Lambda(nothing, body), body)


class _Expressions(ast.NodeTransformer):
    """Rewrites logical expressions and calls."""

    def __init__(self, first: str | None):
        self.first = first  # the first parameter of the function, for `super()`

    def plain(self, value: ast.expr, what: str) -> ast.expr:
        """Adds a check that refuses a graph value at run time."""
        return at(_hook("plain", value, ast.Constant(what)), value)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        name = "and" if isinstance(node.op, ast.And) else "or"
        if stays(node.values[1:]) or has(node.values[1:], (ast.NamedExpr,)):
            node.values = [
                self.plain(v, f"operand of an `{name}` with `:=` or `await` in it") for v in node.values
            ]
            return node
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = at(_hook(f"{name}_", value, _lambda(result)), node)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return at(_hook("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if stays([node.body, node.orelse]) or has([node.body, node.orelse], (ast.NamedExpr,)):
            node.test = self.plain(node.test, "condition of an `if` expression with `:=` or `await` in it")
            return node
        return at(_hook("if_expression", node.test, _lambda(node.body), _lambda(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Rewrites `a < b < c` as `a < b and b < c`, with `b` evaluated once."""
        self.generic_visit(node)
        if len(node.ops) == 1 or stays(node.comparators) or has(node.comparators, (ast.NamedExpr,)):
            return node
        names: list[ast.expr] = [ast.Constant(type(op).__name__) for op in node.ops]
        operands: list[ast.expr] = [_lambda(c) for c in node.comparators]
        return at(_hook("compare", node.left, ast.Tuple(names, ast.Load()), *operands), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            if not node.args and self.first:  # needed in a branch, which is another function
                node.args = [ast.Name("__class__", ast.Load()), ast.Name(self.first, ast.Load())]
                return at(node, node)
        elif not reads_frame(node):
            node.func = at(_hook("converted", node.func), node.func)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.ifs = [self.plain(i, "condition in a comprehension") for i in node.ifs]
        return node


class _Branches(_Expressions):
    """Rewrites the statements of one function, or of one branch of an `if` in it."""

    def __init__(
        self, first: str | None, live: dict[ast.If, Names], declared: Declared, in_branch: bool = False
    ):
        super().__init__(first)
        self.live, self.declared, self.in_branch = live, declared, in_branch
        self.loops = 0  # number of loops around the current statement, in this branch
        self.state: set[str] = set()  # variables set by branches
        self.exits: set[str] = set()  # statements by which control leaves this branch

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for statement in statements:
            result = self.visit(statement)
            new += result if isinstance(result, list) else [result]
        return new

    def visit_If(self, node: ast.If) -> Any:
        if stays([*node.body, *node.orelse]):
            node.test = self.plain(
                self.visit(node.test), "condition of an `if` with `yield`, `await` or `locals()` in it"
            )
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return node
        targets = _targets([*node.body, *node.orelse])
        names = assigned([*node.body, *node.orelse])
        live = self.live[node] & names
        test = self.visit(node.test)
        exits: set[str] = set()
        functions = [
            self._branch(node, block, f"{HOOK}{word}_{block[0].lineno}", exits)
            for word, block in (("if", node.body), ("else", node.orelse))
            if block
        ]
        self.state |= names
        branches: list[ast.expr] = [ast.Name(f.name, ast.Load()) for f in functions]
        branches += [ast.Constant(None)] * (2 - len(branches))
        groups = [ast.Tuple([ast.Constant(n) for n in sorted(g)], ast.Load()) for g in (names, live)]
        call = at(_hook("if_", test, *branches, *groups, targets), node.test)
        if not exits:
            return [*functions, at(ast.Expr(call), node.test)]
        out = f"{HOOK}out_{node.lineno}"
        assign = ast.Assign([ast.Name(out, ast.Store())], call)
        return [*functions, at(assign, node.test), *(at(e, node) for e in self._leave(out, exits))]

    def _branch(self, node: ast.If, block: list[ast.stmt], name: str, exits: set[str]) -> ast.FunctionDef:
        assigned_here = assigned(block)
        unit = _Branches(self.first, self.live, self.declared, in_branch=True)
        body = unit.block(block)
        exits |= unit.exits
        function = ast.parse(f"def {name}(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = body
        for kind in (ast.Global, ast.Nonlocal):
            names = sorted(n for n in assigned_here if self.declared.get(n, ast.Nonlocal) is kind)
            if names:
                body.insert(0, kind(names))
        return at(function, node)

    def _leave(self, out: str, exits: set[str]) -> Iterable[ast.stmt]:
        """Yields statements that follow a conditional, and carry out the `return`, `break` or `continue` of its branch."""
        kept = set(exits)
        outcome = ast.Name(out, ast.Load())
        for kind, statement in (("BREAK", ast.Break()), ("CONTINUE", ast.Continue())):
            if kind in exits and self.loops:
                kept.remove(kind)
                yield ast.If(ast.Compare(outcome, [ast.Is()], [_hook(kind)]), [statement], [])
        if not kept:
            return
        value: ast.expr = outcome if self.in_branch else ast.Attribute(outcome, "value", ast.Load())
        if self.in_branch:
            self.exits |= kept
        something = ast.Compare(outcome, [ast.IsNot()], [ast.Constant(None)])
        yield ast.If(something, [ast.Return(value)], [])

    def _exit(self, node: ast.stmt) -> ast.stmt:
        kind = _EXITS[type(node)]
        self.exits.add(kind)
        if isinstance(node, ast.Return):
            value = node.value or ast.Constant(None)
            return at(ast.Return(_hook(kind, value)), node)
        return at(ast.Return(_hook(kind)), node)

    def visit_Global(self, node: ast.stmt) -> ast.stmt:
        return at(ast.Pass(), node)  # the declaration moved to the top of the function

    visit_Nonlocal = visit_Global

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Drops the annotation, which Python forbids for a variable that branches share."""
        if not isinstance(node.target, ast.Name):
            self.generic_visit(node)
            return node
        if node.value is None:
            return at(ast.Pass(), node)
        return at(ast.Assign([node.target], self.visit(node.value)), node)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        self.generic_visit(node)
        return self._exit(node) if self.in_branch else node

    def visit_Break(self, node: ast.stmt) -> ast.stmt:
        return self._exit(node) if self.in_branch and not self.loops else node

    visit_Continue = visit_Break

    def _loop(self, node: Any) -> Any:
        self.loops += 1
        node.body = self.block(node.body)
        self.loops -= 1
        node.orelse = self.block(node.orelse)
        return node

    def visit_For(self, node: Any) -> Any:
        node.target, node.iter = self.visit(node.target), self.visit(node.iter)
        return self._loop(node)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> ast.While:
        node.test = self.plain(self.visit(node.test), "condition of a `while` loop")
        return self._loop(node)

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self.generic_visit(node)
        node.test = self.plain(node.test, "condition of an `assert`")
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        if node.guard is not None:
            node.guard = self.plain(self.visit(node.guard), "guard of a `case`")
        node.body = self.block(node.body)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        convert_function(node)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Rewrites the methods only: functions inside a class body do not see its variables."""
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                convert_function(statement)
        return node


def _targets(nodes: Sequence[ast.AST]) -> ast.expr:
    """Makes `("a.b", lambda: a, "b")` for each attribute that the nodes set, and `("a", lambda: a, None)` for items of `a`."""
    found: dict[str, ast.expr] = {}
    for node in nodes:
        for n in walk(node):
            if not isinstance(n, (ast.Attribute, ast.Subscript)) or isinstance(n.ctx, ast.Load):
                continue
            if has([n.value], (ast.Call, ast.NamedExpr, ast.Yield, ast.Await)):
                continue
            name = n.attr if isinstance(n, ast.Attribute) else None
            text = ast.unparse(n if name else n.value)
            base = _lambda(copy.deepcopy(n.value))
            found[f"{text}{'' if name else '[]'}"] = ast.Tuple(
                [ast.Constant(text), base, ast.Constant(name)], ast.Load()
            )
    return ast.Tuple(list(found.values()), ast.Load())
