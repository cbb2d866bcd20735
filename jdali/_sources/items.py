"""Checks a user's source, and iterates over its items, with a position that can be saved and restored."""

from __future__ import annotations

import base64
import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np

from jdali._errors import contained

_CYCLES = {True: "quiet", False: "no", None: "no", "no": "no", "quiet": "quiet", "raise": "raise"}


class SourceItems:
    """Iterates over a user's source: an iterable, a generator function, or a callback without an argument.

    If the iterator has `get_state` and `set_state`, as Grain's iterators do, the position is the iterator's state. If
    not, the position is the number of items taken. To return to this position, a sequence is indexed, and any
    other source is iterated again from the beginning.

    Args:
        cycle: "quiet" restarts an iterable at its end, "raise" restarts it after StopIteration, "no" does not restart it.
        held: if True, every call after the end raises StopIteration until `restart`, even if `cycle` is "raise".
    """

    def __init__(self, source: Any, cycle: str = "no", *, held: bool = False):
        self._source, self._cycle, self._held = source, cycle, held
        self._ended = self._met_end = False
        if is_generator_function(source):
            self._begin: Callable[[], Iterator[Any]] = source
        elif is_callback(source):
            self._begin = lambda: _CallbackItems(source)
        else:
            self._begin = lambda: iter(source)
        # A generator or a callback cannot restart; it continues where it is. A source that is its own iterator restarts
        # only with `cycle`, by a call of `__iter__`. All other sources can restart.
        generator = inspect.isgenerator(source)
        if cycle != "no" and generator:
            raise TypeError(
                "external_source: Cannot cycle through a generator - if the generator is a result of calling a generator "
                "function, pass that function instead as `source`."
            )
        self._iterator = self._begin()
        self._restarts = is_generator_function(source) or not (
            is_callback(source) or generator or (cycle == "no" and self._iterator is source)
        )
        self._taken = 0

    @property
    def is_spent(self) -> bool:
        """True if the source is a generator that has yielded items; such a generator cannot restart."""
        return self._taken > 0 and inspect.isgenerator(self._source)

    def next(self) -> Any:
        """Returns the next item; raises StopIteration if none is left."""
        if self._ended:
            raise StopIteration
        try:
            item = self._given()
        except StopIteration:
            if self._cycle != "quiet":
                if self._held:
                    self._ended = True
                elif self._cycle == "raise":
                    self.restart()
                raise
            self.restart()
            item = next(self._iterator)
        self._taken += 1
        return item

    def _given(self) -> Any:
        """Returns the next item. An iterator that raises has skipped the item; a generator that raises has ended."""
        if self._met_end:
            self._met_end = False
            raise StopIteration
        try:
            return next(self._iterator)
        except StopIteration:
            raise
        except IndexError:
            if self._is_indexed and isinstance(self._iterator, map):
                raise StopIteration from None  # an IndexError ends a sequence, as when Python iterates over it
            self._taken += not inspect.isgenerator(self._iterator)
            raise
        except BaseException as error:
            failure = contained(error)
            self._taken += not inspect.isgenerator(self._iterator)
            raise failure from failure.__cause__

    def leave_out(self, count: int) -> None:
        """Skips the remaining items of a batch after one of its items raised an error."""
        for _ in range(count):
            try:
                self._given()
                self._taken += 1
            except StopIteration:
                self._met_end = True  # the next batch will raise StopIteration
                return
            except Exception:
                continue

    def restart(self) -> None:
        """Restarts the source, if it can."""
        if self._restarts:
            self._iterator, self._taken, self._ended = self._begin(), 0, False
        self._met_end = False

    def get_state(self) -> dict[str, Any]:
        if has_state(self._iterator):
            return {"own": portable(self._iterator.get_state())}  # type: ignore[attr-defined]
        return {"taken": self._taken}

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes to the position of a state; raises ValueError if the source cannot, or if the state does not fit."""
        if ("own" in state) != has_state(self._iterator):
            raise ValueError(
                "external_source: the state is of a source "
                f"{'with' if 'own' in state else 'without'} get_state and set_state, unlike this one"
            )
        self._ended = self._met_end = False
        if "own" in state:
            self._iterator.set_state(restored(state["own"]))  # type: ignore[attr-defined]
            return
        wanted = int(state["taken"])
        if self._is_indexed:
            self._taken = wanted
            self._iterator = map(self._source.__getitem__, range(wanted, len(self._source)))
            return
        if wanted < self._taken:
            if not self._restarts:
                raise ValueError(
                    f"external_source: {type(self._source).__name__} has given {self._taken} items and cannot "
                    f"go back to item {wanted}; give a list, a generator function, something with get_state "
                    "and set_state, or a callback that takes the number of the batch or a SampleInfo"
                )
            self.restart()
        for _ in range(wanted - self._taken):
            try:
                next(self._iterator)
            except StopIteration:
                raise ValueError(
                    f"external_source: it ended before item {wanted}, where the state was taken"
                ) from None
            except BaseException as error:  # this item also raised an error the first time
                contained(error)
        self._taken = wanted

    def leave_epoch(self, state: dict[str, Any], items: int | None) -> None:
        """Ends an epoch early, at the position of `state`. Items taken after this position are dropped.

        `items` is the number of items left in the epoch, which are skipped. If it is None, a source with a `cycle` restarts.
        A source that can neither go back nor restart continues where it is.
        """
        if not (self._is_indexed or self._restarts or "own" in state):
            return
        if items is None and self._cycle != "no":
            if self._restarts:
                self.restart()
            elif "own" in state:
                self.set_state(state)
            return
        self.set_state(state)
        if self._is_indexed and items:
            size = len(self._source)
            wanted = self._taken + items
            self.set_state({"taken": wanted % size if self._cycle == "quiet" and size else min(wanted, size)})
        elif self._restarts or "own" in state:
            for _ in range(items or 0):
                try:
                    self.next()
                except StopIteration:
                    break
                except Exception:  # the item is skipped
                    continue

    @property
    def _is_indexed(self) -> bool:
        return isinstance(self._source, (Sequence, np.ndarray))

    def twin(self) -> SourceItems:
        """Returns a copy with an independent position; raises RuntimeError if items can be read only once."""
        if not self._is_indexed:
            raise RuntimeError(
                f"external_source: a source of type {type(self._source).__name__} gives each item once; only "
                "lists, and callbacks that take the number of the batch or a SampleInfo, can be asked again"
            )
        twin = copy.copy(self)  # this calls no user code
        twin.set_state(self.get_state())
        return twin

    def skip(self, count: int) -> None:
        wanted, size = self._taken + count, len(self._source)
        if wanted > size:
            if self._cycle == "no":
                raise ValueError(f"external_source: it has {size} items, item {wanted} does not exist")
            wanted %= size
        self.set_state({"taken": wanted})


class _CallbackItems(Iterator[Any]):
    """Calls a callback for each item. Has `get_state` and `set_state` if the callback has them."""

    def __init__(self, function: Callable[[], Any]):
        self._function = function
        if has_state(function):
            self.get_state = function.get_state  # type: ignore[attr-defined]
            self.set_state = function.set_state  # type: ignore[attr-defined]

    def __next__(self) -> Any:
        return self._function()


def is_callback(source: object) -> TypeGuard[Callable[..., Any]]:
    """Returns True if the source is called for each of its items: it is callable, and `iter` does not take it."""
    iterable = isinstance(source, Iterable) or hasattr(type(source), "__getitem__")
    return callable(source) and not iterable and not is_generator_function(source)


def is_generator_function(source: object) -> bool:
    """Returns True for a generator function, including a partial of one, or an object whose `__call__` is one."""
    if isinstance(source, functools.partial):
        return is_generator_function(source.func)
    call = getattr(type(source), "__call__", None)  # noqa: B004  the function itself is wanted
    return inspect.isgeneratorfunction(source) or inspect.isgeneratorfunction(call)


def has_state(source: Any) -> bool:
    return hasattr(source, "get_state") and hasattr(source, "set_state")


def portable(state: Any) -> Any:
    """Converts a user's state for JSON. Bytes, which some iterators of Grain return, become base64."""
    return {"base64": base64.b64encode(state).decode()} if isinstance(state, bytes) else state


def restored(state: Any) -> Any:
    if isinstance(state, dict) and state.keys() == {"base64"}:
        return base64.b64decode(state["base64"])
    return state


def cycle_mode(given: object) -> str:
    """Returns the meaning of `cycle`: "no", "quiet" or "raise"."""
    if isinstance(given, (bool, str, type(None))) and given in _CYCLES:
        return _CYCLES[given]
    raise ValueError(
        f"external_source: Invalid value {given!r} for the argument `cycle`. Valid values are\n"
        '  - "no", False or None - it stays at its end\n'
        '  - "quiet", True - it begins again\n'
        '  - "raise" - it raises StopIteration and begins again.'
    )


def check_source(source: object, cycle: object, *, repeat_last: bool = False) -> None:
    """Raises TypeError if `source` is not a source, and ValueError for arguments that do not fit its kind."""
    if source is None:
        if cycle_mode(cycle) != "no":
            raise ValueError("external_source: `cycle` argument is only valid for iterable `source`")
        return
    if not callable(source) and not isinstance(source, Iterable) and not hasattr(source, "__getitem__"):
        raise TypeError(
            "external_source: The `source` must be callable, iterable or a parameterless generator function. It is "
            f"{type(source).__name__}"
        )
    if is_callback(source) and cycle is not None:
        raise ValueError(
            "external_source: The argument `cycle` can only be specified if `source` is iterable. It is a callback"
        )
    if repeat_last:
        raise ValueError(
            "external_source: ``repeat_last`` must not be set when using the ``source`` argument. It's usable only "
            "with manually fed `external_source`"
        )


def is_random_access(source: object) -> bool:
    """Returns True if a source can only be indexed. DALI has no such sources."""
    if callable(source) or isinstance(source, Iterable):
        return False
    return hasattr(source, "__len__") and hasattr(source, "__getitem__")


def takes_argument(function: Callable[..., object]) -> bool:
    """Returns True if a callback takes an index: a number, SampleInfo or BatchInfo; raises TypeError if it takes more."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    refused = {
        inspect.Parameter.VAR_POSITIONAL: "var-positional argument `*{}` which is",
        inspect.Parameter.VAR_KEYWORD: "var-keyword argument `**{}` which is",
        inspect.Parameter.KEYWORD_ONLY: "keyword-only argument `{}` which is",
    }
    if isinstance(function, functools.partial):  # arguments set by name appear as keyword-only
        del refused[inspect.Parameter.KEYWORD_ONLY]
        parameters = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    found = [refused[p.kind].format(p.name) for p in parameters if p.kind in refused]
    positional = [p for p in parameters if p.kind not in refused and p.default is p.empty]
    if len(positional) > 1:
        found.append("more than one positional argument, which is")
    if found:
        raise TypeError(
            "external_source: The `source` callable must accept either 0 or 1 positional arguments to indicate whether "
            f"it accepts the batch or sample indexing information. Found {found[0]} not allowed."
        )
    return bool(positional)
