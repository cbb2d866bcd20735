"""A stand-in for nvImageCodec, which decodes nothing without a GPU: its names that jdali uses, with libjpeg-turbo behind them."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import simplejpeg

from jdali.codecs import gpu_jpeg


class Region:
    def __init__(self, start_y: int, start_x: int, end_y: int, end_x: int):
        self.start, self.size = (start_y, start_x), (end_y - start_y, end_x - start_x)


class CodeStream:
    def __init__(self, array: np.ndarray, region: Region | None = None):
        assert isinstance(array, np.ndarray)  # the real one takes a string or a path for the name of a file
        self.array, self.region = array, region

    def get_sub_code_stream(self, *, region: Region) -> CodeStream:
        return CodeStream(self.array, region)


class Decoder:
    """Like the real one, it gives a damaged picture as far as it goes, None for what it cannot read, and cannot be shared.

    Attributes:
        decoded: contents of the files decoded by all decoders, in order.
        refused: contents of files that no decoder can decode.
        backends: the kinds that there are.
    """

    decoded: list[bytes]
    refused: set[bytes]
    backends: list[str]

    def __init__(self, *, device_id: int, backends: list[str], options: str):
        assert options == ":fancy_upsampling=1"
        if backends[0] not in self.backends:
            raise RuntimeError("Could not create decoder")
        self._busy = False

    def decode(self, streams: list[CodeStream], *, params: Any = None) -> list[np.ndarray | None]:
        assert not self._busy
        self._busy = True
        try:
            return [self._one(stream) for stream in streams]
        finally:
            self._busy = False

    def _one(self, stream: CodeStream) -> np.ndarray | None:
        data, region = stream.array.tobytes(), stream.region
        if data in self.refused:
            return None
        if region is None:
            return simplejpeg.decode_jpeg(data)
        self.decoded.append(data)
        found = np.full(
            (*region.size, 3), 99, np.uint8
        )  # where the real one has zeros, which nobody may count on
        (y, x), (height, width) = region.start, region.size
        part = simplejpeg.decode_jpeg(data, "RGB", strict=False)[y : y + height, x : x + width]
        found[: len(part), : part.shape[1]] = part
        return found


@pytest.fixture(name="nvimgcodec")
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Decoder]]:
    """Installs the stand-in; returns its class of decoders."""
    noted = type("Noted", (Decoder,), {"decoded": [], "refused": set(), "backends": ["engines", "hybrid"]})
    module: Any = types.ModuleType("nvidia.nvimgcodec")
    module.Region, module.CodeStream, module.Decoder = Region, CodeStream, noted
    module.DecodeParams = lambda *, apply_exif_orientation, color_spec: None
    module.ColorSpec = types.SimpleNamespace(SRGB=1)
    parent = types.ModuleType("nvidia")
    parent.nvimgcodec = module
    monkeypatch.setitem(sys.modules, "nvidia", parent)
    monkeypatch.setitem(sys.modules, "nvidia.nvimgcodec", module)
    module.Backend = lambda kind: kind
    module.BackendKind = types.SimpleNamespace(HW_GPU_ONLY="engines", HYBRID_CPU_GPU="hybrid")
    forget = [gpu_jpeg.has_decoder.cache_clear, gpu_jpeg._decoders.cache_clear]
    for clear in forget:
        clear()
    yield noted
    for clear in forget:
        clear()
