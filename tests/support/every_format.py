"""A data set of every format that docs/readers.md reads."""

from __future__ import annotations

import importlib.util
import json
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support import records, robots
from support.data import image
from support.every_reader import array_record, tfds_folder


def jpeg(seed=0):
    import simplejpeg

    return simplejpeg.encode_jpeg(np.ascontiguousarray(image(24, 32, seed=seed)))


def lmdb_of(folder, values):
    lmdb = pytest.importorskip("lmdb")
    with (
        lmdb.open(str(folder), map_size=1 << 24, lock=False) as database,
        database.begin(write=True) as change,
    ):
        for i, value in enumerate(values):
            change.put(f"{i:08}".encode(), value)


def tensor(kind, content):
    """A TensorProto of Caffe2: type, and bytes or an integer."""
    number = records.field(6, content) if isinstance(content, bytes) else records.field(4, content)
    return records.field(1, records.field(1, 1) + records.field(2, kind) + number)


def tables_are_read() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def write_tables(root: Path, pictures: list[bytes]) -> None:
    """Writes pictures, labels and captions as the Hugging Face Hub has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({
        "image": [{"bytes": content, "path": f"{i}.jpg"} for i, content in enumerate(pictures)],
        "label": [i % 2 for i in range(len(pictures))],
        "caption": [f"a picture of {i}" for i in range(len(pictures))],
    })  # fmt: skip
    pq.write_table(table, root / "train.parquet", row_group_size=3)
    names = [f"{('dog', 'cat')[i % 2]}/{i}.jpg,{i % 2}" for i in range(len(pictures))]
    (root / "train.csv").write_text("\n".join(["name,label", *names]))
    (root / "kept").mkdir()
    (root / "kept" / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    with pa.ipc.new_stream(root / "kept" / "data-00000-of-00001.arrow", table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(root / "train.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=3)
    if importlib.util.find_spec("array_record") is not None:
        array_record(root / "train.array_record", pictures, "group_size:1")
    (root / "set" / "1.0.0").mkdir(parents=True)
    tfds_folder(root / "set" / "1.0.0", "parquet", pictures)


def write_tokenizer(path: Path) -> None:
    """Writes a tokenizer.json of words."""
    import tokenizers

    words = ["[PAD]", "[UNK]", "a", "picture", "of", *map(str, range(64))]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(path))


def write(root: Path) -> None:
    """Writes a data set of every format, under the names that docs/readers.md uses."""
    pictures = [jpeg(seed) for seed in range(8)]
    for name in ("photos/cat", "photos/dog", "coco", "arrays", "frames/walk", "pairs/images", "pairs/masks"):
        (root / name).mkdir(parents=True)
    for i, content in enumerate(pictures):
        (root / "photos" / ("cat" if i % 2 else "dog") / f"{i}.jpg").write_bytes(content)
        (root / "coco" / f"{i}.jpg").write_bytes(content)
        (root / "pairs" / "images" / f"{i}.jpg").write_bytes(content)
        Image.fromarray(image(24, 32, seed=i)[..., 0] // 64).save(root / "pairs" / "masks" / f"{i}.png")
        np.save(root / "arrays" / f"{i}.npy", np.arange(80, dtype=np.float32).reshape(8, 10) + i)
        Image.fromarray(image(16, 16, seed=i)).save(root / "frames" / "walk" / f"{i}.png")
    annotations = {
        "images": [{"id": i, "file_name": f"{i}.jpg", "width": 32, "height": 24} for i in range(8)],
        "categories": [{"id": 7, "name": "cat"}],
        "annotations": [
            {"id": i, "image_id": i, "category_id": 7, "bbox": [1, 2, 10, 12], "area": 120, "iscrowd": 0}
            for i in range(8)
        ],
    }
    (root / "coco" / "instances.json").write_text(json.dumps(annotations))
    records.tfrecord(
        root / "data.tfrecord",
        [records.example({"image": [content], "label": [i]}) for i, content in enumerate(pictures)],
    )
    image_records = [records.image_record(content, [float(i)]) for i, content in enumerate(pictures)]
    records.recordio(root / "data.rec", image_records)
    records.recordio(root / "damaged.rec", [*image_records[:2], b"short", *image_records[3:]])
    records.tar(
        root / "shard.tar",
        [
            member
            for i, content in enumerate(pictures)
            for member in ((f"{i}.jpg", content), (f"{i}.scores", np.float32([i, 0.5]).tobytes()))
        ],
    )
    lmdb_of(
        root / "caffe_lmdb",
        [records.field(4, c) + records.field(5, i) + records.field(7, 1) for i, c in enumerate(pictures)],
    )
    lmdb_of(root / "caffe2_lmdb", [tensor(4, content) + tensor(2, i) for i, content in enumerate(pictures)])
    if tables_are_read():
        write_tables(root, pictures)
    if importlib.util.find_spec("tokenizers") is not None:
        write_tokenizer(root / "tokenizer.json")
    if importlib.util.find_spec("zarr") is not None:
        import zarr

        volumes = zarr.create_array(
            str(root / "scans.zarr"), name="volumes", shape=(8, 6, 24, 24), dtype="int16"
        )
        volumes[:] = np.arange(volumes.size).reshape(volumes.shape)
    if importlib.util.find_spec("h5py") is not None:
        import h5py

        with h5py.File(root / "train.h5", "w") as file:
            file.create_dataset("images", data=np.zeros((8, 24, 32, 3), np.uint8), chunks=(2, 24, 32, 3))
            file["labels"] = np.arange(8)
    if importlib.util.find_spec("nibabel") is not None:
        import nibabel

        (root / "scans").mkdir()
        for i in range(4):
            volume = nibabel.Nifti1Image(np.full((16, 12, 8), i, np.int16), np.diag([1, 1, 2.5, 1]))
            nibabel.save(volume, str(root / "scans" / f"{i}.nii.gz"))
    lines = []
    for i in range(4):
        with wave.open(str(root / f"{i}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes(np.int16(1000 * np.sin(np.arange(1600 + i) / 9)).tobytes())
        lines.append(
            json.dumps({"audio_filepath": str(root / f"{i}.wav"), "duration": 0.1, "text": f"text {i}"})
        )
    (root / "manifest.json").write_text("\n".join(lines))
    av = pytest.importorskip("av")
    write_clip(av, root / "clip.mp4")
    if tables_are_read():
        robots.write(root / "robot", 3, [5, 4])
    fits = pytest.importorskip("astropy.io.fits")
    for name in ("a", "b"):
        fits.PrimaryHDU(np.arange(12, dtype=np.int16).reshape(3, 4)).writeto(root / f"{name}.fits")


def write_clip(av, path):
    """A video of 24 frames."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in range(24):
            for packet in stream.encode(av.VideoFrame.from_ndarray(image(48, 64, seed=i), format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
