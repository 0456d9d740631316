/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the steps of a call share: its numbers, and where things are. Steps are in the common subset of C and CUDA C++;
 * the README of this folder's parent says what they run on. All workers of a call compute its numbers alike from memory
 * and not from arguments, for a CUDA graph replays the same arguments.
 */
#ifndef WSH_EP_STEPS_CALL_H
#define WSH_EP_STEPS_CALL_H

#ifndef WSH_EP_DEVICE_RUN_CUH
#include "ep/host/run.h"
#endif

/* Kernels note when the first worker is here. */
#ifndef EP_CLOCK
#define EP_CLOCK(run, at) ((void)(run))
#endif

/* One call, of either kind. */
struct ep_call {
    int64_t number; /* of its kind, from 1 on */
    int parity, handle;
    int tokens, parts;    /* of this PE */
    int turn;             /* which X or Y */
    int flagged;          /* of a dispatch's sending half: whether rows in X have flags */
    int agreed, declined; /* of a dispatch: what its caller has given; whether nobody has rows of it */
    uint64_t base; /* parts that this PE has sent to each far peer before (dispatch), or received (combine) */
};

EP_STEP void *ep_at(const struct ep_run *run, size_t offset)
{
    return run->arena + offset;
}

EP_STEP int32_t *ep_ints(const struct ep_run *run, size_t offset)
{
    return (int32_t *)ep_at(run, offset);
}

EP_STEP struct ep_kept *ep_kept(const struct ep_run *run, int handle)
{
    return (struct ep_kept *)ep_at(run, run->shape.handle + (size_t)handle * run->shape.kept);
}

EP_STEP struct ep_header *ep_own_header(const struct ep_run *run, const struct ep_call *call)
{
    return (struct ep_header *)ep_at(run, run->shape.header[call->parity]);
}

/* Of array of metas at `metas`. */
EP_STEP struct ep_meta *ep_meta_at(const struct ep_run *run, char *metas, int i)
{
    return (struct ep_meta *)(metas + (size_t)i * run->shape.meta);
}

/* The PE of an entry's expert; -1: none, and where the number is none of an expert, for peers write metas here. */
EP_STEP int ep_entry_pe(const struct ep_run *run, int expert)
{
    return (uint32_t)expert < (uint32_t)run->shape.experts ? ep_expert_pe(&run->shape, expert) : -1;
}

/* Of `most` that there can be: the arena is memory that peers write, this PE's own numbers too. */
EP_STEP int ep_within(int number, int most)
{
    return number < 0 ? 0 : number < most ? number : most;
}

/* Numbers that a peer has written and that cannot be: they would lead out of the arena. */
EP_STEP void ep_fault_numbers(const struct ep_run *run, int pe, const struct ep_call *call, int part)
{
    ep_fault(run, pe, call->number, part, call->number, part);
}

/* Far origins are numbered from 0 on, in order of their PE, whichever PE hands their rows on. */
EP_STEP int ep_far_origin(const struct ep_run *run, int i)
{
    int first = run->shape.host * run->shape.near;

    return i < first ? i : i + run->shape.near;
}

EP_STEP int ep_far_origins(const struct ep_run *run)
{
    return run->shape.n - run->shape.near;
}

EP_STEP uint64_t *ep_results_sent(const struct ep_run *run, int far)
{
    return run->state->parts + run->shape.n + far;
}

EP_STEP int ep_most(int a, int b)
{
    return a > b ? a : b;
}

EP_STEP int ep_least(int a, int b)
{
    return a < b ? a : b;
}

/* Into how many pieces of columns rows are divided where they are copied, so that all workers have something to do. */
EP_STEP int ep_copy_pieces(const struct ep_run *run, int rows)
{
    int pieces = rows ? ep_workers(run) / rows : 1;

    return ep_most(1, ep_least(pieces, run->shape.hidden / (8 * EP_GROUP)));
}

/* Columns of a piece, from *first on: some multiple of EP_GROUP, or none. */
EP_STEP int ep_piece_columns(const struct ep_run *run, int piece, int pieces, int *first)
{
    int groups = run->shape.hidden / EP_GROUP, each = (groups + pieces - 1) / pieces;
    int begin = ep_least(piece * each, groups), end = ep_least(begin + each, groups);

    *first = begin * EP_GROUP;
    return (end - begin) * EP_GROUP;
}

EP_STEP int ep_column_bytes(const struct ep_run *run)
{
    return run->shape.dtype == SHMEMX_EP_BF16 ? 2 : 1;
}

/* The number of this host's PE l. */
EP_STEP int ep_near_pe(const struct ep_run *run, int l)
{
    return run->shape.host * run->shape.near + l;
}

EP_STEP char *ep_near_arena(const struct ep_run *run, int pe)
{
    return run->near_arena[pe % run->shape.near];
}

#endif
