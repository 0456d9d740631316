/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the program's read-only memory between its variables by equal memory, and gives addresses between memory. */
#define _GNU_SOURCE
#include "runtime/memory/static_gaps.h"

#include "runtime/memory/static_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static void gap_note(struct wsh_static_gaps *gaps, uintptr_t begin, uintptr_t end, bool loaded)
{
    if (begin < end)
        gaps->gap[gaps->n++] = (struct wsh_static_gap){begin, end, loaded};
}

/* Between two ranges of variables: what the loader has mapped, and what it has not. */
static void gaps_between(struct wsh_static_gaps *gaps, const struct wsh_static_ranges *loaded,
                         uintptr_t begin, uintptr_t end)
{
    for (unsigned i = 0; i < loaded->n && begin < end; i++) {
        uintptr_t from = loaded->range[i].begin, to = loaded->range[i].end;

        if (to <= begin || from >= end)
            continue;
        gap_note(gaps, begin, from, false);
        from = from > begin ? from : begin;
        begin = to < end ? to : end;
        gap_note(gaps, from, begin, true);
    }
    gap_note(gaps, begin, end, false);
}

/* Where something else has come to lie between, it stays. */
static int gap_map(const struct wsh_static_gap *gap, int fd, size_t off)
{
    size_t len = gap->end - gap->begin;
    int fixed = gap->loaded ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    void *at;

    if (gap->loaded && !wsh_static_save(fd, gap->begin, gap->end, off))
        return -errno;
    at = mmap((void *)gap->begin, len, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, (off_t)off);
    if (at == MAP_FAILED)
        return -errno;
    if (at == (void *)gap->begin)
        return 0;
    munmap(at, len);
    return -EEXIST;
}

int wsh_static_gaps_fill(struct wsh_static_gaps *gaps, const struct wsh_static_image *image, int fd,
                         uintptr_t *where)
{
    const struct wsh_static_ranges *data = &image->data;
    struct wsh_static_gaps wanted = {0};

    for (unsigned i = 1; i < data->n; i++)
        gaps_between(&wanted, &image->loaded, data->range[i - 1].end, data->range[i].begin);
    while (gaps->n < wanted.n) {
        const struct wsh_static_gap *gap = &wanted.gap[gaps->n];
        int rc = gap_map(gap, fd, gap->begin - data->range[0].begin);

        *where = gap->begin;
        if (rc)
            return rc;
        gaps->gap[gaps->n++] = *gap;
    }
    for (unsigned i = 0; i < gaps->n; i++)
        mprotect((void *)gaps->gap[i].begin, gaps->gap[i].end - gaps->gap[i].begin, PROT_READ | PROT_WRITE);
    return 0;
}

void wsh_static_gaps_protect(const struct wsh_static_gaps *gaps)
{
    for (unsigned i = 0; i < gaps->n; i++)
        mprotect((void *)gaps->gap[i].begin, gaps->gap[i].end - gaps->gap[i].begin, PROT_READ);
}

static void gap_restore(const struct wsh_static_gap *gap)
{
    size_t len = gap->end - gap->begin;
    void *copy;

    if (!gap->loaded) {
        munmap((void *)gap->begin, len);
        return;
    }
    copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return; /* the shared memory stays, which nobody changes */
    memcpy(copy, (void *)gap->begin, len);
    mprotect(copy, len, PROT_READ);
    mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, gap->begin);
}

void wsh_static_gaps_restore(struct wsh_static_gaps *gaps)
{
    for (unsigned i = 0; i < gaps->n; i++)
        gap_restore(&gaps->gap[i]);
    gaps->n = 0;
}
