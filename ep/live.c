/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a list of the instances that are there: a handle that is none gives a line, not a fault. */
#include "ep/ep.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmemx_ep *first;

/* The link at `wanted`, or the last one. With the lock held. */
static struct shmemx_ep **find(const struct shmemx_ep *wanted)
{
    struct shmemx_ep **link = &first;

    while (*link && *link != wanted)
        link = &(*link)->next;
    return link;
}

void ep_live_add(struct shmemx_ep *ep)
{
    pthread_mutex_lock(&lock);
    ep->next = first;
    first = ep;
    pthread_mutex_unlock(&lock);
}

void ep_live_remove(const struct shmemx_ep *ep)
{
    pthread_mutex_lock(&lock);
    *find(ep) = ep->next;
    pthread_mutex_unlock(&lock);
}

int ep_check_live(const char *routine, const struct shmemx_ep *ep)
{
    bool live;

    if (!ep)
        return ep_refuse(routine, "ep is NULL; make it with shmemx_ep_create");
    pthread_mutex_lock(&lock);
    live = *find(ep);
    pthread_mutex_unlock(&lock);
    return live ? 0
                : ep_refuse(routine, "ep %p is none that shmemx_ep_create has made, or has been destroyed",
                            (const void *)ep);
}
