#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun --trace writes a file that a checker finds right: over two emulated hosts, with a PE that is late, of a layer of experts,
# after a job that failed, with a ring that is full; and bad settings are one line.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "a preloaded library does not go with"
command -v python3 >/dev/null || tap_skip_all "no python3"
halo=$(test_program test/trace/halo)
unset SHMEM_TRACE SHMEM_TRACE_EVENTS
trace=$tap_dir/trace.json

# traced NAME CHECKS WORD…: oshrun with --trace and these words; the checker with the others.
traced()
{
    name=$1 checks=$2
    shift 2
    rm -f "$trace"*
    run_job 60 "$oshrun" --trace "$trace" "$@"
    # shellcheck disable=SC2086
    said=$(python3 "$top_srcdir/test/trace/check.py" $checks "$trace" 2>&1) || said="wrong: $said"
    echo "# $said"
    tap_check "$name" sh -c 'case $1 in *wrong:*) exit 1 ;; esac; [ "$(ls "$2"* | wc -l)" = 1 ]' sh "$said" "$trace"
}

traced "four PEs of one host" "--flows 160" -n 4 "$halo" 20
tap_check "… that end well and say nothing" test "$status:$(wc -l <"$err")" = 0:0
tap_check "… with the nonblocking collective" test "$(grep -cE '"name":"shmemx_(long_sum_reduce_nb|req_wait)"' "$trace")" = 8
traced "four PEs of two hosts" "--flows 160" -n 4 --nodes-emulated 2 "$halo" 20
tap_check "… of which both paths are in the file" \
    test "$(grep -o '"path":"[a-z]*"' "$trace" | sort -u | tr '\n' ' ')" = '"path":"local" "path":"network" '
# 5 ms show on a machine that is not busy with other work.
for late in 5 50 200; do
    run_job 60 "$oshrun" --trace "$trace" -n 4 --nodes-emulated 2 "$halo" 10 2 $late
    if said=$(python3 "$top_srcdir/test/trace/check.py" --flows 80 --late 2 "$trace" 2>&1); then break; fi
done
echo "# $late ms: $said"
tap_check "PE 2 is late: others wait for it" sh -c 'case $1 in *wrong:*) exit 1 ;; esac' sh "$said"
traced "a PE is killed: what was noted is there" "--cut --flows 20" -n 4 "$halo" 10 crash
tap_check "… and the status is that of the signal" test "$status" = 137
traced "a ring that is full" "" -n 4 -x SHMEM_TRACE_EVENTS=1024 "$halo" 300
tap_check "… drops the oldest, and says how many" grep -q '"events":1024,"dropped":[1-9]' "$trace"
if ${CC:-cc} -O2 -I"$top_srcdir/include" "$top_srcdir/examples/moe/moe.c" -o "$tap_dir/moe" -L"$top_builddir/.libs" \
    -lwarpshmem-ep -lwarpshmem -lm 2>"$err"; then
    LD_LIBRARY_PATH=$top_builddir/.libs traced "experts of four PEs of two hosts" "" -n 4 --nodes-emulated 2 "$tap_dir/moe"
    tap_check "… of which calls, and the waits within, are slices" \
        test "$(grep -cE '"name":"shmemx_ep_(dispatch|combine)","cat":"experts"' "$trace")" = 24
else
    tap_fail "experts of four PEs of two hosts" "$(tail -n 1 "$err")"
fi
# Records of proxy threads, of a driver without a GPU.
proxied=$(test_program test/mp/device_proxy_rma) fake=$top_builddir/test/fake_cuda
if [ -e "$fake/libcuda.so.1" ] && [ -f "$top_builddir/transports/nvlink/agent_image.lo" ]; then
    traced "records of the proxy threads of two hosts" "--pes 2 --proxy 500 --clock-us 20000" -n 2 --nodes-emulated 2 \
        -x LD_LIBRARY_PATH="$fake:${LD_LIBRARY_PATH:-}" -x SHMEM_DEVICE_SYMMETRIC_SIZE=16M "$proxied"
    tap_check "… of which each kind has its name" test "$(grep '"ph":"X".*"cat":"library"' "$trace" |
        grep -oE '"name":"(put|get|iput|iget|put_signal|quiet|zero-copy (put|get|put_signal))"' | sort -u | wc -l)" = 9
else
    tap_skip "records of the proxy threads of two hosts" "no driver without a GPU was built"
fi
traced "one PE" "--pes 1" -n 1 "$halo" 5

# As other launchers do it.
rm -f "$trace"*
run_job 60 "$oshrun" -n 2 -x LD_PRELOAD="$top_builddir/.libs/libwarpshmem-trace.so" -x SHMEM_TRACE="$trace" "$halo" 5
tap_check "by LD_PRELOAD and SHMEM_TRACE" sh -c 'python3 "$1/test/trace/check.py" --pes 2 --flows 20 "$2" >/dev/null' sh "$top_srcdir" "$trace"
run_job 60 "$oshrun" -n 2 -x SHMEM_TRACE="$trace" "$halo" 5
tap_check "SHMEM_TRACE alone: one line says what is missing" \
    test "$status:$(grep -c 'SHMEM_TRACE has no effect in this job: .* --trace FILE' "$err")" = 0:1
cat >"$tap_dir/barriers.py" <<'EOF'
import warpshmem

warpshmem.init()
warpshmem.barrier_all()
warpshmem.barrier_all()
warpshmem.finalize()
EOF
rm -f "$trace"*
WARPSHMEM_PYTHON_CALLS=ctypes WARPSHMEM_LIBRARY_DIR=$top_builddir/.libs PYTHONPATH=$top_srcdir/python
export WARPSHMEM_PYTHON_CALLS WARPSHMEM_LIBRARY_DIR PYTHONPATH
run_job 60 env SHMEM_TRACE="$trace" "$oshrun" -n 2 python3 "$tap_dir/barriers.py"
tap_check "Python by SHMEM_TRACE alone" test "$status:$(grep -c '"name":"shmem_barrier_all"' "$trace")" = 0:4
library=$top_builddir/nvshmem/lib/libnvshmem_host.so.3
rm -f "$trace"*
if [ -e "$library" ]; then
    run_job 60 "$oshrun" --trace "$trace" -n 2 python3 -c "import ctypes
nv = ctypes.CDLL('$library'); nv.nvshmem_init(); nv.nvshmem_barrier_all(); nv.nvshmem_finalize()"
    tap_check "a library that an interpreter has loaded for itself" test "$status:$(grep -c '"name":"shmem_barrier_all"' "$trace")" = 0:2
else
    tap_skip "a library that an interpreter has loaded for itself" "no libnvshmem_host"
fi
run_job 60 "$oshrun" --trace /nowhere/trace.json -n 2 "$halo" 1
tap_check "a folder that is not there: one line" test "$status:$(grep -c 'trace /nowhere/trace.json: its folder cannot be written' "$err")" = 2:1
run_job 60 "$oshrun" --trace "$tap_dir" -n 2 "$halo" 1
tap_check "a folder: one line" test "$status:$(grep -c "trace $tap_dir: that is a folder" "$err"):$(wc -l <"$err")" = 2:1:1
run_job 60 env SHMEM_TRACE=/nowhere/trace.json LD_PRELOAD="$top_builddir/.libs/libwarpshmem-trace.so" "$oshrun" -n 3 "$halo" 1
tap_check "parts that cannot be made: one line of a host, and the job's end as it was" \
    test "$status:$(grep -c "SHMEM_TRACE: no file '/nowhere/trace.json.pe" "$err"):$(wc -l <"$err")" = 0:1:1
run_job 60 env SHMEM_TRACE_EVENTS=7 "$oshrun" --trace "$trace" -n 1 "$halo" 1
tap_check "a number of events that is none: one line" test "$(grep -c SHMEM_TRACE_EVENTS "$err")" = 1
run_job 10 "$top_builddir/warpshmem-trace" "$tap_dir/none"
tap_check "warpshmem-trace without parts: one line" test "$status:$(wc -l <"$err")" = 1:1
# PE 2 is the first of its host, whose clock PE 0 compares with its own; PE 0 asks for it at the end, too.
for who in 2 0; do
    rm -f "$trace"*
    run_job 60 "$oshrun" -n 4 --nodes-emulated 2 --on-pe-failure continue --trace "$trace" \
        "$(test_program test/launch/helper/survive)" kill $who barrier
    tap_check "PE $who dies, the others go on and end, and the file has all" sh -c \
        "[ $status = 0 ] && [ \$(ls '$trace'*) = '$trace' ] && python3 -m json.tool '$trace' /dev/null && grep -q 'PE $who (' '$trace'"
done
tap_done
