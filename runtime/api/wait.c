/* SPDX-License-Identifier: BSD-3-Clause */
/* The public point-to-point synchronization (section 9.11): words, comparisons and sets. */
#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "runtime/op/wait_words.h"

#include <shmemx.h>

_Static_assert(WSH_CMP_EQ == SHMEM_CMP_EQ && WSH_CMP_NE == SHMEM_CMP_NE && WSH_CMP_GT == SHMEM_CMP_GT &&
                   WSH_CMP_LE == SHMEM_CMP_LE && WSH_CMP_LT == SHMEM_CMP_LT && WSH_CMP_GE == SHMEM_CMP_GE,
               "the core compares by the public numbers");
_Static_assert(WSH_P2P_NONE == SIZE_MAX, "the core's \"no index\" is the specification's");

/* The kind of word behind TYPE: signed or not, 2, 4 or 8 bytes. */
#define WSH_SIGNED(TYPE) ((TYPE)-1 < (TYPE)1)
#define WSH_WORD(TYPE)                                                      \
    (sizeof(TYPE) == 2   ? (WSH_SIGNED(TYPE) ? WSH_WORD_I16 : WSH_WORD_U16) \
     : sizeof(TYPE) == 4 ? (WSH_SIGNED(TYPE) ? WSH_WORD_I32 : WSH_WORD_U32) \
                         : (WSH_SIGNED(TYPE) ? WSH_WORD_I64 : WSH_WORD_U64))

/* The set's array at `words`, of elements of `width` bytes, is apart from what is only read. */
static WSH_COLD void set_apart(const char *what, const struct wsh_p2p *set, const void *words, size_t width)
{
    const size_t len = wsh_api_len(set->nelems, width),
                 values = wsh_api_len(set->nelems, wsh_word_width(set->word));

    if (values >= PTRDIFF_MAX)
        return;
    wsh_check_apart(what, words, len, set->status, set->nelems * sizeof *set->status);
    if (set->every)
        wsh_check_apart(what, words, len, set->values, values);
}

/* `what` ends in ": ivars", or ": ivar". */
static WSH_INLINE void set_check(const char *what, const struct wsh_p2p *set)
{
    size_t off, width = wsh_word_width(set->word), len = wsh_api_len(set->nelems, width);
    int seg;

    wsh_api_ready(what);
    if (wsh_unlikely(wsh_job.check)) {
        wsh_overwrite_forget(NULL);
        set_apart(what, set, set->ivars, width);
    }
    if (wsh_unlikely((unsigned)set->cmp >= WSH_CMPS))
        wsh_api_bad(what, "cmp is none of SHMEM_CMP_EQ, NE, GT, GE, LT, LE");
    if (wsh_unlikely(!len))
        return;
    if (wsh_unlikely(!set->values))
        wsh_api_bad(what, "cmp_values is NULL");
    seg = wsh_heap_find(&wsh_job.heap, set->ivars, len, &off);
    if (wsh_unlikely(seg >= WSH_SEG_DEVICE))
        wsh_api_bad(what, "the word is device memory; wait for it in a kernel, or read it with shmem_g");
    if (wsh_unlikely(seg < 0 || off % width))
        wsh_api_fail(what, -EFAULT, SHMEM_CTX_DEFAULT, set->ivars, len, wsh_job.my_pe);
}

static WSH_INLINE void wait_one(const char *what, const struct wsh_p2p *set)
{
    set_check(what, set);
    wsh_api_check(what, wsh_p2p_wait(&wsh_job, set));
}

static WSH_INLINE int test_one(const char *what, const struct wsh_p2p *set)
{
    set_check(what, set);
    return wsh_p2p_test(&wsh_job, set);
}

static WSH_INLINE void wait_all(const char *what, const struct wsh_p2p *set)
{
    set_check(what, set);
    wsh_api_check(what, wsh_p2p_wait_all(&wsh_job, set));
}

static WSH_INLINE int test_all(const char *what, const struct wsh_p2p *set)
{
    set_check(what, set);
    return wsh_p2p_test_all(&wsh_job, set);
}

static WSH_INLINE size_t wait_any(const char *what, const struct wsh_p2p *set)
{
    size_t index;

    set_check(what, set);
    wsh_api_check(what, wsh_p2p_wait_any(&wsh_job, set, &index));
    return index;
}

static WSH_INLINE size_t test_any(const char *what, const struct wsh_p2p *set)
{
    set_check(what, set);
    return wsh_p2p_test_any(&wsh_job, set);
}

static WSH_INLINE void check_indices(const char *what, const struct wsh_p2p *set, const size_t *indices)
{
    set_check(what, set);
    if (wsh_unlikely(wsh_job.check)) {
        set_apart(what, set, indices, sizeof *indices);
        wsh_check_apart(what, set->ivars, set->nelems * wsh_word_width(set->word), indices,
                        set->nelems * sizeof *indices);
    }
    if (wsh_unlikely(!indices && set->nelems))
        wsh_api_bad(what, "indices is NULL");
}

static WSH_INLINE size_t wait_some(const char *what, const struct wsh_p2p *set, size_t *indices)
{
    size_t n;

    check_indices(what, set, indices);
    wsh_api_check(what, wsh_p2p_wait_some(&wsh_job, set, indices, &n));
    return n;
}

static WSH_INLINE size_t test_some(const char *what, const struct wsh_p2p *set, size_t *indices)
{
    check_indices(what, set, indices);
    return wsh_p2p_test_some(&wsh_job, set, indices);
}

/* clang-format off */

/* The set of the arguments at hand. EVERY: `values` holds one value a word. */
#define WSH_SET(ROUTINE, TYPE, ivars, nelems, status, values, EVERY)                       \
    (&(struct wsh_p2p){ROUTINE, ivars, nelems, status, values, EVERY, WSH_WORD(TYPE),      \
                       (enum wsh_cmp)cmp})

#define WSH_ONE(NAME, TYPE)                                                                       \
    WSH_SHELL(void, NAME##_wait_until, (TYPE *ivar, int cmp, TYPE cmp_value))                     \
    {                                                                                             \
        wait_one("shmem_" #NAME "_wait_until: ivar",                                              \
                 WSH_SET("shmem_" #NAME "_wait_until", TYPE, ivar, 1, NULL, &cmp_value, false));  \
    }                                                                                             \
    WSH_SHELL(int, NAME##_test, (TYPE *ivar, int cmp, TYPE cmp_value))                            \
    {                                                                                             \
        return test_one("shmem_" #NAME "_test: ivar",                                             \
                        WSH_SET("shmem_" #NAME "_test", TYPE, ivar, 1, NULL, &cmp_value, false)); \
    }
WSH_P2P_HOST_TYPES(WSH_ONE)
#undef WSH_ONE

/* The deprecated forms: until the word differs. */
#define WSH_OLD(NAME, TYPE)                                                                       \
    WSH_SHELL(void, NAME##_wait, (TYPE *ivar, TYPE cmp_value))                                    \
    {                                                                                             \
        const int cmp = WSH_CMP_NE;                                                               \
        wait_one("shmem_" #NAME "_wait: ivar",                                                    \
                 WSH_SET("shmem_" #NAME "_wait", TYPE, ivar, 1, NULL, &cmp_value, false));        \
    }
WSH_WAIT_TYPES(WSH_OLD)
#undef WSH_OLD

WSH_SHELL(void, wait, (long *ivar, long cmp_value))
{
    const int cmp = WSH_CMP_NE;

    wait_one("shmem_wait: ivar", WSH_SET("shmem_wait", long, ivar, 1, NULL, &cmp_value, false));
}

WSH_SHELL(void, wait_until, (long *ivar, int cmp, long cmp_value))
{
    wait_one("shmem_wait_until: ivar",
             WSH_SET("shmem_wait_until", long, ivar, 1, NULL, &cmp_value, false));
}

/*
 * RESULT shmem_TAG over a set; BODY is wait_all … test_any; VALUE declares cmp_value or cmp_values.
 */
#define WSH_SET_SHELL(RESULT, TAG, BODY, TYPE, VALUE, VALUES, EVERY)                          \
    WSH_SHELL(RESULT, TAG,                                                                    \
              (TYPE *ivars, size_t nelems, const int *status, int cmp, VALUE))                \
    {                                                                                         \
        return BODY("shmem_" #TAG ": ivars",                                                  \
                    WSH_SET("shmem_" #TAG, TYPE, ivars, nelems, status, VALUES, EVERY));      \
    }

/* The same for wait_some and test_some, which also write `indices`. */
#define WSH_SOME_SHELL(TAG, BODY, TYPE, VALUE, VALUES, EVERY)                                    \
    WSH_SHELL(size_t, TAG,                                                                       \
              (TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp,          \
               VALUE))                                                                           \
    {                                                                                            \
        return BODY("shmem_" #TAG ": ivars",                                                     \
                    WSH_SET("shmem_" #TAG, TYPE, ivars, nelems, status, VALUES, EVERY), indices); \
    }

#define WSH_SETS(NAME, TYPE)                                                                      \
    WSH_SET_SHELL(void, NAME##_wait_until_all, wait_all,                                          \
                  TYPE, TYPE cmp_value, &cmp_value, false)                                        \
    WSH_SET_SHELL(size_t, NAME##_wait_until_any, wait_any,                                        \
                  TYPE, TYPE cmp_value, &cmp_value, false)                                        \
    WSH_SET_SHELL(int, NAME##_test_all, test_all, TYPE, TYPE cmp_value, &cmp_value, false)        \
    WSH_SET_SHELL(size_t, NAME##_test_any, test_any, TYPE, TYPE cmp_value, &cmp_value, false)     \
    WSH_SOME_SHELL(NAME##_wait_until_some, wait_some, TYPE, TYPE cmp_value, &cmp_value, false)    \
    WSH_SOME_SHELL(NAME##_test_some, test_some, TYPE, TYPE cmp_value, &cmp_value, false)          \
    WSH_SET_SHELL(void, NAME##_wait_until_all_vector, wait_all,                                   \
                  TYPE, const TYPE *cmp_values, cmp_values, true)                                 \
    WSH_SET_SHELL(size_t, NAME##_wait_until_any_vector, wait_any,                                 \
                  TYPE, const TYPE *cmp_values, cmp_values, true)                                 \
    WSH_SET_SHELL(int, NAME##_test_all_vector, test_all,                                          \
                  TYPE, const TYPE *cmp_values, cmp_values, true)                                 \
    WSH_SET_SHELL(size_t, NAME##_test_any_vector, test_any,                                       \
                  TYPE, const TYPE *cmp_values, cmp_values, true)                                 \
    WSH_SOME_SHELL(NAME##_wait_until_some_vector, wait_some,                                      \
                   TYPE, const TYPE *cmp_values, cmp_values, true)                                \
    WSH_SOME_SHELL(NAME##_test_some_vector, test_some,                                            \
                   TYPE, const TYPE *cmp_values, cmp_values, true)
WSH_P2P_HOST_TYPES(WSH_SETS)
#undef WSH_SETS
#undef WSH_SET_SHELL
#undef WSH_SOME_SHELL
/* clang-format on */

/* With a time limit: shmem/timeout.h. */

/* The public result. What is no end of such a wait ends the job. */
static int timed_end(const struct wsh_p2p *set, int rc)
{
    if (rc == -ETIMEDOUT)
        return SHMEMX_WAIT_TIMEOUT;
    if (rc == -ECANCELED)
        return SHMEMX_WAIT_FAILURE;
    wsh_api_check(set->routine, rc);
    return SHMEMX_WAIT_SATISFIED;
}

static int set_wait(const char *what, const struct wsh_p2p *set, enum wsh_p2p_kind kind, double seconds)
{
    struct wsh_p2p_limit limit = {.kind = kind, .seconds = seconds};

    set_check(what, set);
    return timed_end(set, wsh_p2p_wait_timed(&wsh_job, set, &limit));
}

static int set_search(const char *what, const struct wsh_p2p *set, struct wsh_p2p_limit *limit, size_t *found)
{
    int rc;

    if (limit->kind == WSH_P2P_SOME)
        check_indices(what, set, limit->indices);
    else
        set_check(what, set);
    if (wsh_unlikely(!found))
        wsh_api_bad(set->routine, "the pointer at the end, to what was found, is NULL");
    rc = timed_end(set, wsh_p2p_wait_timed(&wsh_job, set, limit));
    *found = (size_t)limit->found;
    return rc;
}

/* clang-format off */
#define WSH_TIMED(TAG, TYPE, VALUE, VALUES, EVERY)                                                 \
    int shmemx_##TAG(TYPE *ivars, size_t nelems, const int *status, int cmp, VALUE, double seconds)      \
    {                                                                                                    \
        return set_wait("shmemx_" #TAG ": ivars",                                                        \
                        WSH_SET("shmemx_" #TAG, TYPE, ivars, nelems, status, VALUES, EVERY),         \
                        WSH_P2P_ALL, seconds);                                                           \
    }
#define WSH_ANY(TAG, TYPE, VALUE, VALUES, EVERY)                                                         \
    int shmemx_##TAG(TYPE *ivars, size_t nelems, const int *status, int cmp, VALUE, double seconds,      \
                     size_t *index)                                                                      \
    {                                                                                                    \
        return set_search("shmemx_" #TAG ": ivars",                                                      \
                          WSH_SET("shmemx_" #TAG, TYPE, ivars, nelems, status, VALUES, EVERY),       \
                          &(struct wsh_p2p_limit){.kind = WSH_P2P_ANY, .seconds = seconds}, index);      \
    }
#define WSH_SOME(TAG, TYPE, VALUE, VALUES, EVERY)                                                        \
    int shmemx_##TAG(TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, VALUE,     \
                     double seconds, size_t *found)                                                      \
    {                                                                                                    \
        return set_search("shmemx_" #TAG ": ivars",                                                      \
                          WSH_SET("shmemx_" #TAG, TYPE, ivars, nelems, status, VALUES, EVERY),       \
                          &(struct wsh_p2p_limit){WSH_P2P_SOME, seconds, indices, 0}, found);            \
    }
#define WSH_TYPED(NAME, TYPE)                                                                            \
    int shmemx_##NAME##_wait_until_timeout(TYPE *ivar, int cmp, TYPE cmp_value, double seconds)          \
    {                                                                                                    \
        return set_wait("shmemx_" #NAME "_wait_until_timeout: ivar",                                     \
                        WSH_SET("shmemx_" #NAME "_wait_until_timeout", TYPE, ivar, 1, NULL,          \
                                    &cmp_value, false),                                                  \
                        WSH_P2P_ONE, seconds);                                                           \
    }                                                                                                    \
    WSH_TIMED(NAME##_wait_until_all_timeout, TYPE, TYPE cmp_value, &cmp_value, false)               \
    WSH_ANY(NAME##_wait_until_any_timeout, TYPE, TYPE cmp_value, &cmp_value, false)                      \
    WSH_SOME(NAME##_wait_until_some_timeout, TYPE, TYPE cmp_value, &cmp_value, false)                    \
    WSH_TIMED(NAME##_wait_until_all_vector_timeout, TYPE, const TYPE *cmp_values, cmp_values, true) \
    WSH_ANY(NAME##_wait_until_any_vector_timeout, TYPE, const TYPE *cmp_values, cmp_values, true)        \
    WSH_SOME(NAME##_wait_until_some_vector_timeout, TYPE, const TYPE *cmp_values, cmp_values, true)
WSH_P2P_TYPES(WSH_TYPED)
/* clang-format on */

int shmemx_signal_wait_until_timeout(uint64_t *sig_addr, int cmp, uint64_t cmp_value, double seconds,
                                     uint64_t *value)
{
    const struct wsh_p2p *word =
        WSH_SET("shmemx_signal_wait_until_timeout", uint64_t, sig_addr, 1, NULL, &cmp_value, false);
    struct wsh_p2p_limit limit = {.kind = WSH_P2P_SIGNAL, .seconds = seconds};
    int rc;

    set_check("shmemx_signal_wait_until_timeout: sig_addr", word);
    rc = timed_end(word, wsh_p2p_wait_timed(&wsh_job, word, &limit));
    if (value)
        *value = limit.found;
    return rc;
}
