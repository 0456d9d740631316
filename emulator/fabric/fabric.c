/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins a process to the fabric, removes it, and finds its peers. */
#include "emulator/fabric/fabric.h"

#include "emulator/fabric/process.h"
#include "emulator/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define CHECK_NS 1000000ull

struct emu_fabric emu = {.region_fd = -1};

static pthread_mutex_t join_mutex = PTHREAD_MUTEX_INITIALIZER;
static int join_result = 1; /* 1: not tried */
static _Atomic(struct emu_peer *) peers[EMU_SLOTS_MAX];
static _Atomic bool forked;

uint64_t emu_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static int file_fail(const char *what, const char *path)
{
    int rc = -errno;

    emu_say("%s %s: %s; check the fabric's folder (EFA_EMULATOR_DIR) and the memory behind it", what, path,
            strerror(-rc));
    return rc;
}

static void in_folder(char *path, size_t size, const char *format, unsigned number)
{
    size_t used = (size_t)snprintf(path, size, "%s/", emu.settings.dir);

    snprintf(path + used, size - used, format, number);
}

/*
 * Maps `size` bytes of the file at `path`, which must have them; NULL and errno otherwise. Core dumps leave it out, for
 * they would put memory behind all of it.
 */
static void *map_file(const char *path, uint64_t size)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at;

    if (fd < 0)
        return NULL;
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_DONTDUMP);
    return at;
}

static void draw_seed(struct emu_job *job)
{
    if (emu.settings.seeded)
        return;
    if (getrandom(&job->seed, sizeof job->seed, 0) != sizeof job->seed)
        job->seed = job->start_ns ^ (uint64_t)getpid() << 40;
    job->seed >>= 32; /* short enough to be typed again */
}

static void job_announce(const struct emu_job *job)
{
    if (!emu.settings.quiet)
        emu_say("profile %s, seed %llu%s%s; each NIC costs its PE 0.3 GB and seconds at the start",
                job->profile, (unsigned long long)job->seed, emu.settings.replay ? ", replay" : "",
                emu.settings.time_scale > 0 ? ", time model (figures are emulated, scaled)" : "");
}

/* The first process writes the job's file beside its place and links it there: the others see all of it or none. */
static int make_job(const char *path)
{
    struct emu_job job = {.layout = EMU_LAYOUT, .start_ns = emu_now_ns(), .seed = emu.settings.seed};
    char draft[EMU_DIR_MAX + 40];
    int fd, rc = 0;

    draw_seed(&job);
    snprintf(job.profile, sizeof job.profile, "%s", emu.settings.profile->name);
    in_folder(draft, sizeof draft, "fabric.%u", (unsigned)getpid());
    fd = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, &job, sizeof job) != sizeof job)
        rc = file_fail("cannot write", draft);
    else if (!link(draft, path))
        job_announce(&job);
    else if (errno != EEXIST)
        rc = file_fail("cannot create", path);
    if (fd >= 0)
        close(fd);
    unlink(draft);
    return rc;
}

static int open_job(void)
{
    char path[EMU_DIR_MAX + 40];
    int rc;

    in_folder(path, sizeof path, "fabric", 0);
    if (access(path, F_OK) && (rc = make_job(path)))
        return rc;
    emu.job = map_file(path, sizeof *emu.job);
    if (!emu.job)
        return file_fail("cannot map", path);
    if (emu.job->layout == EMU_LAYOUT && !strcmp(emu.job->profile, emu.settings.profile->name))
        return 0;
    emu_say("%s is a fabric of profile %s and layout %x, this process has profile %s and layout %x: one "
            "folder for "
            "each job",
            path, emu.job->profile, emu.job->layout, emu.settings.profile->name, EMU_LAYOUT);
    return -EINVAL;
}

static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

static void fill_region(struct emu_region *region, uint32_t slot)
{
    region->layout = EMU_LAYOUT;
    region->slot = slot;
    region->pid = getpid();
    region->rank = emu.settings.rank < 0 ? (int)slot : emu.settings.rank;
    region->start_time = emu_process_start_time(getpid());
    init_lock(&region->lock);
}

/* The region gets its name when it is complete. */
static int make_region(void)
{
    uint32_t slot = atomic_fetch_add_explicit(&emu.job->next_slot, 1, memory_order_relaxed);
    char path[EMU_DIR_MAX + 40], draft[EMU_DIR_MAX + 40];

    if (slot >= EMU_SLOTS_MAX) {
        emu_say("%s has seen %d processes: use a fresh folder", emu.settings.dir, EMU_SLOTS_MAX);
        return -ENOSPC;
    }
    in_folder(path, sizeof path, "process.%u", slot);
    in_folder(draft, sizeof draft, "draft.%u", slot);
    emu.region_fd = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (emu.region_fd < 0 || ftruncate(emu.region_fd, EMU_REGION_BYTES))
        return file_fail("cannot create", draft);
    emu.mine = map_file(draft, EMU_REGION_BYTES);
    if (!emu.mine)
        return file_fail("cannot map", draft);
    fill_region(emu.mine, slot);
    return rename(draft, path) ? file_fail("cannot create", path) : 0;
}

static void in_child(void)
{
    atomic_store_explicit(&forked, true, memory_order_relaxed);
}

bool emu_fabric_usable(void)
{
    return emu.mine && !atomic_load_explicit(&forked, memory_order_relaxed);
}

int emu_fabric_join(void)
{
    int rc;

    if (atomic_load_explicit(&forked, memory_order_relaxed))
        return -EOPNOTSUPP;
    pthread_mutex_lock(&join_mutex);
    if (join_result == 1) {
        rc = emu_settings_read(&emu.settings);
        if (!rc)
            rc = open_job();
        if (!rc)
            rc = make_region();
        if (!rc) {
            emu.pid = getpid();
            pthread_atfork(NULL, NULL, in_child);
#ifdef PR_SET_PTRACER
            /* Yama would let only ancestors write here; fails where there is no Yama. */
            prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
        }
        join_result = rc;
    }
    rc = join_result;
    pthread_mutex_unlock(&join_mutex);
    return rc;
}

/* Peers that still send learn that their queue pair is gone. The mapping stays: other threads may be using it. */
static void fabric_leave(int status, void *arg)
{
    char path[EMU_DIR_MAX + 40];

    (void)status, (void)arg;
    if (!emu.mine || emu.pid != getpid())
        return;
    emu_region_lock(emu.mine);
    atomic_store_explicit(&emu.mine->closed, 1, memory_order_relaxed);
    emu_region_unlock(emu.mine);
    in_folder(path, sizeof path, "process.%u", emu.mine->slot);
    unlink(path);
}

/* As a device's queues live as long as its process: a preloaded library's first handler runs after all destructors. */
__attribute__((constructor)) static void leave_last(void)
{
    on_exit(fabric_leave, NULL);
}

static struct emu_peer *map_peer(uint32_t slot)
{
    char path[EMU_DIR_MAX + 40];
    struct emu_peer *peer;
    struct emu_region *region;

    in_folder(path, sizeof path, "process.%u", slot);
    region = slot == emu.mine->slot ? emu.mine : map_file(path, EMU_REGION_BYTES);
    if (!region)
        return NULL;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL; /* taken for unreachable until there is memory again */
    peer->region = region;
    peer->pidfd = emu_process_open(region->pid);
    peer->gone = !emu_process_alive(region->pid, -1, region->start_time);
    return peer;
}

struct emu_peer *emu_fabric_peer(uint32_t slot)
{
    struct emu_peer *peer, *none = NULL;

    if (slot >= EMU_SLOTS_MAX)
        return NULL;
    /* acquire: pairs with the release below, for the peer's fields */
    peer = atomic_load_explicit(&peers[slot], memory_order_acquire);
    if (peer)
        return peer;
    peer = map_peer(slot);
    if (!peer)
        return NULL;
    /* release: pairs with the acquire above; a second thread's copy is dropped, its mapping stays until exit */
    if (!atomic_compare_exchange_strong_explicit(&peers[slot], &none, peer, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        free(peer);
        return none;
    }
    return peer;
}

bool emu_peer_alive(struct emu_peer *peer)
{
    uint64_t now = emu_now_ns();

    if (peer->gone || peer->region == emu.mine)
        return !peer->gone;
    if (now - peer->checked_ns < CHECK_NS)
        return true;
    peer->checked_ns = now;
    peer->gone = !emu_process_alive(peer->region->pid, peer->pidfd, peer->region->start_time);
    return !peer->gone;
}
