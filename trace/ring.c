/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes events in a mapped file: one place each, taken by adding to the number of events. */
#define _GNU_SOURCE
#include "trace/ring.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/version.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LATEST_EVERY 4096 /* events between two readings of both clocks, should the PE be killed */

static struct {
    union wsh_trace_record *record; /* NULL: nothing is noted */
    struct wsh_trace_head *head;
    uint64_t mask;
    uint8_t *path;
    uintptr_t heap, image, image_end; /* what offsets count from: a block of the heap; the executable */
    union wsh_trace_record *paused;
    size_t len;
    int n_pes;
} ring;

static uint16_t threads;
static __thread uint16_t thread;

#ifdef __x86_64__
#include <cpuid.h>
bool wsh_trace_tsc;

__attribute__((constructor)) static void look_at_tsc(void)
{
    unsigned a, b, c, d;

    wsh_trace_tsc = __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1 << 8;
}
#endif

/* The thread may lose its core between two readings: the nearest of several count. */
static struct wsh_trace_moment moment_now(void)
{
    struct wsh_trace_moment moment = {0, 0};
    uint64_t nearest = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t before = wsh_trace_ticks(), ns = wsh_trace_ns(), apart = wsh_trace_ticks() - before;

        if (apart >= nearest)
            continue;
        nearest = apart;
        moment = (struct wsh_trace_moment){before + apart / 2, ns};
    }
    return moment;
}

static uint16_t thread_number(void)
{
    if (__builtin_expect(!thread, 0))
        thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return thread;
}

/* Relaxed: who merges reads the file when the PE has ended. */
static union wsh_trace_record *place_take(void)
{
    uint64_t n = __atomic_fetch_add(&ring.head->n, 1, __ATOMIC_RELAXED);

    if (__builtin_expect(!(n % LATEST_EVERY), 0))
        ring.head->last = moment_now();
    return &ring.record[n & ring.mask];
}

void wsh_trace_add(uint64_t start, enum wsh_trace_routine routine, int pe, uint64_t bytes, unsigned ctx)
{
    uint64_t ticks = wsh_trace_ticks() - start;

    if (__builtin_expect(wsh_trace_nvtx, 0))
        wsh_trace_nvtx_pop();
    if (!ring.record)
        return;
    place_take()->call = (struct wsh_trace_event){
        .start = start,
        .ticks = ticks,
        .routine = (uint16_t)routine,
        .bytes = bytes,
        .ctx = (uint16_t)ctx,
        .pe = pe,
        .path = (unsigned)pe < (unsigned)ring.n_pes ? ring.path[pe] : WSH_TRACE_NO_PATH,
        .thread = thread_number(),
    };
}

static void signal_add(uint64_t start, enum wsh_trace_routine routine, int pe, const void *word,
                       uint64_t value, enum wsh_trace_kind kind)
{
    uintptr_t at = (uintptr_t)word;
    bool is_static = at >= ring.image && at < ring.image_end;

    if (!ring.record)
        return;
    place_take()->signal = (struct wsh_trace_signal){
        .start = start,
        .off = at - (is_static ? ring.image : ring.heap),
        .routine = (uint16_t)routine,
        .value = value,
        .pe = pe,
        .is_static = is_static,
        .kind = (uint8_t)kind,
        .thread = thread_number(),
    };
}

void wsh_trace_signal(uint64_t start, enum wsh_trace_routine routine, int pe, const void *word,
                      uint64_t value, bool adds)
{
    signal_add(start, routine, pe, word, value, adds ? WSH_TRACE_ADD : WSH_TRACE_SET);
}

void wsh_trace_waited(uint64_t start, enum wsh_trace_routine routine, const void *word, uint64_t value)
{
    signal_add(start, routine, -1, word, value, WSH_TRACE_WAITED);
}

void wsh_trace_ring_span(unsigned line, unsigned name, uint64_t start, uint64_t end, int pe, uint64_t bytes,
                         enum wsh_trace_kind kind)
{
    if (!ring.record)
        return;
    place_take()->call = (struct wsh_trace_event){
        .start = start,
        .ticks = end > start ? end - start : 0,
        .routine = (uint16_t)name,
        .bytes = bytes,
        .ctx = (uint16_t)line,
        .pe = pe,
        .kind = (uint8_t)kind,
    };
}

/* The executable is the first; 1 ends the walk. */
static int image_take(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    ring.image = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            ring.image_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

static void head_fill(struct wsh_trace_head *head, int pe, int n_pes, uint64_t capacity)
{
    *head = (struct wsh_trace_head){
        .pe = pe,
        .n_pes = n_pes,
        .pid = getpid(),
        .capacity = capacity,
        .first = moment_now(),
        .ahead = {{0, -1, 0}, {0, -1, 0}},
    };
    memcpy(head->magic, WSH_TRACE_MAGIC, sizeof head->magic);
    snprintf(head->version, sizeof head->version, "%s", WSH_RELEASE);
    gethostname(head->host, sizeof head->host - 1);
}

/*
 * All blocks at once: where the disk is full a write to the mapping would end the PE. Where all PEs of the host fail
 * alike its first one says so.
 */
static int part_map(const char *path, size_t len, bool is_first, void **to)
{
    int fd = wsh_file_create(path, 0644);
    int err = fd < 0 ? -fd : posix_fallocate(fd, 0, (off_t)len);

    *to = err ? MAP_FAILED : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (!err && *to == MAP_FAILED)
        err = errno;
    if (fd >= 0)
        close(fd);
    if (!err)
        return 0;
    if (is_first || !wsh_err_of_folder(err))
        wsh_error("SHMEM_TRACE: no file '%s' of %zu MiB: %s; name one in a folder with room, or lower "
                  "SHMEM_TRACE_EVENTS",
                  path, len >> 20, wsh_file_strerror(err));
    if (fd >= 0)
        unlink(path);
    return -err;
}

int wsh_trace_ring_open(const char *file, const struct wsh_trace_clocks *clocks, long events)
{
    const int pe = clocks->me, n_pes = clocks->n_pes;
    uint64_t capacity = 1024;
    char path[PATH_MAX];
    void *part;
    int rc;

    while (capacity < (uint64_t)events)
        capacity *= 2;
    ring.len = WSH_TRACE_HEAD + capacity * sizeof *ring.record;
    ring.path = calloc((size_t)n_pes, 1);
    snprintf(path, sizeof path, "%s.pe%d", file, pe);
    rc = ring.path ? part_map(path, ring.len, clocks->leader == pe, &part) : -ENOMEM;
    if (rc)
        return rc;
    ring.n_pes = n_pes;
    ring.heap = (uintptr_t)clocks->block;
    dl_iterate_phdr(image_take, NULL);
    ring.mask = capacity - 1;
    ring.head = part;
    head_fill(ring.head, pe, n_pes, capacity);
    ring.record = (union wsh_trace_record *)((char *)part + WSH_TRACE_HEAD);
    return 0;
}

struct wsh_trace_head *wsh_trace_ring_head(void)
{
    return ring.head;
}

void wsh_trace_ring_path(int pe, enum wsh_trace_path path)
{
    ring.path[pe] = (uint8_t)path;
}

void wsh_trace_ring_pause(bool pause)
{
    if (pause && ring.record) {
        ring.paused = ring.record;
        ring.record = NULL;
    } else if (!pause && ring.paused) {
        ring.record = ring.paused;
        ring.paused = NULL;
    }
}

/* Threads of the program may still be inside a wrapper: the mapping stays. */
void wsh_trace_ring_close(void)
{
    ring.record = ring.paused = NULL;
    ring.head->last = moment_now();
    msync(ring.head, ring.len, MS_SYNC);
    ring.head = NULL;
}
