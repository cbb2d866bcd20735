"""Base of readers that read from another reader, their source.

This module opens the source, and determines the order and the sizes of the source's samples."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jdali._operators.record import REGISTRY, ReaderOp
from jdali._storage import Scope, cached_index, is_url
from jdali._storage import version as file_version
from jdali._system.progress import progress_bar
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import Loaded, Reader
from jdali.readers.formats.records import path_list
from jdali.readers.order.epochs import Order
from jdali.readers.order.mixture import MixtureOrder
from jdali.readers.order.windows import WindowOrder
from jdali.storage import options

# Arguments that a source must leave at their defaults, because they are set in the reader that reads from the source.
_OF_WHOLE = {"shard_id": 0, "num_shards": 1, "pad_last_batch": False, "stick_to_shard": False}
# Number of samples to read together in `facts_of`.
_AT_ONCE = 1024


class OverReader(Reader):
    """Reads the samples of another reader, window by window."""

    def __init__(self, source: Reader, order: WindowOrder):
        self._source, self._order = source, order
        self.count, self.selection, self._class_of = source.count, source.selection, source._class_of
        self._output_names, self.class_names = source._output_names, source.class_names
        self.num_outputs, self.batches_ahead = source.num_outputs, source.batches_ahead

    @property
    def remote(self) -> bool:
        return self._source.remote

    def source(self, index: int) -> str:
        return self._source.source(index)

    def interrupt(self) -> None:
        self._source.interrupt()

    def close(self) -> None:
        self._source.close()


def opened_source(owner: str, whole: str, name: str, args: Mapping[str, Any], *, goes_on: bool) -> Reader:
    """Opens the source of a reader.

    Args:
        owner: name of the reader that reads from the source.
        whole: noun for the result of `owner`, such as "mixture", for error messages.
    """
    op = REGISTRY[name]
    if not isinstance(op, ReaderOp) or name == owner:
        raise ValueError(f"{owner}: {name} is not a reader of samples of a data set")
    own = [key for key, default in _OF_WHOLE.items() if args.get(key, default) != default]
    if own:
        raise ValueError(f"{owner}: {own[0]} is an argument of the {whole}, {name} has it")
    bound = op.bind(args)
    values = {key: arg.convert(bound[key]) for key, arg in op.public_args.items()}
    found: Reader = op.run(**values, **({"_goes_on": goes_on} if "_goes_on" in op.args else {}))
    return found


def seeded(name: str, args: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Returns the arguments of a source; a mixture without a seed gets `seed`."""
    return {**args, "seed": seed} if name == "readers.mix" and not has_seed(args) else {**args}


def stream_of(source: Reader, args: Mapping[str, Any], seed: int) -> MixtureOrder:
    """Returns the unsharded order of a source; treats a single reader as a mixture of one source."""
    order = source._order
    if isinstance(order, MixtureOrder):
        return order
    if not isinstance(order, Order):
        raise ValueError("the samples of its reader are packed or in buckets already")
    return MixtureOrder(
        [order],
        [(0, (1,))],
        shard_id=0,
        num_shards=1,
        pad_last_batch=False,
        seed=seed,
        seeded=[has_seed(args)],
    )


def has_seed(args: Mapping[str, Any]) -> bool:
    return args.get("seed") is not None and args["seed"] >= 0


def facts_of(
    name: str,
    args: Mapping[str, Any],
    source: Reader,
    find: Callable[[Loaded, np.ndarray], np.ndarray],
    key: tuple[Any, ...],
) -> np.ndarray:
    """Reads all samples of a source once, and returns a number for each, such as its length.

    The numbers are cached on disk if the arguments of the source name all of its files.

    Args:
        find: takes samples and their indices, and returns their numbers.
        key: values, besides the data, that the numbers depend on; if one is None, the numbers are not cached.

    Raises:
        OSError, MemoryError: the machine, not a sample, caused a failure.
    """

    def of(indices: np.ndarray) -> np.ndarray:
        loaded = source.load_many(indices)
        for error in loaded.failures.values():
            if is_of_machine(error):  # the sample may be good, so its number must not be cached
                raise error
        return find(loaded, indices)

    def build() -> Mapping[str, np.ndarray]:
        parts = [np.empty(0, np.int64)]
        # If each sample takes a remote request, the requests run in parallel.
        alone = source.remote and not source.reads_ahead
        requests = options().requests if alone else 1
        with (
            progress_bar(source.count, "samples", f"sizes of samples of {name}") as advance,
            contextlib.closing(Scope(requests)) as scope,
        ):
            for start in range(0, source.count, _AT_ONCE):
                indices = np.arange(start, min(start + _AT_ONCE, source.count))
                if alone:
                    some = np.array_split(indices, min(4 * requests, len(indices)))
                    found = [scope.submit(of, part) for part in some]
                    parts += [one.result() for one in found]
                else:
                    parts.append(of(indices))
                advance(len(indices))
        return {"facts": np.concatenate(parts)}

    files = _files(name, args)
    versions = [*map(file_version, files), *key]
    if not files or None in versions:
        return build()["facts"]
    # The numbers of a mixture depend on its sources, not on their shares.
    data = args["sources"] if name == "readers.mix" else sorted(args.items())
    digest = hashlib.sha256(_pickled((name, data, versions))).hexdigest()
    return cached_index(
        f"facts {digest}", files[0], build, lambda index: len(index["facts"]) == source.count
    )["facts"]


def _pickled(value: object) -> bytes:
    """Returns bytes that are the same for equal values. `repr` would shorten long arrays and expressions."""
    out = io.BytesIO()
    pickler = pickle.Pickler(out)
    pickler.fast = True  # otherwise the bytes depend on which of the equal parts are one object
    pickler.dump(value)
    return out.getvalue()


def _files(name: str, args: Mapping[str, Any]) -> list[str]:
    """Returns all files of a reader; empty if its arguments do not name all of them."""
    if name == "readers.mix":
        parts = [_files(*source) for source in args["sources"]]
        return [] if not all(parts) else [file for part in parts for file in part]
    given = args.get("paths", args.get("path"))
    if given is None or "file_root" in REGISTRY[name].args:
        return []
    files = path_list(name, "paths", given)
    return files if all(is_url(file) or os.path.isfile(file) for file in files) else []
