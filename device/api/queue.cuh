/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of operations by a queue in device code, and of where device heaps lie. A queue is a number that
 * shmemx_queue_create gave (shmemx.h), or SHMEMX_QUEUE_DEFAULT, by which go all routines that name none; any other is
 * refused. Arguments and effects are otherwise those of the routine without shmemx_queue_.
 *
 * quiet and fence complete and order what went by `n` queues, and nothing else; by all and the default one where n or
 * queues[0] is SHMEMX_QUEUE_ALL. Stores to mapped peers count to every queue. Those of the default queue alone, as
 * shmem_quiet and the barriers in kernels, leave queues out; in units compiled with SHMEMX_QUIET_COVERS_QUEUES=1 they
 * do not.
 */
#ifndef WSH_DEVICE_API_QUEUE_CUH
#define WSH_DEVICE_API_QUEUE_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../proxy/queue.cuh"
#endif

/* clang-format off */

#define WSH_MOVE(QUALIFIER, SUFFIX, SCOPE, TAG, DIR, WAITS, SIDE)                                            \
    QUALIFIER void shmemx_queue_##TAG##SUFFIX(void *dest, const void *source, size_t nelems, int pe, int queue) \
    WSH_BODY(wsh_dev_queue_##DIR<SCOPE, WAITS>("shmemx_queue_" #TAG #SUFFIX ": " SIDE, dest, source, nelems, \
                                               pe, queue);)
WSH_DEVICE_SCOPE(WSH_MOVE, putmem, put, true, "dest")
WSH_DEVICE_SCOPE(WSH_MOVE, putmem_nbi, put, false, "dest")
WSH_DEVICE_SCOPE(WSH_MOVE, getmem, get, true, "source")
WSH_DEVICE_SCOPE(WSH_MOVE, getmem_nbi, get, false, "source")
#undef WSH_MOVE

#define WSH_PUT_SIGNAL(QUALIFIER, SUFFIX, SCOPE, TAG, WAITS)                                                 \
    QUALIFIER void shmemx_queue_##TAG##SUFFIX(void *dest, const void *source, size_t nelems,                 \
                                              uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, int queue) \
    WSH_BODY(wsh_dev_queue_put_signal<SCOPE, WAITS>("shmemx_queue_" #TAG #SUFFIX, dest, source, nelems,      \
                                                    sig_addr, signal, sig_op, pe, queue);)
WSH_DEVICE_SCOPE(WSH_PUT_SIGNAL, putmem_signal, true)
WSH_DEVICE_SCOPE(WSH_PUT_SIGNAL, putmem_signal_nbi, false)
#undef WSH_PUT_SIGNAL

WSH_ONLY void shmemx_queue_signal_op(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, int queue)
WSH_BODY(wsh_dev_queue_signal("shmemx_queue_signal_op: sig_addr", wsh_dev_signal{sig_addr, signal, sig_op, 0}, pe,
                              queue);)

/* One element of 1, 2, 4 or 8 bytes. */
template <class T> WSH_TEMPLATE void shmemx_queue_p(T *dest, wsh_same<T> value, int pe, int queue)
WSH_BODY(wsh_dev_queue_p<T>("shmemx_queue_p: dest", dest, value, pe, queue);)
template <class T> WSH_TEMPLATE T shmemx_queue_g(const T *source, int pe, int queue)
WSH_BODY(return wsh_dev_queue_g<T>("shmemx_queue_g: source", source, pe, queue);)

/* An integer of 4 or 8 bytes. */
template <class T> WSH_TEMPLATE void shmemx_queue_atomic_add(T *dest, wsh_same<T> value, int pe, int queue)
WSH_BODY(wsh_dev_queue_atomic_add<T>("shmemx_queue_atomic_add: dest", dest, value, pe, queue, false);)
template <class T> WSH_TEMPLATE T shmemx_queue_atomic_fetch_add(T *dest, wsh_same<T> value, int pe, int queue)
WSH_BODY(return wsh_dev_queue_atomic_fetch_add<T>("shmemx_queue_atomic_fetch_add: dest", dest, value, pe, queue);)

/*
 * The same, and behind what the queue was asked for before to the same PE, and what the calling thread has stored
 * there: whoever sees it sees that. A fence for this one operation, for which nobody waits.
 */
template <class T> WSH_TEMPLATE void shmemx_queue_p_behind(T *dest, wsh_same<T> value, int pe, int queue)
WSH_BODY(wsh_dev_queue_p<T>("shmemx_queue_p_behind: dest", dest, value, pe, queue, true);)
template <class T> WSH_TEMPLATE void shmemx_queue_atomic_add_behind(T *dest, wsh_same<T> value, int pe, int queue)
WSH_BODY(wsh_dev_queue_atomic_add<T>("shmemx_queue_atomic_add_behind: dest", dest, value, pe, queue, true);)

/* What went by the queues in queues[n]. */
#define WSH_ORDER(QUALIFIER, SUFFIX, SCOPE, NAME, QUIET)                                                     \
    QUALIFIER void shmemx_queue_##NAME##SUFFIX(const int *queues, int n)                                     \
    WSH_BODY(wsh_dev_queues_order<SCOPE>("shmemx_queue_" #NAME #SUFFIX, queues, n, QUIET);)
WSH_DEVICE_SCOPE(WSH_ORDER, quiet, true)
WSH_DEVICE_SCOPE(WSH_ORDER, fence, false)
#undef WSH_ORDER

/* The number of queue i, from 0 on, of those there are, modulo how many; without any, the default one. */
WSH_ONLY int shmemx_queue_number(int i)
WSH_BODY(return wsh_dev_queue_number(i);)

/* How many queues there are beside the default one, numbers that share a ring counted each. */
WSH_ONLY int shmemx_queue_count(void)
WSH_BODY(return wsh_dev_root() ? (int)wsh_ptx_poll(&wsh_dev_root()->n_named) : 0;)

WSH_BOTH void *shmemx_device_heap_base(void)
WSH_BODY(return (void *)wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE].base;)
WSH_BOTH void **shmemx_device_heap_peer_bases(void)
WSH_BODY(return wsh_device_view.ranges ? (void **)WSH_DEVICE_PEERS(wsh_device_view.ranges) : nullptr;)

#endif
