"""Writes the pages of operators as Markdown: an example with its result, signature, arguments, differences, names."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from jdali._operators.random_key import call_with_key
from jdali._operators.record import CompiledOp, Operator
from website import docstrings, operators
from website.drawing import Drawing, draw
from website.examples import (
    Example,
    Result,
    examples,
    inside,
    pipeline_program,
    pure_program,
    run_pipeline,
    run_pure,
)
from website.number_drawing import draw_numbers

# Drawings of inputs, by the name of the first input. The examples of the operators that return them have drawn them.
_BEFORE = {
    "images": Drawing("decoders-image-images.png", "the input"),
    "sound": Drawing("decoders-audio-sound.png", "the input", "decoders-audio-sound.wav"),
    "spectrogram": Drawing("spectrogram-spectrogram.png", "the input"),
    "mel": Drawing("mel_filter_bank-mel.png", "the input"),
    "frames": Drawing("readers-video-frames.png", "the input"),
    "boxes": Drawing("copy-boxes.png", "the input"),
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Results of the examples of an operator.

    Attributes:
        pipeline: outputs of the pipeline.
        pure: outputs of the pure function; empty if the example has no program with a pure function.
        drawings: drawings of the pipeline's outputs.
        more: drawings of the examples after the first, with the arguments of their calls as captions.
    """

    pipeline: Sequence[Result] = ()
    pure: Sequence[Result] = ()
    drawings: Sequence[Drawing] = ()
    more: Sequence[Drawing] = ()


def run_examples(op: Operator, files: Path, pictures: Path) -> Outcome:
    """Runs the examples of an operator and draws their results.

    Args:
        op: the operator.
        files: folder with the files that the examples read.
        pictures: folder for the drawings.

    Raises:
        RuntimeError: an example fails.
    """
    first, *others = examples(op)
    try:
        with inside(files):
            made = run_pipeline(first)
            pure = run_pure(op, first) if pure_program(op, first) else []
            further = [run_pipeline(example) for example in others]
    except Exception as error:
        raise RuntimeError(f"an example in the docstring of {op.name} fails: {error}") from error
    stem = op.name.replace(".", "-")
    drawings = [drawing for result in made if (drawing := draw(result, pictures, stem))]
    if not drawings:
        file = f"{stem}-numbers.png"
        drawings = [Drawing(file, draw_numbers(made, pictures / file))]
    more = [
        dataclasses.replace(drawing, caption=example.arguments)
        for number, (example, results) in enumerate(zip(others, further, strict=True))
        for result in results
        if (drawing := draw(result, pictures, f"{stem}-{number}"))
    ]
    return Outcome(made, pure, drawings, more)


def page(op: Operator, outcome: Outcome) -> str:
    """Writes the page of an operator.

    Args:
        op: the operator.
        outcome: results of the operator's examples.
    """
    function = operators.function(op)
    example = examples(op)[0]
    doc = docstrings.parts(function.__doc__ or "")
    summary, *text = doc["text"] or [""]
    blocks = [
        f"# {op.name}",
        summary,
        *_drawings(example, outcome),
        "## Example",
        _tab("In a pipeline", pipeline_program(example), outcome.pipeline),
    ]
    if pure := pure_program(op, example):
        blocks.append(_tab("As a pure function", pure, outcome.pure))
    if isinstance(op, CompiledOp) and op.random:
        blocks.append(
            "The pure function draws its random values from a JAX key, which comes first, "
            f"`{call_with_key(op)}`, or by name, `key=key`."
        )
    blocks += ["## Signature", f"```python\n{docstrings.signature(function, f'fn.{op.name}')}\n```", *text]
    if doc["returns"]:
        blocks.append("**Returns** " + "\n\n".join(doc["returns"]))
    if doc["args"]:
        blocks += [
            "## Arguments",
            *(f'<div class="arguments" markdown>\n\n{table}\n\n</div>' for table in doc["args"]),
        ]
    if outcome.more:
        tiles = "".join(
            _figure(d.picture, f"<code>{_html(d.caption)}</code>", d.caption) for d in outcome.more
        )
        blocks += ["## More settings", f'<div class="tiles">{tiles}</div>']
    blocks += _differences(op, doc["parity"])
    rows = "\n".join(f"| {what} | `{name}` |" for what, name in operators.names(op))
    blocks += ["## Names", f'<div class="names" markdown>\n\n| | |\n|---|---|\n{rows}\n\n</div>']
    return "\n\n".join(blocks) + "\n"


def _tab(title: str, code: str, results: Sequence[Result]) -> str:
    """Writes a tab with a program and its results."""
    inner = f"```python\n{code.strip()}\n```"
    if results:
        shown = "\n".join(map(str, results))
        several = any(len(result.samples) > 1 for result in results)
        inner += f"\n\nWhat comes out{', first sample' if several else ''}:\n\n```text\n{shown}\n```"
    return f'=== "{title}"\n\n' + "\n".join("    " + line if line else "" for line in inner.splitlines())


def _drawings(example: Example, outcome: Outcome) -> list[str]:
    if not outcome.drawings:
        return []
    before = _BEFORE.get((example.inputs or ("",))[0])
    drawings = [*([before] if before else []), *outcome.drawings]
    tiles = "".join(_figure(d.picture, _html(d.caption), d.caption, d.sound) for d in drawings)
    return [f'<div class="tiles first">{tiles}</div>']


def _figure(file: str, caption: str, alt: str, sound: str = "") -> str:
    player = f'<audio controls preload="none" src="../pictures/{sound}"></audio>' if sound else ""
    return (
        f'<figure><img src="../pictures/{file}" alt="{_html(alt)}" loading="lazy">{player}'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _differences(op: Operator, parity: Sequence[str]) -> list[str]:
    """Writes the section on differences from DALI, from the docstring and docs/differences.md."""
    rows = operators.differences(op)
    if not rows and not parity:
        return []
    items = [f"* {what}.\n  *Why:* {why}." for what, why in rows]
    return ["## Differences from DALI", *parity, "\n".join(items)]


def index(groups: dict[str, list[Operator]]) -> str:
    """Writes the page that lists all operators by family."""
    count = sum(map(len, groups.values()))
    blocks = [
        "# Operators",
        f"{count} operators, by family, each with an example that runs. The [gallery](../gallery.md) shows them all.",
    ]
    for family, members in groups.items():
        rows = "\n".join(
            f"| [`{op.name}`]({op.name}.md) | {docstrings.cell(docstrings.escaped(operators.summary(op)))} |"
            for op in members
        )
        blocks += [f"## {operators.FAMILIES[family]}", f"| | |\n|---|---|\n{rows}"]
    return "\n\n".join(blocks) + "\n"
