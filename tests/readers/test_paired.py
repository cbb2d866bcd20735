"""Several files a sample: pairs by stem, by pattern, by list, by a table; what lacks a partner; masks beside pictures."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.readers import opened

import jdali
import jdali.dynamic as jd
from jdali import fn, ops, types

COUNT = 6


@pytest.fixture
def root(tmp_path):
    """Files whose content tells the number of the sample."""
    for number in range(COUNT):
        write(tmp_path, f"images/{number}.jpg", f"image {number}")
        write(tmp_path, f"masks/{number}.png", f"mask {number}")
    return tmp_path


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def contents(**args):
    """The samples of a reader in order, as tuples of text; alone and together, which must be the same."""
    reader = opened("paired", **args)
    indices = np.arange(reader.size)
    alone = [tuple(bytes(part).decode() for part in reader.load(i)) for i in indices.tolist()]
    columns = reader.load_many(indices).columns
    together = zip(
        *[[bytes(one).decode() for one in column.host_samples()] for column in columns], strict=True
    )
    assert alone == list(together)
    reader.close()
    return alone


def numbered(count=COUNT):
    return [(f"image {n}", f"mask {n}") for n in range(count)]


def built(**args):
    @jdali.pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=3)
    def pipe():
        return fn.readers.paired(name="r", **args)

    return pipe()


# --- what goes together -----------------------------------------------------------------------
@pytest.mark.parametrize(
    "given",
    [
        {"images": "images", "masks": "masks"},
        {"images": "images/*.jpg", "masks": "masks/*.png"},
        {"images": "images/[0-9].jpg", "masks": "masks/?.png"},
        {"images": "images", "masks": "masks/*.png"},
        {"images": "**/*.jpg", "masks": "masks/*.png"},
    ],
    ids=str,
)
def test_files_of_one_stem(root, given):
    given = {key: f"{root}/{value}" for key, value in given.items()}
    if "**" in given["images"]:  # the folder is part of the stem then
        with pytest.raises(ValueError, match="no two files have the same stem"):
            contents(files=given)
        return
    assert contents(files=given) == numbered()
    assert [path.split(";") for path in [opened("paired", files=given).source(2)]] == [
        [f"{root}/images/2.jpg", f"{root}/masks/2.png"]
    ]


def test_wildcards_stand_for_the_stem(tmp_path):
    """As Cityscapes has its files."""
    for town in ("ulm", "bonn"):
        for number in range(2):
            write(tmp_path, f"left/train/{town}/{number}_left.png", f"image {town} {number}")
            write(tmp_path, f"fine/train/{town}/{number}_labels.png", f"mask {town} {number}")
            write(tmp_path, f"fine/train/{town}/{number}_color.png", "wrong")
    given = {"images": "left/train/*/*_left.png", "masks": "fine/**/*_labels.png"}
    expected = [(f"image {town} {n}", f"mask {town} {n}") for town in ("bonn", "ulm") for n in range(2)]
    given["masks"] = "fine/train/**/*_labels.png"
    assert contents(files=given, file_root=str(tmp_path)) == expected


def test_the_folder_of_all_paths_is_no_pattern(tmp_path):
    write(tmp_path, "[v2]/images/0.jpg", "image 0")
    write(tmp_path, "[v2]/0.png", "mask 0")
    for given in ({"i": "images/*.jpg", "m": "*.png"}, {"i": "images", "m": "?.png"}):
        assert contents(files=given, file_root=str(tmp_path / "[v2]")) == [("image 0", "mask 0")]


def test_folders_below_are_part_of_the_stem(root):
    write(root, "images/more/0.jpg", "image more")
    write(root, "masks/more/0.png", "mask more")
    write(root, "masks/.cache/7.png", "hidden")
    write(root, "masks/.DS_Store", "hidden")
    assert contents(files={"i": "images", "m": "masks"}, file_root=str(root)) == [
        *numbered(), ("image more", "mask more"),
    ]  # fmt: skip


class Unprinted(list):
    """A list that is too long to print."""

    __repr__ = None


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, iter, lambda paths: (Path(p) for p in paths), Unprinted]
)
def test_lists_in_any_order(root, kind):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    images = [f"{root}/images/{n}.jpg" for n in (3, 1, 4)]
    masks = pd.Series([f"{root}/masks/{n}.png" for n in (1, 3, 4)])
    pipe = built(images=kind(images), masks=masks)
    for expected in ([3, 1], [4, 3]):
        pictures, marks = pipe.run()
        assert [bytes(p).decode() for p in pictures.to_samples()] == [f"image {n}" for n in expected]
        assert [bytes(p).decode() for p in marks.to_samples()] == [f"mask {n}" for n in expected]


def test_any_number_of_keywords_in_their_order(root):
    for number in range(COUNT):
        write(root, f"depth/{number}.tif", f"depth {number}")
    outputs = built(masks=f"{root}/masks", depth=f"{root}/depth", images=f"{root}/images").run()
    assert [bytes(o.at(1)).decode() for o in outputs] == ["mask 1", "depth 1", "image 1"]
    (only,) = built(images=f"{root}/images").run()
    assert bytes(only.at(0)) == b"image 0"


def test_keywords_with_names_of_arguments(root):
    outputs = built(files={"seed": f"{root}/images"}, masks=f"{root}/masks", seed=4).run()
    assert [bytes(o.at(0)).decode() for o in outputs] == ["image 0", "mask 0"]


def test_shuffled_and_sharded_pairs_stay_together(root):
    for more in ({"random_shuffle": True}, {"shuffle_after_epoch": True}):
        seen = []
        for shard in range(2):
            pipe = built(images=f"{root}/images", masks=f"{root}/masks", shard_id=shard, num_shards=2, **more)
            for _ in range(4):
                pictures, masks = pipe.run()
                for one, other in zip(pictures.to_samples(), masks.to_samples(), strict=True):
                    assert bytes(one).decode().replace("image", "mask") == bytes(other).decode()
                    seen.append(bytes(one))
        assert len(set(seen)) == COUNT


def test_each_surface(root):
    given = {"images": f"{root}/images", "masks": f"{root}/masks"}
    with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        pipe.set_outputs(*ops.readers.Paired(**given)())
    assert bytes(pipe.run()[1].at(1)) == b"mask 1"
    image, mask = jd.readers.Paired(**given, name="r")()
    assert bytes(np.asarray(image)), bytes(np.asarray(mask)) == (b"image 0", b"mask 0")
    assert len(list(jd.readers.Paired(**given).next_epoch(batch_size=2))) == COUNT // 2


# --- what lacks a partner -----------------------------------------------------------------------
def test_a_missing_partner_is_an_error_that_names_the_file(root):
    (root / "masks/3.png").unlink()
    (root / "images/5.jpg").unlink()
    given = {"images": f"{root}/images/*.jpg", "masks": f"{root}/masks"}
    with pytest.raises(
        ValueError, match=r"images/3.jpg has no partner .*'3' in masks .*2 of 6 .*missing="
    ) as raised:
        built(**given).build()
    assert "readers.paired" in str(raised.value)
    pipe = built(**given, missing="skip")
    assert {k: pipe.reader_meta("r")[k] for k in ("epoch_size", "left_out")} == {
        "epoch_size": 4,
        "left_out": 2,
    }
    assert contents(files=given, missing="skip") == [pair for pair in numbered(5) if pair[0] != "image 3"]


def test_only_the_second_has_more(root):
    write(root, "masks/9.png", "mask 9")
    with pytest.raises(ValueError, match=r"masks/9.png has no partner .*'9' in images"):
        contents(files={"images": "images", "masks": "masks"}, file_root=str(root))


def test_two_files_of_one_stem(root):
    write(root, "masks/2.tif", "another")
    with pytest.raises(ValueError, match=r"masks has two files of the stem '2': .*2.png and .*2.tif"):
        contents(files={"images": f"{root}/images", "masks": f"{root}/masks"})


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({}, ValueError, "needs keywords"),
        ({"images": "images", "random_shufle": True}, TypeError, "random_shufle is True; it is not an argument"),
        ({"images": "images", "masks": "nowhere"}, FileNotFoundError, "masks: Failed to open .*nowhere"),
        ({"images": "images/*.gif"}, ValueError, "No files found: images is"),
        ({"images": "images/[z-a].jpg"}, ValueError, "is not a pattern: bad character range"),
        ({"images": "images", "missing": "ignore"}, ValueError, 'must be "error" or "skip"'),
    ],
)  # fmt: skip
def test_what_is_refused(root, given, error, text):
    with pytest.raises(error, match=text):
        built(**given, file_root=str(root)).build()


def test_a_damaged_file_is_one_bad_sample(root):
    os.chmod(root / "masks/2.png", 0)
    if os.access(root / "masks/2.png", os.R_OK):  # as root may
        (root / "masks/2.png").unlink()
        (root / "masks/2.png").symlink_to("nowhere")
    reader = opened("paired", files={"i": f"{root}/images", "m": f"{root}/masks"})
    columns, failures = reader.load_many(np.arange(COUNT))
    assert "masks/2.png" in str(failures.pop(2))
    assert not failures
    assert [bytes(one)[-1:] for one in columns[0].host_samples()] == [b"0", b"1", b"3", b"4", b"5"]
    assert [bytes(one)[-1:] for one in columns[1].host_samples()] == [b"0", b"1", b"3", b"4", b"5"]


# --- by a table -----------------------------------------------------------------------------------
def frames(columns):
    yield columns
    for package in ("pandas", "polars"):
        try:
            yield __import__(package).DataFrame(columns)
        except ImportError:
            continue
    try:
        yield __import__("pyarrow").table(columns)
    except ImportError:
        return


def test_a_row_is_a_sample(root):
    columns = {"a": ["images/4.jpg", "images/0.jpg"], "b": ["masks/1.png", "masks/0.png"]}
    expected = [("image 4", "mask 1"), ("image 0", "mask 0")]
    given = {"files": {"images": "a", "masks": "b"}, "file_root": str(root)}
    for frame in frames(columns):
        assert contents(table=frame, **given) == expected
    (root / "pairs.csv").write_text("\ufeffb,n,a\nmasks/1.png,7,images/4.jpg\n\nmasks/0.png,8,images/0.jpg\n")
    assert contents(table=str(root / "pairs.csv"), files={"images": "a", "masks": "b"}) == expected
    (root / "pairs.csv").write_text("\n\n")
    with pytest.raises(ValueError, match=r"pairs.csv is empty"):
        contents(table=str(root / "pairs.csv"), files={"images": "a"})


def test_a_row_that_lacks_a_file(root):
    columns = {
        "a": ["images/4.jpg", "images/0.jpg", "images/1.jpg"],
        "b": ["masks/1.png", None, "masks/8.png"],
    }
    given = {"files": {"images": "a", "masks": "b"}, "file_root": str(root)}
    for frame in frames(columns):
        with pytest.raises(
            ValueError, match="row 1 of the table has no name in column 'b'; 2 of 3 samples lack masks"
        ):
            opened("paired", table=frame, **given)
        assert contents(table=frame, missing="skip", **given) == [("image 4", "mask 1")]


def test_names_in_a_table_stay_below_their_folder(root):
    (root / "images/pairs.csv").write_text("a\n../masks/1.png\n")
    with pytest.raises(ValueError, match="names found in data must lie below"):
        opened("paired", table=str(root / "images/pairs.csv"), files={"images": "a"})
    with pytest.raises(ValueError, match="the table has no column 'c'"):
        opened("paired", table={"a": []}, files={"images": "c"})


# --- readers that drift apart -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        ({"random_shuffle": True}, {"random_shuffle": True}, True),
        ({"random_shuffle": True}, {"shuffle_after_epoch": True}, True),
        ({"random_shuffle": True}, {}, False),
        ({}, {}, False),
    ],
)  # fmt: skip
def test_readers_of_different_sizes_that_shuffle(root, first, second, warned):
    def build(count):
        with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
            one, _ = fn.readers.file(files=[f"{root}/images/{n}.jpg" for n in range(COUNT)], **first)
            other, _ = fn.readers.file(files=[f"{root}/masks/{n}.png" for n in range(count)], **second)
            pipe.set_outputs(one, other)
        pipe.build()
        pipe.run()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build(COUNT)
        assert not caught
        build(COUNT - 1)
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == warned
    if warned:
        assert "readers.file with 6 samples" in texts[0]
        assert "fn.readers.paired" in texts[0]


# --- masks beside pictures --------------------------------------------------------------------------
def test_pictures_and_masks_are_cropped_and_turned_alike(tmp_path):
    """Of three channels, and of 32 bits: the same pixels, whatever the types."""
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    for number in range(3):
        indices = (np.arange(40 * 50).reshape(40, 50) * (number + 1) % 251).astype(np.uint8)
        for folder, array in (("images", np.repeat(indices[..., None], 3, axis=2)), ("masks", indices)):
            (tmp_path / folder).mkdir(exist_ok=True)
            picture = Image.fromarray(array)
            if folder == "masks":
                picture = Image.frombytes("P", picture.size, picture.tobytes())
                picture.putpalette(bytes(range(256)) * 3)
            picture.save(tmp_path / folder / f"{number}.png")

    @jdali.pipeline_def(batch_size=3, num_threads=1, device_id=None, seed=2)
    def pairs():
        pngs, masks = fn.readers.paired(
            images=f"{tmp_path}/images", masks=f"{tmp_path}/masks", random_shuffle=True
        )
        made = []
        for data, kind, dtype in ((pngs, types.RGB, types.UINT8), (masks, types.INDEX, types.INT32)):
            array = fn.decoders.image(data, output_type=kind, dtype=dtype)
            array = fn.random_resized_crop(array, size=[24, 24], interp_type=types.INTERP_NN, seed=7)
            array = fn.flip(array, horizontal=fn.random.coin_flip(seed=3))
            angle = fn.random.uniform(range=[-20, 20], seed=5)
            made.append(
                fn.rotate(array, angle=angle, keep_size=True, fill_value=0, interp_type=types.INTERP_NN)
            )
        return tuple(made)

    pictures, masks = pairs().run()
    for picture, mask in zip(pictures.to_samples(), masks.to_samples(), strict=True):
        assert mask.dtype == np.int32
        assert len(np.unique(mask)) > 50
        np.testing.assert_array_equal(picture[..., :1], mask)
