"""Dynamic mode: readers with paths, batches, tensors, arguments by sample, and a warp."""

from pathlib import Path

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.types as types
from support.target import GPU, keep

records = Path("records")
reader = ndd.readers.MXNet(path=[records / "train.rec"], index_path=[records / "train.idx"])
for encoded, labels in reader.next_epoch(batch_size=3):
    images = ndd.decoders.image(encoded, device=GPU)
    resized = ndd.resize(images, resize_shorter=32.0)
    output = ndd.crop_mirror_normalize(
        resized, dtype=ndd.float32, crop=(24, 24), mean=[0.0] * 3, std=[1.0] * 3
    )
    keep(output=[np.asarray(sample.cpu()) for sample in output], labels=labels)
    break

reader = ndd.readers.Webdataset(
    paths=records / "train.tar", ext=["jpg;png", "cls"], missing_component_behavior="error"
)
encoded, _ = next(reader.next_epoch(batch_size=2))
images = ndd.decoders.image(encoded, output_type=types.GRAY)
keep(blurred=ndd.gaussian_blur(images, sigma=0.6))

slices = ndd.readers.Numpy(file_root=Path("slices"), file_filter="*.npy", roi_start=[1, 2], roi_end=[9, 9])
for batch in slices.next_epoch(batch_size=2):
    keep(slices=batch[0] if isinstance(batch, tuple) else batch)
    break

image = images.select(0)
matrix = ndd.as_tensor(np.float32([[0.9, 0.2, 3], [-0.1, 1.1, 2]]))
keep(warped=np.asarray(ndd.warp_affine(image, matrix, size=(30, 30), fill_value=7).cpu()))
keep(bright=ndd.brightness(images, brightness=ndd.batch([0.5, 1.5])))
