# SPDX-License-Identifier: BSD-3-Clause
"""What forges, editors and builders read agrees in itself and with the tree: .github, .editorconfig, CITATION.cff, conda's recipe.

forms.py TOP_SRCDIR               prints a line for each fault
forms.py TOP_SRCDIR database FILE     the same of a compile_commands.json; compiles base/err.c by its command
forms.py TOP_SRCDIR recipe            renders conda's recipe by the package py-rattler-build
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import yaml

found: List[str] = []


def check(true: bool, text: str) -> None:
    """Notes a fault."""
    if not true:
        found.append(text)


def read(path: Path) -> Any:
    """A file of YAML."""
    return yaml.safe_load(path.read_text())


def check_workflow(top: Path) -> None:
    """It runs what CI runs, with the tags that versions come from."""
    flow = read(top / ".github/workflows/ci.yml")
    (job,) = flow["jobs"].values()
    steps = job["steps"]
    fetches = [step["with"]["fetch-depth"] for step in steps if "checkout" in step.get("uses", "")]
    check(steps[-1].get("run") == ".ci/run", "the workflow does not end with .ci/run")
    check(os.access(top / ".ci/run", os.X_OK), ".ci/run is no program")
    check(fetches == [0], "the workflow does not fetch the tags")
    check(flow["permissions"] == {"contents": "read"}, "the workflow may write")


def check_issue_forms(top: Path) -> None:
    """Forges refuse a form without names, or with two fields of one."""
    forms = sorted((top / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    check(len(forms) == 2, "no two forms for issues")
    for path in forms:
        form = read(path)
        names = [field["id"] for field in form["body"] if "id" in field]
        check({"name", "description", "body"} <= set(form), f"{path.name}: no name, description or body")
        check(len(names) == len(set(names)), f"{path.name}: two fields of one name")


def check_citation(top: Path) -> None:
    """The fields that the format asks for, and our licence."""
    cited = read(top / "CITATION.cff")
    check({"cff-version", "message", "title", "authors"} <= set(cited), "CITATION.cff: a field is missing")
    check(cited["authors"] == [{"name": (top / "AUTHORS").read_text().strip()}], "CITATION.cff: not the authors of AUTHORS")
    check(cited["license"] == "BSD-3-Clause", "CITATION.cff: another licence")


def check_pull_request(top: Path) -> None:
    """The targets and files that the form for pull requests names are there."""
    (form,) = (top / ".github").glob("PULL*")
    text = form.read_text()
    makes = "".join(path.read_text() for path in [top / "Makefile.am", top / "test/Makefile.inc"])
    targets, files = re.findall(r"`make ([a-z-]+)`", text), re.findall(r"\b[A-Z]+\.md\b", text)
    check(len(targets) > 0 and len(files) > 0, f"{form.name} names no target, or no file")
    for target in targets:
        check(re.search(rf"^{target}:", makes, re.M) is not None, f"{form.name}: no target {target}")
    for name in files:
        check((top / name).exists(), f"{form.name}: no {name}")


def editor_rules(top: Path, name: str) -> Dict[str, str]:
    """What .editorconfig says of a file, later sections before earlier ones."""
    rules: Dict[str, str] = {}
    wanted = True
    for line in (top / ".editorconfig").read_text().splitlines():
        section, rule = re.fullmatch(r"\[(.*)\]", line), re.fullmatch(r"(\w+) = (\S+)", line)
        if section:
            glob = re.escape(section[1]).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
            glob = re.sub(r"\\{(.*?)\\}", lambda some: "(%s)" % some[1].replace(",", "|"), glob)
            wanted = re.fullmatch(glob, name if "/" in section[1] else os.path.basename(name)) is not None
        elif rule and wanted:
            rules[rule[1]] = rule[2]
        else:
            check(rule is not None or line == "" or line.startswith("#"), f".editorconfig: {line}")
    return rules


def check_editor(top: Path) -> None:
    """Files are as .editorconfig has editors write them."""
    if not (top / ".git").exists():
        return
    listed = subprocess.run(["git", "-C", top, "ls-files", "-z"], capture_output=True, text=True, check=False).stdout
    for name in filter(None, listed.split("\0")):
        data = (top / name).read_bytes() if (top / name).is_file() else b""
        if not data or b"\0" in data:
            continue
        rules = editor_rules(top, name)
        if "indent_style" in rules:
            wrong = rb"^\t" if rules["indent_style"] == "space" else rb"^    "
            check(not re.search(wrong, data, re.M), f"{name} is not indented by {rules['indent_style']}s")
        check(rules["end_of_line"] != "lf" or b"\r\n" not in data, f"{name} has lines that end with CR LF")
        ended = rules["insert_final_newline"] != "true" or data.endswith(b"\n")
        check(ended, f"{name} does not end with an end of line")
        if rules["trim_trailing_whitespace"] == "true":
            check(not re.search(rb"[ \t]$", data, re.M), f"{name} has spaces at the end of a line")


def check_recipe(top: Path) -> None:
    """conda's recipe asks for what configure asks for, and passes what it knows."""
    recipe = read(top / "packaging/conda/recipe.yaml")
    configure = "".join(path.read_text() for path in [top / "configure.ac", *top.glob("*/**/configure.m4")])
    known = re.findall(r"AC_ARG_(?:WITH|ENABLE|VAR)\(\[([A-Za-z-]+)\]", configure)
    script = " ".join(recipe["build"]["script"])
    for option in re.findall(r"--(?:with|enable)-([a-z-]+)|(MPICC)=", script):
        check(any(part in known for part in option), f"recipe.yaml: configure does not know {option}")
    host = recipe["requirements"]["host"]
    for package, least in re.findall(r"PKG_CHECK_MODULES\(\[[A-Z]+\], \[(\w+) >= ([0-9.]+)\]", configure):
        check(
            any(re.fullmatch(rf"(lib)?{package}(-devel)? >={least}", one) for one in host),
            f"recipe.yaml: configure needs {package} {least}",
        )


def check_database(top: Path, path: Path) -> None:
    """Every source of the library has a command, which compiles it."""
    rows = json.loads(path.read_text())
    there = {os.path.relpath(os.path.join(row["directory"], row["file"]), top) for row in rows}
    sources = {
        name
        for make in top.glob("*/**/Makefile.inc")
        for name in re.findall(r"^\t((?:base|topo|runtime|transports)/\S+\.c) ", make.read_text(), re.M)
    }
    for name in sorted(sources - there):
        if (top / name).exists() and not name.startswith("transports/efa"):
            found.append(f"{name} has no command")
    row = next(row for row in rows if row["file"].endswith("base/err.c"))
    done = subprocess.run(
        row["command"] + " -fsyntax-only", shell=True, cwd=row["directory"], capture_output=True, text=True, check=False
    )
    check(done.returncode == 0, f"{row['command']}: {done.stderr}")


def render_recipe(top: Path) -> None:
    """As rattler-build does before it builds."""
    import rattler_build

    recipe = rattler_build.Stage0Recipe.from_file(str(top / "packaging/conda/recipe.yaml"))
    (variant,) = recipe.render(rattler_build.VariantConfig(), rattler_build.RenderConfig())
    package = variant.recipe.package
    said = f"{package.name} {package.version}"
    check(said == f"warpshmem {(top / 'VERSION').read_text().strip()}", f"recipe.yaml is of {said}")


def main() -> int:
    """See above."""
    top = Path(sys.argv[1]).resolve()
    if sys.argv[2:3] == ["database"]:
        check_database(top, Path(sys.argv[3]))
    elif sys.argv[2:3] == ["recipe"]:
        render_recipe(top)
    else:
        for one in (check_workflow, check_issue_forms, check_citation, check_pull_request, check_editor, check_recipe):
            one(top)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
