/* SPDX-License-Identifier: BSD-3-Clause */
/* The public signal routines (section 9.8). */
#include "runtime/op/signal.h"

#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "runtime/op/wait_words.h"
#include "runtime/wait/poll.h"
#include "runtime/op/rma.h"
#include "runtime/wait/wait.h"

#include <string.h>

/* wsh_put_signal or wsh_put_signal_nbi */
typedef int put_signal_fn(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                          const struct wsh_signal *signal, int pe);

static WSH_COLD void signal_closer(const char *what, shmem_ctx_t handle, int pe)
{
    if (wsh_job.check)
        wsh_check_ctx(what, handle);
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_STATS))
        wsh_stats_atomic(&wsh_job, wsh_api_world_pe(what, handle, pe));
}

static WSH_INLINE void signal_send(const char *what, shmem_ctx_t handle, const struct wsh_signal *signal,
                                   int pe)
{
    int rc;

    if (wsh_unlikely(wsh_job.closer))
        signal_closer(what, handle, pe);
    rc = wsh_signal_send(wsh_api_ctx(what, handle), signal, pe);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, signal->sym, sizeof *signal->sym, pe);
}

/* A put with signal as it is called. */
struct put_signal {
    const char *what; /* names dest; the string behind it names sig_addr */
    void *dest;
    const void *source;
    size_t nelems, size;
    shmem_ctx_t handle;
    int pe;
};

static const char *what_signal(const struct put_signal *put)
{
    return put->what + strlen(put->what) + 1;
}

/* The core refuses a call for one of its two addresses without saying which. */
static WSH_COLD void put_signal_fail(const struct put_signal *put, int rc, uint64_t *sig_addr)
{
    size_t off, len = wsh_api_len(put->nelems, put->size);

    if (!len || (rc == -EFAULT && wsh_heap_find(&wsh_job.heap, put->dest, len, &off) >= 0))
        wsh_api_fail(what_signal(put), rc, put->handle, sig_addr, sizeof *sig_addr, put->pe);
    wsh_api_fail(put->what, rc, put->handle, put->dest, len, put->pe);
}

static WSH_COLD void put_signal_check(const struct put_signal *put, uint64_t *sig_addr)
{
    const struct wsh_check_blocks blocks = {put->dest, put->source, 0, 0, put->nelems, 1, put->size};
    size_t off, len = put->nelems * put->size; /* no overflow: wsh_check_transfer would not return */

    wsh_check_transfer(put->what, put->handle, &blocks, put->pe);
    if (wsh_heap_find(&wsh_job.heap, put->dest, len, &off) >= 0)
        wsh_check_apart(what_signal(put), put->dest, len, sig_addr, sizeof *sig_addr);
    wsh_overwrite_note(put->what, wsh_api_ctx(put->what, put->handle), put->dest, len, put->pe);
}

static WSH_COLD void put_signal_special(const struct put_signal *put, uint64_t *sig_addr)
{
    if (wsh_job.check)
        put_signal_check(put, sig_addr);
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_STATS))
        wsh_stats_put(&wsh_job, wsh_api_world_pe(put->what, put->handle, put->pe),
                      wsh_api_len(put->nelems, put->size));
}

static WSH_INLINE enum wsh_amo_op signal_operator(const char *what, int sig_op)
{
    if (wsh_unlikely(sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD))
        wsh_api_bad(what, "sig_op is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD");
    return sig_op == SHMEM_SIGNAL_SET ? WSH_AMO_SET : WSH_AMO_ADD;
}

/* `put` is in registers: only what fails and what checks get a copy in memory. */
static WSH_INLINE void put_signal(const struct put_signal put, put_signal_fn *core,
                                  const struct wsh_signal *signal)
{
    size_t len = wsh_api_len(put.nelems, put.size);
    int rc;

    if (wsh_unlikely(wsh_job.closer)) {
        const struct put_signal checked = put;

        put_signal_special(&checked, signal->sym);
    }
    if (wsh_unlikely(!put.source && len))
        wsh_api_bad(put.what, "source is NULL");
    rc = core(wsh_api_ctx(put.what, put.handle), put.dest, put.source, len, signal, put.pe);
    if (wsh_unlikely(rc)) {
        const struct put_signal failed = put;

        put_signal_fail(&failed, rc, signal->sym);
    }
}

/* clang-format off */

/* TAG is the routine's name after shmem_ or shmem_ctx_, such as "int_put_signal". */
#define WSH_PUT_SIGNAL_OF(NAME, CTX, CORE, SIZE)                                                   \
    put_signal((struct put_signal){NAME ": dest\0" NAME ": sig_addr", dest, source, nelems, SIZE, CTX, pe},  \
               CORE, &(struct wsh_signal){sig_addr, signal, signal_operator(NAME, sig_op)})
#define WSH_PUT_SIGNAL(TAG, CORE, TYPE, SIZE)                                                      \
    WSH_SHELL(void, TAG,                                                                           \
              (TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr,                  \
               uint64_t signal, int sig_op, int pe))                                               \
    {                                                                                              \
        WSH_PUT_SIGNAL_OF("shmem_" #TAG, SHMEM_CTX_DEFAULT, CORE, SIZE);                           \
    }                                                                                              \
    WSH_SHELL(void, ctx_##TAG,                                                                     \
              (shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems,                     \
               uint64_t *sig_addr, uint64_t signal, int sig_op, int pe))                           \
    {                                                                                              \
        WSH_PUT_SIGNAL_OF("shmem_ctx_" #TAG, ctx, CORE, SIZE);                                     \
    }

#define WSH_TYPED(NAME, TYPE)                                                    \
    WSH_PUT_SIGNAL(NAME##_put_signal, wsh_put_signal, TYPE, sizeof(TYPE))        \
    WSH_PUT_SIGNAL(NAME##_put_signal_nbi, wsh_put_signal_nbi, TYPE, sizeof(TYPE))
WSH_RMA_TYPES(WSH_TYPED)
#undef WSH_TYPED

#define WSH_SIZED(BITS)                                                         \
    WSH_PUT_SIGNAL(put##BITS##_signal, wsh_put_signal, void, BITS / 8)          \
    WSH_PUT_SIGNAL(put##BITS##_signal_nbi, wsh_put_signal_nbi, void, BITS / 8)
WSH_SIZES(WSH_SIZED)
#undef WSH_SIZED

WSH_PUT_SIGNAL(putmem_signal, wsh_put_signal, void, 1)
WSH_PUT_SIGNAL(putmem_signal_nbi, wsh_put_signal_nbi, void, 1)
#undef WSH_PUT_SIGNAL
#undef WSH_PUT_SIGNAL_OF
/* clang-format on */

WSH_SHELL(void, signal_add, (uint64_t * sig_addr, uint64_t signal, int pe))
{
    signal_send("shmem_signal_add: sig_addr", SHMEM_CTX_DEFAULT,
                &(struct wsh_signal){sig_addr, signal, WSH_AMO_ADD}, pe);
}

WSH_SHELL(void, ctx_signal_add, (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe))
{
    signal_send("shmem_ctx_signal_add: sig_addr", ctx, &(struct wsh_signal){sig_addr, signal, WSH_AMO_ADD},
                pe);
}

WSH_SHELL(void, signal_set, (uint64_t * sig_addr, uint64_t signal, int pe))
{
    signal_send("shmem_signal_set: sig_addr", SHMEM_CTX_DEFAULT,
                &(struct wsh_signal){sig_addr, signal, WSH_AMO_SET}, pe);
}

WSH_SHELL(void, ctx_signal_set, (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe))
{
    signal_send("shmem_ctx_signal_set: sig_addr", ctx, &(struct wsh_signal){sig_addr, signal, WSH_AMO_SET},
                pe);
}

/*
 * Acquire, partner of the release by which a peer's store, or the transport here, sets the signal.
 */
static WSH_INLINE uint64_t signal_load(const uint64_t *sig_addr)
{
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}

/* The segment of the signal. */
static WSH_INLINE int check_local(const char *what, const uint64_t *sig_addr)
{
    size_t off;
    int seg;

    wsh_api_ready(what);
    if (wsh_unlikely(wsh_job.check))
        wsh_overwrite_forget(NULL);
    seg = wsh_heap_find(&wsh_job.heap, sig_addr, sizeof *sig_addr, &off);
    if (wsh_unlikely(seg < 0 || off % 8))
        wsh_api_fail(what, -EFAULT, SHMEM_CTX_DEFAULT, sig_addr, sizeof *sig_addr, wsh_job.my_pe);
    return seg;
}

/* A signal in device memory, which the CPU cannot load. */
static WSH_COLD uint64_t fetch_from_gpu(const uint64_t *sig_addr)
{
    uint64_t value = 0;

    wsh_api_check("shmem_signal_fetch", wsh_get(&wsh_job.ctx, &value, sig_addr, sizeof value, wsh_job.my_pe));
    return value;
}

/* A loop of fetches makes progress under SHMEM_PROGRESS=call, and leaves the core to other PEs. */
static WSH_INLINE void fetch_polled(const uint64_t *sig_addr)
{
    if (wsh_likely(!wsh_job_is_special(&wsh_job, WSH_SPECIAL_NETWORK | WSH_SPECIAL_REQUESTS))) {
        wsh_poll_read(&wsh_job, sig_addr);
        return;
    }
    wsh_api_check("shmem_signal_fetch", wsh_wait_progress(&wsh_job) < 0);
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_POLLS))
        wsh_poll_read_served(&wsh_job, sig_addr);
}

WSH_SHELL(uint64_t, signal_fetch, (const uint64_t *sig_addr))
{
    if (wsh_unlikely(check_local("shmem_signal_fetch: sig_addr", sig_addr) >= WSH_SEG_DEVICE))
        return fetch_from_gpu(sig_addr);
    if (wsh_unlikely(
            wsh_job_is_special(&wsh_job, WSH_SPECIAL_NETWORK | WSH_SPECIAL_POLLS | WSH_SPECIAL_REQUESTS)))
        fetch_polled(sig_addr);
    return signal_load(sig_addr);
}

WSH_SHELL(uint64_t, signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))
{
    uint64_t seen;
    struct wsh_p2p word = {"shmem_signal_wait_until", sig_addr, 1, NULL, &cmp_value, false, WSH_WORD_U64,
                           (enum wsh_cmp)cmp};

    if (wsh_unlikely(check_local("shmem_signal_wait_until: sig_addr", sig_addr) >= WSH_SEG_DEVICE))
        wsh_api_bad("shmem_signal_wait_until",
                    "the signal is device memory; wait for it in a kernel, or test it with "
                    "shmem_signal_fetch");
    if (wsh_unlikely((unsigned)cmp >= WSH_CMPS))
        wsh_api_bad("shmem_signal_wait_until", "cmp is none of SHMEM_CMP_EQ, NE, GT, GE, LT, LE");
    wsh_api_check("shmem_signal_wait_until", wsh_p2p_wait_signal(&wsh_job, &word, &seen));
    return seen;
}
