/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device API, included by shmemx.h under nvcc and NVRTC. The routines of shmem.h named here can be called from
 * kernels: shmem_x by one thread, shmem_x_warp by all threads of a warp, shmem_x_block by all threads of a
 * block, which then execute it together; they give equal arguments. Host code of the same source calls the library as
 * before.
 *
 *   section 9.6   put, get, their _nbi, iput, iget: typed (the types of shmem/types.h but long double, and half and
 *                 bfloat16 for __half and __nv_bfloat16), sized (8 to 128) and ...mem; p, g; each with shmem_ctx_
 *   section 9.7   all atomics, with shmem_ctx_ and _nbi; by a thread
 *   section 9.8   put_signal, put_signal_nbi, signal_set, signal_add, signal_fetch, signal_wait_until
 *   section 9.10  barrier_all, sync_all, team_sync; alltoall, alltoalls, broadcast, collect, fcollect: typed and
 *                 ...mem; reductions: sum, prod, min, max, and, or, xor, and scans, for real types, half and
 *                 bfloat16; on teams within one host
 *   section 9.11  wait_until and test, _all, _any, _some, _vector
 *   section 9.12  fence, quiet, pe_quiet
 *   queries       my_pe, n_pes, team_my_pe, team_n_pes, team_translate_pe, ptr, team_ptr; and global_exit, which stops
 *                 the kernel with an error that CUDA keeps, while the library ends the job
 *   extensions    shmemx_team_number, shmemx_team_barrier, shmemx_TYPE_OP_reducescatter; on streams collectives
 *                 (api/stream.cuh), puts, gets, signals, waits and quiet (api/stream_rma.cuh);
 *                 shmemx_putmem_counted_nbi, shmemx_counter_fetch, _wait_until, shmemx_putmem_list_nbi,
 *                 shmemx_batch_begin, _end, shmemx_flush; shmemx_pe_failed, shmemx_failure_generation,
 *                 shmemx_team_broken, and waits with a time limit (api/failure.cuh);
 *                 shmemx_putmem_bulk, shmemx_getmem_bulk (copies through the caller's shared memory), shmemx_signal_op;
 *                 shmemx_collective_launch and its query (launch.cuh); shmemx_device_heap_base,
 *                 shmemx_device_heap_peer_bases, and operations by queues (api/queue.cuh)
 *
 * A put by a warp or block takes what any of its threads has stored before; a get may write from the moment that
 * the first thread calls; afterwards all threads may use both sides. SHMEMX_COPY_DEPTH (8) and SHMEMX_GET_DEPTH
 * (10, of threads and warps), defined before the include, are how many 16-byte accesses a thread has in flight. A
 * block of 1024 threads has registers for no more; for blocks of up to 512, 16 and 24 make large gets by one block
 * or warp 1.6 and 1.9 times as fast. SHMEMX_ONE_HOST (0), defined as 1, is for programs of one host alone: short
 * collectives are 15 % faster (H100), and in jobs of several hosts they are refused.
 *
 * Operations that arrive from other hosts for this GPU are applied by kernels that wait, in whatever routine:
 * wait_until and its relatives, quiet, fence, collectives, and all that waits for an answer. If no kernel waits, the
 * driver applies them; then atomics, and what has come after them, need room on the GPU for a kernel.
 *
 * Symmetric addresses are those of the device heap, of registered buffers, and of the host heap and static data where
 * the GPU can map them. Atomics that change a word are the GPU's in GPU memory; on a word in host memory they are
 * refused. A call that is refused stops the kernel, and the library ends the job with one line that says
 * routine, argument, PE and cure.
 *
 * No library of device code is linked and -rdc is not needed: each source file has its own view of the job, which the
 * library fills.
 */
#ifndef WSH_SHMEM_DEVICE_CUH
#define WSH_SHMEM_DEVICE_CUH

#include <shmem.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the device API needs compute capability 8.0 or newer: compile with -arch=sm_80 or above"
#endif

struct __half;
struct __nv_bfloat16;

/* Host routines get a device side: nvcc says so for each. */
#ifndef __CUDACC_RTC__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20040
#endif

#include "device/view/view.cuh"

#include "device/api/amo.cuh"
#include "device/api/coll.cuh"
#include "device/api/counter.cuh"
#include "device/api/failure.cuh"
#include "device/api/order.cuh"
#include "device/api/query.cuh"
#include "device/api/queue.cuh"
#include "device/api/rma.cuh"
#include "device/api/signal.cuh"
#include "device/api/stream.cuh"
#include "device/api/stream_rma.cuh"
#include "device/api/wait.cuh"
#include "device/api/launch.cuh"
#include "device/api/old_names.cuh"
#ifdef __CUDA_ARCH__
#include "device/tile/reduce.cuh"
#endif

#ifndef __CUDACC_RTC__
#pragma nv_diagnostic pop
#endif

#endif
