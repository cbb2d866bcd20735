"""Describes the failure of a step: the operator, the samples, and the error for the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from jdali._batches import Provenance
from jdali._errors import OperatorError, SampleError, contained
from jdali.graph import Node

MadeOf: TypeAlias = Callable[[Node], Provenance | None]


class NodeFailure(Exception):
    """Reports that a node failed, on some samples or as a whole. The attribute `step` lists all nodes of the step.

    Args:
        failures: error of each failed sample; the key None stands for the node as a whole.
        others: other nodes of the same program, if it is unknown which node failed.
        where: the line of the user's code that errors show; "" for the lines that added the nodes.
    """

    step: Sequence[Node] = ()

    def __init__(
        self, node: Node, failures: Mapping[int | None, Exception], *, others: Sequence[Node] = (), where: str = ""
    ):  # fmt: skip
        self._nodes, self._where = (node, *others), where
        # Errors of the code or the machine come first: unlike bad samples, they are never tolerated.
        self.failures = dict(sorted(failures.items(), key=lambda failed: isinstance(failed[1], SampleError)))
        self.node, self.first = node, next(iter(self.failures.values()))
        super().__init__(str(self.first))

    @classmethod
    def of(cls, node: Node, error: Exception) -> NodeFailure:
        return cls(node, {error.sample if isinstance(error, SampleError) else None: error})

    @property
    def is_of_samples(self) -> bool:
        """True if samples are to blame, so that other samples may succeed; False if the code failed."""
        return None not in self.failures and all(isinstance(e, SampleError) for e in self.failures.values())

    @property
    def sample(self) -> int | None:
        """Number of the first failed sample among the samples of the step; None if no sample caused the failure."""
        return next(iter(self.failures))

    def user_error(
        self, position: int | None, made_of: MadeOf | None = None, *, where: str | None = None
    ) -> OperatorError:
        """Returns the error for the user; raise it from `first`.

        Args:
            position: position of `sample` in the user's batch; None if no sample failed.
            made_of: returns the provenance of a node's outputs, which names the files; None if the files are unknown.
                It is called only if a sample failed. If the node failed as a whole, its inputs may have different
                numbers of samples, and `made_of` could not combine them.
            where: line that the error shows; None for the lines that added the nodes, "" for no line. The error of a
                call outside of a pipeline shows no line, because Python's traceback shows it.
        """
        sample = self.sample
        found = None if sample is None or made_of is None else made_of(self.node)
        source = "" if sample is None or found is None else ", ".join(found.files(sample))
        operator = ", ".join(node.op.shown_name for node in self._nodes)
        if where is None:
            where = self._where or ", ".join(dict.fromkeys(node.where for node in self._nodes))
        return OperatorError.of(self.first, operator, sample=position, source=source, where=where)


class OperatorFailure(Exception):
    """Reports that operator `number` of a stage failed in tracing, where operators have numbers but no nodes."""

    def __init__(self, number: int, error: Exception):
        super().__init__(str(error))
        self.number, self.error = number, error


class failing_as:
    """Turns exceptions in `with failing_as(nodes):` into a `NodeFailure` of the failed node.

    If it is unknown which node failed, the failure names all nodes.
    """

    __slots__ = ("_nodes",)

    def __init__(self, nodes: Sequence[Node]):
        self._nodes = nodes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        nodes = self._nodes
        if isinstance(error, OperatorFailure):
            raise NodeFailure.of(nodes[error.number], error.error) from error.error
        if error is not None and not isinstance(error, NodeFailure):
            cause = contained(error)
            first, *others = nodes
            raise (
                NodeFailure(first, {None: cause}, others=others) if others else NodeFailure.of(first, cause)
            ) from cause
