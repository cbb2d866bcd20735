"""The command line: indexes as DALI's tools make them, and what is installed."""

import importlib
import io
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import numpy as np
import pytest
from support import oracle, records
from support.bars import on_a_terminal
from support.data import SHARED

from jdali._system.extras import install
from jdali.cli import _doctor, _index, indexers, main

EXAMPLES = [records.example({"image": [bytes([i]) * (300 * i)], "label": [i]}) for i in range(5)]
RECORDS = SHARED / "records"


@pytest.fixture
def tfrecord(tmp_path):
    """(path, offsets and sizes) of a file."""
    return tmp_path / "a.tfrecord", records.tfrecord(tmp_path / "a.tfrecord", EXAMPLES)


def test_tfrecord_by_hand(tfrecord, capsys):
    path, spans = tfrecord
    assert main(["index", str(path)]) == 0
    index = path.with_suffix(".idx")
    assert index.read_text() == "".join(f"{offset} {size}\n" for offset, size in spans)
    assert capsys.readouterr().out == f"{index}: 5 records of {path}\n"


def test_recordio_by_hand(tmp_path):
    offsets = records.recordio(
        tmp_path / "a.rec", [records.image_record(bytes(i), [float(i)]) for i in range(1, 5)]
    )
    assert main(["index", "--quiet", str(tmp_path / "a.rec")]) == 0
    assert (tmp_path / "a.idx").read_text() == "".join(f"{i}\t{offset}\n" for i, offset in enumerate(offsets))


def test_webdataset_by_hand(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, size in (("d/0.jpg", 700), ("d/0.cls", 1), ("d/1.seg.png", 3)):
            entry = tarfile.TarInfo(name)
            entry.size = size
            archive.addfile(entry, io.BytesIO(bytes(size)))
    assert main(["index", "-q", str(path), "-o", str(tmp_path / "other")]) == 0
    assert (tmp_path / "other").read_text() == (
        "v1.2 2\njpg 512 700 d/0.jpg cls 2048 1 d/0.cls\nseg.png 3072 3 d/1.seg.png\n"
    )


@pytest.mark.parametrize(
    "name",
    [
        "tfrecord/train-00000-of-00002", "tfrecord/feature_types.tfrecord", "recordio/train.rec",
        "recordio/multi_label.rec", "recordio/multi_part.rec", "webdataset/shard-000000.tar",
        "webdataset/ustar.tar", "webdataset/case.tar", "webdataset/dotted_ext.tar", "webdataset/dtypes.tar",
        "webdataset/junk_members.tar", "webdataset/missing_components.tar", "webdataset/not_contiguous.tar",
        "webdataset/single.tar", "webdataset/gnu.tar", "webdataset/pax_short.tar",
    ],
)  # fmt: skip
def test_as_dalis_tools(name, tmp_path):
    """The index files of the data were made by DALI's tools."""
    path = RECORDS / name
    if not path.exists():
        pytest.skip("the shared data are not here")
    theirs = path.with_suffix(".idx") if path.suffix in (".rec", ".tar") else Path(f"{path}.idx")
    target = tmp_path / "index"
    assert main(["index", str(path), "--output", str(target), "--quiet"]) == 0
    assert target.read_text() == theirs.read_text()


@pytest.mark.oracle
def test_dali_reads_with_the_index(tfrecord, tmp_path):
    dali = oracle.dali()
    import nvidia.dali.fn as fn
    from nvidia.dali import tfrecord as features

    path, _ = tfrecord
    main(["index", "-q", str(path)])
    pipe = dali.Pipeline(batch_size=5, num_threads=1, device_id=None)
    with pipe:
        wanted = {"label": features.FixedLenFeature((), features.int64, -1)}
        read = fn.readers.tfrecord(path=str(path), index_path=str(path.with_suffix(".idx")), features=wanted)
        pipe.set_outputs(read["label"])
    pipe.build()
    (labels,) = pipe.run()
    np.testing.assert_array_equal(np.array(labels.as_tensor()).reshape(-1), np.arange(5))


def test_several_files_into_a_folder(tfrecord, tmp_path, capsys):
    path, _ = tfrecord
    other = tmp_path / "without-extension"
    other.write_bytes(path.read_bytes())
    folder = tmp_path / "indexes"
    assert main(["index", str(path), str(other), "-o", str(folder)]) == 2
    assert "must be a folder that exists" in capsys.readouterr().err
    folder.mkdir()
    assert main(["index", str(path), str(other), "-o", str(folder)]) == 0
    assert (folder / "a.idx").read_text() == (folder / "without-extension.idx").read_text() != ""


def test_two_files_with_one_index_are_refused(tfrecord, tmp_path, capsys):
    path, _ = tfrecord
    (tmp_path / "sub").mkdir()
    (tmp_path / "folder").mkdir()
    same = tmp_path / "sub" / path.name
    records.tar(path.with_suffix(".tar"), [("0.txt", b"one")])
    same.write_bytes(path.read_bytes())
    before = sorted(tmp_path.rglob("*"))
    assert main(["index", str(path), str(same), "-o", str(tmp_path / "folder")]) == 2
    assert f"the indexes of {path} and {same} would both be " in capsys.readouterr().err
    assert main(["index", str(path), str(path.with_suffix(".tar"))]) == 2  # both to a.idx beside them
    assert f"would both be {path.with_suffix('.idx')}" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
    assert main(["index", "-q", str(path), str(same), str(path)]) == 0


def test_an_index_that_cannot_be_written_is_named(tfrecord, tmp_path, capsys):
    path, _ = tfrecord
    target = tmp_path / "nowhere" / "x.idx"
    assert main(["index", str(path), "-o", str(target)]) == 1
    assert capsys.readouterr().err == f"index: [Errno 2] No such file or directory: '{target}'\n"
    assert main(["index", str(path), "-o", str(path)]) == 1
    assert "name another --output" in capsys.readouterr().err


def test_files_in_remote_storage(tfrecord, tmp_path, capsys):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    path, _ = tfrecord
    fsspec.filesystem("memory").pipe("/indexed/a.tfrecord", path.read_bytes())
    url = "memory://indexed/a.tfrecord"
    assert main(["index", "-q", str(path)]) == 0
    assert main(["index", url, "-o", str(tmp_path / "remote")]) == 0
    assert (tmp_path / "remote").read_text() == path.with_suffix(".idx").read_text()
    assert main(["index", url]) == 1
    assert "cannot be written beside it; say where by --output" in capsys.readouterr().err
    assert main(["index", "memory://indexed/none.rec"]) == 1


def test_the_kind_of_a_video_needs_no_other_package(tmp_path, monkeypatch):
    (tmp_path / "clip.MP4").write_bytes(bytes(100))
    monkeypatch.setattr("jdali.readers.tfrecord.crc32c", None)
    assert _index.kind_of(str(tmp_path / "clip.MP4")) == "video"


def test_errors_leave_nothing_behind(tfrecord, tmp_path, capsys):
    path, _ = tfrecord
    path.write_bytes(path.read_bytes()[:-3])
    (tmp_path / "text").write_text("no records at all")
    missing = tmp_path / "missing.rec"
    before = sorted(tmp_path.iterdir())
    assert main(["index", str(path), str(tmp_path / "text"), str(missing)]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert f"{path} ends at byte" in errors[0]
    assert "say which by --type" in errors[1]
    assert "missing.rec" in errors[2]
    assert sorted(tmp_path.iterdir()) == before
    path.rename(tmp_path / "a.idx")
    assert main(["index", str(tmp_path / "a.idx")]) in (0, 1)
    assert main(["index", str(tmp_path / "a.idx"), "-o", str(tmp_path / "a.idx"), "-t", "tfrecord"]) == 1
    assert "over the file itself" in capsys.readouterr().err


def test_a_bar_counts_bytes_on_a_terminal(tfrecord, monkeypatch):
    bars = on_a_terminal(monkeypatch)
    path, _ = tfrecord
    assert main(["index", str(path)]) == 0
    assert bars[0].options["total"] == bars[0].done == path.stat().st_size
    assert main(["index", "--quiet", str(path)]) == 0
    assert len(bars) == 1
    monkeypatch.setitem(sys.modules, "tqdm", None)  # not installed
    assert main(["index", str(path)]) == 0
    assert len(bars) == 1


def test_doctor():
    done = subprocess.run(
        [sys.executable, "-m", "jdali", "doctor"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("jax", "numpy", "cpu:0", "simplejpeg", "tiff", "Cache folder"):
        assert word in done.stdout


def test_doctor_says_what_to_install(monkeypatch):
    gone = _doctor.Library("no-such-package", "no_such_package", "nothing at all", "codecs")
    monkeypatch.setattr(_doctor, "LIBRARIES", (gone,))
    lines = _doctor.report()
    assert any(line.split() == ["no-such-package", "missing", "nothing", "at", "all"] for line in lines)
    assert lines[-1].split() == [*install("codecs").split(), "for", "nothing", "at", "all"]
    monkeypatch.setattr(_doctor, "LIBRARIES", ())
    assert _doctor.report()[-1] == "Nothing is missing."


def test_doctor_says_what_is_newer_than_what_was_tried(monkeypatch):
    tried = {"python": "3.10", "jax": "0.1.2.3", "jaxlib": "99.0", "numpy": np.__version__}
    monkeypatch.setattr(_doctor, "TRIED_WITH", tried)
    newer = [line.split()[0] for line in _doctor.report() if "newer than" in line]
    assert newer == ["python", "jax"]
    assert f"newer than {tried['jax']}, the newest that jdali was tried with" in "\n".join(_doctor.report())


def test_what_was_tried_stands_in_the_docs():
    page = Path(__file__).parents[2] / "docs" / "installing.md"
    if not page.exists():
        pytest.skip("not in a checkout")
    for name, version in _doctor.TRIED_WITH.items():
        assert f" {version} |" in page.read_text(), (name, version)


def test_every_extra_of_the_doctor_is_declared():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("not in a checkout")
    extras = tomllib.loads(pyproject.read_text())["project"]["optional-dependencies"]
    for library in _doctor.LIBRARIES:
        if library.extra:
            names = " ".join(extras[library.extra])
            assert library.package in names, library


# Extras for those who work on jdali; and JAX's own, which has no module.
DEVELOPMENT = {"cuda12", "dev", "docs", "editor", "examples", "gpu-compile", "oracle", "test"}


def test_the_doctor_knows_every_dependency():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("not in a checkout")
    project = tomllib.loads(pyproject.read_text())["project"]
    extras = [needs for name, needs in project["optional-dependencies"].items() if name not in DEVELOPMENT]
    needed = {re.match(r"[\w-]+", need)[0] for needs in (project["dependencies"], *extras) for need in needs}
    assert needed - {"jax", "numpy"} == {
        library.package for library in _doctor.LIBRARIES
    }  # those are its versions


@pytest.mark.parametrize("page", ["README.md"])
def test_the_pages_name_the_dependencies_of_the_core(page):
    root = Path(__file__).parents[2]
    if not (root / page).exists():
        pytest.skip("not in a checkout")
    needed = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    (named,) = re.findall(r"pip install \.\s+# core: (.*)", (root / page).read_text())
    assert named.split(", ") == [re.match(r"[\w-]+", need)[0] for need in needed]


# --- DALI's console scripts ----------------------------------------------------------------------------
SCRIPTS = {".rec": indexers.rec2idx, ".tar": indexers.wds2idx, "": indexers.tfrecord2idx}


@pytest.mark.parametrize(
    "name",
    [
        "tfrecord/train-00000-of-00002", "tfrecord/train-00001-of-00002", "recordio/train.rec",
        "recordio/multi_part.rec", "webdataset/shard-000000.tar", "webdataset/gnu.tar", "webdataset/case.tar",
    ],
)  # fmt: skip
def test_scripts_write_dalis_bytes(name, tmp_path, capsys):
    path = RECORDS / name
    if not path.exists():
        pytest.skip("the shared data are not here")
    theirs = path.with_suffix(".idx") if path.suffix else Path(f"{path}.idx")
    assert SCRIPTS[path.suffix]([str(path), str(tmp_path / "index")]) == 0
    assert (tmp_path / "index").read_bytes() == theirs.read_bytes()
    assert capsys.readouterr().err == ""


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["a.tar", "a.b.tar", ".hidden.tar"])
def test_wds2idx_beside_the_real_one(name, tmp_path, monkeypatch, capsys):
    """Also where the index goes if nobody says it; what is in the folder is not of interest to either."""
    real = pytest.importorskip("wds2idx", reason="the oracle nvidia-dali-cuda120 is not installed")
    found = []
    for folder, run in (("theirs", real.main), ("ours", indexers.wds2idx)):
        path = tmp_path / folder / "in.folder" / name
        path.parent.mkdir(parents=True)
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
            for member, size in (("d/0.jpg", 700), ("d/0.cls", 1), ("d/.x", 1), ("d/1.seg.png", 3)):
                entry = tarfile.TarInfo(member)
                entry.size = size
                archive.addfile(entry, io.BytesIO(bytes(size)))
        monkeypatch.setattr(sys, "argv", ["wds2idx", str(path)])
        run()
        assert " count: " in capsys.readouterr().out
        found.append({p.name: p.read_bytes() for p in path.parent.iterdir() if p != path})
    assert found[0] == found[1] != {}


def test_scripts_say_what_they_want(tfrecord, tmp_path, capsys):
    path, _ = tfrecord
    assert indexers.tfrecord2idx([str(path)]) == 0
    assert capsys.readouterr().out == "Usage: tfrecord2idx <tfrecord filename> <index filename>\n"
    for script in (indexers.rec2idx, indexers.wds2idx):
        with pytest.raises(SystemExit, match="2"):
            script([])
        assert "usage: " in capsys.readouterr().err
        assert script([str(path), str(tmp_path / "index")]) == 1
        assert str(path) in capsys.readouterr().err
    (tmp_path / "text").write_text("no records at all")
    assert indexers.tfrecord2idx([str(tmp_path / "text"), str(tmp_path / "index")]) == 1
    assert "Not a valid TFRecord file: " in capsys.readouterr().err
    assert indexers.tfrecord2idx([str(tmp_path / "none"), str(tmp_path / "index")]) == 1
    assert "none" in capsys.readouterr().err
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    assert indexers.wds2idx([str(tmp_path / "empty.tar"), str(tmp_path / "index")]) == 1
    assert "Webdataset Tar File empty" in capsys.readouterr().err
    assert not (tmp_path / "index").exists()


def test_scripts_are_installed():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("not in a checkout")
    scripts = tomllib.loads(pyproject.read_text())["project"]["scripts"]
    assert set(scripts) == {"tfrecord2idx", "rec2idx", "wds2idx"}
    for name, place in scripts.items():
        module, _, function = place.partition(":")
        assert getattr(importlib.import_module(module), function) is getattr(indexers, name)
