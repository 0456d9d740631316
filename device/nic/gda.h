/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send queues that kernels write themselves (GDA: GPU-direct access to the NIC): what host and kernels share, and
 * the layout of a work request. Read by C, C++ and CUDA.
 *
 * A queue belongs to one NIC of the PE; a block uses one queue, block number modulo n_queues, which is a power of two.
 * Behind those n_queues are n_values (a power of two, or 0) whose requests are wide and may carry the data of a short
 * write themselves, for p and short puts: the NIC reads no source, and the sender's memory is free at once. Requests
 * that carry none stay short, so that they do not cost twice the stores.
 * Requests of a queue have the numbers 0, 1, 2 … for ever; request i lies in entry i modulo `entries`, and its phase
 * bit is the lowest bit of i / entries.
 *
 * Posting. A warp *reserves* consecutive numbers by one addition to `reserved`: a *run* of at most max_batch, or
 * several. It waits until the run's requests have entries (number - completed < entries), and no more than max_batch
 * are without a doorbell with them (end - rung); then its lanes store them. A doorbell may be on its way to the NIC
 * when requests stored behind it are there already: so who stores beyond max_batch of `settled`, what doorbells that
 * are there for certain announce, releases at system scope before. In its *turn*, when `rung` has come to the
 * run's first number, one lane stores `posted`, releases at system scope (the sources, the requests and `posted` come
 * before the doorbell), stores the doorbell, and releases `rung` at the GPU's scope, so that doorbells are never seen
 * out of order. Before its turn it releases the run's end at the GPU's scope in `stored`, by the first number modulo
 * WSH_GDA_RUNS; whoever's turn comes acquires what it finds there behind its own run without a gap, and announces all
 * of it: releases are cumulative. Every call has rung, or finds that it was rung for, when it returns.
 *
 * Completion. The *watcher*, a thread of the host, takes completions out of the NIC's completion queue, in any
 * order. It publishes how many there were (`completed`), which gives entries back, and `mark`: every request below
 * it is complete at its target, and what reads among them brought is here. A quiet waits until the mark of every
 * queue has come to what was rung there; the host's own quiet, and a proxy before records behind a fence, until it
 * has come to `posted`. A completion with an error ends the job with a line: no kernel waits for a mark that does
 * not move.
 *
 * Fence. What is behind a fence may not overtake what was before it, by whichever way either goes. A fence that
 * finds something incomplete notes how far the queues (`fenced`) and the rings (`ring_fenced`) have come, and
 * counts `fences` up. While `fences_over`, the last fence before which all is known to be complete, is behind
 * `fences`, requests go as records to the proxy, as where there is no GDA; who finds that all noted marks have been
 * reached counts it up. Who finds first that a ring has not come that far asks its consumer for a quiet
 * (`fences_asked`: up to which fence that was done), or a ring that never rests would keep requests from the NIC
 * for ever. The proxy holds records of a later epoch until the queues' marks have come to `posted`, as it was when
 * it saw the first of them.
 */
#ifndef WSH_DEVICE_GDA_H
#define WSH_DEVICE_GDA_H

#include "../proxy/ring.h"

#define WSH_GDA_QUEUES_MAX 32
#define WSH_GDA_VALUES_MAX 8
#define WSH_GDA_ALL_MAX (WSH_GDA_QUEUES_MAX + WSH_GDA_VALUES_MAX)
#define WSH_GDA_RAILS_MAX 4
#define WSH_GDA_SEGS 3 /* those of WSH_DEVICE_SEGS: static data, host heap, device heap */

/* A request is 8 words; in a queue of wide ones they are followed by 8 more. Word 0 … 3: the head. */
#define WSH_GDA_WORDS 8u
#define WSH_GDA_READ 1u
#define WSH_GDA_WRITE 2u
/* Word 0: number's low bits (16), operation (8), control (8), queue pair (16), pieces or bytes of inline data (16). */
#define WSH_GDA_OPERATION_AT 16
#define WSH_GDA_INLINE ((uint64_t)1 << 21)
#define WSH_GDA_META ((uint64_t)1 << 23)
#define WSH_GDA_PHASE_AT 24
#define WSH_GDA_FIRST ((uint64_t)1 << 26)
#define WSH_GDA_LAST ((uint64_t)1 << 27)
#define WSH_GDA_COMPLETION ((uint64_t)1 << 28)
#define WSH_GDA_QPN_AT 32
#define WSH_GDA_PIECES_AT 48
/* Word 1: immediate (32), address handle (16). Word 2: qkey (32). Word 3: the number from bit 16 on, above 16 bits. */
#define WSH_GDA_AH_AT 32
/*
 * Words 4, 5: remote length (32) and key above it, address; 6, 7: the same of the one local piece (key: 24 bits). Or
 * inline data from word 6 to the end of a wide request.
 */
#define WSH_GDA_KEY_AT 32
#define WSH_GDA_INLINE_MAX 80u
#define WSH_GDA_LENGTH_MAX ((uint64_t)1 << 30)
/*
 * The number that a request carries and its completion brings back: of the request (40 bits), and of the PE above, for
 * the line about a failed one.
 */
#define WSH_GDA_PE_AT 40

/* Requests that may be without a doorbell at most, where max_batch is more. */
#define WSH_GDA_RUNS 32u

/* Of one queue, in pinned memory. */
struct wsh_gda_marks {
    WSH_RING_ALIGN(128)
    uint64_t completed, mark;            /* written by the watcher: released, acquired by who waits */
    WSH_RING_ALIGN(128) uint64_t posted; /* written by kernels */
};

/* In device memory. */
struct wsh_gda_queue {
    /* Written by the host, before the first kernel. */
    WSH_RING_ALIGN(128) uint64_t ring, doorbell, marks; /* addresses for the GPU */
    uint32_t entries, entry_words, max_batch, rail;     /* entries: a power of two */
    uint32_t ordinary; /* the ring is ordinary memory, as an emulated NIC's: stored in halves of 16 bytes */
    uint32_t usable, key[WSH_GDA_SEGS]; /* of this PE's segments, with the queue's NIC; usable: a bit each */
    uint64_t peers;                     /* address of struct wsh_gda_peer[n_pes] */
    /* Kernels' own; zeros at first. */
    WSH_RING_ALIGN(128) uint64_t reserved, rung;
    uint64_t completed, mark; /* as last seen */
    uint64_t fenced, settled; /* settled: up to the doorbell before the last one */
    uint64_t stored[WSH_GDA_RUNS];
};

/* The queue pair of a PE that receives writes and reads from a rail of this one. */
struct wsh_gda_target {
    uint16_t ah, qpn;
    uint32_t qkey; /* with qpn 0: that PE is not reached so */
};

/* How a rail of this PE reaches another PE and its memory; one line of the cache holds two. */
struct wsh_gda_peer {
    WSH_RING_ALIGN(64) struct wsh_gda_target target; /* with qpn 0: nothing of the rest counts */
    uint32_t usable;                                 /* bit: segment whose key and base there are */
    uint32_t key[WSH_GDA_SEGS];
    uint64_t base[WSH_GDA_SEGS]; /* address there of the segment's first byte */
};

/* A segment in this PE's addresses: where it begins, and so many bytes there and at the peers the keys are for. */
struct wsh_gda_local {
    uint64_t base, length;
};

/* In device memory, directly behind struct wsh_ring_heads where WSH_DEVICE_GDA is in the view's flags. */
struct wsh_gda {
    WSH_RING_ALIGN(128) uint32_t n_queues, n_rails;
    uint32_t n_values, n_all; /* queues behind those for requests with inline data; all of them */
    uint32_t n_counters;      /* counters that the targets' NICs add to */
    uint64_t counter_targets; /* their queue pairs: struct wsh_gda_target[n_counters][n_rails][n_pes] */
    struct wsh_gda_local local[WSH_GDA_SEGS];
    WSH_RING_ALIGN(128) uint64_t fences, fences_over, fences_asked;
    uint64_t ring_fenced[WSH_RINGS_MAX];
    uint64_t ring_done[WSH_RINGS_MAX]; /* as last seen */
    struct wsh_gda_queue queue[WSH_GDA_ALL_MAX];
};

#endif
