#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs for NVSHMEM that g++ or mpicxx builds start by a unique id without a launcher, and by a communicator of MPI.
# make check-long starts 64 and 256 processes too. WSH_TEST_PES_LIST="2 1000" chooses the numbers; 1,000 take minutes.
# timeout: 120
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
[ -z "${WSH_TEST_VARIANT:-}" ] || tap_skip_all "the program is built without the sanitizer"
flags="-std=c++17 -I$top_srcdir/include/nvshmem -I$top_srcdir/include"
libs="-L$top_builddir/.libs -lwarpshmem -Wl,-rpath,$(cd "$top_builddir/.libs" && pwd)"
SHMEM_SYMMETRIC_SIZE=16M SHMEM_HANG_SECONDS=20
export SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS

# shellcheck disable=SC2086
run_job 60 ${CXX:-g++} -Wall -Wextra -Werror $flags -o "$tap_dir/init" "$top_srcdir/test/nvshmem/init.cc" $libs
tap_check "g++ builds it" test "$status" = 0

counts="1 4"
[ -z "${WSH_TEST_LONG:-}" ] || counts="1 2 4 64 256"
for n in ${WSH_TEST_PES_LIST:-$counts}; do
    pids=
    began=$(date +%s%N)
    for rank in $(seq 0 $((n - 1))); do
        timeout $((30 + n * 3 / 4)) "$tap_dir/init" "$tap_dir/id.$n" "$rank" "$n" >"$tap_dir/out.$rank" 2>&1 &
        pids="$pids $!"
    done
    failed=0
    for pid in $pids; do wait "$pid" || failed=1; done
    echo "# $n processes: $((($(date +%s%N) - began) / 1000000)) ms"
    cat "$tap_dir"/out.* | sort | uniq | head -n 64 | tap_comment
    tap_check "$n processes by a unique id" test "$failed $(cat "$tap_dir"/out.* | grep -c "of $n:")" = "0 $n"
    rm -f "$tap_dir"/out.*
done

if command -v mpicxx >/dev/null && [ -e "$top_builddir/.libs/libwarpshmem_bootstrap_mpi.so" ] &&
    # shellcheck disable=SC2086
    mpicxx $flags -DWITH_MPI -o "$tap_dir/init_mpi" "$top_srcdir/test/nvshmem/init.cc" $libs >"$out" 2>&1; then
    mpi="mpirun --oversubscribe"
    [ "$(id -u)" != 0 ] || mpi="$mpi --allow-run-as-root"
    # shellcheck disable=SC2086
    run_job 60 $mpi -n 4 "$tap_dir/init_mpi"
    cat "$out" "$err" | tap_comment
    tap_check "two worlds of 2 by communicators of MPI" test "$status $(grep -c 'of 2:' "$out")" = "0 4"
else
    tap_skip "by communicators of MPI" "no MPI that builds C++ programs (Debian: libopenmpi-dev)"
fi
tap_done
