#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the web site: installed pages, manual pages, device routines, plots of results.

    make_site.py SOURCE BUILD OUT

SOURCE is the source tree, BUILD the build folder with include/man/stamp, OUT the folder of the
site, which is emptied first. mkdocs (MKDOCS names another command) and its theme material must be
there; nothing is downloaded. Plots need matplotlib; without it a line says so and the tables stand
alone.
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import device_api
import plots
import python_api
import roff

HERE = Path(__file__).resolve().parent
CURE = "apt-get install mkdocs mkdocs-material, or pip install mkdocs mkdocs-material"


def installed_pages(source: Path) -> List[str]:
    """What Makefile.am installs as documentation."""
    text = (source / "Makefile.am").read_text(encoding="utf-8")
    found = re.search(r"^nobase_dist_doc_DATA = \\\n(.*?)# end", text, re.S | re.M)
    if not found:
        sys.exit("make_site: Makefile.am has no list nobase_dist_doc_DATA")
    return found.group(1).replace("\\", " ").split()


def sections(pages: List[str], made: Dict[str, List[object]]) -> List[object]:
    """mkdocs' nav: a line of the file `sections` each."""
    lines = [
        line.split(":", 1)
        for line in (HERE / "sections").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    left = [page for page in pages if page.endswith(".md")]
    named = {word for _, words in lines for word in words.split()}
    nav: List[object] = []
    for title, words in lines:
        part: List[object] = []
        for word in words.split():
            if word in made:
                part += made[word]
                continue
            taken = [
                page
                for page in left
                if fnmatch.fnmatchcase(page, word) and (page == word or page not in named)
            ]
            if not taken and "*" not in word:
                sys.exit(f"make_site: sections: {word} is no page that Makefile.am installs")
            part += taken
            left = [page for page in left if page not in taken]
        nav.append({title: part})
    return nav


def for_mkdocs(text: str) -> str:
    """A page as mkdocs reads it, which wants an empty line in front of a list or a table."""
    out: List[str] = []
    code = False
    for line in text.split("\n"):
        code ^= line.lstrip().startswith("```")
        kind = re.match(r"- |\d+\. |\|", line)
        before = out[-1] if out else ""
        if kind and not code and before and not before.startswith((kind.group()[0], " ", "#")):
            if not (kind.group()[0].isdigit() and before[0].isdigit()):
                out.append("")
        out.append(line)
    return "\n".join(out)


def config(pages: Path, out: Path, nav: List[object]) -> Dict[str, object]:
    palette = [
        {
            "media": "(prefers-color-scheme: %s)" % scheme,
            "scheme": name,
            "primary": "indigo",
            "toggle": {"icon": icon, "name": "Switch to the %s colours" % other},
        }
        for scheme, name, icon, other in (
            ("light", "default", "material/weather-night", "dark"),
            ("dark", "slate", "material/weather-sunny", "light"),
        )
    ]
    return {
        "site_name": "warpshmem",
        "site_description": "OpenSHMEM for CPUs and GPUs",
        "docs_dir": str(pages),
        "site_dir": str(out),
        "use_directory_urls": False,  # so that it can be read from a folder, without a server
        "theme": {
            "name": "material",
            "font": False,
            "palette": palette,
            "features": ["navigation.tabs", "navigation.top", "toc.follow"],
        },
        "extra_css": ["site.css"],
        "plugins": ["search"],
        "hooks": [str(HERE / "hooks.py")],
        "markdown_extensions": [
            "tables",
            "pymdownx.highlight",
            "pymdownx.superfences",
            "def_list",
            "sane_lists",
            {"toc": {"permalink": True}},
        ],
        "nav": nav,
    }


def stage(source: Path, build: Path, pages: Path) -> List[object]:
    """Copies and makes all pages; returns the nav."""
    names = installed_pages(source)
    for name in names:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, pages / name)
    shutil.copyfile(HERE / "site.css", pages / "site.css")
    drawn = plots.draw_all(pages)
    if drawn is None:
        print(
            "make docs: without plots, as matplotlib is missing: "
            "apt-get install python3-matplotlib, or pip install matplotlib"
        )
    for page in pages.rglob("*.md"):
        page.write_text(for_mkdocs(page.read_text(encoding="utf-8")), encoding="utf-8")
    manual = roff.make_pages(source, build, pages / "man")
    device = device_api.make_pages(source, build, pages / "device-api")
    python = python_api.make_pages(source, pages / "python-api")
    made: Dict[str, List[object]] = {
        "[man]": [{"Manual pages": manual}],
        "[device]": [{"Device routines": device}],
        "[python]": [{"Python routines": python}],
    }
    return sections(names, made)


def run_mkdocs(settings: Path) -> None:
    command = os.environ.get("MKDOCS", "mkdocs").split()
    if not shutil.which(command[0]):
        sys.exit(f"make docs: no {command[0]}: {CURE}")
    done = subprocess.run(
        command + ["build", "--strict", "--quiet", "-f", str(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    said = "\n".join(line for line in done.stdout.splitlines() if "Deprecation" not in line)
    if done.returncode and "'material'" in said:
        sys.exit(f"make docs: mkdocs has no theme material: {CURE}")
    if done.returncode:
        sys.exit(f"make docs: {command[0]} failed:\n{said}")


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, build, out = (Path(arg).resolve() for arg in sys.argv[1:])
    pages = out.with_name(out.name + ".pages")
    for folder in (pages, out):
        shutil.rmtree(folder, ignore_errors=True)
    pages.mkdir(parents=True)
    settings = pages.with_suffix(".yml")
    nav = stage(source, build, pages)
    settings.write_text(json.dumps(config(pages, out, nav), indent=1), encoding="utf-8")
    run_mkdocs(settings)
    print(f"wrote {out}/index.html")


if __name__ == "__main__":
    main()
