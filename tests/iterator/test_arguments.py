"""What iterators refuse: the types and words of DALI's iterators."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from support import refusals
from support.numbers import pipeline as number_pipeline

import jdali
import jdali.plugin.jax
from jdali.iterator import DataIterator, IteratorError, LastBatchPolicy


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


@pytest.mark.parametrize(
    ("size", "shards", "batch", "is_refused"),
    [
        (7, 3, 2, True),
        (10, 3, 3, True),
        (5, 4, 1, True),
        (10, 4, 2, True),
        (9, 3, 3, False),
        (10, 3, 2, False),
    ],
)
def test_drop_with_padded_shards_of_one_batch_and_a_little(size, shards, batch, is_refused):
    """Else every second epoch would hold padding alone, as in DALI."""

    def opened(pad):
        pipe = number_pipeline(size, batch, num_shards=shards, pad=pad)
        return DataIterator(pipe, ["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.DROP)

    opened(pad=False).close()
    if is_refused:
        with pytest.raises(ValueError, match="DROP and pad_last_batch=True.*another policy"):
            opened(pad=True)
        return
    with opened(pad=True) as it:
        for _ in range(4):
            assert len(list(it)) == size // shards // batch


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("sizes", [(1, 4, 4, 1), (4, 3, 3), (4, 4, 1)])
def test_a_source_of_smaller_batches_than_size_says(policy, sizes):
    """A batch that is too small is an error under every policy, and no sample is lost without one."""

    def source():
        yield from (np.full((n, 1), n, np.int32) for n in sizes)

    pipe = jdali.Pipeline(batch_size=4, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(jdali.fn.external_source(source, cycle="raise"))
    small = next(i for i, n in enumerate(sizes) if n < 4)
    with DataIterator(pipe, ["x"], size=10, last_batch_policy=policy) as it:
        if policy is LastBatchPolicy.DROP and small == 2:
            assert len(list(it)) == 2  # what is dropped is not looked at
            return
        for _ in range(small):
            next(it)
        with pytest.raises(IteratorError, match=f"gave {sizes[small]} samples in place of"):
            next(it)


def test_pad_fills_a_smaller_last_batch():
    def source():
        yield from (np.full((n, 1), n, np.int32) for n in (4, 4, 2))

    pipe = jdali.Pipeline(batch_size=4, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(jdali.fn.external_source(source, cycle="raise"))
    with DataIterator(pipe, ["x"], size=10, last_batch_policy=LastBatchPolicy.PAD) as it:
        for _ in range(2):
            masks = [batch["mask"].tolist() for batch in it]
            assert masks == [[True] * 4, [True] * 4, [True, True, False, False]]
