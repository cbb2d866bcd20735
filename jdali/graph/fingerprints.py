"""Computes a pipeline's fingerprint: a short text that changes with everything that the samples depend on.

A graph is described by an entry for each operator: its name, the origins of its inputs, its arguments as text. If the
compressed entries are short, they are the fingerprint, and messages show the old and the new value of an argument that
differs. Otherwise the fingerprint has a few bits of a hash for each operator, and messages name the first operator that
differs.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import itertools
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali.graph.node import DataNode, Domain, Node

# A fingerprint with more characters has hashes in place of the text.
MOST_CHARACTERS = 400
# Longer values of arguments are hashed.
MOST_OF_A_VALUE = 48
# Longer lists are hashed as a whole, because hashing the labels of a large data set item by item would take a second.
MOST_ITEMS = 100
# Maximum number of differences that a message lists.
MOST_DIFFERENCES = 4

# Arguments that may change from run to run, such as the place of the data, and how it is divided, weighted and buffered.
# Readers themselves compare the size of the data, and `initial_fill` if the order depends on it.
MAY_CHANGE = frozenset({
    "file_root", "files", "file_list", "path", "paths", "uris", "index_path", "index_paths", "filenames",
    "annotations_file", "manifest_filepaths", "shard_id", "num_shards", "dont_use_mmap", "initial_fill",
    "lazy_init", "prefetch_queue_depth", "read_ahead", "skip_cached_images", "tensor_init_bytes",
    "cache_header_information", "additional_decode_surfaces", "parallel", "weights", "sources", "temperature",
    "schedule", "table", "documents", "lengths", "samples", "by",
})  # fmt: skip

Entry = list[Any]  # operator, inputs, {argument: text}


def describe(nodes: Sequence[Node], options: Mapping[str, object]) -> list[Entry]:
    """Returns an entry for the pipeline, then one for each node.

    The order of the nodes is the order of creation, because random keys depend on it.

    Args:
        options: options of the pipeline that change its results.
    """
    entries: list[Entry] = [["pipeline", "", {k: _text(v) for k, v in options.items() if v}]]
    return entries + [_entry(node) for node in nodes]


def _entry(node: Node) -> Entry:
    arguments = {}
    for name, value in sorted(node.args.items()):
        if name in MAY_CHANGE:
            continue
        if isinstance(value, DataNode):
            arguments[name] = _reference(value)
        elif (arg := node.op.public_args.get(name)) is None:
            arguments[name] = _text(value)
        elif (text := _text(arg.convert(value))) != _text(None if arg.required else arg.convert(arg.default)):
            arguments[name] = text
    if node.seed is not None:
        arguments["seed"] = _text(node.seed)
    inputs = [_reference(i) if isinstance(i, DataNode) else _text(i) for i in node.inputs]
    return [node.op.name, " ".join([*inputs, *_branch(node.domain)]), arguments]


def _reference(value: DataNode) -> str:
    return f"@{value.source.id}" + (f".{value.index}" if len(value.source.outputs) > 1 else "")


def _branch(domain: Domain) -> list[str]:
    if domain.parent is None or domain.predicate is None:
        return []
    branch = {True: "if", False: "else"}[domain.branch] if isinstance(domain.branch, bool) else domain.branch
    return [*_branch(domain.parent), f"{branch} {_reference(domain.predicate)}"]


def _text(value: object) -> str:
    """Writes a value as text that is the same in every process."""
    if isinstance(value, (np.ndarray, np.generic)):
        small = value.size * 4 <= MOST_OF_A_VALUE
        return _text(value.tolist()) if small else f"{value.dtype}{value.shape}#{_hash(value.tobytes())}"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, (list, tuple)) and len(value) > MOST_ITEMS:
        text = f"{len(value)} items#{_hash(repr(value).encode())}"
    elif isinstance(value, (list, tuple)):
        text = f"[{', '.join(map(_text, value))}]"
    elif isinstance(value, Mapping):
        text = f"{{{', '.join(f'{k}: {_text(v)}' for k, v in value.items())}}}"
    elif value is None or isinstance(value, (bool, int, complex, str, bytes, np.dtype)):
        text = str(value) if isinstance(value, np.dtype) else repr(value)
    else:  # a function or an object is represented by its name
        text = getattr(value, "__qualname__", type(value).__qualname__)
    return text if len(text) <= MOST_OF_A_VALUE else f"{text[:16]}...#{_hash(text.encode())}"


def _hash(data: bytes, characters: int = 8) -> str:
    return base64.b85encode(hashlib.sha256(data).digest()).decode()[:characters]


def fingerprint(entries: Sequence[Entry]) -> str:
    """Compresses the entries; if they are long, returns a hash of all entries, and a short hash of each."""
    data = json.dumps(entries, separators=(",", ":")).encode()
    text = base64.b85encode(zlib.compress(data, 9)).decode()
    if len(text) <= MOST_CHARACTERS:
        return text
    return f" {_hash(data, 16)}" + "".join(_hash(json.dumps(entry).encode(), 2) for entry in entries)


def difference(was: str, entries: Sequence[Entry]) -> str | None:
    """Describes the first differences between a fingerprint's pipeline and these entries; None if there are none."""
    if was == fingerprint(entries):
        return None
    if was.startswith(" "):
        return _first_hash_that_differs(was[17:], entries)
    try:
        before = json.loads(zlib.decompress(base64.b85decode(was)))
    except (ValueError, zlib.error):
        return "the fingerprint of its operators (its entry 'graph') is damaged"
    if before == entries:  # the fingerprints differ only by the version of zlib
        return None
    for number, (old, new) in enumerate(itertools.zip_longest(before, entries)):
        if old is None or new is None or old[0] != new[0]:
            return (
                f"operator {number} was {'none' if old is None else old[0]} and is "
                f"{'none' if new is None else new[0]} (there were {len(before) - 1} operators, there are "
                f"{len(entries) - 1})"
            )
    found = []
    for number, (old, new) in enumerate(zip(before, entries, strict=True)):
        if old[1] != new[1]:
            found.append(f"the inputs of operator {number}, {new[0]}, were {old[1]!r} and are {new[1]!r}")
        for name in sorted(old[2].keys() | new[2].keys()):
            values = [side[2].get(name, "the default") for side in (old, new)]
            if values[0] != values[1]:
                found.append(f"{name} of operator {number}, {new[0]}, was {values[0]} and is {values[1]}")
    more = "" if len(found) <= MOST_DIFFERENCES else f" and {len(found) - MOST_DIFFERENCES} more"
    return "; ".join(found[:MOST_DIFFERENCES]) + more


def _first_hash_that_differs(hashes: str, entries: Sequence[Entry]) -> str:
    before = [hashes[i : i + 2] for i in range(0, len(hashes), 2)]
    for number, (old, entry) in enumerate(itertools.zip_longest(before, entries)):
        if entry is None:
            break
        if old != _hash(json.dumps(entry).encode(), 2):
            was = "was missing" if old is None else "was another, or had other inputs or arguments"
            shown = ", ".join(f"{k}={v}" for k, v in entry[2].items())
            return f"operator {number} is {entry[0]}({shown}) and {was}"
    return f"there were {len(before) - 1} operators, there are {len(entries) - 1}"
