"""Compiles the function of a `numba_function`, and calls it with allocated outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali import types
from jdali._operators.record import HostOutputs, Static, column, host_batch_operator, host_operator
from jdali._system.devices import HostArray
from jdali._system.extras import install

try:
    import numba
except ImportError as error:
    raise ImportError(
        f"jdali.plugin.numba needs Numba, which is not installed: {install('numba')}"
    ) from error

Shapes = list[list[HostArray]]  # for each output or input, the shapes of all samples


class NumbaCode:
    """The user's function; Numba compiles it when it is first called.

    Args:
        run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn: see `numba_function`.
    """

    def __init__(
        self,
        run_fn: Callable[..., Any],
        out_types: object,
        in_types: object,
        outs_ndim: object,
        ins_ndim: object,
        setup_fn: Callable[..., Any] | None,
    ):
        self.out_types, self.in_types = _dtypes(out_types), _dtypes(in_types)
        self.outs_ndim, self.ins_ndim = _ndims(outs_ndim), _ndims(ins_ndim)
        if len(self.in_types) != len(self.ins_ndim):
            raise ValueError("numba_function: Number of input types and input dimensions should match.")
        if len(self.out_types) != len(self.outs_ndim):
            raise ValueError("numba_function: Number of output types and output dimensions should match.")
        if not 1 <= len(self.out_types) <= 6 or len(self.in_types) > 6:
            raise ValueError("numba_function: takes at most 6 inputs and returns 1 to 6 outputs")
        if np.dtype(np.float16) in (*self.out_types, *self.in_types):
            raise RuntimeError("numba_function: Numba does not support float16 on CPUs")
        if setup_fn is None and self.outs_ndim != self.ins_ndim:
            raise ValueError(
                "numba_function: without setup_fn, outputs have the shapes of the inputs, so there must be as many, "
                f"with the same numbers of axes: outs_ndim is {self.outs_ndim}, ins_ndim {self.ins_ndim}"
            )
        self._setup = getattr(setup_fn, "py_func", setup_fn)
        self._run = run_fn if hasattr(run_fn, "py_func") else numba.njit(nogil=True)(run_fn)

    def sample(self, inputs: Sequence[HostArray]) -> tuple[HostArray, ...]:
        columns = self.batch([[value] for value in inputs], self._call_sample)
        return tuple(values[0] for values in columns)

    def samples(self, inputs: Sequence[Sequence[HostArray]]) -> list[list[HostArray]]:
        """Calls the function once for a batch; returns a list of samples for each output."""
        return self.batch(inputs, self._call_batch)

    def batch(
        self, inputs: Sequence[Sequence[HostArray]], call: Callable[..., None]
    ) -> list[list[HostArray]]:
        """Allocates the outputs of a batch, fills them by `call`, and returns their samples."""
        ready = [[self._checked(i, value) for value in values] for i, values in enumerate(inputs)]
        outputs = [
            [np.zeros(tuple(shape.tolist()), dtype) for shape in shapes]
            for shapes, dtype in zip(self._shapes(ready), self.out_types, strict=True)
        ]
        call(outputs, ready)
        return outputs

    def _call_sample(self, outputs: Any, inputs: Any) -> None:
        self._run(*(values[0] for values in outputs), *(values[0] for values in inputs))

    def _call_batch(self, outputs: Any, inputs: Any) -> None:
        self._run(*(numba.typed.List(values) for values in (*outputs, *inputs)))

    def _checked(self, number: int, value: HostArray) -> HostArray:
        dtype, ndim = self.in_types[number], self.ins_ndim[number]
        if value.dtype != dtype:
            raise TypeError(f"numba_function: input {number} is {value.dtype}, in_types says {dtype}")
        if value.ndim != ndim:
            raise ValueError(f"numba_function: input {number} has {value.ndim} axes, ins_ndim says {ndim}")
        # Copies read-only arrays, for which Numba would compile the function a second time.
        return np.require(value, requirements=["C", "W"])

    def _shapes(self, inputs: Sequence[Sequence[HostArray]]) -> Shapes:
        shapes_in = [[np.array(value.shape, np.int64) for value in values] for values in inputs]
        if self._setup is None:
            return shapes_in
        count = len(inputs[0]) if inputs else 1
        shapes = [[np.zeros(ndim, np.int64) for _ in range(count)] for ndim in self.outs_ndim]
        self._setup(shapes, shapes_in)
        for number, values in enumerate(shapes):
            if any((np.asarray(shape) < 0).any() for shape in values):
                raise ValueError(f"numba_function: setup_fn gave output {number} a negative size")
        return shapes


def _dtypes(dtypes: object) -> list[np.dtype]:
    return [types.to_dtype(one) for one in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _ndims(ndims: Any) -> list[int]:
    return [int(one) for one in (ndims if isinstance(ndims, (list, tuple)) else [ndims])]


def _count(args: Mapping[str, Any]) -> int:
    return len(args["code"].out_types)


@host_operator(
    name="_numba_function", outputs=_count, output_layouts=lambda args: ("",) * _count(args), devices=("cpu",)
)
def by_sample(*samples: HostArray, code: Static[NumbaCode]) -> tuple[HostArray, ...]:
    """Runs `numba_function` on several samples in parallel, because Numba's code releases the GIL."""
    return code.sample(samples)


@host_batch_operator(
    name="_numba_function_of_batches", outputs=_count, devices=("cpu",), whole_batch=lambda arguments: True
)
def by_batch(*batches: Sequence[HostArray], code: Static[NumbaCode]) -> HostOutputs:
    """Runs `numba_function` with `batch_processing=True`."""
    return HostOutputs(tuple(column(samples, "") for samples in code.samples(batches)), {})
