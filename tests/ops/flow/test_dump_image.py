"""dump_image: the files are DALI's, byte for byte."""

from pathlib import Path

import numpy as np
import pytest
from support import oracle
from support.data import image

import jdali
from jdali import fn


def dumped(package, samples, layout, folder, monkeypatch, used=True, **args):
    """Contents of the files by name, and the output of the operator."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    # Nothing is made ahead: that would write, too.
    pipe = package.Pipeline(
        batch_size=len(samples), num_threads=1, device_id=None, exec_async=False, exec_pipelined=False,
        prefetch_queue_depth=1,
    )  # fmt: skip
    with pipe:
        data = package.fn.external_source(source=[samples], cycle=True, layout=layout or None)
        out = package.fn.dump_image(data, **args)
        pipe.set_outputs(out if used else data)
    pipe.build()
    (given,) = pipe.run()
    outputs, layout = [np.array(given.at(i)) for i in range(len(samples))], given.layout()
    return {path.name: path.read_text() for path in Path(folder).iterdir()}, outputs, layout


@pytest.mark.oracle
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("args", [{}, {"suffix": "left"}], ids=str)
@pytest.mark.parametrize("layout", ["HWC", ""])
def test_files_as_dali(channels, args, layout, tmp_path, monkeypatch):
    samples = [image(h, w, channels, np.uint8, h) for h, w in ((4, 7), (1, 1), (9, 2))]
    ours = dumped(jdali, samples, layout, tmp_path / "jdali", monkeypatch, **args)
    theirs = dumped(oracle.dali(), samples, layout, tmp_path / "dali", monkeypatch, **args)
    assert ours[0] == theirs[0]
    assert len(ours[0]) == 3
    assert ours[2] == layout
    for got, want in zip(ours[1], samples, strict=True):
        np.testing.assert_array_equal(got, want)


def test_other_layouts(tmp_path, monkeypatch):
    """Each is the file of the same image in HWC."""
    pixels = image(5, 4)
    want, _, _ = dumped(jdali, [pixels], "HWC", tmp_path / "hwc", monkeypatch)
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    assert dumped(jdali, [planes], "CHW", tmp_path / "chw", monkeypatch)[0] == want
    assert dumped(jdali, [planes], "", tmp_path / "named", monkeypatch, input_layout="CHW")[0] == want
    grey = dumped(jdali, [pixels[..., :1]], "HWC", tmp_path / "grey", monkeypatch)[0]
    assert dumped(jdali, [pixels[..., 0]], "HW", tmp_path / "hw", monkeypatch)[0] == grey


def test_writes_though_nobody_uses_the_output(tmp_path, monkeypatch):
    files, _, _ = dumped(jdali, [image(2, 2)], "HWC", tmp_path / "files", monkeypatch, used=False)
    assert list(files) == ["0--0.ppm"]


@pytest.mark.parametrize(
    ("sample", "layout", "text"),
    [
        (
            np.zeros((2, 2, 4), np.uint8),
            "HWC",
            "Only 3-channel and gray images are supported, got input with `4` channels.\n.*sample 0",
        ),
        (np.zeros((2, 2, 3), np.float32), "HWC", "images must be uint8, got float32"),
        (
            np.zeros((1, 2, 2, 3), np.uint8),
            "FHWC",
            "Input images must have three dimensions, got input with `4` dimensions: layout 'FHWC' is none of HWC, CHW and HW",
        ),
        (
            np.zeros((2, 2), np.uint8),
            "",
            "Input images must have three dimensions, got input with `2` dimensions: layout 'HWC' is none of HWC, CHW and HW",
        ),
    ],
)
def test_what_is_refused(sample, layout, text, tmp_path, monkeypatch):
    with pytest.raises(jdali.OperatorError, match=f"dump_image: {text}"):
        dumped(jdali, [sample], layout, tmp_path / "files", monkeypatch)
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe, pytest.raises(TypeError, match="suffix"):
        fn.dump_image(fn.external_source(lambda: [sample]), suffix=fn.external_source(lambda: [sample]))
