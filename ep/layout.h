/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where everything lies: the numbers that follow from a configuration, the structs in symmetric memory, and their
 * offsets from the beginning of the arena, which is one symmetric allocation, alike on all PEs. Plain C that kernels
 * compile too. docs/design/expert-parallelism.md says what travels when.
 *
 *   near PE   of this host, me among them: its memory is read and written through shmem_ptr
 *   far peer  whom this PE sends to over the network: with one copy the PE of each other host with my number there;
 *             direct, each PE of the other hosts. Far peers are numbered from 0 on, in order of their PE
 *   part      the rows of `window` successive tokens of a PE for a far peer; low latency has one part
 *   image     a part as it travels: header, counts, records
 *   slot      an image's index: part number % slots, parts being numbered from 0 on since create
 *   counted   what an origin counts for each PE: in high throughput its rows, then rows that have each local expert
 *   turn      which of the two X, or of the two Y: not the one of the call before
 *
 * High throughput in one host (ep/steps/pull.h) has no far peers, images or counters.
 *
 *   chunk     EP_CHUNK successive tokens of a PE, or of its rows that a PE brings back: they have a flag
 *
 * Low latency (ep/low) has slots in place of stores: rows are pushed there.
 *
 *   slot      of ep/low: memory of a row from one source, at its target
 *   source    near PEs in their order, then those of other hosts in theirs
 *   target    near PEs in their order, then far peers in theirs
 *   piece     some successive columns of a row, which have a flag of their own
 */
#ifndef WSH_EP_LAYOUT_H
#define WSH_EP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define EP_FN static inline __host__ __device__
#else
#define EP_FN static inline
#endif

enum { EP_ALIGN = 256, EP_SLOTS_LOW = 2, EP_SLOTS_HIGH = 4, EP_TOPK_MAX = 16, EP_GROUP = 128 };
enum { EP_NVFP4_GROUP = 16 }; /* columns of SHMEMX_EP_NVFP4 that share a scale of one byte */
/* High throughput: tokens, or rows, that are ready together. */
enum { EP_CHUNK = 4 };

/* Groups that share out the tokens to number them for each PE, of so few PEs at most. */
enum { EP_SHARES = 256, EP_SHARES_PES = 32 };
/* Low latency: tokens of a call at most; columns that pieces are made of; workers that have a piece of few rows. */
enum {
    EP_LOW_SHIFT = 11,
    EP_LOW_TOKENS = 1 << EP_LOW_SHIFT,
    EP_LOW_EXPERTS = 65535,
    EP_LOW_UNIT = 256,
    EP_LOW_WORKERS = 1024
};

/* One of a token's experts. */
struct ep_entry {
    int32_t expert; /* of all; -1: none */
    int32_t offset; /* rows that this origin has, before this token, for the expert's PE */
    int32_t
        row; /* with a far expert: the row's number within its image; else the token, where rows are expanded
                    the expert's rows that this origin has before */
    float weight;
};

/* What is known of a token besides its columns: `topk` entries follow. */
struct ep_meta {
    int32_t token; /* its number at the origin */
    int32_t part;
    int32_t unused[2];
    struct ep_entry entry[];
};

/*
 * Begins a store and an image. `counts` follow an image's. In a call in which PEs agree the rows of the origin for each
 * PE, [n], are behind the records of part 0.
 */
struct ep_header {
    int64_t call;   /* of this kind, from 1 on */
    int64_t x;      /* of a store: where its rows are, in bytes from the beginning of the arena */
    int32_t tokens; /* of the origin in this call */
    int32_t parts;  /* of this call; at least 1 */
    int32_t part;   /* within the call */
    int32_t rows;   /* in this image */
    int32_t agreed; /* of a dispatch: what its caller has given */
    int32_t unused[7];
};

/* Alike on all PEs but for me, host, local. */
struct ep_shape {
    int mode, dtype, device, one_copy;
    int hidden, experts, topk, tokens, capacity, window, handles, blocks;
    int n, near;         /* PEs; of each host */
    int me, host, local; /* numbers in the team */
    int far;             /* far peers */
    int mine;            /* experts a PE */
    int group_bytes;     /* of EP_GROUP columns, as sent */
    int counted;         /* numbers of rows a PE: of each local expert; in high throughput of all before */
    int topk_shift;      /* words of 4 bytes of topk, a power of two: of 64 bits the low ones are read */
    int slots;
    size_t row, scales, meta; /* bytes of a row as sent, of its scales, of its meta */
    size_t record, image; /* bytes of a record {meta, scales, row}, and of an image with `window` of them */
    size_t result, result_image; /* the same of combine: a BF16 row and, in high throughput, topk weights */
    size_t head, kept;           /* bytes of an image's header and counts; of one handle */
    int64_t y_rows;              /* of one Y buffer */
    /* Offsets in the arena; two of each of the first, by the parity of the call, or (x, y) by turn */
    size_t header[2], counts[2], metas[2], x_scales[2], x[2]; /* the store; counts: [n][counted] */
    size_t y[2], y_weights[2];                                /* combine's */
    size_t send, window_in, forward;                          /* images: [far][slots] */
    size_t result_send, result_in;                            /* [far][slots] */
    size_t weights_send[2], weights_in; /* low latency: of combines, [tokens][topk] and [far] of those */
    size_t part_rows;                   /* of this PE's call: [far][parts] records of images */
    size_t shares;        /* [EP_SHARES][n] rows of the tokens of each group; 0: none, n is too large */
    size_t expert_shares; /* [EP_SHARES][experts] likewise for each expert; where rows are pulled */
    size_t in_counts, in_tokens, in_parts, in_rows; /* of origins: [n][counted], and of each [n] */
    size_t in_sent, in_total;                       /* [n][n] rows of each origin for each PE; [n] for each */
    size_t near_first, near_y;                      /* of near PEs: [1 + far][near], [near] */
    size_t handle;                                  /* [handles] */
    size_t bytes;
    /* Numbers of counters, in the row of them that create makes */
    int c_far, c_credit;           /* dispatch: [far][slots], [far] */
    int c_forward, c_taken;        /* one copy: [near][far], [far][near] */
    int c_result, c_result_credit; /* combine: [far][slots], [far] */
    int c_weights;                 /* [far] */
    int counters;
    /* High throughput, by parity: words [near][counted + 1 + near], [near]; flags [near][chunks], of rows that come
       back [near][ep_flags_back]. `pulls`: in one host */
    int pulls, chunks;
    size_t near_words[2], near_begun[2], near_ready[2], near_back[2];
    /* Low latency (ep/low) */
    int pushes, exact; /* it is that; results are pushed row by row */
    int units, pieces; /* of EP_LOW_UNIT columns; of a row at most, a power of two */
    int low_workers;   /* that have a piece each where there are few rows */
    int masks;         /* kernels go on without PEs; in a hole, so that others read what they have read */
    uint64_t by_mine, by_topk; /* divisors */
    size_t low_meta;           /* bytes of a slot's meta */
    size_t low_head, low_slot; /* bytes before a slot's row, and of a slot */
    /* Offsets, by parity: words [n][mine + 1], [near]; slots and flags [sources][tokens]; those of combine */
    size_t low_words[2], low_begun[2], low_slots[2], low_flags[2];
    size_t low_sums[2], low_sum_flags[2], low_weights[2];
    size_t
        low_results; /* rows of low_sums: [near][tokens], or [tokens][topk]; as many for each far peer's records */
    size_t zeros;     /* bytes from the arena's beginning that begin as zeros, as handles do */
    size_t group;     /* bytes of memory that the workers of a group share */
    int low_sources;  /* that have slots: with one copy all PEs, else near ones */
    size_t far_head;  /* bytes before a record's row */
    size_t far_metas; /* [far][tokens]: of rows that lie in this PE's own windows */
};

/* One handle, in symmetric memory: the routing of a dispatch. The functions ep_kept_* give what lies behind it. */
struct ep_kept {
    int64_t call; /* of the dispatch; 0: none yet */
    int32_t tokens, parts;
    int32_t rows, overflow; /* received here; whether they exceed the capacity */
    uint64_t ticket;        /* low latency on GPUs: of the launch whose numbers these are */
    int32_t unused[8];
};

/*
 * Low latency: what is behind a slot's meta for each choice of its token: local expert << EP_LOW_SHIFT | offset. As the
 * handle keeps it: the row here, or EP_LOW_BEYOND the capacity. -1: not of this PE. In an image: the expert's number
 * among those behind the far peer, -1: not behind it.
 */
struct ep_low_entry {
    int32_t at;
    float weight;
};

enum { EP_LOW_BEYOND = -2 };

/* `topk` entries follow. */
struct ep_low_meta {
    int32_t token;
    int32_t record; /* with far peers: of the image that it came in */
    struct ep_low_entry entry[];
};

/* Of a source's call, as a handle keeps it. */
struct ep_low_source {
    int32_t rows, tokens; /* distinct ones that came here; of the source */
};

/* Where a near PE's Y is. */
struct ep_near_y {
    int64_t y;       /* bytes from the beginning of its arena */
    int64_t weights; /* the same; 0: none */
    int64_t flagged; /* so many rows have a flag together; 0: none have */
};

/* For ep_divide by n: exact where both are less than 65,536, or their product than 2^32. */
EP_FN uint64_t ep_divisor(int n)
{
    return ((1ull << 32) + (uint64_t)n - 1) / (uint64_t)n;
}

/* i / n, which takes a kernel a tenth of the time of a division. */
EP_FN int ep_divide(int i, uint64_t divisor)
{
    return (int)((uint64_t)(uint32_t)i * divisor >> 32);
}

/*
 * Flags of a combine's rows that each near PE raises here. In one host one a row, or a chunk: these by their first
 * numbers. Else one a chunk, with one copy also of the tokens of other hosts that this PE answers.
 */
EP_FN int ep_flags_back(const struct ep_shape *shape)
{
    if (shape->pulls)
        return shape->chunks * EP_CHUNK;
    return (shape->one_copy ? shape->n / shape->near : 1) * shape->chunks;
}

EP_FN size_t ep_align(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

EP_FN int ep_expert_pe(const struct ep_shape *shape, int expert)
{
    return expert / shape->mine;
}

EP_FN int ep_pe_is_near(const struct ep_shape *shape, int pe)
{
    return pe / shape->near == shape->host;
}

/* Of the PEs of `far_host`: which far peer of mine a row for `pe` goes to. */
EP_FN int ep_far_of(const struct ep_shape *shape, int pe)
{
    int host = pe / shape->near;

    if (shape->one_copy)
        return host < shape->host ? host : host - 1;
    return host < shape->host ? pe : pe - shape->near;
}

EP_FN int ep_far_pe(const struct ep_shape *shape, int far)
{
    if (shape->one_copy)
        return (far < shape->host ? far : far + 1) * shape->near + shape->local;
    return far < shape->host * shape->near ? far : far + shape->near;
}

/* The far peer that is put to as number `i`: from the next host on, so that not all PEs begin with the same. */
EP_FN int ep_far_turn(const struct ep_shape *shape, int i)
{
    int far = i + shape->host * (shape->one_copy ? 1 : shape->near);

    return far < shape->far ? far : far - shape->far;
}

/* My number among the far peers of `pe`, which is a far peer of mine. */
EP_FN int ep_far_me(const struct ep_shape *shape, int pe)
{
    int host = pe / shape->near, mine = shape->one_copy ? shape->host : shape->me;

    if (shape->one_copy)
        return mine < host ? mine : mine - 1;
    return shape->host < host ? mine : mine - shape->near;
}

/* The origin whose rows near PE number `local` forwards as those of its far peer `far` (one copy). */
EP_FN int ep_forward_origin(const struct ep_shape *shape, int local, int far)
{
    return (far < shape->host ? far : far + 1) * shape->near + local;
}

EP_FN size_t ep_slot_image(const struct ep_shape *shape, size_t base, int far, uint64_t part)
{
    return base + ((size_t)far * shape->slots + part % shape->slots) * shape->image;
}

/* What is behind the records of part 0 where PEs agree. */
EP_FN size_t ep_sent_bytes(const struct ep_shape *shape)
{
    return ep_align((size_t)shape->n * sizeof(int32_t), 16);
}

EP_FN size_t ep_slot_result(const struct ep_shape *shape, size_t base, int far, uint64_t part)
{
    return base + ((size_t)far * shape->slots + part % shape->slots) * shape->result_image;
}

EP_FN int ep_parts(const struct ep_shape *shape, int tokens)
{
    int parts = (tokens + shape->window - 1) / shape->window;

    return parts ? parts : 1;
}

/* Of far peer number `far`: the weights that it has put here. */
EP_FN size_t ep_weights_in(const struct ep_shape *shape, int far)
{
    return shape->weights_in + (size_t)far * shape->tokens * shape->topk * sizeof(float);
}

/* first[n + 1][counted]: where each origin's rows begin here, by kind; at last the sums. Near PEs read it */
EP_FN size_t ep_kept_first(const struct ep_shape *shape, int handle)
{
    return shape->handle + (size_t)handle * shape->kept + sizeof(struct ep_kept);
}

/* Of far peers: parts [far] of their dispatch */
EP_FN size_t ep_kept_far_parts(const struct ep_shape *shape, int handle)
{
    size_t first = (size_t)(shape->n + 1) * shape->counted * sizeof(int32_t);

    return ep_kept_first(shape, handle) + ep_align(first, 16);
}

/* Of far peers: how many records came before each part, [far][parts of config.tokens + 1]; the last is the sum */
EP_FN size_t ep_kept_far_rows(const struct ep_shape *shape, int handle)
{
    return ep_kept_far_parts(shape, handle) + ep_align((size_t)shape->far * sizeof(int32_t), 16);
}

/* This PE's metas: [tokens] */
EP_FN size_t ep_kept_metas(const struct ep_shape *shape, int handle)
{
    size_t rows = (size_t)shape->far * (ep_parts(shape, shape->tokens) + 1) * sizeof(int32_t);

    return ep_kept_far_rows(shape, handle) + ep_align(rows, 16);
}

/* Those of a far peer's records, in order: [far][tokens] */
EP_FN size_t ep_kept_far_metas(const struct ep_shape *shape, int handle, int far)
{
    return ep_kept_metas(shape, handle) + ((size_t)far + 1) * shape->tokens * shape->meta;
}

/* Low latency: how many columns, of EP_LOW_UNIT together, rows have. */
EP_FN int ep_low_units(const struct ep_shape *shape)
{
    return (shape->hidden + EP_LOW_UNIT - 1) / EP_LOW_UNIT;
}

/*
 * Rows of a PE with so many tokens are sent in 1 << shift pieces, the last of which may be empty: few tokens have many,
 * so that all workers have something to do. Both ends compute it.
 */
EP_FN int ep_low_shift(const struct ep_shape *shape, int tokens)
{
    int shift = 0;

    while (2 << shift <= shape->pieces && tokens << (shift + 1) <= shape->low_workers)
        shift++;
    return shift;
}

/* Columns of each piece but the last. */
EP_FN int ep_low_each(const struct ep_shape *shape, int shift)
{
    return ((shape->units + (1 << shift) - 1) >> shift) * EP_LOW_UNIT;
}

/* [n]: of each source */
EP_FN size_t ep_low_kept_sources(const struct ep_shape *shape, int handle)
{
    return ep_kept_far_parts(shape, handle);
}

/*
 * Of this PE's tokens, [tokens]: experts [topk], weights [topk], then targets that have one in order, or -1, [topk];
 * with far peers also the record in the image of each, [topk]
 */
EP_FN size_t ep_low_kept_own(const struct ep_shape *shape, int handle, int token)
{
    return ep_low_kept_sources(shape, handle) + ep_align(shape->n * sizeof(struct ep_low_source), 16) +
           (size_t)token * shape->topk * (shape->far ? 16 : 12);
}

/* Of the rows that came, [n][tokens] metas whose entries have rows */
EP_FN size_t ep_low_kept_in(const struct ep_shape *shape, int handle, int source, int slot)
{
    return ep_align(ep_low_kept_own(shape, handle, shape->tokens), 16) +
           ((size_t)source * shape->tokens + slot) * shape->low_meta;
}

/* Of far peers' images: [far][tokens] metas as they came */
EP_FN size_t ep_low_kept_far(const struct ep_shape *shape, int handle, int far, int record)
{
    return ep_low_kept_in(shape, handle, shape->n, 0) +
           ((size_t)far * shape->tokens + record) * shape->low_meta;
}

/* How many records each had: [far] */
EP_FN size_t ep_low_kept_records(const struct ep_shape *shape, int handle)
{
    return ep_low_kept_far(shape, handle, shape->far, 0);
}

/* Bytes from a row's scales to the row, in slots and records. */
EP_FN size_t ep_low_scales(const struct ep_shape *shape)
{
    return ep_align(shape->scales, 16);
}

#endif
