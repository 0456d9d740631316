# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: what it holds, and that it works alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from typing import Any, Dict, List

import pytest
from run import free_port

import warpshmem as shmem

SOURCE = os.path.abspath(
    os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__), "../.."))
)
BUILD = os.path.abspath(os.environ.get("top_builddir", os.path.join(SOURCE, "build")))
EXTENSION = "_calls.abi3.so"
ELF = ("libwarpshmem.so.0", "libwarpshmem-ep.so.0", "libnvshmem_host.so.3", "oshrun")
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux-.*)\.so\.[0-9]+$")
PROGRAM = """
import os
import warpshmem as shmem
shmem.init()
me, n = shmem.my_pe(), shmem.n_pes()
word = shmem.zeros(1, "int64", like=None)
shmem.p(word, me + 1, (me + 1) % n)
shmem.barrier_all()
assert shmem.g(word, (me + 1) % n) == me + 1
os.write(1, b"PE %d of %d\\n" % (me, n))
shmem.finalize()
"""


def run(command: List[str], environment: Dict[str, str]) -> str:
    """Run a command that must succeed, and return what it prints."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: Any) -> str:
    """A wheel of the build folder, as `make wheel` builds it."""
    folder = str(tmp_path_factory.mktemp("wheel"))
    command = [sys.executable, os.path.join(SOURCE, "python/backend.py"), folder, BUILD]
    return run(command, dict(os.environ)).strip()


def unpack(wheel: str, folder: str) -> None:
    """Install as pip does: the files, with their modes."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            os.chmod(archive.extract(entry, folder), (entry.external_attr >> 16) & 0o777 or 0o644)


@pytest.fixture(scope="module")
def unpacked(wheel: str, tmp_path_factory: Any) -> str:
    """The wheel's files."""
    folder = str(tmp_path_factory.mktemp("unpacked"))
    unpack(wheel, folder)
    return folder


@pytest.fixture(scope="module")
def fresh(wheel: str, tmp_path_factory: Any) -> Dict[str, str]:
    """An environment for a fresh venv that has the wheel, and a PATH without compilers; key
    "python": its python."""
    folder = str(tmp_path_factory.mktemp("fresh") / "venv")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder + "/bin/python"
    if has_pip():
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "--python",
                python,
                "install",
                "-q",
                "--no-index",
                "--no-deps",
                wheel,
            ],
            dict(os.environ),
        )
    else:
        paths = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], {})
        unpack(wheel, paths.strip())
    keep = ("HOME", "SHMEM_SYMMETRIC_SIZE", "SHMEM_HANG_SECONDS", "HWLOC_COMPONENTS", "TMPDIR")
    kept = {name: os.environ[name] for name in keep if name in os.environ}
    return dict(kept, PATH=folder + "/bin", python=python)


def has_pip() -> bool:
    """Has this Python a pip that installs into another environment?"""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True
    )
    found = re.match(r"pip (\d+)\.(\d+)", done.stdout)
    return bool(found) and (int(found.group(1)), int(found.group(2))) >= (22, 3)


def test_version(wheel: str, fresh: Dict[str, str]) -> None:
    """In the tree that of VERSION, in the wheel what base/make-version says, in its name too."""
    with open(os.path.join(SOURCE, "VERSION"), encoding="ascii") as file:
        assert file.read().strip() == shmem.__version__
    maker = ["sh", os.path.join(SOURCE, "base/make-version"), "--python"]
    version = run(maker, dict(os.environ)).strip()
    assert os.path.basename(wheel).startswith("warpshmem-%s-py3-" % version)
    printed = run([fresh["python"], "-c", "import warpshmem; print(warpshmem.__version__)"], fresh)
    assert printed.strip() == version


def test_metadata(unpacked: str) -> None:
    """Who installs it finds what it is, its licence, and that it has types."""
    (info,) = [name for name in os.listdir(unpacked) if name.endswith(".dist-info")]
    with open("%s/%s/METADATA" % (unpacked, info), encoding="utf-8") as file:
        head, _, text = file.read().partition("\n\n")
    assert "License-Expression: BSD-3-Clause\nLicense-File: LICENSE" in head
    assert "Description-Content-Type: text/markdown" in head and text.startswith("# warpshmem\n")
    with open("%s/%s/licenses/LICENSE" % (unpacked, info), "rb") as licence:
        with open(os.path.join(SOURCE, "LICENSE"), "rb") as ours:
            assert licence.read() == ours.read()
    assert os.path.exists(unpacked + "/warpshmem/py.typed")


def test_what_it_holds(unpacked: str) -> None:
    there = os.listdir(unpacked + "/warpshmem/lib")
    assert set(ELF) <= set(there)
    if os.path.exists(BUILD + "/libnvshmem_device.bc"):
        assert "libnvshmem_device.bc" in there
    assert os.access(unpacked + "/warpshmem/lib/oshrun", os.X_OK)


@pytest.mark.skipif(
    not os.path.exists(os.path.join(BUILD, ".libs", EXTENSION)), reason="it is not built"
)
def test_the_extension_module(unpacked: str, fresh: Dict[str, str]) -> None:
    """For every CPython: of the stable ABI, with no library but libc; Python's symbol and torch's."""
    path = "%s/warpshmem/%s" % (unpacked, EXTENSION)
    text = run(["readelf", "-d", path], dict(os.environ))
    assert all(SYSTEM.match(name) for name in re.findall(r"\(NEEDED\).*\[(.+)\]", text))
    symbols = run(["readelf", "-W", "--dyn-syms", path], dict(os.environ)).split("\n")
    names = [line.split()[-1] for line in symbols if " UND " not in line and " GLOBAL " in line]
    assert sorted(names) == ["PyInit__calls", "warpshmem_pool_free", "warpshmem_pool_malloc"]
    rows = run([fresh["python"], "-m", "warpshmem.info"], fresh)
    assert re.search(r"^calls +by /.*/warpshmem/%s$" % EXTENSION, rows, re.M), rows


def test_record(unpacked: str) -> None:
    """Each file is in RECORD, with its digest."""
    import base64
    import hashlib

    (info,) = [name for name in os.listdir(unpacked) if name.endswith(".dist-info")]
    with open("%s/%s/RECORD" % (unpacked, info), encoding="utf-8") as file:
        rows = [line.rstrip("\n").rsplit(",", 2) for line in file]
    found = [
        os.path.relpath(os.path.join(at, name), unpacked)
        for at, _, names in os.walk(unpacked)
        for name in names
    ]
    assert sorted(row[0] for row in rows) == sorted(found)
    for name, digest, _ in rows[:-1]:
        with open(os.path.join(unpacked, name), "rb") as data:
            made = (
                base64.urlsafe_b64encode(hashlib.sha256(data.read()).digest()).rstrip(b"=").decode()
            )
        assert digest == "sha256=" + made


@pytest.mark.parametrize("name", ELF)
def test_needs_the_c_library_alone(unpacked: str, name: str) -> None:
    """PMIx, hwloc and libfabric are loaded where they are used and there. The launcher is PMIx's
    server."""
    text = run(["readelf", "-d", "%s/warpshmem/lib/%s" % (unpacked, name)], dict(os.environ))
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
    others = [other for other in needed if other not in ELF and not SYSTEM.match(other)]
    assert needed and (not others or (name == "oshrun" and others == ["libpmix.so.2"]))


@pytest.mark.parametrize("name", ELF[1:3])
def test_libraries_find_each_other(unpacked: str, name: str) -> None:
    text = run(["readelf", "-d", "%s/warpshmem/lib/%s" % (unpacked, name)], dict(os.environ))
    assert re.search(r"R(UN)?PATH.*\[\$ORIGIN[:\]]", text)


def test_stripped(unpacked: str) -> None:
    text = run(["readelf", "-S", unpacked + "/warpshmem/lib/libwarpshmem.so.0"], dict(os.environ))
    assert ".debug_info" not in text and ".symtab" not in text


def test_tag(wheel: str) -> None:
    name = os.path.basename(wheel)
    assert re.match(r"warpshmem-[0-9.a-z+]+-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$", name)


def test_a_unique_id_in_a_fresh_environment(fresh: Dict[str, str]) -> None:
    world = dict(fresh, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    running = [
        subprocess.Popen(
            [fresh["python"], "-c", PROGRAM],
            env=dict(world, RANK=str(rank)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    told = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0], told
    assert sorted(out for out, _ in told) == ["PE 0 of 2\n", "PE 1 of 2\n"]


def test_its_oshrun(fresh: Dict[str, str]) -> None:
    out = run(
        [
            fresh["python"],
            "-c",
            "from warpshmem.launch import oshrun; oshrun()",
            "-n",
            "2",
            fresh["python"],
            "-c",
            PROGRAM,
        ],
        fresh,
    )
    assert sorted(out.split("\n")) == ["", "PE 0 of 2", "PE 1 of 2"]


def test_its_info(fresh: Dict[str, str]) -> None:
    out = run([fresh["python"], "-m", "warpshmem.info"], fresh)
    folder = os.path.dirname(os.path.dirname(fresh["python"]))
    rows = dict(line.split(None, 1) for line in out.split("\n") if line)
    for name in ELF:
        assert os.path.realpath(rows[name]).startswith(os.path.realpath(folder)), out


@pytest.mark.parametrize("folder", (".", "python"))
def test_pip_installs_the_source(tmp_path: Any, folder: str) -> None:
    """`pip install .` without a network: a package without libraries, which finds those that are
    installed."""
    if not has_pip():
        pytest.skip("no pip for python3 (apt-get install python3-pip)")
    target = str(tmp_path / "target")
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-index",
            "--no-deps",
            "--target",
            target,
            os.path.join(SOURCE, folder),
        ],
        dict(os.environ),
    )
    assert not os.path.exists(target + "/warpshmem/lib")
    headers = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    if shutil.which("cc") and os.path.exists(headers):
        assert os.path.exists(os.path.join(target, "warpshmem", EXTENSION))
    environment = dict(os.environ, PYTHONPATH=target)
    assert target in run([sys.executable, "-m", "warpshmem.info"], environment)
