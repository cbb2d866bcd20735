"""`python -m jdali convert SOURCE... TARGET`: a data set in another format, or its pictures in another form."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

from jdali._errors import SampleError
from jdali._system.cpus import cpu_count
from jdali._system.progress import progress_bar
from jdali.cli.conversion import KINDS, TARGETS, PictureChange, convert, open_source
from jdali.cli.conversion.restart_markers import transform


def add_to(commands: Any) -> None:
    """Adds the command to those of the parser."""
    parser = commands.add_parser(
        "convert",
        help="bring a data set to WebDataset, ArrayRecord or Parquet",
        description=(
            "Writes a data set as shards of another format, and checks each sample: pictures decode, and what was "
            "written has the checksum of what was read. The same command continues a conversion that was interrupted."
        ),
    )
    parser.add_argument("source", nargs="+", metavar="SOURCE", help="files of the set, or their folder")
    parser.add_argument("target", metavar="TARGET", help="a folder to write into")
    parser.add_argument(
        "--to", choices=sorted(TARGETS), default="webdataset", help="format to write; webdataset"
    )
    parser.add_argument(
        "--from",
        dest="kind",
        choices=sorted(KINDS),
        help="what the set is, if the names of its files do not tell",
    )
    parser.add_argument(
        "--samples-per-shard", type=_positive, default=2000, metavar="N", help="samples of a file; 2000"
    )
    parser.add_argument("--name", default="train", help="how names of files begin, the split; train")
    parser.add_argument(
        "--max-size", type=_positive, metavar="PIXELS", help="shrink pictures whose longer side is longer"
    )
    parser.add_argument(
        "--quality",
        type=_quality,
        metavar="Q",
        help="encode all pictures as JPEG of this quality; 90 for shrunk ones",
    )
    parser.add_argument(
        "--windows", action="store_true",
        help="put restart markers into JPEG files, so that decoders of windows leave out all else; pixels stay",
    )  # fmt: skip
    parser.add_argument("--skip-bad", action="store_true", help="leave damaged samples out, and print them")
    parser.add_argument(
        "-j", "--threads", type=_positive, metavar="N", help="threads to work in; one a processor"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=run)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: must be at least 1")
    return number


def _quality(text: str) -> int:
    number = _positive(text)
    if number > 100:
        raise argparse.ArgumentTypeError(f"{number}: must be at most 100")
    return number


def run(options: argparse.Namespace) -> int:
    """Converts; 1 if it failed, or samples were left out."""
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
            count = source.count
    except (OSError, SampleError, ValueError, ImportError) as error:
        print(f"convert: {error}", file=sys.stderr)
        return 1
    for problem in done.damaged:
        print(f"convert: left out: {problem}", file=sys.stderr)
    if not options.quiet:
        there = f", {done.shards - done.written} of them were there" if done.written < done.shards else ""
        print(f"{options.target}: {count} samples, {done.shards} files{there}")
    return 1 if done.damaged else 0
