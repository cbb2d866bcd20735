"""Defines a `DataLoader` that replaces references by the results of a server's pipeline."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch.utils.data

from jdali._system.jax_internals import jax_has_started
from jdali.plugin.pytorch.experimental.proxy._mailbox import set_owner
from jdali.plugin.pytorch.experimental.proxy._server import DALIServer

_NUMBERS = itertools.count()


class DataLoader(torch.utils.data.DataLoader):  # type: ignore[misc,unused-ignore]
    """Extends PyTorch's `DataLoader` for data sets that call a server's proxy: its loop gets tensors, not references.

    If the server's thread is not running, the loader starts it, and later stops it. PyTorch starts workers by the method
    in `multiprocessing_context`, or by the system's default. In forked workers the data set must not use JAX, which cannot
    run after a fork. The proxy itself does not use JAX.

    Args:
        dali_server: the server.
        args, kwargs: arguments of `torch.utils.data.DataLoader`.

    Attributes:
        server_started_by_loader: True if the loader has started the server's thread.
    """

    worker_init_fn: Callable[[int], Any] | None

    def __init__(self, dali_server: DALIServer, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        self.dali_server = dali_server
        self.server_started_by_loader = False
        self._owner = ""

    def __iter__(self) -> Iterator[Any]:
        self.ensure_server_listening()
        lasting = self.num_workers > 0 and self.persistent_workers
        if not self._owner or not lasting:
            self._owner = f"{os.getpid()}-{next(_NUMBERS)}"
        own = self.worker_init_fn
        self.worker_init_fn = _WorkerInit(own, self._owner)
        try:
            with _forking_is_meant():
                batches = super().__iter__()
        finally:
            self.worker_init_fn = own
        loop = _Loop(self, batches, lasting)
        # Persistent workers continue in the next loop, so their requests are dropped only when the loader is freed.
        weakref.finalize(self if lasting else loop, self.dali_server._forget, self._owner).atexit = False
        return loop

    def ensure_server_listening(self) -> None:
        """Starts the server's thread if it is not running."""
        if not self.dali_server._is_thread_running():
            self.dali_server.start_thread()
            self.server_started_by_loader = True

    def __del__(self) -> None:
        if getattr(self, "server_started_by_loader", False):
            self.dali_server._let_thread_end()


class _Loop:
    """Iterates once over the data; `lasting` means that the workers are persistent."""

    def __init__(self, loader: DataLoader, batches: Iterator[object], lasting: bool):
        self._loader, self._batches, self._lasting = loader, batches, lasting

    def __iter__(self) -> _Loop:
        return self

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]

    def __next__(self) -> Any:
        self._loader.ensure_server_listening()
        return self._loader.dali_server._produce_next(next(self._batches), forget=self._lasting)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_batches":
            raise AttributeError(name)
        return getattr(self._batches, name)


class _WorkerInit:
    """Initialises a worker; `own` is the user's `worker_init_fn`, `owner` the id of the loop that uses the worker."""

    def __init__(self, own: Callable[[int], Any] | None, owner: str):
        self._own, self._owner = own, owner

    def __call__(self, number: int) -> None:
        set_owner(self._owner)
        if jax_has_started():  # forked after JAX started: this process must not free the parent's arrays
            gc.freeze()
        if self._own is not None:
            self._own(number)


@contextlib.contextmanager
def _forking_is_meant() -> Iterator[None]:
    """Silences warnings about forks after JAX has started, since workers do not use JAX."""
    if not jax_has_started():
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        warnings.filterwarnings(
            "ignore", r"This process .* is multi-threaded, use of fork", DeprecationWarning
        )
        yield
