/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions beyond the specification, all named shmemx_: start by a unique id, memory of GPUs, and puts that the
 * target counts.
 */
#ifndef WSH_SHMEMX_H
#define WSH_SHMEMX_H

#include <shmem/types.h>

/*
 * Teams by number, a small integer that is alike on all members: 0 the world, 1 SHMEM_TEAM_SHARED, 2 and 3 those below,
 * others from 4 on; -1 SHMEM_TEAM_INVALID. SHMEMX_TEAM makes a handle of it, as good as the one that the team was made
 * with, on the host and in kernels. It is compiled into programs, and stays what it is as long as the library is
 * libwarpshmem.so.0. Programs of the host call shmemx_team_of_number, which knows whether there is such a team.
 */
#define SHMEMX_TEAM(number) ((shmem_team_t)(intptr_t)((number) + 1))
#define SHMEMX_TEAM_NODE SHMEMX_TEAM(2) /* the PEs of this host, reached by shmem_ptr or not */
#define SHMEMX_TEAM_SAME_MYPE_NODE \
    SHMEMX_TEAM(3) /* the PEs whose number in their SHMEMX_TEAM_NODE is this one's */

/* A counter of counted puts, alike on all PEs of the team that made it. */
typedef uint64_t shmemx_counter_t;

/* Queues of kernels that are there always: the one of routines that name none; all, in a quiet or a fence. */
#define SHMEMX_QUEUE_DEFAULT 1
#define SHMEMX_QUEUE_ALL 2147483647
#define SHMEMX_COUNTER_INVALID ((shmemx_counter_t)0)

/* A put of a list: `nelems` bytes; `counter` counts it, unless it is SHMEMX_COUNTER_INVALID. */
typedef struct {
    void *dest;
    const void *source;
    size_t nelems;
    shmemx_counter_t counter;
    int pe;
} shmemx_put_t;

/* Of a former name: a compiler warns of calls; -Wno-deprecated-declarations keeps it quiet. */
#define WSH_INSTEAD(routine) __attribute__((deprecated("call " #routine)))

#if defined __CUDA_ARCH__ && !defined SHMEMX_HOST_ONLY
#define WSH_DEVICE_FIRST
#endif
#include <shmem.h>

#include <shmem/request.h>
#include <shmem/timeout.h>

#ifndef __CUDACC_RTC__ /* NVRTC compiles device code alone */
#ifdef __cplusplus
extern "C" {
#endif

/* By what the PEs of a job find each other. Whoever can read it can join: pass it on as a secret. */
typedef struct {
    unsigned char bytes[128];
} shmemx_uniqueid_t;

/* How shmemx_init_attr starts the library. Begins as SHMEMX_INIT_ATTR_INITIALIZER. */
typedef struct {
    uint32_t version; /* SHMEMX_INIT_ATTR_VERSION */
    int thread_level; /* SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE */
    int cuda_device;  /* the GPU that the PE is to use, as cudaSetDevice numbers them; -1: the current one */
    int rank, n_ranks;
    int zero;
    shmemx_uniqueid_t id;
    void *mpi_comm; /* address of an MPI_Comm */
    unsigned char unused[96];
} shmemx_init_attr_t;

#define SHMEMX_INIT_ATTR_VERSION 1u
#define SHMEMX_INIT_ATTR_INITIALIZER                                          \
    {                                                                         \
        SHMEMX_INIT_ATTR_VERSION, SHMEM_THREAD_SINGLE, -1, 0, 0, 0, {{0}}, 0, \
        {                                                                     \
            0                                                                 \
        }                                                                     \
    }

/* Flags of shmemx_init_attr. */
#define SHMEMX_INIT_WITH_UNIQUEID (1u << 0)
#define SHMEMX_INIT_WITH_MPI_COMM (1u << 1)
#define SHMEMX_INIT_MAY_EXIT (1u << 2)   /* beside one of them, or alone */
#define SHMEMX_INIT_ATTACH_GPU (1u << 3) /* likewise */

/*
 * Make a unique id: PEs that nobody else connects start by it. One process calls it, before or without starting the
 * library itself, and gives *id to the others over any path: a file, a key-value store, a broadcast, the environment.
 * From then on a thread of that process connects the PEs, and it must run until they have finalized. Each id starts one
 * job; a process may make several. 0, or nonzero after a line. SHMEM_BOOTSTRAP_UID_IFNAME chooses the interface.
 */
int shmemx_get_uniqueid(shmemx_uniqueid_t *id);

/*
 * Say in *attr that this process becomes PE `rank` of `n_ranks` of the job that *id starts; *id is copied. Local; may
 * be called at any time. 0, or nonzero after a line where an argument is NULL or rank is not from 0 to n_ranks - 1.
 */
int shmemx_set_attr_uniqueid_args(int rank, int n_ranks, const shmemx_uniqueid_t *id,
                                  shmemx_init_attr_t *attr);

/*
 * Start the library as shmem_init_thread does, with the thread level and GPU of *attr. Collective over all PEs. With
 * SHMEMX_INIT_WITH_UNIQUEID no launcher is needed: the call returns when n_ranks processes have made it, each with a
 * rank of its own, or within SHMEM_BOOTSTRAP_UID_SECONDS, nonzero on all that have come, after a line. With
 * SHMEMX_INIT_WITH_MPI_COMM the processes of the communicator at attr->mpi_comm become the PEs, in its order, after
 * MPI_Init and until MPI_Finalize; the library keeps a duplicate. With flags 0 the environment says how the PEs find
 * each other, and `attr` may be NULL. Where the library has been started already the
 * call is counted, as that of shmem_init, and *attr is not looked at. With SHMEMX_INIT_MAY_EXIT an exit with status 0
 * and without shmem_finalize is as intended: no line warns of it. Libraries that start a job for a program set it.
 *
 * With SHMEMX_INIT_ATTACH_GPU, alike on all PEs, it attaches the GPU as shmemx_malloc_device does, where every PE has
 * chosen one: attr->cuda_device, or that of the CUDA context current in the calling thread, but for GPU 0 on a PE that
 * is not the first of its host where there are GPUs for all: there it is current without a choice. Kernels may
 * call the library from then on. Where a PE has chosen none, or the GPU cannot be attached, which is said in a line,
 * the call returns 0 nevertheless, and the first call that asks for device memory attaches it.
 *
 * A job that a unique id has started ends as a whole, as with a launcher: where a PE dies, or the process that made the
 * id ends, the other PEs end with status 1 after a line; shmem_global_exit ends all with its status. 0, or nonzero
 * after a line.
 */
int shmemx_init_attr(unsigned flags, shmemx_init_attr_t *attr);

/*
 * Hint to shmem_malloc_with_hints: memory of the GPU, as shmemx_malloc_device gives it. Beside a bit that this library
 * does not know it is ignored too: such hints were not made for it, and ask for any memory.
 */
#define SHMEMX_MALLOC_DEVICE (1L << 16)

/*
 * Allocate and free symmetric device memory. Collective over all PEs, with equal arguments: the counterparts of
 * shmem_malloc, shmem_calloc, shmem_align and shmem_free. `size`, `count * size` and `alignment` are in bytes;
 * `alignment` is a power of two and a multiple of sizeof(void *).
 *
 * Returns a device address: for kernels, for cudaMemcpy, and for all routines of shmem.h that take symmetric
 * addresses but those that wait for a word, since waiting on device memory is for kernels. NULL for zero bytes;
 * NULL on all PEs where the request does not fit: the heap grows from SHMEM_DEVICE_SYMMETRIC_SIZE to
 * SHMEM_DEVICE_SYMMETRIC_MAX bytes, by default the memory of the GPU.
 *
 * The first such call, or shmemx_buffer_register_symmetric, attaches the GPU: the one that is current in the
 * calling thread (cudaSetDevice), else one by the PE's number on its host, which becomes current. A PE uses one
 * GPU. The call must not run while other threads of the PE communicate, nor while a kernel of this PE waits for
 * another PE; nor may shmem_malloc from then on, because kernels reach host memory too, and the driver cannot add
 * to it meanwhile. Where any PE has no usable GPU, each of these says why in a line and all PEs get NULL.
 */
void *shmemx_malloc_device(size_t size);
void *shmemx_calloc_device(size_t count, size_t size);
void *shmemx_align_device(size_t alignment, size_t size);
void shmemx_free_device(void *ptr);

/*
 * Gives back what an allocation of shmem.h, or one of the above, returned (NULL: nothing), without meeting the other
 * PEs: for destructors, which run at other times, in another order, on each PE. Local; any thread may call it. From
 * then on this PE may not name the memory; what it has issued on the default context completes before it is free. The
 * memory stays as it is until all PEs have given it back. In the next call that allocates or frees symmetric memory,
 * which all PEs make, they agree on what that is, and it is free: before the heap takes more memory of the machine, and
 * in the same order on all PEs, so that addresses stay alike. Memory that was given back already, or freed, ends the
 * job with a line. After shmem_finalize it does nothing.
 *
 * With SHMEM_FREE_LATER=1 shmem_free and shmemx_free_device (and nvshmem_free) are this routine. That setting is
 * deprecated, and goes with version 0.2.
 */
void shmemx_free_later(void *ptr);

/*
 * Make device memory of the program symmetric, or end that. Collective over all PEs. [addr, addr + length) lies
 * inside one allocation of cudaMalloc, or in up to 240 allocations of cuMemCreate that are mapped whole, one behind
 * the other, and have handles of type CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR. The addresses may differ between PEs,
 * the length in bytes may not; no part is registered already. `flags` is 0. Buffers, and pieces by which the device
 * heap has grown, are at most 1,088 at a time. Kernels that run meanwhile find what was there when they began; during
 * one kernel at most 32 buffers may come and go.
 *
 * register returns addr, or NULL on all PEs after a line of cause and cure. unregister takes the same addr and
 * length, and returns 0, or nonzero after a line.
 */
void *shmemx_buffer_register_symmetric(void *addr, size_t length, int flags);
int shmemx_buffer_unregister_symmetric(void *addr, size_t length);

/*
 * Name device memory that is source or target here of transfers with other PEs. Local. For device memory outside the
 * symmetric heap, after the GPU is attached; `length` is in bytes. Host transfers with host memory of other PEs need
 * it; where NICs take device memory they then read and write it themselves, for kernels too. At most 64 at a time,
 * none a part of another; memory that is symmetric already is accepted. 0, or nonzero after a line.
 */
int shmemx_buffer_register(void *addr, size_t length);
int shmemx_buffer_unregister(void *addr);
void shmemx_buffer_unregister_all(void);

/*
 * Return the number of a team (SHMEMX_TEAM); -1 for SHMEM_TEAM_INVALID. The number of a team that was destroyed may be
 * given to a later one. In kernels too.
 */
int shmemx_team_number(shmem_team_t team);

/*
 * Return a handle of the team that has this number here; SHMEM_TEAM_INVALID where none has it, or this PE is no member.
 * Local.
 */
shmem_team_t shmemx_team_of_number(int number);

/*
 * Create a team of any PEs. Collective over `parent_team`, with equal arguments but for the configuration. pes[i] is
 * the number in the parent of the PE that gets number i, each at most once; else as shmem_team_split_strided.
 */
int shmemx_team_create(shmem_team_t parent_team, const int *pes, int n_pes, const shmem_team_config_t *config,
                       long config_mask, shmem_team_t *new_team);

/*
 * Create a team of PEs that know nothing of each other but an id and how many they are. get_id, local, makes an id, for
 * one team; its PE is a member, and any means carries the id to the others. init is collective over the members alone,
 * with equal id and n_pes; `my_pe` is this PE's number in the team, from 0 to n_pes - 1. A PE is in one init at a time.
 *
 * Return 0, init with a handle; or nonzero: there is no such id or number, there is no room, or a PE of the job has
 * failed since the id was made (a line says so).
 */
int shmemx_team_get_id(uint64_t *id);
int shmemx_team_init(uint64_t id, int n_pes, int my_pe, const shmem_team_config_t *config, long config_mask,
                     shmem_team_t *new_team);

/*
 * Allocate and free symmetric memory of the members of a team alone: of the host, or of the GPU. Collective over the
 * team, with equal arguments; other PEs take no part. The address is as good as one of shmem_malloc or
 * shmemx_malloc_device in all routines, by which members reach each other's copy; PEs that are no members have none.
 * It is a multiple of 4,096.
 *
 * The memory is taken from the end of the heap that members have free. malloc: whatever the heap has not given to all
 * PEs. malloc_device: of a GPU that is attached, within what the device heap has; it does not grow for a part of the
 * PEs. For a team of all PEs they are shmem_malloc and shmemx_malloc_device. free takes what the same team has
 * allocated, or NULL; memory of a team that is destroyed stays until shmem_finalize.
 *
 * malloc returns NULL for zero bytes, and on all members where it does not fit, after a line.
 */
void *shmemx_team_malloc(shmem_team_t team, size_t size);
void *shmemx_team_malloc_device(shmem_team_t team, size_t size);
void shmemx_team_free(shmem_team_t team, void *ptr);

/*
 * Wait for the members of a team as shmem_barrier_all does for all PEs: a quiet of the default context and
 * shmem_team_sync. Collective over the team. Returns 0. In kernels also by a warp and by a block.
 */
int shmemx_team_barrier(shmem_team_t team);

/*
 * Tell where device heaps lie. Local; in kernels too. heap_base: this PE's own, NULL before the GPU is attached.
 * heap_peer_bases: an array in device memory of shmem_n_pes() addresses, for kernels to read: where this GPU reaches
 * the device heap of each PE by loads and stores, NULL where it does not. NULL before the GPU is attached. The copy of
 * `dest` lies at bases[pe] + (dest - heap_base). Both stay as they are when heaps grow.
 * Memory of shmemx_buffer_register_symmetric is elsewhere: shmem_ptr.
 */
void *shmemx_device_heap_base(void);
void **shmemx_device_heap_peer_bases(void);

/*
 * Make n queues (0 to 4096) more, for routines shmemx_queue_… in kernels: each completes and orders what goes by it
 * alone. Local; by one thread, while no kernel of this PE that waits for another PE runs. queues[n]: their numbers,
 * from 2 on; 64 queues differ, and numbers beyond come again in turn. They are there until shmem_finalize. To PEs that
 * the GPU reaches by loads and stores queues make no difference. A quiet of the host completes all of them.
 *
 * Returns 0, or nonzero after a line of cause and cure.
 */
int shmemx_queue_create(int n, int *queues);

/*
 * Let the device routines work in a module that was loaded by the driver API. Local. `module` is the CUmodule (NVRTC,
 * cubin files), of one unit or of several that were linked; one without device routines is taken too. To be called
 * after each shmem_init; before the GPU is attached it is remembered until then. finalize: before the module is
 * unloaded. 0, or nonzero after a line.
 */
int shmemx_module_init(void *module);
int shmemx_module_finalize(void *module);

/*
 * What this PE has counted since shmem_init. Times are in ns. Puts, gets and atomics with SHMEM_STATS alone; stores of
 * kernels to mapped memory are never counted. Later versions add fields at the end.
 */
typedef struct {
    uint64_t size;       /* bytes of this struct that the library knows */
    uint64_t elapsed_ns; /* since shmem_init */
    /* Given to the network, the library's own requests too: writes, reads and messages; these with their heads. */
    uint64_t network_operations, network_bytes;
    uint64_t network_retries; /* requests that NICs had no room for, and that came again */
    uint64_t network_stalls;  /* messages that found no credit of their target, each time they were tried */
    /* Waits that their first microseconds did not end, and for whom the PE has waited longest (-1: nobody). */
    uint64_t waits, wait_ns, longest_wait_ns;
    int32_t longest_wait_pe, most_waited_pe; /* -1: not known */
    char longest_wait_routine[48];
    uint64_t collectives; /* steps of collectives of all teams, the library's own too */
    /* For kernels: their waits and the proxy's threads' for other hosts; bytes moved, and those through host memory. */
    uint64_t kernel_waits, proxy_waits, proxy_bytes, proxy_copied_bytes;
    uint64_t gda_operations; /* complete requests of kernels in the queues of NICs */
    /* Of expert parallelism: halves that send; rows, on the host alone and when its object is destroyed. */
    uint64_t expert_calls, expert_rows;
    uint64_t heap_bytes, heap_used_bytes, device_heap_bytes;
    uint64_t puts, put_bytes, gets, get_bytes, atomics;
    uint64_t collective_calls;  /* on all teams, by host routines; without those of no elements */
    uint64_t network_doorbells; /* times that NICs were told of network_operations: of several at once, one */
} shmemx_stats_t;

/* The part of one PE of the world. */
typedef struct {
    int32_t pe, same_host;
    uint64_t network_operations, network_bytes, network_retries, network_stalls;
    uint64_t waits, wait_ns; /* for that PE */
    uint64_t puts, put_bytes, gets, get_bytes, atomics;
    uint64_t unused[4];
} shmemx_stats_peer_t;

/*
 * Return what this PE has counted. Local; any thread. `size` is sizeof(shmemx_stats_t) of who calls: so much is
 * written, with zeros where the library knows less. peers: of the first `n` PEs, a row each. 0, or nonzero after a line
 * where an argument is NULL.
 */
int shmemx_stats(shmemx_stats_t *out, size_t size);
int shmemx_stats_peers(shmemx_stats_peer_t *rows, size_t n);

/* Add to a count, for libraries on top of this one. Local; any thread. Unknown counts are ignored. */
#define SHMEMX_STATS_EXPERT_CALLS 1
#define SHMEMX_STATS_EXPERT_ROWS 2
void shmemx_stats_add(int count, uint64_t n);

/*
 * Make or end n counters, which count puts. Collective over the members of `team`, with equal n; `counters` is an array
 * of n handles, alike on all members. A counter begins at 0, is 64 bits wide and never falls or is set back: whoever
 * wants a difference keeps the value before.
 *
 * create returns 0, or nonzero on all members after a line: SHMEM_COUNTERS says how many a PE can have at a time.
 * destroy takes the n handles of one create. It completes what this PE has put on the default context and in kernels
 * that have ended; other contexts must be quiet, and no kernel may use the counters any more.
 */
int shmemx_counter_create(shmem_team_t team, size_t n, shmemx_counter_t *counters);
int shmemx_counter_destroy(shmem_team_t team, size_t n, shmemx_counter_t *counters);

/*
 * Put `nelems` bytes, and add 1 to the counter at `pe` when they are visible there; nonblocking. Nothing else is
 * ordered: neither other puts, nor another counter. After a fence both the data and the count come behind what was put
 * before. `dest` is symmetric; `counter` was made by a team of which this PE and `pe` are members; `nelems` may be 0.
 * The source may be reused after a quiet, a barrier or shmemx_flush. A quiet and a barrier complete the count too. In
 * kernels also by a warp (…_warp) and by a block (…_block).
 */
void shmemx_putmem_counted_nbi(void *dest, const void *source, size_t nelems, shmemx_counter_t counter,
                               int pe);
void shmemx_ctx_putmem_counted_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                   shmemx_counter_t counter, int pe);

/*
 * Put a list of `n` puts, counted or not, each as shmemx_putmem_counted_nbi or shmem_putmem_nbi would, in no order
 * among them. It costs less than as many calls: of a kernel one release for many, of the host one doorbell of a NIC. In
 * kernels also by a warp and by a block; a kernel of 1024 threads that makes the latter has __launch_bounds__(1024).
 */
void shmemx_putmem_list_nbi(const shmemx_put_t *puts, size_t n);
void shmemx_ctx_putmem_list_nbi(shmem_ctx_t ctx, const shmemx_put_t *puts, size_t n);

/*
 * Begin and end a batch of a context: what this PE puts in between may be given to NICs together, with one doorbell for
 * many. All of it has been given at the end, and at each quiet, fence and wait. Batches do not nest. In kernels, which
 * ring no doorbell, they do nothing; the proxy makes batches of its own.
 */
void shmemx_batch_begin(void);
void shmemx_batch_end(void);
void shmemx_ctx_batch_begin(shmem_ctx_t ctx);
void shmemx_ctx_batch_end(shmem_ctx_t ctx);

/*
 * Wait until the sources of all puts of the context may be reused. It is no order and does not complete them at their
 * targets, nor their counts, and sends nothing; where a transport knows no difference it is a quiet.
 */
void shmemx_flush(void);
void shmemx_ctx_flush(shmem_ctx_t ctx);

/*
 * Add to reports of hangs, for libraries on top of this one. Local; any thread. Where a wait of this PE, on the host or
 * in a kernel, is reported (SHMEM_HANG_SECONDS, SIGUSR1), or that a kernel has ended the job, describe(arg, text, size)
 * writes what else is to be said, in a line of less than `size` bytes, or nothing. It must not wait; it may fetch
 * counters, but not once a GPU is attached, for that copies from the GPU, nor call CUDA. Any thread calls it, until
 * remove has returned, and not two at once. 0, or nonzero after a line: no memory, or none has this `arg`.
 */
int shmemx_report_add(void (*describe)(void *arg, char *text, size_t size), void *arg);
int shmemx_report_remove(void *arg);

/*
 * PEs that have failed while the others go on (SHMEM_ON_PE_FAILURE=continue, oshrun --on-pe-failure=continue; in the
 * other mode none ever has). A PE counts as failed once its process can no longer write. Local; any thread. All but the
 * list also in kernels, which hear of a failure within some milliseconds more.
 *   shmemx_pe_failed           whether that PE has: 0 or 1
 *   shmemx_failed_pes          writes the numbers of the first n, in order, to list[n]; returns how many there are
 *   shmemx_failure_generation  grows with each failure
 *   shmemx_team_broken         whether a member has failed: its collectives then return nonzero at once, and those
 *                              without a result return; 0, 1, or -1 for SHMEM_TEAM_INVALID
 */
int shmemx_pe_failed(int pe);
int shmemx_failed_pes(int *list, int n);
uint64_t shmemx_failure_generation(void);
int shmemx_team_broken(shmem_team_t team);

/*
 * Make a team of the members of `team` that live. Collective over these, each of which waits for the others; a failure
 * meanwhile begins it again. *survivors is the new team, in the order of `team`. `team` stays broken, and may be
 * destroyed. Of SHMEM_TEAM_WORLD: routines without a team (shmem_barrier_all, shmem_sync_all, shmem_malloc and its kin,
 * shmem_free) run over the survivors from then on, which have the same memory allocated; an allocation that not all of
 * them have finished is undone, so that what it returned must not be used; all locks are free. PE numbers stay.
 * Returns 0, or nonzero on all alike, after a line, with SHMEM_TEAM_INVALID.
 */
int shmemx_team_shrink(shmem_team_t team, shmem_team_t *survivors);

/*
 * As shmem_set_lock. Returns 0, or nonzero without the lock: a PE has failed, and SHMEM_TEAM_WORLD has not shrunk
 * since; the queue of a lock may have ended with that PE. shmem_set_lock returns likewise, after a line, and
 * shmem_test_lock returns 1.
 */
int shmemx_set_lock_status(long *lock);

/*
 * Have function(pe, arg) called for each PE that fails from now on, once, on a thread of the library; NULL: no more.
 * Local. There is one such function; where it is replaced, the one of before has ended on return, unless it is the
 * caller. It may call what the thread level allows another thread (shmem_init_thread), but not shmem_finalize. In the
 * other mode it is never called. Returns 0, or nonzero after a line where there is no thread.
 */
int shmemx_on_failure(void (*function)(int pe, void *arg), void *arg);

/*
 * Return the last line that the library has written about an error in this thread since the thread last asked, without
 * its end of line; "" where there is none. Local; may be called at any time. For bindings that make exceptions of
 * failures. Valid until the thread calls it again.
 */
const char *shmemx_error_last(void);

/*
 * With a nonzero `hold` lines about errors in this thread are kept for shmemx_error_last and not printed; with 0 those
 * that nobody has asked for are printed. What ends the job is printed in any case. Returns whether they were held
 * before. Local; may be called at any time. For bindings whose exceptions have the line.
 */
int shmemx_error_hold(int hold);

/*
 * Return what a setting such as "SHMEM_DEBUG" is given by the environment, by any of its names, or by a file of
 * settings; NULL where nothing does, and its default counts, or there is no such setting. Local; may be called at any
 * time. For bindings and libraries that read settings themselves. The text is not to be changed or freed.
 */
const char *shmemx_setting(const char *name);

/*
 * Return this PE's own counter. The data of the puts that it counts are visible then. In kernels too.
 */
uint64_t shmemx_counter_fetch(shmemx_counter_t counter);

/*
 * Wait until this PE's own counter is `value` or more. The data of the puts that it counts are visible then. In kernels
 * also by a warp and by a block.
 */
void shmemx_counter_wait_until(shmemx_counter_t counter, uint64_t value);

/*
 * The same for at most `seconds`. Return 0, 1 or 2 as shmemx_TYPENAME_wait_until_timeout: it is, the time
 * is over, a PE has failed since the call began.
 */
int shmemx_counter_wait_until_timeout(shmemx_counter_t counter, uint64_t value, double seconds);

#ifdef __cplusplus
}
#endif
#endif

#include <shmem/old_names.h>

/* In device code: the routines of shmem.h that kernels can call. Units of nvcc with none define SHMEMX_HOST_ONLY. */
#if defined __CUDACC__ && !defined SHMEMX_HOST_ONLY
#include <shmem/device.cuh>
#endif

#endif
