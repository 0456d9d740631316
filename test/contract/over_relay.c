/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract over the relay transport, above efa with libfabric's provider tcp and nvlink with a CUDA driver without
 * a GPU: each PE believes that the others are on other hosts. What the core does for it is done here: memory, ways, and
 * progress of all three.
 */
#include "test/contract/group_gpu.h"

#include "transports/nvlink/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EFA, NVLINK, RELAY, PARTS, BOX = 540 << 10 };

static const char *const names[PARTS] = {"efa", "nvlink", "relay"};
static const struct wsh_tp_ops *ops[PARTS];

struct stack {
    struct wsh_tp base;
    int me, n;
    struct wsh_tp *tp[PARTS];
    struct wsh_tctx *ctx[PARTS]; /* for the relay's own use */
    struct wsh_tp_under under;
    struct wsh_lmem *box, *own;
    struct wsh_rmem boxes[GROUP_MAX], device;
    bool met; /* the ways are there */
};

/* Address of a PE: the relay's first, since the suite spoils it there. */
struct blob {
    uint32_t len[PARTS], box_len;
    char bytes[];
};

static int find(const struct wsh_tp_under *under, int pe, enum wsh_seg seg, struct wsh_tp_way *way)
{
    struct stack *stack = under->core;
    bool box = seg == WSH_SEG_HEAP;
    const struct wsh_rmem *rmem = box ? &stack->boxes[pe] : &stack->device;

    if (!stack->met || !rmem->tp)
        return -EHOSTUNREACH;
    *way = (struct wsh_tp_way){rmem, stack->ctx[box ? EFA : NVLINK]};
    return 0;
}

static void stack_close(struct wsh_tp *tp)
{
    struct stack *stack = (struct stack *)tp;

    for (int part = PARTS; part--;) {
        if (stack->ctx[part])
            ops[part]->ctx_close(stack->ctx[part]);
        if (part == EFA && stack->box) {
            for (int pe = 0; pe < stack->n; pe++)
                if (stack->boxes[pe].tp)
                    ops[EFA]->mem_detach(stack->tp[EFA], &stack->boxes[pe]);
            ops[EFA]->mem_release(stack->tp[EFA], stack->box);
        }
        if (stack->tp[part])
            ops[part]->close(stack->tp[part]);
    }
    munmap(stack->under.base, stack->under.len);
    free(stack);
}

static int open_part(struct stack *stack, const struct wsh_tp_params *params, int part,
                     struct wsh_tp_limits *limits)
{
    struct wsh_tp_params its = *params;
    int rc;

    its.under = part == RELAY ? &stack->under : NULL;
    its.gpu = part == EFA ? NULL : params->gpu;
    rc = ops[part]->open(&its, &stack->tp[part], limits);
    if (!rc)
        stack->tp[part]->ops = ops[part];
    else
        stack->tp[part] = NULL;
    return rc;
}

static int stack_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct stack *stack = calloc(1, sizeof *stack);
    int rc = 0;

    stack->me = params->my_pe;
    stack->n = params->n_pes;
    stack->under = (struct wsh_tp_under){.len = (size_t)BOX * GROUP_MAX, .find = find, .core = stack};
    stack->under.base =
        mmap(NULL, stack->under.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int part = 0; part < PARTS && !rc; part++)
        rc = open_part(stack, params, part, limits);
    if (rc) {
        stack_close(&stack->base);
        return rc;
    }
    *tp = &stack->base;
    return 0;
}

/* The box is registered here: later there may be peers already. */
static int stack_address(struct wsh_tp *tp, void *bytes, size_t *len)
{
    struct stack *stack = (struct stack *)tp;
    struct wsh_mem mem = {WSH_SEG_HEAP, WSH_MEM_HOST, stack->under.base, stack->under.len, -1, NULL, 0};
    static _Thread_local char key[WSH_TP_MEM_MAX];
    struct blob *blob = bytes;
    size_t room = *len - sizeof *blob, at = 0, part_len, key_len = sizeof key;
    int rc = stack->box ? 0 : ops[EFA]->mem_register(stack->tp[EFA], &mem, &stack->box, key, &key_len);

    for (int part = PARTS; part-- && !rc;) {
        part_len = room - at;
        rc = ops[part]->address(stack->tp[part], blob->bytes + at, &part_len);
        blob->len[part] = (uint32_t)part_len;
        at += part_len;
    }
    if (rc || at + key_len > room)
        return rc ? rc : -ENOSPC;
    memcpy(blob->bytes + at, key, key_len);
    blob->box_len = (uint32_t)key_len;
    *len = sizeof *blob + at + key_len;
    return 0;
}

static const char *part_of(const struct wsh_tp_peers *peers, int pe, int part, size_t *len)
{
    const struct blob *blob = peers->address[pe];
    const char *at = blob->bytes;

    for (int before = PARTS; --before > part;)
        at += blob->len[before];
    *len = part < 0 ? blob->box_len : blob->len[part];
    return at;
}

static bool is_whole(const struct wsh_tp_peers *peers, int pe)
{
    const struct blob *blob = peers->address[pe];

    return !peers->len[pe] || (peers->len[pe] > sizeof *blob &&
                               peers->len[pe] == sizeof *blob + blob->len[EFA] + blob->len[NVLINK] +
                                                     blob->len[RELAY] + blob->box_len);
}

static int connect_part(struct stack *stack, const struct wsh_tp_peers *peers, int part)
{
    const void *address[GROUP_MAX];
    size_t len[GROUP_MAX];
    bool same_host[GROUP_MAX];
    const struct wsh_tp_peers its = {stack->n, address, len, same_host};

    for (int pe = 0; pe < stack->n; pe++) {
        same_host[pe] = pe == stack->me;
        len[pe] = 0;
        if (peers->len[pe])
            address[pe] = part_of(peers, pe, part, &len[pe]);
        if (peers->len[pe] && !is_whole(peers, pe))
            len[pe]--; /* as if that had been cut */
    }
    return ops[part]->connect(stack->tp[part], &its);
}

static int open_ways(struct stack *stack, const struct wsh_tp_peers *peers)
{
    int rc = 0;

    for (int pe = 0; pe < stack->n && !rc; pe++) {
        size_t len;
        const char *key = peers->len[pe] ? part_of(peers, pe, -1, &len) : NULL;

        if (key)
            rc = ops[EFA]->mem_attach(stack->tp[EFA], pe, WSH_SEG_HEAP, key, len, &stack->boxes[pe]);
        if (key)
            stack->boxes[pe].tp = stack->tp[EFA];
    }
    for (int part = 0; part < RELAY && !rc; part++) {
        rc = stack->ctx[part] ? 0 : ops[part]->ctx_open(stack->tp[part], &stack->ctx[part]);
        if (!rc)
            stack->ctx[part]->tp = stack->tp[part];
    }
    stack->met = !rc;
    return rc;
}

/* The relay's first, without ways: so that what is wrong with its addresses is found. */
static int stack_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct stack *stack = (struct stack *)tp;
    int rc = connect_part(stack, peers, RELAY);

    for (int part = 0; part < RELAY && !rc; part++)
        rc = connect_part(stack, peers, part);
    if (!rc)
        rc = open_ways(stack, peers);
    return rc ? rc : connect_part(stack, peers, RELAY);
}

static unsigned stack_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    return ops[RELAY]->reach(((struct stack *)tp)->tp[RELAY], pe, kind);
}

static int stack_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                              void *blob, size_t *len)
{
    struct stack *stack = (struct stack *)tp;
    char key[WSH_TP_MEM_MAX];
    size_t key_len = sizeof key;
    int rc = ops[NVLINK]->mem_register(stack->tp[NVLINK], mem, &stack->own, key, &key_len);

    if (!rc)
        rc = ops[RELAY]->mem_register(stack->tp[RELAY], mem, lmem, blob, len);
    stack->device = (struct wsh_rmem){
        .tp = stack->tp[NVLINK], .pe = stack->me, .seg = mem->seg, .len = mem->len, .gpu = mem->base};
    return rc;
}

static void stack_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    struct stack *stack = (struct stack *)tp;

    ops[NVLINK]->mem_release(stack->tp[NVLINK], stack->own);
    ops[RELAY]->mem_release(stack->tp[RELAY], lmem);
}

static int stack_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t len,
                            struct wsh_rmem *rmem)
{
    return ops[RELAY]->mem_attach(((struct stack *)tp)->tp[RELAY], pe, seg, blob, len, rmem);
}

static int stack_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    return ops[RELAY]->ctx_open(((struct stack *)tp)->tp[RELAY], tctx);
}

static int stack_progress(struct wsh_tp *tp)
{
    struct stack *stack = (struct stack *)tp;
    int moved = 0;

    for (int part = 0; part < PARTS && moved >= 0; part++) {
        int rc = ops[part]->progress(stack->tp[part]);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}

static struct wsh_tp_ops stack_ops = {.name = "relay",
                                      .open = stack_open,
                                      .close = stack_close,
                                      .address = stack_address,
                                      .connect = stack_connect,
                                      .reach = stack_reach,
                                      .mem_register = stack_mem_register,
                                      .mem_release = stack_mem_release,
                                      .mem_attach = stack_mem_attach,
                                      .ctx_open = stack_ctx_open,
                                      .progress = stack_progress};

/* What contexts do is the relay's own. */
__attribute__((constructor)) static void find_parts(void)
{
    const struct wsh_tp_ops *relay;

    if (!nvlink_agent_size) {
        puts("skip: built without nvcc: no atomics on device memory");
        exit(77);
    }
    for (const struct wsh_tp_ops *const *known = wsh_tp_registry(); *known; known++)
        for (int part = 0; part < PARTS; part++)
            if (!strcmp((*known)->name, names[part]))
                ops[part] = *known;
    relay = ops[RELAY];
    stack_ops.ctx_close = relay->ctx_close;
    stack_ops.put = relay->put;
    stack_ops.get = relay->get;
    stack_ops.amo = relay->amo;
    stack_ops.put_signal = relay->put_signal;
    stack_ops.put_strided = relay->put_strided;
    stack_ops.fence = relay->fence;
    stack_ops.pending = relay->pending;
    stack_ops.describe = relay->describe;
}

const struct group_road group_road = {.name = "relay",
                                      .transport = "relay",
                                      .ops = &stack_ops,
                                      .provider = "tcp",
                                      .dies_loudly = true,
                                      .gpu = GROUP_FAKE_GPU};
