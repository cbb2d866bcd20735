"""Memory that is given back is overwritten at once: whoever still reads it sees that."""

from __future__ import annotations

import numpy as np
import pytest

from jdali._batches import SlabPool

POISON = 0xA5


@pytest.fixture
def poisoned(monkeypatch):
    """In each pool of memory."""
    end = SlabPool._end

    def overwritten(pool, slab):
        np.frombuffer(slab.memory, np.uint8)[:] = POISON
        end(pool, slab)

    monkeypatch.setattr(SlabPool, "_end", overwritten)
