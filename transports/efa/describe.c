/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how to say what a context has under way, for the hang reporter. */
#include "transports/efa/efa.h"

#include <stdio.h>
#include <string.h>

enum { EFA_PUTS, EFA_GETS, EFA_AMOS, EFA_SIGNALS, EFA_WHATS };

/* Messages count by what they carry. Read without the lock: a reporter must not wait for the one who hangs. */
static void count(const struct wsh_efa_tp *tp, const struct wsh_efa_ctx *ctx, int pe,
                  unsigned what[EFA_WHATS])
{
    const struct wsh_efa_chan *chan = &tp->peers[pe].chan;

    what[EFA_PUTS] = wsh_efa_count_read(&ctx->peer[pe].out[EFA_WRITE]);
    what[EFA_GETS] = wsh_efa_count_read(&ctx->peer[pe].out[EFA_READ]);
    for (uint32_t i = 0; chan->ring && i < chan->window; i++) {
        const struct wsh_efa_sent *sent = &chan->ring[i];

        if (!sent->used || sent->owner != ctx)
            continue;
        what[EFA_PUTS] += sent->type == EFA_WIRE_PUT;
        what[EFA_AMOS] += sent->type == EFA_WIRE_AMO || sent->type == EFA_WIRE_FETCH;
        what[EFA_SIGNALS] += sent->type == EFA_WIRE_SIGNAL;
    }
}

static size_t append(char *text, size_t size, size_t used, const char *lead, unsigned n, const char *one,
                     const char *many)
{
    int len = snprintf(text + used, size - used, "%s%u %s", lead, n, n == 1 ? one : many);

    return len < 0 || (size_t)len >= size - used ? size - 1 : used + (size_t)len;
}

void wsh_efa_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    static const char *const words[EFA_WHATS][2] = {
        {"put", "puts"}, {"get", "gets"}, {"atomic", "atomics"}, {"signal", "signals"}};
    const struct wsh_efa_ctx *ctx = (const struct wsh_efa_ctx *)tctx;
    const struct wsh_efa_tp *tp = wsh_efa_tp_of(tctx->tp);
    size_t used = strnlen(text, size);
    const char *separator = "";

    for (int pe = 0; pe < tp->n_pes && used + 1 < size; pe++) {
        unsigned what[EFA_WHATS] = {0};
        char lead[32];

        snprintf(lead, sizeof lead, "%sPE %d: ", separator, pe);
        count(tp, ctx, pe, what);
        for (int i = 0; i < EFA_WHATS && used + 1 < size; i++) {
            if (!what[i])
                continue;
            used = append(text, size, used, lead, what[i], words[i][0], words[i][1]);
            snprintf(lead, sizeof lead, ", ");
            separator = "; ";
        }
    }
}
