/* SPDX-License-Identifier: BSD-3-Clause */
/* The public puts and gets (section 9.6): below the shells there are only bytes and strides. */
#include "runtime/op/rma.h"

#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "runtime/wait/poll.h"

/* wsh_put or wsh_put_nbi, wsh_get or wsh_get_nbi, and those for a job that is not special. */
typedef int put_fn(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe);
typedef int get_fn(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe);
struct put {
    put_fn *plain, *special;
};
struct get {
    get_fn *plain, *special;
};

static WSH_INLINE void put_by(const char *what, put_fn *core, shmem_ctx_t handle, void *dest,
                              const void *source, size_t len, int pe)
{
    struct wsh_ctx *ctx = wsh_api_ctx(what, handle);
    int rc;

    if (wsh_unlikely(!len))
        return;
    if (wsh_unlikely(!source))
        wsh_api_bad(what, "source is NULL");
    rc = core(ctx, dest, source, len, pe);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, dest, len, pe);
}

static WSH_INLINE void get_by(const char *what, get_fn *core, shmem_ctx_t handle, void *dest,
                              const void *source, size_t len, int pe)
{
    struct wsh_ctx *ctx = wsh_api_ctx(what, handle);
    int rc;

    if (wsh_unlikely(!len))
        return;
    if (wsh_unlikely(!dest))
        wsh_api_bad(what, "dest is NULL");
    rc = core(ctx, dest, source, len, pe);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, source, len, pe);
}

/* Out of line: they take no room on the stack of other calls. */
static __attribute__((noinline)) void put_special(const char *what, put_fn *core, shmem_ctx_t handle,
                                                  void *dest, const void *source, size_t nelems, size_t size,
                                                  int pe)
{
    if (wsh_job.check) {
        wsh_check_transfer(what, handle, &(struct wsh_check_blocks){dest, source, 0, 0, nelems, 1, size}, pe);
        wsh_overwrite_note(what, wsh_api_ctx(what, handle), dest, wsh_api_len(nelems, size), pe);
    }
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_STATS))
        wsh_stats_put(&wsh_job, wsh_api_world_pe(what, handle, pe), wsh_api_len(nelems, size));
    put_by(what, core, handle, dest, source, wsh_api_len(nelems, size), pe);
}

static __attribute__((noinline)) void get_special(const char *what, get_fn *core, shmem_ctx_t handle,
                                                  void *dest, const void *source, size_t nelems, size_t size,
                                                  int pe)
{
    if (wsh_job.check) {
        wsh_check_transfer(what, handle, &(struct wsh_check_blocks){source, dest, 0, 0, nelems, 1, size}, pe);
        wsh_overwrite_forget(NULL);
    }
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_STATS))
        wsh_stats_get_from(&wsh_job, wsh_api_world_pe(what, handle, pe), wsh_api_len(nelems, size));
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_POLLED))
        wsh_poll_read(&wsh_job, source);
    get_by(what, core, handle, dest, source, wsh_api_len(nelems, size), pe);
}

static WSH_INLINE void put(const char *what, const struct put *core, shmem_ctx_t handle, void *dest,
                           const void *source, size_t nelems, size_t size, int pe)
{
    if (wsh_unlikely(wsh_job_is_special(&wsh_job, WSH_SPECIAL_RMA)))
        put_special(what, core->special, handle, dest, source, nelems, size, pe);
    else
        put_by(what, core->plain, handle, dest, source, wsh_api_len(nelems, size), pe);
}

/* Of a get that may be a poll, with nothing else to look at and not yet the one of many that yields. */
static WSH_INLINE bool is_plain_poll(void)
{
    return !wsh_job_is_special(&wsh_job, WSH_SPECIAL_RMA) && !wsh_poll_is_due();
}

static WSH_INLINE void get(const char *what, const struct get *core, shmem_ctx_t handle, void *dest,
                           const void *source, size_t nelems, size_t size, int pe)
{
    if (wsh_unlikely(wsh_job_is_special(&wsh_job, WSH_SPECIAL_RMA | WSH_SPECIAL_POLLED)) && !is_plain_poll())
        get_special(what, core->special, handle, dest, source, nelems, size, pe);
    else
        get_by(what, core->plain, handle, dest, source, wsh_api_len(nelems, size), pe);
}

/* Strides and block in elements, as the caller gave them. */
struct strides {
    ptrdiff_t dst, sst;
    size_t block, nblocks, size;
};

/* The shape in bytes; ends the job where the specification forbids it, and where one side is longer than memory. */
static WSH_INLINE struct wsh_strided shape_of(const char *what, const struct strides *s)
{
    const size_t block = wsh_api_len(s->block, s->size), last = s->nblocks > 1;
    const size_t dst = last ? wsh_api_len((size_t)s->dst, s->size) : 0;
    const size_t sst = last ? wsh_api_len((size_t)s->sst, s->size) : 0;

    if (wsh_unlikely(last &&
                     (s->dst < 0 || s->sst < 0 || (size_t)s->dst < s->block || (size_t)s->sst < s->block)))
        wsh_api_bad(what, "a stride (dst or sst) is less than the block size; blocks may not overlap");
    if (wsh_unlikely(wsh_api_span(s->nblocks, dst, block) > PTRDIFF_MAX ||
                     wsh_api_span(s->nblocks, sst, block) > PTRDIFF_MAX))
        wsh_api_bad(what, "more bytes than memory holds; look at the number of elements, and the strides");
    return (struct wsh_strided){(ptrdiff_t)dst, (ptrdiff_t)sst, block, s->nblocks};
}

static WSH_COLD void strided_closer(const char *what, shmem_ctx_t handle,
                                    const struct wsh_check_blocks *blocks, int pe,
                                    void (*count)(struct wsh_job *job, int pe, uint64_t bytes))
{
    if (wsh_job.check)
        wsh_check_transfer(what, handle, blocks, pe);
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_STATS))
        count(&wsh_job, wsh_api_world_pe(what, handle, pe),
              wsh_api_len(wsh_api_len(blocks->block, blocks->nblocks), blocks->size));
}

static WSH_INLINE void iput(const char *what, shmem_ctx_t handle, void *dest, const void *source,
                            const struct strides *strides, int pe)
{
    struct wsh_ctx *ctx = wsh_api_ctx(what, handle);
    struct wsh_strided shape = shape_of(what, strides);
    int rc;

    if (wsh_unlikely(wsh_job.closer))
        strided_closer(what, handle,
                       &(struct wsh_check_blocks){dest, source, strides->dst, strides->sst, strides->block,
                                                  strides->nblocks, strides->size},
                       pe, wsh_stats_put);
    if (wsh_unlikely(!shape.nelems || !shape.block))
        return;
    if (wsh_unlikely(!source))
        wsh_api_bad(what, "source is NULL");
    rc = wsh_iput(ctx, dest, source, &shape, pe);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, dest,
                     wsh_api_span(shape.nelems, (size_t)shape.dst_stride, shape.block), pe);
}

static WSH_INLINE void iget(const char *what, shmem_ctx_t handle, void *dest, const void *source,
                            const struct strides *strides, int pe)
{
    struct wsh_ctx *ctx = wsh_api_ctx(what, handle);
    struct wsh_strided shape = shape_of(what, strides);
    int rc;

    if (wsh_unlikely(wsh_job.closer))
        strided_closer(what, handle,
                       &(struct wsh_check_blocks){source, dest, strides->sst, strides->dst, strides->block,
                                                  strides->nblocks, strides->size},
                       pe, wsh_stats_get_from);
    if (wsh_unlikely(!shape.nelems || !shape.block))
        return;
    if (wsh_unlikely(!dest))
        wsh_api_bad(what, "dest is NULL");
    rc = wsh_iget(ctx, dest, source, &shape, pe);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, source,
                     wsh_api_span(shape.nelems, (size_t)shape.src_stride, shape.block), pe);
}

/* clang-format off */

/* The core routine of a name, for both kinds of job. DIR is put or get. */
#define WSH_CORE(DIR, CORE) (&(const struct DIR){CORE##_plain, CORE})

/*
 * Contiguous. TAG begins the routine's name after shmem_ or shmem_ctx_ ("int_put", "put8"), DIR is
 * put or get, SIDE the symmetric argument.
 */
#define WSH_MOVE(TAG, DIR, CORE, SIDE, TYPE, SIZE)                                                 \
    WSH_SHELL(void, TAG, (TYPE *dest, const TYPE *source, size_t nelems, int pe))                  \
    {                                                                                              \
        DIR("shmem_" #TAG ": " SIDE, WSH_CORE(DIR, CORE), SHMEM_CTX_DEFAULT, dest, source, nelems, SIZE, pe);  \
    }                                                                                              \
    WSH_SHELL(void, ctx_##TAG,                                                                     \
              (shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems, int pe))            \
    {                                                                                              \
        DIR("shmem_ctx_" #TAG ": " SIDE, WSH_CORE(DIR, CORE), ctx, dest, source, nelems, SIZE, pe);            \
    }

#define WSH_TYPED(NAME, TYPE)                                                 \
    WSH_MOVE(NAME##_put, put, wsh_put, "dest", TYPE, sizeof(TYPE))            \
    WSH_MOVE(NAME##_get, get, wsh_get, "source", TYPE, sizeof(TYPE))          \
    WSH_MOVE(NAME##_put_nbi, put, wsh_put_nbi, "dest", TYPE, sizeof(TYPE))    \
    WSH_MOVE(NAME##_get_nbi, get, wsh_get_nbi, "source", TYPE, sizeof(TYPE))
WSH_RMA_TYPES(WSH_TYPED)
#undef WSH_TYPED

#define WSH_SIZED(BITS)                                                   \
    WSH_MOVE(put##BITS, put, wsh_put, "dest", void, BITS / 8)             \
    WSH_MOVE(get##BITS, get, wsh_get, "source", void, BITS / 8)           \
    WSH_MOVE(put##BITS##_nbi, put, wsh_put_nbi, "dest", void, BITS / 8)   \
    WSH_MOVE(get##BITS##_nbi, get, wsh_get_nbi, "source", void, BITS / 8)
WSH_SIZES(WSH_SIZED)
#undef WSH_SIZED

WSH_MOVE(putmem, put, wsh_put, "dest", void, 1)
WSH_MOVE(getmem, get, wsh_get, "source", void, 1)
WSH_MOVE(putmem_nbi, put, wsh_put_nbi, "dest", void, 1)
WSH_MOVE(getmem_nbi, get, wsh_get_nbi, "source", void, 1)
#undef WSH_MOVE

/* One element. */
#define WSH_ONE(NAME, TYPE)                                                                        \
    WSH_SHELL(void, NAME##_p, (TYPE *dest, TYPE value, int pe))                                    \
    {                                                                                              \
        put("shmem_" #NAME "_p: dest", WSH_CORE(put, wsh_put), SHMEM_CTX_DEFAULT, dest, &value, 1, sizeof value,  \
            pe);                                                                                   \
    }                                                                                              \
    WSH_SHELL(void, ctx_##NAME##_p, (shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe))             \
    {                                                                                              \
        put("shmem_ctx_" #NAME "_p: dest", WSH_CORE(put, wsh_put), ctx, dest, &value, 1, sizeof value, pe);          \
    }                                                                                              \
    WSH_SHELL(TYPE, NAME##_g, (const TYPE *source, int pe))                                        \
    {                                                                                              \
        TYPE value;                                                                                \
        get("shmem_" #NAME "_g: source", WSH_CORE(get, wsh_get), SHMEM_CTX_DEFAULT, &value, source, 1, sizeof value, \
            pe);                                                                                   \
        return value;                                                                              \
    }                                                                                              \
    WSH_SHELL(TYPE, ctx_##NAME##_g, (shmem_ctx_t ctx, const TYPE *source, int pe))                 \
    {                                                                                              \
        TYPE value;                                                                                \
        get("shmem_ctx_" #NAME "_g: source", WSH_CORE(get, wsh_get), ctx, &value, source, 1, sizeof value, pe);      \
        return value;                                                                              \
    }
WSH_RMA_TYPES(WSH_ONE)
#undef WSH_ONE
#undef WSH_CORE

/* Strided elements (iTAG), and strided blocks of them (ibTAG). DIR is iput or iget. */
#define WSH_STRIDED(TAG, BTAG, DIR, SIDE, TYPE, SIZE)                                              \
    WSH_SHELL(void, TAG,                                                                           \
              (TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,        \
               int pe))                                                                            \
    {                                                                                              \
        DIR("shmem_" #TAG ": " SIDE, SHMEM_CTX_DEFAULT, dest, source,                              \
            &(struct strides){dst, sst, 1, nelems, SIZE}, pe);                                     \
    }                                                                                              \
    WSH_SHELL(void, ctx_##TAG,                                                                     \
              (shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,      \
               size_t nelems, int pe))                                                             \
    {                                                                                              \
        DIR("shmem_ctx_" #TAG ": " SIDE, ctx, dest, source,                                        \
            &(struct strides){dst, sst, 1, nelems, SIZE}, pe);                                     \
    }                                                                                              \
    WSH_SHELL(void, BTAG,                                                                          \
              (TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,         \
               size_t nblocks, int pe))                                                            \
    {                                                                                              \
        DIR("shmem_" #BTAG ": " SIDE, SHMEM_CTX_DEFAULT, dest, source,                             \
            &(struct strides){dst, sst, bsize, nblocks, SIZE}, pe);                                \
    }                                                                                              \
    WSH_SHELL(void, ctx_##BTAG,                                                                    \
              (shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,      \
               size_t bsize, size_t nblocks, int pe))                                              \
    {                                                                                              \
        DIR("shmem_ctx_" #BTAG ": " SIDE, ctx, dest, source,                                       \
            &(struct strides){dst, sst, bsize, nblocks, SIZE}, pe);                                \
    }

#define WSH_TYPED(NAME, TYPE)                                                     \
    WSH_STRIDED(NAME##_iput, NAME##_ibput, iput, "dest", TYPE, sizeof(TYPE))      \
    WSH_STRIDED(NAME##_iget, NAME##_ibget, iget, "source", TYPE, sizeof(TYPE))
WSH_RMA_TYPES(WSH_TYPED)
#undef WSH_TYPED

#define WSH_SIZED(BITS)                                                 \
    WSH_STRIDED(iput##BITS, ibput##BITS, iput, "dest", void, BITS / 8)  \
    WSH_STRIDED(iget##BITS, ibget##BITS, iget, "source", void, BITS / 8)
WSH_SIZES(WSH_SIZED)
#undef WSH_SIZED
#undef WSH_STRIDED
