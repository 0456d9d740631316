#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What forges, editors and builders read: the workflow and the forms of .github, .editorconfig, CITATION.cff, conda's recipe and
# compile_commands.json agree with the tree. The long form asks programs of Python's registry too, in an environment of its own:
# check-jsonschema and yamllint for the forge and CITATION.cff, rattler-build for the recipe, twine for the wheel.
# timeout: 900
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import yaml' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || tap_skip_all "no Python with yaml (Debian: python3-yaml)"
[ -e "$top_srcdir/.github" ] || tap_skip_all "an archive has no forms"
run_job 60 "$python" -B "$top_srcdir/test/packaging/forms.py" "$top_srcdir"
tap_check "forms agree with the tree" test "$status" = 0
tap_long "their own programs take them" || tap_done

run_job 120 make -s -C "$top_builddir" compile_commands
run_job 60 "$python" -B "$top_srcdir/test/packaging/forms.py" "$top_srcdir" database "$top_builddir/compile_commands.json"
tap_check "compile_commands.json has every source" test "$status" = 0
bin=$tap_dir/venv/bin
# install PACKAGE…
install()
{
    run_job 300 "$bin/pip" -q install "$@"
    [ "$status" = 0 ] && return
    tap_skip "$*" "cannot be installed"
    false
}
python3 -m venv "$tap_dir/venv" || { tap_skip "their own programs" "no venv"; tap_done; }
cd "$top_srcdir" || exit 99
if install check-jsonschema yamllint; then
    run_job 60 "$bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/ci.yml
    tap_check "the workflow is of its schema" test "$status" = 0
    run_job 60 "$bin/check-jsonschema" --builtin-schema vendor.citation-file-format CITATION.cff
    tap_check "CITATION.cff is of its schema" test "$status" = 0
    run_job 60 "$bin/check-jsonschema" --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
    tap_check "the forms for issues are of their schema" test "$status" = 0
    run_job 60 "$bin/yamllint" -d '{extends: relaxed, rules: {line-length: disable}}' .github packaging/kubernetes packaging/conda CITATION.cff
    tap_check "yamllint finds no fault" test "$status" = 0
fi
if install pyyaml py-rattler-build; then
    run_job 60 "$bin/python" -B "$top_srcdir/test/packaging/forms.py" "$top_srcdir" recipe
    tap_check "rattler-build renders the recipe" test "$status" = 0
fi
if install twine; then
    run_job 60 make -s -C "$top_builddir" wheel
    run_job 60 "$bin/twine" check --strict "$top_builddir"/wheel/*.whl
    tap_check "twine takes the wheel" test "$status" = 0
fi
tap_done
