/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHMEM_TEAM_SHARED is the PEs whose heap objects all its members can load and store: shmem_ptr and shmem_team_ptr give
 * an address for its members and for nobody else, and what is stored there arrives.
 * paths: local:1,2,4 tcp:4 mixed:3,6 split:2 splitback:2 single
 * long paths: tcp:2 mixed:4
 */
#include "test/common/teams.h"

int main(void)
{
    int n, me;
    long *box;

    mp_begin();
    box = mp_alloc((size_t)mp_npes * sizeof *box);
    n = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    me = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    mp_check(n >= 1 && teams_world(SHMEM_TEAM_SHARED, me) == mp_me, "I am number %d of %d", me, n);
    for (int pe = 0; pe < mp_npes; pe++) {
        int number = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED);

        mp_check((number >= 0) == (shmem_ptr(box, pe) != NULL), "PE %d is number %d, its memory at %p", pe,
                 number, shmem_ptr(box, pe));
        mp_check(shmem_team_ptr(SHMEM_TEAM_WORLD, box, pe) == shmem_ptr(box, pe), "another pointer to PE %d",
                 pe);
    }
    for (int i = 0; i < n; i++) {
        long *there = shmem_team_ptr(SHMEM_TEAM_SHARED, box, i);

        if (mp_check(there != NULL, "no pointer to member %d", i))
            there[mp_me] = mp_me + 1;
    }
    mp_check(shmem_team_ptr(SHMEM_TEAM_SHARED, box, n) == NULL, "a pointer to a member that does not exist");
    shmem_team_sync(SHMEM_TEAM_SHARED);
    for (int i = 0; i < n; i++) {
        int pe = teams_world(SHMEM_TEAM_SHARED, i);

        mp_check(box[pe] == pe + 1, "PE %d stored %ld", pe, box[pe]);
    }
    return mp_end();
}
