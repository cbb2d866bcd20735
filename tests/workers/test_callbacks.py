"""Processes for user code: what comes back, exceptions with their traceback, workers that die, and ending."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from support.callbacks import Echo, Seeds
from support.faults import PATIENCE, TESTS, child, jdali_threads, until

from jdali._workers import pool as _pool
from jdali._workers.callbacks import CallbackWorkers
from jdali._workers.process import TaskProcess
from jdali.tensors import TensorCPU


@pytest.fixture(scope="module")
def pool():
    made = CallbackWorkers([Echo(), Echo(alone=True)], workers=2, start_method="forkserver")
    yield made
    made.close()


def result(future):
    return future.result(timeout=PATIENCE).result


def test_arrays_come_back(pool):
    arrays, extra = result(pool.submit(0, "twice", [np.int32([[1, 2]]), np.float32(3)]))
    assert [a.tolist() for a in arrays] == [[[2, 4]], 6.0]
    assert extra == 2


def test_the_thread_that_dalis_tests_look_for_ends_with_the_processes():
    made = CallbackWorkers([Echo()], workers=1, start_method="forkserver")
    thread = made.pool._observer.thread
    assert thread.is_alive()
    made.close()
    assert not thread.is_alive()


TYPES = [np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
TYPES += [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 0, 4), (60, 70)])
def test_all_types_and_shapes(pool, dtype, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    content = [[array, array.T], [np.uint8([1])]]  # what is not contiguous too
    got, _ = result(pool.submit(0, "same", content))
    assert [[a.dtype for a in row] for row in got] == [[dtype, dtype], [np.uint8]]
    np.testing.assert_array_equal(got[0][0], array)
    np.testing.assert_array_equal(got[0][1], array.T)
    assert got[1][0].tolist() == [1]


def test_tensors_keep_their_layout(pool):
    got = result(pool.submit(0, "same", TensorCPU(np.zeros((2, 3, 1), np.uint8), "HWC")))[0]
    assert isinstance(got, TensorCPU)
    assert got.layout() == "HWC"


def test_many_calls_at_once(pool):
    futures = [pool.submit(0, "twice", [np.int32([i])]) for i in range(50)]
    assert [result(f)[0][0].tolist() for f in futures] == [[2 * i] for i in range(50)]


def test_an_object_that_is_alone_has_its_own_worker(pool):
    counts = [result(pool.submit(1, "counted"))[1] for _ in range(3)]
    assert counts == [1, 2, 3]
    alone = result(pool.submit(1, "pid"))[1]
    assert {result(pool.submit(1, "pid"))[1] for _ in range(5)} == {alone}
    assert alone not in {result(pool.submit(0, "pid"))[1] for _ in range(20)}
    assert pool.size == 2
    assert len(pool.pids()) == 3


def test_exceptions_are_those_of_the_user_with_the_workers_traceback(pool):
    with pytest.raises(KeyError, match="lost") as caught:
        result(pool.submit(0, "fail", KeyError("lost")))
    text = "".join(traceback.format_exception(caught.value))
    assert "callbacks.py" in text
    assert "raise error" in text
    with pytest.raises(StopIteration):
        result(pool.submit(0, "fail", StopIteration()))


def test_exceptions_that_cannot_be_pickled(pool):
    with pytest.raises(RuntimeError, match="Unportable: <function"):
        result(pool.submit(0, "fail_with_a_lambda"))


def test_arguments_that_cannot_be_pickled(pool):
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local object"):
        result(pool.submit(0, "same", lambda: 1))
    assert result(pool.submit(0, "pid"))[1] in pool.pids()  # the worker is there as before


def test_results_that_cannot_be_pickled(pool):
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local object"):
        result(pool.submit(0, "lambda_beside"))
    assert result(pool.submit(0, "pid"))[1] in pool.pids()


def test_a_worker_that_dies_is_an_error_of_all_that_wait():
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver")
    dead, behind = pool.submit(0, "die"), pool.submit(0, "pid")
    for future in (dead, behind, pool.submit(0, "pid")):
        with pytest.raises(RuntimeError, match=r"worker process \d+ ended with exit code 7"):
            result(future)
    pool.close()


def test_closing_ends_what_hangs(tmp_path):
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver")
    waiting = pool.submit(0, "sleep", str(tmp_path / "begun"))
    assert until((tmp_path / "begun").exists)
    pids = pool.pids()
    pool.close()
    pool.close()  # harmless twice
    with pytest.raises(RuntimeError):
        result(waiting)
    with pytest.raises(RuntimeError, match="closed"):
        result(pool.submit(0, "pid"))
    assert not any(map(_alive, pids))


def _alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_fork_after_jax_has_started_is_refused_with_the_reason():
    jnp.zeros(1).block_until_ready()
    with pytest.raises(RuntimeError, match=r"JAX has started its own: the copy may hang. Use .spawn"):
        CallbackWorkers([Echo()], workers=1, start_method="fork")


FORKED = """
    import os, threading
    from support.callbacks import Echo
    from jdali._workers.callbacks import CallbackWorkers

    threads = []
    os.register_at_fork(before=lambda: threads.append(threading.active_count()))
    pool = CallbackWorkers([Echo(), Echo(alone=True), Echo(alone=True)], workers=2, start_method="fork")
    assert threads == [1] * 4, threads
    assert [pool.submit(number, "pid").result().result[1] in pool.pids() for number in range(3)] == [True] * 3
    pool.close()
"""


def test_a_process_that_is_forked_has_no_threads_yet():
    ended = child(FORKED)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"workers": 0}, RuntimeError, "without Python workers pool.* at least 1, not 0"),
        ({"workers": 1, "start_method": "thread"}, ValueError, "must be one of fork, spawn"),
        (
            {"workers": 1, "start_method": "spawn", "pickler": 3},
            ValueError,
            "must be a module or an object with",
        ),
    ],
)
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        CallbackWorkers([Echo()], **options)


class Recorder:
    """A pickler that notes how it was called."""

    loads = staticmethod(pickle.loads)

    def __init__(self):
        self.options = []

    def dumps(self, value, **options):
        self.options.append(options)
        return pickle.dumps(value)


def test_a_pickler_of_the_users():
    pickler = Recorder()
    given = (pickler, {"some": "option"}, {"encoding": "ASCII"})
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver", pickler=given)
    assert result(pool.submit(0, "pid"))[1] in pool.pids()
    assert pickler.options == [{"some": "option"}]
    pool.close()


SCRIPT = """
    import os, signal, sys, tempfile, time
    import numpy as np
    from support.callbacks import Echo
    from jdali._workers.callbacks import CallbackWorkers

    if __name__ == "__main__":
        pool = CallbackWorkers([Echo()], workers=2, start_method={method!r})
        pids = {{pool.submit(0, "pid").result().result[1] for _ in range(20)}}
        assert pids <= set(pool.pids())
        kept = [pool.submit(0, "twice", [np.zeros(100_000)]).result().result[0] for _ in range(3)]
        left = pool.submit(0, "twice", [np.zeros(100_000)]).result().result[0]
        del left
        print(*pool.pids())
        maps = [line.split(maxsplit=5)[5:] for line in open("/proc/self/maps") if " rw-s " in line]
        print(*(path.strip() for path, in maps), sep="\\n", flush=True)
        {ending}
"""


def _script(code, folder):
    """A program in a session of its own."""
    code = textwrap.dedent(code)
    paths = os.pathsep.join([str(TESTS), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False,
        start_new_session=True, env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(folder)},
    )  # fmt: skip


ENDINGS = {
    "exit": ("", 0),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    "group": ("os.killpg(0, signal.SIGKILL)", -9),
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "method", ["fork", "forkserver", pytest.param("spawn", marks=pytest.mark.slow)], ids=str
)
def test_no_process_and_no_file_is_left_behind(method, ending, tmp_path):
    """Also if the program ends without closing the pool, or is killed, alone or with all its processes."""
    code, expected = ENDINGS[ending]
    done = _script(SCRIPT.format(method=method, ending=code), tmp_path)
    assert done.returncode == expected, done.stderr
    first, *files = done.stdout.splitlines()
    pids = [int(pid) for pid in first.split()]
    assert len(pids) == 2
    assert files  # those that it shared with its workers
    assert until(lambda: not any(_alive(pid) for pid in pids))
    # Python's own socket of a fork server stays where that is killed: no memory, and not ours to remove.
    assert not [path for path in tmp_path.rglob("*") if not path.name.startswith(("pymp-", "listener-"))]
    assert not [path for path in files if Path(path).exists()]


RUNNING = """
    import os, signal, sys, time
    from support.callbacks import Echo
    from jdali._workers.callbacks import CallbackWorkers

    if __name__ == "__main__":
        if {handles}:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
        pool = CallbackWorkers([Echo()], workers=1, start_method={method!r})
        pool.submit(0, "sleep", {begun!r})
        while not os.path.exists({begun!r}):
            time.sleep(0.01)
        print(*pool.pids(), flush=True)
        os.killpg(0, signal.SIGTERM) if {group} else os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(600)
"""


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("method", "handles", "group"),
    [("fork", False, False), ("fork", True, False), ("fork", True, True), ("forkserver", False, False)],
    ids=["fork", "fork, handled", "fork, handled, to the group", "forkserver"],
)
def test_sigterm_while_a_callback_runs(method, handles, group, tmp_path):
    """Its workers end with the program, whatever they do: its output is closed at once."""
    code = RUNNING.format(method=method, begun=str(tmp_path / "begun"), handles=handles, group=group)
    done = _script(code, tmp_path)
    assert done.returncode == (3 if handles else -signal.SIGTERM), done.stderr
    assert until(lambda: not any(_alive(int(pid)) for pid in done.stdout.split()))


INTERRUPTED = """
    import multiprocessing, os, signal
    from support.callbacks import Echo
    from jdali._workers.callbacks import CallbackWorkers

    if __name__ == "__main__":
        __file__ = {main!r}  # the main module that processes import
        pool = CallbackWorkers([Echo()], workers=2, start_method={method!r})
        assert pool.submit(0, "pid").result().result[1] in pool.pids()
        pool.close()
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        del __file__
        mine = multiprocessing.get_context({method!r}).Process(target=signal.raise_signal, args=(signal.SIGINT,))
        mine.start()
        mine.join()
        print(mine.exitcode)
"""


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_ctrl_c_while_workers_start(method, tmp_path):
    """They go on; the user's own processes end, also those of the same fork server."""
    main = tmp_path / "main.py"
    main.write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    ended = child(INTERRUPTED.format(method=method, main=str(main)))
    assert (ended.code, ended.out) == (0, "1\n"), ended.err
    assert ended.err.count("Traceback") == 1
    assert ended.err.splitlines()[-1] == "KeyboardInterrupt"


STOPPED = """
    import os, signal
    from support.callbacks import Echo
    from jdali._workers.callbacks import CallbackWorkers

    if __name__ == "__main__":
        pool = CallbackWorkers([Echo()], workers=1, start_method={method!r})
        pool.submit(0, "pid").result()
        os.kill(pool.pids()[0], signal.SIGSTOP)
        print(pool.pids()[0], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.cases(1)
@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends the processes of one that is killed")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_a_worker_that_is_stopped_ends_with_its_program(method):
    """The program is no group of its own, as in a shell's pipe: else the system has its workers go on when it ends.

    Not with "forkserver": Python's server lives as long as one of them.
    """
    ended = child(STOPPED.format(method=method))
    assert ended.code == -signal.SIGKILL, ended.err
    assert until(lambda: not _alive(int(ended.out)))


# --- workers that do not answer -------------------------------------------------------------------
@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(_pool, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(_pool, "_STOPPED_SECONDS", 0.5)


@pytest.mark.usefixtures("impatient")
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the system does not show the state of processes"
)
def test_a_worker_that_was_stopped_is_an_error_that_names_it():
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver")
    pid = result(pool.submit(0, "pid"))[1]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(
        RuntimeError, match=rf"worker process {pid} has been stopped \(SIGSTOP\).* kill -CONT {pid}"
    ):
        result(pool.submit(0, "pid"))
    pool.close()
    assert not _alive(pid)


@pytest.mark.usefixtures("impatient")
def test_a_worker_that_goes_on_or_is_slow_is_no_error(tmp_path, monkeypatch):
    """A stop is counted anew after each time that the worker was seen to run; the user's code may take its time."""
    looks: list[int] = []
    is_stopped = property(lambda process: looks.append(process.pid) is None and len(looks) % 9 > 0)
    monkeypatch.setattr(TaskProcess, "is_stopped", is_stopped)  # ten in a row are an error
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver")
    waiting = pool.submit(0, "wait_for", str(tmp_path / "go"))
    assert until(lambda: len(looks) > 20)
    (tmp_path / "go").touch()
    assert result(waiting) == ([], pool.pids()[0])
    pool.close()


def test_a_limit_on_the_time_of_a_call(tmp_path):
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver", timeout=0.5)
    with pytest.raises(
        RuntimeError, match=r"has not answered a call for 0.5 s, which is py_timeout .* runs the callback"
    ):
        result(pool.submit(0, "sleep", str(tmp_path / "begun")))
    pool.close()


def test_each_worker_draws_other_random_numbers_and_the_same_again():
    """Copies of one process would draw the same, also where their modules seed NumPy."""

    def drawn(seed):
        served = [Echo(alone=True) for _ in range(2)]  # a worker for each
        for one in served:
            one.callback = Seeds()
        pool = CallbackWorkers(served, workers=1, start_method="forkserver", seed=seed)
        numbers = [result(pool.submit(n, "drawn"))[1] for _ in range(3) for n in range(2)]
        pool.close()
        return numbers

    first = drawn(5)
    assert len({number for pair in first for number in pair}) == 12
    assert drawn(5) == first
    assert not {number for pair in drawn(6) for number in pair} & {
        number for pair in first for number in pair
    }


def test_memory_lent_for_nothing_is_lent_again():
    pool = CallbackWorkers([Echo()], workers=1, start_method="forkserver")
    for _ in range(3):
        with pytest.raises(KeyError):
            result(pool.submit(0, "fail", KeyError()))
        assert result(pool.submit(0, "twice", [np.ones(1000)]))[0][0].sum() == 2000
    assert len(pool.slab_sizes()) == 1
    pool.close()


def test_what_is_left_to_the_garbage_collector_ends():
    """Processes, and the thread of the pool."""
    before = jdali_threads()
    pool = CallbackWorkers([Echo(), Echo(alone=True)], workers=1, start_method="forkserver")
    pids = pool.pids()
    assert len(pids) == 2
    pool.interrupt()
    assert until(lambda: not any(map(_alive, pids)) and jdali_threads() <= before)
