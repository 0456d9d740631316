# SPDX-License-Identifier: BSD-3-Clause
"""The Python package's pages: what warpshmem exports, by module, and warpshmem.ep.

mkdocstrings writes the entries from the sources, which are parsed, not imported; here is only which.
"""

import ast
import sys
from pathlib import Path
from typing import Dict, List

OPTIONS = {
    "docstring_style": None,
    "heading_level": 3,
    "members_order": "source",
    "merge_init_into_class": True,
    "separate_signature": True,
    "show_bases": False,
    "show_if_no_docstring": False,
    "show_root_full_path": False,
    "show_root_heading": True,
    "show_signature_annotations": True,
    "show_source": False,
    "signature_crossrefs": True,
}


def settings(source: Path) -> Dict[str, object]:
    """mkdocstrings' part of the configuration."""
    python = {"paths": [str(source / "python")], "options": OPTIONS}
    return {"default_handler": "python", "handlers": {"python": python}}


def documented(path: Path) -> List[str]:
    """Public functions and classes of a module that have a docstring, in its order."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [
        part.name
        for part in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(part, kinds) and not part.name.startswith("_") and ast.get_docstring(part)
    ]


def entries(module: str, names: List[str]) -> List[str]:
    return [f"\n::: {module}.{name}" for name in names]


def text_of(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def package_page(folder: Path) -> str:
    """A section for each module that the package takes its names from."""
    package = folder / "__init__.py"
    out = ["# The package warpshmem", "", text_of(package), "",
           "How to start, install and use it: [python](../docs/guide/python.md)."]  # fmt: skip
    for part in ast.parse(package.read_text(encoding="utf-8")).body:
        if not isinstance(part, ast.ImportFrom) or not part.module:
            continue
        module = folder / f"{part.module}.py"
        exported = {alias.name for alias in part.names}
        names = [name for name in documented(module) if name in exported]
        if names:
            # The docstring of _module is for who reads the source.
            about = "" if part.module.startswith("_") else text_of(module)
            out += ["", f"## {part.module.strip('_')}", "", about]
            out += entries(f"warpshmem.{part.module}", names)
    return "\n".join(out) + "\n"


def module_page(folder: Path, name: str, guide: str) -> str:
    path = folder / f"{name}.py"
    out = [f"# warpshmem.{name}", "", text_of(path), "", f"[{guide}](../docs/guide/{guide}.md)"]
    return "\n".join(out + entries(f"warpshmem.{name}", documented(path))) + "\n"


def make_pages(source: Path, out: Path) -> List[object]:
    """Writes the pages; returns their part of the nav."""
    folder = source / "python" / "warpshmem"
    out.mkdir(parents=True)
    page = package_page(folder)
    if page.count("\n::: ") < 50:
        sys.exit(f"python_api: too few names found in {folder}/__init__.py")
    (out / "index.md").write_text(page, encoding="utf-8")
    (out / "ep.md").write_text(module_page(folder, "ep", "expert-parallelism"), encoding="utf-8")
    return ["python-api/index.md", "python-api/ep.md"]
