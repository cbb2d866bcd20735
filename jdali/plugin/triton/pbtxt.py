"""Reads and writes the parts of Protocol Buffers' text format that Triton's `config.pbtxt` needs."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator, Mapping
from typing import Any

Message = dict[str, list[Any]]
"""A message maps each field to its values: messages, strings, or the text of numbers and constants."""

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<word>[\w.+-]+)|(?P<sign>[][{}<>:,;])""",
    re.VERBOSE,
)
_END = ""  # token after the last; nothing reads past it
_MOST_DEPTH = 32  # maximum depth of nested messages; a configuration has five levels


class EnumConstant(str):
    """A constant of an enumeration, which is written without quotes."""


def written(message: Mapping[str, Any], indent: str = "") -> str:
    """Formats a message; values are strings, constants, numbers, booleans, messages, and lists of these."""
    lines = []
    for name, value in message.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, Mapping):
                lines.append(f"{indent}{name} {{\n{written(one, indent + '  ')}{indent}}}\n")
            else:
                lines.append(f"{indent}{name}: {_scalar(one)}\n")
    return "".join(lines)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not isinstance(value, EnumConstant):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value)


def read(text: str) -> Message:
    """Parses a message; raises ValueError if the text is not a message."""
    return _message(collections.deque([*_tokens(text), _END]), _END, 0)


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            line = text.count("\n", 0, position) + 1
            raise ValueError(
                f"line {line}: {text[position : position + 20]!r} is not a text of a protocol buffer"
            )
        position = match.end()
        if match.lastgroup != "space":
            yield match[0]


def _message(tokens: collections.deque[str], end: str, depth: int) -> Message:
    if depth > _MOST_DEPTH:
        raise ValueError(f"more than {_MOST_DEPTH} messages are inside of each other")
    found: Message = {}
    while (name := tokens.popleft()) != end:
        if not re.fullmatch(r"\w+", name):
            raise ValueError(f"{name or 'the end'!r} stands where the name of a field is wanted")
        if tokens[0] == ":":
            tokens.popleft()
        if tokens[0] == "[":
            tokens.popleft()
            while tokens[0] not in ("]", _END):
                found.setdefault(name, []).append(_value(tokens, depth))
                if tokens[0] == ",":
                    tokens.popleft()
            if tokens.popleft() == _END:
                raise ValueError("the end of a list is missing")
        else:
            found.setdefault(name, []).append(_value(tokens, depth))
        if tokens[0] in (",", ";"):
            tokens.popleft()
    return found


def _value(tokens: collections.deque[str], depth: int) -> Any:
    token = tokens.popleft()
    if token in ("{", "<"):
        return _message(tokens, "}" if token == "{" else ">", depth + 1)
    if token[:1] in ('"', "'"):
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), token[1:-1])
    if not token or not re.fullmatch(r"[\w.+-]+", token):
        raise ValueError(f"{token or 'the end'!r} stands where a value is wanted")
    return token
