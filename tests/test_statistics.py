"""`jdali.statistics`, compared with NumPy."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image

import jdali
import jdali.dynamic as jd
from jdali import fn, pipeline_def
from jdali._statistics.moments import Moments

_rng = np.random.default_rng(7)


@pytest.fixture
def pictures(tmp_path: Path) -> list[np.ndarray]:
    """Nine PNG files in two folders, the last one damaged; returns the pictures of the others."""
    arrays = []
    for i in range(9):
        folder = tmp_path / ("cat" if i % 3 else "dog")
        folder.mkdir(exist_ok=True)
        picture = _rng.integers(0, 256, (12 + i, 20, 3), np.uint8)
        content = io.BytesIO()
        Image.fromarray(picture).save(content, "png")
        (folder / f"{i}.png").write_bytes(content.getvalue()[: None if i != 8 else 40])
        arrays.append(picture)
    return arrays[:8]


def test_a_reader_of_pictures(pictures: list[np.ndarray], tmp_path: Path) -> None:
    found = jdali.statistics(fn.readers.file(file_root=str(tmp_path)))
    values = np.concatenate([picture.reshape(-1, 3) for picture in pictures]).astype(np.float64)
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(found.std, values.std(axis=0), rtol=1e-14)
    assert found.samples == 8
    assert found.labels == {0: 5, 1: 3}
    assert found.outputs[0].sizes["H"] == (12, 15.5, 19)
    assert found.outputs[0].range == (0, 255)
    assert [Path(sample.path).name for sample in found.bad] == ["8.png"]
    last = repr(found).splitlines()[-1]
    assert last == "mean=[{:.6g}, {:.6g}, {:.6g}], std=[{:.6g}, {:.6g}, {:.6g}]".format(
        *values.mean(axis=0), *values.std(axis=0)
    )
    assert "8.png" in repr(found)


def test_a_reader_of_dynamic_mode_and_some_samples(pictures: list[np.ndarray], tmp_path: Path) -> None:
    found = jdali.statistics(jd.readers.File(file_root=str(tmp_path)), n=3)  # of the folder "cat"
    values = np.concatenate([pictures[i].reshape(-1, 3) for i in (1, 2, 4)]).astype(np.float64)
    assert found.samples == 3
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-15)


def test_a_pipeline_with_channels_first(pictures: list[np.ndarray], tmp_path: Path) -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def normalized():
        names = [str(path) for path in sorted(tmp_path.glob("*/*.png")) if path.name != "8.png"]
        encoded, _ = fn.readers.file(files=names)
        return fn.crop_mirror_normalize(
            fn.decoders.image(encoded), mean=[10.0], std=[2.0], output_layout="CHW"
        )

    found = jdali.statistics(normalized())
    values = np.concatenate([picture.reshape(-1, 3) for picture in pictures]).astype(np.float64)
    assert found.samples == 8  # though three batches of three have one of the next epoch
    np.testing.assert_allclose(found.mean, (values.mean(axis=0) - 10) / 2, rtol=1e-5)  # of float32 values
    np.testing.assert_allclose(found.std, values.std(axis=0) / 2, rtol=1e-5)
    assert found.labels == {}


def test_sounds(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    lengths = {8000: 4000, 16000: 12000}
    for rate, length in lengths.items():
        soundfile.write(tmp_path / "a" / f"{rate}.wav", np.zeros(length), rate)
    found = jdali.statistics(fn.readers.file(file_root=str(tmp_path)))
    assert found.outputs[0].duration == (0.5, 0.625, 0.75)
    assert "seconds 0.5 to 0.75 (mean 0.625)" in repr(found)


def test_what_is_fed_ends_or_is_refused() -> None:
    batches = [[np.float32([1, 2]), np.float32([math.nan, 6])], [np.float32([3])]]

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def fed(cycle=None):
        return fn.external_source(batches, cycle=cycle)

    found = jdali.statistics(fed("raise"))
    assert (found.samples, found.mean, found.outputs[0].not_finite) == (3, (3.0,), 1)
    with pytest.raises(TypeError, match="no end"):
        jdali.statistics(fed("quiet"))
    assert jdali.statistics(fed("quiet"), n=4).samples == 4


def test_what_is_no_reader_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes a pipeline or a reader: .*got str"):
        jdali.statistics("train/")
    with pytest.raises(ValueError, match="n is 0"):
        jdali.statistics(jd.readers.File(file_root="."), n=0)
    for wrong in (2.5, "3"):
        with pytest.raises(TypeError, match=rf"^jdali\.statistics: n is {wrong!r}, it must be an integer"):
            jdali.statistics(jd.readers.File(file_root="."), n=wrong)
    debug = pipeline_def(lambda: fn.random.uniform(), batch_size=2, num_threads=1)(debug=True)
    with pytest.raises(TypeError, match="not in debug mode"):
        jdali.statistics(debug)


@pytest.mark.parametrize("layout", ["HWC", None])
@pytest.mark.parametrize("empty", [(4, 5, 0), (0, 5, 3), (4, 0, 3)])
def test_samples_without_values(empty: tuple[int, ...], layout: str | None) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def fed(*shapes):
        batches = [[np.full(shape, 7, np.uint8) for shape in shapes]]
        return fn.external_source(batches, layout=layout, cycle="raise")

    found = jdali.statistics(fed(empty, empty))
    assert found.samples == 2
    assert all(map(math.isnan, found.mean))
    assert repr(found)
    assert jdali.statistics(fed((2, 2, 3), empty)).samples == 2


def test_flags_are_labels() -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def flags():
        return fn.external_source([[np.bool_(True), np.bool_(False), np.bool_(True)]], cycle="raise")

    found = jdali.statistics(flags())
    assert found.labels == {0: 1, 1: 2}
    assert repr(found).endswith("2 labels: 0 1 times, 1 2 times")


def test_batches_with_other_numbers_of_axes(tmp_path: Path) -> None:
    for i, shape in enumerate([(3, 4), (5, 4), (3, 4, 2)]):
        np.save(tmp_path / f"{i}.npy", np.ones(shape, np.float32))

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def arrays():
        return fn.readers.numpy(file_root=str(tmp_path))

    found = jdali.statistics(arrays())
    assert (found.samples, found.outputs[0].sizes) == (3, {"0": (3, 4, 5), "1": (4, 4, 4)})


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "uint64"])
def test_integers_are_exact(dtype: str) -> None:
    """Beside large values a float64 sum of squares would lose the small ones."""
    info = np.iinfo(dtype)
    parts = [np.array([[info.max], [info.max - 1]], dtype), np.array([[info.max - 4]], dtype)]
    moments = Moments(1)
    for part in parts:
        moments.add(part)
    assert moments.std == (math.sqrt(26 / 9),)  # of 0, -1, -4
    assert moments.mean == ((int(info.max) * 3 - 5) / 3,)


def test_floats_keep_their_digits_beside_a_large_mean() -> None:
    values = 1e9 + _rng.normal(size=3000)
    moments = Moments(1)
    for part in np.array_split(values, 7):
        moments.add(part[:, None])
    np.testing.assert_allclose(
        moments.std, (values - 1e9).std(), rtol=1e-9
    )  # sums of squares would have no digit
    np.testing.assert_allclose(moments.mean, values.mean(), rtol=1e-15)
