/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A treap of ranges that tile [0, len): each is live or free, keyed by offset, and each subtree records its largest
 * free range, so that every operation is O(log n) expected.
 */
#ifndef WSH_ALLOC_TREE_H
#define WSH_ALLOC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_range {
    struct wsh_range *left, *right;
    size_t off, len;  /* the whole range, in bytes, multiples of the grain */
    size_t asked;     /* bytes the user asked for; 0 = free */
    uint64_t number;  /* of this allocation among all so far */
    size_t best_free; /* largest free range in this subtree */
    uint32_t heap;    /* random priority: a parent's is larger than its children's */
    bool released;    /* live, but this PE will not use it any more */
};

struct wsh_tree {
    struct wsh_range *root;
    uint32_t seed;
};

/* Not in the tree. NULL without memory. */
struct wsh_range *wsh_range_new(size_t off, size_t len);

void wsh_tree_insert(struct wsh_tree *tree, struct wsh_range *node);

/* Takes the range that starts at `off` out of the tree and returns it, or NULL. */
struct wsh_range *wsh_tree_take(struct wsh_tree *tree, size_t off);

/* The range that starts at `off`, or NULL; the last one that starts before `off`. */
struct wsh_range *wsh_tree_find(const struct wsh_tree *tree, size_t off);
struct wsh_range *wsh_tree_find_before(const struct wsh_tree *tree, size_t off);

/* Lowest free range of at least `len` bytes: first fit keeps the heap compact. */
struct wsh_range *wsh_tree_first_fit(const struct wsh_tree *tree, size_t len);
size_t wsh_tree_largest(const struct wsh_tree *tree);

void wsh_tree_free(struct wsh_tree *tree);

#endif
