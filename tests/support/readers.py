"""Running a reader without a pipeline, and the same reader of DALI."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jdali import SampleError
from jdali._operators.record import REGISTRY
from jdali.readers.base import Reader
from support import oracle


def opened(name: str, **args: Any) -> Reader:
    """A reader, by its name or what comes after "readers.", with arguments as a user gives them."""
    op = REGISTRY[name if "." in name else f"readers.{name}"]
    bound = op.bind(args)
    reader: Reader = op.run(**{key: arg.convert(bound[key]) for key, arg in op.public_args.items()})
    return reader


def everything(name: str, **args: Any) -> list[tuple[np.ndarray, ...]]:
    """The outputs of all samples, in order; read one by one and all together, which must give the same."""
    reader = opened(name, **args)
    indices = reader.take(reader.size).indices
    samples = [reader.load(int(i)) for i in indices]
    assert all(len(sample) == reader.num_outputs for sample in samples)
    # Samples of a batch have one type and number of axes; those of a whole data set need not.
    forms: dict[object, list[int]] = {}
    for position, sample in enumerate(samples):
        forms.setdefault(tuple((a.dtype, a.ndim) for a in sample), []).append(position)
    for positions in forms.values():
        together, failed = loaded_together(reader, indices[positions])
        assert not failed
        assert_same(together, [samples[position] for position in positions])
    reader.close()
    return samples


def loaded_together(
    reader: Reader, indices: np.ndarray
) -> tuple[list[tuple[np.ndarray, ...]], dict[int, str]]:
    """Outputs of those samples that can be read, and messages of the others by position, from `load_many`."""
    columns, failed = reader.load_many(np.asarray(indices))
    rows = zip(*[column.host_samples() for column in columns], strict=True)
    return list(rows), {position: str(error) for position, error in failed.items()}


def dali_everything(name: str, **args: Any) -> list[tuple[np.ndarray, ...]]:
    """As `everything`, by the real DALI."""
    dali = oracle.dali()
    import nvidia.dali.fn as fn

    args = {
        key: [oracle.translate(v) for v in value] if isinstance(value, list) else value
        for key, value in args.items()
    }
    pipe = dali.Pipeline(batch_size=4, num_threads=1, device_id=None, seed=1)
    with pipe:
        outputs = getattr(fn.readers, name)(name="r", **args)
        outputs = list(outputs.values()) if isinstance(outputs, dict) else outputs
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    size = pipe.reader_meta("r")["epoch_size"]
    samples: list[tuple[np.ndarray, ...]] = []
    while len(samples) < size:
        batch = pipe.run()
        samples += [tuple(np.array(output.at(i)) for output in batch) for i in range(4)]
    return samples[:size]


def assert_same(got: list[tuple[np.ndarray, ...]], expected: list[tuple[np.ndarray, ...]]) -> None:
    """Number of samples and outputs, element types, shapes and bytes."""
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        assert [(a.dtype, a.shape) for a in mine] == [(a.dtype, a.shape) for a in theirs]
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def failures(reader: Reader) -> dict[int, str]:
    """Messages of the samples that cannot be loaded, by index."""
    found = {}
    for i in range(reader.size):
        try:
            reader.load(i)
        except SampleError as error:
            found[i] = str(error)
    try:
        together = loaded_together(reader, np.arange(reader.size))[1]
    except ValueError as error:
        assert "a batch has one type" in str(error)  # noqa: PT017  samples of different forms
    else:
        assert together == found
    return found


def survives(data: bytes, rng: np.random.Generator, open_: Any, path: Any, *, cases: int) -> int:
    """Opens and reads mutations of a file; only the two kinds of error that say what is wrong may come.

    Returns: in how many cases something was found to be wrong.
    """
    wrong = 0
    for _ in range(cases):
        bad = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            bad[rng.integers(len(bad))] = rng.integers(256)
        if rng.random() < 0.2:
            del bad[rng.integers(1, len(bad)) :]
        path.write_bytes(bad)
        try:
            reader = open_()
        except (ValueError, FileNotFoundError) as error:
            assert str(error).startswith("readers."), error  # noqa: PT017  an error may or may not come
            wrong += 1
            continue
        wrong += bool(failures(reader))
        reader.close()
    return wrong


def reads(name: str, path: Path | None, /, **args: Any) -> Callable[[bytes], None]:
    """For fuzz tests: a function that opens a reader and loads all samples, together and one by one.

    Args:
        name: of the reader, dotted.
        path: file that the data are written to before; None: they are not.
        args: of the reader, as the engine passes them on.
    """

    def read(data: bytes) -> None:
        if path is not None:
            path.write_bytes(data)
        reader: Reader = REGISTRY[name].run(**args)
        try:
            indices = np.arange(min(reader.size, 200))
            try:
                failures = reader.load_many(indices).failures
            except ValueError as error:
                if "a batch has one type" not in str(error):
                    raise
                failures = None  # each sample is good, but they are of different kinds
            alone = {}
            for i in indices.tolist():
                try:
                    reader.load(i)
                except SampleError as error:
                    alone[i] = error
            if failures is not None:
                assert set(alone) == set(failures), f"one by one {alone}, together {failures}"
            for error in alone.values():
                raise error
        finally:
            reader.close()

    return read


def next_samples(reader: Reader, count: int) -> list[tuple[bytes, ...]]:
    """The bytes of all outputs of the next samples."""
    indices = reader.take(count).indices.tolist()
    return [tuple(array.tobytes() for array in reader.load(index)) for index in indices]


def check_epochs_and_state(name: str, **args: Any) -> None:
    """Every sample once an epoch, for 1, 2, 3 and 7 shards and several batch sizes, in order and shuffled; and
    a reader that is given the state of another goes on with the same bytes, wherever that state was taken.

    Args:
        name: of the reader under "readers.".
        args: of the reader; its samples must all differ.
    """
    size = opened(name, **args).size
    whole = next_samples(opened(name, **args), size)
    assert len(set(whole)) == size, "the check needs samples that all differ"
    for shards in (1, 2, 3, 7):
        for shuffled in (False, True):
            more = {**args, "num_shards": shards, "random_shuffle": shuffled, "seed": 5}
            taken: list[tuple[bytes, ...]] = []
            for shard in range(shards):
                reader = opened(name, shard_id=shard, **more)
                mine = size * (shard + 1) // shards - size * shard // shards
                got = next_samples(reader, mine)
                taken += got
                for batch in (1, 3):
                    reader.set_state(opened(name, shard_id=shard, **more).get_state())
                    again: list[tuple[bytes, ...]] = []
                    while len(again) < mine:
                        again += next_samples(reader, min(batch, mine - len(again)))
                    assert again == got, f"batches of {batch}"
                if not shuffled:
                    assert got == whole[size * shard // shards :][:mine]
            assert sorted(taken) == sorted(whole), f"{shards} shards"
    more = {**args, "num_shards": 2, "shard_id": 1, "random_shuffle": True, "seed": 5}
    reader = opened(name, **more)
    for _ in range(size):
        fresh = opened(name, **more)
        fresh.set_state(json.loads(json.dumps(reader.get_state())))
        following = next_samples(reader, 2)
        assert next_samples(fresh, 2) == following
