"""Automatic augmentation in whole pipelines and in dynamic mode: programs, devices, sequences, sizes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.accelerator import accelerator, nothing_comes_to_the_host  # noqa: F401

import jdali
import jdali.dynamic as jd
from jdali import fn, types
from jdali._batches import PaddedBlock
from jdali.auto_aug import augmentations as a
from jdali.auto_aug import auto_augment, rand_augment, trivial_augment
from jdali.auto_aug.core import augmentation, signed_bin
from jdali.engine.eager import compiled_programs

SIDE = 12


def trivial(data: Any) -> Any:
    return trivial_augment.trivial_augment_wide(data, max_translate_abs=3)


def rand(data: Any) -> Any:
    return rand_augment.rand_augment(data, n=2, m=20, shape=[SIDE, SIDE])


def auto(data: Any) -> Any:
    return auto_augment.auto_augment(data, max_translate_abs=5)


def pictures(count: int, *lead: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (*lead, SIDE, SIDE - 2 * (i % 2), 3), np.uint8) for i in range(count)]


def files(folder: Path, count: int) -> None:
    """JPEG files of sizes from 24 to 200 pixels."""
    rng = np.random.default_rng(1)
    (folder / "0").mkdir()
    for i in range(count):
        height, width = rng.integers(24, 200, 2)
        image = Image.fromarray(rng.integers(0, 256, (height, width, 3), np.uint8))
        image.save(folder / "0" / f"{i:03}.jpg")


def test_programs_stay_few_over_epochs_of_mixed_sizes(tmp_path: Path) -> None:
    files(tmp_path, 40)

    @jdali.pipeline_def(batch_size=16, num_threads=2, seed=5, enable_conditionals=True, max_compiles=24)
    def training() -> Any:
        jpegs, _ = fn.readers.file(file_root=str(tmp_path), random_shuffle=True, name="reader")
        images = fn.random_resized_crop(
            fn.decoders.image(jpegs), size=[SIDE, SIDE], interp_type=types.INTERP_NN
        )
        return fn.crop_mirror_normalize(rand(images), mirror=fn.random.coin_flip())

    pipe = training()
    for _ in range(3 * -(-40 // 16)):
        (batch,) = pipe.run()
        assert batch.shape() == [(3, SIDE, SIDE)] * 16
    programs = pipe.executor_statistics()["programs"]
    # One for all random choices, one for each augmentation but the identity (both times that it is chosen; shears
    # share theirs), and those before and after.
    assert 14 <= programs <= 24


@pytest.mark.exhaustive  # test_choices.py has the choices, laws/test_every_operator.py the bits
@pytest.mark.parametrize("augment", [rand, pytest.param(auto, marks=pytest.mark.exhaustive)])
def test_a_sample_comes_out_the_same_in_any_batch_and_keeps_size_and_type(augment: Any) -> None:
    images = pictures(12)

    def outputs(batch_size: int) -> list[np.ndarray]:
        @jdali.pipeline_def(batch_size=batch_size, num_threads=1, seed=3, enable_conditionals=True)
        def pipeline() -> Any:
            return augment(
                fn.external_source(source=lambda i: images[i.idx_in_epoch], batch=False, layout="HWC")
            )

        pipe = pipeline()
        batches = [pipe.run()[0] for _ in range(12 // batch_size)]
        return [np.asarray(batch.at(i)) for batch in batches for i in range(batch_size)]

    together, apart = outputs(12), outputs(3)
    for image, one, other in zip(images, together, apart, strict=True):
        assert (one.shape, one.dtype) == (image.shape, image.dtype)
        np.testing.assert_array_equal(one, other)
    assert sum((image != one).any() for image, one in zip(images, together, strict=True)) >= 4


def test_a_sequence_is_augmented_as_its_frames_would_be() -> None:
    frames = pictures(3, 2)
    found = []
    for layout, samples in (("FHWC", frames), ("HWC", [frame for sample in frames for frame in sample])):

        @jdali.pipeline_def(batch_size=len(samples), num_threads=1)
        def pipeline(layout: str = layout, samples: Any = samples) -> Any:
            bins = [np.int32(i // (2 if layout == "HWC" else 1)) for i in range(len(samples))]
            data = fn.external_source(source=[samples], cycle=True, layout=layout)
            signed = signed_bin(fn.external_source(source=[bins], cycle=True), np.int32(1))
            contrasted = a.contrast(data, magnitude_bin=signed, num_magnitude_bins=4)
            return a.auto_contrast(contrasted), a.rotate(data, magnitude_bin=signed, num_magnitude_bins=4)

        found.append([[np.asarray(o.at(i)) for i in range(len(samples))] for o in pipeline().run()])
    for sequences, images in zip(*found, strict=True):
        for frame, image in zip([frame for s in sequences for frame in s], images, strict=True):
            np.testing.assert_array_equal(frame, image)


@pytest.mark.gpu
def test_nothing_comes_to_the_host(accelerator: Any) -> None:  # noqa: F811
    images = pictures(8)

    @jdali.pipeline_def(batch_size=8, num_threads=1, seed=3, enable_conditionals=True)
    def pipeline() -> Any:
        return trivial(fn.external_source(source=[images], cycle=True, layout="HWC").gpu())

    pipe = pipeline()
    with nothing_comes_to_the_host():
        (batch,) = pipe.run()
    # Samples that the identity was chosen for are where they were: they move when they are used.
    computed = [block.array for block in batch.store.blocks if isinstance(block, PaddedBlock)]
    assert {device for array in computed for device in array.devices()} == {accelerator}
    on_host = [np.asarray(batch.as_cpu().at(i)) for i in range(8)]
    assert [o.shape for o in on_host] == [i.shape for i in images]


def test_dynamic_mode_draws_by_sample_and_compiles_once() -> None:
    images = pictures(6)

    def drawn(count: int) -> list[np.ndarray]:
        jd.random.set_seed(3)
        batch = trivial(jd.as_batch(images[:count], layout="HWC"))
        assert isinstance(batch, jd.Batch)
        assert batch.layout == "HWC"
        return [np.asarray(sample) for sample in batch.tensors]

    whole = drawn(6)
    for one, other in zip(whole, drawn(4), strict=False):
        np.testing.assert_array_equal(one, other)
    before = compiled_programs()
    again = drawn(6)
    assert compiled_programs() == before
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one, other)
    other = trivial(jd.as_batch(images, layout="HWC"))  # the next draw
    assert any((one != np.asarray(two)).any() for one, two in zip(whole, other.tensors, strict=True))


def test_dynamic_mode_takes_tensors_and_signed_bins() -> None:
    image = pictures(1)[0]
    tensor = jd.as_tensor(image, layout="HWC")
    inverted = a.invert(tensor)
    assert isinstance(inverted, jd.Tensor)
    np.testing.assert_array_equal(np.asarray(inverted), 255 - image)

    @augmentation(mag_range=(0, 10), randomly_negate=True)
    def added(data: Any, magnitude: Any) -> Any:
        return data + magnitude

    bins = signed_bin(jd.as_batch(np.array([1, 2, 3], np.int32)), jd.as_batch(np.array([0, 1, 0], np.int32)))
    found = added(jd.as_batch(np.zeros(3, np.float32)), magnitude_bin=bins, num_magnitude_bins=11)
    assert np.asarray(found).tolist() == [1.0, -2.0, 3.0]


def test_an_error_in_dynamic_mode_names_operator_and_sample() -> None:
    @augmentation
    def broken(data: Any, _: Any) -> Any:
        return fn.crop(data, crop=[5, 5])

    batch = jd.as_batch([np.zeros((6, 6, 3), np.uint8), np.zeros((4, 6, 3), np.uint8)], layout="HWC")
    with pytest.raises(jdali.OperatorError, match="(?s)crop.*sample 1"):
        broken(batch)


def test_a_choice_survives_serialization() -> None:
    images = pictures(4)

    @jdali.pipeline_def(batch_size=4, num_threads=1, seed=3, enable_conditionals=True)
    def pipeline() -> Any:
        data = fn.external_source(name="data", layout="HWC")
        return rand_augment.apply_rand_augment([a.invert, a.posterize, a.identity], data, n=2, m=3)

    def outputs(pipe: Any) -> list[np.ndarray]:
        pipe.feed_input("data", images)
        (batch,) = pipe.run()
        return [np.asarray(batch.at(i)) for i in range(4)]

    written = pipeline().serialize()
    read = jdali.Pipeline.deserialize(written)
    for one, other in zip(outputs(pipeline()), outputs(read), strict=True):
        np.testing.assert_array_equal(one, other)


def test_importing_jdali_imports_no_auto_augmentation() -> None:
    code = "import sys, jdali; sys.exit(any(name.startswith('jdali.auto_aug') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
