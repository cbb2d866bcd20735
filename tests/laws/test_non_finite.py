"""What a NaN or an infinite element touches: what its window touches, in every compiled operator.

Each row of `pure_cases` that takes floats runs through a pipeline as it is, with one element of each sample replaced by
NaN or infinity, and with finite numbers in the same place. What comes out finite must be what comes out finite of
DALI, and nothing may change that a finite number there would not change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from ops import pure_cases, sweep_cases
from ops.pure_cases import VOLUMES, Case, numbers, pictures
from support import oracle, poisoned
from support.some import drawn, one_of_each
from support.sweep import COUNT, Outputs, Row

from jdali._operators.record import REGISTRY

pytestmark = pytest.mark.timeout(1200)  # a test compiles the programs of a whole group


# Inputs by operator and number of which an element decides all of the output.
GLOBAL = {
    ("nonsilent_region", 0): "what is silent is so beside the loudest window",
    ("experimental.remap", 1): "a point that is not a number is none of the image",
    ("experimental.remap", 2): "a point that is not a number is none of the image",
    ("experimental.warp_perspective", 1): "a matrix that is not finite has no points",
    ("warp_affine", 1): "a matrix that is not finite has no points",
}
# Inputs for which other elements are finite than in DALI.
NOT_AS_DALI = {
    ("fast_resize_crop_mirror", 0): "a tap at the very foot of a filter, whose weight is 0 or next to it, may count or not",
    ("math.rsqrt", 0): "1 / infinity is 0; DALI's estimate of a root makes NaN of it",
    ("mel_filter_bank", 0): "a bin at the very foot of a triangle has no share of it; DALI's is 0, and 0 times NaN is NaN",
    ("to_decibels", 0): "beside an infinite maximum all of DALI's elements are silent",
    ("transforms.combine", 0): "DALI multiplies by the last row of a matrix, 0, 0, 1, as well",
    ("transforms.combine", 1): "DALI multiplies by the last row of a matrix, 0, 0, 1, as well",
    ("transforms.combine", 2): "DALI multiplies by the last row of a matrix, 0, 0, 1, as well",
    ("warp_affine", 0): "a point on the border of two pixels takes one or the other, by the last bit",
}  # fmt: skip
# Operators in which a tap at the foot of a filter has the weight 0: a finite number does not show there, NaN does. That
# they are few is held by `resize` and `resize_crop_mirror`, whose elements are those of DALI.
FEET = {"fast_resize_crop_mirror", "random_resized_crop"}
# Operators where the same elements are not finite, but NaN for infinity or of the other sign.
OTHER_KINDS = {
    "audio_resample": "a share that is 0 except for the last bit may be above 0 or below",
    "experimental.warp_perspective": "infinity minus infinity, by the order of steps between neighbours",
    "laplacian": "infinity minus infinity, by the order of the sums",
    "mfcc": "a share that is 0 except for the last bit may be above 0 or below",
    "fast_resize_crop_mirror": "infinity times 0: taps that a filter does not need read the last one again",
    "power_spectrum": "infinity minus infinity in the steps of a Fourier transform",
    "random_resized_crop": "infinity times 0: taps that a filter does not need read the last one again",
    "resize": "infinity times 0: taps that a filter does not need read the last one again",
    "resize_crop_mirror": "infinity times 0: taps that a filter does not need read the last one again",
    "rotate": "infinity minus infinity, by the order of steps between neighbours",
    "spectrogram": "infinity minus infinity in the steps of a Fourier transform",
    "tensor_resize": "infinity times 0: taps that a filter does not need read the last one again",
    "warp_affine": "infinity minus infinity, by the order of steps between neighbours",
}

# Of sizes for which operators loop over blocks, on a CPU.
SIGNALS = numbers(-1, 1, 3000)
LARGE = [
    Case("gaussian_blur", [pictures(160, 150)], {"window_size": (5, 9)}, layout="HWC"),
    Case("gaussian_blur", [np.stack([pictures(150, 160)[..., 0]] * 4, 1)], {"sigma": (0.8, 2.0, 1.0)}, layout="DHW"),
    Case("filter", [pictures(90, 80), numbers(-1, 1, 3, 5)], layout=("HWC", ""), ragged=["ba.", ".."]),
    Case("filter", [pictures(90, 80), np.full((3, 7, 9), 0.5, np.float32)], layout=("HWC", ""), ragged=["ba.", ".."]),
    Case("laplacian", [pictures(90, 80)], {"window_size": 5, "smoothing_size": 3}, layout="HWC"),
    Case("rotate", [pictures(90, 80)], {"angle": 30.0}, layout="HWC"),
    Case("rotate", [pictures(90, 80)], {"angle": 30.0, "fill_value": 0.5}, layout="HWC"),
    Case("rotate", [np.repeat(VOLUMES, 8, axis=2)], {"angle": 30.0, "axis": (0.2, 0.1, 1.0)}, layout="DHWC"),
    Case("experimental.median_blur", [numbers(0, 1, 90, 80, 1)], {"window_size": (3, 3)}, layout="HWC"),
    Case("experimental.dilate", [numbers(0, 1, 90, 80, 1)], {"mask_size": (3, 5)}, layout="HWC"),
    Case("color_twist", [pictures(90, 80)], {"hue": 20.0, "saturation": 1.5, "contrast": 0.8}, layout="HWC"),
    Case("crop_mirror_normalize", [pictures(90, 80)], {"crop": (70.0, 60.0), "mean": 0.5, "std": 2.0}, layout="HWC"),
    Case("sphere", [pictures(90, 80)], layout="HWC"),
    Case("grid_mask", [pictures(90, 80)], {"tile": 9, "angle": 0.3}, layout="HWC"),
    Case("normalize", [pictures(90, 80)], {"axes": (0,)}, layout="HWC"),
    Case("audio_resample", [SIGNALS], {"scale": 0.7}),
    Case("audio_resample", [SIGNALS], {"scale": 1.37, "quality": 10.0}),
    Case("preemphasis_filter", [SIGNALS]),
    Case("spectrogram", [SIGNALS], {"window_length": 64, "window_step": 24}),
    Case("mel_filter_bank", [numbers(0, 1, 129, 40)], {"nfilter": 30}, layout="ft", ragged=[".a"]),
    Case("mfcc", [numbers(0, 1, 40, 30)], {"n_mfcc": 13, "lifter": 4.0}, layout="ft", ragged=[".a"]),
]  # fmt: skip

NAMES = (
    "tensor",
    "audio",
    "colour",
    "windows",
    "resampling",
    "noise",
    "random",
    "reductions",
    "transforms",
    "math",
)
GROUPS = {name: one_of_each(cases) for name, cases in zip(NAMES, pure_cases.GROUPS, strict=True)} | {
    "large": LARGE
}
# Finite numbers in the place of the element: larger and smaller than any other, and among them.
FINITE = (np.resize([1e3, -1e3], COUNT), np.resize([-1e3, 1e3], COUNT), np.full(COUNT, 0.5))


def rows_of(cases: Sequence[Case]) -> list[tuple[Row, int]]:
    """Rows, and the number of the input of floats that is changed."""
    return [
        (row, number)
        for row in map(sweep_cases.row_of, cases)
        for number, samples in enumerate(row.inputs)
        if samples[0].dtype.kind == "f" and not REGISTRY[row.op].input(number).argument
        if (row.op, number) not in GLOBAL
    ]


def wrong(
    row: Row, number: int, results: Sequence[Sequence[Outputs]], dali: Sequence[Outputs] | None
) -> list[str]:
    """What breaks the law: of a row as it is, with an element that is not finite, and with finite ones.

    Args:
        row: the row.
        number: of the changed input.
        results: by version and sample.
        dali: of the second version; None: what finite numbers touch says what should not be finite.
    """
    texts = []
    clean, bad, *finite = results
    for sample, outputs in enumerate(bad):
        for o, got in enumerate(outputs):
            what = f"{row}, input {number}, sample {sample}, output {o}, {poisoned.NOT_FINITE[sample]}"
            before = clean[sample][o]
            touched = np.any([poisoned.differs(before, version[sample][o]) for version in finite], axis=0)
            kinds, changed = poisoned.kinds(got), poisoned.differs(before, got)
            if dali is not None:
                expected = poisoned.kinds(dali[sample][o])
                if row.op in OTHER_KINDS:
                    kinds, expected = kinds != 0, expected != 0
                if not np.array_equal(kinds, expected):
                    texts.append(
                        f"{what}: {np.count_nonzero(kinds != expected)} of {got.size} are not as in DALI"
                    )
                # Of a matrix with zeros an element that is not finite touches more than others.
                changed &= kinds == 0
            elif row.op in FEET:
                changed &= kinds == 0
            if (changed & ~touched).any():
                texts.append(
                    f"{what}: changes {np.count_nonzero(changed & ~touched)} elements that it does not touch"
                )
    return texts


@pytest.mark.oracle
@pytest.mark.parametrize(
    "group", [pytest.param(g, marks=pytest.mark.exhaustive) if g == "large" else g for g in GROUPS]
)
def test_what_is_not_finite_touches_what_its_window_touches(group: str):
    oracle.dali()
    rows = rows_of(GROUPS[group])
    rows = drawn(rows, -(-len(rows) // 3), lambda pair: f"{pair[0]} {pair[1]}")
    versions = [[row for row, _ in rows]]
    for values in (poisoned.NOT_FINITE, *FINITE):
        versions.append([poisoned.replaced(row, number, values) for row, number in rows])
    results = poisoned.run(versions[0], versions)
    texts = []
    for r, (row, number) in enumerate(rows):
        found = None if (row.op, number) in NOT_AS_DALI else sweep_cases.run_dali(versions[1][r])
        dali = None if found is None else [list(outputs) for outputs in zip(*found[0], strict=True)]
        texts += wrong(row, number, [version[r] for version in results], dali)
    assert not texts, "\n".join(texts)


def test_exceptions_are_of_rows_that_there_are():
    rows = {(row.op, number) for group in GROUPS.values() for row, number in rows_of(group)}
    assert set(NOT_AS_DALI) <= rows
    assert set(OTHER_KINDS) <= {op for op, _ in rows}
    assert not set(GLOBAL) & rows


def test_finds_a_product_with_zeros():
    """The law is broken by what it was made for: a sum of products in which some factors are 0."""
    row = Row("reductions.sum", [[np.arange(6, dtype=np.float32) + i for i in range(COUNT)]], [""])
    band = np.eye(6, dtype=np.float32)
    bad = poisoned.replaced(row, 0, poisoned.NOT_FINITE)
    finite = [poisoned.replaced(row, 0, values) for values in FINITE]
    with np.errstate(invalid="ignore"):
        products = [
            [[np.asarray([np.sum(line * sample) for line in band])] for sample in version.inputs[0]]
            for version in (row, bad, *finite)
        ]
    assert len(wrong(row, 0, products, None)) == COUNT
    copies = [[[sample] for sample in version.inputs[0]] for version in (row, bad, *finite)]
    assert not wrong(row, 0, copies, None)
