"""Calls of operators: batches, arguments, programs, random values, errors."""

import copy
import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jdali.dynamic as jd
from jdali import OperatorError
from jdali._errors import TracedArgumentError
from jdali.engine.eager import compiled_programs

IMAGE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


@pytest.fixture
def tensor():
    return jd.as_tensor(IMAGE, layout="HWC")


@pytest.fixture
def batch():
    return jd.as_batch([IMAGE, 100 + IMAGE], layout="HWC")


def test_a_batch_anywhere_makes_a_batch(tensor, batch):
    assert isinstance(jd.flip(tensor), jd.Tensor)
    assert isinstance(jd.flip(batch), jd.Batch)
    assert isinstance(jd.flip(tensor, batch_size=2), jd.Batch)
    both = jd.flip(tensor, horizontal=jd.as_batch([1, 0]))
    np.testing.assert_array_equal(np.asarray(both), [IMAGE[:, ::-1], IMAGE])
    assert isinstance(jd.flip(IMAGE), jd.Tensor)
    assert jd.flip(IMAGE).layout == "HWC"
    assert jd.cat(batch, tensor).shape == [(8, 5, 3)] * 2
    assert isinstance(jd.zeros(shape=[2]), jd.Tensor)
    assert jd.zeros(shape=[2], batch_size=3).shape == [(2,)] * 3


@pytest.mark.parametrize("value", [1, [1], 1.0, np.int64(1), np.array([1]), jd.tensor])
def test_one_value_for_all_samples(batch, value):
    value = value(1) if callable(value) else value
    flipped = np.asarray(jd.flip(batch, horizontal=value))
    np.testing.assert_array_equal(flipped, np.asarray(batch)[:, :, ::-1])


def test_values_a_sample(batch):
    flipped = jd.flip(batch, horizontal=jd.as_batch([0, 1]))
    np.testing.assert_array_equal(np.asarray(flipped.select(0)), IMAGE)
    np.testing.assert_array_equal(np.asarray(flipped.select(1)), 100 + IMAGE[:, ::-1])
    cut = jd.crop(batch, crop=jd.as_batch([[1, 2], [3, 4]]))
    assert cut.shape == [(1, 2, 3), (3, 4, 3)]
    assert jd.crop(batch, crop=[1, jd.tensor(2)]).shape == [(1, 2, 3)] * 2


def test_real_values_round_to_whole_arguments(tensor):
    assert jd.flip(tensor, horizontal=jd.as_batch([0.4, 0.6])).shape == [(4, 5, 3)] * 2
    flipped = np.asarray(jd.flip(tensor, horizontal=jd.as_batch([0.4, 0.6])))
    np.testing.assert_array_equal(flipped, [IMAGE, IMAGE[:, ::-1]])


def test_new_values_compile_nothing(tensor, batch):
    jd.crop(tensor, crop=(2, 2), crop_pos_x=0.0)
    before = compiled_programs()
    for i in range(20):
        cut = jd.crop(tensor, crop=(2, 2), crop_pos_x=i / 19)
        start = int(i / 19 * 3 + 0.5)
        np.testing.assert_array_equal(np.asarray(cut), IMAGE[1:3, start : start + 2])
    assert compiled_programs() == before
    for i in range(5):
        tensor + i
        tensor[i % 4]
    jd.brightness(batch, brightness=1.0)
    before = compiled_programs()
    for i in range(5):
        jd.brightness(batch, brightness=jd.as_batch([i, 1 / (i + 1)]))
        tensor + i
        tensor[i % 4]
    assert compiled_programs() == before


def test_arguments_that_setup_does_not_see_are_new_with_each_call(batch):
    for factors in ([1, 0], [0, 1], [1, 1]):
        result = jd.brightness(batch, brightness=jd.as_batch(factors))
        expected = [factors[0] * IMAGE, factors[1] * (100 + IMAGE)]
        np.testing.assert_array_equal(np.asarray(result), expected)


def test_few_programs_for_batches_of_all_sizes():
    before = compiled_programs()
    for count in range(1, 17):
        jd.flip(jd.as_batch(np.zeros((count, 3, 3, 2), np.uint8), layout="HWC"), vertical=1)
    assert compiled_programs() - before <= 8


def test_random_values_depend_on_the_seed_the_draw_and_the_sample():
    many = np.asarray(jd.random.uniform(batch_size=4, rng=jd.random.RNG(5)))
    assert len(set(many.tolist())) == 4
    few = np.asarray(jd.random.uniform(batch_size=3, rng=jd.random.RNG(5)))
    np.testing.assert_array_equal(many[:3], few)
    assert jd.random.uniform(rng=jd.random.RNG(5)).item() == many[0]
    rng = jd.random.RNG(5)
    first, second = (np.asarray(jd.random.uniform(batch_size=3, rng=rng)) for _ in range(2))
    np.testing.assert_array_equal(first, few)
    assert (first != second).all()
    assert (np.asarray(jd.random.uniform(batch_size=3, rng=jd.random.RNG(6))) != few).all()


def test_generators():
    rng = jd.random.RNG(7)
    skipped = jd.random.RNG(7)
    rng(), rng()
    skipped.advance(2)
    assert rng.state == skipped.state
    again = jd.random.RNG(state=rng.get_state())
    assert again() == rng() == skipped()
    assert jd.random.RNG() is not None
    assert jd.random.RNG().state != jd.random.RNG().state
    jd.random.set_seed(3)
    one = jd.random.uniform().item()
    jd.random.set_seed(3)
    assert jd.random.uniform().item() == one
    with pytest.raises(ValueError, match="not a state"):
        rng.set_state("x")
    with pytest.raises(ValueError, match="rng must be an instance of"):
        jd.random.uniform(rng=5)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_generators_can_be_copied(copied):
    rng = jd.random.RNG(3)
    rng()
    twin = copied(rng)
    assert twin.state == rng.state
    assert [twin(), twin()] == [rng(), rng()]


def test_a_seed_is_an_integer():
    assert jd.random.RNG(np.int64(3)).seed == 3
    for seed in (1.5, "1"):
        with pytest.raises(TypeError, match=f"RNG: seed is {seed!r}, it must be an integer"):
            jd.random.RNG(seed)


def test_a_jax_key_decides_what_is_drawn_whatever_was_drawn_before():
    def drawn(key):
        return np.asarray(jd.random.uniform(range=[0, 1], batch_size=3, key=key).evaluate()).tolist()

    first = drawn(jax.random.key(7))
    assert len(set(first)) == 3
    assert drawn(jax.random.PRNGKey(7)) == first != drawn(jax.random.key(8))
    with pytest.raises(TypeError, match="key= is 3, which is not a key"):
        drawn(3)
    with pytest.raises(TypeError, match="rng= or key=, not both"):
        jd.random.uniform(rng=jd.random.RNG(1), key=jax.random.key(1))
    with pytest.raises(ValueError, match="pass a JAX key as key="):
        jd.random.uniform(rng=jax.random.key(1))


def test_per_sample_arguments_of_random_operators():
    drawn = np.asarray(jd.random.uniform(range=jd.as_batch([[0, 1], [5, 6]])))
    assert 0 <= drawn[0] < 1
    assert 5 <= drawn[1] < 6


def test_errors(tensor, batch):
    with pytest.raises(TypeError, match='Argument "nope" is not defined'):
        jd.flip(tensor, nope=1)
    with pytest.raises(TypeError, match='Argument "rng" is not defined'):
        jd.flip(tensor, rng=jd.random.RNG(1))
    with pytest.raises(TypeError, match='Not all required arguments .* "angle"'):
        jd.rotate(tensor)
    with pytest.raises(TypeError, match="expects from 1 to 1 inputs, but received 0"):
        jd.rotate()
    with pytest.raises(TypeError, match="is None"):
        jd.flip(None)
    with pytest.raises(TypeError, match="not an array"):
        jd.flip(object())
    with pytest.raises(ValueError, match="argument 'angle' got 'a'"):
        jd.rotate(tensor, angle="a")
    with pytest.raises(TypeError, match="give a Batch"):
        jd.flip(batch, horizontal=[1, 0])
    with pytest.raises(ValueError, match=r"different sizes \[2, 3\]"):
        jd.flip(batch, horizontal=jd.as_batch([1, 0, 1]))
    with pytest.raises(ValueError, match=r"different sizes \[2, 3\]"):
        jd.flip(batch, batch_size=3)
    with pytest.raises(TypeError, match="cannot differ by sample"):
        jd.cast(batch, dtype=jd.as_batch([1, 2]))
    with pytest.raises(OperatorError, match="crop: .*out of bounds.*window") as caught:
        jd.crop(batch, crop=jd.as_batch([[1, 1], [9, 9]]))
    assert (caught.value.operator, caught.value.sample) == ("crop", 1)


def test_short_names_of_types_mean_the_same_everywhere(tensor):
    for name, dtype in (("u8", np.uint8), ("i8", np.int8), ("f32", np.float32), ("float64", np.float64)):
        assert jd.cast(tensor, dtype=name).dtype == jd.ones(shape=[2], dtype=name).dtype == dtype
        assert jd.as_tensor(tensor, dtype=name).dtype == dtype
    assert jd.cast(tensor, dtype=float).dtype == jd.float32
    with pytest.raises(ValueError, match="cast: argument 'dtype' got 'f33': Unsupported type name: f33"):
        jd.cast(tensor, dtype="f33")
    with pytest.raises(TypeError, match="cast: argument 'dtype' got .*: bf16 is not a type of tensors"):
        jd.cast(tensor, dtype=jd.bfloat16)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: jd.rotate(t, angle=1j), TypeError, "rotate: argument 'angle': complex is not an array"),
        (lambda t: jd.flip(1j), TypeError, "flip: input 'image': complex is not an array"),
        (lambda t: t + 1j, TypeError, "math.add: input .*: complex is not an array"),
        (lambda t: jd.tensor(1j), TypeError, "Tensor: complex is not an array"),
        (lambda t: jd.as_batch([1j]), TypeError, "Tensor: complex is not an array"),
        (lambda t: jd.as_batch(5), TypeError, "Batch: 5 is neither an array nor a sequence"),
        (lambda t: jd.tensor([np.ones(1), np.ones(2)]), ValueError, "Tensor: arrays of different shapes"),
        (
            lambda t: jd.crop(t, crop=[jd.as_batch([2, 1]), 3]), TypeError,
            r"crop: argument 'crop' is a list with a batch in it; give one batch: jdali.dynamic.stack\(\*crop\)",
        ),
        (lambda t: jd.resize(t, size=["a", 3]), ValueError, r"resize: argument 'size' got \['a', 3\]: could not"),
        (lambda t: jd.cast(t, dtype=jd.as_batch([1])), TypeError, "cast: argument 'dtype' got .* differ by sample"),
    ],
)  # fmt: skip
def test_errors_name_operator_and_argument(tensor, call, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        call(tensor)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (jd.tensor, "Tensor: .*use jax.numpy"),
        (lambda x: jd.as_tensor([x, 1]), "Tensor: .*use jax.numpy"),
        (lambda x: jd.as_batch(x[None]), "Batch: .*use jax.numpy"),
        (lambda x: jd.as_batch([x]), "use jax.numpy"),
        (lambda x: jd.crop(IMAGE, crop=[x, 2]), "crop: argument 'crop': .*jdali.ops"),
        (lambda x: jd.tensor([1, 2])[x], r"indexing: .*index jnp.asarray\(data\)"),
        (lambda x: jd.tensor([1, 2])[x:], r"indexing: .*index jnp.asarray\(data\)"),
        (lambda x: jd.as_batch([1, 2]).select(x), r"Batch: .*index jnp.asarray\(batch\)"),
        (lambda x: jd.as_batch([1, 2]).select([x]), r"Batch: .*index jnp.asarray\(batch\)"),
    ],
)
def test_tracers_are_refused_with_advice(call, text):
    with pytest.raises(TracedArgumentError, match=text):
        jax.jit(call)(0)


@pytest.mark.parametrize("traced", [False, True])
def test_calls_where_a_mesh_is_set(traced):
    def root(x):
        return x + jnp.asarray(jd.math.sqrt(jd.tensor([4.0, 9.0])).evaluate())

    with jax.set_mesh(jax.make_mesh((2,), ("x",))):
        found = (jax.jit(root) if traced else root)(1.0)
    np.testing.assert_array_equal(found, [3.0, 4.0])


def test_operators_take_as_many_operands_as_pythons(tensor):
    with pytest.raises(TypeError, match="positional argument"):
        pow(tensor, 2, 5)
    with pytest.raises(TypeError, match="positional argument"):
        tensor.__neg__(7)


def test_an_index_is_one_number(tensor, batch):
    for index in (
        np.array([0, 1]),
        np.array([0]),
        jnp.array([0, 1]),
        jd.tensor([0, 1]),
        jd.tensor([0]),
        tensor > 1,
    ):
        with pytest.raises(TypeError, match=r"must be scalar \(0D\): .* an array of shape"):
            tensor[index]
        with pytest.raises(TypeError, match=r"must be scalar \(0D\)"):
            tensor[index:]
    with pytest.raises(TypeError, match=r"must be scalar \(0D\): .* an array of shape \(2,\)"):
        batch.slice[jd.as_batch([[0, 1], [1, 0]])]
    with pytest.raises(TypeError, match=r"must be scalar \(0D\): .* an array of shape \(1,\)"):
        batch.slice[jd.as_batch([[0], [1]])]
    for index in (np.array(0), jnp.array(0), jd.tensor(0), jd.as_batch([0, 0])):
        assert batch.slice[index].shape == batch.slice[0].shape


def test_regrouping(batch):
    swapped = jd.permute_batch(batch, indices=jd.as_batch([1, 0]))
    np.testing.assert_array_equal(np.asarray(swapped), np.asarray(batch)[::-1])
    assert bytes(np.asarray(jd.get_property(batch, key="layout"))[0]) == b"HWC"


def test_several_outputs():
    frames = jd.as_tensor(np.arange(24, dtype=np.uint8).reshape(4, 2, 1, 3), layout="FHWC")
    first, third = jd.element_extract(frames, element_map=[0, 2])
    assert first.layout == "HWC"
    np.testing.assert_array_equal(np.asarray(third), np.asarray(frames)[2])


def test_empty_batches():
    empty = jd.as_batch([], dtype=jd.float32)
    assert (empty + 1).batch_size == 0
    assert jd.random.uniform(batch_size=0).batch_size == 0


def test_threads_share_programs(batch):
    expected = np.asarray(jd.flip(batch))
    results = [None] * 4

    def work(i):
        for _ in range(10):
            results[i] = np.asarray(jd.flip(batch))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_contexts():
    assert jd.EvalMode.current() is jd.EvalMode.eager is jd.EvalMode.default
    with jd.EvalMode.sync_full as mode:
        assert jd.EvalMode.current() is mode
        assert jd.flip(IMAGE).evaluate().shape == (4, 5, 3)
    pool = jd.ThreadPool(1)
    with jd.EvalContext(thread_pool=pool) as context:
        assert jd.EvalContext.current() is context
        assert context.num_threads == 1
    with pytest.raises(ValueError, match="positive"):
        jd.set_num_threads(0)
    before = jd.get_num_threads()
    jd.set_num_threads(3)
    assert jd.EvalContext.default().num_threads == jd.get_num_threads() == 3
    jd.set_num_threads(before)
    assert jd.Stream() == jd.stream()
    jd.set_current_stream(None)
    assert jd.get_current_stream() is None
