"""Index caches in tests, whose files have only just been written."""

import pytest

from jdali._storage import index_cache


def settle_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the index cache keep indexes of files that have only just changed."""
    monkeypatch.setattr(index_cache, "_SETTLED_NS", 0)
