#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of examples/ and of docs/guide/expert-parallelism.md compile without a warning as their heads say, and give
# right results: in one host, and between emulated hosts. The page's table of memory is what a program prints.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip_all "a program without sanitizers does not go with the library of $WSH_TEST_VARIANT" ;;
esac
moe=$top_srcdir/examples/moe
SHMEM_SYMMETRIC_SIZE=64M SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

# layer PROGRAM PES HOSTS: all PEs say that nothing is wrong.
layer()
{
    run_job 60 "$oshrun" -n "$2" --nodes-emulated "$3" "$tap_dir/$1"
    tap_check "$1, $2 PEs on $3 host(s)" \
        sh -c "[ $status = 0 ] && [ \$(grep -c '^PE [0-9]* of $2: .* 0 values are wrong$' '$out') = $2 ]"
}

run_job 60 "$top_builddir/oshcc" -O2 -Wall -Wextra -Werror -o "$tap_dir/moe" "$moe/moe.c" -lwarpshmem-ep -lm
tap_check "moe.c compiles" test "$status" = 0
layer moe 1 1
layer moe 2 1
layer moe 4 1
layer moe 4 2

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/docs/guide/expert-parallelism.md" >"$tap_dir/first.c"
run_job 60 "$top_builddir/oshcc" -Wall -Wextra -Werror -o "$tap_dir/first" "$tap_dir/first.c" -lwarpshmem-ep
tap_check "the guide's program compiles" test "$status" = 0
run_job 60 "$oshrun" -n 2 "$tap_dir/first"
sort "$out" >"$tap_dir/found"
printf 'PE %d: token %d is %d\n' 0 0 0 0 1 3 0 2 10 1 0 30 1 1 55 1 2 36 >"$tap_dir/wanted"
tap_check "and prints what it should" cmp -s "$tap_dir/wanted" "$tap_dir/found"
run_job 20 "$(test_program perftest/ep/ep_host)" --memory --experts 256
tap_check "the guide's table of memory is what ep_host --memory prints" \
    sh -c "[ $status = 0 ] && [ \$(wc -l <'$out') = 22 ] && ! grep -vxFf '$top_srcdir/docs/guide/expert-parallelism.md' '$out'"

nvcc=$(sed -n "s/^ *\*nvcc) compiler=\${SHMEM_NVCC:-'\(.*\)'} ;;/\1/p" "$top_builddir/oshnvcc" 2>/dev/null)
if ! command -v "${SHMEM_NVCC:-${nvcc:-nvcc}}" >/dev/null; then
    tap_skip "moe.cu" "no nvcc"
    tap_done
fi
run_job 120 "$top_builddir/oshnvcc" -O2 -o "$tap_dir/moe_gpu" "$moe/moe.cu" -lwarpshmem-ep
tap_check "moe.cu compiles" test "$status" = 0
if [ ! -e /dev/nvidiactl ]; then
    tap_skip "moe_gpu" "no NVIDIA GPU on this machine"
    tap_done
fi
SHMEM_DEVICE_SYMMETRIC_SIZE=64M
export SHMEM_DEVICE_SYMMETRIC_SIZE
layer moe_gpu 1 1
layer moe_gpu 2 1
layer moe_gpu 2 2
tap_done
