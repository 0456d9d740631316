/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PTX behind the device API: every fence, every load and store of another agent's memory, every atomic and every
 * barrier goes through this file, so that each choice is made once; bulk copies through ptx/bulk.cuh, stores to NICs
 * through ptx/nic.cuh.
 *
 * The ordering argument, in the words used at both ends: the sender's lanes store, meet at a barrier of their scope,
 * and one lane *releases* (MEMBAR.SYS) before or with the store of the flag; the receiver's lane polls the flag
 * relaxed, *acquires* (drops the L1 of its SM) once the flag holds, and lets the others go at a barrier of the scope.
 * System scope throughout, since the other end is another GPU, a CPU or a NIC.
 *
 * Addresses named g_ are of global memory (a mapped peer's included), others may point anywhere.
 */
#ifndef WSH_DEVICE_PTX_CUH
#define WSH_DEVICE_PTX_CUH

#include "../view/view.h"

#define WSH_DEV __device__ __forceinline__
/*
 * Bodies that are out of line: a kernel with many calls keeps its registers, and compiles once what they share. They
 * take no struct by value, but a reference to a copy that the caller makes, or words: Triton 3.6 aborts at one.
 */
#if defined(__CUDACC_RDC__) && defined(__local_maxnreg__) && !defined(WSH_DEVICE_LTO)
/* With -rdc=true a kernel gets the registers of the function that takes most: blocks of 1024 threads have 64. */
#define WSH_DEV_CALL __device__ __noinline__ __local_maxnreg__(64)
#else
#define WSH_DEV_CALL __device__ __noinline__
#endif
/*
 * At the begin of a WSH_DEV_CALL body FUNCTION that is far from what has to be fast: it and all that only it calls save
 * the registers that they use, as with -rdc=true. In a unit compiled as a whole what callers hold adds up otherwise, to
 * more than the 64 that 1024 threads have. To take the address of a function is what makes ptxas do so; the move itself
 * goes. Callers hold little across it (docs/design/gpu-facts.md).
 */
#if defined(__CUDACC_RDC__) || defined(WSH_DEVICE_LTO) || defined(WSH_DEVICE_FREESTANDING_CUH)
#define WSH_DEV_SAVES(...) (void)0
#else
#define WSH_DEV_SAVES(...) asm volatile("" ::"l"(__VA_ARGS__))
#endif

/*
 * Orders this lane's earlier stores, and those it has seen through a barrier, before its later ones, for everybody. The
 * same MEMBAR.ALL.SYS as the full fence, without dropping the L1.
 */
static WSH_DEV void wsh_ptx_release()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.release.sys;" ::: "memory");
#else
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}

/*
 * The same of stores to this GPU's own memory alone, which every agent reads where this GPU's other lanes do, in its
 * L2: waits for no store that is on its way to a peer, nor to the host.
 */
static WSH_DEV void wsh_ptx_release_own()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.release.gpu;" ::: "memory");
#else
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

/*
 * Makes what was released before a value read here visible to this lane's later loads. On sm_90 CCTL.IVALL alone: no
 * memory barrier, so the value must have been looked at.
 */
static WSH_DEV void wsh_ptx_acquire()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.acquire.sys;" ::: "memory");
#else
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}

/* The same where `holds`, without a branch. Returns it: so one predicate serves the fence and what the caller asks. */
static WSH_DEV bool wsh_ptx_acquire_if(bool holds)
{
#if __CUDA_ARCH__ >= 900
    uint32_t held;

    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p fence.acquire.sys; selp.u32 %0, 1, 0, p; }"
                 : "=r"(held)
                 : "r"((uint32_t)holds)
                 : "memory");
    return held;
#else
    if (holds)
        wsh_ptx_acquire();
    return holds;
#endif
}

/* Sequentially consistent: of two that store, fence and load what the other stored, one sees it. */
static WSH_DEV void wsh_ptx_fence_sc()
{
    asm volatile("fence.sc.sys;" ::: "memory");
}

/* Has `value` computed here, not in a branch further on. */
static WSH_DEV void wsh_ptx_now(uint64_t &value)
{
    asm("" : "+l"(value));
}

/* The same of an address: accesses beside it are this register and an offset, not sums of their own. */
template <class T> static WSH_DEV void wsh_ptx_now(T *&at)
{
    asm("" : "+l"(at));
}

/*
 * With -rdc=true nothing is computed from `value` before: a loop would hold it in a register for each use, and the
 * compiler keeps those that a call leaves alone far above the others. Elsewhere that saves 20 ns a turn.
 */
static WSH_DEV void wsh_ptx_here(uint32_t &value)
{
#ifdef __CUDACC_RDC__
    asm volatile("" : "+r"(value));
#else
    (void)value;
#endif
}

/* What lies there is read from memory again: so registers need not hold it until here. */
static WSH_DEV void wsh_ptx_again(void *object)
{
    asm volatile("" ::"l"(object) : "memory");
}

static WSH_DEV void wsh_ptx_fence()
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* Absent lanes count as exited. Without the shuffle ptxas may drop the barrier: docs/design/gpu-facts.md. */
static WSH_DEV void wsh_ptx_warp_sync()
{
    __shfl_sync(0xffffffffu, 0, 0);
    __syncwarp(0xffffffffu);
}

/* Whether any lane of the warp says so. */
static WSH_DEV bool wsh_ptx_any(bool says)
{
    return __any_sync(0xffffffffu, says) != 0;
}

/* The value of the warp's lane 0. */
static WSH_DEV uint64_t wsh_ptx_from_leader(uint64_t value)
{
    return __shfl_sync(0xffffffffu, (unsigned long long)value, 0);
}

/* Lanes of the warp that are here together; those are at each of the following two together, too. */
static WSH_DEV uint32_t wsh_ptx_active()
{
    return __activemask();
}

static WSH_DEV uint64_t wsh_ptx_party_from(uint32_t lanes, uint64_t value, uint32_t leader)
{
    return __shfl_sync(lanes, (unsigned long long)value, (int)leader);
}

/* As wsh_ptx_warp_sync. */
static WSH_DEV void wsh_ptx_party_sync(uint32_t lanes)
{
    __shfl_sync(lanes, 0, 0);
    __syncwarp(lanes);
}

/* The place of this thread in its warp. */
static WSH_DEV unsigned wsh_ptx_lane()
{
    unsigned lane;

    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/*
 * What came before this kernel on its stream is complete and seen. A kernel of the library may start while the one
 * before it ends (stream.cuh), and begins so.
 */
static WSH_DEV void wsh_ptx_stream_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* About so long. */
static WSH_DEV void wsh_ptx_sleep(uint32_t ns)
{
#if __CUDA_ARCH__ >= 700
    asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
#else
    (void)ns;
#endif
}

static WSH_DEV void wsh_ptx_block_sync()
{
    __syncthreads();
}

/*
 * The 4 warps of warpgroup `group` of the block meet at a named barrier of the block, in the upper half of its 16;
 * kernels that use such themselves keep it free.
 */
static WSH_DEV void wsh_ptx_warpgroup_sync(unsigned group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(8 + group % 8) : "memory");
}

/* The same address, which the compiler then keeps instead of computing it for each access. */
template <class T> static WSH_DEV T *wsh_ptx_in_register(T *address)
{
    asm volatile("" : "+l"(address));
    return address;
}

/* A word that another agent may write meanwhile; single-copy atomic. */
static WSH_DEV uint32_t wsh_ptx_poll(const uint32_t *g_word)
{
    uint32_t value;

    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(g_word) : "memory");
    return value;
}

static WSH_DEV uint16_t wsh_ptx_poll(const uint16_t *g_word)
{
    uint16_t value;

    asm volatile("ld.relaxed.sys.global.u16 %0, [%1];" : "=h"(value) : "l"(g_word) : "memory");
    return value;
}

static WSH_DEV uint64_t wsh_ptx_poll(const uint64_t *g_word)
{
    uint64_t value;

    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(g_word) : "memory");
    return value;
}

/* The value after everything this lane released or saw: wsh_ptx_release and a store that others may poll. */
static WSH_DEV void wsh_ptx_signal_set(uint64_t *g_word, uint64_t value)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(g_word), "l"(value) : "memory");
}

static WSH_DEV void wsh_ptx_signal_add(uint64_t *g_word, uint64_t value)
{
    asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(g_word), "l"(value) : "memory");
}

/*
 * One element of a symmetric object at a peer: relaxed, so that a remote line is never taken from the L1, and
 * what a peer polls arrives whole. T is an unsigned type of 1 to 8 bytes.
 */
#define WSH_PTX_ELEMENT(TYPE, REGISTER, BITS)                                                                \
    static WSH_DEV TYPE wsh_ptx_get(const TYPE *g_from)                                                      \
    {                                                                                                        \
        TYPE value;                                                                                          \
        asm volatile("ld.relaxed.sys.global." BITS " %0, [%1];" : "=" REGISTER(value) : "l"(g_from) : "memory"); \
        return value;                                                                                        \
    }                                                                                                        \
    static WSH_DEV void wsh_ptx_put(TYPE *g_to, TYPE value)                                                  \
    {                                                                                                        \
        asm volatile("st.relaxed.sys.global." BITS " [%0], %1;" ::"l"(g_to), REGISTER(value) : "memory");    \
    }
WSH_PTX_ELEMENT(uint16_t, "h", "u16")
WSH_PTX_ELEMENT(uint32_t, "r", "u32")
WSH_PTX_ELEMENT(uint64_t, "l", "u64")
#undef WSH_PTX_ELEMENT

static WSH_DEV uint8_t wsh_ptx_get(const uint8_t *g_from)
{
    uint32_t value;

    asm volatile("ld.relaxed.sys.global.u8 %0, [%1];" : "=r"(value) : "l"(g_from) : "memory");
    return (uint8_t)value;
}

static WSH_DEV void wsh_ptx_put(uint8_t *g_to, uint8_t value)
{
    asm volatile("st.relaxed.sys.global.u8 [%0], %1;" ::"l"(g_to), "r"((uint32_t)value) : "memory");
}

/* Counts one up; the old number. Orders nothing. */
static WSH_DEV uint32_t wsh_ptx_count_only(uint32_t *g_word)
{
    uint32_t old;

    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(g_word) : "memory");
    return old;
}

/*
 * The same: of this GPU's blocks that each count at the end of their share, the last one sees what all have stored, and
 * its own release covers that too.
 */
static WSH_DEV uint32_t wsh_ptx_count(uint32_t *g_word)
{
    uint32_t old;

    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(g_word) : "memory");
    return old;
}

/* 16 bytes, aligned; each 4-byte word arrives whole. */
static WSH_DEV uint4 wsh_ptx_get(const uint4 *g_from)
{
    uint4 v;

    asm volatile("ld.relaxed.sys.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(g_from)
                 : "memory");
    return v;
}

/* 16 bytes of a local source that peers, NICs or earlier phases of the kernel may have written: never .nc. */
static WSH_DEV uint4 wsh_ptx_source(const uint4 *g_from)
{
    uint4 v;

    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(g_from)
                 : "memory");
    return v;
}

/*
 * Two words of 8 bytes in one access, aligned to 16; each arrives whole, not both together. Order between a lane's
 * load and its later store to another address, where a branch between them asks for the loaded value, is the
 * hardware's (nothing is stored before the branch is decided), not PTX's: cells (ll.cuh) rely on it, and on the
 * scope's barrier, to use a buffer again.
 */
struct wsh_ptx_pair {
    uint64_t a, b;
};

static WSH_DEV struct wsh_ptx_pair wsh_ptx_get(const struct wsh_ptx_pair *g_from)
{
    struct wsh_ptx_pair v;

    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(v.a), "=l"(v.b) : "l"(g_from) : "memory");
    return v;
}

static WSH_DEV void wsh_ptx_put(struct wsh_ptx_pair *g_to, struct wsh_ptx_pair v)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(g_to), "l"(v.a), "l"(v.b) : "memory");
}

/*
 * Read-modify-write of a word in GPU memory, relaxed, at once for every GPU that reaches it. OP is the instruction,
 * TYPE its suffix for 4 and 8 bytes. `add` without result is `red`: it does not wait.
 */
#define WSH_PTX_ATOMIC(NAME, WORD, REGISTER, OP)                                                             \
    static WSH_DEV WORD wsh_ptx_##NAME(WORD *g_word, WORD operand)                                           \
    {                                                                                                        \
        WORD old;                                                                                            \
        asm volatile("atom.relaxed.sys.global." OP " %0, [%1], %2;"                                          \
                     : "=" REGISTER(old)                                                                     \
                     : "l"(g_word), REGISTER(operand)                                                        \
                     : "memory");                                                                            \
        return old;                                                                                          \
    }
WSH_PTX_ATOMIC(swap, uint32_t, "r", "exch.b32")
WSH_PTX_ATOMIC(swap, uint64_t, "l", "exch.b64")
WSH_PTX_ATOMIC(fetch_add, uint32_t, "r", "add.u32")
WSH_PTX_ATOMIC(fetch_add, uint64_t, "l", "add.u64")
WSH_PTX_ATOMIC(fetch_add, float, "f", "add.f32")
WSH_PTX_ATOMIC(fetch_add, double, "d", "add.f64")
WSH_PTX_ATOMIC(fetch_and, uint32_t, "r", "and.b32")
WSH_PTX_ATOMIC(fetch_and, uint64_t, "l", "and.b64")
WSH_PTX_ATOMIC(fetch_or, uint32_t, "r", "or.b32")
WSH_PTX_ATOMIC(fetch_or, uint64_t, "l", "or.b64")
WSH_PTX_ATOMIC(fetch_xor, uint32_t, "r", "xor.b32")
WSH_PTX_ATOMIC(fetch_xor, uint64_t, "l", "xor.b64")
#undef WSH_PTX_ATOMIC

/*
 * Adds n for each lane; those that come together with equal word and n share one addition. What was before a lane's.
 * RELEASES: and a release of each lane, which takes as long and so lasts no longer together with the addition.
 */
template <bool RELEASES> static WSH_DEV uint64_t wsh_ptx_add_together(uint64_t *g_word, uint32_t n)
{
    unsigned lane = wsh_ptx_lane(), lanes = __match_any_sync(__activemask(), (unsigned long long)g_word << 12 | n);
    int leader = __ffs((int)lanes) - 1;
    unsigned long long at = 0;

    if (lane == (unsigned)leader)
        at = wsh_ptx_fetch_add(g_word, (uint64_t)n * (unsigned)__popc(lanes));
    if (RELEASES)
        wsh_ptx_release();
    return __shfl_sync(lanes, at, leader) + (uint64_t)n * (unsigned)__popc(lanes & ((1u << lane) - 1));
}

#define WSH_PTX_REDUCTION(NAME, WORD, REGISTER, OP)                                                           \
    static WSH_DEV void wsh_ptx_##NAME(WORD *g_word, WORD operand)                                            \
    {                                                                                                         \
        asm volatile("red.relaxed.sys.global." OP " [%0], %1;" ::"l"(g_word), REGISTER(operand) : "memory");  \
    }
WSH_PTX_REDUCTION(add, uint32_t, "r", "add.u32")
WSH_PTX_REDUCTION(add, uint64_t, "l", "add.u64")
WSH_PTX_REDUCTION(add, float, "f", "add.f32")
WSH_PTX_REDUCTION(add, double, "d", "add.f64")
WSH_PTX_REDUCTION(and, uint32_t, "r", "and.b32")
WSH_PTX_REDUCTION(and, uint64_t, "l", "and.b64")
WSH_PTX_REDUCTION(or, uint32_t, "r", "or.b32")
WSH_PTX_REDUCTION(or, uint64_t, "l", "or.b64")
WSH_PTX_REDUCTION(xor, uint32_t, "r", "xor.b32")
WSH_PTX_REDUCTION(xor, uint64_t, "l", "xor.b64")
#undef WSH_PTX_REDUCTION

static WSH_DEV uint32_t wsh_ptx_compare_swap(uint32_t *g_word, uint32_t cond, uint32_t value)
{
    uint32_t old;

    asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "l"(g_word), "r"(cond), "r"(value)
                 : "memory");
    return old;
}

static WSH_DEV uint64_t wsh_ptx_compare_swap(uint64_t *g_word, uint64_t cond, uint64_t value)
{
    uint64_t old;

    asm volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(old)
                 : "l"(g_word), "l"(cond), "l"(value)
                 : "memory");
    return old;
}

/* Ends the kernel with an error. */
static WSH_DEV void wsh_ptx_trap()
{
    asm volatile("trap;");
}

/* The end of this lane, which ptxas knows: it keeps no registers for afterwards. */
static WSH_DEV void wsh_ptx_exit()
{
    asm volatile("exit;");
}

static WSH_DEV uint64_t wsh_ptx_nanoseconds()
{
    uint64_t now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

#include "bulk.cuh"
#include "nic.cuh"
#include "word.cuh"

#endif
