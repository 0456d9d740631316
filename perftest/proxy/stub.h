/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libfabric provider that only completes: what is posted is counted, and the queue reports it complete at the next
 * look. Nothing is moved. Behind the efa transport it leaves that transport's own cost.
 */
#ifndef PERFTEST_PROXY_STUB_H
#define PERFTEST_PROXY_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_rmem;
struct wsh_tctx;
struct wsh_tp;

struct stub_net;

/* What the provider was given, by the nets that are open. */
struct stub_figures {
    uint64_t posts, doorbells, /* doorbells: posts without FI_MORE */
        astray;                /* writes not to the address that they come from, as all do here */
};

/*
 * The efa transport of one PE, opened over the provider and connected to n_pes others, from PE 0 up, with an endpoint
 * set for each of `threads`. Its heap is registered, and rmem[n_pes] filled as if each of them had one as long.
 * NULL: after one line, or for want of memory.
 */
struct stub_net *stub_open(int n_pes, unsigned threads, void *heap, size_t len, struct wsh_rmem *rmem);
void stub_close(struct stub_net *net);

struct wsh_tp *stub_transport(const struct stub_net *net);
/* A context of it, or NULL. */
struct wsh_tctx *stub_ctx_open(const struct stub_net *net);
void stub_ctx_close(struct wsh_tctx *tctx);

struct stub_figures stub_figures(void);

/* NICs of the machine, at most 4; they are all used. */
extern unsigned stub_nics;

#endif
