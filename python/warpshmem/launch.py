# SPDX-License-Identifier: BSD-3-Clause
"""The command oshrun of a wheel: the launcher that is in it."""

from __future__ import annotations

import os
import sys

from . import _lib
from .errors import WarpshmemError


def oshrun() -> None:
    """Become oshrun, with the arguments of this process."""
    try:
        path = _lib.library_path("oshrun")
    except WarpshmemError as error:
        sys.exit("oshrun: %s" % error)
    os.execv(path, ["oshrun"] + sys.argv[1:])
