/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what both sides of test/device/inbox_on_cpu share. */
#ifndef WSH_TEST_DEVICE_INBOX_HOST_H
#define WSH_TEST_DEVICE_INBOX_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { INBOX_SLOTS = 5, INBOX_WORDS = 40 };

/* What messages write: a slot each in turn, the number of those that count, and whose turn it is of those that ask. */
struct inbox_memory {
    uint64_t slot[INBOX_SLOTS][INBOX_WORDS];
    uint64_t count, turn;
};

struct inbox_counts {
    uint64_t pulled, applied, taken_back;
};

struct inbox_host;

struct inbox_host *inbox_host_open(struct inbox_memory *memory);
void inbox_host_close(struct inbox_host *host);
void *inbox_host_shared(struct inbox_host *host); /* struct wsh_inbox */

/* Has messages `from` … `to` - 1 carried out. */
void inbox_host_run(struct inbox_host *host, uint64_t from, uint64_t to);
struct inbox_counts inbox_host_counts(const struct inbox_host *host);

#ifdef __cplusplus
}
#endif

#endif
