"""Tracks the provenance of samples: the source samples from which each sample was made.

Each batch has a `Provenance`, which builds the names of its samples only when they are read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from jdali._numerics.counting import counting

_NONE = -1  # marks an entry of `links` without a sample


@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """Identifies the samples that one source provided for a batch.

    Attributes:
        name: function that takes an index in the data set and returns the name of this sample, or "" if it has none.
        index: int64 [n], indices of the samples in the data set; must not change later.
    """

    name: Callable[[int], str]
    index: np.ndarray
    source: Any = None

    def __len__(self) -> int:
        return len(self.index)


@dataclasses.dataclass(frozen=True, eq=False)
class _Pasted(Drawn):
    """Joins the names of pasted samples. `parts` takes a position and returns the names of the samples pasted there."""

    parts: Callable[[int], list[str]] = lambda position: []


def _nameless(index: int) -> str:
    return ""


_SHOWN = 4


class Provenance(Sequence[str]):
    """Records, for each sample of a batch, the source samples from which it was made. It is a sequence of the samples' names.

    A sample made of several files has no name, as in DALI, except that names of pasted samples are joined. `files` returns
    all files.

    Args:
        drawn: the samples of the sources.
        links: int64 [n, k], for each sample up to k indices into the concatenation of `drawn`; -1 fills unused entries.
        data: the first `data` columns of `links` belong to data inputs, which determine the name. The other columns
            belong to argument inputs.
    """

    __slots__ = ("_data", "_drawn", "_links")

    def __init__(self, drawn: tuple[Drawn, ...], links: np.ndarray, data: int):
        self._drawn, self._links, self._data = drawn, links, data

    def __repr__(self) -> str:
        shown = [repr(self[i]) for i in range(min(len(self), _SHOWN))]
        return f"Provenance([{', '.join(shown)}{', ...' * (len(self) > _SHOWN)}], {len(self)} samples)"

    @classmethod
    def of(cls, drawn: Drawn) -> Provenance:
        """Makes the provenance of samples that come directly from a source."""
        return cls((drawn,), counting(len(drawn))[:, None], 1)

    @classmethod
    def named(cls, names: Sequence[str]) -> Provenance:
        return cls.of(Drawn(tuple(names).__getitem__, np.arange(len(names))))

    @classmethod
    def nowhere(cls, count: int) -> Provenance:
        """Makes the provenance of samples whose origin is unknown."""
        return cls((), np.zeros((count, 0), np.int64), 0)

    @classmethod
    def together(
        cls, data: Sequence[Provenance | None], arguments: Sequence[Provenance | None] = ()
    ) -> Provenance | None:
        """Combines the provenance of an operator's inputs, sample by sample; None if no input has one."""
        known = [p for p in data if p is not None]
        others = [p for p in arguments if p is not None]
        if not known and not others:
            return None
        known, others = _distinct(known), _distinct(others)
        if len(known) == 1 and all(any(o is k for k in known) for o in others):
            return known[0]
        drawn, moved = _renumbered([*known, *others])
        mine, theirs = moved[: len(known)], moved[len(known) :]
        columns = [p._links[:, : p._data] for p in mine]
        further = [p._links[:, p._data :] for p in mine] + [p._links for p in theirs]
        first = _without_repetitions(np.concatenate(columns, axis=1)) if columns else None
        rest = _without_repetitions(np.concatenate(further, axis=1))
        if first is None:
            return cls(drawn, rest, 0)
        return cls(drawn, np.concatenate([first, rest], axis=1), first.shape[1])

    @classmethod
    def pasted(
        cls,
        data: Sequence[Provenance | None],
        arguments: Sequence[Provenance | None],
        chosen: Sequence[np.ndarray] | None,
    ) -> Provenance | None:
        """Combines the provenance of samples that are pasted one after another. Joins their names by ";", as DALI does.

        If output sample i fails, the samples at position i of all inputs are blamed, because the arguments at this
        position select the pasted samples.

        Args:
            chosen: for each output sample, positions in the first input; the samples at these positions are pasted.
                None: sample i of each input is pasted into output sample i.
        """
        origins, known = cls.together(data, arguments), [p for p in data if p is not None]
        if origins is None or not known:
            return origins

        def parts(i: int) -> list[str]:
            names = [p[i] for p in known] if chosen is None else [known[0][k] for k in chosen[i].tolist()]
            return [name for name in names if name]

        own = np.arange(len(origins))
        names = _Pasted(lambda i: ";".join(parts(i)), own, parts=parts)
        links = np.where(origins._links == _NONE, _NONE, origins._links + len(own))
        return cls((names, *origins._drawn), np.concatenate([own[:, None], links], axis=1), 1)

    @classmethod
    def concat(cls, batches: Sequence[Provenance]) -> Provenance:
        drawn, moved = _renumbered(batches)
        data = _stacked([p._links[:, : p._data] for p in moved])
        rest = _stacked([p._links[:, p._data :] for p in moved])
        return cls(drawn, np.concatenate([data, rest], axis=1), data.shape[1])

    def select(self, chosen: Any) -> Provenance:
        return Provenance(self._drawn, self._links[chosen], self._data)

    def send(self) -> Provenance:
        """Converts the provenance for another process. A named source becomes its name, others their samples' names."""
        return Provenance(tuple(map(_portable, self._drawn)), self._links, self._data)

    def received(self, drawn: Callable[[str], Drawn]) -> Provenance:
        """Restores a provenance that was sent. `drawn` takes the name of a source and returns the samples drawn from it."""
        known = tuple(drawn(one.source) if isinstance(one.source, str) else one for one in self._drawn)
        return Provenance(known, self._links, self._data)

    def __len__(self) -> int:
        return len(self._links)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Provenance: ...
    def __getitem__(self, i: int | slice) -> Provenance | str:
        if isinstance(i, slice):
            return self.select(i)
        names = self._names(self._links[i, : self._data])
        return names[0] if len(names) == 1 else ""

    def files(self, i: int) -> list[str]:
        """Returns the names of all samples from which sample `i` was made, including samples of arguments."""
        return self._names(self._links[i], apart=True)

    def origins(self, i: int) -> list[tuple[Drawn, int]]:
        """Returns the source samples from which sample `i` was made, each as a `Drawn` and a position in it."""
        return [found for found in self._found(self._links[i]) if not isinstance(found[0], _Pasted)]

    def _found(self, links: np.ndarray) -> list[tuple[Drawn, int]]:
        return [self._origin(link) for link in dict.fromkeys(links.tolist()) if link != _NONE]

    def _names(self, links: np.ndarray, *, apart: bool = False) -> list[str]:
        """Returns the names of samples; joins the names of pasted samples, unless `apart` is true."""
        names: list[str] = []
        for drawn, position in self._found(links):
            index = int(drawn.index[position])
            names += drawn.parts(index) if apart and isinstance(drawn, _Pasted) else [drawn.name(index)]
        return [name for name in dict.fromkeys(names) if name]

    def _origin(self, link: int) -> tuple[Drawn, int]:
        for drawn in self._drawn:
            if link < len(drawn):
                return drawn, link
            link -= len(drawn)
        raise IndexError(f"provenance: there is no sample {link}")


def _portable(drawn: Drawn) -> Drawn:
    if isinstance(drawn.source, str):
        return Drawn(_nameless, drawn.index, drawn.source)
    indices, positions = drawn.index.tolist(), counting(len(drawn))
    names = tuple(map(drawn.name, indices))
    if not isinstance(drawn, _Pasted):
        return Drawn(names.__getitem__, positions)
    return _Pasted(names.__getitem__, positions, parts=tuple(map(drawn.parts, indices)).__getitem__)


def external(count: int, source: object) -> Provenance:
    """Makes the provenance of `count` samples that have no names, only positions in `source`."""
    return Provenance.of(Drawn(_nameless, np.arange(count), source))


def _distinct(batches: Sequence[Provenance]) -> list[Provenance]:
    return list({id(p): p for p in batches}.values())


def _renumbered(batches: Sequence[Provenance]) -> tuple[tuple[Drawn, ...], list[Provenance]]:
    """Collects the `Drawn`s of all batches, and renumbers the links of each batch to match."""
    drawn = tuple({id(d): d for p in batches for d in p._drawn}.values())
    starts = dict(zip(map(id, drawn), np.cumsum([0, *map(len, drawn)]).tolist(), strict=False))
    moved = []
    for p in batches:
        if all(mine is ours for mine, ours in zip(p._drawn, drawn, strict=False)):
            moved.append(p)  # its samples come first in `drawn`, in the same order, so its links stay valid
            continue
        indices = [np.arange(len(d)) + starts[id(d)] for d in p._drawn]
        new = np.concatenate([*indices, [_NONE]])  # so that index -1 stays -1
        moved.append(Provenance(drawn, new[p._links], p._data))
    return drawn, moved


def _stacked(links: Sequence[np.ndarray]) -> np.ndarray:
    """Stacks rows, padded with `_NONE`."""
    width = max(mine.shape[1] for mine in links)
    return np.concatenate(
        [np.pad(mine, [(0, 0), (0, width - mine.shape[1])], constant_values=_NONE) for mine in links]
    )


def _without_repetitions(links: np.ndarray) -> np.ndarray:
    """Drops repetitions in each row, and empty columns, so that `links` stays small even if samples are mixed often."""
    if links.shape[1] < 2 or not len(links):
        return links
    ordered = np.sort(links, axis=1)[:, ::-1]
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = _NONE
    ordered = np.sort(ordered, axis=1)[:, ::-1]
    last = ordered.shape[1] - int((ordered == _NONE).all(axis=0).sum())
    return ordered[:, :last][:, ::-1] if last else ordered[:, :0]
