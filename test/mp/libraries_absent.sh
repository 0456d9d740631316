#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PMIx and hwloc are loaded when they are needed: where neither is installed, jobs start by a unique id or with one PE; what
# needs one of them says so in one line.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"

# Files of these names that are no libraries: the loader looks no further. Only for what is started behind this.
absent=$tap_dir/absent
mkdir "$absent"
echo >"$absent/libpmix.so.2"
echo >"$absent/libhwloc.so.15"
hidden="env LD_LIBRARY_PATH=$absent:$LD_LIBRARY_PATH"
maps=$(test_program test/mp/helper/maps)
info=$(test_program warpshmem-info)

# silent NAME: the last job went well, said nothing, and has neither library.
silent()
{
    if [ "$status" = 0 ] && grep -q 'libc\.' "$out" && [ ! -s "$err" ] && ! grep -qE 'libpmix|libhwloc' "$out"; then tap_ok "$1"
    else tap_fail "$1" "failed, or said something, or loads one of them"; fi
}

for lib in "$top_builddir"/.libs/libwarpshmem.so "$top_builddir"/.libs/libwarpshmem-check.so; do
    readelf -d "$lib" >"$out"
    tap_check "$(basename "$lib") is linked with neither" sh -c "grep -q 'NEEDED.*libc' '$out' && ! grep -E 'NEEDED.*(pmix|hwloc)' '$out'"
done

# shellcheck disable=SC2086
run_job 20 $hidden "$maps"
silent "one PE without a launcher"
LD_LIBRARY_PATH=$absent:$LD_LIBRARY_PATH uid_start 2 hello
uid_wait
uid_ended "2 processes by a unique id: a put, a barrier, a reduction" hellos 2
LD_LIBRARY_PATH=$absent:$LD_LIBRARY_PATH SHMEM_TRANSPORTS=efa FI_PROVIDER=tcp,net,ofi_rxm uid_start 2 hello
uid_wait
uid_ended "… over sockets" hellos 2

# shellcheck disable=SC2086
run_job 20 "$oshrun" -n 2 $hidden "$maps"
tap_check "oshrun without PMIx where the PEs are: the job ends" test "$status" -ne 0
tap_check "… after a line with library, package and other ways" grep -qE \
    'offers PMIx, but this host does not: cannot load libpmix\.so\.2 .*Debian, Ubuntu: libpmix2.*unique id' "$err"
tap_check "… and no more from one PE" test "$(grep -c 'offers PMIx' "$err")" -le 2
echo >"$tap_dir/none.c"
mkdir "$tap_dir/other"
${CC:-cc} -shared -fPIC -o "$tap_dir/other/libpmix.so.2" -Wl,-soname,libpmix.so.2 "$tap_dir/none.c" || exit 99
run_job 20 "$oshrun" -n 2 env "LD_LIBRARY_PATH=$tap_dir/other:$LD_LIBRARY_PATH" "$maps"
tap_check "a library that lacks a routine is named" grep -q 'libpmix\.so\.2 lacks PMIx_Abort: install PMIx 4\.2' "$err"

run_job 20 "$info" --check
ends=$status
# shellcheck disable=SC2086
run_job 20 $hidden "$info" --check
tap_check "warpshmem-info --check goes on without" test "$status" = "$ends"
tap_check "… and says so of PMIx" grep -q '^PMIx  *note cannot load libpmix\.so\.2.*unique id' "$out"
tap_check "… and of hwloc" grep -q '^hwloc  *note cannot load libhwloc\.so\.15.*libhwloc15' "$out"
# shellcheck disable=SC2086
run_job 20 $hidden "$info" --topo
tap_check "warpshmem-info --topo names what it lacks" sh -c "[ $status = 1 ] && grep -q 'without hwloc: cannot load' '$err'"

# The emulated EFA device has several NICs. libpmix needs hwloc itself, so only our own call does not find it.
cat >"$tap_dir/refuse.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

    return next(name && strstr(name, "libhwloc") ? "/nowhere/libhwloc.so.15" : name, flags);
}
END
${CC:-cc} -shared -fPIC -o "$tap_dir/refuse.so" "$tap_dir/refuse.c" -ldl || exit 99
near()
{
    # shellcheck disable=SC2016
    run_job 40 env EFA_EMULATOR_QUIET=1 "$@" "$oshrun" --emulate-efa -n 2 \
        sh -c 'LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$0 exec "$@"' "$tap_dir/refuse.so" "$maps"
}

if [ ! -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    tap_skip "several NICs without hwloc" "the emulator is not built (libibverbs-dev)"
else
    near SHMEM_DEBUG=info,TOPO
    tap_check "several NICs without hwloc: the job goes on" test "$status" = 0
    tap_check "… after one warning" test "$(grep -c 'NICs of this host are taken in turn.*libhwloc15' "$err")" = 1
    grep -o 'of [0-9]* NICs: .*' "$err" | sort -u >"$tap_dir/rails"
    tap_check "… with NICs of its own for each PE" test "$(wc -l <"$tap_dir/rails")" = 2
    near SHMEM_PE_GPU=0
    tap_check "SHMEM_PE_GPU without hwloc is refused" grep -q "SHMEM_PE_GPU='0': GPUs are not found without hwloc" "$err"
fi
tap_done
