/* SPDX-License-Identifier: BSD-3-Clause */
/* A region's lock and its recovery from a killed holder, the memory of its rings, and its bell. */
#include "emulator/fabric/fabric.h"

#include "emulator/fabric/futex.h"
#include "emulator/say.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Both stores of a journal are absolute, so doing them twice is no harm. */
static void finish_journal(struct emu_region *region)
{
    struct emu_journal *journal = &region->journal;

    if (!atomic_load_explicit(&journal->valid, memory_order_relaxed))
        return;
    if (journal->qp != UINT32_MAX)
        atomic_store_explicit(&region->qp[journal->qp].head, journal->head, memory_order_relaxed);
    /* release: pairs with the acquire of the owner's poll, for the entry's contents */
    atomic_store_explicit(&region->cq[journal->cq].prod, journal->prod, memory_order_release);
    atomic_store_explicit(&journal->valid, 0, memory_order_relaxed);
}

/* The owner's service thread may still be at work for the one who died. */
static void packet_finish(struct emu_region *region)
{
    struct emu_packet *packet = &region->packet;
    uint32_t state =
        atomic_load_explicit(&packet->state, memory_order_acquire); /* pairs with service.c's release */

    for (int tries = 0; (state == EMU_PACKET_WRITE || state == EMU_PACKET_READ) && tries < 100; tries++) {
        emu_futex_wait(&packet->state, state, 10000000);
        state = atomic_load_explicit(&packet->state, memory_order_acquire);
    }
    atomic_store_explicit(&packet->state, EMU_PACKET_IDLE, memory_order_relaxed);
}

void emu_region_lock(struct emu_region *region)
{
    if (pthread_mutex_lock(&region->lock) != EOWNERDEAD)
        return;
    finish_journal(region);
    packet_finish(region);
    pthread_mutex_consistent(&region->lock);
}

void emu_region_unlock(struct emu_region *region)
{
    pthread_mutex_unlock(&region->lock);
}

void emu_region_wake(struct emu_region *region)
{
    /* release: pairs with the acquire of the service thread, for what it is asked to do */
    atomic_fetch_add_explicit(&region->wakeup, 1, memory_order_release);
    emu_futex_wake(&region->wakeup);
}

void emu_region_wake_engine(struct emu_region *region)
{
    /* release: pairs with the acquire of the engine, which then looks at queues and counters */
    atomic_fetch_add_explicit(&region->queue_wakeup, 1, memory_order_release);
    if (atomic_load_explicit(&region->queue_sleeps, memory_order_relaxed))
        emu_futex_wake(&region->queue_wakeup);
}

/* Rings are few and of few sizes: those given back are kept for the next of the same size. */
#define SPARE_MAX 256
static pthread_mutex_t ring_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ring_end;
static struct {
    uint64_t at, bytes;
} spare[SPARE_MAX];
static unsigned nspare;

static uint64_t take_spare(uint64_t bytes)
{
    for (unsigned i = 0; i < nspare; i++)
        if (spare[i].bytes == bytes) {
            uint64_t at = spare[i].at;

            spare[i] = spare[--nspare];
            return at;
        }
    return 0;
}

/* Committed here, so that a full file system is an error now and no SIGBUS later. */
static uint64_t take_fresh(uint64_t bytes)
{
    uint64_t at = ring_end ? ring_end : (sizeof(struct emu_region) + 4095) & ~4095ull;
    int rc;

    if (at + bytes > EMU_REGION_BYTES)
        return 0;
    rc = posix_fallocate(emu.region_fd, (off_t)at, (off_t)bytes);
    if (rc) {
        emu_say("no room for a queue of %llu KiB in %s: %s", (unsigned long long)bytes >> 10,
                emu.settings.dir, strerror(rc));
        return 0;
    }
    ring_end = at + bytes;
    return at;
}

uint64_t emu_region_ring(uint64_t bytes)
{
    uint64_t at;

    pthread_mutex_lock(&ring_mutex);
    at = take_spare(bytes);
    if (!at)
        at = take_fresh(bytes);
    pthread_mutex_unlock(&ring_mutex);
    return at;
}

void emu_region_ring_free(uint64_t at, uint64_t bytes)
{
    pthread_mutex_lock(&ring_mutex);
    if (nspare < SPARE_MAX) {
        spare[nspare].at = at;
        spare[nspare++].bytes = bytes;
    }
    pthread_mutex_unlock(&ring_mutex);
}

/* fe80::<slot>:…: a link-local address whose low bytes look like those made from a MAC address. */
void emu_gid_make(uint32_t slot, uint32_t nic, union ibv_gid *gid)
{
    const uint8_t head[] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0xef, 0xa0, 0xff, 0xfe};

    memcpy(gid->raw, head, sizeof head);
    gid->raw[13] = (uint8_t)(slot >> 8);
    gid->raw[14] = (uint8_t)slot;
    gid->raw[15] = (uint8_t)nic;
}

bool emu_gid_read(const union ibv_gid *gid, uint32_t *slot, uint32_t *nic)
{
    union ibv_gid like;

    *slot = (uint32_t)gid->raw[13] << 8 | gid->raw[14];
    *nic = gid->raw[15];
    emu_gid_make(*slot, *nic, &like);
    return !memcmp(&like, gid, sizeof like) && *nic < EMU_NICS_MAX;
}
