"""Reads speech and transcripts from NeMo manifests, which have a JSON object for each recording or segment."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from jdali import types
from jdali._errors import SampleError
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import files as _storage
from jdali._storage import read_file
from jdali.codecs import audio as codec
from jdali.readers.base import Reader, reader_options, shuffle_options, slices
from jdali.readers.formats.records import required_paths

_NAME = "readers.nemo_asr"


class Entry(msgspec.Struct, gc=False):
    """A line of a manifest; times are in seconds."""

    audio_filepath: str
    offset: float | None = None
    duration: float | None = None
    text: str | None = None


class NemoAsrReader(Reader):
    """Reads recordings listed in manifests.

    Args:
        entries: entries of all manifests, one manifest after another.
        starts: index of the first entry of each manifest.
        lines: line number of each entry in its manifest.
        decoding: arguments of `codecs.audio.decode_part`.
        outputs: three booleans: whether to return the sampling rate, the text and the index.
    """

    def __init__(
        self,
        manifests: Sequence[str],
        entries: Sequence[Entry],
        starts: Sequence[int],
        lines: Sequence[int],
        *,
        decoding: Mapping[str, Any],
        outputs: tuple[bool, bool, bool],
        options: Mapping[str, Any],
    ):
        super().__init__(len(entries), options)
        self._manifests, self._entries, self._starts, self._lines = manifests, entries, starts, lines
        self._decoding, self._outputs = decoding, outputs
        self._folder = _storage.working_folder()
        self.num_outputs = 1 + sum(outputs)

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        entry, path = self._entries[index], _storage.join(self._folder, self.source(index))
        manifest = self._manifest(index)
        try:
            wave, info = codec.decode_part(
                read_file(path), entry.offset or 0.0, entry.duration, **self._decoding
            )
        except SampleError as error:
            where = f"line {self._lines[index]} of {self._manifests[manifest]}"
            raise SampleError(f"{_NAME}: {path}, {where}: {error}") from error
        text = (entry.text or "").encode(errors="surrogatepass")
        extra: tuple[np.ndarray, ...] = (
            np.array(info.sample_rate, np.float32),
            np.frombuffer(text, np.uint8),
            np.array([index - self._starts[manifest]], np.int64),
        )
        return wave, *itertools.compress(extra, self._outputs)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        # A task per recording balances best; decoding outweighs the overhead of a task.
        return slices(len(indices), 1)

    def _manifest(self, index: int) -> int:
        return bisect.bisect_right(self._starts, index) - 1

    def source(self, index: int) -> str:
        return _storage.found_by_list(
            self._manifests[self._manifest(index)], self._entries[index].audio_filepath, self._folder
        )


def _num_outputs(arguments: Mapping[str, object]) -> int:
    return 1 + sum(
        bool(arguments.get(name, default))
        for name, default in (("read_sample_rate", True), ("read_text", True), ("read_idxs", False))
    )


@reader(name=_NAME, outputs=_num_outputs, devices=("cpu",), source="operators/reader/nemo_asr_reader_op.cc")
@also_takes(shuffle_options, reader_options)
def nemo_asr(
    *,
    manifest_filepaths: Static[tuple[str, ...]],
    downmix: Static[bool] = True,
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    max_duration: Static[float] = 0.0,
    min_duration: Static[float] = 0.0,
    quality: Static[float] = 50.0,
    read_idxs: Static[bool] = False,
    read_sample_rate: Static[bool] = True,
    read_text: Static[bool] = True,
    sample_rate: Static[float] = -1.0,
    **options: object,
) -> NemoAsrReader:
    """Reads and decodes the sounds that NeMo manifests list, and their texts.

    Each line of a manifest is a JSON object with an "audio_filepath". "offset" and "duration", in seconds, select a
    segment, "text" holds the transcript, and other keys are ignored. A relative path is looked up in the working
    folder, and then in the folder of the manifest.

    Parity: DALI looks in the working folder only, and skips lines that are not such objects.

    Args:
        manifest_filepaths: paths of the manifests.
        downmix: average all channels.
        dtype: INT16, INT32 or FLOAT; the full range of an integer type corresponds to -1 to 1 in FLOAT.
        max_duration: skip entries with a longer "duration", seconds; 0: no limit.
        min_duration: skip entries with a shorter or missing "duration", seconds; 0: no limit.
        quality: quality of the resampling, 0 to 100.
        read_idxs: also return the position of the entry in its manifest; skipped entries do not count.
        read_sample_rate: also return the sampling rate of the file.
        read_text: also return the text.
        sample_rate: rate to resample to, Hz; 0 or less: no resampling.

    Returns: the sound, `dtype`, [T] with `downmix`, otherwise [T, C]; the rate of the file, float32 [], even if the
        sound is resampled; the text, uint8 [bytes], UTF-8; the position, int64 [1].

    Example:
        sound, rate, text = fn.readers.nemo_asr(
            manifest_filepaths=["manifest.json"], sample_rate=8000, read_sample_rate=True
        )
    """
    manifests = required_paths(
        _NAME, "manifest_filepaths", manifest_filepaths, "``manifest_filepaths`` can not be empty"
    )
    kind = types.to_dtype(dtype)
    if kind not in (np.int16, np.int32, np.float32):
        raise ValueError(f"{_NAME}: dtype must be INT16, INT32 or FLOAT, got {kind}")
    if not 0 <= quality <= 100:
        raise ValueError(f"{_NAME}: Resampling quality must be in [0..100] range, got {quality}")
    # Like DALI, compares float32 limits with float64 durations.
    shortest = float(np.float32(min_duration)) if min_duration > 0 else -math.inf
    longest = float(np.float32(max_duration)) if max_duration > 0 else math.inf
    entries: list[Entry] = []
    lines: list[int] = []
    starts = []
    for manifest in manifests:
        starts.append(len(entries))
        for line, entry in parsed(manifest):
            # A missing duration counts as shorter than any limit.
            if shortest <= (-1.0 if entry.duration is None else entry.duration) <= longest:
                entries.append(entry)
                lines.append(line)
    if not entries:
        raise ValueError(f"{_NAME}: No files found: there is nothing to read in {', '.join(manifests)}")
    decoding = {"dtype": kind, "sample_rate": sample_rate, "quality": quality, "downmix": downmix}
    return NemoAsrReader(
        manifests, entries, starts, lines, decoding=decoding,
        outputs=(read_sample_rate, read_text, read_idxs), options=options,
    )  # fmt: skip


def parsed(manifest: str) -> list[tuple[int, Entry]]:
    with _storage.found(f'{_NAME}: Could not open NEMO ASR manifest file: "{manifest}"'):
        lines = _storage.lines(manifest)
    decoder = msgspec.json.Decoder(Entry)
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = decoder.decode(line)
            if not entry.audio_filepath or "\0" in entry.audio_filepath:
                raise ValueError(f"audio_filepath {entry.audio_filepath!r} is not a path")
            entry.audio_filepath = _storage.in_list(manifest, entry.audio_filepath)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ValueError(f"{_NAME}: line {number} of {manifest}: {error}") from error
        entries.append((number, entry))
    return entries
