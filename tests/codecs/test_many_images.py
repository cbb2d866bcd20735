"""Headers and small pictures of many files at once: as of each alone, also of damaged ones."""

import struct

import numpy as np
import pytest
from support.data import image
from support.pictures import cmyk, exif, jpeg_with_exif, noise, pillow, png

import jdali
from jdali import OperatorError, SampleError, fn, types
from jdali.codecs import image as codec
from jdali.codecs import image_batch as images
from jdali.codecs.image_batch import Headers, decode_small
from jdali.codecs.jpeg_scan import scan
from jdali.types import ANY_DATA, BGR, GRAY, RGB


def array(data):
    return np.frombuffer(data, np.uint8)


def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def with_segment(jpeg, marker, body):
    """The file with one more segment at its begin."""
    return jpeg[:2] + segment(marker, body) + jpeg[2:]


PLAIN = pillow(image(21, 34), "jpeg")
USUAL = {
    "colour": PLAIN,
    "gray": pillow(image(17, 8, None), "jpeg"),
    "4:4:4": pillow(image(9, 9), "jpeg", subsampling=0),
    "4:2:2": pillow(image(9, 9), "jpeg", subsampling=1),
    "progressive": pillow(image(40, 30), "jpeg", progressive=True),
    "optimized": pillow(image(40, 30), "jpeg", optimize=True),
    "comment": with_segment(PLAIN, 0xFE, b"\xff\xc0\0\x11\x08" * 5),
    "another APP1": with_segment(PLAIN, 0xE1, b"http://ns.adobe.com/xap/1.0/\0"),
    "unknown APP2": with_segment(PLAIN, 0xE2, bytes(300)),
    "restarts": pillow(image(21, 34), "jpeg", restart_marker_blocks=2),
}
OTHERS = {
    "EXIF": jpeg_with_exif(PLAIN, exif(6)),
    "CMYK": cmyk(noise(5, 4, 4), "jpeg"),
    "long header": with_segment(PLAIN, 0xE2, bytes(5000)),
    "fill bytes": PLAIN[:2] + b"\xff\xff" + PLAIN[2:],
    "PNG": png(noise(9, 13, 4)),
    "PNG of 16 bits": png(noise(5, 4, 1, np.uint16)),
}
FRAME = PLAIN.index(b"\xff\xc0")
SCAN = PLAIN.index(b"\xff\xda")
DAMAGED = {
    "nothing": b"",
    "a byte": b"\xff",
    "two bytes": b"\xff\xd8",
    "text": b"no picture at all",
    "cut in the header": PLAIN[: FRAME + 6],
    "no data": PLAIN[:2] + PLAIN[FRAME:SCAN],
    "no frame": PLAIN[:FRAME] + PLAIN[SCAN:],
    "size 0": PLAIN[: FRAME + 5] + bytes(4) + PLAIN[FRAME + 9 :],
    "too large for its bytes": PLAIN[: FRAME + 5] + b"\xff" * 4 + PLAIN[FRAME + 9 :],
}


def found(data):
    """What `probe` says of one file: a header, or the words of its error."""
    try:
        return codec.probe(array(data))
    except SampleError as error:
        return str(error)


def test_headers_of_all_kinds_of_files_are_those_of_each_alone():
    files = [*USUAL.values(), *OTHERS.values(), *DAMAGED.values()]
    headers = Headers([array(f) for f in files])
    for i, data in enumerate(files):
        got = str(headers.failures[i]) if i in headers.failures else headers[i]
        assert got == found(data), i
    assert sorted(headers.failures) == [*range(len(files) - len(DAMAGED), len(files))]


def test_headers_of_some_of_the_files():
    files = [*USUAL.values(), *OTHERS.values()]
    headers = Headers([array(f) for f in files])
    rows = np.random.default_rng(0).permutation(len(files))[1:]
    some = headers.select(rows)
    assert [some[i] for i in range(len(rows))] == [headers[row] for row in rows.tolist()]
    np.testing.assert_array_equal(some.shapes(RGB, True), headers.shapes(RGB, True)[rows])
    np.testing.assert_array_equal(
        some.plain(RGB, np.dtype(np.uint8)), headers.plain(RGB, np.dtype(np.uint8))[rows]
    )
    assert not some.failures


def test_what_is_usual_is_scanned_together():
    assert scan([array(f) for f in USUAL.values()]).usual.all()
    assert not scan([array(f) for f in [*OTHERS.values(), *DAMAGED.values()]]).usual.any()


def test_damage_anywhere_in_the_headers():
    """No byte of the header can be another one without the scan leaving the file alone, or finding the same."""
    rng = np.random.default_rng(0)
    files = []
    for i in range(SCAN + 12):
        for value in (0, 0xFF, 0xC0, int(rng.integers(256))):
            changed = array(PLAIN).copy()
            changed[i] = value
            files.append(changed)
    files += [array(PLAIN[:end]) for end in range(SCAN + 12)]
    scanned = scan(files)
    assert 100 < scanned.usual.sum() < len(files)
    for i in np.flatnonzero(scanned.usual).tolist():
        assert scanned.info(i) == codec.probe(files[i])


@pytest.mark.parametrize("kind", USUAL)
def test_files_that_begin_as_the_last_one_that_was_read(kind):
    data, begin = USUAL[kind], USUAL[kind].index(b"\xff\xda")
    coded = begin + 2 + int.from_bytes(data[begin + 2 : begin + 4])
    without_range = data[: begin + 3] + b"\3" + data[begin + 4 :]
    like = [data, data[:coded], data[: coded - 1], data[:coded] + bytes(900), without_range]
    for files in ([data], [data, PLAIN, *like], [without_range], [*like, PLAIN]):
        headers = Headers([array(f) for f in files])
        for i, file in enumerate(files):
            assert (str(headers.failures[i]) if i in headers.failures else headers[i]) == found(file)


def test_a_header_that_goes_on_into_the_next_file():
    cut = b"\xff\xd8\xff\xfe" + struct.pack(">H", 2 + len(b"\xff\xd8"))
    scanned = scan([array(cut), array(PLAIN)])
    assert scanned.usual.tolist() == [False, True]


def test_the_limit_on_sizes(monkeypatch):
    monkeypatch.setattr(codec, "MAX_PIXELS", 21 * 34 - 1)
    headers = Headers([array(USUAL["4:4:4"]), array(PLAIN)])
    assert list(headers.failures) == [1]
    assert "larger than the limit" in str(headers.failures[1])


# --- decoding -------------------------------------------------------------------------------
def one_by_one(work, count):
    for i in range(count):
        work(slice(i, i + 1))


@pytest.mark.parametrize("output_type", [RGB, GRAY, BGR, ANY_DATA])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("adjust", [True, False])
def test_small_pictures_are_those_of_each_alone(output_type, dtype, adjust):
    files = [array(f) for f in [*USUAL.values(), *OTHERS.values(), *USUAL.values()]]
    options = {"output_type": output_type, "dtype": np.dtype(dtype), "adjust_orientation": adjust}
    headers = Headers(files)
    shapes = headers.shapes(output_type, adjust)
    blocks, failures = decode_small(files, headers, shapes, one_by_one, fast_idct=False, **options)
    assert not failures
    assert sorted(np.concatenate([members for _, members in blocks]).tolist()) == list(range(len(files)))
    for block, members in blocks:
        assert block.ctypes.data % 64 == 0
        for row, i in zip(block, members.tolist(), strict=True):
            np.testing.assert_array_equal(row, codec.decode(files[i], **options))
            assert row.shape == tuple(shapes[i])


def test_data_that_are_cut_off_fail_alone():
    files = [array(PLAIN), array(PLAIN[:-40]), array(PLAIN + b"trailing"), array(PLAIN[: SCAN + 20])]
    headers = Headers(files)
    shapes = headers.shapes(RGB, True)
    [(block, members)], failures = decode_small(
        files, headers, shapes, one_by_one, output_type=RGB, dtype=np.dtype(np.uint8), adjust_orientation=True,
        fast_idct=False,
    )  # fmt: skip
    assert members.tolist() == [0, 1, 2, 3]
    assert sorted(failures) == [1, 3]
    assert all("broken JPEG image" in str(error) for error in failures.values())
    np.testing.assert_array_equal(block[2], block[0])


# --- in pipelines ---------------------------------------------------------------------------
def written(folder, files):
    (folder / "0").mkdir()
    for i, data in enumerate(files):
        (folder / "0" / f"{i:03}.jpg").write_bytes(data)
    return str(folder)


def pictures(root, batch_size=8, **options):
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=2, device_id=None, seed=1, **options)
    with pipe:
        encoded, labels = fn.readers.file(file_root=root)
        pipe.set_outputs(fn.decoders.image(encoded), labels)
    return pipe


@pytest.mark.parametrize("seed", [0, 1])
def test_a_pipeline_of_small_pictures(tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    files = [pillow(image(*rng.integers(4, 7, 2)), "jpeg") for _ in range(200)]
    seen = []
    real = images.decode_small
    monkeypatch.setattr(
        "jdali.ops.decoders._image.decode_small", lambda *a, **k: seen.append(1) or real(*a, **k)
    )
    pipe = pictures(written(tmp_path, files), 150)
    kept = []
    for first in (0, 150, 100):
        out, _ = pipe.run()
        assert out.layout() == "HWC"
        kept.append((first, out))
    for first, out in kept:  # not overwritten by later batches
        for i, got in enumerate(out.to_samples()):
            np.testing.assert_array_equal(got, codec.decode(files[(first + i) % 200]))
    pipe.close()
    assert len(seen) >= 3


def test_large_pictures_are_decoded_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr("jdali.ops.decoders._image.decode_small", lambda *a, **k: pytest.fail("together"))
    files = [pillow(image(200, 200 + i), "jpeg") for i in range(3)]
    pipe = pictures(written(tmp_path, files), 3)
    for got, data in zip(pipe.run()[0].to_samples(), files, strict=True):
        np.testing.assert_array_equal(got, codec.decode(data))
    pipe.close()


BAD = {"header": DAMAGED["cut in the header"], "data": PLAIN[:-40]}


@pytest.mark.parametrize("kind", list(BAD))
def test_errors_name_the_sample_and_its_file(tmp_path, kind):
    pipe = pictures(written(tmp_path, [PLAIN, PLAIN, BAD[kind], PLAIN]), 4)
    with pytest.raises(OperatorError, match=r"(?s)decoders\.image.*002\.jpg") as caught:
        pipe.run()
    assert "sample 2" in str(caught.value)
    pipe.close()


@pytest.mark.parametrize("kind", list(BAD))
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_bad_small_pictures_are_left_out(tmp_path, kind, on_error):
    files = [pillow(image(6, 5 + i), "jpeg") for i in range(10)]
    files[3] = files[7] = BAD[kind]
    pipe = pictures(written(tmp_path, files), 5, on_error=on_error)
    got = []
    for _ in range(2):
        out, labels = pipe.run()
        got += [sample.shape[1] - 5 for sample in out.to_samples()]
        assert len(labels) == 5
    assert set(got) <= set(range(10)) - {3, 7}
    assert {0, 1, 2, 4, 5, 6, 8, 9} <= set(got)
    pipe.close()


def test_scaled_decoding_of_small_pictures(tmp_path):
    files = [pillow(image(64, 64), "jpeg")] * 3
    pipe = jdali.Pipeline(batch_size=3, num_threads=1, device_id=None, scaled_decoding=True)
    with pipe:
        encoded, _ = fn.readers.file(file_root=written(tmp_path, files))
        pipe.set_outputs(fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[16, 16]))
    assert pipe.run()[0].shape() == [(16, 16, 3)] * 3
    pipe.close()
