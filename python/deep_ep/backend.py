# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel deep-ep: a backend for pip (PEP 517) that needs the standard library alone.

backend.py FOLDER    writes the wheel to FOLDER
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import zipfile
from typing import Any, Dict

HERE = os.path.dirname(os.path.abspath(__file__))
METADATA = """Metadata-Version: 2.1
Name: deep-ep
Version: %s
Summary: The names of DeepEP over warpshmem
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: warpshmem
Requires-Dist: torch
"""
WHEEL = """Wheel-Version: 1.0
Generator: warpshmem
Root-Is-Purelib: true
Tag: py3-none-any
"""
# What frameworks look for; frameworks.py has the functions.
ENTRY_POINTS = """[sglang.plugins]
warpshmem_deep_ep = deep_ep.frameworks:sglang

[vllm.general_plugins]
warpshmem_deep_ep = deep_ep.frameworks:vllm
"""


def version() -> str:
    """Return the package's version, whose home is __init__.py."""
    with open(os.path.join(HERE, "__init__.py"), encoding="utf-8") as source:
        found = re.search(r'^__version__ = "([^"]+)"', source.read(), re.M)
    assert found
    return found.group(1)


def files() -> Dict[str, bytes]:
    """Return the wheel's files but RECORD: names and contents."""
    info = "deep_ep-%s.dist-info/" % version()
    made = {
        info + "METADATA": (METADATA % version()).encode(),
        info + "WHEEL": WHEEL.encode(),
        info + "entry_points.txt": ENTRY_POINTS.encode(),
    }
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".py") and name != "backend.py":
            with open(os.path.join(HERE, name), "rb") as source:
                made["deep_ep/" + name] = source.read()
    return made


def build_wheel(folder: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Write the wheel to a folder and return its name (PEP 517)."""
    made, record = files(), "deep_ep-%s.dist-info/RECORD" % version()
    lines = []
    for name, content in made.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))
    made[record] = ("".join(lines) + record + ",,\n").encode()
    wheel = "deep_ep-%s-py3-none-any.whl" % version()
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in made.items():
            out.writestr(zipfile.ZipInfo(name), content)
    return wheel


def build_sdist(folder: str, config_settings: Any = None) -> str:
    raise NotImplementedError("deep-ep has no source archive of its own; build the wheel")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
