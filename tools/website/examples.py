"""Writes the programs of the examples from their table, and runs them."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from website.example_table import EXAMPLES, Example
from website.sources import SOURCES

_IMPORTS = (
    ("jax", r"\bjax\.random\b", "import jax"),
    ("jnp", r"\bjnp\.", "import jax.numpy as jnp"),
    ("np", r"\bnp\.", "import numpy as np"),
    ("soundfile", r"\bsoundfile\.", "import soundfile"),
    ("Image", r"\bImage\.open\b", "from PIL import Image"),
    ("fn", r"\bfn\.|pipeline_def", ""),
    ("tfrec", r"\btfrec\.", "import jdali.tfrecord as tfrec"),
)


@dataclasses.dataclass(frozen=True)
class Result:
    """An output of an example.

    Attributes:
        name: in the program.
        samples: of the batch; one of a pure function.
        layout: of a sample.
    """

    name: str
    samples: list[np.ndarray]
    layout: str = ""

    def __str__(self) -> str:
        first = self.samples[0]
        head = (
            f"{self.name}: {first.dtype} [{', '.join(map(str, first.shape))}]"
            if first.ndim
            else f"{self.name}: {first.dtype}"
        )
        head += f", layout {self.layout}" if self.layout else ""
        if first.size > 24 or first.size == 0:
            return head
        if first.dtype == np.uint8 and self.name in ("contents", "text", "layout"):
            return f"{head}\n    {first.tobytes().decode()!r}"
        values = np.array2string(first, precision=4, suppress_small=True, separator=", ")
        return f"{head}\n    " + values.replace("\n", "\n    ")


def outputs(example: Example) -> tuple[str, ...]:
    return example.outputs or example.inputs[:1]


def _loading(sources: Iterable[str]) -> list[str]:
    """Lists the statements that load the inputs, each once."""
    statements = [
        ast.get_source_segment(text, node) or "" for text in sources for node in ast.parse(text).body
    ]
    return list(dict.fromkeys(statements))


def _call(function: str, inputs: list[str], args: str) -> str:
    """Writes a call: on one line, its arguments on another, or each on its own, as they fit."""
    listed = [value for value in [*inputs, *re.split(r", (?=\w+=)", args)] if value]
    whole = ", ".join(listed)
    if len(function) + len(whole) <= 56:
        return f"{function}({whole})"
    if len(whole) <= 68:
        return f"{function}(\n    {whole}\n)"
    return f"{function}(\n" + "".join(f"    {value},\n" for value in listed) + ")"


def _imports(code: str, package: str) -> str:
    plain = [line for _, pattern, line in _IMPORTS if line and re.search(pattern, code)]
    names = [name for name in ("fn", "ops", "pipeline_def", "types") if re.search(rf"\b{name}\b", code)]
    own = f"from {package} import {', '.join(names)}"
    first = [line for line in plain if not line.startswith("import jdali")]
    return "\n".join([*first, own, *(line for line in plain if line.startswith("import jdali"))])


def pipeline_program(name: str) -> str:
    """Writes a program with a pipeline that calls the operator."""
    example = EXAMPLES[name]
    lines = _loading([SOURCES[source].pipeline for source in example.inputs])
    made = outputs(example)
    call = example.statements or f"{', '.join(made)} = " + _call(
        f"fn.{name}", list(example.inputs), example.args
    )
    body = "\n".join([*lines, call, f"return {', '.join(made)}"])
    code = "@pipeline_def(batch_size=2, num_threads=2)\ndef example():\n" + _indented(body)
    return f"{_imports(code, 'jdali')}\n\n\n{code}\n"


def _indented(text: str) -> str:
    return "\n".join("    " + line if line else line for line in text.splitlines())


def pure_program(name: str, random: bool) -> str:
    """Writes a program with the pure function of the operator; "" where its example is no plain call."""
    example = EXAMPLES[name]
    if example.statements and not example.pure_args:
        return _pure_of_statements(name, example)
    singular = [SOURCES[source].singular for source in example.inputs]
    lines = _loading([SOURCES[source].pure for source in example.inputs])
    args = example.args if example.pure_args is None else example.pure_args
    made = [_singular(out) for out in outputs(example)]
    inputs = (["jax.random.key(0)"] if random else []) + singular
    layout = ', layout="HWC"' if "image" in singular and "layout=" not in args else ""
    if example.pure_args is not None and not re.match(r"\w+=", args):
        inputs, args = [*inputs, args], ""
    call = f"{', '.join(made)} = " + _call(f"ops.{name}", inputs, (args + layout).lstrip(", "))
    code = "\n".join([*lines, call])
    return f"{_imports(code, 'jdali')}\n\n{code}\n"


def _pure_of_statements(name: str, example: Example) -> str:
    code = re.sub(r"\bfn\.", "ops.", example.statements)
    if "external_source" in code or "readers" in code or "function" in code:
        return ""
    lines = _loading([SOURCES[source].pure for source in example.inputs])
    code = "\n".join([*lines, code])
    return f"{_imports(code, 'jdali')}\n\n{code}\n"


def _singular(name: str) -> str:
    return SOURCES[name].singular or name if name in SOURCES else name


def run_pipeline(name: str) -> list[Result]:
    """Runs the pipeline of an example in the working directory, one batch."""
    names: dict[str, Any] = {}
    exec(compile(pipeline_program(name), f"<example of {name}>", "exec"), names)
    pipe = names["example"]()
    try:
        if name == "experimental.inputs.video":
            pipe.feed_input("films", [np.fromfile("clip.mp4", np.uint8)])
        made = pipe.run()
        return [
            Result(out, [np.asarray(value.as_cpu().at(i)) for i in range(len(value))], value.layout() or "")
            for out, value in zip(outputs(EXAMPLES[name]), made, strict=True)
        ]
    finally:
        pipe.close()


def run_pure(name: str, random: bool) -> list[Result]:
    """Runs the program with the pure function in the working directory."""
    names: dict[str, Any] = {}
    code = pure_program(name, random)
    exec(compile(code, f"<pure example of {name}>", "exec"), names)
    return [Result(_singular(out), [np.asarray(names[_singular(out)])]) for out in outputs(EXAMPLES[name])]


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Makes a folder the working directory, for programs with relative paths."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
