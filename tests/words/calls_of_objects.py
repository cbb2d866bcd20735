"""Wrong calls of pipelines, batches and types; rows as in `words.calls`."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.wrong_calls import Library
from words.calls import CALLS, add, batch, f32, in_graph, pipe_of, tensor, u8

__all__ = ["CALLS"]


# --- external_source and python_function ---------------------------------------------------------
def source(d: Library, *arguments: Any, **options: Any) -> Any:
    return d.as_one(d.fn.external_source(*arguments, **options))


def broken(*_: Any) -> Any:
    raise LookupError("of the user's")


add("external_source", in_graph(
    none=lambda d: source(d, lambda: None),
    text=lambda d: source(d, lambda: "abc"),
    numbers=lambda d: source(d, lambda: [1, 2]),
    number=lambda d: source(d, lambda: 1),
    too_many=lambda d: source(d, lambda: f32(3, 2)),
    ranks=lambda d: source(d, lambda: [f32(2), f32(2, 2)]),
    types=lambda d: source(d, lambda: [f32(2), u8(2)]),
    layout=lambda d: source(d, lambda: f32(2, 2), layout="HWC"),
    ndim=lambda d: source(d, lambda: f32(2, 2), ndim=3),
    ndim_layout=lambda d: source(d, lambda: f32(2, 2), ndim=3, layout="HW"),
    negative_ndim=lambda d: source(d, lambda: f32(2, 2), ndim=-1),
    dtype=lambda d: source(d, lambda: f32(2, 2), dtype=d.types.UINT8),
    dtype_string=lambda d: source(d, lambda: f32(2, 2), dtype=d.types.STRING),
    dtype_text=lambda d: source(d, lambda: f32(2, 2), dtype="uint8"),
    dtypes=lambda d: source(d, lambda: [f32(2, 2)], num_outputs=1, dtype=[d.types.UINT8] * 2),
    ndims=lambda d: source(d, lambda: [f32(2, 2)], num_outputs=1, ndim=[1, 2]),
    layouts=lambda d: source(d, lambda: [f32(2, 2)], num_outputs=1, layout=["H", "W"]),
    outputs=lambda d: source(d, lambda: (f32(2, 2), f32(2, 2)), num_outputs=3),
    outputs_zero=lambda d: source(d, lambda: (f32(2, 2),), num_outputs=0),
    outputs_negative=lambda d: source(d, lambda: (f32(2, 2),), num_outputs=-1),
    outputs_text=lambda d: source(d, lambda: (f32(2, 2),), num_outputs="two"),
    raises=lambda d: source(d, broken),
    raises_by_sample=lambda d: source(d, broken, batch=False),
    objects=lambda d: source(d, lambda: [object(), object()]),
    ragged=lambda d: source(d, lambda: [[1], [1, 2]]),
    complex=lambda d: source(d, lambda: np.zeros((2, 2), complex)),
    strings=lambda d: source(d, lambda: np.array(["a", "b"])),
    by_sample_none=lambda d: source(d, lambda i: None, batch=False),
    by_sample_text=lambda d: source(d, lambda i: "abc", batch=False),
    parallel_lambda=lambda d: source(d, lambda i: f32(2), batch=False, parallel=True),
    parallel_iterable=lambda d: source(d, iter([f32(2)]), batch=False, parallel=True),
    parallel_nothing=lambda d: source(d, parallel=True),
    name_twice=lambda d: [source(d, name="a"), source(d, name="a")],
    not_fed=lambda d: source(d, name="a"),
    name_of_many=lambda d: source(d, name="a", num_outputs=2),
    source_and_feed=lambda d: source(d, 5),
    cycle_generator=lambda d: source(d, (i for i in [1]), cycle=True),
    input=lambda d: source(d, d.feed(f32(2))),
    unknown=lambda d: source(d, lambda: f32(2, 2), foo=1),
    no_copy=lambda d: source(d, lambda: f32(2, 2), no_copy="maybe"),
    batch_info=lambda d: source(d, lambda: f32(2, 2), batch_info=True),
    repeat_last=lambda d: source(d, lambda: f32(2, 2), repeat_last=True),
))  # fmt: skip
add("python_function", in_graph(
    raises=lambda d: d.fn.python_function(d.feed(f32(2)), function=broken),
    raises_batch=lambda d: d.fn.python_function(d.feed(f32(2)), function=broken, batch_processing=True),
    none=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: None),
    text=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: "abc"),
    number=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: 3),
    a_list=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: [a, a]),
    three=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: (a, a, a), num_outputs=2)[0],
    one=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a, num_outputs=2)[0],
    no_outputs=lambda d: [d.feed(f32(2)), d.fn.python_function(d.feed(f32(2)), function=lambda a: a, num_outputs=0)],
    negative=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a, num_outputs=-1),
    arguments=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda: f32(2)),
    arguments_two=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a, b: a),
    no_function=lambda d: d.fn.python_function(d.feed(f32(2))),
    function_number=lambda d: d.fn.python_function(d.feed(f32(2)), function=3),
    function_none=lambda d: d.fn.python_function(d.feed(f32(2)), function=None),
    types=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a.astype(complex)),
    ranks=lambda d: d.fn.python_function(d.feed(f32(2), f32(3)), function=lambda a: a if len(a) == 2 else a[None]),
    dtypes=lambda d: d.fn.python_function(d.feed(f32(2), f32(3)), function=lambda a: a if len(a) == 2 else u8(2)),
    sizes=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a[:1], batch_processing=True),
    batch_none=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: None, batch_processing=True),
    layouts=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a, output_layouts="HW"),
    layouts_many=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a, output_layouts=["H", "W"]),
    objects=lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: np.array([object()])),
    dl_number=lambda d: d.fn.dl_tensor_python_function(d.feed(f32(2)), function=lambda a: 3),
    dl_raises=lambda d: d.fn.dl_tensor_python_function(d.feed(f32(2)), function=broken),
    dl_sizes=lambda d: d.fn.dl_tensor_python_function(d.feed(f32(2)), function=lambda a: a[:1], batch_processing=True),
))  # fmt: skip


# --- types ---------------------------------------------------------------------------------------
add("types", {
    "constant_text": lambda d: d.types.Constant("a"), "constant_none": lambda d: d.types.Constant(None),
    "constant_object": lambda d: d.types.Constant(object()), "constant_list_of_text": lambda d: d.types.Constant(["a"]),
    "constant_layout": lambda d: d.types.Constant(1, layout="H"),
    "constant_array_layout": lambda d: d.types.Constant(f32(2), layout="HW"),
    "constant_shape": lambda d: d.types.Constant([1, 2, 3], shape=(2,)),
    "constant_dtype": lambda d: d.types.Constant(1, dtype=d.types.STRING),
    "constant_dtype_text": lambda d: d.types.Constant(1, dtype="int"),
    "constant_complex": lambda d: d.types.Constant(np.complex64(1)),
    "constant_ragged": lambda d: d.types.Constant([[1], [1, 2]]),
    "constant_empty": lambda d: d.types.Constant([]),
    "to_numpy": lambda d: d.types.to_numpy_type(d.types.STRING), "to_numpy_text": lambda d: d.types.to_numpy_type("a"),
    "to_numpy_number": lambda d: d.types.to_numpy_type(99),
    "to_dali": lambda d: d.types.to_dali_type("complex64"), "to_dali_number": lambda d: d.types.to_dali_type(3),
    "to_dali_numpy": lambda d: d.types.to_dali_type(np.complex64),
    "data_type": lambda d: d.types.DALIDataType(999), "data_type_text": lambda d: d.types.DALIDataType("a"),
    "interp": lambda d: d.types.DALIInterpType(99), "image_type": lambda d: d.types.DALIImageType("RGB"),
    "scalar_text": lambda d: d.types.ScalarConstant("a"), "scalar_array": lambda d: d.types.ScalarConstant(f32(2)),
    "scalar_none": lambda d: d.types.ScalarConstant(None), "scalar_dtype": lambda d: d.types.ScalarConstant(1, "a"),
    "scalar_index": lambda d: d.types.ScalarConstant(1)[0], "scalar_len": lambda d: len(d.types.ScalarConstant(1)),
    "layout_number": lambda d: d.types.TensorLayout(3), "sample_info": lambda d: d.types.SampleInfo(1),
    "batch_info": lambda d: d.types.BatchInfo(),
})  # fmt: skip

# --- pipelines -----------------------------------------------------------------------------------
add("Pipeline", {
    "run_without_outputs": lambda d: d.pipeline(batch_size=1, num_threads=1, device_id=None).run(),
    "build_without_outputs": lambda d: d.pipeline(batch_size=1, num_threads=1, device_id=None).build(),
    "no_batch_size": lambda d: d.pipeline(num_threads=1, device_id=None).build(),
    "no_threads": lambda d: pipe_of(d, num_threads=None),
    "batch_size_text": lambda d: pipe_of(d, batch_size="a"), "batch_size_float": lambda d: pipe_of(d, batch_size=1.5),
    "batch_size_negative": lambda d: pipe_of(d, batch_size=-1),
    "threads_text": lambda d: pipe_of(d, num_threads="a"), "threads_negative": lambda d: pipe_of(d, num_threads=-1),
    "device_text": lambda d: pipe_of(d, device_id="a"), "seed_text": lambda d: pipe_of(d, seed="a"),
    "depth_dict": lambda d: pipe_of(d, prefetch_queue_depth={"cpu": 1}),
    "depth_text": lambda d: pipe_of(d, prefetch_queue_depth="a"),
    "unknown_option": lambda d: pipe_of(d, foo=1),
    "workers": lambda d: pipe_of(d, py_num_workers="a"), "start_method": lambda d: pipe_of(d, py_start_method="foo"),
    "exec_dynamic": lambda d: pipe_of(d, exec_dynamic=True, exec_pipelined=False),
    "output_dtype": lambda d: pipe_of(d, output_dtype=d.types.UINT8).run(),
    "output_ndim": lambda d: pipe_of(d, output_ndim=5).run(),
    "output_layout": lambda d: pipe_of(d, output_layout="HWC").run(),
    "output_dtypes": lambda d: pipe_of(d, output_dtype=[d.types.FLOAT] * 2).run(),
    "feed_unknown": lambda d: pipe_of(d).feed_input("a", [1]),
    "feed_before_build": lambda d: pipe_of(d, lambda d: d.fn.external_source(name="a"), built=False).feed_input("a", f32(2, 2)),
    "feed_source": lambda d: pipe_of(d, lambda d: d.fn.external_source(lambda: f32(2, 2), name="a")).feed_input("a", f32(2, 2)),
    "feed_none": lambda d: pipe_of(d, lambda d: d.fn.external_source(name="a")).feed_input("a", None),
    "feed_text": lambda d: pipe_of(d, lambda d: d.fn.external_source(name="a")).feed_input("a", "abc"),
    "feed_number": lambda d: pipe_of(d, lambda d: d.fn.external_source(name="a")).feed_input("a", 3),
    "feed_empty": lambda d: pipe_of(d, lambda d: d.fn.external_source(name="a")).feed_input("a", []),
    "feed_many": lambda d: fed(d, f32(3, 2)), "feed_layout": lambda d: fed(d, f32(2, 2), layout="HWC"),
    "feed_objects": lambda d: fed(d, [object()] * 2), "feed_ranks": lambda d: fed(d, [f32(2), f32(2, 2)]),
    "feed_types": lambda d: fed(d, [f32(2), u8(2)]), "feed_lists": lambda d: fed(d, [[1], [2]]),
    "feed_0d": lambda d: fed(d, np.float32(1)),
    "feed_argument": lambda d: pipe_of(d, lambda d: d.fn.external_source(name="a")).run(b=f32(2, 2)),
    "run_feed": lambda d: pipe_of(d).run(a=1),
    "share_first": lambda d: pipe_of(d).share_outputs(), "outputs_first": lambda d: pipe_of(d).outputs(),
    "release_first": lambda d: pipe_of(d).release_outputs(),
    "schedule_then_run": lambda d: (lambda p: (p.schedule_run(), p.run()))(pipe_of(d)),
    "run_then_schedule": lambda d: (lambda p: (p.run(), p.schedule_run()))(pipe_of(d)),
    "share_twice": lambda d: (lambda p: (p.schedule_run(), p.share_outputs(), p.share_outputs()))(pipe_of(d)),
    "reader_meta": lambda d: pipe_of(d).reader_meta("a"),
    "epoch_size": lambda d: pipe_of(d).epoch_size("a"),
    "checkpoint": lambda d: pipe_of(d).checkpoint(), "checkpoint_path": lambda d: pipe_of(d).checkpoint("/nowhere/a"),
    "restored": lambda d: pipe_of(d, checkpoint=b"abc"),
    "restored_enabled": lambda d: pipe_of(d, checkpoint=b"abc", enable_checkpointing=True),
    "restored_text": lambda d: pipe_of(d, checkpoint="abc", enable_checkpointing=True),
    "checkpoint_external": lambda d: pipe_of(
        d, lambda d: d.fn.external_source(lambda: f32(2, 2)), enable_checkpointing=True).checkpoint(),
    "checkpoint_function": lambda d: pipe_of(
        d, lambda d: d.fn.python_function(d.feed(f32(2)), function=lambda a: a), enable_checkpointing=True).checkpoint(),
    "outputs_text": lambda d: set_outputs(d, "a"), "outputs_none": lambda d: set_outputs(d, None),
    "outputs_list": lambda d: set_outputs(d, [1, 2]), "outputs_dict": lambda d: set_outputs(d, {}),
    "outputs_nested": lambda d: set_outputs(d, (d.feed(f32(2)), [d.feed(f32(2))])),
    "other_pipeline": lambda d: set_outputs(d, d.fn.copy(node_elsewhere(d))),
    "no_pipeline": lambda d: d.fn.random.coin_flip() + 1,
    "no_pipeline_source": lambda d: d.fn.copy(d.fn.external_source(name="a")),
    "serialize": lambda d: pipe_of(d).serialize(3), "serialize_text": lambda d: pipe_of(d).serialize("a"),
    "serialize_file": lambda d: pipe_of(d).serialize(filename="/nowhere/a"),
    "deserialize": lambda d: d.pipeline.deserialize(b"abc"), "deserialize_none": lambda d: d.pipeline.deserialize(),
    "deserialize_file": lambda d: d.pipeline.deserialize(filename="/nowhere/a"),
    "deserialize_both": lambda d: d.pipeline.deserialize(b"a", filename="/nowhere/a"),
    "deserialize_and_build": lambda d: d.pipeline(batch_size=1, num_threads=1, device_id=None).deserialize_and_build(b"abc"),
    "save_graph": lambda d: pipe_of(d, built=False).save_graph_to_dot_file("/nowhere/a.dot"),
    "current": lambda d: d.pipeline.current().foo,
    "add_sink": lambda d: pipe_of(d, lambda d: (d.pipeline.current().add_sink(3), d.feed(f32(2)))[1]),
    "set_outputs_twice": lambda d: (lambda p: (p.set_outputs(1), p.build()))(pipe_of(d)),
    "feed_count": lambda d: pipe_of(d).input_feed_count("a"),
    "set_dtype": lambda d: setattr(pipe_of(d), "batch_size", 3),
    "enable_profiling": lambda d: pipe_of(d).executor_statistics("a"),
    "iterate": lambda d: next(iter(pipe_of(d, lambda d: d.fn.external_source(iter([])))).run()),
    "define_graph": lambda d: d.pipeline(batch_size=1, num_threads=1, device_id=None).define_graph(),
    "reset_unbuilt": lambda d: d.pipeline(batch_size=1, num_threads=1, device_id=None).reset(),
})  # fmt: skip


def fed(d: Library, data: Any, **options: Any) -> None:
    pipe = pipe_of(d, lambda d: d.fn.external_source(name="a"))
    pipe.feed_input("a", data, **options)
    pipe.run()


def set_outputs(d: Library, value: Any) -> None:
    pipe = d.pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(value)
    pipe.build()
    pipe.run()


def node_elsewhere(d: Library) -> Any:
    with d.pipeline(batch_size=2, num_threads=1, device_id=None):
        return d.fn.random.coin_flip()


def define(d: Library, body: Any, *arguments: Any, **options: Any) -> None:
    d.package.pipeline_def(**options)(body)(*arguments).build()


add("pipeline_def", {
    "no_batch_size": lambda d: define(d, lambda: d.feed(f32(2))),
    "returns_none": lambda d: define(d, lambda: None, batch_size=1, num_threads=1, device_id=None),
    "returns_text": lambda d: define(d, lambda: "a", batch_size=1, num_threads=1, device_id=None),
    "unknown": lambda d: define(d, lambda: d.feed(f32(2)), batch_size=1, num_threads=1, device_id=None, foo=1),
    "kwargs": lambda d: define(d, lambda **k: d.feed(f32(2)), batch_size=1, num_threads=1, device_id=None),
    "shadowed": lambda d: define(d, lambda batch_size: d.feed(f32(2)), batch_size=1, num_threads=1, device_id=None),
    "number": lambda d: d.package.pipeline_def(3),
    "arguments": lambda d: define(d, lambda a: d.feed(f32(2)), batch_size=1, num_threads=1, device_id=None),
    "raises": lambda d: define(d, broken, batch_size=1, num_threads=1, device_id=None),
    "do_not_convert": lambda d: d.package.do_not_convert(3),
})  # fmt: skip

# --- tensors -------------------------------------------------------------------------------------
add("Tensor", {
    "none": lambda d: tensor(d, None), "number": lambda d: tensor(d, 3), "text": lambda d: tensor(d, "abc"),
    "a_list": lambda d: tensor(d, [1, 2]), "complex": lambda d: tensor(d, np.zeros(2, complex)),
    "objects": lambda d: tensor(d, np.array([object()])), "strings": lambda d: tensor(d, np.array(["a"])),
    "layout": lambda d: tensor(d, f32(2, 2), layout="HWC"), "layout_number": lambda d: tensor(d, f32(2, 2), layout=3),
    "set_layout": lambda d: tensor(d, f32(2, 2)).set_layout("HWC"), "unknown": lambda d: tensor(d, f32(2), foo=1),
    "no_arguments": lambda d: d.part("tensors").TensorCPU(),
    "squeeze": lambda d: tensor(d, f32(2, 2)).squeeze(5), "squeeze_two": lambda d: tensor(d, f32(2, 2)).squeeze(0),
    "attribute": lambda d: tensor(d, f32(2)).foo, "length": lambda d: len(tensor(d, f32(2))),
    "index": lambda d: tensor(d, f32(2))[5], "view": lambda d: tensor(d, f32(2)).view("float"),
    "copy_to": lambda d: tensor(d, f32(2)).copy_to_external(None),
    "reinterpret": lambda d: tensor(d, f32(2)).reinterpret(d.types.STRING),
})  # fmt: skip
add("TensorList", {
    "none": lambda d: batch(d, None), "number": lambda d: batch(d, 3), "text": lambda d: batch(d, "abc"),
    "a_list": lambda d: batch(d, [1, 2]), "a_list_of_arrays": lambda d: batch(d, [f32(2), f32(3)]),
    "zero_axes": lambda d: batch(d, np.float32(1)), "complex": lambda d: batch(d, np.zeros((2, 2), complex)),
    "empty": lambda d: batch(d, []), "layout": lambda d: batch(d, f32(2, 2), layout="HWC"),
    "types": lambda d: batch(d, [tensor(d, f32(2)), tensor(d, u8(2))]),
    "ranks": lambda d: batch(d, [tensor(d, f32(2)), tensor(d, f32(2, 2))]),
    "layouts": lambda d: batch(d, [tensor(d, f32(2), layout="H"), tensor(d, f32(2), layout="W")]),
    "at": lambda d: batch(d, f32(2, 2)).at(5), "at_negative": lambda d: batch(d, f32(2, 2)).at(-3),
    "index": lambda d: batch(d, f32(2, 2))[5], "index_text": lambda d: batch(d, f32(2, 2))["a"],
    "slice": lambda d: batch(d, f32(2, 2))[0:1], "attribute": lambda d: batch(d, f32(2, 2)).foo,
    "as_array": lambda d: ragged(d).as_array(), "as_tensor": lambda d: ragged(d).as_tensor(),
    "reshape": lambda d: batch(d, f32(2, 2)).as_reshaped_tensor([3]),
    "reshape_ragged": lambda d: ragged(d).as_reshaped_tensor([5]),
    "reshape_text": lambda d: batch(d, f32(2, 2)).as_reshaped_tensor("a"),
    "no_arguments": lambda d: d.part("tensors").TensorListCPU(), "unknown": lambda d: batch(d, f32(2, 2), foo=1),
    "copy_to": lambda d: batch(d, f32(2, 2)).copy_to_external(None),
    "gpu": lambda d: d.part("tensors").TensorListGPU(3),
})  # fmt: skip


def ragged(d: Library) -> Any:
    return pipe_of(d, lambda d: d.feed(f32(2), f32(3))).run()[0]
