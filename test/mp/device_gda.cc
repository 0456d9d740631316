/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels post to the NIC: a thread of the CPU writes requests into the queues by the rules of device/nic/gda.h, as a
 * kernel does, and everything else is the real thing: queues of the provider efa-direct over the emulated device, the
 * watcher, the proxy. Puts and gets arrive, over many turns of a queue; what is below a queue's mark has arrived; the
 * host's quiet waits for all; what a record of the proxy brings behind a fence comes after them.
 *
 * paths: fakegda:2,4 fakegdarails:2
 * timeout: 120
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>

#include "device/nic/gda.h"
#include "device/core/strided.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn
#include "test/mp/helper/gda_poster.cuh"

enum { BLOCK = 256, BLOCKS = 4096 };

static struct wsh_ring_heads heads;
static struct wsh_device_locks locks;
static unsigned char *landing, *outgoing;
static uint64_t *flag;
static int other; /* of the other host */

static void check(const char *what, const unsigned char *memory, uint64_t seed)
{
    size_t wrong = mp_wrong(memory, BLOCK * BLOCKS, seed);

    mp_check(!wrong, "%s: %zu bytes wrong", what, wrong);
}

static void move(uint64_t operation, unsigned char *there, unsigned char *here, int pe, unsigned queues)
{
    poster_move(&wsh_device_view, operation, there, here, BLOCK, BLOCKS, pe, queues);
}

static void take_state()
{
    poster_open(&wsh_device_view);
    wsh_device_view.ring_heads = (uint64_t)&heads;
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.flags &= ~WSH_DEVICE_GDA; /* device code itself goes by records */
    wsh_device_view.slots = 0;
    wsh_device_view.ranges = 0;
}

static void moves(unsigned n, uint64_t seed)
{
    mp_fill(outgoing, BLOCK * BLOCKS, seed + (unsigned)mp_me);
    shmem_barrier_all();
    move(WSH_GDA_WRITE, landing, outgoing, other, n);
    shmem_barrier_all(); /* the host's quiet */
    for (unsigned i = 0; i < n; i++)
        mp_check(acquired(&marks_of(&gda->queue[i])->mark) >= gda->queue[i].reserved, "quiet left queue %u", i);
    check("put", landing, seed + (unsigned)other);
    shmem_barrier_all();
    memset(landing, 0, BLOCK * BLOCKS);
    shmem_barrier_all();
    move(WSH_GDA_READ, outgoing, landing, other, n);
    poster_await(n);
    check("get", landing, seed + (unsigned)other);
    shmem_barrier_all();
}

/* While later ones are posted: what is below the mark is here. */
static void below_the_mark(uint64_t seed)
{
    static unsigned char expected[BLOCK * BLOCKS];
    struct wsh_gda_queue *queue = &gda->queue[0];
    uint64_t first = queue->reserved, seen = 0;
    unsigned wrong = 0;

    mp_fill(expected, sizeof expected, seed + (unsigned)other);
    mp_fill(outgoing, BLOCK * BLOCKS, seed + (unsigned)mp_me);
    memset(landing, 0, BLOCK * BLOCKS);
    shmem_barrier_all();
    for (uint64_t i = 0; seen < BLOCKS;) {
        for (; i < BLOCKS && queue->reserved - queue->rung < queue->max_batch; i++)
            poster_store(&wsh_device_view, queue, WSH_GDA_READ, other, outgoing + i * BLOCK, landing + i * BLOCK, BLOCK, {});
        if (queue->rung != queue->reserved)
            poster_ring(queue);
        for (uint64_t mark = acquired(&marks_of(queue)->mark) - first; seen < mark; seen++)
            wrong += memcmp(landing + seen * BLOCK, expected + seen * BLOCK, BLOCK) != 0;
    }
    mp_check(!wrong, "below the mark: %u blocks of %d wrong", wrong, (int)BLOCKS);
    shmem_barrier_all();
}

/* The flag goes by a record of the next epoch. */
static void fenced(unsigned round)
{
    uint64_t seed = 1000 + round, value = round + 1;

    mp_fill(outgoing, BLOCK * BLOCKS, seed + (unsigned)mp_me);
    shmem_barrier_all();
    move(WSH_GDA_WRITE, landing, outgoing, other, gda->n_queues);
    heads.epoch++;
    cpu_block_run(1, [=] { wsh_dev_put_any<WSH_THREAD, true>("put", flag, &value, sizeof value, other); });
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, value);
    check("behind a fence", landing, seed + (unsigned)other);
    shmem_barrier_all();
}

int main(void)
{
    unsigned rounds;

    mp_begin();
    other = (mp_me + mp_npes / 2) % mp_npes;
    landing = (unsigned char *)mp_alloc(BLOCK * BLOCKS);
    outgoing = (unsigned char *)mp_alloc(BLOCK * BLOCKS);
    flag = (uint64_t *)mp_alloc(sizeof *flag);
    shmemx_free_device(shmemx_malloc_device(8));
    mp_check(wsh_device_view.flags & WSH_DEVICE_GDA, "kernels do not post");
    if (!(wsh_device_view.flags & WSH_DEVICE_GDA))
        return mp_end();
    take_state();
    mp_check(gda->n_queues && gda->n_queues <= WSH_GDA_QUEUES_MAX && gda->local[WSH_DEVICE_SEG_HEAP].length, "%u queues",
             gda->n_queues);
    rounds = (unsigned)mp_rounds(3, 100);
    for (unsigned round = 0; round < rounds; round++) {
        moves(1, 8 * round);
        moves(gda->n_queues, 8 * round + 4);
        below_the_mark(5000 + 8 * round);
        fenced(round);
    }
    return mp_end();
}
