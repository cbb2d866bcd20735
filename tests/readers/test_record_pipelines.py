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
    places = records.tfrecord(tmp_path / "data.tf", examples)
    index = records.index(tmp_path / "data.tfidx", places)
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
        "tfrecord": (read_tfrecord, tmp_path / "data.tf", places[2][0]),
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
    assert [label for _, label in run(pipe, 2)] == [0, 1, 4, 3, 5, 6, 7, 8]
    # The next epoch may be on its way already.
    assert {skipped.operator for skipped in pipe.errors} == {f"readers.{name}"}
