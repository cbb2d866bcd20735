"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from jdali.dynamic._readers import Reader

class Fits(Reader):
    def __init__(
        self,
        max_batch_size: Any = None,
        name: Any = None,
        device: Any = 'cpu',
        num_inputs: Any = None,
        *,
        dtypes: typing.Sequence[DTypeLike] | None = None,
        file_filter: str = '*.fits',
        hdu_indices: typing.Sequence[int] = ...,
        dont_use_mmap: builtins.bool = False,
        initial_fill: int = 1024,
        lazy_init: builtins.bool = False,
        num_shards: int = 1,
        pad_last_batch: builtins.bool = False,
        prefetch_queue_depth: int = 1,
        random_shuffle: builtins.bool = False,
        read_ahead: builtins.bool = False,
        seed: int = -1,
        shard_id: int = 0,
        skip_cached_images: builtins.bool = False,
        stick_to_shard: builtins.bool = False,
        tensor_init_bytes: int = 1048576,
        shuffle_after_epoch: builtins.bool = False,
        shuffle_after_epoch_seed: int | None = None,
        file_list: str | None = None,
        file_root: str | None = None,
        files: typing.Sequence[str] | None = None,
        enable_checkpointing: Any = False,
    ) -> None: ...

class Video(Reader):
    def __init__(
        self,
        max_batch_size: Any = None,
        name: Any = None,
        device: Any = 'cpu',
        num_inputs: Any = None,
        *,
        file_list_format: str = 'timestamps',
        file_list_include_end: builtins.bool = True,
        file_list_rounding: str = 'start_down_end_up',
        sequence_length: int,
        fill_value: int | typing.Sequence[int] = ...,
        pad_mode: str = 'none',
        uniform_sample: builtins.bool = False,
        dont_use_mmap: builtins.bool = False,
        initial_fill: int = 1024,
        lazy_init: builtins.bool = False,
        num_shards: int = 1,
        pad_last_batch: builtins.bool = False,
        prefetch_queue_depth: int = 1,
        random_shuffle: builtins.bool = False,
        read_ahead: builtins.bool = False,
        seed: int = -1,
        shard_id: int = 0,
        skip_cached_images: builtins.bool = False,
        stick_to_shard: builtins.bool = False,
        tensor_init_bytes: int = 1048576,
        enable_frame_num: str | builtins.bool = 'none',
        enable_timestamps: builtins.bool = False,
        file_list: str = '',
        file_root: str = '',
        filenames: str | typing.Sequence[str] = ...,
        image_type: types.DALIImageType = ...,
        labels: int | typing.Sequence[int] | None = None,
        step: int = -1,
        stride: int = 1,
        enable_checkpointing: Any = False,
    ) -> None: ...
