/* SPDX-License-Identifier: BSD-3-Clause */
/* What a translation unit of a user's program registers, so that a library without CUDA can fill its device view. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct view {
    uint64_t version;
    uint64_t more[15];
};

struct view_unit {
    const char *name;
    int (*fill)(const struct view *view); /* compiled in the unit; a cudaError_t */
    int (*where)(void **at, size_t *len); /* the symbol's address on the current device; a cudaError_t */
    struct view_unit *next;
    int last; /* what the last fill returned; -1 before the first */
};

void view_unit_add(struct view_unit *unit); /* filled at once if a view is set */
void view_unit_remove(struct view_unit *unit);
struct view_unit *view_units(void);
/* Fills all units; the number filled. by_address: through `where` and copy, which is cuMemcpyHtoD. */
int view_fill(const struct view *view);
int view_fill_by_address(const struct view *view, int (*copy)(uint64_t to, const void *from, size_t len));

#ifdef __cplusplus
}
#endif
