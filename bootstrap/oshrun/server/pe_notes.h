/* SPDX-License-Identifier: BSD-3-Clause */
/* What each PE notes of itself in oshrun's file (bootstrap/blob/blob_file.h): how it ends says less. */
#ifndef WSH_OSHRUN_NOTED_H
#define WSH_OSHRUN_NOTED_H

#include "bootstrap/oshrun/reap.h"

/* By its own word, which comes before its end however it ends. */
bool wsh_noted_finalized(const struct wsh_reap *reap, const struct wsh_pe *pe);

/* The process that oshrun has started is the PE itself, not a script that starts it: its exit status is the PE's. */
bool wsh_noted_itself(const struct wsh_reap *reap, const struct wsh_pe *pe);

/* Looks once at a PE that has ended with status 0: whether it has left. */
void wsh_noted_end(struct wsh_reap *reap, int i);

/* Tells the others that a PE has failed. */
void wsh_noted_failed(struct wsh_reap *reap, int i);

#endif
