"""Every program of DALI's Getting Started page, with nothing changed but the import."""

import numpy as np
import pytest
from PIL import Image
from support.data import image

from jdali import fn, types
from jdali.pipeline import Pipeline, pipeline_def

max_batch_size = 8


@pytest.fixture(scope="module")
def image_dir(tmp_path_factory):
    """Pictures of two classes and several sizes."""
    root = tmp_path_factory.mktemp("images")
    for i in range(21):
        folder = root / ("dog" if i < 11 else "kitten")
        folder.mkdir(exist_ok=True)
        Image.fromarray(image(20 + 3 * (i % 4), 24 + 5 * (i % 3), seed=i)).save(
            folder / f"{i:02}.jpg", quality=95
        )
    return str(root)


def decoded(path: str) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


def files(image_dir):
    from pathlib import Path

    return sorted(str(p) for p in Path(image_dir).rglob("*.jpg"))


def test_simple_pipeline(image_dir):
    @pipeline_def
    def simple_pipeline():
        jpegs, labels = fn.readers.file(file_root=image_dir)
        images = fn.decoders.image(jpegs, device="cpu")
        return images, labels

    pipe = simple_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0)
    pipe.build()
    images, labels = pipe.run()
    assert not images.is_dense_tensor()
    assert labels.is_dense_tensor()
    assert labels.as_tensor().shape() == [8, 1]
    assert np.array(labels.as_tensor()).ravel().tolist() == [0] * 8
    for i, path in enumerate(files(image_dir)[:8]):
        # JPEG decoding is exact by the standard's reference method, in Pillow too.
        np.testing.assert_array_equal(images.at(i), decoded(path))


def test_shuffled_pipeline(image_dir):
    @pipeline_def
    def shuffled_pipeline():
        jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=True, initial_fill=21)
        images = fn.decoders.image(jpegs, device="cpu")
        return images, labels

    pipe = shuffled_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0, seed=1234)
    pipe.build()
    labels = np.concatenate([np.array(pipe.run()[1].as_tensor()).ravel() for _ in range(2)])
    assert set(labels.tolist()) == {0, 1}
    assert labels.tolist() != sorted(labels.tolist())


def test_rotated_pipeline(image_dir):
    @pipeline_def
    def rotated_pipeline():
        jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=True, initial_fill=21)
        images = fn.decoders.image(jpegs, device="cpu")
        rotated_images = fn.rotate(images, angle=90.0, fill_value=0)
        return images, rotated_images, labels

    pipe = rotated_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0, seed=1234)
    pipe.build()
    images, rotated, _ = pipe.run()
    for i in range(8):
        # Counter-clockwise by a right angle: pixels only move.
        np.testing.assert_array_equal(rotated.at(i), np.rot90(images.at(i)))


def test_random_rotated_pipeline(image_dir):
    @pipeline_def
    def random_rotated_pipeline():
        jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=True, initial_fill=21)
        images = fn.decoders.image(jpegs, device="cpu")
        angle = fn.random.uniform(range=(-10.0, 10.0))
        rotated_images = fn.rotate(images, angle=angle, fill_value=0)
        return rotated_images, labels

    pipe = random_rotated_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0, seed=1234)
    pipe.build()
    images, _ = pipe.run()
    assert len(set(images.shape())) > 1
    assert images.layout() == "HWC"


def test_adding_gpu_acceleration(image_dir):
    @pipeline_def
    def random_rotated_gpu_pipeline():
        jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=True, initial_fill=21)
        images = fn.decoders.image(jpegs, device="cpu")
        angle = fn.random.uniform(range=(-10.0, 10.0))
        rotated_images = fn.rotate(images.gpu(), angle=angle, fill_value=0)
        return rotated_images, labels

    pipe = random_rotated_gpu_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0, seed=1234)
    pipe.build()
    images, labels = pipe.run()
    cpu = images.as_cpu()
    assert np.asarray(cpu.at(0)).shape == images.shape()[0]
    assert type(images).__name__ == "TensorListGPU"
    assert type(labels).__name__ == "TensorListCPU"


def test_hybrid_decoding(image_dir):
    @pipeline_def
    def hybrid_pipeline():
        jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=True, initial_fill=21)
        images = fn.decoders.image(jpegs, device="mixed")
        return images, labels

    pipe = hybrid_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0, seed=1234)
    pipe.build()
    images, _ = pipe.run()
    assert type(images).__name__ == "TensorListGPU"
    assert images.as_cpu().at(3).dtype == np.uint8


def test_the_pipeline_in_the_readme(image_dir):
    """DALI's README: random crop, resize, normalise and mirror."""

    @pipeline_def(batch_size=max_batch_size, num_threads=2, device_id=0)
    def get_dali_pipeline(data_dir, crop_size):
        images, labels = fn.readers.file(file_root=data_dir, random_shuffle=True, name="Reader")
        images = fn.decoders.image_random_crop(images, device="mixed", output_type=types.RGB)
        images = fn.resize(images, resize_x=32)
        images = fn.crop_mirror_normalize(
            images,
            crop_h=crop_size,
            crop_w=crop_size,
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
            out_of_bounds_policy="pad",
            mirror=fn.random.coin_flip(),
        )
        return images, labels

    pipe = get_dali_pipeline(image_dir, 16)
    images, labels = pipe.run()
    assert images.is_dense_tensor()
    assert images.as_cpu().as_array().shape == (8, 3, 16, 16)
    assert pipe.epoch_size("Reader") == 21
    assert pipe.reader_meta("Reader")["number_of_shards"] == 1
    assert labels.shape() == [(1,)] * 8


def test_subclassing_pipeline(image_dir):
    class Simple(Pipeline):
        def define_graph(self):
            jpegs, labels = fn.readers.file(file_root=image_dir)
            return fn.decoders.image(jpegs), labels

    pipe = Simple(batch_size=4, num_threads=1, device_id=0)
    images, labels = pipe.run()
    assert len(images) == len(labels) == 4
