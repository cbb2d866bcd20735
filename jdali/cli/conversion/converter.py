"""Converts a data set shard by shard, in threads; continues where an earlier run stopped."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from jdali._errors import SampleError
from jdali._storage import BadRecord, is_url
from jdali.cli.conversion.pictures import PictureChange
from jdali.cli.conversion.sources import Source, SourceSample
from jdali.cli.conversion.targets import TARGETS, ShardWriter, sync

_PLAN = "convert.json"
# Number of samples in a thread's task, and number of samples, from the first on, that determine the types of fields.
_AT_ONCE, _FIRST = 16, 100
_DAMAGED = (SampleError, BadRecord)
_Treated = tuple[str, SourceSample | Exception]


class Done(NamedTuple):
    """The result of a conversion.

    Attributes:
        shards: number of shards, including those of an earlier run.
        written: number of shards that this run wrote.
        samples: number of samples in all shards.
        damaged: errors of the samples that the shards leave out.
    """

    shards: int
    written: int
    samples: int
    damaged: list[str]


def convert(
    source: Source,
    folder: str,
    kind: str,
    change: PictureChange,
    *,
    name: str,
    per_shard: int,
    threads: int,
    skips: bool = False,
    advance: Callable[[int], object] = lambda count: None,
) -> Done:
    """Writes a data set as shards; continues an interrupted conversion.

    A shard gets its final name only after it was read back and its checksums agree, so every shard with a final name is
    complete. The bytes of a shard depend only on its samples.

    Args:
        folder: folder to write to, created if missing. If it contains files, they must be of the same conversion.
        kind: format to write, a key of `TARGETS`.
        change: changes to apply to pictures.
        name: prefix of the shards' file names.
        per_shard: number of samples in a shard.
        threads: number of threads that read, check and change samples.
        skips: leave out damaged samples.
        advance: called with the number of samples finished since the last call.

    Raises:
        SampleError: a sample is damaged.
        ValueError: the folder contains other files, or a sample does not fit the format.
        OSError: a file cannot be read or written.
    """
    plan = {
        "version": 2, "to": kind, "name": name, "samples": source.count, "samples_per_shard": per_shard,
        "source": source.identity, "classes": source.classes, **dataclasses.asdict(change),
    }  # fmt: skip
    damaged = _claim(folder, json.loads(json.dumps(plan)), skips)
    target = TARGETS[kind]
    written = 0
    count = -(-source.count // per_shard)
    with ThreadPoolExecutor(threads) as pool:

        def treated(start: int, stop: int) -> Iterator[_Treated]:
            return _treated(pool, 2 * threads, source, change, range(start, stop))

        first: list[SourceSample] = []
        for shard in range(count):
            start, stop = shard * per_shard, min((shard + 1) * per_shard, source.count)
            file = f"{name}-{shard:05d}-of-{count:05d}.{target.extension}"
            path = os.path.join(folder, file)
            if os.path.exists(path):
                advance(stop - start)
                continue
            if target.has_types and source.schema is None and not first:
                first = [
                    one for _, one in treated(0, min(_FIRST, source.count)) if isinstance(one, SourceSample)
                ]
            bad: list[str] = []
            with _named(path) as part:
                _write(part, target, source, first, _good(treated(start, stop), skips, bad, advance))
                recorded = damaged.pop(file, [])
                if bad:
                    damaged[file] = bad
                if bad != recorded:
                    # Before the shard gets its name, so that a killed run loses no errors.
                    _write_plan(folder, plan, damaged)
            written += 1
    left_out = [problem for _, problems in sorted(damaged.items()) for problem in problems]
    return Done(count, written, source.count - len(left_out), left_out)


def _claim(folder: str, plan: Mapping[str, Any], skips: bool) -> dict[str, list[str]]:
    """Creates a missing folder, and records the conversion, unless the folder has shards of the same conversion.

    Returns: errors of the samples that shards leave out, by the shard's file name.

    Raises:
        ValueError: the folder is a URL, has other files, or its shards leave out samples and `skips` is False.
    """
    if is_url(folder):
        raise ValueError(f"{folder} is a URL; shards are written to a local folder")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, _PLAN)
    there = {name for name in os.listdir(folder) if not name.endswith(".part")}
    if there <= {_PLAN}:
        _write_plan(folder, plan, {})
        return {}
    if _PLAN not in there:
        raise ValueError(f"{folder} is not empty, and holds no conversion to continue; name another folder")
    with open(path, "rb") as file:
        text = file.read()
    try:
        before = {**json.loads(text)}
        damaged = {name: list(map(str, errors)) for name, errors in before.pop("damaged", {}).items()}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged, so the conversion cannot continue ({error}); name another folder, or delete it"
        ) from error
    if before != plan:
        other = ", ".join(sorted(k for k in {*plan, *before} if plan.get(k) != before.get(k)))
        raise ValueError(
            f"{folder} holds another conversion ({other} differ); name another folder, or delete it"
        )
    lacking = sorted(damaged.keys() & there)
    if lacking and not skips:
        raise ValueError(
            f"{folder}/{lacking[0]} was written with --skip-bad and leaves out {damaged[lacking[0]][0]}; "
            "give --skip-bad, or delete the file"
        )
    return damaged


def _write_plan(folder: str, plan: Mapping[str, Any], damaged: Mapping[str, Sequence[str]]) -> None:
    found = {**plan, "damaged": dict(sorted(damaged.items()))} if damaged else plan
    with _named(os.path.join(folder, _PLAN)) as part, open(part, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


@contextlib.contextmanager
def _named(path: str) -> Iterator[str]:
    """Yields the name of a temporary file to write to; renames this file to `path` when the block ends."""
    part = f"{path}.part"
    try:
        yield part
        sync(part)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _treated(
    pool: ThreadPoolExecutor, most: int, source: Source, change: PictureChange, indices: Sequence[int]
) -> Iterator[_Treated]:
    """Reads and changes samples in threads, up to `most` tasks ahead; yields (name, sample or error) in order."""

    def some(part: Sequence[int]) -> list[_Treated]:
        return [(source.name(index), _sample(source, change, index)) for index in part]

    parts = (indices[at : at + _AT_ONCE] for at in range(0, len(indices), _AT_ONCE))
    ahead: collections.deque[Future[list[_Treated]]] = collections.deque()
    try:
        for part in parts:
            ahead.append(pool.submit(some, part))
            if len(ahead) > most:
                yield from ahead.popleft().result()
        while ahead:
            yield from ahead.popleft().result()
    finally:
        for future in ahead:
            future.cancel()


def _sample(source: Source, change: PictureChange, index: int) -> SourceSample | Exception:
    try:
        sample = source.read(index)
        fields = {name: change.apply(value) for name, value in sample.fields.items()}
    except _DAMAGED as error:
        return error
    same = all(fields[name] is value for name, value in sample.fields.items())
    return sample if same else SourceSample(sample.key, fields)


def _good(
    samples: Iterator[_Treated], skips: bool, damaged: list[str], advance: Callable[[int], object]
) -> Iterator[tuple[str, SourceSample]]:
    for name, sample in samples:
        if isinstance(sample, Exception):
            if not skips:
                raise SampleError(f"{name}: {sample}") from sample
            damaged.append(f"{name}: {sample}")
        else:
            yield name, sample
        advance(1)


def _write(
    path: str,
    target: type[ShardWriter],
    source: Source,
    first: Sequence[SourceSample],
    samples: Iterator[tuple[str, SourceSample]],
) -> None:
    """Writes a shard, and checks what was written."""
    file = target(path, source, first)
    names, wanted = [], []
    try:
        for name, sample in samples:
            try:
                wanted.append(file.add(sample))
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"{name}: {error}") from error
            names.append(name)
    finally:
        file.close()
    found = list(target.checksums(path))
    for name, one, other in zip(names, wanted, found, strict=False):
        if one != other:
            raise OSError(f"{path}: what was written of {name} reads back differently; is the disk faulty?")
    if len(found) != len(wanted):
        raise OSError(f"{path} has {len(found)} samples of the {len(wanted)} that were written")
