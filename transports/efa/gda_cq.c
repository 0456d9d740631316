/* SPDX-License-Identifier: BSD-3-Clause */
/* The completions of a send queue that kernels write: which are there, and up to where all are. */
#include "transports/efa/gda_cq.h"

#include "base/atomic.h"

#include <errno.h>
#include <stdlib.h>

#define EFA_GDA_NIC_SHARE 128

int wsh_efa_window_open(struct wsh_efa_window *window, uint32_t entries)
{
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
    } while (at + run == 64);
}

int wsh_efa_cq_drain(struct wsh_efa_cq *cq, struct wsh_efa_window *window, int most,
                     struct wsh_efa_completion *bad)
{
    struct wsh_efa_completion completion;
    int n = 0;

    while (n < most && wsh_efa_cq_take(cq, &completion)) {
        n++;
        if (wsh_unlikely(!completion.sent))
            continue;
        if (wsh_likely(!completion.status && wsh_efa_window_add(window, completion.id)))
            continue;
        *bad = completion;
        return completion.status ? -EIO : -EPROTO;
    }
    if (n)
        wsh_efa_window_advance(window);
    return n;
}

unsigned wsh_efa_gda_share(unsigned pes, unsigned rails, unsigned nics)
{
    unsigned sharers = nics ? (pes * rails + nics - 1) / nics : pes;

    return EFA_GDA_NIC_SHARE / (sharers ? sharers : 1) * rails;
}
