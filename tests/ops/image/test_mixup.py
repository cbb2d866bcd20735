"""mixup and cutmix: the formulas of the papers, as torchvision has them, in NumPy; who is mixed with whom."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from PIL import Image
from support.data import image

import jdali.dynamic as jd
from jdali import OperatorError, fn, ops, pipeline_def, types
from jdali.iterator import DataIterator

COUNT = 6
OPERATORS = [ops.mixup, ops.cutmix]
# One program; a plain call compiles each of its steps.
COMPILED = [jax.jit(operator, static_argnames=("num_classes", "layout")) for operator in OPERATORS]
MIXUP, CUTMIX = COMPILED
both = pytest.mark.parametrize("operator", OPERATORS, ids=["mixup", "cutmix"])
both_compiled = pytest.mark.parametrize("operator", COMPILED, ids=["mixup", "cutmix"])


def batch(*size, dtype=np.float32, count=COUNT):
    height, width, *rest = size or (9, 12, 3)
    return np.stack([image(height, width * int(np.prod(rest)), 1, dtype, i) for i in range(count)]).reshape(
        count, height, width, *rest
    )


def mixture(soft):
    """Partner and share of each sample, from the mixed labels of classes 0, 1, ..."""
    soft = np.asarray(soft, np.float64)
    others = soft - np.diag(np.diag(soft))
    partners = np.where(others.any(axis=1), others.argmax(axis=1), np.arange(len(soft)))
    return partners, np.diag(soft)


def torchvision_mixup(pictures, partners, shares):
    shares = np.float32(shares).reshape(-1, *[1] * (pictures.ndim - 1))
    return shares * np.float32(pictures) + (1 - shares) * np.float32(pictures)[partners]


def is_one_cycle(partners):
    at, steps = partners[0], 1
    while at != 0:
        at, steps = partners[at], steps + 1
    return steps == len(partners)


@both_compiled
def test_each_sample_goes_into_one_other(operator):
    # No two pictures share a pixel, so a box of area 0 is told from none.
    _, soft = operator(jax.random.key(3), batch(64, 64, 3), np.arange(COUNT), num_classes=COUNT)
    partners, shares = mixture(soft)
    np.testing.assert_allclose(np.sum(soft, axis=1), 1, atol=1e-6)  # two roundings of float32
    assert (shares < 1).all()
    assert is_one_cycle(partners.tolist())


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.float32])
def test_mixup_is_torchvision_s(dtype):
    pictures = batch(dtype=dtype)
    mixed, soft = MIXUP(jax.random.key(1), pictures, np.arange(COUNT), num_classes=COUNT)
    want = torchvision_mixup(pictures, *mixture(soft))
    assert mixed.dtype == dtype
    if np.dtype(dtype).kind == "f":
        # One rounding of the type, and three of float32.
        np.testing.assert_allclose(mixed, want, rtol=2 * np.finfo(dtype).eps, atol=1e-6)
    else:
        rounded = np.trunc(want + np.copysign(0.5, want))
        # NumPy's product is fused nowhere, so a half may lie on the other side of a rounding.
        near = np.abs(np.abs(want) % 1 - 0.5) < 1e-4
        np.testing.assert_array_equal(np.asarray(mixed)[~near], rounded[~near])


@pytest.mark.parametrize(
    ("layout", "size", "height", "width"),
    [
        ("HWC", (9, 12, 3), 1, 2),
        ("CHW", (3, 9, 12), 2, 3),
        ("FHWC", (2, 9, 12, 3), 2, 3),
        ("HW", (9, 12), 1, 2),
    ],
)
def test_cutmix_pastes_the_box_of_the_paper(layout, size, height, width):
    """The share comes from the same draw as that of mixup, so the size of the box is known."""
    pictures = np.stack([np.full(size, i, np.uint8) for i in range(COUNT)])
    for seed in range(6):
        key = jax.random.key(seed)
        mixed, soft = CUTMIX(key, pictures, np.arange(COUNT), num_classes=COUNT, layout=(layout, ""))
        partners, drawn = mixture(MIXUP(key, pictures, np.arange(COUNT), num_classes=COUNT)[1])
        for i, (partner, share, got) in enumerate(zip(partners, drawn, np.asarray(mixed), strict=True)):
            pasted = got == partner
            assert (pasted | (got == i)).all()
            rest = tuple(a for a in range(got.ndim) if a not in (height - 1, width - 1))
            assert (pasted.any(axis=rest) == pasted.all(axis=rest)).all()
            rows, columns = pasted.any(axis=(*rest, width - 1)), pasted.any(axis=(*rest, height - 1))
            np.testing.assert_array_equal(pasted.any(axis=rest), rows[:, None] & columns[None])
            for hit, full in ((rows, 9), (columns, 12)):
                side, half = np.count_nonzero(hit), int(np.sqrt(1 - share) / 2 * full)
                where = np.flatnonzero(hit)
                assert side == 0 or where[-1] - where[0] + 1 == side
                at_border = side and (where[0] == 0 or where[-1] == full - 1)
                assert side == 2 * half or (at_border and half <= side < 2 * half) or not side
            area = 1 - np.count_nonzero(rows) * np.count_nonzero(columns) / (9 * 12)
            assert soft[i, i] == pytest.approx(area, abs=1e-6)


def test_areas_of_cutmix_are_distributed_as_torchvision_s():
    """Kolmogorov and Smirnov's test of 4,096 areas, which fails once in a million."""
    size, count = (32, 48), 4096
    _, soft = CUTMIX(jax.random.key(0), np.zeros((count, *size), np.uint8), np.eye(2, dtype=np.float32)[
        np.arange(count) % 2
    ])  # fmt: skip
    random = np.random.default_rng(0)
    ratio = 0.5 * np.sqrt(1 - random.beta(1, 1, count))
    sides = []
    for full in size:
        centre, half = random.integers(full, size=count), (ratio * full).astype(int)
        sides.append(np.minimum(centre + half, full) - np.maximum(centre - half, 0))
    expected = 1 - sides[0] * sides[1] / (size[0] * size[1])
    shares = np.max(soft, axis=1)
    folded = np.maximum(expected, 1 - expected)
    crossed = soft[:, 0] * soft[:, 1] > 0  # partners of the other class
    chance = scipy.stats.ks_2samp(shares[np.asarray(crossed)], folded[expected < 1]).pvalue
    assert chance > 1e-6


@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0])
def test_shares_of_mixup_are_of_the_beta_distribution(alpha):
    count = 2048
    _, soft = MIXUP(
        jax.random.key(0), np.zeros((count, 1), np.float32), np.arange(count), num_classes=count, alpha=alpha
    )
    assert scipy.stats.kstest(np.diag(soft), scipy.stats.beta(alpha, alpha).cdf).pvalue > 1e-6


@both_compiled
def test_probability_is_of_single_samples(operator):
    count = 2000
    pictures = batch(16, 16, count=1).repeat(count, 0)
    _, soft = operator(
        jax.random.key(0), pictures, np.arange(count), num_classes=count, probability=0.3, alpha=8.0
    )
    mixed = np.count_nonzero(np.diag(soft) < 1)
    assert abs(mixed - 600) < 5 * np.sqrt(count * 0.3 * 0.7)
    same, labels = operator(jax.random.key(0), batch(), np.arange(COUNT), num_classes=COUNT, probability=0.0)
    np.testing.assert_array_equal(same, batch())
    np.testing.assert_array_equal(labels, np.eye(COUNT))


@both_compiled
def test_infinity_of_a_partner_stays_out_of_samples_that_are_not_mixed(operator):
    pictures = np.full((2, 4, 4), np.inf, np.float32)
    pictures[0] = 1
    assert np.isfinite(operator(jax.random.key(0), pictures, probability=0.0)[0]).all()


def test_infinity_of_a_partner_without_a_share_stays_out():
    """Of so small an alpha, shares are 0 or 1."""
    pictures = np.full((2, 4, 4), np.inf, np.float32)
    pictures[0] = 1
    shares = set()
    for seed in range(6):
        mixed, soft = MIXUP(jax.random.key(seed), pictures, np.arange(2), num_classes=2, alpha=1e-4)
        share = float(soft[0, 0])
        np.testing.assert_array_equal(mixed[0], 1 if share == 1 else np.inf)
        shares.add(share)
    assert shares == {0.0, 1.0}


@both
def test_labels(operator):
    key, pictures = jax.random.key(2), batch()
    classes = np.arange(COUNT) % 3
    images, soft = operator(key, pictures, classes, num_classes=3)
    one_hot = np.eye(3, dtype=np.float32)[classes]
    for given in (classes[:, None].astype(np.uint8), one_hot, one_hot.astype(np.int64)):
        again, other = operator(key, pictures, given, num_classes=3)
        np.testing.assert_array_equal(other, soft)
        np.testing.assert_array_equal(again, images)
    np.testing.assert_array_equal(operator(key, pictures), images)
    assert soft.dtype == np.float32
    unknown = operator(key, pictures, np.full(COUNT, 7), num_classes=3)[1]
    np.testing.assert_array_equal(unknown, 0)


@both
def test_what_lies_beyond_the_true_size_does_not_show(operator):
    key, pictures, labels = jax.random.key(5), batch(), np.arange(COUNT)
    want, soft = operator(key, pictures, labels, num_classes=COUNT)
    padded = np.pad(pictures, [(0, 0), (0, 4), (0, 3), (0, 1)], constant_values=np.nan)
    (got, same), sizes = operator(
        key, padded, labels, num_classes=COUNT, extent=((9, 12, 3), ()), out_shape=((11, 12, 3), (COUNT,)),
        layout=("HWC", ""),
    )  # fmt: skip
    np.testing.assert_array_equal(got[:, :9], want)
    np.testing.assert_array_equal(same, soft)
    assert [size.tolist() for size in sizes] == [[9, 12, 3], [COUNT]]


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("need one size: sample 0 is 4 x 5 x 1, sample 1 is 5 x 4 x 1; resize, crop or pad", lambda f: ragged(f)),
        ("alpha must be above 0", lambda f: f(KEY, batch(), alpha=0.0)),
        ("probability must be from 0 to 1", lambda f: f(KEY, batch(), probability=1.5)),
        ("give num_classes= for class numbers", lambda f: f(KEY, batch(), np.arange(COUNT))),
        ("num_classes is given, and no labels", lambda f: f(KEY, batch(), num_classes=2)),
        ("or vectors of 2 elements; got float32 of shape 3", lambda f: f(KEY, batch(), np.float32([[1] * 3] * 6), num_classes=2)),
        ("equally long and not empty", lambda f: f(KEY, batch(), np.arange(2), num_classes=2)),
        ("equally long and not empty", lambda f: f(KEY, batch()[:0])),
    ],
)  # fmt: skip
@both
def test_refused(operator, message, call):
    with pytest.raises((ValueError, OperatorError), match=message):
        call(operator)


KEY = jax.random.key(0)


def ragged(operator):
    with_pipeline = getattr(fn, operator.__name__)

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return with_pipeline(
            fn.external_source(lambda: [np.zeros((4, 5, 1)), np.zeros((5, 4, 1))], layout="HWC")
        )

    pipe().run()


def test_cutmix_wants_pictures():
    with pytest.raises(ValueError, match="pictures have axes H and W"):
        ops.cutmix(KEY, np.zeros((3, 8), np.float32))


def test_mixup_of_sounds_and_scalars():
    sounds = np.random.default_rng(0).normal(size=(COUNT, 20)).astype(np.float32)
    mixed, targets = ops.mixup(KEY, sounds, sounds[:, 0])
    np.testing.assert_allclose(mixed[:, 0], targets, atol=1e-6)


@both_compiled
def test_derivatives_are_the_shares(operator):
    """Of the sum of a sample's output by its own pixels: the share, or where it is not pasted over."""
    pictures = batch(count=2)
    _, soft = operator(KEY, pictures, np.arange(2), num_classes=2)
    slope = jax.jit(jax.grad(lambda x: operator(KEY, x)[0].sum()))(jnp.asarray(pictures))
    shares = slope.mean(axis=(1, 2, 3))
    np.testing.assert_allclose(shares, soft[0], atol=1e-5)  # a mean of 324 numbers of float32


# --- in pipelines -----------------------------------------------------------------------------------
def small(encoded):
    return fn.resize(fn.decoders.image(encoded), size=[8, 10], interp_type=types.INTERP_NN)


@pipeline_def(num_threads=2, seed=11)
def pipeline(folder, probability=0.9, pad=False):
    encoded, labels = fn.readers.file(
        file_root=folder, name="Reader", random_shuffle=True, pad_last_batch=pad
    )
    images = small(encoded)
    first = fn.mixup(images, labels, num_classes=9, alpha=0.4, probability=probability)
    second = fn.cutmix(fn.transpose(images, perm=[2, 0, 1], transpose_layout=True), labels, num_classes=9)
    return dict(zip(("mixed", "soft", "cut", "areas"), (*first, *second), strict=True))


def pictures(folder):
    """The pictures as the pipeline mixes them, class by class."""

    @pipeline_def(batch_size=9, num_threads=1)
    def plain():
        return small(fn.readers.file(file_root=folder)[0])

    return plain().run()[0].as_numpy()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("classes")
    for label in range(9):
        (root / f"{label}").mkdir()
        Image.fromarray(image(16, 20, 3, np.uint8, label)).save(root / f"{label}" / "picture.png")
    return str(root)


def taken(folder, count, state=None, **options):
    with DataIterator(pipeline(folder, **({"batch_size": 4} | options)), reader_name="Reader") as iterator:
        if state is not None:
            iterator.set_state(state)
        batches = [jax.tree.map(np.asarray, next(iterator)) for _ in range(count)]
        return batches, iterator.get_state(), jax.tree.map(np.asarray, iterator.batch_at(1))


def test_the_same_batch_has_the_same_bits(folder):
    whole, _, second = taken(folder, 3, pad=True)
    begun, state, _ = taken(folder, 2, pad=True)
    rest, _, _ = taken(folder, 1, state, pad=True)
    alike = taken(folder, 3, pad=True, batch_size=4, num_threads=4)[0]
    assert any((b["soft"].max(axis=1) < 1).any() for b in whole)
    for want, got in zip([*whole, *whole, whole[1]], [*begun, *rest, *alike, second], strict=True):
        jax.tree.map(np.testing.assert_array_equal, got, want)


def test_a_pipeline_computes_the_formulas(folder):
    with DataIterator(pipeline(folder, batch_size=9, probability=1.0), reader_name="Reader") as iterator:
        found = jax.tree.map(np.asarray, next(iterator))
        plain = {int(i): np.asarray(picture) for i, picture in enumerate(pictures(folder))}
    for mixed, soft in zip(found["mixed"], found["soft"], strict=True):
        want = sum(np.float32(share) * plain[label] for label, share in enumerate(soft))
        np.testing.assert_allclose(mixed, want, atol=0.5 + 1e-3)  # rounded to uint8
    assert (found["soft"] > 0).sum(axis=0).tolist() == [2] * 9  # each class goes into one other
    for cut, soft in zip(found["cut"], found["areas"], strict=True):
        own = [(cut == plain[label].transpose(2, 0, 1)).all(axis=0).mean() for label in range(9)]
        np.testing.assert_allclose([own[label] for label in np.flatnonzero(soft)], soft[soft > 0], atol=1e-6)


@pytest.mark.exhaustive  # laws/test_every_operator has it of every operator
def test_shares_do_not_depend_on_the_batch(folder):
    """Only partners do: sorted, the shares of an epoch are those of another batch size."""
    shares = []
    for size in (3, 9):
        with DataIterator(
            pipeline(folder, batch_size=size, probability=1.0), reader_name="Reader"
        ) as iterator:
            soft = np.concatenate([np.asarray(b["soft"]) for b in iterator])
        # Of two unequal elements that sum up to 1 the larger one.
        shares.append(np.sort(soft.max(axis=1)))
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-6)


def test_one_sample_by_itself_is_refused(folder):
    with (
        DataIterator(pipeline(folder, batch_size=4), reader_name="Reader") as iterator,
        pytest.raises(ValueError, match="works on a whole batch"),
    ):
        iterator.sample(0, 0)


@pytest.mark.exhaustive  # laws/test_every_operator has it of every operator
def test_in_dynamic_mode():
    pictures = jd.as_batch(list(batch(dtype=np.uint8)), layout="HWC")
    mixed, soft = jd.mixup(
        pictures, jd.as_batch(list(np.arange(COUNT))), num_classes=COUNT, rng=jd.random.RNG(seed=1)
    )
    got = np.stack([np.asarray(sample) for sample in mixed])
    want = torchvision_mixup(batch(dtype=np.uint8), *mixture(np.stack([np.asarray(s) for s in soft])))
    np.testing.assert_allclose(got, want, atol=0.5 + 1e-3)
    assert types.to_dtype(mixed.dtype) == np.uint8
