#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# deep_ep_gpu.sh BUILD_FOLDER OUT_FILE [N…]: Python's deep_ep, warpshmem.ep and the example on a GPU that 2, 4 and 8 PEs
# share, one line of TAP a test, flushed at once; its last line is `N passed, N failed, N skipped`. PYTHON is the interpreter, with torch. More PEs than
# GPUs run under the MPS daemon that is there, else under one of this script's own. WSH_GPU_SECONDS: limit of all (230).
set -u

[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0"; exit 2; }
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 2
out=$2 python=${PYTHON:-python3}
shift 2
[ $# -gt 0 ] || set -- 2 4 8
: >"$out" || exit 2
[ -e /dev/nvidiactl ] || { echo "skip: no NVIDIA GPU on this machine"; exit 77; }
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || { echo "skip: no torch with CUDA"; exit 77; }
export WARPSHMEM_LIBRARY_DIR="$build/.libs" PYTHONPATH="$top_srcdir/python" PYTHONUNBUFFERED=1 GLOO_SOCKET_IFNAME=lo
export LD_LIBRARY_PATH="$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export SHMEM_SYMMETRIC_SIZE="${SHMEM_SYMMETRIC_SIZE:-256M}" SHMEM_DEVICE_SYMMETRIC_SIZE="${SHMEM_DEVICE_SYMMETRIC_SIZE:-256M}"
export WSH_TEST_GO_ON=1 SHMEM_HANG_SECONDS="${SHMEM_HANG_SECONDS:-20}" CUDA_DEVICE_MAX_CONNECTIONS="${CUDA_DEVICE_MAX_CONNECTIONS:-8}"
end=$(($(date +%s) + ${WSH_GPU_SECONDS:-230}))
mps=
if ! echo get_server_list | timeout 5 nvidia-cuda-mps-control >/dev/null 2>&1; then
    mps=$(mktemp -d)
    export CUDA_MPS_PIPE_DIRECTORY="$mps" CUDA_MPS_LOG_DIRECTORY="$mps"
    nvidia-cuda-mps-control -d || { rm -rf "$mps"; unset CUDA_MPS_PIPE_DIRECTORY; mps=; }
fi
trap '[ -z "$mps" ] || { echo quit | nvidia-cuda-mps-control; rm -rf "$mps"; } >/dev/null 2>&1' EXIT

# job NAME COMMAND…: within JOB_SECONDS, so that one that hangs leaves time to the others; prints and keeps its lines.
JOB_SECONDS=70
job()
{
    name=$1
    shift
    began=$(date +%s)
    left=$((end - began))
    if [ $left -lt 5 ]; then echo "ok - $name # SKIP no time left" | tee -a "$out"; return; fi
    [ $left -lt $JOB_SECONDS ] || left=$JOB_SECONDS
    { WSH_TEST_SECONDS=$left timeout -k 5 "$left" "$@" 2>&1; echo "# $name: exit status $?, $(($(date +%s) - began)) s"; } | tee -a "$out"
}

here=$top_srcdir/test/python
elastic=$here/deep_ep_elastic_test.py,$here/deep_ep_elastic_wrong_test.py,$here/deep_ep_callers_test.py
more=$here/deep_ep_hybrid_test.py,$here/deep_ep_nvfp4_test.py,$here/deep_ep_names_test.py,$here/deep_ep_wrong_test.py,$here/deep_ep_edges_test.py,$here/deep_ep_redundant_test.py,$here/deep_ep_life_test.py,$here/deep_ep_overlap_test.py,$here/torch_ops_test.py
all=$here/deep_ep_normal_test.py,$here/deep_ep_low_test.py,$here/deep_ep_values_test.py,$here/deep_ep_quick_test.py,$elastic,$more,$here/deep_ep_other_test.py,$here/ep_test.py,$here/deep_ep_frameworks_test.py
for n in "$@"; do
    job "tests with $n PEs" "$python" -u "$here/deep_ep_job.py" "$n" "$all"
    # groups are jobs of their own beside each other, which share the GPU
    [ "$n" != 4 ] || SHMEM_GPU_PES=$n job "groups with $n PEs" "$python" -u "$here/deep_ep_job.py" "$n" "$here/deep_ep_groups_test.py"
    [ "$n" -gt 4 ] || job "moe.py with $n PEs" "$python" -u "$top_srcdir/examples/python/moe.py" --gpu --pes "$n"
done
[ "${1:-}" != 2 ] || job "odd values with 2 PEs" "$python" -u "$here/deep_ep_job.py" 2 "$here/deep_ep_odd_test.py"
job "what calls take of the host" "$python" -u "$top_srcdir/perftest/python/overhead.py" --deep-ep --calls 3000
case " $* " in *" 2 "*) WARPSHMEM_PYTHON_CALLS=ctypes job "tests with 2 PEs, by ctypes" "$python" -u "$here/deep_ep_job.py" 2 "$all" ;; esac
failed=$(grep -cE '^not ok |exit status [1-9]' "$out")
skipped=$(grep -cE '^ok .*# SKIP' "$out")
echo "$(($(grep -cE '^ok |losses are equal' "$out") - skipped)) passed, $failed failed, $skipped skipped" | tee -a "$out"
[ "$failed" = 0 ]
