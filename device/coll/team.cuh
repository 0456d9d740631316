/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronization of the members of a team in device code: each call enters the team's next epoch, whose number lies
 * in the team's sync area (view.h), and each member sets a flag, a word in the sync area of each other member, that
 * says how far it is.
 *
 * The ordering argument is the one of ptx.cuh: the lanes store and meet at a barrier of their scope; the lanes that
 * set words release first; those that poll acquire once all words hold, and let the others go at a barrier.
 */
#ifndef WSH_DEVICE_TEAM_CUH
#define WSH_DEVICE_TEAM_CUH

#include "../core/order.cuh"
#include "../core/wait.cuh"

/* The team of a call, and the epoch it is in. */
struct wsh_dev_group {
    const char *what;
    uint64_t area; /* this PE's: a symmetric address */
    int my_pe, n_pes;
    uint32_t ll; /* bytes of LL lines from one member to another and parity */
    uint64_t epoch;
};

inline WSH_DEV_CALL struct wsh_dev_group wsh_dev_group_find(const char *what, shmem_team_t team)
{
    uint64_t area = wsh_dev_area_find((uint64_t)team);
    const struct wsh_device_team_header *header = (const struct wsh_device_team_header *)area;

    if (!area)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_HANDLE, -1, (const void *)team, 0);
    return wsh_dev_group{what, area, header->my_pe, header->n_pes, (uint32_t)header->ll, 0};
}

static WSH_DEV struct wsh_dev_group wsh_dev_group_of(const char *what, shmem_team_t team)
{
    if (team != SHMEM_TEAM_WORLD || !wsh_device_view.world)
        return wsh_dev_group_find(what, team);
    return wsh_dev_group{what, wsh_device_view.world, wsh_device_view.my_pe, wsh_device_view.n_pes,
                         (uint32_t)wsh_device_view.world_ll, 0};
}

/* The i-th member after this one, cyclically, so that members do not all begin with the same one. */
static WSH_DEV int wsh_dev_after_me(const struct wsh_dev_group &group, unsigned i)
{
    int member = group.my_pe + 1 + (int)i;

    return member < group.n_pes ? member : member - group.n_pes;
}

/* This member for 0, then the others. */
static WSH_DEV int wsh_dev_from_me(const struct wsh_dev_group &group, unsigned i)
{
    return i ? wsh_dev_after_me(group, i - 1) : group.my_pe;
}

/* Members on several hosts: such a team has no LL lines. Its calls are hosts.cuh's. */
static WSH_DEV bool wsh_dev_has_hosts(const struct wsh_dev_group &group)
{
    return !group.ll;
}

/* Whether the job is on several hosts: one word of constant memory, which is all that a job of one host asks. */
static WSH_DEV bool wsh_dev_job_has_hosts(const char *what)
{
    bool has = !wsh_device_view.world_ll;

    if (SHMEMX_ONE_HOST && has)
        wsh_dev_refuse(what, WSH_DEVICE_ONE_HOST, -1, nullptr, 0);
    return !SHMEMX_ONE_HOST && has;
}

/* Whether a call's team is on several hosts. Tested first, so that no registers are held across the following call. */
static WSH_DEV bool wsh_dev_spans_hosts(const char *what, shmem_team_t team)
{
    return wsh_dev_job_has_hosts(what) && wsh_dev_has_hosts(wsh_dev_group_of(what, team));
}

/* A member's PE in the world. */
static WSH_DEV int wsh_dev_member_pe(const struct wsh_dev_group &group, int member)
{
    return group.area == wsh_device_view.world ? member
                                              : ((const int32_t *)(group.area + WSH_DEVICE_SYNC_AREA_MEMBERS))[member];
}

/* What lies at symmetric address `sym` of a member. */
static WSH_DEV uint64_t wsh_dev_member(const struct wsh_dev_group &group, const void *sym, size_t len, int member)
{
    return wsh_dev_reach(group.what, sym, len, wsh_dev_member_pe(group, member));
}

static WSH_DEV uint64_t wsh_dev_member_area(const struct wsh_dev_group &group, int member)
{
    return wsh_dev_member(group, (const void *)group.area, sizeof(struct wsh_device_team_header), member);
}

/* The word that member `from` sets in the sync area at `area`. */
static WSH_DEV uint64_t *wsh_dev_word_from(const struct wsh_dev_group &group, uint64_t area, int from)
{
    return (uint64_t *)(area + WSH_DEVICE_SYNC_AREA_WORDS(group.n_pes)) + from;
}

/* What the words hold in this epoch. */
static WSH_DEV uint64_t wsh_dev_arrived(const struct wsh_dev_group &group)
{
    return 2 * group.epoch;
}

static WSH_DEV uint64_t wsh_dev_done(const struct wsh_dev_group &group)
{
    return 2 * group.epoch + 1;
}

/* The lanes that set and await flags: a thread, or one warp. The functions below run in these lanes alone. */
template <int S> static WSH_DEV unsigned wsh_dev_signallers()
{
    return S == WSH_THREAD ? 1 : wsh_dev_warp_threads();
}

template <int S> static WSH_DEV unsigned wsh_dev_signaller()
{
    return S == WSH_THREAD ? 0 : wsh_ptx_lane();
}

/* Sets this member's flag at all others to `value`; orders nothing. */
template <int S> static WSH_DEV void wsh_dev_signal_members(const struct wsh_dev_group &group, uint64_t value)
{
#pragma unroll 1
    for (unsigned i = wsh_dev_signaller<S>(); i + 1 < (unsigned)group.n_pes; i += wsh_dev_signallers<S>())
        wsh_ptx_put(wsh_dev_word_from(group, wsh_dev_member_area(group, wsh_dev_after_me(group, i)), group.my_pe),
                    value);
}

template <int S> static WSH_DEV bool wsh_dev_any_signaller(bool says)
{
    return S == WSH_THREAD ? says : wsh_ptx_any(says);
}

/* Waits until the flags of all members but this one and `but` have reached `value`; acquires. A warp polls together. */
template <int S>
static WSH_DEV void wsh_dev_await_flags(const struct wsh_dev_group &group, uint64_t value, int but = -1)
{
    struct wsh_dev_patience patience = {{group.what, nullptr, value, SHMEM_CMP_GE, 0}, 0};

#pragma unroll 1
    for (int base = 0; base < group.n_pes; base += (int)wsh_dev_signallers<S>()) {
        int from = base + (int)wsh_dev_signaller<S>();
        bool mine = from < group.n_pes && from != group.my_pe && from != but;
        const uint64_t *word = wsh_dev_word_from(group, group.area, mine ? from : 0);

        patience.wait.word = word;
        while (wsh_dev_any_signaller<S>(mine && (int64_t)(wsh_ptx_poll(word) - value) < 0))
            wsh_dev_wait_longer(&patience);
    }
    wsh_ptx_acquire();
}

/* All lanes: a barrier of the team. Every member sees what the lanes stored before, once all flags are `value`. */
template <int S> static WSH_DEV void wsh_dev_sync_members(const struct wsh_dev_group &group, uint64_t value)
{
    wsh_dev_sync<S>();
    if (wsh_dev_is_poller<S>()) {
        wsh_ptx_release();
        wsh_dev_signal_members<S>(group, value);
        wsh_dev_await_flags<S>(group, value);
    }
    wsh_dev_sync<S>();
}

/*
 * LL lines know an epoch by 32 bits: before any such number comes again all LL lines are zeroed, while nobody writes to
 * them. An epoch of its own, every 2^30.
 */
#define WSH_SWEEP_MASK 0x3fffffffu

template <int S> static WSH_DEV void wsh_dev_ll_clear(const struct wsh_dev_group &group)
{
    uint4 *line = (uint4 *)(group.area + WSH_DEVICE_SYNC_AREA_LL(group.n_pes));
    size_t n = (size_t)2 * (size_t)group.n_pes * group.ll / sizeof *line;

#pragma unroll 1
    for (size_t i = wsh_dev_lane<S>(); i < n; i += wsh_dev_size<S>())
        line[i] = make_uint4(0, 0, 0, 0);
}

/* A loop, since the synchronization is long code for what hardly ever runs. */
template <int S> WSH_DEV_CALL void wsh_dev_sweep(struct wsh_dev_group *group)
{
#pragma unroll 1
    for (unsigned done = 0; done < 2; done++) {
        if (done)
            wsh_dev_ll_clear<S>(*group);
        wsh_dev_sync_members<S>(*group, wsh_dev_arrived(*group) + done);
    }
    group->epoch++;
}

/* All lanes: stores the epoch for the next call. A barrier comes between every lane's reading of it and this. */
template <int S> static WSH_DEV void wsh_dev_epoch_count(const struct wsh_dev_group &group)
{
    if (wsh_dev_lane<S>() == 0)
        wsh_ptx_put(&((struct wsh_device_team_header *)group.area)->epoch, group.epoch);
}

/* The next epoch of a call that is in one, not counted yet. */
template <int S> static WSH_DEV void wsh_dev_epoch_step(struct wsh_dev_group *group)
{
    group->epoch++;
    if (!((uint32_t)group->epoch & WSH_SWEEP_MASK)) {
        struct wsh_dev_group held = *group; /* across the call in memory, else in registers */

        wsh_dev_sweep<S>(&held);
        *group = held;
    }
}

/* The same, counted. A barrier of the scope. */
template <int S> static WSH_DEV void wsh_dev_epoch_advance(struct wsh_dev_group *group)
{
    wsh_dev_epoch_step<S>(group);
    wsh_dev_sync<S>();
    wsh_dev_epoch_count<S>(*group);
}

/* The epoch of the team's last call. */
static WSH_DEV uint64_t wsh_dev_epoch(const struct wsh_dev_group &group)
{
    return wsh_ptx_poll(&((const struct wsh_device_team_header *)group.area)->epoch);
}

/*
 * A call begins. Two barriers of the scope: a lane may have made a call by itself before, while the others were on
 * their way to this one, and counts the epoch; and what other lanes have stored is there for all.
 */
template <int S> static WSH_DEV struct wsh_dev_group wsh_dev_group_enter(const char *what, shmem_team_t team)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);

    wsh_dev_sync<S>();
    group.epoch = wsh_dev_epoch(group);
    wsh_dev_epoch_advance<S>(&group);
    return group;
}

/*
 * Sets and awaits the flags, where the lanes that do so have released after a barrier. The epoch is stored after the
 * flags are set, so that no release waits for it.
 */
template <int S> static WSH_DEV void wsh_dev_sync_members_released(const struct wsh_dev_group &group, uint64_t value)
{
    if (wsh_dev_is_poller<S>()) {
        wsh_dev_signal_members<S>(group, value);
        wsh_dev_epoch_count<S>(group);
        wsh_dev_await_flags<S>(group, value);
    }
    wsh_dev_sync<S>();
}

/* Sets a flag that one store may not reach: the proxy does so after all that this block has asked of it for the PE. */
inline WSH_DEV_CALL void wsh_dev_word_set_any(const char *what, const uint64_t *word, uint64_t value, int pe)
{
    uint64_t at = wsh_dev_reach_or_request(what, word, sizeof *word, pe, false);
    struct wsh_dev_request request;
    unsigned words;

    if (at) {
        wsh_ptx_put((uint64_t *)at, value);
        return;
    }
    request = wsh_dev_request_of_amo(WSH_AMO_SET, false, (uint64_t)word, value, 0, sizeof *word, pe, &words);
    request.first_a |= WSH_RING_FENCED;
    wsh_dev_request_word(request, words, false);
}

/* wsh_dev_sync_members for a team on several hosts. The group lies in memory, to hold no registers across calls. */
template <int S> WSH_DEV_CALL void wsh_dev_hosts_sync(const struct wsh_dev_group &group, uint64_t value)
{
    wsh_dev_sync<S>();
    if (wsh_dev_is_poller<S>()) {
        wsh_ptx_release();
#pragma unroll 1
        for (unsigned i = wsh_dev_signaller<S>(); i + 1 < (unsigned)group.n_pes; i += wsh_dev_signallers<S>())
            wsh_dev_word_set_any(group.what, wsh_dev_word_from(group, group.area, group.my_pe), value,
                                 wsh_dev_member_pe(group, wsh_dev_after_me(group, i)));
        wsh_dev_await_flags<S>(group, value);
    }
    wsh_dev_sync<S>();
}

/* As wsh_dev_group_enter: a call of such a team begins, or of any whose group is to be in memory. */
template <int S>
WSH_DEV_CALL void wsh_dev_hosts_group_enter(struct wsh_dev_group *group, const char *what, shmem_team_t team)
{
    *group = wsh_dev_group_of(what, team);
    wsh_dev_sync<S>();
    group->epoch = wsh_dev_epoch(*group) + 1;
    if (!wsh_dev_has_hosts(*group) && !((uint32_t)group->epoch & WSH_SWEEP_MASK)) {
        wsh_dev_sweep<S>(group);
    }
    wsh_dev_sync<S>();
    wsh_dev_epoch_count<S>(*group);
}

/* In a job of several hosts, on any team: what was asked of the proxy is completed first. */
template <int S> WSH_DEV_CALL void wsh_dev_barrier_hosts(const char *what, shmem_team_t team)
{
    struct wsh_dev_group group;

    wsh_dev_quiet<S>();
    wsh_dev_hosts_group_enter<S>(&group, what, team);
    wsh_dev_hosts_sync<S>(group, wsh_dev_arrived(group));
}

/*
 * Barrier and sync in a job of one host: one release covers whatever any lane of the scope has stored to any PE. It
 * proceeds while the epoch is read; to compute the members' addresses first would start it later, and takes 80 ns more
 * (H200).
 */
template <int S, bool OWN> static WSH_DEV void wsh_dev_meet_here(const char *what, shmem_team_t team)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);

    wsh_dev_sync<S>();
    group.epoch = wsh_dev_epoch(group);
    if (wsh_dev_is_poller<S>() && OWN)
        wsh_ptx_release_own();
    else if (wsh_dev_is_poller<S>())
        wsh_ptx_release();
    wsh_dev_epoch_step<S>(&group);
    wsh_dev_sync_members_released<S>(group, wsh_dev_arrived(group));
}

template <int S> WSH_DEV_CALL void wsh_dev_barrier_here(const char *what, shmem_team_t team)
{
    wsh_dev_meet_here<S, false>(what, team);
}

/* A sync that promises no more than the specification: what the caller has stored to its own device memory is seen. */
template <int S> WSH_DEV_CALL void wsh_dev_sync_here(const char *what, shmem_team_t team)
{
    wsh_dev_meet_here<S, true>(what, team);
}

/* SYNC: of a unit that asks for no more (view.h). */
template <int S, bool SYNC = false> static WSH_DEV void wsh_dev_barrier(const char *what, shmem_team_t team)
{
    if (wsh_dev_job_has_hosts(what))
        wsh_dev_barrier_hosts<S>(what, team);
    else if (SYNC && !SHMEMX_SYNC_IS_BARRIER)
        wsh_dev_sync_here<S>(what, team);
    else
        wsh_dev_barrier_here<S>(what, team);
}

#endif
