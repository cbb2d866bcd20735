"""A function of a pipeline as a TensorFlow SavedModel, by jax2tf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import PICTURES, first_batch, pipeline

from jdali import fn, types

tf = pytest.importorskip("tensorflow", reason="the SavedModel is TensorFlow's: make tf")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # TensorFlow's own, of NumPy
def test_a_saved_model_has_the_bits_of_the_pipeline(tmp_path: Path):
    """For any number of samples."""
    from jax.experimental import jax2tf

    pictures = np.stack([p[:40, :40] for p in PICTURES])

    def define() -> Any:
        source = fn.external_source(lambda info: pictures, batch_info=True, layout="HWC", name="pictures")
        resized = fn.resize(source, size=(24, 28))
        return fn.crop_mirror_normalize(
            resized, crop=(16, 16), mean=pipelines.MEAN, std=pipelines.STD, dtype=types.FLOAT
        )

    function, want = pipeline(define).function("pictures"), np.stack(first_batch(pipeline(define))[0])
    converted = jax2tf.convert(
        jax.jit(function), polymorphic_shapes=["(batch, 40, 40, 3)"], with_gradient=False
    )
    module = tf.Module()
    module.serve = tf.function(
        converted, autograph=False, input_signature=[tf.TensorSpec([None, 40, 40, 3], tf.uint8)]
    )
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures={"serving_default": module.serve})
    served = tf.saved_model.load(str(tmp_path / "saved")).serve
    np.testing.assert_array_equal(served(tf.constant(pictures)).numpy(), want, strict=True)
    np.testing.assert_array_equal(served(tf.constant(pictures[:3])).numpy(), want[:3], strict=True)
