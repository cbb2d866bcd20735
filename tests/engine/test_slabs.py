"""Host memory of pipelines and of dynamic mode: leased while a batch is looked at, kept within bounds, freed in the end."""

import gc
import re
import weakref

import jax
import numpy as np
import pytest
import simplejpeg
from support.faults import until
from support.poison import poisoned  # noqa: F401  a fixture

import jdali
import jdali.dynamic as jd
from jdali import fn
from jdali._batches.slabs import SMALLEST
from jdali._system.devices import host_device
from jdali.iterator import DataIterator

COUNT = 6
SIZES = [(300 + 8 * i, 400) for i in range(COUNT)]


def encoded(number):
    """A picture of one colour, of a size of its own, and larger than the smallest slab."""
    picture = np.full((*SIZES[number % COUNT], 3), colour(number), np.uint8)
    return np.frombuffer(simplejpeg.encode_jpeg(picture, quality=95, colorsubsampling="444"), np.uint8)


def colour(number):
    return 10 * (number % 20)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{i}.jpg" for i in range(2 * COUNT)]
    for i, path in enumerate(paths):
        path.write_bytes(encoded(i).tobytes())
    return [str(path) for path in paths]


def decoding(files, further=lambda pictures: pictures, **options):
    pipe = jdali.Pipeline(
        **{"batch_size": COUNT, "num_threads": 2, "seed": 1, "exec_async": False, **options}
    )
    with pipe:
        contents, _ = fn.readers.file(files=files, name="Reader")
        pipe.set_outputs(further(fn.decoders.image(contents)))
    return pipe


def usage(pipe):
    gc.collect()
    return pipe.slabs.usage()


def ended(pipe):
    """Returns what is kept once nothing is leased: a thread that has just made a batch may hold some for a moment."""
    assert until(lambda: usage(pipe).leased == 0)
    return usage(pipe)


def check(array, number):
    """JPEG keeps a colour to within its rounding: one in each of three channels, and one more."""
    assert np.abs(np.asarray(array).astype(int) - colour(number)).max() <= 2


HOLDERS = {
    "a batch": lambda output: output,
    "a part of it": lambda output: output.select([1]),
    "a tensor": lambda output: output[1],
    "a view": lambda output: np.asarray(output.at(1))[5:7, ::3],
    "a buffer": lambda output: memoryview(np.asarray(output.at(1))),
    "an array of jax": lambda output: jax.device_put(np.asarray(output.at(1)), host_device()),
    "a view of that": lambda output: np.asarray(jax.device_put(np.asarray(output.at(1)), host_device()))[2:],
    "by dlpack": lambda output: np.from_dlpack(output[1]),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_leases_of_a_pipeline_end_when_the_last_array_is_gone(files, holder):
    pipe = decoding(files)
    (output,) = pipe.run()
    leased, _ = usage(pipe)
    assert leased >= sum(3 * height * width for height, width in SIZES)
    held = HOLDERS[holder](output)
    del output
    assert SMALLEST <= usage(pipe).leased <= leased
    del held
    after = ended(pipe)
    assert after.idle >= leased
    # The pictures of the next batch have the same sizes: all of its memory was there.
    again = pipe.run()
    assert sum(usage(pipe)) == sum(after)
    assert again[0].spec.batch_size == COUNT


def test_staging_memory_of_a_stage_is_used_again(files):
    pipe = decoding(files, lambda pictures: fn.resize(pictures, size=[100, 100]))
    totals = []
    for step in range(16):
        (output,) = pipe.run()
        check(output.at(0), step % 2 * COUNT)
        totals.append(sum(usage(pipe)))
        del output
    ended(pipe)
    # Not more with each batch, which would be some five times as much in the end; but now and then more, where memory is
    # wanted a moment before the last batch gives it back.
    assert max(totals) < 3 * totals[0]


def test_leases_of_an_iterator(files):
    pipe = decoding(files, exec_async=True)
    kept = []
    with DataIterator(pipe, ["x"], reader_name="Reader", ragged=("x",)) as it:
        for _ in range(3):
            kept += [batch["x"] for batch in it]
        assert pipe.slabs.usage().leased > 0
    assert pipe.slabs.usage().idle == 0
    for step, array in enumerate(kept):
        for row in range(COUNT):
            check(array[row][: SIZES[row][0], :400], step % 2 * COUNT + row)
    kept.clear()
    del array, it
    assert until(lambda: usage(pipe) == (0, 0))


@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
def test_leases_end_where_samples_fail(files, tmp_path, on_error):
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(encoded(2).tobytes()[:-200])
    pipe = decoding([*files[:2], str(cut), *files[3:]], on_error=on_error)
    if on_error == "raise":
        with pytest.raises(jdali.OperatorError, match="premature end"):
            pipe.run()
    else:
        for _ in range(3):
            pipe.run()
        assert len(pipe.errors) > 0
    assert until(lambda: usage(pipe).leased == 0)
    assert usage(pipe).idle > 0


def test_closing_frees_what_is_kept_and_leaves_batches_alone(files):
    pipe = decoding(files, exec_async=True)
    (first,), (second,) = pipe.run(), pipe.run()
    del second
    pipe.close()
    leased, idle = usage(pipe)
    assert leased > 0
    assert idle == 0
    for i in range(COUNT):
        check(first.at(i), i)
    del first
    assert ended(pipe).idle == 0


def test_memory_goes_with_its_pipeline(files):
    pipe = decoding(files, exec_async=True)
    pipe.run()
    pool = weakref.ref(pipe.slabs)
    del pipe
    assert until(lambda: gc.collect() is not None and pool() is None)


def test_two_pipelines_share_nothing(files):
    first, second = decoding(files), decoding(files)
    assert first.slabs is not second.slabs
    first.run()
    before = ended(first)
    assert before.idle > 0
    assert usage(second) == (0, 0)
    second.run()
    assert usage(first) == before
    first.close()
    assert ended(second) == before


@pytest.mark.parametrize("most", [0, 2 * SMALLEST, 1 << 30])
def test_the_bound_on_what_is_kept_holds(files, most):
    pipe = decoding(files, max_idle_bytes=most)
    kept = [pipe.run() for _ in range(3)]
    assert usage(pipe).leased > 2 * SMALLEST
    kept.clear()
    idle = ended(pipe).idle
    assert idle <= most
    assert (idle > 0) is (most > 2 * SMALLEST)  # no picture is that small
    assert f"at most {most / 2**20:.0f} MiB" in pipe.plan()


def test_the_plan_shows_memory(files):
    pipe = decoding(files)
    (output,) = pipe.run()
    shown = re.search(r"host memory: (.*) MiB leased to batches, (.*) MiB kept", pipe.plan())
    assert [f"{size / 2**20:.1f}" for size in usage(pipe)] == list(shown.groups())
    assert pipe.executor_statistics()["host_memory"] == usage(pipe)._asdict()
    assert output.spec.batch_size == COUNT


def test_a_bound_below_zero_is_refused():
    with pytest.raises(ValueError, match="max_idle_bytes must not be negative, got -1"):
        jdali.Pipeline(batch_size=1, max_idle_bytes=-1)


@pytest.mark.cases(1)
@pytest.mark.parametrize("further", ["decoded", "resized"])
@pytest.mark.usefixtures("poisoned")
def test_what_has_been_given_back_is_not_read_again(files, further):
    """All memory that is given back is overwritten at once; no batch shows it, whether it is kept or not."""
    ways = {"decoded": lambda x: x, "resized": lambda x: fn.resize(x, size=[200, 300])}
    kept = []
    pipe = decoding(files, ways[further], exec_async=True)
    for step in range(12):
        (output,) = pipe.run()
        if step % 3 == 0:
            kept.append((step, output))
        if step % 3 == 1:
            kept.append((step, output.select(list(range(COUNT)))))
        for i in range(COUNT):
            check(output.at(i), step % 2 * COUNT + i)
        del output
    pipe.close()
    gc.collect()
    for step, output in kept:
        for i in range(COUNT):
            check(output.at(i), step % 2 * COUNT + i)


# --- dynamic mode ----------------------------------------------------------------------------------
def test_calls_lease_from_the_context():
    context, other = jd.EvalContext(num_threads=2), jd.EvalContext(num_threads=1)
    pool = context.thread_pool.pool.slabs
    with context:
        pictures = jd.decoders.image(jd.as_batch([encoded(i) for i in range(3)]))
        assert pool.usage().leased >= sum(3 * height * width for height, width in SIZES[:3])
        view = np.asarray(pictures.select(1))
    del pictures
    gc.collect()
    assert pool.usage().leased > 0
    check(view, 1)
    del view
    gc.collect()
    leased, idle = pool.usage()
    assert leased == 0
    assert idle > 0
    assert other.thread_pool.pool.slabs.usage() == (0, 0)


def test_readers_lease_from_the_context(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(bytes(range(256)) * 1024)
    with jd.EvalContext(num_threads=1) as context:
        (content, _) = jd.readers.File(files=[str(path)])()
        pool = context.thread_pool.pool.slabs
        assert pool.usage().leased >= 1 << 18
        np.testing.assert_array_equal(np.asarray(content), np.tile(np.arange(256, dtype=np.uint8), 1024))
        del content
        gc.collect()
        assert pool.usage().leased == 0
