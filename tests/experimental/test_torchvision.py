"""`experimental.torchvision`: against torchvision where the results are equal, else against Pillow or formulas."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="compares with PyTorch's tensors")
Image = pytest.importorskip("PIL.Image", reason="takes and gives PIL images")

from jdali import types  # noqa: E402
from jdali.experimental import torchvision as jv  # noqa: E402
from jdali.experimental.torchvision.v2 import functional as jf  # noqa: E402

rng = np.random.default_rng(5)
PIXELS = rng.integers(0, 256, (3, 13, 18), np.uint8)
TENSOR = torch.from_numpy(PIXELS)
PICTURE = Image.fromarray(PIXELS.transpose(1, 2, 0))
FLOATS = TENSOR.float() / 255


@pytest.fixture(scope="module")
def tv():
    """`torchvision.transforms.v2.functional`."""
    pytest.importorskip("torchvision", reason="is the reference", exc_type=ImportError)
    from torchvision.transforms.v2 import functional

    return functional


def check(got, want, atol=0.0):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=0, atol=atol)


BOTH = pytest.mark.parametrize("inpt", [TENSOR, PICTURE, FLOATS], ids=["uint8", "PIL", "float"])


@pytest.mark.parametrize("size", [5, (20, 10), [13, 19], (8, 7)])
def test_center_crop(tv, size):
    check(jf.center_crop(TENSOR, size), tv.center_crop(TENSOR, size))


@BOTH
def test_windows(tv, inpt):
    check(jf.center_crop(inpt, (6, 21)), tv.center_crop(inpt, (6, 21)))
    check(jf.crop(inpt, -2, 3, 9, 20), tv.crop(inpt, -2, 3, 9, 20))
    check(jf.horizontal_flip(inpt), tv.horizontal_flip(inpt))
    check(jf.vertical_flip(inpt), tv.vertical_flip(inpt))
    check(jf.pad(inpt, 2, 1), tv.pad(inpt, 2, 1))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_pad(tv, mode):
    check(jf.pad(TENSOR, [1, 2, 3, 4], 1, mode), tv.pad(TENSOR, [1, 2, 3, 4], 1, mode))


def test_pad_takes_other_forms(tv):
    check(jf.pad(TENSOR, [2, 3], [1, 2, 3]), tv.pad(TENSOR, [2, 3], [1, 2, 3]))


def test_resize_without_a_filter_is_torchvisions(tv):
    """With a filter the kernels are those of `fn.resize`, which are DALI's."""
    for size, max_size in (((9, 30), None), (7, 8)):
        check(
            jf.resize(FLOATS, size, max_size=max_size, antialias=False),
            tv.resize(FLOATS, size, max_size=max_size, antialias=False),
            atol=2e-6,  # the order of the sums
        )
    check(
        jf.resized_crop(FLOATS, 1, 2, 8, 9, [5, 6], antialias=False),
        tv.resized_crop(FLOATS, 1, 2, 8, 9, [5, 6], antialias=False),
        atol=2e-6,
    )


@pytest.mark.parametrize("size", [7, (20, 9)])
def test_nearest_is_pillows(size):
    got = jf.resize(PICTURE, size, jv.InterpolationMode.NEAREST)
    wanted = (9, 7) if size == 7 else (9, 20)
    check(got, PICTURE.resize(wanted, Image.Resampling.NEAREST))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("inpt", "mode"),
    [(TENSOR, "BILINEAR"), (PICTURE, "BICUBIC"), (TENSOR, "LANCZOS")],
    ids=lambda v: str(v)[:9],
)
def test_filters_are_dalis(inpt, mode):
    dali = pytest.importorskip(
        "nvidia.dali.experimental.torchvision.v2.functional", reason="is the reference"
    )
    got = jf.resize(inpt, 7, jv.InterpolationMode[mode])
    # A pixel whose value is a half except for the order of the sums may be rounded to its other side.
    check(got, dali.resize(inpt, 7, interpolation={"BILINEAR": 2, "BICUBIC": 3, "LANCZOS": 1}[mode]), atol=1)


def test_resize_to_a_longest_edge():
    assert jf.get_size(jf.resize(TENSOR, None, max_size=9)) == [6, 9]
    assert jf.get_size(jf.resize(PICTURE, None, max_size=36)) == [26, 36]


def test_gaussian_blur(tv):
    check(jf.gaussian_blur(FLOATS, [3, 5], 1.2), tv.gaussian_blur(FLOATS, [3, 5], [1.2, 1.2]), atol=1e-6)
    # A half of a pixel except for the order of the sums.
    check(jf.gaussian_blur(TENSOR, 5, 0.8), tv.gaussian_blur(TENSOR, 5, [0.8, 0.8]), atol=1)


def test_normalize(tv):
    mean, std = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]
    check(
        jf.normalize(FLOATS, mean, std), tv.normalize(FLOATS, mean, std), atol=1e-6
    )  # a product, not a quotient


@pytest.mark.parametrize("count", [1, 3])
def test_grayscale(tv, count):
    check(
        jf.to_grayscale(PICTURE, count), tv.to_grayscale(PICTURE, count), atol=1
    )  # Pillow cuts weights to 16 bits
    # torchvision's weight of red is 0.2989 in place of 0.299, and it cuts bytes off.
    check(jf.rgb_to_grayscale(TENSOR, count), tv.rgb_to_grayscale(TENSOR, count), atol=1)
    check(jf.rgb_to_grayscale(FLOATS, count), tv.rgb_to_grayscale(FLOATS, count), atol=3e-4)
    gray = jf.to_grayscale(TENSOR)
    check(jf.to_grayscale(gray, count), gray.expand(count, -1, -1))


def test_conversions(tv):
    gray = PICTURE.convert("L")
    for picture in (PICTURE, gray, PICTURE.convert("RGBA"), gray.convert("F"), gray.convert("I")):
        check(jf.pil_to_tensor(picture), tv.pil_to_tensor(picture))
    black_and_white = gray.convert("1")
    check(jf.pil_to_tensor(black_and_white), np.asarray(black_and_white)[None].astype(np.uint8) * 255)
    check(jf.to_tensor(PICTURE), TENSOR.float() / 255)
    check(jf.to_tensor(PIXELS[0]), TENSOR[:1].float() / 255)
    check(jf.to_pil_image(TENSOR), PICTURE)
    check(jf.to_pil_image(FLOATS), tv.to_pil_image(FLOATS))
    check(jf.to_pil_image(TENSOR[:1]), PIXELS[0])
    check(jf.to_pil_image(TENSOR.permute(1, 2, 0), input_layout="HWC"), PICTURE)


def test_sizes():
    assert (
        jf.get_dimensions(PICTURE)
        == jf.get_dimensions(TENSOR)
        == jf.get_dimensions(TENSOR[None])
        == [3, 13, 18]
    )
    assert (jf.get_size(PICTURE), jf.get_image_size(TENSOR), jf.get_dimensions(TENSOR[0])) == (
        [13, 18], [18, 13], [1, 13, 18],
    )  # fmt: skip


# --- Compose --------------------------------------------------------------------------------
def numbered(count=6):
    """Images that tell where each pixel was."""
    return torch.from_numpy(np.arange(count * 3 * 8 * 10, dtype=np.int32).reshape(count, 3, 8, 10))


def test_kinds_of_inputs_and_outputs():
    flat = jv.Compose([jv.Resize((4, 5))])
    assert flat(PICTURE).size == (5, 4)
    assert flat(PICTURE.convert("L")).mode == "L"
    assert flat(TENSOR).shape == (3, 4, 5)
    assert flat(torch.stack([TENSOR] * 2)[None]).shape == (1, 2, 3, 4, 5)
    check(jv.Compose([jv.PILToTensor()])(PICTURE), TENSOR)
    check(jv.Compose([jv.ToPureTensor()])(PICTURE), TENSOR)
    check(jv.Compose([jv.ToPILImage()])(TENSOR), PICTURE)
    several = jv.Compose([jv.ToPILImage()])(torch.stack([TENSOR] * 2))
    assert [picture.size for picture in several] == [(18, 13)] * 2
    check(jv.Compose([])(TENSOR), TENSOR)


def test_transforms_without_chance_are_the_functions():
    chain = jv.Compose(
        [
            jv.Pad(1, 9),
            jv.CenterCrop(6),
            jv.Grayscale(3),
            jv.Normalize([1, 2, 3], [4, 5, 6]),
            jv.ToPureTensor(),
        ]
    )
    want = jf.normalize(jf.to_grayscale(jf.center_crop(jf.pad(TENSOR, 1, 9), 6), 3), [1, 2, 3], [4, 5, 6])
    check(chain(TENSOR), want)
    check(chain(PICTURE), want)


def test_equal_seeds_give_equal_values_and_calls_differ():
    transforms = [
        jv.RandomResizedCrop(5),
        jv.ColorJitter(0.3, 0.3, 0.3, 0.1),
        jv.RandomApply([jv.GaussianBlur(3)]),
    ]
    first, second = (jv.Compose(transforms, seed=3) for _ in range(2))
    batch = torch.stack([TENSOR] * 4)
    one, other = first(batch), first(batch)
    check(second(batch), one)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one[0], one[1])


def test_flips_are_by_image():
    images = numbered(32)
    for kind, axis in ((jv.RandomHorizontalFlip, 3), (jv.RandomVerticalFlip, 2)):
        got = jv.Compose([kind(0.5)], seed=1)(images)
        flipped = [torch.equal(g, i.flip(axis - 1)) for g, i in zip(got, images, strict=True)]
        kept = [torch.equal(g, i) for g, i in zip(got, images, strict=True)]
        assert all(f != k for f, k in zip(flipped, kept, strict=True))
        assert 6 < sum(flipped) < 26  # 16 of 32 on average; beyond this less than once in 1000 seeds
        assert torch.equal(jv.Compose([kind(1)])(images), images.flip(axis))
        assert torch.equal(jv.Compose([kind(0)])(images), images)


def test_random_grayscale_and_apply():
    images = torch.stack([TENSOR] * 16)
    gray = jf.to_grayscale(TENSOR, 3)
    got = jv.Compose([jv.RandomGrayscale(0.5)], seed=2)(images)
    kinds = [(torch.equal(g, gray), torch.equal(g, TENSOR)) for g in got]
    assert set(kinds) == {(True, False), (False, True)}
    turned = jv.Compose([jv.RandomApply([jv.RandomVerticalFlip(1), jv.Pad(0)], 0.5)], seed=2)(images)
    kinds = [(torch.equal(t, TENSOR.flip(1)), torch.equal(t, TENSOR)) for t in turned]
    assert set(kinds) == {(True, False), (False, True)}
    assert torch.equal(jv.Compose([jv.RandomApply([jv.Grayscale(3)], 1)])(images), torch.stack([gray] * 16))


def test_random_crops_are_windows_of_the_image():
    images = numbered(24)
    got = jv.Compose([jv.RandomCrop((3, 4))], seed=4)(images)
    starts = [divmod(int(g[0, 0, 0]) % 80, 10) for g in got]
    for g, i, (top, left) in zip(got, images, starts, strict=True):
        assert torch.equal(g, i[:, top : top + 3, left : left + 4])
    assert {top for top, _ in starts} == set(
        range(6)
    )  # each of 6 is missed by 24 with a probability below 8 %
    assert len({left for _, left in starts}) > 3
    whole = jv.Compose([jv.RandomCrop((8, 10))])(images)
    assert torch.equal(whole, images)
    padded = jv.Compose([jv.RandomCrop((12, 10), pad_if_needed=True, fill=-1)], seed=1)(images)
    rows = (padded[:, 0, :, 0] != -1).sum(axis=1)
    assert rows.tolist() == [8] * 24  # the border of 4 on both sides leaves room for all rows
    edge = jv.Compose([jv.RandomCrop(30, padding=[10, 11], padding_mode="edge")])(images[:1])
    assert edge.shape == (1, 3, 30, 30)


def test_jitter_of_fixed_factors():
    """brightness and contrast by DALI's formula: brightness (128 + contrast (image - 128))."""
    got = jv.Compose([jv.ColorJitter((0.5, 0.5), (0.8, 0.8))])(TENSOR)
    want = 0.5 * (128 + 0.8 * (PIXELS.astype(np.float64) - 128))
    assert np.abs(got.numpy() - want).max() <= 0.5 + 1e-4


class Mode:
    """Looks like torchvision's enumeration."""

    def __init__(self, name):
        self.name = name


def test_interpolation_modes():
    from jdali.experimental.torchvision.v2._arguments import interpolation

    assert interpolation(2) == interpolation(Mode("BILINEAR")) == types.INTERP_LINEAR
    assert interpolation(jv.InterpolationMode.LANCZOS) == types.INTERP_LANCZOS3
    with pytest.raises(NotImplementedError, match="BOX is not supported"):
        jv.Resize(3, jv.InterpolationMode.BOX)
    with pytest.raises(ValueError, match="should be an InterpolationMode"):
        jv.Resize(3, "bilinear")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: jv.Resize(None), ValueError, "Must provide max_size"),
        (lambda: jv.Resize((1, 2), max_size=3), ValueError, "max_size should only be passed"),
        (lambda: jv.Resize(5, max_size=4), ValueError, "must not be smaller"),
        (lambda: jv.Resize(0), ValueError, "must be positive"),
        (lambda: jv.Resize("3"), TypeError, "size must be int, list or tuple"),
        (lambda: jv.CenterCrop((1, 2, 3)), ValueError, "1 or 2 elements"),
        (lambda: jv.RandomCrop(1.5), TypeError, "size must be int"),
        (lambda: jv.Pad([1, 2, 3]), ValueError, "length 1, 2 or 4"),
        (lambda: jv.Pad(-1), ValueError, "non-negative"),
        (lambda: jv.Pad(1, padding_mode="wrap"), ValueError, "Invalid padding mode"),
        (lambda: jv.Pad(1, fill="red"), TypeError, "fill must be a number"),
        (lambda: jv.RandomHorizontalFlip(1.5), ValueError, "p should be"),
        (lambda: jv.GaussianBlur(4), ValueError, "odd positive"),
        (lambda: jv.GaussianBlur(3, (2, 1)), ValueError, r"should be \(min, max\)"),
        (lambda: jv.GaussianBlur(3, 0), ValueError, "positive"),
        (lambda: jv.ColorJitter(-1), ValueError, "non-negative"),
        (lambda: jv.ColorJitter(hue=0.6), ValueError, r"\[-0.5, 0.5\]"),
        (lambda: jv.Normalize([1], [0]), ValueError, "std must not be 0"),
        (lambda: jv.Normalize(1, [1]), TypeError, "mean must be a sequence"),
        (lambda: jv.Normalize([1], [1], inplace=True), NotImplementedError, "inplace"),
        (lambda: jv.Grayscale(2), ValueError, "must be 1 or 3"),
        (lambda: jv.RandomResizedCrop(3, (1, 0.5)), ValueError, r"\(min, max\)"),
        (lambda: jv.Resize(3, device="tpu"), ValueError, "device must be"),
        (lambda: jv.Compose([len]), TypeError, "is not a transform"),
        (lambda: jv.Compose([], colour=1), TypeError, "'colour' is not an argument of Pipeline"),
        (lambda: jv.Resize(3)(TENSOR), RuntimeError, r"Resize\(.*size=3.* not directly callable"),
        (lambda: jv.Compose([jv.RandomCrop(30)])(TENSOR), ValueError, "larger than the .padded. input"),
        (lambda: jv.Compose([])(PIXELS), TypeError, "should be Tensor or PIL Image"),
        (lambda: jf.horizontal_flip(TENSOR[0]), TypeError, "< 3 dimensions"),
        (lambda: jf.horizontal_flip(torch.zeros(5, 2, 2)), ValueError, "1 to 4 channels"),
        (lambda: jf.horizontal_flip(PICTURE.convert("CMYK")), ValueError, "Mode CMYK is not supported"),
        (lambda: jf.crop(TENSOR, 0, 0, 0, 1), ValueError, "must be positive"),
        (lambda: jf.crop(TENSOR, 0.5, 0, 1, 1), TypeError, "integer"),
        (lambda: jf.normalize(PICTURE, [1], [1]), TypeError, "Data should be Tensor"),
        (lambda: jf.to_grayscale(torch.zeros(4, 2, 2)), ValueError, "1 or 3 channels"),
        (lambda: jf.to_pil_image(PIXELS), TypeError, "Expected torch.Tensor"),
        (lambda: jf.to_pil_image(TENSOR[0]), ValueError, "3-D"),
        (lambda: jf.to_pil_image(torch.zeros(2, 2, 2)), ValueError, "Cannot infer PIL mode"),
        (lambda: jf.pil_to_tensor(TENSOR), TypeError, "Expected PIL.Image"),
        (lambda: jf.to_tensor(TENSOR), TypeError, "Expected PIL.Image or array"),
        (lambda: jf.get_size(3), TypeError, "Unsupported input type"),
    ],
)  # fmt: skip
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()
