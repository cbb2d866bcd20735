"""Signals and exits in the middle of things, in processes of their own."""

import signal
import sys
import textwrap

import jax
import pytest
from support.faults import Ended, child

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(280),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]

# A loop over batches that are decoded, and several steps at once; it says that it is in the middle.
LOOP = """
    import io, sys, time
    import numpy as np
    from PIL import Image
    import jdali
    from jdali import fn
    from jdali.iterator import DataIterator

    stream = io.BytesIO()
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (300, 400, 3), np.uint8)).save(stream, "JPEG")
    encoded = np.frombuffer(stream.getvalue(), np.uint8)

    @jdali.pipeline_def(batch_size=32, num_threads=4, seed=1)
    def pipeline():
        pictures = fn.decoders.image(fn.external_source(source=lambda: [encoded] * 32))
        return fn.crop_mirror_normalize(pictures, crop=(200, 200))

    with DataIterator(pipeline(), ["x"]) as it:
        for step, batch in enumerate(it):
            if step == 2:
                print("ready", flush=True)
"""

# A program of JAX and threads, but none of jdali's, that exits in the same way.
CONTROL = """
    import threading, time
    import jax.numpy as jnp, numpy, PIL.Image
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    (jnp.ones(8) + 1).block_until_ready()
    print("ready", flush=True)
    time.sleep(1000)
"""


def assert_soon(ended: Ended, number: int) -> None:
    """Within 2 s; on a busy machine as many times more as a program without jdali takes a tenth of that."""
    if ended.seconds > 2.0:
        control = child(CONTROL, signal=number)
        assert ended.seconds < 2.0 + 10 * control.seconds, (ended.seconds, control.seconds)


def test_sigint_in_mid_batch():
    ended = child(LOOP, signal=signal.SIGINT)
    assert ended.code == -signal.SIGINT
    assert ended.err.rstrip().endswith("KeyboardInterrupt")
    assert ended.err.count("Traceback (most recent call last)") == 1
    assert "Exception in thread" not in ended.err
    assert "Fatal" not in ended.err
    assert_soon(ended, signal.SIGINT)


def test_sigterm_in_mid_batch():
    ended = child(LOOP, signal=signal.SIGTERM)
    assert (ended.code, ended.err) == (-signal.SIGTERM, "")
    assert_soon(ended, signal.SIGTERM)


EXITS = {
    "a source that does not return": """
        called = threading.Event()
        def source(number):
            if number == 2:
                called.set()
                threading.Event().wait()
            return np.zeros((4,), np.int32)
        it = DataIterator(overlapping(source, lambda v: v, batch_size=4), ["x"])
        next(it)
        threading.Thread(target=next, args=(it,), daemon=True).start()
        called.wait()
    """,
    "a function in the pool that does not return": """
        calls = []
        def function(value):
            calls.append(value)
            if len(calls) > 8:
                threading.Event().wait()
            return value
        it = DataIterator(overlapping(lambda i: np.zeros((4,), np.int32), function, batch_size=4), ["x"])
        next(it)
    """,
    "many samples that take long": """
        def function(value):
            time.sleep(0.5)
            return value
        it = DataIterator(
            overlapping(lambda i: np.zeros((400,), np.int32), function, batch_size=400), ["x"]
        )
        time.sleep(1)
    """,
    "steps that wait": """
        it = DataIterator(overlapping(lambda i: np.zeros((4,), np.int32), lambda v: v, batch_size=4), ["x"])
        pipe = overlapping(lambda i: np.zeros((4,), np.int32), lambda v: v, lambda v: v, batch_size=4)
        next(it), pipe.run()
    """,
}


@pytest.mark.cases(1)
@pytest.mark.parametrize("what", EXITS)
def test_the_interpreter_exits_with(what):
    script = (
        "import threading, time\nimport numpy as np\nfrom jdali.iterator import DataIterator\n"
        "from support.faults import overlapping\n"
    )
    body = "\n".join(line[8:] for line in EXITS[what].splitlines())
    ended = child(script + body + '\nprint("ready", flush=True)\n')
    assert (ended.code, ended.err) == (0, "")
    # Far less than what is left to do: two of these would never end, one after 100 s.
    assert ended.seconds < 40


# All that has threads, and a reader of dynamic mode, each of which has given something; `open_all` is a generator.
EVERYTHING = """
    import os, sys, tempfile, threading
    import numpy as np
    import jdali
    import jdali.dynamic as ndd
    from jdali import fn
    from jdali.iterator import DataIterator
    from jdali.plugin.jax import DALIGenericIterator
    from jdali.plugin.jax.clu import DALIGenericPeekableIterator
    from support.faults import overlapping
    try:
        from jdali.plugin.grain import DatasetIterator
    except ImportError:
        DatasetIterator = lambda iterator: iterator

    def pipeline(after=None, **options):
        return overlapping(lambda i: np.full((4,), i, np.int32), lambda v: v, after, batch_size=4, **options)

    def fed():
        pipe = jdali.Pipeline(batch_size=4, num_threads=1)
        with pipe:
            pipe.set_outputs(fn.external_source(name="fed"))
        pipe.feed_input("fed", np.zeros((4, 1), np.int32))
        pipe.schedule_run()
        return pipe

    def files(count=8):
        folder = tempfile.TemporaryDirectory()
        for i in range(count):
            with open(os.path.join(folder.name, str(i)), "wb") as file:
                file.write(bytes([i]))
        return folder, [os.path.join(folder.name, str(i)) for i in range(count)]

    def open_all():
        folder, names = files()
        kinds = [
            pipeline(), pipeline(lambda v: v), pipeline(exec_async=False), fed(),
            DataIterator(pipeline(), ["x"]), DataIterator(pipeline(exec_async=False), ["x"]),
            DALIGenericIterator([pipeline(), pipeline()], ["x"], size=80),
            DALIGenericPeekableIterator(pipeline(), ["x"]), DatasetIterator(DataIterator(pipeline(), ["x"])),
        ]
        reader = ndd.readers.File(files=names)
        kinds.append(reader.next_epoch(batch_size=2))
        with folder, kinds[4], kinds[7]:
            kinds[7].peek_async()
            for kind in kinds:
                if isinstance(kind, jdali.Pipeline):
                    kind.share_outputs() if not kind.empty() else kind.run()
                else:
                    next(kind)
            yield kinds

    opening = open_all()
    kinds = next(opening)
"""

# How a program may end after that: what it does then, its exit code, and the last line of its errors.
ENDINGS = {
    "the end of the program": ("", 0, ""),
    "everything closed": ("for kind in kinds: getattr(kind, 'close', int)()", 0, ""),
    "closed twice": ("for kind in [*kinds, *kinds]: getattr(kind, 'close', int)()", 0, ""),
    "dropped": ("opening.close(); del kinds", 0, ""),
    "sys.exit": ("sys.exit(3)", 3, ""),
    "an exception": ("raise KeyError('here')", 1, "KeyError: 'here'"),
    "kept by a module and by a cycle": (
        "sys.kept = kinds; kinds.append(kinds); sys.modules['queue'].kept = opening; del kinds, opening", 0, "",
    ),
    "in use by daemon threads": (
        """
def use(kind):
    while True:
        kind.run() if isinstance(kind, jdali.Pipeline) else next(kind)
for kind in kinds[:3] + kinds[4:9]:
    threading.Thread(target=use, args=(kind,), daemon=True).start()
""",
        0,
        "",
    ),
    "opened in a thread that has ended": (
        """
other = []
thread = threading.Thread(target=lambda: other.append(open_all()) or other.append(next(other[0])))
thread.start()
thread.join()
""",
        0,
        "",
    ),
}  # fmt: skip


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "what",
    # "closed twice" and "an exception" imply the others.
    [
        pytest.param(what, marks=pytest.mark.exhaustive)
        if what in ("everything closed", "sys.exit")
        else what
        for what in ENDINGS
    ],
)
def test_the_end_of_a_program_is_silent(what):
    do, code, error = ENDINGS[what]
    script = textwrap.dedent(EVERYTHING) + do + '\nprint("ready", flush=True)\n'
    ended = child(script)
    assert ended.code == code, ended.err
    if error:
        assert ended.err.rstrip().splitlines()[-1] == error
        assert ended.err.count("Traceback (most recent call last)") == 1
    else:
        assert ended.err == ""


def test_the_interpreter_exits_in_mid_compile():
    """A program that is being compiled cannot be interrupted: the exit may wait for it, and does not crash."""
    ended = child(
        """
        import threading, time
        import numpy as np
        import jdali
        from jdali import fn

        @jdali.pipeline_def(batch_size=8, num_threads=2, seed=1, compilation_cache=False)
        def pipeline():
            x = fn.external_source(source=lambda: np.zeros((8, 40, 40, 3), np.uint8), layout="HWC")
            for i in range(3):
                x = fn.rotate(fn.gaussian_blur(x, window_size=5), angle=5.0 + i, keep_size=True)
            return x

        compiling = threading.Event()
        from jdali.engine.steps.stage import StageRunner
        program = StageRunner._program
        def told(self, *args):
            compiling.set()
            return program(self, *args)
        StageRunner._program = told
        pipe = pipeline()
        pipe.build()
        threading.Thread(target=pipe.run, daemon=True).start()
        compiling.wait()
        time.sleep(0.3)
        assert not any(r.seconds for s in pipe.internals().engine.stage_runners for r in s.programs.values())
        print("ready", flush=True)
        """,
        JAX_ENABLE_COMPILATION_CACHE="0",
    )
    assert (ended.code, ended.err) == (0, "")


AT_EXIT = """
    import atexit, signal
    atexit.register(print, "the last")
    import jdali
    from jdali._threads import NATIVE
    from support.faults import overlapping

    def wait():
        for number in range({times}):
            print(number)  # to a pipe, which Python flushes at the end
            signal.raise_signal(signal.SIGINT)
        return False

    pipe = overlapping(lambda i: [i, i], lambda v: v)
    pipe.run()
    NATIVE.wait = wait
    {before}
"""


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("times", "before", "code", "out"),
    [
        (1, "", 0, "0\nthe last\n"),
        (2, "", -signal.SIGINT, "0\n"),
        (2, "signal.signal(signal.SIGINT, lambda *_: print('mine'))", 0, "0\nmine\n1\nmine\nthe last\n"),
    ],
    ids=["once", "twice", "handled"],
)
def test_ctrl_c_while_the_exit_waits_for_native_code(times, before, code, out):
    """It waits on, or it ends at once, but it does not go on to end the interpreter under a call of XLA."""
    ended = child(AT_EXIT.format(times=times, before=before), PYTHONUNBUFFERED="")
    assert (ended.code, ended.out, ended.err) == (code, out, "")


def test_nothing_forks_and_a_user_may_start_processes():
    """JAX warns of `os.fork`: an audit hook sees each; and a child process that a user starts works."""
    ended = child(
        """
        import subprocess, sys
        events = []
        sys.addaudithook(lambda name, _: events.append(name) if name in (
            "os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen", "os.system") else None)
        import numpy as np
        import jdali
        from jdali.iterator import DataIterator
        from support.faults import overlapping
        pipe = overlapping(
            lambda i: np.zeros((4,), np.int32), lambda v: v, batch_size=4,
            py_num_workers=4, py_start_method="fork",
        )
        with DataIterator(pipe, ["x"]) as it:
            next(it)
            assert events == [], events
            out = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, check=True)
            assert out.stdout == b"42\\n"
            next(it)
        print("ready", flush=True)
        """
    )
    assert (ended.code, ended.err) == (0, "")


FORKED = """
    import os, sys, threading, time, warnings
    import numpy as np
    import jdali
    from jdali import fn
    from jdali._threads import NATIVE
    from jdali.iterator import DataIterator
    from support.numbers import NumberReader, numbers

    warnings.simplefilter("ignore")  # of JAX, of forks
    begun, go = threading.Event(), threading.Event()

    def function(value):
        if value >= 4:
            begun.set()
            go.wait()
        return value

    with jdali.Pipeline(batch_size=2, num_threads=2, seed=1) as pipe:
        pipe.set_outputs(fn.python_function(numbers(NumberReader(16)), function=function) + 1)
    it = DataIterator(pipe, ["x"], reader_name="Reader")
    next(it)
    begun.wait()  # threads are in the middle of a batch
    held, forked = threading.Event(), threading.Event()

    def hold():
        window = pipe.internals().window
        with it._lock, window.turn, window._flight.changed, NATIVE:
            held.set()
            forked.wait()

    threading.Thread(target=hold, daemon=True).start()
    held.wait()  # and all locks are taken
    child = os.fork()
    forked.set()
    if child == 0:
        {ending}
    end = time.monotonic() + 100
    while (done := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.01)
    print(done[0] == child and os.waitstatus_to_exitcode(done[1]), flush=True)
    if done[0] == 0:
        os.kill(child, 9)
    go.set()
    assert len([next(it) for _ in range(7)]) == 7  # the parent goes on
    it.close()
    print("ready", flush=True)
"""

FORKED_ENDS = {
    "exit": "sys.exit(5)",
    "dropped": "del pipe, it; import gc; gc.collect(); sys.exit(5)",
    "closed": "it.close(); pipe.close(); sys.exit(5)",
    "used": """
        for use in (lambda: next(it), pipe.run, lambda: pipe.set_state(pipe.get_state()), pipe.schedule_run):
            try:
                use()
            except RuntimeError as error:
                if "forked" not in str(error):
                    raise
            else:
                raise AssertionError
        sys.exit(5)
    """,
}


@pytest.mark.cases(1)
@pytest.mark.skipif(
    jax.__version_info__ < (0, 10, 2), reason="a forked child of older JAX crashes or hangs as it exits"
)
@pytest.mark.parametrize("ending", FORKED_ENDS)
def test_a_forked_child_exits(ending):
    """It has none of the threads that its parent would wait for, and may have taken locks with it."""
    body = textwrap.indent(textwrap.dedent(FORKED_ENDS[ending]).strip(), " " * 8).strip()
    ended = child(FORKED.replace("{ending}", body))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.split() == ["5"]
