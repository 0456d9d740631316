/* SPDX-License-Identifier: BSD-3-Clause */
/* What the shells of the atomics share: a call becomes width, operator and bits, and one call of the core. */
#ifndef WSH_API_AMO_SHELL_H
#define WSH_API_AMO_SHELL_H

#include "runtime/op/amo.h"
#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "runtime/wait/poll.h"

#include <string.h>

/* wsh_amo or wsh_amo_nbi */
typedef int amo_fn(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe);

/* The bit pattern of a 4- or 8-byte value of any type. */
static WSH_INLINE uint64_t word_bits(const void *value, size_t width)
{
    uint64_t wide;
    uint32_t narrow;

    if (width == sizeof narrow)
        return memcpy(&narrow, value, sizeof narrow), narrow;
    return memcpy(&wide, value, sizeof wide), wide;
}

/* `result` is not written here. */
static WSH_COLD void check_amo(const char *what, shmem_ctx_t handle, const void *sym, size_t width,
                               void *result, int pe)
{
    wsh_check_transfer(what, handle, &(struct wsh_check_blocks){sym, result, 0, 0, 1, 1, width}, pe);
    if (result)
        wsh_overwrite_forget(NULL);
}

static WSH_INLINE void amo_by(const char *what, amo_fn *core, shmem_ctx_t handle, const void *sym,
                              const struct wsh_amo *op, void *result, int pe)
{
    int rc = core(wsh_api_ctx(what, handle), (void *)sym, op, result, pe);

    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, sym, op->width, pe);
}

/* Out of line: it takes no room on the stack of other calls. */
static __attribute__((noinline)) void amo_checked(const char *what, amo_fn *core, shmem_ctx_t handle,
                                                  const void *sym, const struct wsh_amo *op, void *result,
                                                  int pe)
{
    check_amo(what, handle, sym, op->width, result, pe);
    amo_by(what, core, handle, sym, op, result, pe);
}

/* A word that stays as it is may be one that the program polls. */
static WSH_INLINE void word_amo(const char *what, amo_fn *core, shmem_ctx_t handle, const void *sym,
                                const struct wsh_amo *op, void *result, int pe)
{
    const size_t width = op->width;

    if (wsh_unlikely(wsh_job.check))
        amo_checked(what, core, handle, sym, op, result, pe);
    else
        amo_by(what, core, handle, sym, op, result, pe);
    if (result && core == wsh_amo && wsh_unlikely(wsh_job_is_special(&wsh_job, WSH_SPECIAL_POLLS)))
        wsh_poll_seen(&wsh_job, sym, word_bits(result, width));
}

static WSH_INLINE void amo_nbi(const char *what, shmem_ctx_t handle, const void *sym,
                               const struct wsh_amo *op, void *fetch, int pe)
{
    if (wsh_unlikely(!fetch))
        wsh_api_bad(what, "fetch is NULL");
    word_amo(what, wsh_amo_nbi, handle, sym, op, fetch, pe);
}

/* The operation OPERATOR of core with its operand, and with what it compares. */
#define WSH_OP(OPERATOR, TYPE, operand, compare) \
    (&(struct wsh_amo){WSH_AMO_##OPERATOR, sizeof(TYPE), operand, compare})
#define WSH_BITS(value) word_bits(&(value), sizeof(value))

#endif
