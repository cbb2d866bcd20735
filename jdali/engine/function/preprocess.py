"""Runs a folder that `Pipeline.export` wrote: the host part, plans, and programs that are read on demand."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jdali._batches import gather
from jdali._errors import OperatorError, SampleError
from jdali._numerics.exact import MINUS_ZERO
from jdali._numerics.rounding import x64_context
from jdali._system.devices import accelerator
from jdali.engine.eager.call import room_for
from jdali.engine.function.draw import Draw
from jdali.engine.function.function import Padded, PipelineFunction
from jdali.engine.function.manifest import ExportedProgram, FolderError, Manifest, read_program
from jdali.engine.function.planning import FunctionPlan
from jdali.engine.function.running import exact_platform, options_of
from jdali.engine.steps.program import random_nodes
from jdali.tensors import TensorList

# Custom calls of jdali's programs: annotations, and JAX's kernel of random bits. A program with any other custom call is
# refused, because it could call any function that is loaded.
_CUSTOM_CALLS = frozenset(
    {"cu_threefry2x32_ffi", "shape_assertion", "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"}
)
_CUSTOM_CALL = re.compile(r"custom_call\s*@?\"?([\w.$]+)")
_KEPT_PLANS = 1024


class Preprocess:
    """Preprocesses samples as an exported pipeline does: takes bytes, returns arrays.

    `jdali.load` returns it. On the platform of the export, results equal the pipeline's bit for bit. Several threads
    may call it at once.

    Attributes:
        inputs: names of the inputs, which are outputs of readers.
        input_shapes: element type and largest padded shape of each input that goes to the compiled part; None for an input
            of encoded bytes.
        start: names of the inputs of the compiled part.
        outputs, dtypes, layouts: names, element types and layouts of the outputs.
        random: names of operators that draw random values; if there are any, a call needs a key or an index.
        shapes: declared padded shapes of one sample of the start.
        sizes: for each output, the size of its samples; None if the samples differ in size.
        fingerprint: the folder's fingerprint.
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
        self._loaded: dict[tuple[str, int, int], jax.export.Exported] = {}
        self._compiled: dict[tuple[str, int, int, int], Any] = {}

    @functools.cached_property
    def ranks(self) -> tuple[int, ...]:
        """For each output, the number of axes of a sample."""
        form = self._function.plan_sizes(self._largest(), self._dtypes, self._function.draw(1)).form
        return tuple(len(form.program.shapes[number]) for number in form.outputs)

    def __repr__(self) -> str:
        return (
            f"<jdali preprocessing ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}), "
            f"{len(self.shapes)} padded shapes, {self.fingerprint}>"
        )

    def __call__(self, *inputs: object, key: object = None, epoch: object = 0, index: object = None) -> Any:
        """Runs the host part and the compiled part on a batch.

        Args:
            inputs: for each value of `inputs` a list with the bytes, or the array, of each sample, an array [N, ...], or a
                `TensorList`.
            key, epoch, index: identities of random values, as in a call of `PipelineFunction`.

        Returns: for each output an array [N, ...], or `Padded` where `sizes` has None; a tuple if there are several.

        Raises:
            OperatorError: a sample is damaged, or an operator refuses it; the error names the sample.
            SampleError: a sample does not fit in the declared shapes.
        """
        return self.arrays(*self.decode(*inputs, epoch=epoch, index=index), key=key, epoch=epoch, index=index)

    def decode(self, *inputs: Any, epoch: Any = 0, index: Any = None) -> tuple[TensorList, ...]:
        """Runs the host part; returns the inputs of the compiled part."""
        return self._function.host(*inputs, epoch=epoch, index=index)

    def attempt(
        self, *inputs: Any, epoch: Any = 0, index: Any = None
    ) -> tuple[Any, list[int], dict[int, Exception]]:
        """Runs the host part and the compiled part on a batch; a sample that fails does not affect the other samples.

        Returns: the outputs of the good samples, their positions, and the errors by position.
        """
        decoded, good, errors = self._function.host.attempt(*inputs, epoch=epoch, index=index)
        found: dict[int, Exception] = dict(errors)
        draw = self._function.draw(len(good) + len(errors), None, epoch, index)
        fitting = []
        for row, position in enumerate(good):
            try:
                self._planned_row(decoded, draw, row, position)
                fitting.append(row)
            except (SampleError, OperatorError) as error:
                found[position] = error
        if not fitting:
            return (), [], found
        chosen, positions = [batch.select(fitting) for batch in decoded], [good[row] for row in fitting]
        numbers = None if index is None else np.asarray(draw.index)[positions]
        return self.arrays(*chosen, epoch=np.asarray(draw.epoch)[positions], index=numbers), positions, found

    def arrays(self, *inputs: Any, key: Any = None, epoch: Any = 0, index: Any = None) -> Any:
        """Runs the compiled part on a batch.

        Args:
            inputs: for each value of `start` an array [N, ...], or a `TensorList`.
            key, epoch, index: identities of random values, as in a call.

        Returns: the outputs, as a call returns them.
        """
        batches = [i if isinstance(i, TensorList) else TensorList.from_dense(np.asarray(i)) for i in inputs]
        if len(batches) != len(self.start):
            raise TypeError(f"{self!r} takes ({', '.join(self.start)}), got {len(batches)} batches")
        for name, batch, dtype in zip(self.start, batches, self._dtypes, strict=True):
            if batch.spec.dtype != dtype:
                raise TypeError(
                    f"{name!r} must be {dtype}, got {batch.spec.dtype}; say its type with dtypes= when you export the pipeline"
                )
        count = len(batches[0])
        if self._function.random and key is None and index is None:
            raise TypeError(f"random values are drawn in {', '.join(self.random)}: pass key=... or index=...")
        draw = self._function.draw(count, key, epoch, index)
        groups: dict[tuple[str, int], list[int]] = {}
        plans = []
        for row in range(count):
            try:
                plan, program = self._planned_row(batches, draw, row, row)
            except SampleError as error:
                raise SampleError(f"sample {row}: {error}", sample=row) from error
            plans.append(plan)
            groups.setdefault(program, []).append(row)
        parts = [
            (rows, self._run(program, rows, batches, [plans[row] for row in rows], draw))
            for program, every in groups.items()
            for rows in self._calls(program, every)
        ]
        return _together(parts, count, self._manifest.sizes)

    def _calls(self, program: tuple[str, int], rows: list[int]) -> list[list[int]]:
        """Splits rows into as many calls as are needed, if the program takes a fixed number of them."""
        _, most = _size(self._programs[program[0]][program[1]], room_for(len(rows)))
        return [rows[start : start + most] for start in range(0, len(rows), most)]

    def compiling(self, max_batch: int) -> list[Callable[[], object]]:
        """Returns functions that compile the programs of all declared shapes, for batches of up to `max_batch` samples.

        They may run in several threads. A program that is not compiled yet is compiled by the first call that needs it.
        """
        rooms = sorted({room_for(count) for count in range(1, max_batch + 1)})
        needed = {
            (key, number, *_size(exported, room))
            for key, programs in self._programs.items()
            for number, exported in enumerate(programs)
            for room in rooms
        }
        return [
            functools.partial(self._executable, (key, number), batch, room)
            for key, number, batch, room in sorted(needed)
        ]

    def _largest(self) -> list[tuple[int, ...]]:
        """Returns the largest declared shape of each input of the compiled program."""
        count = len(self.start)
        return [tuple(shape) for shape in self._manifest.programs[-1].shapes[:count]]

    def _planned_row(
        self, batches: Sequence[TensorList], draw: Draw, row: int, position: int
    ) -> tuple[FunctionPlan, tuple[str, int]]:
        """Plans the sample in row `row` of `batches`, with the random values at `position` of `draw`.

        Returns: the plan and the key of its program.
        """
        sizes = tuple(tuple(batch.spec.extents[row].tolist()) for batch in batches)
        if not self._function.random or not self._function.planner.draws_on_host:
            return self._planned(sizes)
        words = tuple(np.asarray(draw.words).tolist())
        return self._planned(sizes, words, draw.is_key, int(draw.epoch[position]), int(draw.index[position]))

    def _plan(
        self,
        sizes: tuple[tuple[int, ...], ...],
        words: tuple[int, ...] = (),
        is_key: bool = False,
        epoch: int = 0,
        index: int = 0,
    ) -> tuple[FunctionPlan, tuple[str, int]]:
        """Plans a sample of these sizes. The other arguments define its `Draw`, and are omitted if plans do not depend on it."""
        draw = self._function.draw(1)
        if words:
            draw = Draw(np.array(words, np.uint32), is_key, np.array([epoch]), np.array([index]))
        # The caller chose the sizes, so check them before any other work.
        if not any(all(map(_fits, sizes, shapes)) for shapes in self.shapes):
            raise self._too_large(sizes)
        plan = self._function.plan_sizes(sizes, self._dtypes, draw)
        key, true = plan.form.key(), plan.form.program.shapes
        for number, program in enumerate(self._programs.get(key, ())):
            if all(_fits(t, p) for t, p in zip(true, program.shapes, strict=True)):
                return plan, (key, number)
        raise self._too_large(sizes)

    def _too_large(self, sizes: Sequence[Sequence[int]]) -> SampleError:
        shown = ", ".join(" x ".join(map(str, size)) for size in sizes)
        return SampleError(
            f"a sample of {shown} does not fit in the shapes that {self._folder} was exported with, "
            f"{[list(s) if len(s) > 1 else s[0] for s in self.shapes]}; export it with larger shapes, or a larger max_aspect"
        )

    def _run(
        self, program: tuple[str, int], rows: Sequence[int], batches: Sequence[TensorList],
        plans: Sequence[FunctionPlan], draw: Draw,
    ) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
        exported = self._programs[program[0]][program[1]]
        count = len(rows)
        batch, room = _size(exported, room_for(count))
        last = [*range(count), *[count - 1] * (room - count)]
        chosen = np.array(rows)[last]
        arrays: list[Any] = [
            gather(value.store, chosen, tuple(shape), None)
            for value, shape in zip(batches, exported.shapes, strict=False)
        ]
        given = zip(*(plan.given for plan in plans), strict=True)
        arrays += [np.concatenate([np.asarray(values[i]) for i in last]) for values in given]
        packed = np.concatenate([plans[i].packed for i in last])
        apart = [np.concatenate([plans[i].apart[a] for i in last]) for a in range(len(plans[0].apart))]
        seeds = draw.seeds(random_nodes(self._function.planner.stage))
        executable = self._executable(program, batch, room)
        try:
            with x64_context(True) if plans[0].form.program.x64 else contextlib.nullcontext():
                results, sizes = executable(
                    arrays, packed, apart, draw.identity()[:, chosen], seeds, MINUS_ZERO
                )
        except (TypeError, ValueError) as error:
            raise self._unfit(error) from error
        ranks = [len(size) for size in self.sizes if size is not None]
        if [result.dtype for result in results] != list(self.dtypes) or ranks != [
            result.ndim - 1 for result, size in zip(results, self.sizes, strict=True) if size is not None
        ]:
            raise self._unfit("its outputs have other types, or other numbers of axes")
        return [
            (np.asarray(array)[:count], np.asarray(size)[:count])
            for array, size in zip(results, sizes, strict=True)
        ]

    def _executable(self, program: tuple[str, int], batch: int, room: int) -> Any:
        """Compiles a program for a number of rows on first use."""
        name = (*program, batch, room)
        if name not in self._compiled:
            loaded = self._program(program, batch)
            with x64_context(True):  # keeps the program's 64-bit types
                operands = [
                    jax.ShapeDtypeStruct([n if isinstance(n, int) else room for n in a.shape], a.dtype)
                    for a in loaded.in_avals
                ]
                args, kwargs = jax.tree.unflatten(loaded.in_tree, operands)
                try:
                    lowered = jax.jit(loaded.call).lower(*args, **kwargs)
                except (TypeError, ValueError) as error:
                    raise self._unfit(error) from error
                self._compiled[name] = lowered.compile(
                    options_of(self._function.planner.stage, accelerator().platform)
                )
        return self._compiled[name]

    def _unfit(self, why: object) -> FolderError:
        return FolderError(f"{self._folder} is damaged: a program does not fit its description: {why}")

    def _program(self, program: tuple[str, int], batch: int) -> jax.export.Exported:
        """Loads a program on first use."""
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
            self._loaded[name] = module
        return self._loaded[name]


def _size(exported: ExportedProgram, room: int) -> tuple[int, int]:
    """Chooses the exported program for up to `room` rows; returns its batch size (0: any), and the number of rows to pass."""
    platform = accelerator().platform
    sizes = sorted(f.batch for f in exported.files if exact_platform(f.platform) == platform)
    batch = 0 if 0 in sizes else next((size for size in sizes if size >= room), max(sizes, default=0))
    return batch, batch or room


def host_calls(module: jax.export.Exported) -> set[str]:
    """Returns the functions outside of XLA that a program calls, except known ones."""
    return set(_CUSTOM_CALL.findall(module.mlir_module())) - _CUSTOM_CALLS


def _together(
    parts: Sequence[tuple[Sequence[int], Sequence[tuple[np.ndarray, np.ndarray]]]],
    count: int,
    known: Sequence[Sequence[int] | None],
) -> Any:
    """Joins the results of all programs into one batch."""
    outputs: list[Any] = []
    for number, size in enumerate(known):
        sizes = np.zeros((count, parts[0][1][number][1].shape[1]), np.int32)
        for rows, results in parts:
            sizes[list(rows)] = results[number][1]
        if size is not None and (sizes != np.array(size)).any():
            row = int((sizes != np.array(size)).any(axis=1).argmax())
            raise SampleError(
                f"sample {row}: output {number} is {sizes[row].tolist()}, but {list(size)} for all samples in the folder; export "
                "it with more shapes",
                sample=row,
            )
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
