/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule FABRIC: prints in which order rounds of writes, posted all at once, are seen at their target and reported at
 * their source. With the same seed and EFA_EMULATOR_REPLAY=1 the same lines come again: see replay.sh. (Where the
 * target's software sends receipts, the source's lines depend on when it runs.)
 */
#include "emulator/tests/net.h"

#include <stdio.h>

#define ROUNDS 20
#define WRITES 48

/* A word that stands for an order: no two likely ones share it. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x100000001b3u;
}

static int number_of(const struct net *net, const struct net_done *done)
{
    if (done->err)
        net_fail(net, "error %d, provider's %d: %s", done->err, done->prov_errno, done->text);
    return net->me ? (int)done->data : (int)((struct fi_context2 *)done->context - net->op);
}

/* Takes a round's completions and prints their order. */
static uint64_t take_round(struct net *net, int round, uint64_t hash)
{
    printf("%s round %d:", net->me ? "target" : "source", round);
    for (int i = 0; i < WRITES; i++) {
        struct net_done done = net_wait(net, "a completion");
        int number = number_of(net, &done);

        printf(" %d", number);
        hash = mix(hash, (uint64_t)number);
    }
    printf("\n");
    return hash;
}

/* Several segments; without device writes one packet, since more would take answers of the target's software. */
static size_t len_max(void)
{
    return FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)) ? 3000 : 20000;
}

static void post_round(struct net *net)
{
    for (int i = 0; i < WRITES; i++)
        while (!net_write(net, 1, 0, 0, 8 + (size_t)i * 997 % len_max(),
                          FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA, (uint64_t)i, &net->op[i]))
            net_check_time(net, "room for a write");
}

/* The first write to a peer may wait for its greeting. */
static void greet(struct net *net)
{
    struct net_done done;

    while (!net->me &&
           !net_write(net, 1, 0, 0, 8, FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA, 0, &net->op[0])) {
        if (net_poll(net, &done))
            number_of(net, &done);
        net_check_time(net, "room for a first write");
    }
    done = net_wait(net, "the first write");
    number_of(net, &done);
    net_barrier(net);
}

static int body(struct net *net)
{
    uint64_t hash = 0xcbf29ce484222325u;

    net_join(net);
    greet(net);
    for (int round = 0; round < ROUNDS; round++) {
        if (!net->me)
            post_round(net);
        hash = take_round(net, round, hash);
        net_barrier(net);
    }
    printf("%s schedule %016lx\n", net->me ? "target" : "source", (unsigned long)hash);
    fflush(stdout);
    return net_leave(net);
}

int main(int argc, char **argv)
{
    struct net_options options = {.n_procs = 2, .heap_len = 1 << 20};

    if (argc != 2) {
        fprintf(stderr, "use: schedule FABRIC\n");
        return 2;
    }
    options.fabric = argv[1];
    return net_run(&options, body);
}
