/* SPDX-License-Identifier: BSD-3-Clause */
/* The completions of a send queue that kernels write: which are there, and up to where all are. */
#include "transports/efa/gda/cq.h"

#include "base/invariant.h"
#include "base/atomic.h"

#include <errno.h>
#include <stdlib.h>

#define WSH_EFA_GDA_NIC_SHARE 128

int wsh_efa_window_open(struct wsh_efa_window *window, uint32_t entries)
{
    WSH_INVARIANT(entries >= 64 && !(entries & (entries - 1)));
    *window = (struct wsh_efa_window){.entries = entries, .bits = calloc(entries / 64, sizeof *window->bits)};
    return window->bits ? 0 : -ENOMEM;
}

void wsh_efa_window_close(struct wsh_efa_window *window)
{
    free(window->bits);
    window->bits = NULL;
}

/* A word of bits at a time. */
void wsh_efa_window_advance(struct wsh_efa_window *window)
{
    unsigned at, run;

    do {
        uint64_t *word = &window->bits[(window->mark & (window->entries - 1)) >> 6], open;

        at = window->mark & 63;
        open = ~(*word >> at);
        run = open ? (unsigned)__builtin_ctzll(open) : 64;
        if (!run)
            return;
        *word &= run == 64 ? 0 : ~((((uint64_t)1 << run) - 1) << at);
        window->mark += run;
        WSH_INVARIANT(window->mark <= window->count);
    } while (at + run == 64);
}

static bool is_in(const struct wsh_efa_window *window, uint64_t number)
{
    uint64_t at = number & (window->entries - 1);

    return window->bits[at >> 6] >> (at & 63) & 1;
}

int wsh_efa_window_grow(struct wsh_efa_window *window, uint64_t number)
{
    struct wsh_efa_window old = *window, wider;
    uint64_t ahead = wsh_efa_window_ahead(window, number);
    uint32_t entries = old.entries;

    if (ahead < entries || ahead >= WSH_EFA_GDA_WINDOW_MAX)
        return -EPROTO;
    while (entries <= ahead)
        entries *= 2;
    if (wsh_efa_window_open(&wider, entries))
        return -ENOMEM;
    wider.mark = old.mark;
    for (uint64_t i = old.mark; i < old.mark + old.entries; i++)
        if (is_in(&old, i))
            wsh_efa_window_add(&wider, i);
    WSH_INVARIANT(old.mark + wider.count == old.count);
    wider.count = old.count;
    *window = wider;
    wsh_efa_window_close(&old);
    return 0;
}

/* 0, -EPROTO or -ENOMEM. */
static int note(struct wsh_efa_window *window, uint64_t number)
{
    int rc;

    if (wsh_likely(wsh_efa_window_add(window, number)))
        return 0;
    rc = wsh_efa_window_grow(window, number);
    if (!rc)
        wsh_efa_window_add(window, number);
    return rc;
}

int wsh_efa_cq_drain(struct wsh_efa_cq *cq, struct wsh_efa_window *window, int most,
                     struct wsh_efa_completion *bad)
{
    struct wsh_efa_completion completion;
    int n = 0, rc = 0;

    while (n < most && wsh_efa_cq_take(cq, &completion)) {
        n++;
        if (wsh_unlikely(!completion.sent))
            continue;
        rc = completion.status ? -EIO : note(window, completion.id);
        if (wsh_unlikely(rc)) {
            *bad = completion;
            return rc;
        }
    }
    if (n)
        wsh_efa_window_advance(window);
    return n;
}

unsigned wsh_efa_gda_share(unsigned pes, unsigned rails, unsigned nics)
{
    unsigned sharers = nics ? (pes * rails + nics - 1) / nics : pes;

    return WSH_EFA_GDA_NIC_SHARE / (sharers ? sharers : 1) * rails;
}
