/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of kernels on teams whose members are on several hosts: the very code of device/coll/coll.cuh and its kin
 * at each scope, CPU threads for lanes, sync areas and arrays in host memory; the proxy, its context and the transports
 * are the real ones. One team has a handle made of its number. A team of one host goes by LL lines and stores, its
 * barriers as in jobs of several hosts and of one. Every kind of call follows every other without a pause, on teams of
 * several shapes, of every length from nothing to more than a record or a member's buffer in the sync area holds, in
 * place too; alltoallv with counts of every kind, and too little room; a barrier completes puts.
 *
 * paths: fakegpumixed:4 fakegpumixedefa:2
 * long paths: fakegpumixed:2
 * timeout: 240
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#define WSH_VECTOR_LINES 120 /* as many as some blocks of the tests take, with few lanes */
#include "device/coll/vector/alltoallv.cuh"
#include "device/coll/collect.cuh"
#include "device/coll/scan.cuh"
#include "test/device/vector_counts.h"

#include <shmemx.h>

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn

#include <algorithm>

enum { PES = 8, MOST = 20011, STAGE = 384, LINES = 16384, AREA = 16384, MATES = 4 };

static const unsigned lanes[] = {1, 5, 8}; /* by scope */
static const size_t lengths[] = {0, 1, 33, 97, MOST};

/* As device code finds them: a sync area each, in the same place of every PE's heap. */
struct team {
    const char *name;
    shmem_team_t handle;
    struct wsh_device_team_header *header;
    int my_pe, n_pes; /* n_pes 0: this PE is no member */
};

static struct wsh_ring_heads heads;
static struct wsh_device_locks locks;
static struct wsh_device_team_row rows[WSH_DEVICE_TEAM_ROWS + 1];
static uint32_t *dest, *source; /* [PES * MOST] */

/* Memory of this host's PEs as GPUs have each other's. What lies in the fake GPU's memory only its own threads see. */
static void take_state()
{
    static uint8_t slots[PES];
    static uint64_t where[PES];
    struct wsh_device_seg *host = &wsh_device_view.seg[WSH_DEVICE_SEG_HEAP];

    for (int pe = 0; pe < mp_npes; pe++) {
        char *at = (char *)shmem_ptr(dest, pe);

        slots[pe] = at ? (uint8_t)pe : WSH_DEVICE_NO_SLOT;
        where[pe] = host->base + (at ? (uint64_t)(at - (char *)dest) : 0);
    }
    wsh_device_view.ring_heads = (uint64_t)&heads;
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.teams = (uint64_t)rows;
    wsh_device_view.slots = (uint64_t)slots;
    wsh_device_view.ranges = 0;
    wsh_device_view.world_ll = 0;
    wsh_device_view.run_count = 0;
    host->where = (uint64_t)where;
    host->stride = 0;
}

/* Of PEs first, first + step, …; on several hosts, or with `ll` bytes of LL lines a pair. Collective. */
static struct team make_team(const char *name, shmem_team_t handle, int first, int step, int n, unsigned ll = 0)
{
    size_t len = ll > STAGE ? AREA + 2 * MATES * LINES : AREA;
    struct wsh_device_team_header *header = (struct wsh_device_team_header *)mp_alloc(len);
    int32_t *members = (int32_t *)((char *)header + WSH_DEVICE_SYNC_AREA_MEMBERS);
    struct team team = {name, handle, header, -1, 0};

    mp_check(WSH_DEVICE_SYNC_AREA_LL(n) + 2 * (unsigned)n * (ll ? ll : STAGE) <= len, "a pad of %d members fits", n);
    for (int i = 0; i < n; i++) {
        members[i] = first + i * step;
        if (members[i] == mp_me)
            team.my_pe = i;
    }
    if (team.my_pe >= 0)
        team.n_pes = n;
    *header = wsh_device_team_header{};
    header->epoch = 0x7ffffff0; /* LL lines are swept soon; words grow beyond 32 bits */
    header->my_pe = team.my_pe;
    header->n_pes = n;
    header->stage = STAGE;
    header->ll = ll;
    if (handle == SHMEM_TEAM_WORLD)
        wsh_device_view.world = (uint64_t)header;
    else if ((uint64_t)handle <= WSH_DEVICE_TEAM_LAST) /* by number */
        rows[WSH_DEVICE_TEAM_ROWS] = wsh_device_team_row{
            AREA, (uint64_t)header - ((uint64_t)handle - 1 - WSH_DEVICE_TEAM_FIRST) * AREA};
    else
        rows[WSH_DEVICE_TEAM_HASH((uint64_t)handle)] = wsh_device_team_row{(uint64_t)handle, (uint64_t)header};
    return team;
}

/* Element i of what member `from` has for member `to`. */
static uint32_t value(unsigned round, int from, int to, size_t i)
{
    return round * 2654435761u + (unsigned)from * 40503u + (unsigned)to * 977u + (unsigned)i * 31u;
}

static void fill(const struct team &t, unsigned round, size_t n)
{
    for (size_t i = 0; i < n * (size_t)t.n_pes; i++)
        source[i] = value(round, t.my_pe, n ? (int)(i / n) : 0, n ? i % n : 0);
}

/* `len` elements of dest, or of another array, by a function of their number. */
template <class WANT>
static void look(const struct team &t, const char *what, const uint32_t *got, size_t len, WANT want)
{
    size_t wrong = 0, first = 0;

    for (size_t i = 0; i < len; i++)
        if (got[i] != want(i) && !wrong++)
            first = i;
    mp_check(!wrong, "%s, team %s, %zu elements: %zu wrong, first number %zu", what, t.name, len, wrong, first);
}

template <int S> static void barrier(const struct team &t)
{
    cpu_block_run(lanes[S], [t] { wsh_dev_barrier<S>("barrier", t.handle); });
}

template <int S> static void exchanges(const struct team &t, unsigned round, size_t n)
{
    int me = t.my_pe, root = (int)(round % (unsigned)t.n_pes);

    fill(t, round, n);
    cpu_block_run(lanes[S], [=] { wsh_dev_alltoall<S>("alltoall", t.handle, dest, source, n * 4); });
    look(t, "alltoall", dest, n * (size_t)t.n_pes, [=](size_t i) { return value(round, (int)(i / n), me, i % n); });
    barrier<S>(t);
    cpu_block_run(lanes[S], [=] { wsh_dev_fcollect<S>("fcollect", t.handle, dest, source, n * 4); });
    look(t, "fcollect", dest, n * (size_t)t.n_pes, [=](size_t i) { return value(round, (int)(i / n), 0, i % n); });
    barrier<S>(t);
    cpu_block_run(lanes[S], [=] { wsh_dev_broadcast_to<S>("broadcast", t.handle, dest, source, n * 4, root); });
    look(t, "broadcast", dest, n, [=](size_t i) { return value(round, root, 0, i); });
    barrier<S>(t);
}

/* Elements that member `from` has in a collect: nothing, a few, or n. */
static size_t share(unsigned round, int from, size_t n)
{
    return (round + (unsigned)from) % 3 == 0 ? 0 : n / (1 + (unsigned)from % 2);
}

template <int S> static void uneven(const struct team &t, unsigned round, size_t n)
{
    const struct wsh_dev_strides s = {3, 2, n / 3};
    size_t at = 0;

    cpu_block_run(lanes[S], [=] {
        wsh_dev_collect<S>("collect", t.handle, dest, source, share(round, t.my_pe, n) * 4);
    });
    for (int from = 0; from < t.n_pes; at += share(round, from, n), from++)
        look(t, "collect", dest + at, share(round, from, n), [=](size_t i) { return value(round, from, 0, i); });
    barrier<S>(t);
    std::fill(dest, dest + 3 * s.nelems * (size_t)t.n_pes, 77u);
    barrier<S>(t);
    cpu_block_run(lanes[S], [=] { wsh_dev_alltoalls<S, 4>("alltoalls", t.handle, dest, source, s); });
    look(t, "alltoalls", dest, 3 * s.nelems * (size_t)t.n_pes, [=](size_t i) {
        size_t at = 2 * (i / 3 % s.nelems + (size_t)t.my_pe * s.nelems);

        return i % 3 ? 77u : value(round, (int)(i / 3 / s.nelems), (int)(at / n), at % n);
    });
    barrier<S>(t);
}

/* What members first … last have for member `to`, added up. */
static uint32_t total(unsigned round, int last, int to, size_t i)
{
    uint32_t sum = 0;

    for (int from = 0; from <= last; from++)
        sum += value(round, from, to, i);
    return sum;
}

template <int S> static void sums(const struct team &t, unsigned round, size_t n)
{
    typedef wsh_dev_kind<uint32_t> K;
    bool exclusive = round % 2;

    n = std::min(n, (size_t)1500); /* fifteen buffers */
    fill(t, round, n);

    cpu_block_run(lanes[S], [=] { wsh_dev_reduce_scatter<S, K>("scatter", t.handle, WSH_SUM, dest, source, n); });
    look(t, "reducescatter", dest, n, [=](size_t i) { return total(round, t.n_pes - 1, t.my_pe, i); });
    cpu_block_run(lanes[S], [=] { wsh_dev_scan<S, K>("scan", t.handle, dest, source, n, exclusive); });
    look(t, "scan", dest, n, [=](size_t i) { return total(round, t.my_pe - (exclusive ? 1 : 0), 0, i); });
    barrier<S>(t);
    cpu_block_run(lanes[S], [=] { wsh_dev_reduce_all<S, K>("reduce", t.handle, WSH_SUM, dest, source, n); });
    look(t, "reduce", dest, n, [=](size_t i) { return total(round, t.n_pes - 1, 0, i); });
    cpu_block_run(lanes[S], [=] { wsh_dev_reduce_all<S, K>("reduce", t.handle, WSH_SUM, source, source, n); });
    look(t, "reduce in place", source, n, [=](size_t i) { return total(round, t.n_pes - 1, 0, i); });
    barrier<S>(t);
}

/* Alltoallv where both sides know the counts, in rounds of every kind; `wide`: by all blocks of a kernel. */
template <int S> static void vectors(const struct team &t, unsigned round, size_t most, bool wide)
{
    int me = t.my_pe, n = t.n_pes;
    size_t counts[4][PES];

    for (int i = 0; i < n; i++) {
        counts[0][i] = vector_count(round, me, i, n, most);
        counts[1][i] = vector_source_at(round, me, i, n, most);
        counts[2][i] = vector_count(round, i, me, n, most);
        counts[3][i] = vector_dest_at(round, i, me, n, most);
        for (size_t k = 0; k < counts[0][i]; k++)
            source[counts[1][i] + k] = vector_value(round, me, i, k);
    }
    const struct wsh_dev_vector v = {(char *)dest, (const char *)source, counts[0], counts[1], counts[2],
                                     counts[3],    nullptr,              0,         0,         4};
    std::fill(dest, dest + (size_t)n * (most + 1) + 8, 77u);
    barrier<S>(t);
    cpu_grid_run(wide ? 3 : 1, lanes[S], [=] {
        if (wide)
            wsh_dev_alltoallv_wide<S>("alltoallv", t.handle, v);
        else
            mp_check(!wsh_dev_alltoallv<S>("alltoallv", t.handle, v), "alltoallv returns 0");
    });
    for (int from = n - 1; from >= 0; from--) {
        look(t, "alltoallv", dest + counts[3][from], counts[2][from],
             [=](size_t i) { return vector_value(round, from, me, i); });
        look(t, "alltoallv, behind a block", dest + counts[3][from] + counts[2][from], 1, [](size_t) { return 77u; });
    }
    barrier<S>(t);
}

/* The same where senders alone know, at some PEs with too little room. */
template <int S> static void packed(const struct team &t, unsigned round, size_t most, bool wide)
{
    int me = t.my_pe, n = t.n_pes;
    size_t counts[4][PES], need = 0, end = vector_packed_at(round, n, me, n, most);
    size_t max = vector_dest_max(round, me, n, most), align = vector_align(round);
    bool fits = end <= max;

    for (int i = 0; i < n; i++) {
        counts[0][i] = vector_count(round, me, i, n, most);
        counts[1][i] = vector_source_at(round, me, i, n, most);
        for (size_t k = 0; k < counts[0][i]; k++)
            source[counts[1][i] + k] = vector_value(round, me, i, k);
    }
    const struct wsh_dev_vector v = {(char *)dest, (const char *)source, counts[0], counts[1], counts[2],
                                     counts[3],    &need,                max,       align,     4};
    std::fill(dest, dest + end + 8, 77u);
    barrier<S>(t);
    cpu_grid_run(wide ? 3 : 1, lanes[S], [=] {
        if (wide)
            wsh_dev_alltoallv_wide<S>("packed", t.handle, v);
        else
            mp_check(wsh_dev_alltoallv<S>("packed", t.handle, v) == (fits ? 0 : 1), "the status of round %u", round);
    });
    mp_check(need == end, "team %s, round %u: %zu elements are needed, not %zu", t.name, round, end, need);
    for (int from = 0; from < n; from++) {
        mp_check(counts[2][from] == vector_count(round, from, me, n, most) &&
                     counts[3][from] == vector_packed_at(round, from, me, n, most),
                 "team %s, round %u: %zu elements at %zu from member %d", t.name, round, counts[2][from],
                 counts[3][from], from);
        look(t, "packed", dest + counts[3][from], counts[2][from],
             [=](size_t i) { return fits ? vector_value(round, from, me, i) : 77u; });
    }
    look(t, "packed, behind all", dest + end, 8, [](size_t) { return 77u; });
    barrier<S>(t);
}

/*
 * Short blocks, and some that are longer than LL lines, or a record, holds, or that only a sender of many lanes sends by
 * them; some members by a block what others do by a kernel.
 */
template <int S> static void vector_rounds(const struct team &t, int n)
{
    for (unsigned round = 0; round < (unsigned)n && t.n_pes; round++) {
        size_t most = round % 8 == 5 ? MOST / 2 : round % 4 >= 2 ? 1900 : round % 2 ? 300 : 40;
        unsigned way = round / 2 + (unsigned)t.my_pe * (round / 4 % 2);

        vectors<S>(t, round, most, way % 2);
        packed<S>(t, round, most, way / 2 % 2);
    }
    shmem_barrier_all();
}

/* Every member's element at every other, by each lane in turn. */
template <int S> static void after_puts(const struct team &t, unsigned round)
{
    const int32_t *members = (const int32_t *)((const char *)t.header + WSH_DEVICE_SYNC_AREA_MEMBERS);

    cpu_block_run(lanes[S], [=] {
        for (int to = (int)wsh_dev_lane<S>(); to < t.n_pes; to += (int)lanes[S])
            wsh_dev_p<uint32_t>("p", dest + t.my_pe, value(round, t.my_pe, to, 7), members[to]);
        wsh_dev_barrier<S>("barrier", t.handle);
    });
    look(t, "puts before a barrier", dest, (size_t)t.n_pes, [=](size_t i) { return value(round, (int)i, t.my_pe, 7); });
    barrier<S>(t);
}

template <int S> static void scope(const struct team &t)
{
    unsigned round = 1;

    for (size_t n : lengths)
        for (int again = 0; again < mp_rounds(1, 5) && t.n_pes; again++, round++) {
            exchanges<S>(t, round, n);
            if (!t.header->ll) /* LL lines for no bytes: a division by 0, which a CPU minds */
                uneven<S>(t, round, n);
            sums<S>(t, round, n);
            after_puts<S>(t, round);
        }
    shmem_barrier_all();
}

int main(void)
{
    mp_begin();
    dest = (uint32_t *)mp_alloc(PES * MOST * sizeof *dest);
    source = (uint32_t *)mp_alloc(PES * MOST * sizeof *source);
    if (mp_check(mp_npes <= PES && shmemx_malloc_device(64) && wsh_device_view.rings, "no rings to a proxy")) {
        int mates = shmem_team_n_pes(SHMEM_TEAM_SHARED), first = shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0,
                                                                                            SHMEM_TEAM_WORLD);

        take_state();
        const struct team teams[] = {make_team("world", SHMEM_TEAM_WORLD, 0, 1, mp_npes),
                                     make_team("reverse", (shmem_team_t)0x1230, mp_npes - 1, -1, mp_npes),
                                     make_team("even", SHMEMX_TEAM(7), 0, 2, (mp_npes + 1) / 2),
                                     make_team("of one host", (shmem_team_t)0x7890, first, 1, mates, STAGE)};
        const struct team wider = make_team("of one host, more LL lines", (shmem_team_t)0x4560, first, 1, mates, LINES);

        mp_check(wsh_dev_team_number((uint64_t)teams[2].handle) == 7 &&
                     wsh_dev_team_of(teams[2].handle).n_pes == (mp_npes + 1) / 2,
                 "team number 7 is another one in kernels");
        shmem_barrier_all();
        for (const struct team &t : teams) {
            scope<WSH_THREAD>(t);
            scope<WSH_WARP>(t);
            scope<WSH_BLOCK>(t);
            vector_rounds<WSH_THREAD>(t, mp_rounds(4, 100));
            vector_rounds<WSH_BLOCK>(t, mp_rounds(16, 500));
        }
        vector_rounds<WSH_BLOCK>(wider, mp_rounds(32, 1000));
        wsh_device_view.world_ll = STAGE; /* as in a job of one host, whose barrier counts on a warp's common step */
        scope<WSH_THREAD>(teams[3]);
    }
    return mp_end();
}
