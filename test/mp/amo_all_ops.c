/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every atomic routine gives the right old and new value, for 4- and 8-byte words, blocking and not. Only a fence
 * orders an atomic behind one that fetches nothing.
 * paths: local:2,4 tcp:2 sets:2 shm:2 mixed:4 mixedshm:4 single rails:2
 */
#include "test/common/mp.h"

#include <inttypes.h>

/* Each PE works on its own word at the right neighbour; the left neighbour's word lives here. */
#define DEFINE_OPS(type, NAME)                                                                     \
    static void check_##NAME(type *word)                                                           \
    {                                                                                              \
        int pe = mp_right();                                                                       \
        type old;                                                                                  \
        shmem_##NAME##_atomic_set(word, 40, pe);                                                   \
        shmem_fence();                                                                             \
        mp_check(shmem_##NAME##_atomic_fetch(word, pe) == 40, #NAME " set or fetch");              \
        mp_check(shmem_##NAME##_atomic_swap(word, 41, pe) == 40, #NAME " swap");                   \
        mp_check(shmem_##NAME##_atomic_compare_swap(word, 40, 9, pe) == 41, #NAME " cswap fails"); \
        mp_check(shmem_##NAME##_atomic_compare_swap(word, 41, 50, pe) == 41, #NAME " cswap");      \
        shmem_##NAME##_atomic_inc(word, pe);                                                       \
        shmem_##NAME##_atomic_add(word, 5, pe);                                                    \
        shmem_fence();                                                                             \
        mp_check(shmem_##NAME##_atomic_fetch_inc(word, pe) == 56, #NAME " inc, add");              \
        mp_check(shmem_##NAME##_atomic_fetch_add(word, (type)-7, pe) == 57, #NAME " fetch_inc");   \
        shmem_##NAME##_atomic_fetch_nbi(&old, word, pe);                                           \
        shmem_quiet();                                                                             \
        mp_check(old == 50, #NAME " fetch_nbi after fetch_add");                                   \
        shmem_##NAME##_atomic_swap_nbi(&old, word, 60, pe);                                        \
        shmem_quiet();                                                                             \
        mp_check(old == 50, #NAME " swap_nbi");                                                    \
        shmem_##NAME##_atomic_compare_swap_nbi(&old, word, 60, 61, pe);                            \
        shmem_quiet();                                                                             \
        mp_check(old == 60, #NAME " compare_swap_nbi");                                            \
        shmem_##NAME##_atomic_fetch_inc_nbi(&old, word, pe);                                       \
        shmem_quiet();                                                                             \
        mp_check(old == 61, #NAME " fetch_inc_nbi");                                               \
        shmem_##NAME##_atomic_fetch_add_nbi(&old, word, 3, pe);                                    \
        shmem_quiet();                                                                             \
        mp_check(old == 62, #NAME " fetch_add_nbi");                                               \
        mp_check(shmem_##NAME##_atomic_fetch(word, pe) == 65, #NAME " at the end");                \
    }
DEFINE_OPS(int, int)
DEFINE_OPS(long, long)
DEFINE_OPS(long long, longlong)
DEFINE_OPS(unsigned int, uint)
DEFINE_OPS(unsigned long, ulong)
DEFINE_OPS(unsigned long long, ulonglong)
DEFINE_OPS(int32_t, int32)
DEFINE_OPS(int64_t, int64)
DEFINE_OPS(uint32_t, uint32)
DEFINE_OPS(uint64_t, uint64)
DEFINE_OPS(size_t, size)
DEFINE_OPS(ptrdiff_t, ptrdiff)
#undef DEFINE_OPS

static void check_bits32(uint32_t *word)
{
    int pe = mp_right();
    uint32_t old;

    shmem_uint32_atomic_set(word, 0xf0f0f0f0, pe);
    shmem_fence();
    shmem_uint32_atomic_and(word, 0xff00ff00, pe);
    shmem_fence();
    mp_check(shmem_uint32_atomic_fetch_or(word, 0x0000000f, pe) == 0xf000f000, "and");
    shmem_uint32_atomic_or(word, 0x00000010, pe);
    shmem_fence();
    mp_check(shmem_uint32_atomic_fetch_xor(word, 0xffffffff, pe) == 0xf000f01f, "or");
    shmem_uint32_atomic_xor(word, 0x0ff, pe);
    shmem_fence();
    mp_check(shmem_uint32_atomic_fetch_and(word, 0x0fff0fff, pe) == 0x0fff0f1f, "xor");
    shmem_uint32_atomic_fetch_and_nbi(&old, word, 0x0000ffff, pe);
    shmem_quiet();
    mp_check(old == 0x0fff0f1f, "fetch_and and fetch_and_nbi: %" PRIx32, old);
    shmem_uint32_atomic_fetch_or_nbi(&old, word, 0xa0000000, pe);
    shmem_quiet();
    mp_check(old == 0x00000f1f, "fetch_or_nbi: %" PRIx32, old);
    shmem_uint32_atomic_fetch_xor_nbi(&old, word, 0xffffffff, pe);
    shmem_quiet();
    mp_check(old == 0xa0000f1f, "fetch_xor_nbi: %" PRIx32, old);
    mp_check(shmem_uint32_atomic_fetch(word, pe) == 0x5ffff0e0, "bits at the end");
}

static void check_bits64(uint64_t *word)
{
    int pe = mp_right();

    shmem_uint64_atomic_set(word, 1ull << 63, pe);
    shmem_fence();
    mp_check(shmem_uint64_atomic_fetch_or(word, 1ull << 40, pe) == 1ull << 63, "64-bit or");
    mp_check(shmem_uint64_atomic_fetch_xor(word, 1ull << 63, pe) == (1ull << 63 | 1ull << 40), "64-bit xor");
    mp_check(shmem_uint64_atomic_fetch_and(word, 0, pe) == 1ull << 40, "64-bit and");
    mp_check(shmem_uint64_atomic_fetch(word, pe) == 0, "64-bit bits at the end");
}

static void check_floating(double *words)
{
    int pe = mp_right();
    float *narrow = (float *)&words[1], old;

    shmem_double_atomic_set(&words[0], 1.5, pe);
    shmem_fence();
    mp_check(shmem_double_atomic_swap(&words[0], -0.25, pe) == 1.5, "double swap");
    mp_check(shmem_double_atomic_fetch(&words[0], pe) == -0.25, "double fetch");
    shmem_float_atomic_set(narrow, 2.5f, pe);
    shmem_fence();
    shmem_float_atomic_swap_nbi(&old, narrow, 3.5f, pe);
    shmem_quiet();
    mp_check(old == 2.5f, "float swap_nbi");
    mp_check(shmem_float_atomic_fetch(narrow, pe) == 3.5f, "float fetch");
}

/* The bytes beside a 4-byte word stay as they are. */
static void check_neighbours(uint32_t *words)
{
    words[0] = words[2] = 0xdeadbeef;
    shmem_barrier_all();
    shmem_uint32_atomic_set(&words[1], 7, mp_right());
    shmem_fence();
    shmem_uint32_atomic_add(&words[1], 0xffffffff, mp_right());
    shmem_fence();
    shmem_uint32_atomic_swap(&words[1], 0xffffffff, mp_right());
    shmem_uint32_atomic_inc(&words[1], mp_right());
    shmem_barrier_all();
    mp_check(words[0] == 0xdeadbeef && words[1] == 0 && words[2] == 0xdeadbeef, "beside a 4-byte word");
}

int main(void)
{
    void *mem;

    mp_begin();
    mem = mp_alloc(64);
    check_int(mem), check_long(mem), check_longlong(mem);
    check_uint(mem), check_ulong(mem), check_ulonglong(mem);
    check_int32(mem), check_int64(mem), check_uint32(mem), check_uint64(mem);
    check_size(mem), check_ptrdiff(mem);
    check_bits32(mem);
    check_bits64(mem);
    check_floating(mem);
    shmem_barrier_all();
    check_neighbours(mem);
    return mp_end();
}
