"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from jdali.fn._classes import OperatorClass

class Fits(OperatorClass):
    def __init__(
        self,
        *,
        dtypes: typing.Sequence[DTypeLike] | None = None,
        file_filter: str = '*.fits',
        hdu_indices: typing.Sequence[int] = ...,
        dont_use_mmap: bool = False,
        initial_fill: int = 1024,
        lazy_init: bool = False,
        num_shards: int = 1,
        pad_last_batch: bool = False,
        prefetch_queue_depth: int = 1,
        random_shuffle: bool = False,
        read_ahead: bool = False,
        seed: int = -1,
        shard_id: int = 0,
        skip_cached_images: bool = False,
        stick_to_shard: bool = False,
        tensor_init_bytes: int = 1048576,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        file_list: str | None = None,
        file_root: str | None = None,
        files: typing.Sequence[str] | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Video(OperatorClass):
    def __init__(
        self,
        *,
        file_list_format: str = 'timestamps',
        file_list_include_end: bool = True,
        file_list_rounding: str = 'start_down_end_up',
        sequence_length: int | None = None,
        fill_value: int | typing.Sequence[int] = ...,
        pad_mode: str = 'none',
        uniform_sample: bool = False,
        dont_use_mmap: bool = False,
        initial_fill: int = 1024,
        lazy_init: bool = False,
        num_shards: int = 1,
        pad_last_batch: bool = False,
        prefetch_queue_depth: int = 1,
        random_shuffle: bool = False,
        read_ahead: bool = False,
        seed: int = -1,
        shard_id: int = 0,
        skip_cached_images: bool = False,
        stick_to_shard: bool = False,
        tensor_init_bytes: int = 1048576,
        enable_frame_num: str | bool = 'none',
        enable_timestamps: bool = False,
        file_list: str = '',
        file_root: str = '',
        filenames: str | typing.Sequence[str] = ...,
        image_type: types.DALIImageType = ...,
        labels: int | typing.Sequence[int] | None = None,
        step: int = -1,
        stride: int = 1,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...
