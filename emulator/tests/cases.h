/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases of `faults` share: the writer, the server and the checks of an error. */
#ifndef WSH_TEST_CASES_H
#define WSH_TEST_CASES_H

#include "emulator/tests/net.h"

#define CASE_LEN ((size_t)8)

/* Words that the processes share: flags that are raised once. */
enum { CASE_DONE, CASE_READY, CASE_WARM };

/* Seconds that a write is waited for before another one is begun: the receipt of one may be lost for good. */
#define CASE_PATIENCE 0.3

/* What became of writes that were done one after the other. */
struct case_tally {
    long n_begun, n_open, n_ok, n_failed, n_slow;
    long ok_since; /* the last failure */
    double slow;   /* seconds from which a write counts as slow */
    double longest;
    double begin[NET_OPS];
    struct net_done error; /* the first */
};

bool case_is_raised(const struct net *net, int word);
void case_raise(struct net *net, int word);

/* Targets until process 0 is done: one that serves, and one that does nothing at all. */
void case_serve(struct net *net);
void case_idle(struct net *net);

/* One write from process 0 to process 1 and its end; one after the other; the ends of all that are open. */
void case_measure(struct net *net, struct case_tally *tally);
void case_measure_for(struct net *net, double seconds, struct case_tally *tally);
void case_drain(struct net *net, struct case_tally *tally);

/* Writes until one is delivered, and clears the tally: the first write to a peer may wait for its greeting. */
void case_warm_up(struct net *net, struct case_tally *tally);

/* Prints the error, and passes when its code is the provider's `code`, or what the protocol above makes of it. */
void case_print(const struct net *net, const struct net_done *done);
int case_expect(const struct net *net, const struct net_done *done, int code, int protocol_code);

/* Process 0 is done: returns `status`. */
int case_end(struct net *net, int status);

/* What most cases are: both join, process 1 does `other` until process 0 has done `first`. */
int case_pair(struct net *net, int (*first)(struct net *net), void (*other)(struct net *net));

/* The cases: bodies of net_run. */
int case_drop(struct net *net);
int case_duplicate(struct net *net);
int case_stall(struct net *net);
int case_full(struct net *net);
int case_refused(struct net *net);
int case_down(struct net *net);
int case_removed(struct net *net);
int case_removed_peer(struct net *net);
int case_killed(struct net *net);
int case_closed(struct net *net);
int case_unreachable(struct net *net);
int case_unknown(struct net *net);
int case_bad_key(struct net *net);
int case_rnr(struct net *net);
int case_overrun(struct net *net);

#endif
