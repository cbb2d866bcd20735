"""Saving where an iterator is and going on from there: the stream of batches is the same, bit by bit."""

import contextlib
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import killed, resuming, resuming_workers
from support.every_reader import digests, made
from support.resuming import COUNT, digest, forever, iterator, light_iterator

import jdali
from jdali import fn
from jdali.iterator import DataIterator, LastBatchPolicy

TESTS = Path(__file__).resolve().parents[1]
STEPS = 24
OF_RECORDS = 8  # steps of a pipeline for each reader; the kill comes before the fifth


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures")
    resuming.write_pictures(path)
    return path


def take(it, count):
    return [batch for _, batch in zip(range(count), forever(it), strict=False)]


@pytest.fixture(scope="module")
def reference(folder):
    """Hashes of the batches of a run that nobody interrupts."""
    with iterator(folder) as it:
        return [digest(batch) for batch in take(it, STEPS)]


def through_json(state):
    return json.loads(json.dumps(state))


# --- processes that are killed --------------------------------------------------------------------
def test_kill_minus_nine(folder, reference, tmp_path):
    """Killed at a random step, resumed with other threads and depths: nothing shows."""
    _killed_and_resumed("support.resuming", tmp_path, reference, [(1, 1), (8, 3)], folder)


def test_kill_minus_nine_with_workers(tmp_path):
    """Sources and functions in worker processes, by number and one after another; the whole group is killed."""
    with resuming_workers.iterator() as it:
        reference = [digest(batch) for batch in take(it, STEPS)]
    program = "support.resuming_workers"
    _killed_and_resumed(program, tmp_path, reference, [(1, 2), (2, 3)], groups=(0,))


def _killed_and_resumed(module, tmp_path, reference, runs, *given, groups=()):
    """Runs a program again and again, all but the last time up to a SIGKILL; `groups`: those killed with all they started."""
    state, log = tmp_path / "state.json", tmp_path / "log"
    chance = random.Random()
    for number, options in enumerate(runs):
        last = number == len(runs) - 1
        before = _steps(log)
        program = [sys.executable, "-m", module, *given, state, log, *options, STEPS]
        lines = chance.randint(1, 5)
        environment = os.environ if last else os.environ | {"MOST_LINES": str(lines + 2)}
        child = subprocess.Popen(
            list(map(str, program)), cwd=TESTS, env=environment, start_new_session=number in groups
        )
        try:
            if not last:
                wanted = len(before) + lines
                _wait_for(lambda n=wanted: len(_steps(log)) >= n, child)
                time.sleep(chance.random() * 0.02)
                if number in groups:
                    os.killpg(child.pid, signal.SIGKILL)
                child.send_signal(signal.SIGKILL)
            code = child.wait(timeout=120)
        finally:
            child.kill()
        assert code == (0 if last else -signal.SIGKILL)
    found = _steps(log)
    assert {step for step, _ in found} == set(range(1, STEPS + 1))
    for step, value in found:  # some steps may be there twice: killed before the state was written
        assert value == reference[step - 1], f"step {step} is another one after a resume"


# Readers that hold open what a killed process leaves as it is: files of records, videos, and the indexes of both.
KILLED = (
    "tfrecord",
    "mxnet",
    "caffe",
    "caffe2",
    "webdataset",
    "parquet",
    "arrow",
    "array_record",
    "array_record groups",
    "lerobot",
    "video",
    "experimental video",
    "numpy window",
)


def test_kill_minus_nine_of_records_and_videos(tmp_path):
    """Killed in mid-epoch at a random step, also while caches are written: each sample once, the same bytes."""
    cases = {}
    for case in KILLED:
        try:
            name, args = made(case, tmp_path / case)
        except pytest.skip.Exception:
            continue  # its library is not installed
        given = args(str(tmp_path / case))
        given = {key: value for key, value in given.items() if "index_path" not in key}
        cases[case] = name, given | {"random_shuffle": True}, {}
    for case in ("mxnet", "webdataset"):  # and with samples that are skipped
        name, given, _ = cases[case]
        damaged = tmp_path / f"{case} damaged"
        shutil.copytree(tmp_path / case, damaged)
        (file,) = [path for path in damaged.iterdir() if path.suffix in (".rec", ".tar")]
        content = file.read_bytes()
        file.write_bytes(content[: len(content) * 2 // 3])
        at = {key: [str(file)] if key in ("path", "paths") else value for key, value in given.items()}
        cases[f"{case} damaged"] = name, at, {"on_error": "skip"}
    with contextlib.ExitStack() as stack:
        pipes = killed.opened(cases, stack, num_threads=1, prefetch_queue_depth=1)
        reference = {(step, case): digests(pipes[case], 1) for step in range(OF_RECORDS) for case in cases}
    (tmp_path / "cases").write_bytes(pickle.dumps(cases))
    log, chance = tmp_path / "log", random.Random()
    program = [
        sys.executable,
        "-m",
        "support.killed",
        tmp_path / "cases",
        tmp_path / "state",
        log,
        OF_RECORDS,
    ]
    environment = os.environ | {"JDALI_CACHE_DIR": str(tmp_path / "cache")}
    for last in (False, True):
        before = len(_lines(log))
        count = chance.randint(1, 4 * len(cases))
        most = {} if last else {"MOST_LINES": str(count + len(cases))}
        child = subprocess.Popen(list(map(str, program)), cwd=TESTS, env=environment | most)
        try:
            if not last:
                wanted = before + count
                _wait_for(lambda n=wanted: len(_lines(log)) >= n, child)
                child.send_signal(signal.SIGKILL)
            code = child.wait(timeout=120)
        finally:
            child.kill()
        assert code == (0 if last else -signal.SIGKILL)
    found = _lines(log)
    assert {(step, case) for step, case, _ in found} == set(reference)
    for step, case, value in found:  # some steps may be there twice
        assert value == reference[step, case], f"step {step} of {case} is another one after a resume"


def _lines(log):
    """Whole lines: a process may be killed while it writes one."""
    text = log.read_text() if log.exists() else ""
    lines = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            lines.append(json.loads(line))
    return lines


def _steps(log):
    lines = log.read_text().splitlines() if log.exists() else []
    whole = [line.split() for line in lines if len(line.split()) == 2 and len(line.split()[1]) == 16]
    return [(int(step), value) for step, value in whole]


def _wait_for(condition, child, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert child.poll() is None, "the child ended by itself"
        assert time.monotonic() < end
        time.sleep(0.002)


# --- one process -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("threads", "depth", "at"), [(1, 1, 1), (16, 1, 3), (2, 2, 4), (1, 3, 6), (16, 4, 9)], ids=str
)
def test_goes_on_in_a_fresh_iterator(folder, reference, threads, depth, at):
    options = {"num_threads": threads, "prefetch_queue_depth": depth}
    with iterator(folder, **options) as one:
        take(one, at)
        state = through_json(one.get_state())
    assert len(json.dumps(state)) < 1000
    assert state["steps"] == at
    with iterator(folder, **options) as two:
        two.set_state(state)
        assert two.get_state() == state
        assert [digest(b) for b in take(two, 6)] == reference[at : at + 6]


def test_a_pipeline_without_a_seed_takes_that_of_the_state(folder):
    def one_of(**options):
        return DataIterator(
            resuming.drawing(folder, batch_size=4, num_threads=1, **options), ["value", "label"]
        )

    with one_of(seed=-1) as one:
        next(one)
        state = through_json(one.get_state())
        expected = [digest(next(one)) for _ in range(4)]
    with one_of(seed=None) as two:
        two.set_state(state)
        assert [digest(next(two)) for _ in range(4)] == expected
    with one_of(seed=3) as three:
        whole = [digest(next(three)) for _ in range(2)]
    with one_of(seed=3) as four:
        assert digest(next(four)) == whole[0]
        with pytest.raises(ValueError, match="of seed [0-9]+, this one has seed 3"):
            four.set_state(state)
        assert digest(next(four)) == whole[1]  # it stays where it was


# --- a state of another pipeline ------------------------------------------------------------------
@jdali.pipeline_def(batch_size=2, num_threads=1, seed=1)
def numbers(flip=False, mean=0.0, more=0):
    value = fn.random.uniform(range=[mean, 2.0])
    if flip:
        value = -value
    for _ in range(more):
        value = value + 1
    return value * 2


def difference(was, now):
    with pytest.raises(ValueError, match="the state is of another pipeline") as error:
        now.set_state(through_json(was.get_state()))
    return str(error.value)


def test_says_which_operator_and_argument_differ():
    assert "range of operator 1, random.uniform, was [0, 2] and is [1, 2]" in difference(
        numbers(), numbers(mean=1.0)
    )
    text = difference(numbers(), numbers(flip=True))
    assert "operator 2 was math.mul and is math.neg (there were 2 operators, there are 3)" in text
    text = difference(numbers(more=300), numbers(mean=1.0, more=300))
    assert "operator 1 is random.uniform(range=[1, 2]) and was another, or had other" in text
    assert len(json.dumps(numbers(more=300).get_state())) < 1000
    other = through_json(numbers(mean=1.0).get_state())
    del other["graph"]  # whoever knows better
    numbers().set_state(other)


def test_data_may_move_but_not_change_in_number(folder, tmp_path):
    resuming.write_pictures(tmp_path)
    with light_iterator(folder, batch_size=4) as one, light_iterator(tmp_path, batch_size=4) as two:
        next(one)
        two.set_state(through_json(one.get_state()))
        assert digest(next(two)) == digest(next(one))
        (tmp_path / "00.jpg").unlink()
        with (
            light_iterator(tmp_path, batch_size=4) as three,
            pytest.raises(ValueError, match="labels of operator 1, readers.file, was"),
        ):
            three.set_state(one.get_state())


# --- another number of shards, another batch size -------------------------------------------------
def shards(folder, count, batch_size, **options):
    reader = {"num_shards": count, **options.pop("reader", {})}
    return [
        light_iterator(folder, batch_size=batch_size, reader={**reader, "shard_id": i}, **options)
        for i in range(count)
    ]


def seen(batch):
    """(value, label) of the samples of a batch that are real; the value tells the epoch."""
    keep = np.asarray(batch.get("mask", np.ones(len(batch["label"]), bool)))
    pairs = zip(np.asarray(batch["value"]).tolist(), np.asarray(batch["label"])[:, 0].tolist(), strict=True)
    return [pair for pair, real in zip(pairs, keep, strict=True) if real]


@pytest.fixture(scope="module")
def epochs(folder):
    """The samples of the first epochs, by a single reader."""
    with light_iterator(folder, batch_size=COUNT) as it:
        return [set(seen(batch)) for batch in take(it, 6)]


@pytest.mark.cases(3)
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize(
    "topology", [((2, 3), (3, 2)), ((3, 1), (1, 4), (2, 2)), ((2, 2), (2, 3)), ((1, 5), (4, 1))], ids=str
)
def test_another_number_of_shards_or_batch_size(folder, epochs, topology, pad):
    """In the middle of an epoch, also twice in a row: no sample is lost, none comes twice."""
    options = {"reader": {"pad_last_batch": pad}}
    if pad:
        options["last_batch_policy"] = LastBatchPolicy.PAD
    taken, state, first_epoch = [], None, []
    for number, (count, batch_size) in enumerate(topology):
        its = shards(folder, count, batch_size, **options)
        for it in its:
            if state is not None:
                it.set_state(through_json(state))
        if number < len(topology) - 1:
            for it in its:
                taken += [pair for batch in take(it, 2) for pair in seen(batch)]
            states = [it.get_state() for it in its]
            state = states[-1]
            assert all(other == state for other in states)
        else:
            rest = [[[seen(b) for b in it] for it in its] for _ in range(3)]
        for it in its:
            it.close()
    for of_shards in rest:  # all shards have the same number of batches, in each epoch
        assert len({len(batches) for batches in of_shards}) == 1
    for number, of_shards in enumerate(rest):
        taken += [pair for batches in of_shards for batch in batches for pair in batch]
        if number == 0:
            first_epoch = set(taken)
    assert len(set(taken)) == len(taken), "a sample came twice"
    assert epochs[0] <= first_epoch, "a sample of the epoch that was interrupted is lost"
    for epoch in epochs[:3]:
        assert epoch <= set(taken), "a sample is lost"
    if pad:  # whole epochs, one more if the first had just ended where the shards changed
        assert set(taken) in [set().union(*epochs[:count]) for count in (3, 4)]


def test_shards_of_one_process(folder, epochs):
    """Two pipelines in one iterator become three."""

    def pipes(count):
        return [
            resuming.drawing(folder, {"num_shards": count, "shard_id": i}, batch_size=2, num_threads=1)
            for i in range(count)
        ]

    def of(count):
        return DataIterator(pipes(count), ["value", "label"], reader_name="Reader", auto_reset=True)

    with of(2) as one:
        taken = [pair for batch in take(one, 2) for pair in seen(batch)]
        state = through_json(one.get_state())
    with of(3) as two:
        two.set_state(state)
        taken += [pair for batch in two for pair in seen(batch)]
        assert len(set(taken)) == len(taken)
        assert epochs[0] <= set(taken)


# --- bad samples ----------------------------------------------------------------------------------
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_bad_samples_that_were_replaced(tmp_path, on_error):
    resuming.write_pictures(tmp_path)
    for i in (2, 5, 11):
        (tmp_path / f"{i:02d}.jpg").write_bytes(b"no picture")
    with iterator(tmp_path, on_error=on_error) as one:
        expected, states = [], []
        for _, batch in zip(range(10), forever(one), strict=False):
            expected.append(digest(batch))
            states.append(through_json(one.get_state()))
        for step in range(10):
            assert digest(one.batch_at(step)) == expected[step]
    with iterator(tmp_path, on_error=on_error) as two:
        for at in (1, 2, 5):
            two.set_state(states[at - 1])
            assert [digest(b) for b in take(two, 4)] == expected[at : at + 4]
            for step in (at, at + 1, at + 3):
                assert digest(two.batch_at(step)) == expected[step]


# --- replaying ------------------------------------------------------------------------------------
class TestReplay:
    def test_any_batch_while_the_iterator_runs(self, folder, reference):
        programs = []
        # The second loop goes on as far as the first one reads ahead.
        for looks, steps in (((3, 4, 11), STEPS), ((), STEPS + 6)):
            with iterator(folder, prefetch_queue_depth=3) as it:
                got = []
                for step, batch in zip(range(steps), forever(it), strict=False):
                    got.append(digest(batch))
                    if step in looks:
                        for wanted in (0, step, 2, 20):
                            assert digest(it.batch_at(wanted)) == reference[wanted]
                assert got[:STEPS] == reference
                programs.append(it.pipelines[0].executor_statistics()["programs"])
        assert programs[0] <= programs[1]  # looking at a batch compiles nothing of its own

    def test_steps_of_an_epoch(self, folder, reference):
        with iterator(folder) as it:
            lengths, batches = [], []
            for _ in range(4):
                batches.append([digest(batch) for batch in it])
                lengths.append(len(batches[-1]))
        with iterator(folder) as it:  # a fresh one, that has gone through nothing
            for epoch, of_epoch in enumerate(batches):
                for step in (0, lengths[epoch] - 1):
                    assert digest(it.batch_at(step, epoch)) == of_epoch[step]
            with pytest.raises(IndexError, match=f"epoch 0 has {lengths[0]} batches, there is no step 9"):
                it.batch_at(9, epoch=0)
            with pytest.raises(IndexError, match="count from 0"):
                it.batch_at(-1)

    def test_any_sample(self, folder):
        with iterator(folder) as it:
            batches = take(it, 5)
            epoch_of = [0] * COUNT + [1] * 7
            rows = [(batch, row) for batch in batches for row in range(4)]
            for (batch, row), epoch in zip(rows, epoch_of, strict=True):
                index = int(batch["label"][row, 0])
                again = it.sample(index, epoch)
                for name, array in again.items():
                    np.testing.assert_array_equal(array, batch[name][row])
            with pytest.raises(IndexError, match="index 13 is not in the data set of 13 samples"):
                it.sample(13)

    def test_after_a_restore(self, folder, reference):
        with iterator(folder) as one:
            take(one, 6)
            state = through_json(one.get_state())
        with iterator(folder) as two:
            two.set_state(state)
            for step in (0, 5, 6, 13):
                assert digest(two.batch_at(step)) == reference[step]
            assert digest(next(two)) == reference[6]

    def test_before_a_restore_with_another_batch_size(self, folder):
        with light_iterator(folder, batch_size=4) as one:
            take(one, 6)
            state = through_json(one.get_state())
        with light_iterator(folder, batch_size=3) as three:
            three.set_state(state)
            three.batch_at(6)
            with pytest.raises(ValueError, match="batches before step 6, where the state was restored"):
                three.batch_at(5)

    def test_dropped_batches_are_counted(self, folder):
        with light_iterator(folder, batch_size=4, last_batch_policy=LastBatchPolicy.DROP) as it:
            expected = [digest(batch) for batch in take(it, 9)]
            assert [digest(it.batch_at(step)) for step in range(9)] == expected
            assert digest(it.batch_at(1, epoch=2)) == expected[7]

    def test_what_cannot_be_replayed(self, folder):
        pipe = sources(iter(batches_of_numbers()))
        with DataIterator(pipe, ["x"]) as it, pytest.raises(RuntimeError, match="gives each item once"):
            it.batch_at(0)
        with DataIterator(sources(batches_of_numbers()), ["x"]) as it:
            assert np.asarray(it.batch_at(2)["x"]).tolist() == [[20], [21]]
            assert np.asarray(next(it)["x"]).tolist() == [[0], [1]]
            with pytest.raises(ValueError, match="one reader and no external source"):
                it.sample(0)


# --- external sources ------------------------------------------------------------------------------
def batches_of_numbers(count=5):
    return [np.array([[10 * i], [10 * i + 1]], np.int32) for i in range(count)]


def sources(source, **options):
    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=1)
    def pipeline():
        return fn.external_source(source=source, **options)

    return pipeline()


def values(pipe, count):
    return [pipe.run()[0].as_array().ravel().tolist() for _ in range(count)]


class Stateful:
    """As an iterator of Grain: it can say where it is."""

    def __init__(self):
        self.at = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        return np.array([[self.at], [-self.at]], np.int32)

    def get_state(self):
        return str(self.at).encode()

    def set_state(self, state):
        self.at = int(state)


class Calls:
    """A callback without an argument."""

    def __init__(self):
        self.at = 0

    def __call__(self):
        self.at += 1
        return np.array([[self.at], [-self.at]], np.int32)


def generate():
    yield from batches_of_numbers()


class TestExternalSources:
    @pytest.mark.parametrize(
        ("make", "options"),
        [
            (batches_of_numbers, {}),
            (batches_of_numbers, {"cycle": "quiet"}),
            (lambda: generate, {"cycle": True}),
            (lambda: generate, {}),
            (generate, {}),
            (Stateful, {}),
            (Calls, {}),
            (lambda: lambda i: batches_of_numbers(9)[i], {}),
            (lambda: lambda info: np.int32([info.idx_in_epoch]), {"batch": False}),
        ],
        ids=[
            "list",
            "cycle",
            "function cycle",
            "function",
            "generator",
            "stateful",
            "calls",
            "told",
            "sample",
        ],
    )
    def test_goes_on(self, make, options):
        one = sources(make(), **options)
        count = 8 if options.get("cycle") else 5
        expected = values(one, count)
        one.close()
        for at in (1, 4):
            one = sources(make(), **options)
            values(one, at)
            state = through_json(one.get_state())
            one.close()
            two = sources(make(), **options)
            two.set_state(state)
            assert values(two, count - at) == expected[at:]
            two.close()

    def test_samples_and_another_batch_size(self):
        def pipe(size):
            with jdali.Pipeline(batch_size=size, num_threads=1, seed=1) as made:
                made.set_outputs(
                    fn.external_source(source=lambda info: np.int32([info.idx_in_epoch]), batch=False)
                )
            return made

        one = pipe(2)
        assert values(one, 3) == [[0, 1], [2, 3], [4, 5]]
        two = pipe(3)
        two.set_state(through_json(one.get_state()))
        assert values(two, 2) == [[6, 7, 8], [9, 10, 11]]

    def test_a_generator_cannot_go_back(self):
        pipe = sources(generate())
        start = pipe.get_state()
        values(pipe, 2)
        with pytest.raises(ValueError, match="has given [0-9]+ items and cannot go back to item 0"):
            pipe.set_state(start)

    def test_a_source_that_is_shorter_now(self):
        pipe = sources(iter(batches_of_numbers()))
        values(pipe, 4)
        with pytest.raises(ValueError, match="it ended before item 4"):
            sources(iter(batches_of_numbers(3))).set_state(pipe.get_state())

    def test_the_end_of_an_epoch(self):
        def make():
            return DataIterator(sources(batches_of_numbers(3), cycle="raise"), ["x"])

        with make() as one:
            assert len(list(one)) == 3
            state = through_json(one.get_state())
        with make() as two:
            two.set_state(state)
            assert [np.asarray(b["x"])[0, 0] for b in two] == [0, 10, 20]

    def test_what_was_fed_has_to_be_fed_again(self):
        @jdali.pipeline_def(batch_size=2, num_threads=1, seed=1)
        def pipeline():
            return fn.external_source(name="x") + fn.random.uniform(range=[0.0, 1.0])

        data = [np.float32([[i], [i]]) for i in range(4)]
        one = pipeline()
        expected = [one.run(x=batch)[0].as_array() for batch in data]
        two, three = pipeline(), pipeline()
        for batch in data[:2]:
            two.run(x=batch)
        state = through_json(two.get_state())
        assert state["sources"]["x"] == {"taken": 2}
        three.set_state(state)
        with pytest.raises(RuntimeError, match="no data; call pipeline.feed_input"):
            three.run()
        np.testing.assert_array_equal(three.run(x=data[2])[0].as_array(), expected[2])
