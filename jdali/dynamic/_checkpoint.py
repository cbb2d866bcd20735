"""Checkpoints of dynamic mode: the states of readers and random generators, by name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jdali._state import check_version

_VERSION = 1
_NUMBERED = re.compile(r"\{seq(:[^}]*)?\}")


class Checkpoint:
    """States of objects that have `get_state` and `set_state`, under names.

    `collect` takes the states of all registered objects, `save` writes them to a file; after `load`
    in another process, `register` gives an object the state that was saved under its name.
    """

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}
        self._states: dict[str, tuple[Any, str | None]] = {}
        self._loaded = False

    def register(self, op: object, name: str | None = None) -> None:
        """Adds an object; if its state was loaded already, it is restored at once.

        Args:
            op: has `get_state` and `set_state`.
            name: must be its own; None: made of its type and a number.
        """
        if name is None:
            number = sum(type(known) is type(op) for known in self._objects.values())
            name = f"{type(op).__name__}_{number}"
        if name in self._objects and self._objects[name] is not op:
            raise ValueError(f"Checkpoint: there is another object named {name!r} already")
        self._objects[name] = op
        if self._loaded and name in self._states:
            self._give(name)

    def collect(self) -> None:
        """Takes the states of all registered objects."""
        self._states |= {name: (op.get_state(), type(op).__name__) for name, op in self._objects.items()}

    def restore(self) -> None:
        """Gives all registered objects their states."""
        for name in self._objects:
            self._give(name)

    def _give(self, name: str) -> None:
        op = self._objects[name]
        if name not in self._states:
            raise KeyError(f"Checkpoint: it has no state named {name!r}, only {sorted(self._states)}")
        state, kind = self._states[name]
        if kind is not None and kind != type(op).__name__:
            raise TypeError(f"Checkpoint: {name!r} is the state of a {kind}, not of a {type(op).__name__}")
        op.set_state(state)

    @property
    def names(self) -> list[str]:
        """Names of all objects and states."""
        return sorted(self._objects.keys() | self._states.keys())

    @property
    def is_loaded(self) -> bool:
        """True if the states come from a file or from `deserialize`."""
        return self._loaded

    @property
    def is_complete(self) -> bool:
        """True if there is a state for every registered object."""
        return self._objects.keys() <= self._states.keys()

    def get_state(self, name: str) -> Any:
        """Returns the state under a name."""
        return self._states[name][0]

    def set_state(self, name: str, value: Any, op_type: Any = None) -> None:
        """Puts a state under a name.

        Args:
            name: of an object.
            value: what its `set_state` takes.
            op_type: its type, or the name of it, to be checked; None: not checked.
        """
        kind = op_type.__name__ if isinstance(op_type, type) else op_type
        self._states[name] = (value, kind)

    def clear(self) -> None:
        """Forgets all objects and states."""
        self._objects, self._states, self._loaded = {}, {}, False

    def __contains__(self, name: object) -> bool:
        return name in self._states

    def __len__(self) -> int:
        return len(self._states)

    def serialize(self) -> str:
        """Writes the states as JSON."""
        states = {name: {"state": state, "type": kind} for name, (state, kind) in self._states.items()}
        return json.dumps({"version": _VERSION, "states": states})

    def deserialize(self, data: str | bytes) -> None:
        """Takes the states of `serialize`; objects registered already are restored."""
        parsed = json.loads(data)
        check_version("Checkpoint", parsed, _VERSION)
        self._states = {name: (item["state"], item["type"]) for name, item in parsed["states"].items()}
        self._loaded = True
        for name in self._objects.keys() & self._states.keys():
            self._give(name)

    def save(self, filename: str | Path) -> str:
        """Collects the states and writes them; "{seq}" in the name is the next free number.

        Returns: name of the file.
        """
        self.collect()
        text = str(filename)
        if _NUMBERED.search(text):
            last = max((number for number, _ in _numbered_files(text)), default=-1)
            text = text.format(seq=last + 1)
        Path(text).write_text(self.serialize())
        return text

    def load(self, filename: str | Path) -> str:
        """Reads states; "{seq}" in the name is the largest number there is.

        Returns: name of the file.
        """
        text = str(filename)
        if _NUMBERED.search(text):
            found = _numbered_files(text)
            if not found:
                raise FileNotFoundError(f"Checkpoint: there is no file {text}")
            text = str(max(found)[1])
        self.deserialize(Path(text).read_text())
        return text


def _numbered_files(pattern: str) -> list[tuple[int, Path]]:
    """Lists the files whose names are `pattern` with a number at "{seq}", with that number."""
    path = Path(pattern)
    before, after = _NUMBERED.split(path.name)[0], _NUMBERED.split(path.name)[-1]
    name = re.compile(re.escape(before) + r"(\d+)" + re.escape(after))
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    return [(int(m[1]), entry) for entry in entries if (m := name.fullmatch(entry.name))]
