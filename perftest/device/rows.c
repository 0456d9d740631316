/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of rows, their usual scopes, sizes and grids, and how options choose among them. */
#include "perftest/device/rows.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const p2p_scope_names[P2P_SCOPES] = {"thread", "warp", "block"};

/* clang-format off */
const struct p2p_kind_info p2p_kinds[P2P_KINDS] = {
    [P2P_PUT] = {"put", P2P_US, P2P_AT_TARGET, 0, 0, "put_nbi, then quiet"},
    [P2P_PUT_SAME] = {"put_same", P2P_US, P2P_AT_TARGET, P2P_SAME, 0, "put of one source again and again"},
    [P2P_GET] = {"get", P2P_US, P2P_AT_ORIGIN, 0, 0, "get"},
    [P2P_P] = {"p", P2P_US, P2P_NO_DATA, P2P_FIXED, 0, "p of 8 bytes, then quiet"},
    [P2P_G] = {"g", P2P_US, P2P_NO_DATA, P2P_FIXED | P2P_READS_PEER, 0,
        "g of 8 bytes, each needs the last one's value"},
    [P2P_FETCH_INC] = {"fetch_inc", P2P_US, P2P_NO_DATA, P2P_FIXED, 0,
        "atomic, each needs the last one's value"},
    [P2P_COMPARE_SWAP] = {"compare_swap", P2P_US, P2P_NO_DATA, P2P_FIXED, 0, "the same"},
    [P2P_SWAP] = {"swap", P2P_US, P2P_NO_DATA, P2P_FIXED, 0, "the same"},
    [P2P_INC] = {"inc", P2P_US, P2P_NO_DATA, P2P_FIXED, 0, "atomic without a value, then quiet"},
    [P2P_PUT_BULK] = {"put_bulk", P2P_US, P2P_AT_TARGET, P2P_EXTENSION, 0,
        "put with lent shared memory, then quiet"},
    [P2P_GET_BULK] = {"get_bulk", P2P_US, P2P_AT_ORIGIN, P2P_EXTENSION, 0, "get with lent shared memory"},
    [P2P_PUT_BW] = {"put_bw", P2P_GBS, P2P_AT_TARGET, 0, 0,
        "put_nbi of a part by each block, one quiet at the end"},
    [P2P_PUT_SAME_BW] = {"put_same_bw", P2P_GBS, P2P_AT_TARGET, P2P_SAME, 0,
        "put_bw of one source again and again"},
    [P2P_GET_BW] = {"get_bw", P2P_GBS, P2P_AT_ORIGIN, 0, 0,
        "get_nbi of a part by each block, one quiet at the end"},
    [P2P_PUT_BIBW] = {"put_bibw", P2P_GBS, P2P_AT_TARGET, P2P_BOTH | P2P_SLOWEST, 0,
        "put_bw both ways at once, bytes of both"},
    [P2P_GET_BIBW] = {"get_bibw", P2P_GBS, P2P_AT_ORIGIN, P2P_BOTH | P2P_SLOWEST, 0,
        "get_bw both ways at once, bytes of both"},
    [P2P_PUT_BULK_BW] = {"put_bulk_bw", P2P_GBS, P2P_AT_TARGET, P2P_EXTENSION, 0,
        "put_bw with lent shared memory"},
    [P2P_GET_BULK_BW] = {"get_bulk_bw", P2P_GBS, P2P_AT_ORIGIN, P2P_EXTENSION, 0,
        "get_bw with lent shared memory"},
    [P2P_STORE_BW] = {"store_bw", P2P_GBS, P2P_AT_TARGET, P2P_SAME, 0, "16-byte stores of the whole grid through ptr"},
    [P2P_PUT_RATE] = {"put_rate", P2P_MRATE, P2P_AT_TARGET, P2P_FIXED, 0,
        "put_nbi, each thread or block to its slot"},
    [P2P_P_RATE] = {"p_rate", P2P_MRATE, P2P_NO_DATA, P2P_FIXED, 0, "p, each thread to its slot"},
    [P2P_INC_RATE] = {"inc_rate", P2P_MRATE, P2P_NO_DATA, P2P_FIXED, 0,
        "atomic without a value, each thread on its word"},
    [P2P_PP_SIGNAL] = {"pp_signal", P2P_US, P2P_NO_DATA, P2P_BOTH | P2P_FIXED, 0, "round trip: signal_op"},
    [P2P_PP_PUT_SIGNAL] = {"pp_put_signal", P2P_US, P2P_AT_TARGET, P2P_BOTH, 0,
        "round trip: put_signal; each block its own"},
    [P2P_PP_P] = {"pp_p", P2P_US, P2P_NO_DATA, P2P_BOTH | P2P_FIXED, 0, "round trip: p"},
    [P2P_PP_PUT] = {"pp_put", P2P_US, P2P_NO_DATA, P2P_BOTH | P2P_FIXED, 0,
        "round trip: put of the word waited for"},
    [P2P_PP_PUT_FENCE_P] = {"pp_put_fence_p", P2P_US, P2P_AT_TARGET, P2P_BOTH, 0,
        "round trip: put_nbi, fence, p"},
    [P2P_PP_ATOMIC] = {"pp_atomic", P2P_US, P2P_NO_DATA, P2P_BOTH | P2P_FIXED, 0, "round trip: atomic inc"},
    [P2P_PP_PUT_ATOMIC] = {"pp_put_atomic", P2P_US, P2P_AT_TARGET, P2P_BOTH, 0,
        "round trip: put_nbi, fence, atomic inc"},
    [P2P_PUT_MISALIGNED] = {"put_misaligned", P2P_US, P2P_AT_TARGET, 0, 3,
        "put, the source 3 bytes further than the target"},
    [P2P_GET_MISALIGNED] = {"get_misaligned", P2P_US, P2P_AT_ORIGIN, 0, 3, "get, likewise"},
    [P2P_PUT_BW_MISALIGNED] = {"put_bw_misaligned", P2P_GBS, P2P_AT_TARGET, 0, 3, "put_bw, likewise"},
    [P2P_GET_BW_MISALIGNED] = {"get_bw_misaligned", P2P_GBS, P2P_AT_ORIGIN, 0, 3, "get_bw, likewise"},
    [P2P_PUT_LOADED] = {"put_loaded", P2P_US, P2P_NO_DATA, P2P_FIXED, 0,
        "put by block 0 while the others put 64 KiB pieces"},
};

/* The rows of a run without options. Sizes and grids are lists. */
static const struct shape {
    enum p2p_kind kind;
    enum p2p_scope scope;
    const char *sizes, *grids;
} shapes[] = {
    {P2P_PUT, P2P_THREAD, "8,1k,8k,64k", "1x1"},
    {P2P_PUT, P2P_WARP, "8,1k,8k,64k,1M,4M", "1x32"},
    {P2P_PUT, P2P_BLOCK, "8,1k,8k,64k,1M,4M", "1x256"},
    {P2P_PUT, P2P_BLOCK, "64k,4M", "1x1024"},
    {P2P_PUT_SAME, P2P_WARP, "8k", "1x32"},
    {P2P_PUT_SAME, P2P_BLOCK, "8k,64k", "1x256"},
    {P2P_GET, P2P_THREAD, "8,1k,8k,64k", "1x1"},
    {P2P_GET, P2P_WARP, "8,1k,8k,64k,1M,4M", "1x32"},
    {P2P_GET, P2P_BLOCK, "8,1k,8k,64k,1M,4M", "1x256"},
    {P2P_GET, P2P_BLOCK, "64k,4M", "1x1024"},
    {P2P_P, P2P_THREAD, "8", "1x1"},
    {P2P_G, P2P_THREAD, "8", "1x1"},
    {P2P_FETCH_INC, P2P_THREAD, "8", "1x1"},
    {P2P_COMPARE_SWAP, P2P_THREAD, "8", "1x1"},
    {P2P_SWAP, P2P_THREAD, "8", "1x1"},
    {P2P_INC, P2P_THREAD, "8", "1x1"},
    {P2P_PP_SIGNAL, P2P_THREAD, "8", "1x1"},
    {P2P_PP_PUT_SIGNAL, P2P_THREAD, "8,8k,64k", "1x1"},
    {P2P_PP_PUT_SIGNAL, P2P_WARP, "8,8k,64k", "1x32"},
    {P2P_PP_PUT_SIGNAL, P2P_BLOCK, "8,8k,64k", "1x256"},
    {P2P_PP_P, P2P_THREAD, "8", "1x1"},
    {P2P_PP_PUT, P2P_THREAD, "8", "1x1"},
    {P2P_PP_PUT, P2P_WARP, "8", "1x32"},
    {P2P_PP_PUT, P2P_BLOCK, "8", "1x256"},
    {P2P_PP_PUT_FENCE_P, P2P_BLOCK, "8k", "1x256"},
    {P2P_PP_ATOMIC, P2P_THREAD, "8", "1x1"},
    {P2P_PP_PUT_ATOMIC, P2P_THREAD, "8", "1x1"},
    {P2P_PP_PUT_ATOMIC, P2P_BLOCK, "8,8k", "1x256"},
    {P2P_PUT_BW, P2P_BLOCK, "64k,1M,4M,64M", "32x256"},
    {P2P_PUT_BW, P2P_BLOCK, "4M,64M", "132x256"},
    {P2P_PUT_SAME_BW, P2P_BLOCK, "64k,4M", "32x256"},
    {P2P_GET_BW, P2P_BLOCK, "64k,1M,4M,64M", "32x256"},
    {P2P_GET_BW, P2P_BLOCK, "4M,64M", "132x256"},
    {P2P_PUT_BIBW, P2P_BLOCK, "4M", "32x256"},
    {P2P_GET_BIBW, P2P_BLOCK, "4M", "32x256"},
    {P2P_PUT_RATE, P2P_THREAD, "8", "1x1,32x256"},
    {P2P_PUT_RATE, P2P_WARP, "256", "32x256"},
    {P2P_PUT_RATE, P2P_BLOCK, "1k", "32x256"},
    {P2P_P_RATE, P2P_THREAD, "8", "1x1,32x256"},
    {P2P_INC_RATE, P2P_THREAD, "8", "1x1,32x256"},
    {P2P_PUT_MISALIGNED, P2P_WARP, "64k", "1x32"},
    {P2P_PUT_MISALIGNED, P2P_BLOCK, "64k,4M", "1x256"},
    {P2P_GET_MISALIGNED, P2P_WARP, "64k", "1x32"},
    {P2P_GET_MISALIGNED, P2P_BLOCK, "64k,4M", "1x256"},
    {P2P_PUT_BW_MISALIGNED, P2P_BLOCK, "4M", "32x256"},
    {P2P_GET_BW_MISALIGNED, P2P_BLOCK, "4M", "32x256"},
    {P2P_PP_PUT_SIGNAL, P2P_BLOCK, "8,8k", "132x256"},
    {P2P_PUT_LOADED, P2P_BLOCK, "8", "33x256"},
    {P2P_PUT_BULK, P2P_THREAD, "64k", "1x1"},
    {P2P_PUT_BULK, P2P_WARP, "64k,4M", "1x32"},
    {P2P_PUT_BULK, P2P_BLOCK, "64k,4M", "1x256"},
    {P2P_GET_BULK, P2P_THREAD, "64k", "1x1"},
    {P2P_GET_BULK, P2P_WARP, "64k,4M", "1x32"},
    {P2P_GET_BULK, P2P_BLOCK, "64k,4M", "1x256"},
    {P2P_PUT_BULK_BW, P2P_BLOCK, "4M", "32x256"},
    {P2P_GET_BULK_BW, P2P_BLOCK, "4M", "32x256"},
    {P2P_STORE_BW, P2P_BLOCK, "1M,16M,256M", "1x256,1x1024,16x256,128x256"},
};
/* clang-format on */

size_t p2p_size_parse(const char *text)
{
    static const char units[] = "kKmMgG";
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;

    if (end == text || *text == '-' || (*end && (!unit || end[1])) || n > 1ull << 40)
        return 0;
    return (size_t)n << (unit ? 10 * ((unit - units) / 2 + 1) : 0);
}

const char *p2p_row_id(char *id, const struct p2p_row *row)
{
    snprintf(id, P2P_ID_TEXT, "%s.%s.%zu.%dx%d", p2p_kinds[row->kind].name, p2p_scope_names[row->scope],
             row->size, row->blocks, row->threads);
    return id;
}

long p2p_row_lanes(const struct p2p_row *row)
{
    long threads = (long)row->blocks * row->threads;

    return row->scope == P2P_THREAD ? threads : row->scope == P2P_WARP ? threads / 32 : row->blocks;
}

static bool wanted(const struct p2p_row *row, const struct p2p_options *o)
{
    char id[P2P_ID_TEXT], pattern[P2P_ID_TEXT];

    if (o->scope != P2P_SCOPES && row->scope != (enum p2p_scope)o->scope)
        return false;
    p2p_row_id(id, row);
    for (const char *p = o->rows ? o->rows : "*"; *p;) {
        size_t n = strcspn(p, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, p);
        if (!fnmatch(pattern, id, 0) || !fnmatch(pattern, p2p_kinds[row->kind].name, 0))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

/* A part of 16 bytes for every block, where blocks share the size. */
static bool possible(const struct p2p_row *row)
{
    return p2p_kinds[row->kind].unit != P2P_GBS || row->size >= 16 * (size_t)p2p_row_lanes(row);
}

static int add(struct p2p_row *rows, int n, const struct p2p_row *row, const struct p2p_options *o)
{
    if (n == P2P_MAX_ROWS || !wanted(row, o) || !possible(row))
        return n;
    for (int i = 0; i < n; i++)
        if (!memcmp(&rows[i], row, sizeof *row))
            return n;
    rows[n] = *row;
    return n + 1;
}

/* One shape and grid at all its sizes, or those of the options. */
static int add_sizes(struct p2p_row *rows, int n, const struct shape *shape, struct p2p_row row,
                     const struct p2p_options *o)
{
    char item[16];

    if (o->end && !(p2p_kinds[shape->kind].flags & P2P_FIXED)) {
        for (double size = (double)o->begin; (size_t)size <= o->end; size *= o->factor) {
            row.size = (size_t)size;
            n = add(rows, n, &row, o);
        }
        return n;
    }
    for (const char *p = shape->sizes; *p;) {
        size_t len = strcspn(p, ",");
        snprintf(item, sizeof item, "%.*s", (int)len, p);
        row.size = p2p_size_parse(item);
        n = add(rows, n, &row, o);
        p += len + (p[len] == ',');
    }
    return n;
}

int p2p_rows_expand(struct p2p_row *rows, const struct p2p_options *o)
{
    int n = 0;

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shape *shape = &shapes[i];
        for (const char *p = shape->grids; *p; p += strcspn(p, ","), p += *p == ',') {
            struct p2p_row row;
            char *end;
            memset(&row, 0, sizeof row);
            row.kind = shape->kind;
            row.scope = shape->scope;
            row.blocks = (int)strtol(p, &end, 10);
            row.threads = (int)strtol(end + 1, NULL, 10);
            if (o->blocks && p2p_kinds[shape->kind].unit != P2P_US)
                row.blocks = o->blocks;
            if (o->threads && shape->scope == P2P_BLOCK)
                row.threads = o->threads;
            n = add_sizes(rows, n, shape, row, o);
        }
    }
    return n;
}
