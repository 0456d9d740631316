/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows atomics in device code: on words in GPU memory the GPU's own, at system scope. Words in host memory belong to
 * the CPU: a load or a store of one is atomic from here too, a read-modify-write is refused.
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

template <class T> static WSH_DEV T wsh_dev_atomic_fetch(const char *what, const T *source, int pe)
{
    return wsh_dev_as<T>(wsh_ptx_get(wsh_dev_word_at<false>(what, source, pe)));
}

template <class T> static WSH_DEV void wsh_dev_atomic_set(const char *what, T *dest, T value, int pe)
{
    wsh_ptx_put(wsh_dev_word_at<false>(what, dest, pe), wsh_dev_as<wsh_dev_bits<T>>(value));
}

template <class T>
static WSH_DEV T wsh_dev_atomic_compare_swap(const char *what, T *dest, T cond, T value, int pe)
{
    return wsh_dev_as<T>(wsh_ptx_compare_swap(wsh_dev_word_at<true>(what, dest, pe),
                                              wsh_dev_as<wsh_dev_bits<T>>(cond),
                                              wsh_dev_as<wsh_dev_bits<T>>(value)));
}

/* wsh_dev_atomic_<op>: old value, new one from `value`. */
#define WSH_FETCHING(OP)                                                                                    \
    template <class T> static WSH_DEV T wsh_dev_atomic_##OP(const char *what, T *dest, T value, int pe)     \
    {                                                                                                       \
        return wsh_dev_as<T>(                                                                               \
            wsh_ptx_##OP(wsh_dev_word_at<true>(what, dest, pe), wsh_dev_as<wsh_dev_bits<T>>(value)));       \
    }
WSH_FETCHING(swap)
WSH_FETCHING(fetch_add)
WSH_FETCHING(fetch_and)
WSH_FETCHING(fetch_or)
WSH_FETCHING(fetch_xor)
#undef WSH_FETCHING

#define WSH_SILENT(OP)                                                                                      \
    template <class T> static WSH_DEV void wsh_dev_atomic_##OP(const char *what, T *dest, T value, int pe)  \
    {                                                                                                       \
        wsh_ptx_##OP(wsh_dev_word_at<true>(what, dest, pe), wsh_dev_as<wsh_dev_bits<T>>(value));            \
    }
WSH_SILENT(add)
WSH_SILENT(and)
WSH_SILENT(or)
WSH_SILENT(xor)
#undef WSH_SILENT

#endif
