/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands out ranges of a tree that tile [0, len). */
#include "runtime/memory/alloc.h"

#include "base/invariant.h"
#include "runtime/memory/alloc_tree.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct wsh_alloc {
    pthread_mutex_t lock; /* one thread allocates at a time, but others release, and ask what is allocated */
    struct wsh_tree tree;
    size_t len, free_bytes;
    uint64_t numbers;       /* allocations so far */
    size_t *walls, n_walls; /* offsets that no range reaches across, in order */
};

static size_t round_up(size_t len, size_t to)
{
    return (len + to - 1) & ~(to - 1);
}

struct wsh_alloc *wsh_alloc_open(size_t len)
{
    struct wsh_alloc *alloc = calloc(1, sizeof *alloc);
    struct wsh_range *all;

    if (!alloc)
        return NULL;
    len &= ~(size_t)(WSH_ALLOC_GRAIN - 1);
    pthread_mutex_init(&alloc->lock, NULL);
    alloc->tree.seed = 1;
    alloc->len = alloc->free_bytes = len;
    if (!len)
        return alloc;
    all = wsh_range_new(0, len);
    if (!all) {
        wsh_alloc_close(alloc);
        return NULL;
    }
    wsh_tree_insert(&alloc->tree, all);
    return alloc;
}

void wsh_alloc_close(struct wsh_alloc *alloc)
{
    if (!alloc)
        return;
    wsh_tree_free(&alloc->tree);
    pthread_mutex_destroy(&alloc->lock);
    free(alloc->walls);
    free(alloc);
}

/* Cuts `node` (in the tree, free) so that it starts at `off` and has `len` bytes; gives the rest back. */
static struct wsh_range *range_carve(struct wsh_tree *tree, struct wsh_range *node, size_t off, size_t len)
{
    size_t before = off - node->off, after = node->len - before - len;
    struct wsh_range *head = before ? wsh_range_new(node->off, before) : NULL;
    struct wsh_range *tail = after ? wsh_range_new(off + len, after) : NULL;

    if ((before && !head) || (after && !tail)) {
        free(head);
        free(tail);
        return NULL;
    }
    node = wsh_tree_take(tree, node->off);
    node->off = off;
    node->len = len;
    if (head)
        wsh_tree_insert(tree, head);
    if (tail)
        wsh_tree_insert(tree, tail);
    return node;
}

/*
 * The free range may start anywhere on the grain, so a larger alignment needs room for the shift: the search asks
 * for len + align - grain, which is exact for the usual alignments and at worst skips a range that would fit.
 */
static size_t range_get(struct wsh_alloc *alloc, size_t len, size_t align)
{
    size_t need = round_up(len, WSH_ALLOC_GRAIN), off;
    struct wsh_range *node = wsh_tree_first_fit(&alloc->tree, need + align - WSH_ALLOC_GRAIN);

    if (!node)
        return WSH_ALLOC_NONE;
    off = round_up(node->off, align);
    node = range_carve(&alloc->tree, node, off, need);
    if (!node)
        return WSH_ALLOC_NONE;
    node->asked = len;
    node->number = ++alloc->numbers;
    wsh_tree_insert(&alloc->tree, node);
    alloc->free_bytes -= need;
    WSH_INVARIANT(off % align == 0 && wsh_tree_find(&alloc->tree, off) == node);
    return off;
}

size_t wsh_alloc_get(struct wsh_alloc *alloc, size_t len, size_t align)
{
    size_t off;

    if (align < WSH_ALLOC_GRAIN)
        align = WSH_ALLOC_GRAIN;
    if (!len || len > SIZE_MAX / 2 || align > SIZE_MAX / 4)
        return WSH_ALLOC_NONE;
    pthread_mutex_lock(&alloc->lock);
    off = range_get(alloc, len, align);
    pthread_mutex_unlock(&alloc->lock);
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
static void insert_free(struct wsh_alloc *alloc, struct wsh_range *node)
{
    struct wsh_tree *tree = &alloc->tree;
    struct wsh_range *before = wsh_tree_find_before(tree, node->off),
                     *after = wsh_tree_find(tree, node->off + node->len);

    if (after && !after->asked && !is_wall(alloc, after->off)) {
        wsh_tree_take(tree, after->off);
        node->len += after->len;
        free(after);
    }
    if (before && !before->asked && !is_wall(alloc, node->off)) {
        wsh_tree_take(tree, before->off);
        node->off = before->off;
        node->len += before->len;
        free(before);
    }
    node->asked = 0;
    node->released = false;
    wsh_tree_insert(tree, node);
    WSH_INVARIANT(wsh_tree_largest(tree) <= alloc->free_bytes);
}

/* The live range that starts at `off`, or NULL. */
static struct wsh_range *live_at(const struct wsh_alloc *alloc, size_t off)
{
    struct wsh_range *node = wsh_tree_find(&alloc->tree, off);

    return node && node->asked ? node : NULL;
}

size_t wsh_alloc_put(struct wsh_alloc *alloc, size_t off)
{
    struct wsh_range *node;
    size_t len = 0;

    pthread_mutex_lock(&alloc->lock);
    node = live_at(alloc, off);
    if (node) {
        len = node->len;
        wsh_tree_take(&alloc->tree, off);
        alloc->free_bytes += len;
        insert_free(alloc, node);
    }
    pthread_mutex_unlock(&alloc->lock);
    return len;
}

uint64_t wsh_alloc_release(struct wsh_alloc *alloc, size_t off)
{
    struct wsh_range *node;
    uint64_t number = 0;

    pthread_mutex_lock(&alloc->lock);
    node = live_at(alloc, off);
    if (node && !node->released) {
        node->released = true;
        number = node->number;
    }
    pthread_mutex_unlock(&alloc->lock);
    return number;
}

size_t wsh_alloc_size(struct wsh_alloc *alloc, size_t off)
{
    const struct wsh_range *node;
    size_t asked;

    pthread_mutex_lock(&alloc->lock);
    node = live_at(alloc, off);
    asked = node && !node->released ? node->asked : 0;
    pthread_mutex_unlock(&alloc->lock);
    return asked;
}

bool wsh_alloc_is_live(struct wsh_alloc *alloc, size_t off, size_t len)
{
    const struct wsh_range *node;
    bool live;

    pthread_mutex_lock(&alloc->lock);
    node = wsh_tree_find_before(&alloc->tree, off + 1);
    live = node && !node->released && off - node->off < node->asked && len <= node->asked - (off - node->off);
    pthread_mutex_unlock(&alloc->lock);
    return live;
}

static int range_shrink(struct wsh_alloc *alloc, struct wsh_range *node, size_t len)
{
    struct wsh_range *tail;

    if (node->len == len)
        return 0;
    tail = wsh_range_new(node->off + len, node->len - len);
    if (!tail)
        return -ENOMEM;
    wsh_tree_take(&alloc->tree, node->off);
    alloc->free_bytes += node->len - len;
    node->len = len;
    wsh_tree_insert(&alloc->tree, node);
    insert_free(alloc, tail);
    return 0;
}

static int range_grow(struct wsh_alloc *alloc, struct wsh_range *node, size_t len)
{
    struct wsh_range *after = wsh_tree_find(&alloc->tree, node->off + node->len);
    size_t more = len - node->len;

    if (!after || after->asked || after->len < more || is_wall(alloc, after->off))
        return -ENOMEM;
    after = wsh_tree_take(&alloc->tree, after->off);
    after->off += more;
    after->len -= more;
    if (after->len)
        wsh_tree_insert(&alloc->tree, after);
    else
        free(after);
    wsh_tree_take(&alloc->tree, node->off);
    node->len = len;
    wsh_tree_insert(&alloc->tree, node);
    alloc->free_bytes -= more;
    return 0;
}

int wsh_alloc_resize(struct wsh_alloc *alloc, size_t off, size_t len)
{
    size_t need = round_up(len, WSH_ALLOC_GRAIN);
    struct wsh_range *node;
    int rc = -EINVAL;

    if (!len || len > SIZE_MAX / 2)
        return rc;
    pthread_mutex_lock(&alloc->lock);
    node = live_at(alloc, off);
    if (node)
        rc = need > node->len ? range_grow(alloc, node, need) : range_shrink(alloc, node, need);
    if (!rc)
        node->asked = len;
    pthread_mutex_unlock(&alloc->lock);
    return rc;
}

/* The free range around `off` becomes two. */
static int range_cut(struct wsh_tree *tree, size_t off)
{
    struct wsh_range *around = wsh_tree_find_before(tree, off);

    if (!around || around->asked || around->off + around->len <= off)
        return 0;
    around = range_carve(tree, around, around->off, off - around->off);
    if (!around)
        return -ENOMEM;
    wsh_tree_insert(tree, around);
    return 0;
}

int wsh_alloc_wall(struct wsh_alloc *alloc, size_t off)
{
    size_t *walls;
    int rc;

    pthread_mutex_lock(&alloc->lock);
    walls = realloc(alloc->walls, (alloc->n_walls + 1) * sizeof *walls);
    rc = walls ? 0 : -ENOMEM;
    if (walls)
        alloc->walls = walls;
    if (!rc)
        rc = range_cut(&alloc->tree, off);
    if (!rc)
        walls[alloc->n_walls++] = off;
    pthread_mutex_unlock(&alloc->lock);
    return rc;
}

size_t wsh_alloc_free_bytes(const struct wsh_alloc *alloc)
{
    return alloc->free_bytes;
}

size_t wsh_alloc_largest(const struct wsh_alloc *alloc)
{
    return wsh_tree_largest(&alloc->tree);
}

struct wsh_alloc_range *wsh_alloc_list(struct wsh_alloc *alloc, size_t *n, uint64_t *numbers)
{
    const struct wsh_range *node;
    struct wsh_alloc_range *list = NULL;
    size_t off, most;

    pthread_mutex_lock(&alloc->lock);
    for (most = 1, off = 0; off < alloc->len; off += node->len, most++)
        node = wsh_tree_find(&alloc->tree, off);
    list = calloc(most, sizeof *list);
    for (*n = off = 0; list && off < alloc->len; off += node->len) {
        node = wsh_tree_find(&alloc->tree, off);
        if (node->asked)
            list[(*n)++] =
                (struct wsh_alloc_range){off, node->len, node->asked, node->number << 1 | node->released};
    }
    *numbers = alloc->numbers;
    pthread_mutex_unlock(&alloc->lock);
    return list;
}

/* Free ranges that tile [off, end), cut at walls. */
static bool gap_fill(const struct wsh_alloc *alloc, struct wsh_tree *tree, size_t off, size_t end)
{
    while (off < end) {
        size_t to = end;
        struct wsh_range *node;

        for (size_t i = alloc->n_walls; i--;)
            if (alloc->walls[i] > off && alloc->walls[i] < to)
                to = alloc->walls[i];
        node = wsh_range_new(off, to - off);
        if (!node)
            return false;
        wsh_tree_insert(tree, node);
        off = to;
    }
    return true;
}

static bool range_add(const struct wsh_alloc *alloc, struct wsh_tree *tree, const struct wsh_alloc_range *one)
{
    const struct wsh_range *mine = live_at(alloc, one->off);
    struct wsh_range *node = wsh_range_new(one->off, one->len);

    if (!node)
        return false;
    node->asked = one->asked;
    node->number = one->number >> 1;
    node->released = mine && mine->number == node->number ? mine->released : one->number & 1;
    wsh_tree_insert(tree, node);
    return true;
}

int wsh_alloc_restore(struct wsh_alloc *alloc, const struct wsh_alloc_range *list, size_t n, uint64_t numbers)
{
    struct wsh_tree tree = {.seed = 1};
    size_t end = 0, used = 0, i;
    bool ok = true;

    pthread_mutex_lock(&alloc->lock);
    for (i = 0; i < n && ok; i++) {
        ok = gap_fill(alloc, &tree, end, list[i].off) && range_add(alloc, &tree, &list[i]);
        end = list[i].off + list[i].len;
        used += list[i].len;
    }
    ok = ok && gap_fill(alloc, &tree, end, alloc->len);
    wsh_tree_free(ok ? &alloc->tree : &tree);
    if (ok) {
        alloc->tree = tree;
        alloc->free_bytes = alloc->len - used;
        alloc->numbers = numbers;
    }
    pthread_mutex_unlock(&alloc->lock);
    return ok ? 0 : -ENOMEM;
}
