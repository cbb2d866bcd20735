"""Answers of DALI's backend to programs: operators with their schemas, devices, and versions of libraries.

What programs ask before they choose a way has an answer, so that they choose the one for machines without it: no device
where JAX has no GPU, and -1 (DALI's number for a library that is missing) for libraries that jdali does not use. Memory is
XLA's and that of each pipeline (`Pipeline(max_idle_bytes=)`): functions that steer DALI's pools check their
arguments and have no effect.
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
    "CheckDLPackCapsule",
    "GetCUDACurrentDevice",
    "GetCUDADeviceCount",
    "GetCudaVersion",
    "GetCufftVersion",
    "GetCxx11AbiFlag",
    "GetDeviceBufferGrowthFactor",
    "GetHostBufferGrowthFactor",
    "GetHostBufferShrinkThreshold",
    "GetNppVersion",
    "GetNvimgcodecVersion",
    "GetNvjpegVersion",
    "GetOpenCVVersion",
    "GetSchema",
    "IsDriverInitialized",
    "OpSchema",
    "PreallocateDeviceMemory",
    "PreallocatePinnedMemory",
    "RegisteredCPUOps",
    "RegisteredGPUOps",
    "RegisteredMixedOps",
    "ReleaseUnusedMemory",
    "RestrictPinnedMemUsage",
    "SetBufferGrowthFactor",
    "SetDeviceBufferGrowthFactor",
    "SetHostBufferGrowthFactor",
    "SetHostBufferShrinkThreshold",
    "TensorCPU",
    "TensorGPU",
    "TensorListCPU",
    "TensorListGPU",
    "TryGetSchema",
    "check_cuda_runtime",
    "deprecation_warning",
    "tfrecord",
    "types",
]

__cuda_version__ = BUILT_FOR_CUDA
"""CUDA's version that JAX was built for, 12080 for 12.8; 0: it was built for none."""


def CheckDLPackCapsule(ptr: object) -> tuple[bool, bool]:
    """Returns True for a DLPack capsule that nobody has read yet; and True if its data are on a GPU."""
    device = device_of_capsule(ptr)
    return device is not None, device is not None and is_on_gpu(device)
