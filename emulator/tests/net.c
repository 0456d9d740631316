/* SPDX-License-Identifier: BSD-3-Clause */
/* A few processes of one program: each opens an endpoint and inserts the addresses of all others. */
#define _GNU_SOURCE
#include "emulator/tests/net.h"

#include <rdma/fi_ext.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DIRECT "efa-direct"
#define CQ_LARGE 8192
#define RECEIVE_LEN 64

double net_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void say(const struct net *net, const char *head, const char *fmt, va_list args)
{
    char text[512];

    vsnprintf(text, sizeof text, fmt, args);
    fprintf(stderr, "%sprocess %d: %s\n", head, net->me, text);
}

void net_fail(const struct net *net, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(net, "", fmt, args);
    va_end(args);
    atomic_store_explicit(&net->shared->failed, 1, memory_order_relaxed);
    _exit(NET_FAILED);
}

void net_skip(const struct net *net, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(net, "skip: ", fmt, args);
    va_end(args);
    _exit(NET_SKIPPED);
}

void net_check_time(const struct net *net, const char *what)
{
    if (atomic_load_explicit(&net->shared->failed, memory_order_relaxed))
        _exit(NET_FAILED);
    if (net_now() > net->deadline)
        net_fail(net, "%s: no end in time", what);
}

bool net_is_direct(const struct net *net)
{
    return !strcmp(net->info->fabric_attr->name, DIRECT);
}

/* Without resource management a receiver that is not ready is an error; with it the provider tries for ever. */
static struct fi_info *make_hints(const char *fabric, bool managed)
{
    struct fi_info *hints = fi_allocinfo();

    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = managed ? FI_RM_ENABLED : FI_RM_DISABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(strncmp(fabric, "efa", 3) ? fabric : "efa");
    return hints;
}

/* The provider lists both of its fabrics; an older one has no direct one. */
static bool is_wanted(const struct fi_info *info, const char *fabric)
{
    bool direct = !strcmp(info->fabric_attr->name, DIRECT);

    return direct == !strcmp(fabric, DIRECT);
}

static void choose(struct net *net)
{
    const char *fabric = net->options->fabric ? net->options->fabric : "efa";
    struct fi_info *hints = make_hints(fabric, !net->options->rnr_given), *list = NULL;
    int rc = fi_getinfo(fi_version(), NULL, NULL, 0, hints, &list), nic = net->options->nic;

    fi_freeinfo(hints);
    for (struct fi_info *info = list; info && !rc && !net->info; info = info->next)
        if (is_wanted(info, fabric) && nic-- == 0)
            net->info = fi_dupinfo(info);
    fi_freeinfo(list);
    if (net->info)
        return;
    if (!rc && !strcmp(fabric, DIRECT) && FI_VERSION_LT(fi_version(), FI_VERSION(2, 1)))
        net_skip(net, "libfabric %u.%u has no " DIRECT, FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
    net_fail(net, "fi_getinfo finds no '%s' (%s)", fabric, rc ? fi_strerror(-rc) : "not in its list");
}

static void need(const struct net *net, int rc, const char *what)
{
    if (rc)
        net_fail(net, "%s: %s", what, fi_strerror(-rc));
}

static void open_domain(struct net *net)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA,
                            .size = net->options->cq_size ? net->options->cq_size : CQ_LARGE};
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    struct fi_av_attr av = {.type = FI_AV_TABLE};

    need(net, fi_fabric(net->info->fabric_attr, &net->fabric, NULL), "fi_fabric");
    need(net, fi_eq_open(net->fabric, &eq, &net->eq, NULL), "fi_eq_open");
    need(net, fi_domain(net->fabric, net->info, &net->domain, NULL), "fi_domain");
    need(net, fi_cq_open(net->domain, &cq, &net->cq, NULL), "fi_cq_open");
    need(net, fi_av_open(net->domain, &av, &net->av, NULL), "fi_av_open");
    need(net, fi_endpoint(net->domain, net->info, &net->ep, NULL), "fi_endpoint");
}

static void set_rnr_retry(struct net *net)
{
    size_t retry = net->options->rnr_retry;
    int rc = fi_setopt(&net->ep->fid, FI_OPT_ENDPOINT, FI_OPT_EFA_RNR_RETRY, &retry, sizeof retry);

    if (rc)
        net_skip(net, "FI_OPT_EFA_RNR_RETRY: %s", fi_strerror(-rc));
}

static void open_endpoint(struct net *net)
{
    const uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

    need(net, fi_ep_bind(net->ep, &net->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind of the CQ");
    need(net, fi_ep_bind(net->ep, &net->eq->fid, 0), "fi_ep_bind of the EQ");
    need(net, fi_ep_bind(net->ep, &net->av->fid, 0), "fi_ep_bind of the AV");
    if (net->options->rnr_given)
        set_rnr_retry(net);
    need(net, fi_enable(net->ep), "fi_enable");
    net->heap =
        mmap(NULL, net->options->heap_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (net->heap == MAP_FAILED)
        net_fail(net, "mmap: %s", strerror(errno));
    need(net,
         fi_mr_reg(net->domain, net->heap, net->options->heap_len, access, 0, (uint64_t)net->me + 1, 0,
                   &net->mr, NULL),
         "fi_mr_reg");
    net->desc = fi_mr_desc(net->mr);
    for (int i = 0; i < net->options->n_receives; i++)
        need(net,
             (int)fi_recv(net->ep, net->heap + net->options->heap_len - RECEIVE_LEN, RECEIVE_LEN, net->desc,
                          FI_ADDR_UNSPEC, &net->receive[i]),
             "fi_recv");
}

void net_open(struct net *net)
{
    choose(net);
    open_domain(net);
    open_endpoint(net);
    net->shared->proc[net->me].len = NET_NAME_MAX;
    need(net, fi_getname(&net->ep->fid, net->shared->proc[net->me].name, &net->shared->proc[net->me].len),
         "fi_getname");
    net->shared->proc[net->me].base =
        net->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)net->heap : 0;
    net->shared->proc[net->me].key = fi_mr_key(net->mr);
}

void net_insert(struct net *net, int proc)
{
    int n = fi_av_insert(net->av, net->shared->proc[proc].name, 1, &net->addr[proc], 0, NULL);

    if (n != 1)
        net_fail(net, "fi_av_insert of process %d: %s", proc, n < 0 ? fi_strerror(-n) : "none inserted");
}

void net_close(struct net *net)
{
    struct fid *const fids[] = {&net->ep->fid,     &net->mr->fid, &net->av->fid,    &net->cq->fid,
                                &net->domain->fid, &net->eq->fid, &net->fabric->fid};

    for (size_t i = 0; i < sizeof fids / sizeof fids[0]; i++)
        need(net, fi_close(fids[i]), "fi_close");
    fi_freeinfo(net->info);
}

static int read_error(struct net *net, struct net_done *done)
{
    struct fi_cq_err_entry entry = {0};
    ssize_t rc = fi_cq_readerr(net->cq, &entry, 0);
    char text[256] = "";

    if (rc < 0)
        net_fail(net, "fi_cq_readerr: %s", fi_strerror((int)-rc));
    *done = (struct net_done){entry.op_context, entry.flags, entry.data, entry.err, entry.prov_errno, ""};
    snprintf(done->text, sizeof done->text, "%s",
             fi_cq_strerror(net->cq, entry.prov_errno, entry.err_data, text, sizeof text));
    return 1;
}

/* What failed that is no operation of ours: the provider's greeting of a peer, for example. */
static int poll_events(struct net *net, struct net_done *done)
{
    struct fi_eq_err_entry entry = {0};
    uint32_t event;
    char unused[64];

    if (fi_eq_read(net->eq, &event, unused, sizeof unused, 0) != -FI_EAVAIL ||
        fi_eq_readerr(net->eq, &entry, 0) < 0) {
        sched_yield();
        return 0;
    }
    *done = (struct net_done){.err = entry.err, .prov_errno = entry.prov_errno};
    snprintf(done->text, sizeof done->text, "%s",
             fi_eq_strerror(net->eq, entry.prov_errno, entry.err_data, unused, sizeof unused));
    return 1;
}

int net_poll(struct net *net, struct net_done *done)
{
    struct fi_cq_data_entry entry;
    ssize_t n;

    if (net->is_held) {
        net->is_held = false;
        *done = net->held;
        return 1;
    }
    n = fi_cq_read(net->cq, &entry, 1);
    if (n == -FI_EAGAIN || n == 0)
        return poll_events(net, done);
    if (n == -FI_EAVAIL)
        return read_error(net, done);
    if (n < 0)
        net_fail(net, "fi_cq_read: %s", fi_strerror((int)-n));
    *done = (struct net_done){entry.op_context, entry.flags, entry.data, 0, 0, ""};
    return 1;
}

static void hold_next(struct net *net)
{
    if (net->is_held)
        sched_yield();
    else
        net->is_held = net_poll(net, &net->held);
    if (net->is_held && net->held.err)
        net_fail(net, "error %d, provider's %d, before a barrier: %s", net->held.err, net->held.prov_errno,
                 net->held.text);
}

void net_barrier(struct net *net)
{
    uint32_t n = (uint32_t)net->options->n_procs;

    hold_next(net); /* the provider posts its receives at its first poll: before anybody can send */
    net->barriers++;
    atomic_fetch_add_explicit(&net->shared->arrived, 1, memory_order_acq_rel); /* with the load below */
    while (atomic_load_explicit(&net->shared->arrived, memory_order_acquire) < net->barriers * n) {
        hold_next(net);
        net_check_time(net, "barrier");
    }
}

bool net_write(struct net *net, int proc, size_t from, size_t to, size_t len, uint64_t flags, uint64_t data,
               void *op)
{
    struct iovec local = {net->heap + from, len};
    struct fi_rma_iov remote = {net->shared->proc[proc].base + to, len, net->shared->proc[proc].key};
    struct fi_msg_rma msg = {.msg_iov = &local,
                             .desc = &net->desc,
                             .iov_count = 1,
                             .addr = net->addr[proc],
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = op,
                             .data = data};
    ssize_t rc = fi_writemsg(net->ep, &msg, flags | FI_COMPLETION);

    if (rc && rc != -FI_EAGAIN)
        net_fail(net, "fi_writemsg: %s", fi_strerror((int)-rc));
    return rc == 0;
}

struct net_done net_wait(struct net *net, const char *what)
{
    struct net_done done;

    while (!net_poll(net, &done))
        net_check_time(net, what);
    return done;
}

static int run_process(const struct net_options *options, struct net_shared *shared, int me,
                       int (*body)(struct net *net))
{
    struct net *net = calloc(1, sizeof *net);
    char rank[16];

    snprintf(rank, sizeof rank, "%d", me);
    setenv("EFA_EMULATOR_RANK", rank, 1); /* who is who in a fault script */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    *net = (struct net){.me = me, .options = options, .shared = shared};
    net->deadline = net_now() + (options->seconds > 0 ? options->seconds : 50);
    shared->proc[me].pid = getpid();
    return body(net);
}

static int judge(const struct net_shared *shared, int me, int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (atomic_load_explicit(&shared->doomed, memory_order_relaxed) & (1u << me))
        return NET_PASSED;
    fprintf(stderr, "process %d: ended by signal %d (%s)\n", me, WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    return NET_FAILED;
}

static int worse(int a, int b)
{
    if (a != NET_PASSED && a != NET_SKIPPED)
        return a;
    return b != NET_PASSED ? b : a;
}

static void *map_shared(size_t len)
{
    void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED) {
        perror("mmap");
        exit(NET_FAILED);
    }
    return at;
}

int net_run(const struct net_options *options, int (*body)(struct net *net))
{
    struct net_shared *shared = map_shared(sizeof *shared);
    pid_t pid[NET_PROCS_MAX];
    int worst = NET_PASSED;

    for (int me = 0; me < options->n_procs; me++)
        shared->proc[me].heap = map_shared(options->heap_len);
    for (int me = 0; me < options->n_procs; me++) {
        pid[me] = fork();
        if (pid[me] == 0)
            exit(run_process(options, shared, me, body));
    }
    for (int me = 0; me < options->n_procs; me++) {
        int status = 0;

        waitpid(pid[me], &status, 0);
        worst = worse(worst, judge(shared, me, status));
    }
    return worst;
}

void net_doom(struct net *net, int proc)
{
    atomic_fetch_or_explicit(&net->shared->doomed, 1u << proc, memory_order_relaxed);
    kill(net->shared->proc[proc].pid, SIGKILL);
}

void net_join(struct net *net)
{
    net_open(net);
    net_barrier(net);
    for (int proc = 0; proc < net->options->n_procs; proc++)
        net_insert(net, proc);
    net_barrier(net);
}

int net_leave(struct net *net)
{
    net_barrier(net);
    net_close(net);
    return NET_PASSED;
}
