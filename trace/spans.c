/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes what the library's own threads and kernels did: names and lines once each in the head, then numbers of them. */
#include "trace/ring.h"

#include "base/span.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The number of a text in a table, which it enters; what finds no room has the last one's. */
static unsigned number_of(const char *text, char (*table)[WSH_TRACE_NAME], unsigned n)
{
    unsigned i = 0;

    while (i < n - 1 && table[i][0] && strncmp(table[i], text, WSH_TRACE_NAME - 1))
        i++;
    if (!table[i][0])
        snprintf(table[i], sizeof table[i], "%s", text);
    return i;
}

void wsh_trace_span(const char *line, const char *name, uint64_t start, uint64_t end, int pe, uint64_t bytes,
                    bool overlaps)
{
    struct wsh_trace_head *head;
    unsigned of_line, of_name;

    pthread_mutex_lock(&lock);
    head = wsh_trace_ring_head();
    if (head) {
        of_line = number_of(line, head->line, WSH_TRACE_LINES);
        of_name = number_of(name, head->name, WSH_TRACE_NAMES);
        wsh_trace_ring_span(of_line, of_name, start, end, pe, bytes,
                            overlaps ? WSH_TRACE_OVERLAPS : WSH_TRACE_SPAN);
    }
    pthread_mutex_unlock(&lock);
}
