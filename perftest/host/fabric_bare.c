/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the libfabric provider itself does between PE 0 and the last PE: the limit beside which put,
 * get, atomics and ping-pongs over the network are judged. Only addresses travel through SHMEM.
 */
#include "perftest/common/perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

enum { MAX_NAME = 256, SOURCE = 0, DEST = 1, FLAG = 2, REGIONS = 3 };

/* What the other side has to know; written into its table by a SHMEM put. */
struct contact {
    size_t name_len;
    char name[MAX_NAME];
    uint64_t base[REGIONS]; /* what a remote operation gives as address of the region's start */
    uint64_t key[REGIONS];
};

struct fabric {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr[REGIONS];
    struct contact *contacts; /* symmetric, one per PE */
    fi_addr_t peer;
    bool receive_posted;
    long done; /* completed sends, writes and reads */
    long received;
    struct fi_context2 in;
    struct fi_context2 *out; /* one per operation of a window */
};

/* Nothing here can be continued after an error: one line, and the job ends. */
static void call_must(long code, const char *call, const char *provider)
{
    if (code >= 0)
        return;
    perf_complain("%s over provider '%s' failed: %s; fi_info lists providers, -p chooses one", call, provider,
                  fi_strerror((int)-code));
    shmem_global_exit(PERF_FAILED);
}

static struct fabric *fabric_of(const struct perf_run *run)
{
    return run->state;
}

static void poll_cq(struct perf_run *run)
{
    struct fabric *f = fabric_of(run);
    struct fi_cq_entry entry;
    ssize_t n = fi_cq_read(f->cq, &entry, 1);
    if (n == 1 && entry.op_context == &f->in)
        f->received++;
    else if (n == 1)
        f->done++;
    else if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(f->cq, &error, 0);
        call_must(-error.err, "an operation", run->opts->provider);
    } else if (n != -FI_EAGAIN) {
        call_must(n, "fi_cq_read", run->opts->provider);
    }
}

/* Makes progress after -FI_EAGAIN, the provider's "no room"; true: try again. */
static bool no_room(struct perf_run *run, ssize_t code, const char *call)
{
    if (code == -FI_EAGAIN)
        poll_cq(run);
    else
        call_must(code, call, run->opts->provider);
    return code == -FI_EAGAIN;
}

static void ops_finish(struct perf_run *run, long operations)
{
    struct fabric *f = fabric_of(run);
    while (f->done < operations)
        poll_cq(run);
    f->done -= operations;
}

static const struct contact *remote(const struct perf_run *run)
{
    return &fabric_of(run)->contacts[run->peer];
}

static void *descriptor(const struct perf_run *run, int region)
{
    return fi_mr_desc(fabric_of(run)->mr[region]);
}

static void write_start(struct perf_run *run, struct fi_context2 *context)
{
    struct fabric *f = fabric_of(run);
    struct iovec iov = {run->source, run->len};
    void *desc = descriptor(run, SOURCE);
    struct fi_rma_iov target = {remote(run)->base[DEST], run->len, remote(run)->key[DEST]};
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .desc = &desc,
                             .iov_count = 1,
                             .addr = f->peer,
                             .rma_iov = &target,
                             .rma_iov_count = 1,
                             .context = context};
    while (no_room(run, fi_writemsg(f->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), "fi_writemsg"))
        continue;
}

static void write_batch(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        write_start(run, &fabric_of(run)->out[0]);
        ops_finish(run, 1);
    }
}

static void write_window_batch(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (long j = 0; j < run->window; j++)
            write_start(run, &fabric_of(run)->out[j]);
        ops_finish(run, run->window);
    }
}

static void read_batch(struct perf_run *run, long count)
{
    struct fabric *f = fabric_of(run);
    for (long i = 0; i < count; i++) {
        while (no_room(run,
                       fi_read(f->ep, run->dest, run->len, descriptor(run, DEST), f->peer,
                               remote(run)->base[SOURCE], remote(run)->key[SOURCE], &f->out[0]),
                       "fi_read"))
            continue;
        ops_finish(run, 1);
    }
}

static void post_receive(struct perf_run *run)
{
    struct fabric *f = fabric_of(run);
    if (f->receive_posted)
        return;
    while (no_room(run, fi_recv(f->ep, run->dest, run->size, descriptor(run, DEST), FI_ADDR_UNSPEC, &f->in),
                   "fi_recv"))
        continue;
    f->receive_posted = true;
}

static void send_message(struct perf_run *run)
{
    struct fabric *f = fabric_of(run);
    if (run->len <= f->info->tx_attr->inject_size) {
        while (no_room(run, fi_inject(f->ep, run->source, run->len, f->peer), "fi_inject"))
            continue;
        return;
    }
    while (no_room(run, fi_send(f->ep, run->source, run->len, descriptor(run, SOURCE), f->peer, &f->out[0]),
                   "fi_send"))
        continue;
    ops_finish(run, 1);
}

static void receive_message(struct perf_run *run)
{
    struct fabric *f = fabric_of(run);
    while (f->received == 0)
        poll_cq(run);
    f->received--;
    f->receive_posted = false;
    post_receive(run);
}

static void message_batch(struct perf_run *run, long count)
{
    post_receive(run);
    for (long i = 0; i < count; i++) {
        if (run->me == 0)
            send_message(run);
        receive_message(run);
        if (run->me != 0)
            send_message(run);
    }
}

static void flag_send(struct perf_run *run)
{
    struct fabric *f = fabric_of(run);
    while (no_room(run,
                   fi_inject_write(f->ep, &run->seq, sizeof(run->seq), f->peer, remote(run)->base[FLAG],
                                   remote(run)->key[FLAG]),
                   "fi_inject_write"))
        continue;
}

/* The provider writes the flag, so it is read anew each time; nothing else depends on its order. */
static void flag_wait(struct perf_run *run)
{
    while (__atomic_load_n(run->flag, __ATOMIC_RELAXED) != run->seq)
        poll_cq(run);
}

static void flag_batch(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        run->seq++;
        if (run->me == 0)
            flag_send(run);
        flag_wait(run);
        if (run->me != 0)
            flag_send(run);
    }
}

/* The flag carries the sequence number: a wrong value would have hung. */
static long check_flag(struct perf_run *run, const struct perf_op *op)
{
    shmem_barrier_all();
    perf_once(run, op, 1);
    return (run->me == 0 || run->me == run->npes - 1) && run->flag[0] != run->seq;
}

static struct fi_info *hints_for(const char *provider)
{
    struct fi_info *hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->fabric_attr->prov_name = strdup(provider);
    return hints;
}

/* A queue that somebody could sleep on costs some providers more, also while nobody does. */
static enum fi_wait_obj wait_object(void)
{
    const char *text = getenv("PERF_BARE_WAIT");
    return text && !strcmp(text, "1") ? FI_WAIT_FD : FI_WAIT_NONE;
}

static void open_endpoint(struct fabric *f, const char *provider)
{
    struct fi_info *hints = hints_for(provider);
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = wait_object()};
    call_must(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &f->info), "fi_getinfo", provider);
    fi_freeinfo(hints);
    call_must(fi_fabric(f->info->fabric_attr, &f->fabric, NULL), "fi_fabric", provider);
    call_must(fi_domain(f->fabric, f->info, &f->domain, NULL), "fi_domain", provider);
    call_must(fi_av_open(f->domain, &av, &f->av, NULL), "fi_av_open", provider);
    call_must(fi_cq_open(f->domain, &cq, &f->cq, NULL), "fi_cq_open", provider);
    call_must(fi_endpoint(f->domain, f->info, &f->ep, NULL), "fi_endpoint", provider);
    call_must(fi_ep_bind(f->ep, &f->av->fid, 0), "fi_ep_bind", provider);
    call_must(fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind", provider);
    call_must(fi_enable(f->ep), "fi_enable", provider);
}

static void register_region(struct perf_run *run, struct contact *mine, int which, void *base, size_t len)
{
    struct fabric *f = fabric_of(run);
    uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    call_must(fi_mr_reg(f->domain, base, len, access, 0, (uint64_t)which, 0, &f->mr[which], NULL),
              "fi_mr_reg", run->opts->provider);
    mine->key[which] = fi_mr_key(f->mr[which]);
    mine->base[which] = f->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)base : 0;
}

static void contacts_exchange(struct perf_run *run, struct contact *mine)
{
    struct fabric *f = fabric_of(run);
    shmem_putmem(&f->contacts[run->me], mine, sizeof(*mine), run->peer);
    shmem_barrier_all();
    if (run->me == 0 || run->me == run->npes - 1) {
        long n = fi_av_insert(f->av, remote(run)->name, 1, &f->peer, 0, NULL);
        call_must(n == 1 ? 0 : n < 0 ? n : -FI_EADDRNOTAVAIL, "fi_av_insert", run->opts->provider);
    }
    shmem_barrier_all();
}

static int fabric_open(struct perf_run *run)
{
    struct fabric *f = calloc(1, sizeof(*f));
    struct contact mine = {.name_len = MAX_NAME};
    f->out = calloc((size_t)run->window, sizeof(*f->out));
    run->state = f;
    f->contacts = shmem_malloc((size_t)run->npes * sizeof(struct contact));
    if (!f->contacts)
        return PERF_FAILED;
    open_endpoint(f, run->opts->provider);
    register_region(run, &mine, SOURCE, run->source, run->size);
    register_region(run, &mine, DEST, run->dest, run->size);
    register_region(run, &mine, FLAG, run->flag, 64);
    call_must(fi_getname(&f->ep->fid, mine.name, &mine.name_len), "fi_getname", run->opts->provider);
    contacts_exchange(run, &mine);
    return PERF_OK;
}

static void fabric_close(struct perf_run *run)
{
    struct fabric *f = fabric_of(run);
    fi_close(&f->ep->fid);
    for (int i = 0; i < REGIONS; i++)
        fi_close(&f->mr[i]->fid);
    fi_close(&f->cq->fid);
    fi_close(&f->av->fid);
    fi_close(&f->domain->fid);
    fi_close(&f->fabric->fid);
    fi_freeinfo(f->info);
    shmem_free(f->contacts);
    free(f->out);
    free(f);
}

static const struct perf_op ops[] = {
    {.name = "write", .each = 1, .batch = write_batch, .check = perf_check_put},
    {.name = "write_window", .batch = write_window_batch, .check = perf_check_put},
    {.name = "read", .each = 1, .batch = read_batch, .check = perf_check_get},
    {.name = "message", .who = PERF_PAIR, .each = 2, .batch = message_batch, .check = perf_check_both},
    {.name = "inject_write", .who = PERF_PAIR, .len = 8, .each = 2, .batch = flag_batch, .check = check_flag},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "fabric_bare",
    .what = "bare libfabric: write + delivery complete, read, half round trips",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 8, .end = 1 << 20, .window = 64, .provider = "tcp;ofi_rxm"},
    .setup = fabric_open,
    .teardown = fabric_close,
    .serve = poll_cq,
};
