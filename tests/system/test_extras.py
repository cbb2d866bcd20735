"""Without any optional package: jdali can be imported, most readers work, and the others say what to install."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import records

MISSING = (
    "aiohttp", "astropy", "av", "crc32c", "fsspec", "gcsfs", "grain", "h5py", "imagecodecs", "lmdb", "lz4",
    "miniaudio", "nibabel", "numcodecs", "pillow_heif", "pyarrow", "s3fs", "sentencepiece", "tokenizers", "torch",
)  # fmt: skip
PROGRAM = """
import json, sys
for module in MISSING:
    sys.modules[module] = None
import jdali
from jdali import fn, tfrecord

def said(define):
    try:
        with jdali.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            outputs = define()
            pipe.set_outputs(*(outputs if isinstance(outputs, list | tuple) else [outputs]))
        pipe.run()
        pipe.close()
        return "works"
    except jdali.OperatorError as error:
        return " ".join(str(error).split())

feature = {"a": tfrecord.VarLenFeature(tfrecord.int64, 0)}
print(json.dumps({
    "video": said(lambda: fn.readers.video(filenames=["x.bin"], sequence_length=2)),
    "experimental video": said(lambda: fn.experimental.readers.video(filenames=["x.bin"], sequence_length=2)),
    "video decoder": said(lambda: fn.decoders.video(fn.readers.file(files=["x.bin"])[0])),
    "fits": said(lambda: fn.experimental.readers.fits(files=["x.bin"])),
    "tfrecord": said(lambda: fn.readers.tfrecord(path=["x.bin"], features=feature)["a"]),
    "parquet": said(lambda: fn.readers.parquet(paths=["x.bin"], columns=["a"])),
    "array_record": said(lambda: fn.readers.array_record(paths=["x.bin"])),
    "hdf5": said(lambda: fn.readers.hdf5(paths=["x.bin"], dataset="x")),
    "nifti": said(lambda: fn.readers.nifti(files=["x.nii"])),
    "zarr": said(lambda: fn.readers.zarr(path="x.zarr")),
    "lerobot": said(lambda: fn.readers.lerobot(directory="x", columns=["a"])),
    "arrow": said(lambda: fn.readers.arrow(paths=["x.bin"], columns=["a"])),
    "csv": said(lambda: fn.readers.csv(path="x.csv", columns=["a"])),
    "table": said(lambda: fn.readers.table(frame={"a": [1]}, columns=["a"])),
    "inflate": said(lambda: fn.decoders.inflate(fn.readers.file(files=["x.bin"])[0], shape=[4])),
    "tokenize": said(lambda: fn.tokenize(fn.readers.file(files=["x.bin"])[0], tokenizer="tokenizer.json")),
    "tokenize by SentencePiece": said(lambda: fn.tokenize(fn.readers.file(files=["x.bin"])[0], tokenizer="x.bin")),
    "url": said(lambda: fn.readers.numpy(files=["s3://bucket/x.npy"])),
    "records at a url": said(lambda: fn.readers.mxnet(path=["https://host/x.rec"])),
    "file": said(lambda: fn.readers.file(files=["x.bin"])),
    "numpy": said(lambda: fn.readers.numpy(files=["x.npy"])),
    "mxnet": said(lambda: fn.readers.mxnet(path=["x.rec"])),
    "webdataset": said(lambda: fn.readers.webdataset(paths=["x.tar"], ext=["txt"])),
    "caffe": said(lambda: fn.readers.caffe(path=["base"])),
}))
"""
EXTRAS = {
    "video": "video", "experimental video": "video", "video decoder": "video", "fits": "fits",
    "tfrecord": "records", "parquet": "tables", "arrow": "tables", "csv": "tables", "table": "tables", "inflate": "inflate",
    "array_record": "tables", "zarr": "zarr", "hdf5": "hdf5", "nifti": "nifti", "lerobot": "tables",
    "tokenize": "text", "tokenize by SentencePiece": "text", "url": "remote", "records at a url": "remote",
}  # fmt: skip


def test_without_any_optional_package(tmp_path):
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    (tmp_path / "x.bin").write_bytes(bytes(100))
    (tmp_path / "tokenizer.json").write_text("{}")
    np.save(tmp_path / "x.npy", np.arange(3))
    records.recordio(tmp_path / "x.rec", [records.image_record(b"image", [1.0])])
    records.tar(tmp_path / "x.tar", [("a.txt", b"text")])
    with (
        lmdb.open(str(tmp_path / "base"), lock=False, map_size=1 << 20) as database,
        database.begin(write=True) as change,
    ):
        change.put(b"0", records.field(4, b"image") + records.field(5, 1) + records.field(7, 1))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("MISSING", repr(MISSING))], capture_output=True, text=True,
        timeout=120, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "JDALI_CACHE_DIR": str(tmp_path / "c")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    for what, text in said.items():
        expected = f'pip install ".[{EXTRAS[what]}]" in a clone of jdali' if what in EXTRAS else "works"
        assert expected in text, f"{what}: {text}"
