/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract between the SHMEM model and its transports. The core sees transports only through this file; a
 * transport sees only this file, base and topo.
 *
 * Results: 0 = success; -EAGAIN = no room now: progress and try again; any other negative errno is final and
 * has been logged in one line by the transport. A transport never aborts and never spins. A context is called
 * by one thread at a time; progress may be called by another thread at the same time (the transport locks what
 * it must). Slots left NULL are filled from none.c, so nobody tests for NULL.
 */
#ifndef WSH_TRANSPORT_H
#define WSH_TRANSPORT_H

#include "base/atomic.h"
#include "base/env/env.h"
#include "base/err.h"
#include "base/secret.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From WSH_SEG_DEVICE on: device memory. WSH_SEG_DEVICE is the part of the device heap that is there from the start;
 * from WSH_SEG_MORE on come, in the order in which the PEs add them, what the heap has grown by and the buffers that
 * all PEs have registered (shmemx_buffer_register_symmetric).
 */
enum wsh_seg {
    WSH_SEG_STATIC,
    WSH_SEG_HEAP,
    WSH_SEG_DEVICE,
    WSH_SEG_MORE,
    WSH_SEGS = WSH_SEG_MORE + 1088,
    WSH_SEGS_LOCAL = WSH_SEGS + 64 /* from WSH_SEGS on: device memory that no peer addresses */
};

/* Rows for a table by segment that has n, too few for `seg`: twice as many, so that few are moved. */
static inline uint32_t wsh_seg_room(uint32_t n, uint32_t seg)
{
    return seg < 2 * n ? 2 * n : seg + WSH_SEG_MORE;
}
#define WSH_SEGS_HOST ((int)WSH_SEG_DEVICE)
enum wsh_mem_kind { WSH_MEM_HOST, WSH_MEM_DEVICE };

/* What a transport can do for memory of one kind at one PE. */
enum wsh_reach {
    WSH_REACH_PUT = 1 << 0,
    WSH_REACH_GET = 1 << 1,
    WSH_REACH_AMO = 1 << 2,
    WSH_REACH_SIGNAL = 1 << 3,
    WSH_REACH_ALL = 0xf
};

#define WSH_TP_ADDRESS_MAX 2048 /* bytes of one address blob */
#define WSH_TP_MEM_MAX 512      /* bytes of one memory blob */
#define WSH_TP_COUNTER_MAX 264  /* bytes of one counter blob */
#define WSH_TP_COUNTERS 256     /* counters that NICs may keep: those with the lowest numbers */
#define WSH_TP_COUNTER_WORDS 8  /* NICs of a PE, at most */

struct wsh_gpu;
struct wsh_tp_ops;
struct wsh_tp_limits;

/* An open transport; the transport's own struct begins with it. */
struct wsh_tp {
    const struct wsh_tp_ops *ops;
    unsigned index;    /* the core's: among the transports that are open, and of its part of a context */
    const char *label; /* for messages, where the name says too little: "libfabric's tcp"; or NULL */
};

/* A context's state in one transport: the unit of ordering and completion. Begins the transport's own struct. */
struct wsh_tctx {
    struct wsh_tp *tp;
    bool lazy; /* by the core: mostly nobody waits for `pending`; who does calls `await` */
};

/* Memory of this PE that is registered. Begins the transport's own struct. */
struct wsh_lmem {
    enum wsh_seg seg;
    void *base;
    size_t len;
};

/* A segment of a peer as this transport reaches it; filled by mem_attach, plain data for the core. */
struct wsh_rmem {
    struct wsh_tp *tp;
    int pe;
    enum wsh_seg seg;
    size_t len;
    char *map;     /* address here for CPU loads and stores, or NULL */
    char *gpu;     /* the same for this PE's GPU, where the CPU has none */
    uint64_t base; /* for the transport: remote address of the segment's first byte */
    uint64_t key;  /* for the transport: its remote key */
    void *priv;    /* for the transport: what else it needs; released by mem_detach */
};

struct wsh_tp_params {
    int my_pe, n_pes;
    int local_rank,
        local_size; /* among the PEs of this host, as the launcher counts them; size 0: not known */
    const struct wsh_env *env;
    bool threads;  /* several threads may call at the same time (in different contexts, or progress) */
    bool multiple; /* threads of the program among them (SHMEM_THREAD_MULTIPLE) */
    bool hmem;     /* a GPU may be used later: take its memory too, if that is possible */
    bool loopback; /* all PEs are on this machine: sockets listen where no other machine reaches them */
    const struct wsh_gpu *gpu; /* transports of device memory only */
    /*
     * For open, by all PEs of this host or by none: all[local_size], by local rank, is what each of them gave, `len`
     * bytes. NULL or -ENOTSUP: the PEs of this host cannot exchange anything here.
     */
    int (*exchange_host)(const struct wsh_tp_params *params, const void *mine, size_t len, void *all);
    /*
     * Adds 1 to a counter of this PE, for a put whose data are visible here. `generation`: the bits of it that the
     * transport carries, `mask`. 0, or -EPROTO (unlogged): there is no such counter.
     */
    int (*count)(void *core, uint32_t counter, uint32_t generation, uint32_t mask);
    /* The process of that PE has ended with status 0: the others go on. NULL: none does so. */
    bool (*has_left)(void *core, int pe);
    double news_seconds; /* at the latest, to the news of a PE that has failed; 0: that ends the job */
    void *core;          /* for exchange_host, tally and has_left */
};

struct wsh_tp_limits {
    size_t copy_max; /* a put of more is complete at the target when its `done` is 0; 0: that says nothing */
    bool immediate;  /* every operation is complete at the target when it returns: pending is always 0 */
    bool hmem;       /* puts and gets take registered device memory on both sides; reach says so too */
    unsigned nics;   /* of this host, of its sort; 0: it has none */
    bool by_sockets; /* each message is a system call, and copied by the processor */
    cpu_set_t near;  /* processors near its NICs, for threads that serve them; none: unknown */
};

struct wsh_tp_peers {
    int n_pes;
    const void *const *address; /* [pe] blob of address(), validated for length only */
    const size_t *len;          /* [pe]; 0 = that PE has not opened this transport */
    const bool *same_host;      /* [pe] shares this PE's (possibly emulated) host */
    struct wsh_secret secret;   /* of the job */
    uint32_t generation;        /* how often the PEs of the job have called shmem_init */
    /*
     * Not NULL: the peers of other hosts need be connected only when something first goes to them or comes from them.
     * Until close gives the address of one by the transport's name, from any thread; *address is malloc'd.
     */
    int (*fetch)(void *core, int pe, const char *name, void **address, size_t *len);
    void *core;
};

struct wsh_mem {
    enum wsh_seg seg;
    enum wsh_mem_kind kind;
    void *base;
    size_t len;
    int fd; /* descriptor whose shared mapping from offset 0 is this memory, or -1 */
    /* Device memory only: addresses that are kept for the PEs of this host, the i-th at range + i * stride; or NULL */
    char *range;
    size_t stride;
    int gpu; /* ordinal */
};

/*
 * Counts the parts of an operation that are still in flight. The caller sets left = 0 before the call; the
 * transport adds 1 for each part not finished on return, and subtracts it (release, from any thread in
 * progress) when finished; the caller waits for 0 (acquire, the partner).
 */
struct wsh_done {
    int left;
};

static inline bool wsh_done_is(const struct wsh_done *done)
{
    return __atomic_load_n(&done->left, __ATOMIC_ACQUIRE) == 0;
}

struct wsh_amo {
    enum wsh_amo_op op;
    unsigned width; /* 4 or 8 bytes */
    uint64_t operand, compare;
};

/* nelems blocks of `block` bytes; strides are in bytes from the start of one block to the start of the next. */
struct wsh_strided {
    ptrdiff_t dst_stride, src_stride;
    size_t block, nelems;
};

/*
 * The signal half of a put with signal. `op` is WSH_AMO_SET or WSH_AMO_ADD on 8 bytes.
 *
 * `counter`: the word is that of a counter of the program, and the operation adds 1 (a counted put). The transport may
 * then give wsh_sig_counter's name to the target's part of it, which calls params.tally; either way the data come
 * first, nothing else is ordered, and the put is pending until the target has counted it.
 */
struct wsh_sig {
    const struct wsh_rmem *rmem; /* same PE and same transport as the data */
    size_t off;
    enum wsh_amo_op op;
    uint64_t value;
    uint32_t counter; /* 1 + its number, and its generation above bit 24; 0: it is none */
};

#define WSH_SIG_COUNTER(number, generation) (((generation)&0xff) << 24 | ((number) + 1))

static inline uint32_t wsh_sig_counter(const struct wsh_sig *sig)
{
    return (sig->counter & 0xffffff) - 1;
}

static inline uint32_t wsh_sig_generation(const struct wsh_sig *sig)
{
    return sig->counter >> 24;
}

/*
 * A send queue of a NIC that kernels write themselves, in the NIC's own form of requests (device/nic/gda.h). The
 * transport takes the completions, and publishes by stores with release how many there were, and below which request
 * all are.
 */
struct wsh_tp_queue {
    uint64_t *completed, *mark; /* given by the caller */
    void *ring, *doorbell;      /* memory of the NIC, or of the host */
    uint32_t entries, entry_bytes, max_batch, rail;
    uint32_t inline_bytes; /* of data that a request may carry; 0: none */
};

/* Where requests to a PE by one rail go: an address handle there, and a queue pair of the PE. */
struct wsh_tp_target {
    uint16_t ah, qpn;
    uint32_t qkey;
};

/* The name of staging (runtime/gpu/stage), the core's own transport, beside those of the registry. */
#define WSH_STAGE_NAME "stage"

/* What a network has been given. */
struct wsh_tp_traffic {
    uint64_t operations, bytes; /* writes, reads and messages; these with their heads */
    uint64_t doorbells;         /* that announced them; for all PEs alone */
    uint64_t retries; /* requests that the device or its library had no room for, and that came again */
    uint64_t stalls;  /* messages found without a credit of the target, or a place in the window */
};

struct wsh_tp_ops {
    const char *name;
    bool remote; /* reaches other hosts; opened only in jobs that need it */
    bool device; /* reaches device memory; opened by the first collective call that asks for such */

    /* -ENODEV: cannot serve on this machine, which is no error. Endpoints exist on return. */
    int (*open)(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits);
    /*
     * The end: stop, then mem_release of all that is registered, then close. stop waits for a limited time until what
     * has been given to the network has left (-EAGAIN: progress, and call it again; never with `at_once`), then closes
     * endpoints, so that nothing more leaves or arrives. Only progress, mem_release and close may follow.
     */
    int (*stop)(struct wsh_tp *tp, bool at_once);
    void (*close)(struct wsh_tp *tp);

    /* Writes at most *len bytes that peers need to reach this PE; sets *len. */
    int (*address)(struct wsh_tp *tp, void *blob, size_t *len);
    /* After all memory is registered and blobs are exchanged. May return -EAGAIN while peers have not come so far. */
    int (*connect)(struct wsh_tp *tp, const struct wsh_tp_peers *peers);
    /* Bits of enum wsh_reach, 0 = this transport does not reach the PE. After connect. */
    unsigned (*reach)(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind);

    /*
     * Before connect; after it: segments from WSH_SEG_MORE on, and all of device memory where limits.hmem is set.
     * Writes at most *blob_len bytes that peers need; sets *blob_len (0 = cannot be reached). -ENOTSUP, unlogged: this
     * device memory is not taken.
     */
    int (*mem_register)(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                        size_t *blob_len);
    void (*mem_release)(struct wsh_tp *tp, struct wsh_lmem *lmem);
    /*
     * After connect, before mem_attach of device memory, on all PEs: exchanges with the PEs of this host what no blob
     * carries. May return -EAGAIN while peers have not come so far.
     */
    int (*mem_connect)(struct wsh_tp *tp, enum wsh_seg seg, const struct wsh_tp_peers *peers);
    /*
     * After connect. Fills *rmem (map included where CPU loads and stores work), which goes to no other transport.
     */
    int (*mem_attach)(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                      struct wsh_rmem *rmem);
    /*
     * The same for host memory of `pe` that another transport has mapped here: this one copies between it and device
     * memory of this PE. -ENOTSUP, unlogged: it does not.
     */
    int (*mem_adopt)(struct wsh_tp *tp, int pe, enum wsh_seg seg, char *map, size_t len,
                     struct wsh_rmem *rmem);
    void (*mem_detach)(struct wsh_tp *tp, struct wsh_rmem *rmem);

    /*
     * Counters that the NICs of this PE keep, of the numbers in wsh_sig.counter. After connect.
     *   counter_words   words that each has, one for each NIC; 0: NICs keep none
     *   counter_open    from now on, until stop, puts with that counter are counted in `words`. Only the lowest 31 bits
     *                   of a word count up, and begin anywhere. Writes at most *len bytes that peers need; called again
     *                   only that. -ENOTSUP, unlogged: CPUs count, as for all other puts
     *   counter_attach  of a peer, what that has written there
     */
    unsigned (*counter_words)(struct wsh_tp *tp);
    int (*counter_open)(struct wsh_tp *tp, uint32_t counter, uint64_t *words, enum wsh_mem_kind kind,
                        void *blob, size_t *len);
    int (*counter_attach)(struct wsh_tp *tp, int pe, uint32_t counter, const void *blob, size_t len);

    /* Bookkeeping only: opens nothing on the wire. */
    int (*ctx_open)(struct wsh_tp *tp, struct wsh_tctx **tctx);
    void (*ctx_close)(struct wsh_tctx *tctx); /* the core has brought pending to 0 */

    /*
     * Start only; offsets and lengths have been checked against rmem->len. `done` may be NULL (nonblocking). It
     * reaches 0 when: put, put_signal: the source may be reused; get: the data is here; amo: the old value is in
     * `result` (result != NULL) or the operands were taken (result == NULL).
     */
    int (*put)(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
               struct wsh_done *done);
    int (*get)(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
               struct wsh_done *done);
    int (*amo)(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
               void *result, struct wsh_done *done);
    int (*put_signal)(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                      size_t len, const struct wsh_sig *sig, struct wsh_done *done);

    /*
     * The first blocks of `shape` in one piece: as many as go, at least two; *taken of them, whose source may be reused
     * on return. With `sig` (may be NULL; never of a counter) all of them, and the signal after them. -ENOTSUP,
     * unlogged: a put for each block is better, or with `sig` not all go.
     */
    int (*put_strided)(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       const struct wsh_strided *shape, const struct wsh_sig *sig, size_t *taken);

    /*
     * Orders all earlier operations of the context, per PE, before all later ones. Does not wait for their completion
     * where there is a cheaper way (transports/efa/README.md shows one).
     */
    int (*fence)(struct wsh_tctx *tctx);

    /* Operations started and not yet complete at the target (gets: not yet here), to `pe`, or to all if pe < 0. */
    size_t (*pending)(struct wsh_tctx *tctx, int pe);

    /* Those of `pending` whose source may still be read, and gets. NULL: all of them. */
    size_t (*unread)(struct wsh_tctx *tctx);
    /*
     * Somebody waits for the pending ones to end, or the unread ones: peers are asked for what they would acknowledge
     * later. May be called often.
     */
    void (*await)(struct wsh_tctx *tctx, bool unread);

    /*
     * What is started between begin and end may be given to a device together, for one doorbell. end: 0 or final; after
     * it all is given. Progress and other contexts go on meanwhile, and may give it earlier.
     */
    void (*batch_begin)(struct wsh_tctx *tctx);
    int (*batch_end)(struct wsh_tctx *tctx);

    /*
     * PE `pe` has failed and the job goes on: what is under way to it ends soon, as if complete; gets leave their
     * memory as it was, fetched values are 0; and so does what is started later. Once a PE, by any thread.
     */
    void (*forget)(struct wsh_tp *tp, int pe);

    /* Moves everything on, serving peers too. > 0: did something; 0: nothing to do; < 0: final. */
    int (*progress)(struct wsh_tp *tp);

    /*
     * A descriptor that becomes readable when progress has something to do, for one poll(2) now; -EAGAIN: do
     * not sleep, progress first; -ENOTSUP: there is none, sleep for a bounded time instead.
     */
    int (*wait_fd)(struct wsh_tp *tp);

    /*
     * After connect: the i-th part that moves on independently of the others, for a thread of its own that calls
     * nothing but progress and wait_fd; NULL: there are no more. Those of the transport itself cover all parts.
     */
    struct wsh_tp *(*part)(struct wsh_tp *tp, unsigned i);

    /* Adds what the network has been given for `pe`, or for all PEs if pe < 0. */
    void (*traffic)(struct wsh_tp *tp, int pe, struct wsh_tp_traffic *traffic);

    /*
     * Queues for kernels, after connect: the first `n` of queue[room], or with n = 0 as many as the NICs have for each
     * PE of the host, dealt out to the rails. How many; -ENOTSUP, unlogged: there are none here, and `why` says why.
     */
    int (*gda_open)(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, unsigned room, char *why,
                    size_t size);
    /*
     * After that, at most `n` more whose requests carry data, of which there are fewer where the PE's share of queue
     * pairs is used up. How many; -ENOTSUP, unlogged: the NICs have none, and `why` says why.
     */
    int (*gda_open_values)(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, char *why, size_t size);
    void (*gda_close)(struct wsh_tp *tp); /* when no kernel uses them, before stop */
    /*
     * How a rail reaches a PE, the queue pair of one that counts for a counter, the memory of one, and memory of this
     * PE. -ENOTSUP, unlogged: it does not.
     */
    int (*gda_target)(struct wsh_tp *tp, unsigned rail, int pe, struct wsh_tp_target *target);
    int (*gda_counter)(struct wsh_tp *tp, unsigned rail, int pe, uint32_t counter,
                       struct wsh_tp_target *target);
    int (*gda_remote)(struct wsh_tp *tp, unsigned rail, const struct wsh_rmem *rmem, uint32_t *key);
    int (*gda_local)(struct wsh_tp *tp, unsigned rail, const struct wsh_lmem *lmem, uint32_t *key);
    /* Takes completions of all queues, by one thread. As progress. */
    int (*gda_poll)(struct wsh_tp *tp);

    /* Appends to `text` what is in flight, e.g. "PE 3: 2 puts, 1 atomic"; for the hang reporter. */
    void (*describe)(struct wsh_tctx *tctx, char *text, size_t size);
};

static inline const char *wsh_tp_label(const struct wsh_tp *tp)
{
    return tp->label ? tp->label : tp->ops->name;
}

/* All transports in order of preference (local, nvlink, efa), complete tables without NULL slots; then NULL. */
const struct wsh_tp_ops *const *wsh_tp_registry(void);

/* Copies `ops`, filling every NULL slot with the typed "not supported" body of none.c. */
void wsh_tp_fill(struct wsh_tp_ops *full, const struct wsh_tp_ops *ops);

#endif
