/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens send queues that kernels write, and takes their completions. The provider never posts to these endpoints nor
 * reads their completion queues; it makes them, knows peers, and says where the rings lie.
 */
#include "transports/efa/gda.h"

#include "base/log.h"
#include "transports/efa/efa.h"
#include "transports/efa/endpoints.h"
#include "transports/efa/gda_cq.h"
#include "transports/efa/gda_ops.h"
#include "transports/efa/mem.h"
#include "transports/efa/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EFA_GDA_RAILS 4
#define EFA_GDA_QUEUES 8  /* where nobody says how many */
#define EFA_GDA_PASS 4096 /* completions of a queue before they are published */

#define HARDWARE "p5en or p6 instances and the EFA driver 3.3.0"

struct gda_queue {
    struct fid_cq *cq;
    struct fid_eq *eq;
    struct fid_ep *ep;
    struct wsh_efa_cq completions;
    struct wsh_efa_window window;
    struct wsh_tp_queue given;
};

struct wsh_efa_gda {
    const struct wsh_efa_gda_ops *table[EFA_GDA_RAILS];
    unsigned n_rails, n;
    struct gda_queue queue[];
};

static struct wsh_efa *efa_of(struct wsh_tp *tp)
{
    return (struct wsh_efa *)tp;
}

/* -ENOTSUP, with its reason. */
__attribute__((format(printf, 3, 4))) static int not_here(char *why, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, size, fmt, args);
    va_end(args);
    return -ENOTSUP;
}

static void rail_close(const struct wsh_efa_rail *rail, struct gda_queue *queue)
{
    if (queue->ep)
        wsh_efa_fid_close(&queue->ep->fid, "endpoint for kernels", rail);
    if (queue->eq)
        wsh_efa_fid_close(&queue->eq->fid, "event queue for kernels", rail);
    if (queue->cq)
        wsh_efa_fid_close(&queue->cq->fid, "completion queue for kernels", rail);
    wsh_efa_window_close(&queue->window);
    *queue = (struct gda_queue){0};
}

static int open_objects(const struct wsh_efa_rail *rail, struct gda_queue *queue, const char **call)
{
    struct fi_cq_attr cq = {
        .size = rail->info->tx_attr->size, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE};
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    int rc;

    *call = "fi_cq_open";
    if ((rc = fi_cq_open(rail->domain, &cq, &queue->cq, NULL)))
        return rc;
    *call = "fi_eq_open";
    if ((rc = fi_eq_open(rail->fabric, &eq, &queue->eq, NULL)))
        return rc;
    *call = "fi_endpoint";
    if ((rc = fi_endpoint(rail->domain, rail->info, &queue->ep, NULL)))
        return rc;
    *call = "fi_ep_bind";
    if ((rc = fi_ep_bind(queue->ep, &queue->cq->fid, FI_TRANSMIT | FI_RECV)) ||
        (rc = fi_ep_bind(queue->ep, &queue->eq->fid, 0)) || (rc = fi_ep_bind(queue->ep, &rail->av->fid, 0)))
        return rc;
    *call = "fi_enable";
    return fi_enable(queue->ep);
}

static bool is_power(uint32_t n)
{
    return n && !(n & (n - 1));
}

/* Where the rings lie, and whether this library knows what to do with them. */
static int look_at_rings(const struct wsh_efa_gda_ops *table, const struct wsh_efa_rail *rail,
                         struct gda_queue *queue, char *why, size_t size)
{
    struct wsh_efa_gda_wq send = {0}, receive = {0};
    struct wsh_efa_gda_cq completions = {0};
    int rc = table->query_qp_wqs(queue->ep, &send, &receive);

    if (!rc)
        rc = table->query_cq(queue->cq, &completions);
    if (rc)
        return not_here(why, size, "%s does not say where its queues lie (%s): it takes " HARDWARE,
                        rail->name, wsh_strerror(-rc));
    if (!(send.caps & EFA_GDA_WQ_LONG_ID))
        return not_here(why, size,
                        "requests to %s carry no numbers of 64 bits: it takes " HARDWARE
                        ", and libfabric after 2.6.0",
                        rail->name);
    if (!is_power(send.n_entries) || send.n_entries < 64 ||
        (send.entry_size != 64 && send.entry_size != 128) || !send.max_batch ||
        !is_power(completions.n_entries) || completions.n_entries < send.n_entries ||
        completions.entry_size < 16)
        return not_here(
            why, size,
            "queues of %s are of a form that this library does not know (%u of %u bytes, %u completions "
            "of %u)",
            rail->name, send.n_entries, send.entry_size, completions.n_entries, completions.entry_size);
    queue->completions =
        (struct wsh_efa_cq){completions.buffer, completions.entry_size, completions.n_entries, 0};
    queue->given = (struct wsh_tp_queue){.ring = send.buffer,
                                         .doorbell = send.doorbell,
                                         .entries = send.n_entries,
                                         .entry_bytes = send.entry_size,
                                         .max_batch = send.max_batch};
    return wsh_efa_window_open(&queue->window, send.n_entries);
}

static int queue_open(const struct wsh_efa_eps *eps, const struct wsh_efa_gda_ops *table, unsigned rail,
                      struct gda_queue *queue, char *why, size_t size)
{
    const struct wsh_efa_rail *on = &eps->rail[rail];
    const char *call;
    int rc = open_objects(on, queue, &call);

    if (rc)
        return not_here(
            why, size,
            "%s of a queue for kernels on %s: %s; set SHMEM_GDA_QUEUES to less where queue pairs of "
            "the NIC are used up",
            call, on->name, eps->lib.strerror(rc < 0 ? -rc : rc));
    rc = look_at_rings(table, on, queue, why, size);
    queue->given.rail = rail;
    return rc;
}

static int open_table(const struct wsh_efa_eps *eps, unsigned rail, const struct wsh_efa_gda_ops **table,
                      char *why, size_t size)
{
    const struct wsh_efa_rail *on = &eps->rail[rail];
    const struct fi_fabric_attr *fabric = on->info->fabric_attr;
    int rc;

    if (strcmp(fabric->prov_name, "efa"))
        return not_here(why, size, "the NICs are %s, not EFA", on->name);
    if (FI_VERSION_LT(eps->lib.version, EFA_GDA_OPS_SINCE))
        return not_here(why, size,
                        "libfabric is %u.%u; install 2.6 or newer (aws-ofi-nccl's EFA installer 1.50)",
                        FI_MAJOR(eps->lib.version), FI_MINOR(eps->lib.version));
    if (strcmp(fabric->name, "efa-direct"))
        return not_here(why, size, "the fabric is %s, and only efa-direct shows its queues", fabric->name);
    rc = fi_open_ops(&on->domain->fid, EFA_GDA_OPS, 0, (void **)table, NULL);
    if (rc)
        return not_here(why, size, "%s does not show its queues (%s: %s)", on->name, EFA_GDA_OPS,
                        eps->lib.strerror(rc < 0 ? -rc : rc));
    return 0;
}

/* Those asked for, or as many as are sensible and there are. */
static int choose_number(const struct wsh_efa_eps *eps, unsigned n_rails, unsigned n, unsigned room,
                         char *why, size_t size)
{
    unsigned most = wsh_efa_gda_share(eps->n_local, n_rails, eps->n_nics);

    most = most < room ? most : room;
    if (!most)
        return not_here(why, size,
                        "%u PEs of this host share %u NICs, which have too few queue pairs for that",
                        eps->n_local, eps->n_nics);
    if (n > most) {
        wsh_error(
            "SHMEM_GDA_QUEUES=%u: a PE may have at most %u here, where %u PEs share %u NICs with 256 queue "
            "pairs each; set it to less, or to 0",
            n, most, eps->n_local, eps->n_nics);
        return -EINVAL;
    }
    if (!n)
        n = (EFA_GDA_QUEUES + n_rails - 1) / n_rails * n_rails;
    return (int)(n < most ? n : most);
}

static int open_queues(struct wsh_efa_eps *eps, struct wsh_efa_gda *gda, unsigned n, char *why, size_t size)
{
    int rc = 0;

    for (unsigned i = 0; i < gda->n_rails && !rc; i++)
        rc = open_table(eps, i, &gda->table[i], why, size);
    for (; gda->n < n && !rc; gda->n++) {
        unsigned rail = gda->n % gda->n_rails;

        rc = queue_open(eps, gda->table[rail], rail, &gda->queue[gda->n], why, size);
    }
    return rc;
}

int wsh_efa_gda_open(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, unsigned room, char *why,
                     size_t size)
{
    struct wsh_efa_eps *eps = efa_of(tp)->eps[0];
    unsigned n_rails = eps->n_rails < EFA_GDA_RAILS ? eps->n_rails : EFA_GDA_RAILS;
    struct wsh_efa_gda *gda;
    int rc = choose_number(eps, n_rails, n, room, why, size);

    if (rc < 0)
        return rc;
    n = (unsigned)rc;
    gda = efa_of(tp)->gda = calloc(1, sizeof *gda + n * sizeof gda->queue[0]);
    if (!gda)
        return -ENOMEM;
    gda->n_rails = n_rails;
    wsh_efa_lock(eps);
    rc = open_queues(eps, gda, n, why, size);
    wsh_efa_unlock(eps);
    if (rc) {
        wsh_efa_gda_close(tp);
        return rc;
    }
    for (unsigned i = 0; i < n; i++) {
        gda->queue[i].given.completed = queue[i].completed;
        gda->queue[i].given.mark = queue[i].mark;
        queue[i] = gda->queue[i].given;
    }
    return (int)n;
}

void wsh_efa_gda_close(struct wsh_tp *tp)
{
    struct wsh_efa *efa = efa_of(tp);
    struct wsh_efa_gda *gda = efa->gda;
    struct wsh_efa_eps *eps = efa->eps[0];

    if (!gda)
        return;
    wsh_efa_lock(eps);
    for (unsigned i = 0; i < gda->n; i++)
        rail_close(&eps->rail[i % gda->n_rails], &gda->queue[i]);
    wsh_efa_unlock(eps);
    efa->gda = NULL;
    free(gda);
}

int wsh_efa_gda_target(struct wsh_tp *tp, unsigned rail, int pe, struct wsh_tp_target *target)
{
    struct wsh_efa *efa = efa_of(tp);
    struct wsh_efa_eps *eps = efa->eps[0];
    const struct wsh_efa_peer *peer = &eps->peers[pe];
    int rc = -ENOTSUP;

    wsh_efa_lock(eps);
    if (peer->connected)
        rc = efa->gda->table[rail]->query_addr(eps->rail[rail].ep,
                                               peer->path ? peer->path[rail].addr : peer->addr, &target->ah,
                                               &target->qpn, &target->qkey);
    wsh_efa_unlock(eps);
    return rc ? -ENOTSUP : 0;
}

int wsh_efa_gda_remote(struct wsh_tp *tp, unsigned rail, const struct wsh_rmem *rmem, uint32_t *key)
{
    struct wsh_efa_eps *eps = efa_of(tp)->eps[0];
    const struct wsh_efa_peer *peer = &eps->peers[rmem->pe];
    uint64_t whole = wsh_efa_key(eps, rmem);

    if (!eps->virt_addr)
        return -ENOTSUP;
    wsh_efa_lock(eps);
    if (peer->path)
        whole = whole < peer->path[rail].n_keys ? peer->path[rail].key[whole] : UINT64_MAX;
    wsh_efa_unlock(eps);
    *key = (uint32_t)whole;
    return whole > UINT32_MAX ? -ENOTSUP : 0;
}

int wsh_efa_gda_local(struct wsh_tp *tp, unsigned rail, const struct wsh_lmem *lmem, uint32_t *key)
{
    struct wsh_efa *efa = efa_of(tp);
    const struct wsh_efa_lmem *mem = (const void *)wsh_efa_all_mem_first(lmem);
    uint64_t whole;

    if (!mem || !mem->mr.mr[rail])
        return -ENOTSUP;
    whole = efa->gda->table[rail]->get_mr_lkey(mem->mr.mr[rail]);
    *key = (uint32_t)whole;
    return whole >> 24 ? -ENOTSUP : 0;
}

/* Says so, once. */
static int failed(struct wsh_efa_eps *eps, const struct gda_queue *queue,
                  const struct wsh_efa_completion *completion)
{
    int pe = (int)(completion->id >> EFA_GDA_NUMBER_BITS), rc;
    bool memory = completion->status == EFA_GDA_LOCAL_KEY || completion->status == EFA_GDA_REMOTE_KEY;
    const char *words, *name = eps->rail[queue->given.rail].name;
    char room[256] = "";

    wsh_efa_lock(eps);
    words = fi_cq_strerror(queue->cq, completion->status, NULL, room, sizeof room);
    rc = wsh_efa_fail(eps, -EIO, "%s PE %d over %s, posted by a kernel, failed: %s (code %u); %s",
                      completion->read ? "get from" : "put to", pe, name, words ? words : "no more words",
                      completion->status,
                      memory ? "is all of it in symmetric memory? try compute-sanitizer"
                             : "is that PE alive and its host reachable?");
    wsh_efa_unlock(eps);
    return rc;
}

static int unknown(struct wsh_efa_eps *eps, const struct gda_queue *queue,
                   const struct wsh_efa_completion *completion)
{
    int rc;

    wsh_efa_lock(eps);
    rc = wsh_efa_fail(
        eps, -EPROTO,
        "%s completes request %llx of kernels, which is not under way (%llu are complete, all below "
        "%llu): a kernel of the program may have written where it must not; try compute-sanitizer",
        eps->rail[queue->given.rail].name, (unsigned long long)completion->id,
        (unsigned long long)queue->window.count, (unsigned long long)queue->window.mark);
    wsh_efa_unlock(eps);
    return rc;
}

/* Release: partner is the acquire of whoever waits, on the GPU or here. */
static void publish(struct gda_queue *queue)
{
    __atomic_store_n(queue->given.completed, queue->window.count, __ATOMIC_RELEASE);
    __atomic_store_n(queue->given.mark, queue->window.mark, __ATOMIC_RELEASE);
}

static int queue_poll(struct wsh_efa_eps *eps, struct gda_queue *queue)
{
    struct wsh_efa_completion bad;
    int n = wsh_efa_cq_drain(&queue->completions, &queue->window, EFA_GDA_PASS, &bad);

    if (wsh_unlikely(n < 0))
        return n == -EIO ? failed(eps, queue, &bad) : unknown(eps, queue, &bad);
    if (n)
        publish(queue);
    return n > 0;
}

int wsh_efa_gda_poll(struct wsh_tp *tp)
{
    struct wsh_efa *efa = efa_of(tp);
    int moved = 0;

    for (unsigned i = 0; i < efa->gda->n && moved >= 0; i++) {
        int rc = queue_poll(efa->eps[0], &efa->gda->queue[i]);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}
