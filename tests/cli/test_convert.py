"""`python -m jdali convert`: what is written, that it continues, and what it checks."""

import contextlib
import dataclasses
import io
import json
import os
import re
import shutil
import stat
import tarfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image
from support import records
from support.data import image
from support.pictures import noise, pillow
from support.videos import av, encode, pictures

import jdali
from jdali import fn
from jdali.cli import main
from jdali.cli.conversion import restart_markers, sources, targets
from jdali.codecs import image as codec

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
COUNT = 11


@pytest.fixture
def photos(tmp_path):
    """A folder of two classes; pictures by the names of their files without extension."""
    made = {}
    for i in range(COUNT):
        key = f"{'cat' if i % 3 else 'dog'}/{i:02d}"
        made[key] = pillow(image(40 + i, 56), "jpeg", quality=80)
        (tmp_path / "photos" / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / f"{key}.jpg").write_bytes(made[key])
    return tmp_path / "photos", dict(sorted(made.items()))


def convert(*arguments):
    return main(["convert", "-q", "-j", "2", *map(str, arguments)])


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def tar_members(folder):
    """(name, content) of all archives."""
    found = []
    for path in sorted(folder.glob("*.tar")):
        with tarfile.open(path) as archive:
            found += [(entry.name, archive.extractfile(entry).read()) for entry in archive]
    return found


def array_records(folder):
    module = pytest.importorskip("array_record.python.array_record_module")
    found = []
    for path in sorted(folder.glob("*.array_record")):
        reader = module.ArrayRecordReader(str(path))
        found += [reader.read([i])[0] for i in range(reader.num_records())]
        reader.close()
    return found


def test_folders_to_webdataset_and_on(photos, tmp_path):
    folder, pictures = photos
    assert convert(folder, tmp_path / "wds", "--samples-per-shard", 4) == 0
    wanted = [
        member for key, data in pictures.items()
        for member in ((f"{key}.jpg", data), (f"{key}.cls", b"%d" % (key > "d")))
    ]  # fmt: skip
    assert tar_members(tmp_path / "wds") == wanted
    assert [name for name in files(tmp_path / "wds") if name.endswith("tar")] == [
        f"train-0000{i}-of-00003.tar" for i in range(3)
    ]

    @jdali.pipeline_def(batch_size=COUNT, num_threads=1, device_id=None)
    def reading():
        paths = sorted(map(str, (tmp_path / "wds").glob("*.tar")))
        return fn.readers.webdataset(paths=paths, ext=["jpg", "cls"])

    with contextlib.closing(reading()) as pipe:
        jpegs, labels = pipe.run()
        assert [bytes(np.asarray(one)) for one in jpegs] == list(pictures.values())
        assert [bytes(np.asarray(one)) for one in labels] == [b"0"] * 7 + [b"1"] * 4

    assert convert(tmp_path / "wds", tmp_path / "tables", "--to", "parquet") == 0
    rows = pq.read_table(sorted((tmp_path / "tables").glob("*.parquet"))[0]).to_pylist()
    assert rows == [{"key": key, "jpg": data, "cls": int(key > "d")} for key, data in pictures.items()]

    assert convert(tmp_path / "tables", tmp_path / "again", "--samples-per-shard", 4) == 0
    assert [content for name, content in tar_members(tmp_path / "again") if name.endswith("jpg")] == list(
        pictures.values()
    )


def test_folders_to_parquet_keep_the_names_of_the_classes(photos, tmp_path):
    folder, pictures = photos
    assert convert(folder, tmp_path / "out", "--to", "parquet") == 0

    @jdali.pipeline_def(batch_size=COUNT, num_threads=1, device_id=None)
    def reading():
        return fn.readers.hugging_face(path=str(tmp_path / "out"), columns=["image", "label"], name="Reader")

    with contextlib.closing(reading()) as pipe:
        images, labels = pipe.run()
        assert [bytes(np.asarray(one)) for one in images] == list(pictures.values())
        assert labels.as_numpy().ravel().tolist() == [0] * 7 + [1] * 4
        assert pipe.reader_meta("Reader")["classes"] == ["cat", "dog"]


def test_records_keep_all_their_features(tmp_path):
    pytest.importorskip("crc32c")
    jpeg = pillow(image(20, 30), "jpeg")
    examples = [
        records.example(
            {"image/encoded": [jpeg], "label": [i], "boxes": [0.5] * (i + 1), "text": [b"a", b"b"]}
        )
        for i in range(3)
    ]
    records.tfrecord(tmp_path / "a.tfrecord", examples)
    assert convert(tmp_path / "a.tfrecord", tmp_path / "records", "--to", "array_record") == 0
    assert array_records(tmp_path / "records") == examples
    assert convert(tmp_path / "records", tmp_path / "wds") == 0
    rest = [json.dumps({"boxes": boxes, "text": ["a", "b"]}) for boxes in (0.5, [0.5] * 2, [0.5] * 3)]
    assert tar_members(tmp_path / "wds") == [
        (f"{i:09d}.{name}", content) for i in range(3)
        for name, content in (("jpg", jpeg), ("cls", b"%d" % i), ("json", rest[i].encode()))
    ]  # fmt: skip
    assert convert(tmp_path / "a.tfrecord", tmp_path / "tables", "--to", "parquet") == 0
    table = pq.read_table(sorted((tmp_path / "tables").glob("*.parquet"))[0])
    assert table.column("boxes").to_pylist() == [[0.5], [0.5, 0.5], [0.5] * 3]
    assert table.column("image/encoded").to_pylist() == [jpeg] * 3


@pytest.mark.parametrize("kind", ["recordio", "arrow"])
def test_other_sources(kind, tmp_path):
    jpegs = [pillow(image(20, 30 + i), "jpeg") for i in range(3)]
    if kind == "recordio":
        path = tmp_path / "a.rec"
        records.recordio(path, [records.image_record(jpeg, [float(i)]) for i, jpeg in enumerate(jpegs)])
    else:
        path = tmp_path / "a.arrow"
        table = pa.table(
            {
                "image": [{"bytes": jpeg, "path": "x.jpg"} for jpeg in jpegs],
                "label": pa.array([0, 1, 2], pa.int8()),
            }
        )
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    assert convert(path, tmp_path / "wds") == 0
    members = dict(tar_members(tmp_path / "wds"))
    for i, jpeg in enumerate(jpegs):
        assert (members[f"{i:09d}.jpg"], members[f"{i:09d}.cls"]) == (jpeg, b"%d" % i)
    assert convert(path, tmp_path / "tables", "--to", "parquet") == 0
    got = pq.read_table(sorted((tmp_path / "tables").glob("*.parquet"))[0])
    assert got.column("label").to_pylist() == [0, 1, 2]
    if kind == "arrow":
        assert got == table


@pytest.mark.parametrize("to", sorted(targets.TARGETS))
def test_an_interrupted_conversion_continues(to, photos, tmp_path, monkeypatch):
    folder, _ = photos
    arguments = [folder, tmp_path / "out", "--to", to, "--samples-per-shard", 3]
    assert convert(folder, tmp_path / "whole", *arguments[2:]) == 0

    reads = []

    def interrupted(paths, kind=None):
        source = sources.open_source(paths, kind)

        def read(index):
            reads.append(index)
            if reads.count(7) > (to == "parquet"):  # which reads the first samples twice
                raise KeyboardInterrupt
            return source.read(index)

        return dataclasses.replace(source, read=read)

    with monkeypatch.context() as patch:
        patch.setattr("jdali.cli._convert.open_source", interrupted)
        with pytest.raises(KeyboardInterrupt):
            convert(*arguments)
    done = {name for name in files(tmp_path / "out") if name.startswith("train")}
    assert 0 < len(done) < 4
    assert not any(name.endswith(".part") for name in done)
    before = {name: os.stat(tmp_path / "out" / name).st_mtime_ns for name in done}
    next_shard = sorted(files(tmp_path / "whole"))[len(done) + 1]
    (tmp_path / "out" / f"{next_shard}.part").write_bytes(b"as kill -9 leaves it")
    assert convert(*arguments) == 0
    assert files(tmp_path / "out") == files(tmp_path / "whole")
    assert before == {name: os.stat(tmp_path / "out" / name).st_mtime_ns for name in done}


def test_damaged_samples_are_named_and_left_out_only_if_asked(photos, tmp_path, capsys):
    folder, pictures = photos
    bad = folder / "cat" / "04.jpg"
    bad.write_bytes(pictures["cat/04"][:-100])
    assert convert(folder, tmp_path / "out") == 1
    assert f"{bad}: broken JPEG image: " in capsys.readouterr().err
    assert convert(folder, tmp_path / "other", "--skip-bad") == 1
    assert f"left out: {bad}: broken JPEG image" in capsys.readouterr().err
    assert [name for name, _ in tar_members(tmp_path / "other")][::2] == [
        f"{key}.jpg" for key in pictures if key != "cat/04"
    ]
    bad.write_bytes(pictures["cat/04"])
    assert convert(folder, tmp_path / "out") == 0
    assert len(tar_members(tmp_path / "out")) == 2 * COUNT


def test_left_out_samples_are_counted_and_printed_again(photos, tmp_path, capsys):
    folder, pictures = photos
    for key in ("cat/04", "dog/09"):
        (folder / f"{key}.jpg").write_bytes(pictures[key][:-100])
    arguments = ["convert", str(folder), str(tmp_path / "out"), "--samples-per-shard", "4"]
    assert main([*arguments, "--skip-bad"]) == 1
    first = capsys.readouterr()
    assert first.out == f"{tmp_path / 'out'}: {COUNT - 2} samples, 3 files\n"
    assert first.err.count("left out: ") == 2
    assert main([*arguments, "--skip-bad"]) == 1
    again = capsys.readouterr()
    assert again.out == first.out.replace("files", "files, 3 of them were there")
    assert again.err == first.err
    assert main(arguments) == 1
    message = (
        f"train-00000-of-00003.tar was written with --skip-bad and leaves out {folder / 'cat' / '04.jpg'}"
    )
    assert message in capsys.readouterr().err
    for key, data in pictures.items():
        (folder / f"{key}.jpg").write_bytes(data)
    for number in (0, 2):
        (tmp_path / "out" / f"train-0000{number}-of-00003.tar").unlink()
    assert main(arguments) == 0
    assert capsys.readouterr().out.endswith(f"{COUNT} samples, 3 files, 1 of them were there\n")
    assert "damaged" not in (tmp_path / "out" / "convert.json").read_text()


def test_a_run_that_a_damaged_sample_ended_continues_without_it(photos, tmp_path):
    folder, pictures = photos
    (folder / "cat" / "08.jpg").write_bytes(pictures["cat/08"][:-100])
    arguments = [folder, tmp_path / "out", "--samples-per-shard", 4]
    assert convert(*arguments) == 1
    assert (tmp_path / "out" / "train-00000-of-00003.tar").exists()
    assert convert(*arguments, "--skip-bad") == 1
    assert len(tar_members(tmp_path / "out")) == 2 * (COUNT - 1)


def test_errors_of_samples_are_recorded_before_their_shard_gets_its_name(
    photos, tmp_path, monkeypatch, capsys
):
    folder, pictures = photos
    (folder / "cat" / "04.jpg").write_bytes(pictures["cat/04"][:-100])
    replace, arguments = os.replace, [folder, tmp_path / "out", "--samples-per-shard", 4, "--skip-bad"]

    def killed(source, target):
        replace(source, target)
        if str(target).endswith("0-of-00003.tar"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            convert(*arguments)
    assert convert(*arguments) == 1
    assert "left out: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b.jpg", b"<html>not found</html>", "not an image of a known format: 22 bytes that begin with"),
        ("c.PNG", b"", "not an image of a known format: no data"),
        ("d.ppm", b"P6\n4 3\n255\n" + bytes(30), "broken PNM image"),
    ],
)
@pytest.mark.parametrize("kind", ["folders", "webdataset", "coco", "parquet"])
def test_what_has_the_name_of_a_picture_must_be_one(kind, name, content, message, tmp_path, capsys):
    if kind == "webdataset":
        source = tmp_path / "a.tar"
        records.tar(source, [(name, content)])
    elif kind == "parquet":  # as the Hugging Face Hub stores pictures
        source = tmp_path / "a.parquet"
        pq.write_table(pa.table({"image": [{"bytes": content, "path": name}]}), source)
    else:
        (tmp_path / "set" / "c").mkdir(parents=True)
        (tmp_path / "set" / "c" / name).write_bytes(content)
        source = tmp_path / "set"
    if kind == "coco":
        source = tmp_path / "set" / "a.json"
        source.write_text(json.dumps({"images": [{"id": 1, "file_name": f"c/{name}"}], "annotations": []}))
    assert convert(source, tmp_path / "out", "--from", kind) == 1
    assert message in (text := capsys.readouterr().err)
    place = {"webdataset": f"a.tar#{name.partition('.')[0]}", "parquet": "a.parquet, sample 0"}
    assert place.get(kind, name) in text


def test_files_keep_extensions_that_their_content_does_not_tell(tmp_path):
    (tmp_path / "set" / "c").mkdir(parents=True)
    contents = {
        "a.ppm": b"P6\n1 1\n255\nabc",
        "b.PGM": b"P5\n1 1\n255\na",
        "c.mp3": b"\xff\xfb\x90\x00" + bytes(60),
    }
    for name, content in contents.items():
        (tmp_path / "set" / "c" / name).write_bytes(content)
    assert convert(tmp_path / "set", tmp_path / "out") == 0
    found = [member for member in tar_members(tmp_path / "out") if not member[0].endswith("cls")]
    assert found == [(f"c/{name.lower()}", content) for name, content in contents.items()]
    assert convert(tmp_path / "out", tmp_path / "again") == 0
    assert tar_members(tmp_path / "again") == tar_members(tmp_path / "out")


@pytest.mark.parametrize("to", sorted(targets.TARGETS))
def test_names_that_are_not_utf8(to, tmp_path):
    folder = one_photo(tmp_path, pillow(image(20, 20), "jpeg"))
    (folder / "a" / "b.jpg").rename(os.fsdecode(bytes(folder) + b"/a/raw\xff.jpg"))
    assert convert(folder, tmp_path / "out", "--to", to) == 0
    if to == "webdataset":
        assert os.fsencode(tar_members(tmp_path / "out")[0][0]) == b"a/raw\xff.jpg"
    elif to == "parquet":
        (path,) = (tmp_path / "out").glob("*.parquet")
        assert pq.read_table(path).column("key").to_pylist() == ["a/raw\\xff"]
    else:
        assert b"a/raw\xff" in array_records(tmp_path / "out")[0]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"a/b": [b"1"], "a_b": [b"2"]}, "the fields 'a/b' and 'a_b' would both be 'a_b' in the archive"),
        (
            {"image/encoded": [pillow(image(8, 8), "jpeg")], "jpg": [b"hello"]},
            "the fields 'image/encoded' and 'jpg' would both be 'jpg' in the archive",
        ),
        ({"": [b"1"]}, "a field has an empty name"),
    ],
)
def test_fields_with_one_name_in_an_archive_are_refused(features, message, tmp_path, capsys):
    pytest.importorskip("crc32c")
    records.tfrecord(tmp_path / "a.tfrecord", [records.example(features)])
    assert convert(tmp_path / "a.tfrecord", tmp_path / "out") == 1
    assert f"a.tfrecord#record 0: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        ([b"7", b" 12\n", b"-3"], [7, 12, -3]),
        ([b"007", b"012"], [b"007", b"012"]),
        ([b"1_0", b"10"], [b"1_0", b"10"]),
    ],
)
def test_labels_become_numbers_if_nothing_is_lost(texts, values, tmp_path):
    records.tar(tmp_path / "a.tar", [(f"{i}.cls", text) for i, text in enumerate(texts)])
    assert convert(tmp_path / "a.tar", tmp_path / "out", "--to", "parquet") == 0
    (path,) = (tmp_path / "out").glob("*.parquet")
    assert pq.read_table(path).column("cls").to_pylist() == values


def test_values_without_a_common_type_are_an_error_of_their_field(tmp_path, capsys):
    pytest.importorskip("crc32c")
    examples = [records.example({"x": values}) for values in ([b"text"], [1])]
    records.tfrecord(tmp_path / "a.tfrecord", examples)
    assert convert(tmp_path / "a.tfrecord", tmp_path / "out", "--to", "parquet") == 1
    text = "the values of the field 'x' in the first 2 samples have no common type"
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(("first", "then"), [([1, 2], [2.0, 1.5]), ([[1], [2]], [[2.0], [2.5]])], ids=str)
def test_numbers_that_a_column_cannot_hold(first, then, tmp_path, capsys):
    for name, values in (("a", first), ("b", then)):
        pq.write_table(pa.table({"x": values}), tmp_path / f"{name}.parquet")
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert convert(*sources, tmp_path / "out", "--to", "parquet") == 1
    said = capsys.readouterr().err
    assert f"b.parquet, sample 3: the field 'x' has the value {then[1]}, which its column of" in said
    pq.write_table(pa.table({"x": then[:1]}), tmp_path / "b.parquet")
    assert convert(*sources, tmp_path / "other", "--to", "parquet") == 0


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_damaged_table_is_named(kind, tmp_path, capsys):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"neither" * 20)
    assert convert(path, tmp_path / "out") == 1
    assert f"convert: {path} is damaged, or of another format: " in capsys.readouterr().err


def test_another_database_in_the_same_place_is_refused(tmp_path, capsys):
    lmdb = pytest.importorskip("lmdb")
    for size in (10, 90_000):
        with (
            lmdb.open(str(tmp_path / "db"), map_size=1 << 26) as database,
            database.begin(write=True) as change,
        ):
            change.put(b"0", records.field(4, bytes(size)) + records.field(5, 1) + records.field(7, 1))
        assert convert(tmp_path / "db", tmp_path / "out", "--from", "caffe") == (size > 10)
    assert "holds another conversion (source differ)" in capsys.readouterr().err


def test_a_damaged_row_group_is_left_out(tmp_path, capsys):
    path = tmp_path / "a.parquet"
    rows = pa.table({"x": [b"%d" % i * 1000 for i in range(6)]})
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(rows, path, row_group_size=2, **options)
    path.write_bytes(path.read_bytes().replace(b"2" * 1000, b"2" * 999 + b"?"))
    assert convert(path, tmp_path / "out") == 1
    assert f"{path}, sample 2: its rows are damaged: " in capsys.readouterr().err
    assert convert(path, tmp_path / "other", "--skip-bad") == 1
    assert [content[:1] for _, content in tar_members(tmp_path / "other")] == [b"0", b"1", b"4", b"5"]


def test_what_was_written_is_read_back(photos, tmp_path, monkeypatch, capsys):
    close = targets.WebDataset.close

    def spoilt(self):
        close(self)
        path = Path(self._archive.name)
        data = bytearray(path.read_bytes())
        data[600] ^= 1
        path.write_bytes(data)

    monkeypatch.setattr(targets.WebDataset, "close", spoilt)
    assert convert(photos[0], tmp_path / "out") == 1
    assert "what was written of" in capsys.readouterr().err
    assert list(files(tmp_path / "out")) == ["convert.json"]


def test_a_folder_with_something_else_is_refused(photos, tmp_path, capsys):
    folder, _ = photos
    assert convert(folder, folder) == 1
    assert "is not empty, and holds no conversion to continue" in capsys.readouterr().err
    assert convert(folder, "s3://bucket/shards") == 1
    assert "s3://bucket/shards is a URL; shards are written to a local folder" in capsys.readouterr().err
    assert convert(folder, tmp_path / "out", "--samples-per-shard", 4) == 0
    assert convert(folder, tmp_path / "out", "--samples-per-shard", 5) == 1
    assert "holds another conversion (samples_per_shard differ)" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["parquet", "arrow", "recordio"])
def test_another_source_with_as_many_samples_is_refused(kind, tmp_path, capsys):
    sources = [tmp_path / f"{name}.{'rec' if kind == 'recordio' else kind}" for name in "ab"]
    for i, path in enumerate(sources):
        table = pa.table({"x": [i, i]})
        if kind == "parquet":
            pq.write_table(table, path)
        elif kind == "arrow":
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        else:
            records.recordio(path, [records.image_record(b"x", [float(i)])])
    assert convert(sources[0], tmp_path / "out") == 0
    assert convert(sources[1], tmp_path / "out") == 1
    assert "holds another conversion (source differ)" in capsys.readouterr().err
    if kind == "recordio":
        records.recordio(sources[0], [records.image_record(b"longer", [0.0])])
        assert convert(sources[0], tmp_path / "out") == 1


@pytest.mark.parametrize("content", [b"null", b"[]", b"", b"\xff\xfe", b'{"damaged": 3}'])
def test_a_damaged_record_of_the_conversion_is_named(content, photos, tmp_path, capsys):
    plan = tmp_path / "out" / "convert.json"
    assert convert(photos[0], tmp_path / "out") == 0
    plan.write_bytes(content)
    assert convert(photos[0], tmp_path / "out") == 1
    assert f"{plan} is damaged, so the conversion cannot continue" in capsys.readouterr().err
    (tmp_path / "out" / "train-00000-of-00001.tar").unlink()
    assert convert(photos[0], tmp_path / "out") == 0


def test_an_archive_of_class_folders(photos, tmp_path):
    folder, pictures = photos
    archive = shutil.make_archive(str(tmp_path / "photos"), "zip", folder)
    assert convert(f"zip://::{archive}", tmp_path / "out", "--from", "folders") == 0
    assert tar_members(tmp_path / "out")[::2] == [(f"{key}.jpg", data) for key, data in pictures.items()]


def test_a_folder_without_shards_is_free(photos, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "convert.json.part").write_bytes(b"{")  # as kill -9 leaves it
    assert convert(photos[0], tmp_path / "out") == 0
    (tmp_path / "out" / "train-00000-of-00001.tar").unlink()
    assert convert(photos[0], tmp_path / "out", "--samples-per-shard", 4) == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--name", "../evil", "'../evil' must be a word of a file's name"),
        ("--quality", "x", "'x' is not a whole number"),
    ],
)
def test_options_that_are_refused(option, value, message, photos, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        convert(photos[0], tmp_path / "out", option, value)
    assert f"argument {option}: {message}" in capsys.readouterr().err


def test_pictures_are_shrunk_and_encoded(photos, tmp_path):
    folder, pictures = photos
    assert convert(folder, tmp_path / "out", "--max-size", 48, "--quality", 70) == 0
    made = [content for name, content in tar_members(tmp_path / "out") if name.endswith("jpg")]
    for data, before in zip(made, pictures.values(), strict=True):
        old, new = (np.asarray(Image.open(io.BytesIO(one)), np.int32) for one in (before, data))
        height, width = old.shape[:2]
        assert (
            new.shape[:2] == (round(height * 48 / width), 48)
            if width >= height
            else (48, round(width * 48 / height))
        )
        resized = Image.fromarray(old.astype(np.uint8)).resize(new.shape[1::-1], Image.Resampling.LANCZOS)
        assert np.abs(new - np.asarray(resized)).mean() < 12  # the quality asked for


def stand_in(tmp_path, monkeypatch, answer):
    """Puts a program named jpegtran in the way that gives a file whatever it reads."""
    restart_markers.transform.cache_clear()
    (tmp_path / "answer.jpg").write_bytes(answer)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "jpegtran"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\nexec cat '{tmp_path / 'answer.jpg'}'\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(restart_markers.ctypes.util, "find_library", lambda name: None)
    monkeypatch.setattr(restart_markers, "_PACKAGES", ())


def one_photo(tmp_path, data):
    (tmp_path / "set" / "a").mkdir(parents=True)
    (tmp_path / "set" / "a" / "b.jpg").write_bytes(data)
    return tmp_path / "set"


def test_windows_by_jpegtran(tmp_path, monkeypatch, capsys):
    """The encoder gives the same coefficients with markers as without them."""
    picture = noise(64, 160, 3)
    plain, marked = (pillow(picture, "jpeg", restart_marker_blocks=n) for n in (0, 10))
    folder = one_photo(tmp_path, plain)
    stand_in(tmp_path, monkeypatch, marked)
    assert convert(folder, tmp_path / "out", "--windows") == 0
    assert tar_members(tmp_path / "out")[0] == ("a/b.jpg", marked)
    (tmp_path / "answer.jpg").write_bytes(pillow(picture, "jpeg", restart_marker_blocks=10, quality=30))
    assert convert(folder, tmp_path / "other", "--windows") == 1
    assert "the pixels of a picture changed" in capsys.readouterr().err
    shutil.copyfile(tmp_path / "answer.jpg", folder / "a" / "b.jpg")
    assert convert(folder, tmp_path / "third", "--windows") == 0  # it has markers, so it stays as it is
    restart_markers.transform.cache_clear()


def test_windows_without_any_tool(tmp_path, monkeypatch, capsys):
    stand_in(tmp_path, monkeypatch, b"")
    monkeypatch.setenv("PATH", "")
    assert convert(one_photo(tmp_path, pillow(image(20, 20), "jpeg")), tmp_path / "out", "--windows") == 1
    assert "--windows needs TurboJPEG 3" in capsys.readouterr().err
    restart_markers.transform.cache_clear()


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"subsampling": 0}, {"subsampling": 1}], ids=str
)
def test_windows_by_what_is_installed(options):
    restart_markers.transform.cache_clear()
    try:
        restart_markers.transform()
    except ImportError as error:
        pytest.skip(str(error))
    for picture in (image(75, 200), image(75, 200, None)):
        data = pillow(picture, "jpeg", **options)
        marked = restart_markers.with_markers(data)
        assert codec.probe(marked).detail.coded.interval
        np.testing.assert_array_equal(Image.open(io.BytesIO(marked)), Image.open(io.BytesIO(data)))


def test_intervals_divide_rows():
    """By counting: the divisor whose ratio to 8 is nearest to one."""
    for across in range(1, 200):
        found = restart_markers.interval_of(across)
        assert across % found == 0
        ratio = abs(np.log(found / 8))
        assert all(abs(np.log(n / 8)) >= ratio - 1e-12 for n in range(1, across + 1) if across % n == 0)


def test_samples_with_one_key_stay_apart(tmp_path):
    path = tmp_path / "a.tar"
    records.tar(path, [("0.txt", b"one"), ("1.txt", b"two")])
    assert convert(path, path, tmp_path / "out") == 0
    names = [name for name, _ in tar_members(tmp_path / "out")]
    assert names == ["0.txt", "1.txt", "0.txt", "1.txt"]
    records.tar(tmp_path / "b.tar", [("0.txt", b"one")])
    assert convert(tmp_path / "b.tar", tmp_path / "b.tar", tmp_path / "twice") == 0
    first, second = (name for name, _ in tar_members(tmp_path / "twice"))
    assert first.partition(".")[0] != second.partition(".")[0]


def test_a_set_that_is_not_known(tmp_path, capsys):
    (tmp_path / "a.xyz").write_bytes(b"?")
    assert convert(tmp_path / "a.xyz", tmp_path / "out") == 1
    assert "it is not known what" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# --- boxes, texts with sounds, videos -----------------------------------------------------------
@pytest.fixture
def coco(tmp_path):
    """Three pictures of COCO with boxes, polygons and a run-length mask; the last one has nothing."""
    (tmp_path / "images").mkdir()
    for i in range(3):
        (tmp_path / "images" / f"{i:03}.png").write_bytes(pillow(image(20 + i, 30), "png"))
    mask = {"counts": "0n0", "size": [20, 30]}
    objects = [
        {"image_id": 7, "category_id": 3, "bbox": [1, 2, 3.5, 4], "area": 14, "iscrowd": 0, "id": 1,
         "segmentation": [[1, 2, 4, 2, 4, 6]]},
        {"image_id": 8, "category_id": 9, "bbox": [0, 0, 2, 2], "id": 2, "iscrowd": 1, "segmentation": mask},
        {"image_id": 7, "category_id": 9, "bbox": [5, 5, 1, 1], "id": 3},
    ]  # fmt: skip
    found = {
        "images": [
            {"id": 7 + i, "file_name": f"{i:03}.png", "height": 20 + i, "width": 30} for i in range(3)
        ],
        "annotations": objects,
        "categories": [{"id": 3, "name": "cat"}, {"id": 9, "name": "dog"}],
    }
    (tmp_path / "instances.json").write_text(json.dumps(found))
    return tmp_path


def test_coco_to_webdataset(coco, tmp_path):
    assert convert(coco / "images", coco / "instances.json", tmp_path / "out", "--from", "coco") == 0
    found = dict(tar_members(tmp_path / "out"))
    assert [name for name in found if name.endswith("png")] == ["000.png", "001.png", "002.png"]
    assert found["001.png"] == (coco / "images" / "001.png").read_bytes()
    facts = json.loads(found["000.json"])
    assert facts["boxes"] == [[1, 2, 3.5, 4], [5, 5, 1, 1]]
    assert (facts["image_id"], facts["labels"], facts["categories"]) == (7, [3, 9], ["cat", "dog"])
    assert json.loads(facts["segmentation"][0]) == [[1, 2, 4, 2, 4, 6]]
    assert json.loads(json.loads(found["001.json"])["segmentation"][0])["size"] == [20, 30]
    assert json.loads(found["002.json"])["boxes"] == []


def test_coco_to_parquet_is_read_as_boxes(coco, tmp_path):
    assert (
        convert(
            coco / "images", coco / "instances.json", tmp_path / "out", "--from", "coco", "--to", "parquet"
        )
        == 0
    )

    @jdali.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def rows():
        paths = [str(path) for path in (tmp_path / "out").glob("*.parquet")]
        return tuple(fn.readers.parquet(paths=paths, columns=["image", "boxes", "labels"]))

    with rows() as pipe:
        _, boxes, labels = pipe.run()
    np.testing.assert_array_equal(boxes.at(0), [[1, 2, 3.5, 4], [5, 5, 1, 1]])
    assert labels.at(1).tolist() == [9]


def test_coco_beside_its_annotations(coco, tmp_path):
    annotations = coco / "images" / "instances.json"
    annotations.write_bytes((coco / "instances.json").read_bytes())
    assert convert(annotations, tmp_path / "out", "--from", "coco") == 0
    found = dict(tar_members(tmp_path / "out"))
    assert found["002.png"] == (coco / "images" / "002.png").read_bytes()


def test_coco_that_is_not_whole(coco, tmp_path, capsys):
    assert convert(coco / "images", tmp_path / "out", "--from", "coco") == 1
    assert "the annotations, a .json file, and the folder" in capsys.readouterr().err
    assert convert(coco / "instances.json", tmp_path / "out", "--from", "coco") == 1  # no pictures beside it
    assert "000.png" in capsys.readouterr().err


def test_a_picture_of_coco_that_is_missing(coco, tmp_path, capsys):
    (coco / "images" / "001.png").unlink()
    arguments = [coco / "images", coco / "instances.json", tmp_path / "out", "--from", "coco", "--skip-bad"]
    assert convert(*arguments) == 1
    assert f"left out: {coco}/images/001.png: cannot read" in capsys.readouterr().err
    assert [name for name, _ in tar_members(tmp_path / "out")][::2] == ["000.png", "002.png"]


def test_coco_as_pandas_writes_it(coco, tmp_path):
    text = (coco / "instances.json").read_text()
    for whole in ("7", "8", "9", "3", "1"):
        text = re.sub(rf'("(?:id|image_id|category_id|iscrowd)": {whole})\b', r"\1.0", text)
    text = text.replace('"area": 14', '"area": NaN')
    (coco / "instances.json").write_text(text)
    assert convert(coco / "images", coco / "instances.json", tmp_path / "out", "--from", "coco") == 0
    found = dict(tar_members(tmp_path / "out"))
    facts = json.loads(found["000.json"])
    assert str(facts["image_id"]) == "7"
    assert str([facts["labels"], facts["area"], facts["iscrowd"]]) == "[[3, 9], [nan, 0.0], [0, 0]]"
    assert json.loads(found["001.json"])["categories"] == ["dog"]
    (coco / "instances.json").write_text(text.replace('"image_id": 7.0', '"image_id": 7.5'))
    assert convert(coco / "images", coco / "instances.json", tmp_path / "bad", "--from", "coco") == 1


@pytest.mark.parametrize("skips", [[], ["--skip-bad"]], ids=["raise", "skip"])
def test_names_of_coco_do_not_leave_the_folder(coco, tmp_path, capsys, skips):
    (coco / "secret.png").write_bytes((coco / "images" / "000.png").read_bytes())
    text = (coco / "instances.json").read_text()
    (coco / "images" / "bad.json").write_text(text.replace("001.png", "../secret.png"))
    assert convert(coco / "images" / "bad.json", tmp_path / "out", "--from", "coco", *skips) == 1
    assert "bad.json: image 8: '../secret.png' has \"..\" in it" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nemo_manifests(tmp_path):
    wave = (np.sin(np.arange(8000) / 9) * 9000).astype(np.int16)
    soundfile.write(tmp_path / "a.wav", wave, 8000)
    lines = [
        {"audio_filepath": "a.wav", "duration": 1.0, "text": "all of it"},
        {"audio_filepath": "a.wav", "offset": 0.25, "duration": 0.5, "text": "a part"},
        {"audio_filepath": "a.wav", "offset": -1.0, "duration": -1.0},  # which is all of it
    ]
    (tmp_path / "manifest.json").write_text("\n".join(map(json.dumps, lines)))
    assert convert(tmp_path / "manifest.json", tmp_path / "out", "--from", "nemo") == 0
    found = dict(tar_members(tmp_path / "out"))
    assert sorted(name for name in found if not name.endswith("json")) == [
        "000000000.wav", "000000001.flac", "000000002.wav",
    ]  # fmt: skip
    assert found["000000000.wav"] == found["000000002.wav"] == (tmp_path / "a.wav").read_bytes()
    part, rate = soundfile.read(io.BytesIO(found["000000001.flac"]), dtype="int16")
    np.testing.assert_array_equal(part, wave[2000:6000])
    assert rate == 8000
    assert json.loads(found["000000001.json"]) == {"text": "a part", "duration": 0.5}
    assert json.loads(found["000000002.json"]) == {"text": "", "duration": 1.0}
    assert convert(tmp_path / "manifest.json", tmp_path / "table", "--from", "nemo", "--to", "parquet") == 0
    (table,) = [pq.read_table(path) for path in (tmp_path / "table").glob("*.parquet")]
    assert table.column("text").to_pylist() == ["all of it", "a part", ""]


def test_a_sound_of_a_manifest_that_is_missing(tmp_path, capsys):
    soundfile.write(tmp_path / "a.wav", np.zeros(80, np.int16), 8000)
    lines = [{"audio_filepath": name} for name in ("none.wav", "a.wav")]
    (tmp_path / "manifest.json").write_text("\n".join(map(json.dumps, lines)))
    assert convert(tmp_path / "manifest.json", tmp_path / "out", "--from", "nemo", "--skip-bad") == 1
    assert "left out: none.wav, line 1 of" in capsys.readouterr().err
    assert [name for name, _ in tar_members(tmp_path / "out")] == ["000000001.wav", "000000001.json"]


def test_a_part_that_flac_cannot_store_is_a_bad_sample(tmp_path, capsys):
    soundfile.write(tmp_path / "a.wav", np.zeros((80, 9), np.int16), 8000)
    line = {"audio_filepath": "a.wav", "offset": 0.005, "text": "nine channels"}
    (tmp_path / "manifest.json").write_text(json.dumps(line))
    assert convert(tmp_path / "manifest.json", tmp_path / "out", "--from", "nemo") == 1
    assert "line 1 of" in (text := capsys.readouterr().err)
    assert "FLAC cannot store 9 channels at 8000 Hz" in text


def test_videos_in_class_folders(tmp_path):
    av()
    (tmp_path / "videos" / "run").mkdir(parents=True)
    clip = encode(pictures(3), "libvpx-vp9", "webm")
    (tmp_path / "videos" / "run" / "x.webm").write_bytes(clip)
    assert convert(tmp_path / "videos", tmp_path / "out") == 0
    assert tar_members(tmp_path / "out") == [("run/x.webm", clip), ("run/x.cls", b"0")]


def test_an_error_names_the_command_once(tmp_path, capsys):
    assert main(["convert", str(tmp_path / "nowhere.tar"), str(tmp_path / "target")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("convert: cannot read ")
    assert said.count("convert: ") == 1
