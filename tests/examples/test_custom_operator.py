"""The example of a package with operators: they are on all surfaces, and do what they say."""

import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from support import contract

from jdali import OperatorError, dynamic, fn, ops, pipeline_def, plugin_manager
from jdali._operators.record import REGISTRY

PACKAGE = Path(__file__).resolve().parents[2] / "examples" / "custom_operator" / "acme_ops"


@pytest.fixture(scope="module", autouse=True)
def loaded():
    plugin_manager.load_library(PACKAGE)
    yield
    for name in ("acme.checksum", "acme.vignette"):
        del REGISTRY[name]
    for surface in (fn, ops, dynamic):
        del surface.acme
    for name in [name for name in sys.modules if name.split(".")[0] == "acme_ops" or name.endswith(".acme")]:
        del sys.modules[name]


def darkened(image, strength):
    """The formula of the docstring, in float32 as there."""
    height, width, _ = np.float32(image.shape)
    y = (2 * np.arange(image.shape[0], dtype=np.float32) + 1) / height - 1
    x = (2 * np.arange(image.shape[1], dtype=np.float32) + 1) / width - 1
    light = 1 - np.float32(strength) * ((y[:, None] ** 2 + x[None, :] ** 2) / 2)
    return np.floor(image * light[..., None] + np.float32(0.5)).astype(np.uint8)


def images():
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, shape, np.uint8) for shape in ((6, 9, 3), (1, 4, 3), (7, 2, 3))]


def test_the_compiled_operator():
    strengths = [np.float32(s) for s in (0.5, 1, 0)]
    expected = [darkened(image, s) for image, s in zip(images(), strengths, strict=True)]
    contract.check(
        REGISTRY["acme.vignette"], [images()], per_sample={"strength": strengths}, layout="HWC", expected=[expected],
        atol=1,  # a product a last bit beside a half
    )  # fmt: skip


def test_in_a_pipeline_with_the_operator_on_the_host():
    @pipeline_def(batch_size=3, num_threads=1)
    def pipeline():
        pictures = fn.external_source([images()], layout="HWC", cycle=True)
        return fn.acme.vignette(pictures, strength=0), fn.acme.checksum(pictures)

    pipe = pipeline()
    same, sums = pipe.run()
    pipe.close()
    for i, image in enumerate(images()):
        np.testing.assert_array_equal(same.at(i), image)
        assert int(sums.at(i)) == zlib.crc32(image.tobytes())


def test_a_bad_argument_names_operator_and_sample():
    with pytest.raises(OperatorError, match=r"acme\.vignette: strength is 2\.0, it must be from 0 to 1"):
        dynamic.acme.vignette(images()[0], strength=2.0)
