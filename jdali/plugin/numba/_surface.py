"""Defines `numba_function` and `NumbaFunction`, operators that run a function compiled by Numba."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jdali.graph import DataNode, call_operator
from jdali.plugin.numba import _function


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
    code = _function.NumbaCode(run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn)
    if len(inputs) != len(code.in_types):
        raise ValueError(f"numba_function: {len(inputs)} inputs for {len(code.in_types)} in_types")
    op = _function.by_batch if batch_processing else _function.by_sample
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
