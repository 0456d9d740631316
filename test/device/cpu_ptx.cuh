/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a host compiler build the copies of device code: CUDA's words, a warp's exchange between CPU threads, and in
 * place of ptx.cuh loads that note whether they are aligned and inside the source.
 */
#ifndef WSH_TEST_DEVICE_CPU_PTX_CUH
#define WSH_TEST_DEVICE_CPU_PTX_CUH

#include <cstddef>
#include <cstdint>
#include <cstring>

#define __device__
#define __forceinline__ inline
#define WSH_DEV inline
#define WSH_DEV_CALL
#define WSH_DEV_SAVES(...) (void)0

struct uint4 {
    uint32_t x, y, z, w;
};

struct cpu_dim {
    unsigned x, y, z;
};

extern thread_local struct cpu_dim threadIdx;
extern struct cpu_dim blockDim;

static inline struct uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return uint4{x, y, z, w};
}

static inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, unsigned shift)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

/* Between the threads of one warp, all of which call it. */
uint32_t __shfl_down_sync(unsigned lanes, uint32_t value, unsigned by);

/* Not needed by copies, which contain no barrier. */
bool __syncthreads_or(bool says);
bool wsh_ptx_any(bool says);
uint64_t wsh_ptx_from_leader(uint64_t value);
void wsh_ptx_warp_sync();
void wsh_ptx_block_sync();
void wsh_ptx_warpgroup_sync(unsigned group);

/* Notes a load of `len` bytes. */
void cpu_note_load(const void *at, size_t len);

static inline unsigned wsh_ptx_lane()
{
    return threadIdx.x % 32;
}

/* Each lane comes alone. */
static inline uint32_t wsh_ptx_active()
{
    return 1u << wsh_ptx_lane();
}

static inline uint64_t wsh_ptx_party_from(uint32_t, uint64_t value, uint32_t)
{
    return value;
}

static inline void wsh_ptx_party_sync(uint32_t)
{
}

static inline void wsh_ptx_sleep(uint32_t)
{
}

template <class T> static inline void wsh_ptx_now(T *)
{
}

static inline void wsh_ptx_again(void *)
{
}

static inline int __popc(unsigned word)
{
    return __builtin_popcount(word);
}

static inline int __ffs(int word)
{
    return __builtin_ffs(word);
}

template <class T> static inline T wsh_ptx_get(const T *at)
{
    cpu_note_load(at, sizeof *at);
    return *at;
}

static inline struct uint4 wsh_ptx_source(const struct uint4 *at)
{
    return wsh_ptx_get(at);
}

#endif
