"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class ArrayRecord(OperatorClass):
    """Reads the records of ArrayRecord files, as TensorFlow Datasets and Grain keep them.

    Files whose chunks hold one record each (`group_size:1`) are read in any order. Chunks of several records are read whole,
    once a pass; `random_shuffle` mixes records through a buffer of `initial_fill`, and `shuffle_after_epoch` reads chunks
    that do not fit into `bytes_ahead` of `jdali.storage` for each of their records.

    The index at the end of a file is checked against each chunk, but the hashes of data are not compared. Files that were
    written with `transpose:true` cannot be read.

    Parity: DALI has no such reader.

    Args:
        paths: of the files.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes], a record.

    Example: jpegs = fn.readers.array_record(paths=["train.array_record"], shuffle_after_epoch=True)
    """
    def __init__(
        self,
        *,
        paths: str | typing.Sequence[str] | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Arrow(OperatorClass):
    """Reads rows of Arrow's files and streams (IPC, Feather, what `save_to_disk` writes): an output for each of `columns`.

    Local files are mapped into memory: samples are pieces of them, and any order costs the same. Nobody may cut a file
    short meanwhile. With `dont_use_mmap`, and from URLs, record batches are read whole, as row groups of `readers.parquet` are.

    A row without a value (null) in a column, or with lists that make no array, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns, with "." between those of nested fields. Of a struct with "bytes", as the Hugging
            Face Hub has for pictures and sounds, these are read.
        paths: of the files.
        filter: which rows are samples: an expression of `pyarrow.compute`, or conditions as those of pandas,
            `[("label", "in", [1, 2])]`. The columns that it names are read when the pipeline is built.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column uint8 [bytes] of bytes and strings, [] of numbers, [n, ...] of lists.

    Example: jpegs, labels = fn.readers.arrow(paths=["train.arrow"], columns=["image", "label"])
    """
    def __init__(
        self,
        *,
        columns: str | typing.Sequence[str] | None = None,
        paths: str | typing.Sequence[str] | None = None,
        filter: Any = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Bucket(OperatorClass):
    """Gives the samples of a reader in buckets of like size, so that little of a batch is padding.

    Each `window` of samples, in the order of their reader, is sorted by size and divided into buckets of `size` samples, which
    come in random order. So the order is a function of seed and position: it goes on from any state with any number of
    shards, and each sample comes once a pass. A pass that `size` does not divide ends within a bucket; the next one begins
    with the rest of it. All shards must be at the same step.

    Args:
        samples: what a reader returned, or `readers.mix`, all of its outputs. Outside of a pipeline's definition a pair of a
            reader's name and its arguments.
        by: "length" of the first output along its first axis; "aspect_ratio", width by height, of the encoded picture in the
            first output, turned as its EXIF data say; or a number for each sample of the data set (of a mixture: of all sources,
            one after another): a column of a table.
        size: samples of a bucket: the batch size times `num_shards`, or a multiple.
        num_shards: how many parts the samples are divided into; not of their reader. A bucket is divided among all shards.
        seed: of the order of buckets, and of a reader that shuffles and has no seed of its own; -1: the pipeline's.
        shard_id: which part is read, 0 to `num_shards` - 1.
        window: number of samples that are sorted together; None: 64 buckets. Larger ones have more alike samples in a bucket.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: as many outputs as the reader has.

    What `by` names is found when the pipeline is built, by reading each sample once. It is kept in the cache folder if the data
    are files that `paths` or `path` names.

    Parity: DALI has no such operator.

    Example:
        jpegs, labels = fn.readers.bucket(
            fn.readers.file(file_root="photos", random_shuffle=True), by="aspect_ratio", size=64
        )
    """
    def __init__(
        self,
        *,
        by: Any = None,
        size: int | None = None,
        num_shards: int = 1,
        seed: int = -1,
        shard_id: int = 0,
        window: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class COCO(OperatorClass):
    """Reads images, and the objects in them, of a data set in the format of COCO.

    The outputs are the image's bytes, the boxes and the labels of its objects; with `polygon_masks` also
    polygons and their vertices, with `pixelwise_masks` a picture of labels; with `image_ids` the id.

    A pixel of several objects has the largest of their labels. `Pipeline.reader_meta(name)["classes"][label]` is the name of the
    category.

    Numbers that JSON does not have (NaN, Infinity) are taken where nobody reads them, ids may have 64 bits, and whole numbers
    may be written as floats (7.0), as by Python's `json`.

    Parity: DALI refuses such files, or reads them up to there. It passes over annotations without a box, of an unknown image
    or with a negative size, and over the rest of a file that is cut short, and labels unknown categories 0; here they are
    errors, as are `images` that the file does not have. In the picture of labels DALI keeps only the last run-length mask
    of a label, and none if there are polygons of that label; the picture is empty if the smallest label
    has no mask at all; the pixels that end the picture go to the smallest label; and with `ratio` polygons
    are drawn in the unit square.

    Args:
        annotations_file: the JSON file.
        avoid_class_remapping: labels are the ids of the categories, not their positions in the file, counted from 1.
        file_root: folder that the images' names are relative to.
        image_ids: give the ids of the images, too.
        images: names of the images to read, in this order, as the file has them; None: all, by their ids.
        include_iscrowd: read also objects that are marked as crowds.
        ltrb: boxes are (left, top, right, bottom), not (left, top, width, height).
        pixelwise_masks: give a picture of labels, too.
        polygon_masks: give polygons and their vertices, too.
        preprocessed_annotations: folder with annotations that were saved, by DALI or jdali, to read instead.
        ratio: boxes and vertices are shares of the image's width and height, not pixels.
        save_preprocessed_annotations: write the annotations, as parsed, to a folder.
        save_preprocessed_annotations_dir: that folder, which must be there.
        size_threshold: objects of a smaller width or height are left out, pixels.
        skip_empty: leave out images without objects.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes]; float32 [objects, 4]; int32 [objects]; int32 [polygons, 3] (the object, its
        first vertex and the one after its last) and float32 [vertices, 2] (x, y), or int32 [H, W, 1];
        int32 [1].

    Example:
        jpegs, boxes, labels = fn.readers.coco(
            file_root="coco", annotations_file="coco/instances.json", ltrb=True, ratio=True
        )
    """
    def __init__(
        self,
        *,
        annotations_file: str = '',
        avoid_class_remapping: bool = False,
        file_root: str | None = None,
        image_ids: bool = False,
        images: str | typing.Sequence[str] | None = None,
        include_iscrowd: bool = True,
        ltrb: bool = False,
        pixelwise_masks: bool = False,
        polygon_masks: bool = False,
        preprocessed_annotations: str = '',
        ratio: bool = False,
        save_preprocessed_annotations: bool = False,
        save_preprocessed_annotations_dir: str = '',
        size_threshold: float = 0.1,
        skip_empty: bool = False,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Caffe(OperatorClass):
    """Reads Caffe's LMDB databases: images, encoded or as pixels, and a label.

    Where the values lie is found on first use and kept in the user's cache folder.

    Args:
        path: of the folders of the databases.
        image_available: give the images.
        label_available: give the labels.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes] of an encoded image, [height, width, channels] of pixels (taken to lie in this
        order, as DALI does); and int32 [1], [0] where a record has no label.

    Example: jpegs, labels = fn.readers.caffe(path="caffe_lmdb")
    """
    def __init__(
        self,
        *,
        path: str | typing.Sequence[str] | None = None,
        image_available: bool = True,
        label_available: bool = True,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Caffe2(OperatorClass):
    """Reads Caffe2's LMDB databases: images, encoded or as pixels, labels, further tensors and a box.

    Where the values lie is found on first use and kept in the user's cache folder.

    Parity: with the sparse labels (types 1 and 3) there is, as in DALI, one output more: the last tensor of
    the record if it is a box, else nothing (int32 [0]), where DALI fails.

    Args:
        path: of the folders of the databases.
        additional_inputs: number of further tensors in each record, an output each.
        bbox: give the box at the end of the record.
        image_available: the first tensor of a record is an image.
        label_type: 0: a number; 1: numbers of classes, as a vector of 0 and 1; 2: a vector; 3: numbers
            of classes and their weights, as a vector of weights; 4: no label.
        num_labels: number of classes of label types 1 and 3.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes] of an encoded image, [height, width, channels] of pixels; the label, int32 or as it
        is stored, [1] or [num_labels]; further tensors [elements]; int32 [4].

    Example: jpegs, labels = fn.readers.caffe2(path="caffe2_lmdb")
    """
    def __init__(
        self,
        *,
        path: str | typing.Sequence[str] | None = None,
        additional_inputs: int = 0,
        bbox: bool = False,
        image_available: bool = True,
        label_type: int = 0,
        num_labels: int = 1,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Csv(OperatorClass):
    """Reads rows of a CSV file, whose first line names the columns: an output for each of `columns`.

    Types follow from the values: int64, float64 and bool, else strings. A row without a number where the others have
    one is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns.
        path: of the CSV file.
        delimiter: between the values of a line.
        file_root: folder that the names of files are relative to, and that all of them must lie in; None: that of the CSV
            file.
        files: those of `columns` that name files: these are read in place of their names.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column uint8 [bytes] of files and strings, [] of numbers.

    Example: jpegs, labels = fn.readers.csv(path="train.csv", columns=["name", "label"], files=["name"], file_root="photos")
    """
    def __init__(
        self,
        *,
        columns: str | typing.Sequence[str] | None = None,
        path: str | None = None,
        delimiter: str = ',',
        file_root: str | None = None,
        files: str | typing.Sequence[str] = (),
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Dataset(OperatorClass):
    """Reads elements of an object with `__len__` and `__getitem__`.

    It may be a list, a data set of Hugging Face, PyTorch or Grain, a table, or an object of a class of yours. Each element is
    a sample: none is lost, whatever the batch size. One thread at a time asks for elements; with `workers=` of the pipeline
    its processes do, to which the object is sent. An element may be an array, a number, bytes, a string, a picture of
    Pillow, or several of them: a tuple (`num_outputs`) or a dict (`columns`). What `__getitem__` raises is the error of
    that sample.

    Parity: DALI has no such reader.

    Args:
        dataset: the object; of a table (pandas, polars, pyarrow) the rows, by `columns`. Nobody changes it meanwhile.
        columns: entries of elements that are dicts, an output for each.
        layout: of the outputs, one for each or one for all.
        num_outputs: number of outputs of elements that are tuples; None: an element is one output.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each output what the elements have; uint8 [bytes] of bytes and strings.

    Example: numbers = fn.readers.dataset(dataset=[np.float32([i, i + 1]) for i in range(10)], random_shuffle=True)
    """
    def __init__(
        self,
        *,
        dataset: Any = None,
        columns: str | typing.Sequence[str] = (),
        layout: str | typing.Sequence[str] | None = None,
        num_outputs: int | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class File(OperatorClass):
    """Reads whole files: their bytes, and a label.

    The files are those of `files`, else those of `file_list`, else those in the subfolders of
    `file_root`, in the order of their names; there the label is the number of the subfolder;
    `Pipeline.reader_meta(name)["classes"]` has their names.

    Parity: without `dir_filters` DALI numbers hidden and empty subfolders, too.

    Args:
        case_sensitive_filter: tell capital letters from small ones in the filters.
        dir_filters: patterns of the names of subfolders to read (and to number); None: all that hold such files, but for
            hidden ones; "*": all, as in DALI.
        file_filters: patterns of the names of files in subfolders.
        file_list: text file with a file's name and its label, a number from 0 on, in each line.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the
            folder of `file_list`, or the working folder.
        files: paths.
        labels: of `files`; None: numbered from 0.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes], and int32 [1].

    Example: jpegs, labels = fn.readers.file(file_root="photos", random_shuffle=True)
    """
    def __init__(
        self,
        *,
        case_sensitive_filter: bool = False,
        dir_filters: str | typing.Sequence[str] | None = None,
        file_filters: str | typing.Sequence[str] = ('*.jpg', '*.jpeg', '*.png', '*.bmp', '*.tif', '*.tiff', '*.pnm', '*.ppm', '*.pgm', '*.pbm', '*.jp2', '*.webp', '*.flac', '*.ogg', '*.wav', '*.gif', '*.avif', '*.heic', '*.heif', '*.jxl', '*.opus', '*.mp3', '*.m4a'),
        file_list: str | None = None,
        file_root: str | None = None,
        files: str | typing.Sequence[str] | None = None,
        labels: typing.Sequence[int | float] | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Hdf5(OperatorClass):
    """Reads samples along an axis of data sets in HDF5 files, or a window of each sample: an output for each data set.

    Chunks that the window does not touch are not read. A chunk is decoded once for all samples in it that follow each other,
    and kept as far as `bytes_ahead` of `jdali.storage` allows; with `random_shuffle` samples are mixed through a buffer of
    `initial_fill` where chunks hold several. HDF5's library reads with one thread at a time.

    Links, data sets whose data lie in other files, and filters other than those of HDF5 and h5py are refused.

    Parity: DALI has no such reader.

    Args:
        dataset: names of the data sets, with "/" between those of groups.
        paths: of the files.
        axis: of the samples, in each of the data sets; -1: the last.
        roi_shape: shape of the window in samples of the first data set; default: what follows `roi_start`.
        roi_start: where the window starts, elements; default: 0.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: of each data set its elements at a position of `axis`, which is left out: numbers or booleans.

    Example: images, labels = fn.readers.hdf5(paths=["train.h5"], dataset=["images", "labels"], random_shuffle=True)
    """
    def __init__(
        self,
        *,
        dataset: str | typing.Sequence[str] | None = None,
        paths: str | typing.Sequence[str] | None = None,
        axis: int = 0,
        roi_shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_start: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class HuggingFace(OperatorClass):
    """Reads a data set of Hugging Face from its folder: an output for each of `columns`.

    The folder is one that `save_to_disk` wrote, or a clone (or a URL that fsspec knows, such as `hf://datasets/...`) of a
    repository with Parquet files, whose names or folders tell their splits, as for `datasets`. The package `datasets`
    is not needed. `Pipeline.reader_meta(name)["classes"]` has the names of the classes of a column of labels; for
    several such columns, it is a dict of lists, by column.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns, with "." between those of nested fields. Pictures and sounds are read as bytes.
        path: of the folder.
        filter: which rows are samples, see `readers.parquet`.
        split: of the data set; a folder of one split has no other.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column uint8 [bytes] of pictures, sounds, bytes and strings, [] of numbers and class labels, [n, ...]
        of lists.

    Example: jpegs, labels = fn.readers.hugging_face(path="kept", columns=["image", "label"])
    """
    def __init__(
        self,
        *,
        columns: str | typing.Sequence[str] | None = None,
        path: str | None = None,
        filter: Any = None,
        split: str = 'train',
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Lerobot(OperatorClass):
    """Reads a data set of LeRobot (versions 2 and 3): each row of its episodes is a sample, an output for each of `columns`.

    Values come from its Parquet files, frames of cameras from its videos or pictures. The frames that the samples of a
    batch need of one file are decoded together, each once, from front to end. The order is that of `readers.parquet`:
    `random_shuffle` mixes rows through a buffer of `initial_fill`, so that samples that are near each other share row
    groups and frames. The package `lerobot` is not needed.

    Parity: DALI has no such reader. Windows and the times of frames are those of `LeRobotDataset`.

    Args:
        columns: names of features in `meta/info.json`; "task" for the text of a row's task.
        directory: the folder, or its URL.
        delta_timestamps: {column: seconds}: the window of a column, from the time of the row on, such as [-0.1, 0, 0.1].
            Times have to be whole numbers of rows. Before and behind an episode its first or last row stands in.
        episodes: numbers of those to read; None: all.
        tolerance: seconds that the time of a frame may differ from that of its row.
        with_padding: also give, for each column with a window, where that reaches beyond the episode; these outputs are
            the last ones.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column uint8 [H, W, 3] of cameras, [] or [n, ...] of values, uint8 [bytes] of texts; with a window
        one axis more at the front. With `with_padding` bool [T] for each window.

    Example:
        frames, action = fn.readers.lerobot(
            directory="robot", columns=["observation.images.top", "action"], delta_timestamps={"action": [0, 0.1, 0.2]}
        )
    """
    def __init__(
        self,
        *,
        columns: str | typing.Sequence[str] | None = None,
        directory: str | None = None,
        delta_timestamps: Any = None,
        episodes: Any = None,
        tolerance: float = 0.0001,
        with_padding: bool = False,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class MXNet(OperatorClass):
    """Reads MXNet's RecordIO files: encoded images, and their labels.

    The order is that in which the records lie in the files, not that of the index.

    Args:
        path: of the files.
        index_path: of one index for all files: a number and the offset of a record in each line, counted
            through the files as if they were one; None: made on first use and kept in the user's cache
            folder.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [bytes], and float32 [labels], one label or more.

    Example: jpegs, labels = fn.readers.mxnet(path=["data.rec"])
    """
    def __init__(
        self,
        *,
        path: str | typing.Sequence[str] | None = None,
        index_path: str | typing.Sequence[str] | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Mix(OperatorClass):
    """Mixes the samples of several readers in fixed shares.

    The order is a function of a position that all shards share, so it needs no communication, and goes on from any state
    with any number of shards and with other weights: no sample is lost, none comes twice in a pass of its source. With whole
    numbers of samples of a source in a batch of all shards, each such batch has just these; else one more or less for each
    source before it. Sources are gone through pass after pass, each in its own order (`random_shuffle`, `subset`,
    `fold` and `weights` are the source's); a sample has the random values of that pass.

    Args:
        sources: what readers returned, all of their outputs, which agree in number, types and axes. Outside of a
            pipeline's definition pairs of a reader's name and its arguments: ("readers.file", {"file_root": "photos"}).
        num_shards: how many parts the mixture is divided into; of the mixture, not of its sources.
        pad_last_batch: end an epoch with a whole batch, by repeating its last sample.
        schedule: {step: weights}: the weights from a step on, counted in batches of this pipeline on all shards; up to the
            first one `weights`. In dynamic mode, which knows no batches, counted in samples of a shard.
        seed: of sources that shuffle and have none of their own; -1: the pipeline's.
        shard_id: which part is read, 0 to `num_shards` - 1.
        temperature: shares are in the proportion of the weights to the power of 1 / temperature: 1: as they are, more: more
            even.
        weights: of the sources; None: their sizes, so that an epoch takes each sample once. Weight 0 leaves a source out.
        with_source: give the number of each sample's source, too, as the last output, int32 [1]; of readers that return a
            dict under the name "source".
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: as many outputs as a source has.

    An epoch has as many samples as all sources together have in one of theirs; without `pad_last_batch` rounded up, so that all
    shards take equally many. `reader_meta` has the size and share of each source under "sources".

    Parity: DALI has no such operator.

    Example:
        jpegs, labels = fn.readers.mix(
            [
                fn.readers.file(file_root="photos", random_shuffle=True),
                fn.readers.file(file_root="drawings", random_shuffle=True),
            ],
            weights=[0.75, 0.25],
        )
    """
    def __init__(
        self,
        *,
        num_shards: int = 1,
        pad_last_batch: bool = False,
        schedule: Any = None,
        seed: int = -1,
        shard_id: int = 0,
        temperature: float | None = None,
        weights: Any = None,
        with_source: bool = False,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class NemoAsr(OperatorClass):
    """Reads and decodes the sounds that NeMo manifests list, and their texts.

    Each line of a manifest is a JSON object with an "audio_filepath" and perhaps an "offset" and a
    "duration" in seconds, of the part to read, and a "text"; other keys are passed over. A relative path is
    looked for from the working folder, and else from the folder of the manifest.

    Parity: DALI looks from the working folder only, and passes over lines that are no such object.

    Args:
        manifest_filepaths: paths of the manifests.
        downmix: mean of all channels.
        dtype: INT16, INT32 or FLOAT; a FLOAT from -1 to 1 is the integer's whole range.
        max_duration: leave out what has a longer "duration", in seconds; 0: nothing.
        min_duration: leave out what has a shorter "duration" or none; 0: nothing.
        quality: of the resampling, 0 to 100.
        read_idxs: give the position in the manifest, too, not counting what is left out.
        read_sample_rate: give the sampling rate of the file, too.
        read_text: give the text, too.
        sample_rate: rate to resample to, Hz; 0 or less: as it is.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the sound, `dtype`, [T] if `downmix` and else [T, C]; float32 [], the rate of the file, also
        where the sound is resampled; uint8 [bytes], UTF-8; int64 [1].

    Example:
        sound, rate, text = fn.readers.nemo_asr(
            manifest_filepaths=["manifest.json"], sample_rate=8000, read_sample_rate=True
        )
    """
    def __init__(
        self,
        *,
        manifest_filepaths: str | typing.Sequence[str] | None = None,
        downmix: bool = True,
        dtype: types.DALIDataType | DTypeLike = ...,
        max_duration: float = 0.0,
        min_duration: float = 0.0,
        quality: float = 50.0,
        read_idxs: bool = False,
        read_sample_rate: bool = True,
        read_text: bool = True,
        sample_rate: float = -1.0,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Nifti(OperatorClass):
    """Reads volumes from NIfTI files (.nii, .nii.gz), versions 1 and 2: of three axes, or of four with time.

    Axes are as they are stored, first the one that is x in the file, as nibabel gives them; `with_affine` tells how they lie
    in space.

    Parity: DALI has no such reader.

    Args:
        file_filter: pattern of the names of files in `file_root`; capital letters count.
        scaled: apply the slope and intercept of the header; otherwise values are as they are stored, as labels should be.
        with_affine: give the affine from indices to millimetres as well: sform, else qform, else the spacing.
        with_spacing: give the size of a voxel along each axis as well, as the last output.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        file_list: text file with the name of a file in each line; empty lines are passed over.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the folder of
            `file_list`, or the working folder. Without both it is searched, with its subfolders (but not
            theirs), its own files first.
        files: paths.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [x, y, z(, t)], or the type of the file if not `scaled`; then if asked for float32 [4, 4], and
        float32 [axes].

    Example: volumes, spacing = fn.readers.nifti(file_root="scans", with_spacing=True)
    """
    def __init__(
        self,
        *,
        file_filter: str = '*.nii*',
        scaled: bool = True,
        with_affine: bool = False,
        with_spacing: bool = False,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        file_list: str | None = None,
        file_root: str | None = None,
        files: str | typing.Sequence[str] | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Numpy(OperatorClass):
    """Reads arrays from .npy files, or a window of each array without reading much of the rest.

    The window goes from `roi_start` or `rel_roi_start` (else 0) to an end (`roi_end`, `rel_roi_end`,
    `roi_shape` or `rel_roi_shape`, else the whole extent). Its borders are rounded half away from zero.

    Args:
        cache_header_information: remember the header of each file of which a window was read.
        file_filter: pattern of the names of files in `file_root`; capital letters count.
        fill_value: of what lies outside of the array; rounded and saturated for integers.
        out_of_bounds_policy: "error" raises, "pad" fills, "trim_to_shape" makes the window smaller.
        register_buffers: without effect.
        rel_roi_end: `roi_end` as a share of the extent.
        rel_roi_shape: `roi_shape` as a share of the extent.
        rel_roi_start: `roi_start` as a share of the extent.
        roi_axes: axes that the borders are of; negative ones count from the end; empty: all, in order.
        roi_end: where the window ends, elements, exclusive.
        roi_shape: size of the window, elements.
        roi_start: where the window starts, elements.
        use_o_direct: without effect.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        file_list: text file with the name of a file in each line; empty lines are passed over.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the folder of
            `file_list`, or the working folder. Without both it is searched, with its subfolders (but not
            theirs), its own files first.
        files: paths.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the array in C order and this machine's byte order. Only numbers and booleans can be read,
    and nothing is ever unpickled.

    Parity: DALI reads format version 1.0, little-endian, with the header laid out as NumPy writes it; here
    versions 2.0 and 3.0, big-endian elements and other spacing are read too. In a `file_list`, DALI takes
    empty lines and the carriage returns of Windows for names.

    Example: numbers = fn.readers.numpy(file_root="arrays", file_filter="*.npy")
    """
    def __init__(
        self,
        *,
        cache_header_information: bool = False,
        file_filter: str = '*.npy',
        fill_value: float = 0.0,
        out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape'] = 'error',
        register_buffers: bool = True,
        rel_roi_end: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        rel_roi_shape: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        rel_roi_start: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = (),
        roi_end: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_start: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        use_o_direct: bool = False,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        file_list: str | None = None,
        file_root: str | None = None,
        files: str | typing.Sequence[str] | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Pack(OperatorClass):
    """Packs documents into rows of one length: token sequences of a reader, or texts that are tokenized here.

    A row is a sample. The documents come in the order of their reader, and each `window` of them is packed by itself, longest
    first. So which share a row is a function of their lengths and their place in the order alone, and the rows of a step are a
    function of the step. A run goes on from any state with any number of shards, and with other weights of a mixture, from the
    next window on: no document is lost, none comes twice in a pass. All shards must be at the same step.

    The lengths of all documents are found when the pipeline is built, by reading and tokenizing each once. They are kept in the
    cache folder if the data are files that `paths` or `path` names, of Parquet, Arrow, TFRecord, WebDataset or mixtures of these.

    Args:
        documents: what a reader returned, or `readers.mix`, all of its outputs: tokens with one axis, and others of the same
            length; with `tokenizer` one output, texts. Outside of a pipeline's definition a pair of a reader's name and its
            arguments.
        length: of a row, tokens; see `long_documents`.
        add_special_tokens, bos, eos, tokenizer: tokenize texts, as `tokenize` does; None: the documents are tokens.
        continue_positions: positions of a piece go on from the piece before it, as those of the whole document; else each
            piece begins at 0.
        lengths: tokens of each document of the data set (of a mixture: of all sources, one after another), so that they need
            not be found: a column of a table. A row whose documents are longer than these say is a bad sample.
        long_documents: what becomes of documents longer than a row: "truncate": they are cut, and the rest is lost; "split": they
            are divided into pieces of `length` and a rest, each packed by itself as a document, with a segment id of its own.
        num_shards: how many parts the rows are divided into; of the rows, not of the documents' reader.
        pad_id: what is behind the last document of a row.
        seed: of a reader that shuffles and has no seed of its own; -1: the pipeline's.
        shard_id: which part is read, 0 to `num_shards` - 1.
        strategy: a document goes to the first row with room, "first_fit", or to the row with the least, "best_fit".
        window: number of documents that are packed together; None: as many as fill 128 rows on average.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each output of the documents [length], padded; int32 [length], the number of the document in the row, from 1 on,
        0 for padding; and int32 [length], the position in the document. Of readers that return a dict under the names
        "segment_ids" and "positions".

    An epoch, as iterators and `reader_meta` count it, has the rows of the first pass over the documents; another pass that is
    shuffled may have a few more or less. The `schedule` of a mixture counts documents here, `batch_size` of them a step. A
    document that cannot be read makes bad samples of its rows, for which other documents stand in, if `on_error` says so.

    Parity: DALI has no such operator.

    Example:
        tokens, segments, positions = fn.readers.pack(
            fn.readers.parquet(paths=["train.parquet"], columns=["caption"], random_shuffle=True),
            length=64,
            tokenizer="tokenizer.json",
        )
    """
    def __init__(
        self,
        *,
        length: int | None = None,
        add_special_tokens: bool = True,
        bos: Any = None,
        continue_positions: bool = False,
        eos: Any = None,
        lengths: Any = None,
        long_documents: Literal['truncate', 'split'] = 'truncate',
        num_shards: int = 1,
        pad_id: int = 0,
        seed: int = -1,
        shard_id: int = 0,
        strategy: Literal['first_fit', 'best_fit'] = 'first_fit',
        tokenizer: str | None = None,
        window: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Paired(OperatorClass):
    """Reads several files for each sample, such as a picture and its mask: an output for each keyword, in their order.

    Any name that is no argument below is a keyword: `paired(images="photos", masks="masks")` has two outputs. Its value is
    a folder, a pattern such as "photos/*.jpg", or a list of paths. Files of the same stem make a sample: of a folder or a list
    that is the path below the (common) folder without its ending; of a pattern the part that its wildcards stand for, so
    "*_photo.jpg" goes with "*_mask.png". "**" stands for any number of folders; hidden files are passed over. With `table`
    a value is the name of a column, and a row is a sample.

    Parity: DALI has no such reader.

    Args:
        file_root: folder that all paths are relative to; None: the working folder, or that of the CSV file. What a table
            names must lie below it.
        files: {keyword: value}, for keywords that are names of arguments, too; they come first.
        missing: of samples that lack a file: "error": raise when the pipeline is built, "skip": leave them out.
        table: path of a CSV file whose first line names the columns, a DataFrame, or a dict of lists.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each keyword uint8 [bytes]. `Pipeline.reader_meta(name)["left_out"]` counts the samples that were left out.

    Example: jpegs, pngs = fn.readers.paired(images="photos/*.jpg", masks="masks/*.png", random_shuffle=True)
    """
    def __init__(
        self,
        *,
        file_root: str | None = None,
        files: Any = None,
        missing: Literal['error', 'skip'] = 'error',
        table: Any = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        **keywords: Any,
    ) -> None: ...

class Parquet(OperatorClass):
    """Reads rows of Parquet files: an output for each of `columns`.

    Row groups are read whole, of them only these columns, once a pass over the data; `random_shuffle` mixes rows
    through a buffer of `initial_fill`. With `shuffle_after_epoch`, row groups that do not fit into
    `bytes_ahead` of `jdali.storage` are read for each sample: write files with small ones for it.

    A row without a value (null) in a column, or with lists that make no array, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns, with "." between those of nested fields. Of a struct with "bytes", as the Hugging
            Face Hub has for pictures and sounds, these are read.
        paths: of the files.
        filter: which rows are samples: an expression of `pyarrow.compute`, or conditions as those of pandas,
            `[("label", "in", [1, 2])]`. The columns that it names are read when the pipeline is built.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column uint8 [bytes] of bytes and strings, [] of numbers, [n, ...] of lists.

    Example: jpegs, labels = fn.readers.parquet(paths=["train.parquet"], columns=["image", "label"])
    """
    def __init__(
        self,
        *,
        columns: str | typing.Sequence[str] | None = None,
        paths: str | typing.Sequence[str] | None = None,
        filter: Any = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Sequence(OperatorClass):
    """Reads sequences of images from folders, each of which holds the images of one stream.

    The images of a stream are in the order of their names, as bytes. Sequences do not go beyond a stream,
    and only whole ones are returned. Hidden files and folders are passed over.

    Args:
        file_root: folder of the folders.
        sequence_length: images in a sequence.
        image_type: RGB, BGR, GRAY, YCbCr or ANY_DATA.
        step: from the first image of a sequence to that of the next.
        stride: from one image of a sequence to the next.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [F, H, W, C].

    Example: frames = fn.readers.sequence(file_root="frames", sequence_length=4)
    """
    def __init__(
        self,
        *,
        file_root: str | None = None,
        sequence_length: int | None = None,
        image_type: types.DALIImageType = types.DALIImageType.RGB,
        step: int = 1,
        stride: int = 1,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class TFRecord(OperatorClass):
    """Reads features of the records of TFRecord files: an output for each, in `fn` a dict by name.

    The CRC of each record is checked. Where a record has fewer elements than the feature's shape, the
    rest is the feature's default value. A feature may not be of another type than declared.

    Parity: DALI does not check CRCs, leaves missing elements undefined, and needs an index.

    Args:
        features: which to take: their names, and `jdali.tfrecord.FixedLenFeature` or `VarLenFeature`.
        path: of the files.
        index_path: of the index of each file, as `tfrecord2idx` makes it: the offset and the size of a
            record in each line; None: made on first use and kept in the user's cache folder.
        use_o_direct: without effect.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each feature int64 or float32 of its shape, or uint8 [bytes] for a string.

    Example:
        features = {"image": tfrec.FixedLenFeature((), tfrec.string, ""), "label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}
        record = fn.readers.tfrecord(path="data.tfrecord", features=features)
        jpegs, labels = record["image"], record["label"]
    """
    def __init__(
        self,
        path: str | typing.Sequence[str] | None = None,
        index_path: str | typing.Sequence[str] | None = None,
        features: Any = None,
        *,
        use_o_direct: bool = False,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Table(OperatorClass):
    """Reads rows of a table in memory: an output for each of `columns`.

    A row without a value (null) in a column is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns.
        frame: of pandas, polars or pyarrow, or a dict of lists and arrays. Nobody changes it meanwhile.
        file_root: folder that the names of files are relative to, and that all of them must lie in; None: the working
            folder.
        files: those of `columns` that name files: these are read in place of their names.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column uint8 [bytes] of files, bytes and strings, [] of numbers, [n, ...] of lists.

    Example:
        frame = {"name": ["cat/1.jpg", "dog/0.jpg"], "label": [0, 1]}
        jpegs, labels = fn.readers.table(frame=frame, columns=["name", "label"], files=["name"], file_root="photos")
    """
    def __init__(
        self,
        *,
        columns: str | typing.Sequence[str] | None = None,
        frame: Any = None,
        file_root: str | None = None,
        files: str | typing.Sequence[str] = (),
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Tfds(OperatorClass):
    """Reads a data set of TensorFlow Datasets from its folder: an output for each of `features`.

    TensorFlow is not needed. Files are TFRecord, ArrayRecord or Parquet; they are read as `readers.tfrecord`,
    `readers.array_record` and `readers.parquet` do. Pictures are not decoded: `fn.decoders.image` does that.
    `Pipeline.reader_meta(name)["classes"]` has the names of a feature of class labels; of several features, lists by
    feature.

    A sequence of numbers is an array whose first axis is as long as it is. Sequences of strings or of pictures, and sequences
    of sequences of any length, make no array and cannot be read. An example that lacks a feature, or has it in another
    shape, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        directory: of one version of the data set, such as "mnist/3.0.1": it holds dataset_info.json.
        features: names of the features, with "/" between those of nested ones ("objects/bbox").
        split: of the data set; for a part of one see `subset` and `fold`.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each feature uint8 [bytes] of pictures, texts and files of sound, int64 [] of class labels, float32 [4] of
        boxes, and of tensors, scalars and sequences arrays of their type and shape (float64 was rounded to float32).

    Example: jpegs, labels = fn.readers.tfds(directory="mnist/3.0.1", features=["image", "label"], split="test")
    """
    def __init__(
        self,
        *,
        directory: str | None = None,
        features: str | typing.Sequence[str] | None = None,
        split: str = 'train',
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Video(OperatorClass):
    """Reads sequences of frames from videos: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and more.

    Args:
        sequence_length: frames of a sequence.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        additional_decode_surfaces: without effect.
        channels: 3.
        dtype: UINT8 or FLOAT.
        file_list_frame_num: starts and ends in `file_list` are numbers of frames, not seconds. Negative ones
            count from the end, and an end of 0 is that of the video.
        file_list_include_preceding_frame: round starts in `file_list` down and ends up, not the other way.
        normalized: values from 0 to 1 in place of 0 to 255.
        pad_sequences: also give the sequences that begin in the clip but lack frames at its end, filled up
            with zeros.
        skip_vfr_check: without effect: variable frame rates are read as well.
        apply_rotation: turn frames as the metadata of the video say; phones write them. DALI has no such argument.
        enable_frame_num: "scalar" or True: also give the number of the first frame, int32 [1];
            "sequence": those of all frames, int32 [F], -1 for padding; "none" or False: neither.
        enable_timestamps: also give when each frame is shown, in seconds from the first frame of the
            file on, float64 [F], -1 for padding.
        file_list: text file with a video's name, a label and perhaps the start and the end of the part to
            read in each line; names are relative to the working folder, or else to that of the list.
        file_root: folder with a subfolder of videos for each label.
        filenames: paths of videos, or URLs.
        image_type: RGB, or YCbCr (BT.601, studio range).
        labels: of `filenames`; an empty list: numbers from 0 on; None: there are no labels.
        step: from the start of a sequence to that of the next, frames; 0 or less: `sequence_length`, times
            `stride`.
        stride: from one frame of a sequence to the next, frames.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `dtype` [F, H, W, C]; then, as asked for, the label, int32 [1], the frame numbers and the times.

    Parity: DALI reads these on a GPU, whose conversion from YCbCr to RGB differs by a few steps of 255.

    Example: frames = fn.readers.video(filenames=["clip.mp4"], sequence_length=4)
    """
    def __init__(
        self,
        *,
        sequence_length: int | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        additional_decode_surfaces: int = 2,
        channels: int = 3,
        dtype: types.DALIDataType | DTypeLike = ...,
        file_list_frame_num: bool = False,
        file_list_include_preceding_frame: bool = False,
        normalized: bool = False,
        pad_sequences: bool = False,
        skip_vfr_check: bool = False,
        apply_rotation: bool = False,
        enable_frame_num: str | bool = 'none',
        enable_timestamps: bool = False,
        file_list: str = '',
        file_root: str = '',
        filenames: str | typing.Sequence[str] = (),
        image_type: types.DALIImageType = types.DALIImageType.RGB,
        labels: float | typing.Sequence[int | float] | None = None,
        step: int = -1,
        stride: int = 1,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class VideoResize(OperatorClass):
    """Reads sequences of frames as `readers.video` does and resizes them as `resize` does.

    The reader itself gives whole frames; `jdali.fn` and `jdali.dynamic` put a `resize` behind it.

    Args:
        sequence_length: frames of a sequence.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        size: (height, width) or (depth, height, width), pixels, or one value for all; 0: none;
            negative: mirrored along that axis.
        resize_x: width, as in `size`.
        resize_y: height, as in `size`.
        resize_z: depth, as in `size`.
        resize_shorter: of the shorter side; the aspect ratio is kept.
        resize_longer: of the longer side; the aspect ratio is kept.
        mode: "default": sides without a size keep the aspect ratio; "stretch": they stay as they are;
            "not_larger", "not_smaller": the aspect ratio is kept and the sizes are upper or lower limits.
        max_size: limit of the sides, one value or one a side; None: none.
        roi_start: where the window begins that is resized, pixels of each side; None: the whole image.
            Filters reach beyond it.
        roi_end: where it ends; before `roi_start`: mirrored.
        roi_relative: whether the window is in shares of the sides instead of pixels.
        subpixel_scale: when a size is rounded, change the window as much, so that the scale is exact.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel counts.
        minibatch_size: taken for DALI's sake; changes nothing.
        temp_buffer_hint: taken for DALI's sake; changes nothing.
        additional_decode_surfaces: without effect.
        channels: 3.
        dtype: UINT8 or FLOAT.
        file_list_frame_num: starts and ends in `file_list` are numbers of frames, not seconds. Negative ones
            count from the end, and an end of 0 is that of the video.
        file_list_include_preceding_frame: round starts in `file_list` down and ends up, not the other way.
        normalized: values from 0 to 1 in place of 0 to 255.
        pad_sequences: also give the sequences that begin in the clip but lack frames at its end, filled up
            with zeros.
        skip_vfr_check: without effect: variable frame rates are read as well.
        apply_rotation: turn frames as the metadata of the video say; phones write them. DALI has no such argument.
        enable_frame_num: "scalar" or True: also give the number of the first frame, int32 [1];
            "sequence": those of all frames, int32 [F], -1 for padding; "none" or False: neither.
        enable_timestamps: also give when each frame is shown, in seconds from the first frame of the
            file on, float64 [F], -1 for padding.
        file_list: text file with a video's name, a label and perhaps the start and the end of the part to
            read in each line; names are relative to the working folder, or else to that of the list.
        file_root: folder with a subfolder of videos for each label.
        filenames: paths of videos, or URLs.
        image_type: RGB, or YCbCr (BT.601, studio range).
        labels: of `filenames`; an empty list: numbers from 0 on; None: there are no labels.
        step: from the start of a sequence to that of the next, frames; 0 or less: `sequence_length`, times
            `stride`.
        stride: from one frame of a sequence to the next, frames.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: as of `readers.video`.

    Example: frames = fn.readers.video_resize(filenames=["clip.mp4"], sequence_length=4, size=[24, 32])
    """
    def __init__(
        self,
        *,
        sequence_length: int | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        size: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        resize_x: float | DataNode = 0.0,
        resize_y: float | DataNode = 0.0,
        resize_z: float | DataNode = 0.0,
        resize_shorter: float | DataNode = 0.0,
        resize_longer: float | DataNode = 0.0,
        mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
        max_size: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | None = None,
        roi_start: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_end: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_relative: bool = False,
        subpixel_scale: bool = True,
        interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
        min_filter: types.DALIInterpType | DataNode | None = None,
        mag_filter: types.DALIInterpType | DataNode | None = None,
        antialias: bool = True,
        minibatch_size: int = 32,
        temp_buffer_hint: int = 0,
        additional_decode_surfaces: int = 2,
        channels: int = 3,
        dtype: types.DALIDataType | DTypeLike = ...,
        file_list_frame_num: bool = False,
        file_list_include_preceding_frame: bool = False,
        normalized: bool = False,
        pad_sequences: bool = False,
        skip_vfr_check: bool = False,
        apply_rotation: bool = False,
        enable_frame_num: str | bool = 'none',
        enable_timestamps: bool = False,
        file_list: str = '',
        file_root: str = '',
        filenames: str | typing.Sequence[str] = (),
        image_type: types.DALIImageType = types.DALIImageType.RGB,
        labels: float | typing.Sequence[int | float] | None = None,
        step: int = -1,
        stride: int = 1,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Webdataset(OperatorClass):
    """Reads samples from tar archives: an output for each entry of `ext`.

    Files that follow each other and have the same name up to the first dot are one sample; what is after
    the dot is the extension. Links, folders and hidden files are passed over. Archives that were joined (`cat a.tar
    b.tar`) are read to the end. Sparse files, as `tar --sparse` stores them, cannot be read.

    Parity: without an index DALI gives empty samples for hidden files and for an empty archive, does not
    read long names of the PAX format, ends with the first of joined archives, and gives other bytes for sparse files or leaves
    them out.

    Args:
        ext: extension of each output; several with ";" between them: the first that a sample has.
        paths: of the archives.
        case_sensitive_extensions: tell capital letters from small ones in extensions.
        dtypes: element type of each output; None: uint8.
        index_paths: of the index of each archive, as `wds2idx` makes it; None: made on first use and kept
            in the user's cache folder.
        missing_component_behavior: what to do with a sample that lacks an output: "empty" (or ""): give
            an empty tensor; "skip": leave the sample out; "error": raise an error when the reader is opened.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each output the content of a file, [elements] of its dtype.

    Example: jpegs, scores = fn.readers.webdataset(paths=["shard.tar"], ext=["jpg", "scores"])
    """
    def __init__(
        self,
        *,
        ext: str | typing.Sequence[str] | None = None,
        paths: str | typing.Sequence[str] | None = None,
        case_sensitive_extensions: bool = True,
        dtypes: typing.Sequence[types.DALIDataType | DTypeLike] | None = None,
        index_paths: str | typing.Sequence[str] | None = None,
        missing_component_behavior: str = '',
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Zarr(OperatorClass):
    """Reads samples along an axis of arrays of Zarr, or a window of each sample: an output for each array.

    Versions 2 and 3 are read, shards too, of folders and URLs; compressed by Blosc, Zstandard, LZ4, zlib, gzip or bz2. Chunks
    that the window does not touch are not read. A chunk is decoded once for all samples in it that follow each other, and
    kept as far as `bytes_ahead` of `jdali.storage` allows; with `random_shuffle` samples are mixed through a buffer of
    `initial_fill` where chunks hold several. Without its file a chunk has the fill value, as Zarr says.

    Parity: DALI has no such reader.

    Args:
        path: of the folder of an array or of a group.
        array: names of the arrays in the group, with "/" between those of nested groups; empty: the folder is the array's.
        axis: of the samples, in each of the arrays; -1: the last.
        roi_shape: shape of the window in samples of the first array; default: what follows `roi_start`.
        roi_start: where the window starts, elements; default: 0.
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: of each array its elements at a position of `axis`, which is left out: numbers or booleans.

    Example: volumes = fn.readers.zarr(path="scans.zarr", array="volumes", roi_start=[0, 8, 8], roi_shape=[4, 16, 16])
    """
    def __init__(
        self,
        *,
        path: str | None = None,
        array: str | typing.Sequence[str] = (),
        axis: int = 0,
        roi_shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        roi_start: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        dont_use_mmap: bool = False,
        fold: Any = None,
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
        subset: Any = None,
        tensor_init_bytes: int = 1048576,
        weights: Any = None,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...
