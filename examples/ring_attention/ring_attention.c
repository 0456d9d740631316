/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring attention: each PE keeps its queries, and blocks of keys and values go around. In every step a PE sends the
 * block that it holds to the right while it computes with it, and the one from the left arrives in its other buffer.
 *
 *   oshcc -O2 -o ring_attention ring_attention.c -lm && oshrun -n 4 ./ring_attention
 */
#include "attention.h"

#include <shmem.h>

#include <stdio.h>

static float queries[TOKENS][WIDTH], out[TOKENS][WIDTH];
static float highest[TOKENS], sums[TOKENS]; /* of a query's scores so far; of their exponentials */

static float blocks[2][BLOCK]; /* those of even and of odd steps */
static uint64_t arrived;       /* the step whose block has come */
static uint64_t free_from;     /* the right neighbour's buffer of step - 1 may be written in this step */

/* Keys and values of one block: what was computed before is scaled when a higher score comes. */
static void attend(const float *block)
{
    for (int query = 0; query < TOKENS; query++)
        for (int token = 0; token < TOKENS; token++) {
            const float *key = block + token * WIDTH, *value = key + TOKENS * WIDTH;
            float score = 0, scale = 1, weight = 1;
            for (int column = 0; column < WIDTH; column++)
                score += queries[query][column] * key[column];
            score *= ATTENTION_SCALE;
            if (score > highest[query]) {
                scale = expf(highest[query] - score);
                highest[query] = score;
            } else {
                weight = expf(score - highest[query]);
            }
            sums[query] = sums[query] * scale + weight;
            for (int column = 0; column < WIDTH; column++)
                out[query][column] = out[query][column] * scale + weight * value[column];
        }
}

static void fill(int me)
{
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        int token = me * TOKENS + i / WIDTH, column = i % WIDTH;
        queries[i / WIDTH][column] = attention_number(QUERY, token, column);
        blocks[0][i] = attention_number(KEY, token, column);
        blocks[0][TOKENS * WIDTH + i] = attention_number(VALUE, token, column);
    }
    for (int query = 0; query < TOKENS; query++)
        highest[query] = -INFINITY;
}

static void ring(int me, int n)
{
    int right = (me + 1) % n, left = (me + n - 1) % n;

    for (uint64_t step = 0; step < (uint64_t)n; step++) {
        int last = step == (uint64_t)n - 1;
        if (!last) {
            shmem_signal_wait_until(&free_from, SHMEM_CMP_GE, step);
            shmem_float_put_signal_nbi(blocks[(step + 1) % 2], blocks[step % 2], BLOCK, &arrived, step + 1,
                                       SHMEM_SIGNAL_SET, right);
        }
        attend(blocks[step % 2]);
        if (!last) {
            shmem_quiet(); /* the block has left, and is computed with: the left neighbour may write the next but one */
            shmem_signal_set(&free_from, step + 1, left);
            shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, step + 1);
        }
    }
    for (int i = 0; i < TOKENS * WIDTH; i++)
        out[i / WIDTH][i % WIDTH] /= sums[i / WIDTH];
}

int main(void)
{
    static long wrong, all;
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    fill(me);
    shmem_barrier_all();
    ring(me, n);
    wrong = attention_wrong(out[0], me, n);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (me == 0)
        printf("ring_attention: %d PEs, %d tokens each, %ld wrong\n", n, TOKENS, all);
    shmem_finalize();
    return all != 0;
}
