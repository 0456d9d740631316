/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory with all endpoint sets: this PE's is registered with each, and a peer's has a key of its own in each. */
#include "transports/efa/efa.h"
#include "transports/efa/set/parts.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/set/peers.h"

#include <stdlib.h>
#include <string.h>

struct efa_lmem {
    struct wsh_lmem base;
    struct wsh_lmem *of[WSH_EFA_SETS_MAX];
};

void wsh_efa_all_mem_release(struct wsh_tp *base, struct wsh_lmem *lmem)
{
    struct efa_lmem *mem = (struct efa_lmem *)lmem;

    for (uint32_t i = 0; i < WSH_EFA_SETS_MAX; i++)
        if (mem->of[i])
            wsh_efa_mem_release(((struct wsh_efa *)base)->set[i], mem->of[i]);
    free(mem);
}

const struct wsh_lmem *wsh_efa_all_mem_first(const struct wsh_lmem *lmem)
{
    return ((const struct efa_lmem *)lmem)->of[0];
}

static int register_with_sets(struct wsh_efa *efa, const struct wsh_mem *mem, struct efa_lmem *new,
                              void *blob, size_t *blob_len)
{
    struct wsh_efa_parts parts = {.n = efa->n};
    size_t used = sizeof parts;

    for (uint32_t i = 0; i < efa->n; i++) {
        size_t room = *blob_len > used ? *blob_len - used : 0;
        int rc = wsh_efa_mem_register(efa->set[i], mem, &new->of[i], (char *)blob + used, &room);

        if (rc)
            return rc;
        parts.len[i] = (uint32_t)room;
        used += room;
    }
    memcpy(blob, &parts, sizeof parts);
    *blob_len = used;
    return 0;
}

int wsh_efa_all_mem_register(struct wsh_tp *base, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                             void *blob, size_t *blob_len)
{
    struct efa_lmem *new;
    int rc;

    *lmem = NULL;
    if (mem->kind != WSH_MEM_HOST && !((struct wsh_efa *)base)->set[0]->hmem) {
        *blob_len = 0;
        return -ENOTSUP;
    }
    new = calloc(1, sizeof *new);
    if (!new)
        return -ENOMEM;
    new->base = (struct wsh_lmem){.seg = mem->seg, .base = mem->base, .len = mem->len};
    rc = register_with_sets((struct wsh_efa *)base, mem, new, blob, blob_len);
    if (rc) {
        wsh_efa_all_mem_release(base, &new->base);
        *blob_len = 0;
    } else {
        *lmem = &new->base;
    }
    return rc;
}

/* The peer is connected in every set, where it was not: its keys are given to all of them. */
unsigned wsh_efa_all_reach(struct wsh_tp *base, int pe, enum wsh_mem_kind kind)
{
    struct wsh_efa *efa = (struct wsh_efa *)base;
    unsigned reach = WSH_REACH_ALL;

    for (uint32_t i = 0; i < efa->in_use; i++)
        reach &= wsh_efa_peers_reach(efa->set[i], pe, kind);
    return reach;
}

/* What wsh_efa_rmem_first_keys gives. */
static void fill_first_keys(struct wsh_efa *efa, const struct wsh_rmem *of_first, uint64_t *keys)
{
    struct wsh_efa_set *first = efa->set[0];
    const struct wsh_efa_path *path = first->peers[of_first->pe].path;

    wsh_efa_set_lock(first);
    for (uint32_t i = 0; i < first->n_rails; i++)
        keys[i] = path ? path[i].key[of_first->seg] : of_first->key;
    wsh_efa_set_unlock(first);
}

/* Keys behind rmem->priv, where there are several sets: of each, and then of the first one by rail. */
static int attach_to_sets(struct wsh_efa *efa, int pe, enum wsh_seg seg, const void *blob,
                          struct wsh_rmem *rmem)
{
    uint64_t *keys = efa->in_use > 1 ? calloc(efa->in_use + WSH_EFA_RAILS, sizeof *keys) : NULL;
    int rc = efa->in_use > 1 && !keys ? -ENOMEM : 0;

    for (uint32_t i = 0; i < efa->in_use && !rc; i++) {
        struct wsh_rmem of_set;
        size_t len;
        const void *part = wsh_efa_parts_get(blob, i, &len);

        rc = wsh_efa_mem_attach(efa->set[i], pe, seg, part, len, &of_set);
        if (!rc && !i)
            *rmem = of_set;
        if (!rc && keys && !i)
            fill_first_keys(efa, rmem, keys + efa->in_use);
        if (!rc && keys)
            keys[i] = of_set.key;
    }
    if (rc)
        free(keys);
    else
        rmem->priv = keys;
    return rc;
}

int wsh_efa_all_mem_attach(struct wsh_tp *base, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                           struct wsh_rmem *rmem)
{
    struct wsh_efa *efa = (struct wsh_efa *)base;
    uint32_t n = wsh_efa_parts_check(pe, blob, blob_len);
    int rc = n < efa->in_use ? -EPROTO : attach_to_sets(efa, pe, seg, blob, rmem);

    if (!rc)
        rmem->tp = base;
    return rc;
}

void wsh_efa_all_mem_detach(struct wsh_tp *base, struct wsh_rmem *rmem)
{
    (void)base;
    free(rmem->priv);
    rmem->priv = NULL;
}
