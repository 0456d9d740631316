/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The division of data among the members of a team, and among all blocks of a kernel that move it together, each block
 * its own share. The latter is for kernels of the library alone: a program's own calls are by one scope each.
 */
#ifndef WSH_DEVICE_SHARE_CUH
#define WSH_DEVICE_SHARE_CUH

#include "../core/put.cuh"

/* Bytes from `begin` to `end`. */
struct wsh_dev_range {
    size_t begin, end;
};

/* Part i of n of a range, at a multiple of `unit` from its begin; the last ones may be empty. */
static WSH_DEV struct wsh_dev_range wsh_dev_part(struct wsh_dev_range whole, size_t unit, unsigned i, unsigned n)
{
    size_t len = whole.end - whole.begin, units = (len + unit - 1) / unit + n - 1;
    size_t step = unit * (units >> 32 ? units / n : (uint32_t)units / n); /* a division of 32 bits takes less */
    size_t begin = i * step < len ? i * step : len, end = begin + step < len ? begin + step : len;

    return wsh_dev_range{whole.begin + begin, whole.begin + end};
}

/*
 * The parts of an array that go to the members: member i gets `each` bytes from i * stride on, of `total` (the last one
 * may get less); or, where `stride` is 0, all get the same.
 */
struct wsh_dev_scatter {
    size_t stride, each, total;
};

static WSH_DEV size_t wsh_dev_scatter_len(const struct wsh_dev_scatter &shares, int member)
{
    size_t at = (size_t)member * shares.stride, left = at < shares.total ? shares.total - at : 0;

    return !shares.stride || left > shares.each ? shares.each : left;
}

#define WSH_SHARE_UNIT 512 /* so that the 16-byte accesses of a warp stay whole */

static WSH_DEV struct wsh_dev_range wsh_dev_share(size_t len)
{
    return wsh_dev_part(wsh_dev_range{0, len}, WSH_SHARE_UNIT, blockIdx.x, gridDim.x);
}

/* A put by all blocks, each its share. What the GPU does not reach the first block asks the proxy for. */
template <int S>
static WSH_DEV void wsh_dev_put_share(const char *what, void *dest, const void *source, size_t len, int pe)
{
    struct wsh_dev_range mine = wsh_dev_share(len);
    uint64_t to;

    if (!len)
        return;
    to = wsh_dev_reach_or_request(what, dest, len, pe, false);
    if (!to) {
        if (blockIdx.x == 0)
            wsh_dev_put_any<S, true>(what, dest, source, len, pe);
        return;
    }
    wsh_dev_check_local(what, source, len);
    wsh_dev_store<S>(to + mine.begin, (const char *)source + mine.begin, mine.end - mine.begin);
}

template <int S>
static WSH_DEV void wsh_dev_get_share(const char *what, void *dest, const void *source, size_t len, int pe)
{
    struct wsh_dev_range mine = wsh_dev_share(len);
    uint64_t from;

    if (!len)
        return;
    from = wsh_dev_reach_or_request(what, source, len, pe, false);
    if (!from) {
        if (blockIdx.x == 0)
            wsh_dev_get_any<S, true>(what, dest, source, len, pe);
        return;
    }
    wsh_dev_check_local(what, dest, len);
    wsh_dev_copy<S, wsh_dev_from_peer>((char *)dest + mine.begin, (const char *)from + mine.begin,
                                       mine.end - mine.begin);
}

#endif
