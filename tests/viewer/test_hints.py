"""Values of a graph are recognised by the operators that they come from; data are measured."""

import json
import logging

import numpy as np
import pytest
from support import viewed
from support.pictures import pillow

from jdali import Pipeline, fn, pipeline_def
from jdali._viewer.hints import hint_of, overlay_of
from jdali._viewer.survey import Survey


def hints(*outputs, known=None):
    """Hints of the outputs of a pipeline that is not run."""
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        made = outputs[0]()
        pipe.set_outputs(*made)
    graph = tuple(made)
    return [hint_of(value, known or (lambda value: None)) for value in graph], graph


def sound():
    data, _ = fn.readers.file(file_root="nowhere")
    decoded, rate = fn.decoders.audio(data, sample_rate=16000.0)
    spectrum = fn.spectrogram(decoded, nfft=512, window_step=160)
    mel = fn.mel_filter_bank(spectrum, sample_rate=16000.0, freq_low=100.0, freq_high=7000.0)
    slower = fn.audio_resample(decoded, in_rate=16000.0, out_rate=8000.0)
    return decoded, spectrum, fn.to_decibels(mel), fn.mfcc(mel), slower, rate


def test_sounds_and_spectrograms():
    (decoded, spectrum, mel, mfcc, slower, rate), _ = hints(sound)
    assert (decoded.kind, decoded.rate) == ("sound", 16000.0)
    assert (spectrum.kind, tuple(spectrum.axes)) == ("spectrogram", (0.01, 0.0, 8000.0, False))
    assert tuple(mel.axes) == (0.01, 100.0, 7000.0, True)
    assert tuple(mfcc.axes)[1:3] == (None, None)
    assert (slower.kind, slower.rate) == ("sound", 8000.0)
    assert rate.kind == ""


def test_the_name_of_a_reader_means_none_of_its_outputs():
    def named():
        data, label = fn.readers.file(file_root="nowhere", name="sounds_and_masks")
        return fn.decoders.image(data), label, fn.copy(label, name="labels")

    (image, label, copied), _ = hints(named)
    assert (image.kind, label.kind, copied.kind) == ("", "", "labels")


def test_the_rate_of_the_sample_where_it_is_not_given():
    def undecided():
        return fn.decoders.audio(fn.readers.file(file_root="nowhere")[0])

    (decoded, _), _ = hints(undecided, known=lambda value: np.float32(22050))
    assert decoded.rate == 22050


def coco(root, **options):
    """One picture of 20 by 10 pixels with a box at x = 4, y = 2 of 8 by 6."""
    (root / "p.png").write_bytes(pillow(np.zeros((10, 20, 3), np.uint8), "PNG"))
    annotation = {"id": 1, "image_id": 1, "category_id": 5, "bbox": [4, 2, 8, 6], "area": 48, "iscrowd": 0,
                  "segmentation": [[4, 2, 12, 2, 12, 8]]}  # fmt: skip
    instances = {"images": [{"id": 1, "file_name": "p.png", "width": 20, "height": 10}], "annotations": [annotation],
                 "categories": [{"id": 5, "name": "five"}]}  # fmt: skip
    (root / "instances.json").write_text(json.dumps(instances))

    @pipeline_def(batch_size=1, num_threads=1)
    def boxes():
        data, *others = fn.readers.coco(
            file_root=str(root), annotations_file=str(root / "instances.json"), **options
        )
        return fn.decoders.image(data), *others

    return boxes()


@pytest.mark.parametrize("ltrb", [False, True])
@pytest.mark.parametrize("ratio", [False, True])
def test_boxes_of_coco(tmp_path, ltrb, ratio):
    pipe = coco(tmp_path, ltrb=ltrb, ratio=ratio, polygon_masks=True)
    arrays = [output.to_samples()[0] for output in pipe.run()]
    overlay = overlay_of(pipe.outputs_of_graph, arrays)
    scale = np.array([20, 10, 20, 10]) if ratio else 1
    np.testing.assert_allclose(overlay.boxes * scale, [[4, 2, 12, 8]], rtol=1e-6)
    assert ("boxes" in overlay.relative) == ratio
    assert len(overlay.labels) == 1
    ring = overlay.polygons[0] * (np.array([20, 10]) if "polygons" in overlay.relative else 1)
    np.testing.assert_allclose(ring, [[4, 2], [12, 2], [12, 8]], rtol=1e-6)
    pipe.close()


def test_masks_of_coco(tmp_path):
    pipe = coco(tmp_path, pixelwise_masks=True)
    arrays = [output.to_samples()[0] for output in pipe.run()]
    overlay = overlay_of(pipe.outputs_of_graph, arrays)
    assert overlay.mask.shape == (10, 20)
    assert overlay.mask[3, 10] != 0
    assert overlay.mask[9, 1] == 0
    pipe.close()


def test_a_survey_has_the_mean_of_all_values(tmp_path):
    pipe = viewed.pictures(viewed.folder(tmp_path))
    inspector = pipe.inspector()
    survey = Survey(inspector)
    survey.start(100)
    survey._thread.join(timeout=120)
    assert survey.error == ""
    assert not survey.is_running
    first, resized, labels = (output.statistics(None) for output in survey.outputs)
    assert len(first.mean) == 3
    assert [bad.path.rpartition("/")[2] for bad in survey.bad] == ["broken.png"]
    assert survey.seen == 90  # ten epochs of ten samples, each with a bad one
    assert labels.labels == {0: 40, 1: 50}  # four cats that can be read, five dogs
    # All pictures are the same stripes, red in one half, blue in the other, white above; resized, and one row is mixed.
    stripes = viewed.stripes(96, 128).reshape(-1, 3).astype(np.float64)
    np.testing.assert_allclose(resized.mean, stripes.mean(axis=0), atol=1.5)
    np.testing.assert_allclose(resized.std, stripes.std(axis=0), atol=1.5)
    inspector.close()
    pipe.close()


def test_a_viewer_leaves_the_logging_of_the_program_alone(tmp_path):
    """uvicorn's own configuration would close all handlers that there are."""
    pytest.importorskip("uvicorn")
    closed = []

    class Watched(logging.Handler):
        def close(self):
            closed.append(True)

    handler = Watched()  # known to `logging` from here on
    pipe = viewed.pictures(viewed.folder(tmp_path))
    pipe.view().close()
    pipe.close()
    assert not closed
    del handler
