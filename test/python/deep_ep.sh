#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Python's deep_ep and warpshmem.ep with torch's CPU tensors, against a reference: processes that find each other by a
# group of torch, and PEs of oshrun on two emulated hosts; operators of torch; the stubs of frameworks; the example.
# WSH_TEST_LONG=1: 2 and 8 PEs too, and all tests by ctypes, of which else a few run that way.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "Python without sanitizers does not load the library of"
here=$top_srcdir/test/python
for python in "${WSH_TEST_PYTHON:-python3}" /usr/bin/python3 none; do
    "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))' 2>/dev/null && break
done
[ "$python" != none ] || tap_skip_all "no python3 with torch: apt-get install python3-torch"
WARPSHMEM_LIBRARY_DIR=$top_builddir/.libs SHMEM_SYMMETRIC_SIZE=512M PYTHONPATH=$top_srcdir/python PYTHONDONTWRITEBYTECODE=1
GLOO_SOCKET_IFNAME=lo
[ ! -e "$WARPSHMEM_LIBRARY_DIR/_calls.abi3.so" ] || export WARPSHMEM_PYTHON_CALLS="${WARPSHMEM_PYTHON_CALLS:-extension}"
export WARPSHMEM_LIBRARY_DIR SHMEM_SYMMETRIC_SIZE PYTHONPATH PYTHONDONTWRITEBYTECODE GLOO_SOCKET_IFNAME
normal=$here/deep_ep_normal_test.py
elastic=$here/deep_ep_elastic_test.py,$here/deep_ep_elastic_wrong_test.py,$here/deep_ep_callers_test.py
more=$here/deep_ep_hybrid_test.py,$here/deep_ep_nvfp4_test.py,$here/deep_ep_names_test.py,$here/deep_ep_wrong_test.py,$here/deep_ep_edges_test.py,$here/deep_ep_redundant_test.py,$here/deep_ep_life_test.py,$here/deep_ep_overlap_test.py,$here/torch_ops_test.py
all=$normal,$here/deep_ep_low_test.py,$here/deep_ep_values_test.py,$here/deep_ep_quick_test.py,$here/deep_ep_masks_test.py,$elastic,$more,$here/deep_ep_other_test.py

# tests HOW: the lines of a job's TAP as this script's own.
tests()
{
    while IFS= read -r line; do
        name=${line#*ok * - } skip=${line#* # SKIP }
        case $line in
            "ok "*" # SKIP "*) tap_skip "${name%% # SKIP *}, $1" "$skip" ;;
            "ok "*) tap_ok "$name, $1" ;;
            "not ok "*) tap_fail "$name, $1" "as above" ;;
        esac
    done <"$tap_dir/lines"
}

# job HOW COMMAND…
job()
{
    how=$1
    shift
    run_job 120 "$@"
    grep -E '^(not )?ok ' "$out" | sed 's/, [0-9.]* s\( #\|$\)/\1/' >"$tap_dir/lines"
    tests "$how"
    if [ "$status" != 0 ] || ! grep -q '^1[.][.]' "$out"; then tap_fail "the job ends well, $how" "it did not"; fi
}

job "one group" "$python" "$here/deep_ep_job.py" 4 "$all,$here/ep_test.py,$here/deep_ep_frameworks_test.py"
job "2 processes" "$python" "$here/deep_ep_page.py" "$top_srcdir/docs/guide/deep-ep.md" 2
run_job 100 "$python" "$here/deep_ep_names_test.py"
tap_check "a program starts by deep_ep.utils.envs.init_dist" test "$status" = 0
job "2 processes" "$python" "$here/deep_ep_job.py" 2 "$here/deep_ep_odd_test.py"
job "groups" "$python" "$here/deep_ep_job.py" 4 "$here/deep_ep_groups_test.py"
job "dropped" env SHMEM_SYMMETRIC_SIZE=36M "$python" "$here/deep_ep_job.py" 4 "$here/deep_ep_dropped_test.py"
run_job 60 "$python" "$here/deep_ep_dropped_test.py"
tap_check "Buffers are dropped in silence at the end, after the job's and in a child" \
    sh -c "[ $status = 0 ] && grep -qx dropped '$out' && ! grep -E 'dropped|Exception|warning' '$err'"
WSH_TEST_HOSTS=2 SHMEM_LIBFABRIC_PROVIDER=tcp job "2 emulated hosts" "$oshrun" -n 4 --nodes-emulated 2 \
    "$python" -u "$here/deep_ep_job.py" launched "$all,$here/ep_test.py" "" "$tap_dir/store"
SHMEM_LIBFABRIC_PROVIDER=tcp run_job 60 "$oshrun" -n 4 --nodes-emulated 2 --on-pe-failure continue \
    "$python" "$here/deep_ep_masks_test.py" "$tap_dir/death"
tap_check "a rank dies, and low-latency calls go on, 2 emulated hosts" \
    sh -c "[ $status = 0 ] && [ \$(grep -c '^went on' '$out') = 3 ]"
by_ctypes=$normal,$here/deep_ep_low_test.py
[ "${WSH_TEST_LONG:-0}" = 0 ] || by_ctypes=$all
[ "${WARPSHMEM_PYTHON_CALLS:-}" != extension ] || WARPSHMEM_PYTHON_CALLS=ctypes job "one group, by ctypes" \
    "$python" "$here/deep_ep_job.py" 2 "$by_ctypes,$here/ep_test.py"
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    for n in 2 8; do job "one group of $n" "$python" "$here/deep_ep_job.py" $n "$all,$here/ep_test.py"; done
fi
run_job 100 "$python" "$top_srcdir/examples/python/moe.py" --pes 2
tap_check "examples/python/moe.py, 2 PEs" \
    sh -c "[ $status = 0 ] && [ \$(grep -c '^PE [0-9]* of 2: .* losses are equal' '$out') = 2 ]"
tap_done
