"""DataIterator: what comes out, epoch by epoch; masks, ragged outputs, state, threads."""

import gc
import json
import subprocess
import sys
import textwrap
import threading
import time

import jax
import numpy as np
import pytest
from support.numbers import NumberReader, numbers, pipeline

from jdali import OperatorError, Pipeline, fn
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.iterator.epoch_loop import WaitClock

pytestmark = pytest.mark.gpu

FILL, DROP, PARTIAL, PAD = LastBatchPolicy


def iterator(size=10, batch=3, policy=FILL, *, options=None, **reader):
    pipe = pipeline(size, batch, pipeline_args=options, **reader)
    return DataIterator(pipe, ["x"], reader_name="Reader", last_batch_policy=policy)


def rows(batch, name="x"):
    return np.asarray(batch[name]).ravel().tolist()


def epoch(it):
    return [rows(batch) for batch in it]


def source_iterator(batches, batch_size, **kwargs):
    """Over an external source that gives these batches (lists of arrays), ends, and begins again."""
    pipe = Pipeline(batch_size=batch_size, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(batches, cycle="raise"))
    return DataIterator(pipe, ["x"], **kwargs)


def scalars(*groups):
    return [[np.int32(v) for v in group] for group in groups]


# --- epochs ---------------------------------------------------------------------------------------
class TestEpochs:
    def test_fill(self):
        with iterator() as it:
            assert (len(it), it.size, it.batch_size) == (4, 12, 3)
            assert epoch(it) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 0, 1]]
            assert epoch(it) == [[2, 3, 4], [5, 6, 7], [8, 9, 0]]
            assert len(it) == 3
            assert epoch(it) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]

    def test_drop_consumes_the_batch_it_drops(self):
        with iterator(policy=DROP) as it:
            assert epoch(it) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
            assert epoch(it) == [[2, 3, 4], [5, 6, 7], [8, 9, 0]]

    def test_drop_with_steps_counted_by_len(self):
        with iterator(policy=DROP) as it:
            assert [rows(next(it)) for _ in range(len(it))][-1] == [6, 7, 8]
            it.reset()  # StopIteration was never seen: the dropped batch goes all the same
            assert rows(next(it)) == [2, 3, 4]

    def test_partial(self):
        with iterator(policy=PARTIAL, pad=True) as it:
            expected = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
            assert epoch(it) == expected
            assert epoch(it) == expected

    def test_pad_has_a_mask(self):
        with iterator(policy=PAD, pad=True) as it:
            for _ in range(2):
                batches = list(it)
                assert [rows(b) for b in batches] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 9, 9]]
                assert [b["mask"].dtype for b in batches] == [bool] * 4
                masks = [np.asarray(b["mask"]).tolist() for b in batches]
                assert masks == [[True] * 3] * 3 + [[True, False, False]]

    def test_no_mask_unless_it_says_something(self):
        with iterator() as it:
            assert list(next(it)) == ["x"]

    def test_stop_is_raised_until_reset(self):
        with iterator(6) as it:
            epoch(it)
            for _ in range(2):
                with pytest.raises(StopIteration):
                    next(it)
            it.reset()
            assert rows(it.next()) == [0, 1, 2]

    @pytest.mark.parametrize("value", [True, "yes"])
    def test_auto_reset(self, value):
        it = DataIterator(pipeline(6, 3), ["x"], reader_name="Reader", auto_reset=value)
        with it:
            next(it), next(it)
            with pytest.raises(StopIteration):
                next(it)
            assert rows(next(it)) == [0, 1, 2]

    def test_reset_in_the_middle_is_ignored(self, caplog):
        with iterator() as it:
            next(it)
            it.reset()
            assert "middle of an epoch" in caplog.text
            for batch in it:  # a new loop goes on where the last one was left
                assert rows(batch) == [3, 4, 5]
                break
            assert rows(next(it)) == [6, 7, 8]

    def test_reset_at_the_start_does_nothing(self, caplog):
        with iterator() as it:
            it.reset()
            assert rows(next(it)) == [0, 1, 2]
        assert not caplog.text

    def test_several_pipelines_are_shards(self):
        pipes = [pipeline(10, 2, shard_id=i, num_shards=2, pad=True) for i in range(2)]
        with DataIterator(pipes, ["x"], reader_name="Reader", last_batch_policy=PAD) as it:
            assert epoch(it) == [[0, 1, 5, 6], [2, 3, 7, 8], [4, 4, 9, 9]]
            assert epoch(it)[0] == [5, 6, 0, 1]  # the shards have moved on
            it.reset()
            mask = [np.asarray(b["mask"]).tolist() for b in it][-1]
            assert mask == [True, False, True, False]

    def test_names_and_sizes_are_checked(self):
        pipe = pipeline(10, 3)
        with pytest.raises(ValueError, match="should be distinct"):
            DataIterator(pipe, ["x", "x"])
        with pytest.raises(ValueError, match="When reader_name is provided, size should not be set"):
            DataIterator(pipe, ["x"], size=10, reader_name="Reader")
        with pytest.raises(ValueError, match="only for a single pipeline; several need size or reader_name"):
            DataIterator([pipe, pipe], ["x"])
        with pytest.raises(ValueError, match="Size cannot be 0"):
            DataIterator(pipe, ["x"], size=0)
        with pytest.raises(ValueError, match=r"same batch size set, got \[3, 4\]"):
            DataIterator([pipe, pipeline(10, 4)], ["x"], size=10)
        with pytest.raises(ValueError, match="Wrong type for `last_batch_policy`.* 'fill'"):
            DataIterator(pipe, ["x"], last_batch_policy="fill")
        with pytest.raises(ValueError, match="Unsupported value for `auto_reset` maybe"):
            DataIterator(pipe, ["x"], auto_reset="maybe")
        with pytest.raises(RuntimeError, match="no reader named 'Other'"):
            DataIterator(pipe, ["x"], reader_name="Other")
        with pytest.raises(ValueError, match="PAD needs pad_last_batch=True for the reader 'Reader'"):
            DataIterator(pipe, ["x"], reader_name="Reader", last_batch_policy=PAD)
        with pytest.raises(RuntimeError, match="2 samples in a shard do not fill one batch of 3"):
            iterator(2, 3, DROP)
        with pytest.raises(ValueError, match="'mask' is the name of an output"):
            DataIterator(pipeline(3, 3, pad=True), ["mask"], last_batch_policy=PAD, reader_name="Reader")
        with (
            DataIterator(pipe, ["x", "y"], reader_name="Reader") as it,
            pytest.raises(ValueError, match=r"the pipeline has 1 outputs, output_map names 2: \['x', 'y'\]"),
        ):
            next(it)


class TestSources:
    """Epochs that a source ends, or a size."""

    def test_until_the_source_ends(self):
        with source_iterator(scalars([0, 1], [2, 3], [4]), 2) as it:
            with pytest.raises(TypeError, match="number of batches is not known"):
                len(it)
            for _ in range(3):
                assert epoch(it) == [[0, 1], [2, 3], [4]]

    def test_the_source_begins_again_at_reset_not_before(self):
        begun = []

        class Source:
            def __iter__(self):
                begun.append(len(begun))
                yield from scalars([0, 1], [2, 3])

        with source_iterator(Source(), 2) as it:
            for _ in range(2):
                assert rows(next(it)) in ([0, 1], [2, 3])
            with pytest.raises(StopIteration):
                next(it)
            time.sleep(0.2)
            assert len(begun) == 1
            it.reset()
            assert rows(next(it)) == [0, 1]
            assert len(begun) == 2

    def test_pad_fills_up_a_short_batch(self):
        with source_iterator(scalars([0, 1, 2], [3]), 3, last_batch_policy=PAD) as it:
            batches = list(it)
        assert [rows(b) for b in batches] == [[0, 1, 2], [3, 3, 3]]
        assert np.asarray(batches[1]["mask"]).tolist() == [True, False, False]

    @pytest.mark.parametrize("policy", [FILL, PARTIAL])
    def test_size(self, policy):
        with source_iterator(scalars([0, 1], [2, 3], [4, 5]), 2, size=5, last_batch_policy=policy) as it:
            last = [4] if policy is PARTIAL else [4, 5]
            assert len(it) == 3
            assert epoch(it) == [[0, 1], [2, 3], last]
            # Source and epoch end together: the source begins again though nobody saw its end.
            assert epoch(it)[0] == [0, 1]

    def test_size_over_several_pipelines(self):
        pipes = []
        for start in (0, 10):
            pipe = Pipeline(batch_size=2, num_threads=1)
            with pipe:
                give = lambda i, s=start: [np.int32(s + 2 * i), np.int32(s + 2 * i + 1)]  # noqa: E731
                pipe.set_outputs(fn.external_source(lambda i, give=give: give(i)))
            pipes.append(pipe)
        with DataIterator(pipes, ["x"], size=7, last_batch_policy=PAD) as it:
            batches = list(it)
        assert [rows(b) for b in batches] == [[0, 1, 10, 11], [2, 3, 12, 13]]
        assert np.asarray(batches[1]["mask"]).tolist() == [True, True, True, False]

    def test_a_short_batch_with_a_size_is_an_error(self):
        with (
            source_iterator(scalars([0, 1], [2]), 2, size=4) as it,
            pytest.raises(RuntimeError, match="gave 1 samples in place of 2"),
        ):
            epoch(it)

    def test_a_pipeline_that_is_fed_does_not_run_ahead(self):
        pipe = Pipeline(batch_size=2, num_threads=1)
        with pipe:
            pipe.set_outputs(fn.external_source(name="in"))
        with DataIterator(pipe, ["x"]) as it:
            for i in range(3):
                pipe.feed_input("in", [np.int32(i), np.int32(-i)])
                assert rows(next(it)) == [i, -i]


# --- arrays ---------------------------------------------------------------------------------------
class TestArrays:
    def test_64_bits_become_32(self):
        with source_iterator([[np.array([1, -2]), np.array([3, 4])]], 2) as it:
            assert next(it)["x"].dtype == np.int32
        with source_iterator([[np.array([0.5, -2]), np.array([3, 4.0])]], 2) as it:
            x = next(it)["x"]
            assert x.dtype == np.float32
            np.testing.assert_array_equal(np.asarray(x), [[0.5, -2], [3, 4]])

    def test_64_bits_stay_if_jax_has_them(self):
        script = """
            import jax, numpy as np
            jax.config.update("jax_enable_x64", True)
            from jdali import Pipeline, fn
            from jdali.iterator import DataIterator
            pipe = Pipeline(batch_size=1, num_threads=1)
            with pipe:
                pipe.set_outputs(fn.external_source([[np.array([1, 2**40])]]))
            x = next(DataIterator(pipe, ["x"]))["x"]
            assert x.dtype == np.int64 and x[0, 1] == 2**40
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)

    def test_modes_of_one_thread_count_where_the_iterator_is_made(self):
        device = jax.devices()[-1]
        with jax.enable_x64(True), jax.default_device(device):
            batches = [*DataIterator(pipeline(4, 2), ["x"], reader_name="Reader")]
        assert {(batch["x"].dtype, *batch["x"].devices()) for batch in batches} == {
            (np.dtype(np.int64), device)
        }

    def test_a_computed_output_is_handed_on(self):
        pipe = Pipeline(batch_size=3, num_threads=1, seed=1)
        with pipe:
            x = numbers(NumberReader(6))
            pipe.set_outputs(x * 2, x)
        with DataIterator(pipe, ["twice", "x"], reader_name="Reader") as it:
            batch = next(it)
            assert isinstance(batch["twice"], jax.Array)
            assert batch["twice"].dtype == np.int32
            assert rows(batch, "twice") == [0, 2, 4]

    def test_samples_of_different_sizes(self):
        batch = [np.zeros((2, 3), np.uint8), np.zeros((4, 3), np.uint8)]
        with (
            source_iterator([batch], 2) as it,
            pytest.raises(ValueError, match=r"'x' differ in shape: \(2, 3\), \(4, 3\).*ragged=\(\"x\",\)"),
        ):
            next(it)

    @pytest.mark.parametrize("ragged", ["error", "pad"])
    def test_an_empty_batch_has_no_type(self, ragged):
        with (
            source_iterator([[]], 2, ragged=ragged) as it,
            pytest.raises(
                RuntimeError, match="output 'x' has no samples in this batch.*source gave an empty batch"
            ),
        ):
            next(it)

    @pytest.mark.parametrize("ragged", ["pad", ("x",)])
    def test_padded(self, ragged):
        one, two = np.arange(6.0).reshape(2, 3), np.arange(1, 13.0).reshape(4, 3)
        with source_iterator([[one, two]], 2, ragged=ragged) as it:
            batch = next(it)
        assert batch["x_extent"].dtype == np.int32
        np.testing.assert_array_equal(np.asarray(batch["x_extent"]), [[2, 3], [4, 3]])
        x = np.asarray(batch["x"])
        assert x.shape == (2, 4, 3)
        np.testing.assert_array_equal(x[0], np.pad(one, [(0, 2), (0, 0)]))
        np.testing.assert_array_equal(x[1], two)

    def test_padded_shapes_are_few(self):
        rng = np.random.default_rng(0)
        sizes = rng.integers(1, 100, (40, 2))
        batches = [[np.ones((n, 5), np.float32) for n in pair] for pair in sizes]
        with source_iterator(batches, 2, ragged="pad") as it:
            shapes = {np.shape(batch["x"]) for batch in it}
        assert {shape[2] for shape in shapes} == {5}  # never varied: exact
        assert len(shapes) <= 10

    def test_padded_on_the_device(self):
        pipe = Pipeline(batch_size=2, num_threads=1)
        one, two = np.arange(5, dtype=np.float32), np.arange(9, dtype=np.float32)
        with pipe:
            pipe.set_outputs(fn.external_source([[one, two]], device="gpu") + 1)
        with DataIterator(pipe, ["x"], ragged="pad") as it:
            batch = next(it)
        x = np.asarray(batch["x"])
        np.testing.assert_array_equal(x[0, :5], one + 1)
        assert (x[0, 5:] == 0).all()
        np.testing.assert_array_equal(x[1, :9], two + 1)

    def test_scalars_need_no_padding(self):
        with source_iterator(scalars([3, 4]), 2, ragged="pad") as it:
            assert list(next(it)) == ["x"]

    def test_ragged_is_checked(self):
        with pytest.raises(ValueError, match=r"ragged names \['y'\], the outputs are \['x'\]"):
            source_iterator(scalars([1]), 1, ragged=["y"])
        with pytest.raises(ValueError, match='must be "error", "pad" or names of outputs'):
            source_iterator(scalars([1]), 1, ragged="x")

    def test_a_replaced_sample_is_masked(self):
        with iterator(6, 3, options={"on_error": "mask"}, bad=(1,)) as it:
            first, second = it
        assert rows(first) == [0, 2, 2]
        assert np.asarray(first["mask"]).tolist() == [True, False, True]
        assert np.asarray(second["mask"]).all()


# --- errors ---------------------------------------------------------------------------------------
def test_an_error_is_raised_where_it_belongs():
    with iterator(9, 3, bad=(4,)) as it:
        assert rows(next(it)) == [0, 1, 2]
        with pytest.raises(OperatorError, match="number 4 is bad"):
            next(it)
        assert rows(next(it)) == [6, 7, 8]
        with pytest.raises(StopIteration):
            next(it)


# --- state ----------------------------------------------------------------------------------------
class TestState:
    @pytest.mark.parametrize("policy", [FILL, DROP, PARTIAL])
    @pytest.mark.parametrize("taken", [0, 1, 3, 4, 5, 8])
    def test_goes_on_in_a_fresh_iterator(self, policy, taken):
        def walk(it, count):
            seen = []
            while len(seen) < count:
                try:
                    seen.append(rows(next(it)))
                except StopIteration:
                    seen.append("end")
                    it.reset()
            return seen

        with iterator(policy=policy) as it:
            whole = walk(it, taken + 6)
        with iterator(policy=policy) as one:
            walk(one, taken)
            state = json.loads(json.dumps(one.get_state()))
        with iterator(policy=policy) as two:
            two.set_state(state)
            assert two.get_state() == state
            rest = walk(two, 6)
        if rest[0] == "end" and taken and whole[taken - 1] == "end":
            rest = rest[1:]  # saved between the end and reset: the end is told again
        assert rest[:5] == whole[taken : taken + 5]

    def test_saved_at_the_end_of_an_epoch(self):
        with iterator(6) as one:
            epoch(one)
            state = one.get_state()
        with iterator(6) as two:
            two.set_state(state)
            assert epoch(two) == [[0, 1, 2], [3, 4, 5]]

    def test_back_in_the_same_iterator(self):
        with iterator() as it:
            start = it.get_state()
            first = epoch(it)
            it.set_state(start)
            assert epoch(it) == first

    def test_a_state_of_another_kind(self):
        with iterator() as it:
            state = it.get_state()
            with pytest.raises(ValueError, match="version 99, expected 1"):
                it.set_state({**state, "version": 99})
            state["pipelines"][0]["readers"] = {"Other": {}}
            with pytest.raises(
                ValueError, match=r"the state is of the sources \['Other'\], there are \['Read"
            ):
                it.set_state(state)


# --- running ahead, waiting, ending ---------------------------------------------------------------
def until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def own_threads():
    return [t for t in threading.enumerate() if t.name.startswith("jdali")]


class TestThreads:
    def test_the_first_batch_is_prepared(self):
        loaded = []
        it = iterator(100, 1, delay=loaded.append)
        with it:
            assert until(lambda: len(loaded) >= 1)

    def test_nothing_is_done_before_it_is_asked_for(self):
        loaded = []
        pipe = pipeline(100, 1, delay=loaded.append)
        with DataIterator(pipe, ["x"], reader_name="Reader", prepare_first_batch=False) as it:
            time.sleep(0.05)
            assert not loaded
            assert rows(next(it)) == [0]

    def test_waits_are_counted_by_epochs(self):
        with iterator(8, 1) as it:
            began = time.perf_counter()
            assert len(list(it)) == 8
            waited, share = it.wait_seconds, it.wait_share
            assert 0 < waited <= time.perf_counter() - began
            assert 0 < share <= 1
            assert (it.wait_seconds, it.wait_share) == (waited, share)  # stays until the next epoch
            next(iter(it))
            assert it.wait_seconds != waited  # counted anew

    def test_the_share_of_waits(self, monkeypatch):
        """Waits of 3, 1 and 2 s, and steps of 7 s between them; then another epoch."""
        now = [100.0]
        monkeypatch.setattr("jdali.iterator.epoch_loop.time.perf_counter", lambda: now[0])
        clock = WaitClock()
        assert (clock.waited, clock.share) == (0, 0)
        for seconds in (3, 1, 2):
            with clock.wait():
                now[0] += seconds
            now[0] += 7
        clock.end_epoch()
        assert (clock.waited, clock.elapsed, clock.share) == (6, 20, 6 / 20)
        with clock.wait():
            now[0] += 5
        assert (clock.waited, clock.elapsed, clock.share) == (5, 5, 1)

    def test_nothing_stays_after_close(self):
        before = set(own_threads())  # of pipelines of other tests that were not collected yet
        it = iterator(10**6, 2)
        for _ in it:
            break
        it.close()
        it.close()
        assert until(lambda: not set(own_threads()) - before)
        with pytest.raises(RuntimeError, match="closed"):
            next(it)

    def test_nothing_stays_after_del(self):
        before = set(own_threads())
        it = iterator(10**6, 2)
        next(it)
        del it
        gc.collect()
        assert until(lambda: not set(own_threads()) - before)

    @pytest.mark.cases(2)
    @pytest.mark.parametrize("end", ["", "break_early()", "raise SystemExit(3)", "1 / 0"])
    def test_the_interpreter_ends(self, end):
        script = f"""
            import sys
            sys.path.insert(0, {str(__file__).rsplit("/", 2)[0]!r})
            from support.numbers import pipeline
            from jdali.iterator import DataIterator
            it = DataIterator(pipeline(10**6, 4), ["x"], reader_name="Reader")
            def break_early():
                for batch in it:
                    break
            next(it)
            {end}
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            timeout=60,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == {"": 0, "break_early()": 0, "1 / 0": 1}.get(end, 3), done.stderr
        assert "Fatal" not in done.stderr


def test_batches_that_are_kept_do_not_change():
    """Chunks of a stage are put together in memory that is used again, but not while an array is in it."""
    pipe = Pipeline(batch_size=4, num_threads=2, seed=1)
    with pipe:
        picture = np.ones((300, 400, 3), np.float32)
        pipe.set_outputs(numbers(NumberReader(400)) * picture)
    with DataIterator(pipe, ["x"], size=400) as it:
        kept = [next(it)["x"] for _ in range(3)]
        for _ in range(6):
            next(it)  # these are let go of
        kept += [next(it)["x"] for _ in range(3)]
        assert "program: 1 sample a call" in pipe.plan()
    for start, x in zip((0, 4, 8, 36, 40, 44), kept, strict=True):
        expected = np.broadcast_to(np.arange(start, start + 4)[:, None, None, None], x.shape)
        np.testing.assert_array_equal(np.asarray(x), expected)
