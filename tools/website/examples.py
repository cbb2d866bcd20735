"""Reads the examples in the docstrings of operators, writes programs from them, and runs the programs.

The section "Example:" of a docstring has statements of a pipeline. Each call of the operator, with the statements
before it, is an example. Names that these statements use but do not assign are inputs, which `sources.py` loads.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jdali._operators.record import REGISTRY, CompiledOp, Operator
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
        name: name of the variable in the program.
        samples: samples of the batch; only one for a pure function.
        layout: layout of a sample.
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


@dataclasses.dataclass(frozen=True)
class Example:
    """One call of an operator, with the statements around it.

    Attributes:
        code: text of the whole section "Example:".
        statements: statements of a pipeline; the last call among them calls the operator.
        inputs: names of the sources.
        outputs: names that the last statement assigns.
    """

    code: str
    statements: list[ast.Assign]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def arguments(self) -> str:
        """Returns the keyword arguments of the operator's call, as they are written."""
        (*_, call) = (s.value for s in self.statements if isinstance(s.value, ast.Call))
        return ", ".join(_argument(self.code, a) for a in call.keywords) or "no arguments"


def examples(op: Operator) -> list[Example]:
    """Reads the examples of an operator.

    Raises:
        RuntimeError: the docstring has no example that calls the operator.
    """
    code = _section(op)
    groups: list[list[ast.Assign]] = []
    begun: list[ast.Assign] = []
    for statement in ast.parse(code).body:
        assert isinstance(statement, ast.Assign), code
        if groups and not isinstance(statement.value, ast.Call) and not begun:
            groups[-1].append(statement)  # unpacks the results of the call
            continue
        begun.append(statement)
        if f"fn.{op.name}(" in ast.unparse(statement):
            groups.append(begun)
            begun = []
    if not groups:
        raise RuntimeError(f"the docstring of {op.name} has no example that calls fn.{op.name}")
    return [Example(code, group, _inputs(group), _bound(group[-1])) for group in groups]


def _section(op: Operator) -> str:
    """Returns the text of the section "Example:"; if operators share a docstring, inserts the name of this operator."""
    found = re.search(r"^Example:[ \n](.*?)(?=\n\n|\Z)", op.doc, re.DOTALL | re.MULTILINE)
    code = textwrap.dedent(found[1]) if found else ""
    for name in re.findall(r"\bfn\.([\w.]+)\(", code):
        if name != op.name and name in REGISTRY and REGISTRY[name].doc == op.doc:
            code = code.replace(f"fn.{name}(", f"fn.{op.name}(")
    return code


def _inputs(statements: list[ast.Assign]) -> tuple[str, ...]:
    """Lists the sources whose names the statements use before they assign them, in order."""
    found: dict[str, None] = {}
    bound: set[str] = set()
    for statement in statements:
        read = [node for node in ast.walk(statement.value) if isinstance(node, ast.Name)]
        read.sort(key=lambda node: (node.lineno, node.col_offset))
        found |= dict.fromkeys(node.id for node in read if node.id in SOURCES and node.id not in bound)
        bound |= {*_bound(statement)}
    return tuple(found)


def _bound(statement: ast.Assign) -> tuple[str, ...]:
    return tuple(node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name))


def _argument(code: str, argument: ast.expr | ast.keyword) -> str:
    value = argument.value if isinstance(argument, ast.keyword) else argument
    text = ast.get_source_segment(code, value) or ""
    return f"{argument.arg}={text}" if isinstance(argument, ast.keyword) else text


def _statement(
    example: Example, statement: ast.Assign, package: str, names: Callable[[str], str], first: str, last: str
) -> str:
    """Writes a statement of an example for `package`, with renamed variables, and `first` and `last` as arguments."""
    code, value = example.code, statement.value
    targets = ", ".join(map(names, _bound(statement)))
    if not isinstance(value, ast.Call) or not ast.unparse(value.func).startswith("fn."):
        return f"{targets} = {ast.get_source_segment(code, value)}"
    listed = [names(a.id) if isinstance(a, ast.Name) else _argument(code, a) for a in value.args]
    listed = [first, *listed, *(_argument(code, a) for a in value.keywords), last]
    return f"{targets} = " + _call(package + ast.unparse(value.func)[2:], [text for text in listed if text])


def _call(function: str, listed: list[str]) -> str:
    """Writes a call on one line if it fits, else with its arguments on a second line, or each on its own line."""
    whole = ", ".join(listed)
    if len(function) + len(whole) <= 56:
        return f"{function}({whole})"
    if len(whole) <= 68:
        return f"{function}(\n    {whole}\n)"
    return f"{function}(\n" + "".join(f"    {value},\n" for value in listed) + ")"


def _loading(sources: Iterable[str]) -> list[str]:
    """Lists the statements that load the inputs, without repetitions."""
    statements = [
        ast.get_source_segment(text, node) or "" for text in sources for node in ast.parse(text).body
    ]
    return list(dict.fromkeys(statements))


def _imports(code: str, package: str) -> str:
    plain = [line for _, pattern, line in _IMPORTS if line and re.search(pattern, code)]
    names = [name for name in ("fn", "ops", "pipeline_def", "types") if re.search(rf"\b{name}\b", code)]
    own = f"from {package} import {', '.join(names)}"
    first = [line for line in plain if not line.startswith("import jdali")]
    return "\n".join([*first, own, *(line for line in plain if line.startswith("import jdali"))])


def pipeline_program(example: Example) -> str:
    """Writes a program with a pipeline that calls the operator."""
    lines = _loading([SOURCES[source].pipeline for source in example.inputs])
    lines += [_statement(example, statement, "fn", str, "", "") for statement in example.statements]
    body = "\n".join([*lines, f"return {', '.join(example.outputs)}"])
    code = "@pipeline_def(batch_size=2, num_threads=2)\ndef example():\n" + _indented(body)
    return f"{_imports(code, 'jdali')}\n\n\n{code}\n"


def _indented(text: str) -> str:
    return "\n".join("    " + line if line else line for line in text.splitlines())


def pure_program(op: Operator, example: Example) -> str:
    """Writes a program that calls the operator's pure function; returns "" if the example has no such counterpart."""
    if not isinstance(op, CompiledOp) or "fn.external_source" in example.code:
        return ""
    first = "jax.random.key(0)" if op.random else ""
    last = 'layout="HWC"' if "images" in example.inputs and "layout=" not in example.code else ""
    lines = _loading([SOURCES[source].pure for source in example.inputs])
    lines += [_statement(example, s, "ops", _singular, first, last) for s in example.statements]
    code = "\n".join(lines)
    return f"{_imports(code, 'jdali')}\n\n{code}\n"


def _singular(name: str) -> str:
    return SOURCES[name].singular or name if name in SOURCES else name


def run_pipeline(example: Example) -> list[Result]:
    """Runs one batch of an example's pipeline in the working directory."""
    names: dict[str, Any] = {}
    exec(compile(pipeline_program(example), "<example of a pipeline>", "exec"), names)
    pipe = names["example"]()
    try:
        if "inputs.video" in example.code:
            pipe.feed_input("films", [np.fromfile("clip.mp4", np.uint8)])
        made = pipe.run()
        return [
            Result(out, [np.asarray(value.as_cpu().at(i)) for i in range(len(value))], value.layout() or "")
            for out, value in zip(example.outputs, made, strict=True)
        ]
    finally:
        pipe.close()


def run_pure(op: Operator, example: Example) -> list[Result]:
    """Runs the program with the pure function in the working directory."""
    names: dict[str, Any] = {}
    exec(compile(pure_program(op, example), f"<pure example of {op.name}>", "exec"), names)
    return [Result(_singular(out), [np.asarray(names[_singular(out)])]) for out in example.outputs]


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Makes a folder the working directory, for programs with relative paths."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
