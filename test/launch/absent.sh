#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where PEs wait in shmem_init or shmem_finalize for others, oshrun names those that have not come, once.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

${CC:-cc} -shared -fPIC -o "$tap_dir/late.so" "$top_srcdir/test/launch/helper/failing_fence.c" -ldl || exit 99
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip_all "a preloaded library does not go with $WSH_TEST_VARIANT" ;;
esac
SHMEM_HANG_SECONDS=1
export SHMEM_HANG_SECONDS

# late FENCE PES HOSTS
late()
{
    job 20000 -n 6 --nodes-emulated "$3" \
        env "LD_PRELOAD=$tap_dir/late.so" FENCE_LATE="$1" FENCE_LATE_PES="$2" "$course" hello
}

for hosts in 1 2; do
    late 0 '' $hosts
    last=$(sed -n 's/^fences //p' "$err" | sort -n | tail -n 1)
    ended "$hosts hosts: nobody is late" 0 ''
    late 1 ' 2 5 ' $hosts
    ended "$hosts hosts: shmem_init" 0 'PEs 2, 5 have not come to the end of shmem_init, where 4 of 6 PEs wait; look what they do'
    tap_check "$hosts hosts: each PE that waits says so" \
        test "$(grep -ac 'exchange of addresses: waiting for other PEs since 1 s; oshrun names those that are missing' "$err")" = 4
    late "$last" ' 1 2 3 ' $hosts
    ended "$hosts hosts: shmem_finalize" 0 'PEs 1-3 have not come to shmem_finalize, where 3 of 6 PEs wait'
done

# A PE that has not even begun.
job 20000 -n 3 sh -c '[ "$PMIX_RANK" != 1 ] || sleep 3; exec "$0" hello' "$course"
ended "before shmem_init" 0 'PE 1 has not come to the end of shmem_init, where 2 of 3 PEs wait; look what it does'
SHMEM_HANG_SECONDS=0 job 20000 -n 3 sh -c '[ "$PMIX_RANK" != 1 ] || sleep 2; exec "$0" hello' "$course"
ended "SHMEM_HANG_SECONDS=0: no line" 0 ''
tap_done
