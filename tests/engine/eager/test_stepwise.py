"""A batch operator by operator has the values of the pipeline, and leaves the pipeline where it is."""

import numpy as np
import pytest
from support import viewed

from jdali import fn, pipeline_def


@pytest.fixture(scope="module")
def pipe(tmp_path_factory):
    pipe = viewed.pictures(viewed.folder(tmp_path_factory.mktemp("pictures")))
    yield pipe
    pipe.close()


def test_values_are_those_of_the_pipeline_bit_by_bit(pipe):
    inspector = pipe.inspector()
    before = pipe.get_state()
    seen = [inspector.batch(number) for number in range(3)]
    trace, row, task = inspector.trace(1, 2)
    assert pipe.get_state() == before
    for number, batch in enumerate(seen):
        result = pipe.run_result()
        assert result.ids.index.tolist() == batch.result.ids.index.tolist()
        for own, other in zip(result.outputs, batch.result.outputs, strict=True):
            for a, b in zip(own.to_samples(), other.to_samples(), strict=True):
                np.testing.assert_array_equal(a, b)
        if number == 1:
            assert task.ids.index[0] == result.ids.index[2]
            for value, output in zip(inspector.outputs, result.outputs, strict=True):
                np.testing.assert_array_equal(trace.value(value, row), output.to_samples()[2])
    inspector.close()


def test_a_sample_over_epochs(pipe):
    inspector = pipe.inspector()
    index = inspector.find("picture_3")[0][0][0]
    traces = inspector.sample_traces(index, range(4))
    angles = [n for n in inspector.nodes if n.op.name == "random.uniform"]
    drawn = [float(trace.value(angles[0].outputs[0], i)) for trace, i in traces]
    assert len(set(drawn)) == 4
    label = [int(trace.value(inspector.outputs[2], i)[0]) for trace, i in traces]
    assert label == [0] * 4  # cats come before dogs
    first = inspector.first_of_epoch(1)
    assert first == 2  # ten samples in batches of five
    assert inspector.task(first).ids.epoch.tolist() == [1] * 5
    with pytest.raises(IndexError, match="there is no sample 99 among 10"):
        inspector.sample_traces(99, range(1))
    inspector.close()


def test_a_failing_operator_ends_the_trace(pipe):
    inspector = pipe.inspector()
    index = inspector.find("broken")[0][0][0]
    trace, _ = inspector.sample_traces(index, range(1))[0]
    assert trace.failed is not None
    assert trace.failed.op.name == "decoders.image"
    assert "broken.png" in str(trace.failure)
    assert trace.value(inspector.nodes[0].outputs[0], 0).size == 60  # the file was read
    assert trace.value(inspector.outputs[0], 0) is None
    inspector.close()


def test_an_epoch_that_fails_leaves_the_others(tmp_path):
    """A window is drawn in each epoch; where it is higher than the picture, the crop fails."""
    pipe = viewed.fickle(viewed.folder(tmp_path, broken=False))
    inspector = pipe.inspector()
    traces = inspector.sample_traces(0, range(8))
    height = next(n for n in inspector.nodes if n.op.name == "random.uniform").outputs[0]
    drawn = [float(trace.value(height, i)) for trace, i in traces]
    fits = [int(h) <= viewed.FIRST_HEIGHT for h in drawn]
    assert set(fits) == {True, False}
    assert [trace.failure is None for trace, _ in traces] == fits
    for (trace, i), h, whole in zip(traces, drawn, fits, strict=True):
        found = trace.value(inspector.outputs[0], i)
        assert (found.shape[0] if whole else found) == (int(h) if whole else None)
    inspector.close()
    pipe.close()


@pipeline_def(batch_size=4, num_threads=1, enable_conditionals=True)
def branches():
    number = fn.external_source(source=lambda info: np.int32(info.idx_in_epoch), batch=False)
    if number > 1:
        made = number * 10
    else:
        made = number - 100
    return made


def test_a_branch_has_only_its_samples():
    pipe = branches()
    inspector = pipe.inspector()
    values = []
    for position in range(4):
        trace, row, _ = inspector.trace(0, position)
        taken = {
            n.op.name: trace.value(n.outputs[0], row)
            for n in inspector.nodes
            if n.op.name.startswith("math.")
        }
        values.append(int(trace.value(inspector.outputs[0], row)))
        assert (
            sum(value is not None for name, value in taken.items() if name in ("math.mul", "math.sub")) <= 1
        )
    assert values == [-100, -99, 20, 30]
    assert [int(v) for v in inspector.batch(1).result.outputs[0].to_samples()] == [40, 50, 60, 70]
    inspector.close()
    pipe.close()


def test_what_cannot_be_asked_again_is_refused():
    @pipeline_def(batch_size=2, num_threads=1)
    def fed():
        return fn.external_source(name="x")

    pipe = fed()
    with pytest.raises(RuntimeError, match="cannot be replayed"):
        pipe.inspector()
    pipe.close()
