/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the exchange of one block with every member: each goes straight into dest, with a signal. */
#include "runtime/coll/coll.h"

#include "runtime/coll/blocks.h"
#include "runtime/order.h"
#include "runtime/rma.h"

int wsh_alltoall(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct wsh_blocks blocks = wsh_blocks_begin(team, "shmem_alltoall");
    size_t mine = (size_t)team->my_pe * len;
    int rc = 0;

    for (int k = 1; k < team->n_pes && !rc; k++) {
        int pe = wsh_blocks_turn(team, k);

        rc = wsh_blocks_send(&blocks, (char *)dest + mine, (const char *)src + (size_t)pe * len, len, pe);
    }
    if (!rc)
        rc = wsh_coll_copy_own(team, (char *)dest + mine, (const char *)src + mine, len);
    return rc ? rc : wsh_blocks_end(&blocks);
}

/* Elements k, k + 1 … of the block from me to `pe`: the team's blocks follow each other at the same stride. */
static int send_strided(struct wsh_team *team, void *dest, const void *src, const struct wsh_alltoalls *shape,
                        int pe)
{
    size_t width = shape->width, block = shape->nelems * width;
    const struct wsh_strided strided = {shape->dst * (ptrdiff_t)width, shape->sst * (ptrdiff_t)width, width,
                                        shape->nelems};

    return wsh_iput(&team->coll->ctx, (char *)dest + (size_t)team->my_pe * block * (size_t)shape->dst,
                    (const char *)src + (size_t)pe * block * (size_t)shape->sst, &strided, pe);
}

/* All data first: one fence orders it before all signals. */
int wsh_alltoalls(struct wsh_team *team, void *dest, const void *src, const struct wsh_alltoalls *shape)
{
    struct wsh_blocks blocks;
    int rc = 0;

    if (shape->dst == 1 && shape->sst == 1)
        return wsh_alltoall(team, dest, src, shape->nelems * shape->width);
    blocks = wsh_blocks_begin(team, "shmem_alltoalls");
    for (int k = 1; k <= team->n_pes && !rc; k++)
        rc = send_strided(team, dest, src, shape, wsh_blocks_turn(team, k));
    if (!rc)
        rc = wsh_fence(&team->coll->ctx);
    for (int k = 1; k < team->n_pes && !rc; k++)
        rc = wsh_blocks_send(&blocks, NULL, NULL, 0, wsh_blocks_turn(team, k));
    return rc ? rc : wsh_blocks_end(&blocks);
}
