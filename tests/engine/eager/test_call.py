"""One operator without a pipeline: rows of programs, runners that are kept, readers, errors. A function traced as a graph."""

import functools

import numpy as np
import pytest
from support.nodes import batch, rows

from jdali import OperatorError, fn
from jdali._batches import Provenance
from jdali._operators.record import REGISTRY
from jdali._system.devices import host_device
from jdali.engine.eager import call
from jdali.engine.eager.call import EagerGraph, GraphKey, InputKind, RandomDraw
from jdali.engine.workers import Pool
from jdali.tensors import TensorList


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


def run(pool, name, *inputs, static=None, per_sample=None):
    (output,) = call.run_operator(
        REGISTRY[name], inputs, per_sample or {}, static or {}, batch_size=len(inputs[0]),
        placement=call.Placement("cpu", host_device()), draw=call.RandomDraw(1, 0), pool=pool, constants={},
    )  # fmt: skip
    return rows(output)


def test_programs_have_few_numbers_of_rows():
    assert [call.room_for(n) for n in (1, 2, 3, 4, 5, 6, 7, 9, 13, 17, 25)] == [
        1, 2, 3, 4, 6, 6, 8, 12, 16, 24, 32,
    ]  # fmt: skip


def test_ids_are_of_the_draw_and_the_position():
    ids = call.call_ids(3, (5 << 32) + 7)
    assert ids.epoch.tolist() == [7, 7, 7]
    assert ids.index.tolist() == ids.position.tolist() == [0, 1, 2]


def test_new_values_compile_nothing(pool):
    image = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)
    flags = [np.array([1, 0], np.int32), np.array([0, 1], np.int32)]
    counts = []
    for flag in flags:
        found = run(pool, "flip", batch(image, image, layout="HWC"), per_sample={"horizontal": flag})
        assert found == [(image[:, ::-1] if f else image).tolist() for f in flag]
        counts.append(call.compiled_programs())
    assert counts[0] == counts[1]


def test_one_sample_has_a_program_of_one_row_and_few_samples_share_one(pool, monkeypatch):
    """Calls with one sample are many: rows that nothing fills would cost a fifth of a short one."""
    monkeypatch.setattr(
        call, "_kept_runner", functools.lru_cache(call._Runner)
    )  # without those of other tests
    sound = np.arange(5, dtype=np.float32)
    counts = []
    for count in (1, 2, 4, 8, 1):
        run(pool, "preemphasis_filter", batch(*[sound] * count))
        counts.append(call.compiled_programs())
    first = counts[0]
    assert counts == [first, first + 1, first + 1, first + 1, first + 1]


def test_index_operators_and_errors_of_a_sample(pool):
    assert run(pool, "copy", batch([1, 2], [3])) == [[1, 2], [3]]
    images = [np.zeros((9, 9, 1), np.uint8), np.zeros((2, 9, 1), np.uint8)]
    crop = {"crop_h": np.float32([5, 5]), "crop_w": np.float32([5, 5])}
    with pytest.raises(OperatorError, match="crop: ") as caught:
        run(pool, "crop", batch(*images, layout="HWC"), per_sample=crop)
    assert caught.value.sample == 1


def test_a_reader_outside_of_a_pipeline(pool, tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.bin").write_bytes(bytes([i, i]))
    files = [f"{i}.bin" for i in range(3)]
    reader = call.EagerReader(REGISTRY["readers.file"], {"file_root": str(tmp_path), "files": files}, seed=1)
    state = reader.get_state()
    data, _ = reader.next(2, pool)
    assert rows(data) == [[0, 0], [1, 1]]
    reader.set_state(state)
    assert rows(reader.next(2, pool)[0]) == [[0, 0], [1, 1]]
    assert reader.meta()["epoch_size"] == 3
    (tmp_path / "2.bin").unlink()
    with pytest.raises(OperatorError, match=r"2\.bin"):
        reader.next(1, pool)


# --- functions traced as graphs --------------------------------------------------------------------
def graph_of(define, *kinds):
    return EagerGraph(GraphKey(define, kinds, 2, host_device()))


def test_the_result_of_a_graph_has_the_structure_of_the_function(pool):
    graph = graph_of(
        lambda a, b: {"copy": fn.copy(a), "both": (b, "a word")},
        InputKind("cpu", "", 1),
        InputKind("cpu", "HW", 2),
    )
    first, second = batch([1, 2], [3]), batch([[4]], [[5, 6]], layout="HW")
    result = graph.run([first, second], 2, RandomDraw(1, 0), pool)
    assert rows(result["copy"]) == [[1, 2], [3]]
    value, word = result["both"]
    assert (value, word) == (second, "a word")


def test_samples_of_a_call_of_a_graph_follow_each_other_anew(pool):
    graph = graph_of(lambda a: fn.permute_batch(a, indices=[1, 0]), InputKind("cpu", "", 0))
    for numbers in ((1, 2), (3, 4)):
        result = graph.run([batch(*numbers)], 2, RandomDraw(1, 0), pool)
        assert rows(result) == list(reversed(numbers))


def test_an_error_of_a_graph_names_operator_and_sample(pool):
    graph = graph_of(lambda a: fn.crop(a, crop=(5, 5)), InputKind("cpu", "HWC", 3))
    images = [np.zeros((9, 9, 1), np.uint8), np.zeros((2, 9, 1), np.uint8)]
    with pytest.raises(OperatorError, match="crop: ") as caught:
        graph.run([batch(*images, layout="HWC")], 2, RandomDraw(1, 0), pool)
    assert (caught.value.sample, caught.value.source) == (1, "")


def test_an_error_of_a_graph_names_the_file(pool):
    graph = graph_of(lambda a: fn.crop(a, crop=(5, 5)), InputKind("cpu", "HWC", 3))
    images = batch(np.zeros((9, 9, 1), np.uint8), np.zeros((2, 9, 1), np.uint8), layout="HWC")
    images = TensorList.from_store(images.store, "cpu", Provenance.named(["a.jpg", "b.jpg"]))
    with pytest.raises(OperatorError, match=r"file b\.jpg") as caught:
        graph.run([images], 2, RandomDraw(1, 0), pool)
    assert caught.value.source == "b.jpg"
