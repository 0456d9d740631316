/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put and get of every type and size, blocking and nonblocking, with and without context, typed and generic,
 * move extremes and patterns whole, and nothing beside them.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

#include <string.h>

#define GUARD 0x5a

/* Everything but [from, to) of the scratch memory is as types_clear left it. */
static bool untouched(size_t from, size_t to)
{
    for (size_t i = 0; i < AREA_BYTES; i++)
        if ((i < from || i >= to) && area[i] != GUARD)
            return false;
    return true;
}

static void clear(void)
{
    memset(area, GUARD, AREA_BYTES);
    shmem_barrier_all();
}

/* clang-format off */

/* One call of DIR: put, get, put_nbi or get_nbi. */
#define CALL(NAME, TYPE, DIR)                                                                      \
    static void NAME##_##DIR(enum form form, TYPE *dest, const TYPE *source, size_t n, int pe)     \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: shmem_##NAME##_##DIR(dest, source, n, pe); break;                              \
        case CTX: shmem_ctx_##NAME##_##DIR(ctx, dest, source, n, pe); break;                       \
        case GENERIC: shmem_##DIR(dest, source, n, pe); break;                                     \
        default: shmem_##DIR(ctx, dest, source, n, pe); break;                                     \
        }                                                                                          \
    }

/* VALUES elements go to the right at element 1, and are fetched back from there. */
#define CHECK(NAME, TYPE, PUT, GET)                                                                \
    CALL(NAME, TYPE, PUT)                                                                          \
    CALL(NAME, TYPE, GET)                                                                          \
    static void NAME##_check_##PUT(enum form form)                                                 \
    {                                                                                              \
        TYPE *there = (TYPE *)area + 1, mine[VALUES], back[VALUES] = {0};                          \
        clear();                                                                                   \
        for (int i = 0; i < VALUES; i++)                                                           \
            mine[i] = VALUE(TYPE, i, mp_me);                                                       \
        NAME##_##PUT(form, there, mine, VALUES, mp_right());                                       \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++)                                                           \
            mp_check(there[i] == VALUE(TYPE, i, mp_left()), #NAME "_" #PUT ", form %d: %d", form, i); \
        mp_check(untouched(sizeof(TYPE), (VALUES + 1) * sizeof(TYPE)), #NAME "_" #PUT ": too much"); \
        NAME##_##GET(form, back, there, VALUES, mp_right());                                       \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++)                                                           \
            mp_check(back[i] == mine[i], #NAME "_" #GET ", form %d: element %d", form, i);         \
    }
#define BOTH(NAME, TYPE) CHECK(NAME, TYPE, put, get) CHECK(NAME, TYPE, put_nbi, get_nbi)
WSH_RMA_TYPES(BOTH)
#undef BOTH
#undef CHECK
#undef CALL

/* The untyped forms: elements of BYTES bytes. */
#define CHECK(PUT, GET, BYTES)                                                                     \
    static void check_##PUT(bool with_ctx)                                                         \
    {                                                                                              \
        size_t len = VALUES * (BYTES);                                                             \
        char mine[VALUES * (BYTES)], back[VALUES * (BYTES)];                                       \
        clear();                                                                                   \
        mp_fill(mine, len, (uint64_t)mp_me);                                                       \
        if (with_ctx)                                                                              \
            shmem_ctx_##PUT(ctx, area + (BYTES), mine, VALUES, mp_right());                        \
        else                                                                                       \
            shmem_##PUT(area + (BYTES), mine, VALUES, mp_right());                                 \
        types_barrier();                                                                           \
        mp_check(!mp_wrong(area + (BYTES), len, (uint64_t)mp_left()), "shmem_" #PUT);              \
        mp_check(untouched(BYTES, (BYTES) + len), "shmem_" #PUT ": too much");                     \
        if (with_ctx)                                                                              \
            shmem_ctx_##GET(ctx, back, area + (BYTES), VALUES, mp_right());                        \
        else                                                                                       \
            shmem_##GET(back, area + (BYTES), VALUES, mp_right());                                 \
        types_barrier();                                                                           \
        mp_check(!mp_wrong(back, len, (uint64_t)mp_me), "shmem_" #GET);                            \
    }
#define BOTH(BITS) CHECK(put##BITS, get##BITS, BITS / 8) CHECK(put##BITS##_nbi, get##BITS##_nbi, BITS / 8)
WSH_SIZES(BOTH)
CHECK(putmem, getmem, 1)
CHECK(putmem_nbi, getmem_nbi, 1)
#undef BOTH
#undef CHECK

int main(void)
{
    types_begin();
    for (enum form form = PLAIN; form < FORMS; form++) {
#define RUN(NAME, TYPE)     \
    NAME##_check_put(form); \
    NAME##_check_put_nbi(form);
        WSH_RMA_TYPES(RUN)
#undef RUN
    }
    for (int with_ctx = 0; with_ctx < 2; with_ctx++) {
#define RUN(BITS)                \
    check_put##BITS(with_ctx);   \
    check_put##BITS##_nbi(with_ctx);
        WSH_SIZES(RUN)
#undef RUN
        check_putmem(with_ctx);
        check_putmem_nbi(with_ctx);
    }
    return types_end();
}
