"""The examples of docs/pytorch.md run, on small data made here."""

import pytest
from support import pages

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torchdata", reason="torchdata is not installed")

# What is printed by the example with these words.
EXPECTED = {
    "DALIClassificationIterator": [
        "torch.Size([3, 3, 32, 32]) torch.float32 tensor([0, 0, 0], dtype=torch.int32)"
    ],
    "DALIServer": ["torch.Size([4, 3, 32, 32]) torch.float32 torch.Size([4])"] * 4,
    "tn.Prefetcher": ["torch.Size([4, 32, 32, 3]) tensor(True)"],
    "LoaderEvaluator": ["  Mode: log", "  Mode: replay", "  Cache size: 2/2", "  Number of batches: 16"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    pages.write_photos(root)
    return root


@pytest.mark.parametrize("code", list(pages.examples("pytorch.md")))
def test_example(code, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    exec(compile(code, "docs/pytorch.md", "exec"), {"__name__": "example"})
    lines = capsys.readouterr().out.splitlines()
    (expected,) = [text for word, text in EXPECTED.items() if word in code]
    for line in expected:
        assert line in lines
        lines.remove(line)
