/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiler that defines shmem_long_put and shmem_quiet itself sees each of the program's calls once, generic ones
 * too, and none of the library's own; pshmem_ leads to the library.
 * paths: local:2 tcp:2 single
 */
#include "test/types/values.h"

#include <pshmem.h>

static int puts_seen, quiets_seen;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_quiet(void)
{
    quiets_seen++;
    pshmem_quiet();
}

int main(void)
{
    long value, *there;

    types_begin();
    there = (long *)area;
    value = mp_me;
    shmem_long_put(there, &value, 1, mp_right());
    shmem_put(there + 1, &value, 1, mp_right());
    shmem_quiet();
    shmem_barrier_all();
    mp_check(there[0] == mp_left() && there[1] == mp_left(), "words of PE %ld and PE %ld", there[0],
             there[1]);
    mp_check(puts_seen == 2, "%d puts seen", puts_seen);
    mp_check(quiets_seen == 1, "%d quiets seen", quiets_seen);
    return types_end();
}
