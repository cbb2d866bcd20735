"""DALI's checkpoints: `Pipeline.checkpoint`, the argument `checkpoint`, `checkpoints` of iterators."""

import copy
import json
import pickle

import numpy as np
import pytest
from support import oracle, refusals

import jdali
from jdali import fn, types
from jdali.iterator import DataIterator
from jdali.plugin.jax import DALIGenericIterator

SIZE = 10


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for i in range(SIZE):
        (folder / f"{i}.bin").write_bytes(bytes([i]))
    return [str(folder / f"{i}.bin") for i in range(SIZE)]


def definition(functions, files, more=False):
    data, _ = functions.readers.file(
        files=files, labels=list(range(SIZE)), random_shuffle=True, name="Reader", seed=11
    )
    value = functions.random.uniform(range=[0.0, 1.0])
    return data, value + 1.0 if more else value


@jdali.pipeline_def(batch_size=3, num_threads=1, seed=3, enable_checkpointing=True)
def reading(files, more=False):
    return definition(fn, files, more)


def rows(outputs):
    return [
        np.concatenate([np.asarray(out.at(i)).ravel() for i in range(len(out))]).tolist() for out in outputs
    ]


def runs(pipe, count):
    return [rows(pipe.run()) for _ in range(count)]


def test_a_pipeline_goes_on_from_its_checkpoint(files, tmp_path):
    one = reading(files)
    start = one.checkpoint()
    whole = runs(one, 2)
    saved = one.checkpoint(str(tmp_path / "saved"))
    assert isinstance(saved, bytes)
    assert (tmp_path / "saved").read_bytes() == saved
    whole += runs(one, 5)
    assert runs(reading(files, checkpoint=start), 7) == whole
    for given in (saved, saved.decode()):
        two = reading(files, checkpoint=given)
        assert not two.is_restored_from_checkpoint
        two.build()
        assert two.is_restored_from_checkpoint
        assert two.checkpoint() == saved
        assert runs(two, 5) == whole[2:]
    assert not one.is_restored_from_checkpoint


def cases(files, pipeline, saved):
    """What each of these pipelines does, and the error if it does not work."""
    return {
        "checkpoint without enable_checkpointing": lambda: pipeline(
            files, enable_checkpointing=False
        ).checkpoint(),
        "restored without enable_checkpointing": lambda: pipeline(
            files, enable_checkpointing=False, checkpoint=saved
        ).build(),
        "no checkpoint": lambda: pipeline(files, enable_checkpointing=True, checkpoint=b"\xff\xff").build(),
        "more operators": lambda: pipeline(
            files, more=True, enable_checkpointing=True, checkpoint=saved
        ).build(),
    }


def test_errors(files):
    made = cases(files, reading, reading(files).checkpoint())
    messages = {
        "checkpoint without enable_checkpointing": "The `enable_checkpointing` was not specified",
        "restored without enable_checkpointing": "Cannot restore checkpoint. The `enable_checkpointing` was not specified",
        "no checkpoint": "the checkpoint cannot be restored: checkpoint: these are not the bytes",
        "more operators": r"cannot be restored: .*there were 2 operators, there are 3",
    }
    for name, message in messages.items():
        with pytest.raises(RuntimeError, match=message):
            made[name]()
    with pytest.raises(RuntimeError, match="checkpoint: a state of version 9, expected 1"):
        reading(files, checkpoint=json.dumps({"version": 9})).build()


def defined_in_dali():
    dali = oracle.dali()

    @dali.pipeline_def(batch_size=3, num_threads=1, device_id=None, seed=3, enable_checkpointing=True)
    def pipeline(files, more=False):
        return definition(dali.fn, files, more)

    return pipeline


def fail_in_dali(files, saved, name):
    cases(files, defined_in_dali(), saved)[name]()


@pytest.mark.oracle
def test_errors_are_where_dali_has_them(files):
    theirs = defined_in_dali()
    one = theirs(files)
    whole = runs(one, 2)
    saved = one.checkpoint()
    assert isinstance(saved, bytes)
    whole += runs(one, 3)
    two = theirs(files, checkpoint=saved)
    assert not two.is_restored_from_checkpoint
    two.build()
    assert two.is_restored_from_checkpoint
    assert runs(two, 3) == whole[2:]
    for name in cases(files, theirs, saved):
        refusals.check(RuntimeError, "", fail_in_dali, files, saved, name)


def iterators(files, checkpoints=(None,), kind=DALIGenericIterator, **options):
    pipes = [reading(files, checkpoint=text, **options) for text in checkpoints]
    return kind(pipes, ["data", "value"], reader_name="Reader", auto_reset=True)


def hashes(it, count):
    found = []
    while len(found) < count:
        found += [np.asarray(batch["value"]).tolist() for batch in it]
    return found[:count]


@pytest.mark.parametrize("kind", [DALIGenericIterator, DataIterator])
@pytest.mark.parametrize("taken", [0, 1, 5])
def test_iterators_go_on_from_their_checkpoints(files, kind, taken):
    with iterators(files, kind=kind) as one:
        for _, _ in zip(range(taken), (b for _ in range(9) for b in one), strict=False):
            pass
        saved = one.checkpoints()
        expected, lengths = hashes(one, 6), len(one)
    assert [type(item) for item in saved] == [bytes]
    with iterators(files, saved, kind=kind) as two:
        assert two.checkpoints() == saved
        assert hashes(two, 6) == expected
        assert len(two) == lengths


def test_several_pipelines(files):
    with iterators(files, [None, None]) as one:
        next(one)
        saved = one.checkpoints()
        expected = np.asarray(next(one)["value"])
    assert len(saved) == 2
    with iterators(files, saved) as two:
        np.testing.assert_array_equal(next(two)["value"], expected)


def test_checkpoints_of_pipelines_without_checkpointing(files):
    with iterators(files, enable_checkpointing=False) as it:
        with pytest.raises(
            ValueError,
            match="Cannot access checkpoints with checkpointing disabled: give the pipelines enable_checkpointing=True",
        ):
            it.checkpoints()
        assert it.get_state()["steps"] == 0


def test_an_iterator_of_a_pipeline_that_was_alone(files, caplog):
    pipe = reading(files)
    pipe.run()
    saved = pipe.checkpoint()
    expected = rows(pipe.run())[1]
    with iterators(files, [saved]) as it:
        assert "were not restored from the checkpoints of one iterator" in caplog.text
        assert np.asarray(next(it)["value"]).tolist() == expected


# --- a pipeline as bytes ----------------------------------------------------------------------------
@jdali.pipeline_def(batch_size=4, num_threads=1, seed=3, enable_conditionals=True)
def branching(files):
    data, labels = fn.readers.file(files=files, labels=list(range(SIZE)), random_shuffle=True, name="Reader")
    value = fn.random.uniform(range=[-1.0, 1.0], seed=5)
    if value > 0:
        value = value * np.float32([2.0, 3.0])[1]
    else:
        value = fn.cast(value - 10.0, dtype=types.FLOAT)
    fed = fn.external_source(name="fed", num_outputs=2, dtype=[types.INT32, types.FLOAT], ndim=1)
    noise = fn.random.normal(value, stddev=0.5)
    return data, labels, value, noise, *fed


def test_a_pipeline_made_of_bytes_is_the_same(files, tmp_path):
    one = branching(files)
    data = one.serialize(filename=str(tmp_path / "pipeline"))
    assert isinstance(data, bytes)

    def some(pipe, count=3):
        fed = ([np.int32([i]) for i in range(4)], [np.float32([i]) for i in range(4)])
        return [rows(pipe.run(fed=fed)) for _ in range(count)]

    expected = some(one)
    assert some(jdali.Pipeline.deserialize(data)) == expected
    assert some(jdali.Pipeline.deserialize(filename=str(tmp_path / "pipeline"), num_threads=2)) == expected
    three = jdali.Pipeline(batch_size=4, num_threads=1, seed=3)
    three.deserialize_and_build(data)
    three.set_state(branching(files).get_state())  # the fingerprint, too, is the same
    assert some(three) == expected
    assert jdali.Pipeline.deserialize(data).serialize() == data


COPIES = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_of_a_pipeline_goes_on_at_the_same_position(files, how):
    def some(pipe, count=3):
        fed = ([np.int32([i]) for i in range(4)], [np.float32([i]) for i in range(4)])
        return [rows(pipe.run(fed=fed)) for _ in range(count)]

    expected = some(branching(files), 5)
    one = branching(files)
    assert some(one, 2) == expected[:2]
    two = COPIES[how](one)
    assert some(two) == expected[2:]
    assert some(one) == expected[2:]  # neither moves the other
    not_built = COPIES[how](
        branching(files, output_ndim=[1, 1, 0, 0, 1, 1], bytes_per_sample=5, on_error="skip")
    )
    assert some(not_built, 5) == expected
    assert (not_built.output_ndim(), not_built.bytes_per_sample) == ([1, 1, 0, 0, 1, 1], 5)
    assert not_built.on_error == "skip"


def test_what_cannot_be_copied_says_what_to_do(files):
    def called(source):
        pipe = jdali.Pipeline(batch_size=2, num_threads=1)
        with pipe:
            pipe.set_outputs(fn.python_function(fn.external_source(source, name="numbers"), function=abs))
        return pipe

    for copied in COPIES.values():
        with pytest.raises(
            TypeError, match=r"the source of 'numbers' .*call the pipeline function again.*get_state"
        ):
            copied(called(lambda i: np.zeros((2, 1), np.int32)))
        with pytest.raises(TypeError, match=r"python_function: argument 'function' cannot be written.*again"):
            copied(called(None))
        with (
            iterators(files) as it,
            pytest.raises(TypeError, match=r"iterator: .*pass its set_state.*get_state\(\)"),
        ):
            copied(it)


def test_what_cannot_be_made_bytes_or_be_made_of_them(files):
    @jdali.pipeline_def(batch_size=2, num_threads=1)
    def calling():
        return fn.python_function(fn.random.uniform(), function=lambda x: x)

    with pytest.raises(
        RuntimeError, match="serialize: python_function: argument 'function' cannot be written: function"
    ):
        calling().serialize()
    for wrong in (b"no", b"null", b"{}", b"[" * 200_000):
        with pytest.raises(RuntimeError, match="these are not the bytes of a pipeline"):
            jdali.Pipeline.deserialize(wrong)
    with pytest.raises(ValueError, match="serialized_pipeline and filename arguments are mutually exclusive"):
        jdali.Pipeline.deserialize()
    with pytest.raises(RuntimeError, match="has operators already"):
        reading(files).deserialize_and_build(b"{}")
