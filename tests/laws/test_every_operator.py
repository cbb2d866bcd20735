"""Every operator through real pipelines: ragged samples, every batch size, restored, in branches, against DALI.

`ops.sweep_cases` has the operators, `support.sweep` runs them. A row's samples must come out with the same bits
however they are batched; those of one run are compared with the real DALI, or with the pure function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ops import sweep_cases
from support import oracle, sweep
from support.some import drawn, one_of_each
from support.sweep import COUNT, EPOCHS, Outputs, Results, Row, largest_difference, order

from jdali import OperatorError
from jdali._batches import Plan
from jdali._operators.record import REGISTRY, ArgKind, CompiledOp, PerSample, operator

# A test compiles the programs of a whole group: up to a minute of work, which takes longer on a busy machine.
pytestmark = pytest.mark.timeout(1200)

GROUPS = {f"{rows[0].op}, ...": rows for rows in sweep_cases.COMPILED}
GROUPS["others"] = [row for row in sweep_cases.OTHERS if row.op not in sweep_cases.COSTLY]
# Each by itself: a program of all of them would take minutes to compile.
SLOWER = {str(row): [row] for row in sweep_cases.SLOWER + sweep_cases.OTHERS if row not in GROUPS["others"]}
GROUPS |= SLOWER
ARGUMENTS = {f"{rows[0]}, ...": rows for rows in sweep_cases.ARGUMENTS if rows}
REFERENCE = 8  # the batch size that the others are compared with

# Samples in a batch of dynamic mode; it has programs of its own for them.
DYNAMIC = 3
# Largest relative difference of the pure function, compiled for one sample: fused and ordered in another way.
PURE = 1e-5

# What is run of every group is run of these in a quick run: they take little time, and share the mechanisms.
QUICK = ("squeeze, ...", "brightness_contrast, ...", "others")
# Groups whose second programs, for what is said otherwise, take most of the time.
TWICE = ("resize, ...", "random.choice, ...", "math.add, ...", "crop, ...", "noise.gaussian, ...")
# Groups that take most of the time.
LONG = ("resize, ...", "noise.gaussian, ...", "random.choice, ...", "audio_resample, ...", *SLOWER)


def each_group(slow: Callable[[str], bool]) -> pytest.MarkDecorator:
    """Parametrized over the groups; those for which `slow` are marked so.

    The module's scope puts the tests of a group one after another, so that they find its reference run.
    """
    groups = [
        pytest.param(name, marks=pytest.mark.exhaustive if name in SLOWER or slow(name) else ())
        for name in GROUPS
    ]
    return pytest.mark.parametrize("group", groups, scope="module")


every = each_group(lambda _: False)
quick = each_group(lambda name: name not in QUICK)


class Failures:
    """What is wrong with rows, reported together: a group of rows shares a pipeline, so it shares a test."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def check(self, row: Row, how: str, got: Outputs, want: Outputs, allowed: float | None = None) -> None:
        """Reports more than `allowed`; None: what two runs of the same sample may differ by."""
        allowed = sweep_cases.allowed_difference(row) if allowed is None else allowed
        try:
            found = largest_difference(got, want, f"{row}, {how}")
        except AssertionError as error:
            self.texts.append(str(error))
            return
        if found > allowed:
            self.texts.append(f"{row}, {how}: differs by {found:.3g}, allowed are {allowed:.3g}")

    def check_all(self, how: str, got: Mapping[Row, Results], want: Mapping[Row, Results]) -> None:
        """Every sample of `got` against the same one of `want`."""
        for row, results in got.items():
            for position, outputs in results.items():
                self.check(row, how, outputs, want[row][position])

    def __enter__(self) -> Failures:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            assert not self.texts, "\n".join(dict.fromkeys(self.texts))


def by_row(
    rows: Sequence[Row], run: Callable[[Sequence[Row]], Sequence[Any]], failures: Failures
) -> dict[Row, Any]:
    """`run(rows)` for each row; rows that fail are reported and left out."""
    rows = list(rows)
    try:
        return dict(zip(rows, run(rows), strict=True)) if rows else {}
    except Exception as error:
        if len(rows) == 1:
            failures.texts.append(f"{rows[0]}: {type(error).__name__}: {error}")
            return {}
        named = [row for row in rows if isinstance(error, OperatorError) and row.op == error.operator]
        first = named if 0 < len(named) < len(rows) else rows[: len(rows) // 2]
        rest = [row for row in rows if row not in first]
        return by_row(first, run, failures) | by_row(rest, run, failures)


def in_batches(rows: Sequence[Row], size: int) -> list[Results]:
    return sweep.run(rows, size)[0]


def a_third(rows: Sequence[Row]) -> list[Row]:
    return drawn(rows, -(-len(rows) // 3))


@functools.cache
def reference(group: str) -> tuple[dict[Row, Results], Failures]:
    """Results of a row of some operators, a third, in batches of `REFERENCE`, and which rows failed."""
    failures, rows = Failures(), one_of_each(GROUPS[group])
    return by_row(a_third(rows), lambda rows: in_batches(rows, REFERENCE), failures), failures


@pytest.fixture(scope="module", autouse=True)
def _forget_references():
    yield
    reference.cache_clear()


def test_every_operator_has_a_row():
    rows = [row for rows in GROUPS.values() for row in rows]
    assert {row.op for row in rows} | set(sweep_cases.NEED_FILES) == set(REGISTRY) - set(sweep_cases.NO_ROW)


def test_every_per_sample_argument_is_given_by_sample():
    every = [row for rows in (*GROUPS.values(), *ARGUMENTS.values()) for row in rows]
    for op in REGISTRY.values():
        if isinstance(op, CompiledOp) and not op.name.startswith("_") and op.name not in sweep_cases.NO_ROW:
            given = {name for row in every if row.op == op.name for name in row.fed}
            assert {a.name for a in op.public_args.values() if a.kind is ArgKind.PER_SAMPLE} == given, op


def check_runs(rows: Mapping[Row, Row], want: Mapping[Row, Results], size: int, failures: Failures) -> None:
    """In batches of `size`, and of 3 in a fresh pipeline that goes on from a state of the first.

    Args:
        rows: to run, with the rows of `want` that they are another form of.
        want: results of the latter.
        size: 1 or 3.
        failures: to report to.
    """

    def both(rows: Sequence[Row]) -> list[tuple[Results, Results]]:
        whole, saved = sweep.run(rows, size, save_at=3)
        restored, _ = sweep.run(rows, 3, begin=saved)
        return list(zip(whole, restored, strict=True))

    runs = by_row(list(rows), both, failures)
    for how, which in ((f"in batches of {size}", 0), ("restored, in batches of 3", 1)):
        failures.check_all(how, {rows[row]: results[which] for row, results in runs.items()}, want)
    assert all(len(restored) == EPOCHS * COUNT - 3 for _, restored in runs.values())


@every
def test_same_bits(group: str):
    """In both epochs, in other batches, restored."""
    want, failed = reference(group)
    with Failures() as failures:
        failures.texts += failed.texts
        for row, results in want.items():
            assert set(results) == {(e, p) for e in range(EPOCHS) for p in range(COUNT)}, row
            if not REGISTRY[row.op].random:
                for position, sample in enumerate(order(1)):
                    failures.check(
                        row, "in the second epoch", results[1, position], results[0, order(0).index(sample)]
                    )
        check_runs({row: row for row in want}, want, 1, failures)


@pytest.mark.cases(2)
@each_group(lambda name: name in TWICE)
def test_same_bits_said_otherwise(group: str):
    """With and without a layout, numbers as one-element tensors, in other batches, restored."""
    want, _ = reference(group)
    with Failures() as failures:
        size = 3 if group in LONG else 1  # that of the restored run: only it has programs to be compiled
        check_runs({sweep_cases.said_otherwise(row): row for row in want}, want, size, failures)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("rows_follow_the_batch")
@every
def test_same_bits_in_every_batch_size(group: str):
    want, _ = reference(group)
    with Failures() as failures:
        check_runs({row: row for row in want}, want, 1, failures)
        for size in (2, 3):
            got = by_row(list(want), lambda rows, size=size: in_batches(rows, size), failures)
            failures.check_all(f"in batches of {size}", got, want)


def test_exact_shapes_give_the_same_bits_without_exception():
    rows = [row for rows in GROUPS.values() for row in rows if sweep_cases.allowed_difference(row)]
    assert rows
    whole, single = (sweep.run(rows, size, exact_shapes=True)[0] for size in (REFERENCE, 1))
    for row, one, other in zip(rows, whole, single, strict=True):
        for position, outputs in one.items():
            assert largest_difference(other[position], outputs, str(row)) == 0, row


@pytest.mark.oracle
@every
def test_equals_dali(group: str):
    oracle.dali()
    want, _ = reference(group)
    with Failures() as failures:
        for row, results in want.items():
            compare_with_dali(row, results, failures)


def compare_with_dali(row: Row, results: Results, failures: Failures) -> None:
    """The first epoch, and the layouts, where DALI has the operator."""
    dali = by_row([row], lambda rows: [sweep_cases.run_dali(rows[0])], failures).get(row)
    if dali is None:
        return
    arrays, layouts = dali
    for position, sample in enumerate(order(0)):
        expected = [output[sample] for output in arrays]
        failures.check(row, "against DALI", results[0, position], expected, sweep_cases.atol(row, expected))
    if list(results.layouts) != layouts:
        failures.texts.append(f"{row}: layouts {results.layouts}, DALI gives {layouts}")


@each_group(lambda name: name in LONG)
def test_equals_pure_function(group: str):
    """Operators that DALI has not, or that are random: with the keys of the samples."""
    want, _ = reference(group)
    with Failures() as failures:
        for row, results in want.items():
            op = REGISTRY[row.op]
            alone = op.random or op.name in sweep_cases.NOT_IN_DALI
            if not isinstance(op, CompiledOp) or row.call is not None or not alone:
                continue
            for position in range(sweep_cases.KINDS):
                purely = by_row([row], lambda rows, p=position: [sweep.purely(rows[0], p)], failures)
                for got in purely.values():
                    failures.check(row, "pure function", results[0, position], got, PURE)


# All of a branch, none, one, the other one of the batches of two that `order` makes, there and back.
HOLDS = [True, True, False, False, True, False, False, True]


@quick
def test_in_branches(group: str):
    want, _ = reference(group)
    with Failures() as failures:

        def run(rows: Sequence[Row]) -> list[Results]:
            return sweep.in_branches(rows, [want[row] for row in rows], HOLDS, 2)

        rows = [row for row in want if row.op not in sweep_cases.NOT_IN_BRANCHES]
        for row, results in by_row(rows, run, failures).items():
            for (epoch, position), outputs in results.items():
                if HOLDS[order(epoch)[position]]:
                    expected = want[row][epoch, position][:1]
                    failures.check(row, "in a branch", outputs, expected)


@pytest.mark.cases(2)
@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
@pytest.mark.parametrize("group", ["squeeze, ...", "others"])
def test_through_an_iterator(group: str, on_error: str):
    """And gone on from the iterator's state in another one; no error, so it does not matter what is done then."""
    want = {row: sweep.narrowed(results) for row, results in reference(group)[0].items()}

    def both(rows: Sequence[Row]) -> list[tuple[Results, Results]]:
        whole, states = sweep.through_iterator(rows, 3, on_error=on_error)
        restored, _ = sweep.through_iterator(rows, 3, begin=states[0], on_error=on_error)
        return list(zip(whole, restored, strict=True))

    with Failures() as failures:
        for row, (whole, restored) in by_row(list(want), both, failures).items():
            failures.check_all("through an iterator", {row: whole}, want)
            failures.check_all("through a restored iterator", {row: restored}, want)
            assert (len(whole), len(restored)) == (EPOCHS * COUNT, EPOCHS * COUNT - 3), row


@quick
def test_dynamic_mode_gives_the_same(group: str):
    want, _ = reference(group)
    with Failures() as failures:
        for row in want:
            if row.call is None and not REGISTRY[row.op].random:
                got = by_row([row], lambda rows: [sweep.in_dynamic_mode(rows[0], DYNAMIC)], failures)
                for position, outputs in enumerate(got.get(row, [])):
                    failures.check(row, "in dynamic mode", outputs, want[row][0, position])


def test_operators_on_files(tmp_path: Path):
    """Those of `NEED_FILES`: in one run after another."""
    with Failures() as failures:
        rows = sweep_cases.rows_of_files(tmp_path)
        want = by_row(rows, lambda rows: in_batches(rows, REFERENCE), failures)
        check_runs({sweep_cases.said_otherwise(row): row for row in want}, want, 1, failures)


def test_permute_batch():
    """In batches of one it can only give the sample itself; else the samples of each batch in turn."""
    rows = [Row("permute_batch", [sweep_cases.NUMBERS], ["AB"], {}, {"indices": [np.int32(0)] * COUNT})]
    for size in (1, 3):
        (results,), _ = sweep.run(rows, size)
        for (epoch, position), (got,) in results.items():
            first = order(epoch)[position - position % size]
            np.testing.assert_array_equal(got, sweep_cases.NUMBERS[first])


@pytest.mark.oracle
@pytest.mark.parametrize(
    "arguments",
    # Not those of `resize`: compiling its programs for this many rows takes hours; its own tests have the values.
    [
        pytest.param(name, marks=() if name.startswith("full") else pytest.mark.exhaustive)
        for name in ARGUMENTS
        if not name.startswith("resize")
    ],
)
def test_arguments_that_decide_sizes(arguments: str):
    """Given by sample: the same bits in batches of 8 and of 3, those of DALI."""
    oracle.dali()
    rows = [row for row in ARGUMENTS[arguments] if row.op != "pad"]  # fills to the batch's largest sample
    with Failures() as failures:
        want = by_row(rows, lambda rows: in_batches(rows, REFERENCE), failures)
        got = by_row(list(want), lambda rows: in_batches(rows, 3), failures)
        failures.check_all("in batches of 3", got, want)
        for row in want:
            compare_with_dali(row, want[row], failures)


IMAGES = {row for rows in GROUPS.values() for row in rows if sweep_cases.is_of_images(row)}
of_images = pytest.mark.parametrize(
    "group",
    [
        pytest.param(name, marks=pytest.mark.exhaustive if name in LONG else ())
        for name, rows in GROUPS.items()
        if IMAGES & set(rows)
    ],
    scope="module",
)


@pytest.mark.exhaustive  # operators/test_dali_layouts.py has layouts of each operator
@pytest.mark.parametrize("arranged", ["channels first", "frames"])
@pytest.mark.parametrize(
    "group", [name for name, rows in GROUPS.items() if IMAGES & set(rows)], scope="module"
)
def test_other_layouts_of_images(group: str, arranged: str):
    want, _ = reference(group)
    change = sweep_cases.channels_first if arranged == "channels first" else sweep_cases.as_frames
    with Failures() as failures:
        left_out = sweep_cases.NO_CHANNELS_FIRST if arranged == "channels first" else ()
        alike = {change(row): row for row in want if row in IMAGES and row.op not in left_out}
        for row, results in by_row(list(alike), lambda rows: in_batches(rows, REFERENCE), failures).items():
            for position, (value, *_) in results.items():
                if arranged == "frames":
                    value = value[0]
                elif row.op not in sweep_cases.OWN_LAYOUT:
                    value = np.moveaxis(value, 0, -1)
                failures.check(row, arranged, [value], want[alike[row]][position][:1])


@pytest.mark.cases(1)
@pytest.mark.oracle
@of_images
@pytest.mark.parametrize("dtype", [np.uint8, pytest.param(np.int16, marks=pytest.mark.exhaustive)])
def test_other_types_of_images_equal_dali(group: str, dtype: Any):
    oracle.dali()
    rows = [
        sweep_cases.of_type(row, dtype)
        for row in GROUPS[group]
        if row in IMAGES and sweep_cases.takes(row, dtype)
    ]
    rows = a_third(rows)
    with Failures() as failures:
        for row, results in by_row(rows, lambda rows: in_batches(rows, REFERENCE), failures).items():
            compare_with_dali(row, results, failures)


@pytest.fixture
def faulty():
    """Makes operators that are forgotten after the test."""
    names = set(REGISTRY)
    yield
    for name in set(REGISTRY) - names:
        del REGISTRY[name]


def _row_of_noise(name: str) -> Row:
    samples = [np.random.default_rng(i).normal(size=(5 + i % 3, 6)).astype(np.float32) for i in range(COUNT)]
    return Row(name, [samples], [""])


def _found(row: Row, change: Callable[[Row], Row], size: int) -> list[str]:
    failures = Failures()
    want, got = in_batches([row], REFERENCE)[0], in_batches([change(row)], size)[0]
    failures.check_all("", {row: got}, {row: want})
    return failures.texts


@pytest.mark.usefixtures("faulty")
def test_finds_an_operator_that_takes_the_padded_shape_for_the_size():
    @operator(name="_faulty.shape")
    def padded(data: Any, /, *, extent: Any = None) -> Any:
        return data - data.shape[0]

    # A sample is padded alike in any batch: only what is not padded at all differs.
    row, failures = _row_of_noise("_faulty.shape"), Failures()
    results = in_batches([row], REFERENCE)[0]
    for position in range(3):
        failures.check(row, "pure function", results[0, position], sweep.purely(row, position), PURE)
    assert failures.texts


@pytest.mark.usefixtures("faulty")
def test_finds_an_operator_that_asks_the_first_sample_for_the_size_of_all():
    def setup(data: Any) -> Any:
        return Plan((data,), {"_rows": np.full(data.batch_size, data.extents[0, 0], np.int32)})

    @operator(name="_faulty.first", setup=setup)
    def first(data: Any, /, *, _rows: PerSample[int | None] = None, extent: Any = None) -> Any:
        return data * _rows

    assert _found(_row_of_noise("_faulty.first"), lambda row: row, 1)


@pytest.mark.usefixtures("faulty")
def test_finds_an_operator_that_means_something_else_without_a_layout():
    @operator(name="_faulty.layout")
    def named(data: Any, /, *, layout: Any = None) -> Any:
        return data + len(layout)

    assert _found(_row_of_noise("_faulty.layout"), sweep_cases.said_otherwise, 2)
    assert not _found(_row_of_noise("_faulty.layout"), lambda row: row, 2)
