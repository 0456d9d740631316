/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues in memory: a queue pair's send and receive ring with their doorbells, and a completion queue's entries, as
 * the device has them. They come into being when they are asked for (efadv_query_qp_wqs, efadv_query_cq). One thread of
 * the process, the engine, is the device: it looks at all doorbells, hands requests to the network, and writes
 * completions and counters.
 */
#ifndef EMU_QUEUES_H
#define EMU_QUEUES_H

#include "emulator/verbs/objects.h"
#include "emulator/queues/checks.h"

struct emu_op;

/* The rings of a queue pair. */
struct emu_rings {
    struct emu_qp *qp;
    struct emu_rings *next;
    struct emu_ring sq, rq;
    void *mapping;
    size_t mapping_bytes;
    enum emu_violation broken; /* the first: from then on requests are flushed */
    uint32_t rung;             /* the doorbell as it was seen last */
};

/* The entries of a completion queue. */
struct emu_cq_memory {
    struct emu_cq *cq;
    struct emu_cq_memory *next;
    uint64_t *words; /* those of a GPU are written by its driver */
    unsigned gpu;    /* counted from 1; 0: memory of the host */
    uint32_t entries;
    _Atomic uint32_t *doorbell;
    uint32_t written, acked; /* entries, and how many of them the consumer has acknowledged */
    uint32_t doorbell_seen;
    uint16_t acked_low; /* of the doorbell, at the last look */
    bool promised;      /* by the consumer, to acknowledge every entry, so that an overrun can be seen */
    bool armed, undrained;
    uint64_t full_since;
    void *mapping, *doorbell_page;
    size_t mapping_bytes;
};

/* Memory of the caller's for a completion queue: a descriptor, or the address of a GPU's. */
struct emu_cq_location {
    unsigned char *buffer;
    uint64_t length, offset;
    int fd;
};

/* What the engine looks at, and the lists, are used with this lock. */
void emu_queues_lock(void);
void emu_queues_unlock(void);
/* Starts the engine at the first call; -errno if there is no thread to be had. With the lock. */
int emu_engine_start(void);

/* 0 or an errno value. */
int emu_rings_map(struct emu_rings *rings);
int emu_cq_memory_map(struct emu_cq_memory *memory, const struct emu_cq_location *location);
void emu_cq_memory_unmap(struct emu_cq_memory *memory);

/* Makes them unless they are there: 0 or an errno value. */
int emu_rings_open(struct emu_qp *qp);
/*
 * For every queue pair that ends: no more requests are taken, what nobody has rung for is reported, its last
 * completions are dropped. The memory goes when all operations have.
 */
void emu_rings_close(struct emu_qp *qp);
void emu_rings_free(struct emu_qp *qp);
/* `location` NULL: memory of the emulator's. 0 or an errno value. */
int emu_cq_memory_open(struct emu_cq *cq, const struct emu_cq_location *location);
void emu_cq_memory_close(struct emu_cq *cq);

/* One pass over the rings, completion queues and counters: did it find something to do? With the lock. */
bool emu_rings_serve(struct emu_rings *rings);
bool emu_cq_memory_serve(struct emu_cq_memory *memory);
bool emu_counters_serve(void);
bool emu_counters_there(void);

/* One line for the first of a queue pair or completion queue, and a count of all. */
void emu_violation_say(enum emu_violation violation, uint32_t nic, const char *queue, uint32_t number);
uint64_t emu_violations(enum emu_violation violation);

/* Is there room for an entry, as far as the consumer acknowledges at all? With the lock. */
bool emu_cq_memory_has_room(struct emu_cq_memory *memory);
void emu_cq_memory_put(struct emu_cq_memory *memory, const struct emu_cqe *cqe);
/* Entries of a queue pair that ends are dropped by the consumer without a word. With the lock. */
void emu_cq_memory_forget(struct emu_cq_memory *memory, uint32_t qpn);

/* Hands the requests that are announced to the network, so many at most; how many it took. With the lock. */
unsigned emu_rings_submit(struct emu_rings *rings, unsigned most);

/* The queue pair's counts go into its counters, which forget it. With the lock. */
void emu_counters_forget(struct emu_qp *qp);

#endif
