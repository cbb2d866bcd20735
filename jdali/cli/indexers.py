"""Implements DALI's console scripts `tfrecord2idx`, `rec2idx` and `wds2idx`, with the same command lines."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from jdali.cli import _index
from jdali.readers.formats.records import CutShort


def tfrecord2idx(arguments: Sequence[str] | None = None) -> int:
    """Runs `tfrecord2idx FILE INDEX` and returns its exit code.

    Args:
        arguments: arguments of the command line; None: the arguments of this process. Arguments after the index are ignored.
    """
    paths = sys.argv[1:] if arguments is None else arguments
    if len(paths) < 2:
        print("Usage: tfrecord2idx <tfrecord filename> <index filename>")
        return 0
    return _build("tfrecord", paths[0], paths[1], "Not a valid TFRecord file: ")


def rec2idx(arguments: Sequence[str] | None = None) -> int:
    """Runs `rec2idx RECORD INDEX` and returns its exit code; see `tfrecord2idx`."""
    parser = argparse.ArgumentParser(prog="rec2idx", description="Create an index file from .rec file")
    parser.add_argument("record", help="path to .rec file.")
    parser.add_argument("index", help="path to index file.")
    options = parser.parse_args(arguments)
    return _build("recordio", options.record, options.index, timed=True)


def wds2idx(arguments: Sequence[str] | None = None) -> int:
    """Runs `wds2idx ARCHIVE [INDEX]` and returns its exit code; see `tfrecord2idx`."""
    parser = argparse.ArgumentParser(
        prog="wds2idx",
        description="Creates a webdataset index file for the use with the `fn.readers.webdataset`.",
    )
    parser.add_argument("archive", help="path to .tar file.")
    parser.add_argument(
        "index", nargs="?", help="path to index file; the archive's up to the first dot, with .idx"
    )
    options = parser.parse_args(arguments)
    index = options.index if options.index is not None else _beside(options.archive)
    return _build("webdataset", options.archive, index, timed=True)


def _beside(archive: str) -> str:
    """Returns the path of an archive's index: the archive's name up to the first dot after its first character, and ".idx"."""
    folder, name = os.path.split(archive)
    return os.path.join(folder, name[:1] + name[1:].partition(".")[0] + ".idx")


def _build(kind: str, path: str, target: str, complaint: str = "", *, timed: bool = False) -> int:
    """Writes an index, or prints the error; returns the exit code.

    Args:
        kind: kind of the file, a key of `_index.KINDS`.
        complaint: prefix of the error for a file that is damaged or of a different kind.
        timed: print the time and the number of samples, as two of DALI's scripts do.
    """
    begin = time.monotonic()
    try:
        count = _index.build(path, target, kind, quiet=False)
    except (OSError, ValueError, ImportError) as error:
        print(f"{complaint if isinstance(error, CutShort) else ''}{error}", file=sys.stderr)
        return 1
    if timed:
        print(f"time: {time.monotonic() - begin:.2f} count: {count} stage: done")
    return 0
