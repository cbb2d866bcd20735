"""Host memory is leased: given back with the last array in it, kept up to a bound, and shared by nobody else."""

import gc
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jdali
from jdali._batches import slabs
from jdali._batches.slabs import (
    ALIGNMENT,
    SMALLEST,
    LentMemory,
    SlabPool,
    aligned_empty,
    contiguous,
    empty,
)
from jdali._system.devices import host_device


def address(array):
    return array.__array_interface__["data"][0]


VIEWS = {
    "the lease": lambda lease: lease,
    "a view": lambda lease: lease[5:7],
    "a view of a view of a view": lambda lease: lease.view(np.float32).reshape(2, -1).T[5:, 1:],
    "an array over it": lambda lease: np.ndarray((3, 5), np.int16, lease, 64),
    "a buffer": lambda lease: memoryview(lease[3:9]),
    "an array over a buffer": lambda lease: np.frombuffer(memoryview(lease)[8:80], np.int32)[1:],
    "dlpack": lambda lease: np.from_dlpack(lease[::2]),
    "another class": lambda lease: lease.view(np.matrix)[:, 3:],
}


@pytest.mark.parametrize("kind", VIEWS)
def test_memory_is_used_again_when_the_last_view_is_gone(kind):
    pool = SlabPool()
    lease = pool.lease(SMALLEST)
    at = address(lease)
    view = VIEWS[kind](lease)
    del lease
    assert pool.usage() == (SMALLEST, 0)
    assert address(pool.lease(SMALLEST)) != at
    del view
    assert pool.usage() == (0, 2 * SMALLEST)
    assert at in [address(lease) for lease in (pool.lease(SMALLEST), pool.lease(SMALLEST))]


@pytest.mark.parametrize(
    ("size", "same"),
    [(15 << 17, True), ((15 << 17) - 1000, True), (8 << 17, True), (7 << 17, False), (16 << 17, False)],
)
def test_an_idle_slab_serves_sizes_down_to_half_of_its_own(size, same):
    pool = SlabPool()
    at = address(pool.lease(15 << 17))
    again = pool.lease(size)
    assert again.shape == (size,)
    assert (address(again) == at) is same
    assert pool.usage().leased == (15 << 17 if same else size)


def test_of_idle_slabs_the_smallest_that_fits_is_taken():
    pool = SlabPool()
    leases = [pool.lease(size * SMALLEST) for size in (7, 5, 6)]
    at = address(leases[1])
    del leases
    assert address(pool.lease(4 * SMALLEST + 1)) == at


def test_leased_and_idle_are_together_no_more_than_was_leased_at_once():
    """Batches of ever other sizes, as of pictures: each finds little among what the ones before it left."""
    pool, rng, most = SlabPool(), np.random.default_rng(0), 0
    for _ in range(40):
        batch = []
        for size in rng.integers(1 << 20, 12 << 20, 8):
            batch.append(pool.lease(int(size)))
            leased, idle = pool.usage()
            most = max(most, leased)
            assert idle <= max(most - leased, slabs.ALWAYS_IDLE)
        del batch
        assert pool.usage().leased == 0
        assert pool.usage().idle <= most


def test_what_takes_turns_is_not_made_anew():
    """One slab at a time, of sizes too far apart to serve each other: a few MiB are kept anyway."""
    pool = SlabPool()
    first = [address(pool.lease(size * SMALLEST)) for size in (1, 4, 16)]
    assert [address(pool.lease(size * SMALLEST)) for size in (1, 4, 16)] == first


def test_large_memory_goes_back_to_the_system_and_small_memory_to_the_allocator(monkeypatch):
    mapped = []
    monkeypatch.setattr(slabs, "_mapped", lambda size, make=slabs._mapped: mapped.append(size) or make(size))
    pool = SlabPool(most_idle=0)
    for size in (SMALLEST, (1 << 20) - 1, 1 << 20, 5 << 20):
        lease = pool.lease(size)
        lease[:] = 7
        assert address(lease) % ALIGNMENT == 0
        assert lease.flags.writeable
    assert mapped == [1 << 20, 1 << 20, 5 << 20]  # the second was rounded up


def test_memory_that_there_is_not_is_an_error_of_memory():
    with pytest.raises(MemoryError, match=str(1 << 62)):
        SlabPool().lease(1 << 62)


@pytest.mark.parametrize("size", [1, 2, 17, SMALLEST - 1, SMALLEST, SMALLEST + 1, 9 * SMALLEST + 5])
def test_slabs_are_aligned_and_little_larger_than_asked_for(size):
    pool = SlabPool()
    lease = pool.lease(size)
    assert lease.shape == (size,)
    assert address(lease) % ALIGNMENT == 0
    assert size <= pool.usage().leased <= max(size * 9 / 8, size + 1)


def test_no_more_is_kept_than_allowed_and_the_latest():
    pool = SlabPool(most_idle=3 * SMALLEST)
    leases = [pool.lease(SMALLEST) for _ in range(5)]
    at = [address(lease) for lease in leases]
    assert pool.usage() == (5 * SMALLEST, 0)
    for number in range(5):
        leases[number] = None
        assert pool.usage() == ((4 - number) * SMALLEST, min(number + 1, 3) * SMALLEST)
    again = [pool.lease(SMALLEST) for _ in range(3)]
    assert sorted(map(address, again)) == sorted(at[2:])
    large = pool.lease(4 * SMALLEST)
    del large  # more than is allowed alone
    assert pool.usage() == (3 * SMALLEST, 0)


def test_what_was_returned_first_is_freed_first_whatever_its_size():
    pool = SlabPool(most_idle=6 * SMALLEST)
    sizes = [2 * SMALLEST, SMALLEST, 3 * SMALLEST]
    leases = [pool.lease(size) for size in sizes]
    while leases:
        del leases[0]
    assert pool.usage() == (0, 6 * SMALLEST)
    one = pool.lease(4 * SMALLEST)
    del one
    assert set(pool._idle) == {4 * SMALLEST}
    assert pool.usage() == (0, 4 * SMALLEST)


def test_nothing_is_kept_where_nothing_may_be():
    pool = SlabPool(most_idle=0)
    lease = pool.lease(SMALLEST)
    del lease
    assert pool.usage() == (0, 0)


def test_closing_frees_what_is_kept_and_leaves_arrays_alone():
    pool = SlabPool()
    lease, other = pool.lease(SMALLEST), pool.lease(SMALLEST)
    lease[:] = 7
    del other
    assert pool.usage() == (SMALLEST, SMALLEST)
    pool.close()
    assert pool.usage() == (SMALLEST, 0)
    assert (lease == 7).all()
    del lease
    assert pool.usage() == (0, 0)
    late = pool.lease(SMALLEST)
    assert pool.usage() == (SMALLEST, 0)
    del late
    assert pool.usage() == (0, 0)


def test_a_lease_that_ends_while_the_lock_is_held_is_sorted_in_later():
    """The garbage collector may end one in the middle of a method of the pool, in the same thread."""
    pool = SlabPool(most_idle=SMALLEST)
    leases = [pool.lease(SMALLEST), pool.lease(SMALLEST)]
    with pool._exclusive():
        leases.clear()
        assert pool._leased_bytes == 2 * SMALLEST
    assert (pool._leased_bytes, pool._idle_bytes) == (0, SMALLEST)


def test_leases_in_cycles_end_with_the_garbage_collector():
    pool = SlabPool()
    cycle = [pool.lease(SMALLEST)[5:]]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert pool.usage() == (0, SMALLEST)


def test_what_is_idle_is_freed_before_memory_is_said_to_be_short(monkeypatch):
    pool = SlabPool()
    lease = pool.lease(SMALLEST)
    del lease
    make, calls = slabs._aligned, []

    def short_of_memory(size):
        calls.append(pool.usage())
        if pool.usage().idle:
            raise MemoryError
        return make(size)

    monkeypatch.setattr(slabs, "_aligned", short_of_memory)
    again = pool.lease(2 * SMALLEST)
    assert again.size == 2 * SMALLEST
    assert calls == [(0, SMALLEST), (0, 0)]
    assert pool.usage() == (2 * SMALLEST, 0)


def test_many_threads():
    """No two leases that live at the same time lie in the same memory, and none is lost."""
    pool = SlabPool(most_idle=4 * SMALLEST)
    wrong = []

    def work(number):
        held = []
        for step in range(200):
            lease = pool.lease(SMALLEST * (1 + step % 3))
            lease[::4096] = number
            held.append(lease)
            if len(held) > 3:
                wrong.extend(one for one in held if not (one[::4096] == number).all())
                del held[0]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    leased, idle = pool.usage()
    assert leased == 0
    assert 0 < idle <= 4 * SMALLEST


# --- JAX -----------------------------------------------------------------------------------------
def put(pool, value):
    with pool:
        array = aligned_empty((SMALLEST // 4,), np.float32)
    array[:] = value
    on_device = jax.device_put(array, host_device())
    assert on_device.unsafe_buffer_pointer() == address(array)  # it is not a copy
    return on_device


def test_a_jax_array_holds_the_lease():
    pool = SlabPool()
    array = put(pool, 1)
    gc.collect()
    assert pool.usage() == (SMALLEST, 0)
    view = np.asarray(array)
    del array
    gc.collect()
    assert pool.usage() == (SMALLEST, 0)
    assert (view == 1).all()
    del view
    gc.collect()
    assert pool.usage() == (0, SMALLEST)


@jax.jit
def slow():
    """0, after a while: jax calls it and goes on."""
    start = jnp.full((300, 300), 0.5, np.float32)
    return jax.lax.fori_loop(0, 100, lambda _, c: jnp.tanh(c @ c), start)[0, 0] * 0


@jax.jit
def doubled(array, zero):
    return 2 * array + zero


def test_a_program_that_is_to_read_an_array_holds_the_lease():
    """The array is gone from Python before the program begins, which waits for another."""
    jax.block_until_ready(doubled(put(SlabPool(), 0), slow()))
    pool = SlabPool()
    result = doubled(put(pool, 3), slow())
    overwritten = 0
    while True:
        usage = pool.usage()
        other = pool.lease(SMALLEST)
        other[:] = 255
        del other
        if result.is_ready():
            break
        assert usage.leased == SMALLEST  # the program has not ended, so it had not ended before
        overwritten += 1
    assert (np.asarray(result) == 6).all()
    assert overwritten
    gc.collect()
    assert pool.usage().leased == 0


# --- who works for which pool --------------------------------------------------------------------
def test_memory_comes_from_the_pool_of_the_innermost_block():
    outer, inner, shape = SlabPool(), SlabPool(), (SMALLEST,)
    unpooled = empty(shape, np.uint8)
    with outer:
        first = empty(shape, np.uint8)
        with inner:
            second = aligned_empty(shape, np.uint8)
        with pytest.raises(KeyError), inner:
            raise KeyError
        third = empty(shape, np.uint8)
        assert (outer.usage().leased, inner.usage().leased) == (2 * SMALLEST, SMALLEST)
        small = empty((SMALLEST - 1,), np.uint8)
        assert outer.usage().leased == 2 * SMALLEST
    last = empty(shape, np.uint8)
    assert outer.usage().leased == 2 * SMALLEST
    assert len({address(a) for a in (unpooled, first, second, third, small, last)}) == 6


@pytest.mark.parametrize("make", [empty, aligned_empty])
@pytest.mark.parametrize("pooled", [False, True])
def test_arrays_of_samples(make, pooled):
    pool = SlabPool()
    if pooled:
        pool.__enter__()
    try:
        for shape in ((300, 400, 3), (0, 5), (), (np.int32(500), np.int64(300)), (7,)):
            array = make(shape, np.float32)
            assert (array.shape, array.dtype) == (tuple(map(int, shape)), np.float32)
            assert array.flags.writeable
            assert make is empty or not array.size or address(array) % ALIGNMENT == 0
    finally:
        if pooled:
            pool.__exit__(None, None, None)


def test_contiguous():
    whole = np.zeros((300, 400, 3), np.float32)
    whole[:] = np.arange(3)
    part = contiguous(whole[50:250, 100:, 1:])
    assert part.flags.c_contiguous
    np.testing.assert_array_equal(part, np.broadcast_to([1, 2], (200, 300, 2)))
    assert contiguous(part) is part


def test_reference_counts_are_read_nowhere():
    files = sorted(Path(jdali.__file__).parent.rglob("*.py"))
    assert len(files) > 100
    assert not [file for file in files if "refcount" in file.read_text()]


def test_lent_memory_is_leased_from_front_to_back():
    memory = np.zeros(SMALLEST * 3, np.uint8)
    with LentMemory(memory):
        one = aligned_empty((SMALLEST + 1,), np.uint8)
        other = aligned_empty((SMALLEST,), np.uint8)
        third = aligned_empty((SMALLEST,), np.uint8)  # there is no room for it
    start = memory.ctypes.data
    assert one.ctypes.data == start
    assert other.ctypes.data == start + SMALLEST + ALIGNMENT
    assert not np.shares_memory(third, memory)
    third[:] = 1
    with LentMemory(None):
        assert not np.shares_memory(aligned_empty((SMALLEST,), np.uint8), memory)
