"""A small data set for each reader, of eight samples that all differ, and the arguments that read it.

    python -m support.every_reader < CASES

goes on from states in a process of its own, see `resumed`.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import sys
import wave
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jdali
from jdali import fn, tfrecord
from jdali._storage import files as _storage
from support import records, robots
from support.videos import av, encode, pictures

COUNT = 8

Arguments = Callable[[str], dict[str, Any]]
"""Arguments of a reader, from the path or the URL of the folder that `made` was given."""

_FEATURES = {
    "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
    "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
}


def picture(number: int) -> bytes:
    """A PNG file of 4 x 5 pixels, all of one grey."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    out = io.BytesIO()
    image.fromarray(np.full((4, 5, 3), 20 * number, np.uint8)).save(out, "png")
    return out.getvalue()


def _pictures(folder: Path) -> list[bytes]:
    """Pictures, also as files a/0.png to a/7.png."""
    (folder / "a").mkdir()
    content = [picture(i) for i in range(COUNT)]
    for i, one in enumerate(content):
        (folder / "a" / f"{i}.png").write_bytes(one)
    return content


def _file(folder: Path) -> Arguments:
    _pictures(folder)
    return lambda at: {"file_root": at}


def _file_list(folder: Path) -> Arguments:
    _pictures(folder)
    records.index(folder / "list.txt", [(f"a/{i}.png", 10 + i) for i in range(COUNT)])
    return lambda at: {"file_list": f"{at}/list.txt"}


def _coco(folder: Path) -> Arguments:
    _pictures(folder)
    data = {
        "images": [
            {"id": 100 - i, "file_name": f"a/{i}.png", "width": 5, "height": 4} for i in range(COUNT)
        ],
        "annotations": [
            {"image_id": 100 - i, "category_id": 1, "bbox": [0, 0, 1, 1 + i],
             "segmentation": [[0, 0, 0, 1 + i, 1, 1]]} for i in range(COUNT)
        ],
        "categories": [{"id": 1}],
    }  # fmt: skip
    (folder / "objects.json").write_text(json.dumps(data))
    return lambda at: {
        "file_root": at, "annotations_file": f"{at}/objects.json", "image_ids": True, "polygon_masks": True,
    }  # fmt: skip


def _coco_preprocessed(folder: Path) -> Arguments:
    from support.readers import opened

    args = _coco(folder)(str(folder))
    saved = folder / "saved"
    saved.mkdir()
    opened(
        "coco", **args, save_preprocessed_annotations=True, save_preprocessed_annotations_dir=str(saved)
    ).close()
    return lambda at: {
        "file_root": at, "preprocessed_annotations": f"{at}/saved", "image_ids": True, "polygon_masks": True,
    }  # fmt: skip


def _tfrecord(folder: Path) -> Arguments:
    content = _pictures(folder)
    for number, part in enumerate((range(3), range(3, COUNT))):
        examples = [records.example({"image": [content[i]], "label": [i]}) for i in part]
        spans = records.tfrecord(folder / f"{number}.tfrecord", examples)
        records.index(folder / f"{number}.idx", spans)
    return lambda at: {
        "path": [f"{at}/0.tfrecord", f"{at}/1.tfrecord"], "index_path": [f"{at}/0.idx", f"{at}/1.idx"],
        "features": _FEATURES,
    }  # fmt: skip


def _mxnet(folder: Path) -> Arguments:
    images = [records.image_record(one, [i]) for i, one in enumerate(_pictures(folder))]
    records.index(folder / "data.idx", enumerate(records.recordio(folder / "data.rec", images)))
    return lambda at: {"path": [f"{at}/data.rec"], "index_path": [f"{at}/data.idx"]}


def _webdataset(folder: Path) -> Arguments:
    content = _pictures(folder)
    members = [(f"{i}.{e}", c) for i, one in enumerate(content) for e, c in (("png", one), ("n", bytes([i])))]
    offsets = iter(records.tar(folder / "data.tar", members))
    rows = [["png", next(offsets), len(one), f"{i}.png", "n", next(offsets), 1, f"{i}.n"]
            for i, one in enumerate(content)]  # fmt: skip
    records.index(folder / "data.idx", [["v1.2", COUNT], *rows])
    return lambda at: {"paths": [f"{at}/data.tar"], "index_paths": [f"{at}/data.idx"], "ext": ["png", "n"]}


def array_record(path: Path, content: Sequence[bytes], options: str) -> str:
    """Writes an ArrayRecord file with the format's own library."""
    module = pytest.importorskip(
        "array_record.python.array_record_module", reason="array_record is not installed"
    )
    writer = module.ArrayRecordWriter(str(path), options)
    for record in content:
        writer.write(record)
    writer.close()
    return str(path)


def _array_record(folder: Path) -> Arguments:
    content = _pictures(folder)
    array_record(folder / "0.array_record", content[:3], "group_size:1,uncompressed")
    array_record(folder / "1.array_record", content[3:], "group_size:1")
    return lambda at: {"paths": [f"{at}/0.array_record", f"{at}/1.array_record"]}


def _array_record_groups(folder: Path) -> Arguments:
    content = _pictures(folder)
    array_record(folder / "0.array_record", content[:3], "group_size:2,brotli")
    array_record(folder / "1.array_record", content[3:], "group_size:2")
    return lambda at: {"paths": [f"{at}/0.array_record", f"{at}/1.array_record"]}


def tfds_folder(folder: Path, form: str, content: Sequence[bytes]) -> None:
    """Writes a data set of TensorFlow Datasets, of two files and with the descriptions that its library writes."""
    kind = "tensorflow_datasets.core.features."
    tensor = {"pythonClassName": f"{kind}tensor_feature.Tensor"}
    boxes = {
        "boundingBox": {"dtype": "float32", "shape": {"dimensions": ["4"]}, "bboxFormat": "REL_YXYX"},
        "pythonClassName": f"{kind}bounding_boxes.BBoxFeature",
    }
    image = {"dtype": "uint8", "shape": {"dimensions": ["-1", "-1", "3"]}, "encodingFormat": "png"}
    label = {"classLabel": {"numClasses": "2"}, "pythonClassName": f"{kind}class_label_feature.ClassLabel"}
    sequence = {"sequence": {"length": "-1"}, "pythonClassName": f"{kind}sequence_feature.Sequence"}
    features: dict[str, Any] = {
        "image": {"image": image, "pythonClassName": f"{kind}image_feature.Image"},
        "label": label,
        "text": {"text": {}, "pythonClassName": f"{kind}text_feature.Text"},
        "small": tensor | {"tensor": {"dtype": "uint8", "shape": {"dimensions": ["2"]}, "encoding": "none"}},
        "packed": tensor | {"tensor": {"dtype": "int16", "shape": {"dimensions": ["-1", "2"]}, "encoding": "zlib"}},
        "objects": sequence | {"sequence": {"length": "-1", "feature": {"featuresDict": {"features": {
            "bbox": boxes, "label": label, "name": {"text": {}},
        }}}}},
    }  # fmt: skip
    info = {
        "name": "set", "version": "1.0.0", "fileFormat": form, "splits": [{
            "name": "train", "numBytes": "0", "shardLengths": ["3", str(len(content) - 3)],
            "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        }],
    }  # fmt: skip
    (folder / "dataset_info.json").write_text(json.dumps(info))
    tree = {"featuresDict": {"features": features}, "pythonClassName": f"{kind}features_dict.FeaturesDict"}
    (folder / "features.json").write_text(json.dumps(tree))
    (folder / "label.labels.txt").write_text("cat\ndog\n")
    (folder / "objects-label.labels.txt").write_text("ear\nnose\n")
    examples = [
        records.example({
            "image": [one], "label": [i % 2], "text": [f"picture {i}".encode()], "small": [i, 255],
            "packed": [zlib.compress(np.full((i, 2), -i, np.int16).tobytes())],
            "objects/bbox": [0.0, 0.25, 0.5, float(i)] * (i % 3), "objects/label": [1] * (i % 3),
            "objects/name": [b"a"] * (i % 3),
        })
        for i, one in enumerate(content)
    ]  # fmt: skip
    for number, part in enumerate((examples[:3], examples[3:])):
        path = folder / f"set-train.{form}-0000{number}-of-00002"
        if form == "tfrecord":
            records.tfrecord(path, part)
        elif form == "array_record":
            array_record(path, part, "group_size:1,uncompressed" if number else "group_size:1")
        else:
            pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
            pytest.importorskip("pyarrow.parquet").write_table(
                pa.table({"data": part}), path, row_group_size=2
            )


TFDS_FEATURES = ["image", "label", "text", "small", "packed", "objects/bbox", "objects/label"]


def _tfds(form: str) -> Callable[[Path], Arguments]:
    def make(folder: Path) -> Arguments:
        tfds_folder(folder, form, _pictures(folder))
        return lambda at: {"directory": at, "features": TFDS_FEATURES}

    return make


def _database(folder: Path, values: list[bytes]) -> Arguments:
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with (
        lmdb.open(str(folder / "base"), lock=False, map_size=1 << 20) as database,
        database.begin(write=True) as change,
    ):
        for i, value in enumerate(values):
            change.put(b"%03d" % i, value)
    # With "/" at the end a folder is one on an HTTP server, too.
    return lambda at: {"path": [f"{at}/base/"]}


def _caffe(folder: Path) -> Arguments:
    field = records.field
    content = _pictures(folder)
    return _database(folder, [field(4, one) + field(5, i) + field(7, 1) for i, one in enumerate(content)])


def _caffe2(folder: Path) -> Arguments:
    field = records.field
    values = [
        field(1, field(2, 4) + field(6, one)) + field(1, field(2, 2) + field(4, bytes([i])))
        for i, one in enumerate(_pictures(folder))
    ]
    return _database(folder, values)


def _table(folder: Path) -> tuple[Any, list[Any]]:
    """pyarrow, and two tables of pictures, numbers, strings and lists."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    content = _pictures(folder)
    kinds = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa, [
        pa.table({
            "image": pa.array([{"bytes": content[i], "path": f"{i}.png"} for i in part], kinds),
            "label": pa.array(part, pa.int64()),
            "caption": [f"picture {i}" for i in part],
            "boxes": [[[float(i), 0, 1, 1]] * (i % 3) for i in part],
        })
        for part in (range(3), range(3, COUNT))
    ]  # fmt: skip


COLUMNS = ["image", "label", "caption", "boxes"]


def _parquet(folder: Path) -> Arguments:
    _, tables = _table(folder)
    pq = pytest.importorskip("pyarrow.parquet")
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=2)
    return lambda at: {"paths": [f"{at}/0.parquet", f"{at}/1.parquet"], "columns": COLUMNS}


def _arrow(folder: Path) -> Arguments:
    pa, tables = _table(folder)
    for number, (table, new) in enumerate(zip(tables, (pa.ipc.new_file, pa.ipc.new_stream), strict=True)):
        with new(folder / f"{number}.arrow", table.schema) as file:
            file.write_table(table, max_chunksize=2)
    return lambda at: {"paths": [f"{at}/0.arrow", f"{at}/1.arrow"], "columns": COLUMNS}


def _hugging_face(folder: Path) -> Arguments:
    """A folder as `save_to_disk` writes it."""
    pa, tables = _table(folder)
    names = [f"data-0000{number}-of-00002.arrow" for number in range(2)]
    for name, table in zip(names, tables, strict=True):
        with pa.ipc.new_stream(folder / name, table.schema) as file:
            file.write_table(table, max_chunksize=2)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    return lambda at: {"path": at, "columns": COLUMNS}


def _csv(folder: Path) -> Arguments:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    _pictures(folder)
    lines = ["label,name,size", *(f"{i},a/{i}.png,{i / 2}" for i in range(COUNT))]
    (folder / "list.csv").write_text("\n".join(lines))
    return lambda at: {"path": f"{at}/list.csv", "columns": ["name", "label", "size"], "files": ["name"]}


def _frame(folder: Path) -> Arguments:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    _pictures(folder)
    frame = {"name": [f"a/{i}.png" for i in range(COUNT)], "caption": [f"picture {i}" for i in range(COUNT)]}
    return lambda at: {"frame": frame, "columns": ["caption", "name"], "files": ["name"], "file_root": at}


def _paired(folder: Path) -> Arguments:
    _pictures(folder)
    (folder / "b").mkdir()
    for i in range(COUNT):
        (folder / "b" / f"{i}.n").write_bytes(bytes([i]))
    return lambda at: {"files": {"images": f"{at}/a", "numbers": f"{at}/b"}}


class Pictures:
    """A data set as a user writes one."""

    def __init__(self, folder: str):
        self.folder = _storage.placed(folder)

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> dict[str, Any]:
        content = _storage.read(_storage.join(self.folder, f"a/{index}.png"))
        return {"image": content, "label": index, "caption": f"picture {index}"}


def _dataset(folder: Path) -> Arguments:
    _pictures(folder)
    return lambda at: {"dataset": Pictures(at), "columns": ["image", "label", "caption"]}


def _numpy(folder: Path) -> Arguments:
    for i in range(COUNT):
        np.save(folder / f"{i}.npy", np.arange(5 + i * 100, 5 + i * 100 + 42).reshape(6, 7))
    return lambda at: {"file_root": at}


def _numpy_window(folder: Path) -> Arguments:
    _numpy(folder)
    records.index(folder / "list.txt", [(f"{i}.npy",) for i in range(COUNT)])
    return lambda at: {"file_list": f"{at}/list.txt", "roi_start": [1, 2], "roi_shape": [3, 2]}


def _zarr(folder: Path) -> Arguments:
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    values = np.arange(COUNT * 30, dtype=np.int16).reshape(COUNT, 6, 5)
    for name, more in (("chunks", {}), ("shards", {"shards": (6, 6, 4)})):
        array = zarr.create_array(
            str(folder / "kept.zarr"), name=name, shape=values.shape, chunks=(3, 3, 2), dtype="int16", **more
        )
        array[:] = values
    return lambda at: {
        "path": f"{at}/kept.zarr",
        "array": ["chunks", "shards"],
        "roi_start": [1, 0],
        "roi_shape": [4, 5],
    }


def _zarr_rows(folder: Path) -> Arguments:
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    for name, shape in (("image", (COUNT, 4)), ("label", (COUNT,))):
        array = zarr.create_array(
            str(folder / "kept.zarr"), name=name, shape=shape, chunks=(3, *shape[1:]), dtype="f4"
        )
        array[:] = np.arange(1, 1 + np.prod(shape)).reshape(shape)
    return lambda at: {"path": f"{at}/kept.zarr", "array": ["image", "label"]}


def _hdf5(folder: Path) -> Arguments:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    values = np.arange(COUNT * 30, dtype=np.int16).reshape(COUNT, 6, 5)
    for number, part in enumerate((slice(3), slice(3, COUNT))):
        with h5py.File(folder / f"{number}.h5", "w") as file:
            file.create_dataset("g/image", data=values[part], chunks=(2, 3, 5), compression="gzip")
            file["label"] = np.arange(COUNT)[part]
    return lambda at: {
        "paths": [f"{at}/0.h5", f"{at}/1.h5"], "dataset": ["g/image", "label"], "roi_start": [1, 0], "roi_shape": [4, 5],
    }  # fmt: skip


def _hdf5_rows(folder: Path) -> Arguments:
    args = _hdf5(folder)
    return lambda at: {key: value for key, value in args(at).items() if not key.startswith("roi")}


def _nemo_asr(folder: Path) -> Arguments:
    pytest.importorskip("soundfile", reason="soundfile is not installed")
    lines = []
    for i in range(COUNT):
        with wave.open(str(folder / f"{i}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(np.full(10 + i, 300 * i, np.int16).tobytes())
        lines.append(json.dumps({"audio_filepath": f"{i}.wav", "duration": 1e-3, "text": f"text {i}"}))
    (folder / "manifest.json").write_text("\n".join(lines))
    return lambda at: {"manifest_filepaths": [f"{at}/manifest.json"], "read_idxs": True}


def _sequence(folder: Path) -> Arguments:
    _pictures(folder)
    return lambda at: {"file_root": at, "sequence_length": 1}


def _fits(folder: Path) -> Arguments:
    astropy = pytest.importorskip("astropy.io.fits", reason="astropy is not installed")
    for i in range(COUNT):
        astropy.PrimaryHDU(np.full((3, 4), i, np.int16)).writeto(folder / f"{i}.fits")
    return lambda at: {"file_root": at, "hdu_indices": [1]}


def _nifti(folder: Path) -> Arguments:
    nibabel = pytest.importorskip("nibabel", reason="nibabel is not installed")
    for i in range(COUNT):
        image = nibabel.Nifti1Image(np.full((3, 4, 2), i, np.int16), np.eye(4) * (i + 1))
        nibabel.save(image, str(folder / f"{i}.nii{'.gz' * (i % 2)}"))
    return lambda at: {"file_root": at, "with_affine": True, "with_spacing": True}


def _videos(folder: Path) -> None:
    av()
    for label, count in enumerate((10, 6)):
        (folder / str(label)).mkdir()
        content = encode(pictures(count), "libvpx-vp9", "webm", options={"g": "5"})
        (folder / str(label) / "clip.webm").write_bytes(content)


def _video(folder: Path) -> Arguments:
    _videos(folder)
    return lambda at: {"file_root": at, "sequence_length": 2, "enable_frame_num": "sequence"}


def _video_resize(folder: Path) -> Arguments:
    args = _video(folder)
    return lambda at: args(at) | {"resize_x": 16, "resize_y": 8}


def _video_list(folder: Path) -> Arguments:
    _videos(folder)
    records.index(folder / "list.txt", [("0/clip.webm", 3, 0, 10), ("1/clip.webm", 4, 0, 6)])
    return lambda at: {
        "file_list": f"{at}/list.txt", "file_list_format": "frames", "sequence_length": 2,
        "enable_frame_num": "scalar", "enable_timestamps": True,
    }  # fmt: skip


def _lerobot(folder: Path) -> Arguments:
    pytest.importorskip("pyarrow")
    pytest.importorskip("av")
    robots.write(folder / "robot", 3, [3, 2, 3])
    columns = [robots.CAMERA, "observation.state", "index"]
    windows = {robots.CAMERA: [-0.1, 0.2], "observation.state": [0, 0.1]}
    return lambda at: {"directory": f"{at}/robot", "columns": columns, "delta_timestamps": windows}


MAKERS: dict[str, tuple[str, Callable[[Path], Arguments]]] = {
    "file": ("readers.file", _file),
    "file list": ("readers.file", _file_list),
    "coco": ("readers.coco", _coco),
    "coco preprocessed": ("readers.coco", _coco_preprocessed),
    "tfrecord": ("readers.tfrecord", _tfrecord),
    "mxnet": ("readers.mxnet", _mxnet),
    "caffe": ("readers.caffe", _caffe),
    "caffe2": ("readers.caffe2", _caffe2),
    "webdataset": ("readers.webdataset", _webdataset),
    "parquet": ("readers.parquet", _parquet),
    "array_record": ("readers.array_record", _array_record),
    "tfds tfrecord": ("readers.tfds", _tfds("tfrecord")),
    "tfds array_record": ("readers.tfds", _tfds("array_record")),
    "tfds parquet": ("readers.tfds", _tfds("parquet")),
    "array_record groups": ("readers.array_record", _array_record_groups),
    "arrow": ("readers.arrow", _arrow),
    "csv": ("readers.csv", _csv),
    "hugging face": ("readers.hugging_face", _hugging_face),
    "dataset": ("readers.dataset", _dataset),
    "table": ("readers.table", _frame),
    "paired": ("readers.paired", _paired),
    "zarr": ("readers.zarr", _zarr),
    "zarr rows": ("readers.zarr", _zarr_rows),
    "hdf5": ("readers.hdf5", _hdf5),
    "hdf5 rows": ("readers.hdf5", _hdf5_rows),
    "numpy": ("readers.numpy", _numpy),
    "numpy window": ("readers.numpy", _numpy_window),
    "nemo_asr": ("readers.nemo_asr", _nemo_asr),
    "sequence": ("readers.sequence", _sequence),
    "video": ("readers.video", _video),
    "video_resize": ("readers.video_resize", _video_resize),
    "experimental video": ("experimental.readers.video", _video_list),
    "nifti": ("readers.nifti", _nifti),
    "fits": ("experimental.readers.fits", _fits),
    "lerobot": ("readers.lerobot", _lerobot),
}
"""For each way to read: the name of the reader, and what makes its data set in a folder."""

OWN = (
    "parquet", "arrow", "csv", "table", "dataset", "hugging face", "paired", "array_record",
    "array_record groups", "lerobot", "tfds tfrecord", "tfds array_record", "tfds parquet",
    "zarr", "zarr rows", "hdf5", "hdf5 rows", "nifti",
)  # fmt: skip
"""Cases whose readers DALI does not have."""


def made(case: str, folder: Path) -> tuple[str, Arguments]:
    """Makes the data set of a case in a folder; the name of the reader, and its arguments."""
    name, make = MAKERS[case]
    folder.mkdir(parents=True)
    return name, make(folder)


def pipeline(reader: str, args: dict[str, Any], **options: Any) -> jdali.Pipeline:
    """A pipeline of nothing but a reader."""

    @jdali.pipeline_def(**{"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 5, **options})
    def read() -> Any:
        module = fn.experimental.readers if reader.startswith("experimental.") else fn.readers
        outputs = getattr(module, reader.rpartition(".")[2])(name="r", **args)
        return tuple(outputs.values()) if isinstance(outputs, dict) else outputs

    pipe: jdali.Pipeline = read()
    return pipe


def digest(arrays: Any) -> str:
    """Of types, shapes and bytes."""
    found = hashlib.sha256()
    for array in arrays:
        value = np.asarray(array)
        found.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    return found.hexdigest()


def digests(pipe: jdali.Pipeline, batches: int) -> list[str]:
    """Of each sample of the next batches."""
    return [
        digest(sample)
        for _ in range(batches)
        for sample in zip(*[output.to_samples() for output in pipe.run()], strict=True)
    ]


Resumable = dict[str, tuple[str, dict[str, Any], list[Any]]]
"""For each case the reader, its arguments, and states of its pipeline."""


def resumed(cases: Resumable, batches: int) -> dict[str, list[list[str]]]:
    """For each case and state the digests of what follows, in fresh pipelines."""
    found: dict[str, list[list[str]]] = {}
    for case, (reader, args, states) in cases.items():
        found[case] = []
        for state in states:
            with pipeline(reader, args) as pipe:
                pipe.set_state(state)
                found[case].append(digests(pipe, batches))
    return found


if __name__ == "__main__":
    print(json.dumps(resumed(*pickle.load(sys.stdin.buffer))))
