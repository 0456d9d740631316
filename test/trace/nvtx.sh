#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun --nvtx: a tool sees each call as a range; without a tool nothing happens; without the library, and where it was
# built without NVTX, one line says so.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "a preloaded library does not go with"
halo=$(test_program test/trace/halo)
unset SHMEM_NVTX SHMEM_TRACE NVTX_INJECTION64_PATH
tool=$top_builddir/test/trace/nvtx_tool.so

# ranges NAME: how many of this name, or all with "", the last job has begun.
ranges()
{
    grep -c "^begin $1" "$out"
}

run_job 60 env SHMEM_NVTX=1 "$oshrun" -n 2 "$halo" 3
tap_check "SHMEM_NVTX alone: one line says what is missing" \
    test "$status:$(grep -c 'SHMEM_NVTX has no effect in this job: .* oshrun --nvtx' "$err")" = 0:1
run_job 60 "$oshrun" --nvtx -n 2 "$halo" 3
if [ ! -f "$tool" ]; then
    tap_check "built without NVTX: one line" test "$status:$(grep -c 'SHMEM_NVTX has no effect: .* built without NVTX' "$err")" = 0:1
    tap_skip "a tool sees the calls" "no headers of NVTX (CUDA Toolkit)"
    tap_done
    exit
fi
tap_check "without a tool: nothing is said" test "$status:$(wc -l <"$err")" = 0:0
run_job 60 env NVTX_INJECTION64_PATH="$tool" "$oshrun" --nvtx -n 2 "$halo" 3
tap_check "a tool sees the domain in both PEs" test "$status:$(grep -c '^domain warpshmem$' "$out")" = 0:2
echo "# ranges: $(ranges ''), ended: $(grep -c '^end$' "$out"), of barriers: $(ranges shmem_barrier_all)"
tap_check "… and calls, each of which ends" test "$(ranges shmem_barrier_all)" -ge 2 -a "$(ranges '')" = "$(grep -c '^end$' "$out")"
n=$(ranges shmem_putmem_signal)
run_job 60 env NVTX_INJECTION64_PATH="$tool" "$oshrun" --nvtx --trace "$tap_dir/trace.json" -n 2 "$halo" 3
tap_check "… beside a trace" test "$status:$(ranges shmem_putmem_signal)" = "0:$n" -a -s "$tap_dir/trace.json"
# The routines on streams of the headers, here as libnvshmem_host has them; without a GPU the call ends the job.
library=$top_builddir/nvshmem/lib/libnvshmem_host.so.3
if [ -e "$library" ] && command -v python3 >/dev/null; then
    run_job 60 env NVTX_INJECTION64_PATH="$tool" "$oshrun" --nvtx -n 1 python3 -c "import ctypes
nv = ctypes.CDLL('$library'); nv.nvshmem_init(); nv.nvshmemx_quiet_on_stream(ctypes.c_void_p(None))"
    tap_check "… and calls on streams" test "$(ranges shmemx_quiet_on_stream)" = 1
else
    tap_skip "… and calls on streams" "no libnvshmem_host or no python3"
fi
tap_done
