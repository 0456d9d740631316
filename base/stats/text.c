/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows, twice as much each time. */
#include "base/stats/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool text_grow(struct wsh_text *text, size_t more)
{
    size_t room = text->room ? text->room : 1024;
    char *bytes;

    if (text->len + more < text->room)
        return true;
    while (room <= text->len + more)
        room *= 2;
    bytes = realloc(text->bytes, room);
    text->failed |= !bytes;
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->room = room;
    return true;
}

void wsh_text_add(struct wsh_text *text, const char *fmt, ...)
{
    va_list args, again;
    int len;

    va_start(args, fmt);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, args);
    if (len >= 0 && text_grow(text, (size_t)len)) {
        vsnprintf(text->bytes + text->len, text->room - text->len, fmt, again);
        text->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}

void wsh_text_add_json(struct wsh_text *text, const char *value)
{
    wsh_text_add(text, "\"");
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;

        if (c == '"' || c == '\\')
            wsh_text_add(text, "\\%c", c);
        else if (c < ' ' || c >= 0x7f) /* names of other bytes are shown as they can be */
            wsh_text_add(text, "?");
        else
            wsh_text_add(text, "%c", c);
    }
    wsh_text_add(text, "\"");
}

void wsh_text_free(struct wsh_text *text)
{
    free(text->bytes);
    *text = (struct wsh_text){0};
}

int wsh_text_write(const struct wsh_text *text, int fd)
{
    if (text->failed)
        return -ENOMEM;
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->bytes + at, text->len - at);

        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}
