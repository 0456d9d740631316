#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Everything works as an ordinary user without a home folder, as it does as root: over shared memory and over libfabric.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

[ "$(id -u)" = 0 ] || tap_skip_all "already an ordinary user: every other test shows it"
command -v setpriv >/dev/null || tap_skip_all "no setpriv (apt-get install util-linux)"

# The build folder may lie where others cannot read.
chmod 755 "$tap_dir"
cp "$oshrun" "$(test_program test/mp/hello)" "$(test_program test/mp/ring)" "$tap_dir/"
cp -P "$top_builddir"/.libs/libwarpshmem.so* "$tap_dir/"
mkdir "$tap_dir/tmp"
chown 65534:65534 "$tap_dir/tmp"

# user NAME COMMAND…
user()
{
    name=$1
    shift
    run_job 60 setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "LD_LIBRARY_PATH=$tap_dir" \
        "TMPDIR=$tap_dir/tmp" "$@"
    if [ "$status" = 0 ]; then tap_ok "$name"; else tap_fail "$name" "see above"; fi
}

cd "$tap_dir" || exit 99
for program in hello ring; do
    user "$program, local, 4 PEs" ./oshrun -n 4 "./$program"
    user "$program, tcp, 4 PEs" SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp ./oshrun -n 4 "./$program"
    user "$program, shm, 2 PEs" SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=shm ./oshrun -n 2 "./$program"
    user "$program, mixed, 4 PEs" SHMEM_LIBFABRIC_PROVIDER=tcp ./oshrun --nodes-emulated 2 -n 4 "./$program"
    user "$program, without oshrun" "./$program"
done
tap_check "nothing is left in TMPDIR" test -z "$(ls -A "$tap_dir/tmp")"
tap_done
