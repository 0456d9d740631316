/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends blocks with their flags, and awaits them. */
#include "runtime/coll/memory/blocks.h"

#include "runtime/coll/memory/flags.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"
#include "runtime/op/signal.h"

struct wsh_blocks wsh_blocks_begin(struct wsh_team *team, const char *routine)
{
    uint64_t before = team->coll->slots;

    return (struct wsh_blocks){team, routine, wsh_coll_next_blocks(team->coll, team->n_pes), before};
}

/* My own among a member's. */
static inline struct wsh_signal flag_of(const struct wsh_blocks *blocks)
{
    return wsh_coll_word(blocks->team->coll, blocks->flags + (size_t)blocks->team->my_pe * sizeof(uint64_t),
                         blocks->team->coll->blocks);
}

WSH_NO_ARRAYS int wsh_blocks_send(const struct wsh_blocks *blocks, void *dest, const void *src, size_t len,
                                  int member)
{
    const struct wsh_signal signal = flag_of(blocks);

    return wsh_coll_send(blocks->team->coll, dest, src, len, &signal, member);
}

int wsh_blocks_send_strided(const struct wsh_blocks *blocks, void *dest, const void *src,
                            const struct wsh_strided *shape, int member)
{
    const struct wsh_signal signal = flag_of(blocks);

    return wsh_iput_signal(&blocks->team->coll->ctx, dest, src, shape, &signal, member);
}

WSH_NO_ARRAYS int wsh_blocks_take(const struct wsh_blocks *blocks, const int *members, int n)
{
    struct wsh_flags flags = {.team = blocks->team,
                              .members = members,
                              .n = n,
                              .off = blocks->flags,
                              .stride = sizeof(uint64_t),
                              .want = blocks->team->coll->blocks};

    return wsh_flags_await(&flags, blocks->routine);
}

int wsh_blocks_end(const struct wsh_blocks *blocks)
{
    struct wsh_coll *coll = blocks->team->coll;
    int rc = wsh_blocks_take(blocks, coll->all, blocks->team->n_pes);

    wsh_coll_all_entered(coll, blocks->before);
    return rc ? rc : wsh_coll_sent(coll); /* the source may be reused */
}

int wsh_blocks_device(const struct wsh_blocks *blocks, void *dest, const void *src, size_t stride, size_t len)
{
    struct wsh_team *team = blocks->team;
    int rc = 0;

    for (int k = 1; k < team->n_pes && len && !rc; k++) {
        int pe = wsh_blocks_turn(team, k);

        rc = wsh_put_nbi(&team->coll->ctx, dest, (const char *)src + (size_t)pe * stride, len, pe);
    }
    if (!rc)
        rc = wsh_coll_copy_beside(team, dest, (const char *)src + (size_t)team->my_pe * stride, len);
    if (!rc)
        rc = wsh_quiet(&team->coll->ctx);
    for (int k = 1; k < team->n_pes && !rc; k++)
        rc = wsh_blocks_send(blocks, NULL, NULL, 0, wsh_blocks_turn(team, k));
    return rc ? rc : wsh_blocks_end(blocks);
}
