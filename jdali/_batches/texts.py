"""Shows tensors and batches as text, equal to DALI's, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jdali import _display

_INDENT = " " * 4
_EDGE = 2  # items shown at each end of a shortened list
_LINE = 75  # maximum characters of a line; a longer list of shapes has one shape per line
_MANY_ELEMENTS = 1000  # with more elements, some are left out, as in NumPy


def tensor_text(
    name: str, device: str, dtype: object, layout: str, shape: Sequence[int], data: np.ndarray | None
) -> str:
    """Formats one tensor, without its values if `data` is None."""
    lines = [] if data is None else [_array(data)]
    lines += [f"dtype={dtype}", *_layout(layout), f'device="{device}"', f"shape={tuple(shape)})"]
    return _join(name, lines)


def batch_text(
    name: str,
    device: str,
    dtype: object,
    layout: str,
    shapes: Sequence[tuple[int, ...]],
    sample: Callable[[int], np.ndarray] | None,
) -> str:
    """Formats a batch. `sample(i)` returns sample i; if `sample` is None, the values are omitted."""
    lines = [] if sample is None else [_samples(shapes, sample)]
    lines += [f"dtype={dtype}", *_layout(layout), f'device="{device}"', f"num_samples={len(shapes)}"]
    return _join(name, [*lines, f"shape=[{_shapes(shapes)}])"])


def _samples(shapes: Sequence[tuple[int, ...]], sample: Callable[[int], np.ndarray]) -> str:
    count = len(shapes)
    if count == 0:
        return "[]"
    elements = sum(max(int(np.prod(shape)), 1) for shape in shapes)
    shorten = count > 2 * _EDGE + 1 and elements > _MANY_ELEMENTS
    shown = [*range(_EDGE), *range(count - _EDGE, count)] if shorten else range(count)
    texts = [_array(sample(i)) for i in shown]
    if shorten:
        texts.insert(_EDGE, "...")
    axes = len(shapes[0])
    separator = ", " if axes == 0 else ",\n" + "\n" * (axes - 1) + _INDENT
    return f"[{separator.join(texts)}]"


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    texts = [str(shape) for shape in shapes]
    count = len(texts)
    if count > 16 or (count > 2 * _EDGE + 1 and count * len(shapes[0]) > 100):
        texts = [*texts[:_EDGE], "...", *texts[-_EDGE:]]
    line = ", ".join(texts)
    if len(line) <= _LINE:
        return line
    return (", \n" + _INDENT + " " * len("shape=[")).join(texts)


def _array(data: np.ndarray) -> str:
    return np.array2string(data, prefix=_INDENT, edgeitems=_EDGE)


def _layout(layout: str) -> list[str]:
    return [f'layout="{layout}"'] if layout else []


def _join(name: str, lines: Sequence[str]) -> str:
    return f"{name}(\n{_INDENT}" + f",\n{_INDENT}".join(lines)


def samples_html(
    kind: str, device: str, dtype: object, layout: str, shapes: Sequence[tuple[int, ...]],
    sample: Callable[[int], np.ndarray], names: Sequence[str] = (),
) -> str:  # fmt: skip
    """Shows samples side by side, in at most 200 kB."""
    sizes = sorted(set(shapes))
    size = " to ".join("×".join(map(str, one)) or "scalar" for one in (*sizes[:1], *sizes[1:][-1:]))
    title = f"{kind}: {len(shapes)} samples on {device}, {layout or 'no layout'}, {dtype}, {size or 'empty'}"
    return _display.batch_html(title, len(shapes), [_display.NamedBatch("", layout, sample)], names)
