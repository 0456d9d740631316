/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the pages with contents. Pages of a file may exist without having been touched, so they are read; of anonymous
 * memory only pages that are present or swapped out are. If /proc is absent, or tells less, all pages are read, with
 * the same result.
 */
#define _GNU_SOURCE
#include "runtime/memory/static_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AREAS 64
#define ENTRIES 2048                          /* of the page map, read at once */
#define PAGE_IS_SOMEWHERE (UINT64_C(3) << 62) /* present, or swapped out */

/* Part of the address space, as /proc/self/maps describes it. */
struct area {
    uintptr_t begin, end;
    bool readable, anonymous;
};

struct save {
    int fd;
    size_t page;
    uintptr_t base; /* of the file's `off` */
    size_t off;
    int pagemap; /* or -1 */
    unsigned n_areas;
    struct area area[AREAS];
    uintptr_t entries_from; /* address of the first page in `entry` */
    size_t n_entries;       /* pages in `entry` */
    uint64_t entry[ENTRIES];
};

/*
 * Copies go by system call: a sanitizer's memcpy would refuse the red zones between variables.
 */
static bool copy_bytes(long call, int fd, char *base, size_t len, size_t off)
{
    for (size_t done = 0; done < len;) {
        long n = syscall(call, fd, base + done, len - done, off + done);

        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The red zones are read as any other bytes. */
__attribute__((no_sanitize("address", "thread"))) static bool is_zero(uintptr_t at, size_t page)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const word *words = (const word *)at;
    uint64_t any = 0;

    for (size_t i = 0; i < page / sizeof *words; i += 8) {
        for (size_t j = 0; j < 8; j++)
            any |= words[i + j];
        if (any)
            return false;
    }
    return true;
}

/* Areas that are not noted are taken for files that can be read. */
static void note_areas(struct save *save, uintptr_t end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[256];

    while (maps && save->n_areas < AREAS && fgets(line, sizeof line, maps)) {
        struct area *area = &save->area[save->n_areas];
        uint64_t inode;
        char flags[5];

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %" SCNu64, &area->begin, &area->end, flags,
                   &inode) != 4 ||
            area->end <= save->base || area->begin >= end)
            continue;
        area->readable = flags[0] == 'r';
        area->anonymous = !inode && flags[3] == 'p';
        save->n_areas++;
    }
    if (maps)
        fclose(maps);
}

static struct area area_of(const struct save *save, uintptr_t at)
{
    for (unsigned i = 0; i < save->n_areas; i++)
        if (at >= save->area[i].begin && at < save->area[i].end)
            return save->area[i];
    return (struct area){.readable = true};
}

static bool is_untouched(struct save *save, uintptr_t at)
{
    size_t i = (at - save->entries_from) / save->page;
    ssize_t n;

    if (save->pagemap < 0)
        return false;
    if (at < save->entries_from || i >= save->n_entries) {
        n = pread(save->pagemap, save->entry, sizeof save->entry,
                  (off_t)(at / save->page * sizeof save->entry[0]));
        save->entries_from = at;
        save->n_entries = n > 0 ? (size_t)n / sizeof save->entry[0] : 0;
        i = 0;
    }
    return i < save->n_entries && !(save->entry[i] & PAGE_IS_SOMEWHERE);
}

/* A page that cannot be read is one with contents: the copy of it says what is wrong. */
static bool has_contents(struct save *save, const struct area *area, uintptr_t at)
{
    if (area->anonymous && is_untouched(save, at))
        return false;
    return !area->readable || !is_zero(at, save->page);
}

/* Pages that follow one another go by one call. */
static bool save_pages(struct save *save, uintptr_t end)
{
    uintptr_t from = save->base;
    struct area area = {0};

    for (uintptr_t at = save->base; at < end; at += save->page) {
        if (at < area.begin || at >= area.end)
            area = area_of(save, at);
        if (has_contents(save, &area, at))
            continue;
        if (at > from &&
            !copy_bytes(SYS_pwrite64, save->fd, (char *)from, at - from, save->off + (from - save->base)))
            return false;
        from = at + save->page;
    }
    return end <= from ||
           copy_bytes(SYS_pwrite64, save->fd, (char *)from, end - from, save->off + (from - save->base));
}

bool wsh_static_save(int fd, uintptr_t begin, uintptr_t end, size_t off)
{
    struct save save;
    bool done;
    int error;

    save.fd = fd;
    save.page = (size_t)sysconf(_SC_PAGESIZE);
    save.base = begin;
    save.off = off;
    save.n_areas = 0;
    save.n_entries = save.entries_from = 0;
    save.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    note_areas(&save, end);
    done = save_pages(&save, end);
    error = errno;
    if (save.pagemap >= 0)
        close(save.pagemap);
    errno = error;
    return done;
}

char *wsh_static_load(int fd, size_t len)
{
    char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t at = 0;

    while (copy != MAP_FAILED && at < len) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);

        if (data < 0 && errno == ENXIO)
            break;
        at = data < 0 ? at : (size_t)data;
        hole = hole < 0 || (size_t)hole > len ? (off_t)len : hole;
        if (!copy_bytes(SYS_pread64, fd, copy + at, (size_t)hole - at, at)) {
            munmap(copy, len);
            return MAP_FAILED;
        }
        at = (size_t)hole;
    }
    return copy;
}
