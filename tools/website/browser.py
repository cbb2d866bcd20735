"""Opens pages in Chromium at two widths, and reports their problems."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDTHS = (390, 1280)  # pixels: a telephone, a desktop
_SHOWN = (
    "index",
    "gallery",
    "operators/resize",
    "operators/spectrogram",
    "migration/torchvision",
    "tutorials/images",
)
_SECONDS = 30.0  # maximum seconds to wait for a message of the browser
_SEARCHED_FROM = "operators/resize"
# Searched words, and a part of the address that must be found first.
_FOUND = {
    "gaussian": "operators/gaussian_blur.html",
    "random crop": "random_crop",
    "resume": "/resuming.html",
}

# Runs in the page. Lazy pictures may not be loaded yet, so only other pictures are checked.
_PROBLEMS = """(() => {
  const found = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 1) {
    const widest = [...document.querySelectorAll("main *")].find((e) => {
      if (e.getBoundingClientRect().right <= innerWidth + 1) return false;
      for (let p = e; p; p = p.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(p).overflowX)) return false;
      return true;
    });
    found.push(`is ${wide} pixels too wide` + (widest ? `: ${widest.tagName} ${widest.textContent.slice(0, 60)}` : ""));
  }
  for (const image of document.images)
    if (image.complete && !image.naturalWidth && image.loading !== "lazy") found.push(`shows no ${image.src}`);
  if (!document.querySelector("h1")?.textContent.trim()) found.push("has no heading");
  return found;
})()"""


_VERSIONS = """[...document.querySelectorAll(".md-version__link")].map((link) => link.href)"""

# Types into the theme's search field, which searches at each "keyup" event and loads its index on first use.
_SEARCH = """(async (word) => {
  const field = document.querySelector(".md-search__input");
  field.focus();
  field.value = word;
  for (let i = 0; i < 200; i++) {
    field.dispatchEvent(new KeyboardEvent("keyup"));
    await new Promise((done) => setTimeout(done, 100));
    const links = [...document.querySelectorAll(".md-search-result__link")].map((link) => link.href);
    if (links.length) return links;
  }
  return [];
})"""


def chromium() -> str | None:
    """Returns the path of Chromium; None if it is not installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Tab:
    """Controls a tab of the browser through the Chrome DevTools protocol."""

    def __init__(self, socket: Any):
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method; events that arrive meanwhile are kept."""
        number = next(self._numbers)
        await self._socket.write_message(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = await self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message.get("result", {})
                return result

    async def open(self, address: str, width: int, *, dark: bool = False) -> list[str]:
        """Opens a page; returns its problems."""
        self.events.clear()
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        await self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            await self._receive()
        looked = await self.call("Runtime.evaluate", expression=_PROBLEMS, returnByValue=True)
        return [*looked["result"]["value"], *filter(None, map(_complaint, self.events))]

    async def search(self, word: str) -> list[str]:
        """Searches the site for a word; returns the addresses of the results."""
        # The field searches only with focus.
        await self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        found = await self.call(
            "Runtime.evaluate",
            expression=f"{_SEARCH}({json.dumps(word)})",
            awaitPromise=True,
            returnByValue=True,
        )
        addresses: list[str] = found["result"]["value"]
        return addresses

    async def _receive(self) -> dict[str, Any]:
        text = await asyncio.wait_for(self._socket.read_message(), _SECONDS)
        if text is None:
            raise RuntimeError("the browser has closed the connection")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    async def picture(self, file: Path) -> None:
        """Writes a screenshot to a PNG file."""
        made = await self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(made["data"]))


def _complaint(event: dict[str, Any]) -> str:
    """Describes the problem that an event of the browser reports; "" if it reports none."""
    parameters = event["params"]
    match event["method"]:
        case "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            return f"throws {details.get('exception', {}).get('description', details['text'])}"
        case "Log.entryAdded" if parameters["entry"]["level"] == "error":
            return f"logs {parameters['entry']['text']} {parameters['entry'].get('url', '')}"
        case "Runtime.consoleAPICalled" if parameters["type"] == "error":
            return f"logs {parameters['args']}"
        case "Network.requestWillBeSent" if parameters["request"]["url"].startswith("http"):
            return f"asks another host for {parameters['request']['url']}"
    return ""


async def _look(port: int, folder: Path, names: Sequence[str], pictures: Path | None) -> list[str]:
    from tornado.websocket import websocket_connect

    request = urllib.request.Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")
    with urllib.request.urlopen(request) as answer:
        address = json.load(answer)["webSocketDebuggerUrl"]
    socket = await websocket_connect(address, max_message_size=1 << 28)
    tab = Tab(socket)
    for domain in ("Page", "Runtime", "Log", "Network"):
        await tab.call(f"{domain}.enable")
    wrong = []
    for name in names:
        for width in WIDTHS:
            found = await tab.open((folder / f"{name}.html").as_uri(), width)
            wrong += [f"{name} at {width} pixels {problem}" for problem in found]
    for word, wanted in _FOUND.items() if _SEARCHED_FROM in names else ():
        await tab.open((folder / f"{_SEARCHED_FROM}.html").as_uri(), WIDTHS[-1])
        found = await tab.search(word)
        if not found or wanted not in found[0]:
            wrong.append(f"the search of {_SEARCHED_FROM} for {word} finds {found[:1]}, not {wanted}")
    for name in _SHOWN if pictures else ():
        for width, dark in itertools.product(WIDTHS, (False, True)):
            await tab.open((folder / f"{name}.html").as_uri(), width, dark=dark)
            await asyncio.sleep(0.5)  # until fonts and pictures are loaded from disk
            assert pictures is not None
            await tab.picture(
                pictures / f"{name.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png"
            )
    if names:
        wrong += await _versions_missed(tab, folder, names[-1])
    socket.close()
    return wrong


async def _versions_missed(tab: Tab, folder: Path, name: str) -> list[str]:
    """Lists the versions of the site that are missing in a page's selector."""
    await tab.open((folder / f"{name}.html").as_uri(), WIDTHS[-1])
    shown = await tab.call("Runtime.evaluate", expression=_VERSIONS, returnByValue=True)
    wanted = {page.as_uri() for page in folder.parent.glob("*/index.html")}
    return [f"{name} does not lead to {address}" for address in wanted - set(shown["result"]["value"])]


def look(folder: Path, names: Sequence[str] = (), pictures: Path | None = None) -> None:
    """Opens pages at each width, in the light colour scheme, and searches the site from one page.

    Args:
        folder: folder of the site.
        names: names of the pages, without ".html"; empty: all pages.
        pictures: folder for screenshots of some pages, in the light and the dark scheme; None: no screenshots.

    Raises:
        SystemExit: Chromium is missing; or a page has errors, requests data from another host, or is wider than the
            window.
    """
    folder, program = folder.resolve(), chromium()
    if program is None:
        raise SystemExit("--look needs Chromium: apt-get install chromium")
    names = names or sorted(
        str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.html") if p.name != "404.html"
    )
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # Chromium may still write to it
        command = [program, "--headless", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0"]
        # Chromium's sandbox does not work for root, as in most containers; the pages are our own.
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        command += ["--remote-allow-origins=*", f"--user-data-dir={profile}", "about:blank"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as browser:
            try:
                wrong = asyncio.run(_look(_port(browser), folder, names, pictures))
            finally:
                browser.terminate()
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"{len(names)} pages looked at, {' and '.join(map(str, WIDTHS))} pixels wide", file=sys.stderr)


def _port(browser: subprocess.Popen[str]) -> int:
    """Waits until the browser prints its DevTools port; returns the port."""
    assert browser.stderr is not None
    said = []
    for line in browser.stderr:
        said.append(line)
        if line.startswith("DevTools listening on"):
            return int(line.rsplit(":", 1)[1].partition("/")[0])
    raise RuntimeError("Chromium did not start:\n" + "".join(said))
