/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE keeps of each other one, made at first use. */
#include "sim/sim.h"

#include "transports/efa/wire/wire.h"

#include <stdlib.h>

static void *state_new(struct sim_pe *pe, int peer, int key, size_t size)
{
    void *state = calloc(1, size);

    if (!state)
        abort();
    pe->bytes += size;
    sim_map_add(&pe->map, (uint64_t)peer * SIM_KEYS + (uint64_t)key, state);
    return state;
}

void *sim_state_find(const struct sim_pe *pe, int peer, int key)
{
    return sim_map_find(&pe->map, (uint64_t)peer * SIM_KEYS + (uint64_t)key);
}

struct sim_link *sim_link_of(struct sim_pe *pe, const struct sim_pe *peer)
{
    struct sim_link *link = sim_state_find(pe, peer->number, SIM_KEY_LINK);

    if (link)
        return link;
    link = state_new(pe, peer->number, SIM_KEY_LINK, sizeof *link);
    link->srd.msgs_max = link->srd.imms_max = link->srd.fetches_max = sim.window;
    return link;
}

struct sim_out *sim_out_of(struct sim_ctx *ctx, struct sim_pe *peer)
{
    struct sim_out *out = sim_state_find(ctx->pe, peer->number, SIM_KEY_OUT + ctx->number);

    if (out)
        return out;
    out = state_new(ctx->pe, peer->number, SIM_KEY_OUT + ctx->number,
                    sizeof *out + sim.window * sizeof out->named[0]);
    out->ctx = ctx;
    out->peer = peer;
    wsh_srd_flow_init(&out->srd, &sim_link_of(ctx->pe, peer)->srd, sim.window, WSH_SRD_SLOTS,
                      wsh_srd_imm_fits(ctx->number, (uint32_t)sim.n_pes, false), out->named);
    return out;
}

/* The mutant tells nothing before more messages than the window holds have come. */
struct sim_in *sim_in_of(struct sim_pe *pe, struct sim_pe *source, uint16_t ctx)
{
    struct sim_in *in = sim_state_find(pe, source->number, SIM_KEY_IN + ctx);

    if (in)
        return in;
    in = state_new(pe, source->number, SIM_KEY_IN + ctx, sizeof *in + sim.window * sizeof in->held[0]);
    in->source = source;
    in->ctx = ctx;
    wsh_srd_rx_flow_init(&in->srd, sim.window, in->held,
                         (uint16_t)(sim.set.mutant == SIM_WINDOW ? sim.window + 1 : (sim.window + 1) / 2));
    return in;
}
