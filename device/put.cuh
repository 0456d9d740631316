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

/* One access does it: 1, 2, 4, 8 or 16 bytes, aligned. */
static WSH_DEV bool wsh_dev_is_unit(uint64_t to, const void *source, size_t len)
{
    return len == (size_t)1 << wsh_dev_unit((void *)to, source, len) && __isGlobal(source);
}

static WSH_DEV void wsh_dev_store_unit(uint64_t to, const void *source, size_t len)
{
    unsigned unit = wsh_dev_unit(nullptr, nullptr, len);

    wsh_dev_copy_step<wsh_dev_from_global>((char *)to, (const char *)source, 1, unit, 0);
}

/* The first barrier lets every lane's source be read by all, the second lets the source be reused. */
template <int S>
WSH_DEV_CALL void wsh_dev_put(const char *what, void *dest, const void *source, size_t len, int pe)
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
WSH_DEV_CALL void wsh_dev_get(const char *what, void *dest, const void *source, size_t len, int pe)
{
    uint64_t from;

    if (!len)
        return;
    from = wsh_dev_reach(what, source, len, pe);
    wsh_dev_check_local(what, dest, len);
    wsh_dev_sync<S>();
    wsh_dev_copy<S, wsh_dev_from_peer>((char *)dest, (const char *)from, len);
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
    uint64_t to = wsh_dev_reach(what, dest, sizeof value, pe);

    wsh_dev_check_word(what, dest, sizeof value);
    wsh_ptx_put((wsh_dev_bits<T> *)to, wsh_dev_as<wsh_dev_bits<T>>(value));
}

template <class T> static WSH_DEV T wsh_dev_g(const char *what, const T *source, int pe)
{
    uint64_t from = wsh_dev_reach(what, source, sizeof *source, pe);

    wsh_dev_check_word(what, source, sizeof *source);
    return wsh_dev_as<T>(wsh_ptx_get((const wsh_dev_bits<T> *)from));
}

#endif
