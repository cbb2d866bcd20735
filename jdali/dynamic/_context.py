"""Defines threads, streams and evaluation modes of dynamic mode.

A call of a compiled operator starts it and returns immediately; only code that reads the values waits. So DALI's
deferred evaluation is not needed: in jdali, the evaluation mode only determines whether a call waits for its results.
"""

from __future__ import annotations

import enum
import os
import threading
from typing import Any

from jdali._system.cpus import cpu_count
from jdali.dynamic._checkpoint import Checkpoint
from jdali.engine import eager

_stacks = threading.local()


def _stack(name: str) -> list[Any]:
    return _stacks.__dict__.setdefault(name, [])


class EvalMode(enum.Enum):
    """Lists the evaluation modes; use a member as a context manager.

    With `deferred` and `eager` (the default), calls do not wait for results. With `sync_cpu`, calls wait for results on
    the device "cpu". With `sync_full`, calls wait for all results.
    """

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4
    default = eager

    @staticmethod
    def current() -> EvalMode:
        """Returns the mode of the innermost `with` block, or the default."""
        stack = _stack("modes")
        return stack[-1] if stack else EvalMode.eager

    def __enter__(self) -> EvalMode:
        _stack("modes").append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack("modes").pop()


class ThreadPool:
    """Threads for operators that are not compiled, such as decoders and readers. The threads start on first use.

    Args:
        num_threads: number of threads; None: `get_num_threads()`.
        device_id: without effect.
    """

    def __init__(self, num_threads: int | None = None, *, device_id: int | None = -1):
        self._num_threads = _positive(get_num_threads() if num_threads is None else num_threads)
        self._pool: eager.Pool | None = None
        self._lock = threading.Lock()

    @property
    def num_threads(self) -> int:
        return self._num_threads

    @property
    def device_id(self) -> int | None:
        """Returns None, because threads belong to no device."""
        return None

    @property
    def pool(self) -> eager.Pool:
        """Returns the engine's pool."""
        with self._lock:
            if self._pool is None:
                self._pool = eager.Pool(self._num_threads)
            return self._pool


class EvalContext:
    """Sets the threads that operators use in a `with` block.

    Args:
        num_threads: number of threads; None: `get_num_threads()`.
        device_id: has no effect, because operators run where their data are.
        cuda_stream: has no effect, because JAX orders its own work.
        thread_pool: threads to use, in place of `num_threads`.
    """

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: object = None,
        thread_pool: ThreadPool | None = None,
    ):
        if thread_pool is not None and num_threads is not None:
            raise ValueError("EvalContext: `thread_pool` and `num_threads` cannot be specified together.")
        self._device_id, self._stream = device_id, cuda_stream
        self._threads = thread_pool or ThreadPool(num_threads)
        self._cache: dict[int, tuple[Any, Any]] = {}
        self._checkpoint = Checkpoint()

    @staticmethod
    def default() -> EvalContext:
        """Returns the context that applies outside of `with` blocks."""
        global _default
        with _default_lock:
            if _default is None:
                _default = EvalContext()
            return _default

    @staticmethod
    def current() -> EvalContext:
        """Returns the context of the innermost `with` block, or the default one."""
        stack = _stack("contexts")
        return stack[-1] if stack else EvalContext.default()

    @property
    def num_threads(self) -> int:
        return self._threads.num_threads

    @property
    def thread_pool(self) -> ThreadPool:
        return self._threads

    @property
    def device_id(self) -> int | None:
        return self._device_id

    @property
    def cuda_stream(self) -> Any:
        return self._stream

    @property
    def checkpoint(self) -> Checkpoint:
        """Returns the checkpoint that `checkpoint.current()` returns in this context."""
        return self._checkpoint

    def evaluate_all(self) -> None:
        """Does nothing, because calls start immediately."""

    def cache_results(self, invocation: object, results: object) -> None:
        """Caches results for the object `invocation`; see `cached_results`."""
        self._cache[id(invocation)] = (invocation, results)

    def cached_results(self, invocation: object) -> Any:
        """Returns the results that `cache_results` stored for the object `invocation`, or None."""
        return self._cache.get(id(invocation), (None, None))[1]

    def __enter__(self) -> EvalContext:
        _stack("contexts").append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack("contexts").pop()


_default: EvalContext | None = None
_default_lock = threading.RLock()
_num_threads: int | None = None


def get_num_threads() -> int:
    """Returns the default number of threads: from `set_num_threads`, else DALI_NUM_THREADS, else the number of processors."""
    if _num_threads is not None:
        return _num_threads
    asked = os.environ.get("DALI_NUM_THREADS", "")
    return _positive(int(asked)) if asked else cpu_count()


def set_num_threads(n: int) -> None:
    """Sets the number of threads of the default context."""
    global _default, _num_threads
    with _default_lock:
        _num_threads = _positive(n)
        if _default is not None and _default.num_threads != n:
            _default._threads = ThreadPool(n)


def _positive(n: int) -> int:
    if not isinstance(n, int):
        raise TypeError(f"The number of threads must be an integer, not {n!r}")
    if n <= 0:
        raise ValueError(f"The number of threads must be positive; got {n}.")
    return n


class Stream:
    """Replaces a CUDA stream in code written for DALI; has no effect, because JAX orders its own work.

    Args:
        stream: any object with a `handle` or `cuda_stream`; None: no stream.
        device_id: number that the property `device_id` returns.
    """

    def __init__(self, *, stream: object = None, device_id: int | None = None):
        self._stream, self._device_id = stream, device_id

    @classmethod
    def create_new(cls, device_id: int | None = None) -> Stream:
        return cls(device_id=device_id)

    @property
    def device_id(self) -> int | None:
        return self._device_id

    @property
    def handle(self) -> int:
        """Returns the address of the CUDA stream; 0, CUDA's default stream, if there is none."""
        return int(getattr(self._stream, "handle", None) or getattr(self._stream, "cuda_stream", None) or 0)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __eq__(self, other: object) -> bool:
        own = (self.handle, self._device_id)
        return isinstance(other, Stream) and own == (other.handle, other._device_id)

    __ne__ = object.__ne__  # the opposite of `__eq__`; defined because DALI's class defines it

    def __hash__(self) -> int:
        return hash((self.handle, self._device_id))

    def synchronize(self) -> None:
        """Does nothing, because code that reads values waits for them anyway."""


def stream(*, stream: object = None, device_id: int | None = None) -> Stream:
    """Returns a `Stream`, which has no effect."""
    return Stream(stream=stream, device_id=device_id)


_streams: dict[str, Any] = {"current": None, "default": None}


def get_current_stream() -> Any:
    """Returns the argument of the last `set_current_stream`, or None."""
    return _streams["current"]


def set_current_stream(cuda_stream: object) -> None:
    """Sets the result of `get_current_stream`; has no effect on operators."""
    _streams["current"] = cuda_stream


def get_default_stream(device_id: int | None = None) -> Any:
    """Returns the argument of the last `set_default_stream`, or None."""
    return _streams["default"]


def set_default_stream(cuda_stream: object, device_id: int | None = None) -> None:
    """Sets the result of `get_default_stream`; has no effect on operators."""
    _streams["default"] = cuda_stream
