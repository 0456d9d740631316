/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines that mask PEs and take them back. */
#include "ep/ep.h"

#include <stdlib.h>
#include <string.h>

size_t ep_masks_arena(const struct ep_shape *shape)
{
    return ep_align(((size_t)shape->n + 1) * sizeof(struct ep_told), EP_ALIGN);
}

/* Of what the host copies from kernels; a multiple of 16. */
static size_t copies_bytes(const struct ep_shape *shape)
{
    return ep_align(ep_live_bytes(shape), 16) + ep_align(sizeof(struct ep_state), 16);
}

size_t ep_masks_bytes(const struct ep_shape *shape)
{
    size_t each = sizeof(uint64_t) + 2 * sizeof(int32_t);
    size_t choices = (size_t)shape->tokens * shape->topk;

    return ep_align(choices * sizeof(int64_t) + sizeof(struct ep_masks) + (size_t)shape->n * each, 16) +
           copies_bytes(shape);
}

/* Where PEs tell each other: of kernels in memory of the host, too. Collective. */
static struct ep_told *take_told(const struct shmemx_ep *ep)
{
    size_t bytes = ep_masks_arena(&ep->shape);
    struct ep_told *told = ep->config.device ? shmemx_team_malloc(ep->team, bytes)
                                             : (struct ep_told *)(ep->arena + ep->shape.bytes - bytes);

    if (told)
        memset(told, 0, bytes);
    return told;
}

int ep_masks_open(struct shmemx_ep *ep)
{
    const struct ep_shape *shape = &ep->shape;
    size_t n = (size_t)shape->n;
    struct ep_told *told = ep->config.masks ? take_told(ep) : NULL;
    char *at;

    if (!ep->config.masks)
        return 0;
    at = calloc(1, ep_masks_bytes(shape));
    ep->masks = (struct ep_masks *)at;
    if (at)
        ep->masks->told = told;
    if (!at || !told)
        return ep_refuse("shmemx_ep_create", "no memory for %zu bytes of masks", ep_masks_bytes(shape));
    at += sizeof(struct ep_masks);
    ep->masks->topk = at;
    ep->masks->blanked = (uint64_t *)(at + (size_t)shape->tokens * shape->topk * sizeof(int64_t));
    ep->masks->masked = (int32_t *)(ep->masks->blanked + n);
    ep->masks->dropped = ep->masks->masked + n;
    ep->masks->limit = ep->config.limit_ms ? ep->config.limit_ms / 1000. : 100.;
    ep->masks->live = (struct ep_live *)((char *)ep->masks + ep_masks_bytes(shape) - copies_bytes(shape));
    ep->masks->state = (struct ep_state *)((char *)ep->masks->live + ep_align(ep_live_bytes(shape), 16));
    ep->masks->live->limit = (uint64_t)(ep->masks->limit * 1e9);
    ep->masks->missed = ep_live_missed(shape, ep->masks->live);
    ep->masks->sent = ep_live_sent(shape, ep->masks->live);
    return 0;
}

void ep_masks_close(struct shmemx_ep *ep)
{
    if (ep->masks && ep->config.device && ep->masks->told)
        shmemx_team_free(ep->team, ep->masks->told);
    free(ep->masks);
    ep->masks = NULL;
}

void ep_masks_set(struct ep_masks *masks, int pe, int masked)
{
    masks->any += masked - masks->masked[pe];
    masks->masked[pe] = masked;
}

void ep_masks_say(const struct ep_masks *masks, const int *pes, int pe, int phase, bool failed,
                  long long call)
{
    const char *kind = phase < EP_PHASE_RESULT ? "dispatch" : "combine";
    const char *routine = phase < EP_PHASE_RESULT ? "shmemx_ep_dispatch" : "shmemx_ep_combine";

    if (failed)
        ep_refuse(routine, "PE %d has failed; from %s %lld on calls go on without it", pes[pe], kind, call);
    else
        ep_refuse(
            routine,
            "PE %d is masked, since %s %lld has waited for %g s until %s; calls go on without it, until "
            "shmemx_ep_mask_update(ep, %d, 0)",
            pes[pe], kind, call, masks->limit, ep_phase_text(phase), pe);
}

void ep_masks_from_live(struct shmemx_ep *ep)
{
    int n = ep->shape.n;
    const int32_t *rows = ep->masks->live->rows;

    for (int pe = 0; pe < n; pe++) {
        if (!rows[EP_LIVE_MASKED * n + pe] || ep->masks->masked[pe])
            continue;
        ep_masks_set(ep->masks, pe, 1);
        ep_masks_say(ep->masks, ep->pes, pe, rows[EP_LIVE_WHY * n + pe] - 1, shmemx_pe_failed(ep->pes[pe]),
                     rows[EP_LIVE_CALL * n + pe]);
    }
}

void ep_masks_to_live(const struct shmemx_ep *ep)
{
    struct ep_live *live = ep->masks->live;
    size_t row = (size_t)ep->shape.n * sizeof(int32_t);

    memcpy(live->rows + EP_LIVE_MASKED * ep->shape.n, ep->masks->masked, row);
    memcpy(live->rows + EP_LIVE_KNOWN * ep->shape.n, ep->masks->masked, row);
    live->any = live->known_any = (uint32_t)ep->masks->any;
}

/* What kernels have, to the host, and back. */
static int load(struct shmemx_ep *ep, enum ep_masks_how how)
{
    if (!ep->config.device)
        return 0;
    if (ep_device_calls->masks(ep, how))
        return 1;
    ep_masks_from_live(ep);
    return 0;
}

static int store(struct shmemx_ep *ep)
{
    if (!ep->config.device)
        return 0;
    ep_masks_to_live(ep);
    return ep_device_calls->masks(ep, EP_MASKS_WRITE);
}

static struct ep_state *state_of(struct shmemx_ep *ep)
{
    return ep->config.device ? ep->masks->state : ep->state;
}

/* To number `pe`: where calls with this PE go on. What this PE has put before is there then. */
static void tell(struct shmemx_ep *ep, int pe)
{
    struct ep_told mine = ep->masks->sent[pe];

    mine.there = 1;
    mine.dispatches = state_of(ep)->dispatches;
    mine.combines = state_of(ep)->combines;
    if (!ep->config.device)
        shmem_ctx_quiet(ep->ctx);
    shmem_putmem(ep->masks->told + ep->shape.me, &mine, sizeof mine, ep->pes[pe]);
    shmem_uint64_p(&ep->masks->told[ep->shape.n].there, 1, ep->pes[pe]);
    shmem_quiet();
}

/* The counter of a far peer by parity, from `first` on: how many of the puts that it has `made` were `taken`. */
static void count_from(struct shmemx_ep *ep, int first, int far, const uint64_t taken[2],
                       const uint64_t made[2])
{
    for (int parity = 0; parity < ep->shape.slots; parity++)
        ep->masks->missed[first + far * ep->shape.slots + parity] = taken[parity] - made[parity];
}

static void take_one(struct shmemx_ep *ep, int pe)
{
    const struct ep_told *told = &ep->masks->told[pe];
    struct ep_state *state = state_of(ep);
    int far;

    if (told->dispatches > state->dispatches)
        state->dispatches = state->received = told->dispatches;
    if (told->combines > state->combines)
        state->combines = state->combined = told->combines;
    if (ep_pe_is_near(&ep->shape, pe))
        return;
    far = ep_far_of(&ep->shape, pe);
    count_from(ep, ep->shape.c_far, far, state->come, told->parts);
    count_from(ep, ep->shape.c_result, far, state->back, told->results);
    ep->masks->missed[ep->shape.c_weights + far] = state->weighed - told->weights;
}

void ep_masks_look(struct shmemx_ep *ep)
{
    struct ep_told *told = ep->masks->told;

    const struct ep_state *state = state_of(ep);

    if (!__atomic_load_n(&told[ep->shape.n].there, __ATOMIC_RELAXED) || load(ep, EP_MASKS_READ))
        return;
    if (state->dispatches != state->received || state->combines != state->combined)
        return;
    told[ep->shape.n].there = 0;
    for (int pe = 0; pe < ep->shape.n; pe++)
        if (told[pe].there) {
            take_one(ep, pe);
            told[pe].there = 0;
        }
    store(ep);
}

/* Of all three routines. */
static int check_masks(const char *routine, const struct shmemx_ep *ep, bool changes)
{
    if (ep_check_live(routine, ep))
        return 1;
    if (!ep->masks)
        return ep_refuse(routine, "this instance has no masks; set config.masks to 1");
    if (changes && (ep->dispatch.sent || ep->combine.sent))
        return ep_refuse(routine, "between the halves of a %s; call its receiving half first",
                         ep->dispatch.sent ? "dispatch" : "combine");
    return 0;
}

int shmemx_ep_mask_update(shmemx_ep_t ep, int pe, int masked)
{
    const char *routine = "shmemx_ep_mask_update";

    if (check_masks(routine, ep, true))
        return 1;
    if (pe < 0 || pe >= ep->shape.n || pe == ep->shape.me)
        return ep_refuse(routine, "pe is %d; it is from 0 to %d, a number in the team, and not this PE's own",
                         pe, ep->shape.n - 1);
    if (masked != 0 && masked != 1)
        return ep_refuse(routine, "masked is %d; it is 1, or 0 to take the PE back", masked);
    if (load(ep, EP_MASKS_READ))
        return 1;
    ep_masks_set(ep->masks, pe, masked);
    if (store(ep))
        return 1;
    if (!masked)
        tell(ep, pe);
    return 0;
}

int shmemx_ep_mask_query(shmemx_ep_t ep, int32_t *masked)
{
    const char *routine = "shmemx_ep_mask_query";

    if (check_masks(routine, ep, false))
        return 1;
    if (!masked)
        return ep_refuse(routine, "masked is NULL; give room for %d numbers", ep->shape.n);
    if (load(ep, EP_MASKS_LOOK))
        return 1;
    memcpy(masked, ep->masks->masked, (size_t)ep->shape.n * sizeof *masked);
    return 0;
}

int shmemx_ep_mask_clean(shmemx_ep_t ep)
{
    if (check_masks("shmemx_ep_mask_clean", ep, true) || load(ep, EP_MASKS_READ))
        return 1;
    for (int pe = 0; pe < ep->shape.n; pe++)
        ep_masks_set(ep->masks, pe, 0);
    if (store(ep))
        return 1;
    for (int pe = 0; pe < ep->shape.n; pe++)
        if (pe != ep->shape.me)
            tell(ep, pe);
    return 0;
}
