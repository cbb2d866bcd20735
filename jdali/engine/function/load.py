"""Reading a folder of `Pipeline.export`: the function again, without the code that defined it."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jdali import __version__
from jdali._batches import gather
from jdali._errors import OperatorError, SampleError
from jdali._numerics.exact import MINUS_ZERO
from jdali._numerics.rounding import x64_context
from jdali._system import limits
from jdali._system.devices import accelerator
from jdali.engine.eager.call import room_for
from jdali.engine.function.draw import Draw
from jdali.engine.function.export import (
    exact_platform,
    form_key,
    may_run_on_host,
    plan_sizes,
    require_flatbuffers,
)
from jdali.engine.function.function import Padded, PipelineFunction
from jdali.engine.function.graph_json import GraphReader
from jdali.engine.function.making import build_function
from jdali.engine.function.manifest import ExportedProgram, FolderError, Manifest, read_manifest, read_program
from jdali.engine.function.part import FunctionDefinition
from jdali.engine.function.planning import FunctionPlan
from jdali.engine.function.running import options_of
from jdali.engine.steps.program import random_nodes
from jdali.graph import Graph, describe, fingerprint
from jdali.tensors import TensorList

# Custom calls that programs of jdali have: annotations, and JAX's kernel of random bits. A program with another one is
# not run, for it may call anything that is loaded.
_CUSTOM_CALLS = frozenset(
    {"cu_threefry2x32_ffi", "shape_assertion", "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"}
)
_CUSTOM_CALL = re.compile(r"custom_call\s*@?\"?([\w.$]+)")
_KEPT_PLANS = 1024
_BATCH_SIZE = 32  # that the part on the host is made for; others are run as well


class Preprocess:
    """A pipeline's preprocessing as it was exported: bytes in, arrays out.

    Made by `jdali.load`. It has the bits that the pipeline has on the platform of the export. Calls from several threads
    may overlap.

    Attributes:
        inputs: names of what it takes, as readers give it.
        input_shapes: of each input its element type and padded shape, where it is an array for the compiled part; None:
            the bytes of a file.
        start: names of what the compiled part takes.
        outputs, dtypes, layouts: names, element types and layouts of what it returns.
        random: names of operators that draw random values; then a call needs a key or an index.
        shapes: declared padded shapes of one sample of the start.
        sizes: of each output the size of every sample; None: they differ.
        fingerprint: of the folder.
    """

    def __init__(self, folder: Path, manifest: Manifest, function: PipelineFunction):
        """Reads no program yet; see `load`."""
        self._folder, self._manifest, self._function = folder, manifest, function
        self.fingerprint = manifest.fingerprint
        self.inputs, self.start = function.host.inputs, function.start
        self.outputs = tuple(manifest.names)
        self.sizes = tuple(None if size is None else tuple(size) for size in manifest.sizes)
        self.layouts, self.dtypes = tuple(manifest.layouts), tuple(map(np.dtype, manifest.dtypes))
        self.random = (*function.host.random, *function.random)
        self._dtypes = [np.dtype(start.dtype) for start in manifest.start]
        largest = dict(zip(self.start, zip(self._dtypes, self._largest(), strict=True), strict=True))
        self.input_shapes = tuple(largest.get(name) for name in self.inputs)
        self._programs: dict[str, list[ExportedProgram]] = {}
        for program in manifest.programs:
            self._programs.setdefault(program.key, []).append(program)
        count = len(function.start)
        self.shapes = sorted({tuple(map(tuple, p.shapes[:count])) for p in manifest.programs})
        self._planned = functools.lru_cache(maxsize=_KEPT_PLANS)(self._plan)
        self._loaded: dict[tuple[str, int, int], Any] = {}

    def __repr__(self) -> str:
        return (
            f"<jdali preprocessing ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}), "
            f"{len(self.shapes)} padded shapes, {self.fingerprint}>"
        )

    def __call__(self, *inputs: object, key: object = None, epoch: object = 0, index: object = None) -> Any:
        """Runs all of it on a batch.

        Args:
            inputs: for each value of `inputs` a list with the bytes, or the array, of each sample.
            key, epoch, index: of random values, as of `PipelineFunction`.

        Returns: an array [N, ...] for each output, or `Padded` where `sizes` has None; a tuple if there are several.

        Raises:
            OperatorError: a sample is damaged, or refused by an operator; it names the sample.
            SampleError: a sample does not fit in the declared shapes.
        """
        return self.arrays(*self.decode(*inputs, epoch=epoch, index=index), key=key, epoch=epoch, index=index)

    def decode(self, *inputs: Any, epoch: Any = 0, index: Any = None) -> tuple[TensorList, ...]:
        """Runs the part on the host; returns what the compiled part takes."""
        return self._function.host(*inputs, epoch=epoch, index=index)

    def attempt(
        self, *inputs: Any, epoch: Any = 0, index: Any = None
    ) -> tuple[Any, list[int], dict[int, Exception]]:
        """As a call, but a sample that fails does not fail the others.

        Returns: the outputs of the samples that are good, the positions of these, and the errors by position.
        """
        decoded, good, errors = self._function.host.attempt(*inputs, epoch=epoch, index=index)
        found: dict[int, Exception] = dict(errors)
        fitting = []
        for row, position in enumerate(good):
            try:
                self._planned(tuple(tuple(batch.spec.extents[row].tolist()) for batch in decoded))
                fitting.append(row)
            except (SampleError, OperatorError) as error:
                found[position] = error
        if not fitting:
            return (), [], found
        chosen = [batch.select(fitting) for batch in decoded]
        return self.arrays(*chosen, epoch=epoch, index=index), [good[row] for row in fitting], found

    def arrays(self, *inputs: Any, key: Any = None, epoch: Any = 0, index: Any = None) -> Any:
        """Runs the compiled part on a batch.

        Args:
            inputs: for each value of `start` an array [N, ...], or a `TensorList`.
            key, epoch, index: of random values.

        Returns: as of a call.
        """
        batches = [i if isinstance(i, TensorList) else TensorList.from_dense(np.asarray(i)) for i in inputs]
        if len(batches) != len(self.start):
            raise TypeError(f"{self!r} takes ({', '.join(self.start)}), got {len(batches)} batches")
        for name, batch, dtype in zip(self.start, batches, self._dtypes, strict=True):
            if batch.spec.dtype != dtype:
                raise TypeError(f"{name!r} must be {dtype}, got {batch.spec.dtype}")
        count = len(batches[0])
        if self._function.random and key is None and index is None:
            raise TypeError(f"random values are drawn in {', '.join(self.random)}: pass key=... or index=...")
        draw = Draw.of(count, self._function.seed, key, epoch, index)
        groups: dict[tuple[str, int], list[int]] = {}
        plans = []
        for row in range(count):
            sizes = tuple(tuple(batch.spec.extents[row].tolist()) for batch in batches)
            try:
                plan, program = self._planned(sizes)
            except SampleError as error:
                raise SampleError(f"sample {row}: {error}", sample=row) from error
            plans.append(plan)
            groups.setdefault(program, []).append(row)
        parts = [
            (rows, self._run(program, rows, batches, [plans[row] for row in rows], draw))
            for program, rows in groups.items()
        ]
        return _together(parts, count, self._manifest.sizes)

    def _largest(self) -> list[tuple[int, ...]]:
        """The largest declared shape of each value of the start."""
        count = len(self.start)
        return [tuple(shape) for shape in self._manifest.programs[-1].shapes[:count]]

    # --- plans and programs --------------------------------------------------------------------
    def _plan(self, sizes: tuple[tuple[int, ...], ...]) -> tuple[FunctionPlan, tuple[str, int]]:
        """Plans a sample of these sizes: its plan, and the program that holds it."""
        function = self._function
        plan = plan_sizes(function.planner, sizes, self._dtypes, function.layouts)
        key, true = form_key(plan.form), plan.form.program.shapes
        for number, program in enumerate(self._programs.get(key, ())):
            if all(_fits(t, p) for t, p in zip(true, program.shapes, strict=True)):
                return plan, (key, number)
        shown = ", ".join(" x ".join(map(str, size)) for size in sizes)
        raise SampleError(
            f"a sample of {shown} does not fit in the shapes that {self._folder} was exported with, "
            f"{[list(s) if len(s) > 1 else s[0] for s in self.shapes]}; export it with larger shapes, or a larger max_aspect"
        )

    def _run(
        self, program: tuple[str, int], rows: Sequence[int], batches: Sequence[TensorList],
        plans: Sequence[FunctionPlan], draw: Draw,
    ) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
        exported = self._programs[program[0]][program[1]]
        room = room_for(len(rows))
        batch = next((f.batch for f in exported.files if f.batch >= room), 0)
        room = batch or room
        chosen = np.array([*rows, *[rows[-1]] * (room - len(rows))])
        last = [*range(len(rows)), *[len(rows) - 1] * (room - len(rows))]
        arrays: list[Any] = [
            gather(value.store, chosen, tuple(shape), None)
            for value, shape in zip(batches, exported.shapes, strict=False)
        ]
        given = zip(*(plan.given for plan in plans), strict=True)
        arrays += [np.concatenate([np.asarray(values[i]) for i in last]) for values in given]
        packed = np.concatenate([plans[i].packed for i in last])
        apart = [np.concatenate([plans[i].apart[a] for i in last]) for a in range(len(plans[0].apart))]
        seeds = draw.seeds(random_nodes(self._function.planner.stage))
        with x64_context(True) if plans[0].form.program.x64 else contextlib.nullcontext():
            results, sizes = self._program(program, batch)(
                arrays, packed, apart, draw.identity()[:, chosen], seeds, MINUS_ZERO
            )
        count = len(rows)
        return [
            (np.asarray(array)[:count], np.asarray(size)[:count])
            for array, size in zip(results, sizes, strict=True)
        ]

    def _program(self, program: tuple[str, int], batch: int) -> Any:
        """Loads a program when it is first needed."""
        name = (*program, batch)
        if name not in self._loaded:
            platform = accelerator().platform
            exported = self._programs[program[0]][program[1]]
            files = [f for f in exported.files if exact_platform(f.platform) == platform and f.batch == batch]
            if not files:
                found = sorted({f.platform for f in exported.files})
                raise FolderError(
                    f"{self._folder}: has programs for {', '.join(found)}, and JAX runs on {platform}"
                )
            try:
                module = jax.export.deserialize(bytearray(read_program(self._folder, files[0])))
                refused = host_calls(module)
            except FolderError:
                raise
            except Exception as error:
                raise FolderError(
                    f"{self._folder / files[0].file}: JAX {jax.__version__} cannot read it; JAX {self._manifest.jax} wrote "
                    f"it: {error}"
                ) from error
            if refused:
                raise FolderError(
                    f"{self._folder / files[0].file} calls {', '.join(sorted(refused))} on the host: not run"
                )
            options = options_of(self._function.planner.stage, platform)
            self._loaded[name] = jax.jit(module.call, compiler_options=options)
        return self._loaded[name]


def host_calls(module: jax.export.Exported) -> set[str]:
    """Returns the functions outside of XLA that a program calls, but for those that only annotate it."""
    return set(_CUSTOM_CALL.findall(module.mlir_module())) - _CUSTOM_CALLS


def load(folder: str | os.PathLike[str], *, fingerprint: str | None = None, threads: int = 1) -> Preprocess:
    """Loads a folder that `Pipeline.export` wrote: the preprocessing without the code that defined it.

    Nothing in the folder is code: programs are StableHLO, all else is checked JSON, and operators are those of jdali.

    Args:
        folder: local.
        fingerprint: what `Pipeline.export` returned; None: that of any folder.
        threads: that decode.

    Raises:
        jdali.FolderError: the folder is damaged, of another version of jdali, or of another fingerprint; it says which.
    """
    require_flatbuffers()
    path = Path(folder)
    manifest = read_manifest(path, __version__)
    if fingerprint is not None and manifest.fingerprint != fingerprint:
        raise FolderError(
            f"{path}: its fingerprint is {manifest.fingerprint}, not {fingerprint}: it was exported from another pipeline, "
            "or with other options"
        )
    _check_shapes(path, manifest)
    try:
        definition = _definition(manifest)
    except FolderError:
        raise
    except Exception as error:  # what a graph of wrong data raises, in the end
        raise FolderError(f"{path} is damaged: its graph cannot be made: {error}") from error
    function = build_function(definition, threads=threads, batch_size=_BATCH_SIZE)
    for node in function.host.nodes:
        if not may_run_on_host(node):
            raise FolderError(
                f"{path}: {node.op.shown_name} {node.name!r} may not run on the host of a loaded folder"
            )
    return Preprocess(path, manifest, function)


def _definition(manifest: Manifest) -> FunctionDefinition:
    graph = Graph()
    reader = GraphReader(graph, [])
    for row in manifest.nodes:
        reader.node(row)
    needed = [n for n in graph.nodes if not n.is_source]
    for node in needed:
        if not may_run_on_host(node):
            raise FolderError(
                f"the folder holds {node.op.shown_name} {node.name!r}, which runs code of its own: not loaded"
            )
    if fingerprint(describe(needed, {})) != manifest.graph:
        raise FolderError("the operators have other arguments, or defaults, than when the folder was written")
    return FunctionDefinition(
        graph,
        tuple(reader.value(list(start.value)) for start in manifest.start),
        tuple(reader.value(list(value)) for value in manifest.outputs),
        {reader.value(list(f.value)): reader.read(f.array) for f in manifest.fixed},
        tuple(start.layout for start in manifest.start),
        manifest.seed,
    )


def _check_shapes(path: Path, manifest: Manifest) -> None:
    """Refuses shapes that no sample may have, before anything is allocated for them."""
    for program in manifest.programs:
        for shape in program.shapes:
            if any(n < 0 for n in shape):
                raise FolderError(f"{path} is damaged: a padded shape is {shape}")
            try:
                limits.check("max_sample_bytes", math.prod(shape), f"the padded shape {shape}")
            except SampleError as error:
                raise FolderError(f"{path}: {error}") from error


def _together(
    parts: Sequence[tuple[Sequence[int], Sequence[tuple[np.ndarray, np.ndarray]]]],
    count: int,
    known: Sequence[Sequence[int] | None],
) -> Any:
    """One batch of the results of all programs.

    Args:
        parts: of each program the samples, and their outputs with sizes.
        count: number of samples.
        known: of each output the size of every sample; None: they differ.
    """
    outputs: list[Any] = []
    for number, size in enumerate(known):
        sizes = np.zeros((count, parts[0][1][number][1].shape[1]), np.int32)
        for rows, results in parts:
            sizes[list(rows)] = results[number][1]
        largest = tuple(sizes.max(axis=0, initial=0).tolist()) if size is None else tuple(size)
        array = np.zeros((count, *largest), parts[0][1][number][0].dtype)
        for rows, results in parts:
            part = results[number][0][(slice(None), *map(slice, largest))]
            window: Any = (list(rows), *map(slice, part.shape[1:]))
            array[window] = part
        outputs.append(Padded(array, sizes) if size is None else array)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _fits(true: Sequence[int], padded: Sequence[int]) -> bool:
    return len(true) == len(padded) and all(t <= p for t, p in zip(true, padded, strict=True))
