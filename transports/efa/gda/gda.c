/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens send queues that kernels write, and takes their completions. The provider never posts to these endpoints nor
 * reads their completion queues; it makes them, knows peers, and says where the rings lie.
 */
#include "transports/efa/gda/gda.h"

#include "base/log.h"
#include "transports/efa/efa.h"
#include "transports/efa/set/set.h"
#include "transports/efa/gda/queue.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/set/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WSH_EFA_GDA_RAILS 4
#define WSH_EFA_GDA_QUEUES 8  /* where nobody says how many */
#define WSH_EFA_GDA_VALUES 8  /* those for values, at most */
#define WSH_EFA_GDA_PASS 4096 /* completions of a queue before they are published */

struct wsh_efa_gda {
    const struct wsh_efa_gda_ops *table[WSH_EFA_GDA_RAILS];
    unsigned n_rails, n;
    struct wsh_efa_gda_queue queue[];
};

static struct wsh_efa *efa_of(struct wsh_tp *tp)
{
    return (struct wsh_efa *)tp;
}

/* The largest power of two that is no more than n; 0 of 0. */
static unsigned power_below(unsigned n)
{
    return n ? 1u << (31 - __builtin_clz(n)) : 0;
}

/* Those asked for, or as many as are sensible and there are. */
static int choose_number(const struct wsh_efa_set *set, unsigned n_rails, unsigned n, unsigned room,
                         char *why, size_t size)
{
    unsigned most = wsh_efa_gda_share(set->n_local, n_rails, set->n_nics);

    most = power_below(most < room ? most : room);
    if (!most)
        return wsh_efa_gda_lacks(why, size,
                                 "%u PEs of this host share %u NICs, which have too few queue pairs for that",
                                 set->n_local, set->n_nics);
    if (n > most) {
        wsh_error(
            "SHMEM_GDA_QUEUES=%u: a PE may have at most %u here, where %u PEs share %u NICs with 256 queue "
            "pairs each; set it to less, or to 0",
            n, most, set->n_local, set->n_nics);
        return -EINVAL;
    }
    if (!n)
        n = WSH_EFA_GDA_QUEUES;
    return (int)(n < most ? n : most);
}

static int open_queues(struct wsh_efa_set *set, struct wsh_efa_gda *gda, unsigned n, char *why, size_t size)
{
    int rc = 0;

    for (unsigned i = 0; i < gda->n_rails && !rc; i++)
        rc = wsh_efa_gda_table_open(&set->lib, &set->rail[i], &gda->table[i], why, size);
    for (; gda->n < n && !rc; gda->n++) {
        unsigned rail = gda->n % gda->n_rails;

        rc = wsh_efa_gda_queue_open(&set->lib, &set->rail[rail], gda->table[rail], false, &gda->queue[gda->n],
                                    why, size);
        gda->queue[gda->n].given.rail = rail;
    }
    return rc;
}

/* What the caller is to know of n queues; it has given their marks. */
static void give(struct wsh_efa_gda *gda, unsigned first, unsigned n, struct wsh_tp_queue *queue)
{
    for (unsigned i = 0; i < n; i++) {
        struct wsh_tp_queue *given = &gda->queue[first + i].given;

        given->completed = queue[i].completed;
        given->mark = queue[i].mark;
        queue[i] = *given;
    }
}

int wsh_efa_gda_open(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, unsigned room, char *why,
                     size_t size)
{
    struct wsh_efa_set *set = efa_of(tp)->set[0];
    unsigned n_rails = set->n_rails < WSH_EFA_GDA_RAILS ? set->n_rails : WSH_EFA_GDA_RAILS;
    struct wsh_efa_gda *gda;
    int rc = choose_number(set, n_rails, n, room, why, size);

    if (rc < 0)
        return rc;
    n = (unsigned)rc;
    gda = efa_of(tp)->gda = calloc(1, sizeof *gda + (n + WSH_EFA_GDA_VALUES) * sizeof gda->queue[0]);
    if (!gda)
        return -ENOMEM;
    gda->n_rails = n_rails;
    wsh_efa_set_lock(set);
    rc = open_queues(set, gda, n, why, size);
    wsh_efa_set_unlock(set);
    if (rc) {
        wsh_efa_gda_close(tp);
        return rc;
    }
    give(gda, 0, n, queue);
    return (int)n;
}

/* Queue pairs that the PE may still have, as a power of two; at most `n`. */
static unsigned left_of_share(const struct wsh_efa_set *set, const struct wsh_efa_gda *gda, unsigned n)
{
    unsigned share = wsh_efa_gda_share(set->n_local, gda->n_rails, set->n_nics);
    unsigned left = share > gda->n ? share - gda->n : 0;

    return power_below(left < n ? left : n);
}

int wsh_efa_gda_open_values(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, char *why, size_t size)
{
    struct wsh_efa_set *set = efa_of(tp)->set[0];
    struct wsh_efa_gda *gda = efa_of(tp)->gda;
    unsigned first = gda->n,
             wanted = left_of_share(set, gda, n < WSH_EFA_GDA_VALUES ? n : WSH_EFA_GDA_VALUES);
    int rc = wanted ? 0 : wsh_efa_gda_lacks(why, size, "the PE's share of queue pairs is used up");

    wsh_efa_set_lock(set);
    for (unsigned i = 0; i < wanted && !rc; i++) {
        struct wsh_efa_gda_queue *next = &gda->queue[gda->n];
        unsigned rail = i % gda->n_rails;

        rc = wsh_efa_gda_queue_open(&set->lib, &set->rail[rail], gda->table[rail], true, next, why, size);
        next->given.rail = rail;
        if (rc)
            wsh_efa_gda_queue_close(&set->rail[rail], next);
        else
            gda->n++;
    }
    while (rc && gda->n > first) {
        gda->n--;
        wsh_efa_gda_queue_close(&set->rail[gda->queue[gda->n].given.rail], &gda->queue[gda->n]);
    }
    wsh_efa_set_unlock(set);
    if (rc)
        return rc;
    give(gda, first, wanted, queue);
    return (int)wanted;
}

void wsh_efa_gda_close(struct wsh_tp *tp)
{
    struct wsh_efa *efa = efa_of(tp);
    struct wsh_efa_gda *gda = efa->gda;
    struct wsh_efa_set *set = efa->set[0];

    if (!gda)
        return;
    wsh_efa_set_lock(set);
    for (unsigned i = 0; i < gda->n; i++)
        wsh_efa_gda_queue_close(&set->rail[gda->queue[i].given.rail], &gda->queue[i]);
    wsh_efa_set_unlock(set);
    efa->gda = NULL;
    free(gda);
}

int wsh_efa_gda_target(struct wsh_tp *tp, unsigned rail, int pe, struct wsh_tp_target *target)
{
    struct wsh_efa *efa = efa_of(tp);
    struct wsh_efa_set *set = efa->set[0];
    const struct wsh_efa_peer *peer = &set->peers[pe];
    int rc = -ENOTSUP;

    wsh_efa_set_lock(set);
    if (peer->connected)
        rc = efa->gda->table[rail]->query_addr(set->rail[rail].ep,
                                               peer->path ? peer->path[rail].addr : peer->addr, &target->ah,
                                               &target->qpn, &target->qkey);
    wsh_efa_set_unlock(set);
    return rc ? -ENOTSUP : 0;
}

int wsh_efa_gda_remote(struct wsh_tp *tp, unsigned rail, const struct wsh_rmem *rmem, uint32_t *key)
{
    struct wsh_efa_set *set = efa_of(tp)->set[0];
    const struct wsh_efa_peer *peer = &set->peers[rmem->pe];
    uint64_t whole = wsh_efa_rmem_key(set, rmem);

    if (!set->virt_addr)
        return -ENOTSUP;
    wsh_efa_set_lock(set);
    if (peer->path)
        whole = whole < peer->path[rail].n_keys ? peer->path[rail].key[whole] : UINT64_MAX;
    wsh_efa_set_unlock(set);
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
static int failed(struct wsh_efa_set *set, const struct wsh_efa_gda_queue *queue,
                  const struct wsh_efa_completion *completion)
{
    int pe = (int)(completion->id >> WSH_EFA_GDA_NUMBER_BITS), rc;
    bool memory = completion->status == WSH_EFA_GDA_LOCAL_KEY || completion->status == WSH_EFA_GDA_REMOTE_KEY;
    const char *words, *name = set->rail[queue->given.rail].name;
    char room[256] = "";

    wsh_efa_set_lock(set);
    words = fi_cq_strerror(queue->cq, completion->status, NULL, room, sizeof room);
    rc = wsh_efa_set_fail(set, -EIO, "%s PE %d over %s, posted by a kernel, failed: %s (code %u); %s",
                          completion->read ? "get from" : "put to", pe, name, words ? words : "no more words",
                          completion->status,
                          memory ? "is all of it in symmetric memory? try compute-sanitizer"
                                 : "is that PE alive and its host reachable?");
    wsh_efa_set_unlock(set);
    return rc;
}

static int unknown(struct wsh_efa_set *set, const struct wsh_efa_gda_queue *queue,
                   const struct wsh_efa_completion *completion)
{
    int rc;

    wsh_efa_set_lock(set);
    rc = wsh_efa_set_fail(
        set, -EPROTO,
        "%s completes request %llx of kernels, which is not under way (%llu are complete, all below "
        "%llu): a kernel of the program may have written where it must not; try compute-sanitizer",
        set->rail[queue->given.rail].name, (unsigned long long)completion->id,
        (unsigned long long)queue->window.count, (unsigned long long)queue->window.mark);
    wsh_efa_set_unlock(set);
    return rc;
}

/* Release: partner is the acquire of whoever waits, on the GPU or here. */
static void publish(struct wsh_efa_gda_queue *queue)
{
    __atomic_store_n(queue->given.completed, queue->window.count, __ATOMIC_RELEASE);
    __atomic_store_n(queue->given.mark, queue->window.mark, __ATOMIC_RELEASE);
}

static int queue_poll(struct wsh_efa_set *set, struct wsh_efa_gda_queue *queue)
{
    struct wsh_efa_completion bad;
    int n = wsh_efa_cq_drain(&queue->completions, &queue->window, WSH_EFA_GDA_PASS, &bad);

    if (wsh_unlikely(n == -EIO))
        return failed(set, queue, &bad);
    if (wsh_unlikely(n == -EPROTO))
        return unknown(set, queue, &bad);
    if (wsh_unlikely(n < 0))
        wsh_error("no memory to note which requests of kernels are complete; raise the memory limit");
    if (n > 0)
        publish(queue);
    return n < 0 ? n : n > 0;
}

int wsh_efa_gda_poll(struct wsh_tp *tp)
{
    struct wsh_efa *efa = efa_of(tp);
    int moved = 0;

    for (unsigned i = 0; i < efa->gda->n && moved >= 0; i++) {
        int rc = queue_poll(efa->set[0], &efa->gda->queue[i]);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}
