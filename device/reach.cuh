/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address translation in device code: (PE, symmetric address) -> the address of the peer's copy in this GPU's address
 * space, for loads and stores, from the view's slots and segments.
 */
#ifndef WSH_DEVICE_REACH_CUH
#define WSH_DEVICE_REACH_CUH

#include "refuse.cuh"

#include <shmem.h>

/* What is wanted at the peer. */
struct wsh_dev_target {
    const void *sym;
    uint64_t len;
    int pe;
    bool atomic; /* a read-modify-write: only in GPU memory */
};

/* The slot of `pe`, which is in 0 … n_pes - 1, or WSH_DEVICE_NO_SLOT. */
static WSH_DEV uint32_t wsh_dev_slot(int pe)
{
    uint32_t slot = (uint32_t)(pe - wsh_device_view.run_first);

    if (slot < (uint32_t)wsh_device_view.run_count)
        return slot;
    return wsh_device_view.slots ? ((const uint8_t *)wsh_device_view.slots)[pe] : WSH_DEVICE_NO_SLOT;
}

static WSH_DEV bool wsh_dev_seg_holds(const struct wsh_device_seg &seg, uint64_t addr, uint64_t len)
{
    uint64_t off = addr - seg.base;

    return off < seg.len && len <= seg.len - off;
}

/* The copy at `slot` of what lies at `addr` in `seg`, or 0. */
static WSH_DEV uint64_t wsh_dev_copy_at(const struct wsh_device_seg &seg, uint64_t addr, uint32_t slot)
{
    uint64_t base;

    if (slot == WSH_DEVICE_NO_SLOT)
        return 0;
    base = seg.stride ? seg.where + slot * seg.stride : ((const uint64_t *)seg.where)[slot];
    return base ? base + (addr - seg.base) : 0;
}

/* The segment of [addr, addr + len), or NULL; *on_gpu = it is GPU memory. */
static WSH_DEV const struct wsh_device_seg *wsh_dev_segment(uint64_t addr, uint64_t len, bool *on_gpu)
{
    const struct wsh_device_ranges *ranges = (const struct wsh_device_ranges *)wsh_device_view.ranges;

#pragma unroll 1
    for (int i = WSH_DEVICE_SEGS - 1; i >= 0; i--) {
        *on_gpu = i == WSH_DEVICE_SEG_DEVICE;
        if (wsh_dev_seg_holds(wsh_device_view.seg[i], addr, len))
            return &wsh_device_view.seg[i];
    }
#pragma unroll 1
    for (uint64_t i = 0; ranges && i < ranges->n; i++) {
        *on_gpu = ranges->row[i].on_gpu;
        if (wsh_dev_seg_holds(ranges->row[i].seg, addr, len))
            return &ranges->row[i].seg;
    }
    return nullptr;
}

/* 0 and the address in *at, or why not. */
static WSH_DEV uint32_t wsh_dev_target_find(const struct wsh_dev_target &target, uint64_t *at)
{
    uint64_t addr = (uint64_t)target.sym;
    bool on_gpu;
    const struct wsh_device_seg *seg;

    if ((uint32_t)target.pe >= (uint32_t)wsh_device_view.n_pes)
        return WSH_DEVICE_BAD_PE;
    seg = wsh_dev_segment(addr, target.len, &on_gpu);
    if (!seg)
        return WSH_DEVICE_BAD_ADDRESS;
    *at = wsh_dev_copy_at(*seg, addr, wsh_dev_slot(target.pe));
    if (!*at)
        return WSH_DEVICE_UNREACHABLE;
    return target.atomic && !on_gpu ? WSH_DEVICE_HOST_ATOMIC : WSH_DEVICE_OK;
}

/* What this GPU does not reach the proxy does, host memory and device memory; and it may update words of the host's. */
static WSH_DEV bool wsh_dev_is_proxied(uint32_t reason)
{
    return wsh_device_view.rings && (reason == WSH_DEVICE_HOST_ATOMIC || reason == WSH_DEVICE_UNREACHABLE);
}

/*
 * Every case but the usual one; out of line, for it is once in the program and costs a search. 0, only where the caller
 * may `ask`: to be asked of the proxy.
 */
inline WSH_DEV_CALL uint64_t wsh_dev_reach_any(const char *what, const void *sym, uint64_t len, int pe, bool atomic,
                                               bool ask = false)
{
    uint64_t at = 0;
    uint32_t reason = wsh_dev_target_find(wsh_dev_target{sym, len, pe, atomic}, &at);

    if (reason && (!ask || !wsh_dev_is_proxied(reason)))
        wsh_dev_refuse(what, reason, pe, sym, len);
    return reason ? 0 : at;
}

static WSH_DEV uint64_t wsh_dev_reach_or_ask(const char *what, const void *sym, uint64_t len, int pe, bool atomic)
{
    return wsh_dev_reach_any(what, sym, len, pe, atomic, true);
}

/*
 * What is added to the address of an object of the device heap to reach the copy of the PE at `slot`, in the usual case
 * of copies at a constant stride. Computed here and not behind a question, so that a loop needs it once.
 */
static WSH_DEV uint64_t wsh_dev_peer_offset(uint32_t slot)
{
    const struct wsh_device_seg &heap = wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE];
    uint64_t offset = heap.where - heap.base + slot * heap.stride;

    wsh_ptx_now(offset);
    return offset;
}

/*
 * The usual case alone: the device heap, mapped at a constant stride, of a PE in the run of slots. Whether it is, and
 * *at. Of a loop over one PE only the last comparison stays in the loop. Under SHMEM_DEBUG=check nothing is usual.
 */
static WSH_DEV bool wsh_dev_reach_fast(const void *sym, uint64_t len, int pe, uint64_t *at)
{
    const struct wsh_device_seg &heap = wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE];
    uint32_t slot = (uint32_t)(pe - wsh_device_view.run_first);
    uint64_t places = 0; /* where an object of that length may begin */

    *at = (uint64_t)sym + wsh_dev_peer_offset(slot);
    if (slot < (uint32_t)wsh_device_view.run_count && len <= heap.len)
        places = heap.len - len + 1;
    wsh_ptx_now(places);
    return (uint64_t)sym - heap.base < places;
}

/* Does not return without an address. */
static WSH_DEV uint64_t wsh_dev_reach(const char *what, const void *sym, uint64_t len, int pe, bool atomic = false)
{
    uint64_t at;

    return wsh_dev_reach_fast(sym, len, pe, &at) ? at : wsh_dev_reach_any(what, sym, len, pe, atomic);
}

/* One word of LEN bytes. 0: ask the proxy. */
template <unsigned LEN>
static WSH_DEV uint64_t wsh_dev_reach_word(const char *what, const void *sym, int pe, bool atomic)
{
    uint64_t at;

    if (wsh_dev_reach_fast(sym, LEN, pe, &at))
        return at;
    wsh_dev_check_word(what, sym, LEN);
    return wsh_dev_reach_or_ask(what, sym, LEN, pe, atomic);
}

/* Words that this PE waits for are its own symmetric objects. */
static WSH_DEV void wsh_dev_check_own(const char *what, const void *word, uint64_t len)
{
    wsh_dev_check_word(what, word, len);
    if (wsh_dev_checks())
        wsh_dev_reach_any(what, word, len, wsh_device_view.my_pe, false);
}

/* shmem_ptr: no refusal. */
inline WSH_DEV_CALL void *wsh_dev_ptr(const void *sym, int pe)
{
    uint64_t at = 0;

    return wsh_dev_target_find(wsh_dev_target{sym, 1, pe, false}, &at) ? nullptr : (void *)at;
}

#endif
