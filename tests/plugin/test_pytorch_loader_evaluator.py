"""What the evaluator says of a loader whose batches take as long as the test says."""

import itertools
import json
import time

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
from jdali.plugin.pytorch.loader_evaluator import LoaderEvaluator


class Loader:
    """Batches 0, 1, ... each of which takes so many seconds of the clock that the test holds."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.dataset, self.begun = clock, seconds, range(100), 0

    def __len__(self):
        return len(self.seconds)

    def __iter__(self):
        self.begun += 1
        for number, seconds in enumerate(self.seconds):
            self.clock[0] += seconds
            yield number


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def test_log(clock):
    loader = Loader(clock, [1.0, 0.5, 3.0])
    evaluator = LoaderEvaluator(loader)
    assert (len(evaluator), evaluator.get_metrics(), evaluator.mode) == (3, {}, "log")
    for batch in evaluator:
        clock[0] += 10 + batch  # the step of the training
    metrics = evaluator.get_metrics()
    assert metrics == {
        "mode": "log", "total_batches": 3, "total_time": 37.5, "avg_batch_time": 1.5, "min_batch_time": 0.5,
        "max_batch_time": 3.0, "batch_times": [1.0, 0.5, 3.0], "cached_batches": 0, "cache_ready": False,
    }  # fmt: skip
    assert (evaluator.start_time, evaluator.end_time) == (1000.0, 1037.5)
    metrics["batch_times"].clear()
    assert evaluator.batch_times == [1.0, 0.5, 3.0]


def test_a_loop_left_early_has_no_end(clock):
    evaluator = LoaderEvaluator(Loader(clock, [1.0, 0.5, 3.0]))
    assert list(evaluator) == [0, 1, 2]
    assert list(itertools.islice(evaluator, 2)) == [0, 1]
    assert evaluator.end_time is None
    assert evaluator.get_metrics()["total_time"] == 0
    assert evaluator.get_metrics()["batch_times"] == [1.0, 0.5]


@pytest.mark.parametrize(
    ("kept", "expected"), [(2, [0, 1, 0, 1, 0]), (5, [0, 1, 2, 3, 4]), (20, [0, 1, 2, 3, 4])]
)
def test_replay(clock, kept, expected):
    loader = Loader(clock, [1.0] * 5)
    evaluator = LoaderEvaluator(loader, "replay", kept)
    assert clock[0] == 1000.0 + min(kept, 5)  # no batch was read that is not kept
    for _ in range(2):
        assert list(evaluator) == expected
    assert loader.begun == 1
    metrics = evaluator.get_metrics()
    assert (metrics["mode"], metrics["cached_batches"], metrics["cache_ready"]) == (
        "replay",
        min(kept, 5),
        True,
    )
    assert (metrics["total_time"], metrics["max_batch_time"]) == (0.0, 0.0)


@pytest.mark.parametrize(("seconds", "kept"), [([], 20), ([1.0], 0)])
def test_nothing_to_replay(clock, seconds, kept):
    evaluator = LoaderEvaluator(Loader(clock, seconds), mode="replay", num_cached_batches=kept)
    assert not evaluator.cache_ready
    with pytest.raises(RuntimeError, match="No cached batches available"):
        iter(evaluator)


def test_an_error_of_the_loader_comes_through(clock):
    def failing():
        yield 1
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        list(LoaderEvaluator(failing()))


def test_what_is_written(clock, tmp_path, capsys):
    path, other = tmp_path / "metrics.json", tmp_path / "other.json"
    evaluator = LoaderEvaluator(Loader(clock, [1.0, 0.25]), metrics_file=str(path))
    list(evaluator)
    evaluator.save_metrics()
    evaluator.save_metrics(str(other))
    assert json.loads(path.read_text()) == json.loads(other.read_text()) == evaluator.get_metrics()
    evaluator.metrics_file = None
    evaluator.save_metrics()
    evaluator.print_summary()
    assert capsys.readouterr().out.splitlines() == [
        f"Metrics saved to: {path}",
        f"Metrics saved to: {other}",
        "No filename provided for saving metrics",
        "Loader Evaluator Summary:",
        "  Mode: log",
        "  Dataset size: 100",
        "  Number of batches: 2",
        "  Cache size: 0/20",
        "  Cache ready: False",
        "  Total batches processed: 2",
        "  Total time: 1.25s",
        "  Average batch time: 0.6250s",
        "  Min batch time: 0.2500s",
        "  Max batch time: 1.0000s",
    ]
