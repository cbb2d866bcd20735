"""Pools of processes that make tasks: results and their memory, errors, deaths, and every way to end.

Makers are closures: they go to the processes by value, as these cannot import this module.
"""

import contextlib
import copyreg
import errno
import functools
import os
import pickle
import signal
import sys
import threading
from concurrent.futures import CancelledError, Future
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from support.faults import PATIENCE, child, descriptors_left, in_thread, until

from jdali._workers import by_value
from jdali._workers import pool as _pool
from jdali._workers.by_value import pack_by_value
from jdali._workers.jobs import PoolClosedError, TaskKilledError
from jdali._workers.memory import SharedSlabs
from jdali._workers.pool import TaskPool
from jdali._workers.process import FreshProcesses, TaskProcess
from jdali._workers.wire import pack, unpack, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sockets and signals of POSIX")


def maker():
    """Makes what a task says."""
    import signal  # of the process: nothing of this module is there

    def make(task):
        kind, value = task
        if kind == "fail":
            raise KeyError(value)
        if kind == "die":
            os.kill(os.getpid(), value)
        if kind == "die once":
            if not os.path.exists(value):
                open(value, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return os.getpid()
        if kind == "when there is":
            while not os.path.exists(value):
                pass
        if kind == "exit":
            os._exit(value)
        return {"pid": os.getpid(), "kind": kind, "value": value}

    return lambda: make


def started(count=1, start=None, **options):
    processes = FreshProcesses(pack_by_value(start or maker()), {"JAX_PLATFORMS": "cpu"})
    return TaskPool(count, processes, **options)


@pytest.fixture(scope="module")
def pool():
    made = started()
    yield made
    made.close()


def submit(pool, kind, value=None, order=0):
    return pool.submit(pack_by_value((kind, value)), order)


def held(pool):
    """Bytes of shared memory."""
    return pool.counts().leased + pool.counts().idle


def result(future):
    return future.result(timeout=PATIENCE).result


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- values -------------------------------------------------------------------------------------
ARRAYS = [
    np.arange(6000, dtype=np.float32).reshape(2, 3, 1000),
    np.zeros((0, 4), np.int64),
    np.arange(4000, dtype=np.int16)[::2],  # with gaps
    np.asfortranarray(np.arange(6000.0).reshape(60, 100)),
    np.linspace(0, 1, 3000).astype(ml_dtypes.bfloat16).reshape(3, 1000),
    np.array([True, False] * 1000),
    np.int32(7),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back_as_they_were(pool, array):
    back = result(submit(pool, "same", [array, "text"]))["value"][0]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(back, array)


def test_large_arrays_are_views_of_the_memory_and_aligned():
    value = {"a": np.ones(1000, np.uint8), "b": [np.arange(5000.0), np.uint8([1, 2])]}
    packed, buffers = pack(value)
    memory = np.zeros(packed.size + 64, np.uint8)
    memory = memory[-memory.ctypes.data % 64 :][: packed.size]
    write(packed, buffers, memory)
    back = unpack(packed, memory)
    assert len(packed.head) < 500
    for array in (back["a"], back["b"][0]):
        assert np.shares_memory(array, memory)
        assert array.ctypes.data % 64 == 0
    assert not np.shares_memory(back["b"][1], memory)  # small: it travels with the rest


def test_arrays_that_lie_in_the_memory_of_the_answer_are_not_copied():
    memory = np.zeros(1 << 16, np.uint8)
    there = memory[1024 : 1024 + 8000].view(np.float64)
    there[:] = np.arange(1000)
    value = {"other": np.full(2000, 7, np.uint8), "there": there, "late": np.full(3000, 9, np.uint8)}
    packed, buffers = pack(value, memory=memory)
    assert (1024, 8000) in packed.spans
    memory[:1024], memory[9024:] = 1, 1
    before = there.copy()
    write(packed, buffers, memory)
    back = unpack(packed, memory)
    assert np.shares_memory(back["there"], there)
    for name, expected in {"other": value["other"], "there": before, "late": value["late"]}.items():
        np.testing.assert_array_equal(back[name], expected)
    # A memory that is too small: all of them go to another one.
    small = memory[: 1024 + 8000]
    packed, buffers = pack(value, memory=small)
    assert packed.size > len(small)
    other = np.zeros(packed.size, np.uint8)
    write(packed, buffers, other)
    np.testing.assert_array_equal(unpack(packed, other)["there"], before)


def test_the_memory_of_the_answer_is_that_of_the_results():
    def start():
        from jdali._workers import answer_memory

        def make(value):
            memory = answer_memory()
            array = (
                np.empty(1 << 14, np.uint8) if memory is None else np.frombuffer(memory, np.uint8, 1 << 14)
            )
            array[:] = value
            return array, memory is not None

        return make

    answering = started(start=start)
    try:
        for i in range(4):
            array, is_there = result(answering.submit(pack_by_value(i)))
            assert (array == i).all()
            assert is_there == (i > 0)  # the first answer allocates it
            del array
    finally:
        answering.close()


def test_arrays_that_do_not_lie_in_rows_are_copied_once_more_but_right():
    packed, _ = pack(np.arange(4000)[::2])
    np.testing.assert_array_equal(unpack(packed, None), np.arange(0, 4000, 2))


def test_what_a_task_took_is_known(pool):
    made = submit(pool, "same", np.zeros(1000)).result(timeout=PATIENCE)
    assert made.nbytes == -(-8000 // 64) * 64
    assert made.seconds > 0
    assert made.cpu >= 0


def test_memory_is_lent_again_when_the_arrays_are_gone():
    with_memory = started(most_idle=1 << 30)
    try:
        kept = result(submit(with_memory, "same", np.full(1 << 16, 1)))
        other = result(submit(with_memory, "same", np.full(1 << 16, 2)))
        # Each result has memory of its own while it is there.
        assert (kept["value"] == 1).all()
        assert (other["value"] == 2).all()
        assert with_memory.counts().leased >= 2 * kept["value"].nbytes
        before, last = held(with_memory), other["value"][5:7]
        del kept, other
        assert last.tolist() == [2, 2]  # a view of a view keeps it
        for i in range(5):
            assert (result(submit(with_memory, "same", np.full(1 << 16, i)))["value"] == i).all()
        assert held(with_memory) == before
        # A larger result needs new memory; what is too small is freed.
        del last
        large = result(submit(with_memory, "same", np.full(1 << 19, 3)))
        assert (large["value"] == 3).all()
        result(submit(with_memory, "same"))
        assert held(with_memory) < 2 * large["value"].nbytes
    finally:
        with_memory.close()


def test_no_memory_is_kept_if_none_may_be():
    frugal = started(most_idle=0)
    try:
        for i in range(3):
            assert (result(submit(frugal, "same", np.full(1 << 16, i)))["value"] == i).all()
        result(submit(frugal, "same"))
        assert frugal.counts().idle == 0
        assert frugal.counts().leased <= (1 << 16) * 8 * 2
    finally:
        frugal.close()


def test_types_that_are_registered_later_are_pickled_as_they_say(monkeypatch):
    class Late:
        """Of which pickle knows nothing by itself: it is local."""

    monkeypatch.setitem(copyreg.dispatch_table, Late, lambda late: (int, ("7",)))
    packed, _ = pack([Late(), np.arange(3)])
    number, array = unpack(packed, None)
    assert number == 7
    np.testing.assert_array_equal(array, [0, 1, 2])


def test_a_marked_function_goes_by_value(pool):
    marked = by_value.pickle_by_value(lambda x: 3 * x)
    packed = pack_by_value(marked).packed
    assert pickle.loads(packed.head)(2) == 6


# --- errors -------------------------------------------------------------------------------------
def test_errors_are_those_of_the_maker(pool):
    with pytest.raises(KeyError, match="lost") as caught:
        result(submit(pool, "fail", "lost"))
    assert "in make" in caught.value.__notes__[0]
    assert result(submit(pool, "same", 1))["value"] == 1


def test_an_error_of_the_start_is_that_of_all_tasks():
    def start():
        raise LookupError("no such folder")

    broken = started(start=start)
    try:
        with pytest.raises(LookupError, match="no such folder"):
            result(submit(broken, "same"))
        with pytest.raises(LookupError, match="no such folder"):
            result(submit(broken, "same"))
    finally:
        broken.close()


def test_processes_that_end_at_once_are_not_started_for_ever():
    broken = started(start=lambda: os._exit(5))
    try:
        with pytest.raises(
            RuntimeError, match="cannot be started: .* ended with exit code 5 before it was ready"
        ):
            result(submit(broken, "same"))
    finally:
        broken.close()


def test_processes_that_are_killed_while_they_start_are_started_again():
    killed = started()
    try:
        for deaths in range(1, 6):
            assert until(lambda: killed.pids())
            os.kill(killed.pids()[0], signal.SIGKILL)
            assert until(lambda deaths=deaths: killed.counts().deaths == deaths)
        assert result(submit(killed, "same", 3))["value"] == 3
    finally:
        killed.close()


def test_a_process_that_cannot_start_fails_the_tasks_of_others_once(tmp_path):
    go, bad = str(tmp_path / "go"), str(tmp_path / "bad")

    def start():
        if os.path.exists(bad):
            raise LookupError("no such folder")

        def make(_):
            while not os.path.exists(go):
                pass

        return make

    half = started(start=start)
    try:
        futures = [half.submit(pack_by_value(None))]
        assert until(lambda: half._jobs)
        Path(bad).touch()
        half.resize(2)
        with pytest.raises(LookupError, match="no such folder"):
            result(futures[0])
        assert until(lambda: not half.pids())  # nobody waits for what the other one makes
        Path(go).touch()
        with pytest.raises(LookupError, match="no such folder"):
            result(submit(half, "same"))
    finally:
        half.close()


# --- descriptors ----------------------------------------------------------------------------
def ones():
    """Makes an array of a size; the value "full" takes all descriptors of its process, and None gives them back."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    def make(task):
        size, given = task
        if size == "full":
            os.close(lowest := os.dup(0))
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
            size = 0
        elif size == "when there is":
            while not os.path.exists(given):
                pass
            size = 0
        elif size is None:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            size = 0
        return os.getpid(), np.ones(size), np.sum(given) if isinstance(given, np.ndarray) else None

    return make


@pytest.mark.parametrize("free", [0, 1], ids=["none", "one"])
def test_without_a_descriptor_for_the_result_a_task_fails_and_the_next_one_does_not(free):
    """A result in new memory takes two: the one that is sent, and that of its mapping."""
    poor = started(start=ones)
    try:
        pid, small, _ = result(submit(poor, 1000))
        del small
        with descriptors_left(free):
            for _ in range(3):
                with pytest.raises(OSError, match="Too many open files") as caught:
                    result(submit(poor, 10_000))
                assert caught.value.errno == errno.EMFILE
                assert result(submit(poor, 999))[0] == pid  # in the memory that there is
            assert poor.counts().leased == 0
        again, large, _ = result(submit(poor, 10_000))
        assert (again, large.sum()) == (pid, 10_000)
        assert not poor.has_failed
    finally:
        poor.close()


def test_without_a_descriptor_in_the_process_a_task_fails_and_the_next_one_does_not():
    poor = started(start=ones)
    task = np.ones(10_000)
    try:
        pid, first, total = result(submit(poor, 1000, task))
        assert total == 10_000
        del first
        result(submit(poor, "full"))
        for _ in range(3):
            with pytest.raises(OSError, match="Too many open files") as caught:
                result(submit(poor, 1000, task))
            assert caught.value.errno == errno.EMFILE
        assert result(submit(poor, 999))[0] == pid  # in the memory that it has mapped
        result(submit(poor, None))
        for size in (1000, 20_000):
            again, values, total = result(submit(poor, size, task))
            assert (again, values.sum(), total) == (pid, size, 10_000)
            del values
        assert poor.counts().leased == 0
        assert poor.counts().deaths == 0
    finally:
        poor.close()


def test_without_a_descriptor_for_memory_of_another_process_tasks_fail(tmp_path):
    def hold(name):
        """Keeps the first process that is free."""
        waiting = submit(pair, "when there is", str(tmp_path / name))
        assert until(lambda: pair._jobs)
        return waiting

    pair = started(2, ones, most_idle=1 << 30)
    try:
        assert until(lambda: pair.counts().ready == 2)
        held = hold("first")
        poor = result(submit(pair, "full"))[0]
        (tmp_path / "first").touch()
        assert result(held)[0] != poor
        kept = [result(submit(pair, 1000)) for _ in range(2)]
        assert {pid for pid, *_ in kept} == {result(held)[0]}
        del kept
        held = hold("second")
        for _ in range(3):
            with pytest.raises(OSError, match="Too many open files"):
                result(submit(pair, 1000))
        (tmp_path / "second").touch()
        assert result(held)[0] != poor
        assert pair.counts().deaths == 0
    finally:
        pair.close()


def test_whatever_fails_in_the_thread_of_the_pool_is_the_error_of_all_tasks(monkeypatch):
    """Also of the task whose answer it handles."""

    def fail(*_):
        raise ZeroDivisionError("of the thread")

    raised = Future()
    monkeypatch.setattr(threading, "excepthook", raised.set_result)
    broken = started()
    try:
        result(submit(broken, "same"))
        monkeypatch.setattr(SharedSlabs, "lease", fail)
        futures = [broken.submit(pack_by_value(("same", np.zeros(1000)))) for _ in range(3)]
        for future in futures:
            with pytest.raises(RuntimeError, match="worker processes: ZeroDivisionError: of the thread"):
                result(future)
        assert raised.result(PATIENCE).exc_type is ZeroDivisionError
    finally:
        broken.close()


# --- deaths -------------------------------------------------------------------------------------
@pytest.fixture
def pair():
    made = started(2)
    yield made
    made.close()


def test_a_task_whose_process_dies_is_made_by_another(pair, tmp_path):
    assert result(submit(pair, "die once", str(tmp_path / "died"))) > 0
    assert pair.counts().deaths == 1


@pytest.mark.parametrize(
    "around", [contextlib.nullcontext, functools.partial(descriptors_left, 0)], ids=["", "full"]
)
def test_a_process_that_joins_makes_a_copy_of_a_task_first(tmp_path, around):
    """Its first task takes long, as where programs are compiled: no task of the pool waits for that.

    Nor does it matter whether this process has a descriptor for the memory of the copy's result.
    """
    slow, begun, go = (str(tmp_path / name) for name in ("slow", "begun", "go"))

    def start():
        made = []

        def make(_):
            while not made and os.path.exists(slow) and not os.path.exists(go):
                open(begun, "w").close()
            made.append(1)
            return os.getpid(), np.zeros(9000)  # so much that the result of the copy comes in a slab

        return make

    def pids():
        """Of the processes that make four tasks which are there at once."""
        futures = [submit(pool, "any") for _ in range(4)]
        return {result(future)[0] for future in futures}

    pool = started(2, start)
    try:
        assert until(lambda: len(pids()) == 2)
        Path(slow).touch()
        first, second = pool.pids()
        os.kill(first, signal.SIGKILL)
        assert until(lambda: pool.counts().deaths == 1)
        assert until(lambda: pids() == {second} and os.path.exists(begun))
        assert pool.counts().ready == 1
        assert all(pids() == {second} for _ in range(5))
        made = pool.counts().made
        with around():
            os.rename(slow, go)
            assert until(lambda: pool.counts().ready == 2)
        assert until(lambda: len(pids()) == 2)
        assert (pool.counts().made - made) % 4 == 0  # copies are not counted
        assert pool.counts().leased == 0
    finally:
        pool.close()


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("kind", "value", "deaths", "text"),
    [
        (
            "die",
            signal.SIGKILL,
            2,
            r"was killed by signal 9 \(SIGKILL\)",
        ),  # once may have been the OOM killer
        ("die", signal.SIGSEGV, 1, r"was killed by signal 11 \(SIGSEGV\)"),
        ("exit", 3, 1, "ended with exit code 3"),
    ],
)
def test_a_task_that_ends_its_process_is_given_up_and_no_other_is_blamed(pair, kind, value, deaths, text):
    futures = [submit(pair, "same", i, i) for i in range(4)]
    killer = submit(pair, kind, value, 4)
    futures += [submit(pair, "same", i, i) for i in range(5, 20)]
    with pytest.raises(TaskKilledError, match=text) as caught:
        result(killer)
    assert len(caught.value.deaths) == deaths
    assert len({death.pid for death in caught.value.deaths}) == deaths
    assert {death.reached for death in caught.value.deaths} == {None}
    assert [result(future)["value"] for future in futures] == [*range(4), *range(5, 20)]


def test_a_death_tells_what_the_task_noted_last():
    def start():
        from jdali._workers import note_reached

        def make(positions):
            for position in positions:
                note_reached(position)
            if positions:
                os.kill(os.getpid(), signal.SIGSEGV)

        return make

    noting = started(start=start)
    try:
        for positions, reached in ([3, 7], 7), ([], None), ([0], 0):
            future = noting.submit(pack_by_value(positions))
            if positions:
                with pytest.raises(TaskKilledError) as caught:
                    result(future)
                assert [death.reached for death in caught.value.deaths] == [reached]
            else:
                assert result(future) is None
    finally:
        noting.close()


def test_a_death_is_blamed_on_the_task_that_ran_and_not_on_the_next_one(tmp_path):
    alone = started(1)
    try:
        # Both wait until the process is ready, and then it has both.
        killer = submit(alone, "die", signal.SIGKILL, 0)
        next_one = submit(alone, "die once", str(tmp_path / "died"), 1)
        with pytest.raises(TaskKilledError):
            result(killer)
        assert result(next_one) > 0  # one death is its own: with that of the killer it would be given up
    finally:
        alone.close()


def test_a_process_that_nobody_uses_is_replaced(pair):
    first = result(submit(pair, "same"))["pid"]
    os.kill(first, signal.SIGKILL)
    assert until(lambda: first not in pair.pids() and pair.counts().ready == 2)
    assert result(submit(pair, "same"))["value"] is None


# --- number of processes ------------------------------------------------------------------------
def test_who_waits_for_a_task_may_use_the_pool(pool):
    """Futures are resolved without the pool's lock: a callback may wait for a thread that wants it."""
    future = submit(pool, "value", 1)
    counted = Future()
    future.add_done_callback(lambda _: counted.set_result(in_thread(pool.counts)()))
    assert counted.result(timeout=PATIENCE).ready == 1


def test_a_task_that_cannot_be_sent_ends_the_pool(monkeypatch):
    pool = started()
    try:
        assert result(submit(pool, "value", 1))["value"] == 1

        def full(process, order, descriptors):
            raise OSError("too many open files")

        monkeypatch.setattr(TaskProcess, "send", full)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="worker processes: OSError: too many open files"):
                result(submit(pool, "value", 2))
    finally:
        pool.close()


def test_resizing():
    resized = started(1)
    try:
        assert until(lambda: resized.counts().ready == 1)
        resized.resize(3)
        assert until(lambda: resized.counts().ready == 3)
        resized.resize(1)
        assert until(lambda: len(resized.pids()) == 1)
        assert result(submit(resized, "same", 5))["value"] == 5
        assert resized.counts().deaths == 0
    finally:
        resized.close()


# --- ending -------------------------------------------------------------------------------------
def test_closing_ends_what_runs_and_what_waits(tmp_path):
    closed = started()
    futures = [submit(closed, "when there is", str(tmp_path / "never")) for _ in range(5)]
    assert until(lambda: closed.counts().ready == 1)
    pids = closed.pids()
    closed.close()
    closed.close()
    for future in futures:
        with pytest.raises(PoolClosedError):
            result(future)
    with pytest.raises((PoolClosedError, CancelledError)):
        result(submit(closed, "same"))
    assert not any(map(is_alive, pids))


def test_arrays_stay_after_closing():
    closed = started()
    kept = result(submit(closed, "same", np.arange(10000)))
    closed.close()
    np.testing.assert_array_equal(kept["value"], np.arange(10000))


def test_processes_ignore_ctrl_c(pool):
    pid = result(submit(pool, "same"))["pid"]
    os.kill(pid, signal.SIGINT)
    assert result(submit(pool, "same"))["pid"] == pid


@pytest.mark.cases(1)
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the system does not show the state of processes"
)
@pytest.mark.parametrize("is_busy", [True, False], ids=["busy", "idle"])
def test_a_process_that_is_stopped_is_replaced(monkeypatch, caplog, tmp_path, is_busy):
    """Another one makes the tasks that it has."""
    monkeypatch.setattr(_pool, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(_pool, "_STOPPED_SECONDS", 0.5)
    made = started()
    try:
        pid = submit(made, "say").result(PATIENCE).result["pid"]
        if is_busy:
            waiting = submit(made, "when there is", str(tmp_path / "go"))
            assert until(lambda: not made._waiting and made._jobs)
        os.kill(pid, signal.SIGSTOP)
        if not is_busy:
            waiting = submit(made, "when there is", str(tmp_path / "go"))
        assert until(lambda: not is_alive(pid))
        (tmp_path / "go").touch()
        assert waiting.result(PATIENCE).result["pid"] != pid
        assert f"worker process {pid} has been stopped (SIGSTOP)" in caplog.text
    finally:
        made.close()


PROGRAM = """
    import os, sys, time
    from jdali._workers.pool import TaskPool
    from jdali._workers.process import FreshProcesses
    from jdali._workers.by_value import pack_by_value

    def make(task):  # of __main__
        return task, os.getpid(), "JDALI_TEST" in os.environ

    processes = FreshProcesses(pack_by_value(lambda: make), {"JAX_PLATFORMS": "cpu", "JDALI_TEST": "1"})
    pool = TaskPool(2, processes)
    number, pid, has_variable = pool.submit(pack_by_value(7)).result().result
    assert number == 7 and has_variable and "JDALI_TEST" not in os.environ
    open(PIDS, "w").write(" ".join(map(str, pool.pids())))
    print("ready", flush=True)
    END
"""


def program(pids: Path, end: str) -> str:
    return PROGRAM.replace("PIDS", repr(str(pids))).replace("END", end)


@pytest.mark.cases(1)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_processes_end_with_a_parent_that_is_killed(tmp_path, number):
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    ended = child(program(tmp_path / "pids", "time.sleep(600)"), signal=number)
    assert ended.code == -number
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert pids
    assert until(lambda: not any(map(is_alive, pids)))
    if before:
        assert not [name for name in set(os.listdir("/dev/shm")) - before if "jdali" in name]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends the processes of one that is killed")
def test_processes_that_are_stopped_end_with_their_parent(tmp_path):
    """The program is no group of its own, as in a shell's pipe: else the system has them go on when it ends."""
    ready = (
        "[time.sleep(0.01) for _ in iter(lambda: pool.counts().ready, 2)]"  # each has told the system by then
    )
    stop = "[os.kill(pid, signal.SIGSTOP) for pid in pool.pids()]; os.kill(os.getpid(), signal.SIGKILL)"
    ended = child(program(tmp_path / "pids", f"import signal; {ready}; {stop}"))
    assert ended.code == -signal.SIGKILL
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert pids
    assert until(lambda: not any(map(is_alive, pids)))


def test_a_program_that_does_not_close_its_pool_ends(tmp_path):
    ended = child(program(tmp_path / "pids", "pass"))
    assert ended.code == 0
    assert ended.err == ""
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert until(lambda: not any(map(is_alive, pids)))
