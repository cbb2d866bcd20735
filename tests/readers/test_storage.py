"""Getting the bytes of paths and URLs: names, listings, retries, time limits, errors."""

import dataclasses
import io
import os
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.readers import opened
from support.servers import FAULTS, Server, now_and_then

import jdali
from jdali import SampleError, storage
from jdali._storage import BadRecord, RecordFiles, Scope
from jdali._storage import files as _storage
from jdali._storage import remote as _remote

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


@pytest.fixture(autouse=True)
def _quick():
    before = storage.configure(first_wait=0.001, time_limit=60)
    yield
    storage.configure(**dataclasses.asdict(before))


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    return system


# --- names ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("s3://bucket/key", True), ("memory://a", True), ("simplecache::s3://b/k", True), ("/a/b", False),
        ("a/b.jpg", False), ("C:/pictures", False), ("", False), ("a:b", False), ("/odd/s3://x", False),
    ],
)  # fmt: skip
def test_which_paths_are_urls(path, expected):
    assert _storage.is_url(path) is expected


@pytest.mark.parametrize(
    ("folder", "name", "expected"),
    [
        ("s3://b/d", "x.jpg", "s3://b/d/x.jpg"),
        ("s3://b/d/", "c/x.jpg", "s3://b/d/c/x.jpg"),
        ("memory://", "x", "memory://x"),
        ("file:///", "x", "file:///x"),
        ("zip://a::s3://b/c.zip", "x", "zip://a/x::s3://b/c.zip"),
        ("simplecache::s3://b/d", "x", "simplecache::s3://b/d/x"),
        ("/local", "s3://b/x", "s3://b/x"),
        ("", "x", "x"),
        ("/local", "x", "/local/x"),
        ("/local", "/other/x", "/other/x"),
    ],
)
def test_join(folder, name, expected):
    assert _storage.join(folder, name) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("s3://b/d/list.txt", "s3://b/d"), ("zip://d/l.txt::s3://b/c.zip", "zip://d::s3://b/c.zip"),
        ("simplecache::s3://b/d/l.txt", "simplecache::s3://b/d"), ("/d/l.txt", "/d"), ("l.txt", ""),
    ],
)  # fmt: skip
def test_parent(path, expected):
    assert _storage.parent(path) == expected


# --- the same for local files and URLs ------------------------------------------------------
@pytest.fixture(params=["local", "memory", "http"])
def folder(request, tmp_path, memory):
    """A folder in three kinds of storage, with the same files in it."""
    files = {
        "b/2.bin": b"22",
        "b/1.bin": bytes(range(256)) * 40,
        "a/deep/x.bin": b"x",
        "top.bin": b"t",
        "É.bin": b"",
    }
    if request.param == "local":
        for name, data in files.items():
            (tmp_path / "d" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "d" / name).write_bytes(data)
        yield str(tmp_path / "d")
    elif request.param == "memory":
        for name, data in files.items():
            memory.pipe(f"/d/{name}", data)
        yield "memory://d"
    else:
        files["e.bin"] = files.pop("É.bin")
        with Server({f"/d/{name}": data for name, data in files.items()}) as server:
            yield server.url + "/d"


def test_folders_files_and_pieces(folder):
    last = "e.bin" if folder.startswith("http") else "É.bin"
    assert _storage.entries(folder, folders=True) == ["a", "b"]
    assert _storage.entries(folder, folders=False) == sorted([last, "top.bin"], key=os.fsencode)
    below = list(_storage.walk(folder))
    assert set(below) == {last, "top.bin", "a/deep/x.bin", "b/1.bin", "b/2.bin"}
    assert below[-3:] == ["a/deep/x.bin", "b/1.bin", "b/2.bin"]
    path, data = _storage.join(folder, "b/1.bin"), bytes(range(256)) * 40
    assert _storage.size(path) == len(data)
    records = RecordFiles("records", [path, _storage.join(folder, "b/2.bin")])
    assert records.sizes == [len(data), 2]
    assert _storage.read(path) == data
    assert _storage.read(_storage.join(folder, last)) == b""
    assert records.read(0, 300, 7) == data[300:307]
    assert records.read(0, 5, 0) == b""
    with pytest.raises(BadRecord, match="reach past the end"):
        records.read(0, len(data) - 3, 7)
    records.close()
    assert _storage.exists(path)
    assert not _storage.exists(path + "x")
    assert (
        _storage.version(path) == _storage.version(path) != _storage.version(_storage.join(folder, "b/2.bin"))
    )
    with pytest.raises(FileNotFoundError):
        _storage.read(path + "x")


def test_files_are_read_like_pythons(folder):
    data = bytes(range(256)) * 40
    storage.configure(block_size=4096)
    rng = np.random.default_rng(0)
    with _storage.open(_storage.join(folder, "b/1.bin")) as file:
        assert file.seek(0, os.SEEK_END) == len(data)
        for _ in range(200):
            at, count = rng.integers(len(data) + 10).item(), rng.integers(9000).item()
            file.seek(at)
            assert file.read(count) == data[at : at + count]
    assert not [t for t in threading.enumerate() if t.name.startswith("jdali-remote")]


# --- retries --------------------------------------------------------------------------------
@pytest.mark.cases(4)
@pytest.mark.parametrize("fault", [*FAULTS, "408", "429", "short range"])
def test_what_may_pass_is_asked_for_again(fault):
    left = [2]

    def twice(method, path):
        left[0] -= 1
        return fault if left[0] >= 0 else None

    storage.configure(time_limit=0.3 if fault == "slow" else 30)
    with Server({"/x": b"0123456789"}, fault=twice, slow=30) as server:
        assert _remote.read_range(server.url + "/x", 2, 5) == b"23456"
        if fault != "short range":
            left[0] = 2
            assert _storage.read(server.url + "/x") == b"0123456789"
            left[0] = 2
            assert _storage.exists(server.url + "/x")


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        ("500", OSError, "HTTP status 500 (3 attempts)"),
        ("cut", OSError, "Not enough data"),
        ("no answer", OSError, "ServerDisconnectedError"),
        ("slow", TimeoutError, "no answer within 0.1 s (3 attempts)"),
        ("short range", OSError, "4 bytes came instead of the 5 from byte 2 on (3 attempts)"),
    ],
)
def test_when_retries_are_used_up(fault, kind, text):
    storage.configure(retries=2, time_limit=0.1 if fault == "slow" else 30)
    with Server({"/x": b"0123456789"}, fault=lambda m, p: fault, slow=30) as server:
        begun = time.monotonic()
        with pytest.raises(kind) as caught:
            _remote.read_range(server.url + "/x", 2, 5)
        assert text in caught.value.strerror
        assert "(3 attempts)" in caught.value.strerror
        assert caught.value.filename == server.url + "/x"
        assert time.monotonic() - begun < 25  # and not as long as the server takes
        # One request each; but aiohttp itself asks once more when a kept connection was closed.
        assert 3 <= len(server.requests) <= (6 if fault == "no answer" else 3)


@pytest.mark.parametrize(
    ("status", "kind"),
    [("404", FileNotFoundError), ("403", PermissionError), ("401", PermissionError), ("410", OSError)],
)
def test_what_will_not_change_is_asked_for_once(status, kind):
    with Server({"/x": b"0123"}, fault=lambda m, p: status) as server:
        with pytest.raises(kind) as caught:
            _storage.read(server.url + "/x")
        assert len(server.requests) == 1
        assert "attempts" not in caught.value.strerror


def test_server_that_ignores_ranges():
    with Server({"/x": b"0123456789"}, fault=lambda m, p: "no ranges") as server:
        assert _remote.read_range(server.url + "/x", 0, 10) == b"0123456789"
        with pytest.raises(OSError, match="does not give parts of files"):
            _remote.read_range(server.url + "/x", 2, 5)


def test_nobody_listens():
    with Server() as server:
        url = server.url + "/x"
    storage.configure(retries=1)
    with pytest.raises(OSError, match=r"Connect.*2 attempts"):
        _storage.read(url)


def test_waits_double_up_to_a_limit(monkeypatch):
    waits = []
    monkeypatch.setattr(Scope, "wait", lambda self, url, seconds: waits.append(seconds))
    storage.configure(retries=5, first_wait=0.5, longest_wait=3)
    with Server(fault=lambda m, p: "503") as server, pytest.raises(OSError, match="6 attempts"):
        _storage.read(server.url + "/x")
    assert waits == [0.5, 1, 2, 3, 3]


def test_faults_at_random_change_nothing():
    storage.configure(time_limit=0.3)
    files = {f"/d/{i}": os.urandom(100 + i) for i in range(40)}
    with Server(files, fault=now_and_then(0.4, seed=1), slow=30) as server:
        assert {name: _storage.read(server.url + name) for name in files} == files


class Garbled(Server):
    """Sends an answer that is not HTTP, once."""

    left = 1

    def answer(self, method, target, headers):
        status, facts, body = super().answer(method, target, headers)
        self.left -= 1
        return status, {"no name": "x"} if self.left == 0 else facts, body


def test_an_answer_that_is_not_http_is_no_status():
    with Garbled({"/x": b"0123"}) as server:
        assert _storage.read(server.url + "/x") == b"0123"
        storage.configure(retries=0)
        server.left = 1
        with pytest.raises(OSError, match="Invalid") as caught:
            _storage.read(server.url + "/x")
        assert "status" not in caught.value.strerror


def test_retries_without_end(monkeypatch, memory):
    """The wait of the 1025th retry, if it doubled without a bound, would be no float."""
    memory.pipe("/x", b"0123")
    left, read = [1100], memory.cat_file

    def fail(path, **arguments):
        left[0] -= 1
        if left[0] > 0:
            raise ConnectionError(path)
        return read(path, **arguments)

    monkeypatch.setattr(memory, "cat_file", fail)
    storage.configure(retries=2000, first_wait=0.0)
    assert _storage.read("memory://x") == b"0123"


# --- archives -------------------------------------------------------------------------------
def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.fixture
def opens(monkeypatch):
    """The archives that fsspec opens."""
    opened, init = [], fsspec.get_filesystem_class("zip").__init__

    def counted(self, fo="", **options):
        opened.append(fo)
        init(self, fo, **options)

    monkeypatch.setattr(fsspec.get_filesystem_class("zip"), "__init__", counted)
    return opened


def test_a_local_archive_is_opened_once(tmp_path, opens):
    path, files = tmp_path / "a.zip", {f"d/{i}.bin": os.urandom(9 + i) for i in range(20)}
    path.write_bytes(zipped(files))
    with ThreadPoolExecutor(4) as pool:
        urls = [f"zip://{name}::{path}" for name in files]
        assert list(pool.map(_storage.read, urls * 3)) == list(files.values()) * 3
    assert _storage.entries(f"zip://d::{path}", folders=False) == sorted(n[2:] for n in files)
    assert len(opens) == 1
    path.write_bytes(zipped({"pad": b"", "d/0.bin": b"another"}))
    assert _storage.read(f"zip://d/0.bin::{path}") == b"another"
    assert len(opens) == 2


def test_a_damaged_local_archive_is_asked_once(tmp_path, opens):
    good = zipped({"x": b"0123456789"})
    for name, data in (("no.zip", b"no archive"), ("bad.zip", good.replace(b"0123456789", b"012345678?"))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(
            SampleError, match=rf"cannot read zip://x::.*{name}: BadZipFile: .*\. File mapping"
        ):
            opened("file", files=[f"zip://x::{tmp_path}/{name}"]).load(0)
        assert len(opens) == 1
        opens.clear()
    with pytest.raises(FileNotFoundError, match=r"Failed to open zip://::.*no\.zip: BadZipFile: "):
        opened("file", file_root=f"zip://::{tmp_path}/no.zip")
    assert len(opens) == 1


def test_a_remote_archive_is_opened_again():
    left = [3]

    def fault(method, path):
        left[0] -= 1
        return "503" if left[0] >= 0 else None

    with Server({"/b.zip": zipped({"x": b"0123"})}, fault=fault) as server:
        assert _storage.read(f"zip://x::{server.url}/b.zip") == b"0123"
        left[0] = 100
        storage.configure(retries=1)
        with pytest.raises(OSError, match=r"HTTP status 503 \(2 attempts\)"):
            _storage.read(f"zip://x::{server.url}/b.zip")


@pytest.mark.parametrize("url", ["memory://x", "zip://x::memory://b.zip"])
@pytest.mark.parametrize(
    ("raised", "expected", "attempts"),
    [
        (ValueError("Must provide either a connection_string"), ValueError, 1),
        (ConnectionError("refused"), OSError, 3),
        (TimeoutError(), OSError, 3),
    ],
    ids=repr,
)
def test_a_file_system_that_cannot_be_made(monkeypatch, url, raised, expected, attempts):
    """An error of its configuration is raised as it is, at once."""
    waits = []

    def fail(*_, **__):
        raise raised

    monkeypatch.setattr(Scope, "wait", lambda self, url, seconds: waits.append(seconds))
    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "__init__", fail)
    fsspec.get_filesystem_class("memory").clear_instance_cache()
    storage.configure(retries=2)
    with pytest.raises(expected) as caught:
        _storage.read(url)
    assert (caught.value is raised) == (expected is ValueError)
    assert len(waits) == attempts - 1


# --- versions -------------------------------------------------------------------------------
def test_version_follows_the_content():
    with Server({"/x": b"0123"}) as server:
        before = _storage.version(server.url + "/x")
        server.files["/x"] = b"3210"
        assert _storage.version(server.url + "/x") != before


# --- options --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "wrong",
    [
        {"retries": -1},
        {"time_limit": 0},
        {"requests": 0},
        {"block_size": 1},
        {"samples_ahead": 0},
        {"first_wait": -1},
        {"cache_bytes": -1},
        {"retries": 1.5},
        {"max_pixels": 1e6},
        {"samples_ahead": 2.0},
        {"first_wait": "1"},
        {"allow_outside": "no"},
        {"cache_folder": 5},
    ],
)
def test_wrong_options(wrong):
    before = storage.options()
    with pytest.raises(ValueError, match=rf"^storage: {next(iter(wrong))} is .*, it must be "):
        storage.configure(**wrong)
    with pytest.raises(
        TypeError, match=r"^storage\.configure: there is no option retrys; did you mean retries\?"
    ):
        storage.configure(retrys=1)
    assert storage.options() == before


def test_without_fsspec(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"\.\[remote\]"):
        _storage.read("memory://x")


@pytest.mark.parametrize(
    ("url", "package", "advice"),
    [
        ("s3://b/x", "s3fs", 's3fs.*pip install ".\\[remote\\]"'),
        ("gs://b/x", "gcsfs", 'gcsfs.*pip install ".\\[remote\\]"'),
        ("https://b/x", "aiohttp", 'aiohttp.*pip install ".\\[remote\\]"'),
        ("abfs://b/x", "adlfs", "Install adlfs(?!.*jdali)"),  # which is in no extra
        ("hdfs://nowhere/x", "pyarrow", "pyarrow(?!.*jdali)"),
    ],
)
def test_without_the_package_of_a_protocol(monkeypatch, url, package, advice):
    for module in (package, f"{package}.fs"):
        monkeypatch.setitem(sys.modules, module, None)
    # What fsspec has loaded for other tests.
    for module in ("http", "arrow"):
        monkeypatch.delitem(sys.modules, f"fsspec.implementations.{module}", raising=False)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, url.partition(":")[0], raising=False)
    with pytest.raises(ImportError, match=f"to read {url}: .*{advice}"):
        _storage.read(url)


def test_an_unknown_protocol():
    with pytest.raises(SampleError, match="cannot read nosuch://a/b: fsspec knows no protocol 'nosuch'"):
        opened("file", files=["nosuch://a/b"]).load(0)
    with pytest.raises(FileNotFoundError, match="readers.mxnet: cannot read nosuch://a/b: fsspec knows no"):
        opened("mxnet", path=["nosuch://a/b"])
    for url in ("zip://a::nosuch://b", "nosuch::memory://b"):
        with pytest.raises(OSError, match="fsspec knows no protocol 'nosuch'"):
            _storage.read(url)


def test_import_does_not_load_fsspec():
    import subprocess

    code = "import sys, jdali; assert not {'fsspec', 'aiohttp', 's3fs'} & set(sys.modules)"
    subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=120, cwd=os.path.dirname(jdali.__path__[0])
    )
