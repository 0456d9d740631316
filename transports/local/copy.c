/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets and atomics on a peer's mapped memory by this PE's own loads and stores. */
#include "transports/local/copy.h"

static inline bool is_aligned(const void *a, size_t to)
{
    return ((uintptr_t)a & (to - 1)) == 0;
}

/*
 * An aligned word at the symmetric side is one store or load, never seen half done: programs poll it with
 * wait_until. Release and acquire are partners of each other and of load_word in op/wait_words.c; they cost nothing on
 * x86.
 */
static inline bool store_word(void *dst, const void *src, size_t len)
{
    uint64_t v64;
    uint32_t v32;

    if (len == 8 && is_aligned(dst, 8)) {
        memcpy(&v64, src, 8);
        __atomic_store_n((uint64_t *)dst, v64, __ATOMIC_RELEASE);
        return true;
    }
    if (len == 4 && is_aligned(dst, 4)) {
        memcpy(&v32, src, 4);
        __atomic_store_n((uint32_t *)dst, v32, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

static inline bool load_word(void *dst, const void *src, size_t len)
{
    uint64_t v64;
    uint32_t v32;

    if (len == 8 && is_aligned(src, 8)) {
        v64 = __atomic_load_n((const uint64_t *)src, __ATOMIC_ACQUIRE);
        memcpy(dst, &v64, 8);
        return true;
    }
    if (len == 4 && is_aligned(src, 4)) {
        v32 = __atomic_load_n((const uint32_t *)src, __ATOMIC_ACQUIRE);
        memcpy(dst, &v32, 4);
        return true;
    }
    return false;
}

int local_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
              struct wsh_done *done)
{
    (void)tctx, (void)done;
    wsh_order_leaves();
    if (!store_word(rmem->map + off, src, len) && len)
        memcpy(rmem->map + off, src, len);
    return 0;
}

int local_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
              struct wsh_done *done)
{
    (void)tctx, (void)done;
    if (!load_word(dst, rmem->map + off, len) && len)
        memcpy(dst, rmem->map + off, len);
    return 0;
}

int local_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
              void *result, struct wsh_done *done)
{
    uint64_t old;

    (void)tctx, (void)done;
    wsh_order_leaves();
    old = wsh_amo_apply(rmem->map + off, amo->op, amo->width, amo->operand, amo->compare);
    if (result)
        wsh_amo_store_result(result, amo->width, old);
    return 0;
}

/* The signal is a release: whoever acquires it sees the data. Partner: the acquire of the signal's wait. */
int local_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                     size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    local_put(tctx, rmem, off, src, len, done);
    wsh_order_leaves();
    wsh_amo_apply64(sig->rmem->map + sig->off, sig->op, sig->value, 0);
    return 0;
}

/* Full, because fence also orders a put before a later get. Partner: the acquire of the peer's wait or get. */
int local_fence(struct wsh_tctx *tctx)
{
    (void)tctx;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return 0;
}
