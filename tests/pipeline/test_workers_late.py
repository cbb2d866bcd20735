"""Large pictures, which a worker decodes when a call of their stage asks for them: the same bits, errors and replacements."""

import dataclasses
import itertools
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.worker_pipelines import batch

import jdali
from jdali import fn
from jdali._pipeline.sent_pipeline import data_set_digest, send_pipeline

COUNT, BATCH, SIZE = 7, 3, (1100, 1000)  # height and width of the smallest
BAD = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of some sizes, of which one is cut off in the middle: its header is sound."""
    folder = tmp_path_factory.mktemp("large") / "0"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(COUNT):
        small = Image.fromarray(rng.integers(0, 255, (11, 10, 3), dtype=np.uint8))
        path = folder / f"{i:02}.jpg"
        small.resize((SIZE[1] + 40 * (i % 3), SIZE[0] + 30 * (i % 2))).save(path)
        if i == BAD:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return str(folder.parent)


def pipeline(folder, **options):
    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=7, **options)
    def define():
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True, name="pictures")
        pictures = fn.decoders.image_random_crop(encoded, random_area=(0.9, 1.0))
        moved = fn.crop(pictures, crop=(64, 64), crop_pos_x=fn.random.uniform(range=(0.0, 1.0)))
        return moved, label

    return define()


def test_the_batches_are_large_enough_and_a_worker_makes_their_pictures_late(folder):
    assert 0.9 * BATCH * np.prod(SIZE) * 3 > (8 << 20)  # from there on they are late
    pipe = pipeline(folder, workers=1)
    config, graph = pipe.internals().config, pipe.graph
    sent = send_pipeline(
        graph.nodes, pipe.outputs_of_graph, one_device=True, config=config, readers={}, tables={}
    )
    with closing(sent._engine()) as engine:
        digests = {node.name: data_set_digest(reader) for node, reader in engine.readers.items()}
        late = [step.nodes[0].op.name for step in engine.here.steps if getattr(step, "may_be_late", False)]
    assert late == ["decoders.image_random_crop"]
    make = dataclasses.replace(sent, readers=digests).start()
    assert make.__self__.budget.count == 0


@pytest.mark.cases(1)
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_the_same_bits_and_replacements(folder, on_error):
    def run(workers):
        with closing(pipeline(folder, workers=workers, on_error=on_error)) as pipe:
            return [batch(pipe) for _ in range(5)], pipe.errors, pipe.get_state()

    here, there = run(0), run(1)
    assert there == here
    assert {Path(error.path).name for error in here[1]} == {f"{BAD:02}.jpg"}


def test_the_same_error(folder):
    def error(workers):
        with closing(pipeline(folder, workers=workers)) as pipe, pytest.raises(RuntimeError) as caught:
            list(itertools.starmap(pipe.run, [()] * 5))
        return caught.value

    here, there = error(0), error(1)
    assert str(there) == str(here)
    assert "decoders.image_random_crop" in str(there)
    assert (there.sample, there.source, there.where) == (here.sample, here.source, here.where)
