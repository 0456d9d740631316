/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans among members on several hosts. Data is first sent to the member that combines it, into that
 * member's sync area: a piece an epoch, into one of two buffers in turn. As with LL lines, a buffer is written again
 * two epochs later: members set their flags of an epoch once they have read all of the one before, and each awaits the
 * flags of every other in between.
 */
#ifndef WSH_DEVICE_HOSTS_COMBINE_CUH
#define WSH_DEVICE_HOSTS_COMBINE_CUH

#include "choice.h"
#include "hosts.cuh"
#include "numbers.cuh"

/* What a member combines: a slice of a result for all; its own part; all, of the members up to it or before it. */
enum wsh_dev_combines { WSH_SLICES, WSH_OWN_PART, WSH_UP_TO_ME, WSH_BEFORE_ME, WSH_WHOLE };

/* A call that combines. */
struct wsh_dev_combination {
    struct wsh_dev_hosts call;
    enum wsh_dev_combines form;
    int op;
    int last; /* the members' parts up to this one's */
    size_t off; /* of the present piece in each part */
    struct wsh_dev_range piece; /* this member's */
};

/* What a buffer holds of member `member`'s part. */
static WSH_DEV struct wsh_dev_range wsh_dev_piece(const struct wsh_dev_combination &sum, int member)
{
    size_t room = wsh_dev_stage_room(sum.call.group), len = wsh_dev_scatter_len(sum.call.shares, member);
    size_t begin = sum.off < len ? sum.off : len, end = len - begin < room ? len : begin + room;

    return wsh_dev_range{(size_t)member * sum.call.shares.stride + begin,
                         (size_t)member * sum.call.shares.stride + end};
}

/* All lanes: to every other member its piece. */
template <int S> WSH_DEV_CALL void wsh_dev_hosts_send(const struct wsh_dev_combination &sum)
{
#pragma unroll 1
    for (unsigned i = 0; i + 1 < (unsigned)sum.call.group.n_pes; i++) {
        int to = wsh_dev_after_me(sum.call.group, i);
        struct wsh_dev_range piece = wsh_dev_piece(sum, to);

        wsh_dev_hosts_put<S>(sum.call.group, wsh_dev_stage_from(sum.call.group, sum.call.group.my_pe),
                             sum.call.source + piece.begin, piece.end - piece.begin, to);
    }
}

/* All lanes: this member's piece of the result, which is in its dest, to all others. */
template <int S> WSH_DEV_CALL void wsh_dev_hosts_allgather(const struct wsh_dev_combination &sum)
{
    wsh_dev_sync<S>();
#pragma unroll 1
    for (unsigned i = 0; i + 1 < (unsigned)sum.call.group.n_pes; i++)
        wsh_dev_hosts_put<S>(sum.call.group, sum.call.dest + sum.piece.begin, sum.call.dest + sum.piece.begin,
                             sum.piece.end - sum.piece.begin, wsh_dev_after_me(sum.call.group, i));
}

/* What member `from` gave for place `at` of this member's piece. */
static WSH_DEV const char *wsh_dev_hosts_from(const struct wsh_dev_combination &sum, int from, size_t at)
{
    return at + (from == sum.call.group.my_pe ? sum.call.source + sum.piece.begin
                                              : wsh_dev_stage_from(sum.call.group, from));
}

/* This member's piece combined; its own source is read before the same lane writes dest. */
template <int S, class K> WSH_DEV_CALL void wsh_dev_hosts_fold(const struct wsh_dev_combination &sum)
{
    typedef typename K::bits V;
    size_t skip = sum.form == WSH_OWN_PART ? (size_t)sum.call.group.my_pe * sum.call.shares.stride : 0;

#pragma unroll 1
    for (size_t at = wsh_dev_lane<S>() * sizeof(V); at < sum.piece.end - sum.piece.begin;
         at += wsh_dev_size<S>() * sizeof(V)) {
        V value = V();

#pragma unroll 1
        for (int from = 0; from <= sum.last; from++) {
            V next = wsh_ptx_get((const V *)wsh_dev_hosts_from(sum, from, at));

            value = from ? wsh_dev_fold_one<K>(sum.op, value, next) : next;
        }
        *(V *)(sum.call.dest + sum.piece.begin - skip + at) = value;
    }
}

/* Bytes of the slices of a result that members work out, at most. */
static WSH_DEV size_t wsh_dev_slice_len(const struct wsh_dev_group &group, size_t len)
{
    unsigned n = (unsigned)group.n_pes;

    return ((len + n - 1) / n + 15) / 16 * 16;
}

/* Who gets what: short results all combine for themselves. */
inline WSH_DEV_CALL void wsh_dev_hosts_plan(struct wsh_dev_combination *sum)
{
    size_t len = sum->call.shares.each, n = (size_t)sum->call.group.n_pes;
    size_t slice = wsh_dev_slice_len(sum->call.group, len);

    if (sum->form == WSH_SLICES && len <= WSH_DEVICE_CHOICE(REDUCE_HOSTS, ANY, WHOLE))
        sum->form = WSH_WHOLE;
    sum->last = sum->form == WSH_UP_TO_ME    ? sum->call.group.my_pe
                : sum->form == WSH_BEFORE_ME ? sum->call.group.my_pe - 1
                                             : (int)n - 1;
    if (sum->form == WSH_SLICES)
        sum->call.shares = wsh_dev_scatter{slice, slice, len};
    else if (sum->form == WSH_OWN_PART)
        sum->call.shares = wsh_dev_scatter{len, len, len * n};
}

/* The next piece, in another epoch. False: there is none. */
template <int S> WSH_DEV_CALL bool wsh_dev_hosts_next(struct wsh_dev_combination *sum)
{
    sum->off += wsh_dev_stage_room(sum->call.group);
    if (sum->off >= sum->call.shares.each)
        return false;
    wsh_dev_hosts_group_enter<S>(&sum->call.group, sum->call.group.what, sum->call.team);
    return true;
}

/* Combines a piece. dest may be source: a member has sent its data before another one writes the result to it. */
template <int S, class K> WSH_DEV_CALL void wsh_dev_hosts_piece(struct wsh_dev_combination *sum)
{
    sum->piece = wsh_dev_piece(*sum, sum->call.group.my_pe);
    wsh_dev_hosts_send<S>(*sum);
    wsh_dev_hosts_sync<S>(sum->call.group, wsh_dev_arrived(sum->call.group));
    wsh_dev_hosts_fold<S, K>(*sum);
    if (sum->form == WSH_SLICES)
        wsh_dev_hosts_allgather<S>(*sum);
}

template <int S, class K> WSH_DEV_CALL void wsh_dev_hosts_combine(struct wsh_dev_combination &&sum)
{
    wsh_dev_hosts_group_enter<S>(&sum.call.group, sum.call.group.what, sum.call.team);
    wsh_dev_hosts_plan(&sum);
    do
        wsh_dev_hosts_piece<S, K>(&sum);
    while (wsh_dev_hosts_next<S>(&sum));
    if (sum.form == WSH_SLICES)
        wsh_dev_hosts_sync<S>(sum.call.group, wsh_dev_done(sum.call.group));
    else
        wsh_dev_sync<S>();
}

template <int S, class K>
static WSH_DEV void wsh_dev_hosts_combined(enum wsh_dev_combines form, const char *what, shmem_team_t team, int op,
                                           void *dest, const void *source, size_t nelems)
{
    wsh_dev_hosts_combine<S, K>(
        wsh_dev_combination{wsh_dev_hosts_of(what, team, dest, source, 0, nelems * sizeof(typename K::bits)), form,
                            op, 0, 0, {0, 0}});
}

#endif
