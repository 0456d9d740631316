/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the contract suite: started until there is room, waited for where the name says so. */
#include "test/contract/group.h"

#include "base/err.h"

/* Repeats `call` while it gives -EAGAIN. */
#define START(pe, what, call)                                                \
    do {                                                                     \
        double start = group_now();                                          \
        int rc;                                                              \
        while ((rc = (call)) == -EAGAIN && group_spin(pe, start))            \
            ;                                                                \
        group_check(pe, !rc, "%s gave %d (%s)", what, rc, wsh_strerror(rc)); \
    } while (0)

static void wait_done(struct group_pe *pe, const struct wsh_done *done)
{
    double start = group_now();

    while (!wsh_done_is(done) && group_spin(pe, start))
        ;
}

void group_put(struct group_pe *pe, int to, size_t off, const void *src, size_t len)
{
    START(pe, "put", pe->ops->put(pe->ctx, &pe->rmem[to][WSH_SEG_HEAP], off, src, len, NULL));
}

void group_put_done(struct group_pe *pe, int to, size_t off, const void *src, size_t len)
{
    struct wsh_done done = {0};

    START(pe, "put", pe->ops->put(pe->ctx, &pe->rmem[to][WSH_SEG_HEAP], off, src, len, &done));
    wait_done(pe, &done);
}

void group_get(struct group_pe *pe, int to, size_t off, void *dst, size_t len)
{
    START(pe, "get", pe->ops->get(pe->ctx, &pe->rmem[to][WSH_SEG_HEAP], off, dst, len, NULL));
}

void group_get_done(struct group_pe *pe, int to, size_t off, void *dst, size_t len)
{
    struct wsh_done done = {0};

    START(pe, "get", pe->ops->get(pe->ctx, &pe->rmem[to][WSH_SEG_HEAP], off, dst, len, &done));
    wait_done(pe, &done);
}

void group_amo(struct group_pe *pe, int to, size_t off, enum wsh_amo_op op, unsigned width, uint64_t operand)
{
    const struct wsh_amo amo = {op, width, operand, 0};

    START(pe, "amo", pe->ops->amo(pe->ctx, &pe->rmem[to][WSH_SEG_HEAP], off, &amo, NULL, NULL));
}

uint64_t group_fetch(struct group_pe *pe, int to, size_t off, enum wsh_amo_op op, unsigned width,
                     uint64_t operand, uint64_t compare)
{
    const struct wsh_amo amo = {op, width, operand, compare};
    struct wsh_done done = {0};
    uint64_t old = 0;

    START(pe, "fetching amo", pe->ops->amo(pe->ctx, &pe->rmem[to][WSH_SEG_HEAP], off, &amo, &old, &done));
    wait_done(pe, &done);
    return old;
}

void group_put_signal(struct group_pe *pe, int to, size_t off, const void *src, size_t len, size_t sig_off,
                      enum wsh_amo_op op, uint64_t value)
{
    const struct wsh_rmem *rmem = &pe->rmem[to][WSH_SEG_HEAP];
    const struct wsh_sig sig = {rmem, sig_off, op, value};
    struct wsh_done done = {0};

    START(pe, "put_signal", pe->ops->put_signal(pe->ctx, rmem, off, src, len, &sig, &done));
    wait_done(pe, &done);
}

void group_fence(struct group_pe *pe)
{
    START(pe, "fence", pe->ops->fence(pe->ctx));
}

void group_quiet(struct group_pe *pe)
{
    double start = group_now();

    while (pe->ops->pending(pe->ctx, -1) && group_spin(pe, start))
        ;
}

void group_flush(struct group_pe *pe)
{
    double start = group_now();

    while (pe->ops->unread(pe->ctx) && group_spin(pe, start))
        pe->ops->await(pe->ctx, true);
}

void group_fill(void *buf, size_t len, unsigned seed)
{
    unsigned char *bytes = buf;

    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8));
}

size_t group_wrong(const void *buf, size_t len, unsigned seed)
{
    const unsigned char *bytes = buf;
    size_t wrong = 0;

    for (size_t i = 0; i < len; i++)
        wrong += bytes[i] != (unsigned char)(seed * 31 + i * 7 + (i >> 8));
    return wrong;
}
