"""Wrong calls of iterators and plugins; rows as in `words.calls`."""

from __future__ import annotations

from typing import Any

from support.wrong_calls import Library
from words.calls import add, f32, in_graph, pipe_of
from words.calls_of_objects import CALLS, broken

__all__ = ["CALLS"]


# --- iterators -----------------------------------------------------------------------------------
def policy(d: Library, name: str) -> Any:
    return getattr(d.part("plugin.base_iterator").LastBatchPolicy, name)


def iterator(d: Library, *arguments: Any, pipes: Any = None, **options: Any) -> Any:
    return d.part("plugin.jax").DALIGenericIterator(
        pipes if pipes is not None else pipe_of(d), *arguments, **options
    )


add("plugin.jax", {
    "no_pipelines": lambda d: iterator(d, ["a"], pipes=[]),
    "pipelines_text": lambda d: iterator(d, ["a"], pipes="a"),
    "none": lambda d: d.part("plugin.jax").DALIGenericIterator(None, ["a"]),
    "no_map": lambda d: iterator(d), "map_text": lambda d: iterator(d, "ab"),
    "map_twice": lambda d: next(iterator(d, ["a", "a"])), "map_long": lambda d: next(iterator(d, ["a", "b"])),
    "map_numbers": lambda d: next(iterator(d, [1])), "size_zero": lambda d: iterator(d, ["a"], size=0),
    "size_and_reader": lambda d: iterator(d, ["a"], size=3, reader_name="a"),
    "size_negative": lambda d: iterator(d, ["a"], size=-3), "size_text": lambda d: iterator(d, ["a"], size="a"),
    "reader": lambda d: iterator(d, ["a"], reader_name="a"), "auto_reset": lambda d: iterator(d, ["a"], auto_reset="foo"),
    "policy": lambda d: iterator(d, ["a"], last_batch_policy="foo"),
    "policy_number": lambda d: iterator(d, ["a"], last_batch_policy=3),
    "sharding": lambda d: iterator(d, ["a"], sharding=3), "unknown": lambda d: iterator(d, ["a"], foo=1),
    "checkpoints": lambda d: iterator(d, ["a"]).checkpoints(),
    "prepare": lambda d: iterator(d, ["a"], pipes=pipe_of(d, lambda d: d.fn.external_source(iter([])))),
    "ragged": lambda d: next(iterator(d, ["a"], pipes=pipe_of(d, lambda d: d.feed(f32(2), f32(3))))),
    "function_number": lambda d: d.part("plugin.jax").data_iterator(3),
    "function_no_map": lambda d: d.part("plugin.jax").data_iterator(lambda: 1)(batch_size=2),
    "function_devices": lambda d: d.part("plugin.jax").data_iterator(
        lambda: d.feed(f32(2)), output_map=["a"], sharding=1, devices=2)(batch_size=2, num_threads=1),
    "function_options": lambda d: d.part("plugin.jax").data_iterator(
        lambda: d.feed(f32(2)), output_map=["a"])(batch_size=2, num_threads=1, foo=1),
    "devices": lambda d: d.part("plugin.jax").data_iterator(
        lambda: d.feed(f32(2)), output_map=["a"], devices=[1])(batch_size=2, num_threads=1),
    "auto_reset_no": lambda d: [next(i) for i in [iterator(d, ["a"], size=2, auto_reset="no")] for _ in range(3)],
    "reset_middle": lambda d: (lambda i: (next(i), i.reset()))(iterator(d, ["a"], size=20)),
    "peek": lambda d: d.part("plugin.jax").DALIGenericIterator(pipe_of(d), ["a"], size=2).foo,
    "batch_sizes": lambda d: iterator(d, ["a"], pipes=[pipe_of(d), pipe_of(d, batch_size=3)]),
    "dynamic_shape": lambda d: iterator(d, ["a"], dynamic_shape="foo"),
})  # fmt: skip
add("plugin.jax.fn", {
    **in_graph(
        number=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: 3)(d.feed(f32(2))),
        text=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: "a")(d.feed(f32(2))),
        none=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: None)(d.feed(f32(2))),
        outputs=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: (a, a), num_outputs=3)(d.feed(f32(2)))[0],
        one=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a, num_outputs=2)(d.feed(f32(2)))[0],
        raises=lambda d: d.part("plugin.jax.fn").jax_function(broken)(d.feed(f32(2))),
        sizes=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a[:1])(d.feed(f32(2))),
        input=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a)("a"),
        ragged=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a)(d.feed(f32(2), f32(3))),
        layouts=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a, output_layouts=["A", "B"])(d.feed(f32(2))),
        device=lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a, device="foo")(d.feed(f32(2))),
    ),
    "no_pipeline": lambda d: d.part("plugin.jax.fn").jax_function(lambda a: a)(3),
    "function": lambda d: d.part("plugin.jax.fn").jax_function(3),
})  # fmt: skip
add("plugin_manager",
    missing=lambda d: d.part("plugin_manager").load_library("/nowhere.so"),
    not_a_library=lambda d: d.part("plugin_manager").load_library(__file__),
    directory=lambda d: d.part("plugin_manager").load_directory("/nowhere"),
    number=lambda d: d.part("plugin_manager").load_library(3))  # fmt: skip
