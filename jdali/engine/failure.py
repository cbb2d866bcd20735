"""Failure of a step: the operator that failed, the samples on which it did, and the error that the user gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from jdali._batches import Provenance
from jdali._errors import OperatorError, SampleError, contained
from jdali.graph import Node

MadeOf: TypeAlias = Callable[[Node], Provenance | None]


class NodeFailure(Exception):
    """A node failed, on some samples or (key None) as a whole; `step` has the nodes of the step that was being run.

    Args:
        others: the nodes whose program failed with the node's: in which of them is not known.
        where: in place of their lines.
    """

    step: Sequence[Node] = ()

    def __init__(
        self, node: Node, failures: Mapping[int | None, Exception], *, others: Sequence[Node] = (), where: str = ""
    ):  # fmt: skip
        self._nodes, self._where = (node, *others), where
        # What is wrong with the code or the machine comes first: bad samples beside it may only have to be left out.
        self.failures = dict(sorted(failures.items(), key=lambda failed: isinstance(failed[1], SampleError)))
        self.node, self.first = node, next(iter(self.failures.values()))
        super().__init__(str(self.first))

    @classmethod
    def of(cls, node: Node, error: Exception) -> NodeFailure:
        return cls(node, {error.sample if isinstance(error, SampleError) else None: error})

    @property
    def is_of_samples(self) -> bool:
        """True if other samples would not fail: the error is of the samples, not of the code."""
        return None not in self.failures and all(isinstance(e, SampleError) for e in self.failures.values())

    @property
    def sample(self) -> int | None:
        """The sample that `first` is of, by its number in the step's part of the batch; None: the code failed."""
        return next(iter(self.failures))

    @property
    def operator(self) -> str:
        return ", ".join(node.op.shown_name for node in self._nodes)

    @property
    def where(self) -> str:
        """The user's line."""
        return self._where or ", ".join(dict.fromkeys(node.where for node in self._nodes))

    def user_error(
        self, position: int | None, made_of: MadeOf | None = None, *, where: str | None = None
    ) -> OperatorError:
        """Makes the user's error, to be raised from `first`; nothing else turns a failure into one.

        Args:
            position: of `sample`, as the user counts the samples of a batch; None: it is of no sample.
            made_of: returns the provenance of the operator's outputs, which names the files; called only if a sample
                failed, for inputs that do not fit each other have none. None: it is not known.
            where: in place of the user's line; "": a call outside of a pipeline, whose line Python shows itself.
        """
        sample = self.sample
        found = None if sample is None or made_of is None else made_of(self.node)
        source = "" if sample is None or found is None else ", ".join(found.files(sample))
        where = self.where if where is None else where
        return OperatorError.of(self.first, self.operator, sample=position, source=source, where=where)


class OperatorFailure(Exception):
    """Operator `number` of a stage failed while its program was traced, which knows of no node."""

    def __init__(self, number: int, error: Exception):
        super().__init__(str(error))
        self.number, self.error = number, error


class failing_as:
    """Turns exceptions in `with failing_as(nodes):` into a `NodeFailure`, unless they are one.

    It is of all these nodes, or of one of them where it is known which.
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
