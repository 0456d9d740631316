/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the memory beneath the variables of the running executable. */
#define _GNU_SOURCE
#include "runtime/memory/static_data.h"

#include "runtime/memory/commit.h"
#include "runtime/memory/static_copy.h"
#include "runtime/memory/static_gaps.h"
#include "base/err.h"
#include "base/log.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN_HOLE ((size_t)64 << 20) /* bytes of a static array that a core dump leaves out */

/* What the fork handlers work on: the one segment that is mapped now. */
static struct wsh_segment mapped = {.fd = -1};
static struct wsh_static_image image; /* of it */
static struct wsh_static_gaps gaps;
static char *fork_copy = MAP_FAILED;

uint64_t wsh_static_fingerprint(void)
{
    struct wsh_static_image found;

    wsh_static_image_find(&found);
    return found.fingerprint;
}

/* A dump would put memory behind all of them. Smaller ones are there, whoever has written to them since. */
static void hide_holes(const struct wsh_static_range *range, int fd, size_t off)
{
    size_t end = off + (range->end - range->begin);
    off_t hole = lseek(fd, (off_t)off, SEEK_HOLE);

    while (hole >= 0 && (size_t)hole < end) {
        off_t data = lseek(fd, hole, SEEK_DATA);
        size_t to = data < 0 || (size_t)data > end ? end : (size_t)data;

        if (to - (size_t)hole >= HIDDEN_HOLE)
            madvise((void *)(range->begin + ((size_t)hole - off)), to - (size_t)hole, MADV_DONTDUMP);
        hole = to < end ? lseek(fd, (off_t)to, SEEK_HOLE) : -1;
    }
}

static int map_range(const struct wsh_static_range *range, int fd, size_t off, bool dump)
{
    size_t len = range->end - range->begin;

    if (!wsh_static_save(fd, range->begin, range->end, off) ||
        mmap((void *)range->begin, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)off) ==
            MAP_FAILED)
        return -errno;
    if (!dump)
        hide_holes(range, fd, off);
    return 0;
}

static int map_shared(struct wsh_segment *seg, bool dump)
{
    const struct wsh_static_ranges *data = &image.data;
    uintptr_t base = data->range[0].begin;
    size_t len = data->range[data->n - 1].end - base;
    int fd = memfd_create("warpshmem-static", MFD_CLOEXEC);
    int rc = fd < 0 ? -errno : wsh_memfd_resize(fd, len);

    for (unsigned i = 0; i < data->n && !rc; i++)
        rc = map_range(&data->range[i], fd, data->range[i].begin - base, dump);
    if (rc) {
        wsh_error("cannot share the program's %zu bytes of static data: %s; free memory, or set "
                  "SHMEM_STATIC=off if no PE addresses another's static data",
                  len, wsh_commit_strerror(rc));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    *seg = (struct wsh_segment){.base = (char *)base, .len = len, .fd = fd};
    return 0;
}

int wsh_static_open(struct wsh_segment *seg, const struct wsh_static_ranges **ranges,
                    const struct wsh_env *env)
{
    int rc;

    *seg = (struct wsh_segment){.fd = -1};
    *ranges = NULL;
    if (env->static_data == WSH_OFF)
        return 0;
    wsh_static_image_find(&image);
    if (!image.data.n || (env->static_data == WSH_AUTO && !wsh_static_is_needed(&image))) {
        wsh_info(WSH_SUB_MEM, "static data of the executable is not symmetric: neither it nor a library that "
                              "it needs links this library (SHMEM_STATIC=on overrides)");
        return 0;
    }
    if (image.is_cut)
        wsh_warn("the program has more than %d segments: its variables from %p on are not symmetric; link it "
                 "anew in place of editing it",
                 WSH_STATIC_RANGES, (void *)image.data.range[image.data.n - 1].end);
    rc = map_shared(seg, env->core_dump == WSH_CORE_ALL);
    if (rc)
        return rc;
    mapped = *seg;
    *ranges = image.data.n > 1 ? &image.data : NULL;
    return 0;
}

int wsh_static_fill_gaps(const struct wsh_segment *seg)
{
    uintptr_t where;
    int rc = seg->base ? wsh_static_gaps_fill(&gaps, &image, seg->fd, &where) : 0;

    if (rc)
        wsh_error(
            "cannot register the program's static data for the network: between its variables, at %p, %s; "
            "set SHMEM_STATIC=off if no PE addresses another's static data",
            (void *)where, rc == -EEXIST ? "lies other memory" : wsh_strerror(rc));
    return rc;
}

void wsh_static_protect_gaps(void)
{
    wsh_static_gaps_protect(&gaps);
}

/* Private memory takes the place of the variables; what is for the gaps goes. */
static void put_in_place(const struct wsh_segment *seg, char *copy)
{
    uintptr_t base = (uintptr_t)seg->base, at = base;

    for (unsigned i = 0; i < image.data.n; i++) {
        const struct wsh_static_range *range = &image.data.range[i];
        size_t len = range->end - range->begin;

        if (range->begin > at)
            munmap(copy + (at - base), range->begin - at);
        mremap(copy + (range->begin - base), len, len, MREMAP_MAYMOVE | MREMAP_FIXED, range->begin);
        at = range->end;
    }
    wsh_static_gaps_restore(&gaps);
}

void wsh_static_close(struct wsh_segment *seg)
{
    char *copy;

    if (!seg->base)
        return;
    mapped = (struct wsh_segment){.fd = -1};
    copy = wsh_static_load(seg->fd, seg->len);
    if (copy != MAP_FAILED)
        put_in_place(seg, copy);
    close(seg->fd);
    *seg = (struct wsh_segment){.fd = -1};
}

/*
 * fork: the copy is made before it, so that the child has a consistent image whatever the parent and its peers
 * store afterwards; the child only swaps it in.
 */
static void before_fork(void)
{
    fork_copy = mapped.base ? wsh_static_load(mapped.fd, mapped.len) : MAP_FAILED;
}

static void after_fork_parent(void)
{
    if (fork_copy != MAP_FAILED)
        munmap(fork_copy, mapped.len);
    fork_copy = MAP_FAILED;
}

static void after_fork_child(void)
{
    if (fork_copy != MAP_FAILED)
        put_in_place(&mapped, fork_copy);
    fork_copy = MAP_FAILED;
    mapped = (struct wsh_segment){.fd = -1};
}

/*
 * At load, before the program can register handlers of its own: prepare handlers run last to first and child
 * handlers first to last, so ours are the last before and the first after the fork, and a lock that
 * another handler takes and releases in static data is seen taken and is released in the child's own memory.
 */
__attribute__((constructor)) static void register_fork_handlers(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
