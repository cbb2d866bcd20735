"""The viewer in a real browser: every page, what it plays, and the pixels of known pictures.

`make browser` installs Debian's chromium. VIEWER_PICTURES=folder keeps pictures of the pages, as docs/viewer.md shows them.
"""

import contextlib
import io
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import viewed

from jdali.iterator import DataIterator

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
server = pytest.importorskip("jdali._viewer.server", reason="the extra `view` is not installed")

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("chromium is not installed; `make browser` does it", allow_module_level=True)

KEPT = Path(os.environ["VIEWER_PICTURES"]).resolve() if os.environ.get("VIEWER_PICTURES") else None
MS = 60_000  # for what compiles


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # CI runs as root, where chromium's sandbox does not start; it opens no other pages than these.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


class Tab:
    """A page of the browser, with what it asked other hosts for and what its console complained of."""

    def __init__(self, browser, url, **options):
        self.page = browser.new_page(**options)
        self.page.set_default_timeout(MS)
        self.url, self.elsewhere, self.complaints = url, [], []
        self.page.on("request", self._note)
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))

    def _note(self, request):
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, path):
        self.page.goto(self.url + path)
        return self.page

    def keep(self, name, **options):
        if KEPT:
            shown = Image.open(io.BytesIO(self.page.screenshot(**options))).convert("RGB")
            shown.quantize(64).save(KEPT / f"viewer_{name}.png", optimize=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    place = tmp_path_factory.mktemp("viewed")
    with contextlib.chdir(place):  # so that names are short in the pictures of docs
        (place / "train").mkdir()
        folder = viewed.folder(Path("train"))
        pipe = viewed.pictures(folder)
        view = server.view(pipe, name="train.py:training", make=lambda: viewed.pictures(folder))
        yield view, pipe
        view.close()
        pipe.close()


@pytest.fixture(scope="module")
def served_kinds():
    pipe = viewed.kinds()
    view = server.view(pipe, name="kinds")
    yield view.url
    view.close()
    pipe.close()


@pytest.fixture
def tab(browser, served):
    tab = Tab(browser, served[0].url, viewport={"width": 1100, "height": 720}, color_scheme="light")
    yield tab
    tab.page.close()
    assert tab.elsewhere == []
    assert tab.complaints == []


def pixels(element):
    """Takes a picture of an element in the browser, uint8 [H, W, 3]."""
    return np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("RGB"))


def close_to(found, wanted, atol=3):
    return np.abs(found.astype(int) - np.array(wanted)).max() <= atol


def test_batch_shows_the_pixels_of_a_picture(tab):
    page = tab.open("batches/0")
    frames = page.locator(".jd-sample").first.locator(".jd-frame img")
    assert frames.count() == 2
    shown = pixels(frames.nth(1))  # the picture before the augmentation
    height, width = shown.shape[:2]
    assert close_to(shown[height * 3 // 4, width // 5], (220, 30, 40))
    assert close_to(shown[height * 3 // 4, width * 4 // 5], (30, 60, 210))
    assert close_to(shown[height // 20, width // 2 - 10], (255, 255, 255))
    assert "normalized: shown between its min" in page.locator("figcaption").first.inner_text()
    tab.keep("batches")


def test_keys_and_numbers_lead_to_batches(tab):
    page = tab.open("batches/0")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/batches/1")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/batches/0")
    page.get_by_label("epoch").fill("1")
    page.get_by_role("button", name="go").click()
    page.wait_for_url("**/batches/2")  # ten files in batches of five
    assert "epoch 1" in page.locator(".jd-name").first.inner_text()
    page.keyboard.press("2")
    page.wait_for_url("**/graph")


def test_file_names_are_text(tab):
    page = tab.open("batches/0")
    page.keyboard.press("/")
    page.keyboard.type("onerror")
    page.keyboard.press("Enter")
    page.wait_for_url("**/find*")
    assert viewed.EVIL in page.locator("tbody").inner_text()
    assert page.locator("img").count() == 0
    page.locator("tbody a").click()
    page.wait_for_url("**/epochs/*")
    assert page.locator(".jd-sample").count() == 20
    assert page.locator("img[onerror]").count() == 0
    tab.keep("epochs")


def test_sample_shows_every_operator_and_what_it_drew(tab, served):
    page = tab.open("sample/0/1")
    names = page.locator(".jd-node summary strong").all_inner_texts()
    assert names == [node.op.name for node in served[1].inspector().nodes]
    rotate = page.locator(".jd-node", has=page.locator("summary strong", has_text="rotate"))
    drawn = float(rotate.locator("tr", has_text="angle").locator("code").nth(1).inner_text())
    angle = page.locator(".jd-node", has=page.locator("summary strong", has_text="uniform")).locator(
        ".jd-number"
    )
    assert abs(float(angle.inner_text()) - drawn) < 1e-3
    assert -25 <= drawn <= 25
    tab.keep("sample")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/sample/0/2")


def test_graph_names_all_operators(tab, served):
    page = tab.open("graph")
    text = page.locator("svg.jd-graph").text_content()
    assert all(node.op.name in text for node in served[1].inspector().nodes)
    assert "uint8 96×128×3, 36.9 kB" in text
    assert page.locator("svg.jd-graph").bounding_box()["height"] > 200


def test_data_are_measured(tab, served):
    page = tab.open("data")
    page.get_by_label("samples").fill("10")
    page.get_by_role("button", name="measure").click()
    page.wait_for_selector("[data-done]")
    shown = page.locator("main").inner_text()
    assert "broken.png" in shown
    assert viewed.EVIL not in page.locator(".jd-part").first.inner_text()
    assert "cats (0)" in shown
    assert page.locator("meter").count() == 2
    line = page.locator(".jd-paste").nth(1).inner_text()  # of the pictures before the augmentation
    assert line.startswith("mean=[")
    tab.keep("data")


def test_time_is_live(tab, served):
    page = tab.open("time")
    row = page.locator("tbody tr").first
    before = row.inner_text()
    for _ in range(3):
        served[1].run()
    sync_api.expect(row).not_to_have_text(before, use_inner_text=True, timeout=MS)
    assert "samples a second" in page.locator("main").inner_text()


def test_the_report_of_a_training_loop_is_live(tab, served):
    _, pipe = served
    with DataIterator(pipe, ["normal", "image", "label"], reader_name="reader") as loop:
        next(loop)
        page = tab.open("time")
        report = page.locator(".jd-report").first
        sync_api.expect(report).to_contain_text("The training loop, this epoch")
        sync_api.expect(report).to_contain_text("1 batch in")
        report.locator("summary").click()  # what is open stays so
        next(loop)
        sync_api.expect(report).to_contain_text("2 batches in", timeout=MS)
        assert "verdict: " in report.locator("pre").inner_text()
        assert "the loop waited for data" in report.inner_text()
        sync_api.expect(page.locator("svg.jd-curve")).to_have_count(2, timeout=MS)
        tab.keep("time")


def test_a_loop_is_measured(tab):
    page = tab.open("graph")
    page.get_by_role("button", name="measure").click()
    page.wait_for_url("**/graph")
    page.get_by_text("are measured").wait_for(state="detached")
    heads = page.locator("svg.jd-graph text[font-weight]").all_text_contents()
    steps = [head for head in heads if not head.startswith("output")]
    assert [head.partition(" ")[0] for head in steps] == ["reads", "host", "stage"]
    assert all(" ms" in head for head in steps)
    # The stage gives the picture before the augmentation, and that behind it as float32.
    assert steps[-1].endswith(f"{96 * 128 * 3 * (1 + 4) / 1e3:.3g} kB")
    tab.keep("graph")
    page = tab.open("time")
    assert "50 batches" in page.locator(".jd-report", has_text="does nothing else").inner_text()


def test_an_epoch_that_fails_shows_its_error_alone(browser, tmp_path):
    pipe = viewed.fickle(viewed.folder(tmp_path, broken=False))
    view = server.view(pipe, name="fickle")
    tab = Tab(browser, view.url)
    page = tab.open("epochs/0")
    samples = page.locator(".jd-sample")
    failed = samples.filter(has=page.locator("[role=alert]"))
    assert samples.count() == 20
    assert 0 < failed.count() < 20
    assert failed.locator("img").count() == 0
    assert samples.locator("img").count() == 20 - failed.count()
    assert "crop" in failed.first.inner_text()
    assert tab.complaints == []
    page.close()
    view.close()
    pipe.close()


def test_missing_page_says_so(browser, served):
    tab = Tab(browser, served[0].url)
    page = tab.open("sample/0/99")
    assert "there is no position 99" in page.locator("[role=alert]").inner_text()
    page.close()


def test_error_of_a_sample_is_on_its_page(tab, served):
    inspector = served[1].inspector()
    index = inspector.find("broken")[0][0][0]
    page = tab.open(f"epochs/{index}")
    assert "broken.png" in page.locator("[role=alert]").inner_text()
    number = next(n for n in range(2) if index in inspector.task(n).ids.index)
    page = tab.open(f"batches/{number}")
    assert "broken.png" in page.locator("[role=alert]").inner_text()


def test_kinds_of_values(browser, served_kinds):
    tab = Tab(browser, served_kinds, viewport={"width": 1200, "height": 1000}, color_scheme="dark")
    page = tab.open("batches/0")
    sample = page.locator(".jd-sample").first
    figure = {
        kind: sample.locator(f"[data-kind={kind}]")
        for kind in ("picture", "video", "sound", "spectrogram", "bytes")
    }
    # A box is drawn on its edge: 0.25 to 0.75 of the picture's sides.
    frame = figure["picture"].first.locator(".jd-frame")
    box, rectangle = frame.bounding_box(), frame.locator("rect").bounding_box()
    assert abs((rectangle["x"] - box["x"]) / box["width"] - 0.25) < 0.02
    assert abs((rectangle["y"] - box["y"]) / box["height"] - 0.25) < 0.02
    assert abs(rectangle["width"] / box["width"] - 0.5) < 0.03
    assert frame.locator("text").text_content() == "7"
    assert frame.locator("circle").count() == 1
    masked = pixels(frame)
    height, width = masked.shape[:2]
    over = masked[int(height * 0.9), int(width * 0.15)]  # red below the mask's first colour, half transparent
    assert close_to(over, np.mean([(220, 30, 40), (255, 77, 77)], axis=0), atol=6)
    # A video plays: after some frames other pixels are shown.
    video = figure["video"].locator("img")
    first = pixels(video)
    assert any(np.abs(pixels(video).astype(int) - first).max() > 60 for _ in range(40))
    # A sound has its length and plays; its waveform fills half of the height or more.
    audio = figure["sound"].locator("audio")
    audio.evaluate(
        "a => a.readyState > 0 || new Promise(done => a.addEventListener('loadedmetadata', () => done(1)))"
    )
    assert abs(audio.evaluate("a => a.duration") - 1.0) < 0.01
    assert audio.evaluate("a => { a.muted = true; return a.play().then(() => !a.paused) }")
    assert figure["sound"].locator("polygon").bounding_box()["height"] > 30
    # A rising tone goes from the lower left to the upper right.
    picture = pixels(figure["spectrogram"].locator("image")).astype(int).sum(axis=-1)
    quarter = picture.shape[1] // 4
    early, late = (picture[:, at - 5 : at + 5].sum(axis=1).argmax() for at in (quarter, 3 * quarter))
    assert early > late + picture.shape[0] // 10
    texts = figure["spectrogram"].locator("text").all_text_contents()
    assert any(text.endswith(" s") for text in texts)
    assert "4000 Hz" in texts
    assert figure["bytes"].locator("pre").inner_text() == "<b>a text</b>"
    page.evaluate("scrollTo(0, 0)")
    tab.keep("kinds")
    assert tab.complaints == []
    assert tab.elsewhere == []
    page.close()


def test_a_phone_needs_no_scrolling_sideways(browser, served):
    tab = Tab(browser, served[0].url, viewport={"width": 390, "height": 800}, color_scheme="dark")
    for path in ("batches/0", "sample/0/0", "epochs/1", "find?text=onerror", "graph", "data", "time"):
        page = tab.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    background = pixels(page.locator("body"))[-5, 5]
    assert background.max() < 60  # dark
    page.emulate_media(color_scheme="light")
    background = pixels(page.locator("body"))[-5, 5]
    assert background.min() > 200
    page.close()


def test_the_keyboard_reaches_an_operator_and_its_values(tab):
    """Tab goes through the pages to an operator of the graph; Enter shows what it makes."""
    page = tab.open("graph")
    for _ in range(30):
        page.keyboard.press("Tab")
        if "decoders.image" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/sample/0/*#n*")
    node = page.locator(".jd-node:target")
    assert node.locator("summary strong").inner_text() == "decoders.image"
    assert node.locator("img").count() == 1


def test_without_the_token_nothing_is_there(browser, served):
    page = browser.new_page()
    answer = page.goto(served[0].url.rsplit("/", 2)[0] + "/batches/0")
    assert answer.status == 404
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page.close()
