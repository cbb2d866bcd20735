"""The proxy: workers of PyTorch's loaders hand their samples to one pipeline. No test depends on who is faster."""

import gc
import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
import types
import weakref
from collections import namedtuple

import numpy as np
import pytest

import jdali
from jdali import fn, pipeline_def

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from support.torch_data import Numbers, Pairs, Stream, Views  # noqa: E402
from torch.utils.data import default_collate  # noqa: E402

from jdali.plugin.pytorch.experimental import proxy  # noqa: E402


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=3)
def doubled():
    return fn.external_source(name="x") * 2.0


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def sum_and_difference():
    a, b = fn.external_source(name="a"), fn.external_source(name="b")
    return a + b, b - a


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=3)
def noisy():
    return fn.external_source(name="x") + fn.random.uniform(range=[0.0, 1.0])


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def refusing(limit):
    def check(x):
        if x[0] >= limit:
            raise ArithmeticError(f"{x[0]:g} is too much")
        return x

    return fn.python_function(fn.external_source(name="x"), function=check)


def values(loader):
    return [(x[:, 0].tolist(), numbers.tolist()) for x, numbers in loader]


EXPECTED = [
    ([0.0, 2.0, 4.0, 6.0], [0, 1, 2, 3]),
    ([8.0, 10.0, 12.0, 14.0], [4, 5, 6, 7]),
    ([16.0, 18.0], [8, 9]),
]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("jdali-proxy"):
            thread.join(60)
            assert not thread.is_alive(), thread


# --- loops -----------------------------------------------------------------------------------
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_epochs(workers, deterministic):
    with proxy.DALIServer(doubled(), deterministic=deterministic) as server:
        loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=workers)
        for _ in range(2):
            assert values(loader) == EXPECTED
        assert len(iter(loader)) == 3
        assert not loader.server_started_by_loader


@pytest.mark.slow
def test_spawned_workers():
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(
            server, Numbers(server.proxy), batch_size=4, num_workers=1, multiprocessing_context="spawn"
        )
        assert values(loader) == EXPECTED


def test_workers_that_stay():
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(
            server, Numbers(server.proxy), batch_size=4, num_workers=2, persistent_workers=True
        )
        for epoch in range(4):
            if epoch == 2:  # left early
                assert next(iter(loader))[1].tolist() == [0, 1, 2, 3]
            else:
                assert values(loader) == EXPECTED
        assert not server._requests._made
        del loader


def test_a_stream():
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(server, Stream(server.proxy), batch_size=2, num_workers=2)
        found = sorted(pair for x, n in values(loader) for pair in zip(x, n, strict=True))
    assert found == [(2.0 * i, i) for i in range(10)]


def test_several_inputs_and_outputs():
    with proxy.DALIServer(sum_and_difference()) as server:
        loader = proxy.DataLoader(server, Pairs(server.proxy), batch_size=4, num_workers=2)
        for batch in loader:
            i = batch["number"]
            assert batch["first"].tolist() == [[3.0 * n] for n in i.tolist()]
            assert batch["second"].tolist() == [[float(n)] for n in i.tolist()]
            assert batch["again"][0] is batch["first"]
            assert batch["first"].data_ptr() != batch["second"].data_ptr()


def test_two_views_of_a_sample():
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(server, Views(server.proxy), batch_size=2, num_workers=1)
        found = [(a.ravel().tolist(), b.ravel().tolist()) for a, b in loader]
    assert found == [([0, 2], [20, 22]), ([4, 6], [24, 26])]


def test_two_loaders_of_one_server():
    with proxy.DALIServer(doubled()) as server:
        loaders = [
            proxy.DataLoader(server, Numbers(server.proxy, size), batch_size=4, num_workers=1)
            for size in (10, 6)
        ]
        first, second = (iter(loader) for loader in loaders)
        assert next(first)[1].tolist() == next(second)[1].tolist() == [0, 1, 2, 3]
        assert next(second)[0][:, 0].tolist() == [8.0, 10.0]
        assert next(second, None) is None
        del second, loaders  # its end takes nothing from the other
        assert [x[:, 0].tolist() for x, _ in first] == [x for x, _ in EXPECTED[1:]]


def test_several_copies_of_a_proxy():
    with proxy.DALIServer(doubled()) as server:
        one, other = server.proxy, pickle.loads(pickle.dumps(server.proxy))
        refs = [(one(np.float32([i])), other(np.float32([10 + i]))) for i in range(3)]
        a, b = server.produce_data(default_collate(refs))
        with pytest.raises(RuntimeError, match="should belong to the same batch"):
            default_collate([one(np.float32([1])), other(np.float32([1]))])
    assert a.ravel().tolist() == [0, 2, 4]
    assert b.ravel().tolist() == [20, 22, 24]


def test_a_loader_starts_and_stops_the_server():
    server = proxy.DALIServer(doubled())
    loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=1)
    for _ in range(2):
        assert server._thread is None
        assert values(loader) == EXPECTED
        assert loader.server_started_by_loader
        server.stop_thread()
    assert values(loader) == EXPECTED
    del loader
    assert not server._is_thread_running()
    with server:
        assert server._is_thread_running()


@pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_pytorchs_own_loader():
    with proxy.DALIServer(doubled()) as server:
        loader = torch.utils.data.DataLoader(Numbers(server.proxy), batch_size=4, num_workers=1)
        batches = list(loader)  # the worker has ended by now
        assert isinstance(batches[0][0], proxy.DALIOutputBatchRef)
        assert "DALIOutputBatchRef(DALIPipelineRunRef(batch_id=(0, 0), scheduled" in repr(batches[0][0])
        assert values(map(server.produce_data, reversed(batches))) == EXPECTED[::-1]


def test_deterministic_servers_give_the_same_random_values():
    def run():
        with proxy.DALIServer(noisy(), deterministic=True) as server:
            loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=2, num_workers=2)
            return values(loader)

    first = run()
    assert len({x - 1.0 * n for xs, ns in first for x, n in zip(xs, ns, strict=True)}) == 10  # all differ
    assert run() == first


def test_what_a_proxy_takes():
    with proxy.DALIServer(doubled()) as server:
        call = server.proxy
        given = [np.float32([1, 2]), torch.tensor([3.0, 4.0]), memoryview(np.float32([5, 6])), [7.0, 8.0]]
        given[3] = np.asarray(given[3], np.float32)[::-1]  # not in one piece
        result = server.produce_data(default_collate([call(v) for v in given]))
        assert result.tolist() == [[2, 4], [6, 8], [10, 12], [16, 14]]
        assert result.dtype == torch.float32
        with pytest.raises(TypeError, match="str"):
            call("text")
    with proxy.DALIServer(doubled()) as server:  # another one: the number of axes must not change
        empty = server.produce_data(default_collate([server.proxy(x=np.zeros((0, 2), np.float32))]))
        assert empty.shape == (1, 0, 2)


def test_inputs_may_be_written_to_once_they_are_collated():
    gate = threading.Event()

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def waiting():
        return fn.python_function(
            fn.external_source(name="x", no_copy=True), function=lambda x: gate.wait(60) and x
        )

    with proxy.DALIServer(waiting()) as server:
        buffer = np.float32([1])
        ref = default_collate([server.proxy(buffer)])
        buffer[:] = 9
        gate.set()
        assert server.produce_data(ref).tolist() == [[1.0]]


# --- produce_data ----------------------------------------------------------------------------
def test_everything_is_gone_through():
    Named = namedtuple("Named", "x other")
    with proxy.DALIServer(doubled()) as server:
        ref = default_collate([server.proxy(np.float32([i])) for i in range(2)])
        inner = types.SimpleNamespace(ref=ref, shape=torch.Size([1, 2]))
        whole = [{"named": Named(ref, "text"), "list": [1, ref]}, (ref, None), inner]
        inner.whole = whole  # a circle
        untouched = (1, [2])
        result = server.produce_data([whole, untouched])[0]
        tensor = result[1][0]
        assert tensor.tolist() == [[0.0], [2.0]]
        assert result is whole
        assert all(
            found is tensor for found in (whole[0]["named"].x, whole[0]["list"][1], whole[1][0], inner.ref)
        )
        assert isinstance(whole[0]["named"], Named)
        assert inner.shape == (1, 2)
        assert server.produce_data(untouched) is untouched
        assert server.produce_data(ref) is tensor  # as often as one likes


def test_samples_left_out_and_in_another_order():
    with proxy.DALIServer(sum_and_difference()) as server:
        call = server.proxy
        rows = [call(a=np.float32([i]), b=np.float32([10])) for i in range(4)]
        batch = server.produce_data(default_collate([rows[3], rows[1]]))
        assert [x.ravel().tolist() for x in batch] == [[13, 11], [7, 9]]
        assert rows[0][0].sample_idx == 0
        assert call(a=np.float32([0]), b=np.float32([0]))[0].sample_idx == 0  # another batch


def test_misuse():
    with pytest.raises(TypeError, match="expected a pipeline, got str"):
        proxy.DALIServer("pipeline")
    with pytest.raises(RuntimeError, match="has no inputs"):
        proxy.DALIServer(pipeline_def(batch_size=1, num_threads=1, device_id=None)(lambda: 1)())
    server, other = proxy.DALIServer(sum_and_difference()), proxy.DALIServer(doubled())
    call, x = server.proxy, np.float32([1])
    assert [*inspect.signature(call).parameters] == ["a", "b"]
    for args, kwargs in [((x, x), {}), ((), {"a": x}), ((), {"a": x, "b": x, "c": x})]:
        with pytest.raises(ValueError, match=r"Expected signature is: \(\*, a, b\)"):
            call(*args, **kwargs)
    first, second = call(a=x, b=x)
    with pytest.raises(RuntimeError, match="should belong to the same batch"):
        default_collate([first, second])
    ref = default_collate([first])
    with pytest.raises(RuntimeError, match="should belong to the same batch"):
        default_collate([call(a=x, b=x)[0], first])
    with pytest.raises(RuntimeError, match="must be collated by the thread that gave them"):
        default_collate([second])
    with pytest.raises(RuntimeError, match="it is not running"):
        server.produce_data(ref)
    with other, pytest.raises(RuntimeError, match="sent to another server"):
        other.produce_data(ref)
    with server, pytest.raises(RuntimeError, match="was not collated to a batch"):
        server.produce_data([second])


def test_batches_that_were_not_taken_are_thrown_away():
    server = proxy.DALIServer(doubled())
    with server:
        refs = [default_collate([server.proxy(np.float32([i]))]) for i in range(3)]
        assert server.produce_data(refs[0]).tolist() == [[0.0]]
    with server:
        with pytest.raises(RuntimeError, match="thrown away when the server was stopped"):
            server.produce_data(refs[1])
        fresh = default_collate([server.proxy(np.float32([7]))])
        assert server.produce_data(fresh).tolist() == [[14.0]]


# --- what fails ------------------------------------------------------------------------------
@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_of_the_data_set(workers):
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(server, Numbers(server.proxy, 8, bad=5), batch_size=2, num_workers=workers)
        batches = iter(loader)
        assert [next(batches)[1].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        with pytest.raises(KeyError, match="sample 5 is not there") as caught:
            next(batches)
        where = str(caught.value) if workers else str(caught.traceback[-1].path)
        assert "torch_data.py" in where
        if workers:  # PyTorch's loop goes on with the next batch
            assert next(batches)[0][:, 0].tolist() == [12.0, 14.0]
            assert next(batches, None) is None
        assert values(proxy.DataLoader(server, Numbers(server.proxy), batch_size=4)) == EXPECTED


@pytest.mark.parametrize("deterministic", [False, True])
def test_an_error_of_the_pipeline(deterministic):
    with proxy.DALIServer(refusing(5), deterministic) as server:
        batches = iter(proxy.DataLoader(server, Numbers(server.proxy, 8), batch_size=2, num_workers=1))
        assert [next(batches)[1].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        with pytest.raises(jdali.OperatorError, match="5 is too much") as caught:
            next(batches)
        assert isinstance(caught.value, ArithmeticError)
        assert "test_pytorch_proxy.py" in str(caught.value)  # the line of the definition
        with pytest.raises(jdali.OperatorError, match="6 is too much"):
            next(batches)
        assert next(batches, None) is None
        assert values(proxy.DataLoader(server, Numbers(server.proxy, 4), batch_size=4)) == [
            ([0.0, 1.0, 2.0, 3.0], [0, 1, 2, 3])
        ]


def test_a_batch_that_cannot_be_fed_takes_no_other_with_it():
    with proxy.DALIServer(sum_and_difference()) as server:

        def batch(size, b):
            call = server.proxy
            return default_collate([call(a=np.float32([i]), b=b) for i in range(size)])

        with pytest.raises(jdali.OperatorError, match="Expected batch_size <= 4, actual: 5"):
            server.produce_data(batch(5, np.float32([1])))
        call = server.proxy
        mixed = [call(a=np.float32([1]), b=np.zeros((1,) * (1 + i), np.float32)) for i in range(2)]
        with pytest.raises(jdali.OperatorError, match="a batch has one type and number of axes"):
            server.produce_data(default_collate(mixed))
        good = server.produce_data(batch(2, np.float32([10])))
        assert [x.ravel().tolist() for x in good] == [[10, 11], [10, 9]]


def test_samples_of_several_shapes():
    with proxy.DALIServer(doubled()) as server:
        call = server.proxy
        ref = default_collate([call(np.zeros(n, np.float32)) for n in (1, 2)])
        with pytest.raises(ValueError, match=r"output 0 differ in shape \(\(1,\), \(2,\)"):
            server.produce_data(ref)


def test_a_source_at_its_end_is_no_end_of_the_loop():
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def ending():
        return fn.external_source(name="x"), fn.external_source([[np.float32([1])]])

    with proxy.DALIServer(ending()) as server:
        batches = iter(proxy.DataLoader(server, Firsts(server.proxy)))
        assert next(batches).tolist() == [[0.0]]
        with pytest.raises(RuntimeError, match="a source of the pipeline is at its end"):
            next(batches)


class Firsts(torch.utils.data.Dataset):  # type: ignore[name-defined]
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return self.transform(np.float32([i]))[0]


def test_a_worker_that_is_killed():
    with proxy.DALIServer(doubled()) as server:
        data = Numbers(server.proxy, bad=3, how="kill")
        with pytest.raises(RuntimeError, match="exited unexpectedly|killed by signal"):
            list(proxy.DataLoader(server, data, batch_size=2, num_workers=1))
        assert (
            values(proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=1)) == EXPECTED
        )


# --- ends ------------------------------------------------------------------------------------
def test_loops_left_early_leave_nothing_behind():
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=1, num_workers=2)
        for _ in range(2):
            for x, _ in loader:
                assert x.shape == (1, 3)
                break
        # What the workers had sent is thrown away, and so would be what comes later.
        assert values(proxy.DataLoader(server, Numbers(server.proxy), batch_size=4)) == EXPECTED
        assert not server._requests._made
        assert not server._requests._waiting


def test_stopped_in_the_middle():
    server = proxy.DALIServer(doubled())
    loader = proxy.DataLoader(server, Numbers(server.proxy, 1000), batch_size=1, num_workers=2)
    with server:
        batches = iter(loader)
        assert next(batches)[1].tolist() == [0]
    del batches, loader
    assert server._thread is None


def test_a_server_that_is_dropped_ends():
    server = proxy.DALIServer(doubled())
    call = server.proxy
    server.start_thread()
    gone = weakref.ref(server)
    del server
    gc.collect()
    assert gone() is None
    with pytest.raises(RuntimeError, match="the DALIServer that it belongs to is gone"):
        default_collate([call(np.float32([1]))])


@pytest.mark.slow
@pytest.mark.parametrize("end", ["next(it); del server", "sys.exit(0)"])
def test_the_interpreter_exits_in_the_middle_of_a_loop(end):
    script = f"""
        import sys
        import numpy as np
        from jdali import fn, pipeline_def
        from jdali.plugin.pytorch.experimental import proxy
        from support.torch_data import Numbers

        @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        def pipe():
            return fn.external_source(name="x") + 1.0

        server = proxy.DALIServer(pipe())
        it = iter(proxy.DataLoader(server, Numbers(server.proxy, 1000), batch_size=2, num_workers=1))
        assert next(it)[0][1, 0] == 2.0
        print("so far", flush=True)
        {end}
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)], capture_output=True, text=True,
        timeout=240, cwd="tests", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "so far\n", "")
