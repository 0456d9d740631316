/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routing object: which transport carries an operation, by PE, segment, kind of the memory here, and class of
 * operation. Written by route.c alone: when the job starts, when a GPU is attached, and when all PEs register or
 * unregister a buffer, with no operation in flight on its segment; else only read. In large jobs the entries of other
 * hosts' PEs are written at their first use (route/first_use.c).
 *
 * A segment of a peer has at most two entries, each filled by the transport that it belongs to. The *main* entry
 * carries atomics and signals, and all that no other entry carries. The *other* entry carries transfers alone. Which of
 * both a transfer takes is the method of the peer's segment: one row of a short table, shared by all peers.
 */
#ifndef WSH_ROUTE_H
#define WSH_ROUTE_H

#include "transports/transport.h"

#include <pthread.h>

#define WSH_TP_MAX 8 /* transports open at the same time: as many as struct wsh_paths has bits */

struct wsh_job;
struct wsh_peer_blob;

/* Memory of this PE that an operation reads or writes: the host's; a GPU's that NICs take; a GPU's that they do not. */
enum wsh_route_local { WSH_LOCAL_HOST, WSH_LOCAL_REGISTERED, WSH_LOCAL_DEVICE, WSH_LOCAL_KINDS };

/* Puts and gets; atomics and signals, which on device memory may use another entry. */
enum wsh_route_class { WSH_ROUTE_TRANSFER, WSH_ROUTE_ATOMIC, WSH_ROUTE_CLASSES };

enum wsh_route_entry { WSH_ENTRY_MAIN, WSH_ENTRY_OTHER, WSH_ENTRIES };

/*
 * MAIN: everything by the main entry. COPY, of host memory: transfers with device memory by the other entry. NIC_HOST,
 * of host memory whose transport takes registered device memory: transfers with any other device memory by the other
 * entry.
 * NIC_DEVICE, of device memory: transfers with what NICs take by the other entry.
 */
enum wsh_route_method {
    WSH_METHOD_MAIN,
    WSH_METHOD_COPY,
    WSH_METHOD_NIC_HOST,
    WSH_METHOD_NIC_DEVICE,
    WSH_METHODS
};

/* [method][kind of the memory here][class of operation]: the entry; host memory and host memory: the main one. */
extern const uint8_t wsh_route_methods[WSH_METHODS][WSH_LOCAL_KINDS][WSH_ROUTE_CLASSES];

struct wsh_routes {
    /* [pe], tp = NULL: this one has none; NULL: no PE has one. The main ones of this PE's host segments are there. */
    struct wsh_rmem *entry[WSH_ENTRIES][WSH_SEGS];
    uint8_t *method[WSH_SEGS];     /* [pe], enum wsh_route_method; NULL: MAIN for all */
    uint8_t local[WSH_SEGS_LOCAL]; /* enum wsh_route_local of this PE's own memory */
    bool nics;                     /* transports of host memory that take device memory are used for it */
    /*
     * In large jobs the entries of PEs of other hosts are filled at their first use: bits of the PEs whose are; NULL:
     * all are. Under `lock`; an entry's `tp` is written last.
     */
    uint64_t *filled;
    pthread_mutex_t lock;
    int round; /* of the exchange in which the bootstrap still has the blobs */
};

/*
 * route/first_use.c: fills the entries of the PE that this empty one belongs to, where they wait for the first use.
 * NULL: it stays empty. It finds out by itself which PE that is, so that the usual case keeps nothing for it.
 */
const struct wsh_rmem *wsh_route_first(const struct wsh_rmem *rmem);

static inline enum wsh_route_method wsh_route_method(const struct wsh_routes *routes, int pe, int seg)
{
    return routes->method[seg] ? (enum wsh_route_method)routes->method[seg][pe] : WSH_METHOD_MAIN;
}

/* Acquire: partner of the release by which another thread fills the entry. */
static inline bool wsh_route_is_there(const struct wsh_rmem *rmem)
{
    return wsh_likely(__atomic_load_n(&rmem->tp, __ATOMIC_ACQUIRE));
}

/*
 * The entry for an operation between segment `seg` of `pe`, one that this PE has too, and memory of kind `local` here;
 * filled now where that waits for the first use. NULL: there is none.
 */
static inline const struct wsh_rmem *wsh_route(const struct wsh_routes *routes, int pe, int seg,
                                               enum wsh_route_local local, enum wsh_route_class class)
{
    unsigned entry = WSH_ENTRY_MAIN;
    const struct wsh_rmem *rmem;

    if (local != WSH_LOCAL_HOST || wsh_unlikely(seg >= WSH_SEG_DEVICE)) {
        entry = wsh_route_methods[wsh_route_method(routes, pe, seg)][local][class];
        if (!routes->entry[entry][seg])
            return NULL;
    }
    rmem = &routes->entry[entry][seg][pe];
    if (!wsh_route_is_there(rmem))
        return wsh_route_first(rmem);
    if (!rmem) /* spares the callers' test, which an atomic load does not */
        __builtin_unreachable();
    return rmem;
}

/* The main entry. */
static inline const struct wsh_rmem *wsh_route_main(const struct wsh_routes *routes, int pe, int seg)
{
    return wsh_route(routes, pe, seg, WSH_LOCAL_HOST, WSH_ROUTE_ATOMIC);
}

/* Where the CPU loads and stores what lies in that segment of `pe`, or NULL. */
static inline char *wsh_route_map(const struct wsh_routes *routes, int pe, int seg)
{
    const struct wsh_rmem *rmem = wsh_route_main(routes, pe, seg);

    return rmem ? rmem->map : NULL;
}

/*
 * route/open.c: the transports. open: those that the settings allow; `network` = some peer may be on another host.
 * open_device, at the attach of the GPU: those of device memory; registers the device heap with all that take it.
 * register: one further piece of device memory, which peers address or not. 0 or a logged error; a transport that
 * refuses device memory is not an error.
 */
int wsh_route_open(struct wsh_job *job, bool network);
int wsh_route_open_device(struct wsh_job *job);
int wsh_route_register(struct wsh_job *job, const struct wsh_mem *mem);

/* What wsh_route_close, wsh_route_close_device and wsh_route_withdraw use: the transports' side. */
void wsh_route_close_from(struct wsh_job *job, unsigned first_tp);
void wsh_route_release(struct wsh_job *job, int seg);

/* Collective: connects all transports to the peers, attaches their memory and fills the entries. */
int wsh_route_connect(struct wsh_job *job, const struct wsh_peer_blob *peers);
int wsh_route_connect_device(struct wsh_job *job, const struct wsh_peer_blob *peers);
int wsh_route_connect_segment(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers);

/*
 * route/first_use.c. open: where PEs of other hosts are to wait for their first use, makes the bits of those that do
 * not. 0 or -ENOMEM. fill_all: the entries of all that wait.
 */
int wsh_route_first_open(struct wsh_job *job);
void wsh_route_first_close(struct wsh_job *job);
int wsh_route_fill_all(struct wsh_job *job);
/* What a transport calls for the address of a peer, before the PE's entries are filled (wsh_tp_peers.fetch). */
int wsh_route_address(void *core, int pe, const char *name, void **address, size_t *len);
/* route/fill.c: the entries of one PE, from its blob. */
int wsh_route_fill(struct wsh_job *job, int pe, const struct wsh_peer_blob *blob);
bool wsh_route_is_filled(const struct wsh_routes *routes, int pe);

/* Forgets all; the transports and segments of device memory; one such segment. */
void wsh_route_close(struct wsh_job *job);
void wsh_route_close_device(struct wsh_job *job);
void wsh_route_withdraw(struct wsh_job *job, int seg);

/* route/device.c: the kind of the memory here, for a transfer with segment `seg` of `pe`; NULL: host memory. */
enum wsh_route_local wsh_route_local(const struct wsh_job *job, const void *local, int pe, int seg);
/* Whether transports are to be asked for device memory; whether transport `tp`, of host memory, is used for it. */
bool wsh_route_wants_nics(const struct wsh_job *job);
bool wsh_route_has_nics(const struct wsh_job *job, unsigned tp);
/* Sets routes.nics, with the GPU open; says why, where that is false. Says how many peers are reached. */
void wsh_route_choose_nics(struct wsh_job *job);
void wsh_route_report_nics(const struct wsh_job *job, int seg);

/* One line to `text` that says why (addr, len, pe) is not a valid target: for the caller's error message. */
void wsh_route_explain(const struct wsh_job *job, const void *addr, size_t len, int pe, char *text,
                       size_t size);

/* The settings name transports that there are. 0, or -EINVAL (logged). */
int wsh_route_check_lists(const struct wsh_job *job);

/* May `ops` serve `seg` by the settings? */
bool wsh_route_allows(const struct wsh_job *job, const struct wsh_tp_ops *ops, int seg);

/* Whether the settings let PEs of one host share the memory of their heaps. */
bool wsh_route_shares_memory(const struct wsh_job *job);

/* "local", "libfabric's tcp" …: the transport that reaches the host heap of `pe`. */
const char *wsh_route_name(const struct wsh_job *job, int pe);

static inline enum wsh_mem_kind wsh_route_kind(int seg)
{
    return seg < WSH_SEG_DEVICE ? WSH_MEM_HOST : WSH_MEM_DEVICE;
}

#endif
