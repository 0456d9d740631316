/* SPDX-License-Identifier: BSD-3-Clause */
/* What both sides of test/device/inbox_on_cpu share. */
#ifndef WSH_TEST_DEVICE_INBOX_HOST_H
#define WSH_TEST_DEVICE_INBOX_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { INBOX_SLOTS = 5, INBOX_WORDS = 40 };

/* Messages by what they do: put and count, ask whose turn it is, say that they are the last, put, get. */
enum inbox_what { INBOX_SIGNAL, INBOX_TURN, INBOX_LAST, INBOX_PUT, INBOX_GET, INBOX_KINDS };

static inline enum inbox_what inbox_what(uint64_t pos)
{
    return (enum inbox_what)(pos % 3 ? INBOX_SIGNAL : pos / 3 % INBOX_KINDS);
}

/* The last before `pos` that writes the slot of `pos`. */
static inline uint64_t inbox_writer_before(uint64_t pos)
{
    do
        pos -= INBOX_SLOTS;
    while (inbox_what(pos) != INBOX_SIGNAL && inbox_what(pos) != INBOX_PUT);
    return pos;
}

/* What they write: a slot each in turn, the number of those that count, whose turn it is, and which was the last. */
struct inbox_memory {
    uint64_t slot[INBOX_SLOTS][INBOX_WORDS];
    uint64_t count, turn, last;
};

struct inbox_counts {
    uint64_t pulled, applied, taken_back, wrong; /* wrong: words that gets brought of another message */
};

struct inbox_host;

struct inbox_host *inbox_host_open(struct inbox_memory *memory);
void inbox_host_close(struct inbox_host *host);
void *inbox_host_shared(struct inbox_host *host); /* struct wsh_inbox */

/* Has messages `from` … `to` - 1 executed. */
void inbox_host_run(struct inbox_host *host, uint64_t from, uint64_t to);
struct inbox_counts inbox_host_counts(const struct inbox_host *host);

#ifdef __cplusplus
}
#endif

#endif
