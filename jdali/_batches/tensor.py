"""One sample of a batch, with DALI's methods and every protocol by which arrays are handed on."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches.array_like import host_array
from jdali._batches.store import compact, keeping
from jdali._batches.texts import samples_html, tensor_text
from jdali._system.devices import AnyArray, HostArray, to_host


class Tensor:
    """An array of one sample, its layout and the file it came from.

    Made by jdali as a `TensorCPU` or a `TensorGPU`. The values lie in row-major order, without gaps, so that every
    library takes them as they are. They do not change; `squeeze`,
    `set_layout` and `reinterpret` change how this object looks at them, as DALI's do.
    """

    device: ClassVar[str] = ""
    _value: AnyArray
    _layout: str
    _source: str

    def __init_subclass__(cls) -> None:
        jax.tree_util.register_pytree_node(cls, cls._flatten, cls._unflatten)

    @classmethod
    def _of(cls, value: AnyArray, layout: str, source: str = "") -> Tensor:
        tensor = object.__new__(cls)
        tensor._value, tensor._layout, tensor._source = compact(value), layout, source
        return tensor

    def _flatten(self) -> tuple[tuple[AnyArray], str]:
        return (self._value,), self._layout

    @classmethod
    def _unflatten(cls, layout: str, children: Sequence[Any]) -> Tensor:
        return cls._of(children[0], layout)

    def _start(self, value: AnyArray, layout: str | None) -> None:
        self._value, self._source = compact(value), ""
        self.set_layout(layout or "")

    def shape(self) -> list[int]:
        return list(self._value.shape)

    def ndim(self) -> int:
        return self._value.ndim

    def layout(self) -> str:
        """One letter an axis, or "" if not known."""
        return self._layout

    @property
    def dtype(self) -> types.DALIDataType:
        return dali_type(self._value.dtype)

    def source_info(self) -> str:
        """Origin of the sample (a file, mostly); "" if not known."""
        return self._source

    def get_property(self, name: str, /) -> str | None:
        """ "layout" or "source_info"; None for anything else, or if empty."""
        return {"layout": self._layout, "source_info": self._source}.get(name) or None

    def set_layout(self, layout: str, /) -> None:
        check_layout(layout or "", self._value.ndim, "Tensor")
        self._layout = layout or ""

    def squeeze(self, dim: int | None = None) -> bool:
        """Takes axes of size 1 away, all of them or only `dim`. Returns whether there was one."""
        shape = self._value.shape
        if dim is not None and not -len(shape) <= dim < len(shape):
            raise RuntimeError(
                f"squeeze: axis {dim} is out of bound for a tensor with {len(shape)} dimensions."
            )
        candidates = range(len(shape)) if dim is None else (dim % len(shape),)
        gone = [a for a in candidates if shape[a] == 1]
        if gone:
            self._value = self._value.reshape([n for a, n in enumerate(shape) if a not in gone])
            self._layout = "".join(name for a, name in enumerate(self._layout) if a not in gone)
        return bool(gone)

    def reinterpret(self, new_type: object) -> None:
        """Reads the same bits as another element type of the same size."""
        dtype = same_size_dtype(self._value.dtype, new_type)
        with keeping(dtype):
            self._value = self._value.view(dtype)

    def data_ptr(self) -> int:
        """Address of the first element; the values lie there in row-major order, without gaps."""
        return address(self._value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        return np.array(self._host(), dtype=dtype, copy=copy)

    def __jax_array__(self) -> jax.Array:
        return jnp.asarray(self._value)

    def __dlpack__(
        self, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        value = self._value
        if isinstance(value, np.ndarray) and not value.flags.writeable and not (max_version or (0,))[0]:
            value = value.copy()  # DLPack before 1.0 cannot say "read only"
        producer: Any = value
        return producer.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[Any, int]:
        producer: Any = self._value
        kind, number = producer.__dlpack_device__()
        return kind, number

    def _host(self) -> HostArray:
        return to_host(self._value)

    def as_cpu(self) -> TensorCPU:
        """The sample in host memory."""
        cpu = TensorCPU._of(self._host(), self._layout, self._source)
        assert isinstance(cpu, TensorCPU)
        return cpu

    def __repr__(self) -> str:
        return self._text(None)

    def __str__(self) -> str:
        return self._text(self._host())

    def _repr_html_(self) -> str | None:
        """The sample as a picture, a sound or numbers, for a notebook."""
        if isinstance(self._value, jax.core.Tracer):
            return None
        host, name = self._host(), type(self).__name__
        shape = tuple(self._value.shape)
        return samples_html(
            name, self.device, self.dtype, self._layout, [shape], lambda i: host, [self._source]
        )

    def _text(self, data: HostArray | None) -> str:
        name = type(self).__name__
        return tensor_text(name, self.device, self.dtype, self._layout, self._value.shape, data)


class TensorCPU(Tensor):
    """A sample in host memory; NumPy reads it without a copy.

    Args:
        object: anything with DLPack, the array interface or the buffer protocol.
        layout: one letter an axis.
        b: the same as `object`.
        is_pinned: taken and not used: JAX pins what it transfers itself.
    """

    device: ClassVar[str] = "cpu"

    def __init__(
        self, object: Any = None, layout: str | None = None, *, b: object = None, is_pinned: bool = False
    ):
        self._start(host_array(object if b is None else b), layout)

    def as_cpu(self) -> TensorCPU:
        return self

    @property
    def __array_interface__(self) -> dict[str, Any]:
        value = self._value = self._host()
        return value.__array_interface__

    def copy_to_external(self, ptr: object) -> None:
        """Copies the values, in row-major order, to an address in host memory."""
        copy_to_address(self._value, ptr)


class TensorGPU(Tensor):
    """A sample on the accelerator, which is JAX's default device (the CPU, if there is no other).

    Args:
        object: a JAX array, or anything with DLPack or the array interface.
        layout: one letter an axis.
        stream: taken and not used: JAX orders its own work.
        device_id: number of the device among JAX's; -1: the default device.
    """

    device: ClassVar[str] = "gpu"

    def __init__(self, object: Any, layout: str | None = None, stream: object = None, device_id: int = -1):
        self._start(device_array(object, device_id), layout)

    def device_id(self) -> int:
        return device_number(self._value)

    @property
    def stream(self) -> None:
        """None: JAX orders its own work."""
        return

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        value: Any = self.__jax_array__()
        interface: dict[str, Any] = value.__cuda_array_interface__
        return interface

    def copy_to_external(
        self,
        ptr: object,
        cuda_stream: object = None,
        non_blocking: bool = False,
        use_copy_kernel: bool = False,
    ) -> None:
        """Copies the values, in row-major order, to an address on the device (or the host).

        Args:
            ptr: where to; an int or a `ctypes` pointer.
            cuda_stream: taken and not used: the copy is done when this returns.
            non_blocking: likewise.
            use_copy_kernel: likewise.
        """
        copy_to_address(self._value, ptr)


def dali_type(dtype: Any) -> types.DALIDataType:
    """DALI's name of a NumPy dtype; NO_TYPE of the dtype of nothing (see `NOTHING`)."""
    return types.NO_TYPE if dtype == NOTHING else types.to_dali_type(dtype)


NOTHING = np.dtype("V1")  # element type of a list made of no samples


def check_layout(layout: str, ndim: int, what: str) -> None:
    if layout and len(layout) != ndim:
        raise ValueError(
            f"A non-empty layout must have the same number of dimensions as the number of dimensions"
            f" of the {what}.\nGot: {len(layout)} ({layout})\nExpected: {ndim}."
        )


def same_size_dtype(old: np.dtype, new_type: object) -> np.dtype:
    dtype = types.to_dtype(new_type)
    if dtype.itemsize != old.itemsize:
        raise RuntimeError(
            f"reinterpret: Cannot reinterpret the tensor as having a different element size: {old} has {old.itemsize} bytes an "
            f"element, {dtype} "
            f"{dtype.itemsize}"
        )
    return dtype


def device_array(value: object, device_id: int = -1) -> jax.Array:
    """Any array-like as a JAX array on the device of that number (-1: where it is, or the default)."""
    if isinstance(value, Tensor):
        value = value._value
    if not isinstance(value, jax.Array):
        value = host_array(value, copy=True)  # where the device is the CPU, JAX may use the memory as it is
    types.to_dali_type(value.dtype)
    with keeping(value.dtype):
        if device_id >= 0:
            placed: jax.Array = jax.device_put(value, jax.local_devices()[device_id])
            return placed
        return jnp.asarray(value)


def device_number(value: AnyArray) -> int:
    """Number of the device an array is on."""
    if isinstance(value, jax.Array):
        devices: Any = value.sharding.device_set
        return min(int(device.id) for device in devices)
    return 0


def address(value: AnyArray) -> int:
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    return int(value.unsafe_buffer_pointer())


def copy_to_address(value: AnyArray, pointer: Any) -> None:
    """Copies an array, in row-major order, to raw memory."""
    if not isinstance(value, jax.Array) or all(device.platform == "cpu" for device in value.devices()):
        host = np.ascontiguousarray(to_host(value))
        ctypes.memmove(pointer, host.ctypes.data, host.nbytes)
        return
    value.block_until_ready()
    to = pointer if isinstance(pointer, int) else ctypes.cast(pointer, ctypes.c_void_p).value
    _cuda_copy(to or 0, address(value), value.nbytes, device_number(value))


def _cuda_copy(to: int, source: int, size: int, device_id: int) -> None:
    """CUDA's own copy, which finds out by the addresses where each side lies."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    steps: list[tuple[Any, ...]] = [
        (cuda.cuDeviceGet, ctypes.byref(device), device_id),
        (cuda.cuDevicePrimaryCtxRetain, ctypes.byref(context), device),
        (cuda.cuCtxPushCurrent_v2, context),
        (cuda.cuMemcpy, ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(size)),
        (cuda.cuCtxPopCurrent_v2, ctypes.byref(context)),
        (cuda.cuDevicePrimaryCtxRelease_v2, device),
    ]
    for function, *arguments in steps:
        status = function(*arguments)
        if status:
            raise RuntimeError(
                f"copy_to_external: CUDA driver returned error {status} from {function.__name__}"
            )


def same_layout(layouts: Sequence[str]) -> str:
    """The one layout of several tensors; a tensor without one agrees with any."""
    named = {name for name in layouts if name}
    if len(named) > 1:
        raise TypeError(f"Tensors cannot have different layouts, got {', '.join(sorted(named))}.")
    return named.pop() if named else ""
