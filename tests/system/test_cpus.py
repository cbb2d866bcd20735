"""How many processors a process may use: by affinity, and by quotas written as Linux writes them."""

import math
import os

import pytest

from jdali import Pipeline
from jdali._system import cpus as _cpus


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine of 64 processors; call it with its files, by their names."""
    monkeypatch.setattr(os, "process_cpu_count", lambda: 64, raising=False)
    monkeypatch.setattr(_cpus, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(_cpus, "_OWN", tmp_path / "own")

    def write(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),  # half a processor more is used by a thread more
        ("0::/\n", {"cpu.max": "5000 100000\n"}, 1),
        ("0::/\n", {}, 64),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000"}, 3),  # its parent's counts
        ("0::/a/b\n", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "100000 100000"}, 1),
        (
            "0::/a\n",
            {"c/cpu.max": "100000 100000", "a/cpu.max": "max 100000"},
            64,
        ),  # another group's does not
        ("0::/../outside\n", {"cpu.max": "400000 100000"}, 4),  # told from outside of the container
        (
            "3:cpu,cpuacct:/x\n2:memory:/x\n",
            {"cpu,cpuacct/x/cpu.cfs_quota_us": "150000", "cpu,cpuacct/x/cpu.cfs_period_us": "100000"},
            2,
        ),
        ("3:cpu:/x\n", {"cpu/cpu.cfs_quota_us": "700000", "cpu/cpu.cfs_period_us": "100000"}, 7),
        (
            "3:cpuacct,cpu:/\n0::/\n",
            {"cpu/cpu.cfs_quota_us": "500000", "cpu/cpu.cfs_period_us": "100000"},
            5,
        ),
        ("3:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 64),
    ],
)
def test_quotas_of_control_groups(system, own, files, expected):
    system(own, files)
    assert _cpus.cpu_count() == expected
    assert Pipeline(batch_size=1).num_threads == expected


def test_affinity_and_systems_without_groups(system, monkeypatch, tmp_path):
    monkeypatch.setattr(_cpus, "_OWN", tmp_path / "not there")
    assert _cpus.cpu_count() == 64
    monkeypatch.setattr(os, "process_cpu_count", None, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 6}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert _cpus.cpu_count() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert _cpus.cpu_count() == 64
    assert list(_cpus._quotas()) == [math.inf]


def test_a_number_that_is_given_counts(system):
    system("0::/\n", {"cpu.max": "200000 100000\n"})
    assert Pipeline(batch_size=1, num_threads=7).num_threads == 7
