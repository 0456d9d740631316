/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels post to the NIC: a thread of the CPU writes requests into the queues by the rules of device/gda.h, as a
 * kernel does, and everything else is the real thing: queues of the provider efa-direct over the emulated device, the
 * watcher, the proxy. Puts and gets arrive, over many turns of a queue; the host's quiet waits for them; what a record
 * of the proxy brings behind a fence comes after them.
 *
 * paths: fakegda:2,4
 * timeout: 120
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>

#include "device/gda.h"
#include "device/strided.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn
#include "test/fake_cuda/fake.h"

#include <sched.h>

enum { BLOCK = 256, BLOCKS = 4096 };

static struct wsh_ring_heads heads;
static struct wsh_device_locks locks;
static struct wsh_gda *gda; /* as the GPU sees it */
static unsigned char *landing, *outgoing;
static uint64_t *flag;
static int other; /* of the other host */

static uint64_t acquired(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static struct wsh_gda_marks *marks_of(const struct wsh_gda_queue *queue)
{
    return (struct wsh_gda_marks *)queue->marks;
}

static const void *tables(uint64_t at)
{
    return fake_alias((const void *)at);
}

/* Stores the request; nobody else posts to this queue. `heap` is where both ends lie. */
static void store(struct wsh_gda_queue *queue, uint64_t operation, int pe, const void *there, const void *here,
                  uint32_t len)
{
    const struct wsh_gda_target *target =
        (const struct wsh_gda_target *)tables(gda->targets) + queue->rail * (unsigned)mp_npes + pe;
    const struct wsh_gda_remote *remote =
        (const struct wsh_gda_remote *)tables(gda->remote[WSH_DEVICE_SEG_HEAP]) + queue->rail * (unsigned)mp_npes + pe;
    uint64_t number = queue->reserved++, id = number | (uint64_t)pe << WSH_GDA_PE_AT;
    volatile uint64_t *words = (uint64_t *)queue->ring + number % queue->entries * queue->entry_words;

    while (number - acquired(&marks_of(queue)->completed) >= queue->entries)
        sched_yield();
    words[0] = (id & 0xffff) | operation << WSH_GDA_OPERATION_AT | WSH_GDA_META |
               (number / queue->entries & 1) << WSH_GDA_PHASE_AT | WSH_GDA_FIRST | WSH_GDA_LAST | WSH_GDA_COMPLETION |
               (uint64_t)target->qpn << WSH_GDA_QPN_AT | (uint64_t)1 << WSH_GDA_PIECES_AT;
    words[1] = (uint64_t)target->ah << WSH_GDA_AH_AT;
    words[2] = target->qkey;
    words[3] = id >> 16 << 16;
    words[4] = len | (uint64_t)remote->key << WSH_GDA_KEY_AT;
    words[5] = remote->base + ((uint64_t)there - wsh_device_view.seg[WSH_DEVICE_SEG_HEAP].base);
    words[6] = len | (uint64_t)gda->local_key[WSH_DEVICE_SEG_HEAP][queue->rail] << WSH_GDA_KEY_AT;
    words[7] = (uint64_t)here;
}

static void ring(struct wsh_gda_queue *queue)
{
    __atomic_store_n(&marks_of(queue)->posted, queue->reserved, __ATOMIC_RELAXED);
    __atomic_store_n((uint32_t *)queue->doorbell, (uint32_t)queue->reserved, __ATOMIC_RELEASE);
    queue->rung = queue->reserved;
}

/* All blocks, in turn over `n` queues, with as few doorbells as may be. */
static void move(uint64_t operation, unsigned char *there, unsigned char *here, int pe, unsigned n)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct wsh_gda_queue *queue = &gda->queue[i / 16 % n];

        store(queue, operation, pe, there + i * BLOCK, here + i * BLOCK, BLOCK);
        if (queue->reserved - queue->rung == queue->max_batch || i % 16 == 15)
            ring(queue);
    }
    for (unsigned i = 0; i < n; i++)
        if (gda->queue[i].rung != gda->queue[i].reserved)
            ring(&gda->queue[i]);
}

static void await(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        while (acquired(&marks_of(&gda->queue[i])->mark) < gda->queue[i].reserved)
            sched_yield();
}

static void check(const char *what, const unsigned char *memory, uint64_t seed)
{
    size_t wrong = mp_wrong(memory, BLOCK * BLOCKS, seed);

    mp_check(!wrong, "%s: %zu bytes wrong", what, wrong);
}

static void take_view()
{
    gda = (struct wsh_gda *)fake_alias((void *)(wsh_device_view.ring_heads + sizeof(struct wsh_ring_heads)));
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
    await(n);
    check("get", landing, seed + (unsigned)other);
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
    cpu_block_run(1, [=] { wsh_dev_put_any<WSH_THREAD, true>("put", flag, &value, sizeof value, other, nullptr); });
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
    take_view();
    mp_check(gda->n_queues && gda->n_queues <= WSH_GDA_QUEUES_MAX && gda->length[WSH_DEVICE_SEG_HEAP], "%u queues",
             gda->n_queues);
    rounds = (unsigned)mp_rounds(3, 100);
    for (unsigned round = 0; round < rounds; round++) {
        moves(1, 8 * round);
        moves(gda->n_queues, 8 * round + 4);
        fenced(round);
    }
    return mp_end();
}
