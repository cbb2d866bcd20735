"""Nodes that are made outside of any pipeline, several input sets in one call, and subclasses of `Pipeline`."""

import numpy as np
import pytest

import jdali
from jdali import fn, types

ROW = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)  # one line of two pixels
FLIPPED = ROW[:, ::-1]


def pipeline(*outputs, **options):
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, **options)
    pipe.set_outputs(*outputs)
    return pipe


def test_nodes_made_outside_are_outputs():
    images = fn.external_source([[ROW, ROW]], cycle=True)
    with pipeline(fn.flip(images), images, images + 1, types.Constant(3), 4) as pipe:
        flipped, plain, more, three, four = (out.as_array() for out in pipe.run())
    np.testing.assert_array_equal(flipped, [FLIPPED] * 2)
    np.testing.assert_array_equal(plain, [ROW] * 2)
    np.testing.assert_array_equal(more, [ROW + 1] * 2)
    assert three.tolist() == [3, 3]
    assert four.tolist() == [4, 4]


def test_constants_of_arrays_are_arguments():
    images = fn.external_source([[ROW, ROW]], cycle=True)
    last = fn.crop(
        images, crop=types.Constant(np.float32([1, 1])), crop_pos_x=types.Constant(np.float32([1]))
    )
    with pipeline(last) as pipe:
        np.testing.assert_array_equal(pipe.run()[0].as_array(), [ROW[:, 1:]] * 2)
    outside = fn.crop(images, crop=(1, 1), crop_pos_x=types.Constant(np.float32([-10])))
    with (
        pipeline(outside) as pipe,
        pytest.raises(
            jdali.OperatorError, match=r"Anchor for dimension 1 \(-10.000000\) is out of range \[0.0,"
        ),
    ):
        pipe.run()
    with pytest.raises(
        TypeError, match="`axes` .* should not be a 'DataNode' but a constant: it cannot differ by sample"
    ):
        fn.normalize(images, axes=types.Constant(np.int32([0, 1])))


def test_each_pipeline_has_its_own_copy_of_a_node():
    """A source is at its own position in each, whatever the other has taken."""

    def batches():
        yield np.int32([[1], [2]])
        yield np.int32([[3], [4]])

    numbers = fn.external_source(batches, name="numbers")
    with pipeline(numbers) as one, pipeline(numbers, numbers * 10) as two:
        assert one.run()[0].as_array().ravel().tolist() == [1, 2]
        assert one.run()[0].as_array().ravel().tolist() == [3, 4]
        assert two.run()[1].as_array().ravel().tolist() == [10, 20]
        assert numbers.source not in one.graph.nodes + two.graph.nodes


def test_a_node_reached_through_another_pipeline_is_the_same_node():
    numbers = fn.external_source([np.int32([[1], [2]])], cycle=True, name="numbers")
    with jdali.Pipeline(batch_size=2, num_threads=1):
        tens = numbers * 10
    with pipeline(tens, numbers) as pipe:
        assert [out.as_array().ravel().tolist() for out in pipe.run()] == [[10, 20], [1, 2]]
        assert len(pipe.graph.nodes) == 2


def test_data_are_fed_by_the_node_that_the_user_has():
    images, numbers = fn.external_source(name="images"), fn.external_source()
    flipped = fn.flip(images)
    for key in (images, "images"):
        with pipeline(numbers, flipped) as pipe:
            pipe.feed_input(key, [ROW])
            pipe.feed_input(numbers, [np.int32(3)])
            number, row = pipe.run()
            np.testing.assert_array_equal(row.at(0), FLIPPED)
            assert int(number.at(0)) == 3
    with pipeline(flipped) as pipe, pytest.raises(KeyError, match="there are .*images"):
        pipe.feed_input(numbers, [np.int32(3)])


def test_nodes_from_outside_and_inside_together():
    outside = fn.external_source([np.int32([[1], [2]])], cycle=True)
    with jdali.Pipeline(batch_size=2, num_threads=1) as pipe:
        inside = outside + 1
        pipe.set_outputs(inside * outside)
    with pipe:
        assert pipe.run()[0].as_array().ravel().tolist() == [2, 6]
    assert [node.op.name for node in pipe.graph.nodes] == ["external_source", "math.add", "math.mul"]


def test_nodes_from_outside_in_debug_mode():
    shift = fn.constant(fdata=[5.0]) + 1

    @jdali.pipeline_def(batch_size=2, num_threads=1, debug=True)
    def define():
        return fn.external_source(lambda: np.zeros((2, 3), np.float32)) + shift

    assert define().run()[0].as_array().tolist() == [[6, 6, 6]] * 2


def test_random_values_do_not_depend_on_where_a_node_was_made():
    def define():
        first = fn.random.uniform(range=[0, 1])
        return fn.random.uniform(range=[0, 1]), first

    outside = define()
    with jdali.Pipeline(batch_size=2, num_threads=1, seed=3) as inside:
        inside.set_outputs(*define())
    with pipeline(*outside, seed=3) as pipe, inside:
        for a, b in zip(pipe.run(), inside.run(), strict=True):
            np.testing.assert_array_equal(a.as_array(), b.as_array())


def test_names_are_kept_and_must_differ():
    source = fn.external_source([np.int32([[1], [2]])], cycle=True)
    named = fn.copy(source, name="mine")
    with pipeline(named) as pipe:
        assert [node.name for node in pipe.graph.nodes] == ["__external_source_0", "mine"]
    with pytest.raises(ValueError, match="operators with non-unique names: there is a node 'mine'"):
        pipeline(named, fn.copy(source, name="mine"))


def test_a_node_of_another_pipelines_branch_is_refused():
    kept = []

    @jdali.pipeline_def(batch_size=2, num_threads=1, enable_conditionals=True)
    def define():
        if fn.random.coin_flip(dtype=types.BOOL):
            value = fn.random.uniform(range=[0, 1])
            kept.append(value)
        else:
            value = types.Constant(np.float32(2))
        return value

    define()
    with pytest.raises(ValueError, match="in a branch of another pipeline"):
        pipeline(*kept)


def test_a_long_chain_outside():
    value = fn.external_source([np.int32([[1], [2]])], cycle=True)
    for _ in range(2000):  # deeper than Python may recurse
        value = fn.copy(value)
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    pipe.set_outputs(value)
    assert len(pipe.graph.nodes) == 2001


def test_operators_with_effects_must_know_their_pipeline():
    data = fn.external_source([np.int32([[1], [2]])])
    with pytest.raises(RuntimeError, match=r"python_function: called outside of a pipeline definition"):
        fn.python_function(data, function=abs)
    with pytest.raises(RuntimeError, match=r"copy: called outside of a pipeline definition"):
        fn.copy(data, preserve=True)


# --- several input sets -------------------------------------------------------------------------
def test_input_sets():
    a, b = (fn.external_source([np.int32([[k], [k + 1]])], cycle=True) for k in (1, 10))
    joined = fn.cat([a, b], np.int32([7]), [b, a])
    assert isinstance(joined, list)
    with pipeline(*joined) as pipe:
        first, second = (out.as_array().tolist() for out in pipe.run())
    assert first == [[1, 7, 10], [2, 7, 11]]
    assert second == [[10, 7, 1], [11, 7, 2]]


def test_input_sets_of_an_operator_with_two_outputs():
    images = fn.external_source([[ROW, ROW]], cycle=True)
    pictures, sizes = fn.resize([images, fn.flip(images)], size=[1, 2], save_attrs=True)
    with pipeline(*pictures, *sizes) as pipe:
        one, two, *attributes = (out.as_array() for out in pipe.run())
    np.testing.assert_array_equal(one, [ROW] * 2)
    np.testing.assert_array_equal(two, [FLIPPED] * 2)
    assert [a.tolist() for a in attributes] == [[[1, 2]] * 2] * 2


def test_one_input_set_gives_one_output_and_the_name_goes_to_the_first():
    a = fn.external_source([np.int32([[1], [2]])])
    assert fn.copy([a], name="mine").name == "mine"
    first, second = fn.copy([a, a], name="mine")
    assert first.name == "mine"
    assert second.name != "mine"


def test_input_sets_of_different_lengths():
    a = fn.external_source([np.int32([[1], [2]])])
    with pytest.raises(ValueError, match="must have the same length. They have 2, 3"):
        fn.cat([a, a], [a, a, a])


# --- outputs and subclasses ---------------------------------------------------------------------
def test_lists_among_the_outputs_are_an_error():
    a = fn.external_source([np.int32([[1], [2]])])
    with pytest.raises(TypeError, match="The output 1 contains a nested `DataNode`"):
        pipeline(a, [a, a]).build()


class Fed(jdali.Pipeline):
    """The way of older DALI code: nodes made before they are connected, data fed before each iteration."""

    def __init__(self, batches, **options):
        super().__init__(batch_size=2, num_threads=1, **options)
        self.source, self.batches = fn.external_source(), iter(batches)

    def define_graph(self):
        self.numbers = self.source
        return [self.numbers, self.numbers + 1]

    def iter_setup(self):
        self.feed_input(self.numbers, next(self.batches))


@pytest.mark.parametrize("options", [{}, {"exec_async": False, "exec_pipelined": False}])
def test_iter_setup_feeds_each_iteration(options):
    with_run = Fed([np.int32([[1], [2]]), np.int32([[3], [4]])], **options)
    with_run.build()
    assert [[o.as_array().ravel().tolist() for o in with_run.run()] for _ in range(2)] == [
        [[1, 2], [2, 3]],
        [[3, 4], [4, 5]],
    ]
    with pytest.raises(StopIteration):
        with_run.run()
    scheduled = Fed([np.int32([[1], [2]]), np.int32([[3], [4]])], **options)
    scheduled.build()
    scheduled.schedule_run()
    scheduled.schedule_run()
    assert [scheduled.share_outputs()[0].as_array().ravel().tolist() for _ in range(2)] == [[1, 2], [3, 4]]
