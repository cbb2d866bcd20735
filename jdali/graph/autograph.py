"""Runs Python's `if`, `and`, `or` and `not` on values of a graph.

`convert` rewrites a function (see `transform`) so that its conditionals call the `ConditionalHooks` below. If a condition is
an ordinary value, the hooks do what Python does. If it is a value of a graph, the hooks run both branches, one after the
other on the same variables, and merge the values of the variables. Functions that the user's function calls are converted
when they are called, except functions of libraries.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import re
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import CellType, CodeType, FunctionType, MethodType, TracebackType
from typing import Any

from jdali.graph import branch_state as _branch_state
from jdali.graph.ast_lookup import function_node
from jdali.graph.branch_state import MISSING, Merge, Return, Variable, existing_targets, variables
from jdali.graph.liveness import HOOK
from jdali.graph.transform import transform

# These libraries and the standard library are not converted: they are large, and do not branch on graph values.
LIBRARIES = {
    "jdali", "jax", "jaxlib", "numpy", "scipy", "ml_dtypes", "flax", "optax", "orbax", "grain", "PIL",
    "torch", "tensorflow", "cv2", "pytest", "_pytest", "pluggy", "nvidia", "cupy", "numba", "skimage",
    "sklearn", "matplotlib", "pandas", "tqdm", "absl",
}  # fmt: skip
# Parts of jdali that are converted, because they are written like a user's code.
CONVERTED = ("jdali.auto_aug",)
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_NOT_CONVERTED = "_jdali_do_not_convert"


def is_not_converted(func: object) -> bool:
    return bool(getattr(func, _NOT_CONVERTED, False))


def do_not_convert(func: object = None) -> Any:
    """Decorates a function so that `if`, `and`, `or` and `not` stay Python's own, in it and in all functions that it calls.

    Raises:
        ValueError: the function is a pipeline definition.
    """
    if func is None:
        return do_not_convert
    if getattr(func, "_is_pipeline_def", False):
        raise ValueError("Pipeline definition cannot be marked with @do_not_convert.")
    with contextlib.suppress(AttributeError, TypeError):  # built-in functions are never converted
        setattr(func, _NOT_CONVERTED, True)
    return func


def is_autograph_artifact(entity: object) -> bool:
    """Returns True if the conditionals of a function, or of a function around it, were converted."""
    return isinstance(entity, FunctionType) and HOOK in entity.__code__.co_freevars


class _Trace:
    """State of converted functions while a graph is traced."""

    def __init__(self, hooks: Any):
        self.hooks = hooks
        self.missing: dict[
            str, str
        ] = {}  # error texts by variable, attribute or key that only one branch set


_TRACE: ContextVar[_Trace | None] = ContextVar("trace", default=None)


@contextlib.contextmanager
def tracing(hooks: Any) -> Iterator[None]:
    """Passes conditionals on graph values to `hooks` (see `Branches`) while converted functions run in this context."""
    token = _TRACE.set(_Trace(hooks))
    try:
        yield
    finally:
        _TRACE.reset(token)


def is_tracing() -> bool:
    """Returns True while converted functions run, see `tracing`."""
    return _TRACE.get() is not None


def _trace() -> _Trace:
    trace = _TRACE.get()
    assert trace is not None, "graph values exist only while a graph is traced"
    return trace


def _is_graph_value(value: object) -> bool:
    trace = _TRACE.get()
    return trace is not None and trace.hooks.is_graph_value(value)


def convert(function: Callable[..., object]) -> Callable[..., Any]:
    """Converts a function, so that its conditionals on graph values call the hooks that `tracing` sets.

    Outside `tracing`, the function behaves as before. Tracebacks of errors show the user's own lines.
    """
    converted = RUNTIME.converted(function, even_of_libraries=True)
    plain = converted is function and isinstance(function, FunctionType)
    if plain and not hasattr(function, _NOT_CONVERTED) and HOOK not in function.__code__.co_freevars:
        warnings.warn(
            f"no source code found for {function.__qualname__}: its conditionals work on Python values only",
            stacklevel=2,
        )

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        try:
            return converted(*args, **kwargs)
        except Exception as error:
            raise _explained(error).with_traceback(_without_own_frames(error.__traceback__))  # noqa: B904

    return call


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt,
    "GtE": operator.ge, "Is": operator.is_, "IsNot": operator.is_not, "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}  # fmt: skip
_CODES: dict[tuple[str, CodeType], CodeType | None] = {}  # converted code, by file and code


class ConditionalHooks:
    """Defines the functions that converted code calls, for example `ag__.if_`."""

    Return = Return
    BREAK = "break"
    CONTINUE = "continue"

    def if_(
        self,
        condition: object,
        body: FunctionType,
        orelse: FunctionType | None,
        assigned: tuple[str, ...],
        live: tuple[str, ...],
        targets: tuple[tuple[str, Callable[[], object], str | None], ...],
    ) -> Any:
        """Runs an `if` statement.

        Args:
            assigned: variables that the branches set.
            live: variables among `assigned` that are read later.
            targets: attributes and items that the branches set.

        Returns: how the branches ended: None if they ran to their end, otherwise a `Return`, BREAK or CONTINUE.
        """
        if not _is_graph_value(condition):
            taken = body if condition else orelse
            return taken() if taken is not None else None
        line = f"{body.__code__.co_filename}:{body.__code__.co_firstlineno}"
        state = [*variables((body, orelse), assigned), *existing_targets(targets)]
        before = [target.get() for target in state]
        end_true = _branch(condition, True, body)
        if_true = [target.get() for target in state]
        for target, value in zip(state, before, strict=True):
            target.set(value)
        end_false = _branch(condition, False, orelse)
        if_false = [target.get() for target in state]

        merge = Merge(_trace().hooks, condition)
        outcome = self._merge_outcomes(merge, end_true, end_false)
        for target, true, false in zip(state, if_true, if_false, strict=True):
            if isinstance(target, Variable) and target.name not in live:
                true = false = MISSING
            target.add_to(merge, true, false)
        values = merge.run()
        if isinstance(outcome, Return):
            outcome = Return(values.pop(0))
        for target, value in zip(state, values, strict=True):
            target.set(value)
        for key, (name, branch) in merge.missing.items():
            _trace().missing[key] = (
                "Encountered inconsistent outputs out of the `if/else` control flow statement. Variables need to be "
                f"initialized in every code path (both `if` branches). Variable {name!r} must also be initialized in "
                f"the `{branch}` branch. The conditional is at {line}; its condition is a graph value, so a sample "
                "may take either branch."
            )
        return outcome

    def _merge_outcomes(self, merge: Merge, if_true: object, if_false: object) -> object:
        if isinstance(if_true, Return) and isinstance(if_false, Return):
            merge.add("the return value", if_true.value, if_false.value)
            return if_true
        if if_true != if_false:
            ends = {word: _how(end) for word, end in (("if", if_true), ("else", if_false))}
            missing = next((word for word in ends if ends[word] == "its end"), "")
            advice = f". The `{missing}` branch must also have a return statement." if missing else "."
            if "break" in ends.values() or "continue" in ends.values():
                advice = ". A loop cannot go on for some samples of a batch only."
            raise RuntimeError(
                "Encountered inconsistent outputs out of the `if/else` control flow statement. Variables need to be "
                f"initialized in every code path (both `if` branches){advice} The branches of a conditional on a "
                f"graph value must end alike, but `if` ends with {ends['if']} and `else` with {ends['else']}."
            )
        return if_true

    def if_expression(
        self, condition: object, body: Callable[[], object], orelse: Callable[[], object]
    ) -> Any:
        """Returns `body if condition else orelse`."""
        if not _is_graph_value(condition):
            return body() if condition else orelse()
        merge = Merge(_trace().hooks, condition)
        values = _branch(condition, True, body), _branch(condition, False, orelse)
        merge.add("the value of the `if` expression", *values)
        return merge.run()[0]

    def and_(self, left: object, right: Callable[[], object]) -> Any:
        if _is_graph_value(left):
            return _trace().hooks.logical(left, right, "and")
        return left and right()

    def or_(self, left: object, right: Callable[[], object]) -> Any:
        if _is_graph_value(left):
            return _trace().hooks.logical(left, right, "or")
        return left or right()

    def not_(self, value: object) -> Any:
        return _trace().hooks.not_(value) if _is_graph_value(value) else not value

    def compare(self, left: object, operators: tuple[str, ...], *operands: Callable[[], object]) -> Any:
        """Evaluates a chain of comparisons such as `left < b < c`; evaluates `b` once."""
        right = operands[0]()
        result = _COMPARISONS[operators[0]](left, right)
        if len(operators) == 1:
            return result
        return self.and_(result, lambda: self.compare(right, operators[1:], *operands[1:]))

    def plain(self, value: object, what: str) -> object:
        """Returns `value`; raises TypeError, which names `what`, if it is a graph value."""
        if _is_graph_value(value):
            raise TypeError(f"the {what} is a graph value, which is not known before the pipeline runs")
        return value

    def converted(self, function: object, even_of_libraries: bool = False) -> Any:
        """Converts the conditionals of a function that is about to be called, if the function is the user's."""
        if isinstance(function, FunctionType):
            return self._converted(function, even_of_libraries)
        if isinstance(function, MethodType):
            inner = self.converted(function.__func__, even_of_libraries)
            return function if inner is function.__func__ else MethodType(inner, function.__self__)
        if isinstance(function, functools.partial):
            inner = self.converted(function.func, even_of_libraries)
            if inner is function.func:
                return function
            return functools.partial(inner, *function.args, **function.keywords)
        method = None if isinstance(function, type) else getattr(type(function), "__call__", None)  # noqa: B004
        if isinstance(method, FunctionType) and not hasattr(function, _NOT_CONVERTED):
            inner = self._converted(method, even_of_libraries)
            return function if inner is method else MethodType(inner, function)
        return function

    def _converted(self, function: FunctionType, even_of_libraries: bool) -> FunctionType:
        code = function.__code__
        if hasattr(function, _NOT_CONVERTED) or is_autograph_artifact(function):
            return function
        if not even_of_libraries and not _is_users(function):
            return function
        key = (code.co_filename, code)
        if key not in _CODES:
            node = function_node(code, function.__globals__)
            _CODES[key] = None if node is None else transform(node, code)
        new = _CODES[key]
        return function if new is None else self._rebuilt(function, new)

    def _rebuilt(self, function: FunctionType, code: CodeType) -> FunctionType:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        cells[HOOK] = CellType(self)
        closure = tuple(cells[name] for name in code.co_freevars)
        new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
        new.__kwdefaults__ = function.__kwdefaults__
        new.__annotations__ = function.__annotations__
        new.__doc__, new.__module__ = function.__doc__, function.__module__
        new.__dict__.update(function.__dict__)
        return new


RUNTIME = ConditionalHooks()


def _explained(error: Exception) -> Exception:
    """Explains an error about a variable that only one branch set; returns other errors unchanged."""
    trace = _TRACE.get()
    if trace is None or not isinstance(error, (NameError, AttributeError, KeyError)):
        return error
    named = error.args[0] if isinstance(error, KeyError) else re.findall(r"'(\w+)'", str(error))[-1:]
    why = trace.missing.get(named[0] if isinstance(named, list) and named else str(named))
    if why is None:
        return error
    better = RuntimeError(why)
    better.__cause__ = error
    return better


def _branch(condition: object, which: bool, branch: Callable[[], object] | None) -> object:
    """Traces one branch for the samples that take it, and returns its result."""
    hooks = _trace().hooks
    hooks.begin_branch(condition, which)
    try:
        return branch() if branch is not None else None
    finally:
        hooks.end_branch()


def _how(outcome: object) -> str:
    if outcome is None:
        return "its end"
    return "return" if isinstance(outcome, Return) else str(outcome)


def _is_users(function: FunctionType) -> bool:
    file = function.__code__.co_filename
    if file.startswith("<frozen") or (
        file.startswith(_STANDARD) and "-packages" not in file[len(_STANDARD) :]
    ):
        return False
    module = str(function.__globals__.get("__name__", ""))
    if any(module == name or module.startswith(f"{name}.") for name in CONVERTED):
        return True
    return module.split(".")[0] not in LIBRARIES


def _without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Drops the frames of the conversion from a traceback."""
    frames = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in (__file__, _branch_state.__file__):
            frames.append(trace)
        trace = trace.tb_next
    linked = None
    for frame in reversed(frames):
        linked = TracebackType(linked, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return linked
