/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, connects and closes the three transports together. */
#include "test/contract/stack.h"

#include "test/contract/stage_context.h"
#include "test/contract/group_gpu.h"

#include "transports/nvlink/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *const names[STAGE] = {"efa", "nvlink"};
const struct wsh_tp_ops *stack_part[PARTS];

/* Address of a PE: staging's first, since the suite spoils it there. */
struct blob {
    uint32_t len[PARTS], box_len;
    char bytes[];
};

static int reach_box(const struct wsh_stage_context *context, int pe, struct wsh_stage_target *to)
{
    struct stack *stack = context->core;

    if (!stack->met || !stack->boxes[pe].tp)
        return -EHOSTUNREACH;
    *to = (struct wsh_stage_target){&stack->boxes[pe], stack->ctx[EFA]};
    return 0;
}

static int reach_own(const struct wsh_stage_context *context, enum wsh_seg seg, struct wsh_stage_target *to)
{
    struct stack *stack = context->core;

    if (!stack->met)
        return -EHOSTUNREACH;
    *to = (struct wsh_stage_target){seg == WSH_SEG_HEAP ? &stack->here : &stack->device, stack->ctx[NVLINK]};
    return 0;
}

static void stack_close(struct wsh_tp *tp)
{
    struct stack *stack = (struct stack *)tp;

    for (int part = PARTS; part--;) {
        if (stack->ctx[part])
            stack_part[part]->ctx_close(stack->ctx[part]);
        if (part == EFA && stack->box) {
            for (int pe = 0; pe < stack->n; pe++) {
                if (stack->boxes[pe].tp)
                    stack_part[EFA]->mem_detach(stack->tp[EFA], &stack->boxes[pe]);
                stack_part[EFA]->mem_detach(stack->tp[EFA], &stack->by_efa[pe]);
            }
            stack_part[EFA]->mem_release(stack->tp[EFA], stack->box);
        }
        if (stack->tp[part])
            stack_part[part]->close(stack->tp[part]);
    }
    if (!stack_context)
        munmap(stack->context.base, stack->context.len);
    free(stack);
}

static int open_part(struct stack *stack, const struct wsh_tp_params *params, int part,
                     struct wsh_tp_limits *limits)
{
    struct wsh_tp_params its = *params;
    int rc;

    its.gpu = part == EFA ? NULL : params->gpu;
    its.hmem = stack_hmem;
    rc = part == STAGE ? wsh_stage_open(&stack->context, stack->me, stack->n, &stack->tp[part])
                       : stack_part[part]->open(&its, &stack->tp[part], &stack->limits[part]);
    *limits = stack->limits[part];
    if (!rc)
        stack->tp[part]->ops = stack_part[part];
    else
        stack->tp[part] = NULL;
    return rc;
}

static char *stack_memory(int pe)
{
    void *memory;

    if (stack_context)
        return stage_context_memory(pe);
    memory = mmap(NULL, STAGE_CONTEXT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int stack_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct stack *stack = calloc(1, sizeof *stack);
    int rc = 0;

    stack->me = params->my_pe;
    stack->n = params->n_pes;
    stack->context = (struct wsh_stage_context){.base = stack_memory(stack->me),
                                                .len = STAGE_CONTEXT_BYTES,
                                                .gpu = params->gpu,
                                                .reach = reach_box,
                                                .own = reach_own,
                                                .core = stack};
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
    struct wsh_mem mem = {
        WSH_SEG_HEAP, WSH_MEM_HOST, stack->context.base, stack->context.len, -1, NULL, 0, 0};
    static _Thread_local char key[WSH_TP_MEM_MAX];
    struct blob *blob = bytes;
    size_t room = *len - sizeof *blob, at = 0, part_len, key_len = sizeof key;
    int rc = stack->box ? 0 : stack_part[EFA]->mem_register(stack->tp[EFA], &mem, &stack->box, key, &key_len);

    for (int part = PARTS; part-- && !rc;) {
        part_len = room - at;
        rc = stack_part[part]->address(stack->tp[part], blob->bytes + at, &part_len);
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
                                                     blob->len[STAGE] + blob->box_len);
}

static int connect_part(struct stack *stack, const struct wsh_tp_peers *peers, int part)
{
    const void *address[GROUP_MAX];
    size_t len[GROUP_MAX];
    bool same_host[GROUP_MAX];
    const struct wsh_tp_peers its = {stack->n, address, len, same_host, peers->secret, peers->generation};

    for (int pe = 0; pe < stack->n; pe++) {
        same_host[pe] = pe == stack->me;
        len[pe] = 0;
        if (peers->len[pe])
            address[pe] = part_of(peers, pe, part, &len[pe]);
        if (peers->len[pe] && !is_whole(peers, pe))
            len[pe]--; /* as if that had been cut */
    }
    return stack_part[part]->connect(stack->tp[part], &its);
}

static int open_targets(struct stack *stack, const struct wsh_tp_peers *peers)
{
    int rc = 0;

    for (int pe = 0; pe < stack->n && !rc; pe++) {
        size_t len;
        const char *key = peers->len[pe] ? part_of(peers, pe, -1, &len) : NULL;

        if (key)
            rc = stack_part[EFA]->mem_attach(stack->tp[EFA], pe, WSH_SEG_HEAP, key, len, &stack->boxes[pe]);
        if (key)
            stack->boxes[pe].tp = stack->tp[EFA];
    }
    for (int part = 0; part < STAGE && !rc; part++) {
        rc = stack->ctx[part] ? 0 : stack_part[part]->ctx_open(stack->tp[part], &stack->ctx[part]);
        if (!rc)
            stack->ctx[part]->tp = stack->tp[part];
    }
    if (!rc)
        rc = stack_part[NVLINK]->mem_adopt(stack->tp[NVLINK], stack->me, WSH_SEG_HEAP, stack->context.base,
                                           stack->context.len, &stack->here);
    stack->met = !rc;
    return rc;
}

/* Staging's first, without targets: so that what is wrong with its addresses is found. */
static int stack_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct stack *stack = (struct stack *)tp;
    int rc = connect_part(stack, peers, STAGE);

    for (int part = 0; part < STAGE && !rc; part++)
        rc = connect_part(stack, peers, part);
    if (!rc)
        rc = open_targets(stack, peers);
    return rc ? rc : connect_part(stack, peers, STAGE);
}

static unsigned stack_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    return stack_part[STAGE]->reach(((struct stack *)tp)->tp[STAGE], pe, kind);
}

/* Behind staging's blob comes efa's. */
static int register_direct(struct stack *stack, const struct wsh_mem *mem, void *blob, size_t *len)
{
    size_t key_len = WSH_TP_MEM_MAX - *len;
    int rc =
        stack_part[EFA]->mem_register(stack->tp[EFA], mem, &stack->direct, (char *)blob + *len, &key_len);

    if (!rc)
        *len += key_len;
    return rc;
}

static int stack_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                              void *blob, size_t *len)
{
    struct stack *stack = (struct stack *)tp;
    char key[WSH_TP_MEM_MAX];
    size_t key_len = sizeof key;
    int rc = stack_part[NVLINK]->mem_register(stack->tp[NVLINK], mem, &stack->own, key, &key_len);

    if (!rc)
        rc = stack_part[STAGE]->mem_register(stack->tp[STAGE], mem, lmem, blob, len);
    if (!rc && stack_hmem)
        rc = register_direct(stack, mem, blob, len);
    stack->device = (struct wsh_rmem){
        .tp = stack->tp[NVLINK], .pe = stack->me, .seg = mem->seg, .len = mem->len, .gpu = mem->base};
    return rc;
}

static void stack_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    struct stack *stack = (struct stack *)tp;

    stack_part[NVLINK]->mem_release(stack->tp[NVLINK], stack->own);
    stack_part[STAGE]->mem_release(stack->tp[STAGE], lmem);
    if (stack->direct)
        stack_part[EFA]->mem_release(stack->tp[EFA], stack->direct);
    stack->direct = NULL;
}

static int stack_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t len,
                            struct wsh_rmem *rmem)
{
    enum { STAGES = 16 }; /* bytes of its blob */
    struct stack *stack = (struct stack *)tp;
    size_t its = stack_hmem && len > STAGES ? STAGES : len;
    int rc = stack_part[STAGE]->mem_attach(stack->tp[STAGE], pe, seg, blob, its, rmem);

    if (rc || !stack_hmem || pe == stack->me)
        return rc;
    return stack_part[EFA]->mem_attach(stack->tp[EFA], pe, seg, (const char *)blob + its, len - its,
                                       &stack->by_efa[pe]);
}

static int stack_progress(struct wsh_tp *tp)
{
    struct stack *stack = (struct stack *)tp;
    int moved = 0;

    for (int part = 0; part < PARTS && moved >= 0; part++) {
        int rc = stack_part[part]->progress(stack->tp[part]);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}

struct wsh_tp_ops stack_ops = {.name = "stage",
                               .open = stack_open,
                               .close = stack_close,
                               .address = stack_address,
                               .connect = stack_connect,
                               .reach = stack_reach,
                               .mem_register = stack_mem_register,
                               .mem_release = stack_mem_release,
                               .mem_attach = stack_mem_attach,
                               .progress = stack_progress};

void stack_find_parts(void)
{
    static struct wsh_tp_ops own;

    if (!nvlink_agent_size) {
        puts("skip: built without nvcc: no atomics on device memory");
        exit(77);
    }
    for (const struct wsh_tp_ops *const *known = wsh_tp_registry(); *known; known++)
        for (int part = 0; part < STAGE; part++)
            if (!strcmp((*known)->name, names[part]))
                stack_part[part] = *known;
    stack_part[STAGE] = wsh_stage_ops();
    if (!stack_context)
        return;
    wsh_tp_fill(&own, stack_context);
    stack_part[EFA] = &own;
}

static int alone_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    return stack_part[STAGE]->ctx_open(((struct stack *)tp)->tp[STAGE], tctx);
}

void stack_alone(void)
{
    const struct wsh_tp_ops *stage = stack_part[STAGE];

    stack_ops.ctx_open = alone_ctx_open;
    stack_ops.ctx_close = stage->ctx_close;
    stack_ops.put = stage->put;
    stack_ops.get = stage->get;
    stack_ops.amo = stage->amo;
    stack_ops.put_signal = stage->put_signal;
    stack_ops.put_strided = stage->put_strided;
    stack_ops.fence = stage->fence;
    stack_ops.pending = stage->pending;
    stack_ops.unread = stage->unread;
    stack_ops.await = stage->await;
    stack_ops.describe = stage->describe;
}
