/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of rows of internode, and their default scopes, sizes and grids. */
#include "perftest/device/internode.h"

/* clang-format off */
#define KIND(what, name, unit, group, flags, text)                                                                   \
    [INTER_KIND(what, 0)] = {name, unit, group, flags, 0, text},                                                     \
    [INTER_KIND(what, 1)] = {name "_hostmem", unit, group, flags, 0, text "; in host memory"}

const struct dev_kind inter_kinds[INTER_KINDS] = {
    KIND(INTER_ORDER_NONE, "order_none", DEV_US, INTER_ORDERS, 0,
         "1024 put_nbi, nothing waited for before the kernel's end"),
    KIND(INTER_ORDER_QUIET, "order_quiet", DEV_US, INTER_ORDERS, 0, "1024 put_nbi, quiet, signal"),
    KIND(INTER_ORDER_PUT_SIGNAL, "order_put_signal", DEV_US, INTER_ORDERS, 0, "1024 put_signal_nbi without a fence"),
    KIND(INTER_ORDER_COUNTED, "order_counted", DEV_US, INTER_ORDERS, 0, "1024 puts that the target counts"),
    KIND(INTER_ORDER_FENCE, "order_fence", DEV_US, INTER_ORDERS, 0, "1024 put_nbi, fence, signal"),
    KIND(INTER_ORDER_FENCE_EACH, "order_fence_each", DEV_US, INTER_ORDERS, 0, "1024 times put_nbi, fence, signal"),
    KIND(INTER_ORDER_QUIET_EACH, "order_quiet_each", DEV_US, INTER_ORDERS, 0, "1024 times put_nbi, quiet, signal"),
    KIND(INTER_PUT_BLOCKING, "put_blocking", DEV_US, INTER_PUTS, 0, "a window of puts, each with a quiet"),
    KIND(INTER_PUT_NBI, "put_nbi", DEV_US, INTER_PUTS, 0, "the same window, with one quiet"),
    KIND(INTER_POST, "post", DEV_US, INTER_POSTS, 0, "time of the lanes that post a put_nbi, a put; without the quiet"),
    KIND(INTER_POST_LANES, "post_lanes", DEV_US, INTER_POSTS, 0, "the same, each lane of a warp its own put"),
    KIND(INTER_POST_SIGNAL, "post_put_signal", DEV_US, INTER_POSTS, 0, "the same of a put_signal_nbi"),
    KIND(INTER_POST_COUNTED, "post_counted", DEV_US, INTER_POSTS, 0, "the same of a put that the target counts"),
    KIND(INTER_POST_LIST, "post_list", DEV_US, INTER_POSTS, 0, "the same of the puts of one list, a put"),
    KIND(INTER_POST_RUN_1, "post_run_1", DEV_US, INTER_POSTS, 0, "the same of lists of one put, a put"),
    KIND(INTER_POST_RUN_4, "post_run_4", DEV_US, INTER_POSTS, 0, "the same of lists of 4, a put"),
    KIND(INTER_POST_RUN_16, "post_run_16", DEV_US, INTER_POSTS, 0, "the same of lists of 16, a put"),
    KIND(INTER_POST_COPIED, "post_copied", DEV_US, INTER_POSTS, 0,
         "the same of a put_nbi whose source is not symmetric, so that it is copied"),
    KIND(INTER_POST_BARE, "post_bare", DEV_US, INTER_POSTS, 0,
         "the limit: a release and 48 bytes stored to pinned memory, a put"),
    KIND(INTER_POST_BARE_RUN, "post_bare_run", DEV_US, INTER_POSTS, 0,
         "the limit of a queue: a release, a doorbell and a word handed on, for 64 bytes, by a warp for 16 times 64"),
    KIND(INTER_GRID, "post_grid", DEV_MRATE, INTER_GRIDS, 0,
         "puts that all lanes of a grid post one at a time, without a quiet"),
    KIND(INTER_ALLTOALL, "alltoall", DEV_US, INTER_ALLTOALLS, DEV_SLOWEST, "the collective, bytes per peer"),
    KIND(INTER_ALLTOALL_PUT, "alltoall_put", DEV_US, INTER_ALLTOALLS, DEV_SLOWEST,
         "put and quiet to each PE in turn, then signals"),
    KIND(INTER_ALLTOALL_PUT_SIGNAL, "alltoall_put_signal", DEV_US, INTER_ALLTOALLS, DEV_SLOWEST,
         "put_signal_nbi to each PE"),
    KIND(INTER_WAIT_UNTIL, "wait_until", DEV_US, INTER_WAITS, DEV_FIXED, "round trip: signal, signal_wait_until"),
    KIND(INTER_POLL_FETCH, "poll_fetch", DEV_US, INTER_WAITS, DEV_FIXED,
         "round trip: signal, signal_fetch again and again (an acquire each)"),
    KIND(INTER_LOAD_ALONE, "load_alone", DEV_GBS, INTER_LOADS, 0, "8 warps read the same bytes again and again"),
    KIND(INTER_LOAD_WAIT_UNTIL, "load_wait_until", DEV_GBS, INTER_LOADS, 0,
         "the same beside a warp in signal_wait_until"),
    KIND(INTER_LOAD_POLL_FETCH, "load_poll_fetch", DEV_GBS, INTER_LOADS, 0,
         "the same beside one that polls signal_fetch"),
};

#define EACH_MEMORY(what, scope, sizes, grids) \
    {INTER_KIND(what, 0), scope, sizes, grids}, {INTER_KIND(what, 1), scope, sizes, grids}
#define TOKENS "256,7408"
#define LENGTHS "8,1k,8k,64k,1M"
#define POSTED "8,512,7k,64k,1M,4M"
#define PER_PEER "8,64,512,4k,32k,256k,1M"

static const struct dev_shape shapes[] = {
    EACH_MEMORY(INTER_ORDER_NONE, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_ORDER_QUIET, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_ORDER_PUT_SIGNAL, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_ORDER_COUNTED, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_ORDER_FENCE, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_ORDER_FENCE_EACH, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_ORDER_QUIET_EACH, DEV_WARP, TOKENS, "1x32,1x512"),
    EACH_MEMORY(INTER_PUT_BLOCKING, DEV_THREAD, LENGTHS, "1x256"),
    EACH_MEMORY(INTER_PUT_NBI, DEV_THREAD, LENGTHS, "1x256"),
    EACH_MEMORY(INTER_PUT_BLOCKING, DEV_BLOCK, LENGTHS, "1x256"),
    EACH_MEMORY(INTER_PUT_NBI, DEV_BLOCK, LENGTHS, "1x256"),
    EACH_MEMORY(INTER_PUT_BLOCKING, DEV_HOST, LENGTHS, "0x0"),
    EACH_MEMORY(INTER_PUT_NBI, DEV_HOST, LENGTHS, "0x0"),
    EACH_MEMORY(INTER_POST, DEV_THREAD, POSTED, "1x1"),
    EACH_MEMORY(INTER_POST, DEV_WARP, POSTED, "1x32"),
    EACH_MEMORY(INTER_POST_LANES, DEV_THREAD, POSTED, "1x32"),
    EACH_MEMORY(INTER_POST_SIGNAL, DEV_THREAD, POSTED, "1x1"),
    EACH_MEMORY(INTER_POST_COUNTED, DEV_THREAD, POSTED, "1x1"),
    EACH_MEMORY(INTER_POST_COUNTED, DEV_WARP, POSTED, "1x32"),
    EACH_MEMORY(INTER_POST_LIST, DEV_THREAD, POSTED, "1x1"),
    EACH_MEMORY(INTER_POST_LIST, DEV_WARP, POSTED, "1x32"),
    {INTER_KIND(INTER_POST_RUN_1, 0), DEV_THREAD, "64", "1x1"},
    {INTER_KIND(INTER_POST_RUN_4, 0), DEV_THREAD, "64", "1x1"},
    {INTER_KIND(INTER_POST_RUN_16, 0), DEV_THREAD, "64", "1x1"},
    EACH_MEMORY(INTER_POST_COPIED, DEV_THREAD, POSTED, "1x1"),
    EACH_MEMORY(INTER_POST_COPIED, DEV_WARP, POSTED, "1x32"),
    {INTER_KIND(INTER_POST_BARE, 0), DEV_THREAD, "8", "1x1"},
    {INTER_KIND(INTER_POST_BARE_RUN, 0), DEV_THREAD, "64", "1x1"},
    {INTER_KIND(INTER_POST_BARE_RUN, 0), DEV_WARP, "64", "1x32"},
    {INTER_KIND(INTER_GRID, 0), DEV_THREAD, "64", "1x1,1x32,8x32,64x512"},
    EACH_MEMORY(INTER_ALLTOALL_PUT, DEV_BLOCK, PER_PEER, "1x256"),
    EACH_MEMORY(INTER_ALLTOALL_PUT_SIGNAL, DEV_BLOCK, PER_PEER, "1x256"),
    EACH_MEMORY(INTER_ALLTOALL, DEV_HOST, PER_PEER, "0x0"),
    {INTER_KIND(INTER_ALLTOALL_PUT_SIGNAL, 1), DEV_HOST, PER_PEER, "0x0"},
    EACH_MEMORY(INTER_WAIT_UNTIL, DEV_THREAD, "8", "1x1"),
    EACH_MEMORY(INTER_POLL_FETCH, DEV_THREAD, "8", "1x1"),
    {INTER_KIND(INTER_LOAD_ALONE, 0), DEV_BLOCK, "64k,4M", "1x288"},
    EACH_MEMORY(INTER_LOAD_WAIT_UNTIL, DEV_BLOCK, "64k,4M", "1x288"),
    EACH_MEMORY(INTER_LOAD_POLL_FETCH, DEV_BLOCK, "64k,4M", "1x288"),
};
/* clang-format on */

size_t inter_window(size_t len)
{
    size_t fit = ((size_t)4 << 20) / len;

    return fit > 64 ? 64 : fit ? fit : 1;
}

size_t inter_puts(const struct dev_row *row, int npes)
{
    switch (inter_group(row)) {
    case INTER_ORDERS: return INTER_BATCH;
    case INTER_PUTS:
    case INTER_POSTS: return inter_window(row->size);
    case INTER_GRIDS: return (size_t)dev_row_lanes(row);
    case INTER_ALLTOALLS: return (size_t)npes - 1;
    default: return 0;
    }
}

/* One warp waits and others load: two at least. Words are 8 bytes. */
static bool possible(const struct dev_row *row, int pes)
{
    (void)pes;
    if (inter_group(row) == INTER_LOADS)
        return row->threads >= 64 && row->threads <= 512 && row->size >= 4096;
    if (inter_group(row) == INTER_POSTS)
        return row->threads == (row->scope == DEV_THREAD && inter_what(row) != INTER_POST_LANES ? 1 : 32);
    return row->threads <= 512 && (inter_group(row) != INTER_ORDERS || row->size <= INTER_ORDER_LEN);
}

const struct dev_table dev_table = {
    .name = "internode",
    .what = "What kernels pay who reach PEs of other hosts, by the proxy: order, blocking calls, alltoall, "
            "and waits",
    .kinds = inter_kinds,
    .shapes = shapes,
    .n_kinds = INTER_KINDS,
    .n_shapes = sizeof shapes / sizeof shapes[0],
    .possible = possible,
};
