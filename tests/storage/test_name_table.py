"""Names in one piece of memory, and the lists that they come from, beside a regular expression that says what a line is."""

from __future__ import annotations

import itertools
import os
import random
import re

import numpy as np
import pytest

from jdali._storage import BadLine, NameTable, name_table
from jdali._storage.name_table import ListedNames, take
from jdali._storage.names import table_from_data
from jdali.readers.file import file

# A name may hold spaces; the last word is the label.
LINE = re.compile(rb"([^\0]*[^\0\s])\s+(\d{1,18})\s*")
NAMES = ["a/b.jpg", "", "ü x.png", "\udcff", "cc::d", "/abs", "../up"]


def expected(text, largest):
    """(name, label, line) of each line that is not blank; the number of the first bad line in place of these."""
    rows = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            found = LINE.fullmatch(line)
            if found is None or int(found[2]) > largest:
                return number
            rows.append((os.fsdecode(found[1]), int(found[2]), number))
    return rows


def listed(text, largest):
    try:
        found = ListedNames(text, labelled=True, largest_label=largest)
    except BadLine as error:
        return error.number
    numbers = [found.line(index) for index in range(len(found.starts))]
    return list(zip(found.table(), found.labels.tolist(), numbers, strict=True))


@pytest.mark.cases(2)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 22])
def test_lists_are_read_as_the_expression_says(chunk, monkeypatch):
    monkeypatch.setattr(name_table, "_CHUNK_BYTES", chunk)
    draw = random.Random(3)
    pieces = [
        b"a",
        b"7",
        b"12",
        b" ",
        b"\t",
        b"\r",
        b"\n",
        b"\n",
        b"\0",
        b"\x0b",
        b"x.jpg",
        b"9" * 18,
        b"1" * 19,
    ]
    plain = [b"a b.jpg 1", b"  c 02 ", b"", b" \t", b"d\t7\r", b"12 13", b"e 0"]
    texts = [b"".join(draw.choices(pieces, k=draw.randint(0, 8))) for _ in range(300)]
    texts += [b"\n".join(draw.choices(plain, k=draw.randint(0, 9))) for _ in range(300)]
    kinds = set()
    for text, largest in itertools.product(texts, [12, 10**17]):
        rows = expected(text, largest)
        kinds.add(type(rows))
        found = listed(text, largest)
        if isinstance(rows, list):  # labels are 32-bit numbers: larger ones are refused by the reader
            rows = [(name, int(np.int64(label).astype(np.int32)), number) for name, label, number in rows]
        assert found == rows, text
    assert kinds == {int, list}


def test_the_error_has_the_line():
    with pytest.raises(BadLine) as caught:
        ListedNames(b"a 1\n\n b x \nc 2\n", labelled=True, largest_label=9)
    assert (caught.value.number, caught.value.line) == (3, b" b x ")


@pytest.mark.parametrize("text", [b"", b"\n", b" a b \n\t\n\rc", b"x\ny\n"])
def test_lists_without_labels(text):
    found = ListedNames(text, labelled=False)
    lines = [(n, line.strip().decode()) for n, line in enumerate(text.split(b"\n"), 1) if line.strip()]
    assert [(found.line(index), name) for index, name in enumerate(found.table())] == lines
    assert not len(found.labels)


def test_a_table_is_a_sequence():
    table = NameTable.of(NAMES)
    assert list(table) == NAMES == [table[i] for i in range(len(NAMES))]
    assert len(table) == len(NAMES)
    assert table[-1] == NAMES[-1]
    assert table[1:4] == NAMES[1:4]
    with pytest.raises(IndexError):
        table[len(NAMES)]
    chosen = np.array([3, 0, 0])
    assert take(table, chosen) == take(NAMES, chosen) == [NAMES[3], NAMES[0], NAMES[0]]


def test_tables_are_joined_with_names_put_in_place_of_others():
    first, second = NameTable.of(NAMES[:3]).with_others({1: "new"}), NameTable.of(NAMES[3:])
    joined = NameTable.joined([first, NameTable.of([]), second.with_others({0: "other"})])
    assert list(joined) == [NAMES[0], "new", NAMES[2], "other", *NAMES[4:]]
    assert list(NameTable.joined([])) == []


def test_names_are_found_by_what_they_hold():
    table = ListedNames(b"a:b 1\nplain 2\n..: 3\n:x y 4\n/z: 5\n", labelled=True, largest_label=9).table()
    assert table.holding(re.compile(rb":")) == [0, 2, 3, 4]
    assert table.holding(re.compile(rb"\.\.")) == [2]
    assert table.holding(re.compile(rb"\d")) == []  # labels are not of the names
    assert NameTable.of(["", "/a", "b/"]).starting_with("/") == [1]


@pytest.mark.parametrize(
    ("root", "free", "refused"),
    [
        ("/data", False, {"/abs", "../up"}),
        ("/data", True, set()),
        ("s3://bucket/x", False, {"/abs", "../up"}),
    ],
)
def test_names_are_checked_as_one_by_one(root, free, refused):
    for name in ["a/b.jpg", "cc::d", "/abs", "../up", "a%2e.jpg"]:
        table = NameTable.of(["first", name])
        if name in refused:
            with pytest.raises(ValueError, match="^line 1: .* names (found in data must|are relative)"):
                table_from_data(root, table, lambda i: f"line {i}", free=free)
        elif not (name == "cc::d" and root.startswith("s3")):
            found = table_from_data(root, table, lambda i: f"line {i}", free=free)
            assert list(found) == ["first", "./cc::d" if name == "cc::d" else name]


def test_a_list_takes_little_more_than_its_text(tmp_path):
    count = 50_000
    text = b"".join(b"n%03d/image_%07d.jpg %d\n" % (i % 100, i, i % 100) for i in range(count))
    (tmp_path / "list").write_bytes(text)
    reader = file.run(file_list=str(tmp_path / "list"))
    assert reader.source(count - 1).endswith(f"n099/image_{count - 1:07d}.jpg")
    assert reader.names.nbytes <= len(text) + 8 * count


def test_odd_names_are_found_wherever_they_begin():
    """What two names have together is in none of them, and hides nothing."""
    names = ["a.", "../up", "b.", ".c", "d:", "/abs", "\ud800:", "e"]
    table = NameTable.of(names)
    assert list(table) == names
    assert table.holding(re.compile(rb"\.\.")) == [1]
    for odd in ("../up", "/abs", "\ud800/../x"):
        with pytest.raises(ValueError, match="name 1"):
            table_from_data("root", NameTable.of(["a.", odd]), lambda i: f"name {i}", free=False)
