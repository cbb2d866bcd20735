"""Iterators, graphs, plans and reports print well; readers know the names of classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jdali import __version__, fn, pipeline_def
from jdali.cli import main
from jdali.iterator import DataIterator


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for i, name in enumerate(["cat", "dog", "dog"]):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / f"{i}.jpg").write_bytes(bytes(4))
    return str(tmp_path)


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def reading(folder: str):
    return fn.readers.file(file_root=folder, name="Reader")


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"jdali {__version__}\n"


def test_a_command_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctr"])
    assert "did you mean doctor?" in capsys.readouterr().err


def test_classes_of_a_folder(folder: str) -> None:
    assert reading(folder).reader_meta("Reader")["classes"] == ["cat", "dog"]


def test_squeezing(folder: str) -> None:
    pipe = reading(folder)
    with DataIterator(pipe, ["bytes", "labels"], reader_name="Reader", squeeze="labels") as batches:
        assert repr(batches) == (
            "<jdali.DataIterator of bytes, labels: 2 samples a batch, 1 pipeline, 0 of 2 batches of this epoch taken>"
        )
        np.testing.assert_array_equal(next(batches)["labels"], [0, 1])
        assert "1 of 2 batches" in repr(batches)
    with pytest.raises(ValueError, match=r"squeeze names \['label'\], the outputs are"):
        DataIterator(reading(folder), ["bytes", "labels"], squeeze=["label"])
    with (
        DataIterator(reading(folder), ["bytes", "labels"], squeeze=["bytes"]) as batches,
        pytest.raises(ValueError, match=r"squeeze names 'bytes', but its samples are not single numbers"),
    ):
        next(batches)


def test_what_a_pipeline_says_before_its_first_batch(folder: str) -> None:
    pipe = reading(folder)
    assert "no batch was made yet" in pipe.plan()
    assert repr(pipe.graph) == "<graph of 1 operators: Reader>"
    (contents, _) = pipe.run()
    assert "no batch was made yet" not in pipe.plan()
    assert repr(contents.provenance) == f"Provenance(['{folder}/cat/0.jpg', '{folder}/dog/1.jpg'], 2 samples)"
