"""Docstrings of functions begin with a verb; class names exist once."""

import ast
import collections
import re
from pathlib import Path

import pytest

import jdali

PACKAGE = Path(jdali.__file__).parent
TREES = {path.relative_to(PACKAGE): ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}

# Names of DALI's API that several of its modules define, or that `jdali.plugin.operators` gives to readers of third parties.
DEFINED_TWICE = {"Compose", "DALIClassificationIterator", "DALIGenericIterator", "Reader", "Tensor"}


# Plural nouns that no docstring here begins with as a verb.
NOUNS = {
    "Arguments", "Axes", "Batches", "Bits", "Boxes", "Channels", "Elements", "Entries", "Extents", "Floats", "Images", "Indices",
    "Inputs", "Integers", "Items", "Its", "Keys", "Lengths", "Levels", "Medians", "Nodes", "Ones", "Operators", "Paths", "Planes",
    "Products", "Programs", "References", "Rows", "Samples", "Shapes", "Sizes", "Threads", "Values", "Weights", "Windows",
    "Words", "Zeros",
}  # fmt: skip


def begins_with_verb(docstring: str) -> bool:
    """Says whether the first word is a verb in the third person: "Decodes", not "Rows of a batch"."""
    first = re.match(r"([A-Z][a-z]+s)\b(?! (of|whose) )", docstring)
    return first is not None and first[1] not in NOUNS


def others(tree: ast.Module) -> list[str]:
    """Lists the docstrings of functions, properties left out, that begin with another word."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
            if text and not is_property and not begins_with_verb(text):
                found.append(f"{node.lineno}: {text.splitlines()[0]}")
    return found


ROOMS = sorted({path.parts[0] for path in TREES})


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_of_functions_begin_with_a_verb(room):
    found = [
        f"{path}:{line}" for path, tree in TREES.items() if path.parts[0] == room for line in others(tree)
    ]
    assert not found, "\n".join(found)


def test_class_names_exist_once():
    places = collections.defaultdict(list)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert twice.keys() == DEFINED_TWICE, twice


def test_the_rule_can_fail():
    tree = ast.parse('def f():\n    """Rows of a batch."""\ndef g():\n    """Decodes a file."""')
    assert others(tree) == ["1: Rows of a batch."]
