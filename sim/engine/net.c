/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network: a NIC sends and receives one message after the other, each in a gap and a time for its bytes (the G and
 * g of LogGP); on the way it takes the latency and a random delay, by which messages overtake each other. Messages to
 * one NIC wait there for each other: incast.
 */
#include "sim/mirror.h"

#include <stdlib.h>
#include <string.h>

struct sim_packet *sim_packet_new(enum sim_kind kind, struct sim_pe *from, struct sim_pe *to, size_t len)
{
    struct sim_packet *packet = calloc(1, sizeof *packet);

    if (!packet)
        abort();
    packet->kind = kind;
    packet->from = from;
    packet->to = to;
    packet->len = len;
    return packet;
}

void sim_packet_free(struct sim_packet *packet)
{
    free(packet);
}

int sim_nics_of(const struct sim_host *host)
{
    return sim.set.nics / host->n;
}

/* A PE's NICs are the nearest of its host; its peer's is the one of the same place. */
static int nic_of(const struct sim_pe *pe, unsigned turn)
{
    const struct sim_host *host = &sim.host[pe->host];
    int nics = sim.set.nics, local = pe->number - host->first, own = sim_nics_of(host);

    return pe->host * nics + (own > 1 ? local * own + (int)(turn % (unsigned)own) : local * nics / host->n);
}

/* What is short takes turns; what is long goes by the PE's NIC that has least to do. */
static unsigned turn_of(struct sim_pe *pe, size_t len)
{
    unsigned turn = pe->next_nic++, own = (unsigned)sim_nics_of(&sim.host[pe->host]), lightest = turn;

    for (unsigned i = 1; i < own && len >= WSH_EFA_STRIPE; i++)
        if (sim.nic[nic_of(pe, turn + i)].tx_free < sim.nic[nic_of(pe, lightest)].tx_free)
            lightest = turn + i;
    return lightest;
}

static sim_time wire_time(size_t len)
{
    return (sim_time)((sim.set.gap + (double)len * sim.set.byte) * 1000);
}

static sim_time flight_time(struct sim_pe *from)
{
    return (sim_time)(sim.set.latency * 1000) +
           sim_below(&from->random, (uint64_t)(sim.set.jitter * 1000) + 1);
}

static void packet_leave(struct sim_packet *packet, sim_time at)
{
    struct sim_nic *nic = &sim.nic[packet->nic_from];
    sim_time start = at > nic->tx_free ? at : nic->tx_free;

    nic->tx_free = start + wire_time(packet->len);
    sim_events_add(start + flight_time(packet->from), SIM_ARRIVE, packet);
}

/* By the PE's program; the others are answers. */
static bool is_given(const struct sim_packet *packet)
{
    return packet->kind == SIM_WRITE || packet->kind == SIM_READ || packet->kind == SIM_MESSAGE;
}

static void tally(const struct sim_packet *packet)
{
    struct sim_tally *given = &packet->from->given;

    given->messages += is_given(packet);
    given->credits += !is_given(packet);
    given->bytes += is_given(packet) ? packet->len : 0;
}

void sim_net_send(struct sim_packet *packet)
{
    unsigned turn = turn_of(packet->from, packet->len);

    tally(packet);
    packet->nic_from = nic_of(packet->from, turn);
    if (!sim_in_full(packet->to))
        sim_mirror_packet(packet);
    packet->nic_to = nic_of(packet->to, turn);
    sim.counts.bytes += packet->len;
    packet_leave(packet, sim.now + sim.debt + (is_given(packet) ? (sim_time)(sim.set.hand * 1000) : 0));
}

/* Receives are posted for as many messages as have not been applied. */
static bool lacks_receive(const struct sim_packet *packet)
{
    return packet->kind == SIM_MESSAGE && packet->to->n_receives >= sim.receives;
}

static void packet_arrive(struct sim_packet *packet)
{
    struct sim_nic *nic = &sim.nic[packet->nic_to];
    sim_time start = sim.now > nic->rx_free ? sim.now : nic->rx_free;

    if (lacks_receive(packet)) {
        sim.counts.rnr++;
        sim_events_add(sim.now + (sim_time)(sim.set.refuse * 1000), SIM_ARRIVE, packet);
        return;
    }
    if (packet->kind == SIM_MESSAGE && ++packet->to->n_receives > sim.counts.receives)
        sim.counts.receives = packet->to->n_receives;
    if (++nic->rx_queue > sim.counts.nic_queue)
        sim.counts.nic_queue = nic->rx_queue;
    nic->rx_free = start + wire_time(packet->len);
    sim_events_add(nic->rx_free, SIM_LAND, packet);
}

static void cq_push(struct sim_packet *packet)
{
    struct sim_pe *pe = packet->to;

    packet->next = NULL;
    *pe->cq_end = packet;
    pe->cq_end = &packet->next;
    if (++pe->n_cq > sim.counts.cq)
        sim.counts.cq = pe->n_cq;
    sim_wake(pe, 0);
}

static void turn_back(struct sim_packet *packet)
{
    int nic = packet->nic_from;

    packet->from = packet->to;
    packet->to = packet->op->source; /* of a mirrored one too */
    packet->nic_from = packet->nic_to;
    packet->nic_to = nic;
    packet->back = true;
}

/* The bytes are there; the target learns of it if it counts them, the source in any case. */
static void write_land(struct sim_packet *packet)
{
    struct sim_op *op = packet->op;
    size_t at = packet->segment * op->part;

    if (packet->mirrored)
        sim_mirror_land(op, at, packet->len);
    else
        memcpy(op->there + at, op->here + at, packet->len);
    if (packet->tallied && ++op->landed < op->srd.segments)
        packet->word = NULL;
    if (packet->tallied && sim.set.nic_counts) {
        sim_count_later(packet->to, packet->word, 0);
    } else if (packet->grouped || packet->tallied) {
        struct sim_packet *count = sim_packet_new(SIM_WRITE, packet->from, packet->to, 0);

        count->grouped = packet->grouped;
        count->group = packet->group;
        count->tallied = packet->tallied;
        count->word = packet->word;
        count->segment = op->out->ctx->number;
        cq_push(count);
    }
    sim_wake(packet->to, 0);
    turn_back(packet);
    packet->len = 0;
    sim_events_add(sim.now + flight_time(packet->from), SIM_END, packet);
}

static void packet_land(struct sim_packet *packet)
{
    sim.nic[packet->nic_to].rx_queue--;
    if (packet->kind == SIM_WRITE) {
        write_land(packet);
    } else if (packet->kind == SIM_READ && !packet->back) {
        turn_back(packet);
        packet->len = packet->op->len - packet->segment * packet->op->part;
        if (packet->len > packet->op->part)
            packet->len = packet->op->part;
        packet_leave(packet, sim.now);
    } else {
        if (packet->kind == SIM_READ)
            memcpy(packet->op->here + packet->segment * packet->op->part,
                   packet->op->there + packet->segment * packet->op->part, packet->len);
        cq_push(packet);
    }
}

void sim_net_event(const struct sim_event *event)
{
    struct sim_packet *packet = event->what;

    if (event->kind == SIM_ARRIVE) {
        if (packet->kind == SIM_MESSAGE && !--sim.lost_at) { /* mutant */
            sim_packet_free(packet);
            return;
        }
        packet_arrive(packet);
    } else if (event->kind == SIM_LAND) {
        packet_land(packet);
    } else {
        cq_push(packet);
    }
}
