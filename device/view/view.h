/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the host passes to device code: the device state that every translation unit with device code holds in constant
 * memory, the tables behind its pointers, the records by which device code reports, and how a module makes itself
 * known. Read by C, C++ and CUDA.
 *
 * Lifetime. A module registers in a constructor and unregisters in a destructor, so its registration may come before
 * shmem_init (the executable), after it (dlopen) and go before shmem_finalize (dlclose). The host fills the device
 * states of all registered modules when it attaches the GPU, with the attached device current, and a later module's at
 * once; a fill that fails then (the CUDA runtime may not know the module yet) is repeated at the next
 * collective device call. From then to shmem_finalize a device state does not change: whatever changes (registered
 * buffers, teams, contexts) lies behind its pointers, at addresses that do not change. shmem_finalize fills all device
 * states with zeroes before the memory behind them goes, so that a kernel launched later (a replayed graph) is refused;
 * the next init fills them again, and a graph captured before works again.
 *
 * Addresses are uint64_t, as the GPU sees them. Memory called *device* below is read often and lies on the GPU; memory
 * called *pinned* is host memory mapped into the GPU, written by the CPU without a CUDA call.
 */
#ifndef WSH_DEVICE_VIEW_H
#define WSH_DEVICE_VIEW_H

#ifndef __CUDACC_RTC__
#include <stdint.h>
#else
#include <shmem/types.h>
#endif

/* Rises with every change of a struct or rule here or in ring.h. Checked at registration, with the struct's size. */
#define WSH_DEVICE_ABI 19

/* Bits of wsh_device.flags. */
#define WSH_DEVICE_CHECK \
    (1u << 0) /* SHMEM_DEBUG=check: also check what costs time (alignment, NULL, local words) */
#define WSH_DEVICE_GDA (1u << 1)        /* kernels post to NICs: struct wsh_gda (gda.h) */
#define WSH_DEVICE_NICS_COUNT (1u << 2) /* NICs of this PE add to counters: struct wsh_device_nic_counter */
#define WSH_DEVICE_SURVIVES (1u << 3) /* SHMEM_ON_PE_FAILURE=continue: struct wsh_device_failures has news */

/*
 * Whether the module is for jobs of one host alone: what reaches other hosts is deep, and short collectives on one host
 * take 15 % longer with it in the program (H100; by a thread up to 65 %), though it is not called there, since what a
 * caller holds then lies in local memory, which an acquire drops from the L1. In jobs of several hosts its collectives
 * are refused.
 */
#ifndef SHMEMX_ONE_HOST
#define SHMEMX_ONE_HOST 0
#endif

/*
 * Whether the module's quiets, fences and barriers, which are the default queue's, are those of all queues too, as in
 * NVSHMEM.
 */
#ifndef SHMEMX_QUIET_COVERS_QUEUES
#define SHMEMX_QUIET_COVERS_QUEUES 0
#endif

/* Whether shmem_sync_all and team_sync in kernels are barriers, which complete all stores; 0 where nvshmem.h is. */
#ifndef SHMEMX_SYNC_IS_BARRIER
#define SHMEMX_SYNC_IS_BARRIER 1
#endif

/* The segments every PE has, in the order of enum wsh_seg. */
#define WSH_DEVICE_SEG_STATIC 0
#define WSH_DEVICE_SEG_HEAP 1 /* the host heap */
#define WSH_DEVICE_SEG_DEVICE 2
#define WSH_DEVICE_SEGS 3

#define WSH_DEVICE_NO_SLOT 0xffu

#define WSH_DEVICE_POLL_RARELY \
    4095u /* look_mask where nothing is pulled: at the clock, about a millisecond */

/*
 * A segment as this PE's GPU reaches it. The object at symmetric address `sym` of the PE with slot s, where
 * base <= sym < base + len, lies at where + s * stride + (sym - base) with stride != 0 (all slots are mapped), and at
 * table[s] + (sym - base) with stride 0, where `where` is the address of `const uint64_t table[slots]` in device
 * memory and table[s] = 0 says that slot s is not mapped. This PE's own segment is also usable by the GPU at `base`
 * itself. len 0: the GPU reaches none of it (host memory that could not be registered).
 */
struct wsh_device_seg {
    uint64_t base, len;
    uint64_t where, stride;
};

/*
 * Registered buffers by address, in device memory. The host never changes a table that it has published: it writes the
 * next one elsewhere, then its address. A kernel that began before may use the old one, which stays as it is for at
 * least WSH_DEVICE_RANGES_KEPT changes.
 */
#define WSH_DEVICE_RANGES_KEPT 32
struct wsh_device_range {
    struct wsh_device_seg seg; /* of a buffer that is not symmetric: where = 0 */
    uint32_t symmetric;
    uint32_t zero_copy; /* 1: puts and gets of it may be zero-copy */
};

struct wsh_device_ranges {
    uint64_t n; /* rows that follow, in order, without overlaps */
};
#define WSH_DEVICE_RANGES_ROW(ranges, i) ((const struct wsh_device_range *)((ranges) + 1) + (i))

/*
 * Queues (queue.cuh): the one of number WSH_DEVICE_QUEUE_FIRST + i has row i, and those beyond the last row share rows
 * with others, in turn. `ring`: of its own, in pinned memory, with struct wsh_ring_heads in device memory; 0: none, as
 * where there is no proxy: it is the default queue.
 */
#define WSH_DEVICE_QUEUES 64u
#define WSH_DEVICE_QUEUE_FIRST 2
struct wsh_device_queue {
    uint64_t ring, heads;
};

/*
 * What the host changes while kernels run, in device memory. Behind it, at WSH_DEVICE_PEERS of its address, lies
 * uint64_t[n_pes]: where this GPU reaches the device heap of each PE, 0 where it does not. Those do not change.
 */
struct wsh_device_root {
    uint64_t ranges; /* address of the present struct wsh_device_ranges */
    uint32_t n_queues,
        n_named; /* rows, and queues that there are, more than one for a row where these are more */
    struct wsh_device_queue queue[WSH_DEVICE_QUEUES];
};
#define WSH_DEVICE_PEERS(root) ((root) + sizeof(struct wsh_device_root))

/*
 * What a team's collectives keep on the GPU: its sync area, at the same place in the device heap of every member. The
 * host writes header and members when the team is made; `epoch`, words and LL lines are device code's, zeros at first
 * (epoch: SHMEM_DEVICE_EPOCH) and zeroed by the host before another team gets the memory. Every collective call of the
 * team, in a kernel or on a stream, direct or replayed from a graph, counts one epoch, alike on all members.
 *
 *   header    below; this PE's own
 *   members   at WSH_DEVICE_SYNC_AREA_MEMBERS: int32_t[n_pes], world PE numbers
 *   words     at WSH_DEVICE_SYNC_AREA_WORDS(n_pes): uint64_t[n_pes]; member i writes word i: 2 * epoch when it has
 *             arrived, 2 * epoch + 1 when its data has. They only grow
 *   LL        at WSH_DEVICE_SYNC_AREA_LL(n_pes): [2][n_pes] buffers of `ll` bytes, by the parity of the epoch and the
 *             member that writes: lines of 16 bytes, each half 4 bytes of data and the low 32 bits of the epoch
 *   stage     there instead, where members are on several hosts (`ll` is 0): buffers of `stage` bytes of data alone
 *
 * A member enters an epoch only after it has seen the flag of every other of the one before, so two buffers suffice.
 *
 * `blocks`: those of a kernel of several blocks that have done their share of a call; the last one zeroes it.
 */
struct wsh_device_team_header {
    uint64_t epoch;
    int32_t my_pe, n_pes;
    uint64_t ll; /* 0: on several hosts */
    uint32_t blocks, stage;
};

#define WSH_DEVICE_SYNC_AREA_LINE 128u
#define WSH_DEVICE_SYNC_AREA_LINES(len) \
    (((len) + WSH_DEVICE_SYNC_AREA_LINE - 1) / WSH_DEVICE_SYNC_AREA_LINE * WSH_DEVICE_SYNC_AREA_LINE)
#define WSH_DEVICE_SYNC_AREA_MEMBERS WSH_DEVICE_SYNC_AREA_LINE
#define WSH_DEVICE_SYNC_AREA_WORDS(n_pes) \
    (WSH_DEVICE_SYNC_AREA_MEMBERS + WSH_DEVICE_SYNC_AREA_LINES((uint32_t)(n_pes)*4u))
#define WSH_DEVICE_SYNC_AREA_LL(n_pes) \
    (WSH_DEVICE_SYNC_AREA_WORDS(n_pes) + WSH_DEVICE_SYNC_AREA_LINES((uint32_t)(n_pes)*8u))
#define WSH_DEVICE_LL_LINE 16u             /* bytes, half of them data */
#define WSH_DEVICE_LL_LINES (1u << 20)     /* most bytes of LL lines for a pair of members and a parity */
#define WSH_DEVICE_LL_LINES_ALL (4u << 20) /* most bytes of LL lines of a predefined team, from all members */

/*
 * The sync areas by team handle, in device memory: open addressing from WSH_DEVICE_TEAM_HASH on. handle 0 ends a
 * search; a row whose team is gone has handle 1 and is used again. One row more says where the sync areas of teams with
 * numbers from WSH_DEVICE_TEAM_FIRST on lie, in the order of these: its `pad`; at a distance of `handle` bytes. A
 * handle up to WSH_DEVICE_TEAM_LAST is a team's number + 1.
 */
#define WSH_DEVICE_TEAM_ROWS 1024u
#define WSH_DEVICE_TEAM_HASH(handle) ((uint32_t)((handle) >> 4) * 2654435761u >> 22)
#define WSH_DEVICE_TEAM_FIRST 4u
#define WSH_DEVICE_TEAM_LAST (WSH_DEVICE_TEAM_FIRST + 4096u)
struct wsh_device_team_row {
    uint64_t handle, area;
};

/*
 * Teams of contexts, and contexts, by the value of their handles, in pinned memory. Row 0 is SHMEM_TEAM_WORLD and
 * row 1 SHMEM_TEAM_SHARED. `members` is the address of `const int32_t members[n_pes]` (world PE numbers) or 0 = PE i of
 * the team is PE i of the world. A context row with handle 0 is free. A context that is not here belongs to no team a
 * device call can use: it is refused.
 */
#define WSH_DEVICE_TEAMS 2
#define WSH_DEVICE_CTXS 128
struct wsh_device_team {
    uint64_t handle, members;
    int32_t my_pe, n_pes;
};

struct wsh_device_ctx {
    uint64_t handle;
    uint64_t team; /* row of its team */
};

struct wsh_device_handles {
    struct wsh_device_team team[WSH_DEVICE_TEAMS];
    struct wsh_device_ctx ctx[WSH_DEVICE_CTXS];
};

/* Why a device call was refused. */
enum wsh_device_reason {
    WSH_DEVICE_OK,
    WSH_DEVICE_BAD_PE,      /* pe: out of 0 … n_pes - 1 of the world or of the context's team */
    WSH_DEVICE_BAD_ADDRESS, /* addr, len: not in a symmetric segment that the GPU reaches */
    WSH_DEVICE_UNREACHABLE, /* pe, addr: symmetric, but that PE's copy is not mapped into this GPU */
    WSH_DEVICE_HOST_ATOMIC, /* pe, addr: read-modify-write of a word in host memory, which only the CPU may do */
    WSH_DEVICE_BAD_HANDLE,  /* addr: a context or team that is invalid or unknown */
    WSH_DEVICE_BAD_VALUE,   /* len: the value of the argument (sig_op, cmp) */
    WSH_DEVICE_BAD_SCRATCH, /* addr, len: not 16-byte aligned shared memory, or too short */
    WSH_DEVICE_BAD_STRIDE,  /* len: a stride below 1 (as int64_t) */
    WSH_DEVICE_MISALIGNED,  /* addr: no multiple of len, its size (SHMEM_DEBUG=check) */
    WSH_DEVICE_NULL,        /* addr: NULL for len bytes (SHMEM_DEBUG=check) */
    WSH_DEVICE_ONE_HOST,    /* the module says SHMEMX_ONE_HOST, and the job has several hosts */
    WSH_DEVICE_BAD_COUNTS,  /* pe: of the other side; addr: bytes that are given; len: that are expected */
    WSH_DEVICE_LONG_WAIT,   /* addr: the word waited for; pe: the cmp; len: the value (hang record only) */
    WSH_DEVICE_EXIT,        /* len: the status; a kernel has called shmem_global_exit */
    WSH_DEVICE_REASONS
};

/*
 * What a device call reports, in pinned memory, zeroed at attach. Device code fills the rest, then stores state = 1
 * (release, .sys; its partner is the host's acquire load). Each record is written once: the first call wins.
 */
struct wsh_device_record {
    uint32_t state;
    uint32_t reason; /* enum wsh_device_reason */
    int32_t pe;
    uint32_t thread, block; /* linear numbers in block and grid (modulo 2^32) */
    uint32_t pad;
    uint64_t addr, len;
    char what[88]; /* "routine: argument", as in host messages; ends in a null */
};

/*
 * PEs that have failed while the others go on. The watch thread writes `at`, one byte a PE, and then `generation`
 * (release), which grows with each failure.
 */
struct wsh_device_failures {
    uint64_t generation;
    uint64_t at; /* address of uint8_t[n_pes], pinned: 1 has failed */
};

/*
 * `error`: a call was refused. The kernel traps after writing it: no routine returns with its operation left out. The
 * host looks at it in every wait, at finalize and at exit, and the watch thread (runtime/gpu/cuda_watch.h) looks
 * meanwhile; who sees it ends the job with the line of runtime/gpu/view/error_texts.h.
 * `hang`: a device wait has lasted hang_ns. The kernel goes on waiting; whoever looks prints it.
 */
struct wsh_device_report {
    struct wsh_device_record error, hang;
    struct wsh_device_failures failures;
};

/* Locks among the lanes of this GPU. In device memory, zeroed at attach. */
struct wsh_device_locks {
    uint32_t record[2]; /* not 0: a lane writes the error record, the hang record */
    uint32_t pulling;   /* 1: a lane pulls from the inbox */
    uint32_t unused;
    uint64_t pulled; /* items so far; written by the lane that pulls */
};

/* The device state: at most 256 bytes of constant memory a module. n_pes = 0: not filled, every call is refused. */
struct wsh_device {
    uint32_t abi, size; /* WSH_DEVICE_ABI, sizeof (struct wsh_device) */
    int32_t my_pe, n_pes;

    /*
     * Slots of the PEs whose memory is mapped. PE p with run_first <= p < run_first + run_count has slot p - run_first:
     * the fast path, without a load from memory. Of any other PE slots[p] says it: address of `const uint8_t
     * slots[n_pes]` in device memory, WSH_DEVICE_NO_SLOT = not mapped; 0 = no other PE is mapped. run_count 0 where
     * the mapped PEs are not consecutive or one between them is not mapped; and, so that nothing else has to be asked
     * on the fast path, where the device heap has no constant stride and under SHMEM_DEBUG=check.
     */
    int32_t run_first, run_count;
    uint64_t slots;

    struct wsh_device_seg seg[WSH_DEVICE_SEGS];
    uint64_t ranges;                /* address of struct wsh_device_root (device), or 0 */
    uint64_t handles;               /* address of struct wsh_device_handles (pinned) */
    uint64_t report;                /* address of struct wsh_device_report (pinned) */
    uint64_t locks;                 /* address of struct wsh_device_locks in device memory */
    uint64_t hang_ns;               /* SHMEM_HANG_SECONDS, 0 = never */
    uint32_t flags;                 /* WSH_DEVICE_CHECK, WSH_DEVICE_GDA */
    uint16_t consumers, rings_each; /* proxy threads, and the rings of each: all to one PE go to one */
    uint64_t rings; /* address of struct wsh_ring[all] (pinned); 0 = no proxy: unmapped PEs are refused */
    uint64_t world; /* address of the sync area of SHMEM_TEAM_WORLD; its `ll` */
    uint64_t world_ll;
    uint64_t teams;      /* address of struct wsh_device_team_row[WSH_DEVICE_TEAM_ROWS] in device memory */
    uint32_t sharers;    /* PEs that use this GPU */
    uint32_t poll_mask;  /* a wait that pulls looks at the inbox after so many polls and one more: 2^n - 1 */
    uint64_t ring_heads; /* address of struct wsh_ring_heads in device memory */
    uint64_t inbox;      /* address of struct wsh_inbox (pinned); 0 = there is none */

    /*
     * Zero-copy transfers (zero_copy.cuh): bit i = the host's transports read and write this PE's segment i; the fewest
     * bytes of nonblocking gets, of nonblocking puts, of blocking ones. 0: none.
     */
    uint16_t zero_copy_segs, zero_copy_get_from;
    uint32_t zero_copy_from, zero_copy_waits_from;

    /*
     * Words of counters (counter.cuh), uint64_t[n_counters] in the device heap and in the host heap, so many times
     * WSH_DEVICE_COUNTERS_ALIGN bytes from the segment's begin. A counted put adds to the one in the device heap, by an
     * atomic of a GPU, where the GPU that puts reaches both it and the data's place; else to the one in the host heap,
     * by the target's CPU.
     */
    uint32_t n_counters, counters_device, counters_host;
};

#define WSH_DEVICE_COUNTERS_ALIGN 64u

/*
 * What NICs add to the counters with the lowest numbers, with WSH_DEVICE_NICS_COUNT in the device state's flags: struct
 * wsh_device_nic_counter[WSH_DEVICE_NIC_COUNTERS], in the device heap directly behind the words of counters there.
 * The host writes `word` when the counter is created, before any kernel knows it; words that are in use come first.
 * A NIC's word has 31 bits, and is extended by what was kept of it (nic_word.h): in the device heap, where the word is
 * there too, raised by who reads it; else in the host heap, by the host alone.
 */
#define WSH_DEVICE_NIC_COUNTERS 256u
#define WSH_DEVICE_NIC_WORDS 8u
struct wsh_device_nic_word {
    uint64_t at;      /* address of the NIC's word; 0: none, nor are those behind this one */
    uint64_t base;    /* its count when the counter was created */
    uint64_t kept_at; /* address of what was kept of it: of `kept`, or in the host heap */
    uint64_t kept;
};

struct wsh_device_nic_counter {
    uint64_t count[WSH_DEVICE_NIC_WORDS]; /* NICs' words, where they are in device memory */
    struct wsh_device_nic_word word[WSH_DEVICE_NIC_WORDS];
};

/*
 * Writes *state to the module's constant memory on the current device. Compiled in the user's module, since only the
 * CUDA runtime linked there knows its symbols. Synchronous. 0, or the runtime's error number.
 */
typedef int wsh_device_fill_fn(const struct wsh_device *state);

/*
 * CUfunction of a kernel by the address that the module's CUDA runtime knows it by. 0, or the runtime's error number.
 */
typedef int wsh_device_find_fn(const void *kernel, void **function);

/* One translation unit with device code. Static data of the module, so valid between register and unregister. */
struct wsh_device_module {
    uint32_t abi, size; /* as the module was compiled */
    wsh_device_fill_fn *fill;
    const char *name;         /* of the source file, for messages */
    wsh_device_find_fn *find; /* NULL: it has no kernel that programs name */
};

/*
 * Modules loaded by the driver API (NVRTC, cubins) hold the device state under this C symbol: shmemx_module_init fills
 * it. Those compiled with -rdc=true for the host hold it under PREFIX WSH_DEVICE_SYMBOL and have a kernel PREFIX
 * WSH_DEVICE_MARK.
 */
#define WSH_DEVICE_SYMBOL "wsh_device_view"
#define WSH_DEVICE_MARK "_Z20wsh_device_unit_markv"

#ifndef __CUDACC_RTC__
#ifdef __cplusplus
extern "C" {
#endif

/*
 * Exported by the library, called by constructors and destructors of modules from any thread. A module of another ABI
 * or size is an error at attach: one line with its name and both versions. Never calls CUDA before attach; unregister
 * never does.
 */
void wsh_device_register(const struct wsh_device_module *entry);
void wsh_device_unregister(const struct wsh_device_module *entry);

#ifdef __cplusplus
}
#endif
#endif

#endif
