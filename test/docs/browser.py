#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The web site in a headless Chromium, driven by chromedriver: its search, its widths, its colours.

    browser.py search SITE QUERIES          the first hit of each query, from the folder and over http
    browser.py look SITE FOLDER [PAGE…]     images of the pages, 1,280 and 390 wide, light and dark, in FOLDER; then every
                                            page on a phone: its width, its scripts, a copy button at each block of code

The exit status is 1 if fewer than 45 of 50 hits are right, or a page is wrong, and 77 without chromium or chromedriver.
"""

import base64
import functools
import http.server
import json
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

NEEDED = 0.9
PHONE = 390
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
]


class Browser:
    """A window; chromedriver's protocol is JSON over http."""

    def __init__(self) -> None:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if not chromium or not driver:
            print("skip: no chromium or chromedriver (apt-get install chromium chromium-driver)")
            sys.exit(77)
        # However this ends, close() is called, and nothing stays behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True)
        try:
            self.open(chromium)
        except BaseException:
            self.process.kill()
            raise

    def open(self, chromium: str) -> None:
        assert self.process.stdout
        port = next(
            found.group(1)
            for line in self.process.stdout
            for found in [re.search(r"successfully on port (\d+)", line)]
            if found
        )
        self.url = f"http://127.0.0.1:{port}/session"
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": chromium, "args": ARGUMENTS},
            "goog:loggingPrefs": {"browser": "SEVERE"},
        }
        made = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.url += "/" + made["sessionId"]

    def call(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Any:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def go(self, url: str) -> None:
        self.call("POST", "/url", {"url": url})

    def run(self, script: str, *args: object) -> Any:
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script: str, *args: object) -> Any:
        return self.call("POST", "/execute/async", {"script": script, "args": list(args)})

    def tool(self, command: str, **params: object) -> Any:
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def size(self, width: int, height: int) -> None:
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip

    def colours(self, scheme: str) -> None:
        self.tool(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def image(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def failures(self) -> List[str]:
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def close(self) -> None:
        try:
            self.call("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(20)


class Query(NamedTuple):
    text: str
    places: List[str]
    title: str


def queries(path: Path) -> Iterator[Query]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" | ")] + [""]
            yield Query(parts[0], parts[1].split(), parts[2])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
        """Nothing."""


def serve(site: Path) -> Tuple[http.server.ThreadingHTTPServer, str]:
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"


# Types a query; done when its hits are shown.
TYPE = """
const [text, done] = arguments, input = document.querySelector(".ws-input"), list = document.querySelector(".ws-hits");
input.value = text;
input.dispatchEvent(new Event("input"));
(function look() {
    const link = list.querySelector("a");
    if (list.dataset.query !== text)
        return setTimeout(look, 20);
    done(link ? [link.href, link.querySelector("b").textContent] : ["", ""]);
})();
"""


def ask(browser: Browser, root: str, asked: List[Query]) -> List[Tuple[str, str]]:
    """(place, title) of each query's first hit."""
    browser.go(root + "index.html")
    browser.run("document.querySelector('.ws-open').click()")
    found = [browser.run_async(TYPE, query.text) for query in asked]
    return [(href[len(root) :], title) for href, title in found]


def right(query: Query, hit: Tuple[str, str]) -> bool:
    return any(hit[0].startswith(place) for place in query.places) and query.title in hit[1]


def search(site: Path, path: Path) -> int:
    asked, browser = list(queries(path)), Browser()
    server, url = serve(site)
    try:
        hits = [ask(browser, root, asked) for root in (site.as_uri() + "/", url)]
    finally:
        browser.close()
        server.shutdown()
    good = [0, 0]
    print(f"{'file':4} {'http':4} {'query':50} first hit")
    for query, *both in zip(asked, *hits):
        verdicts = [right(query, hit) for hit in both]
        good = [count + verdict for count, verdict in zip(good, verdicts)]
        marks = ["yes" if verdict else "NO" for verdict in verdicts]
        print(f"{marks[0]:4} {marks[1]:4} {query.text[:50]:50} {both[0][0]}: {both[0][1][:60]}")
    print(
        f"first hits that are right: {good[0]} of {len(asked)} from a folder, {good[1]} over http"
    )
    return int(min(good) < NEEDED * len(asked))


# What a page has: its width, search buttons, blocks of code that have no copy button, links to its neighbours.
STATE = """
const count = what => document.querySelectorAll(what).length;
return [document.documentElement.scrollWidth, count(".ws-open"),
        count(".highlight pre") - count(".highlight pre .md-code__button"), count(".md-footer__link")];
"""


def look(site: Path, folder: Path, pages: List[str]) -> int:
    browser, wrong = Browser(), 0
    root = site.as_uri() + "/"
    try:
        for page in pages:
            for width, height in ((1280, 1600), (PHONE, 1400)):
                for scheme in ("light", "dark"):
                    browser.size(width, height)
                    browser.colours(scheme)
                    browser.go(f"{root}{page}.html")
                    browser.image(folder / f"{page.replace('/', '_')}-{width}-{scheme}.png")
        browser.size(PHONE, 844)
        every = sorted(
            path.relative_to(site).as_posix()
            for path in site.rglob("*.html")
            if path.name != "404.html"
        )
        browser.failures()
        for name in every:
            browser.go(root + name)
            wide, search_buttons, uncopied, neighbours = browser.run(STATE)
            failed = browser.failures()
            # Manual pages are reached by their index and by the search.
            alone = not neighbours and not name.startswith("man/")
            if wide > PHONE or search_buttons != 1 or uncopied or alone or failed:
                wrong += 1
                print(
                    f"{name}: {wide} wide, {search_buttons} search buttons, {uncopied} blocks without a copy button,"
                    f" {neighbours} links to neighbours, scripts: {failed}"
                )
    finally:
        browser.close()
    print(f"{len(every)} pages on a phone, {wrong} wrong; {4 * len(pages)} images in {folder}")
    return int(wrong > 0)


def main() -> int:
    if len(sys.argv) == 4 and sys.argv[1] == "search":
        return search(Path(sys.argv[2]).resolve(), Path(sys.argv[3]))
    if len(sys.argv) >= 4 and sys.argv[1] == "look":
        return look(Path(sys.argv[2]).resolve(), Path(sys.argv[3]), sys.argv[4:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
