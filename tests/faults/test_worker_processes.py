"""Worker processes that are killed, batches that kill them, and every way in which a program ends."""

import gc
import os
import pty
import signal
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support.faults import PATIENCE, Ended, child, until
from support.some import times
from support.worker_kinds import workers_of
from support.worker_pipelines import COUNT, batch, light_pipeline, write_pictures

import jdali
from jdali import fn

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(280),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]

STEPS = times(7, 12)
KILLS = times(5, 10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures") / "all")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def shared_names() -> set[str]:
    return (
        {name for name in os.listdir("/dev/shm") if "jdali" in name} if os.path.isdir("/dev/shm") else set()
    )


# --- killed from outside --------------------------------------------------------------------------
def test_workers_that_are_killed_all_the_time_change_nothing(folder):
    with closing(light_pipeline(folder)) as pipe:
        expected = [(batch(pipe), pipe.get_state()) for _ in range(STEPS)]
    before = shared_names()
    with closing(light_pipeline(folder, workers=2)) as pipe:
        found = []
        for step in range(STEPS):
            found.append((batch(pipe), pipe.get_state()))
            if step < KILLS:
                workers = workers_of(pipe)
                assert until(workers.pids)
                pids = workers.pids()
                os.kill(pids[step % len(pids)], signal.SIGKILL)
                # Noticed before the next one is chosen, or that could be the same process.
                assert until(lambda step=step: workers_of(pipe).counts().deaths == step + 1)
        assert found == expected
        pids = workers_of(pipe).pids()
    assert not any(map(is_alive, pids))
    assert shared_names() == before


# --- batches that kill ------------------------------------------------------------------------------
def test_a_batch_that_only_crashes_as_a_whole_is_an_error_of_no_sample(folder):
    def function(names):
        if len(names) == 4:
            os._exit(3)
        return [np.int32(0)] * len(names)

    @jdali.pipeline_def(batch_size=4, num_threads=1, seed=7, on_error="skip", workers=1)
    def define():
        encoded, _ = fn.readers.file(file_root=folder, name="pictures")
        return fn.python_function(encoded, function=lambda x: function(x), batch_processing=True)

    with (
        closing(define()) as pipe,
        pytest.raises(RuntimeError, match="ended with exit code 3.*none of its samples"),
    ):
        pipe.run()
    assert COUNT > 4


@pytest.mark.cases(1)
@pytest.mark.parametrize("has_run", [True, False])
def test_the_workers_of_a_pipeline_that_is_dropped_end(folder, has_run):
    pipe = light_pipeline(folder, workers=1)
    pipe.build()
    if has_run:
        pipe.run()
    workers = workers_of(pipe)
    assert until(lambda: workers.counts().ready == 1)
    pids = workers.pids()
    del pipe
    gc.collect()
    assert until(lambda: not any(map(is_alive, pids)))


# --- how programs end --------------------------------------------------------------------------------
LOOP = """
    import sys, time
    import numpy as np
    import jdali
    from jdali import fn
    from jdali.iterator import DataIterator

    class Adding:  # of __main__
        def __call__(self, x):
            return x + np.float32(1)

    def source(i):
        return np.full((4, 3), i, np.float32)

    @jdali.pipeline_def(batch_size=4, num_threads=1, seed=1, workers=1)
    def pipeline():
        return fn.python_function(fn.external_source(source=source), function=Adding())

    def loop():
        it = DataIterator(pipeline(), ["x"])
        for step, batch in enumerate(it):
            assert (np.asarray(batch["x"]) == step + 1).all(), (step, batch)
            if step == 2:
                print("ready", flush=True)
            if step >= 2:
                END
"""


def looped(end: str, **options) -> Ended:
    return child(LOOP.replace("END", end) + "\n    loop()\n    print('over', flush=True)\n", **options)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        ("break", 0, ""),
        pytest.param("return", 0, "", marks=pytest.mark.exhaustive),
        ("sys.exit(3)", 3, ""),
        ("raise KeyError('of the loop')", 1, "KeyError: 'of the loop'"),
        pytest.param("it.close(); break", 0, "", marks=pytest.mark.exhaustive),
    ],
)
def test_a_program_that_ends_in_mid_loop(end, code, message):
    before = shared_names()
    ended = looped(end)
    assert ended.code == code, ended.err
    assert ended.err.splitlines()[-1:] == ([message] if message else [])
    assert shared_names() == before


@pytest.mark.cases(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_a_program_that_is_ended_by_a_signal(number):
    before = shared_names()
    ended = looped("time.sleep(0.01)", signal=number)
    assert ended.code == -number or (number == signal.SIGINT and ended.code in (1, 130)), ended.err
    assert "worker" not in ended.err
    assert shared_names() == before


@pytest.mark.cases(1)
@pytest.mark.parametrize("ended_by", ["Ctrl-C in a terminal", "SIGKILL of the group"])
def test_a_program_that_ends_with_its_whole_process_group(ended_by, tmp_path):
    """The program leads a session on a terminal of its own; the signal reaches its workers as well."""
    before, pids = shared_names(), tmp_path / "pids"
    note = f"""open({str(pids)!r}, "w").write(" ".join(map(str, of_pipeline.pids())))"""
    script = textwrap.dedent(LOOP).replace(
        'it = DataIterator(pipeline(), ["x"])', 'pipe = pipeline()\n    it = DataIterator(pipe, ["x"])'
    )
    script = script.replace(
        'print("ready", flush=True)',
        "of_pipeline = pipe.internals().engine.elsewhere.workers; " + note + '; print("ready", flush=True)',
    ).replace("END", "time.sleep(0.01)")
    path = os.pathsep.join([str(Path(jdali.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    ours, theirs = pty.openpty()
    program = [
        sys.executable,
        "-c",
        # The terminal is made the session's by the program itself: `preexec_fn` would fork where JAX has threads.
        "import fcntl, signal, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n" + script + "\nloop()",
    ]
    process = subprocess.Popen(
        program, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    os.close(theirs)
    try:
        shown = _read(ours, until_text=b"ready")
        assert b"ready" in shown, shown
        if ended_by == "Ctrl-C in a terminal":
            os.write(ours, b"\x03")
        else:
            os.killpg(process.pid, signal.SIGKILL)
        rest = _read(ours)
        assert process.wait(PATIENCE) in (1, 130, -signal.SIGINT, -signal.SIGKILL)
    finally:
        process.kill()
        os.close(ours)
    workers = [int(pid) for pid in pids.read_text().split()]
    assert len(workers) == 1
    assert until(lambda: not any(map(is_alive, workers)))
    assert shared_names() == before
    # The traceback of the program's own KeyboardInterrupt, and not one word of a worker.
    assert rest.count(b"Traceback") == (ended_by == "Ctrl-C in a terminal")
    assert not [line for line in rest.splitlines() if b"worker" in line and b"of_pipeline" not in line]


def _read(terminal: int, until_text: bytes | None = None) -> bytes:
    """Reads what a terminal shows, up to some text, or to its end."""
    shown = b""
    while until_text is None or until_text not in shown:
        try:
            more = os.read(terminal, 1 << 12)
        except OSError:  # all who had it open are gone
            break
        if not more:
            break
        shown += more
    return shown


def test_an_exception_of_the_main_module_keeps_its_type():
    ended = child("""
        import numpy as np
        import jdali
        from jdali import fn

        class Mine(Exception):
            pass

        def broken(x):
            raise Mine("of __main__")

        @jdali.pipeline_def(batch_size=2, num_threads=1, workers=1)
        def pipeline():
            return fn.python_function(fn.external_source(source=lambda: np.zeros((2, 1))), function=broken)

        pipe = pipeline()
        try:
            pipe.run()
        except Mine as error:
            print(isinstance(error, RuntimeError), type(error.__cause__) is Mine, "of __main__" in str(error))
    """)
    assert ended.err == ""
    assert ended.out == "True True True\n"


def test_a_program_from_standard_input(tmp_path):
    """As a notebook is: what it defines is in no file."""
    script = textwrap.dedent(LOOP.replace("END", "break") + "\n    loop()\n    print('over')\n")
    path = os.pathsep.join([str(Path(jdali.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-"], input=script, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("over\n")
