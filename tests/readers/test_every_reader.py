"""What holds for each reader: order, shards, threads, state in a fresh process, and remote storage."""

import contextlib
import dataclasses
import errno
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support import oracle, servers
from support.every_reader import COUNT, MAKERS, OWN, digest, digests, made, pipeline
from support.readers import check_epochs_and_state, opened
from support.servers import FAULTS, Server, now_and_then, tree
from support.some import some

from jdali import OperatorError, SampleError, storage
from jdali._operators.record import REGISTRY

# Of whole epochs and a part of one.
BATCHES = 2 * COUNT // 3 + 1
# A server that tells a wrong size where it is asked for it is believed.
PASSING = tuple(fault for fault in FAULTS if fault not in ("slow", "long length"))


# Readers of what others read: test_bucket.py, test_mix.py, test_pack.py.
OF_OTHERS = {"readers.bucket", "readers.mix", "readers.pack"}


def test_every_reader_is_here():
    readers = {name for name in REGISTRY if "readers." in name}
    assert {name for name, _ in MAKERS.values()} | OF_OTHERS == readers


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("every")


@pytest.fixture(scope="module")
def data(root):
    """Makes the data set of a case, once; the name of the reader and its arguments."""
    known = {}

    def get(case):
        if case not in known:
            known[case] = made(case, root / case.replace(" ", "_"))
        return known[case]

    return get


@pytest.fixture(scope="module")
def local(root, data):
    """Name of the reader, its arguments for the data set where it was made, and digests of some samples in order."""
    known = {}

    def get(case):
        if case not in known:
            reader, args = data(case)
            given = args(str(root / case.replace(" ", "_")))
            with pipeline(reader, given) as pipe:
                known[case] = reader, given, digests(pipe, BATCHES)
        return known[case]

    return get


# --- errors of the machine ------------------------------------------------------------------
LACKS = [OSError(number, os.strerror(number)) for number in (errno.EMFILE, errno.ENOMEM, errno.ESTALE)]


@pytest.mark.parametrize("error", [*LACKS, MemoryError()], ids=repr)
@pytest.mark.parametrize("case", MAKERS)
def test_what_the_machine_lacks_is_no_bad_sample(local, case, error, monkeypatch):
    """Whatever the calls of the system are that fail, the samples are read when the machine has it again."""
    name, args, _ = local(case)
    with contextlib.closing(opened(name, **args)) as reader, monkeypatch.context() as patched:

        def fail(*_, **__):
            raise error

        for call in ("open", "read", "readv", "pread", "preadv"):
            patched.setattr(os, call, fail)
        for index in range(reader.size):
            with pytest.raises((OSError, MemoryError)):
                reader.load(index)
        try:
            failures = reader.load_many(np.arange(reader.size)).failures
        except (OSError, MemoryError) as raised:
            failures = dict.fromkeys(range(reader.size), raised)
        assert len(failures) == reader.size
        assert not any(isinstance(failure, SampleError) for failure in failures.values())
        patched.undo()
        assert not reader.load_many(np.arange(reader.size)).failures


def test_what_the_machine_lacks_comes_to_the_user(local, monkeypatch):
    name, args, expected = local("mxnet")
    options = {"exec_pipelined": False, "exec_async": False, "on_error": "skip"}
    with pipeline(name, args, **options) as pipe:
        assert digests(pipe, 1) == expected[:3]
        with monkeypatch.context() as patched:
            for call in ("open", "preadv", "pread"):
                patched.setattr(os, call, lambda *_, **__: (_ for _ in ()).throw(LACKS[0]))
            with pytest.raises(OperatorError, match=r"readers.mxnet: .*Too many open files") as raised:
                pipe.run()
            assert raised.value.errno == errno.EMFILE
        assert not pipe.errors
        assert digests(pipe, 1) == expected[6:9]


# --- names ----------------------------------------------------------------------------------
@pytest.mark.parametrize("case", MAKERS)
def test_relative_names_stay_in_another_working_folder(local, data, root, case, tmp_path, monkeypatch):
    """Of a folder with files of the same names nothing is read."""
    name, _, expected = local(case)
    folder = root / case.replace(" ", "_")
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    for path in other.rglob("*"):
        if path.is_file():
            path.write_bytes(b"wrong" * 100)
    monkeypatch.chdir(folder)
    args = data(case)[1](".")
    with pipeline(name, args, exec_pipelined=False, exec_async=False) as pipe:
        pipe.build()
        monkeypatch.chdir(other)
        assert digests(pipe, BATCHES) == expected
    monkeypatch.chdir(folder)
    with contextlib.closing(opened(name, **args)) as reader:
        loaded = [digest(reader.load(i)) for i in range(COUNT)]
    with contextlib.closing(opened(name, **args)) as reader:
        source = reader.source(0)
        assert not os.path.isabs(source)
        monkeypatch.chdir(other)
        assert reader.source(0) == source
        assert [digest(reader.load(i)) for i in range(COUNT)] == loaded


# --- order and state ------------------------------------------------------------------------
@pytest.mark.parametrize("case", MAKERS)
def test_every_sample_once_and_on_from_any_state(local, case):
    reader, args, _ = local(case)
    check_epochs_and_state(reader, **args)


@pytest.mark.cases(12)
@pytest.mark.parametrize("case", MAKERS)
def test_batches_and_threads_change_nothing(local, case):
    reader, args, expected = local(case)
    assert len(set(expected)) == COUNT
    assert expected[:COUNT] == expected[COUNT : 2 * COUNT]
    for batch, threads in ((1, 4), (8, 1)):
        with pipeline(reader, args, batch_size=batch, num_threads=threads) as pipe:
            assert digests(pipe, 16 // batch) == expected[:16]
    mixed = [{"random_shuffle": True}]
    mixed += [{"shuffle_after_epoch": True}] * ("shuffle_after_epoch" in REGISTRY[reader].public_args)
    for shuffle in mixed:
        orders = []
        for batch, threads in ((1, 4), (8, 1)):
            with pipeline(reader, args | shuffle, batch_size=batch, num_threads=threads) as pipe:
                orders.append(digests(pipe, 16 // batch))
        assert orders[0] == orders[1]
        assert sorted(orders[0][:COUNT]) == sorted(orders[0][COUNT:]) == sorted(expected[:COUNT])


@pytest.mark.cases(12)
@pytest.mark.oracle
@pytest.mark.parametrize(
    "case", [c for c in MAKERS if c not in ("video", "video_resize", "fits", *OWN)]
)  # on a CPU DALI has no others
def test_shards_as_dali(local, case, root, monkeypatch):
    dali = oracle.dali()
    reader, args, _ = local(case)
    monkeypatch.chdir(root / case.replace(" ", "_"))  # DALI takes names in some lists from there
    for more in (
        {"num_shards": 3, "shard_id": 1},
        {"num_shards": 3, "shard_id": 2, "pad_last_batch": True},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True},
    ):
        theirs = dali.Pipeline(batch_size=3, num_threads=1, device_id=None)
        given = dict(args)
        if "features" in given:
            given["features"] = dali_features(given["features"])
        with theirs:
            outputs = oracle.function(reader)(name="r", **given, **more)
            outputs = list(outputs.values()) if isinstance(outputs, dict) else outputs
            theirs.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
        theirs.build()
        with pipeline(reader, args | more) as ours:
            facts = ours.reader_meta("r")
            facts.pop("classes", None)  # which DALI has not
            assert facts == theirs.reader_meta("r")
            for _ in range(6):
                expected = [
                    digest(sample)
                    for sample in zip(
                        *[[np.array(o.at(i)) for i in range(3)] for o in theirs.run()], strict=True
                    )
                ]
                assert digests(ours, 1) == expected


@pytest.mark.oracle
@pytest.mark.parametrize(
    "case", ["file", "coco", "tfrecord", "mxnet", "caffe", "caffe2", "webdataset", "nemo_asr"]
)
def test_meta_as_dali(data, case, root, monkeypatch):
    """`reader_meta` of shards that divide the data set and that do not; the data set once, and twice."""
    dali = oracle.dali()
    reader, arguments = data(case)
    args = arguments(str(root / case))
    monkeypatch.chdir(root / case)
    twice = {key: [*paths, *paths] for key in ("path", "paths", "index_path", "index_paths")
             if isinstance(paths := args.get(key), list) and case != "mxnet"}  # fmt: skip
    for given, shards, pad, stick in itertools.product(
        [args, args | twice] if twice else [args], (1, 2, 3, 7), (False, True), (False, True)
    ):
        more = {"shard_id": shards - 1, "num_shards": shards, "pad_last_batch": pad, "stick_to_shard": stick}
        theirs = dali.Pipeline(batch_size=3, num_threads=1, device_id=None)
        features = {"features": dali_features(given["features"])} if "features" in given else {}
        with theirs:
            outputs = oracle.function(reader)(name="r", **given | features, **more)
            outputs = list(outputs.values()) if isinstance(outputs, dict) else outputs
            theirs.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
        theirs.build()
        ours = opened(reader, **given, **more)
        facts = ours.meta()
        facts.pop("classes", None)  # which DALI has not
        assert facts == theirs.reader_meta("r"), more
        ours.close()


def dali_features(features):
    from nvidia.dali import tfrecord

    kinds = (tfrecord.int64, tfrecord.string, tfrecord.float32)
    return {
        name: tfrecord.FixedLenFeature(list(f.shape), kinds[f.dtype], f.default_value)
        for name, f in features.items()
    }


@pytest.fixture(scope="module")
def afresh(local, request):
    """For each case that runs what follows some states of a pipeline that shuffles, here and in a fresh process."""
    cases, expected = {}, {}
    for case in [
        item.callspec.params["case"] for item in request.session.items if "afresh" in item.fixturenames
    ]:
        try:
            reader, args, _ = local(case)
        except pytest.skip.Exception:
            continue
        args = args | {"random_shuffle": True, "num_shards": 2, "shard_id": 1}
        states, given = [], []
        with pipeline(reader, args) as pipe:
            for _ in range(4):
                states.append(json.loads(json.dumps(pipe.get_state())))
                given.append(digests(pipe, 1))
            given += [digests(pipe, 1), digests(pipe, 1)]
        cases[case] = reader, args, states
        expected[case] = [given[i] + given[i + 1] for i in range(4)]
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "support.every_reader"], input=pickle.dumps((cases, 2)), capture_output=True,
        timeout=200, check=False, cwd=tests,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return expected, json.loads(done.stdout)


@pytest.mark.cases(12)
@pytest.mark.parametrize("case", MAKERS)
def test_a_state_goes_on_in_a_fresh_process(afresh, local, case):
    local(case)  # skips what cannot be made
    expected, found = afresh
    assert found[case] == expected[case]


# --- remote storage -------------------------------------------------------------------------
@pytest.fixture
def _small_and_quick():
    before = storage.configure(
        first_wait=0.001, longest_wait=0.1, time_limit=60, retries=6, block_size=4096, bytes_ahead=1 << 16
    )
    yield
    storage.configure(**dataclasses.asdict(before))


def read_from(at, data, case):
    reader, args = data(case)
    with pipeline(reader, args(f"{at}/{case.replace(' ', '_')}")) as pipe:
        return digests(pipe, BATCHES)


@pytest.mark.cases(12)
@pytest.mark.parametrize("case", MAKERS)
def test_from_memory(root, data, local, case):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    expected = local(case)[2]
    memory = fsspec.filesystem("memory")
    memory.pipe(tree(root, "/every"))
    try:
        assert read_from("memory://every", data, case) == expected
    finally:
        memory.rm("/every", recursive=True)


@pytest.mark.cases(9)
@pytest.mark.usefixtures("_small_and_quick")
@pytest.mark.parametrize("case", MAKERS)
def test_over_http_with_faults(root, data, local, case):
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    expected = local(case)[2]
    with Server(tree(root), fault=now_and_then(0.2, seed=3, faults=PASSING)) as server:
        assert read_from(server.url, data, case) == expected


@pytest.mark.usefixtures("_small_and_quick")
@pytest.mark.parametrize("case", ["experimental video", "numpy window", "webdataset"])
def test_close_does_not_wait_for_the_network(root, data, case):
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    reader, args = data(case)
    begun, stuck = threading.Event(), threading.Event()

    def fault(method, path):
        if begun.is_set() and method == "GET":
            stuck.set()
            return "slow"
        return None

    with Server(tree(root), fault=fault, slow=60) as server:
        pipe = pipeline(reader, args(f"{server.url}/{case.replace(' ', '_')}"))
        pipe.build()
        pipe.reader_meta("r")
        begun.set()

        def run():
            with contextlib.suppress(RuntimeError):  # it was closed
                pipe.run()

        thread = threading.Thread(target=run)
        thread.start()
        assert stuck.wait(20)
        start = time.monotonic()
        pipe.close()
        thread.join(30)
        assert not thread.is_alive()
        assert time.monotonic() - start < 30  # and not the time limit


@pytest.mark.cases(9)
@pytest.mark.parametrize("case", MAKERS)
def test_through_a_cache_on_the_local_disk(root, data, local, case, tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    expected = local(case)[2]
    monkeypatch.setitem(fsspec.config.conf, "simplecache", {"cache_storage": str(tmp_path / "kept")})
    with Server(tree(root)) as server:
        assert read_from(f"simplecache::{server.url}", data, case) == expected
        assert read_from(f"simplecache::{server.url}", data, case) == expected
        whole = [path for method, path, part in server.requests if method == "GET" and path[-1] != "/"]
        assert len(whole) == len(set(whole))  # each file came once


@pytest.fixture(scope="module")
def bucket(root, local):
    """All data sets in a bucket, behind a server that may inject faults."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto", reason="moto is not installed")
    for case in MAKERS:
        try:
            local(case)
        except pytest.skip.Exception:
            continue
    with servers.bucket(tree(root, "bucket/every")) as server:
        yield server


# S3 is one more file system to the readers; one of each way to read: whole files, records, windows, by a library, videos.
OF_S3 = ("file", "mxnet", "numpy window", "parquet", "zarr", "hdf5", "webdataset", "experimental video")


@pytest.mark.exhaustive  # test_over_http_with_faults has each reader, test_remote.py has S3
@pytest.mark.usefixtures("_small_and_quick")
@some("case", MAKERS, lambda case: [case if case in OF_S3 else "another"])
def test_from_s3_with_faults(bucket, data, local, case):
    expected = local(case)[2]
    bucket.fault = now_and_then(0.2, seed=5, faults=PASSING)
    try:
        assert read_from("s3://bucket/every", data, case) == expected
    finally:
        bucket.fault = lambda method, path: None
