"""What is of Ray alone in workers of a cluster; tests/pipeline/test_workers_of_each_kind.py has what all workers share."""

import functools
import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support.broken_codec import broken_codec, write_files
from support.faults import child, until
from support.worker_kinds import NAME, NAMESPACE, is_alive, one_of, pids_of, workers_of
from support.worker_pipelines import BAD, COUNT, batch, light_pipeline, of_shard, write_pictures

import jdali
from jdali import fn

ray = pytest.importorskip("ray", reason="Ray is not installed")
from jdali.plugin.ray import Workers  # noqa: E402

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="clusters of Ray are tested on Linux only"),
    # Ray leaves files and sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

STEPS = 9  # more than two epochs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures") / "all")


@pytest.fixture(scope="module")
def batches(folder):
    """Batches of this process alone, and the state after each."""
    with closing(light_pipeline(folder, workers=0)) as pipe:
        return [(batch(pipe), pipe.get_state()) for _ in range(STEPS)]


def run(pipe, steps):
    for _ in range(steps):
        pipe.run()


# --- batches ------------------------------------------------------------------------------------------
def test_results_are_read_where_ray_put_them(ray_workers):
    """The arrays of JAX lie in the mapped object store."""

    @jdali.pipeline_def(batch_size=2, num_threads=1, workers=one_of(ray_workers))
    def define():
        return fn.external_source(source=lambda: np.ones((2, 300, 500), np.float32), batch=True) + 1

    pipe = define()
    with jdali.iterator.DataIterator(pipe, ["ones"]) as it:
        array = next(it)["ones"]
        assert float(array.sum()) == 2 * 2 * 300 * 500
        address = array.unsafe_buffer_pointer()
        ranges = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        (line,) = [
            line for line in ranges
            if int(line[0].split("-")[0], 16) <= address < int(line[0].split("-")[1], 16)
        ]  # fmt: skip
        assert "plasma" in line[5]
        assert workers_of(pipe).counts().leased >= array.nbytes


# pipeline/test_workers.py has it with processes, the test of a node that is removed has bits and states.
@pytest.mark.exhaustive
def test_workers_join_and_leave(folder, batches, on_cluster):
    with closing(light_pipeline(folder, workers=Workers(1, num_cpus=0.5))) as pipe:
        found = []
        for step in range(STEPS):
            found.append((batch(pipe), pipe.get_state()))
            if step == 1:
                workers_of(pipe).resize(2)
                assert until(lambda: len(pids_of(pipe)) == 2)
                alive = functools.partial(lambda pids: sum(map(is_alive, pids)), pids_of(pipe))
            if step == 4:
                workers_of(pipe).resize(1)
                assert until(lambda: len(pids_of(pipe)) == 1)
        assert found == batches
        assert until(lambda: alive() == 1)


@pytest.mark.exhaustive  # pipeline/test_workers.py has the data set that changed, the next test the name of the node
def test_a_data_set_that_a_worker_does_not_find_is_an_error_that_names_the_node(tmp_path, ray_workers):
    """Names are found in the trainer's process; a worker that is new reads the files."""
    folder = write_pictures(tmp_path / "all")

    @jdali.pipeline_def(batch_size=1, num_threads=1, seed=7, workers=ray_workers)
    def define():
        encoded, _ = fn.readers.file(file_root=folder, name="pictures")
        return fn.python_function(encoded, function=lambda _: np.int32(os.getpid()))

    with closing(define()) as pipe:
        pid = int(pipe.run()[0].as_array()[0])
        shutil.rmtree(folder)
        os.kill(pid, signal.SIGKILL)  # the next one opens the folder anew
        with pytest.raises(RuntimeError, match=folder) as caught:
            run(pipe, 3 * COUNT)
    # A worker may still have been at work when the folder went: then it is the error of a sample.
    said = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    assert any(f"on node {os.uname().nodename} (" in text for text in said)


def test_a_file_that_a_worker_cannot_read_is_an_error_with_the_node(tmp_path, ray_workers):
    folder = write_pictures(tmp_path / "all", BAD)
    with (
        closing(light_pipeline(folder, workers=one_of(ray_workers))) as pipe,
        pytest.raises(RuntimeError) as caught,
    ):
        run(pipe, COUNT)
    assert any(f"on node {os.uname().nodename}" in note for note in caught.value.__notes__)


TRAINER = """
    import sys
    sys.path.insert(0, {tests!r})
    import ray
    from jdali.plugin.ray import Workers
    from support.worker_pipelines import of_shard

    ray.init(address={address!r}, namespace={namespace!r}, log_to_driver=False)
    print(*of_shard({folder!r}, 1, Workers(2, num_cpus=0.5, name={name!r})), flush=True)
"""


def in_a_program(folder, address):
    words = {
        "tests": str(Path(__file__).parents[1]), "folder": folder, "address": address, "namespace": NAMESPACE, "name": NAME,
    }  # fmt: skip
    ended = child(TRAINER.format(**words))
    assert ended.code == 0, ended.err
    return ended.out.split()


def in_a_thread(folder, _):
    return of_shard(folder, 1, Workers(2, num_cpus=0.5, name=NAME))


@pytest.mark.parametrize(
    "other",
    # The other case has the set by its name as well; a program takes long to start.
    [pytest.param(in_a_program, marks=pytest.mark.exhaustive), in_a_thread],
)
def test_two_trainers_share_a_named_set(folder, on_cluster, ray_workers, other):
    """One has the set, one names it; each has its shard."""
    actors = set(pids_of_set(ray_workers))
    with ThreadPoolExecutor(1) as thread:
        another = thread.submit(other, folder, on_cluster)
        shared = [of_shard(folder, 0, ray_workers)]
        shared.append(another.result())
    assert shared == [of_shard(folder, shard, 0) for shard in range(2)]
    seen = [{entry.partition(":")[0] for entry in entries} for entries in shared]
    assert not seen[0] & seen[1]
    assert seen[0] | seen[1] == {f"{i:02}.png" for i in range(COUNT)}
    assert set(pids_of_set(ray_workers)) == actors  # they are there for others still


def pids_of_set(workers):
    actors = [ray.get_actor(f"{workers.name}-{i}") for i in range(workers.count)]
    return [actor._actor_id.hex() for actor in actors]


def test_a_node_that_is_removed_in_mid_epoch_loses_nothing(folder, batches, ray_cluster, ray_workers):
    second = ray_cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    ray_cluster.wait_for_nodes()
    # Each node has room for one of them: half of the first one is that of `ray_workers`.
    with closing(light_pipeline(folder, workers=Workers(2, num_cpus=1))) as pipe:
        found = []
        for step in range(STEPS):
            if step == 4:
                assert until(lambda: workers_of(pipe).counts().ready == 2)
                plan = pipe.plan()
                ray_cluster.remove_node(second)
            found.append((batch(pipe), pipe.get_state()))
        assert found == batches
        assert "2 Ray workers, 2 ready on 2 nodes" in plan
        assert until(lambda: workers_of(pipe).counts().deaths >= 1)
        counts = workers_of(pipe).counts()
        assert (counts.ready, counts.nodes) == (1, 1)


# --- deaths --------------------------------------------------------------------------------------------
MANY, DAMAGED, MADE = 99, 70, 75


def test_a_sample_that_crashes_in_a_call_of_many_tasks_costs_itself_alone(tmp_path, ray_workers):
    """By then an actor has several tasks in one call; the log tells which of them ran."""
    folder = write_files(tmp_path / "all", MANY, {DAMAGED: "SEGV"})

    @jdali.pipeline_def(batch_size=1, num_threads=1, on_error="mask", workers=ray_workers)
    def define():
        encoded, _ = fn.readers.file(file_root=folder, file_filters="*.number", name="reader")
        return fn.python_function(encoded, function=broken_codec())

    with closing(define()) as pipe:
        numbers = [pipe.run()[0].as_array()[0] for _ in range(MADE)]
        assert workers_of(pipe).in_flight > 17
        deaths, errors = workers_of(pipe).counts().deaths, pipe.errors
    assert [n for i, n in enumerate(numbers) if i != DAMAGED] == [n for n in range(MADE) if n != DAMAGED]
    assert [Path(error.path).name for error in errors] == [f"{DAMAGED}.number"]
    assert deaths == 2  # the call, and the search; the next epoch has not come to it


# --- memory -------------------------------------------------------------------------------------------
def shared_files(pid):
    """Files without a name, in memory, that a process has mapped: by inode, with their sizes."""
    found = {}
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, _, _, _, inode, *path = line.split(maxsplit=5)
        if path and path[0].startswith("/dev/shm/") and path[0].endswith("(deleted)"):
            start, end = (int(address, 16) for address in addresses.split("-"))
            found[inode] = end - start
    return found


@pytest.mark.exhaustive  # workers/test_node_memory.py has it of processes
def test_names_are_in_the_memory_of_a_node_once_also_when_an_actor_dies(tmp_path, ray_workers):
    path = tmp_path / "picture"
    path.write_bytes(b"1")
    names = [str(path)] * 50_000

    @jdali.pipeline_def(batch_size=2, num_threads=1, workers=ray_workers)
    def define():
        _, label = fn.readers.file(files=names)
        return fn.python_function(label, function=lambda _: np.int32(os.getpid()))

    with closing(define()) as pipe:

        def two_others(gone):
            found = set()

            def both():
                found.update(set(pipe.run()[0].as_array().tolist()) - gone)
                return len(found) == 2

            assert until(both)
            return found

        def names_of(pids):
            """Memory that all of them have."""
            files = [shared_files(pid) for pid in pids]
            shared = set.intersection(*map(set, files))
            assert sum(files[0][inode] for inode in shared) >= sum(map(len, names))
            # Beside these, each has slabs for its results, which are small.
            assert all(sum(own[inode] for inode in own if inode not in shared) < 1 << 20 for own in files)
            return shared

        pids, dead = two_others(set()), set()
        shared = names_of(pids)
        for actor in pids_of(pipe)[:1]:  # the one that wrote them
            os.kill(actor, signal.SIGKILL)
            assert until(
                lambda pids=pids: not all(map(is_alive, pids))
            )  # the process of the actor ends as well
            dead |= {pid for pid in pids if not is_alive(pid)}
            pids = two_others(dead)
            assert names_of(pids) == shared


def test_results_stay_within_the_bytes_that_were_given(ray_workers):
    """By number alone, five would be under way."""
    size, most = 4 << 20, 12 << 20

    @jdali.pipeline_def(batch_size=1, num_threads=1, max_prefetch_bytes=most, workers=ray_workers)
    def define():
        number = fn.external_source(source=lambda info: np.int64(info.idx_in_epoch), batch=False)
        return fn.python_function(number, function=lambda x: np.full(size, x, np.uint8))

    with closing(define()) as pipe:
        for i in range(4):
            (output,) = pipe.run()
            assert np.asarray(output[0])[-1] == i
            del output
        assert until(lambda: workers_of(pipe).counts().leased >= 2 * size)
        assert not until(lambda: workers_of(pipe).counts().leased > most + size, 0.3)


# --- what is said ---------------------------------------------------------------------------------
def test_plan_and_report(folder, ray_workers):
    names = ["picture", "label", "uniform", "number"]
    pipe = light_pipeline(folder, workers=one_of(ray_workers))
    with jdali.iterator.DataIterator(pipe, names, ragged=("picture",), reader_name="pictures") as it:
        for _ in it:
            pass
        report, plan = it.report(), pipe.plan()
    assert "1 Ray worker, " in plan
    assert "in workers: readers.file" in plan
    assert report.workers == 1
    assert report.worker_bytes > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count must be a number of workers, at least 1, not 0"),
        ({"count": True}, "count must be a number of workers"),
        ({"count": 1, "num_cpus": 0}, "num_cpus must be more than 0, not 0"),
        ({"count": 1, "max_restarts": -2}, "max_restarts must be at least -1, not -2"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Workers(**arguments)


def test_a_cluster_that_is_too_small_is_warned_of(on_cluster):
    with pytest.warns(UserWarning, match="3 workers of 4 processors each, but the cluster has 2"):
        Workers(3, num_cpus=4).initialize()


def test_threads_of_a_worker_are_its_processors(folder):
    assert jdali.Pipeline(batch_size=1, workers=Workers(2, num_cpus=3)).num_threads == 3
    assert jdali.Pipeline(batch_size=1, workers=Workers(2, num_cpus=3), num_threads=1).num_threads == 1
