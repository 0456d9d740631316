/* SPDX-License-Identifier: BSD-3-Clause */
/* The treap of an allocator's ranges. */
#include "runtime/memory/alloc_tree.h"

#include "base/invariant.h"

#include <stdlib.h>

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t best_of(const struct wsh_range *node)
{
    return node ? node->best_free : 0;
}

static void range_update(struct wsh_range *node)
{
    size_t own = node->asked ? 0 : node->len;

    node->best_free = max_size(own, max_size(best_of(node->left), best_of(node->right)));
}

/* Splits by offset: *a gets keys < off, *b the others. */
static void tree_split(struct wsh_range *node, size_t off, struct wsh_range **a, struct wsh_range **b)
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

static struct wsh_range *tree_merge(struct wsh_range *a, struct wsh_range *b)
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

/* From all ranges of the tree. */
static bool is_apart(const struct wsh_tree *tree, const struct wsh_range *node)
{
    const struct wsh_range *before = wsh_tree_find_before(tree, node->off + node->len);

    return !before || before->off + before->len <= node->off;
}

void wsh_tree_insert(struct wsh_tree *tree, struct wsh_range *node)
{
    struct wsh_range *a, *b;

    WSH_INVARIANT(is_apart(tree, node));
    tree->seed = tree->seed * 1664525u + 1013904223u;
    node->heap = tree->seed;
    node->left = node->right = NULL;
    range_update(node);
    tree_split(tree->root, node->off, &a, &b);
    tree->root = tree_merge(tree_merge(a, node), b);
}

struct wsh_range *wsh_tree_take(struct wsh_tree *tree, size_t off)
{
    struct wsh_range *a, *mid, *b;

    tree_split(tree->root, off, &a, &b);
    tree_split(b, off + 1, &mid, &b);
    tree->root = tree_merge(a, b);
    return mid;
}

struct wsh_range *wsh_tree_find(const struct wsh_tree *tree, size_t off)
{
    struct wsh_range *node = tree->root;

    while (node && node->off != off)
        node = off < node->off ? node->left : node->right;
    return node;
}

struct wsh_range *wsh_tree_find_before(const struct wsh_tree *tree, size_t off)
{
    struct wsh_range *node = tree->root, *before = NULL;

    while (node) {
        if (node->off < off)
            before = node;
        node = node->off < off ? node->right : node->left;
    }
    return before;
}

struct wsh_range *wsh_tree_first_fit(const struct wsh_tree *tree, size_t len)
{
    struct wsh_range *node = tree->root;

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

size_t wsh_tree_largest(const struct wsh_tree *tree)
{
    return best_of(tree->root);
}

struct wsh_range *wsh_range_new(size_t off, size_t len)
{
    struct wsh_range *node = calloc(1, sizeof *node);

    if (node) {
        node->off = off;
        node->len = len;
    }
    return node;
}

static void free_below(struct wsh_range *node)
{
    if (!node)
        return;
    free_below(node->left);
    free_below(node->right);
    free(node);
}

void wsh_tree_free(struct wsh_tree *tree)
{
    free_below(tree->root);
    tree->root = NULL;
}
