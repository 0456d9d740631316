#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of the processes of an MPI communicator: of all, of some beside others, one after the other; and mistakes.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

need_plain "MPI's libraries do not go with"
plugin=$top_builddir/.libs/libwarpshmem_bootstrap_mpi.so
[ -x "$top_builddir/test/launch/helper/comm" ] || tap_skip_all "built without MPI (no mpicc with mpi.h; Debian: libopenmpi-dev)"
command -v mpirun >/dev/null || tap_skip_all "no mpirun on PATH"
comm=$(test_program test/launch/helper/comm)
mpi="mpirun --oversubscribe"
[ "$(id -u)" != 0 ] || mpi="$mpi --allow-run-as-root"
export SHMEM_BOOTSTRAP_MPI_PLUGIN="$plugin"

# run PES COURSE
run()
{
    # shellcheck disable=SC2086
    run_job 60 $mpi -n "$1" "$comm" "$2"
}

# ring TURN WORLD PES: what the PEs of a world print.
ring()
{
    for pe in $(seq 0 $(($3 - 1))); do
        left=$(($2 * 1000 + (pe + $3 - 1) % $3))
        echo "turn $1 world $2: PE $pe of $3 got $left and $left"
    done
}

# printed NAME: exit status 0, and what the file `wanted` holds, in any order.
printed()
{
    sort "$tap_dir/wanted" >"$tap_dir/sorted"
    sort "$out" | cmp -s - "$tap_dir/sorted" && [ "$status" = 0 ]
    tap_check "$1" test $? = 0
}

# refused PES COURSE TEXT: every process writes one line of ours, which has TEXT.
refused()
{
    run "$1" "$2"
    tap_check "$2: a line that says so" \
        test "$(grep -ac '^warpshmem: ' "$err"):$(grep -acE "^warpshmem: .*$3" "$err")" = "$1:$1"
    tap_check "$2: the job ends" test "$status" != 124
}

for pes in 1 2 4; do
    run $pes world
    ring 0 0 $pes >"$tap_dir/wanted"
    printed "MPI_COMM_WORLD, $pes PEs"
done
run 4 split
{ ring 0 0 2; ring 0 1 2; } >"$tap_dir/wanted"
printed "two worlds of 2 PEs side by side"
run 4 turns
{ ring 0 0 4; ring 1 0 2; ring 1 1 2; ring 2 0 4; ring 3 0 2; ring 3 1 2; } >"$tap_dir/wanted"
printed "other communicators one after the other, in other orders"
run 3 global
tap_check "shmem_global_exit(7)" test "$status" = 7
refused 1 null 'the communicator is NULL, MPI_COMM_NULL'
refused 1 nothing 'the communicator is NULL, MPI_COMM_NULL'
refused 1 uninitialized 'MPI is not initialized'
refused 1 finalized 'MPI is finalized'
refused 1 late 'MPI is finalized; call shmem_finalize before'
SHMEM_BOOTSTRAP_MPI_PLUGIN=$tap_dir/none.so
refused 1 world 'no start from an MPI communicator: .*none.so.*SHMEM_BOOTSTRAP_MPI_PLUGIN'
SHMEM_BOOTSTRAP_MPI_PLUGIN=libc.so.6
refused 1 world 'no start from an MPI communicator: .*wsh_mpi_plugin'
unset SHMEM_BOOTSTRAP_MPI_PLUGIN
cp "$comm" "$plugin" "$tap_dir"
comm=$tap_dir/comm
run 2 world
ring 0 0 2 >"$tap_dir/wanted"
printed "the plugin is found beside the library"
readelf -d "$top_builddir/.libs/libwarpshmem.so" >"$out" 2>"$err"
tap_check "the library itself links no MPI" test "$(grep -c 'NEEDED.*libmpi' "$out")" = 0
tap_done
