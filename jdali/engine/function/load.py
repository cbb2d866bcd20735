"""Loads a folder that `Pipeline.export` wrote: the function without the code that defined it."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from jdali import __version__
from jdali._errors import SampleError
from jdali._system import limits
from jdali.engine.function.function import PipelineFunction
from jdali.engine.function.graph_json import UnknownOperatorError, read_graph, read_value
from jdali.engine.function.manifest import FolderError, Manifest, read_manifest, require_flatbuffers
from jdali.engine.function.part import FunctionDefinition
from jdali.engine.function.preprocess import Preprocess
from jdali.engine.steps.program_table import enable_compilation_cache
from jdali.graph import Graph, ValueNumber, describe, fingerprint, may_be_exported

_BATCH_SIZE = 32  # the host part expects this size, but takes any


def load(folder: str | os.PathLike[str], *, fingerprint: str | None = None, threads: int = 1) -> Preprocess:
    """Loads a folder that `Pipeline.export` wrote: the preprocessing without the code that defined it.

    The folder contains no code. Programs are StableHLO. Everything else is JSON, which is checked, and may name only
    operators of jdali. As a pipeline does, `load` turns on JAX's persistent compilation cache, so that the next process compiles
    nothing.

    Args:
        folder: a local folder.
        fingerprint: what `Pipeline.export` returned; None accepts any folder.
        threads: number of threads that decode, at least 1.

    Raises:
        jdali.FolderError: the folder is damaged, was written by another version of jdali, or has another fingerprint.
        ValueError: `threads` is less than 1.
    """
    if threads < 1:
        raise ValueError(f"jdali.load: threads is {threads}, it must be at least 1")
    require_flatbuffers()
    enable_compilation_cache()
    path = Path(folder).absolute()  # the working folder may change before programs are read
    manifest = read_manifest(path, __version__)
    if fingerprint is not None and manifest.fingerprint != fingerprint:
        raise FolderError(
            f"{path}: its fingerprint is {manifest.fingerprint}, not {fingerprint}: it was exported from another pipeline, "
            "or with other options"
        )
    _check_sizes(path, manifest)
    try:
        function = PipelineFunction(_definition(manifest), threads=threads, batch_size=_BATCH_SIZE)
        return Preprocess(path, manifest, function)
    except FolderError:
        raise
    except UnknownOperatorError as error:
        reason = str(error).partition(": ")[2]
        raise FolderError(f"{path} cannot be used in this process: {reason}") from error
    except Exception as error:  # wrong data may raise anything
        raise FolderError(f"{path} is damaged: its graph cannot be made: {error}") from error


def _definition(manifest: Manifest) -> FunctionDefinition:
    graph = Graph()
    read_graph(manifest.nodes, manifest.domains).add_to(graph)
    needed = [n for n in graph.nodes if not n.is_source]
    for node in needed:
        if not may_be_exported(node):
            raise FolderError(
                f"the folder holds {node.op.shown_name} {node.name!r}, which runs code of its own: not loaded"
            )
    if fingerprint(describe(needed, {})) != manifest.graph:
        raise FolderError("the operators have other arguments, or defaults, than when the folder was written")
    return FunctionDefinition(
        graph,
        tuple(ValueNumber(*start.value).find(graph) for start in manifest.start),
        tuple(ValueNumber(*value).find(graph) for value in manifest.outputs),
        tuple(manifest.names),
        {ValueNumber(*f.value).find(graph): read_value(f.array) for f in manifest.fixed},
        tuple(start.layout for start in manifest.start),
        manifest.seed,
        {key.node: key.words for key in manifest.held},
    )


def _check_sizes(path: Path, manifest: Manifest) -> None:
    """Raises FolderError for sizes above the limits, and for lists of different lengths, before they are used."""
    outputs = {
        len(each)
        for each in (manifest.outputs, manifest.names, manifest.dtypes, manifest.layouts, manifest.sizes)
    }
    values = {len(program.shapes) for program in manifest.programs}
    if len(outputs) != 1 or len(values) != 1 or min(values) < len(manifest.start):
        raise FolderError(f"{path} is damaged: outputs, programs and their shapes are not of one number")
    for name in (*manifest.dtypes, *(start.dtype for start in manifest.start)):
        if not _is_element_type(name):
            raise FolderError(f"{path} is damaged: {name!r:.80} is not an element type")
    starts = [np.dtype(start.dtype).itemsize for start in manifest.start]
    for program in manifest.programs:
        for start, shape in zip(manifest.start, program.shapes, strict=False):
            if start.layout and len(start.layout) != len(shape):
                raise FolderError(
                    f"{path} is damaged: a padded shape is {shape}, of layout {start.layout!r:.40}"
                )
        sizes = [*starts, *[1] * (len(program.shapes) - len(starts))]
        for shape, size in zip(program.shapes, sizes, strict=True):
            try:
                limits.check("max_sample_bytes", math.prod(shape) * size, f"the padded shape {shape}")
            except SampleError as error:
                raise FolderError(f"{path}: {error}") from error


def _is_element_type(name: str) -> bool:
    """Returns True if this is the name of an element type of numbers or truth values."""
    try:
        dtype = np.dtype(name)
    except TypeError:
        return False
    return dtype.name == name and (dtype.kind in "biuf" or name == "bfloat16")
