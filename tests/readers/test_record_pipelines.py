"""Pipelines over each reader of records: outputs, names, damaged samples."""

import functools

import numpy as np
import pytest
from support import records
from support.every_reader import picture

import jdali
from jdali import fn, pipeline_def, tfrecord

COUNT = 10


@pytest.fixture
def sources(tmp_path):
    """For each reader: a function that adds it to a pipeline and returns (images, labels); its data file; where
    in it the head of record 2 is."""
    pictures = [picture(i) for i in range(COUNT)]
    examples = [records.example({"image": [p], "label": [i]}) for i, p in enumerate(pictures)]
    spans = records.tfrecord(tmp_path / "data.tf", examples)
    index = records.index(tmp_path / "data.tfidx", spans)
    offsets = records.recordio(
        tmp_path / "data.rec", [records.image_record(p, [i]) for i, p in enumerate(pictures)]
    )
    rec_index = records.index(tmp_path / "data.recidx", enumerate(offsets))
    members = [
        (f"{i:03}.{e}", c) for i, p in enumerate(pictures) for e, c in (("png", p), ("cls", bytes([i])))
    ]
    tar_offsets = records.tar(tmp_path / "data.tar", members)
    rows = [
        ["png", tar_offsets[2 * i], len(p), "x", "cls", tar_offsets[2 * i + 1], 1, "x"]
        for i, p in enumerate(pictures)
    ]
    tar_index = records.index(tmp_path / "data.taridx", [["v1.2", COUNT], *rows])
    features = {
        "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }

    def read_tfrecord(**options):
        outputs = fn.readers.tfrecord(
            path=str(tmp_path / "data.tf"), index_path=index, features=features, **options
        )
        assert list(outputs) == ["image", "label"]
        return outputs["image"], outputs["label"]

    result = {
        "tfrecord": (read_tfrecord, tmp_path / "data.tf", spans[2][0]),
        "mxnet": (
            lambda **o: fn.readers.mxnet(path=str(tmp_path / "data.rec"), index_path=rec_index, **o), tmp_path / "data.rec",
            offsets[2],
        ),
        "webdataset": (
            lambda **o: fn.readers.webdataset(
                paths=str(tmp_path / "data.tar"), index_paths=tar_index, ext=["png", "cls"], **o
            ),
            tmp_path / "data.tar",
            tar_offsets[4] - 512 + 124,
        ),
    }  # fmt: skip
    lmdb = pytest.importorskip("lmdb")
    field = records.field
    string = [field(1, field(2, 4) + field(6, p)) for p in pictures]
    for name, values in (
        ("caffe", [field(4, p) + field(5, i) + field(7, 1) for i, p in enumerate(pictures)]),
        ("caffe2", [string[i] + field(1, field(2, 2) + field(4, bytes([i]))) for i in range(COUNT)]),
    ):
        with lmdb.open(str(tmp_path / name), lock=False) as database, database.begin(write=True) as change:
            for i, value in enumerate(values):
                change.put(b"%03d" % i, value)
        reader = functools.partial(getattr(fn.readers, name), path=str(tmp_path / name))
        result[name] = (reader, tmp_path / name / "data.mdb", None)
    return result


@pytest.fixture
def build():
    """Makes pipelines, which are closed when the test ends."""
    made = []

    def make(source, reader=None, **options):
        @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3, **options)
        def pipeline():
            images, labels = source(name="r", **(reader or {}))
            return fn.decoders.image(images), labels

        made.append(pipeline())
        return made[-1]

    yield make
    for pipe in made:
        pipe.close()


def run(pipe, batches):
    """(value of the picture's pixels, label) of the samples of some batches."""
    out = []
    for _ in range(batches):
        images, labels = pipe.run()
        for i in range(len(images)):
            image = np.asarray(images.at(i))
            assert image.shape == (4, 5, 3)
            assert image.min() == image.max()
            out.append((int(image[0, 0, 0]), int(np.asarray(labels.at(i))[0])))
    return out


READERS = ["tfrecord", "mxnet", "caffe", "caffe2", "webdataset"]


@pytest.mark.parametrize("name", READERS)
def test_epoch(sources, build, name):
    pipe = build(sources[name][0])
    assert run(pipe, 3) == [(20 * (i % COUNT), i % COUNT) for i in range(12)]
    assert pipe.reader_meta("r")["epoch_size"] == COUNT


@pytest.mark.parametrize("name", ["tfrecord", "mxnet", "webdataset"])
def test_a_damaged_sample_is_named_or_skipped(sources, build, name):
    source, path, head = sources[name]
    data = bytearray(path.read_bytes())
    data[head : head + 8] = b"\xff" * 8
    path.write_bytes(data)
    with pytest.raises(jdali.OperatorError, match=rf"readers.{name}: .*{path.name}#\w+ 2"):
        run(build(source), 1)
    pipe = build(source, on_error="skip")
    assert [label for _, label in run(pipe, 2)] == [0, 1, 3, 3, 4, 5, 6, 7]
    # The next epoch may be on its way already.
    assert {skipped.operator for skipped in pipe.errors} == {f"readers.{name}"}


# --- without an index -------------------------------------------------------------------------
def write_tfrecord(path, labels):
    return [at for at, _ in records.tfrecord(path, [records.example({"label": [i]}) for i in labels])]


def write_recordio(path, labels):
    return records.recordio(path, [records.image_record(bytes([i]) * 20, [i]) for i in labels])


def write_tar(path, labels):
    members = [(f"{i}.{extension}", bytes([i])) for i in labels for extension in ("cls", "jpg")]
    return [at - 512 for at in records.tar(path, members)[::2]]


LABEL = {"label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
SCANNED = {
    "tfrecord": (write_tfrecord, lambda paths: fn.readers.tfrecord(path=paths, features=LABEL)["label"]),
    "mxnet": (write_recordio, lambda paths: fn.readers.mxnet(path=paths)[1]),
    "webdataset": (
        write_tar,
        lambda paths: fn.readers.webdataset(
            paths=paths, ext=["cls", "jpg"], missing_component_behavior="error"
        )[0],
    ),
}
# How the first of two files is damaged; of an archive, sample 4 is cut after its first part.
DAMAGES = {
    "cut": lambda data, start: data[: start + (1030 if len(data) > 5000 else 7)],
    "damaged head": lambda data, start: data[:start] + b"\xff" * 12 + data[start + 12 :],
    "nothing good": lambda data, start: b"\x01\xff" + data[2:],
}


def of_damaged_file(tmp_path, kind, damage, on_error):
    write, reader = SCANNED[kind]
    paths = [tmp_path / str(file) for file in range(2)]
    starts = write(paths[0], range(COUNT))
    write(paths[1], range(100, 100 + COUNT))
    paths[0].write_bytes(DAMAGES[damage](paths[0].read_bytes(), starts[4]))
    pipe = jdali.Pipeline(batch_size=4, num_threads=2, device_id=None, on_error=on_error)
    with pipe:
        pipe.set_outputs(reader([str(path) for path in paths]))
    return pipe


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", SCANNED)
def test_a_file_that_nobody_can_look_through_is_refused(tmp_path, kind, damage):
    with pytest.raises(jdali.OperatorError) as caught:
        of_damaged_file(tmp_path, kind, damage, "raise").build()
    assert f"readers.{kind}: {tmp_path / '0'}" in str(caught.value)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", SCANNED)
def test_what_is_good_of_a_file_that_nobody_can_look_through(tmp_path, kind, damage):
    pipe = of_damaged_file(tmp_path, kind, damage, "skip")
    kept = 0 if damage == "nothing good" else 4
    if (kind, damage) == ("webdataset", "damaged head"):
        kept = 3  # whether sample 3 has further parts is not known
    labels = [int(label) for _ in range(8) for label in pipe.run()[0].as_numpy().ravel()]
    assert set(labels) == {*range(kept), *range(100, 100 + COUNT)}
    assert labels[: kept - kept % 4] == list(range(kept - kept % 4))
    assert pipe.epoch_size(pipe.reader_meta().popitem()[0]) == kept + 1 + COUNT
    skipped = pipe.errors[0]
    assert skipped.path == f"{tmp_path / '0'}#{'sample' if kind == 'webdataset' else 'record'} {kept}"
    assert "reach past" not in skipped.reason  # it says what is wrong there
    assert " byte " in skipped.reason or "not a tar archive" in skipped.reason
    pipe.close()
