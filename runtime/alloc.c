/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hands out ranges by a treap of ranges that tile [0, len): each node is a live or a free range, keyed by offset, and
 * each subtree records its largest free range, so that every operation is O(log n) expected.
 */
#include "runtime/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct range {
    struct range *left, *right;
    size_t off, len;  /* the whole range, in bytes, multiples of the grain */
    size_t asked;     /* bytes the user asked for; 0 = free */
    size_t best_free; /* largest free range in this subtree */
    uint32_t heap;    /* random priority: a parent's is larger than its children's */
};

struct wsh_alloc {
    struct range *root;
    size_t free_bytes;
    uint32_t seed;
    size_t *walls, n_walls; /* offsets that no range reaches across, in order */
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t best_of(const struct range *node)
{
    return node ? node->best_free : 0;
}

static void range_update(struct range *node)
{
    size_t own = node->asked ? 0 : node->len;

    node->best_free = max_size(own, max_size(best_of(node->left), best_of(node->right)));
}

/* Splits by offset: *a gets keys < off, *b the others. */
static void tree_split(struct range *node, size_t off, struct range **a, struct range **b)
{
    if (!node) {
        *a = *b = NULL;
    } else if (node->off < off) {
        tree_split(node->right, off, &node->right, b);
        *a = node;
        range_update(node);
    } else {
        tree_split(node->left, off, a, &node->left);
        *b = node;
        range_update(node);
    }
}

static struct range *tree_merge(struct range *a, struct range *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->heap > b->heap) {
        a->right = tree_merge(a->right, b);
        range_update(a);
        return a;
    }
    b->left = tree_merge(a, b->left);
    range_update(b);
    return b;
}

static void tree_insert(struct wsh_alloc *alloc, struct range *node)
{
    struct range *a, *b;

    alloc->seed = alloc->seed * 1664525u + 1013904223u;
    node->heap = alloc->seed;
    node->left = node->right = NULL;
    range_update(node);
    tree_split(alloc->root, node->off, &a, &b);
    alloc->root = tree_merge(tree_merge(a, node), b);
}

/* Takes the node that starts at `off` out of the tree and returns it, or NULL. */
static struct range *tree_take(struct wsh_alloc *alloc, size_t off)
{
    struct range *a, *mid, *b;

    tree_split(alloc->root, off, &a, &b);
    tree_split(b, off + 1, &mid, &b);
    alloc->root = tree_merge(a, b);
    return mid;
}

static struct range *tree_find(const struct wsh_alloc *alloc, size_t off)
{
    struct range *node = alloc->root;

    while (node && node->off != off)
        node = off < node->off ? node->left : node->right;
    return node;
}

static struct range *tree_find_before(const struct wsh_alloc *alloc, size_t off)
{
    struct range *node = alloc->root, *before = NULL;

    while (node) {
        if (node->off < off)
            before = node;
        node = node->off < off ? node->right : node->left;
    }
    return before;
}

static struct range *new_range(size_t off, size_t len, size_t asked)
{
    struct range *node = calloc(1, sizeof *node);

    if (node) {
        node->off = off;
        node->len = len;
        node->asked = asked;
    }
    return node;
}

static size_t round_up(size_t len, size_t to)
{
    return (len + to - 1) & ~(to - 1);
}

struct wsh_alloc *wsh_alloc_open(size_t len)
{
    struct wsh_alloc *alloc = calloc(1, sizeof *alloc);
    struct range *all;

    if (!alloc)
        return NULL;
    len &= ~(size_t)(WSH_ALLOC_GRAIN - 1);
    alloc->seed = 1;
    alloc->free_bytes = len;
    if (!len)
        return alloc;
    all = new_range(0, len, 0);
    if (!all) {
        free(alloc);
        return NULL;
    }
    tree_insert(alloc, all);
    return alloc;
}

static void free_tree(struct range *node)
{
    if (!node)
        return;
    free_tree(node->left);
    free_tree(node->right);
    free(node);
}

void wsh_alloc_close(struct wsh_alloc *alloc)
{
    if (!alloc)
        return;
    free_tree(alloc->root);
    free(alloc->walls);
    free(alloc);
}

/* Lowest free range of at least `len` bytes: first fit keeps the heap compact. */
static struct range *first_fit(struct range *node, size_t len)
{
    while (node && node->best_free >= len) {
        if (best_of(node->left) >= len)
            node = node->left;
        else if (!node->asked && node->len >= len)
            return node;
        else
            node = node->right;
    }
    return NULL;
}

/* Cuts `node` (in the tree, free) so that it starts at `off` and has `len` bytes; gives the rest back. */
static struct range *range_carve(struct wsh_alloc *alloc, struct range *node, size_t off, size_t len)
{
    size_t before = off - node->off, after = node->len - before - len;
    struct range *head = before ? new_range(node->off, before, 0) : NULL;
    struct range *tail = after ? new_range(off + len, after, 0) : NULL;

    if ((before && !head) || (after && !tail)) {
        free(head);
        free(tail);
        return NULL;
    }
    node = tree_take(alloc, node->off);
    node->off = off;
    node->len = len;
    if (head)
        tree_insert(alloc, head);
    if (tail)
        tree_insert(alloc, tail);
    return node;
}

/*
 * The free range may start anywhere on the grain, so a larger alignment needs room for the shift: the search asks
 * for len + align - grain, which is exact for the usual alignments and at worst skips a range that would fit.
 */
size_t wsh_alloc_get(struct wsh_alloc *alloc, size_t len, size_t align)
{
    size_t need, off;
    struct range *node;

    if (align < WSH_ALLOC_GRAIN)
        align = WSH_ALLOC_GRAIN;
    if (!len || len > SIZE_MAX / 2 || align > SIZE_MAX / 4)
        return WSH_ALLOC_NONE;
    need = round_up(len, WSH_ALLOC_GRAIN);
    node = first_fit(alloc->root, need + align - WSH_ALLOC_GRAIN);
    if (!node)
        return WSH_ALLOC_NONE;
    off = round_up(node->off, align);
    node = range_carve(alloc, node, off, need);
    if (!node)
        return WSH_ALLOC_NONE;
    node->asked = len;
    tree_insert(alloc, node);
    alloc->free_bytes -= need;
    return off;
}

static bool is_wall(const struct wsh_alloc *alloc, size_t off)
{
    size_t low = 0, high = alloc->n_walls;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (alloc->walls[mid] < off)
            low = mid + 1;
        else
            high = mid;
    }
    return low < alloc->n_walls && alloc->walls[low] == off;
}

/* Joins the free `node` (not in the tree) with free neighbours and inserts it. */
static void insert_free(struct wsh_alloc *alloc, struct range *node)
{
    struct range *before = tree_find_before(alloc, node->off),
                 *after = tree_find(alloc, node->off + node->len);

    if (after && !after->asked && !is_wall(alloc, after->off)) {
        tree_take(alloc, after->off);
        node->len += after->len;
        free(after);
    }
    if (before && !before->asked && !is_wall(alloc, node->off)) {
        tree_take(alloc, before->off);
        node->off = before->off;
        node->len += before->len;
        free(before);
    }
    node->asked = 0;
    tree_insert(alloc, node);
}

size_t wsh_alloc_put(struct wsh_alloc *alloc, size_t off)
{
    struct range *node = tree_find(alloc, off);
    size_t len;

    if (!node || !node->asked)
        return 0;
    len = node->len;
    tree_take(alloc, off);
    alloc->free_bytes += len;
    insert_free(alloc, node);
    return len;
}

size_t wsh_alloc_size(const struct wsh_alloc *alloc, size_t off)
{
    const struct range *node = tree_find(alloc, off);

    return node ? node->asked : 0;
}

bool wsh_alloc_is_live(const struct wsh_alloc *alloc, size_t off, size_t len)
{
    const struct range *node = tree_find_before(alloc, off + 1);

    while (node && node->asked && node->off + node->len - off < len)
        node = tree_find(alloc, node->off + node->len);
    return node && node->asked;
}

static int range_shrink(struct wsh_alloc *alloc, size_t off, size_t len)
{
    struct range *node = tree_find(alloc, off), *tail;

    if (node->len == len)
        return 0;
    tail = new_range(off + len, node->len - len, 0);
    if (!tail)
        return -ENOMEM;
    tree_take(alloc, off);
    alloc->free_bytes += node->len - len;
    node->len = len;
    tree_insert(alloc, node);
    insert_free(alloc, tail);
    return 0;
}

static int range_grow(struct wsh_alloc *alloc, size_t off, size_t len)
{
    struct range *node = tree_find(alloc, off), *after = tree_find(alloc, off + node->len);
    size_t more = len - node->len;

    if (!after || after->asked || after->len < more || is_wall(alloc, after->off))
        return -ENOMEM;
    after = tree_take(alloc, after->off);
    after->off += more;
    after->len -= more;
    if (after->len)
        tree_insert(alloc, after);
    else
        free(after);
    tree_take(alloc, off);
    node->len = len;
    tree_insert(alloc, node);
    alloc->free_bytes -= more;
    return 0;
}

int wsh_alloc_resize(struct wsh_alloc *alloc, size_t off, size_t len)
{
    struct range *node = tree_find(alloc, off);
    size_t need;
    int rc;

    if (!node || !node->asked || !len || len > SIZE_MAX / 2)
        return -EINVAL;
    need = round_up(len, WSH_ALLOC_GRAIN);
    rc = need > node->len ? range_grow(alloc, off, need) : range_shrink(alloc, off, need);
    if (!rc)
        tree_find(alloc, off)->asked = len;
    return rc;
}

/* The free range around `off` becomes two. */
static int range_cut(struct wsh_alloc *alloc, size_t off)
{
    struct range *around = tree_find_before(alloc, off);

    if (!around || around->asked || around->off + around->len <= off)
        return 0;
    around = range_carve(alloc, around, around->off, off - around->off);
    if (!around)
        return -ENOMEM;
    tree_insert(alloc, around);
    return 0;
}

int wsh_alloc_wall(struct wsh_alloc *alloc, size_t off)
{
    size_t *walls = realloc(alloc->walls, (alloc->n_walls + 1) * sizeof *walls);
    int rc = walls ? 0 : -ENOMEM;

    if (walls)
        alloc->walls = walls;
    if (!rc)
        rc = range_cut(alloc, off);
    if (!rc)
        walls[alloc->n_walls++] = off;
    return rc;
}

size_t wsh_alloc_free_bytes(const struct wsh_alloc *alloc)
{
    return alloc->free_bytes;
}

size_t wsh_alloc_largest(const struct wsh_alloc *alloc)
{
    return best_of(alloc->root);
}
