/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the transports that a job needs, registers its memory with them, and closes them. */
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/route/route.h"
#include "runtime/route/blob.h"
#include "runtime/memory/static_data.h"
#include "runtime/wait/wait.h"

#include <shmem.h>

#include <stdlib.h>
#include <string.h>

/* Asked for by name where a cheaper transport is not: needed although every peer is on this host. */
static bool is_needed(const struct wsh_job *job, const struct wsh_tp_ops *ops, bool network)
{
    bool needed = network || !ops->remote;

    for (int seg = 0; seg < WSH_SEGS_HOST; seg++)
        needed |= job->heap.seg[seg].base && wsh_route_allows(job, ops, seg) &&
                  !wsh_route_allows(job, wsh_tp_registry()[0], seg);
    return needed && (wsh_route_allows(job, ops, WSH_SEG_STATIC) || wsh_route_allows(job, ops, WSH_SEG_HEAP));
}

static int register_plain(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem)
{
    struct wsh_route_key *key = wsh_route_key_of(&job->keys[tp], mem->seg);
    int rc;

    key->len = sizeof key->bytes;
    rc = job->tp[tp]->ops->mem_register(job->tp[tp], mem, &job->lmem[tp][mem->seg], key->bytes, &key->len);
    if (rc)
        key->len = 0;
    return rc;
}

/* Device memory with a transport of host memory, which may ask the driver, and may refuse. */
static int register_nics(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem)
{
    int rc = wsh_gpu_enter(&job->device.gpu);

    if (rc)
        return rc;
    rc = register_plain(job, tp, mem);
    wsh_gpu_leave(&job->device.gpu);
    if (!rc)
        job->routes.local[mem->seg] = WSH_LOCAL_REGISTERED;
    return rc == -ENOTSUP ? 0 : rc;
}

static int register_with(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem)
{
    if (mem->kind == WSH_MEM_HOST || tp >= job->device.first_tp)
        return register_plain(job, tp, mem);
    return wsh_route_has_nics(job, tp) ? register_nics(job, tp, mem) : 0;
}

/*
 * First with the transports of device memory, which refuse what is not a GPU's; a NIC's transport may accept it
 * unchecked.
 */
int wsh_route_register(struct wsh_job *job, const struct wsh_mem *mem)
{
    unsigned first = job->device.first_tp;
    struct wsh_mem own = *mem;
    int rc = 0;

    own.gpu = job->device.gpu.ordinal;
    job->routes.local[mem->seg] = WSH_LOCAL_DEVICE;
    for (unsigned i = 0; i < job->n_tps; i++)
        wsh_route_key_of(&job->keys[i], mem->seg)->len = 0;
    for (unsigned i = 0; i < job->n_tps && !rc; i++)
        rc = register_with(job, (first + i) % job->n_tps, &own);
    return rc;
}

/* Networks take the memory between the program's variables too. */
static int register_host(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem)
{
    bool gaps = mem->seg == WSH_SEG_STATIC && job->heap.ranges && job->tp[tp]->ops->remote;
    int rc = gaps ? wsh_static_fill_gaps(&job->heap.seg[WSH_SEG_STATIC]) : 0;

    if (!rc)
        rc = register_with(job, tp, mem);
    if (gaps)
        wsh_static_protect_gaps();
    return rc;
}

/* The host segments. */
static int register_memory(struct wsh_job *job, unsigned tp)
{
    int rc = 0;

    memset(job->keys[tp].mem, 0, sizeof job->keys[tp].mem);
    for (int seg = 0; seg < WSH_SEG_DEVICE && !rc; seg++) {
        const struct wsh_segment *segment = &job->heap.seg[seg];
        const struct wsh_mem mem = {
            (enum wsh_seg)seg, WSH_MEM_HOST, segment->base, segment->len, segment->fd, NULL, 0, 0};

        if (segment->base)
            rc = register_host(job, tp, &mem);
    }
    return rc;
}

static const sigset_t *program_mask; /* while a transport opens, in the thread that starts the job */

/* Waits for other PEs, and meanwhile the program's signals reach it. */
static int exchange_host(const struct wsh_tp_params *params, const void *mine, size_t len, void *all)
{
    struct wsh_boot *boot = &((struct wsh_job *)params->core)->boot;
    sigset_t before;
    int rc;

    if (!boot->ops->exchange_host)
        return -ENOTSUP;
    pthread_sigmask(SIG_SETMASK, program_mask, &before);
    rc = boot->ops->exchange_host(boot, mine, len, all);
    wsh_signals_restore(&before);
    return rc;
}

static int log_full(const struct wsh_tp_ops *ops)
{
    wsh_error("no room for transport %s: %d are open already; leave some out of SHMEM_TRANSPORTS", ops->name,
              WSH_TP_MAX);
    return -ENOSPC;
}

static bool has_left(void *core, int pe)
{
    return wsh_job_has_left(core, pe);
}

typedef int open_tp(struct wsh_job *job, const struct wsh_tp_ops *ops, unsigned tp);

static int open_known(struct wsh_job *job, const struct wsh_tp_ops *ops, unsigned tp)
{
    const struct wsh_tp_params params = {.my_pe = job->my_pe,
                                         .n_pes = job->n_pes,
                                         .local_rank = job->boot.local_rank,
                                         .local_size = job->boot.local_size,
                                         .env = &job->env,
                                         .threads = true,
                                         .multiple = job->thread_level == SHMEM_THREAD_MULTIPLE,
                                         .hmem = wsh_route_wants_nics(job),
                                         .loopback = job->loopback,
                                         .gpu = ops->device ? &job->device.gpu : NULL,
                                         .exchange_host = exchange_host,
                                         .count = job->count,
                                         .has_left = has_left,
                                         .news_seconds = job->boot.news_seconds,
                                         .core = job};

    sigset_t before;
    int rc;

    wsh_signals_block(&before);
    program_mask = &before;
    rc = ops->open(&params, &job->tp[tp], &job->limits[tp]);
    program_mask = NULL;
    wsh_signals_restore(&before);
    return rc;
}

static int open_stage(struct wsh_job *job, const struct wsh_tp_ops *ops, unsigned tp)
{
    (void)ops;
    job->limits[tp] = (struct wsh_tp_limits){0};
    return wsh_device_ops()->stage_open(job, &job->tp[tp]);
}

/* Does some transport need progress? */
static void note_network(struct wsh_job *job)
{
    job->network = false;
    for (unsigned tp = 0; tp < job->n_tps; tp++)
        job->network |= !job->limits[tp].immediate;
    wsh_job_mark(job, WSH_SPECIAL_NETWORK, job->network);
}

static int open_transport(struct wsh_job *job, const struct wsh_tp_ops *ops, open_tp *open)
{
    unsigned tp = job->n_tps;
    int rc = tp < WSH_TP_MAX ? open(job, ops, tp) : log_full(ops);

    if (rc)
        return rc;
    job->tp[tp]->ops = ops;
    job->tp[tp]->index = tp;
    job->n_tps++;
    note_network(job);
    job->keys[tp].address_len = sizeof job->keys[tp].address;
    rc = ops->address(job->tp[tp], job->keys[tp].address, &job->keys[tp].address_len);
    return rc ? rc : register_memory(job, tp);
}

static int open_if_there(struct wsh_job *job, const struct wsh_tp_ops *ops, open_tp *open)
{
    int rc = open_transport(job, ops, open);

    if (rc != -ENODEV)
        return rc;
    wsh_info(WSH_SUB_TRANSPORT, "transport %s: not on this machine", ops->name);
    return 0;
}

int wsh_route_open(struct wsh_job *job, bool network)
{
    int rc = wsh_route_check_lists(job);

    for (const struct wsh_tp_ops *const *ops = wsh_tp_registry(); *ops && !rc; ops++) {
        if (!(*ops)->device && is_needed(job, *ops, network))
            rc = open_if_there(job, *ops, open_known);
    }
    if (!rc && !job->n_tps) {
        wsh_error("no transport can be used; SHMEM_TRANSPORTS=%s leaves none that works here",
                  job->env.transports ? job->env.transports : "");
        rc = -ENODEV;
    }
    if (rc)
        wsh_route_close_from(job, 0);
    return rc;
}

static int register_device_heap(struct wsh_job *job)
{
    const struct wsh_gpu_mem *heap = &job->device.heap.mem;
    const struct wsh_mem mem = {
        WSH_SEG_DEVICE, WSH_MEM_DEVICE, heap->base, heap->len, heap->n ? heap->piece[0].fd : -1,
        heap->range,    heap->stride,   0};

    wsh_route_choose_nics(job);
    return wsh_route_register(job, &mem);
}

/* Device memory always has other transports than host memory: contexts keep the order between them. */
int wsh_route_open_device(struct wsh_job *job)
{
    const struct wsh_tp_ops *stage = wsh_device_ops()->stage;
    int rc = 0;

    for (const struct wsh_tp_ops *const *ops = wsh_tp_registry(); *ops && !rc; ops++)
        if ((*ops)->device && wsh_route_allows(job, *ops, WSH_SEG_DEVICE))
            rc = open_if_there(job, *ops, open_known);
    if (!rc && wsh_route_allows(job, stage, WSH_SEG_DEVICE))
        rc = open_if_there(job, stage, open_stage);
    if (!rc && job->n_tps == job->device.first_tp) {
        wsh_error("no transport reaches device memory; list nvlink in SHMEM_TRANSPORTS, or leave the setting "
                  "empty");
        rc = -ENODEV;
    }
    job->mixed = true;
    return rc ? rc : register_device_heap(job);
}

static void release_with(struct wsh_job *job, unsigned tp, int seg)
{
    if (job->lmem[tp][seg])
        job->tp[tp]->ops->mem_release(job->tp[tp], job->lmem[tp][seg]);
    job->lmem[tp][seg] = NULL;
    wsh_route_key_of(&job->keys[tp], seg)->len = 0;
}

void wsh_route_release(struct wsh_job *job, int seg)
{
    for (unsigned tp = 0; tp < job->n_tps; tp++)
        release_with(job, tp, seg);
    job->routes.local[seg] = WSH_LOCAL_HOST;
}

static int try_stop(void *arg)
{
    struct wsh_tp *tp = arg;

    return tp->ops->stop(tp, false);
}

/* The last one first. Endpoints go before the memory that they may still send from. */
void wsh_route_close_from(struct wsh_job *job, unsigned first_tp)
{
    static const struct wsh_wait_why why = {"shmem_finalize", NULL};

    while (job->n_tps > first_tp) {
        unsigned tp = job->n_tps - 1;

        if (wsh_wait(job, &why, try_stop, job->tp[tp]))
            (void)job->tp[tp]->ops->stop(job->tp[tp], true);
        for (int seg = 0; seg < WSH_SEGS_LOCAL; seg++)
            release_with(job, tp, seg);
        job->n_tps = tp;
        job->tp[tp]->ops->close(job->tp[tp]);
    }
    note_network(job);
}
