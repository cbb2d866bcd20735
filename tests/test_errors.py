"""`OperatorError`: what it says, and that it is also of the type of the exception that it was made of."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import oracle, refusals

import jdali
import jdali.dynamic as jd
from jdali import OperatorError, SampleError, fn
from jdali._errors import check_samples
from jdali.plugin.jax.fn import jax_function


class CodedError(Exception):
    """Of the user's: its constructor wants what its `args` do not hold."""

    def __init__(self, text: str, code: int):
        super().__init__(text)
        self.code = code

    def __str__(self) -> str:
        return f"{self.args[0]} ({self.code})"


class NewError(LookupError):
    def __new__(cls, text: str, code: int) -> NewError:
        return super().__new__(cls, text)

    def __init__(self, text: str, code: int):
        pass


class SlotsError(ValueError):
    __slots__ = ("code",)


class SealedError(Exception):
    def __init_subclass__(cls) -> None:
        raise TypeError("nobody is to derive from this")


class OwnOperatorError(OperatorError):
    def __init__(self, number: int):
        super().__init__(f"number {number}", operator="own")
        self.number = number


def slots_error() -> SlotsError:
    error = SlotsError("s")
    error.code = 4
    return error


@pytest.mark.parametrize(
    ("error", "text", "attributes"),
    [
        (KeyError(3), "KeyError: 3", {}),
        (ValueError(), "ValueError", {}),
        (FileNotFoundError(2, "No such file", "a.bin"), "FileNotFoundError: [Errno 2] No such file: 'a.bin'",
         {"errno": 2, "filename": "a.bin"}),
        (TimeoutError("late"), "TimeoutError: late", {}),
        (UnicodeDecodeError("utf8", b"a", 0, 1, "bad"),
         "UnicodeDecodeError: 'utf8' codec can't decode byte 0x61 in position 0: bad", {"start": 0, "end": 1}),
        (ExceptionGroup("both", [KeyError(1)]), "ExceptionGroup: both (1 sub-exception)", {}),
        (CodedError("broken", 7), "CodedError: broken (7)", {"code": 7}),
        (NewError("broken", 7), "NewError: broken", {}),
        (slots_error(), "SlotsError: s", {"code": 4}),
        (OwnOperatorError(5), "OwnOperatorError: number 5", {"number": 5}),
        (OperatorError.of(KeyError(1), "inner"), "OperatorError[KeyError]: inner: KeyError: 1", {}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)  # fmt: skip
def test_is_also_of_the_type_of_what_was_raised(error, text, attributes):
    made = OperatorError.of(error, "resize", sample=2, source="a.jpg", where="train.py:3")
    assert isinstance(made, type(error))
    assert str(made) == f"resize: {text}\n  sample 2 of the batch\n  file a.jpg\n  defined at train.py:3"
    assert (made.operator, made.sample, made.source, made.where) == ("resize", 2, "a.jpg", "train.py:3")
    assert {name: getattr(made, name) for name in attributes} == attributes
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, OperatorError)
    assert isinstance(again, type(error)) or isinstance(error, ExceptionGroup)  # made of more than a text
    assert (str(again), again.where) == (str(made), "train.py:3")
    if not isinstance(error, ExceptionGroup):
        assert {name: getattr(again, name) for name in attributes} == attributes


@pytest.mark.parametrize(
    "error", [RuntimeError("r"), Exception("r"), SealedError("r"), SampleError("r", sample=1)], ids=repr
)
def test_is_plain_where_the_types_do_not_combine(error):
    made = OperatorError.of(error, "resize")
    assert type(made) is OperatorError
    kind = "" if isinstance(error, SampleError) else f"{type(error).__name__}: "
    assert str(made) == f"resize: {kind}r"


def test_attributes_stay_where_an_exception_refuses_its_own_arguments():
    error = ExceptionGroup("both", [KeyError(1)])
    error.args, error.code = ("one text",), 7  # a group is made of a text and exceptions
    made = OperatorError.of(error, "resize", sample=1)
    assert (type(made), made.code, made.sample) == (OperatorError, 7, 1)


def test_a_class_that_no_other_process_finds_is_pickled_as_an_operator_error():
    class Local(Exception):
        pass

    again = pickle.loads(pickle.dumps(OperatorError.of(Local("l"), "resize", sample=0)))
    assert type(again) is OperatorError
    assert (str(again), again.sample) == ("resize: Local: l\n  sample 0 of the batch", 0)


class Holds(Exception):
    def __init__(self, held):
        super().__init__("h")
        self.held, self.number = held, 3


def test_what_cannot_be_pickled_of_an_error_is_left_out():
    again = pickle.loads(pickle.dumps(OperatorError.of(Holds(lambda: 0), "resize", sample=0)))
    assert isinstance(again, Holds)
    assert (again.number, again.sample, hasattr(again, "held")) == (3, 0, False)
    assert str(again) == "resize: Holds: h\n  sample 0 of the batch"


def raising_source(batch):
    return (lambda i: {}[i + 3]) if batch else (lambda info: {}[info.iteration + 3])


def values(_):
    return np.zeros((2, 1), np.float32)


def broken(*_):
    return {}[3]


@pytest.mark.parametrize("ahead", [True, False], ids=["prefetched", "on demand"])
@pytest.mark.parametrize(
    ("name", "define"),
    [
        ("external_source", lambda: fn.external_source(raising_source(True))),
        ("external_source", lambda: fn.external_source(raising_source(False), batch=False)),
        ("python_function", lambda: fn.python_function(fn.external_source(values), function=broken)),
        ("python_function", lambda: fn.python_function(
            fn.external_source(values), function=broken, batch_processing=True)),
        ("jax_function", lambda: jax_function(broken)(fn.external_source(values))),
    ],
    ids=["batches", "samples", "function", "function of batches", "function of JAX arrays"],
)  # fmt: skip
def test_an_exception_of_the_users_code_keeps_its_type_and_text(name, define, ahead):
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, exec_async=ahead)
    with pipe:
        pipe.set_outputs(define())
    with pytest.raises(KeyError) as caught:
        pipe.run()
    pipe.close()
    error = caught.value
    assert isinstance(error, OperatorError)
    assert str(error).startswith(f"{name}: KeyError: 3\n")
    assert f"defined at {__file__}:" in str(error)
    assert (error.operator.removeprefix("_"), error.where.rpartition(":")[0]) == (name, __file__)
    assert type(error.__cause__) is KeyError
    assert error.__cause__.__traceback__ is not None


def test_the_end_of_a_source_is_no_error():
    def source(i):
        if i == 1:
            raise StopIteration
        return [np.zeros(1)] * 2

    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(source))
    pipe.run()
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.close()


@pytest.mark.parametrize(
    ("call", "kinds", "text"),
    [
        (lambda: fn.crop(crop=(2, 2)), (ValueError, TypeError),
         "crop: Operator crop expects from 1 to 1 inputs, but received 0."),
        (lambda: fn.cat(), (ValueError, TypeError), "cat: Operator cat expects at least 1 inputs, but received 0."),
        (lambda: fn.readers.file(file_rooot="."), (KeyError, TypeError),
         'readers.file: Argument "file_rooot" is not defined for operator "readers__File". Did you mean "file_root"?'),
        (lambda: fn.clahe(fn.external_source(values), tiles_x=3), (RuntimeError, TypeError),
         'clahe: Not all required arguments were specified for op "Clahe". Please specify values for arguments: "clip_limit", '),
    ],
    ids=["no input", "no input of any number", "unknown argument", "missing arguments"],
)  # fmt: skip
def test_wrong_calls_raise_what_dali_and_what_python_raises(call, kinds, text):
    for kind in (OperatorError, *kinds):
        with pytest.raises(kind) as caught:
            call()
        assert str(caught.value).startswith(text)
    error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.operator) == (type(error), str(error), text.partition(":")[0])


@pytest.mark.parametrize(
    ("argument", "kind", "text"),
    [
        ("abc", ValueError, "could not convert string to float"),
        ([1.0, 2.0], TypeError, r"must be a real number, not a value of shape \(2,\)"),
    ],
    ids=["text", "list"],
)
def test_constants_that_do_not_fit_raise_the_types_that_dali_raises(argument, kind, text):
    for call in (
        lambda: fn.rotate(fn.external_source(values), angle=argument),
        lambda: jd.rotate(np.zeros((2, 2, 3), np.uint8), angle=argument),
    ):
        with pytest.raises(kind, match=f"rotate: argument 'angle' .*{text}"):
            call()


def test_a_variant_of_an_operator_is_named_as_the_operator():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(values)[3])
    with pytest.raises(OperatorError) as caught:
        pipe.run()
    pipe.close()
    assert str(caught.value).startswith("tensor_subscript: Index 3 is out of range for axis 0 of length 1")
    error = OperatorError.of(ValueError("_resize: a text of the user's"), "crop")
    assert str(error) == "crop: ValueError: _resize: a text of the user's"


def test_in_dynamic_mode():
    with pytest.raises(OperatorError, match="crop: Slice can.t be placed out of bounds .* Got: window"):
        jd.crop(np.zeros((2, 2, 3), np.uint8), crop=[5, 5])
    with pytest.raises(KeyError, match="3"):  # in the caller's own thread: nothing to add
        jd.ExternalSource(lambda: {}[3])()


def test_messages_name_this_package():
    """They have DALI's words, and the module that the user imports."""
    for path in Path(jdali.__file__).parent.rglob("*.py"):
        if "nvidia.dali" not in (text := path.read_text()):
            continue
        tree = ast.parse(text)
        texts = {id(n): n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr):  # documentation
                texts.pop(id(node.value), None)
        assert [n.lineno for n in texts.values() if "nvidia.dali" in n.value] == [], path


@pytest.mark.oracle
def test_a_node_as_a_truth_value_is_refused_in_dalis_words():
    def refused(package):
        with package.Pipeline(batch_size=1, num_threads=1, device_id=None):
            bool(package.fn.random.coin_flip())

    with pytest.raises(TypeError) as caught:
        refused(jdali)
    assert str(caught.value) == refusals.of(refused, oracle.dali()).text.replace("nvidia.dali", "jdali")


@pytest.mark.parametrize(
    ("wrong", "index"), [([False, True, True], (1,)), ([[False, False], [False, True], [True, True]], (1, 1))]
)
def test_check_samples_names_the_first_wrong_value(wrong: list[Any], index: tuple[int, ...]) -> None:
    with pytest.raises(SampleError) as caught:
        check_samples(np.array(wrong), lambda *where: f"wrong at {where}", argument="size")
    assert (str(caught.value), caught.value.sample, caught.value.argument) == (f"wrong at {index}", 1, "size")


@pytest.mark.parametrize("shape", [(3,), (3, 2), (0,), (0, 2), (3, 0)])
def test_check_samples_accepts_a_batch_without_a_wrong_value(shape: tuple[int, ...]) -> None:
    check_samples(np.zeros(shape, bool), lambda *where: f"wrong at {where}")


def test_operators_find_wrong_samples_by_check_samples() -> None:
    """An operator that searches for the sample itself is likely to name another one than its neighbours do."""
    package = Path(jdali.__file__).parent
    searches = {"argmax", "argmin", "argwhere"}
    for folder in ("ops", "_kernels", "_operators"):
        for file in (package / folder).rglob("*.py"):
            for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    inside = list(ast.walk(function))
                    named = {node.attr for node in inside if isinstance(node, ast.Attribute)}
                    raised = {
                        node.exc.func.id
                        for node in inside
                        if isinstance(node, ast.Raise)
                        and isinstance(node.exc, ast.Call)
                        and isinstance(node.exc.func, ast.Name)
                    }
                    assert not (named & searches and "SampleError" in raised), f"{file}: {function.name}"
