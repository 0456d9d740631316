# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel deep-ep: a backend for pip (PEP 517) that needs the standard library alone.

backend.py FOLDER    writes the wheel to FOLDER

It has no folder deep_ep, which other distributions have too (DeepEP's, sgl-deep-ep): a file .pth
lets each Python of the environment find warpshmem's under that name, and what others have installed
stays as it is.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import zipfile
from typing import Any, Dict

VERSION = "1.2.1+warpshmem"  # that of warpshmem/deep_ep/__init__.py
METADATA = """Metadata-Version: 2.1
Name: deep-ep
Version: %s
Summary: Lets `import deep_ep` find the names of DeepEP over warpshmem
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: warpshmem
Requires-Dist: torch>=2.1
"""
WHEEL = """Wheel-Version: 1.0
Generator: warpshmem
Root-Is-Purelib: true
Tag: py3-none-any
"""
# One line, which Python executes at its start; without warpshmem there is nothing to find.
FRONT = (
    'import sys; exec("try:\\n import warpshmem_front\\nexcept ImportError:\\n pass\\n'
    'else:\\n warpshmem_front.front()")\n'
)


def files() -> Dict[str, bytes]:
    """Return the wheel's files but RECORD: names and contents."""
    info = "deep_ep-%s.dist-info/" % VERSION
    return {
        info + "METADATA": (METADATA % VERSION).encode(),
        info + "WHEEL": WHEEL.encode(),
        "warpshmem_deep_ep.pth": FRONT.encode(),
    }


def build_wheel(folder: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Write the wheel to a folder and return its name (PEP 517)."""
    made, record = files(), "deep_ep-%s.dist-info/RECORD" % VERSION
    lines = []
    for name, content in made.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))
    made[record] = ("".join(lines) + record + ",,\n").encode()
    wheel = "deep_ep-%s-py3-none-any.whl" % VERSION
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in made.items():
            out.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return wheel


def build_sdist(folder: str, config_settings: Any = None) -> str:
    raise NotImplementedError("deep-ep has no source archive of its own; build the wheel")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
