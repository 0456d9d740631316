/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about puts and gets by themselves. */
#include "test/contract/group.h"
#include "test/contract/suite.h"

#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {1,    2,    4,    7,    8,     63,    64,    65,     255,
                               1000, 4095, 4096, 4097, 10000, 65536, 65537, 1 << 20};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

static int right_of(const struct group_pe *pe)
{
    return (pe->me + 1) % pe->n;
}

static int left_of(const struct group_pe *pe)
{
    return (pe->me + pe->n - 1) % pe->n;
}

static void put_arrives(struct group_pe *pe)
{
    char *src = malloc(1 << 20);

    for (size_t i = 0; i < N_SIZES && !group_failed(pe); i++) {
        size_t off = 100 + i % 8, len = sizes[i];

        memset(pe->heap[pe->me], 0xee, len + 300);
        group_barrier(pe);
        group_fill(src, len, (unsigned)(pe->me + 10 * i));
        group_put(pe, right_of(pe), off, src, len);
        group_quiet(pe);
        group_barrier(pe);
        group_check(pe, !group_wrong(pe->heap[pe->me] + off, len, (unsigned)(left_of(pe) + 10 * i)),
                    "put of %zu bytes brought other data", len);
        group_check(pe,
                    (unsigned char)pe->heap[pe->me][off - 1] == 0xee &&
                        (unsigned char)pe->heap[pe->me][off + len] == 0xee,
                    "put of %zu bytes wrote beside its place", len);
        group_barrier(pe);
    }
    free(src);
}

void claim_put_arrives(void)
{
    group_run(2, put_arrives);
    group_run(3, put_arrives);
}

static void get_brings(struct group_pe *pe)
{
    char *dst = malloc((1 << 20) + 2);

    group_fill(pe->heap[pe->me], 2 << 20, (unsigned)pe->me);
    group_barrier(pe);
    for (size_t i = 0; i < N_SIZES && !group_failed(pe); i++) {
        size_t len = sizes[i];

        memset(dst, 0xee, len + 2);
        group_get_done(pe, right_of(pe), 0, dst + 1, len);
        group_check(pe, !group_wrong(dst + 1, len, (unsigned)right_of(pe)), "get of %zu bytes: wrong data",
                    len);
        group_check(pe, (unsigned char)dst[0] == 0xee && (unsigned char)dst[len + 1] == 0xee,
                    "get of %zu bytes wrote beside its place", len);
        memset(dst, 0, len);
        group_get(pe, right_of(pe), 0, dst, len);
        group_quiet(pe);
        group_check(pe, !group_wrong(dst, len, (unsigned)right_of(pe)), "nonblocking get of %zu bytes", len);
    }
    free(dst);
    group_barrier(pe);
}

void claim_get_brings(void)
{
    group_run(2, get_brings);
    group_run(3, get_brings);
}

static void source_reusable(struct group_pe *pe)
{
    char *src = malloc(1 << 20);

    if (pe->me == 0)
        for (size_t i = 0; i < N_SIZES && !group_failed(pe); i++) {
            group_fill(src, sizes[i], 1);
            group_put_done(pe, 1, 0, src, sizes[i]);
            memset(src, 0, sizes[i]);
            group_quiet(pe);
            group_check(pe, !group_wrong(pe->heap[1], sizes[i], 1), "source of %zu bytes was read after done",
                        sizes[i]);
        }
    group_barrier(pe);
    free(src);
}

void claim_done_means_source_reusable(void)
{
    group_run(2, source_reusable);
}

/* Nonblocking, from memory that is registered and that is not, behind fences too. */
static void unread_until_reusable(struct group_pe *pe)
{
    char *other = malloc(1 << 20);

    for (size_t i = 0; i < 4 * N_SIZES && pe->me == 0 && !group_failed(pe); i++) {
        size_t len = sizes[i / 4];
        char *src = i % 2 ? other : pe->heap[0];

        group_fill(src, len, (unsigned)i);
        group_put(pe, 1, 8, src, len);
        if (i % 4 > 1)
            group_fence(pe);
        group_put_signal(pe, 1, 16 + len, src, len, 0, WSH_AMO_SET, i);
        group_flush(pe);
        memset(src, 0, len);
        group_quiet(pe);
        group_check(pe, !group_wrong(pe->heap[1] + 8, len, (unsigned)i), "source of %zu bytes was read later",
                    len);
        group_check(pe, !group_wrong(pe->heap[1] + 16 + len, len, (unsigned)i),
                    "source of %zu bytes with a signal was read later", len);
        group_get(pe, 1, 8, other, len);
        group_flush(pe);
        group_check(pe, !group_wrong(other, len, (unsigned)i), "get of %zu bytes is not here", len);
    }
    group_barrier(pe);
    free(other);
}

void claim_unread_until_source_reusable(void)
{
    group_run(2, unread_until_reusable);
}

static void zero_length(struct group_pe *pe)
{
    const struct wsh_rmem *rmem = &pe->rmem[1][WSH_SEG_HEAP];
    struct wsh_done done = {0};
    char byte = 1;

    if (pe->me == 0) {
        group_check(pe, !pe->ops->put(pe->ctx, rmem, 0, &byte, 0, &done), "put of 0 bytes");
        group_check(pe, !pe->ops->put(pe->ctx, rmem, GROUP_HEAP, NULL, 0, NULL), "put of 0 bytes at the end");
        group_check(pe, !pe->ops->get(pe->ctx, rmem, 0, &byte, 0, &done), "get of 0 bytes");
        group_check(pe, wsh_done_is(&done), "not done");
        group_check(pe, !pe->ops->pending(pe->ctx, -1), "pending after operations of 0 bytes");
        group_put_signal(pe, 1, 0, NULL, 0, 64, WSH_AMO_SET, 5);
        group_quiet(pe);
        group_check(pe, group_load(pe->heap[1] + 64) == 5, "signal of 0 bytes");
    }
    group_barrier(pe);
}

void claim_zero_length(void)
{
    group_run(2, zero_length);
}

static void large(struct group_pe *pe)
{
    const size_t len = (8 << 20) + 12345;
    char *user = malloc(len);

    group_fill(user, len, (unsigned)pe->me);
    group_put_done(pe, right_of(pe), 3, user, len);
    group_quiet(pe);
    group_barrier(pe);
    group_check(pe, !group_wrong(pe->heap[pe->me] + 3, len, (unsigned)left_of(pe)), "large put");
    group_barrier(pe);
    group_fill(pe->heap[pe->me] + 3, len, (unsigned)pe->me + 7);
    group_barrier(pe);
    group_get_done(pe, right_of(pe), 3, user, len);
    group_check(pe, !group_wrong(user, len, (unsigned)right_of(pe) + 7), "large get");
    group_barrier(pe);
    if (pe->me == 0) { /* from registered memory, and with a signal behind it */
        group_fill(pe->heap[0], len, 99);
        group_put_signal(pe, 1, 8 << 20, pe->heap[0], len, 0, WSH_AMO_SET, 77);
    } else if (pe->me == 1) {
        double start = group_now();

        while (group_load(pe->heap[1]) != 77 && group_spin(pe, start))
            ;
        group_check(pe, !group_wrong(pe->heap[1] + (8 << 20), len, 99), "large put with signal");
    }
    group_quiet(pe);
    group_barrier(pe);
    free(user);
}

void claim_large(void)
{
    group_run(2, large);
}

static void self(struct group_pe *pe)
{
    uint64_t value = 7, back = 0;

    group_put_done(pe, pe->me, 128, &value, 8);
    group_fence(pe);
    group_get_done(pe, pe->me, 128, &back, 8);
    group_check(pe, back == 7, "put and get to itself");
    group_check(pe, group_fetch(pe, pe->me, 128, WSH_AMO_ADD, 8, 3, 0) == 7, "fetch_add on itself");
    group_put_signal(pe, pe->me, 256, &value, 8, 136, WSH_AMO_ADD, 4);
    group_quiet(pe);
    group_check(pe,
                group_load(pe->heap[pe->me] + 136) == 4 && group_load(pe->heap[pe->me] + 256) == 7 &&
                    group_load(pe->heap[pe->me] + 128) == 10,
                "put with signal to itself");
    group_barrier(pe);
}

void claim_self(void)
{
    group_run(1, self);
    group_run(2, self);
}

static void both_segments(struct group_pe *pe)
{
    const struct wsh_rmem *data = &pe->rmem[right_of(pe)][WSH_SEG_STATIC];
    const struct wsh_sig sig = {data, 8, WSH_AMO_SET, 9};
    uint64_t value = (uint64_t)pe->me + 1;
    double start = group_now();

    group_check(pe, data->len == GROUP_DATA, "length of the static segment is %zu", data->len);
    while (pe->ops->put(pe->ctx, data, GROUP_DATA - 8, &value, 8, NULL) == -EAGAIN && group_spin(pe, start))
        ;
    while (pe->ops->put_signal(pe->ctx, &pe->rmem[right_of(pe)][WSH_SEG_HEAP], 8, &value, 8, &sig, NULL) ==
               -EAGAIN &&
           group_spin(pe, start))
        ;
    group_quiet(pe);
    group_barrier(pe);
    value = (uint64_t)left_of(pe) + 1;
    group_check(pe, group_load(pe->data[pe->me] + GROUP_DATA - 8) == value, "put to the static segment");
    group_check(pe, group_load(pe->heap[pe->me] + 8) == value && group_load(pe->data[pe->me] + 8) == 9,
                "put to the heap with its signal in the static segment");
    group_barrier(pe);
}

void claim_both_segments(void)
{
    if (!group_path.gpu)
        group_run(2, both_segments);
}

#define BLOCK 5
#define STRIDE 9

static size_t strided_wrong(const char *at, size_t nelems)
{
    size_t wrong = 0;

    for (size_t i = 0; i < nelems; i++, at += STRIDE)
        wrong +=
            group_wrong(at, BLOCK, (unsigned)i) || memcmp(at + BLOCK, "\xee\xee\xee\xee", STRIDE - BLOCK);
    return wrong;
}

static int strided_start(struct group_pe *pe, const char *src, size_t nelems, const struct wsh_sig *sig,
                         size_t *taken)
{
    const struct wsh_strided shape = {STRIDE, STRIDE, BLOCK, nelems};
    double start = group_now();
    int rc;

    *taken = 0;
    do
        rc = pe->ops->put_strided(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 64, src, &shape, sig, taken);
    while (rc == -EAGAIN && group_spin(pe, start));
    return rc;
}

/* What goes in one piece does so with a signal too: the word holds the number of blocks then, else 1. */
static void strided_put(struct group_pe *pe, size_t nelems, const char *src)
{
    const struct wsh_sig sig = {&pe->rmem[1][WSH_SEG_HEAP], 8, WSH_AMO_ADD, nelems};
    size_t plain, taken;
    int rc = strided_start(pe, src, nelems, NULL, &plain);

    group_check(pe, rc == -ENOTSUP || (!rc && plain >= 2), "%zu blocks gave %d, %zu went", nelems, rc, plain);
    rc = strided_start(pe, src, nelems, &sig, &taken);
    group_check(pe, plain == nelems ? !rc && taken == nelems : rc == -ENOTSUP,
                "%zu blocks, of which %zu go, with a signal gave %d", nelems, plain, rc);
    if (rc)
        group_put_signal(pe, 1, 0, NULL, 0, 8, WSH_AMO_SET, 1);
    group_quiet(pe);
}

static void strided_take(struct group_pe *pe, size_t nelems)
{
    double start = group_now();
    uint64_t word;

    while (!(word = group_load(pe->heap[1] + 8)) && group_spin(pe, start))
        ;
    group_check(pe, word == 1 || word == nelems, "signal of %zu blocks is %lu", nelems, (unsigned long)word);
    if (word == nelems)
        group_check(pe, !strided_wrong(pe->heap[1] + 64, nelems), "%zu blocks before their signal", nelems);
}

static void strided_signals(struct group_pe *pe)
{
    static const size_t nelems[] = {2, 30, 100000};
    const size_t len = nelems[2] * STRIDE;
    char *src = malloc(len);

    for (size_t i = 0; i < nelems[2]; i++)
        group_fill(src + i * STRIDE, BLOCK, (unsigned)i);
    for (size_t i = 0; i < 3; i++) {
        memset(pe->heap[pe->me], 0xee, 64 + len);
        memset(pe->heap[pe->me] + 8, 0, 8);
        group_barrier(pe);
        if (pe->me == 0)
            strided_put(pe, nelems[i], src);
        else
            strided_take(pe, nelems[i]);
        group_barrier(pe);
    }
    free(src);
}

void claim_strided_signals(void)
{
    group_run(2, strided_signals);
}
