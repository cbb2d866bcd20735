"""Iterators that programs write themselves: over the queue of a pipeline, and over DALI's base class with a `reset` of
their own, as loaders for self-supervised training have it.
"""

import warnings

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.base_iterator import LastBatchPolicy, _DaliBaseIterator
from support.target import device_id, keep

warnings.simplefilter("ignore")
FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL


# --- over the queue of a pipeline ---------------------------------------------------------------
class Boxes(Pipeline):
    """Boxes and labels of objects."""

    def __init__(self):
        super().__init__(batch_size=3, num_threads=1, device_id=device_id, prefetch_queue_depth=2)

    def define_graph(self):
        _, boxes, labels = fn.readers.coco(
            file_root="coco", annotations_file="coco/instances.json", ltrb=True, ratio=True
        )
        return boxes, labels


class Detections:
    """Goes through 8 samples, and has the queue filled for each batch."""

    def __init__(self, pipe):
        self.pipe, self.count = pipe, 0
        pipe.build()
        self.first = self.following()

    def following(self):
        self.pipe._prefetch()
        found = [[np.array(output.at(i)) for i in range(3)] for output in self.pipe.share_outputs()]
        self.pipe.release_outputs()
        self.pipe.schedule_run()
        return found

    def __iter__(self):
        return self

    def __next__(self):
        if self.first is not None:
            batch, self.first = self.first, None
        elif self.count >= 8:
            self.count %= 8
            raise StopIteration
        else:
            batch = self.following()
        self.count += 3
        return batch


detections = Detections(Boxes())
for epoch in range(3):
    for number, (boxes, labels) in enumerate(detections):
        keep(**{f"boxes{epoch}.{number}": boxes, f"labels{epoch}.{number}": labels})

pipe = Boxes()
pipe.build()
pipe._run()
for number in range(3):
    keep(**{f"old{number}": [np.array(output.at(0)) for output in pipe._outputs()]})
    pipe._release_outputs()
    pipe._run()


# --- over the base class ----------------------------------------------------------------------
class Arrays(_DaliBaseIterator):
    """Gives a dict of arrays for each pipeline, as the iterators of frameworks do."""

    def __init__(self, pipelines, output_map, **options):
        super().__init__(pipelines, **options)
        self.output_map = output_map

    def __next__(self):
        outputs = self._get_outputs()
        batches = [
            {name: np.array(output.as_tensor()) for name, output in zip(self.output_map, own, strict=True)}
            for own in outputs
        ]
        self._schedule_runs()
        self._advance_and_check_drop_last()
        shorter, left = self._remove_padded()
        if np.any(shorter):
            batches = [
                {name: array[:count] for name, array in batch.items()}
                for batch, count in zip(batches, left, strict=True)
            ]
        return batches


class Repaired(Arrays):
    """Has the end of an epoch of a later version of DALI."""

    def _advance_and_check_drop_last(self, dry_run=False, end_iteration=True):
        step = self.batch_size * (1 if self._reader_name else self._num_gpus)
        after, over = self._counter + step, False
        if self._last_batch_policy == DROP:
            over = (
                np.any(after + self._counter_per_gpu > self._shard_sizes_per_gpu)
                if self._reader_name
                else after > self._size
            )
        if not dry_run:
            self._counter = after
            if over and end_iteration:
                self._end_iteration()
        return over

    def reset(self):
        ended = 0 < self._size <= self._counter
        if self._last_batch_policy == DROP and not ended and self._advance_and_check_drop_last(dry_run=True):
            self._get_outputs()
            self._schedule_runs()
            self._advance_and_check_drop_last(end_iteration=False)
        if self._counter < self._size:
            return
        runs_on = self._last_batch_policy == FILL and not self._last_batch_padded
        if not runs_on:
            self._counter = 0
        elif self._reader_name:
            drawn = self._counter - min(self._counter_per_gpu)
            self._counter_per_gpu = self._counter_per_gpu + drawn - self._shard_sizes_per_gpu
            self._counter = min(self._counter_per_gpu)
        else:
            self._counter %= self._size
        if self._reader_name and not self._is_stick_to_shard:
            self._shards_id = (self._shards_id + 1) % self._shards_num
            if runs_on:
                self._shard_sizes_per_gpu = np.roll(self._shard_sizes_per_gpu, 1)
        if self._reader_name and runs_on:
            left = max(self._shard_sizes_per_gpu - self._counter_per_gpu)
            self._size = -(-left // self.batch_size) * self.batch_size
        for one in self._pipes:
            one.reset()
            if one.empty():
                with one._check_api_type_scope(types.PipelineAPIType.ITERATOR):
                    one.schedule_run()


class Validation(Repaired):
    """Pictures and labels."""

    def __next__(self):
        batch = super().__next__()[0]
        return batch["x"], batch["label"].squeeze(-1).astype(np.int64)


class Training(Validation):
    """As many batches as fit in a shard."""

    def __len__(self):
        size = self._size_no_pad // self._shards_num if self._last_batch_policy == DROP else self.size
        return size // self.batch_size


class Pretraining(Repaired):
    """Two views of each picture, and its number."""

    def __next__(self):
        batch = super().__next__()[0]
        *views, numbers = (batch[name] for name in self.output_map)
        return numbers.squeeze(-1), views


@pipeline_def(batch_size=3, num_threads=2, device_id=device_id)
def pictures(views, shard_id=0, num_shards=1, pad=False):
    encoded, label = fn.readers.file(
        file_root="images", name="Reader", shard_id=shard_id, num_shards=num_shards, pad_last_batch=pad
    )
    image = fn.decoders.image(encoded, device="cpu")
    crops = [
        fn.crop_mirror_normalize(
            image, crop=(16, 16), crop_pos_x=0.25 * i, mirror=i, dtype=types.FLOAT, output_layout="CHW"
        )
        for i in range(views)
    ]
    return (*crops, label)


MODES = {
    "validation": (Validation, 1, PARTIAL, {"pad": True}),
    "validation of a shard": (Validation, 1, PARTIAL, {"num_shards": 3, "shard_id": 1}),
    "training": (Training, 1, DROP, {"num_shards": 2}),
    "pretraining": (Pretraining, 2, DROP, {}),
    "pretraining of a shard": (Pretraining, 2, FILL, {"num_shards": 3, "shard_id": 2}),
}
POSITION = ("_counter", "_size", "_counter_per_gpu", "_shard_sizes_per_gpu", "_shards_id", "_shards_num")
for mode, (kind, views, policy, options) in MODES.items():
    for ends in (True, False):  # or as many batches as the loader says that there are
        outputs = (
            ["x", "label"] if kind is not Pretraining else [*(f"view{i}" for i in range(views)), "label"]
        )
        loader = kind(
            [pictures(views, **options)],
            outputs,
            reader_name="Reader",
            last_batch_policy=policy,
            auto_reset=ends,
        )
        for epoch in range(3):
            length, numbers = len(loader), []
            for number, (first, second) in enumerate(loader):
                keep(**{f"{mode} {ends} {epoch}.{number}": [first, *second]})
                numbers.append(number)
                if not ends and number + 1 == length:
                    break
            assert numbers, mode
            if not ends:
                loader.reset()
            position = [np.asarray(getattr(loader, name)).astype(np.int64) for name in POSITION]
            keep(**{f"{mode} {ends} {epoch} ends": position})
