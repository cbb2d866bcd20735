"""Opens data sets of all kinds, and reads their samples by index."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import functools
import io
import itertools
import math
import os
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import soundfile

from jdali._errors import SampleError
from jdali._storage import RecordFiles, read_file
from jdali._storage import files as _storage
from jdali._system.regular_file import is_of_machine
from jdali.cli.conversion.pictures import HOLDS, VIDEOS, extension_of, file_content
from jdali.codecs import audio
from jdali.readers import array_record, caffe, caffe2, file, mxnet, nemo_asr, tfrecord
from jdali.readers.base import Reader
from jdali.readers.formats import coco_json, tf_example
from jdali.readers.formats.arrow_columns import need_pyarrow
from jdali.readers.formats.lmdb import database_file
from jdali.readers.formats.records import BadRecord
from jdali.readers.formats.tables import classes_of, short
from jdali.readers.formats.webdataset_index import SPARSE, scanned

_NAME = "convert"
# Tolerance in seconds for comparing durations, because durations in manifests are rounded.
_SAME_SECONDS = 0.01
# A number that may be written as a float, such as 7.0.
_Whole = int | Annotated[float, msgspec.Meta(multiple_of=1)]


class SourceSample(NamedTuple):
    """A sample that was read from a data set, or is to be written.

    Attributes:
        key: name of the sample.
        fields: values by name: bytes, text, numbers, arrays, lists and objects.
        record: bytes of the source's tf.train.Example; None for other formats.
    """

    key: str
    fields: dict[str, Any]
    record: bytes | None = None


@dataclasses.dataclass(frozen=True)
class Source:
    """A data set whose samples are read by index.

    Attributes:
        count: number of samples.
        read: `read(index)` reads a sample, in any thread.
        name: `name(index)` names the place of a sample, for messages.
        identity: JSON-able value that distinguishes this data set from others.
        keyed: True if the data set has keys; if False, numbers serve as keys.
        classes: class names of each field of labels.
        schema: Arrow schema of a table; None for other formats.
        close: closes the files of the data set.
    """

    count: int
    read: Callable[[int], SourceSample]
    name: Callable[[int], str]
    identity: Any
    keyed: bool = False
    classes: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    schema: Any = None
    close: Callable[[], object] = lambda: None


def _sizes(files: RecordFiles) -> dict[str, int]:
    return dict(zip(files.names, files.sizes, strict=True))


def _sizes_of(paths: Sequence[str]) -> dict[str, int]:
    with contextlib.closing(RecordFiles(_NAME, paths)) as files:
        return _sizes(files)


def _key(index: int) -> str:
    return f"{index:09d}"


def _folders(paths: Sequence[str]) -> Source:
    (root,) = _only(paths, "folder of class folders")
    filters = (*file.FILE_FILTERS, *(f"*.{extension}" for extension in VIDEOS))
    reader = file.file.run(file_root=root, file_filters=filters)
    classes = reader.meta()["classes"]

    def read(index: int) -> SourceSample:
        content, label = reader.load(index)
        name = reader.names[index].removeprefix("./")
        key = os.path.splitext(name)[0]
        field = HOLDS[extension_of(name)]
        return SourceSample(key, {field: file_content(content, name), "label": int(label[0])})

    # Names only: the conversion continues after a damaged file, which stopped it, was replaced.
    names = "\0".join(map(reader.source, range(reader.count)))
    identity = [reader.count, zlib.crc32(names.encode(errors="surrogateescape"))]
    return Source(
        reader.count,
        read,
        reader.source,
        identity,
        keyed=True,
        classes={"label": classes},
        close=reader.close,
    )


def _webdataset(paths: Sequence[str]) -> Source:
    files = RecordFiles(_NAME, paths)
    samples: list[tuple[str, int, list[tuple[str, int, int]]]] = []
    for number in range(len(paths)):
        last = -1
        try:
            for sample, extension, member in scanned(files, number):
                if member.is_sparse:
                    raise BadRecord(f"{os.fsdecode(member.name)} {SPARSE}")
                if sample != last:
                    whole = os.fsdecode(member.name)
                    samples.append((whole.removesuffix(f".{extension}"), number, []))
                    last = sample
                samples[-1][2].append((extension, member.offset, member.size))
        except BadRecord as error:
            raise ValueError(f"{files.names[number]}: {error}") from error

    def read(index: int) -> SourceSample:
        key, number, parts = samples[index]
        return SourceSample(
            key,
            {extension: file_content(files.read(number, *place), extension) for extension, *place in parts},
        )

    def name(index: int) -> str:
        return f"{files.names[samples[index][1]]}#{samples[index][0]}"

    return Source(len(samples), read, name, _sizes(files), keyed=True, close=files.close)


def _examples(
    count: int,
    record: Callable[[int], bytes],
    name: Callable[[int], str],
    identity: Any,
    close: Callable[[], object],
) -> Source:
    """Builds the source of records, which are tf.train.Examples or plain bytes."""

    def read(index: int) -> SourceSample:
        data = record(index)
        try:
            fields = tf_example.parse(data)
        except (BadRecord, ValueError, IndexError):
            fields = {}
        return SourceSample(_key(index), fields or {"record": data}, data)

    return Source(count, read, name, identity, close=close)


def _place(firsts: Sequence[int], index: int) -> tuple[int, int]:
    """Returns the number of the file or group that contains a sample, and the sample's row in it."""
    number = bisect.bisect_right(firsts, index) - 1
    return number, index - firsts[number]


def _tfrecord(paths: Sequence[str]) -> Source:
    files = RecordFiles(_NAME, paths)
    found = [tfrecord.build_index(path) for path in paths]
    firsts = list(itertools.accumulate((len(records.offsets) for records in found), initial=0))

    def record(index: int) -> bytes:
        number, row = _place(firsts, index)
        records = found[number]
        return tfrecord.checked(files.read(number, records.offsets.item(row), records.sizes.item(row)))

    def name(index: int) -> str:
        number, row = _place(firsts, index)
        return f"{files.names[number]}#record {row}"

    return _examples(firsts[-1], record, name, _sizes(files), files.close)


def _array_record(paths: Sequence[str]) -> Source:
    reader = array_record.array_record.run(paths=tuple(paths))

    def record(index: int) -> bytes:
        return reader.load(index)[0].tobytes()

    return _examples(reader.count, record, reader.source, _sizes_of(paths), reader.close)


def _labelled(reader: Reader, files: Any) -> Source:
    def read(index: int) -> SourceSample:
        picture, label, *_ = reader.load(index)
        value = picture.tobytes() if picture.ndim == 1 else picture
        return SourceSample(
            _key(index), {"image": value, "label": label.item() if label.size == 1 else label.tolist()}
        )

    return Source(reader.count, read, reader.source, [files, reader.count], close=reader.close)


def _recordio(paths: Sequence[str]) -> Source:
    return _labelled(mxnet.mxnet.run(path=tuple(paths)), _sizes_of(paths))


def _caffe(paths: Sequence[str]) -> Source:
    return _labelled(caffe.caffe.run(path=tuple(paths)), _sizes_of([*map(database_file, paths)]))


def _caffe2(paths: Sequence[str]) -> Source:
    return _labelled(caffe2.caffe2.run(path=tuple(paths)), _sizes_of([*map(database_file, paths)]))


def _by_arrow(read: Callable[[str], Any], path: str) -> Any:
    """Calls `read(path)`; raises ValueError with the path if Arrow cannot read the file."""
    try:
        return read(path)
    except (OSError, ValueError) as error:
        if is_of_machine(error) or getattr(error, "filename", None):
            raise
        raise ValueError(f"{path} is damaged, or of another format: {short(error)}") from error


def _parquet(paths: Sequence[str]) -> Source:
    need_pyarrow(_NAME)
    import pyarrow.parquet as pq

    with contextlib.ExitStack() as opened:

        def parquet(path: str) -> Any:
            file = opened.enter_context(_storage.open(path))
            return pq.ParquetFile(file, page_checksum_verification=True)

        files = [_by_arrow(parquet, path) for path in paths]
        close = opened.pop_all().close
    groups = [(number, group) for number, one in enumerate(files) for group in range(one.num_row_groups)]
    counts = [files[number].metadata.row_group(group).num_rows for number, group in groups]
    lock = threading.Lock()  # all threads share the file's position

    @functools.lru_cache(maxsize=4)
    def rows(number: int) -> Any:
        file_number, group = groups[number]
        return files[file_number].read_row_group(group)

    def table(number: int) -> Any:
        with lock:
            return rows(number)

    return _tables(
        counts, table, lambda i: paths[groups[i][0]], files[0].schema_arrow, _sizes_of(paths), close
    )


def _arrow(paths: Sequence[str]) -> Source:
    need_pyarrow(_NAME)
    import pyarrow as pa

    def table(path: str) -> Any:
        with _storage.open(path) as opened:
            is_file = opened.read(6) == b"ARROW1"
        mapped = _storage.open(path) if _storage.is_url(path) else pa.memory_map(path)
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(mapped).read_all()

    tables = [_by_arrow(table, path) for path in paths]
    counts = [len(table) for table in tables]
    return _tables(counts, tables.__getitem__, paths.__getitem__, tables[0].schema, _sizes_of(paths))


def _tables(
    counts: Sequence[int],
    table: Callable[[int], Any],
    path: Callable[[int], str],
    schema: Any,
    identity: Any,
    close: Callable[[], object] = lambda: None,
) -> Source:
    """Builds a source whose samples are rows of tables; `table(i)` has `counts[i]` rows."""
    firsts = list(itertools.accumulate(counts, initial=0))

    def read(index: int) -> SourceSample:
        number, row = _place(firsts, index)
        try:
            (fields,) = table(number).slice(row, 1).to_pylist()
        except (OSError, ValueError) as error:
            if is_of_machine(error):
                raise
            raise SampleError(f"its rows are damaged: {short(error)}") from error
        return SourceSample(_key(index), fields)

    def name(index: int) -> str:
        return f"{path(_place(firsts, index)[0])}, sample {index}"

    return Source(firsts[-1], read, name, identity, classes=classes_of(schema), schema=schema, close=close)


class _CocoObject(msgspec.Struct, gc=False):
    image_id: _Whole
    category_id: _Whole
    bbox: list[float] = []
    area: float | None = 0.0
    iscrowd: _Whole | bool | None = 0
    segmentation: msgspec.Raw = msgspec.Raw(b"null")


class _CocoImage(msgspec.Struct, gc=False):
    id: _Whole
    file_name: str


class _CocoCategory(msgspec.Struct, gc=False):
    id: _Whole
    name: str


class _CocoFile(msgspec.Struct):
    images: list[_CocoImage]
    annotations: list[_CocoObject]
    categories: list[_CocoCategory] = []


def _coco(paths: Sequence[str]) -> Source:
    texts = [path for path in paths if path.lower().endswith(".json")]
    folders = [path for path in paths if path not in texts]
    if len(texts) != 1 or len(folders) > 1:
        raise ValueError("COCO needs the annotations, a .json file, and the folder of the pictures")
    path, folder = texts[0], folders[0] if folders else os.path.dirname(texts[0])
    text = _storage.read(path)
    _storage.check_items(path, text.count(b"{"), "entries")
    try:
        found = coco_json.decoded(text, _CocoFile)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    names = {category.id: category.name for category in found.categories}
    by_image: dict[float, list[_CocoObject]] = {}
    for one in found.annotations:
        by_image.setdefault(one.image_id, []).append(one)
    files = _storage.all_from_data(
        folder,
        [image.file_name for image in found.images],
        lambda index: f"{path}: image {found.images[index].id}",
        free=False,
    )

    def place(index: int) -> str:
        return _storage.join(folder, files[index])

    def read(index: int) -> SourceSample:
        image, objects = found.images[index], by_image.get(found.images[index].id, [])
        fields = {
            "image": file_content(read_file(place(index)), image.file_name),
            "image_id": int(image.id),
            "boxes": [one.bbox for one in objects],
            "labels": [int(one.category_id) for one in objects],
            "categories": [names.get(one.category_id, "") for one in objects],
            "area": [math.nan if one.area is None else one.area for one in objects],
            "iscrowd": [int(one.iscrowd or 0) for one in objects],
            "segmentation": [bytes(one.segmentation).decode() for one in objects],
        }
        return SourceSample(os.path.splitext(image.file_name)[0], fields)

    identity = [list(paths), len(found.images), zlib.crc32(text)]
    return Source(len(found.images), read, place, identity, keyed=True)


def _nemo(paths: Sequence[str]) -> Source:
    """Opens NeMo manifests: each line describes a sound and its text."""
    lines = [(path, number, entry) for path in paths for number, entry in nemo_asr.parsed(path)]
    working = _storage.working_folder()

    def name(index: int) -> str:
        path, number, entry = lines[index]
        return f"{entry.audio_filepath}, line {number} of {path}"

    def read(index: int) -> SourceSample:
        entry = lines[index][2]
        place = _storage.found_by_list(lines[index][0], entry.audio_filepath, working)
        data = read_file(_storage.join(working, place)).tobytes()
        info = audio.peek(data)
        seconds = info.length / info.sample_rate
        start, most = entry.offset or 0.0, entry.duration
        # As in `decode_part`, a negative time counts as missing.
        if start > 0 or (most is not None and 0 <= most < seconds - _SAME_SECONDS):
            # The entry describes only a part of the file. Decode this part as `readers.nemo_asr` does.
            wave, info = audio.decode_part(data, start, most, dtype=np.dtype(np.int16))
            out = io.BytesIO()
            try:
                soundfile.write(out, wave, round(info.sample_rate), format="FLAC", subtype="PCM_16")
            except soundfile.LibsndfileError as error:
                raise SampleError(
                    f"FLAC cannot store {info.channels} channels at {info.sample_rate} Hz: {error.error_string}"
                ) from error
            data, seconds = out.getvalue(), len(wave) / info.sample_rate
        fields = {"audio": file_content(data, place), "text": entry.text or "", "duration": seconds}
        return SourceSample(_key(index), fields)

    identity = [len(lines), {path: zlib.crc32(_storage.read(path)) for path in paths}]
    return Source(len(lines), read, name, identity)


class _SourceKind(NamedTuple):
    """A kind of data set: `parts` are substrings of file names that identify it, `open` opens it."""

    parts: tuple[str, ...]
    open: Callable[[Sequence[str]], Source]


KINDS = {
    "webdataset": _SourceKind((".tar",), _webdataset),
    "parquet": _SourceKind((".parquet",), _parquet),
    "arrow": _SourceKind((".arrow", ".feather"), _arrow),
    "array_record": _SourceKind((".array_record", ".arrayrecord"), _array_record),
    "tfrecord": _SourceKind((".tfrecord",), _tfrecord),
    "recordio": _SourceKind((".rec",), _recordio),
    "caffe": _SourceKind((), _caffe),
    "caffe2": _SourceKind((), _caffe2),
    "coco": _SourceKind((), _coco),
    "nemo": _SourceKind((), _nemo),
    "folders": _SourceKind((), _folders),
}
"""Maps names to kinds of data sets."""


def open_source(paths: Sequence[str], kind: str | None = None) -> Source:
    """Opens a data set.

    Args:
        paths: paths of its files, or the path of a folder with the files.
        kind: a key of `KINDS`; None guesses it from the names of the files.

    Raises:
        ValueError: the kind is unknown, or the data set is damaged.
        OSError: a file cannot be read.
    """
    files = [_storage.user_path(path) for path in paths]
    if len(files) == 1 and not _storage.is_url(files[0]) and os.path.isdir(files[0]):
        inside = _storage.entries(files[0], folders=False)
        if kind is None and "data.mdb" in inside:
            raise ValueError(f"{files[0]} is an LMDB database; give its format with --from: caffe or caffe2")
        known = {name: found for name in inside if (found := _kind_of(name)) and kind in (None, found)}
        if kind is None:
            kind = min(known.values(), default="folders")
        if KINDS[kind].parts:
            files = [_storage.join(files[0], name) for name, found in sorted(known.items()) if found == kind]
    kind = kind or _kind_of(files[0])
    if kind is None or not files:
        raise ValueError(f"it is not known what {paths[0]} is; say by --from: {', '.join(KINDS)}")
    source = KINDS[kind].open(files)
    if not source.count:
        raise ValueError(f"{paths[0]} has no samples")
    return source


def _kind_of(path: str) -> str | None:
    name = os.path.basename(path).lower()
    if name.endswith((".idx", ".part")):
        return None
    return next((kind for kind, (parts, _) in KINDS.items() if any(part in name for part in parts)), None)


def _only(paths: Sequence[str], what: str) -> Sequence[str]:
    if len(paths) > 1:
        raise ValueError(f"got {len(paths)} paths, expected one {what}")
    return paths
