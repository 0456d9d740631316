#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wheels beside vLLM and SGLang themselves, on the CPU: they install, the frameworks' own loaders take the plug-in,
# their dispatchers see this deep_ep and exchange tokens by it, what it costs a process that does not ask for it, and what
# is left when it is gone. Each framework comes from PyPI into an environment of its own below TMPDIR, one after the other,
# unless WSH_FRAMEWORKS names a folder of environments made before. For `make check-long` alone.
# timeout: 7200
# shellcheck disable=SC2154
vllm=0.33.0
sglang=0.5.23
most_ms=50  # what the plug-in may cost
most_gib=20 # what an environment takes while it is made

set -u
. "${top_srcdir:-.}/test/common/tap.sh"
[ "${WSH_TEST_LONG:-0}" = 1 ] || tap_skip_all "takes 30 minutes (make check-long)"
need_plain "Python without sanitizers does not load the library of"
need_oshrun
python=${WSH_TEST_PYTHON:-python3}
$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    tap_skip_all "no python3 of 3.11 or newer with venv (apt-get install python3-venv)"
free=$(df -Pk "$tap_dir" | awk 'NR == 2 { print int($4 / 1048576) }')
[ -n "${WSH_FRAMEWORKS:-}" ] || [ "$free" -ge $most_gib ] ||
    tap_skip_all "$free GiB are free below ${TMPDIR:-/tmp}, and it takes $most_gib (set TMPDIR, or WSH_FRAMEWORKS)"
here=$(cd "$top_srcdir/test/python" && pwd)
build=$(cd "$top_builddir" && pwd)
log=$tap_dir/log
# Copies, beside which there is no package warpshmem: the wheel's is imported.
mkdir -p "$tap_dir/files/here"
cp "$here/frameworks.py" "$here/frameworks_test.py" "$here"/deep_ep_*.py "$tap_dir/files/here"
unset PYTHONPATH WARPSHMEM_DEEP_EP WARPSHMEM_LIBRARY_DIR LD_LIBRARY_PATH
PYTHONDONTWRITEBYTECODE=1 SHMEM_SYMMETRIC_SIZE=512M SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=64 TMPDIR=$tap_dir
export PYTHONDONTWRITEBYTECODE SHMEM_SYMMETRIC_SIZE SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK TMPDIR
cd "$tap_dir" || exit 99
"$python" "$here/../../python/backend.py" wheel "$build" >"$log" 2>&1 &&
    "$python" "$here/../../python/front/backend.py" wheel >>"$log" 2>&1
status=$?

# pip COMMAND…, in the environment
pip()
{
    "$env/bin/python" -m pip --disable-pip-version-check --no-cache-dir "$@" </dev/null
}

# install FRAMEWORK
install()
{
    "$python" -m venv "$env" >"$log" 2>&1 && pip install -q "$1" >"$log" 2>&1
}

# files: what the environment has but for what Python writes
files()
{
    (cd "$env" && find . -type f ! -name '*.pyc' -printf '%p %s %T@\n' | sort)
}

# probe WHAT: frameworks.py's lines
probe()
{
    timeout 900 "$env/bin/python" "$tap_dir/files/here/frameworks.py" "$name" "$1" 2>"$err" </dev/null >"$out"
    status=$?
    [ "$status" = 0 ]
}

finds_ours()
{
    probe finds && grep -q '^deep_ep: warpshmem/deep_ep/' "$out"
}

# sees_ours WHAT: all dispatchers
sees_ours()
{
    probe "$1" && grep -q '^deep_ep: warpshmem/deep_ep/' "$out" && grep -q '^deepep.*: warpshmem[.]deep_ep[.]buffer$' "$out" &&
        ! grep '^deepep' "$out" | grep -vq ': warpshmem[.]deep_ep[.]buffer$'
}

sees_theirs()
{
    probe sees && cmp -s "$out" "$tap_dir/theirs"
}

# median WHAT: of five processes
median()
{
    for _ in 1 2 3 4 5; do
        probe "$1" || return 1
        cat "$out"
    done | sort -n | sed -n 3p
}

# cheap WHAT WITHOUT: the median is below that without the wheel and most_ms
cheap()
{
    with=$(median "$1")
    echo "# $name, $1: $with ms with the wheel, $2 ms without"
    awk -v with="$with" -v without="$2" -v most=$most_ms 'BEGIN { exit !(with != "" && with - without < most) }'
}

# one FRAMEWORK VERSION
one()
{
    name=$1 env=${WSH_FRAMEWORKS:-$tap_dir}/$1
    if ! [ -x "$env/bin/$1" ] && ! install "$1==$2"; then
        tap_skip "$name $2" "not installed: $(grep -v '^ *$' "$log" | tail -n 1)"
        return
    fi
    pip uninstall -q -y deep-ep warpshmem >"$log" 2>&1 # of a run that was stopped
    probe sees || { tap_fail "$name $2 is imported without a GPU" "it is not"; return; }
    tap_comment "$out"
    cp "$out" "$tap_dir/theirs"
    files >"$tap_dir/before"
    pip check >"$tap_dir/conflicts" 2>&1
    start=$(median starts) call=$(median costs)

    pip install -q --no-index "$tap_dir"/wheel/warpshmem-*.whl >"$out" 2>"$err"
    status=$?
    tap_check "$name: the wheel installs" test $status = 0
    pip check 2>&1 | grep -vxFf "$tap_dir/conflicts" | grep -v '^No broken' >"$out"
    tap_check "$name: and breaks no requirement" test ! -s "$out"
    tap_check "$name: nothing changes without WARPSHMEM_DEEP_EP=1" sees_theirs
    tap_check "$name: the loader of plug-ins takes ours, and dispatchers then see it" sees_ours loads
    export WARPSHMEM_DEEP_EP=1
    tap_check "$name: dispatchers see ours in a worker's order of imports, with WARPSHMEM_DEEP_EP=1" sees_ours sees
    tap_comment "$out"
    tap_check "$name: a process with WARPSHMEM_DEEP_EP=1 starts as fast" cheap starts "$start"
    tap_check "$name: the plug-in costs nothing with WARPSHMEM_DEEP_EP=1" cheap costs "$call"
    WSH_TEST_SECONDS=600 run_job 700 "$env/bin/python" "$tap_dir/files/here/deep_ep_job.py" 2 \
        "$tap_dir/files/here/frameworks_test.py" "$name"
    tap_comment "$out"
    tap_check "$name: its classes dispatch and combine by ours" sh -c "[ $status = 0 ] && ! grep -q '^not ok' '$out'"
    unset WARPSHMEM_DEEP_EP
    tap_check "$name: Python starts as fast without it" cheap starts "$start"
    tap_check "$name: the plug-in costs nothing without it" cheap costs "$call"

    pip install -q --no-index "$tap_dir"/wheel/deep_ep-*.whl >"$out" 2>"$err"
    status=$?
    tap_check "$name: the front installs" test $status = 0
    tap_check "$name: and Python finds ours" finds_ours
    pip uninstall -q -y deep-ep warpshmem >"$out" 2>"$err"
    status=$?
    tap_check "$name: both are uninstalled" test $status = 0
    files | cmp - "$tap_dir/before" >"$out" 2>&1
    status=$?
    tap_check "$name: and leave the files of others as they were" test $status = 0
    tap_check "$name: which work as before" sees_theirs
}

tap_check "the wheels are built" test $status = 0
for framework in "vllm $vllm" "sglang $sglang"; do
    # shellcheck disable=SC2086
    one $framework
    [ -n "${WSH_FRAMEWORKS:-}" ] || rm -rf "$env"
done
tap_done
