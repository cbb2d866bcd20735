"""Finds the files of samples in tar archives, from an index or by scanning the archive."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from jdali._storage import Arrays, BadRecord, RecordFiles, always, cached_index, scan_bar
from jdali._storage import files as _storage
from jdali.readers.formats.records import CutShort
from jdali.readers.formats.tar import BLOCK, Member, has_name, header_mark, is_header_of, members, name_mark
from jdali.readers.found_by import fits_at

NAME = "readers.webdataset"
"""Name of the reader, for messages."""
SPARSE = "is stored as a sparse file, which is not read: write the archive without the option --sparse of tar"
"""Completes an error message about a file."""
# Number of words for each component in a line of an index, by version.
_WORDS = {b"v1.1": 3, b"v1.2": 4}


class Components(NamedTuple):
    """The files in one archive.

    Attributes:
        extensions: the distinct extensions.
        extension: int64 [n], index of each file's extension.
        sample: int64 [n], number of the sample that each file belongs to.
        offset: int64 [n], offset of the content, bytes.
        size: int64 [n], bytes.
        mark: uint64 [n]. After a scan of the archive: hash of the header; 0 for a sparse file, which cannot be read.
            From an index: hash of the name; 0 for an unknown name.
    """

    extensions: list[str]
    extension: np.ndarray
    sample: np.ndarray
    offset: np.ndarray
    size: np.ndarray
    mark: np.ndarray


def components_of(
    files: RecordFiles,
    file: int,
    index: str | None,
    goes_on: bool,
    fits: Callable[[Arrays], bool] | None = None,
) -> Components:
    """Finds the components of an archive.

    Args:
        index: path of the archive's index; None: scan the archive, and cache the index in the user's cache folder.
        goes_on: if the archive is damaged, return the components before the damage, and set `files.lost[file]`.
        fits: returns True if a cached index is right; None: check some of its entries against a local archive.

    Raises:
        FileNotFoundError: the index cannot be read.
        ValueError: the archive or the index is damaged, or they contradict each other.
    """
    path = files.paths[file]
    if index is None:
        if fits is None:
            fits = functools.partial(_fits, files, file) if files.is_local(file) else always
        try:
            return _components(cached_index("webdataset", path, functools.partial(build_index, path), fits))
        except CutShort as cut:
            if not goes_on:
                raise
            files.lost[file] = cut.reason
            return _components(cut.known)
    return _as_first(files, file, index, _indexed(index, path, files.sizes[file]))


def _fits(files: RecordFiles, file: int, index: Arrays) -> bool:
    components = _components(index)

    def begins(number: int) -> bool:
        header = files.read(file, components.offset.item(number) - BLOCK, BLOCK)
        return components.mark.item(number) in (0, header_mark(header))

    count = len(components.offset)
    return fits_at(count, begins) and _mark_after(files, file, components) == index["after"].item()


def _mark_after(files: RecordFiles, file: int, components: Components) -> int:
    """Hashes the block after the last component, to detect appended data; returns 0 at the end of the file."""
    end = components.offset.item(-1) + components.size.item(-1)
    end += -end % BLOCK
    return header_mark(files.read(file, end, BLOCK)) if end + BLOCK <= files.sizes[file] else 0


def _group(entries: Iterable[tuple[int, str, int, int, int]]) -> Arrays:
    """Converts the components, each (sample, extension, offset, size, mark), to the arrays to cache."""
    extensions: dict[str, int] = {}
    marks: list[int] = []
    rows = []
    for sample, extension, offset, size, mark in entries:
        rows.append((sample, extensions.setdefault(extension, len(extensions)), offset, size))
        marks.append(mark)
    names = "\0".join(extensions).encode(errors="surrogateescape")
    return {
        "table": np.array(rows, np.int64).reshape(-1, 4),
        "marks": np.array(marks, np.uint64),
        "extensions": np.frombuffer(names, np.uint8),
    }


def _components(index: Arrays) -> Components:
    sample, extension, offset, size = index["table"].T
    names = index["extensions"].tobytes().decode(errors="surrogateescape")
    return Components(names.split("\0"), extension, sample, offset, size, index["marks"])


def build_index(path: str) -> Arrays:
    """Scans an archive for the components of its samples; raises `CutShort` if the archive is damaged."""
    files = RecordFiles(NAME, [path])
    found: list[tuple[int, str, int, int, int]] = []
    try:
        with scan_bar(path) as progress:
            for sample, extension, member in scanned(files, 0):
                mark = 0 if member.is_sparse else header_mark(member.header)
                found.append((sample, extension, member.offset, member.size, mark))
                progress(member.offset + member.size)
        index = _group(found)
        after = _mark_after(files, 0, _components(index)) if found else 0
        return {**index, "after": np.array([after], np.uint64)}
    except BadRecord as error:
        # The last sample may be incomplete.
        known = _group(one for one in found if one[0] < found[-1][0])
        raise CutShort(f"{NAME}: {path}: {error}", error, known) from error
    finally:
        files.close()


def index_lines(path: str, progress: Callable[[int], object]) -> Iterator[str]:
    """Yields the lines of an archive's index, in the format of `wds2idx`.

    Raises:
        ValueError: the file is not an archive, is damaged or truncated, has no samples, or contains a sparse file or a
            name with a blank.
    """
    files = RecordFiles(NAME, [path])
    samples: list[list[str]] = []
    try:
        for sample, extension, (name, offset, size, _, is_sparse) in scanned(files, 0):
            if is_sparse:
                raise BadRecord(f"{os.fsdecode(name)} at byte {offset} {SPARSE}")
            if name.split() != [name]:
                raise BadRecord(f"the name {os.fsdecode(name)!r} has a blank, which an index cannot hold")
            if sample == len(samples):
                samples.append([])
            samples[-1] += [extension, str(offset), str(size), os.fsdecode(name)]
            progress(offset + size)
    except BadRecord as error:
        raise ValueError(f"{NAME}: {path}: {error}") from error
    finally:
        files.close()
    if not samples:
        raise ValueError(f"{NAME}: {path}: Webdataset Tar File empty")
    yield f"v1.2 {len(samples)}"
    yield from map(" ".join, samples)


def scanned(files: RecordFiles, number: int) -> Iterator[tuple[int, str, Member]]:
    """Yields (sample number, extension, member) for each component of an archive."""
    sample, last = -1, None
    for member in members(files, number):
        folder, slash, file = member.name.rpartition(b"/")
        stem, dot, extension = file.partition(b".")
        if not stem:
            continue  # skips hidden files
        if not dot:  # as in DALI, the whole name counts as the extension
            extension = member.name
        if (whole := folder + slash + stem) != last:
            sample, last = sample + 1, whole
        yield sample, os.fsdecode(extension), member


def _indexed(index: str, path: str, size: int) -> Components:
    with _storage.found(f"{NAME}: cannot read the index {index}"):
        lines = _storage.lines(index)
    version, _, count = lines[0].strip().partition(b" ")
    if version not in _WORDS or not count.isdigit():
        shown = lines[0][:60].decode(errors="replace")
        wrong = "no version signature found" if not version else "no sample count found"
        if version and version not in _WORDS:
            wrong = f"Unsupported version of the index file ({shown.partition(' ')[0]})"
        raise ValueError(
            f'{NAME}: Malformed index file at "{index}" line 0 - {wrong}: it must begin with "v1.2" or "v1.1" and the number '
            f"of samples, but begins with {shown!r}"
        )
    samples = [(number, line.split()) for number, line in enumerate(lines[1:], 2) if line.strip()]
    if len(samples) != int(count[:18]):
        raise ValueError(
            f'{NAME}: Malformed index file at "{index}" line {len(lines)} - no extensions provided for the sample: '
            f"it says that it has {count.decode()} samples, but has {len(samples)}"
        )
    entries = []
    for sample, (number, words) in enumerate(samples):
        step = _WORDS[version]
        numbers = words[1::step] + words[2::step]
        if len(words) % step or not all(w.isdigit() and len(w) < 19 for w in numbers):
            form = "`<ext> <offset> <size>" + " <filename>`" * (step == 4) + "`" * (step != 4)
            raise ValueError(
                f'{NAME}: Malformed index file at "{index}" line {number - 1} - Could not find all necessary component '
                f"parameters (offset{', size or filename' if step == 4 else ' or size'}). Every record in the index file should "
                f"look like: {form}, offset and size are numbers, the name has no blanks"
            )
        for at in range(0, len(words), step):
            offset, length = int(words[at + 1]), int(words[at + 2])
            if offset % BLOCK or not BLOCK <= offset <= size:
                wrong = "offset is outside of the archive file"
                if offset % BLOCK:
                    wrong = f"tar offset is not a multiple of tar block size ({BLOCK})"
                raise ValueError(
                    f'{NAME}: Malformed index file at "{index}" line {number - 1} - {wrong}: in {path} no file can begin at '
                    f"byte {offset} of its {size}"
                )
            mark = name_mark(words[at + 3]) if step > 3 else 0
            entries.append((sample, os.fsdecode(words[at]), offset, length, mark))
    return _components(_group(entries))


def _as_first(files: RecordFiles, file: int, index: str, components: Components) -> Components:
    """Checks the first component of an index; raises ValueError if no file in the archive has its offset and size.

    If this file has another name, clears all marks, so that names are ignored, as in DALI.
    """
    if not len(components.offset):
        return components
    offset, size = int(components.offset[0]), int(components.size[0])
    header = files.read(file, offset - BLOCK, BLOCK)
    if not is_header_of(header, size):
        raise ValueError(
            f"{NAME}: the index {index} does not fit {files.paths[file]}: there is no file of {size} "
            "bytes at byte "
            f"{offset}; make it anew, or leave index_paths out"
        )
    if has_name(header, components.mark.item(0)):
        return components
    return components._replace(mark=np.zeros_like(components.mark))
