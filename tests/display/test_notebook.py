"""Notebooks show tensors, batches, pipelines, plans and reports."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import soundfile
from display.test_display import well_formed
from support import viewed

import jdali
from jdali import dynamic as ndd
from jdali import fn, pipeline_def
from jdali.tensors import TensorListCPU


@pytest.fixture(scope="module")
def pipe(tmp_path_factory):
    pipe = viewed.pictures(viewed.folder(tmp_path_factory.mktemp("pictures"), broken=False))
    yield pipe
    pipe.close()


def images(html):
    return [attributes for tag, attributes in well_formed(html) if tag == "img"]


def test_outputs_of_a_pipeline(pipe):
    outputs = pipe.run()
    html = outputs[1]._repr_html_()
    assert len(images(html)) == 5
    assert "picture_1.png" in html
    shown = jdali.show(outputs)
    assert len(images(shown._repr_html_())) == 10
    assert repr(shown).splitlines()[1] == "output 1: 5 samples on cpu, HWC, DALIDataType.UINT8, (96, 128, 3)"


def test_file_names_are_escaped(pipe):
    while True:
        (_, output, _) = pipe.run()
        if any(viewed.EVIL in name for name in output.source_info()):
            break
    html = output._repr_html_()
    assert "&lt;img src=x onerror" in html
    assert all("onerror" not in attributes for attributes in images(html))


def test_tensors_and_dynamic_values():
    batch = TensorListCPU(np.zeros((3, 8, 8, 3), np.uint8), layout="HWC")
    assert len(images(batch[1]._repr_html_())) == 1
    assert len(images(ndd.as_batch(batch)._repr_html_())) == 3
    assert len(images(ndd.as_tensor(batch[0])._repr_html_())) == 1
    assert jax.jit(lambda b: (b._repr_html_() is None) * b.padded()[0])(batch).all() == 0


def kinds(html):
    return [dict(attributes)["data-kind"] for tag, attributes in well_formed(html) if tag == "figure"]


def test_sounds_of_files_and_of_the_user(tmp_path):
    """Waveforms that can be played; labels, features and bytes of the same files are none."""
    tone = np.sin(np.arange(8000) / 20).astype(np.float32) / 2
    soundfile.write(tmp_path / "tone.wav", tone[:600], 8000)

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def define():
        data, label = fn.readers.file(files=[str(tmp_path / "tone.wav")])
        sound, rate = fn.decoders.audio(data)
        mine = fn.external_source(source=lambda info: np.stack([tone, -tone], axis=1), batch=False)
        return sound, mine, data, label, rate

    pipe = define()
    outputs = pipe.run()
    assert [kinds(output._repr_html_()) for output in outputs] == [
        ["sound"], ["sound"], ["bytes"], ["number"], ["number"]
    ]  # fmt: skip
    assert kinds(jdali.show(outputs)._repr_html_()) == ["sound", "sound", "bytes", "number", "number"]
    assert "<audio controls" in outputs[0]._repr_html_()
    assert "taken for a sound by its values" in outputs[1]._repr_html_()
    pipe.close()
    features = np.random.default_rng(0).normal(size=(1, 5000)).astype(np.float32)  # beyond full scale
    points = np.random.default_rng(0).uniform(-1, 1, (1, 5000, 3)).astype(np.float32)
    for batch in (features, np.abs(features) / 9, points):
        assert kinds(TensorListCPU(batch)._repr_html_()) == ["tensor"]


def test_batches_of_iterators():
    batch = {"image": jnp.zeros((2, 9, 9, 3), jnp.uint8), "label": np.array([3, 4])}
    shown = jdali.show(batch)
    html = shown._repr_html_()
    assert len(images(html)) == 2
    assert html.count("jd-number") >= 2
    assert repr(shown).startswith("image: 2 samples on cpu")
    with pytest.raises(TypeError, match="image is object, not a batch"):
        jdali.show({"image": object()})


def test_pipelines_plans_and_reports(pipe):
    html = pipe._repr_html_()
    well_formed(html)
    assert "crop_mirror_normalize" in html
    plan = pipe.plan()
    assert isinstance(plan, str)
    assert html in plan._repr_html_()
    from jdali._viewer.measure import measure_loop

    report = measure_loop(pipe, 2)
    well_formed(report._repr_html_())
    assert "verdict: " in report._repr_html_()
    assert all(len(value._repr_html_()) < 200_000 for value in (pipe, plan, report))


def test_a_long_pipeline_fits_into_a_notebook():
    @pipeline_def(batch_size=1, num_threads=1)
    def long():
        value = fn.external_source(source=lambda info: np.zeros((4, 4, 3), np.uint8), batch=False)
        for _ in range(1000):
            value = fn.flip(value, horizontal=fn.random.coin_flip())
        return value

    pipe = long()
    html = pipe._repr_html_()
    well_formed(html)
    assert len(html.encode()) <= 200_000
    assert "Pipeline.view() and print() show all" in html
    pipe.close()
