"""What iterators refuse: the types and words of DALI's iterators."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from support import refusals

import jdali
import jdali.plugin.jax
from jdali.iterator import DataIterator, IteratorError


def pipeline(package, files=10, shard=0, shards=1, *, batch_size=4, checkpoints=False, **options):
    """Labels of a few files."""
    pipe = package.Pipeline(
        batch_size=batch_size, num_threads=1, device_id=None, enable_checkpointing=checkpoints
    )
    with pipe:
        _, label = package.fn.readers.file(
            files=[__file__] * files, labels=list(range(files)), name="R", shard_id=shard, num_shards=shards, **options
        )  # fmt: skip
        pipe.set_outputs(label)
    return pipe


def fed(package, batches):
    """What a source gives."""
    pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(package.fn.external_source(batches))
    return pipe


def two(package, first, second):
    """A pipeline for each of two shards, with options of their own."""
    return [
        pipeline(package, shard=0, shards=2, **first),
        pipeline(package, shard=1, **{"shards": 2} | second),
    ]


# What is wrong, and what DALI says of it: type, words, the call.
REFUSED = {
    "names": (
        AssertionError, "output_map names should be distinct", lambda p, make: make(pipeline(p), ["x", "x"])
    ),
    "size": (AssertionError, "Size cannot be 0", lambda p, make: make(pipeline(p), ["x"], size=0)),
    "size and reader": (
        AssertionError, "When reader_name is provided, size should not be set",
        lambda p, make: make(pipeline(p), ["x"], size=3, reader_name="R"),
    ),
    "padded and reader": (
        AssertionError, "When reader_name is provided, last_batch_padded should not be set",
        lambda p, make: make(pipeline(p), ["x"], last_batch_padded=True, reader_name="R"),
    ),
    "no size": (
        AssertionError, "Negative size is supported only for a single pipeline",
        lambda p, make: make([pipeline(p), pipeline(p)], ["x"]),
    ),
    "batch sizes": (
        AssertionError, "All pipelines should have the same batch size set",
        lambda p, make: make(two(p, {}, {"batch_size": 3}), ["x"], reader_name="R"),
    ),
    "sizes": (
        AssertionError, "Reader Operator should have the same size value in all the pipelines.",
        lambda p, make: make(two(p, {}, {"files": 12}), ["x"], reader_name="R"),
    ),
    "shards": (
        AssertionError, "Reader Operator should have the same `num_shards` argument set in all the pipelines.",
        lambda p, make: make(two(p, {}, {"shards": 3}), ["x"], reader_name="R"),
    ),
    "stick": (
        AssertionError, "Reader Operator should have the same `stick_to_shard` argument set in all the pipelines.",
        lambda p, make: make(two(p, {"stick_to_shard": True}, {}), ["x"], reader_name="R"),
    ),
    "auto_reset": (
        ValueError, "Unsupported value for `auto_reset` maybe",
        lambda p, make: make(pipeline(p), ["x"], auto_reset="maybe"),
    ),
    "policy": (
        ValueError, "Wrong type for `last_batch_policy`. Expected <enum 'LastBatchPolicy'>, got <class 'str'>",
        lambda p, make: make(pipeline(p), ["x"], last_batch_policy="FILL"),
    ),
    "reader": (
        RuntimeError, "not found or does not expose valid metadata",
        lambda p, make: make(pipeline(p), ["x"], reader_name="other"),
    ),
    "checkpoints": (
        ValueError, "All wrapped pipelines must have the same value for `enable_checkpointing`.",
        lambda p, make: make(two(p, {}, {"checkpoints": True}), ["x"], reader_name="R"),
    ),
    "no checkpoints": (
        ValueError, "Cannot access checkpoints with checkpointing disabled",
        lambda p, make: make(pipeline(p), ["x"], reader_name="R").checkpoints(),
    ),
    "no data": (
        RuntimeError, "It seems that there is no data in the pipeline. This may happen if `last_batch_policy` is set to",
        lambda p, make: next(make(pipeline(p, files=3), ["x"], reader_name="R", last_batch_policy="DROP")),
    ),
    "small batches": (
        AssertionError, "Variable batch size is not supported by the iterator when reader_name is provided or iterator",
        lambda p, make: next(make(fed(p, lambda: np.zeros((1, 3))), ["x"], size=8)),
    ),
    "ragged": (
        RuntimeError, "The batch must be representable as a tensor - it must have uniform shape",
        lambda p, make: next(make(fed(p, lambda: [np.zeros(1), np.zeros(2)]), ["x"])),
    ),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:Please set `reader_name`")
@pytest.mark.parametrize("name", REFUSED)
def test_iterators_refuse_as_dali_does(name):
    kind, text, call = REFUSED[name]

    def made_by(plugin):
        def make(*args, last_batch_policy=None, **options):
            if last_batch_policy is not None:
                known = getattr(plugin.iterator.LastBatchPolicy, last_batch_policy)
                options["last_batch_policy"] = last_batch_policy if name == "policy" else known
            return plugin.DALIGenericIterator(*args, **options)

        return make

    def run(package):
        call(package, made_by(importlib.import_module(f"{package.__name__}.plugin.jax")))

    refusals.check_both(kind, re.escape(text), run)


def test_what_is_refused_is_one_type():
    with pytest.raises(IteratorError, match="Number of provided pipelines has to be at least 1"):
        DataIterator(None, ["x"])
    with pytest.raises(IteratorError, match="Size cannot be 0"):
        DataIterator(pipeline(jdali), ["x"], size=0)
    with pytest.raises(IteratorError, match="uniform shape.*differ in shape"):
        next(DataIterator(fed(jdali, [[np.zeros(1), np.zeros(2)]]), ["x"]))
