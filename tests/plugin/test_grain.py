"""Data of Grain in a pipeline, and jdali iterators where Grain's are used; expected values are Grain's own."""

import json

import jax
import numpy as np
import pytest
from support.numbers import pipeline

import jdali
from jdali import fn
from jdali.iterator import DataIterator, LastBatchPolicy

grain = pytest.importorskip("grain", reason="Grain is not installed")
from jdali.plugin import grain as plugin  # noqa: E402


def pictures():
    """12 samples: a picture and its number."""
    return grain.MapDataset.range(12).map(
        lambda i: {"image": np.full((2, 3), i, np.uint8), "label": np.array([i], np.int32)}
    )


def loader():
    return grain.DataLoader(
        data_source=range(12),
        sampler=grain.samplers.IndexSampler(12, shuffle=True, num_epochs=1, seed=3),
        operations=[Numbered()],
    )


class Numbered(grain.transforms.Map):  # type: ignore[name-defined]
    def map(self, element):
        return {"image": np.full((2, 3), element, np.uint8), "label": np.array([element], np.int32)}


SOURCES = {
    "map": lambda: pictures().shuffle(seed=5),
    "iter": lambda: pictures().shuffle(seed=5).to_iter_dataset(),
    "filtered": lambda: pictures().filter(lambda e: e["label"][0] % 3 != 0).to_iter_dataset(),
    "window": lambda: grain.experimental.WindowShuffleIterDataset(
        pictures().to_iter_dataset(), window_size=5, seed=2
    ),
    "loader": loader,
}


def reading(data, *, batch_size=2, batch=False, names=("image", "label"), **options):
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=1, seed=1)
    with pipe:
        images, labels = fn.external_source(
            plugin.source(data, names), num_outputs=2, batch=batch, layout=["HW", ""], cycle="raise"
        )
        pipe.set_outputs(fn.cast(images, dtype=jdali.types.FLOAT) * 2.0, labels)
    return DataIterator(pipe, ["image", "label"], **options)


def labels(batches):
    return [np.asarray(b["label"]).ravel().tolist() for b in batches]


def pairs(values):
    return [values[i : i + 2] for i in range(0, len(values), 2)]


@pytest.mark.parametrize("kind", SOURCES)
def test_samples_of_grain(kind):
    data = SOURCES[kind]()
    expected = [int(e["label"][0]) for e in data]
    assert len(expected) in (8, 12)
    with reading(SOURCES[kind]()) as it:
        for _ in range(2):  # a second epoch begins again
            batches = list(it)
            assert labels(batches) == pairs(expected)
            for batch in batches:
                want = 2.0 * np.asarray(batch["label"])[:, :, None] * np.ones((1, 2, 3), np.float32)
                np.testing.assert_array_equal(np.asarray(batch["image"]), want)


def test_batches_of_grain():
    data = pictures().to_iter_dataset().batch(5)
    with reading(data, batch=True, batch_size=5) as it:
        assert labels(it) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]]


@pytest.mark.parametrize("kind", SOURCES)
def test_the_state_goes_with_the_pipelines(kind):
    expected = pairs([int(e["label"][0]) for e in SOURCES[kind]()])
    with reading(SOURCES[kind]()) as it:
        first = labels([next(it), next(it)])
        state = json.loads(json.dumps(it.get_state()))
        rest = labels(it)
    assert first + rest == expected
    with reading(SOURCES[kind]()) as again:
        again.set_state(state)
        assert labels(again) == rest
        again.set_state(state)  # and back
        assert labels(again) == rest


def test_a_map_dataset_can_be_asked_again():
    with reading(pictures().shuffle(seed=5)) as it:
        batches = list(it)
        assert labels([it.batch_at(3), it.batch_at(0)]) == labels([batches[3], batches[0]])


def test_arrays_and_tuples_need_no_names():
    pipe = jdali.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        whole = grain.MapDataset.range(6).map(lambda i: np.array([i], np.int32))
        both = grain.MapDataset.range(6).map(lambda i: (np.array([i], np.int32), np.array([-i], np.int32)))
        one = fn.external_source(plugin.source(whole), batch=False)
        pipe.set_outputs(one, *fn.external_source(plugin.source(both), num_outputs=2, batch=False))
    assert [np.asarray(o.as_tensor()).ravel().tolist() for o in pipe.run()] == [
        [0, 1, 2], [0, 1, 2], [0, -1, -2],
    ]  # fmt: skip
    pipe.close()


@pytest.mark.parametrize(
    ("data", "names", "text"),
    [
        (lambda: [1, 2], None, "must be a grain.MapDataset.* not list"),
        (pictures, None, "a dict of \\['image', 'label'\\]: give the names"),
        (pictures, ["image", "lable"], "no \\['lable'\\], it has \\['image', 'label'\\]"),
        (lambda: pictures().filter(lambda e: False), ["image", "label"], "element 0 .* was filtered out"),
    ],
)
def test_errors_say_what_to_do(data, names, text):
    with pytest.raises((TypeError, jdali.OperatorError), match=text):
        next(iter(reading(data(), names=names)))


# --- a jdali iterator as one of Grain ------------------------------------------------------------------
def numbers(**options):
    return plugin.DatasetIterator(
        DataIterator(pipeline(10, 3), ["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.DROP, **options)
    )  # fmt: skip


def rows(batches):
    return [np.asarray(b["x"]).ravel().tolist() for b in batches]


def test_it_is_an_iterator_of_grain():
    it = numbers()
    assert isinstance(it, grain.DatasetIterator)
    assert it.element_spec == {"x": jax.ShapeDtypeStruct((3, 1), np.int32)}
    assert rows(it) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]  # the look at the first batch did not take it
    assert next(it, None) is None  # it stays at its end
    assert str(it) == "jdali(x)"
    it.start_prefetch()
    it.close()
    it.close()
    with pytest.raises(ValueError, match="closed iterator"):
        next(it)


def test_the_next_epoch_with_auto_reset():
    it = numbers(auto_reset=True)
    assert rows(it) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert rows(it) == [[2, 3, 4], [5, 6, 7], [8, 9, 0]]  # DALI's way without padding
    it.close()


def test_state_before_and_after_a_look_ahead():
    it, other = numbers(), numbers()
    state = it.get_state()
    assert it.element_spec
    assert it.get_state() == state
    next(it)
    state = it.get_state()
    assert state != other.get_state()
    assert other.element_spec
    other.set_state(json.loads(json.dumps(state)))
    assert rows(other) == rows(it) == [[3, 4, 5], [6, 7, 8]]
    it.close()
    other.close()


@pytest.mark.filterwarnings("ignore")  # Orbax's own
def test_grains_checkpoint(tmp_path):
    """Beside arrays in one checkpoint of Orbax, by Grain's handler."""
    ocp = pytest.importorskip("orbax.checkpoint")
    it = numbers()
    next(it)
    with ocp.CheckpointManager(tmp_path) as manager:
        manager.save(
            1,
            args=ocp.args.Composite(
                model=ocp.args.StandardSave({"w": np.arange(3.0)}), data=grain.checkpoint.CheckpointSave(it)
            ),
        )
        manager.wait_until_finished()
        rest = rows(it)
        again = numbers()
        restored = manager.restore(
            1,
            args=ocp.args.Composite(
                model=ocp.args.StandardRestore(), data=grain.checkpoint.CheckpointRestore(again)
            ),
        )
    assert restored.model["w"].tolist() == [0.0, 1.0, 2.0]
    assert rows(again) == rest == [[3, 4, 5], [6, 7, 8]]
    it.close()
    again.close()


def test_grains_transformations_take_it():
    class Numbers(grain.IterDataset):  # type: ignore[name-defined]
        def __iter__(self):
            return numbers()

    it = iter(Numbers().map(lambda batch: int(batch["x"].sum())))
    assert next(it) == 3
    state = it.get_state()
    assert list(it) == [12, 21]
    it.set_state(state)
    assert list(it) == [12, 21]
    it.close()
