"""Augmentations of pictures by functions and by the classes of `ops`, decoders of regions, resizing and warping."""

import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from support.target import GPU, MIXED, device_id, keep


class Colors(Pipeline):
    def __init__(self):
        super().__init__(2, 2, device_id=device_id)
        rgb = types.RGB
        self.input = ops.readers.File(device="cpu", file_root="images")
        self.decode = ops.decoders.Image(device=MIXED, output_type=rgb)
        self.gray = ops.ColorSpaceConversion(device=GPU, image_type=rgb, output_type=types.GRAY)
        self.hsv = ops.Hsv(device=GPU, hue=120, saturation=1, value=0.4)
        self.change = ops.BrightnessContrast(device=GPU, brightness=-0.5, contrast=-1.5)

    def define_graph(self):
        encoded, _ = self.input()
        image = self.decode(encoded)
        return self.gray(image), self.hsv(image), self.change(image)


pipe = Colors()
pipe.build()
keep(**{f"color{i}": output for i, output in enumerate(pipe.run())})


@pipeline_def(batch_size=2, num_threads=2, device_id=device_id)
def gallery():
    encoded, _ = fn.readers.file(file_root="images")
    image = fn.decoders.image(encoded, device=MIXED)
    matrix = fn.transforms.rotation(angle=-35.0, center=(20, 15))
    matrix = fn.transforms.scale(matrix, scale=[1.2, 0.8])
    return (
        fn.rotate(image, angle=30, fill_value=0),
        fn.warp_affine(image, matrix, fill_value=0, inverse_map=False),
        fn.resize(image, size=[50, 60], mode="not_larger"),
        fn.color_twist(image, hue=15.0, saturation=1.2, brightness=0.9, contrast=1.1),
        fn.erase(image, anchor=(5, 8, 20, 22), shape=(6, 7, 10, 9), axis_names="HW", fill_value=(9, 8, 7)),
        fn.decoders.image_crop(encoded, device=MIXED, crop=(20, 24)),
        fn.decoders.image_slice(encoded, device=MIXED, start=(10,), end=(20,), axes=(0,)),
        fn.peek_image_shape(encoded),
    )


pipe = gallery()
pipe.build()
keep(**{f"gallery{i}": output for i, output in enumerate(pipe.run())})
