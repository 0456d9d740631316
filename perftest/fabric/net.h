/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some NICs of this process, each with one libfabric endpoint that knows the same NIC of every other process.
 * Operations are counted, not named: a row starts some, and waits until as many have completed or arrived.
 */
#ifndef PERFTEST_FABRIC_NET_H
#define PERFTEST_FABRIC_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "perftest/common/options.h"
#include "perftest/fabric/boot.h"

enum {
    FAB_RAILS_MAX = 32,
    FAB_OPS = 1024,     /* in flight at once; more wait for room */
    FAB_CREDIT = 1024,  /* writes with immediate data that the target answers with one message */
    FAB_CREDITS_MAX = 4 /* of them unanswered: so many fit into the target's completion queue */
};

/* FAB_MESSAGE: as SENDs go at their quickest, injected where they are short enough; without data for the check. */
enum fab_kind { FAB_WRITE, FAB_WRITE_IMM, FAB_READ, FAB_SEND, FAB_MESSAGE, FAB_FLAG };

enum fab_policy {
    FAB_SINGLE,     /* everything on the first NIC */
    FAB_SPLIT,      /* each message cut into stripes over all NICs */
    FAB_ROUND_ROBIN /* two processes: operation i on NIC i mod n; all pairs: target t on NIC t mod n */
};

struct fab_options {
    struct perf_options common;
    long nics; /* that each process opens; 0: all */
    long policy;
};

/* libfabric wants memory of its own for each operation in flight. */
struct fab_op {
    struct fi_context2 context; /* first: completions name it */
    struct fab_op *next;
};

struct fab_rail {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr;
    size_t message_max; /* bytes of one send; a write may be longer */
    double bits;        /* link speed in bits a second; 0: not known */
    fi_addr_t *addr;    /* of this rail of every process */
    uint64_t *base;     /* what remote operations give as the start of its memory */
    uint64_t *key;
    struct fi_context2 *receives; /* n_slots of them, always posted */
};

struct fab_net {
    struct fab_boot boot;
    const struct fab_options *opts;
    int n_rails; /* opened, alike on every process */
    struct fab_rail rails[FAB_RAILS_MAX];
    char *memory; /* source, a part of dest for each process, and the receives */
    size_t size, max_len, slot_len;
    int n_slots; /* receives of a rail */
    struct fab_op *ops, *free_ops;
    unsigned next_rail; /* for round robin */
    int err_rail;       /* whose completion failed */
    long started, done; /* operations of this process */
    long messages;      /* that have arrived */
    long immediates;    /* writes with immediate data that have arrived */
    long sent_immediates;
    long answered; /* FAB_CREDITs that this process has answered */
    bool checking; /* compare what arrives */
    long right_bytes, wrong_bytes;
    enum fab_kind kind; /* of the row that runs */
    size_t len;         /* of one message of it */
    long window;
    uint64_t flags; /* sent, or waited for */
};

/* Collective. Opens the NICs and fills the address tables; ends the job with a line where that fails. False: there is
 * no such provider; one line was printed by process 0. */
bool fab_net_open(struct fab_net *net, size_t max_len);
void fab_net_close(struct fab_net *net);

/* Starts one message of net->len bytes to process `to`, as the policy says. Returns the number of operations. */
int fab_start(struct fab_net *net, enum fab_kind kind, int to);
/* Operations that a message of net->len bytes is made of. */
int fab_pieces(const struct fab_net *net, enum fab_kind kind);
/* Waits until all operations of this process have completed. */
void fab_finish(struct fab_net *net);
/* Waits until so many messages have arrived, and takes them off the count. */
void fab_receive(struct fab_net *net, long pieces);
/* An 8-byte message on the first NIC, which counts like any other where it arrives. */
void fab_answer(struct fab_net *net, int to);
/* An injected write of net->flags into the memory of process `to`; until that of process `from` is here. */
void fab_flag_send(struct fab_net *net, int to);
void fab_flag_wait(struct fab_net *net, int from);
/* Waits for room in the completion queue of a target that gets `more` writes with immediate data. */
void fab_credit_wait(struct fab_net *net, long more);
/* Takes what has completed and arrived. */
void fab_poll(struct fab_net *net);
/* What a process does that others write to: polls, and answers credits to process 0. */
void fab_serve(void *net);

char *fab_source(const struct fab_net *net);
/* Where the messages of process `from` land. */
char *fab_dest(const struct fab_net *net, int from);
/* Without zeros, and different for every process and length. */
void fab_fill(char *buffer, size_t len, int from);
/* Bytes of `buffer` that differ from what process `from` sends from `offset` on in a message of `len` bytes. */
long fab_wrong(const char *buffer, size_t n, size_t offset, size_t len, int from);

/* The parts of fab_net_open that know how to choose; rail.c. */
bool fab_rails_choose(struct fab_net *net);
void fab_rail_open(struct fab_net *net, struct fab_rail *rail);
void fab_rail_close(struct fab_rail *rail);
/* Ends the job with a line when `code` is an error. */
void fab_must(const struct fab_rail *rail, long code, const char *call);

static inline bool fab_is_last(const struct fab_net *net)
{
    return net->boot.me == net->boot.n - 1;
}

/* Process 0 -> the last one; everyone else -> process 0. */
static inline int fab_peer(const struct fab_net *net)
{
    return net->boot.me ? 0 : net->boot.n - 1;
}

#endif
