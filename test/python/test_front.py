# SPDX-License-Identifier: BSD-3-Clause
"""Which `deep_ep` Python imports beside another distribution that has a folder of this name, in
each order of installing, upgrading and uninstalling; and what the plug-ins of frameworks cost.

The other one is made up here: it has the layout of sgl-deep-ep, whose own wheel takes its place
with WSH_TEST_LONG=1. Without that some of the installing is done as pip does it, but sooner.
"""

from __future__ import annotations

import glob
import hashlib
import os
import subprocess
import sys
import venv
import zipfile
from typing import Any, Dict, List, Tuple

import pytest
from test_wheel import SOURCE, has_pip

pytestmark = pytest.mark.skipif(
    not has_pip(), reason="no pip of 22.3 or newer for python3 (apt-get install python3-pip)"
)
LONG = os.environ.get("WSH_TEST_LONG") == "1"
WHO = """
import importlib.util, sys
spec = importlib.util.find_spec("deep_ep")
print(spec.origin if spec else None)
"""
IMPORTS = """
import sys
import deep_ep
from deep_ep.utils import EventHandle
print(deep_ep.__name__, deep_ep.EventHandle is EventHandle, deep_ep.__file__)
"""


def other_wheel(folder: str, version: str) -> str:
    """Write a wheel with the layout of sgl-deep-ep: a package, a package utils, an extension."""
    made = {
        "deep_ep/__init__.py": "theirs = %r\n" % version,
        "deep_ep/utils/__init__.py": "from .event import EventHandle\n",
        "deep_ep/utils/event.py": "from deep_ep._C import EventHandle\n",
        "deep_ep/utils/envs.py": "",
        "deep_ep/_C.py": "raise ImportError('libcuda.so.1')\n",
        "deep_ep/buffers/__init__.py": "",
    }
    info = "sgl_deep_ep-%s.dist-info/" % version
    made[info + "METADATA"] = "Metadata-Version: 2.1\nName: sgl-deep-ep\nVersion: %s\n" % version
    made[info + "WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    made[info + "RECORD"] = "".join(name + ",,\n" for name in list(made) + [info + "RECORD"])
    path = os.path.join(folder, "sgl_deep_ep-%s-py3-none-any.whl" % version)
    with zipfile.ZipFile(path, "w") as out:
        for name, text in made.items():
            out.writestr(name, text)
    return path


class Place:
    """A fresh environment."""

    def __init__(self, folder: str, quick: bool) -> None:
        self.quick = quick and not LONG
        venv.create(folder, with_pip=False, symlinks=True, system_site_packages=True)
        self.python = folder + "/bin/python"
        (self.packages,) = glob.glob(folder + "/lib/python*/site-packages")
        self.environment = {"PATH": folder + "/bin:/usr/bin:/bin", "HOME": folder}

    def _pip(self, *arguments: str) -> None:
        command = [self.python, "-m", "pip", "-q"] + list(arguments)
        more = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}
        done = subprocess.run(
            command, env=dict(os.environ, **more), capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def install(self, *wheels: str) -> None:
        """Install wheels, or upgrade to them."""
        if not self.quick:
            self._pip("install", "--no-deps", "--no-compile", "--force-reinstall", *wheels)
            return
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.packages)

    def uninstall(self, name: str) -> None:
        """Remove what a distribution has installed."""
        if not self.quick:
            self._pip("uninstall", "-y", name)
            return
        (info,) = glob.glob("%s/%s-*.dist-info" % (self.packages, name.replace("-", "_")))
        with open(info + "/RECORD", encoding="utf-8") as record:
            for line in record.readlines():
                os.unlink(os.path.join(self.packages, line.split(",")[0]))

    def run(self, program: str, **more: str) -> Tuple[int, str, str]:
        done = subprocess.run(
            [self.python, "-c", program],
            env=dict(self.environment, **more),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=100,
        )
        return done.returncode, done.stdout.strip(), done.stderr

    def who(self, **more: str) -> str:
        """Whose is deep_ep: "ours", "theirs" or "none"? Errors of the start count as failures."""
        status, out, err = self.run(WHO, **more)
        assert status == 0 and not err, err
        if out == "None":
            return "none"
        return "ours" if "/warpshmem/deep_ep/" in out else "theirs"

    def theirs(self) -> Dict[str, str]:
        """The files of the other distribution, and their digests."""
        found = {}
        for path in glob.glob(self.packages + "/deep_ep/**", recursive=True):
            if os.path.isfile(path) and not path.endswith(".pyc"):
                with open(path, "rb") as file:
                    found[path] = hashlib.sha256(file.read()).hexdigest()
        return found


def build(command: List[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module", name="wheels")
def _wheels(tmp_path_factory: Any) -> Dict[str, str]:
    """warpshmem without libraries, its front, the other one in two versions."""
    folder = str(tmp_path_factory.mktemp("wheels"))
    code = "import backend, sys; print(backend.build_wheel(sys.argv[1]))"
    path = dict(os.environ, PYTHONPATH=SOURCE + "/python", WARPSHMEM_BUILD="")
    ours = subprocess.run(
        [sys.executable, "-c", code, folder], check=True, capture_output=True, text=True, env=path
    ).stdout.strip()
    front = build([sys.executable, SOURCE + "/python/front/backend.py", folder])
    made = {"ours": os.path.join(folder, ours), "front": front}
    for version in ("0.1.2", "0.1.3"):
        made[version] = other_wheel(folder, version)
    if LONG:
        build(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder + "/net"]
            + ["sgl-deep-ep"]
        )
        (made["0.1.2"],) = glob.glob(folder + "/net/*.whl")
    return made


def test_theirs_first(tmp_path: Any, wheels: Dict[str, str]) -> None:
    """Then ours; theirs upgraded; ours again; theirs uninstalled; ours uninstalled."""
    place = Place(str(tmp_path / "venv"), False)
    place.install(wheels["0.1.2"])
    before = place.theirs()
    assert place.who() == "theirs" and before
    place.install(wheels["ours"], wheels["front"])
    assert place.who() == "ours" and place.theirs() == before
    assert place.who(WARPSHMEM_DEEP_EP="0") == "theirs"
    place.install(wheels["0.1.3"])
    after = place.theirs()
    assert place.who() == "ours" and after
    place.install(wheels["ours"], wheels["front"])
    assert place.who() == "ours" and place.theirs() == after
    place.uninstall("sgl-deep-ep")
    assert place.who() == "ours" and not place.theirs()
    place.uninstall("deep-ep")
    assert place.who() == "none"


def test_ours_first(tmp_path: Any, wheels: Dict[str, str]) -> None:
    """Then theirs; our front uninstalled; again; warpshmem uninstalled under its front."""
    place = Place(str(tmp_path / "venv"), True)
    place.install(wheels["ours"], wheels["front"])
    assert place.who() == "ours"
    place.install(wheels["0.1.2"])
    before = place.theirs()
    assert place.who() == "ours"
    place.uninstall("deep-ep")
    assert place.who() == "theirs" and place.theirs() == before
    place.install(wheels["front"])
    place.uninstall("warpshmem")
    assert place.who() == "theirs" and place.theirs() == before


PLUG_IN = """
import sys
from importlib.metadata import distribution
before = set(sys.modules)
points = [point for point in distribution("warpshmem").entry_points if "warpshmem_front" in point.value]
for point in points: point.load()()
heavy = [name for name in set(sys.modules) - before if name != "warpshmem_front"]
print(sorted(point.group for point in points), sorted(heavy))
"""


LATE = "import os\nos.environ['WARPSHMEM_DEEP_EP'] = '1'\nimport deep_ep\n"


def test_plug_ins(tmp_path: Any, wheels: Dict[str, str]) -> None:
    """Both frameworks' groups; they load nothing, and put ours there where they are told to. SGLang
    imports deep_ep before it calls plug-ins, so each Python looks at the setting at its start."""
    place = Place(str(tmp_path / "venv"), True)
    place.install(wheels["0.1.2"], wheels["ours"])
    groups = "['sglang.plugins', 'sglang.srt.plugins', 'vllm.general_plugins'] []"
    status, out, err = place.run(PLUG_IN + WHO)
    assert (status, err) == (0, "") and out.split("\n")[0] == groups, err
    assert "/site-packages/deep_ep/" in out
    status, out, err = place.run(PLUG_IN + WHO, WARPSHMEM_DEEP_EP="1")
    assert (status, err) == (0, "") and "/warpshmem/deep_ep/" in out, out + err
    assert place.who() == "theirs" and place.who(WARPSHMEM_DEEP_EP="1") == "ours"
    if LONG:
        return  # theirs has no CPU version
    status, out, err = place.run(LATE + PLUG_IN + WHO)
    assert status == 0 and "another deep_ep" in err and "import warpshmem.deep_ep.install" in err
    assert "/site-packages/deep_ep/" in out
    program = "import importlib.util as u, sys\nsys.exit(not u.find_spec('torch'))"
    if place.run(program)[0]:
        pytest.skip("no torch for python3 (apt-get install python3-torch)")
    status, out, err = place.run("import warpshmem.deep_ep.install\n" + IMPORTS)
    assert status == 0 and out.startswith("warpshmem.deep_ep True "), err
