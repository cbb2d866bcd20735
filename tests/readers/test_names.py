"""No byte of data chooses a file or a host: names in data, for every reader and every kind of name."""

import dataclasses
import json
import os
import pickle
import sys
import tarfile

import numpy as np
import pytest
from support import records
from support.readers import opened

import jdali
import jdali.dynamic as jd
from jdali import storage
from jdali._operators.record import REGISTRY
from jdali._storage import files as _storage
from jdali._storage import names as _names
from jdali._storage import remote as _remote

fsspec = pytest.importorskip("fsspec")


# --- readers that take names from data, and what of them is read ----------------------------------
def _listed(folder, name, line="{}"):
    (folder / "list.txt").write_text(line.format(name) + "\n")


def _coco(folder, name):
    image = {"id": 1, "file_name": name, "width": 5, "height": 4}
    (folder / "list.txt").write_text(json.dumps({"images": [image]}))


def _saved(folder, name):
    for part in ("offsets", "counts"):
        (folder / f"{part}.dat").write_bytes(np.array([1, 0], "<u4").tobytes())
    (folder / "filenames.dat").write_text(name + "\n")


def _robot(folder, name):
    """The pattern of the names of Parquet files."""
    info = {"codebase_version": "v2.1", "fps": 10, "features": {"x": {"dtype": "int64"}}, "data_path": name}
    (folder / "meta").mkdir()
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    (folder / "meta" / "episodes.jsonl").write_text('{"episode_index": 0, "length": 1}')


def _tfds(folder, name):
    split = {"name": "train", "shardLengths": ["1"], "filepathTemplate": name}
    (folder / "dataset_info.json").write_text(json.dumps({"name": "x", "splits": [split]}))
    features = {"featuresDict": {"features": {"x": {"text": {}}}}}
    (folder / "features.json").write_text(json.dumps(features))


FRAME: dict[str, list[str]] = {}
# Reader → (writes data with a name in it into a folder, arguments from path or URL of that folder,
# whether a local list may name what lies elsewhere).
NAMED = {
    "readers.file": (lambda f, n: _listed(f, n, "{} 0"), lambda at: {"file_list": f"{at}/list.txt"}, True),
    "readers.numpy": (_listed, lambda at: {"file_list": f"{at}/list.txt"}, True),
    "readers.nifti": (_listed, lambda at: {"file_list": f"{at}/list.txt"}, True),
    "experimental.readers.fits": (_listed, lambda at: {"file_list": f"{at}/list.txt"}, True),
    "readers.nemo_asr": (
        lambda f, n: _listed(f, json.dumps({"audio_filepath": n})),
        lambda at: {"manifest_filepaths": [f"{at}/list.txt"]},
        True,
    ),
    **{
        name: (
            lambda f, n: _listed(f, n, "{} 0"),
            lambda at: {"file_list": f"{at}/list.txt", "sequence_length": 1},
            True,
        )
        for name in ("readers.video", "readers.video_resize", "experimental.readers.video")
    },
    "readers.tfds": (_tfds, lambda at: {"directory": at, "features": ["x"]}, False),
    "readers.hugging_face": (
        lambda f, n: (f / "state.json").write_text(json.dumps({"_data_files": [{"filename": n}]})),
        lambda at: {"path": at, "columns": ["x"]},
        False,
    ),
    "readers.csv": (
        lambda f, n: _listed(f, n, 'name\n"{}"'),
        lambda at: {"path": f"{at}/list.txt", "columns": ["name"], "files": ["name"]},
        False,
    ),
    "readers.table": (
        lambda f, n: (FRAME.update(name=[n]), _listed(f, n)),
        lambda at: {"frame": FRAME, "columns": ["name"], "files": ["name"], "file_root": at},
        False,
    ),
    "readers.paired": (
        lambda f, n: _listed(f, n, 'name\n"{}"'),
        lambda at: {"table": f"{at}/list.txt", "files": {"x": "name"}},
        False,
    ),
    "readers.lerobot": (_robot, lambda at: {"directory": at, "columns": ["x"]}, False),
    "readers.coco": (_coco, lambda at: {"file_root": at, "annotations_file": f"{at}/list.txt"}, False),
    "readers.coco saved": (_saved, lambda at: {"file_root": at, "preprocessed_annotations": at}, False),
}
# Why the data of the others name no files.
UNNAMED = {
    "readers.sequence": "a folder's listing only",
    "readers.dataset": "elements of an object of the user's, and no files",
    "readers.bucket": "what its reader's data name",
    "readers.mix": "what its readers' data name",
    "readers.pack": "what its reader's data name",
    "readers.arrow": "record batches and offsets only",
    "readers.array_record": "records and offsets only",
    "readers.zarr": "chunks by their numbers",
    "readers.hdf5": "links and data in other files are refused",
    "readers.parquet": "columns that are read, and no others",
    "readers.tfrecord": "records and offsets only",
    "readers.mxnet": "records and offsets only",
    "readers.webdataset": "members are taken by their offsets, links are passed over",
    "readers.caffe": "pages and offsets only",
    "readers.caffe2": "pages and offsets only",
}


def test_every_reader_is_here():
    readers = {name for name in REGISTRY if "readers." in name}
    assert {name.split()[0] for name in NAMED} | set(UNNAMED) == readers


class Watch:
    """Paths that are opened, URLs and hosts that are asked, and what for, while it is on."""

    def __init__(self):
        self.on, self.opened, self.asked, self.paths = False, [], [], []
        sys.addaudithook(self._hook)  # cannot be taken away again

    def _hook(self, event, args):
        if not self.on:
            return
        if event == "open" and isinstance(args[0], str):
            self.opened.append(os.path.realpath(args[0]))
        if event in ("socket.connect", "socket.getaddrinfo"):
            self.asked.append(str(args))


WATCH = Watch()


@pytest.fixture
def watch(monkeypatch):
    def found(url):
        WATCH.asked.append(url)
        return real(url)

    def file_system(url):
        system, path = real_system(url)
        WATCH.paths.append(path)
        return system, path

    real, real_system = _remote._found, _remote._file_system
    monkeypatch.setattr(_remote, "_found", found)
    monkeypatch.setattr(_remote, "_file_system", file_system)
    WATCH.opened, WATCH.asked, WATCH.paths = [], [], []
    yield WATCH
    WATCH.on = False


def attempt(name, args):
    """Opens a reader and loads what it can of its sample; whether it refused the name."""
    pytest.importorskip("av" if "video" in name else "astropy" if "fits" in name else "numpy")
    WATCH.on = True
    try:
        reader = opened(name.split()[0], **args)
        reader.load_many(np.arange(1))
        reader.load(0)
        reader.close()
    except (jdali.SampleError, FileNotFoundError):
        return False  # it has no image, sound, video or table in it
    except ValueError as error:
        return "names found in data" in str(error) or "relative to the URL" in str(error)
    finally:
        WATCH.on = False
    return False


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder of data, and a file beside it that is nobody's business."""
    data, other = tmp_path / "data", tmp_path / "other"
    data.mkdir()
    other.mkdir()
    (other / "secret").write_bytes(b"secret")
    monkeypatch.chdir(tmp_path)
    return data, other / "secret"


URLS = (
    "http://127.0.0.1:9/x", "file://{secret}", "memory://other/secret", "simplecache::file://{secret}",
    "reference://a.jpg::file://{secret}", "zip://a::{secret}", "local://{secret}", "FILE://{secret}",
)  # fmt: skip


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("name", NAMED)
def test_urls_in_data_are_refused(name, url, tree, watch):
    write, args, _ = NAMED[name]
    data, secret = tree
    write(data, url.format(secret=secret))
    assert attempt(name, args(str(data)))
    assert str(secret) not in watch.opened
    assert not watch.asked


@pytest.mark.parametrize("name", NAMED)
def test_a_name_with_two_colons_is_no_url(name, tree, watch):
    write, args, _ = NAMED[name]
    data, _ = tree
    (data / "simplecache::x").write_bytes(b"x")
    write(data, "simplecache::x")
    assert not attempt(name, args(str(data)))
    assert str(data / "simplecache::x") in watch.opened
    assert not watch.asked


OUTSIDE = ("{secret}", "../other/secret", "a/../../other/secret", ".//{secret}", "./../other/secret")


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("name", NAMED)
def test_paths_that_lead_out_of_the_folder(name, path, tree, watch, monkeypatch):
    """Lists of the user may name them, as in DALI; annotations need the option."""
    write, args, free = NAMED[name]
    data, secret = tree
    (data / "a").mkdir()
    monkeypatch.chdir(data)
    write(data, path.format(secret=secret))
    below = path.startswith(".//")  # a relative path
    for allowed in (False, True):
        watch.opened.clear()
        before = storage.configure(allow_outside=allowed)
        try:
            assert attempt(name, args(str(data))) is not (free or allowed or below)
        finally:
            storage.configure(**dataclasses.asdict(before))
        assert (str(secret) in watch.opened) is ((free or allowed) and not below)


REMOTE = (
    "memory://other/secret", "memory://data2/secret", "../other/secret", "memory://data/../other/secret",
    "a/../../other/secret", "%2e%2e/other/secret", "/other/secret", "{secret}", "file://{secret}",
    "..\\other\\secret", "http://127.0.0.1:9/x", "reference://x::file://{secret}",
)  # fmt: skip


@pytest.mark.cases(64)
@pytest.mark.parametrize("path", REMOTE)
@pytest.mark.parametrize("name", NAMED)
def test_below_a_url_is_what_remote_data_reach(name, path, tree, watch):
    write, args, _ = NAMED[name]
    data, secret = tree
    write(data, path.format(secret=secret))
    memory = fsspec.filesystem("memory")
    files = [file for file in data.rglob("*") if file.is_file()]
    memory.pipe({f"/data/{file.relative_to(data)}": file.read_bytes() for file in files})
    try:
        assert attempt(name, args("memory://data"))
        assert str(secret) not in watch.opened
        asked = {url.partition("/meta/")[0] for url in watch.asked}
        own = ("/list.txt", "/state.json", "/dataset_info.json", "/features.json", "/classes.json")
        asked = {url.rpartition("/")[0] if url.endswith(own) else url for url in asked}
        assert {url for url in asked if ".dat" not in url} <= {"memory://data"}
    finally:
        memory.rm("/data", recursive=True)


@pytest.mark.parametrize("path", ["x", "memory://data/x", "x::file://{secret}"])
@pytest.mark.parametrize("name", NAMED)
def test_names_below_a_url(name, path, tree, watch):
    """What follows "::" in a name is part of the name: it chains no other URL."""
    write, args, _ = NAMED[name]
    data, secret = tree
    path = path.format(secret=secret)
    write(data, path)
    memory = fsspec.filesystem("memory")
    files = [file for file in data.rglob("*") if file.is_file()]
    memory.pipe({f"/data/{file.relative_to(data)}": file.read_bytes() for file in files})
    try:
        assert not attempt(name, args("memory://data"))
        assert str(secret) not in watch.opened
        assert watch.asked
        assert all(url.startswith("memory://data") for url in watch.asked)
        assert f"/data/{path.removeprefix('memory://data/')}" in watch.paths
    finally:
        memory.rm("/data", recursive=True)


@pytest.mark.parametrize("name", NAMED)
def test_protocols_that_are_allowed(name, tree, watch):
    write, args, _ = NAMED[name]
    data, secret = tree
    write(data, f"simplecache::file://{secret}")
    before = storage.configure(allow_protocols=["file"])
    try:
        assert attempt(name, args(str(data)))  # one of two
        storage.configure(allow_protocols=["file", "simplecache"])
        assert not attempt(name, args(str(data)))
        assert watch.asked
    finally:
        storage.configure(**dataclasses.asdict(before))


def test_a_string_of_protocols_is_refused():
    with pytest.raises(ValueError, match="allow_protocols is 's3', it must be a list"):
        storage.configure(allow_protocols="s3")


def test_paths_in_samples(tree, watch):
    """`io.file.read` reads the local file that a sample names, but asks no host."""
    _, secret = tree
    watch.on = True
    assert np.asarray(jd.io.file.read(np.frombuffer(str(secret).encode(), np.uint8))).tobytes() == b"secret"
    with pytest.raises(
        jdali.OperatorError, match=r"io.file.read: 'file:.*configure\(allow_protocols=\['file'\]"
    ):
        np.asarray(jd.io.file.read(np.frombuffer(f"file://{secret}".encode(), np.uint8)))
    assert not watch.asked


def test_members_of_archives_name_nothing(tree, watch):
    data, secret = tree
    with tarfile.open(data / "x.tar", "w") as archive:
        for name, kind in ((str(secret), tarfile.SYMTYPE), ("../other/secret", tarfile.LNKTYPE)):
            link = tarfile.TarInfo(f"link{kind!r}.jpg")
            link.type, link.linkname = kind, name
            archive.addfile(link)
        for name in (f"{secret}.jpg", "../../x.jpg"):
            archive.addfile(tarfile.TarInfo(name))
    records.index(data / "x.idx", [["v1.2", 1], ["jpg", 512 * 3, 0, f"{secret}.jpg"]])
    watch.on = True
    for more in ({}, {"index_paths": [str(data / "x.idx")]}):
        reader = opened("webdataset", paths=[str(data / "x.tar")], ext=["jpg"], **more)
        reader.load_many(np.arange(reader.size))
        reader.close()
    assert str(secret) not in watch.opened
    assert not watch.asked


def test_a_playlist_in_place_of_a_video(tree, watch):
    pytest.importorskip("av")
    data, secret = tree
    playlists = (
        f"#EXTM3U\n#EXTINF:1,\nfile://{secret}\n#EXT-X-ENDLIST\n",
        f"ffconcat version 1.0\nfile {secret}\n",
    )
    for playlist in playlists:
        (data / "x.mp4").write_text(playlist)
        with pytest.raises(jdali.SampleError, match="cannot be opened as a video"):
            opened("video", filenames=[str(data / "x.mp4")], sequence_length=1)
        with fsspec.open("memory://x.mp4", "w") as file:
            file.write(playlist)
        with pytest.raises(jdali.SampleError, match="cannot be opened as a video"):
            opened("video", filenames=["memory://x.mp4"], sequence_length=1)


def test_links_are_followed(tree, watch):
    """A link in a folder was made by whoever made the folder, not by a byte of data; DALI follows them too."""
    data, secret = tree
    (data / "link").symlink_to(secret)
    write, args, _ = NAMED["readers.coco"]
    write(data, "link")
    assert not attempt("readers.coco", args(str(data)))
    assert str(secret) in watch.opened


# --- names that only look like URLs ---------------------------------------------------------------
def test_folders_and_files_whose_names_look_like_urls(tmp_path, monkeypatch):
    for folder in ("cls::a", "http:"):
        (tmp_path / "root" / folder).mkdir(parents=True)
        for file in ("one::x.jpg", "two.jpg"):
            (tmp_path / "root" / folder / file).write_bytes(f"{folder} {file}".encode())
    expected = [
        f"{folder} {file}".encode() for folder in ("cls::a", "http:") for file in ("one::x.jpg", "two.jpg")
    ]
    monkeypatch.chdir(tmp_path / "root")
    (tmp_path / "root" / "list").write_text("cls::a/two.jpg 1\nhttp://two.jpg 2\n")

    def contents(**args):
        reader = opened("file", **args)
        columns, failures = reader.load_many(np.arange(reader.size))
        assert not failures
        assert [reader.load(i)[0].tobytes() for i in range(reader.size)] == [
            one.tobytes() for one in columns[0].host_samples()
        ]
        return [reader.load(i)[0].tobytes() for i in range(reader.size)]

    for root in (str(tmp_path / "root"), ".", "./"):
        assert contents(file_root=root) == expected
    (tmp_path / "root" / "cls::b").symlink_to(tmp_path / "root")
    assert contents(file_root="cls::b", dir_filters=["cls::a", "http:"]) == expected
    assert contents(files=["cls::a/two.jpg", "http:/two.jpg", "http://two.jpg"]) == [
        expected[1],
        expected[3],
        expected[3],
    ]
    assert contents(file_root="..", files=["root/cls::a/two.jpg"]) == [expected[1]]
    assert contents(file_list="list") == [expected[1], expected[3]]


@pytest.mark.parametrize("url", ["memory://two colons", "simplecache::memory://two colons"])
def test_folders_below_a_url(url):
    memory = fsspec.filesystem("memory")
    memory.pipe({"/two colons/cls::a/one::x.jpg": b"1", "/two colons/b/file:::jpg.jpg": b"2"})
    try:
        reader = opened("file", file_root=url)
        assert [reader.load(i)[0].tobytes() for i in range(2)] == [b"2", b"1"]
        assert reader.source(1).endswith("/cls::a/one::x.jpg")
        assert _storage.entries(_storage.join(url, _storage.plain("cls::a")), folders=False) == ["one::x.jpg"]
    finally:
        memory.rm("/two colons", recursive=True)


def test_a_path_below_a_url_keeps_what_it_means():
    path = _names.Below.of("zip://a::/b.zip", "c::d/e")
    assert path == "zip://a/c::d/e::/b.zip"
    for copy in (path, pickle.loads(pickle.dumps(path))):
        assert (copy.folder, copy.name) == ("zip://a::/b.zip", "c::d/e")
        assert _storage.parent(copy).name == "c::d"
        assert _storage.join(copy, "f").name == "c::d/e/f"
    assert _storage.parent(_names.Below.of("s3://a", "b::c")) == "s3://a"


@pytest.mark.parametrize(
    "name", ["readers.sequence", "experimental.readers.fits", "readers.numpy", "readers.video"]
)
def test_other_readers_list_such_folders(name, tmp_path):
    extension = {"readers.sequence": "jpg", "experimental.readers.fits": "fits", "readers.numpy": "npy"}.get(
        name, "mp4"
    )
    (tmp_path / "a::b").mkdir()
    (tmp_path / "a::b" / f"c::d.{extension}").write_bytes(b"x")
    args = {"sequence_length": 1} if extension in ("jpg", "mp4") else {}
    pytest.importorskip("av" if "video" in name else "astropy" if "fits" in name else "numpy")
    with pytest.raises(jdali.SampleError, match=rf"a::b/c::d.{extension}: (?!fsspec)"):
        opened(name, file_root=str(tmp_path), **args).load(0)
