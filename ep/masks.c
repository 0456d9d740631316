/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines that mask PEs and take them back. */
#include "ep/ep.h"

#include <stdlib.h>
#include <string.h>

size_t ep_masks_arena(const struct ep_shape *shape)
{
    return ep_align(((size_t)shape->n + 1) * sizeof(struct ep_told), EP_ALIGN);
}

size_t ep_masks_bytes(const struct ep_shape *shape)
{
    size_t each = sizeof(struct ep_told) + sizeof(uint64_t) + 2 * sizeof(int32_t);
    size_t choices = (size_t)shape->tokens * shape->topk;

    return choices * sizeof(int64_t) + sizeof(struct ep_masks) + (size_t)shape->n * each +
           (size_t)shape->counters * sizeof(uint64_t);
}

int ep_masks_open(struct shmemx_ep *ep)
{
    const struct ep_shape *shape = &ep->shape;
    size_t n = (size_t)shape->n;
    char *at;

    if (!ep->config.masks)
        return 0;
    at = calloc(1, ep_masks_bytes(shape));
    ep->masks = (struct ep_masks *)at;
    if (!at)
        return ep_refuse("shmemx_ep_create", "no memory for %zu bytes of masks", ep_masks_bytes(shape));
    at += sizeof(struct ep_masks);
    ep->masks->topk = at;
    ep->masks->sent = (struct ep_told *)(at + (size_t)shape->tokens * shape->topk * sizeof(int64_t));
    ep->masks->blanked = (uint64_t *)(ep->masks->sent + n);
    ep->masks->missed = ep->masks->blanked + n;
    ep->masks->masked = (int32_t *)(ep->masks->missed + shape->counters);
    ep->masks->dropped = ep->masks->masked + n;
    ep->masks->limit = ep->config.limit_ms ? ep->config.limit_ms / 1000. : 100.;
    ep->masks->told = (struct ep_told *)(ep->arena + shape->bytes - ep_masks_arena(shape));
    memset(ep->masks->told, 0, ep_masks_arena(shape));
    return 0;
}

void ep_masks_close(struct shmemx_ep *ep)
{
    free(ep->masks);
    ep->masks = NULL;
}

void ep_masks_set(struct ep_masks *masks, int pe, int masked)
{
    masks->any += masked - masks->masked[pe];
    masks->masked[pe] = masked;
}

/* To number `pe`: where calls with this PE go on. What this PE has put before is there then. */
static void tell(struct shmemx_ep *ep, int pe)
{
    struct ep_told mine = ep->masks->sent[pe];

    mine.there = 1;
    mine.dispatches = ep->state->dispatches;
    mine.combines = ep->state->combines;
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
    struct ep_state *state = ep->state;
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

    if (!__atomic_load_n(&told[ep->shape.n].there, __ATOMIC_RELAXED))
        return;
    if (ep->state->dispatches != ep->state->received || ep->state->combines != ep->state->combined)
        return;
    told[ep->shape.n].there = 0;
    for (int pe = 0; pe < ep->shape.n; pe++)
        if (told[pe].there) {
            take_one(ep, pe);
            told[pe].there = 0;
        }
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
    ep_masks_set(ep->masks, pe, masked);
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
    memcpy(masked, ep->masks->masked, (size_t)ep->shape.n * sizeof *masked);
    return 0;
}

int shmemx_ep_mask_clean(shmemx_ep_t ep)
{
    if (check_masks("shmemx_ep_mask_clean", ep, true))
        return 1;
    for (int pe = 0; pe < ep->shape.n; pe++) {
        if (pe == ep->shape.me)
            continue;
        ep_masks_set(ep->masks, pe, 0);
        tell(ep, pe);
    }
    return 0;
}
