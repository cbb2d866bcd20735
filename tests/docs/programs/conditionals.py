"""`if` in a pipeline's function, on flags of the sample, and the automatic augmentations that are made of it."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import augmentations, auto_augment, trivial_augment
from nvidia.dali.auto_aug.core import Policy, augmentation
from support.target import MIXED, device_id, keep


@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=2, device_id=device_id, seed=42)
def chosen():
    number = fn.external_source(lambda info: np.array(info.idx_in_batch, np.int32), batch=False)
    encoded, _ = fn.readers.file(file_root="images")
    image = fn.resize(fn.decoders.image(encoded, device=MIXED), size=(16, 24))
    if number == 0:
        image = fn.flip(image)
    elif number == 1 or number == 3:
        image = fn.brightness(image, brightness=1.5)
    if not number > 2 and number < 2:
        doubled = number + 1
    else:
        doubled = number * 2
    return image, doubled


pipe = chosen()
pipe.build()
image, doubled = pipe.run()
keep(image=image, doubled=doubled)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def turned(data, angle, fill_value=0):
    return fn.rotate(data, angle=angle, fill_value=fill_value, keep_size=True)


policy = Policy(
    name="ours",
    num_magnitude_bins=11,
    sub_policies=[[(turned, 0.8, 7)], [(augmentations.contrast, 0.5, 5)]],
)


@pipeline_def(enable_conditionals=True, batch_size=2, num_threads=2, device_id=device_id, seed=1)
def augmented():
    encoded, labels = fn.readers.file(file_root="images")
    image = fn.decoders.image(encoded, device=MIXED, output_type=types.RGB)
    image = fn.random_resized_crop(image, size=[16, 16], antialias=False)
    return auto_augment.apply_auto_augment(policy, image), labels


pipe = augmented()
pipe.build()
images, labels = pipe.run()
keep(labels=labels, shapes=[np.array(shape) for shape in images.shape()])
keep(names=[trivial_augment.trivial_augment_wide.__name__, policy.name])
