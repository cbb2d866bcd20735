"""Bad files: a clear error, or the run goes on and says what it left out."""

import io

import cv2
import numpy as np
import pytest
from PIL import Image
from support.data import image

import jdali
from jdali import fn


def jpeg(seed: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image(16, 20, seed=seed)).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


@pytest.fixture
def folder(tmp_path):
    """Ten files, two of them bad: number 3 is cut off, number 6 no picture."""
    (tmp_path / "a").mkdir()
    for i in range(10):
        data = jpeg(i)
        data = data[: len(data) // 2] if i == 3 else b"this is no picture" if i == 6 else data
        (tmp_path / "a" / f"{i}.jpg").write_bytes(data)
    return tmp_path


@jdali.pipeline_def(batch_size=5, num_threads=2, seed=1)
def reading(root):
    jpegs, labels = fn.readers.file(files=[f"{root}/a/{i}.jpg" for i in range(10)], name="Reader")
    return fn.decoders.image(jpegs), labels


def labels_of(result) -> list[int]:
    return result.outputs[1].as_array().ravel().tolist()


def test_raise_names_everything_and_the_pipeline_goes_on(folder):
    pipe = reading(folder)
    with pytest.raises(jdali.OperatorError) as caught:
        pipe.run()
    message = str(caught.value)
    assert message.startswith("decoders.image")
    assert "sample 3 of the batch" in message
    assert f"{folder}/a/3.jpg" in message
    assert f"{__file__}:" in message
    assert (caught.value.operator, caught.value.sample) == ("decoders.image", 3)
    with pytest.raises(jdali.OperatorError, match="6.jpg"):
        pipe.run()
    with pytest.raises(jdali.OperatorError, match="3.jpg"):  # the next epoch
        pipe.run()


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_stand_ins_take_positions_and_bad_samples_are_listed(folder, on_error):
    pipe = reading(folder, on_error=on_error)
    first = pipe.run_result()
    assert labels_of(first) == [0, 1, 2, 4, 4]
    assert first.mask.tolist() == [True, True, True, False, True]
    np.testing.assert_array_equal(first.outputs[0].at(3), first.outputs[0].at(4))
    second = pipe.run_result()
    assert labels_of(second) == [5, 7, 7, 8, 9]
    assert second.mask.tolist() == [True, False, True, True, True]
    assert not second.padded.any()
    assert labels_of(pipe.run_result()) == [0, 1, 2, 4, 4]  # the next epoch
    errors = {(e.path.rpartition("/")[2], e.index, e.operator) for e in pipe.errors}
    assert {("3.jpg", 3, "decoders.image"), ("6.jpg", 6, "decoders.image")} <= errors
    assert all(e.reason for e in pipe.errors)


def test_if_nothing_is_good_it_ends(tmp_path):
    (tmp_path / "a").mkdir()
    for i in range(10):
        (tmp_path / "a" / f"{i}.jpg").write_bytes(b"nothing")
    for on_error in ("skip", "mask"):
        with pytest.raises(jdali.OperatorError, match="decoders.image"):
            reading(tmp_path, on_error=on_error).run()


@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("batch_size", [1, 4, 5, 10])
def test_a_mistake_that_all_samples_show_is_raised_and_not_a_bad_file(folder, on_error, batch_size):
    (folder / "a" / "0.jpg").write_bytes(b"this is no picture either")

    @jdali.pipeline_def(batch_size=batch_size, num_threads=2, on_error=on_error)
    def pipeline():
        jpegs, _ = fn.readers.file(files=[f"{folder}/a/{i}.jpg" for i in range(10)])
        return fn.crop(fn.decoders.image(jpegs), crop=(64, 64))

    told = "10 samples were tried for one position of the batch, and this operator failed on 7 of them"
    with pytest.raises(jdali.OperatorError, match=told) as caught:
        pipeline().run()
    assert caught.value.operator == "crop"


def test_two_operators_of_a_name_are_counted_apart(folder):
    masks = [folder / f"{i}.png" for i in range(10)]
    for mask in masks:
        mask.write_bytes(b"this is no mask")

    @jdali.pipeline_def(batch_size=2, num_threads=2, on_error="skip")
    def pipeline():
        jpegs, _ = fn.readers.file(files=[f"{folder}/a/{(i + 6) % 10}.jpg" for i in range(10)])
        pngs, _ = fn.readers.file(files=[str(mask) for mask in masks])
        return fn.decoders.image(jpegs), fn.decoders.image(pngs)

    with pytest.raises(jdali.OperatorError, match=r"png(?s:.*)this operator failed on 8 of them"):
        pipeline().run()


def test_a_fed_batch_without_a_good_sample_raises_the_error_of_most_samples():
    @jdali.pipeline_def(batch_size=3, num_threads=2, on_error="skip")
    def pipeline():
        return fn.crop(fn.decoders.image(fn.external_source(name="jpegs")), crop=(64, 64))

    for bad, operator in (([0], "crop"), ([2], "crop"), ([0, 2], "decoders.image")):
        pipe = pipeline()
        pipe.feed_input("jpegs", [np.frombuffer(b"bad" if i in bad else jpeg(i), np.uint8) for i in range(3)])
        with pytest.raises(jdali.OperatorError) as caught:
            pipe.run()
        assert caught.value.operator == operator


def test_a_file_that_disappears(folder):
    pipe = reading(folder, exec_async=False, on_error="skip")
    pipe.build()
    (folder / "a" / "1.jpg").unlink()
    assert labels_of(pipe.run_result()) == [0, 2, 2, 4, 4]
    assert pipe.errors[0].operator == "readers.file"
    assert "1.jpg" in pipe.errors[0].path


def test_a_missing_folder_is_an_error_at_once_with_the_line():
    @jdali.pipeline_def(batch_size=1, num_threads=1)
    def pipeline():
        return fn.readers.file(file_root="/there/is/no/such/folder")

    with pytest.raises(jdali.OperatorError, match="/there/is/no/such/folder") as caught:
        pipeline().build()
    assert f"{__file__}:" in str(caught.value)


def test_a_bad_crop_names_the_sample(folder):
    @jdali.pipeline_def(batch_size=3, num_threads=1)
    def pipeline():
        sizes = fn.external_source(source=lambda: np.array([[4, 4], [4, 4], [400, 4]], np.float32))
        jpegs, _ = fn.readers.file(files=[f"{folder}/a/{i}.jpg" for i in range(3)])
        return fn.crop(fn.decoders.image(jpegs), crop=sizes)

    with pytest.raises(jdali.OperatorError) as caught:
        pipeline().run()
    assert caught.value.operator == "crop"
    assert caught.value.sample == 2
    assert "2.jpg" in str(caught.value)


@pytest.mark.parametrize("on_error", ["skip", "mask", "statistics"])
@pytest.mark.parametrize("place", [0, 4])
def test_a_package_that_is_missing_is_no_bad_sample(folder, monkeypatch, on_error, place):
    """The error names the file that needs it, also if another one of the batch is bad."""
    names = [f"{folder}/a/{i}.jpg" for i in (2, 3, 4, 5)]
    cut = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)).save(cut, "JPEG")
    (folder / "a" / "3.jpg").write_bytes(cut.getvalue()[: len(cut.getvalue()) // 2])  # its header is whole
    names.insert(place, f"{folder}/deep.png")
    cv2.imwrite(names[place], np.full((16, 20, 3), 40_000, np.uint16))
    monkeypatch.setattr("jdali.codecs.base.imagecodecs", lambda: None)

    @jdali.pipeline_def(batch_size=5, num_threads=2, seed=1, on_error=on_error)
    def deep():
        return fn.decoders.image(fn.readers.file(files=names)[0])

    def measured():
        return jdali.statistics(fn.readers.file(files=names), progress=False)

    with pytest.raises(jdali.OperatorError, match="needs the package imagecodecs") as caught:
        (measured if on_error == "statistics" else lambda: deep().run())()
    assert isinstance(caught.value, ImportError)
    assert caught.value.sample == place
    assert caught.value.source == names[place]
