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
    """Reads the records of ArrayRecord files, the format of TensorFlow Datasets and Grain.

    If chunks hold one record each (`group_size:1`), any order is cheap. A chunk with several records is read whole,
    once an epoch, and `random_shuffle` mixes records through a buffer of `initial_fill` records. With
    `shuffle_after_epoch`, such a chunk is read again for each of its records, unless all chunks together fit into
    `bytes_ahead` of `jdali.storage`.

    Each chunk is checked against the index at the end of its file; hashes of data are not checked. Files written with
    `transpose:true` raise an error.

    Parity: DALI has no such reader.

    Args:
        paths: paths of the files.
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
    """Reads rows of Arrow files and streams (IPC, Feather, the output of `save_to_disk`): an output for each of `columns`.

    Local files are mapped into memory. Samples are views of the mapped files, so any order costs the same. A file must not be
    truncated while the pipeline runs. With `dont_use_mmap`, and from URLs, record batches are read whole, as
    `readers.parquet` reads row groups.

    A row with a null in one of the columns, or with ragged lists, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns; "." separates the names of nested fields. For a struct with a field "bytes", only
            this field is read; the Hugging Face Hub stores pictures and sounds in such structs.
        paths: paths of the files.
        filter: selects rows: an expression of `pyarrow.compute`, or conditions as in pandas,
            `[("label", "in", [1, 2])]`. Building the pipeline reads the columns that the filter names.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: an output for each column: uint8 [bytes] for bytes and strings, [] for numbers, [n, ...] for lists.

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
    """Groups the samples of a reader into buckets of similar size, so that batches need little padding.

    The samples are taken in the order of the reader. Each window of `window` samples is sorted by size and divided
    into buckets of `size` samples, and the buckets come in random order. The order depends only on the seed and the
    position. So a run resumes from any state with any number of shards, and each sample comes once a pass. If the
    number of samples of a pass is not a multiple of `size`, the pass ends within a bucket, and the next pass begins
    with the rest of this bucket. All shards must resume from the same training step.

    Args:
        samples: all outputs of a reader or of `readers.mix`. Outside of a pipeline's definition, a pair of the
            reader's name and its arguments.
        by: "length": the first axis of the first output; "aspect_ratio": width / height of the encoded picture in the
            first output, after its EXIF rotation; or an array with a number for each sample of the data set, such as a
            column of a table. For a mixture, the array has the numbers of all sources, one source after another.
        size: number of samples in a bucket: the batch size times `num_shards`, or a multiple of it.
        num_shards: number of parts that each bucket is divided into. The reader itself must not be sharded.
        seed: seed of the order of buckets, and of a reader that shuffles without a seed of its own; -1: the pipeline's.
        shard_id: the part to read, 0 to `num_shards` - 1.
        window: number of samples to sort together; None: 64 buckets. A larger window makes buckets more uniform.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: as many outputs as the reader has.

    Building the pipeline reads each sample once to find its "length" or "aspect_ratio". The values are cached on disk if
    the reader has an argument `path` or `paths` that names its files.

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
    """Reads images and their objects from a data set in the COCO format.

    The outputs are the image's bytes, and the boxes and labels of its objects. `polygon_masks` adds
    polygons and their vertices; `pixelwise_masks` adds a picture of labels; `image_ids` adds the id.

    In the picture of labels, a pixel that several objects cover has the largest of their labels.
    `Pipeline.reader_meta(name)["classes"][label]` is the name of the category.

    The parser accepts NaN and Infinity in fields that it does not read, ids of 64 bits, and whole numbers written as
    floats (7.0).

    Parity: DALI rejects files with such numbers, or stops reading at the number. DALI skips annotations that have no
    box, a negative size or an unknown image, skips the rest of a truncated file, and gives unknown categories label 0;
    here these are errors, and so are `images` that the file lacks. DALI draws a different picture of labels: it keeps
    only the last run-length mask of a label, and none if the label has polygons; it leaves the picture empty if the
    smallest label has no mask; it gives the smallest label to the run of pixels that ends the picture; with `ratio`, it
    draws polygons in the unit square.

    Args:
        annotations_file: the JSON file.
        avoid_class_remapping: labels are the ids of categories; otherwise their positions in the file, counted from 1.
        file_root: folder that the images' names are relative to.
        image_ids: return the ids of the images, too.
        images: file names of the images to read, in this order; None: all images, ordered by id.
        include_iscrowd: also read objects that are marked as crowds.
        ltrb: boxes are (left, top, right, bottom), not (left, top, width, height).
        pixelwise_masks: return a picture of labels, too.
        polygon_masks: return polygons and their vertices, too.
        preprocessed_annotations: folder of annotations saved by DALI or jdali, to read in place of the JSON file.
        ratio: boxes and vertices are fractions of the image's width and height, not pixels.
        save_preprocessed_annotations: save the parsed annotations.
        save_preprocessed_annotations_dir: folder to save the annotations to, which must exist.
        size_threshold: leave out objects with a smaller width or height, pixels.
        skip_empty: leave out images without objects.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the image, uint8 [bytes]; the boxes, float32 [objects, 4]; the labels, int32 [objects]; then, if requested, the
        polygons, int32 [polygons, 3] (number of the object, first vertex, one past the last vertex), and the vertices,
        float32 [vertices, 2] (x, y), or the picture of labels, int32 [H, W, 1]; and the id, int32 [1].

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

    The first use indexes the records and caches the index in the user's cache folder.

    Args:
        path: folders of the databases.
        image_available: return the images.
        label_available: return the labels.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the image, uint8 [bytes] if encoded, [height, width, channels] if stored as pixels (assumed to be in this
        order, as in DALI); and the label, int32 [1], or [0] for a record without a label.

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

    The first use indexes the records and caches the index in the user's cache folder.

    Parity: as in DALI, sparse labels (types 1 and 3) add an output for a box, the last tensor of the record. If that
    tensor is no box and `bbox` is False, the output is int32 [0]; DALI fails.

    Args:
        path: folders of the databases.
        additional_inputs: number of further tensors in each record; each is an output.
        bbox: return the box at the end of the record.
        image_available: the first tensor of a record is an image.
        label_type: 0: a number; 1: indices of classes, read as a vector of 0 and 1; 2: a vector; 3: indices
            of classes and their weights, read as a vector of weights; 4: no label.
        num_labels: number of classes, for label types 1 and 3.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the image, uint8 [bytes] if encoded, [height, width, channels] if stored as pixels; the label, [1],
        [num_labels] or as stored; further tensors, [elements]; the box, int32 [4].

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

    Types are inferred from the values: int64, float64, bool, or otherwise string. A row with an empty field in a
    column of numbers is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns.
        path: path of the CSV file.
        delimiter: separator of the values in a line.
        file_root: folder that holds all named files and that their names are relative to; None: the folder of the CSV
            file.
        files: columns, among `columns`, whose values are names of files to read.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: an output for each column: uint8 [bytes] for files and strings, [] for numbers.

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

    The object may be a list, a data set of Hugging Face, PyTorch or Grain, a table, or an instance of your own class.
    Each element is a sample. One thread at a time calls the object. With `workers=` of the pipeline, each worker
    process gets a copy of the object and calls this copy. An element may be an array, a number, bytes, a string or a
    Pillow picture. With `num_outputs`, an element is a tuple of several of these; with `columns`, a dict of them. If
    `__getitem__` raises an exception, the exception becomes the error of this sample.

    Parity: DALI has no such reader.

    Args:
        dataset: the object, which must not change; the samples of a table (pandas, polars, pyarrow) are its rows.
        columns: keys to take from elements that are dicts, or columns of a table; each is an output.
        layout: a layout for all outputs, or a list with a layout for each output.
        num_outputs: number of entries of an element (a tuple or list), one output each; None: an element is one output.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the values of the elements; uint8 [bytes] for bytes and strings.

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

    It reads `files` if given, or else the files named in `file_list`. If neither is given, it reads the files in the
    subfolders of `file_root`, ordered by name; the label is the number of the subfolder, and
    `Pipeline.reader_meta(name)["classes"]` has the names of the subfolders.

    Parity: without `dir_filters` DALI numbers hidden and empty subfolders, too.

    Args:
        case_sensitive_filter: distinguish upper and lower case in the filters.
        dir_filters: glob patterns of the subfolders to read and number. None selects all subfolders that contain
            matching files, except hidden subfolders; "*" selects all, as in DALI.
        file_filters: glob patterns of the files in subfolders.
        file_list: text file; each line has a file's name and its label, an integer from 0 on.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the
            folder of `file_list`, or the working folder.
        files: paths of the files.
        labels: labels of `files`; None: the numbers of the files, from 0.
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
    """Reads samples along an axis of HDF5 data sets, or a window of each sample: an output for each data set.

    Chunks outside the window are not read. Consecutive samples share the decoded chunks, which are cached within
    `bytes_ahead` of `jdali.storage`. If chunks hold several samples, `random_shuffle` mixes samples through a buffer of
    `initial_fill` samples. The HDF5 library reads in one thread at a time.

    Links, data sets with data in other files, and filters that are not built into HDF5 or h5py raise an error.

    Parity: DALI has no such reader.

    Args:
        dataset: names of the data sets; "group/images" is a data set in a group.
        paths: paths of the files.
        axis: the axis of the samples in each data set; -1: the last.
        roi_shape: shape of the window in each sample of the first data set; default: up to the end of the sample.
        roi_start: start of the window, elements; default: 0.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each data set, its elements at one position of `axis`, without this axis: numbers or booleans.

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
    """Reads a Hugging Face data set from its folder: an output for each of `columns`.

    The folder is the output of `save_to_disk`, or a repository of Parquet files: its clone, or a URL that fsspec can
    open, such as `hf://datasets/...`. The names of the files or of their folders determine the splits, as in
    `datasets`. The package `datasets` is not needed. `Pipeline.reader_meta(name)["classes"]` has the class names of a
    column of labels; with several such columns, it is a dict of lists, by column.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns; "." separates the names of nested fields. Pictures and sounds are read as bytes.
        path: path of the folder.
        filter: selects rows, see `readers.parquet`.
        split: name of the split; ignored for a folder that `save_to_disk` wrote from a single split.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column: uint8 [bytes] for pictures, sounds, bytes and strings, [] for numbers and class labels,
        [n, ...] for lists.

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
    """Reads a LeRobot data set (versions 2 and 3): each row is a sample, with an output for each of `columns`.

    Values come from Parquet files, camera frames from videos or pictures. The frames that a batch needs from one file
    are decoded together, in order, and each only once. Samples have the same order as in `readers.parquet`:
    `random_shuffle` mixes rows through a buffer of `initial_fill` rows, so that samples of a batch share row groups
    and frames. The package `lerobot` is not needed.

    Parity: DALI has no such reader. Windows and frames are chosen as in `LeRobotDataset`.

    Args:
        columns: names of features in `meta/info.json`; "task" for the text of a row's task.
        directory: the folder, or its URL.
        delta_timestamps: {column: seconds}: the window of a column, relative to the time of the row, such as [-0.1,
            0, 0.1]. Each time must be a multiple of the time between rows. Rows outside the episode are replaced by its first or
            last row.
        episodes: numbers of the episodes to read; None: all.
        tolerance: largest difference between the times of a frame and of its row, seconds.
        with_padding: append an output for each column with a window: True where the window leaves the episode.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each column: uint8 [H, W, 3] for cameras, [] or [n, ...] for values, uint8 [bytes] for texts; a window
        adds an axis at the front. With `with_padding`, bool [T] for each window.

    Example:
        frames, state = fn.readers.lerobot(
            directory="robot",
            columns=["observation.images.top", "observation.state"],
            delta_timestamps={"observation.state": [-0.2, -0.1, 0]},
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

    Records come in the order in which the files store them; the order of the index is ignored.

    Args:
        path: paths of the files.
        index_path: path of one index for all files. Each line has a number and the offset of a record, counted as if
            the files were concatenated. None: the index is made on first use and cached in the user's cache folder.
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

    The order depends only on a position that all shards share. So shards need no communication. A run resumes from
    any state, even with another number of shards or other weights. It then loses no sample, and repeats none within a
    pass over its source. The batches of all shards at one step form a global batch. If a source's share of a global
    batch is a whole number of samples, each global batch has exactly this number. Otherwise the number of samples
    of source k (k = 0, 1, ...) varies between global batches by at most 1 + k. Each source is read pass after pass in
    the order that its `random_shuffle`, `subset`, `fold` and `weights` determine. The random values of a sample differ
    from pass to pass.

    Args:
        sources: all outputs of each reader. All readers must have the same number of outputs, with the same types and
            numbers of axes. Outside of a pipeline's definition, pairs of a reader's name and its arguments:
            ("readers.file", {"file_root": "photos"}).
        num_shards: number of parts that the mixture is divided into. The sources must not be sharded.
        pad_last_batch: end an epoch with a full batch, by repeating its last sample.
        schedule: {step: weights}: the weights from a step on; before the first key, `weights` applies. A step is a
            global batch; in dynamic mode, which has no batches, a step is one sample of each shard.
        seed: seed of sources that shuffle without a seed of their own; -1: the pipeline's.
        shard_id: the part to read, 0 to `num_shards` - 1.
        temperature: shares are proportional to weights ** (1 / temperature), so larger temperatures make shares more even.
        weights: weights of the sources; None: their sizes, so that an epoch takes each sample once. Weight 0 leaves a
            source out.
        with_source: append the number of each sample's source, int32 [1]; named "source" if the readers return dicts.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: as many outputs as a source has.

    An epoch has as many samples as all sources together. Without `pad_last_batch`, this number is rounded up to a
    multiple of `num_shards`. `reader_meta` has the size and share of each source under "sources".

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

    Each line of a manifest is a JSON object with an "audio_filepath". "offset" and "duration", in seconds, select a
    segment, "text" holds the transcript, and other keys are ignored. A relative path is looked up in the working
    folder, and then in the folder of the manifest.

    Parity: DALI looks in the working folder only, and skips lines that are not such objects.

    Args:
        manifest_filepaths: paths of the manifests.
        downmix: average all channels.
        dtype: INT16, INT32 or FLOAT; the full range of an integer type corresponds to -1 to 1 in FLOAT.
        max_duration: skip entries with a longer "duration", seconds; 0: no limit.
        min_duration: skip entries with a shorter or missing "duration", seconds; 0: no limit.
        quality: quality of the resampling, 0 to 100.
        read_idxs: also return the position of the entry in its manifest; skipped entries do not count.
        read_sample_rate: also return the sampling rate of the file.
        read_text: also return the text.
        sample_rate: rate to resample to, Hz; 0 or less: no resampling.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the sound, `dtype`, [T] with `downmix`, otherwise [T, C]; the rate of the file, float32 [], even if the
        sound is resampled; the text, uint8 [bytes], UTF-8; the position, int64 [1].

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
    """Reads volumes from NIfTI files (.nii, .nii.gz), versions 1 and 2, with three axes, or four with time.

    As in nibabel, the axes have the stored order, x first; the affine (`with_affine`) gives their orientation in space.

    Parity: DALI has no such reader.

    Args:
        file_filter: glob pattern of the files in `file_root`, case-sensitive.
        scaled: apply the slope and intercept of the header; False keeps the stored values, for example labels.
        with_affine: also return the affine from indices to millimetres: the sform, or else the qform, or else the spacing.
        with_spacing: also return the size of a voxel along each axis, as the last output.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [x, y, z(, t)], or the type of the file if not `scaled`; the affine, float32 [4, 4]; the spacing,
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
    """Reads arrays, or a window of each array, from .npy files.

    The window starts at `roi_start` or `rel_roi_start`, by default at 0. It ends at `roi_end` or `rel_roi_end`, or
    has the size `roi_shape` or `rel_roi_shape`; by default it ends where the array ends. Borders are rounded half
    away from zero. Most of the data outside of the window is not read.

    Args:
        cache_header_information: cache the headers of files whose windows were read.
        file_filter: glob pattern of the files in `file_root`, case-sensitive.
        fill_value: value outside of the array; rounded and saturated for integers.
        out_of_bounds_policy: for windows that extend beyond the array: "error" raises, "pad" fills with `fill_value`,
            "trim_to_shape" shrinks the window.
        register_buffers: without effect.
        rel_roi_end: `roi_end` as a fraction of the extent.
        rel_roi_shape: `roi_shape` as a fraction of the extent.
        rel_roi_start: `roi_start` as a fraction of the extent.
        roi_axes: axes that the borders apply to; negative axes count from the end. Empty: all axes, in order.
        roi_end: end of the window, elements, exclusive.
        roi_shape: size of the window, elements.
        roi_start: start of the window, elements.
        use_o_direct: without effect.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the array in C order and this machine's byte order. Only numbers and booleans are read;
    pickled objects are an error.

    Parity: DALI reads only format version 1.0, little-endian elements, and headers formatted as NumPy writes them.
    This reader also accepts versions 2.0 and 3.0, big-endian elements, and headers with any spacing. In a `file_list`,
    DALI takes empty lines as names, and carriage returns as parts of names.

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
    """Packs documents into rows of one length. Documents are token sequences, or texts to tokenize.

    A row is a sample. Documents are taken in the order of their reader. Each window of `window` documents is packed
    separately, longest first. So the rows depend only on the lengths and the order of the documents, and every run
    has the same rows at the same step. A run resumes from any state with any number of shards; new weights of a mixture
    apply from the next window on. No document is lost, and none comes twice in a pass. All shards must resume from the
    same step.

    Building the pipeline reads and tokenizes each document once to find its length. Lengths are cached on disk if
    `paths` or `path` names all files, as for Parquet, Arrow, TFRecord, WebDataset, and mixtures of these.

    Args:
        documents: all outputs of a reader or of `readers.mix`: tokens with one axis, and further outputs of the same
            length; with `tokenizer`, a single output of texts. Outside of a pipeline's definition, a pair of the
            reader's name and its arguments.
        length: length of a row, tokens; see `long_documents`.
        add_special_tokens, bos, eos, tokenizer: arguments of `tokenize`, for texts; `tokenizer` None: documents are
            tokens, to which nothing is added.
        continue_positions: positions count through all pieces of a document; otherwise they start at 0 in each piece.
        lengths: number of tokens of each document of the data set, such as a column of a table; for a mixture, the
            numbers of all sources, one source after another. Building the pipeline then reads no documents. If
            documents are longer than stated and do not fit into their row, the row is a bad sample.
        long_documents: "truncate" cuts documents that are longer than a row; "split" divides them
            into pieces of `length` and a rest, each packed as a document with its own segment id.
        num_shards: number of parts that the rows are divided into. The documents' reader must not be sharded.
        pad_id: token for padding after the last document of a row; the type of each output must hold it.
        seed: seed of a reader that shuffles without a seed of its own; -1: the pipeline's.
        shard_id: the part to read, 0 to `num_shards` - 1.
        strategy: "first_fit" puts a document into the first row with room, "best_fit" into the fullest row with room.
        window: number of documents to pack together; None: as many as fill 128 rows on average.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: each output of the documents, [length], padded; for each token, the number of its document in the row,
        from 1 on (empty documents are not counted), 0 for padding, int32 [length]; and for each token, its position in the
        document, int32 [length]. If the reader returns a dict, the last two outputs are named "segment_ids" and "positions".

    For iterators and `reader_meta`, an epoch has the rows of the first pass over the documents; a later shuffled pass
    may have a few rows more or less. In the `schedule` of a mixture, a step counts `batch_size` documents, not rows.
    A document that cannot be read makes its rows bad samples; `on_error` may replace them by other documents.

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
    """Reads several files for each sample, such as a picture and its mask: an output for each keyword, in call order.

    Each argument that is not listed below is a keyword: `paired(images="photos", masks="masks")` has two outputs. The
    value of a keyword is a folder, a pattern such as "photos/*.jpg", or a list of paths. Files with the same stem
    form a sample. In a folder, the stem is the path below the folder without its extension; in a list, the path below
    the common folder. In a pattern, the stem is the text that the wildcards match, so "*_photo.jpg" pairs with
    "*_mask.png". "**" matches any number of folders; hidden files are skipped. With `table`, the value of a keyword
    is the name of a column, and each row is a sample.

    Parity: DALI has no such reader.

    Args:
        file_root: folder that all paths are relative to; None: the working folder, or the folder of the CSV file. Files
            named in a table must lie below it.
        files: {keyword: value}, for keywords that equal names of arguments; their outputs come first.
        missing: for samples that lack a file: "error" raises when the pipeline is built, "skip" leaves them out.
        table: path of a CSV file whose first line names the columns, a DataFrame, or a dict of lists.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each keyword uint8 [bytes]. `Pipeline.reader_meta(name)["left_out"]` counts the samples that were left out.

    Example: jpegs, pngs = fn.readers.paired(images="pairs/images", masks="pairs/masks", random_shuffle=True)
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

    Only these columns are read, in whole row groups, once a pass over the data; `random_shuffle` mixes rows through a
    buffer of `initial_fill` rows. With `shuffle_after_epoch`, row groups that do not fit into `bytes_ahead` of
    `jdali.storage` are read again for each sample, so such files should have small row groups.

    A row with a null in one of the columns, or with ragged lists, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns; "." separates the names of nested fields. For a struct with a field "bytes", only
            this field is read; the Hugging Face Hub stores pictures and sounds in such structs.
        paths: paths of the files.
        filter: selects rows: an expression of `pyarrow.compute`, or conditions as in pandas,
            `[("label", "in", [1, 2])]`. Building the pipeline reads the columns that the filter names.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: an output for each column: uint8 [bytes] for bytes and strings, [] for numbers, [n, ...] for lists.

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
    """Reads sequences of images from folders; each folder holds the images of one stream.

    Images of a stream are ordered by the bytes of their names. Sequences stay within a stream. Incomplete
    sequences, hidden files and hidden folders are skipped.

    Args:
        file_root: parent of the folders.
        sequence_length: number of images in a sequence.
        image_type: RGB, BGR, GRAY, YCbCr or ANY_DATA.
        step: distance between the first images of consecutive sequences.
        stride: distance between consecutive images of a sequence.
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
    """Reads features from the records of TFRecord files: an output for each feature; `fn` returns a dict of the outputs.

    The CRC of each record is checked. Where a record has fewer elements than the feature's shape, the
    feature's default value fills the rest. A feature whose stored type differs from the declared type raises an error.

    Parity: DALI does not check CRCs, leaves missing elements undefined, and requires an index.

    Args:
        features: {name: `jdali.tfrecord.FixedLenFeature` or `VarLenFeature`}, the features to read.
        path: paths of the files.
        index_path: path of the index of each file, in the format of `tfrecord2idx`: each line has the offset and the
            size of a record. None: the index is made on first use and cached in the user's cache folder.
        use_o_direct: without effect.
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

    A row with a null in one of the columns is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns.
        frame: table of pandas, polars or pyarrow, or a dict of lists and arrays; it must not change.
        file_root: folder that holds all named files and that their names are relative to; None: the working
            folder.
        files: columns, among `columns`, whose values are names of files to read.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: an output for each column: uint8 [bytes] for files, bytes and strings, [] for numbers, [n, ...] for lists.

    Example:
        frame = {"name": ["building/china.jpg", "flower/flower.jpg"], "label": [0, 1]}
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

    TensorFlow is not needed. Files may be TFRecord, ArrayRecord or Parquet; `readers.tfrecord`,
    `readers.array_record` and `readers.parquet` describe how they are read. Pictures are not decoded: use
    `fn.decoders.image`. `Pipeline.reader_meta(name)["classes"]` has the class names of a feature of labels; with
    several such features, it is a dict of lists, by feature.

    A sequence of numbers is an array whose first axis is the sequence. Sequences of strings or pictures, and nested
    sequences of varying length, are not arrays, so they cannot be read. An example that lacks a feature, or has it in
    another shape, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        directory: folder of one version of the data set, such as "mnist/3.0.1"; it holds dataset_info.json.
        features: names of the features; "/" separates the names of nested ones ("objects/bbox").
        split: name of the split; `subset` and `fold` select parts of it.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each feature: uint8 [bytes] for pictures, texts and sound files, int64 [] for class labels, float32 [4] for
        boxes, and arrays of their type and shape for tensors, scalars and sequences (float64 is stored rounded to float32).

    Example: jpegs, labels = fn.readers.tfds(directory="set/1.0.0", features=["image", "label"], split="train")
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
        sequence_length: number of frames of a sequence.
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
        additional_decode_surfaces: without effect.
        channels: number of channels, which must be 3.
        dtype: UINT8 or FLOAT.
        file_list_frame_num: starts and ends in `file_list` are numbers of frames, not seconds since the first frame.
            Negative ones count from the end, and an end of 0 is the end of the video.
        file_list_include_preceding_frame: round the start of a part in `file_list` down to a frame, and its end up;
            False: round the start up, and the end down.
        normalized: values are from 0 to 1; otherwise from 0 to 255.
        pad_sequences: also return sequences that begin in the clip but lack frames at its end; frames of zeros fill them up.
        skip_vfr_check: without effect: variable frame rates are always read.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `dtype` [F, H, W, C]; then, if requested, the label, int32 [1], the frame numbers and the times.

    Parity: DALI decodes on a GPU and converts YCbCr to RGB in another way, so UINT8 values differ by a few units.

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

    The reader itself returns whole frames; `jdali.fn` and `jdali.dynamic` add a `resize` after it.

    Args:
        sequence_length: number of frames of a sequence.
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
        size: (height, width) or (depth, height, width), pixels, or one value for all sides. A size of 0 leaves the
            side to `mode`; a negative size mirrors the side. None: one of the following gives the size.
        resize_x: width, with the meaning of `size`.
        resize_y: height, with the meaning of `size`.
        resize_z: depth, with the meaning of `size`.
        resize_shorter: size of the shorter side, pixels; the aspect ratio is kept.
        resize_longer: size of the longer side, pixels; the aspect ratio is kept.
        mode: "default": sides without a size are scaled to keep the aspect ratio; "stretch": sides without a size do not
            change; "not_larger", "not_smaller": the aspect ratio is kept, and sizes are upper or lower limits.
        max_size: largest size of the sides, pixels: one value for all sides, or one per side; None: no limit.
        roi_start: start of the window to resize along each side, pixels; None: the whole image. Filters also read
            pixels around the window.
        roi_end: end of the window; a side is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sides; False: pixels.
        subpixel_scale: if a size is rounded, scale the window by the same factor, so that the scale is exact.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.
        additional_decode_surfaces: without effect.
        channels: number of channels, which must be 3.
        dtype: UINT8 or FLOAT.
        file_list_frame_num: starts and ends in `file_list` are numbers of frames, not seconds since the first frame.
            Negative ones count from the end, and an end of 0 is the end of the video.
        file_list_include_preceding_frame: round the start of a part in `file_list` down to a frame, and its end up;
            False: round the start up, and the end down.
        normalized: values are from 0 to 1; otherwise from 0 to 255.
        pad_sequences: also return sequences that begin in the clip but lack frames at its end; frames of zeros fill them up.
        skip_vfr_check: without effect: variable frame rates are always read.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the outputs of `readers.video`.

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
        resize_x: float | DataNode | None = None,
        resize_y: float | DataNode | None = None,
        resize_z: float | DataNode | None = None,
        resize_shorter: float | DataNode | None = None,
        resize_longer: float | DataNode | None = None,
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

    Consecutive files with the same name up to the first dot form a sample; the rest of the name
    is the extension. Links, folders and hidden files are skipped. Concatenated archives (`cat a.tar
    b.tar`) are read to the end. Sparse files, as `tar --sparse` stores them, cannot be read.

    Parity: without an index, DALI returns empty samples for hidden files and for an empty archive, does not read long
    names in PAX format, and reads only the first of concatenated archives. It skips sparse files, or returns wrong
    bytes for them.

    Args:
        ext: extension of each output. An entry may have several extensions, separated by ";". The output is then the
            sample's first file that has one of them.
        paths: paths of the archives.
        case_sensitive_extensions: distinguish upper and lower case in extensions.
        dtypes: element type of each output; None: uint8.
        index_paths: path of the index of each archive, in the format of `wds2idx`. None: the index is made on first
            use and cached in the user's cache folder.
        missing_component_behavior: treatment of a sample that lacks an output. "empty" or "": the output is
            an empty tensor; "skip": the sample is left out; "error": opening the reader raises an error.
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
    """Reads samples along an axis of Zarr arrays, or a window of each sample: an output for each array.

    It reads Zarr versions 2 and 3, including shards, from folders and URLs; chunks may be compressed by Blosc,
    Zstandard, LZ4, zlib, gzip or bz2. Chunks outside the window are not read. Consecutive samples share the decoded
    chunks, which are cached within `bytes_ahead` of `jdali.storage`. If chunks hold several samples, `random_shuffle`
    mixes samples through a buffer of `initial_fill` samples. A missing chunk has the fill value, as Zarr specifies.

    Parity: DALI has no such reader.

    Args:
        path: path of the folder of an array or of a group.
        array: names of the arrays in the group; "nested/images" is in a nested group. Empty: `path` is an array.
        axis: the axis of the samples in each array; -1: the last.
        roi_shape: shape of the window in each sample of the first array; default: up to the end of the sample.
        roi_start: start of the window, elements; default: 0.
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: for each array, its elements at one position of `axis`, without this axis: numbers or booleans.

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
