"""The example of every operator: its inputs, named in `sources.py`, and its arguments as a user writes them."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Example:
    """One call, from which a pipeline and a program with the pure function are written.

    Attributes:
        inputs: names of sources; of arguments that are inputs.
        args: keyword arguments, as Python.
        outputs: names of the results; empty: the first input's.
        pure_args: arguments of the pure function; None: `args`.
        statements: a pipeline in full, for what is no plain call; it binds `outputs`.
    """

    inputs: tuple[str, ...] = ()
    args: str = ""
    outputs: tuple[str, ...] = ()
    pure_args: str | None = None
    statements: str = ""


def _on(inputs: str, args: str = "", out: str = "", pure: str | None = None) -> Example:
    return Example(tuple(inputs.split()), args, tuple(out.split()), pure)


def _lines(out: str, *statements: str, inputs: str = "") -> Example:
    return Example(tuple(inputs.split()), outputs=tuple(out.split()), statements="\n".join(statements))


_IMAGES = {
    "brightness": _on("images", "brightness=1.5"),
    "brightness_contrast": _on("images", "brightness=1.2, contrast=0.6"),
    "clahe": _on("images", "tiles_x=8, tiles_y=8, clip_limit=3.0"),
    "color_space_conversion": _on("images", "image_type=types.RGB, output_type=types.GRAY"),
    "color_twist": _on("images", "hue=60.0, saturation=1.5, brightness=1.1"),
    "contrast": _on("images", "contrast=1.7"),
    "crop": _on("images", "crop=[100, 100], crop_pos_x=0.2, crop_pos_y=0.8"),
    "crop_mirror_normalize": _on(
        "images", 'crop=[128, 128], mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4], output_layout="CHW"'
    ),
    "debayer": _on("plane", "blue_position=[0, 0]", "colour"),
    "equalize": _on("images"),
    "erase": _on("images", 'anchor=[40, 60], shape=[60, 80], axis_names="HW", fill_value=128'),
    "experimental.dilate": _on("images", "mask_size=[7, 7]"),
    "experimental.erode": _on("images", "mask_size=[7, 7]"),
    "experimental.median_blur": _on("images", "window_size=[5, 5]"),
    "experimental.remap": _on("images map_x map_y"),
    "experimental.warp_perspective": _on(
        "images", "matrix=[1.0, 0.2, -20.0, 0.05, 1.1, -10.0, 0.0004, 0.0008, 1.0]"
    ),
    "fast_resize_crop_mirror": _on("images", "resize_shorter=120, crop=[100, 100], mirror=1"),
    "filter": _on("images kernel"),
    "flip": _on("images", "horizontal=1"),
    "gaussian_blur": _on("images", "sigma=3.0"),
    "grid_mask": _on("images", "tile=40, ratio=0.5, angle=0.4"),
    "hsv": _on("images", "hue=120.0, saturation=1.3"),
    "hue": _on("images", "hue=90.0"),
    "jitter": _on("images", "nDegree=8"),
    "jpeg_compression_distortion": _on("images", "quality=5"),
    "laplacian": _on("images", "window_size=5, dtype=types.UINT8, scale=0.2"),
    "multi_paste": _on(
        "images images",
        "output_size=[200, 300], in_anchors=[[0, 0], [40, 60]], shapes=[[100, 150], [90, 150]], "
        "out_anchors=[[0, 0], [105, 140]]",
    ),
    "pad": _on("images", 'axis_names="HW", align=256, fill_value=64'),
    "paste": _on("images", "ratio=1.5, fill_value=[30, 60, 90], paste_x=0.2, paste_y=0.8"),
    "random_resized_crop": _on("images", "size=[160, 160]"),
    "resize": _on("images", "size=[112, 112]"),
    "resize_crop_mirror": _on("images", "resize_shorter=120, crop=[100, 100], mirror=1"),
    "rotate": _on("images", "angle=20.0, fill_value=0"),
    "saturation": _on("images", "saturation=2.5"),
    "slice": _on("images", 'rel_start=[0.2, 0.1], rel_shape=[0.5, 0.6], axis_names="HW"'),
    "sphere": _on("images"),
    "tensor_resize": _on("images", "sizes=[60, 90], axes=[0, 1]"),
    "warp_affine": _on("images", "matrix=[1.0, 0.3, -20.0, 0.1, 0.9, 10.0], fill_value=0"),
    "water": _on("images", "ampl_x=20.0, ampl_y=5.0"),
    "random_crop_generator": _on("shape", "random_area=[0.3, 0.8]", "corner size"),
    "roi_random_crop": _on("", "crop_shape=[3, 4], roi_start=[2, 0], roi_end=[4, 8], in_shape=[9, 8]", "corner"),
    "ssd_random_crop": _on("images boxes box_labels", "num_attempts=20", "images boxes box_labels"),
    "noise.gaussian": _on("images", "stddev=40.0"),
    "noise.salt_and_pepper": _on("images", "prob=0.1"),
    "noise.shot": _on("images", "factor=20.0"),
}  # fmt: skip

_SOUNDS = {
    "audio_resample": _on("sound", "in_rate=16000, out_rate=8000"),
    "mel_filter_bank": _on("spectrogram", "sample_rate=16000.0, nfilter=40", "mel"),
    "mfcc": _on("mel", "n_mfcc=13", "coefficients"),
    "nonsilent_region": _on("sound", "cutoff_db=-30.0", "begin length"),
    "power_spectrum": _on("sound", "nfft=512", "power"),
    "preemphasis_filter": _on("sound", "preemph_coeff=0.97"),
    "spectrogram": _on("sound", "nfft=512, window_length=400, window_step=160", "spectrogram"),
    "to_decibels": _on("spectrogram", "multiplier=10.0, cutoff_db=-80.0"),
}

_SEQUENCES = {
    "optical_flow": _on("frames", "", "flow"),
    "per_frame": _lines(
        "frames",
        "angles = fn.external_source(lambda sample: np.float32([0, 10, 20, 30]), batch=False)",
        "frames = fn.rotate(frames, angle=fn.per_frame(angles), keep_size=True)",
        inputs="frames",
    ),
    "sequence_rearrange": _on("frames", "new_order=[3, 2, 1, 0]"),
}

_BOXES = {
    "bb_flip": _on("boxes", "ltrb=True, horizontal=1"),
    "bbox_paste": _on("boxes", "ltrb=True, ratio=1.5, paste_x=0.2, paste_y=0.8"),
    "bbox_rotate": _on(
        "boxes box_labels", "angle=20.0, input_shape=[480, 640], bbox_layout=\"xyXY\"", "boxes box_labels"
    ),
    "box_encoder": _on(
        "boxes box_labels", "anchors=[0.1, 0.2, 0.5, 0.7, 0.5, 0.3, 0.9, 0.9, 0.0, 0.0, 0.2, 0.2]",
        "encoded matched",
    ),
    "coord_flip": _on("points", "flip_x=1"),
    "random_bbox_crop": _on(
        "boxes box_labels", 'bbox_layout="xyXY", thresholds=[0.1, 0.5], scaling=[0.3, 1.0]',
        "anchor size boxes box_labels",
    ),
    "segmentation.random_mask_pixel": _on("mask", "foreground=1", "pixel"),
    "segmentation.random_object_bbox": _on("mask", "", "anchor size", ""),
    "segmentation.select_masks": _on("mask_ids polygons vertices", "", "polygons vertices"),
    "coord_transform": _on("points", "M=[0.0, -1.0, 1.0, 0.0], T=[0.5, 0.0]"),
    "transforms.combine": _lines(
        "matrix",
        "turn = fn.transforms.rotation(angle=30.0)",
        "move = fn.transforms.translation(offset=[10.0, 0.0])",
        "matrix = fn.transforms.combine(turn, move)",
    ),
    "transforms.crop": _on(
        "", "from_start=[0.0, 0.0], from_end=[1.0, 1.0], to_start=[0.25, 0.25], to_end=[0.75, 0.75]", "matrix"
    ),
    "transforms.rotation": _on("", "angle=30.0, center=[1.0, 1.0]", "matrix"),
    "transforms.scale": _on("", "scale=[2.0, 0.5]", "matrix"),
    "transforms.shear": _on("", "shear=[0.3, 0.0]", "matrix"),
    "transforms.translation": _on("matrix", "offset=[10.0, 5.0]"),
}  # fmt: skip

_TENSORS = {
    "cast": _on("numbers", "dtype=types.UINT8"),
    "cast_like": _on("numbers halves", "", "numbers"),
    "cat": _on("numbers others", "axis=0", "joined"),
    "element_extract": _on("numbers", "element_map=[1]", "element"),
    "expand_dims": _on("numbers", "axes=[0]"),
    "full": _on("seven", "shape=[2, 2]", "sevens"),
    "full_like": _on("numbers seven", "", "sevens"),
    "lookup_table": _on("classes", "keys=[0, 1, 2], values=[10.0, 20.0, 30.0]"),
    "one_hot": _on("classes", "num_classes=3"),
    "ones": _on("", "shape=[2, 3]", "ones"),
    "ones_like": _on("numbers", "", "ones"),
    "reinterpret": _on("numbers", "dtype=types.INT32", "bits"),
    "reshape": _on("numbers", "shape=[3, -1]"),
    "shapes": _on("images", "dtype=types.INT32", "sizes"),
    "squeeze": _on("row", "axes=[0, 1]"),
    "stack": _on("numbers others", "axis=0", "stacked"),
    "transpose": _on("images", "perm=[2, 0, 1]"),
    "zeros": _on("", "shape=[2, 3]", "zeros"),
    "zeros_like": _on("numbers", "", "zeros"),
    "constant": _on("", "fdata=[0.5, 1.5]", "numbers"),
    "normalize": _on("numbers", "axes=[1]"),
    "reductions.max": _on("numbers", "axes=[1]", "largest"),
    "reductions.mean": _on("images", "axes=[0, 1]", "mean"),
    "reductions.mean_square": _on("numbers", "axes=[1]", "squares"),
    "reductions.min": _on("numbers", "axes=[1]", "smallest"),
    "reductions.rms": _on("numbers", "axes=[1]", "rms"),
    "reductions.std_dev": _lines(
        "deviation",
        "mean = fn.reductions.mean(numbers)",
        "deviation = fn.reductions.std_dev(numbers, mean)",
        inputs="numbers",
    ),
    "reductions.sum": _on("numbers", "axes=[0]", "total"),
    "reductions.variance": _lines(
        "variance",
        "mean = fn.reductions.mean(numbers)",
        "variance = fn.reductions.variance(numbers, mean)",
        inputs="numbers",
    ),
    "random.beta": _on("", "alpha=2.0, beta=5.0, shape=[3]", "values"),
    "random.choice": Example(outputs=("value",), statements="value = fn.random.choice(5)", pure_args="5"),
    "random.coin_flip": _on("", "probability=0.3", "flip"),
    "random.normal": _on("", "mean=1.0, stddev=0.5, shape=[3]", "values"),
    "random.uniform": _on("", "range=[-1.0, 1.0], shape=[3]", "values"),
}

_DECODERS = {
    "decoders.audio": _on("wavs", "dtype=types.FLOAT, downmix=True", "sound rate"),
    "decoders.image": _on("jpegs", "output_type=types.RGB", "images"),
    "decoders.image_crop": _on("jpegs", "crop=[100, 100]", "images"),
    "decoders.image_random_crop": _on("jpegs", "random_area=[0.3, 0.8]", "images"),
    "decoders.image_slice": _on("jpegs anchor window", "", "images"),
    "decoders.inflate": _on("packed", "shape=[2, 3], dtype=types.FLOAT", "numbers"),
    "decoders.numpy": _on("npy", "", "numbers"),
    "decoders.video": _on("mp4", "sequence_length=4", "frames"),
    "experimental.decoders.video": _on("mp4", "sequence_length=4", "frames"),
    "peek_image_shape": _on("jpegs", "", "sizes"),
    "io.file.read": _on("path", "", "contents"),
}

_READERS = {
    "experimental.readers.fits": _on("", 'files=["a.fits", "b.fits"], hdu_indices=[1]', "table"),
    "experimental.readers.video": _on("", 'filenames=["clip.mp4"], sequence_length=4', "frames"),
    "readers.caffe": _on("", 'path="caffe_lmdb"', "jpegs labels"),
    "readers.caffe2": _on("", 'path="caffe2_lmdb"', "jpegs labels"),
    "readers.coco": _on(
        "", 'file_root="coco", annotations_file="coco/instances.json", ltrb=True, ratio=True', "jpegs boxes labels"
    ),
    "readers.file": _on("", 'file_root="photos", random_shuffle=True', "jpegs labels"),
    "readers.mxnet": _on("", 'path=["data.rec"]', "jpegs labels"),
    "readers.nemo_asr": _on(
        "", 'manifest_filepaths=["manifest.json"], sample_rate=8000, read_sample_rate=True', "sound rate text"
    ),
    "readers.numpy": _on("", 'file_root="arrays", file_filter="*.npy"', "numbers"),
    "readers.sequence": _on("", 'file_root="frames", sequence_length=4', "frames"),
    "readers.tfrecord": _lines(
        "jpegs labels",
        'features = {"image": tfrec.FixedLenFeature((), tfrec.string, ""), "label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}',
        'record = fn.readers.tfrecord(path="data.tfrecord", features=features)',
        'jpegs, labels = record["image"], record["label"]',
    ),
    "readers.video": _on("", 'filenames=["clip.mp4"], sequence_length=4', "frames"),
    "readers.video_resize": _on("", 'filenames=["clip.mp4"], sequence_length=4, size=[24, 32]', "frames"),
    "readers.webdataset": _on("", 'paths=["shard.tar"], ext=["jpg", "scores"]', "jpegs scores"),
}  # fmt: skip

_FLOW = {
    "batch_permutation": _on("", "", "order"),
    "copy": _on("boxes"),
    "dl_tensor_python_function": _lines(
        "numbers",
        "numbers = fn.dl_tensor_python_function(",
        "    numbers, function=lambda capsule: capsule, batch_processing=False",
        ")",
        inputs="numbers",
    ),
    "dump_image": _on("images", 'suffix="made"'),
    "experimental.inputs.video": _lines(
        "frames", 'frames = fn.experimental.inputs.video(name="films", sequence_length=4)'
    ),
    "external_source": _lines(
        "numbers",
        "numbers = fn.external_source(lambda sample: np.float32([sample.idx_in_epoch, 0.5]), batch=False)",
    ),
    "get_property": _on("images", 'key="layout"', "layout"),
    "permute_batch": _on("images", "indices=fn.batch_permutation()"),
    "python_function": _lines(
        "doubled",
        "doubled = fn.python_function(numbers, function=lambda array: array * 2)",
        inputs="numbers",
    ),
}

EXAMPLES: dict[str, Example] = {
    **_IMAGES, **_SOUNDS, **_SEQUENCES, **_BOXES, **_TENSORS, **_DECODERS, **_READERS, **_FLOW,
}  # fmt: skip
