/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/wire/batch.c: a request that is held for one peer keeps no other peer waiting. */
#include "transports/efa/wire/batch.h"

#include "test/common/unit.h"

#include <rdma/fi_endpoint.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 3, GONE = 2 };

static struct wsh_efa_set *set;
static struct wsh_efa_peer peers[PES];
static struct wsh_efa_req reqs[8];
static struct fi_info info;
static struct fi_tx_attr tx_attr;
static struct fid_ep ep;
static struct fi_ops_msg msg_ops;
static unsigned given[PES], tries;
static bool refuses, has_left;

static ssize_t take(fi_addr_t to)
{
    tries++;
    if (refuses && to == GONE)
        return -FI_EAGAIN;
    given[to]++;
    return 0;
}

static ssize_t provider_send(struct fid_ep *unused, const void *buf, size_t len, void *desc, fi_addr_t to,
                             void *context)
{
    (void)unused, (void)buf, (void)len, (void)desc, (void)context;
    return take(to);
}

static ssize_t provider_sendmsg(struct fid_ep *unused, const struct fi_msg *msg, uint64_t flags)
{
    (void)unused, (void)flags;
    return take(msg->addr);
}

static bool left(void *core, int pe)
{
    (void)core;
    return has_left && pe == GONE;
}

static void start(void)
{
    free(set);
    set = calloc(1, sizeof *set);
    memset(peers, 0, sizeof peers);
    memset(reqs, 0, sizeof reqs);
    memset(given, 0, sizeof given);
    tries = 0;
    refuses = has_left = false;
    msg_ops = (struct fi_ops_msg){.size = sizeof msg_ops, .send = provider_send, .sendmsg = provider_sendmsg};
    ep.msg = &msg_ops;
    info.tx_attr = &tx_attr;
    set->rail[0].ep = &ep;
    set->rail[0].info = &info;
    set->rail[0].depth = 64;
    set->n_rails = 1;
    set->doorbells = set->by_sockets = true;
    set->peers = peers;
    set->n_pes = PES;
    set->has_left = left;
    for (int pe = 0; pe < PES; pe++)
        peers[pe] = (struct wsh_efa_peer){.addr = (fi_addr_t)pe, .heard = true};
}

static int message(int i, int pe)
{
    reqs[i] = (struct wsh_efa_req){.kind = WSH_EFA_REQ_SEND, .pe = pe};
    return wsh_efa_batch_send(set, &reqs[i]);
}

static void goes_in_order(void)
{
    start();
    wsh_efa_batch_begin(set);
    CU_ASSERT_EQUAL(message(0, 1), 0);
    CU_ASSERT_EQUAL(given[1], 0);
    CU_ASSERT_EQUAL(message(1, 1), 0);
    CU_ASSERT_EQUAL(given[1], 1);
    CU_ASSERT_EQUAL(wsh_efa_batch_end(set), 0);
    CU_ASSERT_EQUAL(given[1], 2);
    CU_ASSERT_EQUAL(set->n_held, 0);
    CU_ASSERT_EQUAL(set->shared, 1); /* one doorbell for both */
}

static void another_peer_does_not_wait(void)
{
    start();
    refuses = true;
    wsh_efa_batch_begin(set);
    CU_ASSERT_EQUAL(message(0, GONE), 0); /* held */
    CU_ASSERT_EQUAL(message(1, 1), 0);
    CU_ASSERT_EQUAL(given[1], 1);
    CU_ASSERT_EQUAL(message(2, GONE), -EAGAIN); /* behind the one that is held */
    CU_ASSERT_EQUAL(wsh_efa_batch_end(set), 0);
    CU_ASSERT_EQUAL(message(3, 0), 0);
    CU_ASSERT_EQUAL(given[0], 1);
    CU_ASSERT_EQUAL(set->n_held, 1);
    refuses = false;
    CU_ASSERT_EQUAL(wsh_efa_batch_end(set), 0);
    CU_ASSERT_EQUAL(given[GONE], 1);
    CU_ASSERT_EQUAL(set->n_held, 0);
}

static void one_that_has_left_is_tried_seldom(void)
{
    unsigned before;

    start();
    refuses = has_left = true;
    wsh_efa_batch_begin(set);
    CU_ASSERT_EQUAL(message(0, GONE), 0);
    CU_ASSERT_EQUAL(wsh_efa_batch_end(set), 0);
    before = tries;
    for (int i = 0; i < 100; i++)
        CU_ASSERT_EQUAL(wsh_efa_batch_end(set), 0);
    CU_ASSERT(before && tries - before < 50);
}

const struct unit_test unit_tests[] = {
    {"held and given in order", goes_in_order},
    {"what is held for a peer keeps no other waiting", another_peer_does_not_wait},
    {"a peer that has left is tried seldom", one_that_has_left_is_tried_seldom},
    {NULL, NULL},
};
