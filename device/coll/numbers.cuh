/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of reductions in device code, on 8 bytes of numbers at once. Kinds of numbers are fewer than the
 * names of types: integers by width and sign, float, double, and the two of 16 bits, which are worked out as floats
 * and rounded after each step.
 */
#ifndef WSH_DEVICE_NUMBERS_CUH
#define WSH_DEVICE_NUMBERS_CUH

#include "op.cuh"
#include "../ptx/half.cuh"
#include "../core/put.cuh"

template <class T> static WSH_DEV T wsh_dev_real(int op, T a, T b)
{
    return op == WSH_SUM ? a + b : op == WSH_PROD ? a * b : (op == WSH_MIN) == (b < a) ? b : a;
}

template <unsigned WIDTH, bool SIGNED> struct wsh_dev_integer_of;
#define WSH_INTEGER(WIDTH, SIGNED, TYPE)                        \
    template <> struct wsh_dev_integer_of<WIDTH, SIGNED> {      \
        typedef TYPE type;                                      \
    };
WSH_INTEGER(1, true, int8_t)
WSH_INTEGER(1, false, uint8_t)
WSH_INTEGER(2, true, int16_t)
WSH_INTEGER(2, false, uint16_t)
WSH_INTEGER(4, true, int32_t)
WSH_INTEGER(4, false, uint32_t)
WSH_INTEGER(8, true, int64_t)
WSH_INTEGER(8, false, uint64_t)
#undef WSH_INTEGER

/* A kind: `bits`, and two of them combined. */
template <class T> struct wsh_dev_integer {
    typedef wsh_dev_bits<T> bits;

    static WSH_DEV bits fold(int op, bits a, bits b)
    {
        if (op == WSH_SUM) /* met before the switch, which takes longer */
            return (bits)((uint64_t)a + b);
        switch (op) {
        case WSH_PROD:
            return (bits)((uint64_t)a * b);
        case WSH_MIN:
            return (T)b < (T)a ? b : a;
        case WSH_MAX:
            return (T)a < (T)b ? b : a;
        case WSH_AND:
            return a & b;
        case WSH_OR:
            return a | b;
        default:
            return a ^ b;
        }
    }
};

template <class T> struct wsh_dev_floating {
    typedef wsh_dev_bits<T> bits;

    static WSH_DEV bits fold(int op, bits a, bits b)
    {
        return wsh_dev_as<bits>(wsh_dev_real(op, wsh_dev_as<T>(a), wsh_dev_as<T>(b)));
    }
};

struct wsh_dev_half {
    typedef uint16_t bits;

    static WSH_DEV bits fold(int op, bits a, bits b)
    {
        return wsh_ptx_to_half(wsh_dev_real(op, wsh_ptx_from_half(a), wsh_ptx_from_half(b)));
    }
};

struct wsh_dev_bfloat16 {
    typedef uint16_t bits;

    static WSH_DEV bits fold(int op, bits a, bits b)
    {
        return wsh_ptx_to_bfloat16(wsh_dev_real(op, wsh_ptx_from_bfloat16(a), wsh_ptx_from_bfloat16(b)));
    }
};

/* The kind of a C type. */
template <class T> struct wsh_dev_kind_of {
    typedef wsh_dev_integer<typename wsh_dev_integer_of<sizeof(T), (T(-1) < T(0))>::type> type;
};
template <> struct wsh_dev_kind_of<float> {
    typedef wsh_dev_floating<float> type;
};
template <> struct wsh_dev_kind_of<double> {
    typedef wsh_dev_floating<double> type;
};
template <> struct wsh_dev_kind_of<struct __half> {
    typedef wsh_dev_half type;
};
template <> struct wsh_dev_kind_of<struct __nv_bfloat16> {
    typedef wsh_dev_bfloat16 type;
};
template <class T> using wsh_dev_kind = typename wsh_dev_kind_of<T>::type;

/*
 * The kind and the code by which a collective of kernels is called for numbers of type T. The library's integers are a
 * kind by another name: units that compile their own collectives are linked with it too.
 */
#ifdef WSH_DEVICE_APART
template <unsigned WIDTH> struct wsh_dev_either {
    typedef typename wsh_dev_integer_of<WIDTH, true>::type with_sign;
    typedef typename wsh_dev_integer_of<WIDTH, false>::type bits;

    static WSH_DEV bits fold(int op, bits a, bits b)
    {
        if (op == WSH_MIN_SIGNED || op == WSH_MAX_SIGNED)
            return wsh_dev_integer<with_sign>::fold(op == WSH_MIN_SIGNED ? WSH_MIN : WSH_MAX, a, b);
        return wsh_dev_integer<bits>::fold(op, a, b);
    }
};

template <class K> struct wsh_dev_call_of {
    typedef K type;
    static constexpr bool SIGNED = false;
};
template <class T> struct wsh_dev_call_of<wsh_dev_integer<T>> {
    typedef wsh_dev_either<sizeof(T)> type;
    static constexpr bool SIGNED = T(-1) < T(0);
};
template <class T> using wsh_dev_call_kind = typename wsh_dev_call_of<wsh_dev_kind<T>>::type;

template <class T> static WSH_DEV constexpr int wsh_dev_call_op(int op)
{
    if (!wsh_dev_call_of<wsh_dev_kind<T>>::SIGNED)
        return op;
    return op == WSH_MIN ? WSH_MIN_SIGNED : op == WSH_MAX ? WSH_MAX_SIGNED : op;
}
#else
template <class T> using wsh_dev_call_kind = wsh_dev_kind<T>;

template <class T> static WSH_DEV constexpr int wsh_dev_call_op(int op)
{
    return op;
}
#endif

template <class K> static WSH_DEV uint64_t wsh_dev_fold(int op, uint64_t a, uint64_t b)
{
    constexpr unsigned bits = 8 * sizeof(typename K::bits);
    uint64_t out = 0;

    if constexpr (bits == 64) {
        out = K::fold(op, a, b);
    } else {
#pragma unroll
        for (unsigned shift = 0; shift < 64; shift += bits)
            out |= (uint64_t)K::fold(op, (typename K::bits)(a >> shift), (typename K::bits)(b >> shift)) << shift;
    }
    return out;
}

/* 16 bytes of them, and one. */
template <class K> static WSH_DEV uint4 wsh_dev_fold(int op, uint4 a, uint4 b)
{
    uint64_t low = wsh_dev_fold<K>(op, a.x | (uint64_t)a.y << 32, b.x | (uint64_t)b.y << 32);
    uint64_t high = wsh_dev_fold<K>(op, a.z | (uint64_t)a.w << 32, b.z | (uint64_t)b.w << 32);

    return make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32));
}

template <class K>
WSH_DEV_CALL uint4 wsh_dev_fold_apart(int op, unsigned ax, unsigned ay, unsigned az, unsigned aw, unsigned bx,
                                      unsigned by, unsigned bz, unsigned bw)
{
    return wsh_dev_fold<K>(op, make_uint4(ax, ay, az, aw), make_uint4(bx, by, bz, bw));
}

/* What a lane holds of a large array. Many narrow numbers are one body, out of line: it is long, and met often. */
template <class K> static WSH_DEV uint4 wsh_dev_fold_one(int op, uint4 a, uint4 b)
{
    if constexpr (sizeof(typename K::bits) < 4)
        return wsh_dev_fold_apart<K>(op, a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
    else
        return wsh_dev_fold<K>(op, a, b);
}

template <class K> static WSH_DEV typename K::bits wsh_dev_fold_one(int op, typename K::bits a, typename K::bits b)
{
    return K::fold(op, a, b);
}

#endif
