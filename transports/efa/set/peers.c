/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges addresses, and connects the PEs over one provider. */
#define _GNU_SOURCE
#include "transports/efa/set/peers.h"

#include "base/log.h"
#include "topo/topo.h"
#include "transports/efa/set/parts.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/nic/nic_addresses.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WSH_EFA_ADDRESS_VERSION 5
#define WSH_EFA_NAMES_MAX 896 /* bytes of the names of all rails */
/* The shm provider's endpoint is a file of this name in /dev/shm. */
#define WSH_EFA_SHM_PREFIX "fi_shm://"

struct efa_address {
    uint8_t version, wire; /* of this struct and of messages */
    uint16_t name_len;     /* of one rail; all are alike */
    uint32_t n_rails;
    uint32_t window;  /* messages that each other PE may have under way to this one */
    uint32_t imms;    /* counted writes that it may */
    uint32_t msg_max; /* bytes of a message */
    char provider[64];
    char buffers[sizeof((struct wsh_efa_set *)0)->connecting.rxm_buffers];
    char name[WSH_EFA_NAMES_MAX]; /* [n_rails] of name_len bytes */
};

#define WSH_EFA_ADDRESS_LEN(names_len) (offsetof(struct efa_address, name) + (names_len))

_Static_assert(sizeof(struct efa_address) <= WSH_TP_ADDRESS_MAX, "an address fits into its blob");

/* The names of all rails, behind each other; *names_len in: room, out: bytes. */
static int get_names(struct wsh_efa_set *set, char *names, size_t *names_len)
{
    size_t room = *names_len, used = 0;

    for (uint32_t i = 0; i < set->n_rails; i++) {
        size_t len = room - used;
        int rc = wsh_efa_rail_name(&set->rail[i], &set->lib, names + used, &len);

        if (rc)
            return rc;
        used += len;
    }
    *names_len = used;
    return 0;
}

int wsh_efa_peers_address(struct wsh_efa_set *set, void *blob, size_t *len)
{
    struct efa_address addr = {.version = WSH_EFA_ADDRESS_VERSION,
                               .wire = WSH_EFA_WIRE_VERSION,
                               .n_rails = set->n_rails,
                               .window = set->limits.window,
                               .imms = set->limits.imms,
                               .msg_max = (uint32_t)set->limits.msg_max};
    size_t names_len = sizeof addr.name;
    int rc = get_names(set, addr.name, &names_len);

    if (rc)
        return rc;
    if (*len < WSH_EFA_ADDRESS_LEN(names_len))
        return -ENOSPC;
    addr.name_len = (uint16_t)(names_len / set->n_rails);
    strncpy(addr.provider, set->rail[0].info->fabric_attr->prov_name, sizeof addr.provider - 1);
    memcpy(addr.buffers, set->connecting.rxm_buffers, sizeof addr.buffers);
    memcpy(blob, &addr, WSH_EFA_ADDRESS_LEN(names_len));
    *len = WSH_EFA_ADDRESS_LEN(names_len);
    if (!strncmp(addr.name, WSH_EFA_SHM_PREFIX, strlen(WSH_EFA_SHM_PREFIX)))
        snprintf(set->hello.shm_name, sizeof set->hello.shm_name, "/%.*s",
                 (int)sizeof set->hello.shm_name - 2, addr.name + strlen(WSH_EFA_SHM_PREFIX));
    return 0;
}

static const char *address_fault(const struct wsh_efa_set *set, const struct efa_address *addr, size_t len)
{
    if (len < WSH_EFA_ADDRESS_LEN(0) || addr->version != WSH_EFA_ADDRESS_VERSION ||
        addr->wire != WSH_EFA_WIRE_VERSION)
        return "in another form; run the same library on every PE";
    if (!addr->n_rails || addr->n_rails > WSH_EFA_RAILS ||
        addr->n_rails * addr->name_len > WSH_EFA_NAMES_MAX ||
        len != WSH_EFA_ADDRESS_LEN(addr->n_rails * addr->name_len))
        return "of a wrong length; run the same library on every PE";
    if (!addr->window || addr->window & (addr->window - 1) || addr->window > WSH_SRD_WINDOW_MAX ||
        addr->msg_max != set->limits.msg_max)
        return "with other limits; run the same library on every PE";
    if (!memchr(addr->provider, '\0', sizeof addr->provider) ||
        !memchr(addr->buffers, '\0', sizeof addr->buffers))
        return "with a text that does not end; run the same library on every PE";
    return NULL;
}

static int check_address(const struct wsh_efa_set *set, int pe, const struct efa_address *addr, size_t len)
{
    const char *mine = set->rail[0].info->fabric_attr->prov_name, *fault = address_fault(set, addr, len);

    if (fault) {
        wsh_error("PE %d gives a libfabric address %s", pe, fault);
        return -EPROTO;
    }
    if (strcmp(addr->provider, mine)) {
        wsh_error(
            "PE %d uses libfabric provider %s and this PE %s; set SHMEM_LIBFABRIC_PROVIDER alike on all "
            "hosts",
            pe, addr->provider, mine);
        return -EPROTO;
    }
    if (strcmp(addr->buffers, set->connecting.rxm_buffers)) {
        wsh_error("FI_OFI_RXM_BUFFER_SIZE is %s for PE %d and %s for this PE, and ofi_rxm connects only "
                  "equal ones; "
                  "set it alike on all hosts",
                  addr->buffers, pe, set->connecting.rxm_buffers);
        return -EPROTO;
    }
    return 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Whether rail i of this PE works with rail k of the peer: it sends there, or is sent to from there. */
static bool is_paired(const struct wsh_efa_set *set, const struct efa_address *addr, int i, int k)
{
    return k == wsh_topo_pair(i, (int)addr->n_rails) || i == wsh_topo_pair(k, (int)set->n_rails);
}

/*
 * A peer's rail is entered where this PE sends to it, and where it sends to this PE: the device of a target must know
 * the initiator. Numbers of rails may differ.
 */
static int enter_rails(struct wsh_efa_set *set, int pe, const struct efa_address *addr)
{
    struct wsh_efa_peer *peer = &set->peers[pe];
    int mine = (int)set->n_rails, theirs = (int)addr->n_rails, rc = 0;

    for (int i = 0; i < mine; i++)
        for (int k = 0; k < theirs && !rc; k++) {
            fi_addr_t entry;

            if (!is_paired(set, addr, i, k))
                continue;
            rc = wsh_efa_rail_insert(&set->rail[i], &set->lib, addr->name + k * addr->name_len, pe, &entry);
            if (k != wsh_topo_pair(i, theirs))
                continue;
            if (peer->path)
                peer->path[i].addr = entry;
            else
                peer->addr = entry;
        }
    return rc;
}

/*
 * The device of a target refuses a NIC that it does not know, by the NIC and not by the endpoint: where peers are
 * connected at their first use, one address of every NIC that works with one of this PE is entered at the start.
 */
static int enter_nics(struct wsh_efa_set *set, int pe, const struct efa_address *addr,
                      struct wsh_efa_nic_addresses *nics)
{
    int mine = (int)set->n_rails, theirs = (int)addr->n_rails, rc = 0;

    for (int i = 0; i < mine; i++)
        for (int k = 0; k < theirs && rc >= 0; k++) {
            const char *name = addr->name + k * addr->name_len;
            fi_addr_t entry;

            if (!is_paired(set, addr, i, k))
                continue;
            rc = wsh_efa_nic_addresses_add(nics, (uint32_t)i, name);
            if (rc > 0)
                rc = wsh_efa_rail_insert(&set->rail[i], &set->lib, name, pe, &entry);
        }
    return rc < 0 ? rc : 0;
}

static int open_paths(struct wsh_efa_set *set, struct wsh_efa_peer *peer, uint32_t n_rails)
{
    peer->n_rails = (uint8_t)n_rails;
    if (set->n_rails == 1)
        return 0;
    peer->paths = (uint8_t)((1u << set->n_rails) - 1);
    peer->path = calloc(set->n_rails, sizeof *peer->path);
    return peer->path ? 0 : -ENOMEM;
}

void wsh_efa_peer_fini(const struct wsh_efa_set *set, struct wsh_efa_peer *peer)
{
    for (uint32_t i = 0; i < set->n_rails && peer->path; i++)
        free(peer->path[i].key);
    free(peer->path);
    peer->path = NULL;
    peer->paths = peer->n_rails = 0;
    free(peer->imm_count.part);
    peer->imm_count = (struct wsh_efa_imm_count){0};
}

/* What its messages carry, and those to it. */
static void make_tags(const struct wsh_efa_set *set, int pe, uint64_t *in, uint64_t *out)
{
    *in = wsh_secret_tag(&set->connecting.secret, (uint32_t)pe, (uint32_t)set->my_pe,
                         set->connecting.generation);
    *out = wsh_secret_tag(&set->connecting.secret, (uint32_t)set->my_pe, (uint32_t)pe,
                          set->connecting.generation);
}

static int note_known(struct wsh_efa_set *set, int pe)
{
    int *known = set->known;

    if (!(set->n_known & (set->n_known - 1))) /* full: 1, 2, 4 … places */
        known = realloc(known, (set->n_known ? 2 * (size_t)set->n_known : 1) * sizeof *known);
    if (!known)
        return -ENOMEM;
    set->known = known;
    set->known[set->n_known++] = pe;
    return 0;
}

static int get_address(const struct wsh_efa_set *set, int pe, const void *blob, struct efa_address *addr)
{
    size_t len;
    const void *part = wsh_efa_parts_get(blob, set->number, &len);

    memset(addr, 0, sizeof *addr);
    memcpy(addr, part, len < sizeof *addr ? len : sizeof *addr);
    return check_address(set, pe, addr, len);
}

static int add_peer(struct wsh_efa_set *set, int pe, const void *blob)
{
    struct wsh_efa_peer *peer = &set->peers[pe];
    struct efa_address addr;
    int rc = get_address(set, pe, blob, &addr);

    if (rc)
        return rc;
    if ((rc = open_paths(set, peer, addr.n_rails)) || (rc = enter_rails(set, pe, &addr)) ||
        (rc = note_known(set, pe))) {
        wsh_efa_peer_fini(set, peer);
        return rc;
    }
    make_tags(set, pe, &peer->tag_in, &peer->tag_out);
    /* Its acks, and the replies to this PE's fetches, need receives here as well. */
    peer->window = addr.window;
    peer->link = (struct wsh_srd_link){.msgs_max = least(addr.window, set->limits.window),
                                       .imms_max = least(addr.imms, set->limits.imms),
                                       .fetches_max = set->limits.window};
    peer->msg_max = (uint16_t)(addr.msg_max < set->limits.msg_max ? addr.msg_max : set->limits.msg_max);
    peer->connected = true;
    return 0;
}

int wsh_efa_peer_join(struct wsh_efa_set *set, int pe)
{
    void *address;
    size_t len;
    int rc;

    if (wsh_likely(set->peers[pe].connected))
        return 0;
    if (!set->connecting.look_up || !set->joined)
        return -EHOSTUNREACH;
    rc = set->connecting.look_up(set->core, pe, "efa", &address, &len);
    if (rc)
        return rc;
    rc = !len ? -EHOSTUNREACH : wsh_efa_parts_check(pe, address, len) > set->number ? 0 : -EPROTO;
    if (!rc)
        rc = add_peer(set, pe, address);
    free(address);
    return rc;
}

int wsh_efa_peer_accept(struct wsh_efa_set *set, int pe)
{
    int rc = wsh_efa_peer_join(set, pe);

    if (!rc || rc == -EHOSTUNREACH)
        return !rc;
    return wsh_efa_set_fail(set, rc, "PE %d has sent something and cannot be connected: %s", pe,
                            set->lib.strerror(-rc));
}

int wsh_efa_peer_knows(struct wsh_efa_set *set, int pe, uint64_t tag)
{
    uint64_t in, out;

    if (wsh_likely(set->peers[pe].connected))
        return tag == set->peers[pe].tag_in;
    make_tags(set, pe, &in, &out);
    return tag == in ? wsh_efa_peer_accept(set, pe) : 0;
}

/* Where peers are connected at their first use: those of this host at once. All addresses are checked at the start. */
static int note_peer(struct wsh_efa_set *set, const struct wsh_tp_peers *peers, int pe,
                     struct wsh_efa_nic_addresses *nics)
{
    struct efa_address addr;
    int rc;

    if (!set->connecting.look_up || peers->same_host[pe])
        return add_peer(set, pe, peers->address[pe]);
    rc = get_address(set, pe, peers->address[pe], &addr);
    return rc || set->rail[0].info->addr_format != FI_ADDR_EFA ? rc : enter_nics(set, pe, &addr, nics);
}

int wsh_efa_peers_connect(struct wsh_efa_set *set, const struct wsh_tp_peers *peers)
{
    struct wsh_efa_nic_addresses nics = {0};
    int rc = 0;

    wsh_efa_set_lock(set);
    set->connecting.secret = peers->secret;
    set->connecting.generation = peers->generation;
    set->connecting.look_up =
        set->hello.shm_name[0] ? NULL : peers->fetch; /* its file is unlinked once all have come */
    for (int pe = 0; pe < peers->n_pes && !rc; pe++)
        if (peers->len[pe] && !set->peers[pe].connected)
            rc = note_peer(set, peers, pe, &nics);
    wsh_efa_nic_addresses_fini(&nics);
    set->joined = !rc;
    wsh_efa_set_unlock(set);
    return rc;
}

unsigned wsh_efa_peers_reach(struct wsh_efa_set *set, int pe, enum wsh_mem_kind kind)
{
    int rc;

    wsh_efa_set_lock(set);
    rc = wsh_efa_peer_join(set, pe);
    wsh_efa_set_unlock(set);
    if (rc)
        return 0;
    if (kind != WSH_MEM_HOST) /* what the target's CPU would have to do is left to others */
        return set->hmem ? WSH_REACH_PUT | WSH_REACH_GET : 0;
    return WSH_REACH_ALL;
}
