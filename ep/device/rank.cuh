/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offset, row and counts: of each range of experts (one, those of a PE, those behind a far peer) the tokens that have
 * one of it are numbered, 32 tokens at a time by a ballot.
 */
#ifndef WSH_EP_DEVICE_RANK_CUH
#define WSH_EP_DEVICE_RANK_CUH

#include "ep/device/run.cuh"

enum { EP_RANK_STEPS = 4 }; /* times 32 tokens whose experts are loaded at once */

/* What is ranked: the experts of tokens, in topk or, where that is NULL, in metas; what a range is. */
struct ep_ranks {
    const int32_t *topk;
    char *metas;
    int first, many; /* experts */
    bool near;       /* they are of this host */
};

EP_STEP struct ep_entry *ep_rank_entry(const struct ep_run *run, const struct ep_ranks *ranks, int token,
                                       int k)
{
    return &((struct ep_meta *)(ranks->metas + (size_t)token * run->shape.meta))->entry[k];
}

EP_STEP int ep_rank_expert(const struct ep_run *run, const struct ep_ranks *ranks, int token, int k)
{
    if (ranks->topk)
        return ranks->topk[(token * (int64_t)run->shape.topk + k) << run->shape.topk_shift];
    return ep_rank_entry(run, ranks, token, k)->expert;
}

/* Which of the token's entries are in the range. */
EP_STEP unsigned ep_rank_match(const struct ep_run *run, const struct ep_ranks *ranks, int token)
{
    int topk = run->shape.topk;
    unsigned match = 0;

#pragma unroll 8
    for (int k = 0; k < topk; k++) {
        int expert = ep_rank_expert(run, ranks, token, k);

        match |= (unsigned)((unsigned)(expert - ranks->first) < (unsigned)ranks->many) << k;
    }
    return match;
}

/* One token's entries: of a range for offsets, or (FAR) for rows of images. */
template <bool FAR>
EP_STEP void ep_rank_store(const struct ep_run *run, const struct ep_ranks *ranks, int token, unsigned match,
                           int at)
{
    for (; match; match &= match - 1) {
        struct ep_entry *entry = ep_rank_entry(run, ranks, token, __ffs((int)match) - 1);

        if (FAR) {
            entry->row = at;
        } else {
            entry->offset = at;
            if (ranks->near)
                entry->row = token;
        }
    }
}

/* A warp numbers those of tokens [from, to) that are in the range, from `at` on; returns the next number. */
template <bool FAR, bool STORES>
EP_STEP int ep_rank_range(const struct ep_run *run, const struct ep_ranks *ranks, int from, int to, int at)
{
    int lane = (int)ep_lane();

#pragma unroll 1
    for (int first = from; first < to; first += EP_RANK_STEPS * EP_LANES) {
        unsigned match[EP_RANK_STEPS];

#pragma unroll
        for (int i = 0; i < EP_RANK_STEPS; i++) {
            int token = first + i * EP_LANES + lane;

            match[i] = token < to ? ep_rank_match(run, ranks, token) : 0;
        }
#pragma unroll
        for (int i = 0; i < EP_RANK_STEPS; i++) {
            unsigned all = __ballot_sync(EP_ALL_LANES, match[i] != 0);

            if (STORES)
                ep_rank_store<FAR>(run, ranks, first + i * EP_LANES + lane, match[i],
                                   at + __popc(all & ((1u << lane) - 1)));
            at += __popc(all);
        }
    }
    return at;
}

/* Warps of a block that share the tokens of one range: so many that all are busy. */
EP_STEP int ep_rank_warps(int ranges, int tokens)
{
    int warps = 1;

    while (warps < EP_WARPS && ranges * warps < (int)gridDim.x * EP_WARPS && tokens > warps * EP_LANES)
        warps *= 2;
    return warps;
}

/* How many of the range the warps before this one have found, of the `warps` that share it. All threads of a block. */
EP_STEP int ep_rank_before(int found, int warps)
{
    EP_SHARED(int, sums, EP_WARPS);
    int warp = (int)threadIdx.x / EP_LANES, before = 0;

    __syncthreads();
    if (ep_lane() == 0)
        sums[warp] = found;
    __syncthreads();
    for (int i = warp / warps * warps; i < warp; i++)
        before += sums[i];
    return before;
}

/*
 * With few PEs groups share out the tokens in place of the ranges: before the barrier each counts the rows that its own
 * have for each PE, behind it each knows what is before its own.
 */
EP_STEP bool ep_rank_by_shares(const struct ep_run *run)
{
    return run->shape.shares && gridDim.x <= EP_SHARES;
}

EP_STEP int32_t *ep_rank_shares(const struct ep_run *run)
{
    return (int32_t *)(run->arena + run->shape.shares);
}

struct ep_rank_share {
    int from, to; /* tokens; the first of all is at a multiple of the lanes */
};

EP_STEP struct ep_rank_share ep_rank_share(int tokens)
{
    int each = (int)ep_align((size_t)((tokens + (int)gridDim.x - 1) / (int)gridDim.x), EP_LANES);
    int from = (int)blockIdx.x * each, to = from + each;
    struct ep_rank_share share = {from < tokens ? from : tokens, to < tokens ? to : tokens};

    return share;
}

/* Which of the lanes' tokens have rows for PE number `lane`, in the lane of that number. */
EP_STEP unsigned ep_rank_row_bits(const struct ep_run *run, const struct ep_ranks *ranks, int token, int to)
{
    unsigned pes = 0, mine = 0;

    for (int k = 0; k < run->shape.topk && token < to; k++) {
        int expert = ep_rank_expert(run, ranks, token, k);

        if ((unsigned)expert < (unsigned)run->shape.experts)
            pes |= 1u << ep_divide(expert, run->shape.by_mine);
    }
    for (int pe = 0; pe < run->shape.n; pe++) {
        unsigned bits = __ballot_sync(EP_ALL_LANES, pes >> pe & 1);

        mine = (int)ep_lane() == pe ? bits : mine;
    }
    return mine;
}

/* The rows of a block's tokens for each PE, for all blocks. All threads. */
EP_STEP void ep_rank_share_count(const struct ep_run *run, const struct ep_ranks *ranks, int tokens)
{
    EP_SHARED(int, share_rows, EP_LANES);
    struct ep_rank_share share = ep_rank_share(tokens);
    int lane = (int)ep_lane(), rows = 0;

    if (threadIdx.x < EP_LANES)
        share_rows[lane] = 0;
    __syncthreads();
    for (int first = share.from + (int)threadIdx.x - lane; first < share.to; first += EP_THREADS)
        rows += __popc(ep_rank_row_bits(run, ranks, first + lane, share.to));
    if (rows)
        atomicAdd(share_rows + lane, rows);
    __syncthreads();
    if ((int)threadIdx.x < run->shape.n)
        ep_rank_shares(run)[(int)blockIdx.x * run->shape.n + lane] = share_rows[lane];
}

/* Offsets of the entries of a warp's tokens. bits: as above; at: of PE number `lane`, the first one's. */
EP_STEP void ep_rank_share_store(const struct ep_run *run, const struct ep_ranks *ranks, int token, int to,
                                 unsigned bits, int at)
{
    bool rows = true EP_EXPANDING(&&!ep_expanded(run));

    for (int k = 0; k < run->shape.topk; k++) {
        int expert = token < to ? ep_rank_expert(run, ranks, token, k) : -1;
        bool there = (unsigned)expert < (unsigned)run->shape.experts;
        int pe = there ? ep_divide(expert, run->shape.by_mine) : 0;
        unsigned before = __shfl_sync(EP_ALL_LANES, bits, pe) & ((1u << ep_lane()) - 1);
        int first = __shfl_sync(EP_ALL_LANES, at, pe);
        struct ep_entry *entry;

        if (!there)
            continue;
        entry = ep_rank_entry(run, ranks, token, k);
        entry->offset = first + __popc(before);
        if (rows && ep_pe_is_near(&run->shape, pe))
            entry->row = token;
    }
}

/* Offsets of a block's tokens, and by the block of the last token the counts. All threads. */
EP_STEP void ep_rank_share_offsets(const struct ep_run *run, const struct ep_ranks *ranks, int tokens,
                                   int32_t *counts)
{
    EP_SHARED(int, of_warp, EP_WARPS *EP_LANES);
    const int32_t *shares = ep_rank_shares(run);
    struct ep_rank_share share = ep_rank_share(tokens);
    int lane = (int)ep_lane(), warp = (int)threadIdx.x / EP_LANES, n = run->shape.n, at = 0;

    for (int block = 0; block < (int)blockIdx.x && lane < n; block++)
        at += __ldcg(shares + block * n + lane);
#pragma unroll 1
    for (int first = share.from; first < share.to; first += EP_THREADS) {
        int token = first + (int)threadIdx.x, mine = at;
        unsigned bits = ep_rank_row_bits(run, ranks, token, share.to);

        __syncthreads();
        of_warp[warp * EP_LANES + lane] = __popc(bits);
        __syncthreads();
        for (int i = 0; i < EP_WARPS; i++) {
            mine += i < warp ? of_warp[i * EP_LANES + lane] : 0;
            at += of_warp[i * EP_LANES + lane];
        }
        ep_rank_share_store(run, ranks, token, share.to, bits, mine);
    }
    if (share.from < share.to && share.to == tokens && (int)threadIdx.x < n)
        counts[lane * run->shape.counted] = at;
}

/* Ranges that are counted, the experts of each PE: offsets, and counts. */
EP_STEP void ep_rank_offsets(const struct ep_run *run, struct ep_ranks ranks, int tokens, int32_t *counts)
{
    const struct ep_shape *shape = &run->shape;
    int ranges = shape->n, warps = ep_rank_warps(ranges, tokens), warp = (int)threadIdx.x / EP_LANES;
    int share = (int)ep_align((size_t)((tokens + warps - 1) / warps), EP_LANES), from = warp % warps * share;
    int to = from + share < tokens ? from + share : tokens, groups = EP_WARPS / warps;

    ranks.many = shape->experts / ranges;
#pragma unroll 1
    for (int first = 0; first < ranges; first += groups * (int)gridDim.x) {
        int range = first + warp / warps * (int)gridDim.x + (int)blockIdx.x, at = 0;

        ranks.first = range * ranks.many; /* beyond the last one: no expert */
        ranks.near = ep_pe_is_near(shape, range) EP_EXPANDING(&&!ep_expanded(run));
        if (warps > 1)
            at = ep_rank_before(ep_rank_range<false, false>(run, &ranks, from, to, 0), warps);
        at = ep_rank_range<false, true>(run, &ranks, from, to, at);
        if (range < ranges && warp % warps == warps - 1 && ep_lane() == 0)
            counts[range * shape->counted] = at;
    }
}

/* Expert i of all tokens' ones. */
EP_STEP int ep_rank_choice(const struct ep_run *run, const struct ep_ranks *ranks, int i)
{
    return ranks->topk ? ranks->topk[(int64_t)i << run->shape.topk_shift]
                       : ep_rank_expert(run, ranks, i / run->shape.topk, i % run->shape.topk);
}

#ifndef EP_RANK_EXPERTS
#define EP_RANK_EXPERTS 1024 /* at a time */
#endif

struct ep_rank_found {
    const int *found; /* [many] */
    int many;
};

/*
 * How many of some choices are of each expert from `first` on, EP_RANK_EXPERTS at most: every `step`-th of all threads,
 * from number `from` to `to` - 1. All threads of a block.
 */
EP_STEP struct ep_rank_found ep_rank_found(const struct ep_run *run, const struct ep_ranks *ranks, int first, int from,
                                           int to, int step)
{
    EP_SHARED(int, found, EP_RANK_EXPERTS);
    int experts = run->shape.experts, lane = (int)threadIdx.x;
    struct ep_rank_found of = {found, experts - first < EP_RANK_EXPERTS ? experts - first : EP_RANK_EXPERTS};

    __syncthreads();
    for (int i = lane; i < of.many; i += EP_THREADS)
        found[i] = 0;
    __syncthreads();
    for (int i = from + lane; i < to; i += step) {
        unsigned at = (unsigned)(ep_rank_choice(run, ranks, i) - first);

        if (at < (unsigned)of.many)
            atomicAdd(found + at, 1);
    }
    __syncthreads();
    return of;
}

/*
 * How many tokens have each expert, behind the number of rows for its PE. Blocks share out tokens, and
 * add to counts that are zeros.
 */
EP_STEP void ep_rank_counts(const struct ep_run *run, const struct ep_ranks *ranks, int tokens,
                            int32_t *counts)
{
    const struct ep_shape *shape = &run->shape;
    int own = (int)blockIdx.x * EP_THREADS, step = (int)gridDim.x * EP_THREADS;

#pragma unroll 1
    for (int first = 0; first < shape->experts; first += EP_RANK_EXPERTS) {
        struct ep_rank_found of = ep_rank_found(run, ranks, first, own, tokens * shape->topk, step);

        for (int i = (int)threadIdx.x; i < of.many; i += EP_THREADS) {
            int32_t *of_pe = counts + (first + i) / shape->mine * shape->counted;

            if (of.found[i])
                atomicAdd(of_pe + 1 + (first + i) % shape->mine, of.found[i]);
        }
    }
}

#ifdef EP_EXPANDS
/*
 * How many tokens before each have its experts, in place of rows. Groups share out the tokens, as above: each tells how
 * many of its own have each expert, and then has a bit for each expert and each of some tokens. There are no far peers.
 */
#ifndef EP_RANK_BITS
#define EP_RANK_BITS 4096 /* words of 32 tokens: for EP_RANK_EXPERTS at least one each */
#endif

EP_STEP int32_t *ep_rank_expert_shares(const struct ep_run *run)
{
    return (int32_t *)(run->arena + run->shape.expert_shares);
}

/* All threads, before the barrier. */
EP_STEP void ep_rank_experts_count(const struct ep_run *run, const struct ep_ranks *ranks, int tokens)
{
    struct ep_rank_share share = ep_rank_share(tokens);
    int experts = run->shape.experts, topk = run->shape.topk;
    int32_t *mine = ep_rank_expert_shares(run) + (int64_t)blockIdx.x * experts;

#pragma unroll 1
    for (int first = 0; first < experts && ep_expanded(run); first += EP_RANK_EXPERTS) {
        struct ep_rank_found of = ep_rank_found(run, ranks, first, share.from * topk, share.to * topk, EP_THREADS);

        for (int i = (int)threadIdx.x; i < of.many; i += EP_THREADS)
            mine[first + i] = of.found[i];
    }
}

struct ep_rank_bits {
    unsigned *bits; /* [many][words] */
    int *before;    /* [many]: tokens that have the expert, before these */
    int first, many, words;
};

EP_STEP int ep_rank_bits_before(const unsigned *bits, int token)
{
    int before = __popc(bits[token / EP_LANES] & ((1u << token % EP_LANES) - 1));

    for (int word = 0; word < token / EP_LANES; word++)
        before += __popc(bits[word]);
    return before;
}

/* Choices of tokens from `from` to `to` - 1: of those that are of these experts, the bit or (STORES) the number. */
template <bool STORES>
EP_STEP void ep_rank_choices(const struct ep_run *run, const struct ep_ranks *ranks, const struct ep_rank_bits &of,
                             int from, int to)
{
    int topk = run->shape.topk;

    for (int i = from * topk + (int)threadIdx.x; i < to * topk; i += EP_THREADS) {
        int expert = ep_rank_choice(run, ranks, i) - of.first, token = i / topk - from;
        unsigned *bits = of.bits + expert * of.words;

        if ((unsigned)expert >= (unsigned)of.many)
            continue;
        if (STORES)
            ep_rank_entry(run, ranks, from + token, i % topk)->row =
                of.before[expert] + ep_rank_bits_before(bits, token);
        else
            atomicOr(bits + token / EP_LANES, 1u << token % EP_LANES);
    }
}

/* All threads, as below. */
EP_STEP void ep_rank_window(const struct ep_run *run, const struct ep_ranks *ranks, const struct ep_rank_bits &of,
                            int from, int to)
{
    for (int i = (int)threadIdx.x; i < of.many * of.words; i += EP_THREADS)
        of.bits[i] = 0;
    __syncthreads();
    ep_rank_choices<false>(run, ranks, of, from, to);
    __syncthreads();
    ep_rank_choices<true>(run, ranks, of, from, to);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < of.many; i += EP_THREADS)
        for (int word = 0; word < of.words; word++)
            of.before[i] += __popc(of.bits[i * of.words + word]);
    __syncthreads();
}

/* The block's tokens that have each expert, of those from of->first on, are behind those of earlier blocks. */
EP_STEP void ep_rank_experts_before(const struct ep_run *run, const struct ep_rank_bits *of)
{
    int experts = run->shape.experts;

    for (int i = (int)threadIdx.x; i < of->many; i += EP_THREADS) {
        const int32_t *shares = ep_rank_expert_shares(run) + of->first + i;
        int before = 0;

#pragma unroll 8
        for (int block = 0; block < (int)blockIdx.x; block++)
            before += __ldcg(shares + (int64_t)block * experts);
        of->before[i] = before;
    }
}

/* All threads, behind the barrier: the numbers of the block's tokens. */
EP_STEP void ep_rank_experts(const struct ep_run *run, const struct ep_ranks *ranks, int tokens)
{
    EP_SHARED(unsigned, bits, EP_RANK_BITS);
    EP_SHARED(int, before, EP_RANK_EXPERTS);
    struct ep_rank_share share = ep_rank_share(tokens);
    int experts = run->shape.experts;
    struct ep_rank_bits of = {bits, before, 0, 0, 0};

#pragma unroll 1
    for (; of.first < experts && ep_expanded(run); of.first += EP_RANK_EXPERTS) {
        of.many = experts - of.first < EP_RANK_EXPERTS ? experts - of.first : EP_RANK_EXPERTS;
        of.words = EP_RANK_BITS / of.many;
        ep_rank_experts_before(run, &of);
#pragma unroll 1
        for (int from = share.from; from < share.to; from += of.words * EP_LANES) {
            int to = from + of.words * EP_LANES;

            ep_rank_window(run, ranks, of, from, to < share.to ? to : share.to);
        }
    }
}
#endif

/* What is behind a far peer, part by part: rows of images. */
EP_STEP void ep_rank_images(const struct ep_run *run, struct ep_ranks ranks, int tokens, int32_t *rows)
{
    const struct ep_shape *shape = &run->shape;
    int parts = ep_parts(shape, tokens), pes = shape->one_copy ? shape->near : 1;

    ranks.many = pes * shape->mine;
#pragma unroll 1
    for (int i = ep_worker(run); i < shape->far * parts; i += ep_workers(run)) {
        int from = i % parts * shape->window,
            to = from + shape->window < tokens ? from + shape->window : tokens;
        int found;

        ranks.first = ep_far_pe(shape, i / parts) / pes * ranks.many;
        found = ep_rank_range<true, true>(run, &ranks, from, to, 0);
        if (ep_lane() == 0)
            rows[i] = found;
    }
}

EP_LOOP void ep_rank(const struct ep_run *run, const int32_t *topk, int tokens, void *metas, int32_t *counts,
                     int32_t *rows)
{
    struct ep_ranks ranks = {topk, (char *)metas, 0, 0, false};

    EP_BY_ALL(run, i, run->shape.n * run->shape.counted)
    {
        counts[i] = 0;
    }
    if (ep_rank_by_shares(run))
        ep_rank_share_count(run, &ranks, tokens);
    EP_EXPANDING(ep_rank_experts_count(run, &ranks, tokens);)
    ep_sync(run);
    ep_rank_counts(run, &ranks, tokens, counts);
    if (ep_rank_by_shares(run))
        ep_rank_share_offsets(run, &ranks, tokens, counts);
    else
        ep_rank_offsets(run, ranks, tokens, counts);
    ep_rank_images(run, ranks, tokens, rows);
    EP_EXPANDING(ep_rank_experts(run, &ranks, tokens);)
}

#endif
