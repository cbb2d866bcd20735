"""Readers show on a terminal how far the first look through their files is."""

import numpy as np
import pytest
from support import records, videos
from support.bars import on_a_terminal
from support.readers import everything
from support.settled import settle_at_once


def archive(folder):
    records.tar(folder / "data.tar", [(f"{i}.bin", b"x" * 600) for i in range(5)])
    size = (folder / "data.tar").stat().st_size
    return "webdataset", {"paths": str(folder / "data.tar"), "ext": ["bin"]}, ("B", size)


def database(folder):
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with (
        lmdb.open(str(folder / "db"), map_size=1 << 24, lock=False) as made,
        made.begin(write=True) as change,
    ):
        for i in range(300):  # more than one page
            change.put(b"%04d" % i, records.field(4, b"x" * 50) + records.field(5, i) + records.field(7, 1))
    return "caffe", {"path": str(folder / "db")}, (" records", 300)


def clips(folder):
    pytest.importorskip("av", reason="PyAV is not installed")
    paths = [folder / f"{i}.mp4" for i in range(3)]
    for path in paths:
        path.write_bytes(videos.encode(videos.pictures(4)))
    return "video", {"filenames": [str(path) for path in paths], "sequence_length": 2}, (" files", 3)


@pytest.mark.parametrize("make", [archive, database, clips])
def test_a_bar_on_first_use_only(tmp_path, monkeypatch, make):
    settle_at_once(monkeypatch)
    reader, options, (unit, total) = make(tmp_path)
    bars = on_a_terminal(monkeypatch)
    first = everything(reader, **options)
    bar = next(bar for bar in bars if bar.options["unit"] == unit)
    assert bar.options["total"] == total
    assert 0 < bar.done <= total
    if unit != "B":
        assert bar.done == total
    if reader != "video":  # that asks the cache for each file, under one bar
        count = len(bars)
        again = everything(reader, **options)
        assert len(bars) == count
        for a, b in zip(first, again, strict=True):
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x, y)
