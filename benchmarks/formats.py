"""Compares jdali with the usual libraries on arrays, volumes, robot data and packed rows: samples a processor second.

    python benchmarks/formats.py [--threads 1] [--rounds 5] [--workload zarr hdf5 nifti packing robots] [--lerobot PYTHON]

zarr, hdf5   samples float32 [64, 64, 16] in compressed chunks of 8 samples, in order. Rivals: zarr and h5py, by batches
nifti        volumes int16 [64, 64, 32] in .nii.gz files. Rival: nibabel, volume by volume
packing      documents of tokens packed to rows of 2,048. Rival: Grain's `FirstFitPackIterDataset` with 128 open rows
robots       windows of two 320 x 240 frames and 16 actions, in order and shuffled. Rival: `LeRobotDataset`

LeRobot writes the data of `robots`. If LeRobot needs other package versions than JAX, `--lerobot` names a Python
interpreter that has LeRobot. The rivals run in separate processes and take turns. Seconds are processor time of all
threads. A row shows the median over the rounds; the ratio compares a turn with the other rival's turn of the same round
(median).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, print_row, serve_batches

BATCH = 32
COUNT, SHAPE, CHUNK = 512, (64, 64, 16), 8
LENGTH, ROWS = 2048, 128
CAMERA, FPS = "observation.images.top", 10
WINDOWS = {CAMERA: [-0.1, 0.0], "action": [i / FPS for i in range(16)]}


def values() -> np.ndarray:
    """Generates random walks, which are smooth and noisy like measurements: float32 [512, 64, 64, 16]."""
    rng = np.random.default_rng(0)
    return np.round(np.cumsum(rng.normal(size=(COUNT, *SHAPE)), axis=0), 2).astype(np.float32)


def documents() -> list[np.ndarray]:
    lengths = np.minimum(np.random.default_rng(0).lognormal(5.9, 1, 20_000).astype(int) + 1, LENGTH)
    return [np.full(n, i, np.int32) for i, n in enumerate(lengths)]


# --- data -----------------------------------------------------------------------------------------
def make_zarr(path: str) -> None:
    import zarr

    zarr.create_array(path, name="x", data=values(), chunks=(CHUNK, *SHAPE))


def make_hdf5(path: str) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x", data=values(), chunks=(CHUNK, *SHAPE), compression="gzip", compression_opts=1
        )


def make_nifti(path: str) -> None:
    import nibabel

    os.makedirs(path)
    for i, one in enumerate(values()[:128]):
        volume = (np.concatenate([one, one], axis=-1) * 100).astype(np.int16)
        nibabel.save(nibabel.Nifti1Image(volume, np.eye(4)), f"{path}/{i:03}.nii.gz")


ROBOT = """
import sys
import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset

frame = {"dtype": "video", "shape": (240, 320, 3), "names": ["height", "width", "channels"]}
values = {"dtype": "float32", "shape": (7,), "names": None}
features = {"observation.images.top": frame, "observation.state": values, "action": values}
made = LeRobotDataset.create("me/robot", fps=10, features=features, root=sys.argv[1])
coarse = np.random.default_rng(0).integers(0, 256, (60, 80, 3))
picture = np.kron(coarse, np.ones((8, 8, 1))).astype(np.uint8)
for episode in range(20):
    for i in range(200):
        view = np.ascontiguousarray(picture[(i + episode * 7) % 200 :, 2 * i % 300 :][:240, :320])
        numbers = np.full(7, i, np.float32)
        made.add_frame(
            {"observation.images.top": view, "observation.state": numbers, "action": numbers, "task": "push"}
        )
    made.save_episode()
made.finalize()
"""


def make_robots(path: str) -> None:
    command = [os.environ.get("JDALI_BENCH_LEROBOT", sys.executable), "-c", ROBOT, path]
    subprocess.run(command, check=True, capture_output=True)


# --- rivals ---------------------------------------------------------------------------------------
def slices(array: Any) -> Iterator[np.ndarray]:
    while True:
        for start in range(0, COUNT, BATCH):
            yield array[start : start + BATCH]


def by_zarr(path: str) -> Iterator[Any]:
    import zarr

    return slices(zarr.open(path, mode="r")["x"])


def by_h5py(path: str) -> Iterator[Any]:
    import h5py

    return slices(h5py.File(path)["x"])


def by_nibabel(path: str) -> Iterator[Any]:
    import nibabel

    names = sorted(os.listdir(path))
    while True:
        for at in range(0, len(names), BATCH):
            yield np.stack([np.asarray(nibabel.load(f"{path}/{n}").dataobj) for n in names[at : at + BATCH]])


def by_grain(path: str) -> Iterator[Any]:
    import grain

    found = grain.MapDataset.source([{"tokens": one} for one in documents()]).seed(1).shuffle().repeat()
    packed = grain.experimental.FirstFitPackIterDataset(
        found.to_iter_dataset(), length_struct={"tokens": LENGTH}, num_packing_bins=ROWS
    )
    return iter(packed.batch(BATCH))


def by_lerobot(path: str, shuffled: bool) -> Iterator[Any]:
    import torch
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    torch.set_num_threads(1)
    found = LeRobotDataset("me/robot", root=path, delta_timestamps=WINDOWS)
    while True:
        yield from torch.utils.data.DataLoader(found, batch_size=BATCH, shuffle=shuffled, drop_last=True)


def with_jdali(kind: str, path: str, threads: int) -> Iterator[Any]:
    from jdali import fn, pipeline_def, storage

    storage.configure(bytes_ahead=1 << 24)  # small, so that passes share as little as with larger data

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def samples() -> Any:
        if kind == "zarr":
            return fn.readers.zarr(path=path, array="x")
        if kind == "hdf5":
            return fn.readers.hdf5(paths=[path], dataset="x")
        if kind == "nifti":
            return fn.readers.nifti(file_root=path, file_filter="*.nii.gz")
        if kind == "packing":
            made = documents()
            source = fn.readers.dataset(dataset=made, random_shuffle=True)
            return tuple(fn.readers.pack(source, length=LENGTH, lengths=[len(one) for one in made]))
        columns = [*WINDOWS, "observation.state"]
        return tuple(
            fn.readers.lerobot(
                directory=path, columns=columns, delta_timestamps=WINDOWS, random_shuffle="shuffled" in kind
            )
        )

    pipe = samples()
    while True:
        yield [output.as_array() for output in pipe.run()]


MAKE: dict[str, Callable[[str], None]] = {
    "zarr": make_zarr, "hdf5": make_hdf5, "nifti": make_nifti, "packing": lambda path: None, "robots": make_robots,
    "robots shuffled": make_robots,
}  # fmt: skip
USUAL: dict[str, Callable[[str], Iterator[Any]]] = {
    "zarr": by_zarr,
    "hdf5": by_h5py,
    "nifti": by_nibabel,
    "packing": by_grain,
    "robots": lambda path: by_lerobot(path, False),
    "robots shuffled": lambda path: by_lerobot(path, True),
}


def worker(rival: str, kind: str, data: str, threads: int) -> None:
    def batches() -> Iterator[Any]:
        return with_jdali(kind, data, threads) if rival == "jdali" else USUAL[kind](data)

    serve_batches(batches, BATCH, time.process_time)


def main() -> None:
    parser = arguments(__doc__, batches=20, rivals=("usual", "jdali"), choices={"workload": MAKE})
    parser.add_argument("--lerobot", default=sys.executable, help="an interpreter that has lerobot")
    options = parser.parse_args()
    if options.worker:
        rival, kind = options.worker
        worker(rival, kind, options.data, options.threads)
        return
    os.environ |= {"JDALI_BENCH_LEROBOT": options.lerobot, "HF_HUB_OFFLINE": "1"}
    print(
        "| workload | rival | samples/s, median (low to high) | ratio | first batch, s |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as root:
        for kind in options.workload:
            data = f"{root}/{kind}"
            try:
                MAKE[kind](data)
            except (ImportError, subprocess.CalledProcessError) as error:
                print(f"  {kind}: left out: {error}", file=sys.stderr)
                continue
            for row in compare(
                Path(__file__), options.rivals, kind, data=data, threads=options.threads, rounds=options.rounds,
                batches=options.batches, pythons={"usual": options.lerobot} if "robots" in kind else {},
            ):  # fmt: skip
                print_row(row)


if __name__ == "__main__":
    main()
