# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe without Spack: a stand-in for its package API records what the recipe declares and what it passes to configure.

python3 spack.py TOP_SRCDIR prints a line for each fault; where Spack is installed, `spack audit` is the judge (spack.sh).
"""
import importlib.util
import re
import sys
import types
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

declared: List[Tuple[str, tuple, dict]] = []
DIRECTIVES = ("version", "variant", "depends_on", "license", "filter_compiler_wrappers")


class Node:
    """A dependency of a concrete spec."""

    def __init__(self, name: str) -> None:
        self.prefix = f"/opt/{name}"
        self.mpicc = f"/opt/{name}/bin/mpicc"


class Spec:
    """A concrete spec with these variants on."""

    def __init__(self, on: str, archs: Tuple[str, ...] = ("none",)) -> None:
        self.on = on.split()
        self.variants = {"cuda_arch": types.SimpleNamespace(value=archs)}

    def __contains__(self, text: str) -> bool:
        return text in self.on

    def __getitem__(self, name: str) -> Node:
        return Node(name)


def directive(name: str) -> Callable[..., None]:
    """Records its calls."""
    def record(*args: Any, **kwargs: Any) -> None:
        declared.append((name, args, kwargs))
    return record


def load(recipe: Path) -> Any:
    """The class of the recipe."""
    api: Dict[str, Any] = {name: directive(name) for name in DIRECTIVES}
    api.update(AutotoolsPackage=type("AutotoolsPackage", (), {}), CudaPackage=type("CudaPackage", (), {}),
               run_after=lambda phase: lambda function: function)
    package = types.ModuleType("spack.package")
    package.__dict__.update(api)
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = package
    spec = importlib.util.spec_from_file_location("recipe", recipe)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Warpshmem


def options_of(recipe: Any, on: str, archs: Tuple[str, ...] = ("none",)) -> List[str]:
    """What configure gets with these variants."""
    package = recipe()
    package.spec = Spec(on, archs)
    return package.configure_args()


def faults(top: Path) -> List[str]:
    """What is wrong with the recipe, a line each."""
    found: List[str] = []
    recipe = load(top / "packaging/spack/package.py")
    configure = "".join(path.read_text() for path in [top / "configure.ac", *top.glob("*/**/configure.m4")])
    known = re.findall(r"AC_ARG_(?:WITH|ENABLE|VAR)\(\[([A-Za-z-]+)\]", configure)
    for on, archs in (("", ("none",)), ("+cuda +mpi", ("80", "90")), ("+cuda", ("none",))):
        for option in options_of(recipe, on, archs):
            name = re.sub(r"^--(with|enable)-|=.*", "", option)
            if name not in known:
                found.append(f"configure does not know {option}")
    if "--with-cuda-archs=80,90" not in options_of(recipe, "+cuda", ("80", "90")):
        found.append("cuda_arch does not reach configure")
    needed = {args[0] for name, args, _ in declared if name == "depends_on"}
    for package, least in re.findall(r"PKG_CHECK_MODULES\(\[[A-Z]+\], \[(\w+) >= ([0-9.]+)\]", configure):
        if f"{package}@{least}:" not in needed:
            found.append(f"configure needs {package} {least}, the recipe says {sorted(needed)}")
    kinds = [name for name, _, _ in declared]
    found += [f"no {name}" for name in DIRECTIVES if name not in kinds]
    return found


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
