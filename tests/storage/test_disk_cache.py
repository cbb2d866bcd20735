"""The cache of remote files on disk: what it spares, its bound, who is killed, and all that may be wrong with it."""

import contextlib
import dataclasses
import errno
import fcntl
import logging
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.servers import Server

from jdali import storage
from jdali._storage import RecordFiles, Scope, disk_cache
from jdali._storage import files as _storage

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
BLOCK = 4096


@pytest.fixture(autouse=True)
def _small_blocks(tmp_path):
    before = storage.configure(block_size=BLOCK, first_wait=0.001, time_limit=60, cache_folder=str(tmp_path))
    yield
    storage.configure(**dataclasses.asdict(before))


@pytest.fixture
def files():
    rng = np.random.default_rng(0)
    return {
        f"/{name}": rng.bytes(size)
        for name, size in [("a", 50_000), ("b", 3), ("deep/.part", 9000), ("d", 0)]
    }


def gets(server):
    """The requests for content since the last call."""
    asked = [request for request in server.requests if request[0] == "GET"]
    server.requests.clear()
    return asked


def taken(folder):
    """Bytes on the disk, as `du` counts them."""
    below = Path(folder, "remote")
    return sum(os.lstat(path).st_blocks * 512 for path in [below, *below.iterdir()])


def parts(folder):
    return sorted(Path(folder, "remote").glob("*.part"))


def whole(server, name):
    return _storage.read(server.url + name)


def in_order(server, name, step=1000):
    return pieces(server, name, range(0, len(server.files[name]), step), step)


def here_and_there(server, name, step=3000):
    size = len(server.files[name])
    there = pieces(server, name, range(0, size, step), step, ahead=False)
    assert there == in_order(server, name)
    return there


def pieces(server, name, starts, step, *, ahead=True):
    records = RecordFiles("records", [server.url + name])
    records.in_order = ahead
    with contextlib.closing(records):
        return b"".join(records.read(0, at, min(step, records.sizes[0] - at)) for at in starts)


def opened(server, name):
    with _storage.open(server.url + name) as file:
        return file.read()


READING = [whole, in_order, here_and_there, opened]


# --- what it spares -------------------------------------------------------------------------
@pytest.mark.parametrize("read", READING)
def test_what_is_kept_is_not_fetched_again(read, files, tmp_path):
    with Server(files) as server:
        storage.configure(cache_bytes=10 << 20)
        assert [read(server, name) for name in files] == list(files.values())
        assert gets(server)
        storage.configure(cache_bytes=10 << 20)  # as a process that starts
        assert [read(server, name) for name in files] == list(files.values())
        assert not gets(server)
        assert os.stat(tmp_path / "remote").st_mode & 0o777 == 0o700
        assert {p.name for p in (tmp_path / "remote").iterdir()} == {
            "lock",
            *(p.name for p in parts(tmp_path)),
        }
        assert os.listdir(tmp_path) == ["remote"]


@pytest.mark.parametrize("read", READING)
def test_nothing_is_kept_unless_asked_for(read, files, tmp_path):
    with Server(files) as server:
        assert read(server, "/a") == files["/a"]
        if read is whole:
            assert [method for method, *_ in server.requests] == ["GET"]
        assert gets(server)
        assert read(server, "/a") == files["/a"]
        assert gets(server)
    assert os.listdir(tmp_path) == []


READ = """
import sys
from jdali import storage
from jdali._storage import files
storage.configure(cache_bytes=10 << 20, cache_folder=sys.argv[1])
for url in sys.argv[2:]:
    files.read(url)
"""


def test_another_process_finds_it(files, tmp_path):
    with Server(files) as server:
        urls = [server.url + name for name in ("/a", "/b")]
        subprocess.run([sys.executable, "-c", READ, str(tmp_path), *urls], check=True, timeout=120)
        assert gets(server)
        storage.configure(cache_bytes=10 << 20)
        assert [_storage.read(url) for url in urls] == [files["/a"], files["/b"]]
        assert not gets(server)


# --- versions -------------------------------------------------------------------------------
@pytest.mark.parametrize("read", READING)
def test_a_changed_file_is_fetched(read, files):
    storage.configure(cache_bytes=10 << 20)
    with Server(files) as server:
        for turn in range(3):
            server.files["/a"] = bytes([turn]) * 50_000
            for _ in range(2):
                assert read(server, "/a") == server.files["/a"]


@pytest.mark.parametrize("ahead", [True, False])
def test_a_file_that_changes_while_it_is_read(ahead):
    """What is fetched of the new content is never kept as the old, even if that comes back with its version."""
    storage.configure(cache_bytes=10 << 20, bytes_ahead=0)
    old, new = b"a" * 40_000, b"b" * 40_000
    with Server({"/x": old}) as server:

        def exchanged(method, path):
            if method == "GET":
                server.files["/x"] = new
            return

        records = RecordFiles("records", [server.url + "/x"])
        records.in_order = ahead
        with contextlib.closing(records):
            assert records.read(0, 0, 1000) == b"a" * 1000
            server.fault = exchanged
            assert records.read(0, 8192, 1000) == b"b" * 1000
            # From now on it is the new file.
            for _ in range(2):
                assert records.read(0, 20_000, 1000) == records.read(0, 0, 1000)[:1000] == b"b" * 1000
        server.fault = lambda method, path: None
        for content in (old, new, old):
            server.files["/x"] = content
            assert in_order(server, "/x") == here_and_there(server, "/x") == whole(server, "/x") == content


# --- the bound ------------------------------------------------------------------------------
def test_the_least_recently_used_go_first(tmp_path):
    # Room for eight files and a little more.
    storage.configure(cache_bytes=8 * 50_000 + 60_000)
    files = {f"/{i}": bytes([i]) * 49_000 for i in range(12)}
    with Server(files) as server:
        for i in [0, 1, 2, 3, 4, 5, 6, 0, 2]:
            whole(server, f"/{i}")
        assert len(parts(tmp_path)) == 7
        for i in (7, 8, 9):
            whole(server, f"/{i}")
        gets(server)
        for i in (0, 2, 7, 8, 9):
            whole(server, f"/{i}")
        assert not gets(server)
        whole(server, "/1")
        assert gets(server)


def test_the_bound_is_never_passed(tmp_path):
    rng = np.random.default_rng(1)
    for bound in (1 << 20, 300_000, 60_000, 20_000, 5000):
        storage.configure(cache_bytes=bound)
        files = {f"/{i}": rng.bytes(int(size)) for i, size in enumerate(rng.integers(0, 120_000, 40))}
        with Server(files) as server:
            for name in files:
                assert whole(server, name) == files[name]
                # A bound that leaves no room for a single part takes the empty folder and its lock.
                assert taken(tmp_path) <= max(bound, 8192)
    assert not parts(tmp_path)


KILLED = """
import contextlib, fcntl, os, random, signal, sys
import fsspec
from jdali import storage
from jdali._storage import files
folder, bound, way, turns, seed = sys.argv[1], *map(int, sys.argv[2:])
rng = random.Random(seed)
contents = [rng.randbytes(rng.randrange(1, 40_000)) for _ in range(30)]
fsspec.filesystem("memory").pipe({f"/d/{i}": content for i, content in enumerate(contents)})
storage.configure(cache_bytes=bound, cache_folder=folder)

def taken():
    below = os.path.join(folder, "remote")
    with contextlib.suppress(FileNotFoundError):
        with open(os.path.join(below, "lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # else a file that is renamed may be counted twice
            paths = [below, *(entry.path for entry in os.scandir(below))]
            return sum(os.lstat(path).st_blocks * 512 for path in paths)
    return 0

def reads(rng, count, said=None):
    for _ in range(count):
        i = rng.randrange(len(contents))
        if files.read(f"memory://d/{i}") != contents[i]:
            os._exit(3)
        if said is not None:
            os.write(said, b".")

def child(work):
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os._exit(4)
    return pid

def killed_at_line(number):
    # Counts the lines of the cache that are run.
    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith("disk_cache.py"):
            return None
        if event == "line":
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace
    left = [number]
    sys.settrace(trace)
    reads(random.Random(seed + number // 50), 4)
    sys.settrace(None)
    os._exit(0)

def killed_any_time(rng):
    end, said = os.pipe()
    seeds = [rng.random() for _ in range(3)]

    def endless(seed):
        os.close(end)  # writing fails, and the process ends, once its parent is gone
        reads(random.Random(seed), 1 << 30, said)

    pids = [child(lambda: endless(seed)) for seed in seeds]
    for _ in range(rng.randrange(1, 60)):
        os.read(end, 1)
        if rng.random() < 0.1:
            assert taken() <= bound, taken()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    os.close(end), os.close(said)
    return pids

for turn in range(turns):
    pids = [child(lambda: killed_at_line(1 + turn * way))] if way else killed_any_time(rng)
    for pid in pids:
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL or way and not status, status
    assert taken() <= bound, (turn, taken())
    if turn % 5 == 4:
        reads(rng, 5)  # the next process goes on
        assert taken() <= bound, (turn, taken())
        storage.configure(cache_bytes=bound)
assert any(name.endswith(".part") for name in os.listdir(os.path.join(folder, "remote")))
print("well")
"""


@pytest.mark.cases(1)
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("way", "turns"), [(0, 30), (7, 50)], ids=["any time", "line by line"])
@pytest.mark.parametrize("bound", [120_000, 400_000])
def test_killed_processes_leave_the_bound(bound, way, turns, tmp_path):
    """Three processes at once, killed at any time; and one, killed at each line (here at every seventh)."""
    arguments = map(str, (tmp_path, bound, way, turns, 5))
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, *arguments],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert (ended.returncode, ended.stdout) == (0, "well\n"), ended.stderr[-2000:]
    assert "cannot be written" not in ended.stderr


# --- what may be wrong ----------------------------------------------------------------------
@pytest.fixture
def said(caplog):
    with caplog.at_level(logging.WARNING, "jdali"):
        yield lambda: [record.getMessage() for record in caplog.records]


def still_read(server, files, read=whole):
    return [read(server, name) for name in files] == list(files.values())


def flipped(data):
    return data[:700] + bytes([data[700] ^ 1]) + data[701:]


@pytest.mark.parametrize(
    "damage", [flipped, lambda d: d[:-1], lambda d: d + b"\0", lambda d: b"", lambda d: bytes(len(d))],
    ids=["flipped", "cut", "longer", "empty", "zeros"],
)  # fmt: skip
@pytest.mark.parametrize("read", [whole, in_order])
def test_a_damaged_part_is_fetched_again(read, damage, tmp_path, said):
    storage.configure(cache_bytes=10 << 20)
    with Server({"/x": os.urandom(BLOCK)}) as server:
        read(server, "/x")
        gets(server)
        (part,) = parts(tmp_path)
        part.write_bytes(damage(part.read_bytes()))
        for turn in range(2):
            assert read(server, "/x") == server.files["/x"]
            assert len(gets(server)) == (turn == 0)
    (text,) = said()
    assert text.endswith("damaged parts are fetched again")


def test_parts_that_are_exchanged_are_damaged(tmp_path):
    storage.configure(cache_bytes=10 << 20)
    files = {"/x": b"x" * 100, "/y": b"y" * 100}
    with Server(files) as server:
        assert still_read(server, files)
        one, other = parts(tmp_path)
        one.rename(tmp_path / "kept")
        other.rename(one)
        (tmp_path / "kept").rename(other)
        assert still_read(server, files)


def test_a_full_disk(files, tmp_path, said):
    storage.configure(cache_bytes=10 << 20)
    with Server(files) as server:
        assert whole(server, "/a") == files["/a"]
        (tmp_path / "remote" / "new").symlink_to("/dev/full")
        assert still_read(server, files)
        assert [path for _, path, _ in gets(server)].count("/a") == 1  # what was kept is still used
        assert still_read(server, files)
    (text,) = said()
    assert text.endswith(f"reading goes on without: {os.strerror(errno.ENOSPC)}")
    assert not (tmp_path / "remote" / "new").is_symlink()


def test_a_folder_that_is_removed(files, tmp_path, said):
    storage.configure(cache_bytes=10 << 20)
    with Server(files) as server:
        assert still_read(server, files, in_order)
        shutil.rmtree(tmp_path / "remote")
        for _ in range(2):
            assert still_read(server, files, in_order)
    (text,) = said()
    assert text.endswith(f"it cannot be written, reading goes on without: {os.strerror(errno.ENOENT)}")


@pytest.mark.parametrize("kind", ["file", "link", "open to others"])
def test_a_folder_that_is_none_of_ours(kind, files, tmp_path, said):
    folder, elsewhere = tmp_path / "remote", tmp_path / "elsewhere"
    elsewhere.mkdir(0o700)
    if kind == "file":
        folder.write_bytes(b"")
    elif kind == "link":
        folder.symlink_to(elsewhere)
    else:
        folder.mkdir()
        folder.chmod(0o755)
    storage.configure(cache_bytes=10 << 20)
    with Server(files) as server:
        for _ in range(2):
            assert still_read(server, files)
    (text,) = said()
    assert text.endswith(f"it must be a folder of user {os.geteuid()} alone (mode 0700)")
    assert not os.listdir(elsewhere)


def test_other_files_stay(files, tmp_path):
    storage.configure(cache_bytes=10 << 20)
    with Server(files) as server:
        whole(server, "/b")
        (tmp_path / "remote" / "mine").write_bytes(b"mine")
        storage.configure(cache_bytes=20_000)
        assert still_read(server, files)
    assert (tmp_path / "remote" / "mine").read_bytes() == b"mine"


@contextlib.contextmanager
def locked(folder):
    with open(folder / "remote" / "lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_process_that_keeps_the_lock(files, tmp_path, said, monkeypatch):
    monkeypatch.setattr(disk_cache, "_PATIENCE", 0.05)
    storage.configure(cache_bytes=10 << 20)
    with Server(files) as server:
        whole(server, "/b")
        with locked(tmp_path):
            for _ in range(2):
                assert still_read(server, files)
    (text,) = said()
    assert text.endswith("reading goes on without: another process does not let go of its lock")


def test_closing_does_not_wait_for_the_lock(files, tmp_path):
    storage.configure(cache_bytes=10 << 20)
    scope, ended = Scope(), threading.Event()

    def reads():
        with scope:
            assert whole(server, "/a") == files["/a"]
        ended.set()

    with Server(files) as server:
        whole(server, "/b")
        with locked(tmp_path):
            thread = threading.Thread(target=reads)
            thread.start()
            assert not ended.wait(0.2)
            scope.end()
            assert ended.wait(5)  # and not as long as the cache is patient
            thread.join()
