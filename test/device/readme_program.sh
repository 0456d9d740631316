#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The README's device program, built by oshnvcc, run by oshrun: every PE has its left neighbour's row.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
awk '/^```cuda$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$tap_dir/readme.cu"
grep -v SPDX "$top_srcdir/test/device/readme_program.cu" | cmp -s - "$tap_dir/readme.cu"
tap_check "it stands in README.md as it is compiled here" test $? = 0
need_oshrun
abs_source=$(cd "$top_srcdir" && pwd)
nvcc=$(sed -n "s/^ *\*nvcc) compiler=\${SHMEM_NVCC:-'\(.*\)'} ;;/\1/p" "$top_builddir/oshnvcc")
command -v "${SHMEM_NVCC:-${nvcc:-nvcc}}" >/dev/null || tap_skip_all "no nvcc"

run_job 120 "$top_builddir/oshnvcc" -o "$tap_dir/program" "$abs_source/test/device/readme_program.cu"
tap_check "oshnvcc builds it" test "$status" = 0
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
for pes in 1 2 4; do
    run_job 60 env SHMEM_DEVICE_SYMMETRIC_SIZE=64M "$oshrun" -n "$pes" "$tap_dir/program"
    tap_check "$pes PEs: exit status 0" test "$status" = 0
    for pe in $(seq 0 $((pes - 1))); do
        tap_check "$pes PEs: PE $pe" grep -qx "PE $pe received the row of PE $(((pe + pes - 1) % pes))" "$out"
    done
done
tap_done
