/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts, gets and atomics to PEs of which some die, counted, so that at the end each survivor can check what the others
 * have done to it. One file of the program includes it.
 */
#ifndef WSH_TEST_MOVES_H
#define WSH_TEST_MOVES_H

#include <shmem.h>

enum { MOVE_PES = 16, MOVE_N = 2048, MOVE_KINDS = 6 };

/* By source: what is counted and put here, and what the source says that it has done. */
static long added[MOVE_PES], box[MOVE_PES], told_added[MOVE_PES], told_box[MOVE_PES];
static long did_add[MOVE_PES], did_put[MOVE_PES]; /* by target */
static long move_src[MOVE_N], move_dest[MOVE_N];

static void move(int pe, int kind, size_t n)
{
    const int me = shmem_my_pe();

    switch (kind) {
    case 0:
        shmem_long_atomic_add(&added[me], 1, pe);
        did_add[pe]++;
        break;
    case 1:
        (void)shmem_long_atomic_fetch_add(&added[me], 1, pe);
        did_add[pe]++;
        break;
    case 2:
        shmem_long_p(&box[me], ++did_put[pe], pe);
        shmem_fence();
        break;
    case 3: (void)shmem_long_g(&box[me], pe); break;
    case 4: shmem_long_put_nbi(move_dest, move_src, 1 + n % MOVE_N, pe); break;
    default: shmem_quiet(); break;
    }
}

/* What this PE has done to `pe`, for moves_differ there, which something orders after it. */
static void moves_tell(int pe)
{
    const int me = shmem_my_pe();

    shmem_long_p(&told_added[me], did_add[pe], pe);
    shmem_long_p(&told_box[me], did_put[pe], pe);
}

/* What is wrong with what PE `pe` has done here, or NULL. */
static const char *moves_differ(int pe)
{
    if (added[pe] != told_added[pe])
        return "atomics of a survivor are missing, or there are too many";
    return box[pe] != told_box[pe] ? "a put of a survivor is missing" : NULL;
}

#endif
