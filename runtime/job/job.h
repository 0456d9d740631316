/* SPDX-License-Identifier: BSD-3-Clause */
/* The one job: everything that exists between shmem_init and shmem_finalize. */
#ifndef WSH_JOB_H
#define WSH_JOB_H

#include "base/err.h"
#include "bootstrap/boot.h"
#include "runtime/coll/memory/pool.h"
#include "runtime/op/counters.h"
#include "runtime/op/ctx.h"
#include "runtime/job/device.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/team_memory.h"
#include "runtime/memory/free_later.h"
#include "runtime/route/route.h"
#include "runtime/route/blob.h"
#include "runtime/team/team.h"
#include "runtime/wait/failures.h"

#include <sys/types.h>

struct wsh_progress;
struct wsh_requests;
struct wsh_stats;

struct wsh_wait_tuning {
    unsigned polls; /* tries before anything else is done */
    unsigned spins; /* tries before the first yield */
    bool adapts;    /* of waits for one PE: by what the last waits needed, instead of `spins` */
    int cores;      /* `polls` and `spins` hold when waiting for at most this many PEs; else both are 0 */
    unsigned stays; /* tries before the first yield where no other PE of the job is on this core */
    unsigned pes_a_core;  /* PEs of this machine for each of its cores */
    bool oversubscribed;  /* it has fewer cores than PEs */
    double yield_seconds; /* of yielding before the first sleep */
};

/*
 * Arguments are checked; some context has a batch; a GPU is attached. Puts and gets look at these besides their target.
 * Calls by which programs poll yield now and then, or serve peers (poll.h). Calls may have peers to serve. Nonblocking
 * collectives have been begun. Calls are counted (runtime/stats).
 */
enum {
    WSH_SPECIAL_CHECK = 1,
    WSH_SPECIAL_BATCH = 2,
    WSH_SPECIAL_DEVICE = 4,
    WSH_SPECIAL_POLLS = 8,
    WSH_SPECIAL_NETWORK = 16,
    WSH_SPECIAL_REQUESTS = 32,
    WSH_SPECIAL_STATS = 64
};
/* A word that a program asks for again and again is one that it polls. */
#define WSH_SPECIAL_POLLED (WSH_SPECIAL_POLLS | WSH_SPECIAL_REQUESTS)
#define WSH_SPECIAL_RMA (WSH_SPECIAL_CHECK | WSH_SPECIAL_BATCH | WSH_SPECIAL_DEVICE | WSH_SPECIAL_STATS)

struct wsh_job {
    int my_pe, n_pes; /* n_pes = 0: not initialized */
    int inits;        /* shmem_init calls not yet matched by shmem_finalize */
    int thread_level; /* SHMEM_THREAD_* provided */
    bool check;       /* look at arguments more closely: SHMEM_DEBUG=check */
    bool closer;      /* that, or count calls: WSH_SPECIAL_STATS. Atomics and signals look at it alone */
    unsigned special; /* WSH_SPECIAL_* */
    pthread_t thread; /* that called shmem_init */
    bool finalizing;  /* in the last shmem_finalize: PEs that have left are not waited for */
    bool network;     /* some PE is reached by a transport that is not immediate */
    bool loopback;    /* all PEs are on one machine, emulated hosts or not: sockets need not reach another */
    bool *same_host;  /* [pe] */
    int local_rank, local_size;
    int *host;   /* [pe] the first PE on its host */
    int *domain; /* [pe] the first PE with which it shares memory: equal on PEs that do */
    int n_domains;
    bool oversubscribed; /* some machine has fewer cores than PEs; equal on all PEs */
    int nics;            /* of the host that has fewest; 0: unknown; equal on all PEs */
    bool by_sockets;     /* messages to other hosts are system calls at some PE; equal on all PEs */
    pid_t pid;           /* a forked child is not in the job */

    struct wsh_env env;
    struct wsh_boot boot;
    int rounds;     /* exchanges of blobs since shmem_init */
    bool may_exit;  /* without shmem_finalize: SHMEMX_INIT_MAY_EXIT of the first shmemx_init_attr */
    int gpu_wanted; /* 1 + the number of the GPU that shmemx_init_attr asks for; 0: the current one */
    struct wsh_heap heap;
    struct wsh_job_device device;
    struct wsh_releases releases;       /* of memory of both */
    struct wsh_team_memory team_memory; /* of both */

    unsigned n_tps;
    struct wsh_tp *tp[WSH_TP_MAX];
    struct wsh_tp_limits limits[WSH_TP_MAX];
    struct wsh_lmem *lmem[WSH_TP_MAX][WSH_SEGS_LOCAL];
    struct wsh_route_keys keys[WSH_TP_MAX]; /* what is published to the peers */
    struct wsh_routes routes;
    bool mixed; /* some PE has segments on several transports */

    struct wsh_ctx ctx;   /* SHMEM_CTX_DEFAULT */
    struct wsh_ctx *ctxs; /* all contexts, the default included */
    pthread_mutex_t ctxs_lock;
    int batches;                   /* contexts with a batch */
    struct wsh_requests *requests; /* nonblocking collectives */
    int in_flight;                 /* those that are not complete */

    /*
     * Functions of higher modules that lower ones call: wsh_batch_progress, wsh_req_advance, wsh_counters_count; and
     * wsh_modules_close, once a module has waited for a GPU.
     */
    int (*batch_progress)(struct wsh_job *job);
    int (*advance)(struct wsh_job *job);
    int (*count)(void *core, uint32_t number, uint32_t generation, uint32_t mask);
    void (*modules_close)(void);

    struct wsh_team world, shared;
    struct wsh_team
        *all; /* over which routines without a team run: the world, or its survivors once it has shrunk */
    uint32_t shrinks;                          /* of the world */
    uint32_t shrunk_at;                        /* the count of failures at the last of these */
    struct wsh_team *node, *same_number;       /* SHMEMX_TEAM_NODE, SHMEMX_TEAM_SAME_MYPE_NODE: of `teams` */
    struct wsh_team *numbered[WSH_POOL_UNITS]; /* by the first unit of their sync area */
    struct wsh_team *teams;                    /* split off; under ctxs_lock */
    struct wsh_pool pool;                      /* their symmetric memory */
    struct wsh_team_ids ids;
    struct wsh_counters counters;

    struct wsh_failures failures;
    struct wsh_wait_tuning tuning;
    double left_core; /* when this PE last went to another core. Relaxed; cores.c */
    int waiters;      /* threads inside wait.c: the progress thread may sleep */
    unsigned waits;   /* waits begun so far */
    bool spins_pay;   /* where `tuning.adapts`: answers come before the first yield. Relaxed; wait.c */
    struct wsh_progress *progress;
    bool stats_by_all;       /* SHMEM_STATS is set on all PEs */
    struct wsh_stats *stats; /* NULL before the bootstrap, and in tests. Relaxed */
    struct {
        uint64_t steps, calls;
    } gone_teams; /* their collectives; under ctxs_lock */
    int servers;  /* threads of the library that make progress, from before they start. Relaxed */
};

/* Only runtime/api and job.c name it. */
extern struct wsh_job wsh_job;

/* Counted: the first call starts everything, in the order that wsh_job_fini undoes. 0 or a logged error. */
int wsh_job_init(int thread_level);
/* The same, joining as *request says (NULL: as the environment does). */
int wsh_job_init_by(int thread_level, const struct wsh_boot_request *request);
void wsh_job_fini(void);

/* The part of the start in which PEs find out how they reach each other; after the bootstrap. 0 or a logged error. */
int wsh_peers_open(struct wsh_job *job);
void wsh_peers_close(struct wsh_job *job);

/*
 * Has PE `pe` (-1: any) left the job without shmem_finalize, or failed while the others go on? False where nobody can
 * know.
 */
static inline bool wsh_job_has_left(const struct wsh_job *job, int pe)
{
    struct wsh_boot *boot = (struct wsh_boot *)&job->boot;

    if (job->failures.n && (pe < 0 || wsh_failures_has(&job->failures, pe)))
        return true;
    return boot->ops->has_left && boot->ops->has_left(boot, pe);
}

/* Relaxed: it says where to look, and what is found there is read in the order that it needs. */
static inline void wsh_job_mark(struct wsh_job *job, unsigned special, bool on)
{
    if (on)
        __atomic_fetch_or(&job->special, special, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&job->special, ~special, __ATOMIC_RELAXED);
}

/* Some of these. */
static inline bool wsh_job_is_special(const struct wsh_job *job, unsigned special)
{
    return __atomic_load_n(&job->special, __ATOMIC_RELAXED) & special;
}

/*
 * The main entry of the segment that holds [sym, sym + len) at global `pe`, or NULL; *off = offset in the segment.
 * Where the entries of the PE wait for their first use, this is it.
 */
static inline const struct wsh_rmem *wsh_job_rmem_first(const struct wsh_job *job, const void *sym,
                                                        size_t len, int pe, size_t *off)
{
    int seg = wsh_heap_find(&job->heap, sym, len, off);

    return wsh_likely(seg >= 0) ? wsh_route_main(&job->routes, pe, seg) : NULL;
}

/*
 * The same, but NULL for an entry that waits for its first use: a caller that only asks what is mapped connects to
 * nobody.
 */
static inline const struct wsh_rmem *wsh_job_rmem(const struct wsh_job *job, const void *sym, size_t len,
                                                  int pe, size_t *off)
{
    int seg = wsh_heap_find(&job->heap, sym, len, off);
    bool waits =
        seg >= 0 && seg < WSH_SEG_DEVICE && !wsh_route_is_there(&job->routes.entry[WSH_ENTRY_MAIN][seg][pe]);

    return seg >= 0 && !waits ? wsh_route_main(&job->routes, pe, seg) : NULL;
}

#endif
