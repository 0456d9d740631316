/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the efa transport over the provider that only completes, as the core would for one PE among others. */
#include "perftest/proxy/stub.h"

#include "transports/transport.h"

#include <stdlib.h>
#include <string.h>

struct stub_net {
    struct wsh_env env;
    struct wsh_tp *tp;
    struct wsh_lmem *heap;
    struct wsh_rmem *rmem; /* [n_attached] of the peers */
    int n_attached;
};

static int no_counters(void *core, uint32_t counter, uint32_t generation, uint32_t mask)
{
    (void)core, (void)counter, (void)generation, (void)mask;
    return -EPROTO;
}

static const struct wsh_tp_ops *efa_find(void)
{
    const struct wsh_tp_ops *const *ops = wsh_tp_registry();

    while (*ops && strcmp((*ops)->name, "efa"))
        ops++;
    return *ops;
}

/* The threads of a job call it: its lock is taken. */
static int open_transport(struct stub_net *net, int n_pes, unsigned threads)
{
    static char provider[] = "efa";
    struct wsh_tp_params params = {.my_pe = n_pes,
                                   .n_pes = n_pes + 1,
                                   .local_size = 1,
                                   .env = &net->env,
                                   .threads = true,
                                   .count = no_counters};
    const struct wsh_tp_ops *efa = efa_find();
    struct wsh_tp_limits limits;
    int rc;

    net->env.provider = provider;
    net->env.endpoint_sets = (long)threads;
    net->env.nics_per_pe = (long)stub_nics;
    rc = efa ? efa->open(&params, &net->tp, &limits) : -ENODEV;
    if (!rc)
        net->tp->ops = efa; /* without NULL slots */
    return rc;
}

/* Every peer has this PE's own address. */
static int connect_all(struct stub_net *net, int n)
{
    char blob[WSH_TP_ADDRESS_MAX];
    size_t len = sizeof blob;
    int rc = net->tp->ops->address(net->tp, blob, &len);
    const void **address = calloc((size_t)n, sizeof *address);
    size_t *lens = calloc((size_t)n, sizeof *lens);
    bool *same_host = calloc((size_t)n, sizeof *same_host);
    const struct wsh_tp_peers peers = {
        .n_pes = n, .address = address, .len = lens, .same_host = same_host, .generation = 1};

    for (int pe = 0; address && lens && pe < n; pe++) {
        address[pe] = blob;
        lens[pe] = len;
    }
    if (!rc)
        rc = address && lens && same_host ? net->tp->ops->connect(net->tp, &peers) : -ENOMEM;
    free(address);
    free(lens);
    free(same_host);
    return rc;
}

static int share_heap(struct stub_net *net, int n_pes, void *heap, size_t len, struct wsh_rmem *rmem)
{
    struct wsh_mem mem = {.seg = WSH_SEG_HEAP, .base = heap, .len = len, .fd = -1, .gpu = -1};
    char key[WSH_TP_MEM_MAX];
    size_t key_len = sizeof key;
    int rc = net->tp->ops->mem_register(net->tp, &mem, &net->heap, key, &key_len);

    if (!rc)
        rc = connect_all(net, n_pes + 1);
    net->rmem = rmem;
    for (int pe = 0; pe < n_pes && !rc; pe++) {
        rc = net->tp->ops->mem_attach(net->tp, pe, WSH_SEG_HEAP, key, key_len, &rmem[pe]);
        rmem[pe].tp = net->tp;
        net->n_attached += !rc;
    }
    return rc;
}

struct stub_net *stub_open(int n_pes, unsigned threads, void *heap, size_t len, struct wsh_rmem *rmem)
{
    struct stub_net *net = calloc(1, sizeof *net);

    if (!net)
        return NULL;
    if (!open_transport(net, n_pes, threads) && !share_heap(net, n_pes, heap, len, rmem))
        return net;
    stub_close(net);
    return NULL;
}

void stub_close(struct stub_net *net)
{
    if (net->tp) {
        for (int pe = 0; pe < net->n_attached; pe++)
            net->tp->ops->mem_detach(net->tp, &net->rmem[pe]);
        net->tp->ops->stop(net->tp, true);
        if (net->heap)
            net->tp->ops->mem_release(net->tp, net->heap);
        net->tp->ops->close(net->tp);
    }
    free(net);
}

struct wsh_tp *stub_transport(const struct stub_net *net)
{
    return net->tp;
}

struct wsh_tctx *stub_ctx_open(const struct stub_net *net)
{
    struct wsh_tctx *tctx;

    if (net->tp->ops->ctx_open(net->tp, &tctx))
        return NULL;
    tctx->tp = net->tp;
    return tctx;
}

void stub_ctx_close(struct wsh_tctx *tctx)
{
    tctx->tp->ops->ctx_close(tctx);
}
