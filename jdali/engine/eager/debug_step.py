"""Defines `DebugStep`: an operator call in debug mode, which all iterations repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from jdali import types
from jdali._batches import Provenance
from jdali.engine.steps.values import StepRunner, Values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool
from jdali.graph import DataNode, Node


class _Kind(NamedTuple):
    """Properties of a batch that stay the same in all iterations."""

    layout: str
    dtype: types.DALIDataType
    ndim: int


class DebugStep:
    """Represents an operator call and its runner. Each iteration adds a new node, which must equal the first node."""

    def __init__(self, node: Node, make_runner: Callable[[Node], StepRunner]):
        self.node, self._make_runner = node, make_runner
        self.runner = make_runner(node)
        self._kinds: dict[str, _Kind] = {}

    def check(self, node: Node) -> None:
        """Compares the call with the first iteration's call; raises RuntimeError if operator or arguments differ."""
        if node.op is not self.node.op or node.where != self.node.where:
            raise unexpected(node)
        self._check_count("inputs", self.node.inputs, node.inputs)
        for i, (was, now) in enumerate(zip(self.node.inputs, node.inputs, strict=True)):
            self._check_value(f"Input {i}", was, now)
        if node.runtime is not None:
            return  # the user's object of the first iteration stays in use
        self._check_count("keyword arguments", self.node.args, node.args)
        changed = _repetitions(self.node) != _repetitions(node)
        for name, now in node.args.items():
            if name not in self.node.args:
                raise RuntimeError(
                    f"Argument '{name}' for operator '{node.op.shown_name}' was not given when it was built."
                )
            was = self.node.args[name]
            if callable(was) and callable(now):
                changed = changed or was is not now
            else:
                self._check_value(f"Argument '{name}'", was, now)
        # A function defined inside the user's function is a new object in each iteration, so it needs a new runner.
        if changed:
            self.node, self.runner = node, self._make_runner(node)

    def _check_count(self, what: str, was: Any, now: Any) -> None:
        if len(was) != len(now):
            raise RuntimeError(
                f"Trying to use operator '{self.node.op.shown_name}' with different number of {what} than when "
                f"it was built. Expected: {len(was)} {what}, got {len(now)}."
            )

    def _check_value(self, what: str, was: Any, now: Any) -> None:
        title = f"{what} for operator '{self.node.op.shown_name}'"
        kinds = ["batch" if isinstance(v, DataNode) else "constant" for v in (was, now)]
        if kinds[0] != kinds[1]:
            raise RuntimeError(f"{title} is a {kinds[1]} but was a {kinds[0]} when created.")
        if isinstance(was, DataNode):
            if was.device != now.device:
                raise RuntimeError(f"{title} is on '{now.device}' but was on '{was.device}' when created.")
        elif not _equal(was, now):
            raise RuntimeError(f"{title} unexpectedly changed value from '{was}' to '{now}'.")

    def run(self, node: Node, drawn: Provenance | None, env: Values, part: SampleIds, pool: Pool) -> None:
        """Runs an iteration's node and adds its outputs to `env`; raises RuntimeError if an input is of another kind."""
        own = Values()
        for what, mine, given in self._batches(node):
            own[mine] = batch = env[given]
            if len(batch):
                kind = _Kind(batch.layout(), batch.dtype, batch.ndim())
                self._check_kind(what, kind)
        if drawn is not None:
            own.drawn[self.node] = env.drawn[node] = drawn
        own.task = env.task
        self.runner.run(own, part, pool)
        for mine, result in zip(self.node.outputs, node.outputs, strict=True):
            env[result] = own[mine]

    def _batches(self, node: Node) -> Iterator[tuple[str, DataNode, DataNode]]:
        """Yields (title for errors, value of the runner's node, value of the iteration's node) for each input batch."""
        for i, (mine, given) in enumerate(zip(self.node.inputs, node.inputs, strict=True)):
            if isinstance(mine, DataNode) and isinstance(given, DataNode):
                yield f"Input {i}", mine, given
        given_args: Mapping[str, DataNode] = node.arg_inputs
        for name, mine in self.node.arg_inputs.items():
            yield f"Argument '{name}'", mine, given_args[name]

    def _check_kind(self, what: str, now: _Kind) -> None:
        was = self._kinds.setdefault(what, now)
        for field, expected, actual in zip(_Kind._fields, was, now, strict=True):
            if expected != actual:
                raise RuntimeError(
                    f"{what} for operator '{self.node.op.shown_name}' has {field} = {actual}, expected: "
                    f"{expected}, as in the first iteration."
                )


def unexpected(node: Node) -> RuntimeError:
    """Makes the error for an operator that an earlier iteration did not call at this point."""
    name = "ExternalSource" if node.is_source and node.runtime else node.op.shown_name
    return RuntimeError(
        f"Unexpected operator '{name}'. Debug mode does not support changing the order of operators executed "
        f"within the pipeline.\n  called at {node.where}"
    )


def _repetitions(node: Node) -> list[int]:
    """Returns, for each input, the position of the first input that is the same batch, for example [0, 1, 0].

    A runner works only for calls with the same list.
    """
    values = list(map(id, node.operands))
    return [values.index(value) for value in values]


def _equal(was: object, now: object) -> bool:
    """Compares two constants; NaN equals itself."""
    if was is now:
        return True
    try:
        a, b = np.asarray(was), np.asarray(now)
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    except (TypeError, ValueError):
        return bool(was == now)
