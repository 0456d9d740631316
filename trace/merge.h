/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one file of the parts that the PEs have written, in the form that ui.perfetto.dev and chrome://tracing read. */
#ifndef WSH_TRACE_MERGE_H
#define WSH_TRACE_MERGE_H

#include <stddef.h>

/*
 * Writes `file` and removes the parts file.pe<N>. 0, or a negative errno with *text set to what is wrong and how to
 * cure it; the parts stay then. Parts that are missing or damaged are left out, and *text says so; "" if all are there.
 */
int wsh_trace_merge(const char *file, char *text, size_t size);

#endif
