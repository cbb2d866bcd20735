"""Wrong calls of everything that is no operator of a graph: the words of their errors are compared with DALI's.

A row of `CALLS` is an area, what is wrong, and the call, which gets a `Library`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from support.wrong_calls import Library

Call = Callable[[Library], Any]
CALLS: dict[str, Call] = {}


def f32(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int)).astype(np.float32).reshape(shape)


def u8(*shape: int) -> np.ndarray:
    return f32(*shape).astype(np.uint8)


def add(area: str, calls: Mapping[str, Any] | None = None, **more: Any) -> None:
    CALLS.update(
        {f"{area}: {name.replace('_', ' ')}": call for name, call in {**(calls or {}), **more}.items()}
    )


def in_graph(calls: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Calls that define a graph, which is then run."""
    return {name: functools.partial(run, call) for name, call in {**(calls or {}), **more}.items()}


def run(call: Any, d: Library) -> None:
    d.run(call)


def pipe_of(d: Library, define: Call | None = None, built: bool = True, **options: Any) -> Any:
    """A pipeline of one output."""
    pipe = d.pipeline(**({"batch_size": 2, "num_threads": 1, "device_id": None, "seed": 1} | options))
    with pipe:
        pipe.set_outputs((define or (lambda d: d.feed(f32(2))))(d))
    if built:
        pipe.build()
    return pipe


def tensor(d: Library, value: Any, **options: Any) -> Any:
    return d.part("tensors").TensorCPU(value, **options)


def batch(d: Library, value: Any, **options: Any) -> Any:
    return d.part("tensors").TensorListCPU(value, **options)


def image() -> np.ndarray:
    return u8(4, 5, 3)


def noise(size: int) -> np.ndarray:
    return np.frombuffer(bytes(range(251)) * (size // 251 + 1), np.uint8)[:size]


# --- decoders ------------------------------------------------------------------------------------
DAMAGED = {
    "empty": np.zeros(0, np.uint8),
    "noise": noise(600),
    "jpeg_cut": np.frombuffer(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01", np.uint8),
    "png_cut": np.frombuffer(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", np.uint8),
    "riff": np.frombuffer(b"RIFF\x00\x00\x00\x00WAVEfmt ", np.uint8),
}
for _name, _data in DAMAGED.items():
    for _op in ("image", "image_crop", "image_random_crop", "audio", "video", "numpy"):
        _more: dict[str, Any] = {"crop": (2, 2)} if _op == "image_crop" else {}
        add(f"decoders.{_op}", in_graph({
            _name: lambda d, o=_op, x=_data, m=_more: d.as_one(getattr(d.fn.decoders, o)(d.feed(x), **m)),
        }))  # fmt: skip
    add("peek_image_shape", in_graph({_name: lambda d, x=_data: d.fn.peek_image_shape(d.feed(x))}))
add("decoders.image", in_graph(
    floats=lambda d: d.fn.decoders.image(d.feed(f32(9))),
    two_axes=lambda d: d.fn.decoders.image(d.feed(u8(3, 3))),
    output_type=lambda d: d.fn.decoders.image(d.feed(u8(9)), output_type=99),
    output_type_text=lambda d: d.fn.decoders.image(d.feed(u8(9)), output_type="RGB"),
    dtype=lambda d: d.fn.decoders.image(d.feed(u8(9)), dtype=d.types.STRING),
    no_input=lambda d: d.fn.decoders.image(),
    device=lambda d: d.fn.decoders.image(d.feed(u8(9)), device="tpu"),
    unknown=lambda d: d.fn.decoders.image(d.feed(u8(9)), foo=1),
))  # fmt: skip
add("decoders.audio", in_graph(
    floats=lambda d: d.as_one(d.fn.decoders.audio(d.feed(f32(9)))),
    two_axes=lambda d: d.as_one(d.fn.decoders.audio(d.feed(u8(3, 3)))),
    dtype=lambda d: d.as_one(d.fn.decoders.audio(d.feed(u8(9)), dtype=d.types.UINT8)),
    quality=lambda d: d.as_one(d.fn.decoders.audio(d.feed(u8(9)), quality=200.0)),
))  # fmt: skip
add("decoders.video", in_graph(
    floats=lambda d: d.fn.decoders.video(d.feed(f32(9))),
    two_axes=lambda d: d.fn.decoders.video(d.feed(u8(3, 3))),
    frames_and_stride=lambda d: d.fn.decoders.video(d.feed(noise(99)), frames=[0], stride=2),
    negative_stride=lambda d: d.fn.decoders.video(d.feed(noise(99)), stride=-1),
    pad_mode=lambda d: d.fn.decoders.video(d.feed(noise(99)), sequence_length=3, pad_mode="foo"),
    no_end=lambda d: d.fn.decoders.video(d.feed(noise(99)), start_frame=3, end_frame=1),
    length=lambda d: d.fn.decoders.video(d.feed(noise(99)), sequence_length=0),
    frames_of_floats=lambda d: d.fn.decoders.video(d.feed(noise(99)), frames=[0.5]),
))  # fmt: skip
add("io.file.read", in_graph(
    missing=lambda d: d.fn.io.file.read(d.feed(np.frombuffer(b"/nowhere.bin", np.uint8))),
    floats=lambda d: d.fn.io.file.read(d.feed(f32(3))),
    two_axes=lambda d: d.fn.io.file.read(d.feed(u8(3, 3))),
))  # fmt: skip


# --- readers -------------------------------------------------------------------------------------
def file(name: str, content: bytes) -> str:
    """A file of these bytes, whose name both processes write alike."""
    import tempfile

    path = Path(tempfile.gettempdir()) / "jdali-refused" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return str(path)


def read(d: Library, reader: str, **options: Any) -> Any:
    found: Any = d.fn
    for part in reader.split("."):
        found = getattr(found, part)
    return d.as_one(found(**options))


def _read_video(reader: str, more: Any, options: Any, d: Library) -> Any:
    return read(d, reader, **{**more, **options})


for _reader in ("experimental.readers.video", "readers.video", "readers.video_resize"):
    _more = {"sequence_length": 1, "resize_x": 4} if "resize" in _reader else {"sequence_length": 1}
    for _what, _options in {
        "nothing": {}, "two_sources": {"filenames": ["a"], "file_root": "/"}, "missing": {"filenames": ["/nowhere.mp4"]},
        "no_names": {"filenames": []}, "length": {"filenames": ["/nowhere.mp4"], "sequence_length": 0},
        "step": {"filenames": ["/nowhere.mp4"], "step": 0}, "stride": {"filenames": ["/nowhere.mp4"], "stride": 0},
        "shards": {"filenames": ["/nowhere.mp4"], "num_shards": 0}, "dtype": {"filenames": ["/nowhere.mp4"], "dtype": 99},
        "labels": {"filenames": ["/nowhere.mp4"], "labels": [1, 2]}, "list": {"file_list": "/nowhere.txt"},
        "root": {"file_root": "/nowhere"}, "image_type": {"filenames": ["/nowhere.mp4"], "image_type": 2},
        "no_length": {"filenames": ["/nowhere.mp4"], "sequence_length": None},
        "pad_mode": {"filenames": ["/nowhere.mp4"], "pad_mode": "foo"},
        "unknown": {"filenames": ["/nowhere.mp4"], "foo": 1},
    }.items():  # fmt: skip
        if _what == "pad_mode" and "experimental" not in _reader:
            continue
        add(_reader, in_graph({_what: functools.partial(_read_video, _reader, _more, _options)}))
for _what, _content in {"not_a_video": b"abc" * 99, "empty": b""}.items():
    add("experimental.readers.video", in_graph({
        _what: lambda d, w=_what, c=_content: read(
            d, "experimental.readers.video", filenames=[file(f"{w}.mp4", c)], sequence_length=1),
    }))  # fmt: skip
for _what, _text in {
    "list_of_words": "a b c d\n", "list_of_names": "/nowhere.mp4\n", "list_empty": "",
    "list_frames": "/nowhere.mp4 0 5 3\n", "list_no_label": "/nowhere.mp4 x\n",
}.items():  # fmt: skip
    add("experimental.readers.video", in_graph({
        _what: lambda d, w=_what, t=_text: read(
            d, "experimental.readers.video", file_list=file(f"{w}.txt", t.encode()), sequence_length=1),
    }))  # fmt: skip
add("readers.mxnet", in_graph(
    empty_index=lambda d: read(d, "readers.mxnet", path=[file("a.rec", b"abc" * 9)], index_path=[file("e.idx", b"")]),
    index_of_words=lambda d: read(d, "readers.mxnet", path=[file("a.rec", b"abc" * 9)], index_path=[file("w.idx", b"a b\n")]),
    missing=lambda d: read(d, "readers.mxnet", path=["/nowhere.rec"], index_path=["/nowhere.idx"]),
    missing_data=lambda d: read(d, "readers.mxnet", path=["/nowhere.rec"], index_path=[file("o.idx", b"0\t0\n")]),
    no_path=lambda d: read(d, "readers.mxnet", path=[], index_path=[]),
))  # fmt: skip
add("readers.tfrecord", in_graph(
    missing=lambda d: read(d, "readers.tfrecord", path=["/nowhere"], index_path=["/nowhere"], features={}),
    empty_index=lambda d: read(d, "readers.tfrecord", path=[file("a.tfr", b"abc")], index_path=[file("e.idx", b"")], features={
        "a": d.part("tfrecord").FixedLenFeature((), d.part("tfrecord").int64, 0)}),
    counts=lambda d: read(d, "readers.tfrecord", path=["/nowhere", "/nowhere"], index_path=["/nowhere"], features={
        "a": d.part("tfrecord").FixedLenFeature((), d.part("tfrecord").int64, 0)}),
    damaged=lambda d: read(d, "readers.tfrecord", path=[file("a.tfr", b"abc" * 20)], index_path=[file("o.idx", b"0 30\n")],
        features={"a": d.part("tfrecord").FixedLenFeature((), d.part("tfrecord").int64, 0)}),
    no_features=lambda d: read(d, "readers.tfrecord", path=["/nowhere"], index_path=["/nowhere"]),
    features_text=lambda d: read(d, "readers.tfrecord", path=["/nowhere"], index_path=["/nowhere"], features={"a": "b"}),
    feature_type=lambda d: d.part("tfrecord").FixedLenFeature((), "foo", 0),
    feature_default=lambda d: d.part("tfrecord").FixedLenFeature((), d.part("tfrecord").int64, "a"),
))  # fmt: skip
add("readers.file", in_graph(
    no_arguments=lambda d: read(d, "readers.file"),
    labels=lambda d: read(d, "readers.file", files=["a"], labels=[1, 2]),
    list_missing=lambda d: read(d, "readers.file", file_list="/nowhere.txt"),
    root_missing=lambda d: read(d, "readers.file", file_root="/nowhere"),
    list_and_files=lambda d: read(d, "readers.file", files=["a"], file_list="/nowhere.txt"),
    shard=lambda d: read(d, "readers.file", files=["a"], shard_id=5, num_shards=2),
    fill=lambda d: read(d, "readers.file", files=["a"], random_shuffle=True, initial_fill=0),
    files_number=lambda d: read(d, "readers.file", files=3),
    root_number=lambda d: read(d, "readers.file", file_root=3),
    text_for_number=lambda d: read(d, "readers.file", files=["a"], num_shards="two"),
    device=lambda d: read(d, "readers.file", files=["a"], device="gpu"),
    device_mixed=lambda d: read(d, "readers.file", files=["a"], device="mixed"),
    input=lambda d: d.as_one(d.fn.readers.file(d.feed(f32(2)), files=["a"])),
))  # fmt: skip
add("readers.caffe", in_graph(
    missing=lambda d: read(d, "readers.caffe", path="/nowhere"), no_path=lambda d: read(d, "readers.caffe"),
    both=lambda d: read(d, "readers.caffe2", path="/nowhere"),
    label=lambda d: read(d, "readers.caffe2", path="/nowhere", label_type=9),
))  # fmt: skip
add("readers.coco", in_graph(
    missing=lambda d: read(d, "readers.coco", file_root="/", annotations_file="/nowhere.json"),
    not_json=lambda d: read(d, "readers.coco", file_root="/", annotations_file=file("a.json", b"abc")),
    a_list=lambda d: read(d, "readers.coco", file_root="/", annotations_file=file("l.json", b"[]")),
    empty=lambda d: read(d, "readers.coco", file_root="/", annotations_file=file("e.json", b"{}")),
))  # fmt: skip
add("readers.numpy", in_graph(
    missing=lambda d: read(d, "readers.numpy", files=["/nowhere.npy"]),
    noise=lambda d: read(d, "readers.numpy", files=[file("n.npy", b"abc" * 99)]),
    empty=lambda d: read(d, "readers.numpy", files=[file("e.npy", b"")]),
    cut=lambda d: read(d, "readers.numpy", files=[file("c.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr'")]),
    nothing=lambda d: read(d, "readers.numpy"),
    both_roi=lambda d: read(d, "readers.numpy", files=["/nowhere.npy"], roi_end=[1], roi_shape=[1]),
))  # fmt: skip
add("readers.nemo_asr", in_graph(
    missing=lambda d: read(d, "readers.nemo_asr", manifest_filepaths=["/nowhere.json"]),
    not_json=lambda d: read(d, "readers.nemo_asr", manifest_filepaths=[file("m.json", b"abc\n")]),
    empty=lambda d: read(d, "readers.nemo_asr", manifest_filepaths=[file("me.json", b"")]),
    dtype=lambda d: read(d, "readers.nemo_asr", manifest_filepaths=["/nowhere.json"], dtype=99),
))  # fmt: skip
add("readers.sequence", in_graph(
    no_root=lambda d: read(d, "readers.sequence", sequence_length=1),
    missing=lambda d: read(d, "readers.sequence", file_root="/nowhere", sequence_length=1),
    no_length=lambda d: read(d, "readers.sequence", file_root="/nowhere"),
))  # fmt: skip
add("readers.webdataset", in_graph(
    ext=lambda d: read(d, "readers.webdataset", paths="/nowhere.tar"),
    no_ext=lambda d: read(d, "readers.webdataset", paths="/nowhere.tar", ext=[]),
    index_missing=lambda d: read(d, "readers.webdataset", paths="/nowhere.tar", ext=["a"], index_paths=["/nowhere.idx"]),
    counts=lambda d: read(d, "readers.webdataset", paths=["/a.tar"], ext=["a"], index_paths=["/a", "/b"]),
    dtypes=lambda d: read(d, "readers.webdataset", paths=["/a.tar"], ext=["a"], dtypes=[d.types.INT32, d.types.INT32]),
    string=lambda d: read(d, "readers.webdataset", paths=["/a.tar"], ext=["a"], dtypes=[d.types.STRING]),
))  # fmt: skip

# --- arguments of any operator -------------------------------------------------------------------
add("arguments", in_graph(
    dtype_string=lambda d: d.fn.cast(d.feed(f32(2)), dtype=d.types.STRING),
    dtype_none=lambda d: d.fn.cast(d.feed(f32(2)), dtype=d.types.NO_TYPE),
    dtype_text=lambda d: d.fn.cast(d.feed(f32(2)), dtype="float"),
    dtype_number=lambda d: d.fn.cast(d.feed(f32(2)), dtype=99),
    dtype_string_crop=lambda d: d.fn.crop(d.feed(image()), crop=(2, 2), dtype=d.types.STRING),
    dtype_string_resize=lambda d: d.fn.resize(d.feed(image()), size=(2, 2), dtype=d.types.STRING),
    dtype_string_cmn=lambda d: d.fn.crop_mirror_normalize(d.feed(image()), dtype=d.types.STRING),
    dtype_string_slice=lambda d: d.fn.slice(d.feed(image()), start=(0,), end=(1,), axes=(0,), dtype=d.types.STRING),
    dtype_string_brightness=lambda d: d.fn.brightness(d.feed(image()), dtype=d.types.STRING),
    dtype_string_rotate=lambda d: d.fn.rotate(d.feed(image()), angle=3.0, dtype=d.types.STRING),
    dtype_string_normalize=lambda d: d.fn.normalize(d.feed(f32(2, 2)), dtype=d.types.STRING),
    dtype_string_one_hot=lambda d: d.fn.one_hot(d.feed(np.array([1, 2], np.int32)), dtype=d.types.STRING),
    dtype_string_constant=lambda d: d.fn.constant(fdata=[1.0], dtype=d.types.STRING),
    dtype_string_uniform=lambda d: d.fn.random.uniform(range=(0.0, 1.0), dtype=d.types.STRING),
    dtype_string_normal=lambda d: d.fn.random.normal(dtype=d.types.STRING),
    dtype_string_coin=lambda d: d.fn.random.coin_flip(dtype=d.types.STRING),
    dtype_string_sum=lambda d: d.fn.reductions.sum(d.feed(f32(2)), dtype=d.types.STRING),
    dtype_string_mean=lambda d: d.fn.reductions.mean(d.feed(f32(2)), dtype=d.types.STRING),
    dtype_string_zeros=lambda d: d.fn.zeros(shape=(2,), dtype=d.types.STRING),
    dtype_string_full=lambda d: d.fn.full(1, shape=(2,), dtype=d.types.STRING),
    dtype_string_lookup=lambda d: d.fn.lookup_table(d.feed(u8(2)), keys=[1], values=[1], dtype=d.types.STRING),
    dtype_string_reinterpret=lambda d: d.fn.reinterpret(d.feed(u8(16)), dtype=d.types.STRING),
    dtype_string_blur=lambda d: d.fn.gaussian_blur(d.feed(image()), sigma=1.0, dtype=d.types.STRING),
    dtype_string_warp=lambda d: d.fn.warp_affine(d.feed(image()), matrix=[1, 0, 0, 0, 1, 0], dtype=d.types.STRING),
    dtype_string_flip=lambda d: d.fn.flip(d.feed(image()), dtype=d.types.STRING),
    dtype_string_mfcc=lambda d: d.fn.audio_resample(d.feed(f32(9)), scale=2.0, dtype=d.types.STRING),
    dtype_string_multi_paste=lambda d: d.fn.multi_paste(d.feed(image()), output_size=(4, 4), dtype=d.types.STRING),
    device_text=lambda d: d.fn.crop(d.feed(image()), crop=(2, 2), device="tpu"),
    device_number=lambda d: d.fn.crop(d.feed(image()), crop=(2, 2), device=3),
    device_none=lambda d: d.fn.crop(d.feed(image()), crop=(2, 2), device=None),
    device_mixed=lambda d: d.fn.crop(d.feed(image()), crop=(2, 2), device="mixed"),
    device_support=lambda d: d.fn.copy(d.feed(image()), device="support"),
    device_of_uniform=lambda d: d.fn.random.uniform(device="mixed"),
    device_of_source=lambda d: d.fn.external_source(lambda: 1, device="mixed"),
    device_of_source_text=lambda d: d.fn.external_source(lambda: 1, device="foo"),
    device_of_python_function=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a, device="mixed"),
    device_of_constant=lambda d: d.types.Constant(1, device="foo") + d.feed(f32(2)),
    name_number=lambda d: d.fn.copy(d.feed(f32(2)), name=3),
    bytes_number=lambda d: d.fn.copy(d.feed(f32(2)), bytes_per_sample_hint="a"),
    preserve_text=lambda d: d.fn.copy(d.feed(f32(2)), preserve="a"),
    seed_text=lambda d: d.fn.random.uniform(seed="a"),
    seed_node=lambda d: d.fn.random.uniform(seed=d.feed(np.array([1], np.int32))),
    seed_float=lambda d: d.fn.random.uniform(seed=1.5),
    bool_text=lambda d: d.fn.crop_mirror_normalize(d.feed(image()), pad_output="yes"),
    int_for_text=lambda d: d.fn.reshape(d.feed(f32(4)), layout=3, shape=(4,)),
    list_for_text=lambda d: d.fn.reshape(d.feed(f32(4)), layout=["H"], shape=(4,)),
    list_of_text_for_numbers=lambda d: d.fn.crop(d.feed(image()), crop=("a", "b")),
    none_in_a_list=lambda d: d.fn.crop(d.feed(image()), crop=(2, None)),
    number_for_a_list=lambda d: d.fn.transpose(d.feed(image()), perm=object()),
    enum_text=lambda d: d.fn.resize(d.feed(image()), size=(2, 2), interp_type="linear"),
    enum_wrong=lambda d: d.fn.resize(d.feed(image()), size=(2, 2), interp_type=d.types.FLOAT),
    enum_number=lambda d: d.fn.resize(d.feed(image()), size=(2, 2), interp_type=99),
    image_type=lambda d: d.fn.color_space_conversion(d.feed(image()), image_type=99, output_type=d.types.GRAY),
    dict_for_number=lambda d: d.fn.brightness(d.feed(image()), brightness={}),
    list_for_a_number=lambda d: d.fn.brightness(d.feed(image()), brightness=[1.0, 2.0]),
    input_text=lambda d: d.fn.copy("a"),
    input_object=lambda d: d.fn.copy(object()),
    input_list=lambda d: d.fn.copy([d.feed(f32(2)), 1]),
    inputs_of_lists=lambda d: d.fn.cat([d.feed(f32(2))] * 2, [d.feed(f32(2))] * 3),
    node_for_text=lambda d: d.fn.reshape(d.feed(f32(4)), layout=d.feed(f32(4)), shape=(4,)),
    gpu_input_for_cpu=lambda d: d.fn.random.coin_flip(d.feed(f32(2)), foo=1),
    many_inputs=lambda d: d.fn.crop(d.feed(image()), d.feed(image()), crop=(2, 2)),
))  # fmt: skip
add("modules",
    fn=lambda d: d.fn.nothing, fn_readers=lambda d: d.fn.readers.nothing, types=lambda d: d.types.NOTHING,
    ops=lambda d: d.part("ops").Nothing, math=lambda d: d.math.nothing, package=lambda d: d.package.nothing)  # fmt: skip

# --- subscripts ----------------------------------------------------------------------------------
add("subscripts", in_graph(
    newaxis=lambda d: d.feed(image())[1:2, None],
    newaxis_object=lambda d: d.feed(image())[1:2, d.package.newaxis("AB")],
    newaxis_number=lambda d: d.feed(image())[d.package.newaxis(3)],
    name_without_layout=lambda d: d.feed(image())[d.package.newaxis("X")],
    only_new=lambda d: d.feed(image())[None],
    too_many=lambda d: d.feed(image())[0, 0, 0, 0],
    too_many_slices=lambda d: d.feed(image())[:, :, :, :],
    two_ellipses=lambda d: d.feed(image())[..., 0, ...],
    a_list=lambda d: d.feed(image())[[0, 1]],
    an_array=lambda d: d.feed(image())[np.array([0, 1])],
    a_float=lambda d: d.feed(image())[1.5],
    a_float_slice=lambda d: d.feed(image())["a":],
    a_node_of_floats=lambda d: d.feed(image())[d.feed(np.float32(1))],
    a_node_with_axes=lambda d: d.feed(image())[d.feed(np.array([1, 2], np.int32))],
    step_zero=lambda d: d.feed(image())[::0],
    step_negative=lambda d: d.feed(image())[::-1],
    step_node=lambda d: d.feed(image())[::d.feed(np.int32(0))],
    scalar=lambda d: d.feed(np.float32(1))[0],
    scalar_slice=lambda d: d.feed(np.float32(1))[:],
    out_of_range=lambda d: d.feed(image())[-5],
    nothing=lambda d: d.feed(image())[()],
    text=lambda d: d.feed(image())["a"],
    boolean=lambda d: d.feed(image())[True],
))  # fmt: skip
add("nodes", in_graph(
    iterate=lambda d: list(d.feed(image())),
    length=lambda d: len(d.feed(image())),
    integer=lambda d: int(d.feed(image())),
    number=lambda d: float(d.feed(image())),
    array=lambda d: d.fn.copy(np.asarray(d.feed(image()))),
    gpu_gpu_cpu=lambda d: d.feed(image()).foo,
    source_info=lambda d: d.feed(image()).source_info(3),
    property=lambda d: d.fn.get_property(d.feed(image()), key="foo"),
    shape_dtype=lambda d: d.feed(image()).shape(dtype=d.types.STRING),
    shape_float=lambda d: d.feed(image()).shape(dtype=d.types.FLOAT16),
    call=lambda d: d.feed(image())(),
    assign=lambda d: d.feed(image()).__setitem__(0, 1),
    matmul=lambda d: d.feed(image()) @ d.feed(image()),
    power_text=lambda d: d.feed(image()) ** "a",
    add_list=lambda d: d.feed(image()) + [1, 2],  # noqa: RUF005  it is the sum that is tried
    add_none=lambda d: d.feed(image()) + None,
    add_object=lambda d: object() + d.feed(image()),
    compare_text=lambda d: d.feed(image()) < "a",
    negative_bool=lambda d: -d.feed(np.zeros(2, bool)),
    shift=lambda d: d.feed(f32(2)) >> 1,
    modulo_zero=lambda d: d.feed(np.array([3], np.int32)) % 0,
    broadcast=lambda d: d.feed(f32(2, 3)) + d.feed(f32(4, 3)),
    shapes=lambda d: d.feed(f32(3)) * d.feed(f32(2)) + 1,
    math_text=lambda d: d.math.sin("a"),
    math_none=lambda d: d.math.pow(d.feed(f32(2)), None),
    clamp=lambda d: d.math.clamp(d.feed(f32(2)), "a", 1),
    bitwise_float=lambda d: d.feed(f32(2)) | 1,
    invert=lambda d: ~d.feed(f32(2)),
    half=lambda d: d.feed(np.array([1], np.float16)) * 2,
))  # fmt: skip
