/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided puts and gets in device code: the lanes move the elements in turn, also into and out of the proxy's records.
 */
#ifndef WSH_DEVICE_STRIDED_CUH
#define WSH_DEVICE_STRIDED_CUH

#include "put.cuh"

/* Strides in elements, both at least 1. */
struct wsh_dev_strides {
    ptrdiff_t dst, sst;
    size_t nelems;
};

/* An element of 128 bits, aligned as for 64. */
struct wsh_dev_pair {
    uint64_t low, high;
};

static WSH_DEV struct wsh_dev_pair wsh_ptx_get(const struct wsh_dev_pair *g_from)
{
    return wsh_dev_pair{wsh_ptx_get(&g_from->low), wsh_ptx_get(&g_from->high)};
}

template <> struct wsh_dev_bits_of<16> {
    typedef struct wsh_dev_pair type;
};

#define WSH_STRIDED_DEPTH 4

/* Addresses go from element to element: to compute each takes more registers. */
template <class L, class T>
WSH_DEV_CALL void wsh_dev_copy_strided(T *to, const T *from, const struct wsh_dev_strides &strides, unsigned lane,
                                       unsigned size)
{
    const ptrdiff_t in = (ptrdiff_t)size * strides.sst, out = (ptrdiff_t)size * strides.dst;

    from += (ptrdiff_t)lane * strides.sst;
    to += (ptrdiff_t)lane * strides.dst;
#pragma unroll 1
    for (int64_t more = (int64_t)strides.nelems - lane; more > 0; more -= WSH_STRIDED_DEPTH * size) {
        uint32_t left = wsh_dev_clip((size_t)more);
        T held[WSH_STRIDED_DEPTH];

#pragma unroll
        for (unsigned u = 0; u < WSH_STRIDED_DEPTH; u++, from += in) {
            wsh_ptx_now(from);
            held[u] = u * size < left ? L::load(from) : T();
        }
#pragma unroll
        for (unsigned u = 0; u < WSH_STRIDED_DEPTH; u++, to += out) {
            wsh_ptx_now(to);
            if (u * size < left)
                *to = held[u];
        }
    }
}

/* Bytes from the first element's start to the last one's end. */
static WSH_DEV size_t wsh_dev_span(size_t nelems, ptrdiff_t stride, size_t size)
{
    return ((nelems - 1) * (size_t)stride + 1) * size;
}

static WSH_DEV void wsh_dev_check_strides(const char *what, struct wsh_dev_strides s)
{
    if (s.nelems > 1 && (s.dst < 1 || s.sst < 1))
        wsh_dev_refuse(what, WSH_DEVICE_BAD_STRIDE, -1, nullptr, (uint64_t)(s.dst < 1 ? s.dst : s.sst));
}

/* What the proxy is asked for, a part at a time; `stride`: at the PE. A part is a multiple of every WIDTH. */
template <unsigned WIDTH>
static WSH_DEV struct wsh_dev_parts wsh_dev_parts_of(void *dest, const void *source, size_t nelems, ptrdiff_t stride,
                                                     int pe)
{
    static_assert(WSH_RING_PART % WIDTH == 0, "elements are not cut");
    return wsh_dev_parts{(char *)dest, (const char *)source, nelems * WIDTH, pe, (uint32_t)__ffs((int)WIDTH) - 1,
                         (uint64_t)stride * WIDTH, false, 0, 0, 0};
}

template <int S, class T>
WSH_DEV_CALL void wsh_dev_iput_asked(struct wsh_dev_parts *parts, const struct wsh_dev_strides &s)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        uint64_t at = wsh_dev_parts_next<S>(parts, false);

        wsh_dev_copy_strided<wsh_dev_from_generic>(
            (T *)at, (const T *)parts->source + (ptrdiff_t)(parts->off / sizeof(T)) * s.sst,
            wsh_dev_strides{1, s.sst, parts->len / sizeof(T)}, wsh_dev_lane<S>(), wsh_dev_size<S>());
        wsh_dev_sync<S>();
        if (wsh_dev_lane<S>() == 0)
            wsh_dev_put_post(*parts, nullptr);
    }
}

template <int S, class T>
WSH_DEV_CALL void wsh_dev_iget_asked(struct wsh_dev_parts *parts, const struct wsh_dev_strides &s)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        uint64_t at = wsh_dev_parts_next<S>(parts, true);

        wsh_dev_copy_strided<wsh_dev_from_peer>((T *)parts->dest + (ptrdiff_t)(parts->off / sizeof(T)) * s.dst,
                                                (const T *)at, wsh_dev_strides{s.dst, 1, parts->len / sizeof(T)},
                                                wsh_dev_lane<S>(), wsh_dev_size<S>());
        wsh_dev_sync<S>();
        if (wsh_dev_lane<S>() == 0) {
            wsh_ptx_release();
            wsh_dev_ask_take(parts->pe, parts->at);
        }
    }
}

/* Elements of WIDTH bytes, in every case. */
template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_iput_any(const char *what, void *dest, const void *source,
                               const struct wsh_dev_strides &strides, int pe)
{
    struct wsh_dev_strides s = strides;
    typedef typename wsh_dev_bits_of<WIDTH>::type T;
    uint64_t to;

    if (!s.nelems)
        return;
    wsh_dev_check_strides(what, s);
    to = wsh_dev_reach_or_request(what, dest, wsh_dev_span(s.nelems, s.dst, WIDTH), pe, false);
    wsh_dev_check_local(what, source, WIDTH);
    wsh_dev_sync<S>();
    if (!to) {
        struct wsh_dev_parts parts = wsh_dev_parts_of<WIDTH>(dest, source, s.nelems, s.dst, pe);

        wsh_dev_iput_asked<S, T>(&parts, wsh_dev_strides(s));
        return;
    }
    wsh_dev_copy_strided<wsh_dev_from_generic>((T *)to, (const T *)source, wsh_dev_strides(s), wsh_dev_lane<S>(),
                                               wsh_dev_size<S>());
    wsh_dev_sync<S>();
}

template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_iget_any(const char *what, void *dest, const void *source,
                               const struct wsh_dev_strides &strides, int pe)
{
    struct wsh_dev_strides s = strides;
    typedef typename wsh_dev_bits_of<WIDTH>::type T;
    uint64_t from;

    if (!s.nelems)
        return;
    wsh_dev_check_strides(what, s);
    from = wsh_dev_reach_or_request(what, source, wsh_dev_span(s.nelems, s.sst, WIDTH), pe, false);
    wsh_dev_check_local(what, dest, WIDTH);
    wsh_dev_sync<S>();
    if (!from) {
        struct wsh_dev_parts parts = wsh_dev_parts_of<WIDTH>(dest, source, s.nelems, s.sst, pe);

        wsh_dev_iget_asked<S, T>(&parts, wsh_dev_strides(s));
        return;
    }
    wsh_dev_copy_strided<wsh_dev_from_peer>((T *)dest, (const T *)from, wsh_dev_strides(s), wsh_dev_lane<S>(),
                                            wsh_dev_size<S>());
    wsh_dev_sync<S>();
}

/* Whether one thread moves so few, whose strides need no check; they cover so many bytes of the symmetric object. */
template <int S, unsigned WIDTH>
static WSH_DEV bool wsh_dev_are_few(const struct wsh_dev_strides &s, ptrdiff_t stride, size_t *span)
{
    *span = ((s.nelems - 1) * (size_t)stride + 1) * WIDTH;
    return S == WSH_THREAD && s.nelems - 1 < WSH_COPY_FEW && !((uint64_t)((s.dst - 1) | (s.sst - 1)) >> 31);
}

template <int S, unsigned WIDTH>
static WSH_DEV void wsh_dev_iput(const char *what, void *dest, const void *source,
                                 const struct wsh_dev_strides &strides, int pe)
{
    typedef typename wsh_dev_bits_of<WIDTH>::type T;
    uint64_t to;
    size_t span;

    if (wsh_dev_are_few<S, WIDTH>(strides, strides.dst, &span) && wsh_dev_reach_fast(dest, span, pe, &to))
        wsh_dev_copy_few<wsh_dev_from_generic>((T *)to, strides.dst, (const T *)source, strides.sst,
                                               (unsigned)strides.nelems);
    else
        wsh_dev_iput_any<S, WIDTH>(what, dest, source, wsh_dev_strides(strides), pe);
}

template <int S, unsigned WIDTH>
static WSH_DEV void wsh_dev_iget(const char *what, void *dest, const void *source,
                                 const struct wsh_dev_strides &strides, int pe)
{
    typedef typename wsh_dev_bits_of<WIDTH>::type T;
    uint64_t from;
    size_t span;

    if (wsh_dev_are_few<S, WIDTH>(strides, strides.sst, &span) && wsh_dev_reach_fast(source, span, pe, &from))
        wsh_dev_copy_few<wsh_dev_from_peer>((T *)dest, strides.dst, (const T *)from, strides.sst,
                                            (unsigned)strides.nelems);
    else
        wsh_dev_iget_any<S, WIDTH>(what, dest, source, wsh_dev_strides(strides), pe);
}

#endif
