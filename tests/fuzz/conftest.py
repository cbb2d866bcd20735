"""Indexes that readers build go to a folder of the test."""

import pytest


@pytest.fixture(autouse=True)
def _index_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
