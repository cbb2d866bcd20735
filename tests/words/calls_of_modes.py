"""Wrong calls of debug and dynamic mode; rows as in `words.calls`."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.wrong_calls import Library
from words.calls import add, f32, image, read, u8
from words.calls_of_objects import broken
from words.calls_of_plugins import CALLS

__all__ = ["CALLS"]


# --- debug mode ----------------------------------------------------------------------------------
def debug_pipe(d: Library, body: Any, **options: Any) -> Any:
    pipeline_def = d.part("pipeline").experimental.pipeline_def
    return pipeline_def(body, batch_size=2, num_threads=1, device_id=None, debug=True, **options)()


def debug(d: Library, body: Any, times: int = 1) -> None:
    pipe = debug_pipe(d, body)
    pipe.build()
    for _ in range(times):
        pipe.run()


def changing(d: Library) -> Any:
    names = iter(["a", "b", "a"])

    def body() -> Any:
        x = d.feed(image())
        return d.fn.crop(x, crop=(2, 2)) if next(names) == "a" else d.fn.flip(x)

    return body


def varying(d: Library) -> Any:
    values = iter([2, 3, 4])
    return lambda: d.fn.crop(d.feed(image()), crop=(next(values), 2))


add("debug", {
    "operator_changes": lambda d: debug(d, changing(d), 2), "argument_changes": lambda d: debug(d, varying(d), 2),
    "text": lambda d: debug(d, lambda: "a"), "none": lambda d: debug(d, lambda: None),
    "crop": lambda d: debug(d, lambda: d.fn.crop(d.feed(image()), crop=(9, 9))),
    "unknown": lambda d: debug(d, lambda: d.fn.crop(d.feed(image()), foo=1)),
    "input": lambda d: debug(d, lambda: d.fn.crop(object(), crop=(2, 2))),
    "required": lambda d: debug(d, lambda: d.fn.cast(d.feed(image()))),
    "argument": lambda d: debug(d, lambda: d.fn.rotate(d.feed(image()), angle="a")),
    "arithmetic": lambda d: debug(d, lambda: d.feed(f32(2)) + d.feed(f32(3))),
    "truth": lambda d: debug(d, lambda: 1 if d.feed(f32(2)) else 2),
    "batch_size": lambda d: debug(d, lambda: d.fn.copy(d.fn.external_source(lambda: f32(3, 2)))),
    "sizes": lambda d: debug(d, lambda: d.fn.external_source(lambda: f32(1, 2)) + d.feed(f32(2))),
    "raises": lambda d: debug(d, broken), "index": lambda d: debug(d, lambda: d.feed(image())[9]),
    "source": lambda d: debug(d, lambda: d.fn.external_source(5)),
    "parallel": lambda d: debug(d, lambda: d.fn.external_source(lambda i: f32(2), parallel=True)),
    "get": lambda d: debug(d, lambda: d.feed(image()).foo),
    "device": lambda d: debug(d, lambda: d.fn.copy(d.feed(image()), device="foo")),
    "nothing": lambda d: debug(d, lambda: read(d, "readers.file")),
    "name": lambda d: debug_pipe(d, lambda: d.feed(f32(2))).serialize(),
    "enable_conditionals": lambda d: debug_pipe(d, lambda: d.feed(f32(2)), enable_checkpointing=True).checkpoint(),
})  # fmt: skip


# --- dynamic mode --------------------------------------------------------------------------------
def dynamic(call: Any) -> Any:
    def made(d: Library) -> None:
        module = d.part("experimental.dynamic")
        result = call(module)
        if hasattr(result, "evaluate"):
            result.evaluate()

    return made


DYNAMIC: dict[str, Any] = {
    "crop": lambda m: m.crop(image(), crop=[9, 9]), "unknown": lambda m: m.crop(image(), foo=1),
    "required": lambda m: m.cast(image()), "no_input": lambda m: m.crop(crop=[2, 2]),
    "two_inputs": lambda m: m.crop(image(), image(), crop=[2, 2]), "text": lambda m: m.crop("a", crop=[2, 2]),
    "none": lambda m: m.crop(None, crop=[2, 2]), "object": lambda m: m.crop(object(), crop=[2, 2]),
    "argument_text": lambda m: m.rotate(image(), angle="a"), "argument_none": lambda m: m.rotate(image(), angle=None),
    "argument_list": lambda m: m.rotate(image(), angle=[1, 2]), "device": lambda m: m.crop(image(), crop=[2, 2], device="tpu"),
    "dtype": lambda m: m.cast(image(), dtype="foo"), "dtype_string": lambda m: m.cast(image(), dtype=m.string),
    "batch_sizes": lambda m: m.as_batch([f32(2)] * 2) + m.as_batch([f32(2)] * 3),
    "batch_size": lambda m: m.random.uniform(batch_size=0), "batch_size_negative": lambda m: m.random.uniform(batch_size=-1),
    "batch_size_text": lambda m: m.random.uniform(batch_size="a"),
    "broadcast": lambda m: m.tensor(f32(2)) + m.tensor(f32(3)), "add_text": lambda m: m.tensor(f32(2)) + "a",
    "add_none": lambda m: m.tensor(f32(2)) + None, "divide": lambda m: m.tensor([1]) // 0,
    "index": lambda m: m.tensor(f32(2))[5], "index_text": lambda m: m.tensor(f32(2))["a"],
    "indices": lambda m: m.tensor(f32(2))[0, 0], "index_float": lambda m: m.tensor(f32(2))[1.5],
    "ellipsis": lambda m: m.tensor(f32(2))[..., 0, ...], "step": lambda m: m.tensor(f32(2))[::0],
    "truth": lambda m: bool(m.tensor(f32(2))), "integer": lambda m: int(m.tensor(f32(2))),
    "number": lambda m: float(m.tensor(f32(2))), "item": lambda m: m.tensor(f32(2)).item(),
    "length": lambda m: len(m.tensor(np.float32(1))), "iterate": lambda m: list(m.tensor(np.float32(1))),
    "as_index": lambda m: [1, 2][m.tensor(f32(2))], "tensor_text": lambda m: m.tensor("abc"),
    "tensor_none": lambda m: m.tensor(None), "tensor_object": lambda m: m.tensor(object()),
    "tensor_ragged": lambda m: m.tensor([[1], [1, 2]]), "tensor_complex": lambda m: m.tensor(np.zeros(2, complex)),
    "tensor_layout": lambda m: m.tensor(f32(2), layout="HW"), "tensor_device": lambda m: m.tensor(f32(2), device="foo"),
    "tensor_dtype": lambda m: m.tensor(f32(2), dtype="foo"), "tensor_attribute": lambda m: m.tensor(f32(2)).foo,
    "tensor_of_batch": lambda m: m.tensor(m.as_batch([f32(2), f32(3)])), "to_device": lambda m: m.tensor(f32(2)).to_device("foo"),
    "batch_none": lambda m: m.batch(None), "batch_empty": lambda m: m.batch([]), "batch_text": lambda m: m.batch("abc"),
    "batch_number": lambda m: m.batch(3), "batch_types": lambda m: m.batch(["a", "b"]), "batch_layout": lambda m: m.batch(
        [f32(2)], layout="HW"), "batch_dtype": lambda m: m.batch([f32(2)], dtype="foo"),
    "batch_ranks": lambda m: m.batch([f32(2), f32(2, 2)]), "batch_index": lambda m: m.batch([f32(2)])[0],
    "batch_length": lambda m: len(m.batch([f32(2)])), "batch_truth": lambda m: bool(m.batch([f32(2)])),
    "batch_select": lambda m: m.batch([f32(2)]).tensors[5], "batch_slice": lambda m: m.batch([f32(2)]).slice[5],
    "batch_slice_text": lambda m: m.batch([f32(2)]).slice["a"], "batch_attribute": lambda m: m.batch([f32(2)]).foo,
    "select": lambda m: m.batch([f32(2)]).select(5), "select_text": lambda m: m.batch([f32(2)]).select("a"),
    "reader_missing": lambda m: list(m.readers.File(file_root="/nowhere").next_epoch()),
    "reader_unknown": lambda m: m.readers.File(foo=1), "reader_batch": lambda m: list(
        m.readers.File(files=["/nowhere"]).next_epoch(batch_size=0)),
    "reader_call": lambda m: m.readers.File(files=["/nowhere"])(3), "rng_seed": lambda m: m.random.RNG("a"),
    "rng": lambda m: m.random.uniform(rng=3), "rng_and_seed": lambda m: m.random.uniform(rng=m.random.RNG(1), seed=3),
    "module": lambda m: m.nothing, "random": lambda m: m.random.nothing, "dtype_call": lambda m: m.DType("foo"),
    "device_call": lambda m: m.Device("foo"), "device_none": lambda m: m.Device(None), "device_number": lambda m: m.Device(3),
    "eval_mode": lambda m: m.EvalMode("foo"), "eval_context": lambda m: m.EvalContext(num_threads=-1),
    "eval_device": lambda m: m.EvalContext(device_id=99), "stream": lambda m: m.stream(device="cpu"),
    "cat": lambda m: m.cat(f32(2), u8(2)), "stack": lambda m: m.stack(f32(2), f32(3)), "cat_none": lambda m: m.cat(),
    "decoders": lambda m: m.decoders.image(u8(9)), "imread": lambda m: m.imread("/nowhere"),
    "arithmetic_bool": lambda m: m.tensor([True]) + m.tensor([True]), "bitwise": lambda m: m.tensor(f32(2)) & 1,
    "half": lambda m: m.tensor(np.array([1], np.float16)) * 2, "cast_text": lambda m: m.tensor(f32(2)).to("a"),
    "as_tensor": lambda m: m.as_tensor(m.as_batch([f32(2), f32(3)])), "as_tensor_none": lambda m: m.as_tensor(None),
    "as_batch_none": lambda m: m.as_batch(None), "as_batch_number": lambda m: m.as_batch(3),
    "numpy": lambda m: np.asarray(m.as_batch([f32(2), f32(3)])), "array": lambda m: np.asarray(m.as_batch([f32(2)])),
}  # fmt: skip
add("dynamic", {name: dynamic(call) for name, call in DYNAMIC.items()})
