"""Implements `python -m jdali doctor`, which lists packages, what they are for, and how to install missing ones."""

from __future__ import annotations

import argparse
import contextlib
import platform
import re
from pathlib import Path
from typing import Any

import jax

from jdali._errors import OperatorError
from jdali._notebook import show
from jdali._system.cache_folder import cache_folder
from jdali._system.extras import install
from jdali._system.jax_internals import TRIED
from jdali.cli._failed import failed
from jdali.cli._named import PipelineNameError, add_arguments, factory
from jdali.codecs import libraries
from jdali.codecs.libraries import Library, installed_version

LIBRARIES = (
    Library("simplejpeg", "simplejpeg", "JPEG images"),
    Library("pillow", "PIL", "PNG, BMP, WebP, TIFF and PNM images"),
    Library("soundfile", "soundfile", "audio: WAV, FLAC, OGG, MP3"),
    Library("scipy", "scipy", "labels of connected objects: fn.segmentation.random_object_bbox"),
    Library("msgspec", "msgspec", "JSON: COCO, NeMo, Pipeline.export, serving"),
    Library(
        "imagecodecs",
        "imagecodecs",
        "JPEG 2000, JPEG XL, lossless JPEG, all forms of TIFF, faster PNG",
        "codecs",
    ),
    Library("pillow-heif", "pillow_heif", "HEIC: fn.decoders.image", "heif"),
    Library(
        "nvidia-nvimgcodec-cu12",
        "nvidia.nvimgcodec",
        "JPEG images on an NVIDIA GPU: device='mixed'",
        "nvimgcodec",
    ),
    Library("miniaudio", "miniaudio", "faster FLAC", "audio"),
    Library("av", "av", "video: readers, fn.decoders.video; MP3 without messages, M4A, WebM", "video"),
    Library("astropy", "astropy", "FITS images: fn.experimental.readers.fits", "fits"),
    Library("lz4", "lz4", "fn.decoders.inflate", "inflate"),
    Library("crc32c", "crc32c", "TFRecord files: fn.readers.tfrecord", "records"),
    Library(
        "pyarrow",
        "pyarrow",
        "Parquet, Arrow, CSV, DataFrames, ArrayRecord: fn.readers.parquet and others",
        "tables",
    ),
    Library("array-record", "array_record", "python -m jdali convert --to array_record", "convert"),
    Library("pylibjxl", "pylibjxl", "python -m jdali convert --windows", "convert"),
    Library("numcodecs", "numcodecs", "arrays of Zarr: fn.readers.zarr", "zarr"),
    Library("h5py", "h5py", "HDF5 files: fn.readers.hdf5", "hdf5"),
    Library("nibabel", "nibabel", "NIfTI volumes: fn.readers.nifti", "nifti"),
    Library("tokenizers", "tokenizers", "fn.tokenize", "text"),
    Library("sentencepiece", "sentencepiece", "fn.tokenize with models of SentencePiece", "text"),
    Library("fsspec", "fsspec", "paths that are URLs", "remote"),
    Library("s3fs", "s3fs", "s3:// URLs", "remote"),
    Library("huggingface-hub", "huggingface_hub", "hf:// URLs", "remote"),
    Library("gcsfs", "gcsfs", "gs:// URLs", "remote"),
    Library("aiohttp", "aiohttp", "http:// and https:// URLs", "remote"),
    Library("cloudpickle", "cloudpickle", "objects of local classes in worker processes", "workers"),
    Library("ray", "ray", "batches made by a cluster: jdali.plugin.ray", "ray"),
    Library("grain", "grain", "jdali.plugin.grain", "grain"),
    Library("starlette", "starlette", "Pipeline.view, python -m jdali view and serve", "view"),
    Library("uvicorn", "uvicorn", "Pipeline.view, python -m jdali view and serve", "view"),
    Library("flatbuffers", "flatbuffers", "Pipeline.export, jdali.load, python -m jdali serve", "export"),
    Library("tqdm", "tqdm", "bars that show progress", "progress"),
    Library("numba", "numba", "jdali.plugin.numba", "numba"),
    Library("torch", "torch", "jdali.plugin.pytorch", "torch"),
    Library("torchdata", "torchdata", "nodes of jdali.dynamic.pytorch", "torch"),
    Library("tensorflow", "tensorflow", "jdali.plugin.tf", "tf"),
    Library("paddlepaddle", "paddle", "jdali.plugin.paddle", "paddle"),
)

# The newest versions that passed the whole test suite, as in docs/installing.md.
TRIED_WITH = {"python": "3.13", "jax": TRIED[1], "jaxlib": TRIED[1], "numpy": "2.5.5"}


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "doctor",
        help="list installed packages, and how to install missing ones",
        description="Prints versions, devices, codecs, and how to install missing packages; with a pipeline, also a batch "
        "of it and its plan.",
    )
    add_arguments(parser, nargs="?")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the report and, if the user names a pipeline, the pipeline's plan and the result of a batch."""
    if options.arg and options.pipeline is None:
        return failed("doctor", f"--arg {options.arg[0]} needs the name of a pipeline", 2)
    print("\n".join(report()))
    if options.pipeline is None:
        return 0
    try:
        with contextlib.closing(factory(options.pipeline, options.arg)()) as pipe:
            outputs = pipe.run()
            print(f"\nPipeline {options.pipeline}")
            print("\n".join(f"  output {i}: {show(output)!r}" for i, output in enumerate(outputs)))
            print(pipe.plan())
    except (PipelineNameError, OperatorError) as error:
        return failed("doctor", error)
    except StopIteration:
        return failed("doctor", f"{options.pipeline} has no batch: its external source is at its end")
    return 0


def report() -> list[str]:
    lines = ["Versions"]
    lines += [f"  {name:<12}{version}{_untried(name, version)}" for name, version in _versions().items()]
    lines += ["", "Devices that JAX sees", *(f"  {line}" for line in _devices())]
    lines += ["", "Libraries"]
    missing: dict[str, list[str]] = {}
    for library in LIBRARIES:
        version = installed_version(library.package, library.module)
        lines.append(f"  {library.package:<24}{version or 'missing':<16}{library.does}")
        if version is None:
            missing.setdefault(library.extra, []).append(library.does)
    lines += ["", "Formats of images and sounds, and what reads them, the fastest first"]
    for row in libraries.report():
        found = row.by.package if row.version else f"({row.by.package} is missing)"
        lines.append(f"  {row.format:<12}{found:<28}{row.by.does}")
    lines += ["", "Formats that need no library"]
    lines.append("  files, COCO, NumPy arrays, RecordIO, LMDB (Caffe, Caffe2), WebDataset")
    lines += ["", "Cache folder", f"  {_cache()}"]
    if missing:
        lines += ["", "To install what is missing"]
        for extra, uses in missing.items():
            lines.append(f"  {install(extra):<50}for {'; '.join(uses)}")
    else:
        lines += ["", "Nothing is missing."]
    return lines


def _versions() -> dict[str, str]:
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    packages = {
        name: installed_version(name, name) or "not installed" for name in ("jdali", "jax", "jaxlib", "numpy")
    }
    return {"jdali": packages.pop("jdali"), "python": system, **packages}


def _untried(name: str, version: str) -> str:
    """Returns a remark if the version is newer than all tested versions, otherwise ""."""
    tried = TRIED_WITH.get(name, version)
    if _numbers(version)[: len(_numbers(tried))] <= _numbers(tried):
        return ""
    return f"  (newer than {tried}, the newest that jdali was tried with)"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _devices() -> list[str]:
    try:
        return [f"{device.platform}:{device.id}  {device.device_kind}" for device in jax.devices()]
    except RuntimeError as error:  # the requested accelerator is missing
        return [f"none: {str(error).splitlines()[0]}"]


def _cache() -> str:
    folder: Path = cache_folder()
    if not folder.is_dir():
        return f"{folder} (not made yet)"
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return f"{folder} ({len(sizes)} files, {sum(sizes) / 1e6:.1f} MB)"
