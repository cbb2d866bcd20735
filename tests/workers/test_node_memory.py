"""Memory that the actors of a node share: filled by the first, mapped by the others, gone with the last."""

import os
import signal
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest
from support.faults import child, until

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


def free(key, number=0):
    """Waits until an address is free again; the thread that listens ends soon after it was told to."""
    name = f"\0jdali-{os.getuid()}-{key}-{number}"
    assert until(lambda: name[1:] not in Path("/proc/net/unix").read_text())


def test_after_the_first_one_has_closed_others_send_it_until_the_last_one_has(key):
    times = []
    first = shared_on_node(key, filled(b"a", times))
    second = shared_on_node(key, filled(b"b", times))
    first.close()
    first.memory.close()
    free(key)
    third = shared_on_node(key, filled(b"b", times))
    assert times == [b"a"]
    assert inode(third.memory) == inode(second.memory)
    second.close()
    third.close()
    free(key, 0)
    free(key, 1)
    later = shared_on_node(key, filled(b"b", times))
    assert times == [b"a", b"b"]
    assert second.memory.map()[:1] == b"a"  # those who have it keep it
    assert later.memory.map()[:1] == b"b"
    later.close()


def test_there_are_more_actors_than_addresses(key, monkeypatch):
    monkeypatch.setattr(node_memory, "_ADDRESSES", 2)
    times = []
    shared = [shared_on_node(key, filled(b"a", times)) for _ in range(4)]
    assert times == [b"a"]
    assert len({inode(one.memory) for one in shared}) == 1
    for one in shared:
        one.close()


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


HOLDER = """
    import time
    from jdali._workers.memory import Memory, allocate
    from jdali._workers.on_ray.node_memory import shared_on_node
    shared = shared_on_node({key!r}, lambda: Memory(*allocate(5000)))
    print("ready", flush=True)
    time.sleep(600)
"""


def test_a_process_that_is_killed_leaves_no_address(key):
    ended = child(HOLDER.format(key=key), signal=signal.SIGKILL)
    assert ended.code == -signal.SIGKILL
    times = []
    shared_on_node(key, filled(b"a", times))
    assert times == [b"a"]


def test_the_memory_of_a_first_one_that_is_killed_is_that_of_those_who_come_later(key):
    program = textwrap.dedent(HOLDER.format(key=key))
    first = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout.readline() == "ready\n"
        times = []
        second = shared_on_node(key, filled(b"b", times))
    finally:
        first.kill()
        first.wait()
        first.stdout.close()
    third = shared_on_node(key, filled(b"c", times))
    assert times == []
    assert inode(third.memory) == inode(second.memory)
    for one in (second, third):
        one.close()


def test_memory_of_another_user_is_not_taken(key, monkeypatch):
    times = []
    shared_on_node(key, filled(b"a", times))
    monkeypatch.setattr(node_memory, "_is_of_this_user", lambda connected: False)
    own = shared_on_node(key, filled(b"b", times))
    assert times == [b"a", b"b"]
    assert own.memory.map()[:1] == b"b"
