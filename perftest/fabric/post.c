/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts messages over the NICs, starts them, and counts them when they complete or arrive. */
#include "perftest/fabric/net.h"

#include <sched.h>
#include <stdio.h>

/* A stripe is worth an operation of its own from this size on. */
#define STRIPE_MIN ((size_t)128 << 10)
/* Immediate data: who sent the piece, and which one it is. */
#define IMM_PIECE_BITS 20
/* So many empty polls before another process may have the core. */
#define POLLS_BEFORE_YIELD 1000

static size_t piece_len(const struct fab_net *net, enum fab_kind kind)
{
    size_t len = net->len, stripes = 1;

    if (net->opts->policy == FAB_SPLIT && len >= 2 * STRIPE_MIN)
        stripes = len / STRIPE_MIN < (size_t)net->n_rails ? len / STRIPE_MIN : (size_t)net->n_rails;
    len = ((len + stripes - 1) / stripes + 63) / 64 * 64;
    return (kind == FAB_SEND || kind == FAB_MESSAGE) && len > net->slot_len ? net->slot_len : len;
}

int fab_pieces(const struct fab_net *net, enum fab_kind kind)
{
    size_t each = piece_len(net, kind);

    return (int)((net->len + each - 1) / each);
}

static unsigned first_rail(struct fab_net *net, int to)
{
    if (net->opts->policy != FAB_ROUND_ROBIN)
        return 0;
    return net->boot.n > 2 ? (unsigned)to : net->next_rail++;
}

static void receive_again(struct fab_net *net, struct fab_rail *rail, struct fi_context2 *receive)
{
    size_t r = (size_t)(rail - net->rails), i = (size_t)(receive - rail->receives);
    size_t slots = (size_t)net->n_slots * ((size_t)net->n_rails - r) - i;
    ssize_t rc;

    while ((rc = fi_recv(rail->ep, net->memory + net->size - net->slot_len * slots, net->slot_len,
                         fi_mr_desc(rail->mr), FI_ADDR_UNSPEC, receive)) == -FI_EAGAIN)
        fi_cq_read(rail->cq, NULL, 0);
    fab_must(rail, rc, "fi_recv");
}

static void compare(struct fab_net *net, const struct fab_rail *rail, const struct fi_cq_data_entry *entry)
{
    size_t r = (size_t)(rail - net->rails);
    size_t i = (size_t)((const struct fi_context2 *)entry->op_context - rail->receives);
    size_t slots = (size_t)net->n_slots * ((size_t)net->n_rails - r) - i;
    uint64_t data = entry->flags & FI_REMOTE_CQ_DATA ? entry->data : 0;
    size_t offset = (data & ((1u << IMM_PIECE_BITS) - 1)) * piece_len(net, FAB_SEND);
    int from = entry->flags & FI_REMOTE_CQ_DATA ? (int)(data >> IMM_PIECE_BITS) : fab_peer(net);
    size_t rest = offset < net->len ? net->len - offset : 0;
    size_t len = rest < piece_len(net, FAB_SEND) ? rest : piece_len(net, FAB_SEND);
    long wrong =
        fab_wrong(net->memory + net->size - net->slot_len * slots, entry->len, offset, net->len, from);

    if (entry->len != len)
        wrong += (long)len;
    net->wrong_bytes += wrong;
    net->right_bytes += (long)entry->len - wrong;
}

static bool is_receive(const struct fab_net *net, const struct fab_rail *rail, const void *context)
{
    const struct fi_context2 *receive = context;

    return receive >= rail->receives && receive < rail->receives + net->n_slots;
}

static bool is_op(const struct fab_net *net, const void *context)
{
    const struct fab_op *op = context;

    return op >= net->ops && op < net->ops + FAB_OPS;
}

/* What a peer's write with immediate data leaves has no context of ours; shm does not even call it a remote write. */
static void completion_take(struct fab_net *net, struct fab_rail *rail, const struct fi_cq_data_entry *entry)
{
    bool receive = is_receive(net, rail, entry->op_context);

    if ((entry->flags & FI_REMOTE_WRITE) || (!receive && !is_op(net, entry->op_context))) {
        net->immediates++;
    } else if (receive) {
        net->messages++;
        if (net->checking && (net->kind == FAB_MESSAGE || entry->flags & FI_REMOTE_CQ_DATA))
            compare(net, rail, entry);
    } else {
        struct fab_op *op = entry->op_context;

        op->next = net->free_ops;
        net->free_ops = op;
        net->done++;
    }
    if (receive)
        receive_again(net, rail, entry->op_context);
}

static void failed(const struct fab_rail *rail, long code)
{
    struct fi_cq_err_entry error = {0};
    char text[256] = "";

    if (code != -FI_EAVAIL || fi_cq_readerr(rail->cq, &error, 0) != 1)
        fab_must(rail, code, "fi_cq_read");
    fab_fail("an operation over %s (%s) failed: %s (vendor %d: %s)", rail->info->fabric_attr->prov_name,
             rail->info->domain_attr->name, fi_strerror(error.err), error.prov_errno,
             fi_cq_strerror(rail->cq, error.prov_errno, error.err_data, text, sizeof(text)));
}

void fab_poll(struct fab_net *net)
{
    static unsigned empty;
    struct fi_cq_data_entry entries[16];
    bool any = false;

    for (int r = 0; r < net->n_rails; r++) {
        struct fab_rail *rail = &net->rails[r];
        ssize_t n = fi_cq_read(rail->cq, entries, sizeof(entries) / sizeof(entries[0]));

        if (n < 0 && n != -FI_EAGAIN)
            failed(rail, n);
        for (ssize_t i = 0; i < n; i++)
            completion_take(net, rail, &entries[i]);
        any |= n > 0;
    }
    empty = any || net->boot.alone ? 0 : empty + 1;
    if (empty % POLLS_BEFORE_YIELD == POLLS_BEFORE_YIELD - 1)
        sched_yield();
}

static struct fab_op *new_op(struct fab_net *net)
{
    while (!net->free_ops)
        fab_poll(net);
    struct fab_op *op = net->free_ops;
    net->free_ops = op->next;
    net->started++;
    return op;
}

static ssize_t message_post(struct fab_rail *rail, enum fab_kind kind, int to, struct iovec *iov,
                            uint64_t target, uint64_t imm, struct fab_op *op)
{
    void *desc = fi_mr_desc(rail->mr);
    struct fi_rma_iov remote = {rail->base[to] + target, iov->iov_len, rail->key[to]};
    struct fi_msg message = {iov, &desc, 1, rail->addr[to], &op->context, imm};
    struct fi_msg_rma write = {iov, &desc, 1, rail->addr[to], &remote, 1, &op->context, imm};

    if (kind == FAB_MESSAGE)
        return fi_send(rail->ep, iov->iov_base, iov->iov_len, desc, rail->addr[to], &op->context);
    if (kind == FAB_SEND)
        return fi_sendmsg(rail->ep, &message, FI_COMPLETION | FI_REMOTE_CQ_DATA);
    if (kind == FAB_READ)
        return fi_read(rail->ep, iov->iov_base, iov->iov_len, desc, rail->addr[to], remote.addr, remote.key,
                       &op->context);
    return fi_writemsg(rail->ep, &write,
                       FI_COMPLETION | FI_DELIVERY_COMPLETE |
                           (kind == FAB_WRITE_IMM ? FI_REMOTE_CQ_DATA : 0));
}

/* It has no completion. */
static void inject(struct fab_net *net, struct fab_rail *rail, int to, const struct iovec *iov)
{
    ssize_t rc;

    while ((rc = fi_inject(rail->ep, iov->iov_base, iov->iov_len, rail->addr[to])) == -FI_EAGAIN)
        fab_poll(net);
    fab_must(rail, rc, "fi_inject");
}

void fab_flag_send(struct fab_net *net, int to)
{
    struct fab_rail *rail = &net->rails[0];
    uint64_t target = rail->base[to] + (uint64_t)(fab_dest(net, net->boot.me) - net->memory);
    ssize_t rc;

    while ((rc = fi_inject_write(rail->ep, &net->flags, sizeof(net->flags), rail->addr[to], target,
                                 rail->key[to])) == -FI_EAGAIN)
        fab_poll(net);
    fab_must(rail, rc, "fi_inject_write");
}

/* The provider writes the flag, so it is read anew each time; nothing else depends on its order. */
void fab_flag_wait(struct fab_net *net, int from)
{
    const uint64_t *flag = (const uint64_t *)(const void *)fab_dest(net, from);

    while (__atomic_load_n(flag, __ATOMIC_RELAXED) != net->flags)
        fab_poll(net);
}

int fab_start(struct fab_net *net, enum fab_kind kind, int to)
{
    size_t each = piece_len(net, kind);
    unsigned first = first_rail(net, to), rails = net->opts->policy == FAB_SPLIT ? (unsigned)net->n_rails : 1;
    int pieces = 0;

    for (size_t at = 0; at < net->len; at += each, pieces++) {
        struct fab_rail *rail = &net->rails[(first + (unsigned)pieces % rails) % (unsigned)net->n_rails];
        char *local = (kind == FAB_READ ? fab_dest(net, to) : fab_source(net)) + at;
        struct iovec iov = {local, net->len - at < each ? net->len - at : each};
        char *there = kind == FAB_READ ? fab_source(net) : fab_dest(net, net->boot.me);
        uint64_t target = (uint64_t)(there - net->memory) + at;
        uint64_t imm = (uint64_t)net->boot.me << IMM_PIECE_BITS | (unsigned)pieces;
        struct fab_op *op;
        ssize_t rc;

        if (kind == FAB_MESSAGE && iov.iov_len <= rail->info->tx_attr->inject_size) {
            inject(net, rail, to, &iov);
            continue;
        }
        op = new_op(net);
        while ((rc = message_post(rail, kind, to, &iov, target, imm, op)) == -FI_EAGAIN)
            fab_poll(net);
        fab_must(rail, rc, "an operation");
    }
    return pieces;
}

void fab_finish(struct fab_net *net)
{
    while (net->done < net->started)
        fab_poll(net);
}

void fab_receive(struct fab_net *net, long pieces)
{
    while (net->messages < pieces)
        fab_poll(net);
    net->messages -= pieces;
}

/* Its contents say nothing: only that it came counts. */
void fab_answer(struct fab_net *net, int to)
{
    struct fab_rail *rail = &net->rails[0];
    struct fab_op *op = new_op(net);
    ssize_t rc;

    while ((rc = fi_send(rail->ep, fab_source(net), sizeof(uint64_t), fi_mr_desc(rail->mr), rail->addr[to],
                         &op->context)) == -FI_EAGAIN)
        fab_poll(net);
    fab_must(rail, rc, "fi_send");
}

void fab_credit_wait(struct fab_net *net, long more)
{
    net->sent_immediates += more;
    while (net->sent_immediates > (net->messages + FAB_CREDITS_MAX) * FAB_CREDIT)
        fab_poll(net);
}

void fab_serve(void *arg)
{
    struct fab_net *net = arg;

    fab_poll(net);
    while ((net->answered + 1) * FAB_CREDIT <= net->immediates) {
        net->answered++;
        fab_answer(net, 0);
    }
}
