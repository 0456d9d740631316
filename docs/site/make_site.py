#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the web site: installed pages, manual pages, device routines, plots of results.

    make_site.py SOURCE BUILD OUT

SOURCE is the source tree, BUILD the build folder with include/man/stamp, OUT the folder of the
site, which is emptied first. Zensical must be there (ZENSICAL names another command), in the version
of requirements.txt; nothing is downloaded. What it does not do is done here: the nav, the first page,
the plots, the pages made from sources, and a search that needs no server.
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
import headlines
import plots
import python_api
import roff
import search_index

HERE = Path(__file__).resolve().parent
CURE = "pip install -r docs/site/requirements.txt"
FIRST = "## Two commands"  # of README, before which the landing page has more
FEATURES = "content.code.copy navigation.footer navigation.tabs navigation.top toc.follow".split()
EXTENSIONS = (
    "attr_list def_list md_in_html pymdownx.highlight pymdownx.superfences sane_lists tables"
).split()
# Pages whose tables' rows can be found and linked one by one, with the beginning of their anchors.
ROWS = {"docs/guide/errors.md": "row-", "docs/guide/settings.md": ""}


def installed_pages(source: Path) -> List[str]:
    """What Makefile.am installs as documentation."""
    text = (source / "Makefile.am").read_text(encoding="utf-8")
    found = re.search(r"^nobase_dist_doc_DATA = \\\n(.*?)# end", text, re.S | re.M)
    if not found:
        sys.exit("make_site: Makefile.am has no list nobase_dist_doc_DATA")
    return found.group(1).replace("\\", " ").split()


def sections(pages: List[str], made: Dict[str, List[object]]) -> List[object]:
    """The nav: a line of the file `sections` each."""
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


def as_markdown(text: str) -> str:
    """A page as Python's Markdown reads it, which wants an empty line in front of a list or a table."""
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


def with_anchors(text: str, start: str) -> str:
    """Rows of tables get anchors: the setting's name, or a number."""
    count = 0

    def anchor(found: "re.Match[str]") -> str:
        nonlocal count
        count += 1
        return f'| <a id="{start + str(count) if start else found.group(1)}"></a>`{found.group(1)}`'

    return re.sub(r"^\| `([^`]+)`", anchor, text, flags=re.M)


def landing(readme: str) -> str:
    """README with the picture beside its first words, and the plots below them."""
    if FIRST not in readme:
        sys.exit(f"make_site: README.md has no line '{FIRST}', before which the plots belong")
    head, rest = readme.split(FIRST, 1)
    title, first = head.split("\n", 1)
    more = (HERE / "landing").read_text(encoding="utf-8")
    hide = "---\nhide:\n  - navigation\n  - toc\n---\n"
    return f'{hide}{title}\n\n<div class="ws-first" markdown>\n{first}\n</div>\n\n{more}\n{FIRST}{rest}'


def palette() -> List[object]:
    """The first follows the system, until the reader chooses."""
    result: List[object] = []
    for media, scheme, icon, other in (
        ("", "default", "lucide/sun-moon", "light"),
        (": light", "default", "lucide/sun", "dark"),
        (": dark", "slate", "lucide/moon", "system's"),
    ):
        toggle = {"icon": icon, "name": f"Switch to the {other} colours"}
        result.append(
            {
                "media": f"(prefers-color-scheme{media})",
                "scheme": scheme,
                "primary": "indigo",
                "accent": "indigo",
                "toggle": toggle,
            }
        )
    return result


def config(source: Path, pages: Path, out: Path, nav: List[object]) -> Dict[str, object]:
    # As forges make anchors, so that links hold in both.
    slugify = {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}}
    return {
        "site_name": "warpshmem",
        "site_description": "OpenSHMEM for CPUs and GPUs",
        "docs_dir": pages.name,
        "site_dir": out.name,
        "use_directory_urls": False,  # so that it can be read from a folder, without a server
        "theme": {
            "variant": "modern",
            "language": "en",
            "font": False,
            "palette": palette(),
            "features": FEATURES,
        },
        "extra_css": ["site.css"],
        "extra_javascript": ["search.js"],
        "plugins": {
            "search": {"enabled": False},  # search.js
            "mkdocstrings": python_api.settings(source),
        },
        "markdown_extensions": {
            **{name: {} for name in EXTENSIONS},
            "toc": {"permalink": True, "slugify": slugify},
        },
        "nav": nav,
    }


def rewrite(page: Path, name: str, said: Dict[str, str]) -> None:
    """A page of the tree as one of the site."""
    text = page.read_text(encoding="utf-8")
    if name == "README.md":
        text = landing(text)
    if name in ROWS:
        text = with_anchors(text, ROWS[name])
    before = "docs/guide/" if name == "README.md" else ""
    page.write_text(as_markdown(headlines.show(text, said, before)), encoding="utf-8")


def stage(source: Path, build: Path, pages: Path) -> List[object]:
    """Copies and makes all pages; returns the nav."""
    names = installed_pages(source)
    for name in names:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, pages / name)
    for name in ("site.css", "search.js"):
        shutil.copyfile(HERE / name, pages / name)
    plots.draw_all(pages)
    said = headlines.draw_all(source / "docs/guide/results.md", pages / "docs/guide")
    for page in sorted(pages.rglob("*.md")):
        rewrite(page, page.relative_to(pages).as_posix(), said)
    manual = roff.make_pages(source, build, pages / "man")
    device = device_api.make_pages(source, build, pages / "device-api")
    python = python_api.make_pages(source, pages / "python-api")
    made: Dict[str, List[object]] = {
        "[man]": [{"Manual pages": manual}],
        "[device]": [{"Device routines": device}],
        "[python]": [{"Python routines": python}],
    }
    return sections(names, made)


def run_zensical(settings: Path) -> None:
    command = os.environ.get("ZENSICAL", "zensical").split()
    if not shutil.which(command[0]):
        sys.exit(f"make docs: no {command[0]}: {CURE}")
    done = subprocess.run(
        command + ["build", "--clean", "--strict", "-f", str(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if done.returncode:
        sys.exit(f"make docs: {command[0]} failed:\n{done.stdout}")


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
    settings.write_text(json.dumps(config(source, pages, out, nav), indent=1), encoding="utf-8")
    run_zensical(settings)
    search_index.write(out, roff.aliases(build))
    print(f"wrote {out}/index.html")


if __name__ == "__main__":
    main()
