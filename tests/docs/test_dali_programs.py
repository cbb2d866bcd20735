"""Programs written as DALI's documentation writes them run with jdali in the place of `nvidia.dali`.

Each file of `programs` uses the API as the notebooks on its subject do. They run in two processes, one of which has jdali
under DALI's name, and what they keep is compared: docs/conformance.md counts the notebooks themselves.
"""

from __future__ import annotations

import functools
import io
import os
import pickle
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import oracle, programs, records, videos, xla
from support.data import image
from support.faults import PATIENCE
from support.some import drawn

ROOT = Path(__file__).parents[2]
# The real DALI needs a GPU for what these use, so there is nothing to compare with: they check themselves.
ON_A_GPU_ONLY = {
    "debug_mode": "readers in debug mode",
    "jax_iterators": "`.gpu()`",
    "video": "`readers.video`",
}
# Programs of a normal run.
RUN = drawn(programs.names(), 3)
# Resampling and colours add in another order than DALI does: a grey level may be rounded to its neighbour.
WITH_PICTURES = {
    "conditionals",
    "detection",
    "dynamic",
    "external_sources",
    "functions",
    "images",
    "own_iterators",
    "records",
}


def each(names: list[str]) -> pytest.MarkDecorator:
    """Parametrized over programs; a normal run has those of `RUN`."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=() if name in RUN else pytest.mark.exhaustive) for name in names]
    )


def encoded(picture: np.ndarray, form: str) -> bytes:
    out = io.BytesIO()
    Image.fromarray(picture).save(out, form, **({"quality": 95} if form == "JPEG" else {}))
    return out.getvalue()


@functools.cache
def picture(number: int) -> bytes:
    return encoded(image(40 + 4 * (number % 3), 48 + 8 * (number % 2), seed=number), "JPEG")


def write_images(root: Path) -> None:
    rows = []
    for number in range(10):
        name = f"{('dog', 'kitten')[number // 5]}/{number}.jpg"
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(picture(number))
        rows.append((name, number // 5))
    records.index(root / "file_list.txt", rows)


def write_records(root: Path) -> None:
    root.mkdir()
    offsets = records.recordio(root / "train.rec", [records.image_record(picture(i), [i]) for i in range(8)])
    records.index(root / "train.idx", enumerate(offsets))
    features = [
        {"image/encoded": [picture(i)], "image/class/label": [i], "image/class/text": [b"kitten"],
         "image/object/bbox/xmin": [0.25 * i] * (1 + i % 3)}
        for i in range(8)
    ]  # fmt: skip
    records.tfrecord(root / "train.tfrecord", map(records.example, features))
    members = [
        (f"{i:03}.{end}", data) for i in range(8) for end, data in (("jpg", picture(i)), ("cls", b"%d" % i))
    ]
    records.tar(root / "train.tar", members)


def write_lmdb(root: Path) -> None:
    """Grey pictures of 28×28 with a label each, as Caffe2 writes MNIST."""
    lmdb = pytest.importorskip("lmdb")
    root.mkdir()
    with lmdb.open(str(root), map_size=1 << 20) as environment, environment.begin(write=True) as batch:
        for number in range(24):
            digit = np.full((28, 28), 20, np.uint8)
            digit[2 * (number % 10) : 2 * (number % 10) + 6] = 220
            data = records.field(2, 4) + records.field(6, encoded(digit, "PNG"))
            label = records.field(1, 1) + records.field(2, 2) + records.field(4, number % 10)
            batch.put(b"%08d" % number, records.field(1, data) + records.field(1, label))


def write_coco(root: Path) -> None:
    import json

    root.mkdir()
    pictures, annotations = [], []
    for number in range(4):
        (root / f"{number}.jpg").write_bytes(picture(number))
        size = {"height": 40 + 4 * (number % 3), "width": 48 + 8 * (number % 2)}
        pictures.append({"id": number, "file_name": f"{number}.jpg", **size})
        corners = [5, 6, 25, 8, 20, 30 - number]
        box = [5, 6, 20, 24 - number]
        annotations.append({"id": number, "image_id": number, "category_id": 1 + number % 2, "iscrowd": 0,
                            "bbox": box, "area": box[2] * box[3], "segmentation": [corners]})  # fmt: skip
    contents = {"images": pictures, "annotations": annotations, "categories": [{"id": 1}, {"id": 2}]}
    (root / "instances.json").write_text(json.dumps(contents))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The data of all programs, by the names that they use."""
    root = tmp_path_factory.mktemp("data")
    write_images(root / "images")
    write_records(root / "records")
    write_lmdb(root / "mnist")
    write_coco(root / "coco")
    (root / "slices").mkdir()
    for number in range(4):
        np.save(root / "slices" / f"{number}.npy", image(20, 16, None, seed=number))
    signal = (8000 * np.sin(np.arange(8000) ** 1.2 / 40)).astype("<i2")
    (root / "sound").mkdir()
    with wave.open(str(root / "sound" / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(signal.tobytes())
    (root / "clip.mp4").write_bytes(videos.encode(videos.pictures(12)))
    return root


def run(target: str, folder: Path, results: Path) -> dict[str, programs.Outcome]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = os.environ | {"PYTHONPATH": path, "XLA_FLAGS": xla.flags(), "JAX_PLATFORMS": "cpu"}
    # Tools such as tfrecord2idx stand beside the interpreter that they belong to.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "support.programs",
        target,
        str(folder),
        str(results),
        *RUN,
    ]
    subprocess.run(command, env=environment, check=True, timeout=PATIENCE)
    return pickle.loads(results.read_bytes())


@pytest.fixture(scope="module")
def ours(folder, tmp_path_factory):
    return run("jdali", folder, tmp_path_factory.mktemp("ours") / "results")


@pytest.fixture(scope="module")
def dalis(folder, tmp_path_factory):
    oracle.dali()
    return run("real", folder, tmp_path_factory.mktemp("dalis") / "results")


def test_every_program_is_here():
    """A folder without programs would pass all other tests of this file."""
    assert len(programs.names()) >= 14
    assert set(ON_A_GPU_ONLY) < set(programs.names())


@each(programs.names())
def test_program_runs(name, ours):
    assert not isinstance(ours[name], str), ours[name]
    assert ours[name], "it keeps nothing"


def tolerance(name: str, wanted: np.ndarray) -> float:
    """1 for grey levels, which may be floats; no more than rounding for other floats, and nothing for the rest."""
    if name in WITH_PICTURES and wanted.dtype != bool and np.array_equal(wanted, np.round(wanted)):
        return 1.0
    return 1e-4 * max(1.0, float(np.abs(wanted).max(initial=0))) if wanted.dtype.kind == "f" else 0.0


@pytest.mark.oracle
@each(sorted(set(programs.names()) - set(ON_A_GPU_ONLY)))
def test_program_gives_what_dali_gives(name, ours, dalis):
    mine, want = ours[name], dalis[name]
    assert not isinstance(want, str), want
    assert list(mine) == list(want)
    for key, samples in want.items():
        assert len(mine[key]) == len(samples), key
        for got, wanted in zip(mine[key], samples, strict=True):
            assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype), key
            if wanted.dtype.kind == "U":
                assert got.tolist() == wanted.tolist(), key
            else:
                np.testing.assert_allclose(
                    got.astype(float), wanted.astype(float), rtol=0, atol=tolerance(name, wanted), err_msg=key
                )
