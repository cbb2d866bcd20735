"""Converted functions do what Python does: on Python values, and sample by sample on graph values."""

from __future__ import annotations

import functools
import itertools
import linecache
import random
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from support import oracle

from jdali._autograph import is_autograph_artifact
from jdali.graph.autograph import convert, do_not_convert, tracing

# --- a graph whose values are known: a list with one value a sample -------------------------------


class Batch:
    """A graph value: a value for each sample of the domain (by sample number)."""

    def __init__(self, values: dict[int, Any]):
        self.values = values

    def __bool__(self) -> bool:
        raise TypeError("a Batch has no truth value")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a Batch cannot be iterated over")


def _operator(name: str, reflected: bool = False) -> Callable[..., Batch]:
    def apply(self: Batch, other: Any) -> Batch:
        domain = Hooks.now.domain
        left, right = Hooks.now.enter(self), Hooks.now.enter(other)
        if reflected:
            left, right = right, left
        return Batch({i: getattr(left.values[i], name)(right.values[i]) for i in domain})

    return apply


for _name in ("add", "sub", "mul", "mod", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Batch, f"__{_name}__", _operator(f"__{_name}__"))
    if _name in ("add", "sub", "mul", "mod"):
        setattr(Batch, f"__r{_name}__", _operator(f"__{_name}__", reflected=True))


class Hooks:
    """Traces branches on the samples that take them, and records what it is asked."""

    now: Hooks

    def __init__(self, size: int):
        self.domain = list(range(size))
        self.stack: list[list[int]] = []
        self.merged: list[str] = []
        self.log: list[str] = []

    def enter(self, value: Any) -> Batch:
        """A value as the current branch sees it: every sample of the branch must have one."""
        if not isinstance(value, Batch):
            return Batch(dict.fromkeys(self.domain, value))
        return Batch({i: value.values[i] for i in self.domain})

    def is_graph_value(self, value: Any) -> bool:
        return isinstance(value, Batch)

    def begin_branch(self, condition: Batch, which: bool) -> None:
        self.log.append(f"begin {which}")
        self.stack.append(self.domain)
        self.domain = [i for i in self.domain if bool(condition.values[i]) == which]

    def end_branch(self) -> None:
        self.log.append("end")
        self.domain = self.stack.pop()

    def merge(
        self, condition: Batch, names: Sequence[str], if_true: Sequence[Any], if_false: Sequence[Any]
    ) -> list[Batch]:
        self.merged += names
        results = []
        for true, false in zip(if_true, if_false, strict=True):
            values = {}
            for which, side in ((True, true), (False, false)):
                self.begin_branch(condition, which)
                values |= self.enter(side).values
                self.end_branch()
            results.append(Batch(values))
        return results

    def not_(self, value: Batch) -> Batch:
        return Batch({i: not value.values[i] for i in self.domain})

    def logical(self, left: Batch, right: Callable[[], Any], kind: str) -> Batch:
        self.begin_branch(left, kind == "and")
        other = self.enter(right()).values
        self.end_branch()
        return Batch({i: other.get(i, left.values[i]) for i in self.domain})


def trace(function: Callable[..., Any], *columns: Sequence[Any], size: int | None = None) -> Any:
    """Calls the converted function with batches; a list with the result of each sample."""
    size = len(columns[0]) if size is None else size
    Hooks.now = Hooks(size)
    with tracing(Hooks.now):
        result = convert(function)(*(Batch(dict(enumerate(c))) for c in columns))
    assert not Hooks.now.stack
    return [_sample(result, i) for i in range(size)]


def _sample(value: Any, i: int) -> Any:
    if isinstance(value, Batch):
        return value.values[i]
    if isinstance(value, (list, tuple)):
        return type(value)(_sample(v, i) for v in value)
    return {k: _sample(v, i) for k, v in value.items()} if isinstance(value, dict) else value


NUMBERS = [-3, -1, 0, 1, 2, 3, 4, 7]


def same_as_python(function: Callable[..., Any], *columns: Sequence[Any]) -> None:
    """One batch through the converted function, each sample through the function as it is."""
    columns = columns or (NUMBERS,)
    assert trace(function, *columns) == [function(*row) for row in zip(*columns, strict=True)]
    converted = convert(function)
    assert [converted(*row) for row in zip(*columns, strict=True)] == trace(function, *columns)


# --- conditionals on graph values ---------------------------------------------------------------


def test_if_else() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            y = x * 10
        else:
            y = x - 1
        return y

    same_as_python(f)


def test_if_alone_and_elif() -> None:
    def f(x: Any) -> Any:
        y = x
        if x > 2:
            y += 100
        if x == 0:
            z = 5
        elif x > 0:
            z = y
        else:
            z = -1
        return y, z

    same_as_python(f)


def test_nested() -> None:
    def f(x: Any, y: Any) -> Any:
        r = 0
        if x > 0:
            if y > 0:
                r = x + y
            else:
                x = x * 2
        elif y > 1:
            r = y
            if x < -1:
                r = r * 3
        return r, x

    pairs = list(itertools.product(NUMBERS, NUMBERS))
    same_as_python(f, [p[0] for p in pairs], [p[1] for p in pairs])


def test_logic() -> None:
    def f(x: Any) -> Any:
        a = x > 1 and x < 4
        b = x > 3 or x == 0 or x < -2
        c = not x > 1
        d = 0 < x <= 3 != 2
        e = not (a or b) and c
        return a, b, c, d, e

    same_as_python(f)


def test_mixed_logic_is_lazy() -> None:
    def f(x: Any) -> Any:
        y = None
        a = y is None or y > 1
        b = True and x > 1
        c = x > 1 and True
        if y is not None and y > x:
            x = y
        return a, b, c, x

    same_as_python(f)


def test_if_expression() -> None:
    def f(x: Any) -> Any:
        return (x if x > 1 else -1), (1 if True else x), (x if x > 0 and x < 3 else (0 if x == 0 else 9))

    same_as_python(f)


def test_operands_are_evaluated_once() -> None:
    seen = []

    def f(x: Any) -> Any:
        def middle() -> Any:
            seen.append(1)
            return x

        return 0 < middle() < 3

    assert trace(f, NUMBERS) == [0 < x < 3 for x in NUMBERS]
    assert seen == [1]


def test_early_return() -> None:
    def f(x: Any) -> Any:
        if x > 3:
            return x * 10
        if x > 1:
            x = x + 1
            if x == 3:
                return x * -1
            return x
        y = x - 1
        return y + y

    same_as_python(f)


def test_return_out_of_loop_blocks() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            for i in range(5):
                if i == 2:
                    return x * i
            return 0
        with_value = [x]
        try:
            return with_value[0]
        finally:
            with_value.clear()

    same_as_python(f)


def test_continue_on_a_graph_value() -> None:
    def f(x: Any) -> Any:
        for i in range(3):
            if x > i:
                continue
            x = x + 1
            if x == 2:
                x = x + 5
                continue
        return x

    same_as_python(f)


def test_continue_deep_in_branches() -> None:
    def f(x: Any) -> Any:
        y = 0
        for i in range(3):
            if x > i:
                if x == 2:
                    y = y + 100
                    continue
                y = y + 1
            for _ in range(2):
                if x == 3:
                    continue
                y = y + 1000
            if y > 2 and x < 3:
                continue
            y = y + 10
        return y

    same_as_python(f)


def test_loops_of_python_in_and_around_branches() -> None:
    def f(x: Any) -> Any:
        total = 0
        for i in range(6):
            if i == 4:
                break
            if x > i:
                for j in range(5):
                    if j > i:
                        break
                    total = total + j
                else:
                    total = total + 100
            elif i % 2:
                total = total - 1
        return total

    same_as_python(f)


def test_containers_are_merged_item_by_item() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            y: Any = [1, (x, {"a": 2})]
        else:
            y = [2, (3, {"a": x})]
        (p, q) = (x, 0) if x > 2 else (0, x)
        return y, p, q

    same_as_python(f)
    assert "y[1][1]['a']" in Hooks.now.merged


class Box:
    def __init__(self, value: Any):
        self.value = value
        self.__private = 1

    def step(self, x: Any) -> Any:
        if x > 1:
            self.value = self.value + x
            self.__private = x
        return self.__private

    def base(self, x: Any) -> str:
        return f"base {x is None}"


class Derived(Box):
    def base(self, x: Any) -> Any:
        if x > 1:
            y = super().base(x)
        else:
            y = super().base(None)
        return y


def test_attributes_and_items() -> None:
    def f(x: Any) -> Any:
        box, table, rows = Box(x), {"b": x}, [0, x]
        if x > 1:
            box.value = x * 10
            for key in ("a", "b"):
                table[key] = x + 1
            rows[0] += x
        else:
            table["a"] = x
        last = box.step(x)
        return box.value, table, rows, last

    same_as_python(f)


def test_methods_with_super() -> None:
    box = Derived(0)

    def f(x: Any) -> Any:
        return box.base(x)

    same_as_python(f)


def test_functions_of_functions() -> None:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @decorate
    def helper(x: Any, /, y: Any = 1, *, z: Any = 2) -> Any:
        if x > y:
            return x + z
        return x

    class Caller:
        def __call__(self, x: Any) -> Any:
            return x if x > 0 else 0

        @staticmethod
        def static(x: Any) -> Any:
            if x < 0:
                x = x * -1
            return x

        @classmethod
        def clsmethod(cls, x: Any) -> Any:
            if x < 0:
                x = cls.static(x)
            return x

    def f(x: Any) -> Any:
        inner = lambda v: v > 1 and v < 3  # noqa: E731

        def local(v: Any, by: Any = helper(x)) -> Any:  # noqa: B008
            if v > 2:
                v = v + by
            return v

        class Heir(Caller):
            pass

        return (
            Heir()(x), helper(x), helper(x, 2, z=x), inner(x), local(x), Caller()(x), Caller.static(x),
            Caller().clsmethod(x), functools.partial(helper, z=5)(x), *[helper(v) for v in (x, x + 1)],
        )  # fmt: skip

    same_as_python(f)


def test_recursion_and_closures() -> None:
    count = 0

    def down(x: Any, depth: int) -> Any:
        nonlocal count
        count += 1
        if depth == 0:
            return x
        if x > depth:
            x = x - depth
        return down(x, depth - 1)

    def f(x: Any) -> Any:
        return down(x, 3)

    same_as_python(f)
    assert count > 0


def countdown(x: Any, depth: int) -> Any:
    if x > depth:
        x = x - depth
    return x if depth == 0 else max(countdown(v, depth - 1) for v in [x])


def test_recursion_of_a_function_of_the_module() -> None:
    def f(x: Any) -> Any:
        return [countdown(v, 3) for v in (x, x + 1)]

    same_as_python(f)


COUNTER = 0


def test_globals_and_nonlocals() -> None:
    seen: Any = 0

    def f(x: Any) -> Any:
        global COUNTER
        nonlocal seen
        COUNTER = seen = 0
        if x > 1:
            COUNTER = x
            seen = COUNTER + 1
        return COUNTER, seen

    same_as_python(f)


def test_lambdas_on_one_line() -> None:
    pair = (lambda x: x > 1 and x < 4), (lambda x: x > 1 or x < -1)
    nested = lambda x: (lambda v: v if v > 1 else 0)(x) if x < 3 else (lambda v: v * -1)(x)  # noqa: E731
    for function in (*pair, nested):
        same_as_python(function)


def test_only_what_is_read_later_is_merged() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            temporary = (x, x)
            only_here = 1
            y = temporary[0] + only_here
        else:
            temporary = x
            y = temporary
        return y

    same_as_python(f)
    assert Hooks.now.merged == ["y"]


def test_what_is_read_by_ways_not_straight_on() -> None:
    def by_the_next_round(x: Any) -> Any:
        last = y = x
        for i in range(3):
            y = last + i
            if x > i:
                last = y * 2
        return y

    def by_a_handler(x: Any) -> Any:
        y = x
        try:
            if x > 1:
                y = x * 10
            int("no number")
        except ValueError:
            return y
        return x

    def by_a_closure(x: Any) -> Any:
        y = 0

        def read() -> Any:
            return y

        if x > 1:
            y = x
        return read()

    def after_a_break(x: Any) -> Any:
        for i in range(3):
            if x > i:
                y = x * 2
            else:
                y = x
            break
        else:
            return x
        return y

    def by_finally(x: Any) -> Any:
        y = x
        seen = []
        try:
            if x > 1:
                y = x * 10
            return seen
        finally:
            seen.append(y)

    def by_a_while(x: Any) -> Any:
        n = [0]
        while n[0] < 3:
            n[0] += 1
            if x > 1:
                x = x + n[0]
        return x

    for function in (
        by_the_next_round, by_a_handler, by_a_closure, after_a_break, by_finally, by_a_while,
    ):  # fmt: skip
        same_as_python(function)


def test_what_both_branches_left_alone_is_not_merged() -> None:
    def f(x: Any, other: Any) -> Any:
        name = "name"
        if x > 1:
            other = other
            name = name.strip()
            y = x
        else:
            y = x
        return y, other, name

    same_as_python(f, NUMBERS, NUMBERS)
    assert Hooks.now.merged == []


def test_the_order_of_hooks() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            x = x + 1
        return x

    Hooks.now = Hooks(2)
    with tracing(Hooks.now):
        convert(f)(Batch({0: 0, 1: 5}))
    assert Hooks.now.log[:4] == ["begin True", "end", "begin False", "end"]
    assert Hooks.now.merged == ["x"]


# --- what cannot be done, and what is said about it ---------------------------------------------


def error_of(function: Callable[..., Any]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        trace(function, NUMBERS)
    return caught.value


def line_of(text: str) -> int:
    lines = linecache.getlines(__file__)
    return next(i for i, line in enumerate(lines, 1) if line.strip().endswith(f"# {text}"))


def test_a_variable_of_one_branch() -> None:
    def f(x: Any) -> Any:
        if x > 1:  # one branch
            y = x
        return y  # use of it

    error = error_of(f)
    assert isinstance(error, RuntimeError)
    assert str(error).startswith(
        "Encountered inconsistent outputs out of the `if/else` control flow statement."
    )
    assert "Variable 'y' must also be initialized in the `else` branch. The conditional is at " in str(error)
    assert f"{__file__}:{line_of('one branch')};" in str(error)
    assert traceback.extract_tb(error.__traceback__)[-1].lineno == line_of("use of it")

    def g(x: Any) -> Any:
        box, table = Box(x), {}
        if x > 1:
            pass
        else:
            box.extra, table["key"] = x, x
        return box.extra if x is None else table["key"]

    assert "\"table['key']\" must also be initialized in the `if` branch" in str(error_of(g))

    def h(x: Any) -> Any:
        box = Box(x)
        if x > 1:
            box.extra = x
        return box.extra

    assert "'box.extra' must also be initialized in the `else` branch" in str(error_of(h))


def test_a_variable_deleted_in_one_branch() -> None:
    def f(x: Any) -> Any:
        y = x
        if x > 1:
            del y
        return y

    assert "'y' must also be initialized in the `if` branch" in str(error_of(f))


def test_a_variable_of_one_branch_that_nobody_reads() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            y = x
        else:
            z = x  # noqa: F841
        if x > 1:
            y = x + 1
        else:
            y = x
        return y

    same_as_python(f)


def test_different_structures() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            y: Any = (x, [x])
        else:
            y = x
        return y

    error = error_of(f)
    assert isinstance(error, ValueError)
    assert "y is (*, [*]) after the `if` branch of a conditional and * after the `else`" in str(error)

    def g(x: Any) -> Any:
        if x > 1:
            y = x
        else:
            y = None
        return y

    assert "y is * after the `if` branch of a conditional and None after" in str(error_of(g))

    def h(x: Any) -> Any:
        if x > 1:
            return x, x
        return x

    assert "the return value is (*, *) after" in str(error_of(h))


def test_only_one_branch_returns() -> None:
    def f(x: Any) -> Any:  # noqa: RET503
        if x > 1:
            return x

    error = str(error_of(f))
    assert "(both `if` branches). The `else` branch must also have a return statement." in error
    assert "`if` ends with return and `else` with its end" in error

    def g(x: Any) -> Any:
        if x > 1:
            if x > 2:
                return x
            x = x + 1
        return x

    assert "The `else` branch must also have a return" in str(error_of(g))


def test_break_on_a_graph_value() -> None:
    def f(x: Any) -> Any:
        for i in range(3):
            if x > i:
                break
        return x

    error = str(error_of(f))
    assert "A loop cannot go on for some samples of a batch only." in error
    assert "`if` ends with break and `else` with its end" in error


def test_targets_for_python_values_only() -> None:
    def loop(x: Any) -> Any:
        while x > 1:
            x = x - 1

    def check(x: Any) -> Any:
        assert x > 1

    def comprehension(x: Any) -> Any:
        return [i for i in range(3) if x > i]

    def walrus(x: Any) -> Any:
        return x > 1 and (y := x) and y

    def generator(x: Any) -> Any:
        if x > 1:
            yield x

    def match(x: Any) -> Any:
        match 1:
            case 1 if x > 1:
                pass

    def frame(x: Any) -> Any:
        if x > 1:
            return locals()
        return x

    for function, what in (
        (loop, "condition of a `while` loop"),
        (check, "condition of an `assert`"),
        (comprehension, "condition in a comprehension"),
        (walrus, "operand of an `and` with `:=`"),
        (lambda x: list(generator(x)), "condition of an `if` with `yield`"),
        (match, "guard of a `case`"),
        (frame, "condition of an `if` with `yield`, `await` or `locals()`"),
    ):
        error = error_of(function)
        assert isinstance(error, TypeError)
        assert f"the {what}" in str(error)
        assert "is a graph value, which is not known before the pipeline runs" in str(error)


def test_errors_stand_at_the_users_lines() -> None:
    def helper(x: Any) -> Any:
        if x > 2:
            y = x
        else:
            y = x / 0  # the fault
        return y

    def identity(function: Any) -> Any:
        return function

    @identity
    @identity
    def f(x: Any) -> Any:
        if x > 1:
            x = helper(x)  # the call
        return x

    error = error_of(f)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]
    assert [f.lineno for f in frames][-1] == line_of("the fault")
    assert line_of("the call") in [f.lineno for f in frames]
    assert Hooks.now.stack == []
    assert not any("_branches" in f.filename for f in traceback.extract_tb(error.__traceback__))


def test_an_error_in_a_branch_ends_it() -> None:
    def f(x: Any) -> Any:
        if x > 1:
            raise ValueError("only for some")
        return x

    assert isinstance(error_of(f), ValueError)
    assert Hooks.now.stack == []


# --- what is converted --------------------------------------------------------------------------


def test_do_not_convert() -> None:
    @do_not_convert
    def f(x: Any) -> Any:
        return 1 if x > 1 else 0

    @do_not_convert()
    def g(x: Any) -> Any:
        return f(x) or x

    def h(x: Any) -> Any:
        return g(x)

    for function in (f, g, h):
        assert isinstance(error_of(function), TypeError)
        assert convert(function)(5) == 1
    assert do_not_convert(len) is len


def test_a_users_module_may_have_the_name_of_a_standard_one(tmp_path: Any) -> None:
    path = tmp_path / "test.py"
    path.write_text("def helper(x):\n    return 1 if x > 1 else 0\n")
    namespace: dict[str, Any] = {"__name__": "test"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    helper = namespace["helper"]

    def f(x: Any) -> Any:
        return helper(x)

    same_as_python(f)


def test_libraries_are_called_as_they_are() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(functools.reduce)
        return linecache.getlines, sorted([2, 1]), x

    assert trace(f, [1])[0][1:] == ([1, 2], 1)
    assert seen == [functools.reduce]


def test_a_converted_function_keeps_its_looks() -> None:
    def f(x: int, /, y: int = 1, *args: int, z: int = 2, **kwargs: int) -> int:
        """Adds."""
        return x + y + sum(args) + z + sum(kwargs.values())

    new = convert(f)
    assert (new.__name__, new.__doc__, new.__qualname__) == ("f", "Adds.", f.__qualname__)
    assert new(1) == 4
    assert new(1, 2, 3, z=4, w=5) == 15
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        new()


def test_a_function_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return 1 if x > 1 else 0", namespace)
    with pytest.warns(UserWarning, match="no source code found for f"):
        new = convert(namespace["f"])
    assert new(2) == 1


def test_a_file_that_changed_since_it_was_imported(tmp_path: Any) -> None:
    path = tmp_path / "module.py"
    path.write_text("def f(x):\n    return x\n")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    path.write_text("def g(x, y):\n    return y\n")
    with pytest.warns(UserWarning, match="no source code found"):
        assert convert(namespace["f"])(3) == 3


# --- the real DALI ------------------------------------------------------------------------------


def dali_nested(x: Any) -> Any:
    y = x
    if x > 1:
        if x < 4:
            y = x * 10
        z = y + 1
    elif x == 0:
        z = 5
    else:
        z = x - 100
    return y, z


def dali_return(x: Any) -> Any:
    if x > 3:
        return x * 10
    if not x > 0:
        return x - 1
    return x


def dali_logic(x: Any) -> Any:
    return 0 < x < 3, (x > 1 and x < 4) or x == -1, not x > 2


def dali_targets(x: Any) -> Any:
    box, table = Box(x), {"a": x}
    if x > 1:
        box.value = x * 10
    else:
        table["a"] = x - 1
    return box.value, table["a"]


def dali_loop(x: Any) -> Any:
    y = x
    for i in range(3):
        if x > i:
            if x == 2:
                y = y + 100
                continue
            y = y + 1
        y = y + 10
    return y


def dali_structure(x: Any) -> Any:
    if x > 1:
        y = [1, (x, 2)]
    else:
        y = [2, (3, x)]
    return y[0], *y[1]


def dali_calls(x: Any) -> Any:
    helper = lambda v: v > 1 and v < 3  # noqa: E731
    y, _ = dali_nested(x)
    if helper(x):
        y = dali_return(y)
    return y


DALI_PROGRAMS = [dali_nested, dali_return, dali_logic, dali_targets, dali_loop, dali_structure, dali_calls]


@pytest.mark.oracle
@pytest.mark.parametrize("function", DALI_PROGRAMS)
def test_agrees_with_dali(function: Any) -> None:
    oracle.dali()
    import numpy as np
    from nvidia.dali import fn, pipeline_def

    def pipeline() -> Any:
        x = fn.external_source(source=[[np.int32(n) for n in NUMBERS]], batch=True, cycle=True)
        return function(x)

    pipe = pipeline_def(
        pipeline, batch_size=len(NUMBERS), num_threads=1, device_id=None, enable_conditionals=True
    )()
    pipe.build()
    outputs = [out.as_array().tolist() for out in pipe.run()]
    results = [r if isinstance(r, tuple) else (r,) for r in trace(function, NUMBERS)]
    assert [list(column) for column in zip(*results, strict=True)] == outputs


# --- plain Python, enumerated -------------------------------------------------------------------


def defined(source: str, name: str) -> Callable[..., Any]:
    """The function `f` of a source text that has a file name of its own."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "generated", "Box": Box}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


class Programs:
    """Random functions of `x` and `y`; `graph` ones are legal for conditions that differ by sample."""

    def __init__(self, seed: int, graph: bool):
        self.random, self.graph = random.Random(seed), graph
        self.depth = self.random.randint(1, 3)

    def source(self) -> str:
        body = ["a = x", "b = y", "c = 1", "box = Box(x)", "table = {'k': y}", "log = []"]
        body += self.block(self.depth, loop=False)
        return "\n".join(["def f(x, y):", *(f"    {line}" for line in body), f"    return {self.results}"])

    results = "a, b, c, box.value, table['k'], log"

    def value(self, depth: int = 2) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.5:
            return self.random.choice(["a", "b", "c", "x", "y", "1", "2", "box.value", "table['k']"])
        if pick < 0.85:
            return f"({self.value(depth - 1)} {self.random.choice('+-')} {self.value(depth - 1)})"
        return f"({self.value(depth - 1)} if {self.condition(depth - 1)} else {self.value(depth - 1)})"

    def condition(self, depth: int = 2) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.5:
            return f"{self.value(0)} {self.random.choice(['<', '>', '==', '>='])} {self.value(0)}"
        if pick < 0.6:
            return f"{self.value(0)} < {self.value(1)} <= {self.value(0)}"
        if pick < 0.7:
            return f"not ({self.condition(depth - 1)})"
        word = self.random.choice(["and", "or"])
        return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"

    def block(self, depth: int, loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, loop)
        return lines

    def indented(self, depth: int, loop: bool) -> list[str]:
        return [f"    {line}" for line in self.block(depth - 1, loop)]

    def statement(self, depth: int, loop: bool) -> list[str]:
        pick = self.random.random()
        if depth > 0 and pick < 0.35:
            lines = [f"if {self.condition()}:", *self.indented(depth, loop)]
            if self.random.random() < 0.4:
                lines += [f"elif {self.condition()}:", *self.indented(depth, loop)]
            return lines + (["else:", *self.indented(depth, loop)] if self.random.random() < 0.5 else [])
        if depth > 0 and pick < 0.45:
            return [f"for i in range({self.random.randint(0, 3)}):", *self.indented(depth, True)]
        if not self.graph:
            return self.python_statement(depth, loop, pick)
        if pick < 0.52 and (loop or depth == self.depth):
            # What follows goes to the other branch: at the end of the function or of a loop's body.
            leave = "continue" if loop else f"return {self.results}"
            return [f"if {self.condition()}:", f"    {self.simple()}", f"    {leave}"]
        return [self.simple()]

    def simple(self) -> str:
        target = self.random.choice(["a", "b", "c", "box.value", "table['k']"])
        return self.random.choice(
            [f"{target} = {self.value()}", f"{target} += {self.value(1)}", f"a, b = {self.value()}, a"]
        )

    def python_statement(self, depth: int, loop: bool, pick: float) -> list[str]:
        if pick < 0.52:
            return [
                self.random.choice(["return a, len(log)", "log.append(a)", "raise ValueError(b)", "del c"])
            ]
        if loop and pick < 0.6:
            return [f"if {self.condition()}:", f"    {self.random.choice(['break', 'continue'])}"]
        if depth > 0 and pick < 0.66:
            body, handler = self.indented(depth, loop), self.indented(depth, loop)
            return ["try:", *body, "except ValueError as e:", *handler, "finally:", "    log.append('f')"]
        if depth > 0 and pick < 0.7:
            return [
                "n = 0",
                f"while n < 2 and {self.condition()}:",
                "    n += 1",
                *self.indented(depth, True),
            ]
        if depth > 0 and pick < 0.74:
            return ["def g(v=a):", *self.indented(depth, False), "    return v", "log.append(g(b))"]
        return [self.simple()]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except ValueError as error:
        return error.args
    except NameError:  # a branch says NameError where Python says UnboundLocalError, a kind of it
        return NameError


ARGUMENTS = [(0, 0), (1, 0), (0, 1), (3, 2), (-1, 4), (5, 5)]


@pytest.mark.cases(2)
@pytest.mark.parametrize("block", range(6))
def test_programs_on_python_values(block: int) -> None:
    """Returns, breaks, deletions, exceptions and nested functions, 30 programs a block."""
    for seed in range(30 * block, 30 * (block + 1)):
        source = Programs(seed, graph=False).source()
        function = defined(source, f"<python program {seed}>")
        converted = convert(function)
        for arguments in ARGUMENTS:
            assert outcome(converted, *arguments) == outcome(function, *arguments), source


@pytest.mark.cases(2)
@pytest.mark.parametrize("block", range(6))
def test_programs_on_graph_values(block: int) -> None:
    """One batch gives what Python gives for each sample, 30 programs a block."""
    for seed in range(1000 + 30 * block, 1030 + 30 * block):
        source = Programs(seed, graph=True).source()
        function = defined(source, f"<graph program {seed}>")
        got = trace(function, *zip(*ARGUMENTS, strict=True))
        assert got == [function(*arguments) for arguments in ARGUMENTS], source


def test_what_was_converted_can_be_told():
    """The answers of DALI for a function as it was written, one defined among converted lines, and one that is not."""
    found = {}

    def plain() -> Any:
        return lambda: len("ab")

    @do_not_convert
    def kept() -> Any:
        return lambda: len("ab")

    def defining() -> None:
        def inner() -> int:
            return len("ab")

        found.update(inner=inner, of_converted=plain(), of_kept=kept())

    with tracing(Hooks(1)):
        convert(defining)()
    answers = {name: is_autograph_artifact(function) for name, function in found.items()}
    assert answers == {"inner": True, "of_converted": True, "of_kept": False}
    assert not is_autograph_artifact(plain)
    assert not is_autograph_artifact(3)
