"""Sends a pipeline by value to workers, which build it and make batches from tasks."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali import storage
from jdali._pipeline.config import PipelineConfig
from jdali._storage import files as _storage
from jdali._system.devices import host_device
from jdali._workers import pack_by_value
from jdali.engine import Engine
from jdali.graph import (
    Graph,
    GraphRecord,
    Node,
    NodeRecord,
    ValueNumber,
    cut,
    make_plan,
    record_graph,
    reduced_operator,
    with_late_steps,
)

# Options of JAX that change bits of results, or keys of the compilation cache. Workers copy them from the user's process.
_JAX_OPTIONS = (
    "jax_enable_x64", "jax_threefry_partitionable", "jax_default_prng_impl", "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_debug_nans", "jax_debug_infs", "jax_disable_jit",
    "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)  # fmt: skip
# Number of samples whose names are in the digest of a data set. They are spread evenly over the data set.
_COMPARED = 256


@dataclasses.dataclass(frozen=True)
class SentPipeline:
    """Holds the definition and options of a pipeline, to send them to workers.

    Attributes:
        readers: size of each reader's data set and a digest of the names of its samples, by the name of the node.
        config: the options that workers need.
        fsspec_options: `fsspec.config.conf`: credentials, endpoints and other options, by protocol.
        folder: working folder of the user's process, to which relative file names refer.
    """

    graph: GraphRecord
    outputs: tuple[ValueNumber, ...]
    one_device: bool
    config: PipelineConfig
    readers: Mapping[str, tuple[int, str]]
    tables: Mapping[str, Mapping[str, Any]]
    jax_options: Mapping[str, Any]
    storage_options: storage.Options
    fsspec_options: Mapping[str, Any]
    folder: str

    def start(self) -> Callable[[Any], Any]:
        """Builds the pipeline, in a worker; returns a function that makes the batch of a task."""
        for name, value in self.jax_options.items():
            jax.config.update(name, value)
        storage.configure(**dataclasses.asdict(self.storage_options))
        if self.fsspec_options:
            import fsspec

            fsspec.config.conf.update(self.fsspec_options)
        # A worker may start later, or on another machine, where the folder need not exist.
        is_there = os.path.isdir(self.folder)
        with contextlib.chdir(self.folder) if is_there else contextlib.nullcontext():
            engine = self._engine()
        for node, reader in engine.readers.items():
            if (found := data_set_digest(reader)) != self.readers[node.name]:
                raise RuntimeError(
                    f"{node.op.name}: a worker process finds another data set: {found[0]} samples, not "
                    f"{self.readers[node.name][0]}, or other names; it was changed since the pipeline was built"
                )
        return engine.make_sent

    def _engine(self) -> Engine:
        config = self.config
        graph = Graph()
        self.graph.add_to(graph)
        outputs = tuple(number.find(graph) for number in self.outputs)
        border = cut(make_plan(graph.nodes, outputs, one_device=self.one_device), one_device=self.one_device)
        # Late steps make samples only when a stage reads them. This saves memory, but needs more calls. With many
        # workers, memory matters more.
        plan = with_late_steps(border.elsewhere)
        return Engine(plan, config.engine_options(host_device()), tables=self.tables)


def send_pipeline(
    nodes: Sequence[Node],
    outputs: Sequence[Any],
    *,
    one_device: bool,
    config: PipelineConfig,
    readers: Mapping[Node, Any],
    tables: Mapping[str, Mapping[str, Any]],
) -> SentPipeline:
    """Describes a pipeline for workers; raises TypeError, with the user's line, if a value cannot be sent."""
    graph = record_graph(nodes, lambda runtime: runtime.remake())
    graph = dataclasses.replace(
        graph, nodes=tuple(_without(tables.get(node.name, {}), node) for node in graph.nodes)
    )
    _check(graph.nodes)
    fsspec_options = _fsspec_options()
    return SentPipeline(
        graph,
        tuple(map(ValueNumber.of, outputs)),
        one_device,
        # Workers do not need these options, and some cannot be sent.
        dataclasses.replace(
            config, checkpoint=None, py_callback_pickler=None, workers=0, min_workers=1, max_workers=None
        ),
        {node.name: data_set_digest(reader) for node, reader in readers.items()},
        tables,
        {name: getattr(jax.config, name) for name in _JAX_OPTIONS},
        storage.options(),
        fsspec_options,
        _storage.working_folder(),
    )


def _fsspec_options() -> dict[str, Any]:
    """Returns a copy of `fsspec.config.conf`, empty if the program has not imported fsspec."""
    module = sys.modules.get("fsspec.config")
    found: dict[str, Any] = {} if module is None else dict(module.conf)
    for protocol, values in found.items():
        if (error := _refusal(values)) is not None:
            raise TypeError(
                f"fsspec.config.conf[{protocol!r}] cannot be sent to worker processes: {error}"
            ) from error
    return found


def _without(tables: Mapping[str, Any], node: NodeRecord) -> NodeRecord:
    """Leaves out the arguments that shared tables replace, see `readers/shared_tables.py`."""
    replaced = {name: () for name, value in node.args.items() if name in tables and value is not None}
    return dataclasses.replace(node, args=node.args | replaced) if replaced else node


def _check(nodes: Sequence[NodeRecord]) -> None:
    """Raises TypeError for a value that cannot be sent."""
    for node in nodes:
        for name, value in [*((f"input {i}", v) for i, v in enumerate(node.inputs)), *node.args.items()]:
            if isinstance(value, (ValueNumber, int, float, str, type(None))):
                continue
            if (error := _refusal(value)) is not None:
                raise TypeError(
                    f"{node.op.name}: {name} {value!r:.200} cannot be sent to worker processes: {error}\n"
                    f"  defined at {node.where}"
                ) from error


def _refusal(value: object) -> Exception | None:
    """Returns the error because of which a value cannot be sent; None if it can be sent."""
    try:
        pack_by_value(value, reduced_operator).close()
    except ModuleNotFoundError:
        raise
    except Exception as error:
        return error
    return None


def data_set_digest(reader: Any) -> tuple[int, str]:
    """Returns the number of samples of a reader, and a digest of some of their names."""
    size = int(reader.count)
    names = hashlib.blake2b(digest_size=16)
    for index in np.unique(np.linspace(0, size - 1, min(size, _COMPARED)).astype(np.int64)).tolist():
        names.update(str(reader.source(index)).encode() + b"\0")
    return size, names.hexdigest()
