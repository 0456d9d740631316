/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/chan.c, driven by a network that delays and reorders: in order, once, never beyond the window. */
#include "test/common/unit.h"
#include "transports/efa/chan.h"

#include <stdlib.h>

enum { WINDOW = 8, NET = 64, MESSAGES = 200000 };

/* What is on the way: a message (1) with its number, an acknowledgement (2), or an answer to a fetch (3). */
struct packet {
    int kind;
    uint32_t seq, ack;
    uint32_t id; /* of a message: counts from 0 without wrapping */
};

static struct {
    struct wsh_efa_chan source, target;
    struct packet net[NET];
    int n_net;
    uint32_t ids[WINDOW]; /* of messages by number modulo WINDOW, for the held ones */
    uint32_t applied_id, completed, answered, sent;
    unsigned seed;
    int fault;
} sim;

static unsigned below(unsigned limit)
{
    return (unsigned)rand_r(&sim.seed) % limit;
}

static void post(struct packet packet)
{
    sim.fault |= sim.n_net == NET;
    if (sim.n_net < NET)
        sim.net[sim.n_net++] = packet;
}

static void complete(void *arg, const struct wsh_efa_sent *sent)
{
    (void)arg;
    sim.fault |= sent->fetch;
    sim.completed++;
}

static bool is_fetch(uint32_t id)
{
    return id % 3 == 0;
}

static void send_one(void)
{
    const struct wsh_efa_sent sent = {.fetch = is_fetch(sim.sent)};

    if (sim.sent == MESSAGES || !wsh_efa_chan_may_send(&sim.source))
        return;
    post((struct packet){1, sim.source.sent, 0, sim.sent});
    wsh_efa_chan_send(&sim.source, &sent);
    sim.sent++;
}

static void apply(uint32_t seq, uint32_t id)
{
    for (void *held = &sim; held;) {
        sim.fault |= id != sim.applied_id++;
        held = wsh_efa_chan_applied(&sim.target);
        if (is_fetch(id))
            post((struct packet){3, seq, sim.target.applied, id});
        seq++;
        id = sim.ids[seq % WINDOW];
    }
}

static void deliver(const struct packet *packet)
{
    struct wsh_efa_sent sent;

    if (packet->kind == 1) {
        enum wsh_efa_arrival arrival = wsh_efa_chan_arrive(&sim.target, packet->seq, &sim);

        sim.ids[packet->seq % WINDOW] = packet->id;
        sim.fault |= arrival == EFA_BAD;
        if (arrival == EFA_APPLY)
            apply(packet->seq, packet->id);
        return;
    }
    sim.fault |= wsh_efa_chan_ack(&sim.source, packet->ack, complete, NULL) != 0;
    if (packet->kind == 3) {
        sim.fault |= wsh_efa_chan_reply(&sim.source, packet->seq, &sent) != 0;
        sim.answered++;
    }
}

static void deliver_any(void)
{
    int i;
    struct packet packet;

    if (!sim.n_net)
        return;
    i = (int)below((unsigned)sim.n_net);
    packet = sim.net[i];
    sim.net[i] = sim.net[--sim.n_net];
    deliver(&packet);
}

static void acknowledge(void)
{
    if (!wsh_efa_chan_owed(&sim.target) || sim.n_net > NET - 2 * WINDOW)
        return;
    post((struct packet){2, 0, sim.target.applied, 0});
    sim.target.told = sim.target.applied;
}

/* Numbers begin shortly before they wrap. */
static void run(unsigned seed)
{
    sim.seed = seed;
    sim.n_net = sim.fault = 0;
    sim.applied_id = sim.completed = sim.answered = sim.sent = 0;
    wsh_efa_chan_init(&sim.source, WINDOW, WINDOW);
    wsh_efa_chan_init(&sim.target, WINDOW, WINDOW);
    sim.source.sent = sim.source.acked = sim.target.applied = sim.target.told = UINT32_MAX - 1000;
    for (long step = 0; step < 40L * MESSAGES && !sim.fault && sim.completed + sim.answered < MESSAGES;
         step++) {
        switch (below(4)) {
        case 0: send_one(); break;
        case 1: acknowledge(); break;
        default: deliver_any(); break;
        }
        sim.fault |= sim.source.sent - sim.source.acked > WINDOW;
    }
    wsh_efa_chan_fini(&sim.source);
    wsh_efa_chan_fini(&sim.target);
}

static void simulated(void)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        run(seed);
        CU_ASSERT(!sim.fault);
        CU_ASSERT_EQUAL(sim.applied_id, MESSAGES);
        CU_ASSERT_EQUAL(sim.completed + sim.answered, MESSAGES);
        CU_ASSERT_EQUAL(sim.answered, (MESSAGES + 2) / 3);
    }
}

static void lies(void)
{
    struct wsh_efa_chan chan;
    struct wsh_efa_sent sent = {.fetch = true}, out;

    CU_ASSERT_EQUAL_FATAL(wsh_efa_chan_init(&chan, WINDOW, WINDOW), 0);
    CU_ASSERT(wsh_efa_chan_ack(&chan, 1, complete, NULL) < 0); /* nothing was sent */
    CU_ASSERT(wsh_efa_chan_reply(&chan, 0, &out) < 0);
    wsh_efa_chan_send(&chan, &sent);
    CU_ASSERT(wsh_efa_chan_ack(&chan, 2, complete, NULL) < 0);
    CU_ASSERT(wsh_efa_chan_reply(&chan, WINDOW, &out) < 0); /* same slot, another number */
    CU_ASSERT_EQUAL(wsh_efa_chan_reply(&chan, 0, &out), 0);
    CU_ASSERT(wsh_efa_chan_reply(&chan, 0, &out) < 0); /* answered twice */
    CU_ASSERT_EQUAL(wsh_efa_chan_arrive(&chan, WINDOW, &chan), EFA_BAD);
    CU_ASSERT_EQUAL(wsh_efa_chan_arrive(&chan, UINT32_MAX, &chan), EFA_BAD); /* applied already */
    CU_ASSERT_EQUAL(wsh_efa_chan_arrive(&chan, 3, &chan), EFA_HELD);
    CU_ASSERT_EQUAL(wsh_efa_chan_arrive(&chan, 3, &chan), EFA_BAD); /* twice */
    wsh_efa_chan_fini(&chan);
}

static void unanswered_fetch_holds_its_slot(void)
{
    struct wsh_efa_chan chan;
    const struct wsh_efa_sent fetch = {.fetch = true}, plain = {.fetch = false};

    CU_ASSERT_EQUAL_FATAL(wsh_efa_chan_init(&chan, 2, 2), 0);
    wsh_efa_chan_send(&chan, &fetch);
    wsh_efa_chan_send(&chan, &plain);
    CU_ASSERT(!wsh_efa_chan_may_send(&chan));
    CU_ASSERT_EQUAL(wsh_efa_chan_ack(&chan, 2, complete, NULL), 0);
    CU_ASSERT(!wsh_efa_chan_may_send(&chan)); /* number 2 wants the slot of number 0 */
    CU_ASSERT_EQUAL(wsh_efa_chan_reply(&chan, 0, &(struct wsh_efa_sent){0}), 0);
    CU_ASSERT(wsh_efa_chan_may_send(&chan));
    wsh_efa_chan_fini(&chan);
}

const struct unit_test unit_tests[] = {
    {"a million messages through a reordering network arrive in order, once", simulated},
    {"numbers that cannot be are refused", lies},
    {"a fetch holds its place until it is answered", unanswered_fetch_holds_its_slot},
    {NULL, NULL},
};
