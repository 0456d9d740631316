/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs objects of one process: the structures behind the pointers that the verbs calls return. */
#ifndef EMU_OBJECTS_H
#define EMU_OBJECTS_H

#include "emulator/fabric/fabric.h"

#include <infiniband/verbs.h>

#include <stdbool.h>

#define EMU_INLINE_MAX 32
#define EMU_SQ_SGES 2
#define EMU_RQ_DEPTH 32768
#define EMU_CQ_DEPTH 65536
#define EMU_MTU 8192         /* bytes of an RDMA segment */
#define EMU_MESSAGE_MAX 8928 /* bytes of a send */
#define EMU_RDMA_MAX (1u << 30)
#define EMU_GRH_BYTES 40
#define EMU_SPARE 128 /* zeroes behind a verbs structure, for fields of newer headers */

struct emu_device {
    struct ibv_device ibv;
    uint32_t nic;
};

struct emu_qp;

struct emu_context {
    uint32_t nic;
    _Atomic(struct emu_qp *) qp[EMU_QPS_PER_NIC];
    unsigned char spare[EMU_SPARE];
    struct verbs_context verbs; /* the caller reaches it backwards from verbs.context */
};

struct emu_ah {
    struct ibv_ah ibv;
    uint32_t nic, number; /* of this process */
    uint32_t dst_slot, dst_nic;
    bool reachable; /* the address has the fabric's form */
};

struct emu_mr {
    struct ibv_mr ibv;
    void *mapping; /* of a dmabuf that the CPU can map */
    size_t mapping_len;
};

struct emu_channel {
    struct ibv_comp_channel ibv;
    pthread_mutex_t mutex;
    struct emu_cq *first; /* completion queues with an event to fetch */
};

/* Completion queue interface of efadv, as newer headers have it. */
struct emu_efadv_cq {
    uint64_t comp_mask;
    int (*wc_read_sgid)(struct emu_efadv_cq *cq, union ibv_gid *sgid);
    bool (*wc_is_unsolicited)(struct emu_efadv_cq *cq);
};

struct emu_rings;
struct emu_cq_memory;

struct emu_cq {
    union {
        struct ibv_cq ibv;
        struct ibv_cq_ex ex;
        unsigned char room[sizeof(struct ibv_cq_ex) + EMU_SPARE];
    };
    struct emu_efadv_cq dv;
    uint32_t index; /* in the region */
    struct emu_shared_cq *shared;
    struct emu_cqe *ring;
    uint64_t ring_bytes;
    pthread_mutex_t mutex; /* between start_poll and end_poll */
    struct emu_cqe current;
    unsigned idle_polls;
    struct emu_cq *next;          /* in its channel's list */
    uint32_t events;              /* not yet fetched */
    struct emu_cq_memory *memory; /* NULL: polled by the verbs calls */
};

struct emu_op;

struct emu_qp {
    union {
        struct ibv_qp ibv;
        struct ibv_qp_ex ex;
        unsigned char room[sizeof(struct ibv_qp_ex) + EMU_SPARE];
    };
    struct emu_context *context;
    uint32_t qpn, life, max_inline;
    struct emu_shared_qp *shared;
    struct emu_rqe *rq;
    uint64_t rq_bytes;
    struct emu_cq *send_cq;
    uint32_t sq_depth;
    _Atomic uint32_t sq_used; /* posted and not yet polled */
    unsigned rnr_retry;       /* 7: for ever */
    bool is_ud;
    pthread_mutex_t mutex; /* between wr_start and wr_complete */
    int batch_error;
    struct emu_op *batch, *batch_last;
    uint32_t batch_ops;
    uint64_t posted, doorbells; /* requests so far, and the doorbells that announced them */
    uint64_t with_data, data;   /* those of them, in a ring, that brought data, and its bytes */
    uint32_t largest_batch;
    pthread_mutex_t rq_mutex;
    struct emu_rings *rings; /* NULL: posted to by the verbs calls */
    uint32_t rq_descriptors;
    struct emu_qp *next; /* of those that are open */
};

static inline struct emu_context *emu_context_of(struct ibv_context *context)
{
    return (struct emu_context *)((char *)context - offsetof(struct emu_context, verbs.context));
}

static inline uint32_t emu_qp_index(uint32_t nic, uint32_t qpn)
{
    return nic * EMU_QPS_PER_NIC + qpn;
}

/* Power of two of at least `n` and 64. */
static inline uint32_t emu_ring_entries(uint32_t n)
{
    uint32_t entries = 64;

    while (entries < n)
        entries *= 2;
    return entries;
}

/* NULL and errno where refused. `flags`: of efadv_qp_init_attr. */
struct ibv_qp *emu_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, uint32_t flags);
void emu_qp_fill_ops(struct emu_qp *qp);
int emu_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int emu_qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

struct ibv_cq_ex *emu_cq_create(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
/* The next entry of the ring into cq->current; false if there is none. Those of destroyed queue pairs are dropped. */
bool emu_cq_take(struct emu_cq *cq);
int emu_cq_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int emu_cq_arm(struct ibv_cq *cq, int solicited);
/* A queue with a channel is watched for events from its creation to its end. */
void emu_cq_watch(struct emu_cq *cq);
void emu_cq_unwatch(struct emu_cq *cq);
/* The service thread's work: hands the events of this process's completion queues to their channels. */
void emu_cq_deliver_events(void);

/* The registration with that NIC of the region's process that covers these bytes; NULL if none does. */
const struct emu_shared_mr *emu_mr_find(struct emu_region *region, uint32_t nic, uint32_t key, uint64_t addr,
                                        uint64_t len, uint32_t access);

#endif
