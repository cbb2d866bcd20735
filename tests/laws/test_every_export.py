"""Every operator through `Pipeline.export` and `jdali.load`: the bits of the pipeline, or refused by name.

The rows are those of `test_every_function`: inputs and arguments by sample are what the folder takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws.test_every_function import NO_INPUTS, ROWS, check, operands, pipeline_of
from ops import sweep_cases
from support.sweep import COUNT, Outputs, Row

import jdali
from jdali._operators.record import REGISTRY, CompiledOp, ReaderOp
from jdali.engine.function import Padded
from jdali.graph import HOST_OPERATORS
from jdali.tensors import TensorList

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")

pytestmark = pytest.mark.timeout(600)

# Operators that are refused, and why. docs/function.md lists them.
REFUSED = {
    "batch_permutation": "works on the batch",
    "permute_batch": "works on the batch",
    "get_property": "works on the batch",
    "mixup": "depends on the batch",
    "cutmix": "depends on the batch",
    "dump_image": "writes files",
    "io.file.read": "reads files",
    "tokenize": "reads the file of its tokenizer",
    "python_function": "runs code of the user's",
    "dl_tensor_python_function": "runs code of the user's",
}
# Arguments whose elements `setup` must see: here they come from the start, whose elements no export knows.
BY_ELEMENTS = {
    "coord_transform", "coord_transform-MT", "jpeg_compression_distortion", "multi_paste", "multi_paste-shares",
    "noise.salt_and_pepper", "random.choice", "random.uniform", "roi_random_crop", "roi_random_crop-input",
    "random.beta", "transforms.crop", "transforms.shear-angles",
}  # fmt: skip
WHOLE_BATCH = {"normalize-batch"}
QUICK = ("brightness_contrast", "erase", "random.coin_flip", "reductions.mean", "squeeze", "multi_paste")
rows = pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=str(row), marks=() if str(row) in QUICK else pytest.mark.exhaustive)
        for row in ROWS
    ],
)


def exported(row: Row, folder: Path) -> None:
    """Writes a pipeline of one row to a folder, for samples up to those of the row."""
    pipe, sources = pipeline_of(row)
    arrays, _ = operands(row)
    shapes: list[Any] = [array.shape[1:] for array in arrays]
    pipe.export(
        folder, start=sources, shapes=[tuple(shapes) if len(shapes) > 1 else shapes[0]],
        dtypes=[a.dtype for a in arrays], deterministic=False, platforms=["cpu"],
    )  # fmt: skip


def samples_of(output: Any) -> Outputs:
    """The samples of an output, without padding."""
    if not isinstance(output, Padded):
        return list(output)
    return [value[tuple(map(slice, size))] for value, size in zip(output.array, output.extents, strict=True)]


@pytest.mark.cases(3)
@rows
def test_a_folder_has_the_bits_of_the_pipeline(row: Row, tmp_path: Path):
    if str(row) in BY_ELEMENTS | WHOLE_BATCH:
        with pytest.raises(ValueError, match=rf"Pipeline\.export: .*{row.op}"):
            exported(row, tmp_path)
        return
    exported(row, tmp_path)
    arrays, extents = operands(row)
    batches = [
        TensorList.from_samples(
            [one[tuple(map(slice, size))] for one, size in zip(array, sizes, strict=True)]
        )
        for array, sizes in zip(arrays, extents, strict=True)
    ]
    returned = jdali.load(tmp_path).arrays(*batches, index=np.arange(COUNT))
    outputs = [returned] if isinstance(returned, (Padded, np.ndarray)) else list(returned)
    got = [list(one) for one in zip(*map(samples_of, outputs), strict=True)]
    check(row, "a folder", got, sweep_cases.allowed_difference(row))


def test_every_operator_is_exported_or_refused_by_name():
    """Compiled ones are rows, decoders and a few others run on the host, readers give what a folder takes."""
    rows_of = {row.op for row in ROWS}
    left = {
        name
        for name, op in REGISTRY.items()
        if not isinstance(op, ReaderOp) and name not in rows_of and not name.startswith("_")
    }
    left = {name for name in left if not isinstance(REGISTRY[name], CompiledOp) or name not in NO_INPUTS}
    decoders = {name for name in left if getattr(REGISTRY[name], "work", "") == "decoding"}
    moves = {name for name in left if getattr(REGISTRY[name], "same_samples", False)}
    assert left - decoders - moves - HOST_OPERATORS == set(REFUSED)


def test_the_page_lists_what_is_refused():
    page = (Path(jdali.__file__).parents[1] / "docs/function.md").read_text()
    section = page.split("## What is refused")[1].split("\n## ")[0]
    missing = [name for name in (*REFUSED, *BY_ELEMENTS) if f"`{name.split('-')[0]}`" not in section]
    assert not missing
