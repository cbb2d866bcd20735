"""Free memory of the heap goes back to the system."""

import sys

import numpy as np
import pytest

from jdali.engine.engine import give_back_free_memory


def anonymous():
    """Bytes of anonymous memory of this process."""
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) << 10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_what_lies_free_between_allocations_is_given_back():
    # Too small to be mapped by themselves; every hundredth one stays, so the heap cannot shrink at its end.
    blocks = [np.ones(1 << 16, np.uint8) for _ in range(1000)]
    kept = [*blocks[::100], np.ones(1 << 16, np.uint8)]
    blocks.clear()
    before = anonymous()
    give_back_free_memory()
    assert before - anonymous() > 20 << 20
    assert all(block[0] == 1 for block in kept)


def test_a_system_without_it_is_no_error(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    give_back_free_memory()
