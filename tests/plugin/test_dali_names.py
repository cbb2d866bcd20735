"""Names of DALI's base iterator that begin with an underscore: their values, and subclasses that set and override them.

`docs/programs/own_iterators.py` runs loaders of this kind beside the real DALI.
"""

import contextlib
import itertools
import logging
import threading

import numpy as np
import pytest
from iterator.test_policy import FakePipeline
from support import oracle

from jdali import OperatorError, fn, pipeline_def, types
from jdali.iterator import LastBatchPolicy
from jdali.plugin.base_iterator import _DaliBaseIterator
from jdali.plugin.dicts import DictIterator, Dicts
from jdali.plugin.jax import DALIGenericIterator

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
POSITION = ("_counter", "_size", "_counter_per_gpu", "_shard_sizes_per_gpu", "_shards_id")
FACTS = (
    "_num_gpus", "batch_size", "size", "_reader_name", "_auto_reset", "_last_batch_padded", "_size_no_pad", "_shards_num",
    "_is_stick_to_shard", "_shard_sizes_per_gpu_initial", "_first_batch", "_ever_consumed", "_enable_checkpointing",
)  # fmt: skip

# (samples, shards, samples of a batch)
SIZES = [(10, 1, 3), (10, 3, 2), (17, 2, 4), (11, 4, 1)]
CASES = [
    (*sizes, policy, pads, sticks)
    for sizes in SIZES
    for policy in (FILL, DROP, PARTIAL)
    for pads, sticks in itertools.product((False, True), repeat=2)
]


def values(iterator, names):
    return {name: np.asarray(getattr(iterator, name, None)).tolist() for name in names}


def step(iterator):
    """A batch as iterators of frameworks take it."""
    iterator._get_outputs()
    iterator._schedule_runs()
    iterator._advance_and_check_drop_last()


def trace(iterator, take, *, by_length):
    """The names after each batch, each end and each reset of some epochs."""
    found = [("made", values(iterator, (*POSITION, *FACTS)), len(iterator))]
    for _ in range(5):
        taken = 0
        with contextlib.suppress(StopIteration):
            while not (by_length and taken == len(iterator)):
                take(iterator)
                taken += 1
                found.append((taken, values(iterator, POSITION), len(iterator)))
        found.append(("end", values(iterator, POSITION), len(iterator)))
        iterator.reset()
        found.append(("reset", values(iterator, POSITION), len(iterator)))
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    for number in range(20):
        np.save(folder / f"{number}.npy", np.int32([number]))
    return [str(folder / f"{number}.npy") for number in range(20)]


def pipelines(files, size, shards, batch, ids, **options):
    """Pipelines over the first files, one for each of some shards."""

    @pipeline_def(batch_size=batch, device_id=None, num_threads=1, exec_pipelined=False, exec_async=False)
    def define(shard):
        return fn.readers.numpy(
            files=files[:size], name="Reader", num_shards=shards, shard_id=shard, **options
        )

    return [define(shard) for shard in ids]


class NumpyDicts(Dicts):
    def of_pipeline(self, batches, rows):
        arrays = {
            name: np.asarray(batch.as_tensor()) for name, batch in zip(self.names, batches, strict=True)
        }
        return arrays if rows is None else {name: array[rows] for name, array in arrays.items()}

    def of_mask(self, mask):
        return mask


class NumpyIterator(DictIterator):
    """As the iterators for PyTorch and PaddlePaddle, which need not be installed."""

    def __init__(self, pipes, output_map, reader_name, last_batch_policy):
        super().__init__(pipes, output_map, reader_name=reader_name, last_batch_policy=last_batch_policy)

    def _dicts(self, own, mask_name):
        return NumpyDicts(self.output_map, mask_name, self._all_pipelines)


@pytest.mark.cases(6)
@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_position_is_that_of_dali(case, files, caplog):
    caplog.set_level(logging.CRITICAL)
    oracle.dali()
    from nvidia.dali.plugin import base_iterator as dali

    size, shards, batch, policy, pads, sticks = case
    if policy is DROP and size // shards < batch:
        pytest.skip("an epoch without a batch is an error")
    for ids, by_length in itertools.product({(0,), tuple(range(shards))}, (False, True)):
        metas = [
            {
                "epoch_size": size, "epoch_size_padded": -(-size // shards) * shards if pads else size,
                "number_of_shards": shards, "shard_id": i, "pad_last_batch": int(pads), "stick_to_shard": int(sticks),
            } for i in ids
        ]  # fmt: skip
        options = {"reader_name": "Reader"}
        fakes = [FakePipeline(batch, meta) for meta in metas]
        theirs = dali._DaliBaseIterator(fakes, last_batch_policy=dali.LastBatchPolicy[policy.name], **options)
        theirs._first_batch = None  # as all iterators of DALI's have it
        expected = trace(theirs, step, by_length=by_length)
        reader = {"pad_last_batch": pads, "stick_to_shard": sticks}
        of_dicts = NumpyIterator if policy is PARTIAL else DALIGenericIterator  # JAX's stacks its outputs
        for take, kind, more in ((step, _DaliBaseIterator, ()), (next, of_dicts, (["number"],))):
            pipes = pipelines(files, size, shards, batch, ids, **reader)
            with kind(pipes, *more, last_batch_policy=policy, **options) as ours:
                found = trace(ours, take, by_length=by_length)
            if take is next:  # nobody asks it whether a batch was looked at
                found[0][1]["_ever_consumed"] = expected[0][1]["_ever_consumed"]
            assert found == expected


class Counting(_DaliBaseIterator):
    """Gives the numbers of a batch, and begins an epoch as DALI does where samples are repeated or left out."""

    def __next__(self):
        if self._first_batch is not None:
            batch, self._first_batch = self._first_batch, None
            return batch
        outputs = self._get_outputs()
        self._schedule_runs()
        self._advance_and_check_drop_last()
        return [np.array(output.as_tensor()).ravel().tolist() for (output,) in outputs]

    def reset(self, force=False):
        if self._counter >= self._size or self._size < 0:
            self._counter = 0
            for pipe in self._pipes:
                pipe.reset()
                if pipe.empty():
                    with pipe._check_api_type_scope(types.PipelineAPIType.ITERATOR):
                        pipe.schedule_run()


class SettingReset(DALIGenericIterator):
    """The same over an iterator whose `__next__` is jdali's."""

    reset = Counting.reset

    def __next__(self):
        return [super().__next__()["number"].ravel().tolist()]


@pytest.mark.parametrize("kind", [Counting, SettingReset])
def test_a_reset_that_sets_the_names_begins_the_next_epoch(kind, files):
    more = () if kind is Counting else (["number"],)
    options = {"pad_last_batch": True}
    with kind(
        pipelines(files, 7, 1, 3, (0,), **options), *more, reader_name="Reader", last_batch_policy=PARTIAL
    ) as own:
        for _ in range(2):
            batches = list(own)
            assert batches[:2] == [[[0, 1, 2]], [[3, 4, 5]]]
            assert own._counter == 9
        own.reset()
        assert (own._counter, len(own)) == (0, 3)
        assert next(own) == [[0, 1, 2]]
        assert own.get_state()["epochs"] == 2


@pytest.mark.parametrize("kind", [Counting, SettingReset])
def test_sources_that_end(kind):
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        return fn.external_source(lambda i: np.int32([[2 * i], [2 * i + 1]]) if i < 3 else _stop())

    def _stop():
        raise StopIteration

    more = () if kind is Counting else (["number"],)
    with kind([define()], *more) as own:
        for _ in range(3):
            assert list(own) == [[[0, 1]], [[2, 3]], [[4, 5]]]
            own.reset()


def test_a_position_that_cannot_be_gone_to_is_said(files):
    with DALIGenericIterator(pipelines(files, 7, 1, 3, (0,)), ["number"], reader_name="Reader") as own:
        next(own)
        own._counter = 0
        with pytest.raises(
            RuntimeError, match="cannot go where it was sent by setting _counter to 0, it is 3"
        ):
            next(own)
        assert next(own)["number"].ravel().tolist() == [3, 4, 5]  # nothing is lost
        next(own)
        own._counter, own._size = 0, 100
        with pytest.raises(RuntimeError, match=r"_counter to 0, it is \d; _size to 100"):
            next(own)


def test_methods_that_nothing_calls_are_refused():
    with pytest.raises(
        TypeError, match="Own overrides _get_outputs, which nothing calls here: override __next__"
    ):

        class Own(DALIGenericIterator):
            def _get_outputs(self):
                return []

    class Both(DALIGenericIterator):
        def _get_outputs(self):
            return super()._get_outputs()

        def __next__(self):
            return self._get_outputs()

    assert Both.__next__ is not DALIGenericIterator.__next__


def test_counting_of_a_subclass_ends_an_epoch(files):
    class Two(DALIGenericIterator):
        def _advance_and_check_drop_last(self, dry_run=False, end_iteration=True):
            ends = super()._advance_and_check_drop_last(dry_run, end_iteration)
            if self._counter > 6:
                raise StopIteration
            return ends

    with Two(pipelines(files, 20, 1, 3, (0,)), ["number"], reader_name="Reader") as own:
        assert [batch["number"].ravel().tolist() for batch in own] == [[0, 1, 2], [3, 4, 5]]


def test_the_first_batch_of_a_subclass(files):
    with Counting(pipelines(files, 7, 1, 3, (0,)), reader_name="Reader") as own:
        own._first_batch = next(own)
        assert next(own) == [[0, 1, 2]]
        assert next(own) == [[3, 4, 5]]
    with DALIGenericIterator(pipelines(files, 7, 1, 3, (0,)), ["number"], reader_name="Reader") as own:
        own._first_batch = "first"
        assert next(own) == "first"
        assert next(own)["number"].ravel().tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [Counting, SettingReset])
def test_a_batch_that_fails_is_counted(kind, files, tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"none")
    names = [*files[:3], str(tmp_path / "bad.npy"), *files[4:9]]
    more = () if kind is Counting else (["number"],)
    with kind(pipelines(names, 9, 1, 3, (0,)), *more, reader_name="Reader") as own:
        assert next(own) == [[0, 1, 2]]
        with pytest.raises(OperatorError, match="bad.npy"):
            next(own)
        assert own._counter == 6
        assert next(own) == [[6, 7, 8]]


def test_names_after_a_state_was_set(files):
    options = {"reader_name": "Reader", "last_batch_policy": FILL}
    with DALIGenericIterator(pipelines(files, 10, 3, 3, (1,)), ["number"], **options) as first:
        for _ in range(2):
            list(first)
        next(iter(first))
        state, expected = first.get_state(), values(first, POSITION)
    with DALIGenericIterator(pipelines(files, 10, 3, 3, (1,)), ["number"], **options) as second:
        second.set_state(state)
        assert values(second, POSITION) == expected


def test_several_threads_take_batches(files):
    """The names follow, whichever thread is first."""
    with DALIGenericIterator(
        pipelines(files, 20, 1, 1, (0,)), ["number"], reader_name="Reader", auto_reset=True
    ) as own:
        found, errors = [], []

        def take():
            try:
                for batch in own:
                    found.append(int(batch["number"][0, 0]))
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert set(found) == set(range(20))


def test_next_of_the_base_class_is_the_users(files):
    with (
        _DaliBaseIterator(pipelines(files, 7, 1, 3, (0,)), reader_name="Reader") as own,
        pytest.raises(NotImplementedError),
    ):
        next(own)
