/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the running executable has its variables, and whether it needs this library. */
#ifndef WSH_STATIC_IMAGE_H
#define WSH_STATIC_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WSH_STATIC_RANGES 16

/* Whole pages, in ascending order; those that touch are one. */
struct wsh_static_ranges {
    unsigned n;
    struct wsh_static_range {
        uintptr_t begin, end;
    } range[WSH_STATIC_RANGES];
};

struct wsh_static_image {
    struct wsh_static_ranges data;   /* writable, without RELRO; code lies in none of its gaps */
    struct wsh_static_ranges loaded; /* all that the loader has mapped of the executable */
    bool is_cut;                     /* there are more ranges than these */
    bool has_library;                /* this library is linked into the executable */
    uint64_t fingerprint;            /* equal on PEs that run the same executable */
};

/* From the program headers of an executable that is loaded at `at`; pages of `page` bytes. */
void wsh_static_image_read(struct wsh_static_image *image, const ElfW(Phdr) * headers, unsigned n,
                           uintptr_t at, uintptr_t page);

/* Of the running executable. */
void wsh_static_image_find(struct wsh_static_image *image);

/*
 * Whether the executable, or a library that it needs, directly or through others, is linked with this library. What was
 * loaded later, by dlopen, does not count.
 */
bool wsh_static_is_needed(const struct wsh_static_image *image);

/* Whether one range holds [addr, addr + len). */
static inline bool wsh_static_ranges_hold(const struct wsh_static_ranges *ranges, const void *addr,
                                          size_t len)
{
    for (unsigned i = 0; i < ranges->n; i++) {
        const struct wsh_static_range *range = &ranges->range[i];

        if ((uintptr_t)addr - range->begin < range->end - range->begin)
            return len <= range->end - (uintptr_t)addr;
    }
    return false;
}

#endif
