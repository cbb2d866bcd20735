"""Defines `numba_function` and `NumbaFunction`, operators that run a function compiled by Numba."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali import types
from jdali._operators.record import HostOutputs, Static, column, host_batch_operator, host_operator
from jdali._system.devices import HostArray
from jdali._system.extras import needed_by
from jdali.graph import DataNode, call_operator

with needed_by("jdali.plugin.numba", "Numba", "numba"):
    import numba

Samples = list[list[HostArray]]  # for each output or input, all samples


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
        """Calls the function for one sample; returns an array for each output."""
        outputs, taken = self._prepared([[value] for value in inputs])
        self._run(*(values[0] for values in (*outputs, *taken)))
        return tuple(values[0] for values in outputs)

    def samples(self, inputs: Sequence[Sequence[HostArray]]) -> Samples:
        """Calls the function once for a batch; returns a list of samples for each output."""
        outputs, taken = self._prepared(inputs)
        self._run(*(numba.typed.List(values) for values in (*outputs, *taken)))
        return outputs

    def _prepared(self, inputs: Sequence[Sequence[HostArray]]) -> tuple[Samples, Samples]:
        """Returns allocated outputs, and the checked inputs."""
        taken = [[self._checked(i, value) for value in values] for i, values in enumerate(inputs)]
        outputs = [
            [np.zeros(tuple(shape.tolist()), dtype) for shape in shapes]
            for shapes, dtype in zip(self._shapes(taken), self.out_types, strict=True)
        ]
        return outputs, taken

    def _checked(self, number: int, value: HostArray) -> HostArray:
        dtype, ndim = self.in_types[number], self.ins_ndim[number]
        if value.dtype != dtype:
            raise TypeError(f"numba_function: input {number} is {value.dtype}, in_types says {dtype}")
        if value.ndim != ndim:
            raise ValueError(f"numba_function: input {number} has {value.ndim} axes, ins_ndim says {ndim}")
        # Copies read-only arrays, for which Numba would compile the function a second time.
        return np.require(value, requirements=["C", "W"])

    def _shapes(self, inputs: Samples) -> Samples:
        """Returns the shape of each sample of each output, as int64 arrays."""
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
    """Runs `numba_function` on several samples in parallel, which works because Numba's code releases the GIL."""
    return code.sample(samples)


@host_batch_operator(
    name="_numba_function_of_batches", outputs=_count, devices=("cpu",), whole_batch=lambda arguments: True
)
def by_batch(*batches: Sequence[HostArray], code: Static[NumbaCode]) -> HostOutputs:
    """Runs `numba_function` with `batch_processing=True`."""
    return HostOutputs(tuple(column(samples, "") for samples in code.samples(batches)), {})


def numba_function(
    *inputs: DataNode,
    run_fn: Callable[..., Any],
    out_types: object,
    in_types: object,
    outs_ndim: int | Sequence[int],
    ins_ndim: int | Sequence[int],
    setup_fn: Callable[..., Any] | None = None,
    batch_processing: bool = False,
    blocks: Sequence[int] | None = None,
    threads_per_block: Sequence[int] | None = None,
    bytes_per_sample_hint: int | Sequence[int] = 0,
    preserve: bool = False,
    device: str | None = None,
    name: str | None = None,
) -> DataNode | tuple[DataNode, ...] | list[DataNode]:
    """Compiles a function with Numba and calls it on samples; the function writes to allocated outputs.

    Args:
        inputs: at most 6 nodes.
        run_fn: `run_fn(out0, ..., in0, ...)` writes to the outputs, which are initialised to 0. The arguments are arrays of
            one sample or, with `batch_processing`, lists of all samples' arrays. Numba's nopython mode must be able to
            compile the function. It must not write to its inputs.
        out_types: `types.DALIDataType` or NumPy type of each output; float16 is not supported.
        in_types: `types.DALIDataType` or NumPy type of each input.
        outs_ndim: number of axes of each output.
        ins_ndim: number of axes of each input.
        setup_fn: `setup_fn(outs_shapes, ins_shapes)` writes the shapes of the outputs: `outs_shapes[i][sample]` is an
            int64 array [ndim] of output i. With `batch_processing`, it gets the shapes of all samples, else of one sample at
            a time. None: outputs have the shapes of the inputs.
        batch_processing: True calls `run_fn` once for the whole batch; False calls it for each sample, in several threads.
        blocks: argument of DALI's GPU version, must be None.
        threads_per_block: argument of DALI's GPU version, must be None.
        bytes_per_sample_hint: without effect.
        preserve: whether to run the operator even if nothing uses its outputs.
        device: "cpu" or None.
        name: name of the node in the graph; None generates one.

    Returns: a node for each output, without a layout.

    Raises:
        ValueError: the number of types differs from the number of axis counts.
        RuntimeError: `device` is neither "cpu" nor None.

    Parity: DALI can also compile `run_fn` to a CUDA kernel; in jdali, write functions for an accelerator in JAX and call them
    with `plugin.jax.fn.jax_function`.
    """
    if device not in (None, "cpu") or blocks is not None or threads_per_block is not None:
        raise RuntimeError(
            "numba_function: it runs on the CPU only; for the accelerator write the function in JAX and use "
            "jdali.plugin.jax.fn.jax_function"
        )
    code = NumbaCode(run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn)
    if len(inputs) != len(code.in_types):
        raise ValueError(f"numba_function: {len(inputs)} inputs for {len(code.in_types)} in_types")
    op = by_batch if batch_processing else by_sample
    return call_operator(op, inputs, {"code": code}, name=name, preserve=preserve)


class NumbaFunction:
    """Holds the arguments of `numba_function`; a call with inputs adds a node."""

    def __init__(
        self,
        run_fn: Callable[..., Any],
        out_types: object,
        in_types: object,
        outs_ndim: int | Sequence[int],
        ins_ndim: int | Sequence[int],
        setup_fn: Callable[..., Any] | None = None,
        device: str = "cpu",
        batch_processing: bool = False,
        blocks: Sequence[int] | None = None,
        threads_per_block: Sequence[int] | None = None,
        **kwargs: object,
    ):
        self.run_fn, self.setup_fn = run_fn, setup_fn
        self.out_types, self.in_types = out_types, in_types
        self.outs_ndim, self.ins_ndim = outs_ndim, ins_ndim
        self.device, self.batch_processing = device, batch_processing
        self.blocks, self.threads_per_block = blocks, threads_per_block
        self.num_outputs = len(out_types) if isinstance(out_types, (list, tuple)) else 1
        self._arguments = kwargs

    @property
    def preserve(self) -> bool:
        """Returns True if the operator runs even if nothing uses its outputs."""
        return bool(self._arguments.get("preserve"))

    @staticmethod
    def _check_minimal_numba_version(throw: bool = True) -> bool:
        """Returns True, because this module cannot be imported without Numba; programs written for DALI call this."""
        return True

    @staticmethod
    def _check_cuda_compatibility(throw: bool = True) -> bool:
        """Returns False or raises RuntimeError, because `run_fn` cannot run on a GPU; see `numba_function`."""
        if throw:
            raise RuntimeError("NumbaFunction: it runs on the CPU only")
        return False

    def __call__(self, *inputs: DataNode, **kwargs: Any) -> Any:
        """Adds a node; see `numba_function`."""
        return numba_function(
            *inputs, run_fn=self.run_fn, out_types=self.out_types, in_types=self.in_types,
            outs_ndim=self.outs_ndim, ins_ndim=self.ins_ndim, setup_fn=self.setup_fn,
            batch_processing=self.batch_processing, blocks=self.blocks, threads_per_block=self.threads_per_block,
            device=self.device, **{**self._arguments, **kwargs},
        )  # fmt: skip
