"""Everything that pipelines can do, made by workers as without: readers, augmentation, iterators, plugins."""

from contextlib import closing

import numpy as np
import pytest
from support.worker_pipelines import BATCH, batch, write_pictures

import jdali
from jdali import fn, types
from jdali.auto_aug.augmentations import brightness, invert
from jdali.auto_aug.trivial_augment import apply_trivial_augment
from jdali.iterator import DataIterator


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures") / "all")


def test_auto_augmentation(folder):
    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=3, enable_conditionals=True)
    def define():
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True)
        chosen = [brightness.augmentation((0.1, 1.9)), invert]
        return apply_trivial_augment(chosen, fn.decoders.image(encoded), num_magnitude_bins=3), label

    with closing(define()) as one, closing(define(workers=1)) as other:
        for _ in range(2):
            assert batch(other) == batch(one)


def shard(folder, number, workers):
    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=3, workers=workers)
    def define():
        encoded, label = fn.readers.file(
            file_root=folder, random_shuffle=True, shard_id=number, num_shards=2, name="reader"
        )
        picture = fn.decoders.image(encoded)
        return fn.random_resized_crop(picture, size=(6, 6), interp_type=types.INTERP_NN), label

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

    assert run(1) == run(0)


def test_an_iterator_of_jax(folder):
    from jdali.plugin.jax import DALIGenericIterator

    def run(workers):
        with closing(shard(folder, 0, workers)) as pipe:
            it = DALIGenericIterator(pipe, ["picture", "label"], reader_name="reader")
            return [{n: np.asarray(v).tolist() for n, v in made.items()} for made in it]

    assert run(1) == run(0)
