"""Values as pictures, sounds and numbers: known pixels, decoded by Pillow, libsndfile and an HTML parser."""

import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import soundfile
from PIL import Image

from jdali._display import LARGE, SMALL, Hint, Overlay, batch_html, escape, figure
from jdali._display.batches import MOST_BYTES, NamedBatch
from jdali._display.figures import envelope, frames_of, wav
from jdali._display.graph import GraphBox, GraphEdge, graph_svg, layers
from jdali._display.numbers import bytes_text, histogram, numbers_text
from jdali._display.overlays import mask_pixels, overlay_html
from jdali._display.pictures import animation_of, fit, picture_of, png, webp
from jdali._display.spectra import SpectrumAxes, spectrum_pixels, spectrum_svg


def decoded(data):
    return np.asarray(Image.open(io.BytesIO(data)))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_is_what_pillow_reads(channels):
    pixels = np.random.default_rng(0).integers(0, 256, (7, 5, channels), np.uint8)
    np.testing.assert_array_equal(decoded(png(pixels)).reshape(pixels.shape), pixels)


def test_uint8_is_not_changed():
    array = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    picture = picture_of(array, "HWC")
    np.testing.assert_array_equal(picture.pixels, array)
    assert picture.notes == ()


def test_chw_and_normalization_are_undone_and_said_so():
    array = np.array([[[-2.0, 2.0]], [[0.0, 0.0]], [[2.0, -2.0]]], np.float32)  # CHW, H=1, W=2
    picture = picture_of(array, "CHW")
    np.testing.assert_array_equal(picture.pixels, [[[0, 128, 255], [255, 128, 0]]])
    assert picture.notes == ("normalized: shown between its min -2 and max 2",)


@pytest.mark.parametrize("layout", ["HWC", "CHW", "HCW", "WHC", "CWH", "HW", "WH"])
def test_axes_in_any_order(layout):
    pixels = np.random.default_rng(0).integers(0, 256, (8, 9, 3 if "C" in layout else 1), np.uint8)
    array = pixels.transpose(["HWC".index(letter) for letter in layout + "C" * ("C" not in layout)])
    shown = picture_of(array.reshape(array.shape[: len(layout)]), layout)
    np.testing.assert_array_equal(shown.pixels, pixels)
    assert shown.notes == ()


@pytest.mark.parametrize(
    ("array", "pixels", "note"),
    [
        (np.array([[0.0, 0.5, 1.0]], np.float32), [0, 128, 255], "0 to 1"),
        (np.array([[0, 128, 255]], np.float32), [0, 128, 255], None),
        (np.array([[0, 1, 2]], np.int32), [0, 128, 255], "int32: shown between its min 0 and max 2"),
        (np.array([[100, 40100, 20200]], np.uint16), [0, 255, 128], "uint16: shown between its min 100 and max 4.01e+04"),
        (np.array([[True, False, True]]), [255, 0, 255], "bool: white is true"),
        (np.array([[np.nan, 0.0, 1.0]], np.float32), [0, 0, 255], "1 values are NaN or infinite, shown black"),
        (np.full((1, 3), np.nan, np.float32), [0, 0, 0], "3 values are NaN or infinite, shown black"),
        (np.full((1, 3), -7.0, np.float32), [0, 0, 0], "normalized: shown between its min -7 and max -7"),
    ],
)  # fmt: skip
def test_ranges(array, pixels, note):
    picture = picture_of(array, "HW")
    assert picture.pixels[..., 0].tolist() == [pixels]
    assert note is None or note in picture.notes


def test_odd_numbers_of_channels():
    two, seven = np.zeros((8, 9, 2), np.uint8), np.zeros((7, 8, 9), np.uint8)
    assert picture_of(two, "HWC").pixels.shape == (8, 9, 1)
    assert picture_of(seven, "CHW").pixels.shape == (8, 9, 3)
    assert picture_of(seven, "CHW").notes == ("3 of 7 channels shown",)


def test_frames_share_their_range():
    frames = np.zeros((10, 2, 2), np.float32)
    frames[-1] = 4.0
    frames[0] = -4.0
    shown = animation_of(frames, "FHW", most=3)
    assert shown.pixels[:, 0, 0, 0].tolist() == [0, 128, 255]
    assert shown.notes[0] == "3 of 10 shown"


def test_smaller_pictures_are_means_of_blocks():
    pixels = np.zeros((4, 6, 1), np.uint8)
    pixels[:2, :2] = 100
    pixels[0, 0] = 200
    assert fit(pixels, 3)[..., 0].tolist() == [[125, 0, 0], [0, 0, 0]]
    assert fit(np.ones((1, 50, 3), np.uint8), 10).shape == (1, 10, 3)


def test_webp_plays():
    frames = np.zeros((3, 8, 8, 3), np.uint8)
    frames[1] = 255
    image = Image.open(io.BytesIO(webp(frames)))
    assert image.n_frames == 3
    image.seek(1)
    assert np.asarray(image.convert("RGB")).min() > 240


def test_wav_is_what_libsndfile_reads():
    frames = np.stack([np.linspace(-1.2, 1.2, 90), np.zeros(90)], axis=1).astype(np.float32)
    data, rate = soundfile.read(io.BytesIO(wav(frames, 22050)), dtype="float32")
    assert rate == 22050
    np.testing.assert_allclose(
        data, frames.clip(-1, 1), rtol=0, atol=1.6 / 32768
    )  # half a step, and 32767 is 1


def test_integer_sounds_have_full_scale():
    frames = frames_of(np.array([-32768, 0, 32767], np.int16))
    np.testing.assert_allclose(frames[:, 0], [-1, 0, 1], atol=1e-4)  # the middle lies between two integers
    assert frames_of(np.zeros((9, 2), np.float32)).shape == (9, 2)


def test_envelope_has_peaks():
    sound = np.zeros((1000, 1), np.float32)
    sound[505], sound[507] = 0.75, -0.5
    parts = envelope(sound, 10)
    assert parts[5].tolist() == [-0.5, 0.75]
    assert not np.delete(parts, 5, axis=0).any()


def test_spectrograms_have_low_frequencies_at_the_bottom():
    array = np.zeros((4, 6), np.float32)
    array[0, 5] = 1  # lowest frequency, last window
    pixels, note = spectrum_pixels(array, "ft")
    bright = pixels.astype(int).sum(axis=-1)
    assert np.unravel_index(bright.argmax(), bright.shape) == (3, 5)
    np.testing.assert_array_equal(spectrum_pixels(array.T, "tf")[0], pixels)
    assert note == "values 0 to 1"
    svg = spectrum_svg(pixels, SpectrumAxes(seconds=0.5, low=0.0, high=8000.0), 100)
    assert all(text in svg for text in ("0 s", "1.5 s", "3 s", "0 Hz", "4000 Hz", "8000 Hz"))
    # The middle of 0 to 8000 Hz on the mel scale: 2595 log10(1 + f / 700) halved.
    assert "1768 Hz" in spectrum_svg(pixels, SpectrumAxes(0.5, 0.0, 8000.0, mel=True), 100)


def test_boxes_points_and_masks():
    overlay = Overlay(
        boxes=np.array([[0.1, 0.2, 0.5, 0.8]]), labels=["<b>"], points=np.array([[3.0, 4.0, 1.0]]),
        relative=frozenset({"boxes"}),
    )  # fmt: skip
    html = overlay_html(overlay, 100, 200, 512)
    assert '<rect x="20.00" y="20.00" width="80.00" height="60.00"' in html
    assert "&lt;b&gt;" in html
    assert '<circle cx="3.00" cy="4.00"' in html
    mask = mask_pixels(np.array([[0, 1, 2]]))
    assert mask[0, :, 3].tolist() == [0, 128, 128]
    assert mask[0, 1, :3].tolist() == [255, 77, 77]


def test_histograms_count_finite_values():
    counts, low, high = histogram(np.array([0, 0, 1, np.nan, np.inf]), bins=2)
    assert (counts.tolist(), low, high) == ([2, 1], 0.0, 1.0)
    assert histogram(np.array([np.nan]))[0].sum() == 0
    assert len(numbers_text(np.arange(100_000))) < 200


def test_a_histogram_of_times_in_nanoseconds():
    """All of them are one number in float64."""
    counts, low, high = histogram(np.int64(1_700_000_000_000_000_000) + np.arange(4), bins=2)
    assert (counts.tolist(), low, high) == ([2, 2], 1.7e18, 1.7e18)
    counts, _, _ = histogram(np.array([-(2**63), 2**63 - 1]), bins=2)
    assert counts.tolist() == [1, 1]


SHAPES = [
    ((), ""), ((1,), ""), ((64,), ""), ((8, 8), ""), ((0, 3), ""), ((9, 9, 3), "HWC"), ((3, 9, 9), "CHW"), ((9, 9), "HW"),
    ((2, 9, 9, 3), "FHWC"), ((0, 9, 3), "HWC"), ((16, 4), "ft"), ((2, 3, 4, 5), ""),
]  # fmt: skip


@pytest.mark.cases(40)
@pytest.mark.parametrize("kind", ["", "sound", "spectrogram", "boxes", "labels", "mask"])
@pytest.mark.parametrize("name", ["bool", *"bhilqBHILQ", "float16", "float32", "float64"])
def test_any_value_can_be_shown(name, kind):
    """Extreme values of each type, alone and together, in shapes of all kinds; a warning would be an error."""
    dtype = np.dtype(name)
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype) if dtype.kind in "iu" else None
    values = [False, True] if info is None else [info.min, 0, 1, info.max - 1, info.max]
    if dtype.kind == "f":
        values += [info.smallest_subnormal, np.nan, np.inf, -np.inf]
    for chosen in (values, *([value] for value in values), values[:1] + values[-1:]):
        for shape, layout in SHAPES:
            array = np.resize(np.array(chosen, dtype), shape)
            assert figure(array, layout=layout, hint=Hint(kind)).html


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (b"a\nb", "text", "a\nb"), ("é".encode(), "text", "é"), (b"\0\xff", "bytes", "00 ff"),
        (b"\xff\xd8\xff\xe0", "JPEG file", "ff d8 ff e0"), (b"BMW", "BMP file", "42 4d 57"),
    ],
)  # fmt: skip
def test_bytes(data, kind, text):
    assert bytes_text(np.frombuffer(data, np.uint8)) == (kind, text)


@pytest.mark.parametrize(
    ("array", "layout", "hint", "kind"),
    [
        (np.zeros((9, 9, 3), np.float32), "HWC", Hint(), "picture"),
        (np.zeros((9, 9, 3), np.float32), "", Hint(), "picture"),
        (np.zeros((5, 6, 7), np.float32), "", Hint(), "tensor"),
        (np.zeros((4, 9, 9, 3), np.uint8), "FHWC", Hint(), "video"),
        (np.zeros((4, 9, 9, 1), np.uint8), "DHWC", Hint(), "video"),
        (np.zeros(900, np.float32), "", Hint("sound", 8000.0), "sound"),
        (np.zeros((9, 9), np.float32), "ft", Hint(), "spectrogram"),
        (np.zeros(9, np.uint8), "", Hint(), "bytes"),
        (np.zeros((), np.int64), "", Hint(), "number"),
        (np.zeros((0, 4), np.float32), "", Hint("boxes"), "tensor"),
        (np.zeros((0, 4, 3), np.uint8), "HWC", Hint(), "tensor"),
        (np.zeros(0, np.float32), "", Hint("sound"), "tensor"),
    ],
)
def test_kinds(array, layout, hint, kind):
    for detail in (SMALL, LARGE):
        shown = figure(array, name="x", layout=layout, hint=hint, detail=detail)
        assert shown.kind == kind
        well_formed(shown.html)


class Tags(HTMLParser):
    """All tags and attributes of a piece of HTML."""

    def __init__(self, html):
        super().__init__()
        self.open, self.found = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("img", "meta", "link", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def well_formed(html):
    """Checks that tags are closed and that nothing comes from another host or runs; returns them."""
    tags = Tags(html)
    assert tags.open == []
    for tag, attributes in tags.found:
        assert tag != "script"
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            assert attributes.get(name, "data:").startswith("data:")
    return tags.found


def test_names_and_texts_are_escaped():
    evil = '"><script>alert(1)</script><img onerror=x>'
    text = np.frombuffer(evil.encode(), np.uint8)
    html = batch_html(evil, 1, [NamedBatch(evil, "", lambda i: text)], [evil])
    tags = well_formed(html)
    assert [tag for tag, _ in tags if tag == "img"] == []
    assert escape("a\x00b\n") == "a\\x00b\n"


def test_a_notebook_gets_200_kb_at_most():
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), np.uint8)
    html = batch_html("noise", 64, [NamedBatch("x", "HWC", lambda i: noise)])
    assert MOST_BYTES / 2 < len(html.encode()) <= MOST_BYTES
    assert int(re.search(r"and (\d+) more samples", html)[1]) == 64 - html.count('class="jd-sample"')
    well_formed(html)


def test_graph_has_layers():
    boxes = [GraphBox(key, key, [f"op <{key}>"]) for key in "abcd"]
    edges = [
        GraphEdge("a", "b"),
        GraphEdge("a", "c"),
        GraphEdge("b", "d"),
        GraphEdge("c", "d"),
        GraphEdge("x", "d"),
    ]
    assert [[box.key for box in layer] for layer in layers(boxes, edges)] == [["a"], ["b", "c"], ["d"]]
    svg = graph_svg(boxes, edges)
    well_formed(svg)
    assert svg.count("<rect") == 4
    assert "op &lt;a&gt;" in svg


def test_border_lies_between_its_sides():
    boxes = [GraphBox("a", "a", []), GraphBox("b", "b", [], below=1), GraphBox("c", "c", [])]
    ordered = layers(boxes, [GraphEdge("a", "b")])
    assert [[box.key for box in layer] for layer in ordered if layer] == [["a", "c"], ["b"]]
    assert "the border" in graph_svg(boxes, [GraphEdge("a", "b")], "the border")
