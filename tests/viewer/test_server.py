"""The viewer's pages as a client gets them: names, bounds, and the end."""

import contextlib
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from support import viewed

from jdali import fn, pipeline_def, types

server = pytest.importorskip("jdali._viewer.server", reason="the extra `view` is not installed")


def opened(view, path):
    """Status and text of a page."""
    try:
        with urllib.request.urlopen(view.url + path, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Outputs in a dict, labels as the reader gives them, and as numbers of other things."""
    folder = viewed.folder(tmp_path_factory.mktemp("named"), broken=False)

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def define():
        data, label = fn.readers.file(file_root=str(folder), name="reader")
        times = fn.external_source(source=lambda info: np.full(64, 1_700_000_000_000_000_000), batch=False)
        return {
            "photo": fn.decoders.image(data), "kind": fn.cast(label, dtype=types.INT64), "next": label + 1, "times": times,
        }  # fmt: skip

    pipe = define()
    view = server.view(pipe)
    yield view
    view.close()
    pipe.close()


def test_outputs_and_labels_have_the_users_names(named):
    status, page = opened(named, "batches/0")
    assert status == 200
    for name in ("photo", "kind", "next", "times"):
        assert f"<figcaption>{name} · " in page
    assert page.count('<div class="jd-number">cats (0)</div>') == 3
    assert page.count('<div class="jd-number">1</div>') == 3  # another number is no label
    status, page = opened(named, "sample/0/0")
    assert status == 200
    assert "output kind of the pipeline" in page
    assert "cats (0)" in page


def test_times_in_nanoseconds_are_shown(named):
    """All of one batch are one float64, and so is the range of their histogram."""
    _, page = opened(named, "batches/0")
    assert page.count("int64 64 · mean 1.7e+18, std 0") == 3


def test_a_value_that_cannot_be_shown_leaves_the_others(named, monkeypatch):
    monkeypatch.setattr("jdali._viewer.batches.figure", lambda *_, **__: 1 / 0)
    status, page = opened(named, "batches/0")
    assert status == 200
    assert page.count("cannot be shown: ZeroDivisionError") == 12


@pytest.mark.parametrize("options", [{}, {"pad_last_batch": True}, {"stick_to_shard": True}], ids=str)
def test_the_last_batch_of_all_is_a_page_like_another(options, tmp_path):
    folder = viewed.folder(tmp_path, broken=False)

    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def define():
        return fn.readers.file(file_root=str(folder), num_shards=2, **options)[1]

    pipe = define()
    view = server.view(pipe)
    status, page = opened(view, "batches/2147483647")
    assert status == 200
    assert "sample 3" in page
    assert opened(view, "go?epoch=2147483647")[0] == 200
    status, page = opened(view, "batches/99999999999999")
    assert status == 404
    assert "its epoch has more than 32 bits" in page
    view.close()
    pipe.close()


def test_a_reader_beside_a_list_that_ends(tmp_path):
    folder = viewed.folder(tmp_path, broken=False)  # nine samples

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def define():
        return fn.readers.file(file_root=str(folder))[1], fn.external_source([np.zeros(3)] * 7)

    pipe = define()
    view = server.view(pipe)
    assert "Batch 6" in opened(view, "go?epoch=2")[1]
    assert (
        "it has 7 items, item 8 does not exist"
        in opened(view, "go?epoch=3")[1] + opened(view, "batches/8")[1]
    )
    status, page = opened(view, "find?text=picture")
    assert (status, "picture_0.png" in page, "epochs/" in page) == (200, True, False)  # it has no such pages
    view.close()
    pipe.close()


def test_a_pipeline_in_a_variable_is_not_measured():
    """Measuring takes batches of a pipeline, and closes it."""

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        return fn.external_source(source=lambda info: np.float32([info.idx_in_epoch]), batch=False)

    pipe = define()
    view = server.view(pipe, make=lambda: pipe)
    request = urllib.request.Request(view.url + "time", b"", method="POST")
    urllib.request.urlopen(request, timeout=60).close()
    while "name a function that makes one" not in (now := opened(view, "time/now")[1]):
        assert "batches are measured" in now
    assert [float(sample[0]) for sample in map(np.asarray, pipe.run()[0])] == [0.0, 1.0]
    view.close()
    pipe.close()


@pytest.mark.parametrize("kind", [OverflowError, IndexError, ValueError, KeyError])
def test_an_error_of_the_users_code_is_said_as_it_is(kind):
    def fails(info):
        raise kind("of mine")

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        return fn.external_source(source=fails, batch=False)

    pipe = define()
    view = server.view(pipe)
    for path in ("batches/0", "sample/0/0"):
        status, page = opened(view, path)
        assert (status, "of mine" in page) == (500, True)
    view.close()
    pipe.close()


def test_close_waits_for_no_page():
    """Neither for one that is in the user's code, nor for those that wait for it."""
    entered, go_on = threading.Event(), threading.Event()

    def stuck(info):
        entered.set()
        assert go_on.wait(120)
        return np.zeros(1)

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        return fn.external_source(source=stuck, batch=False)

    pipe = define()
    view = server.view(pipe)

    def asked(path):
        with contextlib.suppress(OSError):  # the server has gone
            opened(view, path)

    pages = [threading.Thread(target=asked, args=(path,)) for path in ("batches/0", "sample/0/0", "graph")]
    for page in pages:
        page.start()
    assert entered.wait(60)
    opened(view, "data")
    closed = threading.Thread(target=view.close)
    closed.start()
    closed.join(60)
    is_closed = not closed.is_alive()
    go_on.set()
    assert is_closed
    for page in pages:
        page.join(60)
    pipe.close()


PROGRAM = """
import threading, urllib.request
from jdali import fn, pipeline_def

entered = threading.Event()

def stuck(info):
    entered.set()
    threading.Event().wait()

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def define():
    return fn.external_source(source=stuck, batch=False)

view = define().view()

def asked():
    try:
        urllib.request.urlopen(view.url).close()
    except OSError:
        pass

threading.Thread(target=asked, daemon=True).start()
entered.wait()
"""


def test_a_program_ends_with_a_page_under_way():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], timeout=120, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
