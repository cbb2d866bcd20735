"""readers.file: which files, in what order, with what labels; against DALI and by hand."""

import os
import re

import numpy as np
import pytest
from support import oracle, refusals
from support.data import SHARED

from jdali import Pipeline, SampleError, fn, pipeline_def
from jdali._operators.record import REGISTRY, ReaderOp
from jdali.iterator import DataIterator
from jdali.readers.file import file

TREE = [
    "a/1.jpg", "a/10.jpg", "a/2.JPG", "a/B.png", "a/notes.txt", "a/sub/deep.jpg", "b/z.jpg", "b/.hidden.jpg",
    "b/noext", ".h/q.jpg", "Z/k.jpg", "root.jpg", "c10/f.wav", "c2/f.tif", "only_text/t.txt",
    "with space/1.jpg",
]  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    for name in TREE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (root / "empty").mkdir()
    (root / "link").symlink_to(root / "a")
    (root / "b" / "link.jpg").symlink_to(root / "Z" / "k.jpg")
    return root


def everything(reader):
    """(contents, label) of all samples in the order of reading."""
    samples = [reader.load(int(i)) for i in reader.take(reader.size).indices]
    for data, label in samples:
        assert (data.dtype, data.ndim) == (np.uint8, 1)
        assert (label.dtype, label.shape) == (np.int32, (1,))
    return [(bytes(data).decode(errors="replace"), int(label[0])) for data, label in samples]


def dali_everything(count, **args):
    oracle.dali()
    import nvidia.dali
    import nvidia.dali.fn as fn

    pipe = nvidia.dali.Pipeline(batch_size=count, num_threads=1, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(*fn.readers.file(name="r", **args))
    pipe.build()
    data, labels = pipe.run()
    return [
        (bytes(np.array(data.at(i))).decode(errors="replace"), int(np.array(labels.at(i))[0]))
        for i in range(count)
    ], pipe.reader_meta("r")


def check(**args):
    reader = file.run(**args)
    got = everything(reader)
    expected, meta = dali_everything(len(got), **args)
    assert got == expected
    facts = reader.meta()
    facts.pop("classes", None)  # which DALI has not
    assert facts == meta
    return got


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"case_sensitive_filter": True},
        {"file_filters": "*.txt"},
        {"file_filters": ["*.jpg", "1*", "*"]},
        {"file_filters": ["?.j[p]g", "[!f]*.tif"]},
        {"file_filters": ["[^1]*.jpg", "\\1.jpg"]},
        {"file_filters": ["\\*.jpg", "B\\.png", "[1-2]?*"]},
        {"dir_filters": ["a*", "z"]},
        {"dir_filters": ["Z"], "case_sensitive_filter": True},
        {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"num_shards": 2, "stick_to_shard": True},
    ],
    ids=str,
)
def test_folders_as_dali(tree, args):
    check(file_root=str(tree), **{"dir_filters": "*"} | args)


def test_hidden_and_empty_folders_are_no_classes_unless_asked_for(tmp_path):
    for name in ("a/1.jpg", "c/2.jpg", ".git/3.jpg", "d/notes.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(name)
    (tmp_path / "b").mkdir()
    said = r"folders of .* are not classes: '.git' \(hidden\), 'b' \(empty\), 'd' \(empty\). DALI .*dir_filters=\"\*\" numbers"
    with pytest.warns(UserWarning, match=said) as caught:
        reader = file.run(file_root=str(tmp_path))
    assert len(caught) == 1
    assert everything(reader) == [("a/1.jpg", 0), ("c/2.jpg", 1)]
    assert reader.meta()["classes"] == ["a", "c"]
    for every in ("*", ["*"], [".*", "*"]):
        reader = file.run(file_root=str(tmp_path), dir_filters=every)
        assert everything(reader) == [(".git/3.jpg", 0), ("a/1.jpg", 1), ("c/2.jpg", 3)]
        assert reader.meta()["classes"] == [".git", "a", "b", "c", "d"]


def test_folders(tree):
    got = everything(file.run(file_root=str(tree), dir_filters="*"))
    # Folders and files by their bytes: capitals before small letters, "10" before "2". Folders are
    # numbered whether they hold files or not, hidden ones and links too; files beside them are not read.
    assert got == [
        (".h/q.jpg", 0), ("Z/k.jpg", 1), ("a/1.jpg", 2), ("a/10.jpg", 2), ("a/2.JPG", 2), ("a/B.png", 2),
        ("b/.hidden.jpg", 3), ("Z/k.jpg", 3), ("b/z.jpg", 3), ("c10/f.wav", 4), ("c2/f.tif", 5),
        ("a/1.jpg", 7), ("a/10.jpg", 7), ("a/2.JPG", 7), ("a/B.png", 7), ("with space/1.jpg", 9),
    ]  # fmt: skip


def test_folder_given_as_a_path(tree):
    with Pipeline(batch_size=16, num_threads=1, device_id=None) as pipe:
        pipe.set_outputs(fn.readers.file(file_root=tree, dir_filters="*")[1])
    (labels,) = pipe.run()
    pipe.close()
    assert np.asarray(labels.as_array()).ravel().tolist() == [
        n for _, n in everything(file.run(file_root=str(tree), dir_filters="*"))
    ]


LISTS = {
    "plain": b"a/1.jpg 3\nb/z.jpg 4\n",
    "no newline at the end": b"a/1.jpg 3\nb/z.jpg 4",
    "blank lines": b"\na/1.jpg 3\n\n   \nb/z.jpg 4\n\n",
    "CR LF": b"a/1.jpg 3\r\nb/z.jpg 4\r\n",
    "tabs and spaces": b"a/1.jpg\t\t 3  \nwith space/1.jpg 0007\n",
}


@pytest.mark.oracle
@pytest.mark.parametrize("kind", LISTS)
def test_lists_as_dali(tree, kind):
    listed = tree / "list"
    listed.write_bytes(LISTS[kind])
    check(file_list=str(listed))  # relative to its own folder
    check(file_list=str(listed), file_root=str(tree))


def test_list(tree, tmp_path):
    listed = tmp_path / "list"
    listed.write_bytes(b"1.jpg 3\n%s 0\n" % os.fsencode(tree / "Z" / "k.jpg"))
    assert everything(file.run(file_list=str(listed), file_root=str(tree / "a"))) == [
        ("a/1.jpg", 3),
        ("Z/k.jpg", 0),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"a/1.jpg 1\na/2.JPG\n",
            r"line 2 of .* must be a file's name and a label from 0 to 2147483647, but is",
        ),
        (b"a/1.jpg x\n", r"line 1 of .* but is 'a/1.jpg x'"),
        (b"\na/1.jpg -2\n", "line 2 of"),
        (b"a/1.jpg 3.5\n", "line 1 of"),
        (b"a/1.jpg 99999999999\n", "line 1 of"),
        (b"7\n", "line 1 of"),
        (b"a\0b 7\n", "line 1 of"),
        (b"\n  \n", "No files found: file_list .* names no files"),
        (b"", "No files found: file_list .* names no files"),
    ],
)
def test_wrong_list(tmp_path, text, message):
    (tmp_path / "list").write_bytes(text)
    with pytest.raises(ValueError, match=f"^readers.file: .*{message}"):
        file.run(file_list=str(tmp_path / "list"))


@pytest.mark.oracle
@pytest.mark.parametrize("labels", [None, [7, -3]], ids=str)
def test_given_files_as_dali(tree, labels):
    extra = {} if labels is None else {"labels": labels}
    check(file_root=str(tree), files=["b/noext", str(tree / "a" / "1.jpg")], **extra)


def test_given_files(tree):
    paths = [str(tree / "b" / "z.jpg"), str(tree / "a" / "notes.txt")]
    reader = file.run(files=paths, labels=[5, 6])
    assert everything(reader) == [("b/z.jpg", 5), ("a/notes.txt", 6)]
    assert [reader.source(i) for i in range(2)] == paths
    assert everything(file.run(files=paths[0])) == [("b/z.jpg", 0)]


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ({}, ValueError, "``file_root`` argument is required when not using ``files`` or ``file_list``."),
        (
            {"files": ["a"], "file_list": "b"},
            ValueError,
            "File paths can be provided through ``files`` or ``file_list`` but not both.",
        ),
        (
            {"file_root": ".", "labels": [1]},
            ValueError,
            "The argument ``labels`` is valid only when file paths are provided as `files`",
        ),
        ({"files": ["a", "b"], "labels": [1]}, ValueError, "Provided 1 labels for 2 files."),
        ({"files": []}, ValueError, "``files`` specified an empty list."),
        ({"file_root": ".", "file_filters": []}, ValueError, "``file_filters`` list cannot be empty"),
        ({"file_root": ".", "dir_filters": []}, ValueError, "``dir_filters`` list cannot be empty"),
        ({"file_list": "/no/such"}, FileNotFoundError, "Cannot open: /no/such: No such file"),
        ({"file_root": "/no/such"}, FileNotFoundError, "Failed to open /no/such: No such file"),
    ],
    ids=str,
)
def test_wrong_arguments(args, error, message):
    with pytest.raises(error, match=f"^readers.file: {message}"):
        file.run(**args)


def test_patterns(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("*.jpg", "x.jpg", "[1].jpg", "y^.jpg"):
        (tmp_path / "a" / name).write_bytes(name.encode())

    def found(pattern):
        return [name for name, _ in everything(file.run(file_root=str(tmp_path), file_filters=pattern))]

    assert found("\\*.jpg") == ["*.jpg"]
    assert found("\\[1\\].jpg") == found("[[]1].jpg") == ["[1].jpg"]
    assert found("[^x]*") == found("[!x]*") == ["*.jpg", "[1].jpg", "y^.jpg"]
    assert found("?[x^].jpg") == ["y^.jpg"]


def test_no_files(tree):
    with pytest.raises(
        ValueError, match=r"No files found: none match \*.xyz in the 10 subfolders of .*must be in subf"
    ):
        file.run(file_root=str(tree), file_filters="*.xyz")
    with pytest.raises(ValueError, match="in the 0 subfolders"):
        file.run(file_root=str(tree / "empty"))


def test_a_file_that_vanishes_is_named(tmp_path):
    for name in "xy":
        (tmp_path / name).write_bytes(b"!")
    reader = file.run(files=[str(tmp_path / "x"), str(tmp_path / "y")])
    (tmp_path / "y").unlink()
    assert bytes(reader.load(0)[0]) == b"!"
    with pytest.raises(SampleError, match=f"cannot read {tmp_path}/y: No such file"):
        reader.load(1)


def test_empty_file_gives_no_bytes(tmp_path):
    (tmp_path / "x").write_bytes(b"")
    assert file.run(files=[str(tmp_path / "x")]).load(0)[0].shape == (0,)


def test_record():
    record = REGISTRY["readers.file"]
    assert (type(record), record.outputs, record.inputs) == (ReaderOp, 2, ())
    for argument in record.public_args:
        assert f"\n    {argument}: " in record.doc, argument


@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
def test_lists_of_the_data_pack():
    root = str(SHARED / "images" / "jpeg")
    for listed in sorted((SHARED / "bad" / "lists").iterdir()):
        if listed.stem in ("bad_label", "no_label", "empty"):
            with pytest.raises(ValueError, match=r"readers\.file: "):
                file.run(file_list=str(listed), file_root=root)
        else:
            reader = file.run(file_list=str(listed), file_root=root)
            assert reader.size == 2
            assert len(reader.load(0)[0]) == 93373
    assert file.run(file_list=root + "/image_list.txt").size == 47
    assert file.run(file_root=root).meta()["epoch_size"] == 47


@pytest.mark.parametrize(
    ("count", "threads", "sizes"),
    [
        (256, 2, [64] * 4),
        (100, 2, [50, 50]),
        (3, 4, [1, 1, 1]),
        (1, 2, [1]),
        (130, 1, [64, 64, 2]),
        (0, 2, []),
    ],
)
def test_tasks_have_many_files_each_and_leave_no_thread_without(tmp_path, count, threads, sizes):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.jpg").touch()
    reader = REGISTRY["readers.file"].run(file_root=str(tmp_path))
    tasks = reader.tasks(np.arange(count), threads)
    assert [t.stop - t.start if t.stop <= count else count - t.start for t in tasks] == sizes
    assert [t.start for t in tasks] == np.cumsum([0, *sizes])[:-1].tolist()


# What is wrong, and what DALI says of it.
REFUSED = {
    "``file_root`` argument is required when not using ``files`` or ``file_list``.": {},
    "File paths can be provided through ``files`` or ``file_list`` but not both.": {"files": ["a"], "file_list": "b"},
    "The argument ``labels`` is valid only when file paths are provided as `files`": {"file_root": ".", "labels": [1]},
    "Provided 1 labels for 2 files.": {"files": ["a", "b"], "labels": [1]},
    "``files`` specified an empty list.": {"files": []},
    "Cannot open: /no/such": {"file_list": "/no/such", "file_root": "."},
    "Failed to open /no/such": {"file_root": "/no/such"},
    "No files found": {"file_root": ".", "file_filters": ["*.none"]},
    "num_shards needs to be greater than shard_id": {"files": ["a"] * 4, "shard_id": 5, "num_shards": 2},
    "needs to be at least equal to the requested number of shards: 5.": {"files": ["a"] * 2, "num_shards": 5},
    "shuffle_after_epoch and random_shuffle cannot be both true": {
        "files": ["a"], "shuffle_after_epoch": True, "random_shuffle": True,
    },
    "shuffle_after_epoch and stick_to_shard cannot be both true": {
        "files": ["a"], "shuffle_after_epoch": True, "stick_to_shard": True,
    },
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("text", REFUSED)
def test_arguments_are_refused_as_dali_does(text):
    def build(package):
        pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(*package.fn.readers.file(**REFUSED[text]))
        pipe.build()

    refusals.check_both(RuntimeError, re.escape(text), build)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "order",
    [
        {"random_shuffle": True}, {"random_shuffle": True, "initial_fill": 3, "pad_last_batch": True},
        {"random_shuffle": True, "num_shards": 3, "shard_id": 1, "stick_to_shard": True},
        {"random_shuffle": True, "num_shards": 3, "shard_id": 1}, {"shuffle_after_epoch": True, "num_shards": 2},
    ],
)  # fmt: skip
def test_readers_of_one_pipeline_go_in_the_same_order(order, tmp_path):
    """Images and their masks, say; whatever operators stand between them."""
    files = []
    for i in range(11):
        (tmp_path / str(i)).write_bytes(b"content")
        files.append(str(tmp_path / str(i)))

    @pipeline_def(batch_size=4, num_threads=1, seed=3)
    def pipe():
        first = fn.readers.file(files=files, name="Reader", **order)
        drawn = fn.random.uniform()
        second = fn.readers.file(files=files[::-1], labels=list(range(11)), **order)
        return first[1], second[1], drawn

    with DataIterator(pipe(), ["one", "other", "drawn"], reader_name="Reader") as batches:
        for _ in range(3):
            for batch in batches:
                np.testing.assert_array_equal(batch["one"], batch["other"])


@pytest.mark.parametrize(
    "labels",
    [range(2), np.array([0, 1]), np.array([0.0, 1.0]), (0, True), [np.int64(0), 1], "pandas"],
    ids=str,
)
def test_lists_of_any_kind(tmp_path, labels):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame({"name": ["a.jpg", "b.jpg"], "label": [0, 1]})
    for name in frame["name"]:
        (tmp_path / name).write_text(name)
    with Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        pipe.set_outputs(
            *fn.readers.file(
                file_root=tmp_path,
                files=frame["name"],
                labels=frame["label"] if isinstance(labels, str) else labels,
            )
        )
    contents, numbers = pipe.run()
    assert [bytes(one).decode() for one in contents.to_samples()] == ["a.jpg", "b.jpg"]
    assert numbers.as_array().tolist() == [[0], [1]]


@pytest.mark.parametrize("labels", [[0.5, 1.0], [0, float("nan")], [0, 1e10], [0, 1 << 40]])
def test_labels_are_never_cut(labels):
    for reader, files in (("file", "files"), ("video", "filenames")):
        with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            options = {"sequence_length": 1} if reader == "video" else {}
            outputs = getattr(fn.readers, reader)(**{files: ["a", "b"]}, labels=labels, **options)
            pipe.set_outputs(*outputs)
        with pytest.raises(ValueError, match=r"label \d is .*, which is not a whole number of 32 bits"):
            pipe.build()
