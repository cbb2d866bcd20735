"""Defines the exceptions that jdali raises."""

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

_HEAP_TYPE = 1 << 9  # CPython's flag (Py_TPFLAGS_HEAPTYPE) of classes that are not built in


@dataclasses.dataclass(frozen=True)
class SkippedSample:
    """Describes a sample that was skipped because an operator failed on it."""

    path: str
    epoch: int
    index: int
    operator: str
    reason: str


class SampleError(ValueError):
    """The data of one sample, or an argument's value for it, are wrong.

    `setup` functions and codecs raise it with the position of the sample in the batch. The engine then skips or masks the
    sample, or raises an `OperatorError` with the operator, the file and the user's line, depending on `on_error`.
    """

    def __init__(self, message: str, *, sample: int | None = None, argument: str | None = None):
        super().__init__(message)
        self.sample = sample
        self.argument = argument


def check_samples(
    wrong: np.ndarray | np.bool, text: Callable[..., str], *, argument: str | None = None
) -> None:
    """Raises a `SampleError` for the first wrong sample, if there is one.

    Args:
        wrong: bool [batch], True for each wrong sample; or bool [batch, ...], True for each wrong value of a sample.
        text: returns the message for the index of the first wrong value: `text(sample)`, or `text(sample, axis)`.
        argument: name of the argument with the wrong value; None if the data are wrong.
    """
    if wrong.any():
        index = np.argwhere(np.atleast_1d(wrong))[0].tolist()
        raise SampleError(text(*index), sample=index[0], argument=argument)


def wrong_dtype(name: str, what: str, found: np.dtype, expected: str) -> TypeError:
    """Builds the error of operator `name` for data of an unsupported element type."""
    return TypeError(
        f"{name}: {what} must be {expected}, got {found}; cast it. Calling type does not match buffer data type, requested "
        f"type: {expected} current buffer type: {found}"
    )


def absent_axis(name: str, letter: str, layout: str) -> ValueError:
    """Builds the error of operator `name` for an axis letter that is missing in the layout of its input."""
    return ValueError(f"{name}: Axis '{letter}' is not present in the input layout, which is '{layout}'")


def axis_out_of_range(name: str, axis: int, ndim: int) -> np.exceptions.AxisError:
    """Builds the error of operator `name` for an axis that an input of `ndim` axes does not have."""
    return np.exceptions.AxisError(
        f"{name}: Axis index out of range: {axis} not in range [{-ndim},{ndim - 1}]"
    )


class ContainedError(RuntimeError):
    """Replaces SystemExit and other errors of user code that are not `Exception`s. The original is `__cause__`."""


def contained(error: BaseException) -> Exception:
    """Turns anything that user code raised into an `Exception`, so that it fails only one batch.

    Raises:
        KeyboardInterrupt: Ctrl-C raised `error`, not the user code.
    """
    if isinstance(error, Exception):
        return error
    if isinstance(error, KeyboardInterrupt) and _is_signal(error):
        raise error
    found = ContainedError("".join(traceback.format_exception_only(error)).strip())
    found.__cause__ = error
    return found


def _is_signal(error: KeyboardInterrupt) -> bool:
    """Returns True if a signal raised the error: its traceback does not end at a `raise` statement."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        return False  # Python raises errors of signals only in its main thread
    if handler is not signal.default_int_handler:
        return True  # assumed, because a user's handler also ends the traceback at a `raise`
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] != "RAISE_VARARGS"


class OperatorError(RuntimeError):
    """An operator failed; the message names the operator, the sample, its file, and the line that defined the operator.

    It is a `RuntimeError`, because DALI raises this type for all errors in `run`. An error that `of` builds from another
    exception also has that exception's type, so `except KeyError` catches the `KeyError` of a callback.
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
        return str(self.args[0])  # KeyError and OSError, for instance, would format it differently

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
        """Builds the error that replaces an exception of an operator, or of a user's function that the operator calls.

        Args:
            error: exception of any type, whose attributes are copied to the new error.
            operator: name of the operator.
            text: message; None: the result of `described`.
            sample, source, where: as in the constructor.
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
    """Prefixes the message of an error with the operator's name and, if user code raised it, the exception's type."""
    text, kind = str(error), type(error).__name__
    if text.startswith(f"_{operator}: "):  # an internal variant of the operator
        return text[1:]
    if text.startswith(operator):
        return text
    if isinstance(error, (SampleError, ContainedError)):
        return f"{operator}: {text}"
    return f"{operator}: {kind}: {text}" if text else f"{operator}: {kind}"


# An OperatorError never has these types. Two are internal; the other two would silently end a loop, and so an epoch.
_NEVER_COMBINED = (SampleError, ContainedError, StopIteration, StopAsyncIteration)
_COMBINED: weakref.WeakValueDictionary[type, type[OperatorError]] = weakref.WeakValueDictionary()


def _combined(raised: type[Exception]) -> type[OperatorError]:
    """Derives a class from `OperatorError` and, if possible, from the type that was raised."""
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
    """Builds an `OperatorError` that is also of the raised type. If the types cannot be combined, builds a plain one.

    Only the `__new__` of the built-in base class is called, because the user's class may require other arguments.
    """
    built_in = next(base for base in raised.__mro__ if not base.__flags__ & _HEAP_TYPE)
    # This fails for a final class, a different memory layout, or an error in __init_subclass__ or __new__.
    try:
        made: OperatorError = built_in.__new__(_combined(raised), *args)
    except Exception:
        made = OperatorError.__new__(OperatorError)
    for name, value in attributes.items():
        with contextlib.suppress(AttributeError, TypeError):  # some attributes are read-only
            setattr(made, name, value)
    return made


def _attributes(error: Exception) -> dict[str, Any]:
    """Returns the attributes of an exception, including those in slots, such as the errno of an OSError."""
    found = dict(vars(error))
    for base in type(error).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and not name.startswith("__"):
                with contextlib.suppress(AttributeError):  # a slot without a value
                    found[name] = member.__get__(error)
    return found


def _is_picklable(value: object) -> bool:
    """Returns True if a value can be pickled; for a class, pickle must find it by its name."""
    try:
        pickle.dumps(value)
    except Exception:  # pickle raises exceptions of several types
        return False
    return True


def _restored(raised: type[Exception], text: str, attributes: dict[str, object]) -> OperatorError:
    """Rebuilds a pickled error; see `OperatorError.__reduce__`."""
    made = _instance(raised, (text,), attributes)
    made.args = (text,)
    return made


class InputCountError(OperatorError, ValueError, TypeError):
    """An operator was called with too few or too many inputs (DALI raises ValueError, Python TypeError)."""


class UnknownArgumentError(OperatorError, KeyError, TypeError):
    """An operator has no argument of this name (DALI raises KeyError, Python TypeError)."""


class MissingArgumentError(OperatorError, TypeError):
    """An argument without a default is missing (DALI raises RuntimeError, Python TypeError)."""


class TracedArgumentError(TypeError):
    """An argument that determines an output's size is a tracer of `jit` or `vmap`."""


class CompileLimitError(RuntimeError):
    """A pipeline needs more compiled programs than `max_compiles` allows."""
