/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests (what libfabric hands back when an operation completes) and their pools. */
#define _GNU_SOURCE
#include "transports/efa/wire/req.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

int wsh_efa_pool_init(struct wsh_efa_pool *pool, uint32_t n, size_t buf_size)
{
    *pool = (struct wsh_efa_pool){.n = n, .buf_size = buf_size, .slab_len = n * buf_size};
    pool->all = calloc(n, sizeof *pool->all);
    if (!pool->all)
        return -ENOMEM;
    if (buf_size) {
        void *slab = mmap(NULL, pool->slab_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (slab == MAP_FAILED) {
            wsh_efa_pool_fini(pool);
            return -ENOMEM;
        }
        pool->slab = slab;
    }
    for (uint32_t i = n; i--;) {
        pool->all[i].pool = pool;
        pool->all[i].buf = buf_size ? pool->slab + i * buf_size : NULL;
        wsh_efa_req_put(&pool->all[i]);
    }
    return 0;
}

void wsh_efa_pool_fini(struct wsh_efa_pool *pool)
{
    if (pool->slab)
        munmap(pool->slab, pool->slab_len);
    free(pool->all);
    *pool = (struct wsh_efa_pool){0};
}

void wsh_efa_pool_set_desc(struct wsh_efa_pool *pool, void *desc)
{
    for (uint32_t i = 0; i < pool->n; i++)
        pool->all[i].desc = desc;
}
