from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jdali._state import check_version

_VERSION = 1
_NUMBERED = re.compile(r"\{seq(:[^}]*)?\}")


class Checkpoint:
    """Saves and restores the states of named objects that have `get_state` and `set_state`.

    `collect` stores the states of all registered objects in memory; `save` also writes them to a file. After `load` in another
    process, `register` restores an object to the state that was saved under its name.
    """

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}
        self._states: dict[str, tuple[Any, str | None]] = {}
        self._loaded = False

    def register(self, op: object, name: str | None = None) -> None:
        """Adds an object, and restores it if its state has been loaded.

        Args:
            op: an object with `get_state` and `set_state`.
            name: unique name; None generates one from the object's type and a number.
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
        """Stores the current states of all registered objects."""
        self._states |= {name: (op.get_state(), type(op).__name__) for name, op in self._objects.items()}

    def restore(self) -> None:
        """Restores all registered objects to their stored states."""
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
        """Returns the names under which objects are registered or states are stored."""
        return sorted(self._objects.keys() | self._states.keys())

    @property
    def is_loaded(self) -> bool:
        """Returns True after `load` or `deserialize`."""
        return self._loaded

    @property
    def is_complete(self) -> bool:
        """Returns True if there is a state for every registered object."""
        return self._objects.keys() <= self._states.keys()

    def get_state(self, name: str) -> Any:
        """Returns the state stored under a name."""
        return self._states[name][0]

    def set_state(self, name: str, value: Any, op_type: Any = None) -> None:
        """Stores a state under a name.

        Args:
            name: name of an object.
            value: state, as the object's `set_state` takes it.
            op_type: type of the object, or the type's name; checked when the object is restored. None: no check.
        """
        kind = op_type.__name__ if isinstance(op_type, type) else op_type
        self._states[name] = (value, kind)

    def clear(self) -> None:
        """Removes all objects and states."""
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
        """Reads states written by `serialize`, and restores registered objects."""
        parsed = json.loads(data)
        check_version("Checkpoint", parsed, _VERSION)
        self._states = {name: (item["state"], item["type"]) for name, item in parsed["states"].items()}
        self._loaded = True
        for name in self._objects.keys() & self._states.keys():
            self._give(name)

    def save(self, filename: str | Path) -> str:
        """Collects the states and writes them to a file; "{seq}" in the name becomes the next free number.

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
        """Reads states from a file; if the name contains "{seq}", from the file with the largest number.

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
    """Lists (number, path) of the files whose names are `pattern` with a number in place of "{seq}"."""
    path = Path(pattern)
    before, after = _NUMBERED.split(path.name)[0], _NUMBERED.split(path.name)[-1]
    name = re.compile(re.escape(before) + r"(\d+)" + re.escape(after))
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    return [(int(m[1]), entry) for entry in entries if (m := name.fullmatch(entry.name))]
