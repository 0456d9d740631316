/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers memory with the provider of every rail, under keys that nobody guesses. */
#define _GNU_SOURCE
#include "transports/efa/nic/mr.h"

#include "base/log.h"
#include "transports/efa/set/set.h"

#define WSH_EFA_KEY_TRIES 16

/* As <rdma/fi_domain.h> of libfabric 1.20 has them, which older headers lack; zeros for what newer ones append. */
#define WSH_EFA_MR_DMABUF (1ULL << 40)
struct efa_dmabuf {
    int fd;
    uint64_t offset;
    size_t len;
    void *base;
};
struct efa_mr_attr {
    struct fi_mr_attr known;
    uint64_t later[8];
};

/*
 * By a descriptor where there is one and the library takes it; else the provider finds by itself how a NIC gets at a
 * GPU's memory.
 */
static int mr_reg_device(const struct wsh_efa_rail *rail, const struct wsh_efa_piece *piece, uint64_t access,
                         uint64_t key, struct fid_mr **mr)
{
    const struct iovec iov = {piece->base, piece->len};
    const struct efa_dmabuf dmabuf = {piece->fd, piece->off, piece->len, (char *)piece->base - piece->off};
    struct efa_mr_attr attr = {.known = {.mr_iov = (const void *)&dmabuf,
                                         .iov_count = 1,
                                         .access = access,
                                         .requested_key = key,
                                         .iface = FI_HMEM_CUDA,
                                         .device.cuda = piece->gpu}};

    if (piece->fd >= 0 && !fi_mr_regattr(rail->domain, &attr.known, WSH_EFA_MR_DMABUF, mr))
        return 0;
    attr.known.mr_iov = &iov;
    return fi_mr_regattr(rail->domain, &attr.known, 0, mr);
}

static int mr_reg(const struct wsh_efa_rail *rail, const struct wsh_efa_piece *piece, uint64_t access,
                  uint64_t key, struct fid_mr **mr)
{
    if (piece->iface != FI_HMEM_SYSTEM)
        return mr_reg_device(rail, piece, access, key, mr);
    return fi_mr_reg(rail->domain, piece->base, piece->len, access, 0, key, 0, mr, NULL);
}

static int mr_open_on(const struct wsh_efa_rail *rail, const struct wsh_efa_piece *piece, uint64_t access,
                      uint64_t key, struct fid_mr **mr)
{
    int rc = mr_reg(rail, piece, access, key, mr);

    if (rc)
        *mr = NULL;
    if (rc || !(rail->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
        return rc;
    rc = fi_mr_bind(*mr, &rail->ep->fid, 0);
    if (!rc)
        rc = fi_mr_enable(*mr);
    if (rc) {
        wsh_efa_fid_close(&(*mr)->fid, "memory region", rail);
        *mr = NULL;
    }
    return rc;
}

/*
 * Who knows the key of memory may read and write it. A provider that takes the keys it is asked for checks nothing
 * else, so the key must be one that nobody guesses. Others have keys of their own, and ignore this one.
 */
static int draw_key(struct wsh_efa_set *set, const struct wsh_efa_rail *rail, uint64_t *key)
{
    size_t size = rail->info->domain_attr->mr_key_size;
    int rc;

    *key = 0;
    if (rail->info->domain_attr->mr_mode & FI_MR_PROV_KEY)
        return 0;
    rc = wsh_random_fill(key, size && size < sizeof *key ? size : sizeof *key);
    if (!rc && size && size < sizeof *key && !set->my_pe && /* PE 0 for all: they have the same provider */
        !__atomic_exchange_n(&set->efa->weak_keys, true, __ATOMIC_RELAXED))
        wsh_warn("memory keys of %s have only %zu bytes, which others on this network may guess; use another "
                 "provider (SHMEM_LIBFABRIC_PROVIDER) where that matters",
                 rail->name, size);
    return rc;
}

/* A key that is in use already is drawn again. */
static int mr_open_drawn(struct wsh_efa_set *set, const struct wsh_efa_rail *rail,
                         const struct wsh_efa_piece *piece, uint64_t access, struct fid_mr **mr)
{
    int rc = -FI_ENOKEY;

    for (int tries = 0; tries < WSH_EFA_KEY_TRIES && rc == -FI_ENOKEY; tries++) {
        uint64_t key;

        rc = draw_key(set, rail, &key);
        if (!rc)
            rc = mr_open_on(rail, piece, access, key, mr);
    }
    return rc;
}

/* With every rail, or with none. */
int wsh_efa_mr_open(struct wsh_efa_set *set, const struct wsh_efa_piece *piece, uint64_t access,
                    struct wsh_efa_mr *mr)
{
    int rc = 0;

    for (uint32_t i = 0; i < set->n_rails && !rc; i++) {
        rc = mr_open_drawn(set, &set->rail[i], piece, access, &mr->mr[i]);
        mr->desc[i] = rc ? NULL : fi_mr_desc(mr->mr[i]);
    }
    if (rc)
        wsh_efa_mr_close(set, mr);
    return rc;
}

void wsh_efa_mr_close(struct wsh_efa_set *set, struct wsh_efa_mr *mr)
{
    for (size_t i = 0; i < WSH_EFA_RAILS; i++)
        if (mr->mr[i])
            wsh_efa_fid_close(&mr->mr[i]->fid, "memory region", &set->rail[i]);
    *mr = (struct wsh_efa_mr){0};
}
