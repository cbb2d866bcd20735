"""JPEG files that a GPU decodes: which these are, what becomes of all others, and that nobody sees a difference.

nvImageCodec decodes nothing without a GPU, so a stand-in with libjpeg-turbo behind it takes its place, and a second CPU
device is declared to be a GPU. The tests marked gpu compare the real one with the host.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from PIL import Image
from support import accelerator
from support.data import image
from support.nvimgcodec import stand_in  # noqa: F401

import jdali
from jdali import fn, types
from jdali._numerics.platform import declared, platform_of
from jdali.codecs import gpu_jpeg
from jdali.codecs.image import probe


def file_of(picture: np.ndarray, mode: str = "RGB", **options: Any) -> np.ndarray:
    written = io.BytesIO()
    Image.fromarray(picture).convert(mode).save(written, **({"format": "jpeg"} | options))
    return np.frombuffer(written.getvalue(), np.uint8)


def turned(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def without_marks(file: np.ndarray) -> np.ndarray:
    """The file with components named R, G and B, and no JFIF segment: libjpeg takes it for RGB."""
    data = file.tobytes()
    data = data[:2] + data[4 + int.from_bytes(data[4:6]) :]
    at = data.index(b"\xff\xc0")
    scan = data.index(b"\xff\xda")
    named = bytearray(data)
    for n, letter in enumerate(b"RGB"):
        named[at + 10 + 3 * n] = named[scan + 5 + 2 * n] = letter
    return np.frombuffer(bytes(named), np.uint8)


WHOLE = image(160, 200, seed=1)
PLAIN = file_of(WHOLE)
# What a GPU decodes, and what the host does.
ON_GPU = {
    "plain": PLAIN,
    "gray": file_of(WHOLE, "L"),
    "4:4:4": file_of(WHOLE, subsampling=0),
    "4:2:2": file_of(WHOLE, subsampling=1),
    "upright": file_of(WHOLE, exif=turned(1)),
    "profile": file_of(WHOLE, icc_profile=bytes(3000)),
    "odd size": file_of(image(163, 201, seed=2)),
    "restart markers": file_of(WHOLE, restart_marker_blocks=2),
}
ON_HOST = {
    "progressive": file_of(WHOLE, progressive=True),
    "turned": file_of(WHOLE, exif=turned(6)),
    "small": file_of(image(147, 148, seed=3)),
    "CMYK": file_of(WHOLE, "CMYK"),
    "RGB": file_of(WHOLE, keep_rgb=True),
    "RGB by name": without_marks(PLAIN),
    "PNG": file_of(WHOLE, format="png"),
    "data behind its end": np.append(PLAIN, np.uint8(0)),
}


def test_which_files_a_gpu_decodes():
    found = {name: gpu_jpeg.can_decode(file, probe(file), True) for name, file in (ON_GPU | ON_HOST).items()}
    assert found == dict.fromkeys(ON_GPU, True) | dict.fromkeys(ON_HOST, False)
    assert gpu_jpeg.can_decode(ON_HOST["turned"], probe(ON_HOST["turned"]), False)


@pytest.fixture
def gpu() -> Iterator[jax.Device]:
    device = accelerator.find()
    with accelerator.as_default(device), declared(device, "gpu"):
        yield device


def windows(encoded: Any, device: str) -> Any:
    return fn.decoders.image_random_crop(encoded, device=device, random_area=[0.2, 0.9])


def crops(encoded: Any, device: str) -> Any:
    return fn.decoders.image_crop(encoded, device=device, crop=(90, 77), crop_pos_x=0.2)


def wholes(encoded: Any, device: str) -> Any:
    return fn.decoders.image(encoded, device=device)


def turned_as_stored(encoded: Any, device: str) -> Any:
    return fn.decoders.image(encoded, device=device, adjust_orientation=False)


def run(files: Any, decode: Any = wholes, device: str = "mixed", **options: Any) -> list[np.ndarray]:
    options = {"batch_size": len(files), "num_threads": 3, "seed": 4, "prefetch_queue_depth": 1} | options
    pipe = jdali.Pipeline(**options)
    with pipe:
        pictures = decode(fn.external_source([files]), device)
        pictures = pictures.gpu() if device == "cpu" else pictures
        # The operator behind the decoder has the bits of every padded shape.
        pipe.set_outputs(fn.crop_mirror_normalize(pictures, mean=[1.5]))
    try:
        return [np.asarray(sample) for sample in pipe.run()[0].as_cpu().to_samples()]
    finally:
        pipe.close()


@pytest.mark.parametrize("decode", [wholes, windows, crops, turned_as_stored])
@pytest.mark.parametrize("threads", [1, 3])
def test_pictures_are_those_of_the_host(gpu, nvimgcodec, decode, threads):
    files = [file for pair in zip(ON_GPU.values(), ON_HOST.values(), strict=True) for file in pair]
    found = run(files, decode, num_threads=threads)
    there = {file.tobytes() for file in ON_GPU.values()}
    if decode is turned_as_stored:
        there.add(ON_HOST["turned"].tobytes())
    assert {*nvimgcodec.decoded} == there
    nvimgcodec.decoded.clear()
    wanted = run(files, decode, "cpu")
    assert not nvimgcodec.decoded
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_batches_of_which_a_gpu_decodes_all(gpu, nvimgcodec, count):
    files = [*ON_GPU.values()][:count]
    assert len(run(files)) == count
    assert sorted(nvimgcodec.decoded) == sorted(file.tobytes() for file in files)


@pytest.mark.parametrize(
    "options", [{"output_type": types.GRAY}, {"dtype": types.FLOAT}, {"use_fast_idct": True}], ids=str
)
def test_the_host_decodes_what_is_asked_for_in_another_form(gpu, nvimgcodec, options):
    assert (
        len(run([PLAIN, PLAIN], lambda encoded, device: fn.decoders.image(encoded, device=device, **options)))
        == 2
    )
    assert not nvimgcodec.decoded


def test_a_file_that_the_gpu_refuses_is_decoded_by_the_host(gpu, nvimgcodec):
    files = [PLAIN, ON_GPU["4:4:4"], ON_HOST["PNG"]]
    wanted = run(files)
    nvimgcodec.refused.add(files[1].tobytes())
    for one, other in zip(run(files), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("cut", [1, 400])
def test_a_damaged_file_is_an_error_with_its_number(gpu, nvimgcodec, cut):
    files = [PLAIN, PLAIN, ON_HOST["PNG"], PLAIN[:-cut]]
    with pytest.raises(RuntimeError, match=r"sample 3"):
        run(files)
    good = run(files[:3])
    for sample in run(files, on_error="skip", batch_size=4):
        assert any(np.array_equal(sample, one) for one in good)


def test_a_file_that_nobody_can_decode_is_an_error_with_its_number(gpu, nvimgcodec):
    broken = PLAIN.copy()
    broken[-600:-2] = 0
    nvimgcodec.refused.add(broken.tobytes())
    with pytest.raises(RuntimeError, match=r"sample 1"):
        run([PLAIN, broken, PLAIN])


def test_a_gpu_without_engines_decodes_by_another_backend(gpu, nvimgcodec):
    nvimgcodec.backends.remove("engines")
    run([PLAIN])
    assert nvimgcodec.decoded == [PLAIN.tobytes()]


def test_a_gpu_that_decodes_nothing_is_told_once(gpu, nvimgcodec):
    nvimgcodec.backends.clear()
    with pytest.warns(UserWarning, match="no backend that decodes JPEG"):
        run([PLAIN])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run([PLAIN])
    assert not nvimgcodec.decoded


def test_without_the_package_the_host_decodes(gpu, nvimgcodec, monkeypatch):
    monkeypatch.delitem(sys.modules, "nvidia.nvimgcodec")
    monkeypatch.delattr(sys.modules["nvidia"], "nvimgcodec")
    assert len(run([PLAIN])) == 1
    assert not nvimgcodec.decoded


def test_a_cpu_decodes_by_itself(nvimgcodec):
    assert len(run([PLAIN])) == 1
    assert not nvimgcodec.decoded


def on_a_gpu() -> jax.Device:
    device = accelerator.find()
    if platform_of(device) != "gpu":
        pytest.skip("there is no GPU")
    if not gpu_jpeg.has_decoder(device):
        pytest.skip("nvImageCodec is not installed, or cannot decode here")
    return device


@pytest.mark.gpu
@pytest.mark.parametrize("decode", [wholes, windows])
def test_values_of_a_gpu(decode):
    device = on_a_gpu()
    with accelerator.as_default(device):
        files = [*ON_GPU.values(), *ON_HOST.values()]
        found, wanted = run(files, decode), run(files, decode, "cpu")
    far = [float(np.abs(one - other).max()) for one, other in zip(found, wanted, strict=True)]
    assert max(far) <= 1  # rounding of colours; the engines' own


@pytest.mark.gpu
def test_bits_of_a_gpu_do_not_follow_the_batch():
    device = on_a_gpu()
    with accelerator.as_default(device):
        files = [*ON_GPU.values()]
        together = run(files, windows)
        again = run(files, windows, num_threads=1)
    for one, other in zip(together, again, strict=True):
        np.testing.assert_array_equal(one, other)
