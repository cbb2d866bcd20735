"""Provides functions of DALI's backend about devices, library versions and memory pools."""

from __future__ import annotations

import warnings

import jax

from jdali._system.devices import accelerator
from jdali._system.jax_internals import cuda_versions, jax_has_started
from jdali.engine import free_idle_memory

_MISSING = -1  # DALI's version number of a missing library

_CUDA = cuda_versions()
BUILT_FOR_CUDA: int = 0 if _CUDA is None else _CUDA.cuda_runtime_build_version()


def GetCUDADeviceCount() -> int:
    """Returns the number of JAX's GPUs in this process; 0 if JAX runs on the CPU."""
    return len(_gpus())


def GetCUDACurrentDevice() -> int:
    """Returns the number of the GPU that pipelines use for "gpu"; see `jax_default_device`.

    Raises:
        RuntimeError: JAX has no GPU.
    """
    _need_gpu("GetCUDACurrentDevice")
    device = accelerator()
    return int(device.id) if device.platform == "gpu" else int(_gpus()[0].id)


def IsDriverInitialized() -> bool:
    """Returns True if JAX has started and found a GPU."""
    return jax_has_started() and bool(_gpus())


def GetCudaVersion() -> int:
    """Returns the version of the CUDA runtime that JAX uses, 12080 for 12.8; 0 if JAX has no GPU."""
    return _CUDA.cuda_runtime_get_version() if _CUDA is not None and _gpus() else 0


def GetCufftVersion() -> int:
    """Returns the version of cuFFT that JAX uses; -1 if JAX has no GPU."""
    return _CUDA.cufft_get_version() if _CUDA is not None and _gpus() else _MISSING


def GetNppVersion() -> int:
    """Returns -1, because jdali does not use NPP."""
    return _MISSING


def GetNvjpegVersion() -> int:
    """Returns -1, because jdali does not use nvJPEG."""
    return _MISSING


def GetNvimgcodecVersion() -> int:
    """Returns -1, because jdali does not use nvImageCodec."""
    return _MISSING


def GetOpenCVVersion() -> str:
    """Returns "", because jdali does not use OpenCV."""
    return ""


def GetCxx11AbiFlag() -> int:
    """Returns 1, the default C++ ABI of current compilers; no part of jdali is C++."""
    return 1


def check_cuda_runtime() -> None:
    """Does nothing, because JAX itself reports missing parts of CUDA."""


def deprecation_warning(what: str) -> None:
    """Warns with the text `what`, unless a warning filter hides it."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", append=True)
        warnings.warn(what, Warning, stacklevel=2)


def _gpus() -> list[jax.Device]:
    return [device for device in jax.local_devices() if device.platform == "gpu"]


def _need_gpu(asked: str) -> None:
    if not _gpus():
        raise RuntimeError(f"{asked}: JAX has no GPU here: {', '.join(map(str, jax.local_devices()))}")


def ReleaseUnusedMemory() -> None:
    """Frees the host memory that pipelines keep for later batches; does not change device memory, which XLA manages."""
    free_idle_memory()


def PreallocateDeviceMemory(bytes: int, device_id: int) -> None:
    """Has no effect, because XLA allocates device memory (`XLA_PYTHON_CLIENT_PREALLOCATE`).

    Raises:
        RuntimeError: JAX has no such GPU.
    """
    _need_gpu("PreallocateDeviceMemory")
    if device_id not in range(-1, len(_gpus())):
        raise RuntimeError(f"PreallocateDeviceMemory: there is no GPU {device_id}, JAX has {len(_gpus())}")


def PreallocatePinnedMemory(bytes: int) -> None:
    """Has no effect, because JAX pins the host memory of its transfers itself."""


def RestrictPinnedMemUsage() -> bool:
    """Returns False, because nothing is restricted."""
    return False


class _Factors:
    """Stores the settings of DALI's memory pools, so that programs can read them back."""

    host_growth = 1.1
    device_growth = 1.1
    host_shrink = 0.5


def SetHostBufferGrowthFactor(factor: float) -> None:
    """Has no effect, because pipelines choose the sizes of their buffers themselves.

    Raises:
        ValueError: `factor` is not between 1 and 4.
    """
    _Factors.host_growth = _growth(factor)


def SetDeviceBufferGrowthFactor(factor: float) -> None:
    """Has no effect; see `SetHostBufferGrowthFactor`."""
    _Factors.device_growth = _growth(factor)


def SetBufferGrowthFactor(factor: float) -> None:
    """Calls `SetHostBufferGrowthFactor` and `SetDeviceBufferGrowthFactor`."""
    _Factors.host_growth = _Factors.device_growth = _growth(factor)


def SetHostBufferShrinkThreshold(fraction: float) -> None:
    """Has no effect; see `Pipeline(max_idle_bytes=)`.

    Raises:
        ValueError: `fraction` is not between 0 and 1.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(
            "Shrink threshold must be between 0 (never shrink) and 1 (always shrink). "
            f"SetHostBufferShrinkThreshold got {fraction}"
        )
    _Factors.host_shrink = float(fraction)


def GetHostBufferGrowthFactor() -> float:
    """Returns the factor that was last set for the host; 1.1 by default."""
    return _Factors.host_growth


def GetDeviceBufferGrowthFactor() -> float:
    """Returns the factor that was last set for devices; 1.1 by default."""
    return _Factors.device_growth


def GetHostBufferShrinkThreshold() -> float:
    """Returns the threshold that was last set; 0.5 by default."""
    return _Factors.host_shrink


def _growth(factor: float) -> float:
    if not 1 <= factor <= 4:
        raise ValueError(f"Growth factor must be between 1 and 4. Got {factor}")
    return float(factor)
