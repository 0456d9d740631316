/* SPDX-License-Identifier: BSD-3-Clause */
/* A libfabric endpoint outside of the job, from which one operation at a time goes to a PE's endpoint. */
#ifndef WSH_TEST_STRANGER_H
#define WSH_TEST_STRANGER_H

#include "transports/efa/wire/wire.h"

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
    fi_addr_t to;
    long outstanding; /* of a flood */
};

struct stranger_op {
    uint64_t key, addr;
    size_t len;
    bool counted, read;
    uint32_t imm;
};

/*
 * Prints "ADDRESS NUMBER" of each endpoint that process `pid` has on the emulated EFA device below `folder`; the
 * address is the provider's, in hexadecimal. And reads such an address: its bytes.
 */
int stranger_list(const char *folder, int pid);
size_t stranger_name_parse(const char *text, unsigned char *bytes, size_t room);

/* 0, or nonzero after a line. Over the provider efa, `address` is as stranger_list prints it. */
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
