# SPDX-License-Identifier: BSD-3-Clause
"""The package's version. In a source tree this module reads the file VERSION; wheels and source
archives of the package have a constant in its place (python/backend.py)."""

import os


def _of_the_tree() -> str:
    tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    try:
        with open(os.path.join(tree, "VERSION"), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return "0+unknown"


VERSION = _of_the_tree()
