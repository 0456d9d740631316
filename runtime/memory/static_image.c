/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the executable's program headers and what the loader has loaded for it. */
#define _GNU_SOURCE
#include "runtime/memory/static_image.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THIS_LIBRARY "libwarpshmem.so"

static uint64_t fingerprint_of(const void *bytes, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* Ranges come in ascending order, as ELF has the headers. */
static bool range_add(struct wsh_static_ranges *ranges, uintptr_t begin, uintptr_t end)
{
    struct wsh_static_range *last = &ranges->range[ranges->n - !!ranges->n];

    if (begin >= end)
        return true;
    if (ranges->n && begin <= last->end) {
        last->end = end > last->end ? end : last->end;
        return true;
    }
    if (ranges->n == WSH_STATIC_RANGES)
        return false;
    ranges->range[ranges->n++] = (struct wsh_static_range){begin, end};
    return true;
}

/*
 * What lies before the code is dropped where there is more behind it: tools that edit programs put tables of their own
 * there, and one range with code inside could not be shared.
 */
static void drop_before(struct wsh_static_ranges *data, uintptr_t code)
{
    if (data->n && data->range[data->n - 1].begin < code)
        data->n = 0;
}

/* What the loader makes read-only once it has relocated it, in whole pages as the loader counts them. */
static struct wsh_static_range relro_of(const ElfW(Phdr) * headers, unsigned n, uintptr_t at, uintptr_t page)
{
    for (unsigned i = 0; i < n; i++) {
        uintptr_t begin = at + headers[i].p_vaddr, end = begin + headers[i].p_memsz;

        if (headers[i].p_type == PT_GNU_RELRO)
            return (struct wsh_static_range){begin & ~(page - 1), end & ~(page - 1)};
    }
    return (struct wsh_static_range){UINTPTR_MAX, UINTPTR_MAX};
}

void wsh_static_image_read(struct wsh_static_image *image, const ElfW(Phdr) * headers, unsigned n,
                           uintptr_t at, uintptr_t page)
{
    const struct wsh_static_range relro = relro_of(headers, n, at, page);
    uintptr_t here = (uintptr_t)&wsh_static_image_read, code = 0;
    bool fits = true;

    *image = (struct wsh_static_image){.fingerprint = fingerprint_of(headers, n * sizeof *headers)};
    for (unsigned i = 0; i < n; i++) {
        uintptr_t from = at + headers[i].p_vaddr, to = from + headers[i].p_memsz;
        uintptr_t begin = from & ~(page - 1), end = (to + page - 1) & ~(page - 1);

        if (headers[i].p_type != PT_LOAD)
            continue;
        image->has_library |= here >= from && here < to;
        fits &= range_add(&image->loaded, begin, end);
        if (headers[i].p_flags & PF_W) {
            drop_before(&image->data, code);
            fits &= range_add(&image->data, begin, end < relro.begin ? end : relro.begin);
            fits &= range_add(&image->data, begin > relro.end ? begin : relro.end, end);
        } else if (headers[i].p_flags & PF_X) {
            code = begin;
        }
    }
    image->is_cut = !fits;
}

/* dl_iterate_phdr names the executable first; 1 ends the walk. */
static int read_first(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    wsh_static_image_read(arg, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr,
                          (uintptr_t)sysconf(_SC_PAGESIZE));
    return 1;
}

void wsh_static_image_find(struct wsh_static_image *image)
{
    *image = (struct wsh_static_image){0};
    dl_iterate_phdr(read_first, image);
}

/* NULL: it has none. The kernel's vDSO has an offset where the loader writes an address for all others. */
static const char *strings_of(const struct link_map *map)
{
    for (const ElfW(Dyn) *dyn = map->l_ld; dyn && dyn->d_tag != DT_NULL; dyn++)
        if (dyn->d_tag == DT_STRTAB)
            return (const char *)(dyn->d_un.d_ptr < map->l_addr ? map->l_addr + dyn->d_un.d_ptr
                                                                : dyn->d_un.d_ptr);
    return NULL;
}

static bool is_called(const struct link_map *map, const char *name)
{
    const char *slash = strrchr(map->l_name, '/'), *strings = strings_of(map);

    if (!strcmp(slash && !strchr(name, '/') ? slash + 1 : map->l_name, name))
        return true;
    for (const ElfW(Dyn) *dyn = map->l_ld; strings && dyn->d_tag != DT_NULL; dyn++)
        if (dyn->d_tag == DT_SONAME && !strcmp(strings + dyn->d_un.d_val, name))
            return true;
    return false;
}

enum { UNKNOWN, NEEDED, SEEN };

/* Marks the libraries that `map` needs. True: this library is one of them. */
static bool mark_needed(const struct link_map *map, const struct link_map *exe, char *marks)
{
    const char *strings = strings_of(map);

    for (const ElfW(Dyn) *dyn = map->l_ld; strings && dyn->d_tag != DT_NULL; dyn++) {
        const char *name = strings + dyn->d_un.d_val;
        size_t i = 1;

        if (dyn->d_tag != DT_NEEDED)
            continue;
        if (!strncmp(name, THIS_LIBRARY, sizeof THIS_LIBRARY - 1))
            return true;
        for (const struct link_map *other = exe->l_next; other; other = other->l_next, i++)
            if (marks[i] == UNKNOWN && is_called(other, name))
                marks[i] = NEEDED;
    }
    return false;
}

/* Breadth first, until a pass over all libraries finds none that is new. */
static bool reaches_library(const struct link_map *exe, char *marks)
{
    bool more = true;

    marks[0] = NEEDED;
    while (more) {
        size_t i = 0;

        more = false;
        for (const struct link_map *map = exe; map; map = map->l_next, i++) {
            if (marks[i] != NEEDED)
                continue;
            marks[i] = SEEN;
            more = true;
            if (mark_needed(map, exe, marks))
                return true;
        }
    }
    return false;
}

bool wsh_static_is_needed(const struct wsh_static_image *image)
{
    void *self = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *exe = NULL;
    bool found = image->has_library;
    size_t n = 0;
    char *marks;

    if (!found && self && dlinfo(self, RTLD_DI_LINKMAP, &exe) == 0) {
        for (const struct link_map *map = exe; map; map = map->l_next)
            n++;
        marks = calloc(n, 1);
        found = marks && reaches_library(exe, marks);
        free(marks);
    }
    if (self)
        dlclose(self);
    return found;
}
