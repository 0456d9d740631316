/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * av_bytes [PROVIDER [FABRIC]]: bytes that libfabric keeps in this process for each address in an address vector,
 * entered as the library does, of 1 NIC to 10,000: this endpoint's own address with other numbers in it. With the
 * emulated device its address handles are counted too, as rdma-core's with a real one; what the kernel keeps is not.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

/* Of an address of the provider efa: the last bytes of the GID, by which a NIC is known, and the queue pair. */
enum { GID_NUMBER = 8, QP_NUMBER = 16 };

struct fabric {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
};

static void must(long code, const char *call)
{
    if (code >= 0)
        return;
    fprintf(stderr, "av_bytes: %s: %s; fi_info lists providers and fabrics\n", call, fi_strerror((int)-code));
    exit(code == -FI_ENODATA ? 77 : 1);
}

static void info_get(struct fabric *f, const char *provider, const char *fabric)
{
    struct fi_info *hints = fi_allocinfo();

    must(hints ? 0 : -FI_ENOMEM, "fi_allocinfo");
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->fabric_attr->name = fabric ? strdup(fabric) : NULL;
    must(fi_getinfo(FI_VERSION(1, 18), NULL, NULL, 0, hints, &f->info), "fi_getinfo");
    fi_freeinfo(hints);
}

static void fabric_open(struct fabric *f)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA};
    struct fi_av_attr av = {.type = FI_AV_TABLE};

    must(fi_fabric(f->info->fabric_attr, &f->fabric, NULL), "fi_fabric");
    must(fi_domain(f->fabric, f->info, &f->domain, NULL), "fi_domain");
    must(fi_av_open(f->domain, &av, &f->av, NULL), "fi_av_open");
    must(fi_cq_open(f->domain, &cq, &f->cq, NULL), "fi_cq_open");
    must(fi_endpoint(f->domain, f->info, &f->ep, NULL), "fi_endpoint");
    must(fi_ep_bind(f->ep, &f->av->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(fi_enable(f->ep), "fi_enable");
}

/* Of this process: asked for, in the areas of malloc and in mappings of their own; and pages of its own. */
struct used {
    long asked, touched;
};

static struct used used_now(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    struct mallinfo2 m = mallinfo2();
    struct used used = {(long)(m.uordblks + m.hblkhd), 0};
    char line[256];
    long kib;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Private_Dirty: %ld", &kib) == 1)
            used.touched = kib * 1024;
    if (file)
        fclose(file);
    return used;
}

/* NICs from `from` on. */
static void names_enter(struct fabric *f, uint32_t from, uint32_t to)
{
    char name[NAME_MAX_BYTES] = "";
    size_t len = sizeof name;

    must(fi_getname(&f->ep->fid, name, &len), "fi_getname");
    if (len < QP_NUMBER + 2) {
        fprintf(stderr, "av_bytes: addresses of %zu bytes: made for those of the provider efa\n", len);
        exit(1);
    }
    for (uint32_t nic = from; nic < to; nic++) {
        uint16_t qp = (uint16_t)nic;
        fi_addr_t addr;

        memcpy(name + GID_NUMBER, &nic, sizeof nic);
        memcpy(name + QP_NUMBER, &qp, sizeof qp);
        must(fi_av_insert(f->av, name, 1, &addr, 0, NULL) == 1 ? 0 : -FI_EADDRNOTAVAIL, "fi_av_insert");
    }
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = {1, 1000, 2000, 10000};
    struct fabric f = {0};
    struct used begin, now;
    uint32_t from = 1;

    info_get(&f, argc > 1 ? argv[1] : "efa", argc > 2 ? argv[2] : NULL);
    fabric_open(&f);
    printf("libfabric %u.%u, %s, fabric %s\n", FI_MAJOR(fi_version()), FI_MINOR(fi_version()),
           f.info->fabric_attr->prov_name, f.info->fabric_attr->name);
    begin = used_now();
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        names_enter(&f, from, counts[i] + 1);
        from = counts[i] + 1;
        now = used_now();
        printf("%6u addresses: %8ld bytes of malloc, %8ld touched: %ld each\n", counts[i],
               now.asked - begin.asked, now.touched - begin.touched,
               (now.touched - begin.touched) / (long)counts[i]);
    }
    return 0;
}
