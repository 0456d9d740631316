# SPDX-License-Identifier: BSD-3-Clause
"""What search.js looks in: a script, so that a browser loads it from a folder too, without a server.

A page's text is cut at its headings. Rows of a table whose first cell has an anchor are entries of
their own: messages of errors.md with their patterns, settings with their names. Manual pages know
the other routines that they describe, and the options.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Dict, List, Optional, Tuple

HEADINGS = ("h1", "h2", "h3")
# The kind of a page, by the beginning of its place: it decides between equal hits.
KINDS = (
    ("man/", "man"),
    ("device-api/", "device"),
    ("python-api/", "python"),
    ("docs/design/", "design"),
    ("docs/ARCHITECTURE", "design"),
    ("docs/guide/results", "results"),
    ("docs/guide/", "guide"),
    ("index.html", "guide"),
    ("NEWS", "news"),
)


class Entry:
    """A section, or a row: where it is, and what it says."""

    def __init__(self, place: str, title: str = "") -> None:
        self.place, self.title = place, title
        self.text: List[str] = []
        self.names: List[str] = []


def is_setting(text: str) -> bool:
    return bool(re.fullmatch(r"(NV)?SHMEM_\w+", text))


class Sections(HTMLParser):
    """Entries of an article."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.entries = [Entry("")]
        self.section = self.entries[0]
        self.heading = ""  # within one
        self.cell = 0  # of a row, from 1
        self.row: Optional[Entry] = None
        self.code: Optional[List[str]] = None
        self.hidden = 0
        self.term = False  # of a list, such as an option of a program
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        known = dict(attrs)
        if tag in ("script", "style", "svg", "button", "nav"):
            self.hidden += 1
        elif tag in HEADINGS:
            self.heading = tag
            if tag != "h1":
                self.section = Entry("#" + (known.get("id") or ""))
                self.entries.append(self.section)
        elif tag == "tr":
            self.cell, self.row = 0, None
        elif tag in ("td", "th"):
            self.cell += 1
            (self.row or self.section).text.append(" ")
        elif tag == "a" and known.get("id") and self.cell == 1:
            self.row = Entry(f"#{known['id']}")
            self.entries.append(self.row)
        elif tag == "code":
            self.code = []
        elif tag == "dt":
            self.term = True
            self.section.text.append(" ")
        elif tag in ("p", "li", "pre", "dd", "br", "div"):
            self.section.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "svg", "button", "nav"):
            self.hidden = max(0, self.hidden - 1)
        elif tag == self.heading:
            self.heading = ""
        elif tag == "dt":
            self.term = False
        elif tag == "code" and self.code is not None:
            text = "".join(self.code)
            if self.row and (self.cell == 1 or is_setting(text) and is_setting(self.row.names[0])):
                self.row.names.append(text)
            self.code = None
        elif tag == "tr":
            self.row, self.cell = None, 0

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        if self.heading:
            self.section.title += data.replace("¶", "")
            return
        if self.code is not None:
            self.code.append(data)
        if self.term:
            self.section.names += re.findall(r"(?<!\S)-{1,2}\w[\w-]*", data)
        if self.row:
            if self.cell == 1:
                self.row.title += data
            self.row.text.append(data)
        else:
            self.section.text.append(data)


def kind_of(page: str) -> str:
    return next((kind for start, kind in KINDS if page.startswith(start)), "other")


def article(html: str) -> str:
    start, end = html.find("<article"), html.rfind("</article>")
    return html[start:end] if 0 <= start < end else ""


def tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def entries(page: str, html: str, others: Dict[str, List[str]]) -> List[List[object]]:
    """[place, kind, title of the page, title, names, text] of each."""
    found = Sections(article(html)).entries
    title = tidy(found[0].title)
    name = re.match(r"man/(.*)\.\d\.html$", page)
    result = []
    for at, entry in enumerate(found):
        names = entry.names
        if at == 0 and name:
            names = [name.group(1)] + others.get(name.group(1), [])
            entry.text = [text for part in found if part.title == "Name" for text in part.text]
        elif page.startswith("python-api/") and at > 0:
            names = ["warpshmem." + tidy(entry.title)]
        text = tidy("".join(entry.text))
        if text or names or at == 0:
            result.append(
                [page + entry.place, kind_of(page), title, tidy(entry.title), names, text]
            )
    return result


def write(site: Path, aliases: Dict[str, str]) -> int:
    """Writes search_index.js beside the pages; returns how many entries it has."""
    others: Dict[str, List[str]] = {}
    for other, page in aliases.items():
        others.setdefault(page, []).append(other)
    result: List[List[object]] = []
    for path in sorted(site.rglob("*.html")):
        page = path.relative_to(site).as_posix()
        if page != "404.html":
            result += entries(page, path.read_text(encoding="utf-8"), others)
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    (site / "search_index.js").write_text(f"window.warpshmemIndex={text};\n", encoding="utf-8")
    return len(result)
