"""Where samples came from: names, errors and what is left out, through all that moves or mixes samples."""

import io
import itertools

import numpy as np
import pytest
from PIL import Image
from support import oracle

import jdali
import jdali.dynamic as jd
from jdali import fn, types
from jdali._batches.provenance import Drawn, Provenance

SIZE = 6


def picture(value):
    buffer = io.BytesIO()
    Image.fromarray(np.full((4, 5, 3), value, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def folder(tmp_path):
    """Six pictures, and six masks, the fourth of which is no picture; arrays of two kinds."""
    for kind in ("image", "mask", "a", "b"):
        (tmp_path / kind).mkdir()
    for i in range(SIZE):
        (tmp_path / "image" / f"image{i}.png").write_bytes(picture(i))
        (tmp_path / "mask" / f"mask{i}.png").write_bytes(b"no picture" if i == 3 else picture(100 + i))
        for kind in "ab":
            np.save(tmp_path / kind / f"{kind}{i}.npy", np.full((3, 4), i, np.float32))
    return tmp_path


def files(folder, kind, name=None):
    paths = [f"{folder}/{kind}/{kind}{i}.png" for i in range(SIZE)]
    return fn.readers.file(files=paths, name=name)


def base(path):
    """The name of a file without its folder; of several likewise."""
    return ";".join(part.rpartition("/")[2] for part in path.split(";"))


@jdali.pipeline_def(batch_size=3, num_threads=2)
def image_and_mask(folder, order=None):
    images, labels = files(folder, "image", "Reader")
    masks, _ = files(folder, "mask")
    if order is not None:
        images, masks = (fn.permute_batch(v, indices=order) for v in (images, masks))
    images, masks = fn.decoders.image(images), fn.decoders.image(masks)
    return images, masks, images + masks, labels


def test_names_of_two_readers(folder):
    with image_and_mask(folder) as pipe:
        images, masks, both, labels = pipe.run()
        assert [base(name) for name in images.source_info()] == [f"image{i}.png" for i in range(3)]
        assert [base(name) for name in masks.source_info()] == [f"mask{i}.png" for i in range(3)]
        assert both.source_info() == [""] * 3
        assert labels.source_info() == images.source_info()
        assert base(masks[1].source_info()) == "mask1.png"


@pytest.mark.parametrize("order", [None, [2, 0, 1], [0, 0, 2]])
def test_errors_name_the_file_of_the_operators_input(folder, order):
    with image_and_mask(folder, order) as pipe:
        pipe.run()
        with pytest.raises(jdali.OperatorError) as caught:
            pipe.run()
    assert (base(caught.value.source), caught.value.sample) == ("mask3.png", 0)
    assert "image3.png" not in str(caught.value)
    assert "mask3.png" in str(caught.value)


@pytest.mark.parametrize("order", [None, [2, 0, 1]])
def test_skipped_is_the_sample_not_its_position(folder, order):
    """Another one stands in, with its partner; no good one is lost, however the batch is permuted."""
    with image_and_mask(folder, order, on_error="skip") as pipe:
        results = [pipe.run_result() for _ in range(2)]
        seen = [
            int(label)
            for r in results
            for label, real in zip(r.outputs[3].as_array().ravel(), r.mask, strict=True)
            if real
        ]
        assert sorted(seen) == [0, 1, 2, 4, 5]
        assert [(base(e.path), e.index, e.operator) for e in pipe.errors] == [
            ("mask3.png", 3, "decoders.image")
        ]
        images, masks = results[1].outputs[:2]
        chosen = order or [0, 1, 2]
        labels = results[1].outputs[3].as_array().ravel()[chosen]
        np.testing.assert_array_equal(images.as_array()[:, 0, 0, 0], labels)
        np.testing.assert_array_equal(masks.as_array()[:, 0, 0, 0], 100 + labels)


def test_masked_is_the_sample_not_its_position(folder):
    with image_and_mask(folder, [2, 0, 1], on_error="mask") as pipe:
        pipe.run()
        result = pipe.run_result()
    assert result.mask.tolist() == [False, True, True]
    assert result.outputs[3].as_array().ravel().tolist() == [4, 4, 5]
    np.testing.assert_array_equal(result.outputs[1].as_array()[:, 0, 0, 0], [105, 104, 104])


def test_host_operators_after_a_permutation_see_what_was_replaced(folder):
    @jdali.pipeline_def(batch_size=3, num_threads=2, on_error="skip")
    def pipeline():
        images, labels = files(folder, "mask")
        turned = fn.permute_batch(labels, indices=[2, 0, 1])
        turned = fn.python_function(turned, function=lambda v: v + 100)
        return labels, turned, fn.decoders.image(images)

    with pipeline() as pipe:
        for _ in range(2):
            labels, turned, _ = (np.array(out.as_array()) for out in pipe.run())
            np.testing.assert_array_equal(turned, labels[[2, 0, 1]] + 100)


def test_of_several_samples_mixed_the_bad_one_is_blamed(folder):
    """Each sample is in two of the sum: that from which a good one came as well is not at fault."""

    @jdali.pipeline_def(batch_size=6, num_threads=1, on_error="skip")
    def pipeline():
        data, labels = files(folder, "mask")
        turned = fn.permute_batch(data, indices=[1, 2, 3, 4, 5, 0])
        both = fn.python_function(data, turned, function=check)
        return both, labels

    def check(first, second):
        for data in (first, second):
            if bytes(data[:2]) == b"no":
                raise jdali._errors.SampleError("no picture")
        return np.float32(0)

    with pipeline() as pipe:
        result = pipe.run_result()
        assert [base(e.path) for e in pipe.errors] == ["mask3.png"]
        assert result.outputs[1].as_array().ravel()[result.mask].tolist() == [0, 1, 2, 4, 5]


def test_errors_name_all_files_that_were_read_together(folder):
    def fail(first, second):
        if first[0, 0] == 1:
            raise ValueError("no")
        return first

    @jdali.pipeline_def(batch_size=3, num_threads=1)
    def pipeline():
        a, b = (fn.readers.numpy(file_root=f"{folder}/{kind}") for kind in "ab")
        return fn.python_function(a, b, function=fail)

    with pipeline() as pipe, pytest.raises(jdali.OperatorError) as caught:
        pipe.run()
    assert [base(name) for name in caught.value.source.split(", ")] == ["a1.npy", "b1.npy"]


@pytest.mark.parametrize("limit", [-1, 1, 100])
def test_errors_in_branches(folder, limit):
    """Operators in a branch work on a part of the batch: the file is that of the sample in the whole."""

    @jdali.pipeline_def(batch_size=6, num_threads=1, enable_conditionals=True)
    def pipeline():
        data, labels = files(folder, "mask")
        if labels[0] > limit:
            out = fn.decoders.image(data)
        else:
            out = fn.permute_batch(data, indices=fn.cast(labels[0], dtype=types.INT32) * 0)
            out = fn.decoders.image(out)
        return out

    with pipeline() as pipe:
        if limit == 100:  # all are the first one
            (out,) = pipe.run()
            assert [base(name) for name in out.source_info()] == ["mask0.png"] * 6
            return
        with pytest.raises(jdali.OperatorError) as caught:
            pipe.run()
    assert (base(caught.value.source), caught.value.sample) == ("mask3.png", 3)


def test_compiled_operators_name_the_file(folder):
    """Also where the input is made in the same compiled program, of samples in another order."""

    @jdali.pipeline_def(batch_size=3, num_threads=1)
    def pipeline():
        a, b = (fn.readers.numpy(file_root=f"{folder}/{kind}") for kind in "ab")
        sizes = fn.external_source(source=lambda: np.array([2, 2, 9], np.float32))
        turned = fn.permute_batch(b, indices=[2, 0, 1]) + 1.0
        return a, fn.crop(fn.reshape(turned, layout="HW") * 2.0, crop_w=sizes, crop_h=2.0)

    with pipeline() as pipe, pytest.raises(jdali.OperatorError) as caught:
        pipe.run()
    assert caught.value.operator == "crop"
    assert "b1.npy" in caught.value.source
    assert "a1.npy" not in caught.value.source


def in_branches(fn, a, b):
    number = fn.external_source(source=lambda: np.arange(3, dtype=np.int32))
    if number == 1:
        out = b + 1
    else:
        out = a + 1
    return out


CASES = {
    "own": lambda fn, a, b: b + 0,
    "sum": lambda fn, a, b: a + b,
    "same": lambda fn, a, b: b + fn.copy(b),
    "cast": lambda fn, a, b: fn.reductions.sum(b),
    "index": lambda fn, a, b: b[0],
    "stack": lambda fn, a, b: fn.stack(b, a),
    "permute": lambda fn, a, b: fn.permute_batch(b, indices=[2, 1, 0]),
    "permuted_sum": lambda fn, a, b: fn.permute_batch(b, indices=[2, 0, 1]) + b,
    "random": lambda fn, a, b: fn.random.uniform(range=[0, 1]),
    "random_like": lambda fn, a, b: fn.random.uniform(b, range=[0, 1]),
    "random_sum": lambda fn, a, b: fn.random.uniform(range=[0, 1]) + b,
    "function": lambda fn, a, b: fn.python_function(b, function=lambda v: v),
    "function_of_two": lambda fn, a, b: fn.python_function(b, a, function=lambda v, w: v),
    "argument": lambda fn, a, b: fn.pad(a, fill_value=fn.reductions.sum(b)),
    "branches": in_branches,
    "pasted": lambda fn, a, b: fn.multi_paste(pixels(fn, b), nameless(fn), pixels(fn, a), pixels(fn, b)),
    "pasted_constants": lambda fn, a, b: fn.copy(fn.multi_paste(pixels(fn, a), in_ids=[2, 0])),
    "pasted_twice": lambda fn, a, b: fn.multi_paste(
        fn.multi_paste(pixels(fn, a), in_ids=ids(fn)), fn.permute_batch(pixels(fn, b), indices=[2, 0, 0])
    ),
}


def pixels(fn, data):
    return fn.reshape(data, shape=(3, 4, 1), layout="HWC")


def nameless(fn):
    return fn.external_source(itertools.repeat([np.zeros((3, 4, 1), np.float32)] * 3), layout="HWC")


CHOSEN = [np.int32([2]), np.int32([0]), np.int32([1, 1, 0])]


def ids(fn):
    return fn.external_source(itertools.repeat([np.int32([1, 1, 0]), np.int32([2]), np.int32([])]))


@pytest.mark.cases(3)
@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES)
def test_names_are_those_of_dali(folder, case):
    dali = oracle.dali()
    import nvidia.dali.fn  # noqa: F401

    def names(package):
        @package.pipeline_def(batch_size=3, num_threads=1, device_id=None, enable_conditionals=True)
        def pipeline():
            a, b = (package.fn.readers.numpy(file_root=f"{folder}/{kind}") for kind in "ab")
            return package.fn.get_property(CASES[case](package.fn, a, b), key="source_info")

        pipe = pipeline()
        pipe.build()
        (out,) = pipe.run()
        return [base(bytes(np.array(out.at(i))).decode()) for i in range(3)]

    assert names(jdali) == names(dali)


def test_errors_behind_a_paste_name_all_files(folder):
    @jdali.pipeline_def(batch_size=3, num_threads=1)
    def pipeline():
        images, _ = files(folder, "image")
        pasted = fn.multi_paste(fn.decoders.image(images), in_ids=fn.external_source(lambda: CHOSEN))
        return fn.crop(
            pasted, crop=fn.external_source(lambda: [np.float32([2, 2])] * 2 + [np.float32([9, 9])])
        )

    with pipeline() as pipe, pytest.raises(jdali.OperatorError) as caught:
        pipe.run()
    assert caught.value.sample == 2
    assert base(caught.value.source.replace(", ", ";")) == "image1.png;image0.png;image2.png"


def test_dynamic_mode_joins_names(folder):
    paths = [f"{folder}/image/image{i}.png" for i in range(SIZE)]
    data, _ = next(iter(jd.readers.File(files=paths).next_epoch(batch_size=3)))
    pasted = jd.multi_paste(jd.decoders.image(data, device="cpu"), in_ids=[2, 0])
    assert [base(name) for name in pasted._list.source_info()] == ["image2.png;image0.png"] * 3


def test_dynamic_mode(folder):
    paths = [f"{folder}/mask/mask{i}.png" for i in range(SIZE)]
    reader = jd.readers.File(files=paths)
    data, _ = next(iter(reader.next_epoch(batch_size=6)))
    turned = jd.permute_batch(data, indices=jd.batch([5, 4, 3, 2, 1, 0]))
    with pytest.raises(jdali.OperatorError, match="mask3.png") as caught:
        jd.decoders.image(turned, device="cpu").evaluate()
    assert "mask2.png" not in str(caught.value)


def test_laws():
    """Concatenating, choosing and mixing keep for each sample what it was made of."""
    a = Provenance.of(Drawn(lambda i: f"a{i}", np.arange(4) + 10))
    b = Provenance.of(Drawn(lambda i: f"b{i}", np.arange(4)))
    assert list(a.select([3, 0])) == ["a13", "a10"]
    mixed = Provenance.together([a, b.select([1, 1, 0, 3])])
    assert list(mixed) == [""] * 4
    assert [mixed.files(i) for i in range(4)] == [["a10", "b1"], ["a11", "b1"], ["a12", "b0"], ["a13", "b3"]]
    whole = Provenance.concat([mixed.select([2]), b.select([1]), Provenance.nowhere(1), a.select([0])])
    assert list(whole) == ["", "b1", "", "a10"]
    assert whole.files(0) == ["a12", "b0"]
    assert [position for _, position in whole.origins(0)] == [2, 0]
    assert whole.origins(2) == []
    assert Provenance.together([a, a.select([0, 1, 2, 3])]).select([1])[0] == "a11"
    argument = Provenance.together([a], [b])
    assert list(argument) == list(a)
    assert argument.files(2) == ["a12", "b2"]
    assert Provenance.together([None], []) is None
    again = a
    for _ in range(12):  # there are never more than were drawn
        again = Provenance.together([again, again.select([1, 2, 3, 0])])
    assert again.files(0) == ["a10", "a11", "a12", "a13"]
