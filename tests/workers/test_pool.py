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
from support.faults import PATIENCE, TESTS, child, until

from jdali._workers import processes as _processes
from jdali._workers.pool import WorkerPool
from jdali._workers.processes import WorkerError


@pytest.fixture(scope="module")
def pool():
    made = WorkerPool([Echo(), Echo(alone=True)], workers=2, start_method="forkserver")
    yield made
    made.close()


def result(future):
    return future.result(timeout=PATIENCE)


def test_arrays_come_back(pool):
    arrays, extra = result(pool.submit(0, "twice", [np.int32([[1, 2]]), np.float32(3)]))
    assert [a.tolist() for a in arrays] == [[[2, 4]], 6.0]
    assert extra == 2


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
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver")
    dead, behind = pool.submit(0, "die"), pool.submit(0, "pid")
    for future in (dead, behind, pool.submit(0, "pid")):
        with pytest.raises(WorkerError, match=r"worker process \d+ ended with exit code 7"):
            result(future)
    pool.close()


def test_closing_ends_what_hangs(tmp_path):
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver")
    waiting = pool.submit(0, "sleep", str(tmp_path / "begun"))
    assert until((tmp_path / "begun").exists)
    pool.close()
    pool.close()  # harmless twice
    with pytest.raises((WorkerError, RuntimeError)):
        result(waiting)
    with pytest.raises(RuntimeError, match="closed"):
        result(pool.submit(0, "pid"))
    assert not any(_alive(pid) for pid in pool.pids())


def _alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_fork_after_jax_has_started_is_refused_with_the_reason():
    jnp.zeros(1).block_until_ready()
    with pytest.raises(RuntimeError, match=r"JAX has started its own: the copy may hang. Use .spawn"):
        WorkerPool([Echo()], workers=1, start_method="fork")


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
        WorkerPool([Echo()], **options)


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
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver", pickler=given)
    assert result(pool.submit(0, "pid"))[1] in pool.pids()
    assert pickler.options == [{"some": "option"}]
    pool.close()


SCRIPT = """
    import os, signal, sys, tempfile, time
    import numpy as np
    from support.callbacks import Echo
    from jdali._workers.pool import WorkerPool

    if __name__ == "__main__":
        pool = WorkerPool([Echo()], workers=2, start_method={method!r})
        pids = {{pool.submit(0, "pid").result()[1] for _ in range(20)}}
        assert pids <= set(pool.pids())
        kept = [pool.submit(0, "twice", [np.zeros(100_000)]).result()[0] for _ in range(3)]
        left = pool.submit(0, "twice", [np.zeros(100_000)]).result()[0]
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
    from jdali._workers.pool import WorkerPool

    if __name__ == "__main__":
        if {handles}:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
        pool = WorkerPool([Echo()], workers=1, start_method={method!r})
        pool.submit(0, "sleep", {begun!r})
        while not os.path.exists({begun!r}):
            time.sleep(0.01)
        print(*pool.pids(), flush=True)
        os.killpg(0, signal.SIGTERM) if {group} else os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(600)
"""


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


STOPPED = """
    import os, signal
    from support.callbacks import Echo
    from jdali._workers.pool import WorkerPool

    if __name__ == "__main__":
        pool = WorkerPool([Echo()], workers=1, start_method={method!r})
        pool.submit(0, "pid").result()
        os.kill(pool.pids()[0], signal.SIGSTOP)
        print(pool.pids()[0], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


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
    monkeypatch.setattr(_processes, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(_processes, "STOPPED_SECONDS", 0.5)


@pytest.mark.usefixtures("impatient")
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the system does not show the state of processes"
)
def test_a_worker_that_was_stopped_is_an_error_that_names_it():
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver")
    pid = result(pool.submit(0, "pid"))[1]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(
        WorkerError, match=rf"worker process {pid} has been stopped \(SIGSTOP\).* kill -CONT {pid}"
    ):
        result(pool.submit(0, "pid"))
    pool.close()
    assert not _alive(pid)


@pytest.mark.usefixtures("impatient")
def test_a_worker_that_goes_on_or_is_slow_is_no_error(tmp_path, monkeypatch):
    """A stop is counted anew after each time that the worker was seen to run; the user's code may take its time."""
    looks: list[int] = []
    monkeypatch.setattr(  # ten in a row are an error
        _processes, "is_stopped", lambda pid: looks.append(pid) is None and len(looks) % 9 > 0
    )
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver")
    waiting = pool.submit(0, "wait_for", str(tmp_path / "go"))
    assert until(lambda: len(looks) > 60)
    (tmp_path / "go").touch()
    assert result(waiting) == ([], pool.pids()[0])
    pool.close()


def test_a_limit_on_the_time_of_a_call(tmp_path):
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver", timeout=0.5)
    with pytest.raises(
        WorkerError, match=r"has not answered a call for 0.5 s, which is py_timeout .* runs the callback"
    ):
        result(pool.submit(0, "sleep", str(tmp_path / "begun")))
    pool.close()


def test_each_worker_draws_other_random_numbers_and_the_same_again():
    """Copies of one process would draw the same, also where their modules seed NumPy."""

    def drawn(seed):
        served = [Echo(alone=True) for _ in range(2)]  # a worker for each
        for one in served:
            one.callback = Seeds()
        pool = WorkerPool(served, workers=1, start_method="forkserver", seed=seed)
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
    pool = WorkerPool([Echo()], workers=1, start_method="forkserver")
    for _ in range(3):
        with pytest.raises(KeyError):
            result(pool.submit(0, "fail", KeyError()))
        assert result(pool.submit(0, "twice", [np.int32([1])]))[0][0].tolist() == [2]
    assert len(pool.file_sizes()) == 1
    pool.close()


def test_what_is_left_to_the_garbage_collector_ends_at_once():
    """Processes and the thread that watches them, whoever has the processor meanwhile."""
    for _ in range(4):
        pool = WorkerPool([Echo()], workers=1, start_method="forkserver")
        observer, pids = pool.pool._observer.thread, pool.pids()
        assert observer.is_alive()
        pool.abandon()
        assert not observer.is_alive()
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
