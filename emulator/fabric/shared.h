/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that the processes of one emulated fabric share: the job's file, and one region for every process. Only
 * the owner of a region creates and destroys things in it; its peers consume its receive queues and append to its
 * completion queues, under the region's lock.
 */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include "emulator/wire/profile.h"

#include <pthread.h>
#include <stdatomic.h>

#define EMU_LAYOUT 0x45464103u /* rises with every change of this file */
#define EMU_SLOTS_MAX 4096
#define EMU_QPS_PER_NIC 256
#define EMU_CQS_MAX 2048
#define EMU_MRS_MAX 65536
#define EMU_AHS_PER_NIC 1024
#define EMU_SGES 3
#define EMU_AH_UNKNOWN 0xffffu
#define EMU_REGION_BYTES (1ull << 30) /* sparse */
#define EMU_PACKET_BYTES 16384

/* The file `fabric`: written once by the process that comes first. */
struct emu_job {
    uint32_t layout;
    _Atomic uint32_t next_slot;
    uint64_t seed;
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    char profile[16];
};

struct emu_sge {
    uint64_t addr;
    uint32_t len, lkey;
};

struct emu_rqe {
    uint64_t wr_id;
    uint64_t num_sge;
    struct emu_sge sge[EMU_SGES];
};

/* flags of a completion */
enum { EMU_CQE_IMM = 1, EMU_CQE_UNSOLICITED = 2, EMU_CQE_SEND_QUEUE = 4, EMU_CQE_RING = 8 };

struct emu_cqe {
    uint64_t wr_id;
    uint32_t len, imm;
    uint32_t qpn, qp_life; /* of the owner of the completion queue */
    uint32_t src_qpn;
    uint16_t ahn;
    uint8_t status, opcode, flags; /* enum emu_status, enum ibv_wc_opcode */
    uint8_t operation;             /* as the device numbers them: queues/layout.h */
    uint8_t pad[2];
    uint32_t src_slot, src_nic;
};

/* flags of a queue pair, with efadv's values: writes with immediate data take no receive; writes may be inline */
#define EMU_QP_UNSOLICITED 1u
#define EMU_QP_INLINE_WRITE 2u
#define EMU_COUNTED 6 /* kinds of operations that a queue pair counts: queues/counters.h */

struct emu_shared_qp {
    _Atomic uint32_t open; /* receives are taken */
    uint32_t life;         /* counts the queue pairs that have had this number */
    uint32_t qkey, flags, is_ud;
    uint32_t recv_cq;
    uint32_t rq_mask;
    uint64_t rq_at;        /* offset of the ring of emu_rqe */
    _Atomic uint32_t head; /* consumers, under the lock */
    _Atomic uint32_t tail; /* owner */
    _Atomic uint64_t done[EMU_COUNTED], bytes[EMU_COUNTED], failed[EMU_COUNTED]; /* ever, whatever its life */
    _Atomic uint32_t watched;            /* bits: kinds that a counter of the owner counts */
    _Atomic uint64_t shown[EMU_COUNTED]; /* how much of `done` the counter's word shows */
};

struct emu_shared_cq {
    _Atomic uint32_t open;
    uint32_t mask;
    uint64_t ring_at;      /* offset of the ring of emu_cqe */
    _Atomic uint32_t prod; /* producers, under the lock */
    _Atomic uint32_t cons; /* owner */
    _Atomic uint32_t overrun;
    _Atomic uint32_t armed;     /* the owner wants an event */
    _Atomic uint32_t fired;     /* the event is due */
    _Atomic uint32_t in_memory; /* the owner's engine copies the entries: it wants to be woken */
};

struct emu_shared_mr {
    uint32_t key; /* 0: free */
    uint32_t access;
    uint32_t nic, gpu; /* gpu: which one holds it, from 1; 0: none */
    uint64_t iova, addr, len;
};

/* Address handle `number` of a NIC: which peer NIC it stands for. */
struct emu_shared_ah {
    uint32_t uses;
    uint32_t slot, nic;
};

/*
 * One delivery takes a receive and adds a completion. Both are written here first, so that whoever inherits the
 * lock of a process killed between the two steps does the rest of them.
 */
struct emu_journal {
    _Atomic uint32_t valid;
    uint32_t qp, head; /* qp: index over all NICs, or UINT32_MAX */
    uint32_t cq, prod;
};

/* Payload that the owner's service thread copies; one at a time, under the lock. */
enum { EMU_PACKET_IDLE, EMU_PACKET_WRITE, EMU_PACKET_READ, EMU_PACKET_DONE };
struct emu_packet {
    _Atomic uint32_t state;
    uint32_t len, gpu;
    int32_t result; /* 0 or negative errno */
    uint64_t addr;
    unsigned char data[EMU_PACKET_BYTES];
};

struct emu_region {
    uint32_t layout, slot;
    int32_t pid;
    int32_t rank;                                /* for fault scripts and the seed */
    uint64_t start_time;                         /* of the process, in the kernel's unit */
    _Atomic uint32_t closed;                     /* left in good order */
    _Atomic uint32_t wakeup;                     /* futex of the owner's service thread */
    _Atomic uint32_t queue_wakeup, queue_sleeps; /* futex of the engine of queues in memory; it sleeps */
    _Atomic uint64_t rx_busy[EMU_NICS_MAX];      /* time model: when the NIC's receiving side is free */
    pthread_mutex_t lock;
    struct emu_journal journal;
    struct emu_packet packet;
    struct emu_shared_qp qp[EMU_NICS_MAX * EMU_QPS_PER_NIC];
    struct emu_shared_cq cq[EMU_CQS_MAX];
    uint32_t nah[EMU_NICS_MAX]; /* numbers given out so far */
    struct emu_shared_ah ah[EMU_NICS_MAX][EMU_AHS_PER_NIC];
    struct emu_shared_mr mr[EMU_MRS_MAX];
};

static inline void *emu_region_at(struct emu_region *region, uint64_t offset)
{
    return (char *)region + offset;
}

#endif
