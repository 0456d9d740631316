/* SPDX-License-Identifier: BSD-3-Clause */
/* How much an endpoint set holds: requests, buffers, receives, and what it grants its peers of them. */
#include "transports/efa/wire/sizes.h"

#include "base/log.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/flow.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/nic/provider.h"

#include <string.h>

#define WSH_EFA_RXM "tcp;ofi_rxm"
#define WSH_EFA_PART_MAX (1u << 30) /* bytes of one write or read */
#define WSH_EFA_IMMS 8192u          /* counted writes of all peers, each a place in every completion queue */
#define WSH_EFA_COPY_ALWAYS 64      /* a put of so many bytes always leaves its source reusable */

/*
 * With few PEs each peer's messages have receives of their own. With many these would add up: there are as many as
 * below, and credits for several times that; a message that finds none is sent again by its NIC.
 */
struct sizes {
    uint32_t tx;       /* writes, reads and sends under way */
    uint32_t small;    /* of them, those with a buffer for a message or a copied put */
    uint32_t large;    /* buffers for unregistered user memory */
    uint32_t msg_max;  /* bytes of a message */
    uint32_t copied;   /* bytes of a put that may be copied, with the head of a message */
    uint32_t rx;       /* receives */
    uint32_t rx_bytes; /* bytes of all receives, for all endpoint sets */
    uint32_t share;    /* credits for each receive */
};

/*
 * 8 KiB of data with every head, which EFA's MTU exceeds. ofi_rxm over tcp fills 1,024 buffers for messages that come
 * and as many for those that go, and our receives are all touched in turn: with 2 KiB they take 7 MB of a PE, with
 * 8 KiB 30.
 */
static const struct sizes of_few = {1024, 512, 32, 8320, 8320, UINT32_MAX, 24u << 20, 1};
static const struct sizes of_few_rxm = {1024, 512, 32, WSH_EFA_RXM_MESSAGE, 8320, UINT32_MAX, 2u << 20, 1};
static const struct sizes of_many = {256, 128, 8, 640, 640, 1024, 2u << 20, 4};

static const struct sizes *sizes_of(uint32_t n_pes, bool rxm)
{
    return n_pes > WSH_EFA_MANY ? &of_many : rxm ? &of_few_rxm : &of_few;
}

static const struct sizes *sizes_for(const struct wsh_efa_set *set, const struct fi_info *info)
{
    return sizes_of((uint32_t)set->n_pes,
                    !strncmp(info->fabric_attr->prov_name, WSH_EFA_RXM, strlen(WSH_EFA_RXM)));
}

static uint32_t at_most(size_t provider_limit, uint32_t most)
{
    return provider_limit && provider_limit < most ? (uint32_t)provider_limit : most;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* By PE 0 for all. Counting costs nothing where it is possible, so that there is no setting for it. */
bool wsh_efa_sizes_may_count(int my_pe, uint32_t n_pes)
{
    if (wsh_srd_imm_fits(0, n_pes, false))
        return true;
    if (my_pe == 0)
        wsh_warn(
            "%u PEs: the immediate data of writes name at most %u: the signal of a large put leaves when the "
            "put has completed, and counted puts go as puts with signal; start at most so many PEs where "
            "that "
            "matters",
            n_pes, WSH_SRD_IMM_SOURCES);
    return false;
}

/*
 * Counted writes that a peer may have under way. Where they take no receive, their completions alone need room, and the
 * more there are the fewer acks go back: one for half of them.
 */
static uint32_t imms_for(const struct wsh_efa_set *set)
{
    uint32_t imms = set->imm ? set->limits.window : 0;

    while (imms && !set->imm_receives && imms < WSH_SRD_WINDOW_MAX &&
           2 * imms * (uint32_t)set->n_pes <= WSH_EFA_IMMS)
        imms *= 2;
    return imms;
}

/* Of an endpoint's receives; what the peers hold of them, and this PE's credits with them, is in address blobs. */
static void set_credits(struct wsh_efa_set *set, const struct fi_info *info)
{
    const struct sizes *sizes = sizes_for(set, info);
    uint32_t n_pes = (uint32_t)set->n_pes, shares, most;

    /* Immediate data carries no tag: counted only where the NIC itself refuses writes without a valid key. */
    set->imm = !set->native && wsh_efa_info_pins(info) &&
               info->domain_attr->cq_data_size >= sizeof(uint32_t) &&
               wsh_efa_sizes_may_count(set->my_pe, n_pes);
    set->imm_receives = set->imm && (info->mode | info->rx_attr->mode) & FI_RX_CQ_DATA;
    /* A peer's messages, replies to this PE's fetches, acks of its messages and of its counted writes. */
    shares = 3 + set->imm + set->imm_receives;
    set->limits.n_rx = at_most(info->rx_attr->size, least(sizes->rx, shares * WSH_SRD_WINDOW_MAX * n_pes));
    set->limits.n_rx = least(sizes->rx_bytes / set->efa->n / set->limits.msg_max, set->limits.n_rx);
    most = sizes->share * set->limits.n_rx;
    for (set->limits.window = 1;
         set->limits.window < WSH_SRD_WINDOW_MAX && 2 * shares * set->limits.window * n_pes <= most;)
        set->limits.window *= 2;
    set->limits.shared_rx = shares * set->limits.window * n_pes > set->limits.n_rx;
    set->limits.n_rx = least(set->limits.n_rx, shares * set->limits.window * n_pes);
    set->limits.imms = imms_for(set);
}

/* What is copied must fit into a buffer of ours too, for the case that writes have to wait. 0: nothing is injected. */
static size_t inject_limit(const struct wsh_efa_set *set, const struct fi_info *info)
{
    size_t limit = set->limits.copy_max;

    if (set->n_rails > 1) /* kept for the case that they must go again */
        limit = WSH_EFA_INJECTED_MAX;
    return info->tx_attr->inject_size < limit ? info->tx_attr->inject_size : limit;
}

void wsh_efa_sizes_set(struct wsh_efa_set *set, const struct fi_info *info)
{
    const struct sizes *sizes = sizes_for(set, info);

    set->native = wsh_efa_info_orders_waw(info) && wsh_efa_info_orders_saw(info);
    set->native_reads = wsh_efa_info_orders_raw(info);
    set->limits.part_max = set->limits.whole_max = at_most(info->ep_attr->max_msg_size, WSH_EFA_PART_MAX);
    set->choice =
        (struct wsh_efa_choice){.n = set->n_rails, .policy = (enum wsh_efa_policy)set->env->nics_policy};
    if (set->n_rails > 1 && set->choice.policy != WSH_EFA_ROUND_ROBIN)
        set->limits.whole_max = at_most(set->limits.part_max, 2 * WSH_EFA_STRIPE - 1);
    wsh_efa_choice_suppose(&set->choice, ((uint32_t)set->n_pes - 1) / set->n_local);
    set->put = wsh_efa_info_small_puts(info);
    /* Older ones execute reads by packets of their own, which are lost where the device's queue is full. */
    set->gets_by_message =
        set->put == WSH_EFA_PUT_MESSAGES && FI_VERSION_LT(set->lib.version, FI_VERSION(1, 18));
    set->doorbells = wsh_efa_info_moves_alone(info);
    set->aside = set->n_rails > 1;
    set->mr_local = info->domain_attr->mr_mode & FI_MR_LOCAL;
    set->by_sockets = info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6 ||
                      info->addr_format == FI_SOCKADDR;
    set->virt_addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    set->limits.msg_max = at_most(set->limits.part_max, sizes->msg_max);
    set->limits.copy_max = at_most(set->limits.part_max, sizes->copied) - sizeof(struct wsh_efa_put_msg);
    set->limits.inject_max = inject_limit(set, info);
    set->limits.copy_always =
        set->limits.inject_max > WSH_EFA_COPY_ALWAYS ? set->limits.inject_max : WSH_EFA_COPY_ALWAYS;
    set->limits.n_tx = at_most(info->tx_attr->size, sizes->tx);
    set->limits.n_small = at_most(info->tx_attr->size, sizes->small);
    set->limits.n_large = set->mr_local ? at_most(info->tx_attr->size, sizes->large) : 1;
    set_credits(set, info);
}

/* A provider may keep buffers of its own for each place of its queues. */
void wsh_efa_sizes_limit(const struct wsh_efa_set *set, struct fi_info *info)
{
    if (set->n_pes <= WSH_EFA_MANY)
        return;
    info->tx_attr->size = at_most(info->tx_attr->size, set->limits.n_tx);
    info->rx_attr->size = at_most(info->rx_attr->size, set->limits.n_rx);
}

/* The receives that set_credits arrives at where nothing is counted, with one endpoint set. */
static uint32_t n_receives(const struct sizes *sizes, uint32_t n_pes)
{
    return least(least(sizes->rx, 3 * WSH_SRD_WINDOW_MAX * n_pes), sizes->rx_bytes / sizes->msg_max);
}

size_t wsh_efa_sizes_pools(uint32_t n_pes, bool tcp)
{
    const struct sizes *sizes = sizes_of(n_pes, tcp);
    size_t with_message = sizes->small + WSH_EFA_ANSWERS + n_receives(sizes, n_pes);

    return (sizes->tx + with_message + sizes->large) * sizeof(struct wsh_efa_req) +
           (with_message - sizes->small) * sizes->msg_max + (size_t)sizes->small * sizes->copied +
           (size_t)sizes->large * WSH_EFA_LARGE;
}

/* By two contexts: of the program, and of a team's collectives. */
size_t wsh_efa_sizes_peer(uint32_t n_pes, bool tcp)
{
    const struct sizes *sizes = sizes_of(n_pes, tcp);
    uint32_t window = n_receives(sizes, n_pes) * sizes->share / (8 * n_pes);
    size_t of_window =
        sizeof *((struct wsh_efa_flow *)0)->named + 1 + sizeof *((struct wsh_efa_rx_flow *)0)->held;

    window = window < 1 ? 1 : least(window, WSH_SRD_WINDOW_MAX);
    return sizeof(struct wsh_efa_peer) + (tcp ? WSH_EFA_PROVIDER_SOCKET : WSH_EFA_PROVIDER_NIC) +
           2 * (sizeof(struct wsh_efa_flow) + sizeof(struct wsh_efa_rx_flow) + window * of_window);
}

size_t wsh_efa_sizes_reserved(void)
{
    return sizeof(struct wsh_efa_peer) + 2 * sizeof(struct wsh_efa_flow *);
}
