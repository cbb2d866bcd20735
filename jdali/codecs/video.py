"""Indexes the frames of videos, and reads any frame exactly, with FFmpeg through PyAV."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from typing import Any

from jdali._errors import SampleError
from jdali._system import limits
from jdali.codecs.video_decoder import PADDING, VideoDecoder
from jdali.codecs.video_index import Source, VideoIndex, build_index, check_frames

__all__ = [
    "MAX_BYTES",
    "PADDING",
    "Source",
    "VideoDecoder",
    "VideoIndex",
    "build_index",
    "check_frames",
    "in_memory",
]

MAX_BYTES: int
"""Older name of the limit `max_sample_bytes` of `jdali.storage.configure`. May be set."""
limits.older_names(__name__, {"MAX_BYTES": "max_sample_bytes"})


@contextlib.contextmanager
def in_memory(encoded: Any) -> Iterator[Source]:
    """Yields a source for a video in memory (bytes, or a contiguous uint8 array), valid in the `with` block."""
    content = memoryview(encoded).cast("B")
    if not len(content):
        raise SampleError("it is empty (0 bytes)")
    if not hasattr(os, "memfd_create") or not os.path.isdir("/proc/self/fd"):
        yield io.BytesIO(content)
        return
    # FFmpeg reads from a path without calling Python, so it needs no GIL.
    with open(os.memfd_create("video"), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
