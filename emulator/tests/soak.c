/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak FABRIC SECONDS SEED [kill]: four processes write to one another at random, with immediate data. Every write
 * ends exactly once at its source and arrives exactly once, whole, at its target. With `kill` one process dies on the
 * way: nobody hangs, and nobody gets wrong reports about the others.
 */
#define _GNU_SOURCE
#include "emulator/tests/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PROCS 4
#define SLOTS 16
#define SLOT_LEN ((size_t)65536)
#define AREA (SLOTS * SLOT_LEN)
#define HEAP (PROCS * AREA + AREA) /* what comes from each process, then what goes out */
#define GRACE 30.0                 /* seconds to the last completion; a dead peer is noticed in less */

/* A write that is on its way, or verified at its target and so free again. */
struct op {
    struct fi_context2 context; /* first: the completion brings its address */
    int target, slot;
    uint64_t number; /* 1, 2, … for each target */
    size_t len;
    bool busy;
};

/* [target][source]… All counts only rise. Release by who writes, acquire by who reads. */
static struct {
    _Atomic uint64_t
        verified[PROCS][PROCS][SLOTS]; /* number of the last write of the slot that was verified */
    _Atomic uint64_t arrived[PROCS][PROCS], sent[PROCS][PROCS], failed[PROCS][PROCS];
    _Atomic uint32_t finished, victim; /* victim: number + 1 */
} * all;

static double duration;
static uint64_t seed;
static bool kills;

static struct op ops[PROCS][SLOTS];
static uint64_t state, numbers[PROCS];
static long outstanding;
static bool lost[PROCS]; /* the peer is known to be gone */

static uint64_t draw(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % limit;
}

static bool is_dead(int proc)
{
    return atomic_load_explicit(&all->victim, memory_order_acquire) == (uint32_t)proc + 1;
}

/* --- what comes in --- */

/* source in 2 bits, slot in 4, length in units of 8 bytes in 14, the rest a part of the number. */
static uint32_t imm_of(int source, const struct op *op)
{
    return (uint32_t)source | (uint32_t)op->slot << 2 | (uint32_t)(op->len / 8) << 6 |
           (uint32_t)(op->number & 0xfff) << 20;
}

static uint64_t stamp_of(int source, int target, int slot, uint64_t number)
{
    return (number << 16 | (uint64_t)slot << 8 | (uint64_t)source << 4 | (uint64_t)target) *
           0x9e3779b97f4a7c15u;
}

static void arrive(struct net *net, uint64_t data)
{
    int source = data & 3, slot = data >> 2 & 15;
    size_t len = (data >> 6 & 0x3fff) * 8;
    _Atomic uint64_t *verified = &all->verified[net->me][source][slot];
    uint64_t before = atomic_load_explicit(verified, memory_order_relaxed), number = before + 1;
    const uint64_t *word = (const void *)(net->heap + (size_t)source * AREA + (size_t)slot * SLOT_LEN);

    if ((number & 0xfff) != (data >> 20 & 0xfff))
        net_fail(net, "write %lu of slot %d from process %d: its completion came %s", (unsigned long)number,
                 slot, source, (before & 0xfff) == (data >> 20 & 0xfff) ? "twice" : "out of turn");
    for (size_t i = 0; i < len / 8; i++)
        if (__atomic_load_n(&word[i], __ATOMIC_RELAXED) != stamp_of(source, net->me, slot, number) + i)
            net_fail(net, "write %lu of slot %d from process %d: byte %zu of %zu is not there",
                     (unsigned long)number, slot, source, i * 8, len);
    atomic_fetch_add_explicit(&all->arrived[net->me][source], 1, memory_order_relaxed);
    atomic_store_explicit(verified, number, memory_order_release); /* with is_free */
}

static void finish(struct net *net, struct op *op, const struct net_done *done)
{
    if (op < &ops[0][0] || op > &ops[PROCS - 1][SLOTS - 1] || !op->busy)
        net_fail(net, "a completion of no write: context %p, error %d", (void *)op, done->err);
    op->busy = false;
    outstanding--;
    if (!done->err) {
        atomic_fetch_add_explicit(&all->sent[op->target][net->me], 1, memory_order_relaxed);
        return;
    }
    if (!is_dead(op->target))
        net_fail(net, "a write to process %d, which lives, ended with error %d, provider's %d: %s",
                 op->target, done->err, done->prov_errno, done->text);
    if (!lost[op->target])
        printf("process %d: write to the killed process %d: error %d, provider's %d: %s\n", net->me,
               op->target, done->err, done->prov_errno, done->text);
    lost[op->target] = true;
    atomic_fetch_add_explicit(&all->failed[op->target][net->me], 1, memory_order_relaxed);
}

/* What there is to say when the end does not come. */
static void print_missing(const struct net *net)
{
    for (int peer = 0; peer < PROCS; peer++) {
        int busy = 0;

        for (int slot = 0; slot < SLOTS; slot++)
            busy += ops[peer][slot].busy;
        printf("process %d: process %d%s: %d writes to it have not ended, %lu of its %lu have arrived\n",
               net->me, peer, is_dead(peer) ? " (killed)" : "", busy,
               (unsigned long)atomic_load_explicit(&all->arrived[net->me][peer], memory_order_relaxed),
               (unsigned long)atomic_load_explicit(&all->sent[net->me][peer], memory_order_relaxed));
    }
    printf("process %d: %u ends were reported\n", net->me,
           (unsigned)atomic_load_explicit(&all->finished, memory_order_relaxed));
}

static void serve(struct net *net)
{
    struct net_done done;

    while (net_poll(net, &done)) {
        if (done.flags & FI_REMOTE_CQ_DATA && !done.err)
            arrive(net, done.data);
        else if (done.context || !done.err)
            finish(net, done.context, &done);
        else if (!atomic_load_explicit(&all->victim, memory_order_acquire))
            net_fail(net, "error %d, provider's %d, of nothing: %s", done.err, done.prov_errno, done.text);
    }
    if (net_now() > net->deadline)
        print_missing(net);
    net_check_time(net, "the soak");
}

/* --- what goes out --- */

/* A slot is free when its last write has ended here and was verified there. */
static bool is_free(const struct net *net, const struct op *op)
{
    return !op->busy && atomic_load_explicit(&all->verified[op->target][net->me][op->slot],
                                             memory_order_acquire) == op->number;
}

/*
 * The protocol of fabric efa cuts a long write into packets. Where several of one write fail, libfabric 1.17 ends it as
 * often, and now and then walks a list without end ever after: there who may lose a peer writes one packet at a time.
 */
static bool needs_one_packet(const struct net *net)
{
    return kills && !net_is_direct(net) && FI_VERSION_LT(fi_version(), FI_VERSION(1, 18));
}

static size_t draw_len(const struct net *net)
{
    static const size_t limits[] = {8, 64, 4096, 8192, SLOT_LEN};
    size_t n = sizeof limits / sizeof limits[0] - (needs_one_packet(net) ? 2 : 0);

    return 8 + draw(limits[draw(n)] / 8) * 8;
}

static void start(struct net *net, struct op *op)
{
    size_t from = PROCS * AREA + (size_t)op->slot * SLOT_LEN;
    size_t to = (size_t)net->me * AREA + (size_t)op->slot * SLOT_LEN;
    uint64_t *word = (void *)(net->heap + from);

    op->number++;
    op->len = draw_len(net) % SLOT_LEN;
    for (size_t i = 0; i < op->len / 8; i++)
        word[i] = stamp_of(net->me, op->target, op->slot, op->number) + i;
    op->busy = true;
    outstanding++;
    while (!net_write(net, op->target, from, to, op->len, FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE,
                      imm_of(net->me, op), op)) {
        serve(net);
        if (is_dead(op->target)) { /* the provider may wait for ever for a peer that was not ready */
            op->busy = false;
            outstanding--;
            return;
        }
    }
    numbers[op->target]++;
}

/* The source's buffer of a slot is shared by all targets: it must be idle. */
static bool is_idle(int slot)
{
    for (int target = 0; target < PROCS; target++)
        if (ops[target][slot].busy)
            return false;
    return true;
}

static void maybe_start(struct net *net)
{
    int target = (net->me + 1 + (int)draw(PROCS - 1)) % PROCS, slot = (int)draw(SLOTS);
    struct op *op = &ops[target][slot];

    if (!lost[target] && !is_dead(target) && is_idle(slot) && is_free(net, op))
        start(net, op);
}

/* --- the course --- */

static void maybe_kill(struct net *net, double now, double when)
{
    int victim = 1 + (int)(seed % (PROCS - 1));

    if (!kills || net->me || now < when || atomic_load_explicit(&all->victim, memory_order_relaxed))
        return;
    printf("process %d is killed\n", victim);
    atomic_store_explicit(&all->victim, (uint32_t)victim + 1, memory_order_release); /* with is_dead */
    net_doom(net, victim);
}

/* Writes to a dead peer whose receipt the provider expects from the peer's own software never end: see wait_end. */
static long unanswered(const struct net *net)
{
    long n = 0;

    for (int target = 0; target < PROCS && !net_is_direct(net); target++)
        for (int slot = 0; slot < SLOTS && is_dead(target); slot++)
            n += ops[target][slot].busy;
    return n;
}

static bool all_arrived(const struct net *net)
{
    for (int source = 0; source < PROCS; source++)
        if (!is_dead(source) &&
            atomic_load_explicit(&all->sent[net->me][source], memory_order_relaxed) !=
                atomic_load_explicit(&all->arrived[net->me][source], memory_order_relaxed))
            return false;
    return true;
}

static void wait_end(struct net *net)
{
    uint32_t living = PROCS - (kills ? 1 : 0);

    while (outstanding > unanswered(net))
        serve(net);
    atomic_fetch_add_explicit(&all->finished, 1, memory_order_acq_rel); /* with the load below */
    while (atomic_load_explicit(&all->finished, memory_order_acquire) < living || !all_arrived(net))
        serve(net);
    atomic_fetch_add_explicit(&all->finished, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&all->finished, memory_order_acquire) < 2 * living)
        serve(net);
}

static void report(const struct net *net)
{
    uint64_t sent = 0, arrived = 0, failed = 0;

    for (int peer = 0; peer < PROCS; peer++) {
        sent += atomic_load_explicit(&all->sent[peer][net->me], memory_order_relaxed);
        failed += atomic_load_explicit(&all->failed[peer][net->me], memory_order_relaxed);
        arrived += atomic_load_explicit(&all->arrived[net->me][peer], memory_order_relaxed);
    }
    printf("process %d: %lu writes delivered, %lu failed, %ld unanswered, %lu arrived\n", net->me,
           (unsigned long)sent, (unsigned long)failed, outstanding, (unsigned long)arrived);
}

static int body(struct net *net)
{
    double begin = net_now(), now = begin;

    state = seed * PROCS + (uint64_t)net->me + 1;
    for (int target = 0; target < PROCS; target++)
        for (int slot = 0; slot < SLOTS; slot++)
            ops[target][slot] = (struct op){.target = target, .slot = slot};
    net_join(net);
    for (begin = now = net_now(); now < begin + duration; now = net_now()) {
        maybe_start(net);
        serve(net);
        maybe_kill(net, now, begin + duration * (0.2 + 0.06 * (double)(seed % 10)));
    }
    wait_end(net);
    report(net);
    net_close(net);
    return NET_PASSED;
}

int main(int argc, char **argv)
{
    struct net_options options = {.n_procs = PROCS, .heap_len = HEAP};

    if (argc < 4) {
        fprintf(stderr, "use: soak FABRIC SECONDS SEED [kill]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    options.fabric = argv[1];
    duration = atof(argv[2]);
    seed = strtoull(argv[3], NULL, 10);
    kills = argc > 4 && !strcmp(argv[4], "kill");
    options.seconds = duration + GRACE;
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NET_FAILED;
    return net_run(&options, body);
}
