/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets in device code, contiguous and of one element. To a mapped peer they are stores and loads; a get from
 * one is complete when it returns, nonblocking or not. A put by a warp or block is one operation of its lane 0 once the
 * call returns: the stores of all lanes come before whatever that lane, or any other, releases afterwards.
 */
#ifndef WSH_DEVICE_PUT_CUH
#define WSH_DEVICE_PUT_CUH

#include "far.cuh"
#include "../view/handles.cuh"

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

/* The lanes that a short copy uses: all of a full warp, one of a warp that may be partial. */
template <int S> static WSH_DEV unsigned wsh_dev_sure_lanes()
{
    return S == WSH_WARP ? (wsh_dev_threads() % 32 ? 1 : 32) : wsh_dev_size<S>();
}

/* Units that each lane moves in a short copy that takes more than one step. */
#define WSH_SHORT_COPY_DEPTH 4

/* Copies U units of type T by each lane. Lanes without a unit load the first one, so that loads need no branch. */
template <int S, unsigned U, class L, class T>
static WSH_DEV void wsh_dev_short_copy_step(uint64_t to, const void *from, unsigned len)
{
    unsigned lane = wsh_dev_lane<S>(), size = wsh_dev_sure_lanes<S>(), n;
    T held[U];

    if (S != WSH_THREAD) {
        wsh_ptx_here(lane);
        wsh_ptx_here(len);
    }
    n = len / (unsigned)sizeof(T);
#pragma unroll
    for (unsigned u = 0; u < U; u++)
        held[u] = L::load((const T *)from + (lane + u * size < n ? lane + u * size : 0));
#pragma unroll
    for (unsigned u = 0; u < U; u++)
        if (lane + u * size < n)
            ((T *)to)[lane + u * size] = held[u];
}

/* Out of line, so that shorter copies in the same loop keep the registers. */
template <int S, class L> WSH_DEV_CALL void wsh_dev_short_copy_deep(uint64_t to, const void *from, unsigned len)
{
    wsh_dev_short_copy_step<S, WSH_SHORT_COPY_DEPTH, L, uint4>(to, from, len);
}

/*
 * All lanes: copies what is at most one unit of 4 or 8 bytes a lane, or WSH_SHORT_COPY_DEPTH units of 16. Returns the
 * bytes of a unit, or 0 where the copy is longer and nothing was done. In line and without divergence: a call of the
 * general function, or to split and join a warp, takes longer than such a copy itself.
 */
template <int S, class L> static WSH_DEV unsigned wsh_dev_short_copy(uint64_t to, const void *from, size_t len)
{
    const unsigned bits = (unsigned)to | (unsigned)(uint64_t)from | (unsigned)len;
    const size_t lanes = wsh_dev_sure_lanes<S>(), last = len - 1; /* of no bytes: beyond all */

    if (!(bits & 15)) {
        if (last < 16 * lanes)
            wsh_dev_short_copy_step<S, 1, L, uint4>(to, from, (unsigned)len);
        else if (last < 16 * WSH_SHORT_COPY_DEPTH * lanes)
            wsh_dev_short_copy_deep<S, L>(to, from, (unsigned)len);
        else
            return 0;
        return 16;
    }
    if (!(bits & 7) && last < 8 * lanes) {
        wsh_dev_short_copy_step<S, 1, L, uint64_t>(to, from, (unsigned)len);
        return 8;
    }
    if (!(bits & 3) && last < 4 * lanes) {
        wsh_dev_short_copy_step<S, 1, L, uint32_t>(to, from, (unsigned)len);
        return 4;
    }
    return 0;
}

/* The first barrier lets every lane's source be read by all. */
template <int S, bool WAITS = true>
static WSH_DEV_MOVE void wsh_dev_put(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t to;
    bool fast = wsh_dev_reach_fast(dest, len, pe, &to);

    wsh_dev_sync<S>();
    if (fast && wsh_dev_short_copy<S, wsh_dev_from_generic>(to, source, len))
        wsh_dev_sync<S>();
    else if (WAITS || fast || !wsh_dev_put_nbi_at_once<S>(dest, source, len, pe))
        wsh_dev_put_any<S, WAITS>(what, dest, source, len, pe, fast ? to : 0);
}

template <int S>
static WSH_DEV void wsh_dev_put_nbi(const char *what, void *dest, const void *source, size_t len, int pe)
{
    wsh_dev_put<S, false>(what, dest, source, len, pe);
}

template <int S, bool WAITS = true>
static WSH_DEV_MOVE void wsh_dev_get(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t from;
    bool fast = wsh_dev_reach_fast(source, len, pe, &from);

    if (fast && wsh_dev_short_copy<S, wsh_dev_from_peer>((uint64_t)dest, (const void *)from, len))
        wsh_dev_sync<S>();
    else
        wsh_dev_get_any<S, WAITS>(what, dest, source, len, pe, fast ? from : 0);
}

template <int S>
static WSH_DEV void wsh_dev_get_nbi(const char *what, void *dest, const void *source, size_t len, int pe)
{
    wsh_dev_get<S, false>(what, dest, source, len, pe);
}

/* Copies the bits of a value; compiles to nothing. */
template <class TO, class FROM> static WSH_DEV TO wsh_dev_as(FROM from)
{
    TO to;

    static_assert(sizeof to == sizeof from, "as many bits");
    memcpy(&to, &from, sizeof to);
    return to;
}

/* p to memory that this GPU does not reach: in a request to a NIC, or in a record. */
inline WSH_DEV_CALL void wsh_dev_p_far(void *dest, uint64_t bits, uint32_t len, int pe)
{
    struct wsh_dev_gda_value value = {{dest, nullptr, len, pe, 0, false}, bits};

    if (wsh_dev_has_gda() && wsh_dev_gda_put_inline(&value))
        return;
    wsh_ptx_again(&value);
    wsh_dev_request_word(wsh_dev_request{wsh_dev_request_kind(WSH_RING_PUT_WORD, 0, false),
                                         (uint64_t)value.transfer.sym, value.bits, 0, 0, (uint32_t)value.transfer.len,
                                         value.transfer.pe},
                         1, false);
}

/* p where it is not one store: an element of `len` bytes, whose bits are the low ones of `bits`. */
inline WSH_DEV_CALL void wsh_dev_p_any(const char *what, void *dest, uint64_t bits, uint32_t len, int pe)
{
    uint64_t to;

    wsh_dev_check_word(what, dest, len);
    to = wsh_dev_reach_or_request(what, dest, len, pe, false);
    if (!to)
        wsh_dev_p_far(dest, bits, len, pe);
    else if (len == 8)
        wsh_ptx_put((uint64_t *)to, bits);
    else if (len == 4)
        wsh_ptx_put((uint32_t *)to, (uint32_t)bits);
    else if (len == 2)
        wsh_ptx_put((uint16_t *)to, (uint16_t)bits);
    else
        wsh_ptx_put((uint8_t *)to, (uint8_t)bits);
}

template <class T> static WSH_DEV void wsh_dev_p(const char *what, T *dest, T value, int pe)
{
    uint64_t to;

    if (wsh_dev_reach_fast(dest, sizeof value, pe, &to))
        wsh_ptx_put((wsh_dev_bits<T> *)to, wsh_dev_as<wsh_dev_bits<T>>(value));
    else
        wsh_dev_p_any(what, dest, wsh_dev_as<wsh_dev_bits<T>>(value), sizeof value, pe);
}

/* g where it is not one load: returns the element in the low bits. */
inline WSH_DEV_CALL uint64_t wsh_dev_g_any(const char *what, const void *source, uint32_t len, int pe)
{
    uint64_t from;

    wsh_dev_check_word(what, source, len);
    from = wsh_dev_reach_or_request(what, source, len, pe, false);
    if (!from)
        return wsh_dev_request_word(
            wsh_dev_request{wsh_dev_request_kind(WSH_RING_GET_WORD, 0, true), (uint64_t)source, 0, 0, 0, len, pe}, 0,
            true);
    return len == 8   ? wsh_ptx_get((const uint64_t *)from)
           : len == 4 ? wsh_ptx_get((const uint32_t *)from)
           : len == 2 ? wsh_ptx_get((const uint16_t *)from)
                      : wsh_ptx_get((const uint8_t *)from);
}

template <class T> static WSH_DEV T wsh_dev_g(const char *what, const T *source, int pe)
{
    uint64_t from;

    if (wsh_dev_reach_fast_word(source, sizeof *source, pe, &from))
        return wsh_dev_as<T>(wsh_ptx_word((const wsh_dev_bits<T> *)from));
    return wsh_dev_as<T>((wsh_dev_bits<T>)wsh_dev_g_any(what, source, sizeof *source, pe));
}

/*
 * Arrays of `nelems` elements of SIZE bytes. One element of a thread, of 8 bytes at most, travels in a register: a
 * local variable that is its source or target then needs no memory, as its address is given to nobody. What a NIC may
 * read itself keeps its address.
 */
template <bool WAITS, unsigned SIZE>
static WSH_DEV void wsh_dev_put_element(const char *what, void *dest, const void *source, int pe)
{
    typedef typename wsh_dev_bits_of<SIZE>::type T;
    uint64_t to;

    if (wsh_dev_reach_fast(dest, SIZE, pe, &to))
        *(T *)to = *(const T *)source;
    else if (WAITS || !wsh_dev_has_gda() || !__isGlobal(source) ||
             !wsh_dev_put_nbi_at_once<WSH_THREAD>(dest, source, SIZE, pe))
        wsh_dev_p_any(what, dest, *(const T *)source, SIZE, pe);
}

template <bool WAITS, unsigned SIZE>
static WSH_DEV void wsh_dev_get_element(const char *what, void *dest, const void *source, int pe)
{
    typedef typename wsh_dev_bits_of<SIZE>::type T;
    uint64_t from;

    if (wsh_dev_reach_fast_word(source, SIZE, pe, &from))
        *(T *)dest = wsh_ptx_word((const T *)from);
    else if (WAITS || !wsh_dev_has_gda() || !__isGlobal(dest) ||
             !wsh_dev_get_gda<WSH_THREAD>(dest, (const void *)source, SIZE, pe))
        *(T *)dest = (T)wsh_dev_g_any(what, source, SIZE, pe);
}

/* Whether an array is of elements with a type, which are aligned; else of bytes, or as the routine's name says. */
template <class T> constexpr bool wsh_dev_is_typed = true;
template <> constexpr bool wsh_dev_is_typed<void> = false;

template <int S, bool WAITS, unsigned SIZE, class T>
static WSH_DEV void wsh_dev_put_array(const char *what, T *dest, const T *source, size_t nelems, int pe)
{
    if constexpr (S == WSH_THREAD && wsh_dev_is_typed<T> && SIZE <= 8) {
        typedef typename wsh_dev_bits_of<SIZE>::type B;
        uint64_t to;

        if (nelems == 1) {
            wsh_dev_put_element<WAITS, SIZE>(what, dest, source, pe);
            return;
        }
        if (nelems - 1 < WSH_COPY_FEW - 1 && wsh_dev_reach_fast(dest, nelems * SIZE, pe, &to)) {
            wsh_dev_copy_few<wsh_dev_from_generic>((B *)to, 1, (const B *)source, 1, (unsigned)nelems);
            return;
        }
    }
    wsh_dev_put<S, WAITS>(what, dest, source, nelems * SIZE, pe);
}

template <int S, bool WAITS, unsigned SIZE, class T>
static WSH_DEV void wsh_dev_get_array(const char *what, T *dest, const T *source, size_t nelems, int pe)
{
    if constexpr (S == WSH_THREAD && wsh_dev_is_typed<T> && SIZE <= 8)
        if (nelems == 1) {
            wsh_dev_get_element<WAITS, SIZE>(what, dest, source, pe);
            return;
        }
    wsh_dev_get<S, WAITS>(what, dest, source, nelems * SIZE, pe);
}

#endif
