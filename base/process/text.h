/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts put together without memory or locale, as signal handlers may. */
#ifndef WSH_TEXT_H
#define WSH_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct wsh_text {
    char *to;
    size_t size, used; /* what does not fit is left out; a NUL always follows */
};

static inline void wsh_text_add_n(struct wsh_text *text, const char *more, size_t len)
{
    if (len > text->size - text->used - 1)
        len = text->size - text->used - 1;
    memcpy(text->to + text->used, more, len);
    text->used += len;
    text->to[text->used] = '\0';
}

static inline void wsh_text_add(struct wsh_text *text, const char *more)
{
    wsh_text_add_n(text, more, strlen(more));
}

static inline void wsh_text_set(char *to, size_t size, const char *from, size_t len)
{
    struct wsh_text text = {to, size, 0};

    wsh_text_add_n(&text, from, len);
}

static inline void wsh_text_add_base(struct wsh_text *text, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;

    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    wsh_text_add_n(text, digits + at, sizeof digits - at);
}

static inline void wsh_text_add_hex(struct wsh_text *text, uint64_t number)
{
    wsh_text_add(text, "0x");
    wsh_text_add_base(text, number, 16);
}

#endif
