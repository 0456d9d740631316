/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a link inside one process, made with the verbs calls alone: NIC 0 and NIC 1 of a fresh fabric. */
#ifndef EMU_TEST_VERBS_H
#define EMU_TEST_VERBS_H

#include "emulator/verbs/objects.h"
#include "emulator/verbs/status.h"

#define BUF_BYTES (1 << 20)
#define QKEY 77
#define CQ_LOCATION 65536u /* bytes of an end's completion queue in the memory of a wish */

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq_ex *cq;
    struct ibv_qp *qp;
    struct ibv_ah *ah; /* to the other end */
    struct ibv_mr *mr;
    unsigned char *buf;
    unsigned cq_offset; /* in the memory of a wish */
};

/* What a test asks for. */
struct wish {
    enum ibv_qp_type type; /* IBV_QPT_DRIVER or IBV_QPT_UD */
    uint32_t flags;        /* EMU_QP_UNSOLICITED */
    uint32_t cq_entries, sends, receives, max_inline;
    int cq_fd;     /* of memory for the completion queues; 0: none */
    bool stranger; /* the second end has no address handle of the first */
};

struct completion {
    uint64_t wr_id;
    unsigned status, opcode, flags;
    uint32_t len, imm, src_qp, slid;
    bool unsolicited;
};

/* Makes a folder and sets what the emulator reads, before its first call; the folder goes at exit. */
void verbs_start(const char *faults);
void verbs_open(struct end end[2], const struct wish *wish);
void verbs_close(struct end end[2]);
/* From the state of a fresh one to the one in which it sends. */
void verbs_make_ready(struct ibv_qp *qp);

/* Posts one operation of `len` bytes from the start of the first end's buffer to that of the second's. */
int verbs_send(struct end *from, const struct end *to, uint64_t wr_id, uint32_t len);
int verbs_write(struct end *from, const struct end *to, uint64_t wr_id, uint32_t len, uint32_t rkey,
                bool imm);
int verbs_read(struct end *from, const struct end *to, uint64_t wr_id, uint32_t len);
int verbs_receive(struct end *end, uint64_t wr_id, uint32_t len);

/* Waits for the next completion: 0, ENOENT after `ms`, or what the poll says. */
int verbs_poll(struct end *end, unsigned ms, struct completion *completion);

/* The declarations that Debian 12's header has in another form, or not at all. */
struct ibv_qp *verbs_create_srd(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                                uint32_t flags);

#endif
