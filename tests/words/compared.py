"""Answers of DALI and jdali to a wrong call, and their differences."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from support import refusals
from support.wrong_calls import Library
from words.calls import Call

ALIKE = "alike"
DIES = "DALI ends its process"
BOTH_TAKE = "both take it"
ONLY_DALI = "only jdali refuses"
ONLY_JDALI = "only DALI refuses"
NOT_COPIED = "DALI's words are not about the call"
WORDS, TYPE, WORDS_AND_TYPE = "other words", "another type", "other words and another type"

# What DALI's bindings, codecs and builds say of themselves, and what Python says of DALI's code.
_NOT_COPIED = (
    "nvImageCodec failure|incompatible (function|constructor) arguments|not registered for cpu|CUDA driver is not installed"
    "|CUDA is not available|No module named|vector::|unknown format string|invalid literal for int"
    r"|(__init__|[a-z_]+)\(\) (got an unexpected keyword|missing 1 required|takes 1 positional)|object has no attribute"
    "|unsupported operand type|list indices must be|' not supported between instances"
)


@dataclass(frozen=True)
class Compared:
    """Answers of DALI and jdali to a call; None: they take it."""

    theirs: refusals.Refusal | None
    ours: Exception | None
    died: bool = False

    @property
    def words(self) -> bool:
        """The main sentence of DALI's message is part of jdali's."""
        if self.theirs is None or self.ours is None:
            return False
        own = " ".join(map(str, self.ours.args))  # the text of a KeyError is quoted
        return main_sentence(self.theirs.text) in f"{own} {self.ours}"

    @property
    def type(self) -> bool:
        """jdali's error is of DALI's type as well."""
        return self.theirs is not None and isinstance(self.ours, self.theirs.kind)

    @property
    def verdict(self) -> str:
        """Names what differs."""
        if self.died:
            return DIES
        if self.theirs is None:
            return BOTH_TAKE if self.ours is None else ONLY_DALI
        if self.ours is None:
            return ONLY_JDALI
        if self.words and self.type:
            return ALIKE
        if re.search(_NOT_COPIED, self.theirs.text):
            return NOT_COPIED
        return TYPE if self.words else WORDS if self.type else WORDS_AND_TYPE


def main_sentence(text: str) -> str:
    """The sentence of DALI's message that says what is wrong, without what says where."""
    text = (
        text.rpartition("encountered:\n\n")[2].replace("nvidia.dali.fn.", "").replace("nvidia.dali", "jdali")
    )
    text = text.strip().removeprefix("'").removesuffix("'")
    text = re.sub(r"^(Critical error in pipeline:\s*)+", "", text)
    text = re.sub(r"^.*?Assert on \".*?\" failed: ?", "", text, flags=re.DOTALL)
    text = re.sub(r"^(\[/opt/dali[^]]*\]|DLTensorPythonFunction error:|Normalize:|Constant node:) ", "", text)
    return re.split(r"\n|(?<=[a-z)`\"'])\. ", text)[0].rstrip(". ")


def compare(call: Call) -> Compared:
    """Makes a call with DALI, in its own process, and with jdali here."""
    try:
        theirs = refusals.answer(_in_library, "nvidia.dali", call).refusal
    except refusals.OracleDiedError:
        return Compared(None, None, died=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _in_library("jdali", call)
        except Exception as error:
            return Compared(theirs, error)
    return Compared(theirs, None)


def _in_library(name: str, call: Call) -> None:
    call(Library(name))
