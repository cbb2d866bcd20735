"""Implements `python -m jdali convert SOURCE... TARGET`, which converts a data set or its pictures to another format."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import Any

from jdali._errors import SampleError
from jdali._system.cpus import cpu_count
from jdali._system.progress import progress_bar
from jdali.cli._failed import failed
from jdali.cli._named import positive
from jdali.cli.conversion import KINDS, TARGETS, PictureChange, convert, open_source
from jdali.cli.conversion.restart_markers import transform


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "convert",
        help="convert a data set to WebDataset, ArrayRecord or Parquet",
        description=(
            "Writes a data set as shards of another format, and checks each sample: pictures must decode, and the "
            "written data must have the checksum of the source. The same command continues an interrupted conversion."
        ),
    )
    parser.add_argument("source", nargs="+", metavar="SOURCE", help="files of the data set, or their folder")
    parser.add_argument("target", metavar="TARGET", help="folder to write to")
    parser.add_argument(
        "--to", choices=sorted(TARGETS), default="webdataset", help="format to write; webdataset"
    )
    parser.add_argument(
        "--from",
        dest="kind",
        choices=sorted(KINDS),
        help="format of the data set, if the names of its files do not tell",
    )
    parser.add_argument(
        "--samples-per-shard", type=positive, default=2000, metavar="N", help="samples of a file; 2000"
    )
    parser.add_argument(
        "--name", type=_name, default="train", help="prefix of the files' names, the split; train"
    )
    parser.add_argument(
        "--max-size", type=positive, metavar="PIXELS", help="shrink pictures with a longer side than this"
    )
    parser.add_argument(
        "--quality",
        type=_quality,
        metavar="Q",
        help="encode all pictures as JPEG of this quality; otherwise only shrunk ones, with 90",
    )
    parser.add_argument(
        "--windows", action="store_true",
        help="add restart markers to JPEG files, so that windows decode without the rest; pixels do not change",
    )  # fmt: skip
    parser.add_argument("--skip-bad", action="store_true", help="skip damaged samples, and print their names")
    parser.add_argument(
        "-j", "--threads", type=positive, metavar="N", help="number of threads; one for each processor"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only errors")
    parser.set_defaults(run=run)


def _name(text: str) -> str:
    if "/" in text or os.sep in text or "\0" in text:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a word of a file's name, without a separator of folders"
        )
    return text


def _quality(text: str) -> int:
    number = positive(text)
    if number > 100:
        raise argparse.ArgumentTypeError(f"{number}: must be at most 100")
    return number


def run(options: argparse.Namespace) -> int:
    """Converts the data set; returns 1 if this fails or samples are left out."""
    try:
        if options.windows:
            transform()
        change = PictureChange(options.max_size, options.quality, options.windows)
        with (
            contextlib.closing(open_source(options.source, options.kind)) as source,
            progress_bar(source.count, "samples", options.target, wanted=not options.quiet) as advance,
        ):
            done = convert(
                source, options.target, options.to, change, name=options.name, per_shard=options.samples_per_shard,
                threads=options.threads or cpu_count(), skips=options.skip_bad, advance=advance,
            )  # fmt: skip
    except (OSError, SampleError, ValueError, ImportError) as error:
        return failed("convert", error)
    for problem in done.damaged:
        print(f"convert: left out: {problem}", file=sys.stderr)
    if not options.quiet:
        there = f", {done.shards - done.written} of them were there" if done.written < done.shards else ""
        print(f"{options.target}: {done.samples} samples, {done.shards} files{there}")
    return 1 if done.damaged else 0
