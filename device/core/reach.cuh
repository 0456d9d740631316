/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address translation in device code: (PE, symmetric address) -> the address of the peer's copy in this GPU's address
 * space, for loads and stores, from the view's slots and segments.
 */
#ifndef WSH_DEVICE_REACH_CUH
#define WSH_DEVICE_REACH_CUH

#include "refuse.cuh"

#include <shmem.h>

/* The memory at a peer that an operation needs. */
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

/* The address, for this GPU, of the copy at `slot` of the object at `addr` in `seg`; 0: not mapped. */
static WSH_DEV uint64_t wsh_dev_copy_at(const struct wsh_device_seg &seg, uint64_t addr, uint32_t slot)
{
    uint64_t base;

    if (slot == WSH_DEVICE_NO_SLOT)
        return 0;
    base = seg.stride ? seg.where + slot * seg.stride : ((const uint64_t *)seg.where)[slot];
    return base ? base + (addr - seg.base) : 0;
}

/* The registered buffer that holds [addr, addr + len), or NULL. */
inline WSH_DEV_CALL const struct wsh_device_range *wsh_dev_buffer(uint64_t addr, uint64_t len)
{
    const struct wsh_device_root *root = (const struct wsh_device_root *)wsh_device_view.ranges;
    const struct wsh_device_ranges *ranges = root ? (const struct wsh_device_ranges *)root->ranges : nullptr;
    uint32_t low = 0, high = ranges ? (uint32_t)ranges->n : 0;

#pragma unroll 1
    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (WSH_DEVICE_RANGES_ROW(ranges, mid)->seg.base <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || !wsh_dev_seg_holds(WSH_DEVICE_RANGES_ROW(ranges, low - 1)->seg, addr, len))
        return nullptr;
    return WSH_DEVICE_RANGES_ROW(ranges, low - 1);
}

/* The segment of [addr, addr + len), or NULL; *on_gpu = it is GPU memory. */
static WSH_DEV const struct wsh_device_seg *wsh_dev_segment(uint64_t addr, uint64_t len, bool *on_gpu)
{
    const struct wsh_device_range *buffer;

#pragma unroll 1
    for (int i = WSH_DEVICE_SEGS - 1; i >= 0; i--) {
        *on_gpu = i == WSH_DEVICE_SEG_DEVICE;
        if (wsh_dev_seg_holds(wsh_device_view.seg[i], addr, len))
            return &wsh_device_view.seg[i];
    }
    *on_gpu = true;
    buffer = wsh_dev_buffer(addr, len);
    return buffer && buffer->symmetric ? &buffer->seg : nullptr;
}

/* Translates `target`: 0 and the address in *at, or the enum wsh_device_reason why this GPU cannot. */
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

/* Whether [addr, addr + len) of this PE is in host memory, whose words only the CPU reads, modifies and writes. */
static WSH_DEV bool wsh_dev_is_host_heap(uint64_t addr, uint64_t len)
{
    return wsh_dev_seg_holds(wsh_device_view.seg[WSH_DEVICE_SEG_STATIC], addr, len) ||
           wsh_dev_seg_holds(wsh_device_view.seg[WSH_DEVICE_SEG_HEAP], addr, len);
}

/* Whether the target is this PE's own memory, symmetric or not: at its address, as for any access of the kernel. */
static WSH_DEV bool wsh_dev_is_own(const struct wsh_dev_target &target)
{
    return target.pe == wsh_device_view.my_pe && wsh_device_view.n_pes &&
           !(target.atomic && wsh_dev_is_host_heap((uint64_t)target.sym, target.len));
}

/* Whether the proxy serves what was refused for `reason`: memory out of reach, and atomics on host memory. */
static WSH_DEV bool wsh_dev_is_proxied(uint32_t reason)
{
    return wsh_device_view.rings && (reason == WSH_DEVICE_HOST_ATOMIC || reason == WSH_DEVICE_UNREACHABLE);
}

/*
 * The translation in every case; out of line, since it searches and need be in the program only once. Refuses what has
 * no address, but returns 0 where the caller may `request` the proxy and the proxy serves it.
 */
inline WSH_DEV_CALL uint64_t wsh_dev_reach_any(const char *what, const void *sym, uint64_t len, int pe, bool atomic,
                                               bool request = false)
{
    const struct wsh_dev_target target = {sym, len, pe, atomic};
    uint64_t at = 0;
    uint32_t reason;

    if (wsh_dev_is_own(target))
        return (uint64_t)sym;
    reason = wsh_dev_target_find(target, &at);
    if (reason && (!request || !wsh_dev_is_proxied(reason)))
        wsh_dev_refuse(what, reason, pe, sym, len);
    return reason ? 0 : at;
}

static WSH_DEV uint64_t wsh_dev_reach_or_request(const char *what, const void *sym, uint64_t len, int pe, bool atomic)
{
    return wsh_dev_reach_any(what, sym, len, pe, atomic, true);
}

/*
 * The offset from an object of the device heap to its copy of the PE at `slot`, where copies lie at a constant stride.
 * NOW: computed unconditionally, so that a loop computes it once; else as the compiler likes (ptx/word.cuh).
 */
template <bool NOW = true> static WSH_DEV uint64_t wsh_dev_peer_offset(uint32_t slot)
{
    const struct wsh_device_seg &heap = wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE];
    uint64_t offset = heap.where - heap.base + slot * heap.stride;

    if (NOW)
        wsh_ptx_now(offset);
    return offset;
}

/*
 * The fast path: the object lies in the device heap, mapped at a constant stride, and the PE in the run of slots. Sets
 * *at and returns whether that holds. In a loop over one PE only the last comparison stays in the loop. It never holds
 * under SHMEM_DEBUG=check, which so checks everything.
 */
template <bool NOW = true>
static WSH_DEV bool wsh_dev_reach_fast(const void *sym, uint64_t len, int pe, uint64_t *at)
{
    const struct wsh_device_seg &heap = wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE];
    uint32_t slot = (uint32_t)(pe - wsh_device_view.run_first);
    uint64_t places = 0; /* where an object of that length may begin */

    *at = (uint64_t)sym + wsh_dev_peer_offset<NOW>(slot);
    if (slot < (uint32_t)wsh_device_view.run_count && len <= heap.len)
        places = heap.len - len + 1;
    if (NOW)
        wsh_ptx_now(places);
    return (uint64_t)sym - heap.base < places;
}

/* The same of a word that the program reads or changes for its value. */
static WSH_DEV bool wsh_dev_reach_fast_word(const void *sym, uint64_t len, int pe, uint64_t *at)
{
    return wsh_dev_reach_fast<false>(sym, len, pe, at);
}

/* The address of a peer's copy; refuses, and does not return, where there is none. */
static WSH_DEV uint64_t wsh_dev_reach(const char *what, const void *sym, uint64_t len, int pe, bool atomic = false)
{
    uint64_t at;

    return wsh_dev_reach_fast(sym, len, pe, &at) ? at : wsh_dev_reach_any(what, sym, len, pe, atomic);
}

/* The address of a word of LEN bytes at a peer; 0: ask the proxy. */
template <unsigned LEN>
static WSH_DEV uint64_t wsh_dev_reach_word(const char *what, const void *sym, int pe, bool atomic)
{
    uint64_t at;

    if (wsh_dev_reach_fast(sym, LEN, pe, &at))
        return at;
    wsh_dev_check_word(what, sym, LEN);
    return wsh_dev_reach_or_request(what, sym, LEN, pe, atomic);
}

/* Refuses what is no symmetric object of this PE. */
inline WSH_DEV_CALL void wsh_dev_check_symmetric(const char *what, const void *own, uint64_t len)
{
    uint64_t at = 0;
    uint32_t reason = wsh_dev_target_find(wsh_dev_target{own, len, wsh_device_view.my_pe, false}, &at);

    if (reason)
        wsh_dev_refuse(what, reason, wsh_device_view.my_pe, own, len);
}

/* Checks a word that this PE waits for: an aligned symmetric object of its own. */
static WSH_DEV void wsh_dev_check_own(const char *what, const void *word, uint64_t len)
{
    wsh_dev_check_word(what, word, len);
    if (wsh_dev_checks())
        wsh_dev_check_symmetric(what, word, len);
}

/* shmem_ptr: no refusal. */
inline WSH_DEV_CALL void *wsh_dev_ptr(const void *sym, int pe)
{
    uint64_t at = 0;

    return wsh_dev_target_find(wsh_dev_target{sym, 1, pe, false}, &at) ? nullptr : (void *)at;
}

#endif
