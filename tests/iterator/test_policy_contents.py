"""Which numbers the batches of some epochs have, under every policy: against the real DALI's iterators."""

import itertools

import numpy as np
import pytest
from support import oracle

import jdali
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.plugin.jax.clu import DALIGenericPeekableIterator

FILL, DROP, PARTIAL, PAD = LastBatchPolicy
EPOCHS = 3

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def plugin():
    return oracle.torch_plugin()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files enough for all cases; number i is the label of file i."""
    folder = tmp_path_factory.mktemp("files")
    for i in range(30):
        (folder / f"{i:03d}").write_bytes(b"x")
    return sorted(map(str, folder.iterdir()))


def reading(package, files, batch, ids, shards, **reader):
    pipes = []
    for shard in ids:
        pipe = package.Pipeline(batch_size=batch, num_threads=1, device_id=None)
        with pipe:
            _, label = package.fn.readers.file(
                files=files, labels=list(range(len(files))), name="Reader", shard_id=shard,
                num_shards=shards, **reader,
            )  # fmt: skip
            pipe.set_outputs(label)
        pipes.append(pipe)
    return pipes


def dali_batches(iterator, resets):
    """For each epoch the numbers of each batch, those of all pipelines one after another."""
    result = []
    for _ in range(EPOCHS):
        result.append([np.concatenate([np.asarray(d["x"]).ravel() for d in b]).tolist() for b in iterator])
        if resets:
            iterator.reset()
    return result


def own_batches(iterator, resets):
    result = []
    for _ in range(EPOCHS):
        result.append([np.asarray(b["x"]).ravel().tolist() for b in iterator])
        if resets:
            iterator.reset()
    return result


# Samples, shards, samples in a batch.
SIZES = [(10, 1, 3), (12, 1, 4), (10, 3, 2), (7, 2, 2), (17, 2, 4), (5, 5, 1), (3, 1, 4)]
READERS = [
    (policy, size, shards, batch, ids, pads, sticks)
    for policy in (FILL, DROP, PARTIAL)
    for size, shards, batch in SIZES
    for ids in sorted({(shards - 1,), tuple(range(shards))})
    for pads, sticks in itertools.product((False, True), repeat=2)
    if not (policy is DROP and size // shards < batch)  # no batch at all: tests/iterator/test_empty_epochs.py
]


@pytest.mark.parametrize("policy", [FILL, DROP, PARTIAL])
def test_with_a_reader(plugin, files, policy):
    """Every combination of sizes, shards, padding and sticking; resets and first batches in turn."""
    compared = 0
    for number, (of, size, shards, batch, ids, pads, sticks) in enumerate(READERS):
        if of is not policy:
            continue
        reader = {"pad_last_batch": pads, "stick_to_shard": sticks}
        auto_reset, first = number % 2 == 0, number % 3 != 0
        options = {"reader_name": "Reader", "auto_reset": auto_reset, "prepare_first_batch": first}
        theirs = plugin.DALIGenericIterator(
            reading(oracle.dali(), files[:size], batch, ids, shards, **reader), ["x"],
            last_batch_policy=plugin.LastBatchPolicy[policy.name], **options,
        )  # fmt: skip
        pipes = reading(jdali, files[:size], batch, ids, shards, **reader)
        with DataIterator(pipes, ["x"], last_batch_policy=policy, **options) as ours:
            expected, got = dali_batches(theirs, not auto_reset), own_batches(ours, not auto_reset)
        assert got == expected, (policy, size, shards, batch, ids, reader)
        compared += sum(map(len, got))
    assert compared > 150


@pytest.mark.parametrize("policy", [FILL, DROP, PARTIAL])
def test_with_a_size(plugin, policy):
    """A source that counts for ever, or that repeats the last number at the end of an epoch."""

    def counting(package, batch, start, size, padded):
        count = itertools.count()

        def source():
            values = [start + next(count) for _ in range(batch)]
            if padded:  # whole batches up to the end of the epoch
                whole = -(-size // batch) * batch
                values = [min(v % whole, size - 1) for v in values]
            return np.array(values, np.int32)[:, None]

        pipe = package.Pipeline(batch_size=batch, num_threads=1, device_id=None, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(package.fn.external_source(source=source))
        return pipe

    for size, pipelines, batch, padded in itertools.product((6, 7, 10), (1, 2), (2, 3), (False, True)):
        if padded and pipelines > 1:
            continue
        options = {"size": size, "last_batch_padded": padded}
        theirs = plugin.DALIGenericIterator(
            [counting(oracle.dali(), batch, 100 * i, size, padded) for i in range(pipelines)], ["x"],
            last_batch_policy=plugin.LastBatchPolicy[policy.name], **options,
        )  # fmt: skip
        pipes = [counting(jdali, batch, 100 * i, size, padded) for i in range(pipelines)]
        with DataIterator(pipes, ["x"], last_batch_policy=policy, **options) as ours:
            got = own_batches(ours, True)
        assert got == dali_batches(theirs, True), (policy, size, pipelines, batch, padded)


def test_pad_is_dalis_partial_with_a_mask(plugin, files):
    """Under the mask of PAD are just the numbers that DALI gives with PARTIAL, batch by batch."""
    for size, shards, batch in SIZES:
        ids, reader = range(shards), {"pad_last_batch": True}
        theirs = plugin.DALIGenericIterator(
            reading(oracle.dali(), files[:size], batch, ids, shards, **reader), ["x"], reader_name="Reader",
            last_batch_policy=plugin.LastBatchPolicy.PARTIAL,
        )  # fmt: skip
        pipes = reading(jdali, files[:size], batch, ids, shards, **reader)
        with DataIterator(pipes, ["x"], reader_name="Reader", last_batch_policy=PAD) as ours:
            for expected in dali_batches(theirs, True):
                masked = []
                for b in ours:
                    assert b["x"].shape == (batch * shards, 1)
                    masked.append(np.asarray(b["x"]).ravel()[np.asarray(b["mask"])].tolist())
                assert masked == expected


@pytest.mark.parametrize("policy", [FILL, DROP])
def test_peeking_changes_nothing(plugin, files, policy):
    for size, shards, batch in SIZES[:5]:
        theirs = plugin.DALIGenericIterator(
            reading(oracle.dali(), files[:size], batch, [0], shards), ["x"], reader_name="Reader",
            last_batch_policy=plugin.LastBatchPolicy[policy.name],
        )  # fmt: skip
        with DALIGenericPeekableIterator(
            reading(jdali, files[:size], batch, [0], shards), ["x"], reader_name="Reader",
            last_batch_policy=policy,
        ) as ours:  # fmt: skip
            for expected in dali_batches(theirs, True):
                got = []
                for number in range(len(ours)):
                    peeked = ours.peek() if number % 2 else ours.peek_async().result(timeout=60)
                    assert ours.element_spec["x"].shape == (batch, 1)
                    got.append(np.asarray(next(ours)["x"]).ravel().tolist())
                    assert got[-1] == np.asarray(peeked["x"]).ravel().tolist()
                assert got == expected
                with pytest.raises(StopIteration):
                    ours.peek()
                ours.reset()
