"""Readers of record formats, with the indexes that DALI's tools write."""

from subprocess import run

import nvidia.dali.fn as fn
import nvidia.dali.tfrecord as tfrec
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from support.target import MIXED, device_id, keep

run(["tfrecord2idx", "records/train.tfrecord", "records/train.tfrecord.idx"], check=True)
run(["wds2idx", "records/train.tar", "records/train.tar.idx"], check=True)


def prepared(encoded):
    image = fn.decoders.image(encoded, device=MIXED, output_type=types.RGB)
    return fn.crop_mirror_normalize(
        image, dtype=types.FLOAT, crop=(32, 40), mean=[0.0, 0.0, 0.0], std=[1.0, 1.0, 1.0]
    )


@pipeline_def(batch_size=3, num_threads=2, device_id=device_id)
def mxnet():
    encoded, label = fn.readers.mxnet(
        path=["records/train.rec"], index_path=["records/train.idx"], num_shards=2, shard_id=1
    )
    return prepared(encoded), label


@pipeline_def(batch_size=3, num_threads=2, device_id=device_id)
def tfrecord():
    found = fn.readers.tfrecord(
        path="records/train.tfrecord",
        index_path="records/train.tfrecord.idx",
        features={
            "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
            "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
            "image/class/text": tfrec.FixedLenFeature([], tfrec.string, ""),
            "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
        },
    )
    rest = ("image/class/label", "image/class/text", "image/object/bbox/xmin")
    return prepared(found["image/encoded"]), *[found[name] for name in rest]


@pipeline_def(batch_size=3, num_threads=2, device_id=device_id)
def webdataset():
    encoded, label = fn.readers.webdataset(
        paths="records/train.tar",
        index_paths="records/train.tar.idx",
        ext=["jpg;png", "cls"],
        missing_component_behavior="error",
    )
    return prepared(encoded), label


@pipeline_def(batch_size=3, num_threads=2, device_id=device_id)
def caffe2():
    encoded, label = fn.readers.caffe2(path="mnist", name="mnist")
    return fn.decoders.image(encoded, device=MIXED, output_type=types.GRAY), label


for name, definition in {
    "mxnet": mxnet,
    "tfrecord": tfrecord,
    "webdataset": webdataset,
    "caffe2": caffe2,
}.items():
    pipe = definition()
    pipe.build()
    keep(**{f"{name}{i}": output for i, output in enumerate(pipe.run())})
