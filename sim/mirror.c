/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts in full are a subgroup of the circle or torus, so that with t also 2 h - t is one of them for every h: what
 * comes back never stands for what a host in full sends itself. They are of one column of the torus, which is a part of
 * the circle too: a sync between the steps of a grid goes around the circle. All packets between two PEs come back
 * alike, acks too: both ends of the ordering engine's flows go on as with a PE in full.
 */
#include "sim/mirror.h"

#include "sim/programs/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sim_call *mirrored;

static void refuse(const char *why)
{
    fprintf(stderr, "sim: --full-hosts %d: %s\n", sim.set.full, why);
    exit(2);
}

/* Host `from`, turned as `b` is from `a`, back. */
static int turned_back(int from, int a, int b)
{
    int across = sim.torus.across, down = sim.torus.down;
    int row = from / across - b / across + a / across, column = from % across - b % across + a % across;

    return (row + down) % down * across + (column + across) % across;
}

static int pe_turned(int pe, const struct sim_pe *giver, const struct sim_pe *target)
{
    return turned_back(pe / sim.set.per_host, giver->host, target->host) * sim.set.per_host +
           pe % sim.set.per_host;
}

int sim_mirror_pe(const struct sim_reflection *reflection, int pe)
{
    return pe_turned(pe, reflection->giver, reflection->target);
}

int sim_mirror_block(const struct sim_reflection *reflection, int block)
{
    int down = sim.torus.down, across = sim.torus.across * sim.set.per_host;
    int columns = reflection->giver->host % sim.torus.across - reflection->target->host % sim.torus.across;

    return (block / down + columns * sim.set.per_host + across) % across * down + block % down;
}

/* Words of the sync area by number of the writer; others are the same for all. */
static size_t word_turned(size_t off, const struct sim_pe *giver, const struct sim_pe *target)
{
    const struct wsh_sync_area *area = &giver->coll.area;
    size_t n = (size_t)sim.n_pes, start, row, word;

    if (off >= area->blocks && off < area->blocks + 2 * n * sizeof(uint64_t)) {
        start = area->blocks;
        row = n;
    } else if (off >= area->sync && off < area->sync + 2 * (size_t)area->sync_words * sizeof(uint64_t)) {
        start = area->sync;
        row = (size_t)area->sync_words;
    } else {
        return off;
    }
    word = (off - start) / sizeof(uint64_t) % row;
    if (word >= n)
        return off;
    return off + ((size_t)pe_turned((int)word, giver, target) - word) * sizeof(uint64_t);
}

static struct sim_reflection reflection_of(const struct sim_op *op)
{
    struct sim_pe *giver = op->source, *target = op->target;

    return (struct sim_reflection){
        mirrored,
        giver->round,
        giver,
        target,
        &sim.pe[pe_turned(giver->number, giver, target)],
        &sim.pe[sim.host[giver->host].first + target->number - sim.host[target->host].first]};
}

static char *word_address(char *word, const struct sim_op *op)
{
    const struct sim_reflection reflection = reflection_of(op);
    size_t off = (size_t)(word - op->target->heap);

    if (off < op->target->coll.area.len || !mirrored->work->reflect->word)
        return reflection.sink->heap + word_turned(off, op->source, op->target);
    return reflection.sink->heap + mirrored->work->reflect->word(&reflection, off);
}

/* The message as its like's: with its own place of the word; data are made when it is applied. */
static struct sim_op *message_turned(struct sim_op *op, struct sim_pe *source, struct sim_pe *sink)
{
    struct sim_op *turned = malloc(sizeof *turned);

    if (!turned)
        abort();
    *turned = *op;
    turned->of = op;
    turned->source = source;
    turned->target = sink;
    turned->word = op->word ? word_address(op->word, op) : NULL;
    return turned;
}

void sim_mirror_packet(struct sim_packet *packet)
{
    struct sim_pe *giver = packet->from, *target = packet->to;
    struct sim_pe *source = &sim.pe[pe_turned(giver->number, giver, target)];
    struct sim_pe *sink =
        &sim.pe[sim.host[giver->host].first + target->number - sim.host[target->host].first];

    if (packet->kind == SIM_READ || packet->kind == SIM_REPLY ||
        (packet->kind == SIM_MESSAGE && packet->op->srd.kind == WSH_SRD_FETCH))
        sim_violation("PE %d gets from PE %d, whose host is not in full", giver->number, target->number);
    packet->from = source;
    packet->to = sink;
    packet->mirrored = true;
    if (packet->word)
        packet->word = word_address(packet->word, packet->op);
    if (packet->kind == SIM_MESSAGE)
        packet->op = message_turned(packet->op, source, sink);
}

void sim_mirror_land(const struct sim_op *op, size_t at, size_t len)
{
    const struct sim_reflection reflection = reflection_of(op);

    if (len)
        mirrored->work->reflect->data(&reflection, (size_t)(op->there - op->target->heap) + at, op->here + at,
                                      len);
}

static void torus_make(const struct sim_call *call)
{
    const struct wsh_coll_request request = {
        WSH_COLL_ALLTOALL,          sim.n_pes, call->len, sim.pe[0].heap + call->dest,
        sim.pe[0].heap + call->src, call->len};
    int across = wsh_choice_across(sim.n_pes);

    sim.torus.across = sim.n_hosts;
    sim.torus.down = 1;
    if (strcmp(call->work->name, "alltoall") || wsh_coll_choose(&sim.pe[0].team, &request) != WSH_ALGO_GRID)
        return;
    if (across % sim.set.per_host)
        refuse("the rows of this alltoall's grid do not hold whole hosts: give another number of PEs");
    sim.torus.across = across / sim.set.per_host;
    sim.torus.down = sim.n_pes / across;
    sim.grid = true;
}

void sim_mirror_open(const struct sim_call *call)
{
    int parts;

    mirrored = call;
    if (!sim.set.full || sim.set.full >= sim.n_hosts) {
        for (int h = 0; h < sim.n_hosts; h++)
            sim.host[h].full = true;
        return;
    }
    if (!call->work->reflect)
        refuse("of these calls alone: sync, barrier, alltoall, fcollect, decode, prefill, dispatch, combine");
    if (sim.n_pes % sim.set.per_host || call->len % 8)
        refuse("give hosts with equally many PEs, and blocks of a multiple of 8 bytes");
    torus_make(call);
    parts = sim.torus.down > 1 ? sim.torus.down : sim.n_hosts;
    if (parts % sim.set.full)
        refuse("give a number that divides the hosts, in a grid the hosts of a column");
    for (int i = 0; i < sim.set.full; i++)
        sim.host[sim.n_hosts - 1 - i * (sim.n_hosts / sim.set.full)].full = true;
    sim.n_full = sim.set.full * sim.set.per_host;
}
