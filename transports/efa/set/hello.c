/* SPDX-License-Identifier: BSD-3-Clause */
/* Greets every peer over the shm provider, whose files need no name once all have been greeted. */
#include "transports/efa/set/hello.h"

#include "transports/efa/ops/op.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/set/set.h"
#include "transports/efa/wire/msg.h"

#include <sys/mman.h>

static int send_hello(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_flow *flow = wsh_efa_flow_of(set->own, pe);
    struct wsh_efa_req *req =
        flow ? wsh_efa_msg_new(set, flow, WSH_EFA_WIRE_HELLO, sizeof(struct wsh_efa_head)) : NULL;

    if (!req)
        return flow ? -EAGAIN : -ENOMEM;
    return wsh_efa_op_message(set, flow, req, WSH_EFA_SIGNALS);
}

static int send_hellos(struct wsh_efa_set *set)
{
    int rc = 0;

    for (; set->hello.next < set->n_pes && !rc; set->hello.next += !rc)
        if (set->hello.next != set->my_pe && set->peers[set->hello.next].connected)
            rc = send_hello(set, set->hello.next);
    return rc;
}

/*
 * The shm provider maps a peer's file when it first sends to it. Once every peer has greeted this PE, none needs
 * the name any more: unlinked here, the file cannot outlive a PE that is killed.
 */
static int unlink_name(struct wsh_efa_set *set)
{
    int expected = 0, rc = send_hellos(set);

    if (rc)
        return rc;
    for (int pe = 0; pe < set->n_pes; pe++)
        expected += pe != set->my_pe && set->peers[pe].connected;
    if (set->hello.received < expected || wsh_srd_ctx_pending(&set->own->srd))
        return -EAGAIN;
    shm_unlink(set->hello.shm_name);
    set->hello.shm_name[0] = '\0';
    return 0;
}

int wsh_efa_hello_all(struct wsh_efa_set *set)
{
    int rc;

    wsh_efa_set_lock(set);
    rc = set->hello.shm_name[0] ? unlink_name(set) : 0;
    wsh_efa_set_unlock(set);
    return rc;
}
