"""The exceptions jdali raises, and what each of them carries."""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import pickle
import signal
import threading
import traceback
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = [
    "CompileLimitError",
    "InputCountError",
    "MissingArgumentError",
    "OperatorError",
    "SampleError",
    "SkippedSample",
    "TracedArgumentError",
    "UnknownArgumentError",
]

_HEAP_TYPE = 1 << 9  # CPython's flag of classes that are made at run time: all but the built-in ones


@dataclasses.dataclass(frozen=True)
class SkippedSample:
    """A sample that was left out because an operator could not work on it."""

    path: str
    epoch: int
    index: int
    operator: str
    reason: str


class SampleError(ValueError):
    """Something is wrong with one sample: its data, or an argument's value for it.

    Raised by `setup` functions and codecs, which know the sample only by its position in
    the batch. The engine adds the operator, the file and the user's line, and decides by
    `on_error` whether to raise an `OperatorError`, skip the sample or mask it.
    """

    def __init__(self, message: str, *, sample: int | None = None, argument: str | None = None):
        super().__init__(message)
        self.sample = sample
        self.argument = argument


def check_samples(
    wrong: np.ndarray | np.bool, text: Callable[..., str], *, argument: str | None = None
) -> None:
    """Raises a `SampleError` for the first sample that something is wrong with, if there is one.

    Args:
        wrong: bool [batch], or [batch, ...] if single values of a sample are wrong.
        text: returns the message for the index of the first wrong value: `text(sample)`, or `text(sample, axis)`.
        argument: whose value is wrong, if one is.
    """
    if wrong.any():
        index = np.argwhere(np.atleast_1d(wrong))[0].tolist()
        raise SampleError(text(*index), sample=index[0], argument=argument)


def wrong_dtype(name: str, what: str, found: np.dtype, expected: str) -> TypeError:
    """Makes the error of operator `name` for data of an element type that it does not take."""
    return TypeError(
        f"{name}: {what} must be {expected}, got {found}; cast it. Calling type does not match buffer data type, requested "
        f"type: {expected} current buffer type: {found}"
    )


def absent_axis(name: str, letter: str, layout: str) -> ValueError:
    """Makes the error of operator `name` for an axis letter that the layout of its input lacks."""
    return ValueError(f"{name}: Axis '{letter}' is not present in the input layout, which is '{layout}'")


def axis_out_of_range(name: str, axis: int, ndim: int) -> np.exceptions.AxisError:
    """Makes the error of operator `name` for an axis that its input of `ndim` axes does not have."""
    return np.exceptions.AxisError(
        f"{name}: Axis index out of range: {axis} not in range [{-ndim},{ndim - 1}]"
    )


class ContainedError(RuntimeError):
    """Stands for what user code raised that is no `Exception`, such as SystemExit or GeneratorExit; that is its cause."""


def contained(error: BaseException) -> Exception:
    """Returns what user code raised as an `Exception`, so that it fails one batch and ends nothing else.

    Raises:
        KeyboardInterrupt: it is a Ctrl-C, and not raised by the code itself.
    """
    if isinstance(error, Exception):
        return error
    if isinstance(error, KeyboardInterrupt) and _is_signal(error):
        raise error
    found = ContainedError("".join(traceback.format_exception_only(error)).strip())
    found.__cause__ = error
    return found


def _is_signal(error: KeyboardInterrupt) -> bool:
    """Returns True if a signal raised an error; then its traceback ends where the signal came, and not at a `raise`."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        return False  # Python handles signals in its main thread
    if handler is not signal.default_int_handler:
        return True  # a handler in Python has a `raise` of its own
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] != "RAISE_VARARGS"


class OperatorError(RuntimeError):
    """An operator failed; says which, on which sample and file, and where it was written.

    A `RuntimeError`, because that is what DALI raises for anything that fails in `run`. Made of another
    exception (see `of`) it is also of that exception's type, so `except KeyError` catches the `KeyError`
    of a callback.
    """

    def __init__(
        self,
        message: str,
        *,
        operator: str = "",
        sample: int | None = None,
        source: str = "",
        where: str = "",
    ):
        parts = [message]
        if sample is not None:
            parts.append(f"sample {sample} of the batch")
        if source:
            parts.append(f"file {source}")
        if where:
            parts.append(f"defined at {where}")
        super().__init__("\n  ".join(parts))
        self.operator = operator
        self.sample = sample
        self.source = source
        self.where = where

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError, OSError and others have a way of their own to show it

    @classmethod
    def of(
        cls,
        error: Exception,
        operator: str,
        *,
        text: str | None = None,
        sample: int | None = None,
        source: str = "",
        where: str = "",
    ) -> OperatorError:
        """Makes the error to raise `from` an exception of an operator, or of a user's function in it.

        Args:
            error: of any type. The result has its attributes.
            operator: name of the operator.
            text: what to say; None: what `described` makes of the error.
            sample, source, where: as of the constructor.
        """
        made = _instance(type(error), error.args, _attributes(error))
        OperatorError.__init__(
            made,
            described(error, operator) if text is None else text,
            operator=operator,
            sample=sample,
            source=source,
            where=where,
        )
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        raised = getattr(type(self), "_raised", type(self))
        attributes = {name: value for name, value in _attributes(self).items() if _is_picklable(value)}
        return _restored, (raised if _is_picklable(raised) else OperatorError, str(self), attributes)


def described(error: Exception, operator: str) -> str:
    """Describes the error, beginning with the operator's name, and with the type of the exception in users'
    code.
    """
    text, kind = str(error), type(error).__name__
    if text.startswith(f"_{operator}: "):  # a variant, which is named after the operator
        return text[1:]
    if text.startswith(operator):
        return text
    if isinstance(error, (SampleError, ContainedError)):
        return f"{operator}: {text}"
    return f"{operator}: {kind}: {text}" if text else f"{operator}: {kind}"


# The first two are the engine's own. The others end loops: an error that is one as well would end an epoch.
_NEVER_COMBINED = (SampleError, ContainedError, StopIteration, StopAsyncIteration)
_COMBINED: weakref.WeakValueDictionary[type, type[OperatorError]] = weakref.WeakValueDictionary()


def _combined(raised: type[Exception]) -> type[OperatorError]:
    """Makes the class of `OperatorError`s that `except` finds by the type that was raised, too."""
    if issubclass(raised, OperatorError):
        return raised
    if issubclass(OperatorError, raised) or issubclass(raised, _NEVER_COMBINED):
        return OperatorError
    found = _COMBINED.get(raised)
    if found is None:
        members = {
            "__module__": OperatorError.__module__,
            "__doc__": OperatorError.__doc__,
            "_raised": raised,
        }
        name, bases = f"OperatorError[{raised.__name__}]", (OperatorError, raised)
        found = types.new_class(name, bases, exec_body=lambda body: body.update(members))
        _COMBINED[raised] = found
    return found


def _instance(
    raised: type[Exception], args: tuple[Any, ...], attributes: Mapping[str, object]
) -> OperatorError:
    """Makes an error that is also of the type that was raised; plain where the two types do not combine.

    Only the constructor of a built-in exception is called: the user's may want other arguments.
    """
    built_in = next(base for base in raised.__mro__ if not base.__flags__ & _HEAP_TYPE)
    try:
        made: OperatorError = built_in.__new__(_combined(raised), *args)
    except Exception:  # a final class, another memory layout, an __init_subclass__ or a __new__ that objects
        made = OperatorError.__new__(OperatorError)
    for name, value in attributes.items():
        with contextlib.suppress(AttributeError, TypeError):  # some cannot be set
            setattr(made, name, value)
    return made


def _attributes(error: Exception) -> dict[str, Any]:
    """Returns the attributes of an exception, with those in slots, such as the errno of an OSError."""
    found = dict(vars(error))
    for base in type(error).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and not name.startswith("__"):
                with contextlib.suppress(AttributeError):  # it was never set
                    found[name] = member.__get__(error)
    return found


def _is_picklable(value: object) -> bool:
    """Returns True if another process can unpickle a value; a class is found there by its name."""
    try:
        pickle.dumps(value)
    except Exception:  # pickle raises several types
        return False
    return True


def _restored(raised: type[Exception], text: str, attributes: dict[str, object]) -> OperatorError:
    """Restores the error that `OperatorError.__reduce__` took apart."""
    made = _instance(raised, (text,), attributes)
    made.args = (text,)
    return made


class InputCountError(OperatorError, ValueError, TypeError):
    """An operator was called with too few or too many inputs; DALI raises ValueError, Python TypeError."""


class UnknownArgumentError(OperatorError, KeyError, TypeError):
    """An operator has no argument of this name; DALI raises KeyError, Python TypeError."""


class MissingArgumentError(OperatorError, TypeError):
    """An argument without a default is missing; DALI raises RuntimeError, Python TypeError."""


class TracedArgumentError(TypeError):
    """An argument that decides an output's size was a tracer (inside `jit` or `vmap`)."""


class CompileLimitError(RuntimeError):
    """A pipeline wanted to compile more programs than `max_compiles` allows."""
