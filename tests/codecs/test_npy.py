"""NumPy's .npy format: headers, what is refused, and windows that are read in pieces."""

import io
import struct

import numpy as np
import pytest

from jdali import SampleError
from jdali.codecs import npy

TYPES = [
    "?",
    "i1",
    "u1",
    "<i2",
    "<u2",
    "<i4",
    "<u4",
    "<i8",
    "<u8",
    "<f2",
    "<f4",
    "<f8",
    ">i2",
    ">u4",
    ">i8",
    ">f4",
]


def saved(array, **options):
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def with_header(text, data=b"", version=(1, 0), length=None):
    head = text.encode("latin-1")
    size = struct.pack("<H" if version[0] == 1 else "<I", len(head) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + head + data


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (4, 1, 3), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_types_and_orders(dtype, shape, order):
    rng = np.random.default_rng(3)
    array = np.asarray(rng.integers(0, 100, shape)).astype(dtype, order=order)
    got = npy.decode(saved(array))
    assert got.dtype == np.dtype(dtype).newbyteorder("=")
    assert got.dtype.isnative
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, array)


VALUES = np.arange(6, dtype="<f4")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", (2, 3)),
        ("{'shape': (6,), 'fortran_order': False, 'descr': '<f4'}", (6,)),
        (' {  "descr"  :  "<f4" , "fortran_order":False,"shape" : ( 3 , 2 , ) } \n', (3, 2)),
        ("{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 3L)}", (2, 3)),
        ("{'descr': 'f4', 'fortran_order': False, 'shape': ()}", ()),
    ],
)
def test_layouts_of_headers(version, text, shape):
    got = npy.decode(with_header(text, VALUES.tobytes(), version))
    np.testing.assert_array_equal(got, VALUES[: int(np.prod(shape))].reshape(shape), strict=True)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"PK\x03\x04 an archive", "not a .npy file"),
        (b"\x93NUMPY", "cut short"),
        (b"\x93NUMPY\x01\x00\x10", "cut short"),
        (saved(VALUES)[:40], "header of 128 bytes"),
        (saved(VALUES)[:-1], "24 bytes of elements"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", VALUES.tobytes(), (9, 0)), "version 9.0"),
        (with_header("{}"), "lacks descr, fortran_order, shape"),
        (with_header("{'descr': '<f4', 'fortran_order': False}"), "lacks shape"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (6)}"), "not a tuple"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}"), "damaged at"),
        (with_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}"), "damaged at"),
        (with_header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}"), "damaged at"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)"), "damaged at"),
        (with_header("__import__('os').abort()"), "damaged at"),
        (with_header("(" * 60000), "damaged at"),
        (with_header("{'descr': '<c8', 'fortran_order': False, 'shape': (6,)}"), "'<c8'; only numbers"),
        (with_header("{'descr': '|O', 'fortran_order': False, 'shape': (6,)}"), "never unpickled"),
        (with_header("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (6,)}"), "structured"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}"), "cut short"),
        (with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': (0, {2**62}, {2**62})}}"), "no array"),
        (with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({'1, ' * 40})}}", b"1234"), "40 axes"),
        (with_header("{}", b"", (2, 0), length=2**32 - 1), "are damage"),
    ],
    ids=range(23),
)  # fmt: skip
def test_what_is_wrong_is_said(data, reason):
    with pytest.raises(SampleError, match=reason):
        npy.decode(data)


def test_nothing_is_unpickled():
    class Bomb:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    with pytest.raises(SampleError, match="never unpickled"):
        npy.decode(saved(np.array([Bomb()], object), allow_pickle=True))


def test_booleans_are_0_or_1():
    text = "{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}"
    got = npy.decode(with_header(text, bytes([0, 1, 2, 255])))
    assert got.view(np.uint8).tolist() == [0, 1, 1, 1]


class Pieces:
    """A file that counts what is read of it."""

    def __init__(self, data):
        self.data, self.sizes = data, []

    def __call__(self, offset, size):
        assert 0 <= offset <= offset + size <= len(self.data)
        self.sizes.append(size)
        return self.data[offset : offset + size]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<i4", ">i4"])
def test_windows_are_those_of_numpy(order, dtype):
    rng = np.random.default_rng(8)
    array = np.asarray(rng.integers(0, 1 << 30, (9, 7, 5, 3))).astype(dtype, order=order)
    file = Pieces(saved(array))
    header = npy.read_header(file, len(file.data))
    for _ in range(60):
        low, high = np.sort(rng.integers(0, np.array(array.shape) + 1, (2, 4)), axis=0)
        got = npy.read_window(file, header, tuple(low.tolist()), tuple((high - low).tolist()))
        np.testing.assert_array_equal(got, array[tuple(map(slice, low, high))], strict=False)
        assert got.flags.c_contiguous
        assert got.dtype == np.int32


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_window_does_not_read_the_rest(order):
    array = np.arange(300 * 400 * 20, dtype=np.int32).reshape(300, 400, 20, order=order)
    file = Pieces(saved(array))
    header = npy.read_header(file, len(file.data))
    file.sizes.clear()
    got = npy.read_window(file, header, (10, 20, 0), (200, 30, 20))
    np.testing.assert_array_equal(got, array[10:210, 20:50])
    assert sum(file.sizes) < 2 * got.nbytes  # of 10 MB
    file.sizes.clear()
    rows = (
        (slice(40, 60), slice(None), slice(None)) if order == "C" else (slice(None), slice(None), slice(4, 6))
    )
    window = array[rows]
    got = npy.read_window(file, header, tuple(s.start or 0 for s in rows), window.shape)
    np.testing.assert_array_equal(got, window)
    assert sum(file.sizes) == window.nbytes
    assert len(file.sizes) < 5
    file.sizes.clear()
    narrow = (slice(None), slice(3, 4)) if order == "C" else (slice(3, 4), slice(None))
    window = array[narrow]  # small gaps are read, but not all at once
    got = npy.read_window(
        file, header, tuple(s.start or 0 for s in (*narrow, slice(None))), window.shape, 1 << 15
    )
    np.testing.assert_array_equal(got, window)
    assert len(file.sizes) > 1
    assert max(file.sizes) <= 1 << 19


def test_a_long_header_is_read_in_two_pieces():
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }".ljust(5000) + "\n"
    file = Pieces(with_header(text, VALUES.tobytes()))
    header = npy.read_header(file, len(file.data))
    assert (header.shape, header.start) == ((6,), 5011)
    assert file.sizes == [npy.FIRST_READ, 5011]
