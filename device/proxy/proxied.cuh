/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on memory that this GPU does not reach: they become requests to the proxy. The payload of a put is copied
 * into its record, so that the source may be reused on return; a get waits for its data. A warp or block asks once.
 * Elements at a stride travel side by side: the GPU's strides are its own matter, the PE's one is in the record.
 */
#ifndef WSH_DEVICE_PROXIED_CUH
#define WSH_DEVICE_PROXIED_CUH

#include "../core/copy.cuh"
#include "inbox.cuh"
#include "../core/reach.cuh"
#include "ring_push.cuh"

WSH_DEV void wsh_dev_ring_idle(struct wsh_dev_wait *wait)
{
    wait->cmp = SHMEM_CMP_GE;
    if (SHMEMX_ONE_HOST)
        wsh_dev_long_wait(wait);
    else
        wsh_dev_wait_idle(wait);
}

/* The rings of this block, for requests to `pe`. */
static WSH_DEV struct wsh_dev_rings wsh_dev_rings_here(int pe)
{
    uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z),
             consumers = wsh_device_view.consumers, each = wsh_device_view.rings_each;

    return wsh_dev_rings_to((struct wsh_ring *)wsh_device_view.rings,
                            (struct wsh_ring_heads *)wsh_device_view.ring_heads, consumers, each, block, (uint32_t)pe);
}

inline WSH_DEV_CALL uint64_t wsh_dev_ask_reserve(int pe, uint32_t n)
{
    return wsh_dev_ring_reserve(wsh_dev_rings_here(pe), n);
}

inline WSH_DEV_CALL void wsh_dev_ask_post(const struct wsh_dev_request &request, unsigned words, uint64_t at)
{
    wsh_dev_ring_post(wsh_dev_rings_here(request.pe), at, request, words);
}

inline WSH_DEV_CALL uint64_t wsh_dev_ask_send(const struct wsh_dev_request &request, unsigned words)
{
    return wsh_dev_ring_send(wsh_dev_rings_here(request.pe), request, words);
}

inline WSH_DEV_CALL uint64_t wsh_dev_ask_await(int pe, uint64_t at)
{
    return wsh_dev_ring_await(wsh_dev_rings_here(pe), at);
}

inline WSH_DEV_CALL void wsh_dev_ask_take(int pe, uint64_t at)
{
    wsh_dev_ring_take(wsh_dev_rings_here(pe), at);
}

/* A record without payload and with `words` further pieces: one word, which is the result where `fetch`. */
static WSH_DEV uint64_t wsh_dev_request_word(const struct wsh_dev_request &request, unsigned words, bool fetch)
{
    uint64_t at = wsh_dev_ask_send(request, words), word = 0;

    if (fetch) {
        word = wsh_dev_ask_await(request.pe, at);
        wsh_dev_ask_take(request.pe, at);
    }
    return word;
}

static WSH_DEV uint64_t wsh_dev_request_kind(enum wsh_ring_kind kind, uint64_t op, bool fetch)
{
    return wsh_dev_ring_kind(kind, op) | (fetch ? WSH_RING_ANSWER : 0);
}

static WSH_DEV uint64_t wsh_dev_request_amo(enum wsh_amo_op op, bool fetch, const void *sym, uint64_t value,
                                            uint64_t compare, uint32_t width, int pe)
{
    unsigned words;
    struct wsh_dev_request request = wsh_dev_request_of_amo(op, fetch, (uint64_t)sym, value, compare, width, pe,
                                                            &words);

    return wsh_dev_request_word(request, words, fetch);
}

static WSH_DEV enum wsh_amo_op wsh_dev_request_signal_op(int op)
{
    return op == SHMEM_SIGNAL_SET ? WSH_AMO_SET : WSH_AMO_ADD;
}

struct wsh_dev_signal {
    uint64_t *sym;
    uint64_t value;
    int op;      /* SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD */
    uint64_t at; /* where this GPU reaches it; 0: the proxy sends it */
};

/*
 * A transfer in several records, a part in each: its state, the same in all lanes. It lies in memory, since registers
 * held by a loop add to those of all that it calls.
 */
struct wsh_dev_parts {
    char *dest;
    const char *source;
    size_t whole;
    int pe;
    uint32_t width;  /* logarithm of the bytes of an element; 0 for contiguous data */
    uint64_t stride; /* bytes from each element to the next at the PE; of contiguous data 1 */
    bool signal;     /* the last record brings one */
    uint32_t len;    /* of the present part */
    size_t off;
    uint64_t at; /* of lane 0: position of the present part's record */
    bool waits;  /* zero-copy: the source may be reused on return */
};

static WSH_DEV bool wsh_dev_is_strided(const struct wsh_dev_parts &parts)
{
    return parts.stride != (uint64_t)1 << parts.width;
}

/* The record of the present part; `sym`: where the whole begins. */
static WSH_DEV struct wsh_dev_request wsh_dev_parts_request(const struct wsh_dev_parts &parts, const void *sym,
                                                            bool gets)
{
    enum wsh_ring_kind kind = gets ? WSH_RING_GET : WSH_RING_PUT;

    if (wsh_dev_is_strided(parts))
        kind = gets ? WSH_RING_IGET : WSH_RING_IPUT;
    return wsh_dev_request{wsh_dev_request_kind(kind, parts.width, gets),
                           (uint64_t)sym + (parts.off >> parts.width) * parts.stride, parts.stride, 0, 0, parts.len,
                           parts.pe};
}

/*
 * By which rings the records of a transfer go: by those of the block to the PE. queue.cuh has the same functions for
 * transfers by a queue, whose parts are of another type P.
 */
static WSH_DEV uint64_t wsh_dev_parts_reserve(const struct wsh_dev_parts &parts, uint32_t n)
{
    return wsh_dev_ask_reserve(parts.pe, n);
}

static WSH_DEV void wsh_dev_parts_post(const struct wsh_dev_parts &, const struct wsh_dev_request &request,
                                       unsigned words, uint64_t at)
{
    wsh_dev_ask_post(request, words, at);
}

static WSH_DEV uint64_t wsh_dev_parts_send(const struct wsh_dev_parts &, const struct wsh_dev_request &request,
                                           unsigned words)
{
    return wsh_dev_ask_send(request, words);
}

static WSH_DEV void wsh_dev_parts_await(const struct wsh_dev_parts &parts)
{
    wsh_dev_ask_await(parts.pe, parts.at);
}

static WSH_DEV void wsh_dev_parts_take(const struct wsh_dev_parts &parts)
{
    wsh_dev_ask_take(parts.pe, parts.at);
}

static WSH_DEV struct wsh_dev_rings wsh_dev_parts_rings(const struct wsh_dev_parts &parts)
{
    return wsh_dev_rings_here(parts.pe);
}

/*
 * One lane: asks the proxy for the signal. It comes after all that was stored before, which the proxy sees. In two
 * calls, that of the slot by itself: in one, kernels of 1024 threads would lack registers.
 */
static WSH_DEV void wsh_dev_signal_request(const struct wsh_dev_signal &signal, int pe)
{
    unsigned words;
    struct wsh_dev_request request = wsh_dev_request_of_amo(wsh_dev_request_signal_op(signal.op), false,
                                                            (uint64_t)signal.sym,
                                                            signal.value, 0, sizeof *signal.sym, pe, &words);

    wsh_dev_ask_post(request, words, wsh_dev_ask_reserve(pe, words + 1));
}

/* Lane 0: posts the record of a part whose payload all lanes have stored. The last one carries the signal, fenced. */
template <class P> WSH_DEV_CALL void wsh_dev_put_post(const P &parts, const struct wsh_dev_signal *with)
{
    struct wsh_dev_request request = wsh_dev_parts_request(parts, parts.dest, false);
    bool last = parts.signal && parts.off + parts.len == parts.whole;

    if (last) {
        request.first_a = wsh_dev_ring_kind(WSH_RING_SIGNAL, wsh_dev_request_signal_op(with->op)) |
                      (parts.off ? WSH_RING_FENCED : 0);
        request.second = (uint64_t)with->sym;
        request.value = with->value;
    }
    wsh_dev_parts_post(parts, request, last || wsh_dev_is_strided(parts), parts.at);
}

/* All lanes: the payload of the next part. Lane 0 has reserved its record and, of a get, awaited the answer. */
template <int S, class P> WSH_DEV_CALL uint64_t wsh_dev_parts_next(P *parts, bool gets)
{
    size_t left = parts->whole - parts->off;
    bool strided = wsh_dev_is_strided(*parts);
    uint32_t n;

    parts->len = left < WSH_RING_PART ? (uint32_t)left : WSH_RING_PART;
    n = wsh_dev_ring_chunks(parts->len);
    if (n < 2) /* the last part: no more positions than its pieces need */
        n = strided || parts->signal ? 2 : 1;
    if (wsh_dev_lane<S>() == 0) {
        parts->at = wsh_dev_parts_reserve(*parts, n);
        if (gets) {
            wsh_dev_parts_post(*parts, wsh_dev_parts_request(*parts, parts->source, true), strided, parts->at);
            wsh_dev_parts_await(*parts);
            wsh_ptx_acquire();
        }
    }
    n = wsh_dev_broadcast<S>((uint32_t)(parts->at % WSH_RING_PIECES), WSH_RING_PIECES - 1);
    wsh_dev_sync<S>();
    return (uint64_t)wsh_dev_ring_payload(wsh_dev_parts_rings(*parts), n);
}

/* The rings of row i of the queues; n = 0: it has none. */
static WSH_DEV struct wsh_dev_rings wsh_dev_queue_row(const struct wsh_device_root *root, uint32_t i)
{
    uint64_t ring = wsh_ptx_poll(&root->queue[i].ring), heads = wsh_ptx_poll(&root->queue[i].heads);

    return wsh_dev_rings{(struct wsh_ring *)ring, (struct wsh_ring_heads *)heads, ring != 0, 1, 0};
}

static WSH_DEV uint32_t wsh_dev_queue_rows()
{
    const struct wsh_device_root *root = (const struct wsh_device_root *)wsh_device_view.ranges;

    return root ? wsh_ptx_poll(&root->n_queues) : 0;
}

#endif
