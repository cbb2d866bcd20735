"""Memory that the actors of a node share: filled by the first, mapped by the others, gone with the last."""

import os
import signal
import sys
import uuid

import pytest
from support.faults import child

pytest.importorskip("ray", reason="Ray is not installed")  # the package of the actors imports it
from jdali._workers.memory import Memory, allocate
from jdali._workers.on_ray import node_memory
from jdali._workers.on_ray.node_memory import shared_on_node

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names without a file are Linux's")


def filled(byte, times):
    """Returns a function that fills memory with a byte, and notes that it was called."""

    def fill():
        times.append(byte)
        memory = Memory(*allocate(5000))
        with memory.map() as mapped:
            mapped[:5000] = byte * 5000
        return memory

    return fill


@pytest.fixture
def key():
    return uuid.uuid4().hex


def inode(memory):
    return os.fstat(memory.descriptor).st_ino


def test_the_first_one_fills_it_and_all_map_the_same(key):
    times = []
    shared = [shared_on_node(key, filled(byte, times)) for byte in (b"a", b"b", b"c")]
    assert times == [b"a"]
    assert len({inode(one.memory) for one in shared}) == 1
    mapped = [one.memory.map() for one in shared]
    for memory in mapped:
        assert memory[:5000] == b"a" * 5000
    mapped[0][7:8] = b"z"
    assert mapped[2][7:8] == b"z"
    for one in shared:
        one.close()
        one.memory.close()


def test_after_the_first_one_has_closed_the_next_fills_it_anew(key):
    times = []
    first = shared_on_node(key, filled(b"a", times))
    other = shared_on_node(key, filled(b"b", times))
    first.close()
    first.memory.close()
    assert other.memory.map()[:1] == b"a"  # those who have it keep it
    # The thread that listens ends soon after.
    later = next(
        one for one in (shared_on_node(key, filled(b"b", times)) for _ in range(10_000)) if len(times) > 1
    )
    assert later.memory.map()[:1] == b"b"


def test_other_keys_have_memory_of_their_own(key):
    times = []
    for name in (key, key + "x"):
        shared_on_node(name, filled(b"a", times))
    assert len(times) == 2


def test_an_error_leaves_the_address_to_others(key):
    def broken():
        raise MemoryError("no room")

    with pytest.raises(MemoryError):
        shared_on_node(key, broken)
    times = []
    shared_on_node(key, filled(b"a", times))
    assert times == [b"a"]


def test_a_process_that_is_killed_leaves_no_address(key):
    ended = child(
        f"""
        import time
        from jdali._workers.memory import Memory, allocate
        from jdali._workers.on_ray.node_memory import shared_on_node
        shared_on_node({key!r}, lambda: Memory(*allocate(5000)))
        print("ready", flush=True)
        time.sleep(600)
        """,
        signal=signal.SIGKILL,
    )
    assert ended.code == -signal.SIGKILL
    times = []
    shared_on_node(key, filled(b"a", times))
    assert times == [b"a"]


def test_memory_of_another_user_is_not_taken(key, monkeypatch):
    times = []
    shared_on_node(key, filled(b"a", times))
    monkeypatch.setattr(node_memory, "_is_of_this_user", lambda connected: False)
    own = shared_on_node(key, filled(b"b", times))
    assert times == [b"a", b"b"]
    assert own.memory.map()[:1] == b"b"
