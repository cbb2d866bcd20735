"""Requests of a scope that ends while they are under way, and errors of the machine."""

import asyncio
import errno
import gc
from concurrent.futures import CancelledError

import pytest

import jdali
from jdali._storage import Scope
from jdali._storage import files as _storage
from jdali._storage.remote import _once
from jdali._storage.scope import Ended

fsspec = pytest.importorskip("fsspec")
fsspec_asyn = pytest.importorskip("fsspec.asyn")


class Failing:
    """A file system whose storage fails in the moment in which the reader is closed."""

    async_impl = True

    def __init__(self, scope: Scope):
        self.scope, self.loop = scope, fsspec_asyn.get_loop()

    async def _read(self, path: str) -> bytes:
        self.scope.end()
        raise ConnectionError(path)


def test_an_error_that_nobody_waits_for_is_not_logged(caplog):
    scope = Scope()
    # The request may fail before its caller begins to wait.
    with scope, pytest.raises((CancelledError, Ended)):
        _once(Failing(scope), "read", "x", {}, 60)
    # The loop is done with the task once it has run this.
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), fsspec_asyn.get_loop()).result(60)
    gc.collect()
    assert not caplog.records


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (OSError(errno.EMFILE, "Too many open files"), errno.EMFILE),
        (MemoryError(), errno.ENOMEM),
        (OSError(errno.ECONNRESET, "reset"), errno.EIO),
    ],
    ids=repr,
)
def test_what_the_machine_lacks_keeps_its_number(monkeypatch, raised, expected):
    """Errors of clients are caused by those of the system."""
    before = jdali.storage.options()
    jdali.storage.configure(retries=0)

    def fail(*_, **__):
        raise ConnectionError("Cannot connect") from raised

    monkeypatch.setattr(fsspec.filesystem("memory"), "cat_file", fail)
    try:
        with pytest.raises(OSError, match="memory://x") as error:
            _storage.read("memory://x")
        assert error.value.errno == expected
    finally:
        jdali.storage.configure(retries=before.retries)
