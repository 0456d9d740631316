# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel of warpshmem: a backend for pip (PEP 517, 660) that needs the standard library
alone, and a program.

backend.py FOLDER BUILD    writes a wheel to FOLDER with the libraries of a build folder in it: what
`make wheel` runs. With WARPSHMEM_BUILD=BUILD pip makes the same; without it the wheel has no
libraries, and finds those that are installed.
"""

import base64
import functools
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any, Dict, List, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "warpshmem")
# What goes into warpshmem/lib: the name there, the file in the build folder, whether it must be
# there, whether it is ELF.
FILES = (
    ("libwarpshmem.so.0", ".libs/libwarpshmem.so.0", True, True),
    ("libwarpshmem-ep.so.0", ".libs/libwarpshmem-ep.so.0", True, True),
    ("libwarpshmem-trace.so.0", ".libs/libwarpshmem-trace.so.0", True, True),
    ("libnvshmem_host.so.3", "nvshmem/lib/libnvshmem_host.so.3", True, True),
    ("libnvshmem_device.bc", "libnvshmem_device.bc", False, False),
    ("libnvshmem_device_sm_90.bc", "libnvshmem_device_sm_90.bc", False, False),
    ("libnvshmem_device.ltoir", "libnvshmem_device.ltoir", False, False),
    ("oshrun", "oshrun", True, True),
    ("_calls.abi3.so", ".libs/_calls.abi3.so", False, True),
)
EXTENSION = "_calls.abi3.so"  # lies in the package itself; warpshmem/_quick.py
EXTENSION_SOURCES = os.path.join(HERE, "ext")
# Light modules beside the package, which frameworks' plug-ins are.
BESIDE = ("warpshmem_front.py",)
VERSION = "warpshmem/_version.py"  # another one in wheels
# A file that each Python reads at its start. Frameworks import deep_ep before they call plug-ins.
START = "warpshmem.pth"
START_LINE = (
    'import os; os.environ.get("WARPSHMEM_DEEP_EP") == "1" '
    'and __import__("warpshmem_front").plug_in()\n'
)
ENTRY_POINTS = """[sglang.plugins]
warpshmem_deep_ep = warpshmem_front:sglang

[sglang.srt.plugins]
warpshmem_deep_ep = warpshmem_front:sglang

[vllm.general_plugins]
warpshmem_deep_ep = warpshmem_front:vllm
"""
LAUNCHER = """
[console_scripts]
oshrun = warpshmem.launch:oshrun
"""
PROGRAM = "oshrun"  # needs PMIx, which a start by a unique id does without
# Of the C library, which every system has; a wheel whose files need more is for this machine alone.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux-.*)\.so\.[0-9]+$")


def beside(name: str) -> str:
    """Return a file of this folder, or of the tree that it is in."""
    here = os.path.join(HERE, name)
    return here if os.path.exists(here) else os.path.join(HERE, "..", name)


@functools.lru_cache(maxsize=None)
def version() -> str:
    """Return the package's version: base/make-version says it, or in an archive of the package
    warpshmem/_version.py."""
    maker = beside("base/make-version")
    if os.path.exists(maker):
        command = ["sh", maker, "--python"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    found = re.search(r'^VERSION = "([^"]+)"', read(os.path.join(HERE, VERSION)).decode(), re.M)
    return found.group(1) if found else "0+unknown"


def version_module() -> bytes:
    """Return what stands in the place of warpshmem/_version.py outside of the tree."""
    return ('# SPDX-License-Identifier: BSD-3-Clause\nVERSION = "%s"\n' % version()).encode()


def metadata() -> str:
    """Return METADATA."""
    return "\n".join(
        (
            "Metadata-Version: 2.4",
            "Name: warpshmem",
            "Version: " + version(),
            "Summary: OpenSHMEM for Python: symmetric arrays, one-sided transfers, GPUs",
            "Description-Content-Type: text/markdown",
            "Keywords: OpenSHMEM,PGAS,HPC,GPU,RDMA,expert parallelism",
            "Author: The warpshmem developers",
            "License-Expression: BSD-3-Clause",
            "License-File: LICENSE",
            "Requires-Python: >=3.9",
            "Classifier: Operating System :: POSIX :: Linux",
            "Classifier: Programming Language :: Python :: 3",
            "Classifier: Typing :: Typed",
            "",
            read(beside("PACKAGE.md")).decode(),
        )
    )


def needed(path: str) -> List[str]:
    """Return the libraries that an ELF file names as needed."""
    text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text.stdout)


def glibc(path: str) -> Tuple[int, int]:
    """Return the newest version of the C library that an ELF file asks for."""
    with open(path, "rb") as file:
        found = re.findall(rb"GLIBC_(\d+)\.(\d+)", file.read())
    return max(((int(a), int(b)) for a, b in found), default=(2, 17))


def tag(paths: List[str]) -> str:
    """Return the platform of a wheel with these ELF files."""
    machine = os.uname().machine
    own = {os.path.basename(path) for path in paths}
    for path in paths:
        others = [name for name in needed(path) if name not in own and not SYSTEM.match(name)]
        if others and os.path.basename(path) != PROGRAM:
            text = "backend.py: %s needs %s: the wheel is for systems that have it"
            print(text % (os.path.basename(path), others[0]), file=sys.stderr)
            return "linux_" + machine
    return "manylinux_%d_%d_%s" % (max(glibc(path) for path in paths) + (machine,))


def collect(build: str, folder: str) -> Tuple[List[str], List[str]]:
    """Copy the files of a build folder, stripped; return all of them, and the ELF files."""
    copied, elf = [], []
    for name, source, must, is_elf in FILES:
        path, target = os.path.join(build, source), os.path.join(folder, name)
        if not os.path.isfile(path):
            if name == EXTENSION:
                print(
                    "backend.py: no %s: calls go by ctypes; make says why" % path, file=sys.stderr
                )
            if must:
                raise SystemExit(
                    "backend.py: %s is not there; run make in %s first" % (path, build)
                )
            continue
        shutil.copyfile(path, target)
        os.chmod(target, 0o755 if is_elf else 0o644)
        copied.append(target)
        if is_elf:
            elf.append(target)
            if shutil.which(os.environ.get("STRIP", "strip")):
                subprocess.run(
                    [os.environ.get("STRIP", "strip"), "--strip-unneeded", target], check=True
                )
    return copied, elf


def compiled(folder: str) -> Optional[str]:
    """Compile the extension module for a wheel without libraries; return its file, or None after a
    line that says why not."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    paths, target = sysconfig.get_paths(), os.path.join(folder, EXTENSION)
    names = sorted(os.listdir(EXTENSION_SOURCES)) if os.path.isdir(EXTENSION_SOURCES) else []
    files = [os.path.join(EXTENSION_SOURCES, name) for name in names if name.endswith(".c")]
    why = "no " + os.path.join(paths["include"], "Python.h") + " (apt install python3-dev)"
    if not files:
        why = "no folder ext beside backend.py"
    elif not shutil.which(compiler[0]):
        why = "no C compiler (apt install gcc)"
    elif ".abi3.so" not in EXTENSION_SUFFIXES:
        why = "this Python loads no modules of CPython's stable ABI"
    elif os.path.exists(os.path.join(paths["include"], "Python.h")):
        flags = (
            "-O2 -std=gnu11 -fPIC -fvisibility=hidden -DPy_LIMITED_API=0x03090000 -shared".split()
        )
        flags += ["-I" + paths["include"], "-I" + paths["platinclude"]]
        if not subprocess.run(compiler + flags + ["-o", target] + files).returncode:
            return target
        why = "the compiler says so above"
    print("backend.py: calls go by ctypes, without the extension module: " + why, file=sys.stderr)
    return None


class Wheel:
    """A wheel that is being written. Times are constant: equal files make equal wheels."""

    def __init__(self, folder: str, platform: str) -> None:
        self.info = "warpshmem-%s.dist-info" % version()
        self.tag = "py3-none-" + platform
        self.name = "warpshmem-%s-%s.whl" % (version(), self.tag)
        self.records: List[str] = []
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), "w", zipfile.ZIP_DEFLATED)

    def add(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """Add a file."""
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def close(self, launcher: bool) -> str:
        """Add what describes the wheel, and return its name."""
        self.add(self.info + "/METADATA", metadata().encode())
        pure = str(self.tag.endswith("-any")).lower()
        self.add(
            self.info + "/WHEEL",
            (
                "Wheel-Version: 1.0\nGenerator: warpshmem\nRoot-Is-Purelib: %s\nTag: %s\n"
                % (pure, self.tag)
            ).encode(),
        )
        points = ENTRY_POINTS + (LAUNCHER if launcher else "")
        self.add(self.info + "/entry_points.txt", points.encode())
        self.add(self.info + "/licenses/LICENSE", read(beside("LICENSE")))
        self.records.append(self.info + "/RECORD,,")
        self.zip.writestr(
            zipfile.ZipInfo(self.info + "/RECORD", (2020, 1, 1, 0, 0, 0)),
            "\n".join(self.records) + "\n",
        )
        self.zip.close()
        return self.name


def sources() -> List[str]:
    """Return the package's files, below this folder."""
    found = [
        os.path.relpath(os.path.join(folder, name), HERE)
        for folder, _, names in os.walk(PACKAGE)
        for name in names
        if name.endswith((".py", ".typed"))
    ]
    return sorted(found) + list(BESIDE)


def read(path: str) -> bytes:
    """Return a file."""
    with open(path, "rb") as file:
        return file.read()


def content(name: str) -> bytes:
    """Return a file as wheels and archives have it."""
    return version_module() if name == VERSION else read(beside(name))


def write_wheel(folder: str, build: Optional[str]) -> str:
    """Write a wheel, with the libraries of `build` where that is given; return its name."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        files, elf = collect(build, scratch) if build else ([], [])
        platform = tag(elf) if elf else "any"
        alone = None if build else compiled(scratch)
        if alone:
            files, platform = [alone], "linux_" + os.uname().machine
        wheel = Wheel(folder, platform)
        for name in sources():
            wheel.add(name, content(name))
        wheel.add(START, START_LINE.encode())
        for path in files:
            name = os.path.basename(path)
            where = "warpshmem/" if name == EXTENSION else "warpshmem/lib/"
            wheel.add(where + name, read(path), os.stat(path).st_mode & 0o777)
        return wheel.close(bool(build))


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """PEP 517."""
    return write_wheel(wheel_directory, os.environ.get("WARPSHMEM_BUILD"))


def build_editable(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """PEP 660: a wheel that leads to this folder."""
    wheel = Wheel(wheel_directory, "any")
    wheel.add(START, (HERE + "\n" + START_LINE).encode())
    return wheel.close(False)


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """PEP 517: the package without libraries."""
    base = "warpshmem-" + version()
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        others = ["ext/" + name for name in sorted(os.listdir(EXTENSION_SOURCES))]
        own = ["backend.py", "pyproject.toml", "PACKAGE.md", "LICENSE"]
        files = {name: content(name) for name in sources() + own + others}
        files["PKG-INFO"] = metadata().encode()
        for name, data in files.items():
            entry = tarfile.TarInfo(base + "/" + name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return base + ".tar.gz"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: backend.py FOLDER BUILD")
    print(os.path.join(sys.argv[1], write_wheel(sys.argv[1], sys.argv[2])))
