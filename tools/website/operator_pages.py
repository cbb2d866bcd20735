"""Pages of operators as Markdown: example with its result, signature, arguments, differences, names."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from jdali._operators.random_key import call_with_key
from jdali._operators.record import CompiledOp, Operator
from website import docstrings, operators
from website.drawing import Drawing, draw
from website.example_table import EXAMPLES
from website.examples import Result, inside, pipeline_program, pure_program, run_pipeline, run_pure
from website.number_drawing import draw_numbers

# What goes into an operator, by its first input: drawn by the examples that make it.
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
        pure: outputs of the pure function; empty if the operator has none, or its example is no plain call.
        drawings: of the pipeline's outputs.
    """

    pipeline: Sequence[Result] = ()
    pure: Sequence[Result] = ()
    drawings: Sequence[Drawing] = ()


def pure_code(op: Operator) -> str:
    """Writes the program with the pure function; "" if there is none."""
    return pure_program(op.name, op.random) if isinstance(op, CompiledOp) else ""


def run_examples(op: Operator, files: Path, pictures: Path) -> Outcome:
    """Runs both examples of an operator and draws what comes out.

    Args:
        op: the operator.
        files: folder that the examples read.
        pictures: folder for the drawings.

    Raises:
        RuntimeError: an example fails.
    """
    try:
        with inside(files):
            made = run_pipeline(op.name)
            pure = run_pure(op.name, isinstance(op, CompiledOp) and op.random) if pure_code(op) else []
    except Exception as error:
        raise RuntimeError(
            f"the example of {op.name} (tools/website/example_table.py) fails: {error}"
        ) from error
    stem = op.name.replace(".", "-")
    drawings = [drawing for result in made if (drawing := draw(result, pictures, stem))]
    if not drawings:
        file = f"{stem}-numbers.png"
        drawings = [Drawing(file, draw_numbers(made, pictures / file))]
    return Outcome(made, pure, drawings)


def page(op: Operator, outcome: Outcome, more: Sequence[tuple[str, str]] = ()) -> str:
    """Writes the page of an operator.

    Args:
        op: the operator.
        outcome: of its examples.
        more: pictures at other settings: file and settings.
    """
    function = operators.function(op)
    doc = docstrings.parts(function.__doc__ or "")
    summary, *text = doc["text"] or [""]
    blocks = [
        f"# {op.name}",
        summary,
        *_drawings(op, outcome),
        "## Example",
        _tab("In a pipeline", pipeline_program(op.name), outcome.pipeline),
    ]
    if pure_code(op):
        blocks.append(_tab("As a pure function", pure_code(op), outcome.pure))
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
    if more:
        tiles = "".join(_figure(file, f"<code>{_html(settings)}</code>", settings) for file, settings in more)
        blocks += ["## More settings", f'<div class="tiles">{tiles}</div>']
    blocks += _differences(op, doc["parity"])
    rows = "\n".join(f"| {what} | `{name}` |" for what, name in operators.names(op))
    blocks += ["## Names", f'<div class="names" markdown>\n\n| | |\n|---|---|\n{rows}\n\n</div>']
    return "\n\n".join(blocks) + "\n"


def _tab(title: str, code: str, results: Sequence[Result]) -> str:
    """Writes a tab: the program, and what comes out."""
    inner = f"```python\n{code.strip()}\n```"
    if results:
        shown = "\n".join(map(str, results))
        several = any(len(result.samples) > 1 for result in results)
        inner += f"\n\nWhat comes out{', first sample' if several else ''}:\n\n```text\n{shown}\n```"
    return f'=== "{title}"\n\n' + "\n".join("    " + line if line else "" for line in inner.splitlines())


def _drawings(op: Operator, outcome: Outcome) -> list[str]:
    if not outcome.drawings:
        return []
    before = _BEFORE.get((EXAMPLES[op.name].inputs or ("",))[0])
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
    """Writes the list of all operators, by family."""
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
