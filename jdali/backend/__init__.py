"""Provides the functions of DALI's backend about operators, devices and library versions.

Programs query the backend before they choose a code path. If JAX has no GPU, functions about devices report no device.
Functions about libraries that jdali does not use return -1, DALI's number for a missing library. Functions that configure
DALI's memory pools check their arguments but have no effect, because XLA and each pipeline (`Pipeline(max_idle_bytes=)`)
manage memory.
"""

from __future__ import annotations

from jdali import tfrecord, types
from jdali._batches import device_of_capsule, is_on_gpu
from jdali.backend._machine import (
    BUILT_FOR_CUDA,
    GetCUDACurrentDevice,
    GetCUDADeviceCount,
    GetCudaVersion,
    GetCufftVersion,
    GetCxx11AbiFlag,
    GetDeviceBufferGrowthFactor,
    GetHostBufferGrowthFactor,
    GetHostBufferShrinkThreshold,
    GetNppVersion,
    GetNvimgcodecVersion,
    GetNvjpegVersion,
    GetOpenCVVersion,
    IsDriverInitialized,
    PreallocateDeviceMemory,
    PreallocatePinnedMemory,
    ReleaseUnusedMemory,
    RestrictPinnedMemUsage,
    SetBufferGrowthFactor,
    SetDeviceBufferGrowthFactor,
    SetHostBufferGrowthFactor,
    SetHostBufferShrinkThreshold,
    check_cuda_runtime,
    deprecation_warning,
)
from jdali.backend._schemas import (
    GetSchema,
    OpSchema,
    RegisteredCPUOps,
    RegisteredGPUOps,
    RegisteredMixedOps,
    TryGetSchema,
)
from jdali.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU

__all__ = [
    "CheckDLPackCapsule", "GetCUDACurrentDevice", "GetCUDADeviceCount", "GetCudaVersion",
    "GetCufftVersion", "GetCxx11AbiFlag", "GetDeviceBufferGrowthFactor", "GetHostBufferGrowthFactor",
    "GetHostBufferShrinkThreshold", "GetNppVersion", "GetNvimgcodecVersion", "GetNvjpegVersion",
    "GetOpenCVVersion", "GetSchema", "IsDriverInitialized", "OpSchema", "PreallocateDeviceMemory",
    "PreallocatePinnedMemory", "RegisteredCPUOps", "RegisteredGPUOps", "RegisteredMixedOps",
    "ReleaseUnusedMemory", "RestrictPinnedMemUsage", "SetBufferGrowthFactor",
    "SetDeviceBufferGrowthFactor", "SetHostBufferGrowthFactor", "SetHostBufferShrinkThreshold",
    "TensorCPU", "TensorGPU", "TensorListCPU", "TensorListGPU", "TryGetSchema", "check_cuda_runtime",
    "deprecation_warning", "tfrecord", "types",
]  # fmt: skip

__cuda_version__ = BUILT_FOR_CUDA
"""CUDA version for which JAX was built, as a number: 12080 for 12.8; 0 for a build without CUDA."""


def CheckDLPackCapsule(ptr: object) -> tuple[bool, bool]:
    """Returns two bools: whether `ptr` is a DLPack capsule not consumed yet, and whether its data are on a GPU."""
    device = device_of_capsule(ptr)
    return device is not None, device is not None and is_on_gpu(device)
