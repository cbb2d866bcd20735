"""Everything that pipelines can do, made by workers as without: readers, augmentation, iterators, plugins."""

from contextlib import closing

import numpy as np
import pytest
from support.callbacks import Samples
from support.every_reader import MAKERS, made
from support.worker_pipelines import BATCH, batch, pipeline, write_pictures

import jdali
from jdali import fn
from jdali.iterator import DataIterator

NAMES = ["picture", "square", "added", "label", "number"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures") / "all")


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """For each case the reader's name and its arguments."""
    found = {}
    for case in MAKERS:
        folder = tmp_path_factory.mktemp("data") / "all"
        try:
            name, of = made(case, folder)
        except pytest.skip.Exception:  # an optional package is missing
            continue
        found[case] = name, of(str(folder))
    return found


def of_every_reader(readers, workers):
    """All readers of the table in one pipeline: what each of them gives."""

    @jdali.pipeline_def(batch_size=3, num_threads=1, seed=5, workers=workers)
    def define():
        outputs = []
        for name, args in readers.values():
            read = fn
            for part in name.split("."):
                read = getattr(read, part)
            given = read(**args, random_shuffle=True)
            outputs += (
                given.values()
                if isinstance(given, dict)
                else given
                if isinstance(given, (list, tuple))
                else [given]
            )
        return tuple(outputs)

    return define()


def test_every_reader_of_the_table_in_mid_epoch_and_from_a_state(readers):
    assert len(readers) > 10
    with closing(of_every_reader(readers, 0)) as pipe:
        expected = [(batch(pipe), pipe.get_state()) for _ in range(5)]
    with closing(of_every_reader(readers, 3)) as pipe:
        assert [(batch(pipe), pipe.get_state()) for _ in range(5)] == expected
    with closing(of_every_reader(readers, 1)) as pipe:
        pipe.set_state(expected[1][1])
        assert [(batch(pipe), pipe.get_state()) for _ in range(3)] == expected[2:]


def test_auto_augmentation(folder):
    from jdali.auto_aug import trivial_augment

    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=3, enable_conditionals=True)
    def define():
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True)
        picture = fn.resize(fn.decoders.image(encoded), size=(8, 8))
        return trivial_augment.trivial_augment_wide(picture, num_magnitude_bins=3), label

    with closing(define()) as one, closing(define(workers=1)) as other:
        for _ in range(2):
            assert batch(other) == batch(one)


def shard(folder, number, workers):
    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=3, workers=workers)
    def define():
        encoded, label = fn.readers.file(
            file_root=folder, random_shuffle=True, shard_id=number, num_shards=2, name="reader"
        )
        return fn.random_resized_crop(fn.decoders.image(encoded), size=(6, 6)), label

    return define()


def of_shards(folder, workers):
    pipes = [shard(folder, number, workers) for number in range(2)]
    with DataIterator(pipes, ["picture", "label"], reader_name="reader") as it:
        found = [{name: np.asarray(value).tolist() for name, value in made.items()} for made in it]
        replayed = {name: np.asarray(value).tolist() for name, value in it.batch_at(0).items()}
        single = {name: np.asarray(value).tolist() for name, value in it.sample(3, 1).items()}
    return found, replayed, single


def test_several_pipelines_of_one_iterator_and_samples_again(folder):
    here, there = of_shards(folder, 0), of_shards(folder, 1)
    assert there == here
    assert here[1] == here[0][0]


def test_an_iterator_of_pytorch(folder):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from jdali.plugin.pytorch import DALIGenericIterator

    def run(workers):
        with closing(shard(folder, 0, workers)) as pipe:
            it = DALIGenericIterator(pipe, ["picture", "label"], reader_name="reader", auto_reset=True)
            return [{n: v.tolist() for n, v in made[0].items()} for _ in range(2) for made in it]

    assert run(2) == run(0)


def test_an_iterator_of_jax(folder):
    from jdali.plugin.jax import DALIGenericIterator

    def run(workers):
        with closing(shard(folder, 0, workers)) as pipe:
            it = DALIGenericIterator(pipe, ["picture", "label"], reader_name="reader")
            return [{n: np.asarray(v).tolist() for n, v in made.items()} for made in it]

    assert run(2) == run(0)


def test_a_source_in_processes_and_one_in_this_one():
    """The first runs in the processes of `parallel=True`, the second in the process of the test, the function in workers."""

    def define(workers):
        @jdali.pipeline_def(
            batch_size=BATCH, num_threads=1, seed=7, py_start_method="forkserver", workers=workers
        )
        def definition():
            numbers, others = fn.external_source(Samples(9), batch=False, parallel=True, num_outputs=2)
            mine = fn.external_source(source=lambda info: np.int64(info.idx_in_epoch), batch=False)
            return fn.python_function(numbers, mine, function=lambda a, b: a + b), others

        return definition()

    with closing(define(0)) as one, closing(define(2)) as other:
        for _ in range(3):
            assert batch(other) == batch(one)


def test_states_are_those_of_workers_of_any_number_while_others_are_under_way(folder):
    with closing(pipeline(folder, on_error="mask")) as one, closing(pipeline(folder, workers=3)) as other:
        for _ in range(5):
            batch(one)
        other.set_state(one.get_state())
        for _ in range(3):
            assert batch(other) == batch(one)
        assert other.get_state() == one.get_state()
