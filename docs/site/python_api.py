# SPDX-License-Identifier: BSD-3-Clause
"""The Python package as Markdown, by its docstrings: what warpshmem exports, and warpshmem.ep.

The sources are parsed, not imported: no library has to be there.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path
from typing import Dict, List, Optional, Union

Def = Union[ast.FunctionDef, ast.ClassDef]
WIDTH = 88


def prose(text: Optional[str]) -> str:
    """A docstring as Markdown: indented blocks are code, names in backticks stay as they are."""
    blocks = []
    for block in (text or "").strip().split("\n\n"):
        if re.match(r" {2,}\S", block):
            blocks.append("```python\n" + textwrap.dedent(block) + "\n```")
        else:
            blocks.append(block.replace("<", "&lt;").replace("*", "\\*").replace("__", "\\_\\_"))
    return "\n\n".join(blocks)


def signature(function: ast.FunctionDef, name: str = "") -> str:
    """As one writes it, a line an argument where it is long."""
    args = ast.unparse(function.args)
    args = re.sub(r"^(self|cls)(, )?", "", args)
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    line = f"{name or function.name}({args}){result}"
    if len(line) <= WIDTH:
        return line
    parts = re.split(r", (?=\*{0,2}\w+\s*[:=,]|\*{1,2}\w|\*,|\*$)", args)
    return f"{name or function.name}(\n    " + ",\n    ".join(parts) + f",\n){result}"


def public(body: List[ast.stmt]) -> List[ast.FunctionDef]:
    """Methods with a docstring, without those for Python itself."""
    return [
        part
        for part in body
        if isinstance(part, ast.FunctionDef)
        and not part.name.startswith("_")
        and ast.get_docstring(part)
    ]


def is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator) == "property" for decorator in function.decorator_list)


def entry(part: Def) -> List[str]:
    """A function, or a class with its methods."""
    if isinstance(part, ast.FunctionDef):
        return ["", f"### {part.name}", "", f"```python\n{signature(part)}\n```", "",
                prose(ast.get_docstring(part))]  # fmt: skip
    init = [f for f in part.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"]
    out = ["", f"### {part.name}", ""]
    if init:
        out += [f"```python\n{signature(init[0], part.name)}\n```".replace(" -> None", ""), ""]
    out.append(prose(ast.get_docstring(part)))
    for method in public(part.body):
        shown = method.name if is_property(method) else signature(method)
        out += ["", f"```python\n{part.name}.{shown}\n```", "", prose(ast.get_docstring(method))]
    return out


def definitions(path: Path) -> Dict[str, Def]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {part.name: part for part in tree.body if isinstance(part, kinds)}


def documented(path: Path, names: List[str]) -> List[str]:
    """Entries of these names, in the order in which the module has them."""
    out: List[str] = []
    for name, part in definitions(path).items():
        if name in names and ast.get_docstring(part):
            out += entry(part)
    return out


def package_page(folder: Path) -> str:
    """A section for each module that the package takes its names from."""
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    out = ["# The package warpshmem", "", prose(ast.get_docstring(tree)), "",
           "How to start, install and use it: [python](../docs/guide/python.md)."]  # fmt: skip
    for part in tree.body:
        if not isinstance(part, ast.ImportFrom) or not part.module:
            continue
        module = folder / f"{part.module}.py"
        entries = documented(module, [alias.name for alias in part.names])
        if entries:
            text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
            if part.module.startswith("_"):  # whose docstring is for who reads the source
                text = ""
            out += ["", f"## {part.module.strip('_')}", "", prose(text)] + entries
    return "\n".join(out) + "\n"


def module_page(folder: Path, name: str, guide: str) -> str:
    path = folder / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [part for part in definitions(path) if not part.startswith("_")]
    out = [
        f"# warpshmem.{name}",
        "",
        prose(ast.get_docstring(tree)),
        "",
        f"[{guide}](../docs/guide/{guide}.md)",
    ]
    return "\n".join(out + documented(path, names)) + "\n"


def make_pages(source: Path, out: Path) -> List[object]:
    """Writes the pages; returns their part of the nav."""
    folder = source / "python" / "warpshmem"
    out.mkdir(parents=True)
    page = package_page(folder)
    if page.count("\n### ") < 50:
        sys.exit(f"python_api: too few names found in {folder}/__init__.py")
    (out / "index.md").write_text(page, encoding="utf-8")
    (out / "ep.md").write_text(module_page(folder, "ep", "expert-parallelism"), encoding="utf-8")
    return ["python-api/index.md", "python-api/ep.md"]
