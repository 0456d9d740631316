/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that all cases of `faults` share: the writer, the server and the checks of an error. */
#include "emulator/tests/cases.h"

#include <stdio.h>
#include <unistd.h>

bool case_is_raised(const struct net *net, int word)
{
    return atomic_load_explicit(&net->shared->word[word], memory_order_acquire);
}

void case_raise(struct net *net, int word)
{
    atomic_store_explicit(&net->shared->word[word], 1, memory_order_release); /* with is_raised */
}

void case_serve(struct net *net)
{
    struct net_done done;

    while (!case_is_raised(net, CASE_DONE)) {
        net_poll(net, &done);
        net_check_time(net, "serving");
    }
}

void case_idle(struct net *net)
{
    while (!case_is_raised(net, CASE_DONE)) {
        usleep(1000);
        net_check_time(net, "idling");
    }
}

/* Takes a completion, if there is one. True for an error, and for the end of the newest write. */
static bool take(struct net *net, struct case_tally *tally)
{
    struct net_done done;
    size_t at;

    if (!net_poll(net, &done))
        return false;
    at = done.context ? (size_t)((struct fi_context2 *)done.context - net->op) : NET_OPS;
    if (at < NET_OPS) { /* else the provider's own operation failed */
        double took = net_now() - tally->begin[at];

        tally->n_open--;
        tally->longest = took > tally->longest ? took : tally->longest;
        tally->n_slow += took >= tally->slow;
    }
    if (done.err) {
        if (!tally->n_failed++)
            tally->error = done;
        tally->ok_since = 0;
        return true;
    }
    tally->n_ok++;
    tally->ok_since++;
    return at == (size_t)(tally->n_begun - 1) % NET_OPS;
}

void case_measure(struct net *net, struct case_tally *tally)
{
    double begin = net_now();
    size_t at = (size_t)tally->n_begun % NET_OPS;

    while (!net_write(net, 1, 0, 0, CASE_LEN, FI_DELIVERY_COMPLETE, 0, &net->op[at])) {
        net_check_time(net, "room for a write");
        if ((take(net, tally) && !tally->ok_since) || net_now() > begin + CASE_PATIENCE)
            return;
    }
    tally->begin[at] = begin;
    tally->n_begun++;
    tally->n_open++;
    while (!take(net, tally) && net_now() < begin + CASE_PATIENCE)
        net_check_time(net, "the end of a write");
}

void case_warm_up(struct net *net, struct case_tally *tally)
{
    *tally = (struct case_tally){0};
    while (!tally->n_ok) {
        case_measure(net, tally);
        net_check_time(net, "a first write");
    }
    case_drain(net, tally);
    if (tally->n_failed)
        net_fail(net, "the first writes failed: error %d, provider's %d: %s", tally->error.err,
                 tally->error.prov_errno, tally->error.text);
    *tally = (struct case_tally){0};
}

void case_measure_for(struct net *net, double seconds, struct case_tally *tally)
{
    double end = net_now() + seconds;

    while (net_now() < end)
        case_measure(net, tally);
}

void case_drain(struct net *net, struct case_tally *tally)
{
    while (tally->n_open) {
        take(net, tally);
        net_check_time(net, "the end of the last writes");
    }
}

void case_print(const struct net *net, const struct net_done *done)
{
    printf("libfabric %u.%u %s: error %d (%s), provider's %d: %s\n", FI_MAJOR(fi_version()),
           FI_MINOR(fi_version()), net->info->fabric_attr->name, done->err, fi_strerror(done->err),
           done->prov_errno, done->text);
}

int case_expect(const struct net *net, const struct net_done *done, int code, int protocol_code)
{
    case_print(net, done);
    if (done->err && (done->prov_errno == code || done->prov_errno == protocol_code))
        return NET_PASSED;
    fprintf(stderr, "expected the provider's %d\n", code);
    return NET_FAILED;
}

int case_end(struct net *net, int status)
{
    case_raise(net, CASE_DONE);
    return status;
}

int case_pair(struct net *net, int (*first)(struct net *net), void (*other)(struct net *net))
{
    int status = NET_PASSED;

    net_join(net);
    if (net->me)
        other(net);
    else
        status = case_end(net, first(net));
    return status;
}
