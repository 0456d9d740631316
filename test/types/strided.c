/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iput, iget, ibput and ibget of every type and size, with and without context, typed and generic, take every
 * element from its place to its place and leave the gaps alone.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

#include <string.h>

/* Strides of the far and the near array, in elements; blocks and their size. */
enum { WIDE = 3, NARROW = 2, BLOCK = 2, BLOCKS = 4, SPAN = 16 };

/* clang-format off */

/* One call; block 0: of the family without blocks. DIR is put or get. */
#define CALL(NAME, TYPE, DIR)                                                                      \
    static void NAME##_##DIR(enum form form, size_t block, TYPE *dest, const TYPE *source,         \
                             ptrdiff_t dst, ptrdiff_t sst, int pe)                                 \
    {                                                                                              \
        switch (block ? form + FORMS : form) {                                                     \
        case PLAIN: shmem_##NAME##_i##DIR(dest, source, dst, sst, BLOCKS, pe); break;              \
        case CTX: shmem_ctx_##NAME##_i##DIR(ctx, dest, source, dst, sst, BLOCKS, pe); break;       \
        case GENERIC: shmem_i##DIR(dest, source, dst, sst, BLOCKS, pe); break;                     \
        case GENERIC_CTX: shmem_i##DIR(ctx, dest, source, dst, sst, BLOCKS, pe); break;            \
        case FORMS + PLAIN: shmem_##NAME##_ib##DIR(dest, source, dst, sst, block, BLOCKS, pe); break; \
        case FORMS + CTX:                                                                          \
            shmem_ctx_##NAME##_ib##DIR(ctx, dest, source, dst, sst, block, BLOCKS, pe);            \
            break;                                                                                 \
        case FORMS + GENERIC: shmem_ib##DIR(dest, source, dst, sst, block, BLOCKS, pe); break;     \
        default: shmem_ib##DIR(ctx, dest, source, dst, sst, block, BLOCKS, pe); break;             \
        }                                                                                          \
    }

/* Element j of block i is value i * width + j; what lies between blocks keeps its zero. */
#define CHECK(NAME, TYPE)                                                                          \
    CALL(NAME, TYPE, put)                                                                          \
    CALL(NAME, TYPE, get)                                                                          \
    static bool NAME##_right(const TYPE *at, int stride, int width, int salt)                      \
    {                                                                                              \
        bool right = true;                                                                         \
        for (int i = 0; i < BLOCKS * stride; i++) {                                                \
            bool inside = i % stride < width;                                                      \
            TYPE wanted = VALUE(TYPE, i / stride * width + i % stride, salt);                      \
            right = right && at[i] == (inside ? wanted : (TYPE)0);                                 \
        }                                                                                          \
        return right;                                                                              \
    }                                                                                              \
    static void NAME##_check(enum form form, size_t block)                                         \
    {                                                                                              \
        TYPE *there = (TYPE *)area, mine[SPAN] = {0}, back[SPAN] = {0};                            \
        int width = block ? (int)block : 1;                                                        \
        for (int i = 0; i < BLOCKS * NARROW; i++)                                                    \
            if (i % NARROW < width)                                                                  \
                mine[i] = VALUE(TYPE, i / NARROW * width + i % NARROW, mp_me);                         \
        memset(area, 0, AREA_BYTES);                                                               \
        shmem_barrier_all();                                                                       \
        NAME##_put(form, block, there, mine, WIDE, NARROW, mp_right());                               \
        types_barrier();                                                                           \
        mp_check(NAME##_right(there, WIDE, width, mp_left()), #NAME " strided put, form %d", form); \
        NAME##_get(form, block, back, there, NARROW, WIDE, mp_right());                               \
        types_barrier();                                                                           \
        mp_check(NAME##_right(back, NARROW, width, mp_me), #NAME " strided get, form %d", form);     \
    }
WSH_RMA_TYPES(CHECK)
#undef CHECK
#undef CALL

/* The untyped forms: there and back again; elements of BITS / 8 bytes, numbered in their first byte. */
#define CHECK(BITS)                                                                                \
    static void check_##BITS(bool with_ctx, size_t block)                                          \
    {                                                                                              \
        enum { SIZE = BITS / 8 };                                                                  \
        char mine[SPAN * SIZE], back[SPAN * SIZE];                                                 \
        size_t width = block ? block : 1;                                                          \
        mp_fill(mine, sizeof mine, (uint64_t)mp_me);                                               \
        memset(back, 0, sizeof back);                                                              \
        if (with_ctx && block) {                                                                   \
            shmem_ctx_ibput##BITS(ctx, area, mine, WIDE, NARROW, block, BLOCKS, mp_right());          \
            shmem_ctx_quiet(ctx);                                                                  \
            shmem_ctx_ibget##BITS(ctx, back, area, NARROW, WIDE, block, BLOCKS, mp_right());          \
        } else if (with_ctx) {                                                                     \
            shmem_ctx_iput##BITS(ctx, area, mine, WIDE, NARROW, BLOCKS, mp_right());                  \
            shmem_ctx_quiet(ctx);                                                                  \
            shmem_ctx_iget##BITS(ctx, back, area, NARROW, WIDE, BLOCKS, mp_right());                  \
        } else if (block) {                                                                        \
            shmem_ibput##BITS(area, mine, WIDE, NARROW, block, BLOCKS, mp_right());                   \
            shmem_quiet();                                                                         \
            shmem_ibget##BITS(back, area, NARROW, WIDE, block, BLOCKS, mp_right());                   \
        } else {                                                                                   \
            shmem_iput##BITS(area, mine, WIDE, NARROW, BLOCKS, mp_right());                           \
            shmem_quiet();                                                                         \
            shmem_iget##BITS(back, area, NARROW, WIDE, BLOCKS, mp_right());                           \
        }                                                                                          \
        for (size_t i = 0; i < BLOCKS; i++)                                                        \
            mp_check(!memcmp(back + i * NARROW * SIZE, mine + i * NARROW * SIZE, width * SIZE),        \
                     "i[b]put" #BITS ", block size %zu: block %zu", block, i);                     \
        types_barrier();                                                                           \
    }
WSH_SIZES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
    for (size_t block = 0; block <= BLOCK; block += BLOCK) {
        for (enum form form = PLAIN; form < FORMS; form++) {
#define RUN(NAME, TYPE) NAME##_check(form, block);
            WSH_RMA_TYPES(RUN)
#undef RUN
        }
        for (int with_ctx = 0; with_ctx < 2; with_ctx++) {
#define RUN(BITS) check_##BITS(with_ctx, block);
            WSH_SIZES(RUN)
#undef RUN
        }
    }
    return types_end();
}
