/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bootstrap inside one process: several struct wsh_boot that share a board, for tests that play all PEs in
 * turn. publish and barrier do not wait: the test calls them for every PE before any lookup.
 */
#ifndef WSH_TEST_FAKE_BOOT_H
#define WSH_TEST_FAKE_BOOT_H

#include "bootstrap/boot.h"

#define FAKE_BOOT_PES 64
#define FAKE_BOOT_ROUNDS 4

struct fake_board {
    void *blob[FAKE_BOOT_ROUNDS][FAKE_BOOT_PES];
    size_t len[FAKE_BOOT_ROUNDS][FAKE_BOOT_PES];
    int barriers; /* calls of barrier, over all PEs */
    int aborted;  /* status given to abort, or -1 */
};

/* Makes *boot PE `my_pe` of `n_pes` on `board`. */
void fake_boot_open(struct wsh_boot *boot, struct fake_board *board, int my_pe, int n_pes);

void fake_board_init(struct fake_board *board);
void fake_board_fini(struct fake_board *board);

#endif
