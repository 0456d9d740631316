/* SPDX-License-Identifier: BSD-3-Clause */
/* The public nonblocking collectives and their requests; alltoallv in both forms. */
#include "runtime/api/request.h"

#include "runtime/wait/wait.h"

#include <stdint.h>

static void handle_check(const char *what, const shmemx_req_h *request)
{
    wsh_api_ready(what);
    if (wsh_unlikely(!request))
        wsh_api_bad(what, "the request is NULL; pass the address of a shmemx_req_h");
    if (wsh_unlikely(*request && !wsh_req_is_live(*request)))
        wsh_api_bad(what,
                    "the request is complete and was freed; use the handle that became SHMEMX_REQ_INVALID");
}

int shmemx_req_wait(shmemx_req_h *request)
{
    int rc;

    handle_check("shmemx_req_wait", request);
    rc = *request ? wsh_req_wait(&wsh_job, *request) : 0;
    *request = SHMEMX_REQ_INVALID;
    return rc;
}

/* The core says -EAGAIN, and a positive status of alltoallv is one that has failed. */
static int test_one(shmemx_req_h *request)
{
    int rc = *request ? wsh_req_test(&wsh_job, *request) : 0;

    if (rc == -EAGAIN)
        return 1;
    *request = SHMEMX_REQ_INVALID;
    return rc > 0 ? -rc : rc;
}

int shmemx_req_test(shmemx_req_h *request)
{
    handle_check("shmemx_req_test", request);
    if (!*request) /* a loop may end by what another request does; of an error that says more */
        wsh_wait_progress(&wsh_job);
    return test_one(request);
}

static void set_check(const char *what, const shmemx_req_h *requests, size_t n)
{
    wsh_api_ready(what);
    if (wsh_unlikely(n && !requests))
        wsh_api_bad(what, "requests is NULL");
    for (size_t i = 0; i < n; i++)
        handle_check(what, &requests[i]);
}

int shmemx_req_wait_all(shmemx_req_h *requests, size_t n)
{
    int status = 0;

    set_check("shmemx_req_wait_all", requests, n);
    for (size_t i = 0; i < n; i++) {
        int rc;

        handle_check("shmemx_req_wait_all", &requests[i]); /* again: the same may be there twice */
        rc = requests[i] ? wsh_req_wait(&wsh_job, requests[i]) : 0;
        requests[i] = SHMEMX_REQ_INVALID;
        status = status ? status : rc;
    }
    return status;
}

int shmemx_req_test_any(shmemx_req_h *requests, size_t n, size_t *index)
{
    int rc = 0;

    set_check("shmemx_req_test_any", requests, n);
    if (wsh_unlikely(!index))
        wsh_api_bad("shmemx_req_test_any", "index is NULL");
    *index = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!requests[i])
            continue;
        rc = test_one(&requests[i]);
        if (rc <= 0) {
            *index = i;
            return rc;
        }
    }
    if (!rc)
        wsh_wait_progress(&wsh_job);
    return rc;
}

/* Of this PE's block to each member, or from each. */
static size_t block_longest(const size_t *counts, int n, size_t width)
{
    size_t most = 0;

    for (int member = 0; member < n; member++)
        most = counts[member] > most ? counts[member] : most;
    return wsh_api_len(most, width);
}

/* Bytes from the beginning of an array to where the last of its blocks ends. */
static size_t blocks_len(const size_t *counts, const size_t *offsets, int n, size_t width)
{
    size_t most = 0;

    for (int member = 0; member < n; member++) {
        size_t end;

        if (!counts[member])
            continue;
        if (__builtin_add_overflow(counts[member], offsets[member], &end))
            end = SIZE_MAX;
        most = end > most ? end : most;
    }
    return wsh_api_len(most, width);
}

static size_t dest_len(const struct wsh_alltoallv *v, int n)
{
    return v->packed ? wsh_api_len(v->dest_max, v->width)
                     : blocks_len(v->dest_counts, v->dest_offsets, n, v->width);
}

static const char *block_at(const void *array, const size_t *offsets, size_t width, int member)
{
    return (const char *)array + offsets[member] * width;
}

/* With SHMEM_DEBUG=check: one block of dest, or all of it if its places are not known yet, and those of source. */
static void dest_check(const struct wsh_api_nb *what, int n, const void *dest, size_t len,
                       const void *sources, const struct wsh_alltoallv *v)
{
    for (int k = 0; k < n && len; k++) {
        const char *source = block_at(sources, v->offsets, v->width, k);

        wsh_check_arrays(WSH_API_ARRAYS(&what->coll, dest, len, source, v->counts[k] * v->width, false));
    }
}

/* What is written, a block of dest or all of it, and in the packed form numbers, lies apart from all else. */
static void numbers_check(const struct wsh_api_nb *what, int n, const void *dest, size_t dest_len,
                          const struct wsh_alltoallv *v)
{
    const size_t len = (size_t)n * sizeof(size_t);
    const struct {
        const void *at;
        size_t len;
        bool written;
    } arrays[] = {{dest, dest_len, true},
                  {v->dest_counts, len, v->packed},
                  {v->dest_offsets, len, v->packed},
                  {v->need, sizeof(size_t), v->packed},
                  {v->counts, len, false},
                  {v->offsets, len, false}};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        for (size_t k = 0; k < i; k++)
            if (arrays[i].written || arrays[k].written)
                wsh_check_apart(what->routine, arrays[i].at, arrays[i].len, arrays[k].at, arrays[k].len);
}

static void blocks_check(const struct wsh_api_nb *what, int n, const void *dest, const void *source,
                         const struct wsh_alltoallv *v)
{
    if (v->packed) {
        numbers_check(what, n, dest, v->dest_max * v->width, v);
        dest_check(what, n, dest, v->dest_max * v->width, source, v);
    }
    for (int i = 0; i < n && !v->packed; i++) {
        const char *block = block_at(dest, v->dest_offsets, v->width, i);
        size_t len = v->dest_counts[i] * v->width;

        numbers_check(what, n, block, len, v);
        dest_check(what, n, block, len, source, v);
        for (int k = 0; k < i; k++)
            wsh_check_apart(what->coll.dest, block, len, block_at(dest, v->dest_offsets, v->width, k),
                            v->dest_counts[k] * v->width);
    }
}

void wsh_api_alltoallv_check(const struct wsh_api_nb *what, const struct wsh_team *team, const void *dest,
                             const void *source, const struct wsh_alltoallv *v)
{
    size_t len, longest;

    if (wsh_unlikely(!v->counts || !v->offsets || !v->dest_counts || !v->dest_offsets))
        wsh_api_bad(what->routine, "an array of counts or offsets is NULL");
    if (wsh_unlikely(v->packed && !v->need))
        wsh_api_bad(what->routine, "need is NULL");
    longest = block_longest(v->counts, team->n_pes, v->width);
    if (wsh_unlikely(longest > WSH_API_BLOCK_MAX))
        wsh_api_bad(what->routine, "source_counts has a block of more than 2^47 bytes");
    if (wsh_unlikely(longest && !source))
        wsh_api_bad(what->routine, "source is NULL");
    if (wsh_unlikely(blocks_len(v->counts, v->offsets, team->n_pes, v->width) > PTRDIFF_MAX))
        wsh_api_bad(what->routine,
                    "source_offsets has a block beyond all memory; they count elements from source on");
    len = dest_len(v, team->n_pes);
    if (len)
        wsh_api_symmetric(what->coll.dest, dest, len);
    if (wsh_unlikely(wsh_job.check))
        blocks_check(what, team->n_pes, dest, source, v);
}

int shmemx_sync_nb(shmem_team_t team, shmemx_req_h *request)
{
    static const struct wsh_req_args none;
    struct wsh_team *members = wsh_api_members("shmemx_sync_nb", team);

    wsh_api_request("shmemx_sync_nb", request);
    return wsh_req_begin(members, "shmemx_sync_nb", WSH_REQ_SYNC, &none, request);
}

/* clang-format off */

#define WSH_BROADCAST(TAG, TYPE, SIZE)                                                                   \
    int shmemx_##TAG(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root,      \
                     shmemx_req_h *request)                                                              \
    {                                                                                                    \
        return wsh_api_broadcast_nb(WSH_API_NB(TAG), team, dest, source, wsh_api_len(nelems, SIZE), PE_root, \
                                    request);                                                            \
    }
#define WSH_BLOCKS(TAG, KIND, TYPE, SIZE)                                                                \
    int shmemx_##TAG(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,                   \
                     shmemx_req_h *request)                                                              \
    {                                                                                                    \
        return wsh_api_blocks_nb(WSH_API_NB(TAG), WSH_REQ_##KIND, team, dest, source,                    \
                                 wsh_api_len(nelems, SIZE), request);                                    \
    }
#define WSH_ALLTOALLS(TAG, TYPE, SIZE)                                                                   \
    int shmemx_##TAG(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,    \
                     size_t nelems, shmemx_req_h *request)                                               \
    {                                                                                                    \
        return wsh_api_alltoalls_nb(WSH_API_NB(TAG), team, dest, source,                                 \
                                    &(struct wsh_alltoalls){dst, sst, nelems, SIZE}, request);           \
    }
#define WSH_ALLTOALLV(TAG, TYPE, SIZE)                                                                   \
    int shmemx_##TAG##_nb(shmem_team_t team, TYPE *dest, const size_t *dest_counts,                      \
                          const size_t *dest_offsets, const TYPE *source, const size_t *source_counts,   \
                          const size_t *source_offsets, shmemx_req_h *request)                           \
    {                                                                                                    \
        const struct wsh_alltoallv v = {.counts = source_counts, .offsets = source_offsets,              \
                                        .dest_counts = (size_t *)dest_counts,                            \
                                        .dest_offsets = (size_t *)dest_offsets, .width = SIZE};          \
        return wsh_api_alltoallv_nb(WSH_API_NB(TAG##_nb), team, dest, source, &v, request);              \
    }                                                                                                    \
    int shmemx_##TAG(shmem_team_t team, TYPE *dest, const size_t *dest_counts, const size_t *dest_offsets, \
                     const TYPE *source, const size_t *source_counts, const size_t *source_offsets)      \
    {                                                                                                    \
        const struct wsh_alltoallv v = {.counts = source_counts, .offsets = source_offsets,              \
                                        .dest_counts = (size_t *)dest_counts,                            \
                                        .dest_offsets = (size_t *)dest_offsets, .width = SIZE};          \
        return wsh_api_alltoallv(WSH_API_NB(TAG), team, dest, source, &v);                               \
    }                                                                                                    \
    int shmemx_##TAG##_packed_nelems_nb(                                                                 \
        shmem_team_t team, TYPE *dest, size_t *dest_counts, size_t *dest_offsets, size_t dest_max,       \
        size_t align, size_t *need, const TYPE *source, const size_t *source_counts,                     \
        const size_t *source_offsets, shmemx_req_h *request)                                             \
    {                                                                                                    \
        const struct wsh_alltoallv v = {source_counts, source_offsets, dest_counts, dest_offsets, SIZE,  \
                                        true, dest_max, align, need};                                    \
        return wsh_api_alltoallv_nb(WSH_API_NB(TAG##_packed_nelems_nb), team, dest, source, &v, request); \
    }                                                                                                    \
    int shmemx_##TAG##_packed_nelems(                                                                    \
        shmem_team_t team, TYPE *dest, size_t *dest_counts, size_t *dest_offsets, size_t dest_max,       \
        size_t align, size_t *need, const TYPE *source, const size_t *source_counts,                     \
        const size_t *source_offsets)                                                                    \
    {                                                                                                    \
        const struct wsh_alltoallv v = {source_counts, source_offsets, dest_counts, dest_offsets, SIZE,  \
                                        true, dest_max, align, need};                                    \
        return wsh_api_alltoallv(WSH_API_NB(TAG##_packed_nelems), team, dest, source, &v);               \
    }
#define WSH_TYPED(NAME, TYPE)                                              \
    WSH_BROADCAST(NAME##_broadcast_nb, TYPE, sizeof(TYPE))                 \
    WSH_BLOCKS(NAME##_collect_nb, COLLECT, TYPE, sizeof(TYPE))             \
    WSH_BLOCKS(NAME##_fcollect_nb, FCOLLECT, TYPE, sizeof(TYPE))           \
    WSH_BLOCKS(NAME##_alltoall_nb, ALLTOALL, TYPE, sizeof(TYPE))           \
    WSH_ALLTOALLS(NAME##_alltoalls_nb, TYPE, sizeof(TYPE))                 \
    WSH_ALLTOALLV(NAME##_alltoallv, TYPE, sizeof(TYPE))
WSH_COLL_TYPES(WSH_TYPED)
WSH_BROADCAST(broadcastmem_nb, void, 1)
WSH_BLOCKS(collectmem_nb, COLLECT, void, 1)
WSH_BLOCKS(fcollectmem_nb, FCOLLECT, void, 1)
WSH_BLOCKS(alltoallmem_nb, ALLTOALL, void, 1)
WSH_ALLTOALLS(alltoallsmem_nb, void, 1)
WSH_ALLTOALLV(alltoallvmem, void, 1)

#define WSH_REDUCE(TAG, OP, TYPE)                                                                        \
    int shmemx_##TAG(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce,                  \
                     shmemx_req_h *request)                                                              \
    {                                                                                                    \
        return wsh_api_reduce_nb(WSH_API_NB(TAG), team, dest, source, nreduce,                           \
                                 wsh_arith_find(OP, WSH_API_NUM(TYPE)), request);                        \
    }
#define WSH_BITWISE(NAME, TYPE)                            \
    WSH_REDUCE(NAME##_and_reduce_nb, WSH_REDUCE_AND, TYPE) \
    WSH_REDUCE(NAME##_or_reduce_nb, WSH_REDUCE_OR, TYPE)   \
    WSH_REDUCE(NAME##_xor_reduce_nb, WSH_REDUCE_XOR, TYPE)
#define WSH_ORDERED(NAME, TYPE)                            \
    WSH_REDUCE(NAME##_max_reduce_nb, WSH_REDUCE_MAX, TYPE) \
    WSH_REDUCE(NAME##_min_reduce_nb, WSH_REDUCE_MIN, TYPE)
#define WSH_ARITHMETIC(NAME, TYPE)                         \
    WSH_REDUCE(NAME##_sum_reduce_nb, WSH_REDUCE_SUM, TYPE) \
    WSH_REDUCE(NAME##_prod_reduce_nb, WSH_REDUCE_PROD, TYPE)
WSH_REDUCE_BITWISE_TYPES(WSH_BITWISE)
WSH_REDUCE_ORDERED_TYPES(WSH_ORDERED)
WSH_REDUCE_ARITHMETIC_TYPES(WSH_ARITHMETIC)
