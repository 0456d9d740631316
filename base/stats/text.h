/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows. */
#ifndef WSH_BASE_STATS_TEXT_H
#define WSH_BASE_STATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros at first. */
struct wsh_text {
    char *bytes; /* with a 0 behind them; NULL: empty */
    size_t len, room;
    bool failed; /* memory was short: the text is not complete */
};

void wsh_text_add(struct wsh_text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A string of JSON, with its quotes. */
void wsh_text_add_json(struct wsh_text *text, const char *value);
void wsh_text_free(struct wsh_text *text);

/* Writes all of it to a descriptor. 0, or a negative errno; -ENOMEM where the text is not complete. */
int wsh_text_write(const struct wsh_text *text, int fd);

#endif
