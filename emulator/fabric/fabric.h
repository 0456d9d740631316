/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric's folder: joining it, this process's region, those of the peers, and which of them still live. */
#ifndef EMU_FABRIC_H
#define EMU_FABRIC_H

#include "emulator/settings.h"
#include "emulator/fabric/shared.h"

#include <infiniband/verbs.h>

struct emu_peer {
    struct emu_region *region;
    int pidfd;           /* -1: the kernel has none */
    bool gone;           /* killed, or never there */
    bool responded;      /* has answered this process once */
    uint64_t checked_ns; /* when it was last seen alive */
};

struct emu_fabric {
    struct emu_settings settings;
    struct emu_job *job;
    struct emu_region *mine;
    int region_fd;
    int pid;
};

/* The one of this process. */
extern struct emu_fabric emu;

/*
 * Reads the settings and joins the fabric, once. Returns 0 or negative errno, which has been reported; a child of
 * fork() is refused with -EOPNOTSUPP.
 */
int emu_fabric_join(void);

/* In a child after fork() nothing of the emulator may be used. */
bool emu_fabric_usable(void);

/* CLOCK_MONOTONIC */
uint64_t emu_now_ns(void);

/* The peer of this slot, mapped at first use; NULL if there never was such a process, or it has left no trace. */
struct emu_peer *emu_fabric_peer(uint32_t slot);

/* Looks at the process itself, at most every millisecond. */
bool emu_peer_alive(struct emu_peer *peer);

/* The region's lock outlives a holder that is killed: what it had begun is completed. */
void emu_region_lock(struct emu_region *region);
void emu_region_unlock(struct emu_region *region);

/* A ring in the own region: its offset, or 0 if no memory is left. `bytes` is a power of two of at least 4096. */
uint64_t emu_region_ring(uint64_t bytes);
void emu_region_ring_free(uint64_t at, uint64_t bytes);

/* Wakes the service thread of the region's owner. */
void emu_region_wake(struct emu_region *region);
/* Wakes the engine of the region's queues. */
void emu_region_wake_engine(struct emu_region *region);

/* The address of a NIC, and back: false if it is none of this fabric's form. */
void emu_gid_make(uint32_t slot, uint32_t nic, union ibv_gid *gid);
bool emu_gid_read(const union ibv_gid *gid, uint32_t *slot, uint32_t *nic);

#endif
