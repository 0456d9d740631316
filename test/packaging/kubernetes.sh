#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kubernetes' manifests agree in themselves and with the published schemas (packages kubernetes-validate and
# kubeflow-trainer-api, which the long form installs in an environment of its own), and what the Job's pods run starts a job here: two pods of two PEs.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import yaml' 2>/dev/null && { python=$candidate; break; }
done
if [ "${WSH_TEST_LONG:-0}" = 1 ] && python3 -m venv "$tap_dir/venv" >/dev/null 2>&1 &&
    "$tap_dir/venv/bin/pip" -q install kubernetes-validate kubeflow-trainer-api >"$err" 2>&1; then
    python=$tap_dir/venv/bin/python
fi
[ -n "$python" ] || tap_skip_all "no Python with yaml (Debian: python3-yaml)"
manifests="$python -B $top_srcdir/test/packaging/kubernetes.py $top_srcdir"

# shellcheck disable=SC2086
run_job 60 $manifests
tap_check "what the manifests say agrees" test "$status" = 0
if grep -qx schemas "$out"; then tap_ok "… with the published schemas"
else tap_skip "… with the published schemas" "no Python package kubernetes-validate (make check-long installs it)"; fi
if grep -qx models "$out"; then tap_ok "… with the models of JobSet and the Trainer"
else tap_skip "… with the models of JobSet and the Trainer" "no Python package kubeflow-trainer-api (make check-long installs it)"; fi

# --- The Job's pods ---
[ -f "$top_builddir/.libs/libwarpshmem.so.0" ] || { tap_skip "two pods start" "the library is not built"; tap_done; }
for file in start.sh program.py; do
    # shellcheck disable=SC2086
    $manifests take $file >"$tap_dir/$file"
done
unset PYTHONUNBUFFERED # or Python writes a line in pieces, and two PEs of a pod have one output
port=$((20000 + $$ % 10000))
export PODS=2 PES_PER_POD=2 STORE=tcp://127.0.0.1:$port PYTHONPATH="$top_srcdir/python" PYTHONDONTWRITEBYTECODE=1 \
    WARPSHMEM_LIBRARY_DIR="$top_builddir/.libs"

# pods PROGRAM…: both, the second first; sets $statuses.
pods()
{
    for index in 1 0; do
        JOB_COMPLETION_INDEX=$index timeout -k 5 60 bash "$tap_dir/start.sh" "$@" >"$out.$index" 2>"$err.$index" </dev/null &
        eval "pod$index=$!"
    done
    wait "$pod0"
    statuses=$?
    wait "$pod1"
    statuses=$statuses:$?
    cat "$out.0" "$out.1" >"$out"
    cat "$err.0" "$err.1" >"$err"
}
pods python3 "$tap_dir/program.py"
status=$statuses
tap_check "two pods start by a unique id" test "$statuses:$(sort "$out" | tr '\n' ,)" = "0:0:PE 0 of 4,PE 1 of 4,PE 2 of 4,PE 3 of 4,"
sed 's/^shmem.barrier_all()/import sys; sys.exit(3 if shmem.my_pe() == 2 else 0)/' "$tap_dir/program.py" >"$tap_dir/fails.py"
port=$((port + 1)) STORE=tcp://127.0.0.1:$((port + 1))
pods python3 "$tap_dir/fails.py"
status=$statuses
tap_check "a PE fails: both pods fail" sh -c "case $statuses in 0:* | *:0) exit 1 ;; esac"
tap_done
