/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how bytes reach a file, pipe or terminal that may be slow, without oshrun ever blocking on it. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/sink.h"

#include "bootstrap/oshrun/say.h"
#include "base/err.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FULL ((size_t)256 * 1024)

void wsh_sink_put(struct wsh_sink *sink, const char *bytes, size_t len)
{
    if (sink->broken || !len)
        return;
    if (sink->used + len > sink->cap) {
        size_t cap = 2 * (sink->used + len);
        char *more = realloc(sink->bytes, cap);

        if (!more)
            return;
        sink->bytes = more;
        sink->cap = cap;
    }
    memcpy(sink->bytes + sink->used, bytes, len);
    sink->used += len;
}

bool wsh_sink_full(const struct wsh_sink *sink)
{
    return sink->used > FULL;
}

void wsh_sink_poll(struct wsh_sink *sink, struct wsh_pollset *set)
{
    sink->index = sink->used ? wsh_pollset_add(set, sink->fd, POLLOUT) : -1;
}

/*
 * The descriptor is shared with others (a terminal, a shell's pipe), so O_NONBLOCK is not ours to set. What poll
 * calls writable takes PIPE_BUF bytes without blocking; a file takes anything.
 */
static size_t safe_size(const struct wsh_sink *sink)
{
    struct stat st;

    return !fstat(sink->fd, &st) && S_ISREG(st.st_mode) ? FULL : PIPE_BUF;
}

void wsh_sink_work(struct wsh_sink *sink, const struct wsh_pollset *set)
{
    size_t most = safe_size(sink);
    ssize_t done;

    if (!wsh_pollset_ready(set, sink->index))
        return;
    done = write(sink->fd, sink->bytes, sink->used < most ? sink->used : most);
    if (done < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (done < 0) {
        if (errno != EPIPE)
            wsh_say("cannot write output: %s; the PEs find their output closed", wsh_strerror(errno));
        sink->broken = true;
        sink->used = 0;
        return;
    }
    sink->used -= (size_t)done;
    memmove(sink->bytes, sink->bytes + done, sink->used);
}

void wsh_sink_fini(struct wsh_sink *sink)
{
    free(sink->bytes);
    sink->bytes = NULL;
    sink->used = sink->cap = 0;
}
