"""Implements `python -m jdali index FILE...`, which writes indexes of record files in DALI's formats."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jdali._errors import OperatorError
from jdali._storage import cached_index, scan_bar
from jdali._storage import files as _storage
from jdali._system.cache_folder import cache_folder
from jdali.cli._failed import failed
from jdali.cli._named import PipelineNameError, add_argument_values, factory
from jdali.readers import mxnet, tfrecord
from jdali.readers.formats.video_files import EXTENSIONS
from jdali.readers.formats.videos import build_index as build_video_index
from jdali.readers.formats.webdataset_index import index_lines

Progress = Callable[[int], None]


class IndexKind(NamedTuple):
    """A kind of file that has an index.

    Attributes:
        extensions: extensions of such files.
        lines: `lines(path, progress)` yields the lines of a file's index; calls `progress` with the bytes read so far.
    """

    extensions: tuple[str, ...]
    lines: Callable[[str, Progress], Iterator[str]]


def _tfrecord_lines(path: str, progress: Progress) -> Iterator[str]:
    offsets, sizes = tfrecord.build_index(path, progress)
    return (f"{offset} {size}" for offset, size in zip(offsets.tolist(), sizes.tolist(), strict=True))


def _recordio_lines(path: str, progress: Progress) -> Iterator[str]:
    offsets = mxnet.build_index(path, progress)["offsets"]
    return (f"{number}\t{offset}" for number, offset in enumerate(offsets.tolist()))


KINDS = {
    "tfrecord": IndexKind((".tfrecord", ".tfrecords"), _tfrecord_lines),
    "recordio": IndexKind((".rec",), _recordio_lines),
    "webdataset": IndexKind((".tar",), index_lines),
}


# A video's index is written to the cache folder, where readers expect it.
_VIDEO = "video"


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "index",
        help="build indexes of TFRecord, RecordIO, WebDataset and video files",
        description=(
            "Writes an index of the records of a file, as DALI's tfrecord2idx, rec2idx and wds2idx do. The "
            "index of FILE is FILE with .idx in place of its extension. jdali's readers do not need it: they build "
            "an index on first use and cache it in the cache folder. The index of a video is always written to this "
            "folder."
        ),
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="a path or a URL; or FILE_OR_MODULE:FUNCTION: build this pipeline, whose readers then cache their indexes",
    )  # fmt: skip
    add_argument_values(parser)
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="path of the index (of one FILE), or a folder for the indexes"
    )
    parser.add_argument(
        "-t",
        "--type",
        choices=[*sorted(KINDS), _VIDEO],
        help="type of the files, if neither name nor content tells",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Builds the indexes; returns 1 if an index cannot be built."""
    folder = options.output is not None and os.path.isdir(options.output)
    if options.output is not None and len(options.files) > 1 and not folder:
        count = len(options.files)
        text = f"there are {count} files, so --output must be a folder that exists, not {options.output}"
        return failed("index", text, 2)
    paths = [_storage.user_path(path) for path in options.files]
    if options.arg and not any(map(_is_name, paths)):
        return failed("index", f"--arg {options.arg[0]} needs the name of a pipeline", 2)
    try:
        _check_targets(paths, options.output, folder)
    except ValueError as error:
        return failed("index", error, 2)
    code = 0
    for path in paths:
        named = _is_name(path)
        # Any other error of a pipeline is one of the user's own code, and needs its traceback.
        expected: tuple[type[Exception], ...] = (
            (PipelineNameError, OperatorError) if named else (OSError, ValueError, ImportError)
        )
        try:
            said = _build_pipeline(path, options.arg) if named else _build_file(path, options, folder)
        except expected as error:
            code = failed("index", error)
            continue
        if not options.quiet:
            print(said)
    return code


def _is_name(path: str) -> bool:
    place, _, function = path.rpartition(":")
    return bool(place) and function.isidentifier() and not os.path.exists(path) and not _storage.is_url(path)


def _build_pipeline(name: str, arguments: Sequence[str]) -> str:
    """Builds a pipeline, so that its readers cache their indexes; returns a message."""
    with contextlib.closing(factory(name, arguments)()) as pipe:
        pipe.build()
        sizes = ", ".join(
            f"{name}: {meta['epoch_size']} samples" for name, meta in pipe.reader_meta().items()
        )
    return f"{name}: {sizes or 'no readers'}; their indexes are in {cache_folder() / 'index'}"


def _build_file(path: str, options: argparse.Namespace, folder: bool) -> str:
    """Builds the index of a file; returns a message."""
    kind = options.type or kind_of(path)
    if kind == _VIDEO:
        return _keep_video(path, options.output)
    target = _target(path, options.output, folder)
    count = build(path, target, kind, quiet=options.quiet)
    return f"{target}: {count} records of {path}"


def _check_targets(paths: Sequence[str], output: str | None, folder: bool) -> None:
    """Raises ValueError if two files would have the same index."""
    files: dict[str, str] = {}
    for path in paths:
        if _is_name(path) or (_storage.is_url(path) and output is None):
            continue
        target = _target(path, output, folder)
        other = files.setdefault(os.path.abspath(target), path)
        if other != path:
            raise ValueError(
                f"the indexes of {other} and {path} would both be {target}; index one of them with another --output"
            )


def _target(path: str, output: str | None, folder: bool) -> str:
    if output is not None and not folder:
        return output
    beside = (os.path.splitext(path)[0] if kind_by_name(path) else path) + ".idx"
    if output is not None:
        return os.path.join(output, os.path.basename(beside))
    if _storage.is_url(path):
        raise ValueError(f"the index of {path} cannot be written beside it; say where by --output")
    return beside


def _keep_video(path: str, output: str | None) -> str:
    """Builds the index of a video in the cache folder; returns a message."""
    if output is not None:
        raise ValueError(f"the index of the video {path} is kept in the cache folder; leave --output out")
    index = cached_index("video", path, lambda: build_video_index(path))
    return f"{path}: {len(index['ticks'])} frames, the index is in {cache_folder() / 'index'}"


def kind_by_name(path: str) -> str | None:
    extension = os.path.splitext(path)[1].lower()
    return next((name for name, kind in KINDS.items() if extension in kind.extensions), None)


def kind_of(path: str) -> str:
    """Finds the kind of a file by its content or else its name; raises ValueError if the kind is unknown."""
    with _storage.open(path) as file:
        head = file.read(512)
    if head[257:262] == b"ustar":
        return "webdataset"
    if head[:4] == mxnet.MAGIC_BYTES:
        return "recordio"
    named = kind_by_name(path)
    if named is None and os.path.splitext(path)[1].lower() in EXTENSIONS:
        return _VIDEO
    if tfrecord.begins_record(head):
        return "tfrecord"
    if named:
        return named
    raise ValueError(
        f"{path} is not a TFRecord, RecordIO, tar or video file; if it is one, say which by --type"
    )


def build(path: str, target: str, kind: str, *, quiet: bool = True) -> int:
    """Writes the index of a file atomically.

    Args:
        kind: kind of the file, one of `KINDS`.
        quiet: hide the progress.

    Returns: number of records.

    Raises:
        ValueError: the file is damaged or not of this kind.
        OSError: the file cannot be read, or the index cannot be written.
    """
    if not _storage.is_url(path) and os.path.realpath(path) == os.path.realpath(target):
        raise ValueError(f"the index of {path} would be written over the file itself; name another --output")
    with scan_bar(path, wanted=not quiet) as progress:
        lines = KINDS[kind].lines(path, progress)
        folder = os.path.dirname(os.path.abspath(target))
        try:
            descriptor, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        except OSError as error:
            raise OSError(error.errno, error.strerror, target) from error  # the name that the user knows
        try:
            count = 0
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                for count, line in enumerate(lines, 1):  # noqa: B007  the number of lines
                    file.write(line + "\n")
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    return count - (kind == "webdataset")  # the index of a WebDataset has a header line


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
