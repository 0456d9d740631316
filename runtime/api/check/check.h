/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks that SHMEM_DEBUG=check adds to those of every call: of what the specification leaves undefined and costs
 * too much to check always. Each returns if all is right, and else ends the job after one line that names routine,
 * argument and cure. `what` is "shmem_int_put: dest", handles are the public ones, as in api.h.
 */
#ifndef WSH_API_CHECK_H
#define WSH_API_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct wsh_ctx;
struct wsh_team;

/* Below SHMEM_THREAD_SERIALIZED one thread alone may call. */
void wsh_check_thread(const char *what);

/* The handle is a live context, and not private to another thread. Looks at the thread too. */
void wsh_check_ctx(const char *what, struct wsh_ctx *handle);

/* `team` is NULL, or a team that this PE is in: what is behind another address is not looked at. */
void wsh_check_team(const char *what, const struct wsh_team *team);

/* Two arrays of one call, one of them written, have no byte in common. */
void wsh_check_apart(const char *what, const void *a, size_t a_len, const void *b, size_t b_len);

/* The two arrays of a collective: symmetric, and those of this PE. */
struct wsh_check_arrays {
    const char *what, *what_source; /* "shmem_alltoallmem: dest", and the same with source */
    const void *dest;
    size_t dest_len;
    const void *source;
    size_t source_len;
    bool in_place;    /* they may also be the same array */
    const long *sync; /* the pSync of an active set, or NULL */
};

/* None of the arrays that has bytes is longer than its allocation, nor overlaps another. */
void wsh_check_arrays(const struct wsh_check_arrays *arrays);

/*
 * Blocks of `block` elements of `size` bytes, `nblocks` of them: those at `sym` of `pe` (of the context's team), and
 * those at `local` here, NULL for none; strides count elements. The symmetric ones are aligned to their size; none of
 * one side is a byte of one of the other, also where shmem_ptr has made `local` of memory of `pe`. A PE or an address
 * that is wrong in itself is left to the call.
 */
struct wsh_check_blocks {
    const void *sym, *local;
    ptrdiff_t sym_stride, local_stride;
    size_t block, nblocks, size;
};
void wsh_check_transfer(const char *what, struct wsh_ctx *handle, const struct wsh_check_blocks *blocks,
                        int pe);

/* The same where single elements may lie between those of the other: the blocks at `sym`, here, and at `local`. */
void wsh_check_strided(const struct wsh_check_arrays *arrays, const struct wsh_check_blocks *blocks);

#endif
