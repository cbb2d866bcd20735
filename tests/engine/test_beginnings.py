"""Readers that leave the rest of files unread where consumers look at headers: when they do, and that nobody sees it."""

import io
import os
from unittest import mock

import numpy as np
import pytest
from PIL import Image, ImageFile

import jdali
from jdali import fn
from jdali.codecs import image as codec

SIZES = [(400, 300), (360, 410), (220, 240), (450, 350), (20, 10)]  # height, width


def encoded(height, width, **options):
    """A JPEG of noise, which is large, and whose end is its own."""
    rng = np.random.default_rng(height)
    out = io.BytesIO()
    picture = Image.fromarray(rng.integers(0, 255, (height, width, 3), np.uint8))
    with mock.patch.object(ImageFile, "MAXBLOCK", 1 << 20):  # Pillow 11.0 takes no more metadata than that
        picture.save(out, "jpeg", **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def contents():
    """Of files: a plain one, long EXIF data, longer ones, a progressive picture, a small one."""
    options = [
        {}, {"exif": b"Exif\0\0" + bytes(9_000)}, {"comment": bytes(60_000), "exif": b"Exif\0\0" + bytes(60_000)},
        {"progressive": True}, {},
    ]  # fmt: skip
    return [encoded(*size, **more) for size, more in zip(SIZES, options, strict=True)]


@pytest.fixture(scope="module")
def files(contents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for number, content in enumerate(contents):
        (folder / f"{number}.jpg").write_bytes(content)
    return [str(folder / f"{number}.jpg") for number in range(len(contents))]


def pipeline(files, outputs, **options):
    @jdali.pipeline_def(batch_size=len(files), num_threads=1, seed=1, **options)
    def define():
        data, _ = fn.readers.file(files=files, name="reader")
        return outputs(data)

    return define()


def lines(pipe):
    return [line for line in pipe.plan().splitlines() if "readers.file" in line]


def bytes_read(monkeypatch):
    """A list that each call of `os.readv` adds the bytes to that it read."""
    read = []
    readv = os.readv

    def counting(descriptor, buffers):
        count = readv(descriptor, buffers)
        read.append(count)
        return count

    monkeypatch.setattr(os, "readv", counting)
    return read


def test_headers_alone_are_read_and_say_the_same(files, contents, monkeypatch):
    read = bytes_read(monkeypatch)
    pipe = pipeline(files, fn.peek_image_shape, exec_async=False, exec_pipelined=False)
    for _ in range(2):  # in memory of the batch before
        (shapes,) = pipe.run()
        assert shapes.as_array().tolist() == [[*size, 3] for size in SIZES]
    pipe.close()
    assert "reads beginnings of files" in lines(pipe)[0]
    # The long ones are tried twice; the progressive one, and that with 120,000 bytes before the picture, are read whole.
    sizes = [len(content) for content in contents]
    assert min(sizes[:4]) > 1 << 16
    assert sum(read) == 2 * (4096 + (1 << 16) + sum(sizes[2:]))


@pytest.mark.parametrize(
    "outputs",
    [
        lambda data: (fn.peek_image_shape(data), data),
        lambda data: (fn.peek_image_shape(data), fn.decoders.image(data)),
        lambda data: (fn.peek_image_shape(data), fn.python_function(data, function=lambda x: x[-9:])),
    ],
)
def test_whole_files_where_anyone_looks_at_more(files, contents, outputs):
    pipe = pipeline(files, outputs)
    shapes, other = pipe.run()
    assert "beginnings" not in lines(pipe)[0]
    assert shapes.as_array().tolist() == [[*size, 3] for size in SIZES]
    samples = other.as_cpu().to_samples()
    for sample, content in zip(samples, contents, strict=True):
        whole = np.frombuffer(content, np.uint8)
        if len(sample) in (len(whole), 9):
            np.testing.assert_array_equal(sample, whole[-len(sample) :])
        else:
            assert sample.shape == np.asarray(Image.open(io.BytesIO(content))).shape
    pipe.close()


def test_several_that_look_at_headers(files):
    pipe = pipeline(
        files, lambda data: (fn.peek_image_shape(data), fn.peek_image_shape(data, dtype=jdali.types.FLOAT))
    )
    first, second = pipe.run()
    assert "reads beginnings of files" in lines(pipe)[0]
    assert second.as_array().tolist() == first.as_array().tolist() == [[*size, 3] for size in SIZES]
    pipe.close()


def test_a_damaged_header_is_the_error_of_the_whole_file(tmp_path, files):
    damaged = tmp_path / "damaged.jpg"
    good = bytearray(encoded(300, 200))
    good[2:4] = b"\0\0"
    damaged.write_bytes(good)

    def error(outputs):
        pipe = pipeline([str(damaged)], outputs)
        with pytest.raises(RuntimeError) as caught:
            pipe.run()
        pipe.close()
        return str(caught.value).partition("defined at")[0]

    expected = error(lambda data: (fn.peek_image_shape(data), data))
    assert "JPEG" in expected
    assert error(fn.peek_image_shape) == expected


@pytest.mark.parametrize("options", [{}, {"restart_marker_rows": 1}, {"exif": b"Exif\0\0" + bytes(900)}])
def test_what_is_enough_says_all_that_the_whole_does(options):
    content = encoded(60, 40, **options)
    whole = codec.probe(content)
    enough = [codec.is_enough(memoryview(content)[:end]) for end in range(2, 2000)]
    first = enough.index(True)
    assert all(enough[first:])
    for end in range(first + 2, first + 40):
        assert codec.probe(content[:end] + bytes(len(content) - end)) == whole
        assert codec.probe(content[:end] + b"\xff" * (len(content) - end)) == whole


@pytest.mark.parametrize("content", [b"", b"\xff", b"\xff\xd8", b"\xff\xd8\xff\xda\0\0", b"no picture"])
def test_what_is_no_picture_is_never_enough(content):
    assert not codec.is_enough(memoryview(content))


def test_of_a_progressive_picture_nothing_is_enough():
    content = encoded(60, 40, progressive=True)
    assert not any(codec.is_enough(memoryview(content)[:end]) for end in range(2, len(content), 97))
