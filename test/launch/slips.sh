#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slips that would be silent or misleading: a routine in a forked child, a second start with other ranks, settings that
# change nothing, C++98.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "a program without sanitizers does not go with"

cat >"$tap_dir/slips.c" <<'END'
#include <shmemx.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static long box;
int main(int argc, char **argv)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    shmemx_uniqueid_t id;
    pid_t child;
    int status, rc = 0;

    shmem_init();
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        child = fork();
        if (!child)
            shmem_long_p(&box, 1, 0);
        waitpid(child, &status, 0);
        rc = status ? 0 : 3;
    } else if (argc > 1) {
        rc = shmemx_get_uniqueid(&id) || shmemx_set_attr_uniqueid_args(1, 7, &id, &attr) ||
             shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr);
        shmem_finalize();
    }
    shmem_finalize();
    return rc;
}
END
"$top_builddir/oshcc" -o "$tap_dir/slips" "$tap_dir/slips.c" || exit 99

# says NAME LINE ARGUMENTS…: one line, which matches, in a job that ends well.
says()
{
    name=$1 line=$2
    shift 2
    run_job 30 "$@"
    tap_check "$name" test "$status:$(grep -c '' "$err"):$(grep -cE "$line" "$err")" = 0:1:1
}

says "a routine in a forked child" 'shmem_long_p: called in process [0-9]+, which is a fork of this PE and no PE itself' \
    "$oshrun" -n 1 "$tap_dir/slips" fork
says "a second start with other ranks" 'this process is PE 0 of 1 already and stays that, and rank 1 of 7 is not taken' \
    "$oshrun" -n 1 "$tap_dir/slips" again
says "SHMEM_NICS where no network is" 'PE 0 .*SHMEM_NICS has no effect in this job: no PE is reached over a network' \
    env SHMEM_NICS=mlx5_0 "$oshrun" -n 2 "$tap_dir/slips"
says "SHMEM_GDA=on where no network is" 'PE 0 .*SHMEM_GDA=on has no effect in this job: no PE is reached over a network' \
    env SHMEM_GDA=on "$oshrun" -n 2 "$tap_dir/slips"
SHMEM_DEBUG=info,TRANSPORT run_job 30 "$oshrun" -n 4 --nodes-emulated 2 "$tap_dir/slips"
tap_check "a line a host says how the PEs are reached" test "$(grep -cE \
    'PE 0 .*PEs are reached: 0-1 by local, 2-3 by [^,]*$|PE 2 .*PEs are reached: 0-1 by [^,]*, 2-3 by local$' "$err"):$(grep -c 'reached' "$err")" = 2:2
run_job 30 env -u SHMEM_SYMMETRIC_SIZE SHMEM_INFO=1 NVSHMEM_DEBUG=info NVSHMEM_SYMMETRIC_SIZE=4m "$oshrun" -n 3 "$tap_dir/slips"
tap_check "PE 0 alone prints settings, and by which names they are taken" test \
    "$(grep -c '^SHMEM_SYMMETRIC_SIZE ' "$out"):$(grep -c ' is taken as SHMEM_SYMMETRIC_SIZE' "$err"):$(grep -c ' reached: 0-2 by local' "$err")" = 1:1:1
printf '#include <shmem.h>\nint main() { return 0; }\n' >"$tap_dir/old.cc"
if "$top_builddir/oshc++" -o "$tap_dir/old" "$tap_dir/old.cc" 2>/dev/null; then
    "$top_builddir/oshc++" -std=c++98 -o "$tap_dir/old" "$tap_dir/old.cc" 2>"$err"
    tap_check "C++98 is refused by name" grep -q 'shmem.h takes C++11 or newer' "$err"
else
    tap_skip "C++98 is refused by name" "no C++ compiler"
fi
tap_done
