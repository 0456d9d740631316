/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the raw libfabric tests of the emulated device share: N processes of one program, an endpoint for each
 * with all of the others in its address vector, and memory registered for its peers.
 */
#ifndef WSH_TEST_NET_H
#define WSH_TEST_NET_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NET_PROCS_MAX 16
#define NET_NAME_MAX 128
#define NET_WORDS 64
#define NET_OPS 1024 /* operation contexts of a process */

enum { NET_PASSED = 0, NET_FAILED = 1, NET_SKIPPED = 77 };

/* What all processes map: addresses, the barrier, and words that a test uses as it likes. */
struct net_shared {
    _Atomic uint32_t arrived, failed, doomed;
    struct {
        pid_t pid;
        size_t len;
        char name[NET_NAME_MAX];
        uint64_t base, key;
        char *heap; /* mapped by all: who wants to can look at what landed in another's */
    } proc[NET_PROCS_MAX];
    _Atomic uint64_t word[NET_WORDS];
};

struct net_options {
    const char *fabric; /* "efa", "efa-direct", or another provider's name; NULL = efa */
    int n_procs;
    size_t heap_len; /* registered for local and remote use */
    size_t cq_size;  /* 0 = large */
    int nic;         /* which of the provider's domains */
    int n_receives;  /* 64-byte receives posted at the start, at the end of the heap */
    bool rnr_given;  /* set the number of retries when the receiver is not ready */
    size_t rnr_retry;
    double seconds; /* limit of one process; 0 = 50 */
};

/* One finished operation; err != 0 (a positive fi_errno) fills prov_errno and text too. */
struct net_done {
    void *context;
    uint64_t flags, data;
    int err, prov_errno;
    char text[256];
};

struct net {
    int me;
    const struct net_options *options;
    struct net_shared *shared;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *eq; /* without one the provider aborts on some errors */
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_ep *ep;
    struct fid_mr *mr;
    char *heap;
    void *desc;
    uint32_t barriers;
    struct net_done
        held; /* met in a barrier, and for the next poll: a peer that left it earlier writes already */
    bool is_held;
    double deadline;
    fi_addr_t addr[NET_PROCS_MAX];
    struct fi_context2 op[NET_OPS], receive[NET_OPS];
};

/*
 * Runs `body` in options->n_procs processes; what it returns is their exit status. Returns the worst: failed, else
 * skipped, else passed. A process that a signal ended has failed, unless net_doom killed it.
 */
int net_run(const struct net_options *options, int (*body)(struct net *net));

/* SIGKILL for another process. */
void net_doom(struct net *net, int proc);

/* Everything opened, every process in every address vector, and a barrier; and the reverse, which returns passed. */
void net_join(struct net *net);
int net_leave(struct net *net);

/* The steps of it. What fails ends the process with a line. */
void net_open(struct net *net);
void net_insert(struct net *net, int proc);
void net_close(struct net *net);

/*
 * Reads one completion, or one error event (without a context): 1, or 0 when there is none. Serves peers. Ends the
 * process when the queue itself fails.
 */
int net_poll(struct net *net, struct net_done *done);

/* Polls until all processes have come; a completion met there is the next poll's. */
void net_barrier(struct net *net);

/*
 * Starts a write of `len` bytes from heap offset `from` to heap offset `to` of process `proc`. False when there is no
 * room: poll and try again. Every write completes.
 */
bool net_write(struct net *net, int proc, size_t from, size_t to, size_t len, uint64_t flags, uint64_t data,
               void *op);

/* The next completion, whatever it is; ends the process with a line when none comes before its deadline. */
struct net_done net_wait(struct net *net, const char *what);

/* Ends the process with a line when its time is over, or when another one has failed. */
void net_check_time(const struct net *net, const char *what);

bool net_is_direct(const struct net *net);
double net_now(void);

/* Ends this process as failed, or skipped, with one line. */
_Noreturn void net_fail(const struct net *net, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void net_skip(const struct net *net, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
