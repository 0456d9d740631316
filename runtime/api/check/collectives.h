/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The comparison of collective calls by SHMEM_DEBUG=check: before each call, the members of the team exchange a
 * description of it. All are collective over the team and return if all members call the same; else the job ends after
 * one line that names two members and their calls. If a member calls nothing more on the team, the others wait for it,
 * and the hang reporter names it and their call.
 */
#ifndef WSH_API_CHECK_COLL_H
#define WSH_API_CHECK_COLL_H

#include <stddef.h>

struct wsh_check_arrays;
struct wsh_team;

/* `fmt` writes the arguments that must be equal; an empty text says that there are none. */
void wsh_check_same(const char *what, struct wsh_team *team, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold, noinline));

/* A collective that moves data. The addresses are symmetric; they are not looked at where `len` is 0. */
struct wsh_check_data {
    const void *dest, *source; /* source NULL: may differ */
    size_t len;                /* bytes; WSH_CHECK_ANY: may differ */
    int root;                  /* -1 = none */
    ptrdiff_t dst, sst;        /* 0 = none */
};
#define WSH_CHECK_ANY ((size_t)-1)
void wsh_check_same_data(const char *what, struct wsh_team *team, const struct wsh_check_data *data)
    __attribute__((cold, noinline));

/*
 * wsh_check_arrays of a collect: `dest_len` is that of this member's block, and `dest` must hold those of all. A sum
 * that reaches beyond symmetric memory is left to the call.
 */
void wsh_check_collected(struct wsh_team *team, const struct wsh_check_arrays *arrays)
    __attribute__((cold, noinline));

/* Of all PEs, about an allocation: NULL, or one that is not live, too; `size` as it is to become, or WSH_CHECK_ANY. */
void wsh_check_same_block(const char *what, const void *ptr, size_t size) __attribute__((cold, noinline));

#endif
