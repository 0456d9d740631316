# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks: their code cells, run as a plain script or by Jupyter, print what is stored in them.

    notebook.py plain FILE      in this process
    notebook.py jupyter FILE    in a kernel of Jupyter (nbclient)
    notebook.py store FILE      as plain, and stores what is printed

A difference is printed, and the exit status 1."""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import sys
from typing import Any, Dict, List

SECONDS = 60


def read(path: str) -> Dict[str, Any]:
    """Return a notebook of the fourth format, or exit."""
    with open(path, encoding="utf-8") as file:
        book: Dict[str, Any] = json.load(file)
    cells = book.get("cells", [])
    whole = book.get("nbformat") == 4 and all(
        isinstance(cell["source"], list) and cell["id"] and cell["cell_type"] in ("markdown", "code")
        for cell in cells
    )
    if not whole or not any(cell["cell_type"] == "code" for cell in cells):
        sys.exit("%s: not a notebook of format 4.5 with cells of code" % path)
    return book


def code(book: Dict[str, Any]) -> List[Dict[str, Any]]:
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def printed(cell: Dict[str, Any]) -> str:
    """Return what a cell has printed; anything but text is an error."""
    text = ""
    for output in cell["outputs"]:
        if output["output_type"] != "stream":
            return "%s\n" % output
        text += "".join(output["text"])
    return text


def run_plain(book: Dict[str, Any]) -> List[str]:
    names: Dict[str, Any] = {"__name__": "__main__"}
    found = []
    for number, cell in enumerate(code(book), 1):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile("".join(cell["source"]), "cell %d" % number, "exec"), names)
        found.append(out.getvalue())
    return found


def run_jupyter(path: str) -> List[str]:
    import nbclient
    import nbformat

    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    folder = os.path.dirname(os.path.abspath(path))
    nbclient.NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": folder}}).execute()
    return [printed(cell) for cell in book.cells if cell.cell_type == "code"]


def store(path: str, book: Dict[str, Any], found: List[str]) -> None:
    for number, (cell, text) in enumerate(zip(code(book), found), 1):
        lines = text.splitlines(True)
        cell["execution_count"] = number
        cell["outputs"] = (
            [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        )
    with open(path, "w", encoding="utf-8") as file:
        json.dump(book, file, indent=1, ensure_ascii=False)
        file.write("\n")


def main() -> int:
    how, path = sys.argv[1:]
    book = read(path)
    found = run_jupyter(path) if how == "jupyter" else run_plain(book)
    if how == "store":
        store(path, book, found)
    wanted = [printed(cell) for cell in code(book)]
    texts = ["".join(cells).splitlines(True) for cells in (wanted, found)]
    sys.stdout.writelines(difflib.unified_diff(texts[0], texts[1], "stored", "found"))
    return int(wanted != found)


if __name__ == "__main__":
    sys.exit(main())
