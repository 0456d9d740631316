/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows puts and gets in device code: contiguous and one element. To a mapped peer they are stores and loads; a get
 * is complete when it returns, nonblocking or not. A put by a warp or block is one operation of its lane 0 once the
 * call returns: the stores of all lanes come before whatever that lane, or any other, releases afterwards.
 */
#ifndef WSH_DEVICE_PUT_CUH
#define WSH_DEVICE_PUT_CUH

#include "copy.cuh"
#include "handles.cuh"

/* All lanes: from `source`, which may lie in global, shared or local memory, to the peer's memory at `to`. */
template <int S> static WSH_DEV void wsh_dev_store(uint64_t to, const void *source, size_t len)
{
    if (__isGlobal(source))
        wsh_dev_copy<S, wsh_dev_from_global>((char *)to, (const char *)source, len);
    else
        wsh_dev_copy_narrow<4, wsh_dev_from_generic>((char *)to, (const char *)source, len, wsh_dev_lane<S>(),
                                                     wsh_dev_size<S>());
}

/* Lanes that a brief copy counts on: all of a full warp, one of a warp that may be partial. */
template <int S> static WSH_DEV unsigned wsh_dev_sure_lanes()
{
    return S == WSH_WARP ? (wsh_dev_threads() % 32 ? 1 : 32) : wsh_dev_size<S>();
}

/* Units a lane of a brief copy that is not over in one step. */
#define WSH_BRIEF_DEPTH 4

/* U units a lane. Lanes without a unit load the first one, so that loads need no branch. */
template <int S, unsigned U, class L, class T>
static WSH_DEV void wsh_dev_brief_step(uint64_t to, const void *from, unsigned len)
{
    unsigned lane = wsh_dev_lane<S>(), size = wsh_dev_sure_lanes<S>(), n = len / (unsigned)sizeof(T);
    T held[U];

#pragma unroll
    for (unsigned u = 0; u < U; u++)
        held[u] = L::load((const T *)from + (lane + u * size < n ? lane + u * size : 0));
#pragma unroll
    for (unsigned u = 0; u < U; u++)
        if (lane + u * size < n)
            ((T *)to)[lane + u * size] = held[u];
}

/* Out of line, so that shorter ones in the same loop keep the registers. */
template <int S, class L> WSH_DEV_CALL void wsh_dev_brief_deep(uint64_t to, const void *from, unsigned len)
{
    wsh_dev_brief_step<S, WSH_BRIEF_DEPTH, L, uint4>(to, from, len);
}

/*
 * A copy that is one unit of 4 or 8 bytes a lane, or WSH_BRIEF_DEPTH of 16. It is in line and all lanes go the same
 * way: to call what serves every case, and to split and join a warp, takes longer than such a copy itself.
 */
template <int S> struct wsh_dev_brief {
    unsigned unit; /* bytes, or 0: the copy is not brief */

    WSH_DEV wsh_dev_brief(uint64_t to, const void *from, size_t len)
    {
        unsigned bits = (unsigned)to | (unsigned)(uint64_t)from | (unsigned)len, depth;

        unit = bits & 4 ? 4 : bits & 8 ? 8 : 16;
        depth = bits & 12 ? 1 : WSH_BRIEF_DEPTH;
        if (!to || !len || bits & 3 || len > unit * depth * wsh_dev_sure_lanes<S>())
            unit = 0;
    }

    template <class L> WSH_DEV void copy(uint64_t to, const void *from, size_t len) const
    {
        if (len > unit * wsh_dev_sure_lanes<S>())
            wsh_dev_brief_deep<S, L>(to, from, (unsigned)len);
        else if (unit == 16)
            wsh_dev_brief_step<S, 1, L, uint4>(to, from, (unsigned)len);
        else if (unit == 8)
            wsh_dev_brief_step<S, 1, L, uint64_t>(to, from, (unsigned)len);
        else
            wsh_dev_brief_step<S, 1, L, uint32_t>(to, from, (unsigned)len);
    }
};

/* The first barrier lets every lane's source be read by all, the second lets the source be reused. */
template <int S>
WSH_DEV_CALL void wsh_dev_put_any(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t to;

    if (!len)
        return;
    to = wsh_dev_reach(what, dest, len, pe);
    wsh_dev_check_local(what, source, len);
    wsh_dev_sync<S>();
    wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
}

template <int S>
static WSH_DEV void wsh_dev_put(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t to = wsh_dev_reach_usual(dest, len, pe);
    wsh_dev_brief<S> brief(to, source, len);

    if (!brief.unit) {
        wsh_dev_put_any<S>(what, dest, source, len, pe);
        return;
    }
    wsh_dev_sync<S>();
    brief.template copy<wsh_dev_from_generic>(to, source, len);
    wsh_dev_sync<S>();
}

/* No barrier before: each lane reads a peer's memory, and writes where no lane may look until the call has returned. */
template <int S>
WSH_DEV_CALL void wsh_dev_get_any(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t from;

    if (!len)
        return;
    from = wsh_dev_reach(what, source, len, pe);
    wsh_dev_check_local(what, dest, len);
    wsh_dev_copy<S, wsh_dev_from_peer>((char *)dest, (const char *)from, len);
    wsh_dev_sync<S>();
}

template <int S>
static WSH_DEV void wsh_dev_get(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t from = wsh_dev_reach_usual(source, len, pe);
    wsh_dev_brief<S> brief(from, dest, len);

    if (!brief.unit) {
        wsh_dev_get_any<S>(what, dest, source, len, pe);
        return;
    }
    brief.template copy<wsh_dev_from_peer>((uint64_t)dest, (const void *)from, len);
    wsh_dev_sync<S>();
}

/* The unsigned type as wide as T: elements travel as bits. */
template <unsigned WIDTH> struct wsh_dev_bits_of;
template <> struct wsh_dev_bits_of<1> {
    typedef uint8_t type;
};
template <> struct wsh_dev_bits_of<2> {
    typedef uint16_t type;
};
template <> struct wsh_dev_bits_of<4> {
    typedef uint32_t type;
};
template <> struct wsh_dev_bits_of<8> {
    typedef uint64_t type;
};
template <class T> using wsh_dev_bits = typename wsh_dev_bits_of<sizeof(T)>::type;

/* Copies the bits of a value; compiles to nothing. */
template <class TO, class FROM> static WSH_DEV TO wsh_dev_as(FROM from)
{
    TO to;

    static_assert(sizeof to == sizeof from, "as many bits");
    memcpy(&to, &from, sizeof to);
    return to;
}

template <class T> static WSH_DEV void wsh_dev_p(const char *what, T *dest, T value, int pe)
{
    uint64_t to = wsh_dev_reach_word<sizeof value>(what, dest, pe, false);

    wsh_ptx_put((wsh_dev_bits<T> *)to, wsh_dev_as<wsh_dev_bits<T>>(value));
}

template <class T> static WSH_DEV T wsh_dev_g(const char *what, const T *source, int pe)
{
    uint64_t from = wsh_dev_reach_word<sizeof *source>(what, source, pe, false);

    return wsh_dev_as<T>(wsh_ptx_get((const wsh_dev_bits<T> *)from));
}

#endif
