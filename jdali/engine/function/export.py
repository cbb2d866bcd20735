"""Writes a function to a folder: programs as StableHLO, everything else as plain data."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import msgspec
import numpy as np
from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo

from jdali import __version__
from jdali._errors import OperatorError, TracedArgumentError
from jdali._numerics.rounding import x64_context
from jdali.engine.function.function import PipelineFunction
from jdali.engine.function.graph_json import record_to_write, source_in_place_of, written_graph, written_value
from jdali.engine.function.host import contents_of
from jdali.engine.function.manifest import (
    MANIFEST,
    VERSION,
    ExportedProgram,
    ExportedStart,
    FixedValue,
    HeldKey,
    Manifest,
    ProgramFile,
    require_flatbuffers,
)
from jdali.engine.function.planning import FunctionPlan, Planner
from jdali.engine.function.running import FunctionForm, computation, exact_platform, operand_specs
from jdali.graph import Node, ValueNumber, describe, fingerprint, may_be_exported, upstream
from jdali.types import to_dtype

# Padded sides of pictures, if the caller declares no shapes.
PICTURE_SIDES = (256, 512, 1024, 2048)
# Maximum number of programs for one padded shape. There are several because operators may plan smaller samples differently.
_MOST_FORMS = 16
# If random values decide sizes: the number of draws that are tried for each size, and a factor that enlarges the largest size.
_DRAWS, _DRAWN_GROWTH = 8, 1.25
# If an operator does not accept a symbolic number of samples, a program is written for each of these batch sizes.
BATCH_SIZES = (1, 2, 4, 8, 16, 32)


def export_function(
    function: PipelineFunction,
    folder: str | os.PathLike[str],
    shapes: Sequence[Any] | None,
    dtypes: Any,
    platforms: Sequence[str],
    max_aspect: float,
) -> str:
    """Writes a function and its host part to a folder, replacing an earlier export; returns the fingerprint."""
    check_exportable(function)
    require_flatbuffers()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    element_types = _dtypes(function, dtypes)
    programs, plans, varied = [], [], False
    for number, declared in enumerate(_declared(function, shapes)):
        planned = _plans(function, declared, element_types, max_aspect)
        plans += planned
        varied |= any(
            len(sizes_within(s, lay, max_aspect)) > 1
            for s, lay in zip(declared, function.layouts, strict=True)
        )
        growth = _DRAWN_GROWTH if _draws_sizes(function) else 1.0
        for position, form in enumerate(_forms(planned, declared, growth=growth)):
            try:
                files = _write_programs(function.planner, form, target, platforms, number)
            except OperatorError:
                if position == 0:  # the largest size
                    raise
                continue  # skips sizes that do not fit each other, such as a mean of two values for three channels
            programs.append(ExportedProgram(form.key(), [list(s) for s in form.program.shapes], files))
    definition = function.definition
    needed = upstream(definition.outputs, [*definition.start, *definition.fixed]) | {*function.host.nodes}
    nodes = [node for node in definition.graph.nodes if node in needed]
    rows, domains = _written_graph(definition.graph.nodes, needed)
    # In the order of the graph, because the order of the user's dictionary must not change the fingerprint.
    fixed = sorted(definition.fixed.items(), key=lambda item: _numbers(item[0]))
    manifest = Manifest(
        VERSION, __version__, jax.__version__, "", fingerprint(describe(nodes, {})), definition.seed,
        rows, domains,
        [
            ExportedStart(_numbers(v), layout, dtype.name)
            for v, layout, dtype in zip(definition.start, definition.layouts, element_types, strict=True)
        ],
        [_numbers(v) for v in definition.outputs], list(function.outputs),
        *_described_outputs(plans, varied=varied),
        [FixedValue(_numbers(v), written_value(array)) for v, array in fixed],
        [HeldKey(number, words) for number, words in sorted(definition.held.items())],
        programs,
    )  # fmt: skip
    manifest.fingerprint = manifest.computed_fingerprint()
    # Written last, because a folder without a manifest is not an export.
    unfinished = target / f".{MANIFEST}"
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    unfinished.replace(target / MANIFEST)
    written = {file.file for program in programs for file in program.files}
    for path in target.glob("*.stablehlo"):  # programs of an earlier export
        if path.name not in written:
            path.unlink()
    return manifest.fingerprint


def check_exportable(function: PipelineFunction) -> None:
    """Raises ValueError if an operator cannot be written as plain data, or depends on other samples of the batch."""
    for node in function.host.nodes:
        if not may_be_exported(node):
            raise ValueError(
                f"Pipeline.export: {node.op.shown_name} {node.name!r} ({node.where}) cannot be exported: it runs code "
                f"or reads files of its own, or works on the batch. Begin behind it, start={node.name!r}, and call it yourself"
            )
    for node in function.planner.stage.nodes:
        if node.whole_batch:
            raise ValueError(
                f"Pipeline.export: {node.op.shown_name} {node.name!r} ({node.where}) depends on the other samples of the batch, "
                "which an exported operator must not; give it other arguments (pad: shape=, normalize: batch=False), "
                "or choose outputs before it"
            )


# --- shapes ---------------------------------------------------------------------------------------
def _dtypes(function: PipelineFunction, given: Any) -> list[np.dtype[Any]]:
    """Returns the element types of the start.

    They are those that decoders of pictures and external sources declare. Else they are as given, or uint8 for pictures and
    float32 for all else.
    """
    start = function.definition.start
    each = list(given) if isinstance(given, (list, tuple)) else [given] * len(start)
    if len(each) != len(start):
        raise ValueError(
            f"Pipeline.export: dtypes must be one for each of ({', '.join(function.start)}), got {given!r}"
        )
    found = []
    for value, layout, wanted in zip(start, function.layouts, each, strict=True):
        made = contents_of(value)[1]
        if wanted is None:
            found.append(made or np.dtype(np.uint8 if "C" in layout else np.float32))
            continue
        found.append(to_dtype(wanted))
        if made not in (None, found[-1]):
            node = value.source
            raise ValueError(
                f"Pipeline.export: dtypes is {found[-1]} for {value.name!r}, and {node.op.shown_name} ({node.where}) returns "
                f"{made}; leave dtypes out"
            )
    return found


def _declared(function: PipelineFunction, shapes: Sequence[Any] | None) -> list[list[tuple[int, ...]]]:
    """Returns the padded shapes of all values of the start, for each declared shape."""
    if shapes is None:
        if function.layouts != ("HWC",):
            raise ValueError(
                f"Pipeline.export: shapes must be given: padded shapes of one sample of ({', '.join(function.start)}), "
                "such as shapes=[(160000,)]; only images, HWC, have default shapes"
            )
        return [[(side, side, 3)] for side in PICTURE_SIDES]
    found = []
    for shape in shapes:
        each = [shape] if len(function.start) == 1 else list(shape)
        if len(each) != len(function.start):
            raise ValueError(f"Pipeline.export: shape {shape!r} must be one for each of {function.start}")
        full = []
        for one, layout in zip(each, function.layouts, strict=True):
            sides = tuple(int(n) for n in one)
            full.append((*sides, 3) if layout == "HWC" and len(sides) == 2 else sides)
        found.append(full)
    return sorted(found, key=lambda shapes: [int(np.prod(s)) for s in shapes])


def _plans(
    function: PipelineFunction,
    shapes: Sequence[tuple[int, ...]],
    dtypes: Sequence[np.dtype[Any]],
    max_aspect: float,
) -> list[FunctionPlan]:
    """Plans representative sizes up to a declared shape."""
    sizes = [
        sizes_within(shape, layout, max_aspect)
        for shape, layout in zip(shapes, function.layouts, strict=True)
    ]
    draws = [function.draw(1, None, 0, [i]) for i in range(_DRAWS if _draws_sizes(function) else 1)]
    plans, refused = [], None
    for chosen, draw in itertools.product(combined(sizes), draws):
        try:
            plans.append(function.plan_sizes(chosen, dtypes, draw))
        except OperatorError as error:  # the pipeline refuses this size
            refused = error
        except TracedArgumentError as error:
            raise ValueError(
                f"Pipeline.export: sizes are decided by the elements of the samples, which no program does: {error}"
            ) from error
    if not plans:
        assert refused is not None
        raise refused
    return plans


def _draws_sizes(function: PipelineFunction) -> bool:
    """Returns True if random values, which differ by sample, decide sizes or windows."""
    return bool(function.random) and function.planner.draws_on_host


def _forms(
    plans: Sequence[FunctionPlan], shapes: Sequence[tuple[int, ...]], growth: float
) -> list[FunctionForm]:
    """Returns the programs of a declared shape; there are several if operators plan smaller sizes differently."""
    shape_of_all = list(covering([plan.form.program.shapes for plan in plans], growth))
    shape_of_all[: len(shapes)] = shapes
    forms = {
        plan.form.key(): dataclasses.replace(
            plan.form, program=dataclasses.replace(plan.form.program, shapes=tuple(shape_of_all))
        )
        for plan in plans
    }
    if len(forms) > _MOST_FORMS:
        raise ValueError(
            f"Pipeline.export: samples up to {list(shapes)} need {len(forms)} programs, more than {_MOST_FORMS}; declare "
            "a smaller max_aspect, or more shapes"
        )
    return list(forms.values())


def _described_outputs(
    plans: Sequence[FunctionPlan], *, varied: bool
) -> tuple[list[str], list[str], list[list[int] | None]]:
    """Returns the element types, layouts and sizes of the outputs. A size is None if the samples of the output differ in size.

    Args:
        varied: True if the samples of the start may differ in size.
    """
    form = plans[0].form
    # Plans with the same input sizes cannot show whether output sizes vary with the input sizes.
    many = len({plan.form.program.shapes[: form.inputs] for plan in plans}) > 1 or not varied
    sizes = [{plan.form.program.shapes[number] for plan in plans} if many else () for number in form.outputs]
    dtypes = [form.values[number] for number in form.outputs]
    return (
        [dtype.name for dtype in dtypes], list(form.layouts),
        [list(next(iter(one))) if len(one) == 1 else None for one in sizes],
    )  # fmt: skip


# --- programs -------------------------------------------------------------------------------------
def _write_programs(
    planner: Planner, form: FunctionForm, folder: Path, platforms: Sequence[str], number: int
) -> list[ProgramFile]:
    written = []
    for platform in sorted(set(platforms)):
        for batch, data in lowered(planner, form, platform):
            digest = hashlib.sha256(data).hexdigest()
            name = f"{number}x{form.key()}x{batch or 'n'}.{platform}.stablehlo"
            (folder / name).write_bytes(data)
            written.append(ProgramFile(platform, batch, name, digest))
    return written


def lowered(planner: Planner, form: FunctionForm, platform: str) -> list[tuple[int, bytes]]:
    """Lowers a program to StableHLO; this machine need not have the platform.

    Returns: pairs (batch size, program): one pair with size 0 if the program takes any batch size. If an operator needs to
        know the batch size, there is a pair for each of `BATCH_SIZES`.
    """
    function = jax.jit(computation(planner.stage, form, exact_platform(platform)))

    def export(batch: object) -> bytes:
        operands = operand_specs(planner.stage, form, batch)
        with x64_context(True) if form.program.x64 else contextlib.nullcontext():
            exported = jax.export.export(function, platforms=[platform])(*operands)
        return bytes(without_places(exported).serialize())

    (symbol,) = jax.export.symbolic_shape("batch")
    try:
        return [(0, export(symbol))]
    except Exception:  # an operator may do anything with a symbolic number of samples
        return [(batch, export(batch)) for batch in BATCH_SIZES]


def without_places(exported: jax.export.Exported) -> jax.export.Exported:
    """Strips source locations from a program.

    JAX writes the files and lines of all callers into a program. They would make its bytes depend on the folder in which
    jdali is installed, and reveal paths of the author.
    """
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = stablehlo.deserialize_portable_artifact(context, exported.mlir_module_serialized)
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        # As JAX does, target StableHLO of four weeks ago, so that slightly older versions can load the program.
        compatible = stablehlo.StablehloCompatibilityRequirement.WEEK_4
        version = stablehlo.get_version_from_compatibility_requirement(compatible)
        data = stablehlo.serialize_portable_artifact(module, version)
    return dataclasses.replace(exported, mlir_module_serialized=data)


# --- the graph ------------------------------------------------------------------------------------
def _written_graph(nodes: Sequence[Node], needed: set[Node]) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Writes all nodes and branches, because the numbers of nodes are part of random keys.

    Nodes that are not needed become sources without data. Names of the user's source files are written without folders.
    """
    record = record_to_write(node if node in needed else source_in_place_of(node) for node in nodes)
    record = dataclasses.replace(
        record,
        nodes=tuple(
            dataclasses.replace(node, where=os.path.basename(node.where), preserve=False)
            for node in record.nodes
        ),
        domains=tuple(dataclasses.replace(row, where=os.path.basename(row.where)) for row in record.domains),
    )
    try:
        return written_graph(record)
    except RuntimeError as error:
        raise ValueError(f"Pipeline.export: {error}") from error


def _numbers(value: Any) -> tuple[int, int]:
    return dataclasses.astuple(ValueNumber.of(value))


# Plans are made for these fractions of a padded size; for fewer fractions if more than two axes vary. Sizes in between
# are assumed to need no further plans.
_SHARES_OF_TWO = (1.0, 0.9, 0.75, 0.6, 0.5, 0.35, 0.25)
_SHARES_OF_MORE = (1.0, 0.5)
_MARGIN = 8  # a shape that covers different sizes is rounded up to a multiple of this


def sizes_within(shape: Sequence[int], layout: str, max_aspect: float) -> list[tuple[int, ...]]:
    """Returns sizes of samples up to a padded shape, the largest first."""
    names = layout or "." * len(shape)
    free = [axis for axis, name in enumerate(names) if name != "C" and shape[axis] > 1]
    shares = _SHARES_OF_TWO if len(free) <= 2 else _SHARES_OF_MORE
    sides = [axis for axis in free if names[axis] in "HW"]
    found: dict[tuple[int, ...], None] = {}
    for chosen in itertools.product(shares, repeat=len(free)):
        size = np.array(shape, np.int64)
        size[free] = np.maximum(1, np.round(size[free] * chosen)).astype(np.int64)
        found[tuple(size.tolist())] = None
    if len(sides) == 2:
        for long, short in (sides, sides[::-1]):
            size = np.array(shape, np.int64)
            size[short] = max(1, int(np.ceil(min(size[long] / max_aspect, size[short]))))
            found[tuple(size.tolist())] = None
    return [size for size in found if aspect([size[a] for a in sides]) <= max_aspect]


def combined(sizes: Sequence[Sequence[tuple[int, ...]]]) -> list[list[tuple[int, ...]]]:
    """Combines the sizes of several values. The sizes of each value are in descending order.

    In the first combinations all values shrink together; in the others only one value is below its largest size.
    """
    together = [[each[min(i, len(each) - 1)] for each in sizes] for i in range(max(map(len, sizes)))]
    alone = [
        [size if i == j else other[0] for j, other in enumerate(sizes)]
        for i, each in enumerate(sizes)
        for size in each[1:]
    ]
    return together + (alone if len(sizes) > 1 else [])


def aspect(sides: Sequence[int]) -> float:
    return max(sides) / max(min(sides), 1) if sides else 1.0


def covering(sizes: Sequence[Sequence[tuple[int, ...]]], growth: float = 1.0) -> tuple[tuple[int, ...], ...]:
    """Returns padded shapes that hold samples of these sizes and of all sizes in between.

    Args:
        growth: factor for the largest size of an axis whose sizes differ, because later random values may give larger
            sizes.
    """
    shapes = []
    for each in zip(*sizes, strict=True):
        columns = list(zip(*each, strict=True))
        shapes.append(tuple(_covered(column, growth) for column in columns))
    return tuple(shapes)


def _covered(column: tuple[int, ...], growth: float) -> int:
    most = max(column)
    return most if min(column) == most else -(-(int(most * growth) + 1) // _MARGIN) * _MARGIN
