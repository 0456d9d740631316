/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations in device code. On words in GPU memory they are the GPU's own atomics at system scope. Words in
 * host memory belong to the CPU: the GPU may load or store one atomically, but a read-modify-write goes to the proxy
 * or, where there is none, is refused.
 */
#ifndef WSH_DEVICE_AMO_CUH
#define WSH_DEVICE_AMO_CUH

#include "put.cuh"

/* The word of `pe` as bits. RMW: a read-modify-write. */
template <bool RMW, class T>
static WSH_DEV wsh_dev_bits<T> *wsh_dev_word_at(const char *what, const T *sym, int pe)
{
    return (wsh_dev_bits<T> *)wsh_dev_reach_word<sizeof(T)>(what, sym, pe, RMW);
}

/* What the word's owner is asked for where that is the proxy: a word that this GPU does not reach or may not update. */
template <class T>
static WSH_DEV T wsh_dev_request_of(enum wsh_amo_op op, bool fetch, const T *sym, wsh_dev_bits<T> value,
                                    wsh_dev_bits<T> cond, int pe)
{
    return wsh_dev_as<T>((wsh_dev_bits<T>)wsh_dev_request_amo(op, fetch, sym, value, cond, sizeof(T), pe));
}

/* An operation on a word of `width` bytes at PE `pe`; `fetch`: for its old value. */
struct wsh_dev_amo {
    enum wsh_amo_op op;
    bool fetch;
    void *sym;
    uint64_t value, cond;
    uint32_t width;
    int pe;
};

/* The operation in every case; once for all. */
inline WSH_DEV_CALL uint64_t wsh_dev_amo_any(const char *what, const struct wsh_dev_amo &amo)
{
    bool changes = amo.op != WSH_AMO_FETCH && amo.op != WSH_AMO_SET;
    uint64_t at;

    wsh_dev_check_word(what, amo.sym, amo.width);
    at = wsh_dev_reach_or_request(what, amo.sym, amo.width, amo.pe, changes);
    if (!at)
        return wsh_dev_request_amo(amo.op, amo.fetch, amo.sym, amo.value, amo.cond, amo.width, amo.pe);
    if (amo.op == WSH_AMO_FETCH)
        return amo.width == 8 ? wsh_ptx_get((const uint64_t *)at) : wsh_ptx_get((const uint32_t *)at);
    if (amo.op == WSH_AMO_SET && amo.width == 8)
        wsh_ptx_put((uint64_t *)at, amo.value);
    else if (amo.op == WSH_AMO_SET)
        wsh_ptx_put((uint32_t *)at, (uint32_t)amo.value);
    else if (amo.width == 8)
        return wsh_dev_amo_update((uint64_t *)at, amo.value, amo.cond, amo.op);
    else
        return wsh_dev_amo_update((uint32_t *)at, (uint32_t)amo.value, (uint32_t)amo.cond, amo.op);
    return 0;
}

template <class T>
static WSH_DEV wsh_dev_bits<T> wsh_dev_amo_far(const char *what, enum wsh_amo_op op, bool fetch, const T *sym,
                                               wsh_dev_bits<T> value, wsh_dev_bits<T> cond, int pe)
{
    return (wsh_dev_bits<T>)wsh_dev_amo_any(
        what, wsh_dev_amo{op, fetch, (void *)sym, value, cond, (uint32_t)sizeof(T), pe});
}

template <class T> static WSH_DEV T wsh_dev_atomic_fetch(const char *what, const T *source, int pe)
{
    uint64_t at;

    if (wsh_dev_reach_fast_word(source, sizeof(T), pe, &at))
        return wsh_dev_as<T>(wsh_ptx_word((const wsh_dev_bits<T> *)at));
    return wsh_dev_as<T>(wsh_dev_amo_far(what, WSH_AMO_FETCH, true, source, 0, 0, pe));
}

template <class T> static WSH_DEV void wsh_dev_atomic_set(const char *what, T *dest, T value, int pe)
{
    wsh_dev_bits<T> bits = wsh_dev_as<wsh_dev_bits<T>>(value);
    uint64_t at;

    if (wsh_dev_reach_fast(dest, sizeof(T), pe, &at))
        wsh_ptx_put((wsh_dev_bits<T> *)at, bits);
    else
        wsh_dev_amo_far(what, WSH_AMO_SET, false, dest, bits, 0, pe);
}

template <class T>
static WSH_DEV T wsh_dev_atomic_compare_swap(const char *what, T *dest, T cond, T value, int pe)
{
    wsh_dev_bits<T> bits = wsh_dev_as<wsh_dev_bits<T>>(value), expected = wsh_dev_as<wsh_dev_bits<T>>(cond);
    uint64_t at;

    if (wsh_dev_reach_fast_word(dest, sizeof(T), pe, &at))
        return wsh_dev_as<T>(wsh_ptx_word_compare_swap((wsh_dev_bits<T> *)at, expected, bits));
    return wsh_dev_as<T>(wsh_dev_amo_far(what, WSH_AMO_CSWAP, true, dest, bits, expected, pe));
}

/* wsh_dev_atomic_<op>: old value, new one from `value`. */
#define WSH_FETCHING(OP, ASKED)                                                                              \
    template <class T> static WSH_DEV T wsh_dev_atomic_##OP(const char *what, T *dest, T value, int pe)      \
    {                                                                                                        \
        wsh_dev_bits<T> bits = wsh_dev_as<wsh_dev_bits<T>>(value);                                           \
        uint64_t at;                                                                                         \
                                                                                                             \
        if (wsh_dev_reach_fast_word(dest, sizeof(T), pe, &at))                                                    \
            return wsh_dev_as<T>(wsh_ptx_word_##OP((wsh_dev_bits<T> *)at, bits));                            \
        return wsh_dev_as<T>(wsh_dev_amo_far(what, WSH_AMO_##ASKED, true, dest, bits, 0, pe));               \
    }
WSH_FETCHING(swap, SWAP)
WSH_FETCHING(fetch_add, ADD)
WSH_FETCHING(fetch_and, AND)
WSH_FETCHING(fetch_or, OR)
WSH_FETCHING(fetch_xor, XOR)
#undef WSH_FETCHING

#define WSH_SILENT(OP, ASKED)                                                                                \
    template <class T> static WSH_DEV void wsh_dev_atomic_##OP(const char *what, T *dest, T value, int pe)   \
    {                                                                                                        \
        wsh_dev_bits<T> bits = wsh_dev_as<wsh_dev_bits<T>>(value);                                           \
        uint64_t at;                                                                                         \
                                                                                                             \
        if (wsh_dev_reach_fast(dest, sizeof(T), pe, &at))                                                    \
            wsh_ptx_##OP((wsh_dev_bits<T> *)at, bits);                                                       \
        else                                                                                                 \
            wsh_dev_amo_far(what, WSH_AMO_##ASKED, false, dest, bits, 0, pe);                                \
    }
WSH_SILENT(add, ADD)
WSH_SILENT(and, AND)
WSH_SILENT(or, OR)
WSH_SILENT(xor, XOR)
#undef WSH_SILENT

/* The sum of reals where the word's owner is asked: it is swapped in, until nobody has come between. The old value. */
template <class T> WSH_DEV_CALL T wsh_dev_ask_real_add(T *dest, T value, int pe)
{
    T seen = wsh_dev_request_of<T>(WSH_AMO_FETCH, true, dest, 0, 0, pe), before;

#pragma unroll 1
    do {
        before = seen;
        seen = wsh_dev_request_of<T>(WSH_AMO_CSWAP, true, dest, wsh_dev_as<wsh_dev_bits<T>>(before + value),
                                     wsh_dev_as<wsh_dev_bits<T>>(before), pe);
    } while (wsh_dev_as<wsh_dev_bits<T>>(seen) != wsh_dev_as<wsh_dev_bits<T>>(before));
    return before;
}

/* Of float and double. The GPU's own takes subnormal floats for zeros; both are atomic with all others of the word. */
template <class T> static WSH_DEV T wsh_dev_real_fetch_add(const char *what, T *dest, T value, int pe)
{
    wsh_dev_bits<T> *at = wsh_dev_word_at<true>(what, dest, pe);

    return at ? wsh_ptx_fetch_add((T *)at, value) : wsh_dev_ask_real_add(dest, value, pe);
}

template <class T> static WSH_DEV void wsh_dev_real_add(const char *what, T *dest, T value, int pe)
{
    wsh_dev_bits<T> *at = wsh_dev_word_at<true>(what, dest, pe);

    if (at)
        wsh_ptx_add((T *)at, value);
    else
        wsh_dev_ask_real_add(dest, value, pe);
}

#endif
