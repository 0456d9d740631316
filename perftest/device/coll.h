/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of row of collectives measures. */
#ifndef PERFTEST_DEVICE_COLL_H
#define PERFTEST_DEVICE_COLL_H

#include "perftest/device/rows.h"

enum coll_kind {
    COLL_ALLTOALL,
    COLL_ALLTOALL_INT32,
    COLL_ALLTOALLV,
    COLL_ALLTOALLV_PACKED,
    COLL_ALLTOALLV_PUTS,
    COLL_FCOLLECT,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_REDUCE_FLOAT,
    COLL_REDUCESCATTER,
    COLL_BARRIER,
    COLL_SYNC,
    COLL_PUTS_BARRIER,
    COLL_BARRIER_LOADED,
    COLL_KINDS
};

/*
 * What is in dest afterwards, where block(from, to) is what PE `from` has in its source for PE `to`: every
 * block(from, me); every block(from, 0); block(0, 0); the sum of block(from, 0); the sum of block(from, me).
 */
enum coll_data {
    COLL_NOTHING,
    COLL_MINE_OF_ALL,
    COLL_FIRST_OF_ALL,
    COLL_OF_ROOT,
    COLL_SUM,
    COLL_SUM_OF_MINE
};

/* Bytes that puts_barrier puts to each PE; of a piece of barrier_loaded's load. */
enum { COLL_PUT = 4096, COLL_PIECE = 65536 };

extern const struct dev_kind coll_kinds[COLL_KINDS];

/* Bytes of an element. */
size_t coll_width(int kind);

/* Elements of a block: a row's size is that of blocks for all PEs. */
size_t coll_nelems(const struct dev_row *row, int pes);

#endif
