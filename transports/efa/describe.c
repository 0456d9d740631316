/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the pending operations of a context, for the hang report. */
#include "transports/efa/set/set.h"
#include "transports/efa/ops/slots.h"

#include <stdio.h>
#include <string.h>

/* Read without the lock: a reporter must not wait for the one who hangs. */
static void count(const struct wsh_efa_flow *flow, unsigned what[WSH_EFA_WHATS])
{
    for (int i = 0; i < WSH_EFA_WHATS; i++)
        what[i] = wsh_efa_count_read(&flow->what[i]);
    what[WSH_EFA_PUTS] += wsh_efa_count_read(&flow->direct[WSH_EFA_REQ_WRITE]) +
                          wsh_efa_count_read(&flow->srd.puts_begun) -
                          wsh_efa_count_read(&flow->srd.puts_ended);
    what[WSH_EFA_GETS] += wsh_efa_count_read(&flow->direct[WSH_EFA_REQ_READ]);
}

static size_t append(char *text, size_t size, size_t used, const char *lead, unsigned n, const char *one,
                     const char *many)
{
    int len = snprintf(text + used, size - used, "%s%u %s", lead, n, n == 1 ? one : many);

    return len < 0 || (size_t)len >= size - used ? size - 1 : used + (size_t)len;
}

void wsh_efa_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    static const char *const words[WSH_EFA_WHATS][2] = {
        {"put", "puts"}, {"get", "gets"}, {"atomic", "atomics"}, {"signal", "signals"}};
    const struct wsh_efa_ctx *ctx = (const struct wsh_efa_ctx *)tctx;
    const struct wsh_efa_set *set = ctx->set;
    size_t used = strnlen(text, size);
    const char *separator = "";

    for (int pe = 0; pe < set->n_pes && used + 1 < size; pe++) {
        /* Partner: the release in wsh_efa_flow_new. */
        const struct wsh_efa_flow *flow = __atomic_load_n(&ctx->flow[pe], __ATOMIC_ACQUIRE);
        unsigned what[WSH_EFA_WHATS];
        char lead[32];

        if (!flow)
            continue;
        snprintf(lead, sizeof lead, "%sPE %d: ", separator, pe);
        count(flow, what);
        if (__atomic_load_n(&flow->uncounted, __ATOMIC_RELAXED))
            what[WSH_EFA_PUTS]++; /* whose data are there, but not counted */
        for (int i = 0; i < WSH_EFA_WHATS && used + 1 < size; i++) {
            if (!what[i])
                continue;
            used = append(text, size, used, lead, what[i], words[i][0], words[i][1]);
            snprintf(lead, sizeof lead, ", ");
            separator = "; ";
        }
    }
}
