"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from typing import Literal
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from jdali.dynamic._dtype import DType
from jdali.dynamic._readers import Reader

class Fits(Reader):
    """Reads images from FITS files: an output for each of `hdu_indices`.

    Images compressed with RICE, GZIP, HCOMPRESS or PLIO are decoded. Values are scaled by BSCALE and BZERO;
    integers that are unsigned by convention (BZERO of half the range) become unsigned.

    Args:
        dtypes: type of each output; values are rounded and saturated. None: as stored.
        file_filter: glob pattern of the files in `file_root`, case-sensitive.
        hdu_indices: indices of the HDUs, from 1 on: 1 is the primary HDU, 2 the first extension.
        dont_use_mmap: do not map local files into memory. Only `readers.arrow` maps files.
        fold: (k, n) reads fold k of n; k may be a list: ([0, 2, 3], 4) leaves out fold 1. Folds divide the
            data set, or `subset`, at random, but always in the same way: on all shards and for all seeds. A reader
            that knows the classes of samples divides each class evenly. DALI has no such argument.
        initial_fill: size of the buffer of `random_shuffle`, in samples; 1 disables shuffling. Readers of files with
            many records read a shard from front to end, and mix records through this buffer. Other readers shuffle
            the whole shard and ignore the argument.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: number of parts that the data set is divided into, at most its size.
        pad_last_batch: repeat the last sample so that an epoch ends with a full batch, and has the same number of
            batches on all shards. Otherwise batches continue into the next epoch.
        prefetch_queue_depth: number of batches to fetch ahead from remote storage, besides the next one.
            `samples_ahead` of `jdali.storage` takes precedence.
        random_shuffle: read each shard in a random order, which is new in each epoch; see `initial_fill`.
        read_ahead: without effect: the reader always reads ahead as far as the order allows.
        seed: seed of the random order; -1: the pipeline's.
        shard_id: the part to read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not cached.
        stick_to_shard: read the same part in every epoch; otherwise each epoch reads the next part.
        subset: indices of the samples to read, each once, or a boolean for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement, with chances proportional to their weights: a list with a weight for
            each sample of the data set. A reader that knows the classes of samples also takes {class: weight of each of
            its samples}, and "balanced", which draws all classes equally often. An epoch has as many draws as there are
            samples to draw from; the draws depend on the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: shuffle the whole data set before each epoch, including the first; each shard always
            takes the same slice of the new order. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: seed of these shuffles, the same on all shards; None: a fixed seed.
        file_list: text file with the name of a file in each line; empty lines are skipped.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the folder of
            `file_list`, or the working folder. Without `files` and `file_list`, the reader takes the files in this
            folder, and then the files in its direct subfolders.
        files: paths of the files.
        max_batch_size: largest `batch_size` that a call may ask for, and the default in `next_epoch`; None: any, and single samples.
        name: name for messages and checkpoints.
        device: device of the outputs.
        num_inputs: without effect: readers have no inputs.
        enable_checkpointing: without effect: `get_state` always works.

    Returns: the image of each HDU, its fastest-varying axis last.

    Example: table = fn.experimental.readers.fits(files=["a.fits", "b.fits"], hdu_indices=[1])
    """
    def __init__(
        self,
        max_batch_size: Any = None,
        name: Any = None,
        device: Any = 'cpu',
        num_inputs: Any = None,
        *,
        dtypes: typing.Sequence[DType | types.DALIDataType | DTypeLike] | None = None,
        file_filter: str = '*.fits',
        hdu_indices: int | typing.Sequence[int] | NDArray[Any] = (2,),
        dont_use_mmap: builtins.bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: builtins.bool = False,
        shuffle_after_epoch_seed: int | None = None,
        file_list: str | None = None,
        file_root: str | None = None,
        files: str | typing.Sequence[str] | None = None,
        enable_checkpointing: Any = False,
    ) -> None: ...

class Video(Reader):
    """Reads sequences of frames from videos: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and more.

    Args:
        file_list_format: unit of starts and ends in `file_list`: seconds ("timestamps") or numbers of frames
            ("frames"; negative ones count from the end). Seconds are times as the file has them: if its first frame is
            shown at 1.5 s, they count from there, although the times that `enable_timestamps` returns count from 0.
        file_list_include_end: without effect, as in DALI: a part excludes the frame at its end.
        file_list_rounding: rounding of starts and ends that lie between two frames:
            "start_down_end_up", "start_up_end_down", "all_up" or "all_down".
        sequence_length: number of frames of a sequence.
        fill_value: value of padding frames, 0 to 255: one number for all channels, or a list with a number for each channel.
        pad_mode: padding of sequences that lack frames at the end of a clip. With "none", a sequence needs
            `sequence_length` * `stride` frames up to the end of the clip. Each other mode also returns the next
            sequence, and pads it with `fill_value` ("constant"), the last frame ("edge" or "repeat"), or the
            preceding frames of the file in reverse, with the last frame repeated ("reflect_1001" or "symmetric") or not
            ("reflect_101" or "reflect").
        uniform_sample: return one sequence of evenly spaced frames for each clip; `stride`, `step` and `pad_mode`
            then have no effect.
        dont_use_mmap: do not map local files into memory. Only `readers.arrow` maps files.
        fold: (k, n) reads fold k of n; k may be a list: ([0, 2, 3], 4) leaves out fold 1. Folds divide the
            data set, or `subset`, at random, but always in the same way: on all shards and for all seeds. A reader
            that knows the classes of samples divides each class evenly. DALI has no such argument.
        initial_fill: size of the buffer of `random_shuffle`, in samples; 1 disables shuffling. Readers of files with
            many records read a shard from front to end, and mix records through this buffer. Other readers shuffle
            the whole shard and ignore the argument.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: number of parts that the data set is divided into, at most its size.
        pad_last_batch: repeat the last sample so that an epoch ends with a full batch, and has the same number of
            batches on all shards. Otherwise batches continue into the next epoch.
        prefetch_queue_depth: number of batches to fetch ahead from remote storage, besides the next one.
            `samples_ahead` of `jdali.storage` takes precedence.
        random_shuffle: read each shard in a random order, which is new in each epoch; see `initial_fill`.
        read_ahead: without effect: the reader always reads ahead as far as the order allows.
        seed: seed of the random order; -1: the pipeline's.
        shard_id: the part to read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not cached.
        stick_to_shard: read the same part in every epoch; otherwise each epoch reads the next part.
        subset: indices of the samples to read, each once, or a boolean for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement, with chances proportional to their weights: a list with a weight for
            each sample of the data set. A reader that knows the classes of samples also takes {class: weight of each of
            its samples}, and "balanced", which draws all classes equally often. An epoch has as many draws as there are
            samples to draw from; the draws depend on the seed, the epoch and the position. DALI has no such argument.
        apply_rotation: rotate frames as the metadata of the video say; phones write such metadata. DALI has no such argument.
        enable_frame_num: "scalar" or True: also return the number of the first frame, int32 [1];
            "sequence": the numbers of all frames, int32 [F], -1 for padding; "none" or False: neither.
        enable_timestamps: also return the time of each frame, in seconds since the first frame of the
            file, float64 [F], -1 for padding.
        file_list: text file; each line has a video's name, a label and optionally the start and the end of the part to
            read. A relative name is looked up in the working folder, and then in the folder of the list.
        file_root: folder with a subfolder of videos for each label.
        filenames: paths or URLs of videos.
        image_type: RGB, or YCbCr (BT.601, studio range).
        labels: labels of `filenames`. An empty list numbers the files from 0 on; None returns no labels.
        step: distance between the starts of consecutive sequences, frames; 0 or less: `sequence_length` * `stride`.
        stride: distance between consecutive frames of a sequence, frames.
        max_batch_size: largest `batch_size` that a call may ask for, and the default in `next_epoch`; None: any, and single samples.
        name: name for messages and checkpoints.
        device: device of the outputs.
        num_inputs: without effect: readers have no inputs.
        enable_checkpointing: without effect: `get_state` always works.

    Returns: uint8 [F, H, W, C]; then, if requested, the label, int32 [1], the frame numbers and the times.

    Parity: on a CPU, DALI always converts to RGB by BT.601, even if the video names another matrix. It skips files
    that it cannot open, and lines of a list that have a start but no end.

    Example: frames = fn.experimental.readers.video(filenames=["clip.mp4"], sequence_length=4)
    """
    def __init__(
        self,
        max_batch_size: Any = None,
        name: Any = None,
        device: Any = 'cpu',
        num_inputs: Any = None,
        *,
        file_list_format: Literal['timestamps', 'frames'] = 'timestamps',
        file_list_include_end: builtins.bool = True,
        file_list_rounding: Literal['start_down_end_up', 'start_up_end_down', 'all_up', 'all_down'] = 'start_down_end_up',
        sequence_length: int,
        fill_value: int | typing.Sequence[int] | NDArray[Any] = (0,),
        pad_mode: Literal['none', 'constant', 'edge', 'repeat', 'reflect_1001', 'symmetric', 'reflect_101', 'reflect'] = 'none',
        uniform_sample: builtins.bool = False,
        dont_use_mmap: builtins.bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        apply_rotation: builtins.bool = False,
        enable_frame_num: str | builtins.bool = 'none',
        enable_timestamps: builtins.bool = False,
        file_list: str = '',
        file_root: str = '',
        filenames: str | typing.Sequence[str] = (),
        image_type: types.DALIImageType = types.DALIImageType.RGB,
        labels: float | typing.Sequence[int | float] | None = None,
        step: int = -1,
        stride: int = 1,
        enable_checkpointing: Any = False,
    ) -> None: ...
