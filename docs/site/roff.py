# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages as Markdown, by the macros that pages of this project use; others are errors."""

import re
import sys
from pathlib import Path
from typing import Dict, List, Tuple

SPECIAL = {"\\-": "-", "\\&": "", "\\e": "\\", "\\ ": "\u00a0"}
SECTION_NAMES = {"1": "Commands", "3": "Routines", "7": "Overview"}


def words(line: str) -> List[str]:
    """Arguments of a macro, with quotes."""
    return [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]


def escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]#|])", r"\\\1", text).replace("<", "&lt;")


def inline(text: str, fonts: bool = True) -> str:
    """Fonts and escapes of a line. Marks of emphasis must not touch spaces inside."""
    result, font = "", "R"
    for part in re.split(r"(\\f[BIRP])", text):
        if re.fullmatch(r"\\f[BIRP]", part):
            font = part[2]
            continue
        plain = re.sub(r"\\[-&e ]", lambda found: SPECIAL[found.group()], part)
        if not fonts:
            result += plain
            continue
        mark = {"B": "**", "I": "*"}.get(font, "")
        body = plain.strip()
        if not body or not mark:
            result += escape(plain)
            continue
        before, after = plain[: len(plain) - len(plain.lstrip())], plain[len(plain.rstrip()) :]
        result += before + mark + escape(body) + mark + after
    return result


class Page:
    """A page that is being translated; `links`: {name: file} of pages that exist."""

    def __init__(self, links: Dict[str, str], name: str) -> None:
        self.links, self.name = links, name
        self.out: List[str] = []
        self.code = False
        self.entry = ""  # of a list: "term", "first" line of its text, "more"

    def line(self, text: str) -> None:
        """A line of a paragraph, or of a list's entry, whose text is indented."""
        before = {"first": ":   ", "more": "    "}.get(self.entry, "")
        self.out.append(before + text)
        self.entry = {"term": "first", "first": "more"}.get(self.entry, self.entry)

    def reference(self, name: str, rest: str) -> str:
        plain = inline(name, False)
        found = re.match(r"\(\d\)", rest)
        if found and plain in self.links and plain != self.name:
            return (
                f"[{escape(plain)}{found.group()}]({self.links[plain]}){escape(rest[found.end():])}"
            )
        return f"**{escape(plain)}**{escape(inline(rest, False))}"

    def macro(self, name: str, line: str) -> None:
        args = words(line)
        if name in ("SH", "SS"):
            self.entry = ""
            heading = " ".join(args)
            if name == "SH":
                heading = heading.capitalize()
            self.out += ["", ("## " if name == "SH" else "### ") + escape(heading), ""]
        elif name == "PP":
            self.entry = ""
            self.out.append("")
        elif name == "TP":
            self.entry = "term"
            self.out.append("")
        elif name == "BR":
            self.line(self.reference(args[0], "".join(args[1:])))
        elif name in ("B", "I"):
            self.line(inline(f"\\f{name}{line}\\fR"))
        elif name == "br":
            self.out[-1] += "  "
        elif name == "nf":
            self.code = True
            self.out += ["", "```c"]
        elif name != "fi":
            sys.exit(f"roff: {self.name}: unknown macro .{name}")

    def read(self, text: str) -> None:
        for line in text.splitlines():
            if line.startswith('.\\"'):
                continue
            if self.code:
                if line == ".fi":
                    self.code = False
                    self.out += ["```", ""]
                elif line in (".PP", ".sp"):
                    self.out.append("")
                elif not re.fullmatch(r"(\\f[BIRP])*", line):
                    self.out.append(inline(line, False))
                continue
            found = re.match(r"\.([A-Za-z]+) ?(.*)", line)
            if found and found.group(1) != "TH":
                self.macro(found.group(1), found.group(2))
            elif line and not found:
                self.line(inline(line))


def summary(text: str) -> str:
    found = re.search(r"^\.SH NAME\n.*? \\- (.*)$", text, re.M)
    return inline(found.group(1), False) if found else ""


def sources(source: Path, build: Path) -> Dict[Tuple[str, str], Path]:
    """{(name, section): file} of all pages that are written, not those that only lead to others."""
    files = sorted((build / "include/man/man3").glob("*.3"))
    files += [build / "include/man/warpshmem.7", source / "include/man/pshmem.7"]
    files += sorted((source / "bootstrap").glob("**/*.1"))
    files += [source / "emulator/efa-emulate.1", build / "tools/warpshmem-info.1"]
    result = {
        (file.stem, file.suffix[1:]): file
        for file in files
        if not file.read_text(encoding="utf-8").startswith(".so ")
    }
    if not any(section == "3" for _, section in result):
        sys.exit(f"roff: no manual pages in {build}: run make include/man/stamp")
    return result


def aliases(build: Path) -> Dict[str, str]:
    """{other name: page} of routines."""
    lines = (build / "include/man/man3/aliases").read_text(encoding="utf-8").split("\n")
    return dict(line.split() for line in lines if line.strip())


def neighbours(order: List[Tuple[str, str]], at: int, links: Dict[str, str]) -> str:
    """Links to the pages before and after; generators make them for pages of the nav only."""
    result = []
    for word, other in (("Previous", at - 1), ("Next", at + 1)):
        if 0 <= other < len(order):
            name, section = order[other]
            result.append(f"{word}: [{escape(name)}({section})]({links[name]})")
    return "---\n\n" + " · ".join(result)


def make_pages(source: Path, build: Path, out: Path) -> List[object]:
    """Writes a page for each manual page, and an index; returns their part of the nav."""
    found = sources(source, build)
    links = {name: f"{name}.{section}.md" for name, section in found}
    links.update({name: links[page] for name, page in aliases(build).items() if page in links})
    out.mkdir(parents=True)
    index: Dict[str, List[str]] = {}
    order = sorted(found, key=lambda key: (key[1], key[0]))
    for at, (name, section) in enumerate(order):
        file = found[name, section]
        text = file.read_text(encoding="utf-8")
        page = Page(links, name)
        page.read(text)
        # The heading is first: generators take the title from there.
        body = f"# {name}({section})\n\n[Manual pages](index.md)\n" + "\n".join(page.out) + "\n"
        body += "\n" + neighbours(order, at, links) + "\n"
        (out / links[name]).write_text(re.sub(r"\n{3,}", "\n\n", body), encoding="utf-8")
        index.setdefault(section, []).append(
            f"| [{escape(name)}]({links[name]}) | {escape(summary(text))} |"
        )
    lines = [
        "# Manual pages",
        "",
        "`make install` puts them where `man` finds them. The headers are the source of section 3.",
    ]
    for section in ("7", "1", "3"):
        lines += ["", f"## {SECTION_NAMES[section]}", "", "| page | what |", "|---|---|"] + index[
            section
        ]
    (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["man/index.md"]
