/* SPDX-License-Identifier: BSD-3-Clause */
/* A libfabric endpoint outside of the job, from which one operation at a time goes to a PE's endpoint. */
#ifndef WSH_TEST_STRANGER_H
#define WSH_TEST_STRANGER_H

#include "transports/efa/wire.h"

#include <rdma/fi_domain.h>

#include <stdbool.h>

struct stranger {
    const char *provider, *address, *port; /* of the target */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr;
    fi_addr_t to;
    long under_way; /* of a flood */
};

struct stranger_op {
    uint64_t key, addr;
    size_t len;
    bool counted, read;
    uint32_t imm;
};

/* 0, or nonzero after a line. */
int stranger_open(struct stranger *from);
void stranger_close(struct stranger *from);
/* Over a new connection; ends the program where that fails. */
void stranger_open_again(struct stranger *from);

/* 0: completed; < 0: refused; > 0: no answer within a second. The endpoint is opened anew after the last two. */
int stranger_rma(struct stranger *from, void *buffer, const struct stranger_op *op);
int stranger_send(struct stranger *from, const void *buffer, size_t len);

/* Sends without waiting for each; waits for all. The number of those that failed. */
int stranger_flood(struct stranger *from, const void *buffer, size_t len);
long stranger_drain(struct stranger *from);

#endif
