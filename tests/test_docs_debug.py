"""The example of docs/debug.md runs, and prints what the page says."""

from support import pages


def test_example(capsys):
    (example,) = pages.examples("debug.md")
    exec(compile(example.values[0], "docs/debug.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["shapes: [(4, 4, 3), (4, 4, 3)]", "first pixel: 2.0"]
    assert all(f"`{line}`" in pages.text("debug.md") for line in lines)
