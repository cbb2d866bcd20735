"""What readers refuse is an error of DALI's type, in DALI's words; the words are asked of DALI itself."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import wrong_calls

from jdali import fn, pipeline_def

# A part of DALI's message, and the call: `d` is the library, `r` the folder with the files of `folder`.
CALLS: list[tuple[str, Any]] = [
    ("No files found", lambda d, r: d.fn.readers.file(file_root=r + "none")),
    ("``file_list`` argument cannot be empty", lambda d, r: d.fn.readers.file(file_list="")),
    ("File mapping failed: /nowhere.jpg", lambda d, r: d.fn.readers.file(files=["/nowhere.jpg"])),
    ("``file_filters`` list cannot be empty", lambda d, r: d.fn.readers.file(file_root=r + "none", file_filters=[])),
    ("``dir_filters`` list cannot be empty", lambda d, r: d.fn.readers.file(file_root=r + "none", dir_filters=[])),
    ("num_shards needs to be greater than shard_id", lambda d, r: d.fn.readers.numpy(file_root=r + "npy", num_shards=0)),
    ("Inconsistent data: All samples in the batch must have the same number of dimensions",
     lambda d, r: d.fn.readers.numpy(file_root=r + "npy", files=["plane.npy", "volume.npy"])),
    ("Inconsistent data: All samples in the batch must have the same data type",
     lambda d, r: d.fn.readers.numpy(file_root=r + "npy", files=["plane.npy", "integers.npy"])),
    ("Slice can't be placed out of bounds with current policy",
     lambda d, r: d.fn.readers.numpy(file_root=r + "npy", files=["plane.npy"], roi_start=[0, 0], roi_end=[9, 9])),
    ("No webdataset archives provided", lambda d, r: d.fn.readers.webdataset(paths=[], ext=["jpg"])),
    ("File mapping failed: /nowhere.tar", lambda d, r: d.fn.readers.webdataset(paths="/nowhere.tar", ext=["jpg"])),
    ("Underful sample detected",
     lambda d, r: d.fn.readers.webdataset(paths=r + "a.tar", ext=["png"], missing_component_behavior="error")),
    ("The number of input samples: 0, needs to be at least equal to the requested number of shards",
     lambda d, r: d.fn.readers.webdataset(paths=r + "a.tar", ext=["png"], missing_component_behavior="skip")),
    ("Invalid value for missing_component_behavior 'foo' possible values are: skip, error, empty",
     lambda d, r: d.fn.readers.webdataset(paths=r + "a.tar", ext=["jpg"], missing_component_behavior="foo")),
    ("component size and dtype incompatible",
     lambda d, r: d.fn.readers.webdataset(paths=r + "a.tar", ext=["jpg"], dtypes=[d.types.INT32])),
    ("Corrupted tar file", lambda d, r: d.fn.readers.webdataset(paths=r + "no.tar", ext=["jpg"])),
    ("Either ``annotations_file`` or ``preprocessed_annotations``", lambda d, r: d.fn.readers.coco(file_root=r)),
    ("``file_root`` argument is required when not using ``files`` or ``file_list``",
     lambda d, r: d.fn.readers.coco(annotations_file=r + "coco.json")),
    ("Invalid COCO annotation: `bbox` must contain exactly 4 values",
     lambda d, r: d.fn.readers.coco(file_root=r, annotations_file=r + "bbox.json")),
    ("Invalid COCO annotation: `file_name` must be a string",
     lambda d, r: d.fn.readers.coco(file_root=r, annotations_file=r + "name.json")),
    ("``pixelwise_masks`` and ``polygon_masks`` are mutually exclusive",
     lambda d, r: d.fn.readers.coco(file_root=r, annotations_file=r + "coco.json", pixelwise_masks=True, polygon_masks=True)),
    ("``save_preprocessed_annotations`` and ``save_preprocessed_annotations_dir`` should be provided together",
     lambda d, r: d.fn.readers.coco(file_root=r, annotations_file=r + "coco.json", save_preprocessed_annotations=True)),
    ("When reading data from preprocessed annotation files, \"ratio\" is not supported",
     lambda d, r: d.fn.readers.coco(file_root=r, preprocessed_annotations=r, ratio=True)),
    ("Invalid RecordIO: wrong magic number",
     lambda d, r: d.fn.readers.mxnet(path=r + "no.rec", index_path=r + "no.idx")),
    ("RecordIOReader supports only a single index file",
     lambda d, r: d.fn.readers.mxnet(path=r + "no.rec", index_path=[r + "no.idx"] * 2)),
    ("``manifest_filepaths`` can not be empty", lambda d, r: d.fn.readers.nemo_asr(manifest_filepaths=[])),
    ("`shuffle_after_epoch` and `random_shuffle` can't be provided together",
     lambda d, r: d.fn.readers.nemo_asr(manifest_filepaths=[r + "nemo.json"], shuffle_after_epoch=True, random_shuffle=True)),
    ("Resampling quality must be in [0..100] range",
     lambda d, r: d.fn.readers.nemo_asr(manifest_filepaths=[r + "nemo.json"], sample_rate=16000.0, quality=200.0)),
    ("Sequence length must be positive", lambda d, r: d.fn.readers.sequence(file_root=r, sequence_length=0)),
    ("Step must be positive", lambda d, r: d.fn.readers.sequence(file_root=r, sequence_length=1, step=-1)),
    ("Stride must be positive", lambda d, r: d.fn.readers.sequence(file_root=r, sequence_length=1, stride=0)),
    ("Verify the file_root argument", lambda d, r: d.fn.readers.sequence(file_root=r + "none", sequence_length=1)),
    ("Only one of the following arguments can be provided: ``file_list``, ``file_root``, ``filenames``",
     lambda d, r: d.fn.experimental.readers.video(sequence_length=1)),
    ("Number of provided files and labels should match. Provided 1 files and 2 labels",
     lambda d, r: d.fn.experimental.readers.video(sequence_length=1, filenames=["/nowhere.mp4"], labels=[1, 2])),
    ("Directory /nowhere could not be opened",
     lambda d, r: d.fn.experimental.readers.video(sequence_length=1, file_root="/nowhere")),
]  # fmt: skip
# What is wrong with an index of one sample by DALI, and the index.
INDEXES = {
    "": "no version signature found",
    "v9.9 1\n": "Unsupported version of the index file (v9.9)",
    "v1.2\n": "no sample count found",
    "v1.2 2\njpg 512 3 0.jpg\n": "no extensions provided for the sample",
    "v1.2 1\njpg 512\n": "Could not find all necessary component parameters (offset, size or filename)",
    "v1.1 1\njpg 512\n": "Could not find all necessary component parameters (offset or size)",
    "v1.2 1\njpg 513 3 0.jpg\n": "tar offset is not a multiple of tar block size (512)",
    "v1.2 1\njpg 51200 3 0.jpg\n": "offset is outside of the archive file",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    root = tmp_path_factory.mktemp("refused")
    (root / "none").mkdir()
    (root / "npy").mkdir()
    np.save(root / "npy/plane.npy", np.zeros((2, 3), np.float32))
    np.save(root / "npy/volume.npy", np.zeros((2, 3, 4), np.float32))
    np.save(root / "npy/integers.npy", np.zeros((2, 3), np.int32))
    with tarfile.open(root / "a.tar", "w") as archive:
        member = tarfile.TarInfo("0.jpg")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"abc"))
    (root / "no.tar").write_bytes(b"x" * 2048)
    (root / "no.rec").write_bytes(b"garbage" * 30)
    (root / "no.idx").write_text("0\t0\n1\t50\n")
    (root / "nemo.json").write_text('{"audio_filepath": "/nowhere.wav", "duration": 1.0, "text": "a"}\n')
    for name, file, box in (("coco", "a.jpg", 4), ("bbox", "a.jpg", 3), ("name", 5, 4)):
        _write_annotations(root / f"{name}.json", file, box)
    return f"{root}/"


def _write_annotations(path: Path, file: str | int, box: int) -> None:
    image = {"id": 1, "file_name": file, "width": 30, "height": 40}
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4][:box]}
    path.write_text(json.dumps({"images": [image], "annotations": [annotation], "categories": [{"id": 1}]}))


@pytest.mark.oracle
@pytest.mark.parametrize(("words", "call"), CALLS, ids=[words for words, _ in CALLS])
def test_type_and_words_are_dalis(words, call, folder):
    wrong_calls.check(words, call, folder)


@pytest.mark.oracle
@pytest.mark.parametrize(("index", "words"), INDEXES.items(), ids=INDEXES.values())
def test_what_is_wrong_with_an_index_of_an_archive(index, words, folder, tmp_path):
    path = tmp_path / "a.idx"
    path.write_text(index)
    call = lambda d: d.fn.readers.webdataset(paths=folder + "a.tar", ext=["jpg"], index_paths=str(path))  # noqa: E731
    wrong_calls.check(words, call)
    wrong_calls.check(f'Malformed index file at "{path}" line', call)


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda: fn.readers.webdataset(paths=["a.tar"], ext=[]), "readers.webdataset: ext is empty"),
        (
            lambda: fn.readers.dataset(dataset=[1], num_outputs=-1),
            "readers.dataset: num_outputs is -1, it must be at least 1",
        ),
        (
            lambda: fn.readers.dataset(dataset=[1], num_outputs=0),
            "readers.dataset: num_outputs is 0, it must be at least 1",
        ),
    ],
)
def test_a_reader_without_outputs(define, message):
    with pytest.raises(ValueError, match=message):
        pipeline_def(batch_size=1, num_threads=1)(lambda: tuple(define()))()
