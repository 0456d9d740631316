/* SPDX-License-Identifier: BSD-3-Clause */
/* The libfabric objects of one NIC: fabric, domain, queues, address vector, endpoint. */
#include "transports/efa/nic/rail.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/efa/nic/provider.h"

#include <rdma/fi_cm.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * Options of endpoints as <rdma/fi_endpoint.h> of libfabric 2.1 numbers them, which older headers lack. A library or
 * provider that does not know one refuses it.
 */
enum {
    WSH_EFA_OPT_CUDA_API_PERMITTED = 10,
    WSH_EFA_OPT_SHARED_MEMORY_PERMITTED = 11,
    WSH_EFA_OPT_INJECT_RMA_SIZE = 18
};

/* Logs a failed call on `rail`; returns its error. */
static int rail_failed(const struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, const char *call,
                       int rc)
{
    wsh_error("libfabric %s on %s: %s; %s", call, rail->name, lib->strerror(-rc),
              wsh_err_cure(rc, "check the NIC with fi_info, or set SHMEM_LIBFABRIC_PROVIDER and "
                               "SHMEM_LIBFABRIC_DOMAIN"));
    return rc;
}

void wsh_efa_fid_close(struct fid *fid, const char *what, const struct wsh_efa_rail *rail)
{
    int rc = fi_close(fid);

    if (rc)
        wsh_warn("libfabric does not close a %s of %s: %s", what, rail->name,
                 wsh_strerror(rc < 0 ? -rc : rc));
}

/* Providers without wait objects refuse the first try. */
static int open_cq(struct wsh_efa_rail *rail, size_t size)
{
    struct fi_cq_attr attr = {.size = size, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
    int rc = fi_cq_open(rail->domain, &attr, &rail->cq, NULL);

    rail->wait_fd = -1;
    if (!rc && !fi_control(&rail->cq->fid, FI_GETWAIT, &rail->wait_fd))
        return 0;
    if (!rc)
        wsh_efa_fid_close(&rail->cq->fid, "completion queue", rail);
    rail->cq = NULL;
    rail->wait_fd = -1;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(rail->domain, &attr, &rail->cq, NULL);
}

/* The efa provider ends the process when it has an error to report and no queue for it; others need none. */
static void bind_eq(struct wsh_efa_rail *rail)
{
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};

    if (fi_eq_open(rail->fabric, &attr, &rail->eq, NULL)) {
        rail->eq = NULL;
    } else if (fi_ep_bind(rail->ep, &rail->eq->fid, 0)) {
        wsh_efa_fid_close(&rail->eq->fid, "event queue", rail);
        rail->eq = NULL;
    }
}

/*
 * Device memory only from a provider that promises to leave CUDA alone: it would copy by calls that may wait for a
 * kernel, which may wait for what is copied. Who does not know the option promises nothing.
 */
static void forbid_cuda(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib)
{
    bool permitted = false;
    int rc;

    if (!wsh_efa_info_takes_hmem(rail->info))
        return;
    rc = fi_setopt(&rail->ep->fid, FI_OPT_ENDPOINT, WSH_EFA_OPT_CUDA_API_PERMITTED, &permitted,
                   sizeof permitted);
    rail->hmem = !rc;
    if (rc)
        wsh_info(WSH_SUB_TRANSPORT,
                 "%s takes device memory, but not without calls of CUDA (FI_OPT_CUDA_API_PERMITTED: %s), "
                 "which could wait for a kernel that waits for them: device memory of other hosts is reached "
                 "through host memory",
                 rail->name, lib->strerror(-rc));
}

static int open_endpoint(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, const char **call)
{
    bool shared = false;
    int rc;

    *call = "fi_endpoint";
    if ((rc = fi_endpoint(rail->domain, rail->info, &rail->ep, NULL)))
        return rc;
    *call = "fi_ep_bind";
    if ((rc = fi_ep_bind(rail->ep, &rail->cq->fid, FI_TRANSMIT | FI_RECV)))
        return rc;
    if ((rc = fi_ep_bind(rail->ep, &rail->av->fid, 0)))
        return rc;
    bind_eq(rail);
    /* Peers of this host are the local transport's. */
    (void)fi_setopt(&rail->ep->fid, FI_OPT_ENDPOINT, WSH_EFA_OPT_SHARED_MEMORY_PERMITTED, &shared,
                    sizeof shared);
    forbid_cuda(rail, lib);
    *call = "fi_enable";
    return fi_enable(rail->ep);
}

int wsh_efa_rail_open(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, struct fi_info *info,
                      size_t cq_size)
{
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    const char *call = "fi_fabric";
    int rc;

    *rail = (struct wsh_efa_rail){.info = info, .depth = (uint32_t)info->tx_attr->size, .wait_fd = -1};
    info->domain_attr->threading =
        FI_THREAD_DOMAIN; /* the provider may offer more, at the price of its locks */
    snprintf(rail->name, sizeof rail->name, "%s (%s)", info->fabric_attr->prov_name, info->domain_attr->name);
    if ((rc = lib->fabric(info->fabric_attr, &rail->fabric, NULL)))
        goto err;
    call = "fi_domain";
    if ((rc = fi_domain(rail->fabric, info, &rail->domain, NULL)))
        goto err;
    call = "fi_cq_open";
    if ((rc = open_cq(rail, cq_size)))
        goto err;
    call = "fi_av_open";
    if ((rc = fi_av_open(rail->domain, &av_attr, &rail->av, NULL)))
        goto err;
    if ((rc = open_endpoint(rail, lib, &call)))
        goto err;
    return 0;
err:
    rail_failed(rail, lib, call, rc);
    wsh_efa_rail_close(rail, lib);
    return rc;
}

/* A provider that binds regions to endpoints does not close an endpoint that has some. */
void wsh_efa_rail_stop(struct wsh_efa_rail *rail)
{
    if (!rail->ep || rail->info->domain_attr->mr_mode & FI_MR_ENDPOINT)
        return;
    wsh_efa_fid_close(&rail->ep->fid, "endpoint", rail);
    rail->ep = NULL;
}

void wsh_efa_rail_close(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib)
{
    const struct {
        const char *what;
        struct fid *fid;
    } parts[] = {
        {"endpoint", rail->ep ? &rail->ep->fid : NULL},
        {"address vector", rail->av ? &rail->av->fid : NULL},
        {"event queue", rail->eq ? &rail->eq->fid : NULL},
        {"completion queue", rail->cq ? &rail->cq->fid : NULL},
        {"domain", rail->domain ? &rail->domain->fid : NULL},
        {"fabric", rail->fabric ? &rail->fabric->fid : NULL},
    };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].fid)
            wsh_efa_fid_close(parts[i].fid, parts[i].what, rail);
    if (rail->info)
        lib->freeinfo(rail->info);
    memset(rail, 0, sizeof *rail);
    rail->wait_fd = -1;
}

size_t wsh_efa_inject_size(struct fid_ep *ep, size_t known)
{
    size_t value = 0, len = sizeof value;

    if (fi_getopt(&ep->fid, FI_OPT_ENDPOINT, WSH_EFA_OPT_INJECT_RMA_SIZE, &value, &len))
        return known;
    return value < known ? value : known;
}

int wsh_efa_rail_name(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, void *name, size_t *len)
{
    int rc = fi_getname(&rail->ep->fid, name, len);

    return rc ? rail_failed(rail, lib, "fi_getname", rc) : 0;
}

/* A device that has no more handles says no more than that; the provider, not even that. */
static const char *refusal_cure(const struct wsh_efa_rail *rail, int rc)
{
    const char *files = wsh_err_cure(rc, NULL);

    if (files)
        return files;
    if (!rail->entered || rail->info->addr_format != FI_ADDR_EFA)
        return "the line of that PE or `fi_info` may say why";
    return "the NIC has address handles for so many; run on fewer hosts, or with fewer PEs and NICs on "
           "each "
           "(SHMEM_NICS_PER_PE)";
}

int wsh_efa_rail_insert(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, const void *name, int pe,
                        fi_addr_t *addr)
{
    int rc = fi_av_insert(rail->av, name, 1, addr, 0, NULL);

    if (rc == 1) {
        rail->entered++;
        return 0;
    }
    wsh_error("%s refuses the address of PE %d after those of %u others (libfabric fi_av_insert: %s): %s",
              rail->name, pe, rail->entered, rc < 0 ? lib->strerror(-rc) : "address refused",
              refusal_cure(rail, rc));
    return rc < 0 ? rc : -EADDRNOTAVAIL;
}
