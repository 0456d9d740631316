/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every atomic of device code, of every type, fetching, silent and nonblocking, returns the old value and leaves the
 * new one, on every PE's words.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

/*
 * The operation returned `old`, which must be `before`, and left `now`. Only used in the kernels below, whose word,
 * pe and report it names; NAME is their type.
 */
#define IS(NAME, TYPE, old, now)                                                                                  \
    do {                                                                                  \
        dev_expect(report, __LINE__, (unsigned long long)before, (unsigned long long)(old));                      \
        dev_expect(report, __LINE__, (unsigned long long)(TYPE)(now),                                             \
                   (unsigned long long)shmem_##NAME##_atomic_fetch(word, pe));            \
        before = (TYPE)(now);                                                                                     \
    } while (0)

/* One kernel a type; values fit every type. */
#define EXTENDED_KERNEL(NAME, TYPE)                                                       \
    __global__ void extended_##NAME(uint64_t *words, int pe, struct dev_report *report)   \
    {                                                                                     \
        TYPE *word = (TYPE *)(words + shmem_my_pe()), before = 0, fetched;                \
        shmem_##NAME##_atomic_set(word, 5, pe);                                           \
        before = 5;                                                                       \
        IS(NAME, TYPE, shmem_##NAME##_atomic_swap(word, 9, pe), 9);                       \
        shmem_##NAME##_atomic_swap_nbi(&fetched, word, 11, pe);                           \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 11);                                                      \
        shmem_##NAME##_atomic_fetch_nbi(&fetched, word, pe);                              \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 11);                                                      \
    }
#define STANDARD_KERNEL(NAME, TYPE)                                                       \
    __global__ void standard_##NAME(uint64_t *words, int pe, struct dev_report *report)   \
    {                                                                                     \
        TYPE *word = (TYPE *)(words + shmem_my_pe()), before = 40, fetched;               \
        shmem_##NAME##_atomic_set(word, 40, pe);                                          \
        IS(NAME, TYPE, shmem_##NAME##_atomic_fetch_add(word, 5, pe), 45);                 \
        IS(NAME, TYPE, shmem_##NAME##_atomic_fetch_inc(word, pe), 46);                    \
        IS(NAME, TYPE, shmem_##NAME##_atomic_compare_swap(word, 46, 7, pe), 7);           \
        IS(NAME, TYPE, shmem_##NAME##_atomic_compare_swap(word, 46, 8, pe), 7);           \
        shmem_##NAME##_atomic_add(word, 3, pe);                                           \
        shmem_##NAME##_atomic_inc(word, pe);                                              \
        before = 11;                                                                      \
        shmem_quiet();                                                                    \
        shmem_##NAME##_atomic_fetch_add_nbi(&fetched, word, 9, pe);                       \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 20);                                                      \
        shmem_##NAME##_atomic_fetch_inc_nbi(&fetched, word, pe);                          \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 21);                                                      \
        shmem_##NAME##_atomic_compare_swap_nbi(&fetched, word, 21, 1, pe);                \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 1);                                                       \
        IS(NAME, TYPE, shmem_##NAME##_atomic_fetch_add(word, (TYPE)-3, pe), -2);          \
    }
#define BITWISE_KERNEL(NAME, TYPE)                                                        \
    __global__ void bitwise_##NAME(uint64_t *words, int pe, struct dev_report *report)    \
    {                                                                                     \
        TYPE *word = (TYPE *)(words + shmem_my_pe()), before = 0x55, fetched;             \
        shmem_##NAME##_atomic_set(word, 0x55, pe);                                        \
        IS(NAME, TYPE, shmem_##NAME##_atomic_fetch_and(word, 0x0f, pe), 0x05);            \
        IS(NAME, TYPE, shmem_##NAME##_atomic_fetch_or(word, 0x30, pe), 0x35);             \
        IS(NAME, TYPE, shmem_##NAME##_atomic_fetch_xor(word, 0xff, pe), 0xca);            \
        shmem_##NAME##_atomic_and(word, 0xf0, pe);                                        \
        shmem_##NAME##_atomic_or(word, 0x01, pe);                                         \
        shmem_##NAME##_atomic_xor(word, 0x40, pe);                                        \
        shmem_quiet();                                                                    \
        before = 0x81;                                                                    \
        shmem_##NAME##_atomic_fetch_and_nbi(&fetched, word, 0x80, pe);                    \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 0x80);                                                    \
        shmem_##NAME##_atomic_fetch_or_nbi(&fetched, word, 0x02, pe);                     \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 0x82);                                                    \
        shmem_##NAME##_atomic_fetch_xor_nbi(&fetched, word, 0x82, pe);                    \
        shmem_quiet();                                                                    \
        IS(NAME, TYPE, fetched, 0);                                                       \
    }

/* clang-format off */
WSH_AMO_EXTENDED_TYPES(EXTENDED_KERNEL)
WSH_AMO_TYPES(STANDARD_KERNEL)
WSH_AMO_BITWISE_TYPES(BITWISE_KERNEL)

static void run(uint64_t *words, int pe, struct dev_report *report)
{
#define RUN(NAME, TYPE, CLASS) CLASS##_##NAME<<<1, 1>>>(words, pe, report), dev_check_report(report, #NAME ", " #CLASS);
#define EXTENDED(NAME, TYPE) RUN(NAME, TYPE, extended)
#define STANDARD(NAME, TYPE) RUN(NAME, TYPE, standard)
#define BITWISE(NAME, TYPE) RUN(NAME, TYPE, bitwise)
    WSH_AMO_EXTENDED_TYPES(EXTENDED)
    WSH_AMO_TYPES(STANDARD)
    WSH_AMO_BITWISE_TYPES(BITWISE)
#undef EXTENDED
#undef STANDARD
#undef BITWISE
#undef RUN
}
/* clang-format on */

int main(void)
{
    struct dev_report *report;
    uint64_t *words;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    words = (uint64_t *)dev_alloc((size_t)mp_npes * 8);
    for (int pe = 0; pe < mp_npes; pe++) {
        dev_case("words of PE %d", pe);
        run(words, pe, report);
    }
    return dev_end();
}
