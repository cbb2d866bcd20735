"""Writes README's pictures of the viewer, a still and a short film: screenshots of the viewer in Chromium.

    python tools/viewer_film.py [--folder docs/images]

The data are crops of scikit-learn's two photographs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
_SIZE = (960, 600)  # width and height of the window, pixels
_COLOURS = 160
_LARGEST = 1_500_000  # maximum bytes of the film
_MS = 120_000  # maximum milliseconds to wait for a page, whose programs may have to be compiled
_CODE = """
from jdali import fn, pipeline_def, types


@pipeline_def(batch_size=8, num_threads=2, seed=4)
def training():
    jpegs, labels = fn.readers.file(file_root="photos", random_shuffle=True, name="reader")
    images = fn.decoders.image(jpegs)
    images = fn.random_resized_crop(images, size=[144, 192], random_area=[0.4, 1.0])
    images = fn.rotate(images, angle=fn.random.uniform(range=[-12, 12]), keep_size=True, fill_value=0)
    images = fn.color_twist(
        images, brightness=fn.random.uniform(range=[0.8, 1.25]), saturation=fn.random.uniform(range=[0.5, 1.5])
    )
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[120.0] * 3, std=[60.0] * 3,
        mirror=fn.random.coin_flip(),
    )
    return images, labels
"""


def write_photos(folder: Path) -> None:
    """Writes 24 crops in two classes."""
    from sklearn.datasets import load_sample_image

    for number in range(24):
        kind = ("temple", "flower")[number % 2]
        photo = load_sample_image({"temple": "china.jpg", "flower": "flower.jpg"}[kind])
        place = folder / kind
        place.mkdir(parents=True, exist_ok=True)
        top, left = 7 * number, 13 * number
        Image.fromarray(photo[top : top + 240, left : left + 320]).save(
            place / f"{number:02}.jpg", quality=92
        )


@contextlib.contextmanager
def training_loop(pipe: Any) -> Iterator[None]:
    """Takes batches in a thread, like a training loop with steps of 30 ms."""
    from jdali.iterator import DataIterator

    stop = threading.Event()

    def train() -> None:
        with DataIterator(pipe, ["images", "labels"], reader_name="reader", auto_reset=True) as batches:
            while not stop.wait(0.03):
                next(batches, None)

    thread = threading.Thread(target=train, name="training")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Scene(NamedTuple):
    """A picture of the viewer, and how long the film shows it."""

    name: str
    picture: Image.Image
    milliseconds: int


def scenes(page: Any, url: str, pipe: Any) -> Iterator[Scene]:
    """Visits the pages of the viewer, and yields their screenshots."""

    def shown() -> Image.Image:
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")

    def scrolled(top: int) -> Image.Image:
        page.evaluate(f"scrollTo(0, {top})")
        return shown()

    page.goto(f"{url}batches/0")
    yield Scene("batches", shown(), 1800)
    page.locator(".jd-sample a").nth(1).click()
    page.wait_for_url("**/sample/0/1")
    yield Scene("sample", shown(), 1200)
    bottom = page.evaluate("document.documentElement.scrollHeight - innerHeight")
    for part in range(1, 5):
        yield Scene("operators", scrolled(bottom * part // 4), 700)
    page.evaluate("scrollTo(0, 0)")
    page.get_by_role("link", name="epochs").click()
    page.wait_for_url("**/epochs/*")
    yield Scene("epochs", shown(), 2000)
    with training_loop(pipe):
        page.goto(f"{url}time")
        page.wait_for_selector(".jd-report")  # appears once the programs are compiled
        page.wait_for_timeout(3000)
        for _ in range(3):
            page.wait_for_timeout(2500)
            yield Scene("time", shown(), 900)
        page.goto(f"{url}graph")
        yield Scene("graph", shown(), 2000)


def write_film(folder: Path) -> None:
    """Writes `viewer.png`, which shows a sample in several epochs, and the film `viewer.gif`.

    Raises:
        RuntimeError: the film has more than `_LARGEST` bytes.
    """
    from playwright.sync_api import sync_playwright
    from website.browser import chromium

    from jdali._viewer.server import view

    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch), sync_playwright() as playwright:
        write_photos(Path("photos"))
        Path("train.py").write_text(_CODE)
        exec(compile(_CODE, "train.py", "exec"), names)
        pipe = names["training"]()
        # Chromium's sandbox does not start for root, as in most containers; the pages are our own.
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": _SIZE[0], "height": _SIZE[1]}, color_scheme="light")
        page.set_default_timeout(_MS)
        viewer = view(pipe, name="train.py:training")
        try:
            shown = list(scenes(page, viewer.url, pipe))
        finally:
            viewer.close()
            pipe.close()
            browser.close()
    frames = [scene.picture.quantize(_COLOURS, dither=Image.Dither.NONE) for scene in shown]
    still = next(number for number, scene in enumerate(shown) if scene.name == "epochs")
    frames[still].save(folder / "viewer.png", optimize=True)
    film = folder / "viewer.gif"
    times = [scene.milliseconds for scene in shown]
    frames[0].save(film, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    if film.stat().st_size > _LARGEST:
        raise RuntimeError(f"{film} has {film.stat().st_size} bytes, more than {_LARGEST}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "images")
    write_film(parser.parse_args().folder.resolve())


if __name__ == "__main__":
    main()
