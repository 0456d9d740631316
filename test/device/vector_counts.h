/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much each member gives each in tests of alltoallv in kernels, as all members work it out: nothing, all to one,
 * all from one, all to oneself, equal parts, any.
 */
#ifndef WSH_TEST_VECTOR_COUNTS_H
#define WSH_TEST_VECTOR_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define VECTOR_FUNCTION static __host__ __device__ inline
#else
#define VECTOR_FUNCTION static inline
#endif

VECTOR_FUNCTION uint64_t vector_mix(unsigned round, int from, int to)
{
    uint64_t z = round * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(from + 1) * UINT64_C(0xbf58476d1ce4e5b9) +
                 (uint64_t)(to + 1) * UINT64_C(0x94d049bb133111eb);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (z ^ z >> 27) >> 8;
}

/* 0 … most, short ones as often as long ones. */
VECTOR_FUNCTION size_t vector_any(uint64_t mix, size_t most)
{
    size_t below = most >> (mix >> 32) % 12;

    return (size_t)(mix % (below + 1));
}

/* Elements, at most `most`, that member `from` has for member `to`. */
VECTOR_FUNCTION size_t vector_count(unsigned round, int from, int to, int n_pes, size_t most)
{
    uint64_t mix = vector_mix(round, from, to), all = vector_mix(round, 0, 0);

    switch (round % 8) {
    case 0: return all % 2 ? 0 : mix % 8 ? 0 : vector_any(mix, most);
    case 1: return to == (int)(all % (unsigned)n_pes) ? most - mix % 16 % (most + 1) : mix % 4;
    case 2: return from == (int)(all % (unsigned)n_pes) ? vector_any(mix, most) : 0;
    case 3: return from == to ? vector_any(mix, most) : 0;
    case 4: return vector_any(all, most);
    default: return vector_any(mix, most);
    }
}

/* Where the block for `to` begins in the source, and that from `from` in dest: in order, and in the reverse. */
VECTOR_FUNCTION size_t vector_source_at(unsigned round, int from, int to, int n_pes, size_t most)
{
    size_t at = round % 3;

    for (int i = 0; i < to; i++)
        at += vector_count(round, from, i, n_pes, most) + i % 2;
    return at;
}

VECTOR_FUNCTION size_t vector_dest_at(unsigned round, int from, int to, int n_pes, size_t most)
{
    size_t at = round % 5;

    for (int i = n_pes - 1; i > from; i--)
        at += vector_count(round, i, to, n_pes, most) + 1;
    return at;
}

/* The packed form: at what multiples blocks begin, where, what they need in all, and the room that there is. */
VECTOR_FUNCTION size_t vector_align(unsigned round)
{
    return round / 8 % 4 == 3 ? 12 : (size_t)1 << round / 8 % 4 >> 1;
}

/* Of member n_pes: the end of the last block. */
VECTOR_FUNCTION size_t vector_packed_at(unsigned round, int from, int to, int n_pes, size_t most)
{
    size_t end = 0, at = 0, align = vector_align(round) ? vector_align(round) : 1;

    for (int i = 0; i <= from && i < n_pes; i++) {
        at = (end + align - 1) / align * align;
        end = at + vector_count(round, i, to, n_pes, most);
    }
    return from < n_pes ? at : end;
}

VECTOR_FUNCTION size_t vector_dest_max(unsigned round, int to, int n_pes, size_t most)
{
    size_t need = vector_packed_at(round, n_pes, to, n_pes, most);
    uint64_t mix = vector_mix(round, to, 99);

    return mix % 4 || !need ? need + mix % 3 : need - 1 - mix / 4 % need;
}

/* Element i of what member `from` has for member `to`. */
VECTOR_FUNCTION uint32_t vector_value(unsigned round, int from, int to, size_t i)
{
    return round * 2654435761u + (unsigned)from * 40503u + (unsigned)to * 977u + (unsigned)i * 31u;
}

#endif
