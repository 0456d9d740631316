# SPDX-License-Identifier: BSD-3-Clause
"""The routines of device code as Markdown, from device/api/*.cuh.

The headers are preprocessed as nvcc's host pass sees them, without CUDA. Declarations then stand
at the line of the macro that made them, and belong to the comment in front of that line. Forms that
differ in the type, the width or the scope alone are one entry.
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

import roff

TYPES = (
    "float double longdouble char schar short int long longlong uchar ushort uint ulong ulonglong "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 size ptrdiff half bfloat16"
).split()
# Types whose C name stands for nothing else in a prototype, so that it can be replaced there.
SHOWN = {"float": "float", "ulonglong": "unsigned long long", "schar": "signed char"}
DECLARED = re.compile(
    r"(?:__device__|static inline)\s+(?:__forceinline__\s+)?"
    r"([A-Za-z_][\w<>:\s*]*?[\s*])(shmemx?_\w+)\s*\(([^()]*)\)\s*[;{]"
)
WIDTH = 94
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
TYPED = re.compile(r"(shmemx?_(?:ctx_)?)(%s)_(\w+)" % "|".join(TYPES))


class Routine(NamedTuple):
    line: int
    result: str
    name: str
    parameters: str


class Shape(NamedTuple):
    """A family of routines: its prototype, with TYPE and BITS in it."""

    result: str
    name: str
    parameters: str


def preprocessed(source: Path) -> str:
    command = os.environ.get("CXX", "g++").split()
    command += ["-E", "-std=c++17", "-D__CUDACC__", "-D__NVCC__", "-x", "c++"]
    command += [f"-I{source / 'include'}", f"-I{source}", "-"]
    done = subprocess.run(
        command,
        input="#include <shmemx.h>\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit("device_api: the headers cannot be preprocessed: " + done.stderr[-500:])
    return done.stdout


def by_file(text: str) -> Dict[str, List[Tuple[int, str]]]:
    """{name of a header: [(line, text)]} of preprocessed text."""
    result: Dict[str, List[Tuple[int, str]]] = {}
    name, line = "", 0
    for part in text.split("\n"):
        found = re.match(r'# (\d+) "(.*)"', part)
        if found:
            line, name = int(found.group(1)), os.path.basename(found.group(2))
            continue
        result.setdefault(name, []).append((line, part))
        line += 1
    return result


def routines(lines: List[Tuple[int, str]]) -> List[Routine]:
    result = []
    for at, (line, _) in enumerate(lines):
        # A prototype may go on in the next lines; what begins there is found there.
        text = " ".join(part for _, part in lines[at : at + 4])
        for found in DECLARED.finditer(text):
            if found.start() < len(lines[at][1]):
                tidy = [re.sub(r"\s+", " ", part).strip() for part in found.groups()]
                tidy[2] = re.sub(r"\bstruct (__half|__nv_bfloat16)", r"\1", tidy[2])
                result.append(Routine(line, *tidy))
    return result


def shape(routine: Routine) -> Tuple[Shape, str, str]:
    """The family of a routine, its type (or width), and its scope."""
    result, name, parameters = routine.result, routine.name, routine.parameters
    kind = scope = ""
    found = re.fullmatch(r"(.*?)_(warp|block)((?:_on_stream)?)", name)
    if found:
        name, scope = found.group(1) + found.group(3), found.group(2)
    found = TYPED.fullmatch(name)
    if found:
        kind = found.group(2)
        name = f"{found.group(1)}TYPENAME_{found.group(3)}"
    found = re.search(r"(put|get)(8|16|32|64|128)(?=_|$)", name)
    if found:
        kind = found.group(2)
        name = name[: found.start(2)] + "BITS" + name[found.end(2) :]
    return Shape(result, name, parameters), kind, scope


def families(found: List[Routine]) -> List[Tuple[Shape, List[str], List[str]]]:
    """(shape, types, scopes) of each family, in the order in which they are declared."""
    members: Dict[str, Dict[str, Shape]] = {}
    scopes: Dict[str, List[str]] = {}
    for routine in found:
        one, kind, scope = shape(routine)
        members.setdefault(one.name, {}).setdefault(kind, one)
        listed = scopes.setdefault(one.name, [])
        if scope not in listed:
            listed.append(scope)
    result = []
    for name, kinds in members.items():
        shown = next((kind for kind in SHOWN if kind in kinds), next(iter(kinds)))
        one = kinds[shown]
        if shown in SHOWN:
            one = Shape(
                re.sub(rf"\b{SHOWN[shown]}\b", "TYPE", one.result),
                name,
                re.sub(rf"\b{SHOWN[shown]}\b", "TYPE", one.parameters),
            )
        result.append((one, [kind for kind in kinds if kind], scopes[name]))
    return result


def prose(comment: str) -> str:
    """A comment as Markdown. Indented lists stay as they are; names of code are shown as such."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    text = "\n".join(line.rstrip() for line in lines).strip()
    blocks = []
    for block in text.split("\n\n"):
        if re.search(r"^  \S", block, re.M):
            blocks.append("```\n" + block + "\n```")
        else:
            safe = block.replace("<", "&lt;").replace("*", "\\*")
            blocks.append(re.sub(r"\w*_\w*(\[\w+\])?|\b\w+\(\)", r"`\g<0>`", safe))
    return "\n\n".join(blocks)


def comments(text: str) -> List[Tuple[int, str]]:
    """(last line, text) of the comments about routines, without those about macros."""
    result = []
    for found in COMMENT.finditer(text):
        body = found.group(1).strip()
        alone = text.rfind("\n", 0, found.start()) + 1 == found.start()
        if alone and not re.match(r"SPDX|clang-format|(\* )?[A-Z]+: |Uses X", body):
            result.append((text.count("\n", 0, found.end()) + 1, found.group(1)))
    return result


def prototype(one: Shape) -> List[str]:
    space = "" if one.result.endswith("*") else " "
    out = [f"{one.result}{space}{one.name}("]
    parts = [part.strip() + ", " for part in (one.parameters or "void").split(",")]
    parts[-1] = parts[-1][:-2] + ");"
    for part in parts:
        if len(out[-1] + part.rstrip()) > WIDTH:
            out.append(" " * 8)
        out[-1] += part
    return [line.rstrip() for line in out]


def note(kinds: List[str], scopes: List[str]) -> List[str]:
    """What goes for the prototypes below it."""
    notes = []
    if scopes != [""]:
        notes.append(
            "by "
            + ", ".join(
                {"": "a thread", "warp": "a warp (_warp)", "block": "a block (_block)"}[s]
                for s in scopes
            )
        )
    if kinds:
        notes.append(("BITS: " if "8" in kinds else "TYPENAME: ") + " ".join(kinds))
    return (
        textwrap.wrap(f"/* {'; '.join(notes)} */", WIDTH, subsequent_indent="   ") if notes else []
    )


def code(here: List[Tuple[Shape, List[str], List[str]]]) -> List[str]:
    out, said = ["```c"], None
    for one, kinds, scopes in here:
        if (kinds, scopes) != said:
            said = (kinds, scopes)
            out += [""] * (len(out) > 1) + note(kinds, scopes)
        out += prototype(one)
    return out + ["```"]


def manual_of(name: str, pages: Dict[str, str]) -> str:
    """The manual page of the host's routine of that name."""
    for kind in ("", "float", "uint64", "int", "8"):
        plain = name.replace("TYPENAME", kind).replace("BITS", "8").replace("_on_stream", "")
        for tried in (plain, plain.replace("shmemx_", "shmem_"), plain.replace("_ctx_", "_")):
            if tried in pages:
                return pages[tried]
    return ""


def first_sentence(path: Path) -> str:
    head = comments(path.read_text(encoding="utf-8"))[0][1]
    return re.sub(r"\s+", " ", head.replace("*", " ")).strip().split(". ")[0].rstrip(".")


def title(path: Path) -> str:
    """What the header's first sentence says that it holds."""
    found = re.match(r"The public names of (.+?)(?: in device code.*|:.*)?$", first_sentence(path))
    return found.group(1)[0].upper() + found.group(1)[1:] if found else path.name


def page(path: Path, lines: List[Tuple[int, str]], pages: Dict[str, str]) -> str:
    text = path.read_text(encoding="utf-8")
    notes = comments(text)
    found = routines(lines)
    head = notes[0] if notes else (0, "")
    out = [f"# {title(path)}", "", f"`{path.name}`: {prose(head[1])}", ""]
    marks = notes[1:]
    for at, (line, comment) in enumerate([head] + marks):
        end = marks[at][0] if at < len(marks) else 1 << 30
        here = families([routine for routine in found if line <= routine.line < end])
        if not here:
            continue
        if at:
            out += ["", prose(comment), ""]
        out += code(here)
        manual = sorted({manual_of(one.name, pages) for one, _, _ in here} - {""})
        if manual:
            out += [
                "",
                "On the host: "
                + ", ".join(f"[{name}(3)](../man/{name}.3.md)" for name in manual)
                + ".",
            ]
    return "\n".join(out) + "\n"


def make_pages(source: Path, build: Path, out: Path) -> List[object]:
    """Writes a page for each header; returns their part of the nav."""
    made = by_file(preprocessed(source))
    pages = roff.aliases(build)
    pages.update({name: name for name, section in roff.sources(source, build) if section == "3"})
    out.mkdir(parents=True)
    head = comments((source / "include/shmem/device.cuh").read_text(encoding="utf-8"))[0][1]
    index = [
        "# Routines for kernels",
        "",
        prose(head),
        "",
        "| header | what it offers |",
        "|---|---|",
    ]
    nav: List[object] = ["device-api/index.md"]
    skipped = {source / "device/api" / name for name in ("shell.cuh", "old_names.cuh")}
    for path in sorted(set((source / "device/api").glob("*.cuh")) - skipped):
        body = page(path, made.get(path.name, []), pages)
        (out / f"{path.stem}.md").write_text(body, encoding="utf-8")
        index.append(f"| [{path.name}]({path.stem}.md) | {roff.escape(first_sentence(path))} |")
        nav.append(f"device-api/{path.stem}.md")
        if ");\n" not in body:
            sys.exit(f"device_api: no routine found in {path}")
    (out / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    return nav
