#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All variables of a program are symmetric, however it is linked: those of several segments (-mcmodel=medium, and what
# patchelf adds), by every linker; those of a program whose library alone calls the runtime. Constants between them are
# neither symmetric nor writable. Over shared memory, sockets, and an emulated device.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
oshcc=$top_builddir/oshcc
cd "$tap_dir" || exit 99

cat >segments.c <<'END'
#include <setjmp.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
long table[20000] = {1};
long zeros[200000];
const long constants[20000] = {5};
static long box;
static sigjmp_buf back;
static void on_fault(int signal) { (void)signal; siglongjmp(back, 1); }
static int is_written(volatile long *at)
{
    signal(SIGSEGV, on_fault);
    if (sigsetjmp(back, 1)) return 0;
    *at = *at;
    return 1;
}
static int is_right(void) { return table[0] == 1 && constants[0] == 5 && box == 7 && table[19999] == 8 && zeros[199999] == 9; }
static int forks(void)
{
    int status = -1;
    pid_t pid = fork();
    if (!pid) { int right = is_right(); box = table[19999] = zeros[199999] = 0; _exit(!right); }
    waitpid(pid, &status, 0);
    return status == 0 && is_right();
}
int main(void)
{
    int me, right, fine;
    for (int round = 0; round < 2; round++) {
        box = table[19999] = zeros[199999] = 0;
        shmem_init();
        me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
        shmem_barrier_all();
        shmem_long_p(&box, 7, right);
        shmem_long_p(&table[19999], 8, right);
        shmem_long_atomic_add(&zeros[199999], 9, right);
        shmem_barrier_all();
        fine = is_right() && shmem_long_g(&table[0], right) == 1 && forks();
        fine &= !shmem_addr_accessible(&constants[0], right) && !is_written((long *)&constants[0]);
        shmem_finalize();
        fine &= is_right() && !is_written((long *)&constants[0]);
        if (!fine) return printf("FAIL\n"), 1;
    }
    printf("PASS\n");
    return 0;
}
END
cat >by_library.c <<'END'
#include <shmem.h>
void halo_start(void) { shmem_init(); }
void halo_end(void) { shmem_finalize(); }
void halo_send(double *field, double value)
{
    shmem_double_p(field, value, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
}
END
cat >program.c <<'END'
#include <stdio.h>
void halo_start(void), halo_end(void), halo_send(double *, double);
static double field[100];
int main(void)
{
    halo_start();
    halo_send(&field[7], 1.5);
    printf("%s\n", field[7] == 1.5 ? "PASS" : "FAIL");
    halo_end();
    return 0;
}
END
cat >between.c <<'END'
void halo_start(void), halo_end(void), halo_send(double *, double);
void far_start(void) { halo_start(); }
void far_end(void) { halo_end(); }
void far_send(double *field, double value) { halo_send(field, value); }
END

# passes NAME COMMAND…: two PEs say so.
passes()
{
    name=$1
    shift
    run_job 60 "$@"
    tap_check "$name" test "$status:$(grep -c PASS "$out")" = 0:2
}

tcp="env SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp"
# everywhere NAME PROGRAM
everywhere()
{
    passes "$1, shared memory" "$oshrun" -n 2 "$2"
    passes "$1, sockets" $tcp "$oshrun" -n 2 "$2"
    passes "$1, two hosts" "$oshrun" -n 2 --nodes-emulated 2 "$2"
    if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ]; then
        passes "$1, emulated EFA" env SHMEM_TRANSPORTS=efa EFA_EMULATOR_QUIET=1 "$oshrun" -n 2 --emulate-efa "$2"
    else
        tap_skip "$1, emulated EFA" "the emulator is not built (libibverbs-dev), or does not go with ${WSH_TEST_VARIANT:-this build}"
    fi
}

# builds NAME FLAGS…: makes ./NAME, or skips.
builds()
{
    name=$1
    shift
    "$oshcc" -O1 -w -o "$name" segments.c "$@" >"$out" 2>"$err" && return
    tap_skip "$name" "the compiler does not take $*"
    false
}

builds medium -mcmodel=medium && everywhere "-mcmodel=medium" ./medium
for linker in gold lld; do
    command -v "ld.$linker" >/dev/null || { tap_skip "$linker" "no ld.$linker"; continue; }
    builds "medium_$linker" -mcmodel=medium "-fuse-ld=$linker" && passes "-mcmodel=medium by $linker" "$oshrun" -n 2 "./medium_$linker"
done
far=$(printf '/%0400d' 0)
if ! command -v patchelf >/dev/null; then tap_skip "a program that patchelf has changed" "no patchelf"
else
    for kind in -pie -no-pie; do
        builds "edited$kind" "$kind" || continue
        patchelf --set-rpath "$far" "edited$kind" && patchelf --set-rpath "$far$far" "edited$kind"
        everywhere "$kind, changed by patchelf" "./edited$kind"
    done
fi

"$oshcc" -shared -fPIC -o libhalo.so by_library.c && ${CC:-cc} -shared -fPIC -o libbetween.so between.c -L. -lhalo || exit 99
LD_LIBRARY_PATH=$tap_dir:$LD_LIBRARY_PATH
libs=$(cd "$top_builddir/.libs" && pwd)
${CC:-cc} -o direct program.c -L. -lhalo "-Wl,-rpath-link,$libs" || exit 99
${CC:-cc} -Dhalo_start=far_start -Dhalo_end=far_end -Dhalo_send=far_send -o through program.c -L. -lbetween "-Wl,-rpath-link,.:$libs" || exit 99
"$oshcc" -Wl,--as-needed -o wrapped program.c -L. -lhalo || exit 99
passes "a library of the program calls the runtime" "$oshrun" -n 2 ./direct
passes "… and is needed by another library" "$oshrun" -n 2 ./through
passes "… linked by oshcc" "$oshrun" -n 2 ./wrapped
passes "… over sockets" $tcp "$oshrun" -n 2 ./direct
tap_done
