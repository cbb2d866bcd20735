"""Defines the tensor of one sample of a batch, with DALI's methods and the protocols for sharing arrays."""

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
    """Holds the array of one sample, its layout and its origin; it is a `TensorCPU` or a `TensorGPU`.

    The values are C-contiguous, so every library can use them without a copy, and they never change. As in DALI, `squeeze`,
    `set_layout` and `reinterpret` change only how this object describes the values.
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
        """Returns the layout, one letter per axis, or "" if not known."""
        return self._layout

    @property
    def dtype(self) -> types.DALIDataType:
        return dali_type(self._value.dtype)

    def source_info(self) -> str:
        """Returns the origin of the sample (a file, mostly); "" if not known."""
        return self._source

    def get_property(self, name: str, /) -> str | None:
        """Returns the property "layout" or "source_info"; None for any other name, or if the property is empty."""
        return {"layout": self._layout, "source_info": self._source}.get(name) or None

    def set_layout(self, layout: str, /) -> None:
        check_layout(layout or "", self._value.ndim, "Tensor")
        self._layout = layout or ""

    def squeeze(self, dim: int | None = None) -> bool:
        """Removes all axes of size 1, or only `dim`. Returns True if it removed any."""
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
        """Returns the address of the values, which are C-contiguous."""
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
            value = value.copy()  # DLPack before 1.0 has no read-only flag
        producer: Any = value
        return producer.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[Any, int]:
        producer: Any = self._value
        kind, number = producer.__dlpack_device__()
        return kind, number

    def _host(self) -> HostArray:
        return to_host(self._value)

    def as_cpu(self) -> TensorCPU:
        """Returns the sample in host memory; copies it if it is on a device."""
        cpu = TensorCPU._of(self._host(), self._layout, self._source)
        assert isinstance(cpu, TensorCPU)
        return cpu

    def __repr__(self) -> str:
        return self._text(None)

    def __str__(self) -> str:
        return self._text(self._host())

    def _repr_html_(self) -> str | None:
        """Shows the sample as a picture, a sound or numbers, in a notebook."""
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
        layout: one letter per axis.
        b: another name of `object`.
        is_pinned: ignored: JAX pins memory for transfers itself.
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
    """A sample on the accelerator, which is JAX's default device (the CPU if JAX has no other).

    Args:
        object: a JAX array, or anything with DLPack or the array interface.
        layout: one letter per axis.
        stream: ignored: JAX orders its own work.
        device_id: index in `jax.local_devices()`; -1 for the default device.
    """

    device: ClassVar[str] = "gpu"

    def __init__(self, object: Any, layout: str | None = None, stream: object = None, device_id: int = -1):
        self._start(device_array(object, device_id), layout)

    def device_id(self) -> int:
        return device_number(self._value)

    @property
    def stream(self) -> None:
        """Always None: JAX orders its own work."""
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
            ptr: the destination, an int or a `ctypes` pointer.
            cuda_stream: ignored: the copy is done when this returns.
            non_blocking: ignored, for the same reason.
            use_copy_kernel: ignored.
        """
        copy_to_address(self._value, ptr)


def dali_type(dtype: Any) -> types.DALIDataType:
    """Returns DALI's type for a NumPy dtype; NO_TYPE for `NOTHING`."""
    return types.NO_TYPE if dtype == NOTHING else types.to_dali_type(dtype)


NOTHING = np.dtype("V1")  # element type of an empty batch that was made without a spec


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
    """Converts any array-like to a JAX array on local device `device_id`.

    -1 leaves a JAX array on its device, and puts anything else on the default device.
    """
    if isinstance(value, Tensor):
        value = value._value
    if not isinstance(value, jax.Array):
        value = host_array(value, copy=True)  # JAX on the CPU may alias the caller's memory
    types.to_dali_type(value.dtype)
    with keeping(value.dtype):
        if device_id >= 0:
            placed: jax.Array = jax.device_put(value, jax.local_devices()[device_id])
            return placed
        return jnp.asarray(value)


def device_number(value: AnyArray) -> int:
    """Returns the lowest id of the devices an array is on; 0 for a NumPy array."""
    if isinstance(value, jax.Array):
        devices: Any = value.sharding.device_set
        return min(int(device.id) for device in devices)
    return 0


def address(value: AnyArray) -> int:
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    return int(value.unsafe_buffer_pointer())


def copy_to_address(value: AnyArray, pointer: Any) -> None:
    """Copies an array, in row-major order, to an address in host or device memory."""
    if not isinstance(value, jax.Array) or all(device.platform == "cpu" for device in value.devices()):
        host = np.ascontiguousarray(to_host(value))
        ctypes.memmove(pointer, host.ctypes.data, host.nbytes)
        return
    value.block_until_ready()
    to = pointer if isinstance(pointer, int) else ctypes.cast(pointer, ctypes.c_void_p).value
    _cuda_copy(to or 0, address(value), value.nbytes, device_number(value))


def _cuda_copy(to: int, source: int, size: int, device_id: int) -> None:
    """Copies `size` bytes with CUDA, which recognizes host and device memory by the addresses."""
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
    """Returns the common layout of several tensors; a tensor without a layout fits any."""
    named = {name for name in layouts if name}
    if len(named) > 1:
        raise TypeError(f"Tensors cannot have different layouts, got {', '.join(sorted(named))}.")
    return named.pop() if named else ""
